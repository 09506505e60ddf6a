#include "shapley/row_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "common/aligned.hpp"
#include "common/parallel.hpp"
#include "shapley/match.hpp"
#include "shapley/pattern.hpp"

namespace clearwood {
namespace {

// Rows that are compared at once; their patterns, one array per depth, stay in the second cache.
constexpr std::size_t most_rows = 256;
constexpr std::size_t most_background = 2048;

int longest_path(const ForestArrays& forest, std::int32_t node, std::vector<std::int32_t>& times,
                 int n_players) {
  if (forest.left[node] < 0) return n_players;
  std::int32_t& mine = times[static_cast<std::size_t>(forest.player[node])];
  if (mine++ == 0) ++n_players;
  const int left = longest_path(forest, forest.left[node], times, n_players);
  const int right = longest_path(forest, forest.right[node], times, n_players);
  --mine;
  return std::max(left, right);
}

int longest_path(const ForestArrays& forest, std::size_t tree) {
  std::vector<std::int32_t> times(forest.n_players, 0);
  return longest_path(forest, forest.roots[tree], times, 0);
}

const double* beta_table() {
  static const std::vector<double> table = [] {
    std::vector<double> made(beta_stride * beta_stride, 0.0);
    for (int n = 0; n <= most_matched_players; ++n) {
      for (int m = 0; m <= most_matched_players; ++m) {
        made[static_cast<std::size_t>((n + 1) * beta_stride + m + 1)] =
            std::exp(std::lgamma(n + 1) + std::lgamma(m + 1) - std::lgamma(n + m + 2));
      }
    }
    return made;
  }();
  return table.data() + beta_stride + 1;
}

// Explained rows first, background rows behind them; column c starts at codes + c * n().
struct Block {
  Block(std::size_t n_columns, const Code* row_codes, std::size_t row_pitch, std::size_t first_row,
        std::size_t n_rows, const WeightedRows& background, std::size_t first_background,
        std::size_t n_background, double total_weight)
      : n_rows(n_rows), n_background(n_background) {
    codes.reserve(n_columns * n());
    for (std::size_t column = 0; column < n_columns; ++column) {
      const Code* rows = row_codes + column * row_pitch + first_row;
      const Code* others = background.codes + column * background.n + first_background;
      codes.insert(codes.end(), rows, rows + n_rows);
      codes.insert(codes.end(), others, others + n_background);
    }
    for (std::size_t j = 0; j < n_background; ++j) {
      weights.push_back(background.weights[first_background + j] / total_weight);
    }
  }

  std::size_t n() const { return n_rows + n_background; }

  std::vector<Code> codes;
  std::vector<double> weights;  // of the background rows, adding up to one over all blocks
  std::size_t n_rows;
  std::size_t n_background;
};

// Walks a tree with a block and adds what its leaves give.
template <class Pattern>
class Comparison {
 public:
  // values[(row * n_outputs + output) * n_players + player]
  Comparison(const ForestArrays& forest, const Block& block, double* values)
      : forest_(forest), block_(block), values_(values),
        follow_edge_(CLEARWOOD_DISPATCH(follow_edge<Pattern>)),
        match_rows_(CLEARWOOD_DISPATCH(match_rows<Pattern>)),
        gains_(block.n_rows * pattern_bits, 0.0), matched_(block.n_rows + 1),
        losses_(block.n_rows, 0.0), has_match_(block.n_rows, 0),
        scratch_(3 * (block.n_rows + 8)) {}

  void run(std::size_t tree) {
    const std::int32_t output = forest_.tree_output[tree];
    first_output_ = output < 0 ? 0 : static_cast<std::size_t>(output);
    std::fill_n(level(0), block_.n(), Pattern(0));
    way_.clear();
    visit(forest_.roots[tree], 0);
  }

 private:
  static constexpr std::size_t pattern_bits = sizeof(Pattern) * 8;

  Pattern* level(std::size_t depth) {
    if (levels_.size() <= depth) levels_.emplace_back(block_.n() + match_step);
    return levels_[depth].data();
  }

  void visit(std::int32_t node, std::size_t depth) {
    if (forest_.left[node] < 0) return add_leaf(node, level(depth));
    const auto known = std::find(way_.begin(), way_.end(), forest_.player[node]);
    const bool fresh = known == way_.end();
    const auto bit = static_cast<Pattern>(Pattern(1) << (known - way_.begin()));
    if (fresh) way_.push_back(forest_.player[node]);
    const SplitTest test = split_test(forest_, node);
    const Code* codes =
        block_.codes.data() + static_cast<std::size_t>(test.column) * block_.n();
    level(depth + 1);  // makes room, which may move the others
    for (bool left : {true, false}) {
      follow_edge_(level(depth), codes, block_.n(), test, left, bit, fresh, level(depth + 1));
      visit(left ? forest_.left[node] : forest_.right[node], depth + 1);
    }
    if (fresh) way_.pop_back();
  }

  void add_leaf(std::int32_t node, const Pattern* patterns) {
    const auto all = static_cast<Pattern>((std::uint64_t(1) << way_.size()) - 1);
    const Pattern* background = patterns + block_.n_rows;
    const double* value = forest_.value + static_cast<std::size_t>(node) * forest_.n_values;
    const std::size_t n_matched =
        match_rows_(patterns, block_.n_rows, background, block_.n_background,
                    block_.weights.data(), all, beta_table(), matches());
    for (std::size_t m = 0; m < n_matched; ++m) {
      const std::size_t row = matched_[m];
      double* gains = gains_.data() + row * pattern_bits;
      double* to = values_ + (row * forest_.n_outputs + first_output_) * forest_.n_players;
      for (std::size_t k = 0; k < forest_.n_values; ++k, to += forest_.n_players) {
        for (std::size_t bit = 0; bit < way_.size(); ++bit) to[way_[bit]] += value[k] * gains[bit];
      }
      std::fill_n(gains, pattern_bits, 0.0);
    }
  }

