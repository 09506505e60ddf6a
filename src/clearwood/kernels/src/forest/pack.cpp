#include "forest/pack.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace clearwood {
namespace {

// A block's columns should stay in the second-level cache, beside the tree that is walked.
constexpr std::size_t block_bytes = 256 * 1024;
constexpr std::size_t max_rows = 4096;
// So that a block takes well below the 50 ms between looks for Ctrl-C.
constexpr std::size_t max_row_trees = 1 << 20;
// Testing all splits of a tree with more leaves takes longer than walking down; measured by
// benchmarks/bench_predict.py.
constexpr std::size_t max_mask_leaves = 32;

// The largest T that is not above t: x <= t means the same with it for every x of type T.
template <class T>
T rounded_down(double t) {
  using Limits = std::numeric_limits<T>;
  if (t < Limits::lowest()) return -Limits::infinity();
  if (t > Limits::max()) return std::isinf(t) ? Limits::infinity() : Limits::max();
  const T near = static_cast<T>(t);
  return near > t ? std::nextafter(near, -Limits::infinity()) : near;
}

}  // namespace

template <class T, class Sum>
class PackedForest<T, Sum>::Builder {
 public:
  Builder(PackedForest& packed, const ForestArrays& forest) : packed_(packed), forest_(forest) {}

  void find_columns() {
    packed_.columns.push_back({-1, false, false});
    std::size_t most_sets = 0;
    for (std::size_t t = 0; t < forest_.n_trees; ++t) {
      std::size_t n_sets = 0;
      for (std::size_t node = begin(t); node < end(t); ++node) {
        if (forest_.left[node] < 0) continue;
        if (forest_.category_start[node] >= 0) {
          ++n_sets;
        } else {
          const auto [found, added] = column_of_.try_emplace(key(node), packed_.columns.size());
          if (added) {
            packed_.columns.push_back({forest_.feature[node], forest_.default_left[node],
                                       forest_.zero_missing[node]});
          }
        }
      }
      most_sets = std::max(most_sets, n_sets);
    }
    packed_.first_set_column = packed_.columns.size();
    const std::size_t n_columns = packed_.first_set_column + most_sets;
    std::size_t rows = block_bytes / (n_columns * sizeof(T));
    rows = std::min({rows, max_rows, max_row_trees / forest_.n_trees});
    rows = std::max(rows / rows_per_lot, std::size_t(1)) * rows_per_lot;
    packed_.rows_per_block = rows;
    packed_.block_size = n_columns * rows;
  }

  void add_tree(std::size_t t) {
    Tree tree{};
    tree.output = forest_.tree_output[t];
    tree.first_leaf = packed_.node_of.size();
    tree.first_set = packed_.sets.size();
    const std::size_t n_leaves = (end(t) - begin(t) + 1) / 2;
    tree.by_mask = n_leaves <= max_mask_leaves;
    if (tree.by_mask) {
      tree.first = packed_.questions.size();
      n_leaves_ = 0;
      ask(static_cast<std::int32_t>(begin(t)), tree);
      tree.n_questions = packed_.questions.size() - tree.first;
    } else {
      tree.first = packed_.nodes.size();
      add_levels(static_cast<std::int32_t>(begin(t)), tree);
    }
    tree.n_sets = packed_.sets.size() - tree.first_set;
    packed_.trees.push_back(tree);
  }

 private:
  std::size_t begin(std::size_t t) const { return static_cast<std::size_t>(forest_.roots[t]); }
  std::size_t end(std::size_t t) const {
    return t + 1 < forest_.n_trees ? begin(t + 1) : forest_.n_nodes;
  }
  std::int64_t key(std::size_t node) const {
    return std::int64_t(forest_.feature[node]) * 4 + 2 * forest_.default_left[node] +
           forest_.zero_missing[node];
  }

