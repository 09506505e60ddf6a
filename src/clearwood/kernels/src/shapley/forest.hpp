// Trees as the Shapley kernels see them: integers only.
//
// Rows arrive as codes: column c of a row is a 16-bit rank (shapley's Python face makes them). A
// node sends a row left exactly if (code - start) mod 2^16 <= width. Ranks grow with the value and
// the largest code stands for a missing value, so both kinds of split are intervals on that circle:
// [0, k] where missing values go right, [-1, k] where they go left. Categories have a column of
// outcomes per set. Several columns may belong to one player, who is in or out with all of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clearwood {

using Code = std::uint16_t;

// Does a row with this code go left?
struct SplitTest {
  std::int32_t column;
  Code start;
  Code width;
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
  const std::int32_t* player;
  const double* cover;
  const double* value;  // n_nodes x n_values: one value per output, or the one of tree_output
  std::size_t n_values;
  const std::int32_t* tree_output;  // -1: the tree adds to every output
};

}  // namespace clearwood
