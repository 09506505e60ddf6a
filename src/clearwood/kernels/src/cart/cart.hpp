// Classification and regression trees (Breiman et al., 1984): exact splits on presorted columns,
// surrogates for missing values, the weakest links, and the leaves that rows reach.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clearwood {

// squared: of numbers, and half of Gini's index for two classes coded 0 and 1. tweedie: of variance
// power 1.5. gamma needs targets above zero, poisson and tweedie targets of zero or more.
enum class CartCriterion { squared, poisson, tweedie, gamma, gini, entropy };

// Rows as the caller has them, column by column; NaN is missing. Checked by the caller.
struct CartRows {
  std::size_t n_rows, n_columns;
  const double* values;         // value of row i in column j at j * n_rows + i
  const std::int32_t* order;    // rows by value, missing ones last, at j * n_rows; not of categories
  const std::int32_t* n_levels;  // codes of a category run from 0 to n_levels - 1; 0 for numbers
  const std::int8_t* monotone;  // 1: predictions rise with the column, -1: they fall, 0: free
  const bool* surrogates;       // whether splits on the column have surrogates: it has gaps
  const double* target;         // numbers, or codes of classes
  const double* weight;         // in the criterion
  const double* cover;          // in counts of rows; 0 leaves a row out
};

struct CartLimits {
  CartCriterion criterion;
  std::size_t n_classes;  // 0 for numbers
  const double* costs;    // n_classes squared and symmetric, for Gini's index; or null
  double prior_mean, prior_weight;  // values of numbers are shrunk as if by rows of this weight
  std::int32_t max_depth;           // -1: none
  std::int32_t min_rows;            // on each side of a split, among rows that have a value
  std::int32_t max_surrogates;
  std::int32_t max_subset_levels;  // of several classes: up to here every subset is tried
};

// A question about one column. A number up to the threshold, or a category in the set, goes left;
// with `flipped` the other way round.
struct CartQuestion {
  std::int32_t column = -1;
  double threshold = 0.0;
  std::int32_t first_word = -1;  // of the set; -1 for numbers
  std::int32_t n_words = 0;
  bool flipped = false;
};

struct CartSurrogate {
  CartQuestion question;
  double agreement;  // share of the rows with a known side that it sends the same way
  double gain;       // the same above the majority rule: 0 is as good, 1 is perfect
};

struct CartNode {
  std::int32_t left = -1, right = -1, parent = -1;
  CartQuestion question;
  bool missing_left = false;
  double gain = 0.0;   // how far the split lowers the risk
  double risk = 0.0;   // of the node as a leaf: weight times impurity
  double weight = 0.0;
  double cover = 0.0;
  std::int32_t n_rows = 0;
  std::size_t first_surrogate = 0, n_surrogates = 0;
};

struct CartTree {
  std::vector<CartNode> nodes;  // a node before its left subtree, that before its right one
  std::vector<double> values;   // of each node: one number, or a share for each class
  std::vector<CartSurrogate> surrogates;
  std::vector<std::uint32_t> words;
};

// 1: left, 0: right, -1: the value is missing.
inline int cart_side(const CartQuestion& question, const std::uint32_t* words, double value) {
  if (value != value) return -1;
  bool left;
  if (question.first_word < 0) {
    left = value <= question.threshold;
  } else {
    if (!(value >= 0.0 && value < 32.0 * question.n_words)) return -1;
    const auto code = static_cast<std::uint32_t>(value);
    left = words[static_cast<std::size_t>(question.first_word) + code / 32] >> (code % 32) & 1;
  }
  return left != question.flipped;
}

// Halfway between two values, and below the upper one however near they are.
inline double cart_threshold(double low, double high) {
  const double middle = low + (high - low) / 2.0;
  return std::isfinite(middle) && middle < high ? middle : low;
}

// `poll` is called now and then; it throws to stop.
CartTree grow_cart(const CartRows& rows, const CartLimits& limits, void (*poll)());

// Up to `most` surrogates of a split, best first, at the end of `tree.surrogates`. `side` has 1, 0
// or -1 (missing) for every row; `node_rows` are the node's; a numeric column's are in
// `sorted[column]`, by value. A surrogate on a column without gaps is the last. Returns how many
// there are.
std::size_t find_surrogates(const CartRows& rows, std::int32_t column, const std::int8_t* side,
                            const std::int32_t* node_rows,
                            const std::vector<const std::int32_t*>& sorted, std::size_t n,
                            std::int32_t most, CartTree& tree);

// The penalty per leaf from which each inner node is a leaf of the pruned tree: infinite where a
// node above it is one by then, minus infinite for leaves.
void weakest_links(std::size_t n_nodes, const std::int32_t* left, const std::int32_t* right,
                   const double* risk, double* level);

}  // namespace clearwood
