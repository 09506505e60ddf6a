// Path-dependent Shapley values and interactions: the walk over one tree (see path.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dispatch.hpp"
#include "shapley/forest.hpp"

namespace clearwood {

// What an edge or the leaves of a node do at one point of the quadrature. Index 0 is for rows that
// go left here, 1 for rows that go right, both having satisfied the earlier questions to this
// player; 2 for rows that have not.
struct alignas(64) PathLine {
  double factor[3];  // of P on the edge, or the sum of P times value over the leaves
  double weight[3];  // of S in the change of psi, or the leaves' own change; weight[2] is 0
  double psi;        // after the edge, for rows that satisfy it
  double unused;
};
static_assert(sizeof(PathLine) == 64);

enum class PathChild : std::uint8_t {
  none,   // a leaf, or nothing
  stump,  // a node that has leaves only, walked together with its parent
  inner,
};

// An inner node, in pre-order. Its lines begin at `lines`: n_values x n_points for the children
// that are leaves, if any are; then n_points for the edge to every other child.
struct PathNode {
  SplitTest test;
  std::int32_t player;
  std::int32_t previous;      // depth of the last edge of the same player above, or -1
  std::int32_t child[2];      // nodes
  std::int32_t others_begin;  // into PathTree::others: the last edge of every other player above
  std::int32_t others_end;
  std::size_t lines;
  PathChild kind[2];
  bool has_leaf;
};

struct PathTree {
  const PathNode* nodes;
  const PathLine* lines;
  const std::int32_t* others;
  const double* beyond;   // n_points: -1 / (1 - t)
  std::int32_t n_points;
  std::int32_t depth;     // of nodes that are not stumps: the root alone has depth 1
  std::int32_t n_values;
};

constexpr std::size_t path_rows = 32;  // rows per walk

}  // namespace clearwood

CLEARWOOD_EACH_LEVEL(
    // Bytes of scratch, aligned to 64, that a walk of this tree needs.
    std::size_t path_scratch_size(const PathTree& tree) noexcept;

    // With R = path_rows: adds the Shapley values of R rows in this tree to
    // shapley[(player * n_outputs + output) * R + row] and, unless null, their interactions to
    // pairs[(pair * n_outputs + output) * R + row], pair = i * (i - 1) / 2 + j for players i > j.
    // codes[column * R + row]; value 0 goes to first_output. All are aligned to 64 bytes. For
    // interactions the tree must have been made without stumps.
    void path_walk(const PathTree& tree, const Code* codes, std::int32_t first_output,
                   std::int32_t n_outputs, void* scratch, double* shapley, double* pairs) noexcept;)
