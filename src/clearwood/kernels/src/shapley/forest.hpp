// Trees as the Shapley kernels see them: integers only.
//
// Rows arrive as codes: column c of a row is a 16-bit rank or class (shapley's Python face makes
// them). A node that tests a rank sends a row left exactly if (code - start) mod 2^16 <= width.
// Ranks grow with the value and the largest code stands for a missing value, so both kinds of split
// are intervals on that circle: [0, k] where missing values go right, [-1, k] where they go left.
// Splits of categories, and those that treat zero as missing, test a class: values that all such
// splits of a column treat alike have the same one, and a node holds the set of classes that go
// left, a bit each. Several columns may belong to one player, who is in or out with all of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clearwood {

using Code = std::uint16_t;

// Words behind the last set that may be read.
constexpr std::size_t room_behind_sets = 32;

// Does a row with this code go left?
struct SplitTest {
  std::int32_t column;
  Code start;
  Code width;                // the largest class where there is a set
  const std::uint32_t* set;  // the classes that go left, or null where the code is a rank
};

// Arrays over the nodes of all trees; children come after their parent. Pure data.
struct ForestArrays {
  std::size_t n_trees;
  std::size_t n_nodes;
  std::size_t n_columns;
  std::size_t n_players;
  std::size_t n_outputs;
  const std::int32_t* roots;
  const std::int32_t* left;  // -1 at leaves
  const std::int32_t* right;
  const std::int32_t* column;
  const Code* start;
  const Code* width;
  const std::int64_t* set;     // where the node's set starts among the words, -1 without one
  const std::uint32_t* words;  // bit c % 32 of word c / 32 of a set is class c
  const std::int32_t* player;
  const double* cover;
  const double* value;  // n_nodes x n_values: one value per output, or the one of tree_output
  std::size_t n_values;
  const std::int32_t* tree_output;  // -1: the tree adds to every output
};

// Internal linkage: sources of every level include this file.
static inline SplitTest split_test(const ForestArrays& forest, std::int32_t node) {
  return {forest.column[node], forest.start[node], forest.width[node],
          forest.set[node] < 0 ? nullptr : forest.words + forest.set[node]};
}

static inline bool in_interval(Code code, const SplitTest& test) {
  return static_cast<Code>(code - test.start) <= test.width;
}

static inline bool in_set(Code code, const std::uint32_t* set) {
  return ((set[code / 32] >> (code % 32)) & 1) != 0;
}

}  // namespace clearwood