  // Where the column that a node splits by starts in a block; a categorical node gets its own.
  std::int32_t column_of(std::int32_t node, const Tree& tree) {
    std::size_t k;
    if (forest_.category_start[node] >= 0) {
      k = packed_.first_set_column + packed_.sets.size() - tree.first_set;
      packed_.sets.push_back({categories_of(forest_.feature[node]),
                              static_cast<std::uint32_t>(forest_.category_size[node]) * 32,
                              packed_.words.data() + forest_.category_start[node],
                              forest_.default_left[node], forest_.unseen_left[node]});
    } else {
      k = column_of_.at(key(static_cast<std::size_t>(node)));
    }
    return static_cast<std::int32_t>(k * packed_.rows_per_block);
  }

  // Which of a block's columns of categories is the feature's.
  std::size_t categories_of(std::int32_t feature) {
    const std::size_t next = packed_.category_features.size();
    const auto [found, added] = categories_of_.try_emplace(feature, next);
    if (added) packed_.category_features.push_back(feature);
    return found->second;
  }

  T threshold_of(std::int32_t node) const {
    return forest_.category_start[node] >= 0 ? T(0.5) : rounded_down<T>(forest_.threshold[node]);
  }

  void add_value(std::int32_t node) {
    packed_.node_of.push_back(node);
    for (std::size_t k = 0; k < packed_.n_values; ++k) {
      const double value = forest_.value[static_cast<std::size_t>(node) * packed_.n_values + k];
      packed_.value.push_back(static_cast<Sum>(value));
    }
  }

  // Depth first, so that leaves are counted from the left.
  void ask(std::int32_t node, const Tree& tree) {
    if (forest_.left[node] < 0) {
      add_value(node);
      ++n_leaves_;
      return;
    }
    using Bits = typename LeafBits<T>::type;
    const std::size_t question = packed_.questions.size();
    packed_.questions.push_back({threshold_of(node), column_of(node, tree), Bits(0)});
    const std::size_t first = n_leaves_;
    ask(forest_.left[node], tree);
    const Bits on_the_left = ((Bits(1) << (n_leaves_ - first)) - 1) << first;
    packed_.questions[question].keep = ~on_the_left;
    ask(forest_.right[node], tree);
  }

  // Breadth first, so that siblings lie side by side.
  void add_levels(std::int32_t root, Tree& tree) {
    std::vector<std::int32_t> queue{root};
    std::vector<std::int32_t> depth{0};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const std::int32_t node = queue[at];
      add_value(node);
      tree.depth = std::max(tree.depth, depth[at]);
      if (forest_.left[node] < 0) {
        packed_.nodes.push_back(
            {std::numeric_limits<T>::infinity(), 0, static_cast<std::int32_t>(at)});
      } else {
        packed_.nodes.push_back({threshold_of(node), column_of(node, tree),
                                 static_cast<std::int32_t>(queue.size())});
        for (const std::int32_t child : {forest_.left[node], forest_.right[node]}) {
          queue.push_back(child);
          depth.push_back(depth[at] + 1);
        }
      }
    }
  }

  PackedForest& packed_;
  const ForestArrays& forest_;
  std::unordered_map<std::int64_t, std::size_t> column_of_;
  std::unordered_map<std::int32_t, std::size_t> categories_of_;
  std::size_t n_leaves_ = 0;
};

template <class T, class Sum>
PackedForest<T, Sum>::PackedForest(const ForestArrays& forest)
    : n_features(forest.n_features), n_outputs(forest.n_outputs) {
  n_values = forest.tree_output[0] < 0 ? n_outputs : 1;
  std::size_t n_words = 0;
  for (std::size_t node = 0; node < forest.n_nodes; ++node) {
    if (forest.category_start[node] < 0) continue;
    n_words = std::max(n_words, static_cast<std::size_t>(forest.category_start[node]) +
                                    static_cast<std::size_t>(forest.category_size[node]));
  }
  words.assign(forest.category_words, forest.category_words + n_words);
  Builder builder(*this, forest);
  builder.find_columns();
  for (std::size_t t = 0; t < forest.n_trees; ++t) builder.add_tree(t);
}

template class PackedForest<float, float>;
template class PackedForest<float, double>;
template class PackedForest<double, float>;
template class PackedForest<double, double>;

}  // namespace clearwood
