// Path-dependent Shapley values and interactions: the walk over one tree (see path.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dispatch.hpp"
#include "shapley/forest.hpp"

namespace clearwood {

// An inner node, in pre-order. Its tables lie at `table`:
//   if has_leaf:       n_values x n_points x {a1, a2, a0, b1, b2}, the children that are leaves;
//   per inner child:   n_points x {m1, m2, m0, w1, w2, p}, the edge to that child.
// Index 1 is for rows that go left here, 2 for rows that go right, both having satisfied the
// earlier questions to this player; 0 for rows that have not.
struct PathNode {
  SplitTest test;
  std::int32_t player;
  std::int32_t previous;      // depth of the last edge of the same player above, or -1
  std::int32_t child[2];      // inner nodes, or -1 at leaves
  std::int32_t others_begin;  // into PathTree::others: the last edge of every other player above
  std::int32_t others_end;
  std::size_t table;
  bool has_leaf;
};

struct PathTree {
  const PathNode* nodes;
  const double* tables;
  const std::int32_t* others;
  const double* beyond;   // n_points: -1 / (1 - t)
  std::int32_t n_points;
  std::int32_t depth;     // of inner nodes: the root alone has depth 1
  std::int32_t n_values;
};

constexpr std::size_t path_leaf_entry = 5;
constexpr std::size_t path_edge_entry = 6;
constexpr std::size_t path_rows = 32;  // rows per walk

}  // namespace clearwood

CLEARWOOD_EACH_LEVEL(
    // Bytes of scratch, aligned to 64, that a walk of this tree needs.
    std::size_t path_scratch_size(const PathTree& tree) noexcept;

    // With R = path_rows: adds the Shapley values of R rows in this tree to
    // shapley[(player * n_outputs + output) * R + row] and, unless null, their interactions to
    // pairs[(pair * n_outputs + output) * R + row], pair = i * (i - 1) / 2 + j for players i > j.
    // codes[column * R + row]; value 0 goes to first_output. Both results are aligned to 64 bytes.
    void path_walk(const PathTree& tree, const Code* codes, std::int32_t first_output,
                   std::int32_t n_outputs, void* scratch, double* shapley, double* pairs) noexcept;)
