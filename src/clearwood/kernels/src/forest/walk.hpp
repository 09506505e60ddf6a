// Which leaf every row of a block reaches in one tree, and the sums of what the leaves hold.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dispatch.hpp"

namespace clearwood {

// Rows are looked at in lots of this many; a block holds a whole number of lots.
constexpr std::size_t rows_per_lot = 64;

// How one column of a block is made from one column of the caller's matrix. A block keeps its rows
// by column, already such that every question is `x <= threshold`: a missing value is written as
// -infinity where it goes left and as NaN, which compares false, where it goes right.
struct ColumnRule {
  std::int32_t feature;
  bool missing_left;
  bool zero_missing;  // values this near zero count as missing: |x| <= zero_band
};
constexpr double zero_band = 1.0000000180025095e-35;  // the float32 nearest to 1e-35

// Values of a column of categories that are none.
constexpr std::uint32_t unseen_category = 0xfffffffe;
constexpr std::uint32_t missing_category = 0xffffffff;

// A column that answers one question about categories: 0 for left, 1 for right.
struct SetRule {
  std::size_t column;    // of the block's categories
  std::uint32_t n_bits;  // a multiple of 32
  const std::uint32_t* words;
  bool missing_left;
  bool unseen_left;
};

// Leaves as bits of a word as wide as the values compared, so that both fill the same lanes.
template <class T>
struct LeafBits;
template <>
struct LeafBits<float> {
  using type = std::uint32_t;
};
template <>
struct LeafBits<double> {
  using type = std::uint64_t;
};

// A tree of few leaves, counted from the left. Every split is tested, and a row that goes right
// crosses out the leaves on the left of it (Lucchese et al., 2015, QuickScorer); the first leaf left
// over is the row's.
template <class T>
struct Question {
  T threshold;
  std::int32_t column;              // where the column starts in the block
  typename LeafBits<T>::type keep;  // the leaves that stay if the row goes right
};
template <class T>
struct MaskTree {
  const Question<T>* questions;
  std::size_t n_questions;
};

// A tree of many leaves. The children of a node lie side by side; a leaf is its own left child and
// tests a column of zeros, so that rows that have arrived stay while others walk on.
template <class T>
struct WalkNode {
  T threshold;
  std::int32_t column;  // where the column starts in the block
  std::int32_t left;
};
template <class T>
struct WalkTree {
  const WalkNode<T>* nodes;
  std::int32_t depth;
};

}  // namespace clearwood

CLEARWOOD_EACH_LEVEL(
    // Fill n rows of a block's column from values that lie `stride` apart.
    template <class Value, class T>
    void fill_column(const Value* values, std::ptrdiff_t stride, std::size_t n,
                     const ColumnRule& rule, T* column) noexcept;
    // The categories of n rows, which every set of the feature is tested with.
    template <class Value, class T>
    void fill_categories(const Value* values, std::ptrdiff_t stride, std::size_t n,
                         std::uint32_t* categories) noexcept;
    template <class T>
    void fill_set(const std::uint32_t* categories, std::size_t n, const SetRule& rule,
                  T* column) noexcept;

    // leaf[i] = the leaf that row i of the block reaches, for n_lots lots of rows: counted from the
    // left for a MaskTree, the node's number for a WalkTree.
    template <class T>
    void leaves_by_mask(const T* block, std::size_t n_lots, const MaskTree<T>& tree,
                        std::int32_t* leaf) noexcept;
    template <class T>
    void leaves_by_walk(const T* block, std::size_t n_lots, const WalkTree<T>& tree,
                        std::int32_t* leaf) noexcept;

    // total[i] += value[leaf[i]], or a vector of n_outputs values each.
    template <class Sum>
    void add_leaves(const Sum* value, const std::int32_t* leaf, std::size_t n, Sum* total) noexcept;
    template <class Sum>
    void add_leaf_vectors(const Sum* value, const std::int32_t* leaf, std::size_t n,
                          std::size_t n_outputs, Sum* total) noexcept;)
