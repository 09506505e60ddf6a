// How trees are cut into units, the pieces whose contributions are tabulated together.
//
// A unit is a node with everything below it. A row's pattern in the unit has one bit per distinct
// player on the way to the node (are all of the player's questions satisfied?) and one per inner node
// below (does the row go left?). Merging the leaves of a small subtree costs a few bits and saves
// most of the look-ups; a leaf that is a unit of its own has only the bits of its players.
#pragma once

#include <cstdint>
#include <vector>

#include "shapley_forest.hpp"

namespace clearwood {

// Subtrees are merged while the unit has at most this many bits.
constexpr int most_merged_bits = 8;
// Up to this many bits, a table over all patterns is held; beyond, a list of those that occur.
constexpr int most_dense_bits = 14;
// A tree's background counts are kept if they have no more entries than this.
constexpr std::size_t most_counts_per_tree = std::size_t(1) << 14;

struct Unit {
  std::int32_t node;
  std::int32_t bits;
  std::size_t counts;  // where its counts lie among the tree's, 2^bits of them
};

struct TreeUnits {
  std::vector<Unit> units;  // from left to right
  bool counted;             // background counts are kept; else the background's rows are
  bool wide;                // some unit needs patterns of more than 16 bits
  std::size_t counts;       // where its counts lie among the forest's
  std::size_t n_counts;
};

class Units {
 public:
  explicit Units(const ForestArrays& forest);

  const TreeUnits& tree(std::size_t index) const { return trees_[index]; }
  std::size_t n_counts() const { return n_counts_; }
  bool needs_rows() const { return needs_rows_; }
  // The units at or below a node are [first(node), last(node)) of its tree.
  std::int32_t first(std::int32_t node) const { return first_[node]; }
  std::int32_t last(std::int32_t node) const { return last_[node]; }

 private:
  void cut(const ForestArrays& forest, std::int32_t node, std::vector<std::int32_t>& players,
           const std::vector<std::int32_t>& inner_nodes, TreeUnits& tree);

  std::vector<TreeUnits> trees_;
  std::vector<std::int32_t> first_, last_;
  std::size_t n_counts_ = 0;
  bool needs_rows_ = false;
};

// A player of a leaf: satisfied exactly if (pattern of the unit & mask) == want.
struct Condition {
  std::int32_t player;
  std::uint16_t mask;
  std::uint16_t want;
};

struct UnitLeaf {
  std::int32_t node;
  std::vector<Condition> conditions;
};

// The leaves of a merged unit, and the inner nodes below its node in the order of their bits.
struct UnitShape {
  std::vector<UnitLeaf> leaves;
  std::vector<std::int32_t> inner_nodes;
};

// `way` holds the distinct players above the unit's node, in the order of their bits.
UnitShape unit_shape(const ForestArrays& forest, std::int32_t node,
                     const std::vector<std::int32_t>& way);

}  // namespace clearwood
