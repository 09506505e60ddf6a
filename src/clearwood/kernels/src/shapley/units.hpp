// How trees are cut into units, the pieces whose contributions are tabulated together.
//
// A unit is a node with everything below it. A row's pattern in the unit has one bit per distinct
// player on the way to the node (are all of the player's questions satisfied?) and one per inner
// node below (does the row go left?). Merging the leaves of a small subtree costs a few bits and
// saves most of the look-ups; a leaf that is a unit of its own has only the bits of its players.
#pragma once

#include <cstdint>
#include <vector>

#include "shapley/forest.hpp"

namespace clearwood {

// Subtrees are merged while the unit has at most this many bits.
constexpr int most_merged_bits = 8;
// A subtree in which every inner node has a leaf adds as many bits as its longest path has
// questions, so that merging it costs little; up to this many inner nodes are merged.
constexpr int most_inner_of_chain = 3;
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
  bool is_unit(const ForestArrays& forest, std::int32_t node, std::size_t n_players) const;
  void cut(const ForestArrays& forest, std::int32_t node, std::vector<std::int32_t>& players,
           TreeUnits& tree);

  std::vector<TreeUnits> trees_;
  std::vector<std::int32_t> first_, last_;
  // Inner nodes at or below each node: how many, and the longest path of them.
  std::vector<std::int32_t> inner_nodes_, height_;
  std::size_t n_counts_ = 0;
  bool needs_rows_ = false;
};

// A player on the path to a node of a unit: satisfied exactly if (pattern & mask) == want.
struct Condition {
  std::int32_t player;
  std::uint16_t mask;
  std::uint16_t want;
};

// A multiple of the indicator of a node. As the indicators of two children add up to their
// parent's, a unit's leaves can be written as its node and all left children: value(right-most leaf
// below the child) minus value(right-most leaf below its sibling). Those have shorter paths than
// the leaves.
struct UnitTerm {
  std::int32_t plus;   // leaves whose values make the factor
  std::int32_t minus;  // or -1
  std::vector<Condition> conditions;  // players on the way first, in the order of their bits
};

// `way` holds the distinct players above the unit's node, in the order of their bits; the inner
// nodes at and below it have the next bits, in pre-order.
std::vector<UnitTerm> unit_terms(const ForestArrays& forest, std::int32_t node,
                                 const std::vector<std::int32_t>& way);

}  // namespace clearwood