  Matches matches() {
    return {gains_.data(), matched_.data(), losses_.data(), has_match_.data(), scratch_.data()};
  }

  const ForestArrays& forest_;
  const Block& block_;
  double* const values_;
  decltype(CLEARWOOD_DISPATCH(follow_edge<Pattern>)) follow_edge_;
  decltype(CLEARWOOD_DISPATCH(match_rows<Pattern>)) match_rows_;
  std::vector<std::vector<Pattern>> levels_;
  std::vector<std::int32_t> way_;  // the distinct players above, in the order of their bits
  AlignedVector<double> gains_;
  std::vector<std::uint32_t> matched_;
  std::vector<double> losses_;
  std::vector<std::uint8_t> has_match_;
  std::vector<std::uint64_t> scratch_;
  std::size_t first_output_ = 0;
};

// Adds the mean of a tree over the background.
void add_mean(const ForestArrays& forest, std::size_t tree, const WeightedRows& background,
              double total_weight, double* baseline) {
  const auto first_output = static_cast<std::size_t>(std::max(forest.tree_output[tree], 0));
  for (std::size_t row = 0; row < background.n; ++row) {
    std::int32_t node = forest.roots[tree];
    while (forest.left[node] >= 0) {
      const SplitTest test = split_test(forest, node);
      const Code code =
          background.codes[static_cast<std::size_t>(test.column) * background.n + row];
      const bool left = test.set == nullptr ? in_interval(code, test) : in_set(code, test.set);
      node = left ? forest.left[node] : forest.right[node];
    }
    const double share = background.weights[row] / total_weight;
    const double* value = forest.value + static_cast<std::size_t>(node) * forest.n_values;
    for (std::size_t k = 0; k < forest.n_values; ++k) {
      baseline[first_output + k] += share * value[k];
    }
  }
}

}  // namespace

bool comparing_pays(const ForestArrays& forest, const Units& units, std::size_t tree,
                    std::size_t n_rows, std::size_t n_background) {
  // nanoseconds of one core, from random forests with paths of up to 17 players
  constexpr double per_cell = 21, per_look_up = 1.6, per_leaf = 2.5, per_pair = 0.065;
  double cells = 0, look_ups = 0;
  for (const Unit& unit : units.tree(tree).units) {
    cells += std::ldexp(1.0, std::min(unit.bits, most_dense_bits));
    look_ups += unit.bits + 1;
  }
  const auto begin = static_cast<std::size_t>(forest.roots[tree]);
  const auto end = tree + 1 < forest.n_trees ? static_cast<std::size_t>(forest.roots[tree + 1])
                                             : forest.n_nodes;
  const double n_leaves = 0.5 * static_cast<double>(end - begin + 1);
  const auto rows = static_cast<double>(n_rows), background = static_cast<double>(n_background);
  const double tables = per_cell * cells + per_look_up * look_ups * rows;
  const double comparing = n_leaves * rows * (per_leaf + per_pair * background);
  return comparing < tables && longest_path(forest, tree) <= most_matched_players;
}

void add_row_pairs(const ForestArrays& forest, const std::vector<std::size_t>& trees,
                   const WeightedRows& background, double total_weight, const Code* codes,
                   std::size_t n_rows, double* out, std::size_t pitch, double* baseline,
                   int n_threads) {
  if (trees.empty()) return;  // components, for example, have other rows of results than players
  const std::size_t share = n_rows / static_cast<std::size_t>(n_threads) + 1;
  const std::size_t block_rows = std::min(most_rows, block_count(share, 32) * 32);
  const std::size_t n_blocks = block_count(n_rows, block_rows);
  const std::size_t n_values = forest.n_outputs * forest.n_players;
  std::vector<double> values(n_rows * n_values, 0.0);
  for (const std::size_t tree : trees) add_mean(forest, tree, background, total_weight, baseline);
  for (std::size_t first = 0; first < background.n; first += most_background) {
    for (const std::size_t tree : trees) {
      const bool narrow = longest_path(forest, tree) <= 16;
      parallel_for(n_blocks, n_threads, [&](std::size_t index, int) {
        const std::size_t row = index * block_rows;
        const Block block(forest.n_columns, codes, n_rows, row, std::min(block_rows, n_rows - row),
                          background, first, std::min(most_background, background.n - first),
                          total_weight);
        double* to = values.data() + row * n_values;
        if (narrow) {
          Comparison<std::uint16_t>(forest, block, to).run(tree);
        } else {
          Comparison<std::uint32_t>(forest, block, to).run(tree);
        }
      });
    }
  }
  for (std::size_t output = 0; output < forest.n_outputs; ++output) {
    for (std::size_t player = 0; player < forest.n_players; ++player) {
      double* to = out + (player * forest.n_outputs + output) * pitch;
      const double* from = values.data() + output * forest.n_players + player;
      for (std::size_t row = 0; row < n_rows; ++row) to[row] += from[row * n_values];
    }
  }
}

}  // namespace clearwood
