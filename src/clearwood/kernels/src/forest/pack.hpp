// Trees laid out for the walk: made once for a forest, used for any number of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "forest/walk.hpp"

namespace clearwood {

// A forest's arrays as the caller has them. Checked by the caller: trees one after another, root
// first, children after their parents, features and category sets in range.
struct ForestArrays {
  std::size_t n_trees, n_nodes, n_features, n_outputs;
  const std::int32_t* roots;
  const std::int32_t* left;
  const std::int32_t* right;
  const std::int32_t* feature;
  const double* threshold;
  const bool* default_left;
  const bool* zero_missing;
  const std::int32_t* category_start;
  const std::int32_t* category_size;
  const std::uint32_t* category_words;
  const bool* unseen_left;
  const double* value;  // weights included; one per node, or n_outputs per node if shared
  const std::int32_t* tree_output;
};

// T is the type in which values are compared, Sum the one in which leaves are added.
template <class T, class Sum>
class PackedForest {
 public:
  struct Tree {
    bool by_mask;            // else by walk
    std::int32_t depth;      // by walk
    std::int32_t output;     // -1: all outputs
    std::size_t first;       // into questions (by mask) or nodes (by walk)
    std::size_t n_questions;  // by mask
    std::size_t first_leaf;  // into node_of and, times the number of values a leaf has, value
    std::size_t first_set, n_sets;
  };

  explicit PackedForest(const ForestArrays& forest);

  std::size_t n_features, n_outputs, n_values;  // n_values: per leaf
  std::size_t rows_per_block;
  std::size_t block_size;  // values in the columns of a block
  std::size_t first_set_column;
  std::vector<ColumnRule> columns;  // column k of a block; column 0 is zeros and has no rule
  std::vector<std::int32_t> category_features;  // that some set is about
  std::vector<SetRule> sets;        // a tree's sets fill the columns from first_set_column on
  std::vector<std::uint32_t> words;
  std::vector<Tree> trees;
  std::vector<Question<T>> questions;
  std::vector<WalkNode<T>> nodes;
  std::vector<Sum> value;
  std::vector<std::int32_t> node_of;  // the caller's node behind each leaf

  MaskTree<T> mask_tree(const Tree& tree) const {
    return {questions.data() + tree.first, tree.n_questions};
  }
  WalkTree<T> walk_tree(const Tree& tree) const { return {nodes.data() + tree.first, tree.depth}; }

 private:
  class Builder;
};

extern template class PackedForest<float, float>;
extern template class PackedForest<float, double>;
extern template class PackedForest<double, float>;
extern template class PackedForest<double, double>;

}  // namespace clearwood
