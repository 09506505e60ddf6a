// Shallow boosted trees on the rows that one fold keeps, and their loss on the rows it holds out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boost/loops.hpp"

namespace clearwood {

enum class BoostLoss : int { squared, logistic, softmax, poisson, gamma };

constexpr int most_leaves = 16;  // boost_add looks values up in one vector
constexpr int most_columns_of_path = 3;

struct BoostOptions {
  BoostLoss loss;
  float rate;      // what a leaf's value is multiplied by
  float l2;        // added to the second derivatives of a leaf
  float least;     // second derivatives that a leaf must have
  float bound;     // leaves' values before the rate are at most this far from zero
  int max_leaves;  // of a tree, at most most_leaves
  int max_depth;
  int order;     // distinct columns on the way to a leaf, at most most_columns_of_path
  bool drawn;    // one random threshold for each column and leaf; else the best threshold
  std::uint64_t seed;
};

// What all folds share. Column j has bins 1 to n_bins[j] for values, and 0 for missing ones.
struct BoostData {
  std::size_t n_rows, n_columns, n_outputs;
  const std::uint8_t* bins;  // by column
  const std::int32_t* n_bins;
  const float* y;
  const float* weight;
  const std::int8_t* monotone;  // 1, 0 or -1 for each column
  const std::uint8_t* pairs;    // columns by columns, null where all may be combined
};

// What belongs to one fold: the rows it holds out, starting scores (outputs by rows), and where the
// codes of categories stand in the fold's order (outputs by columns of categories by 256).
struct BoostFold {
  std::vector<std::int32_t> kept, held_out;
  const float* offset;
  const std::uint8_t* orders;
  const std::int32_t* categories;
  std::size_t n_categories;
};

struct BoostNode {
  std::int32_t feature = -1, left = -1, right = -1;  // children counted within the fold's nodes
  std::uint8_t last = 0;                             // bins up to this one go left
  bool missing_left = false;
  double value = 0.0, cover = 0.0;
};

class BoostGrower {
 public:
  BoostGrower(const BoostData& data, const BoostFold& fold, const BoostOptions& options, int number);

  double held_out_loss();  // summed over rows, times their weights
  void grow();             // one tree for every output

  const std::vector<BoostNode>& nodes() const { return nodes_; }
  const std::vector<std::int32_t>& roots() const { return roots_; }

 private:
  struct Rows {
    std::size_t n = 0, padded = 0;
    std::vector<std::uint8_t> bins;                // numbers once, categories once for each output
    std::vector<const std::uint8_t*> columns;      // outputs by columns
    std::vector<float> y, weight, score, scratch;  // score: outputs by rows
    std::vector<std::uint8_t> leaf;
  };
  struct Split {
    float gain = 0.0f;
    std::int32_t feature = -1;
    BoostSide side{0, 0};
    std::uint8_t last = 0;
    bool missing_left = false;
    float left_g = 0.0f, left_h = 0.0f, left_value = 0.0f, right_value = 0.0f;
  };
  struct Leaf {
    std::int32_t node = 0;
    int depth = 0, n_path = 0;
    std::int32_t path[most_columns_of_path] = {};
    std::uint8_t first[most_columns_of_path] = {}, last[most_columns_of_path] = {};
    float g = 0.0f, h = 0.0f, value = 0.0f, low = 0.0f, high = 0.0f;
    Split split;
    std::size_t begin = 0, end = 0;  // of its rows in order_, for histograms
    std::vector<double> histogram;   // columns by 256 by (g, h)
  };

  void take(const BoostData& data, const BoostFold& fold, const std::vector<std::int32_t>& which,
            Rows& rows);
  void gradients();
  void sum_of_exponentials(Rows& rows);
  void tree(std::size_t output);
  void root(std::size_t output);
  void search(std::size_t output, int leaf);
  void search_drawn(std::size_t output, int leaf);
  void search_best(int leaf);
  void divide(std::size_t output, int leaf, int right);
  void fill(std::size_t output, Leaf& leaf);
  void consider(Leaf& leaf, std::int32_t feature, int last, bool missing_left, float g, float h);
  bool allowed(const Leaf& leaf, std::int32_t feature) const;
  float best_value(float g, float h, const Leaf& leaf) const;
  float score(float g, float h, float value) const { return (2.0f * g - (h + options_.l2) * value) * value; }
  std::uint32_t below(std::uint32_t n);

  const BoostData& data_;
  BoostOptions options_;
  Rows kept_, held_out_;
  std::vector<std::uint8_t> has_missing_;
  std::vector<float> g_, h_;  // outputs by rows kept
  std::vector<Leaf> leaves_;
  int n_leaves_ = 0;
  std::vector<std::int32_t> order_, spare_;
  std::vector<float> ordered_g_, ordered_h_;
  std::vector<BoostNode> nodes_;
  std::vector<std::int32_t> roots_;
  std::uint64_t state_;

  decltype(CLEARWOOD_DISPATCH(boost_sums)) sums_;
  decltype(CLEARWOOD_DISPATCH(boost_route)) route_;
  decltype(CLEARWOOD_DISPATCH(boost_add)) add_;
  decltype(CLEARWOOD_DISPATCH(boost_exp)) exp_;
  decltype(CLEARWOOD_DISPATCH(boost_squared)) gradients_;
  decltype(CLEARWOOD_DISPATCH(boost_softmax)) softmax_;
};

}  // namespace clearwood
