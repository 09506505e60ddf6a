// Small trees for a function on a grid of cells.
//
// A grid holds one label a cell. An ordered dimension is split between neighbouring places, any
// other by the questions listed for it, each a set of places that go left.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "condense/store.hpp"

namespace clearwood::condense {

struct Dimension {
  bool ordered = true;
  std::int32_t size = 1;
  std::vector<std::uint64_t> masks;      // listed questions: places that go left
  std::vector<std::int32_t> questions;   // their numbers, for the caller
  std::size_t n_splits() const {
    return ordered ? static_cast<std::size_t>(size) - 1 : masks.size();
  }
};

struct Grid {
  std::vector<Dimension> dimensions;
  std::vector<std::uint32_t> labels;  // the last dimension varies fastest
  std::vector<double> weights;        // of cells; empty where only leaves or depth count
};

enum class Objective : int { leaves = 0, depth = 1, questions = 2 };

// A tree over a grid. Splits of ordered dimensions are the last place that goes left, of others
// the position in `masks`. Children come after their parents; leaves have split -1.
struct GridTree {
  std::vector<std::int32_t> dimension, split, left, right;
  std::vector<std::uint32_t> label;
};

// A small tree by looking at the `breadth` most promising splits of every part, until a part has at
// most `provable` boxes. Throws GaveUp after about `work` looks at a cell, which is the same on every
// machine.
struct GaveUp {};
GridTree reduce_grid(const Grid& grid, int breadth, double provable, double work,
                     Objective objective, const std::function<void()>& look);

// How far apart neighbouring places of each dimension lie among the labels.
std::vector<std::size_t> strides_of(const std::vector<Dimension>& dimensions);
// One side of a split.
Grid part_of(const Grid& grid, std::int32_t dimension, std::int32_t split, bool left);

double n_boxes(const Grid& grid);
double tree_cost(const Grid& grid, const GridTree& tree, Objective objective);

// The table that `prove_grid` needs, in bytes.
double proof_bytes(const Grid& grid, Objective objective);

// A tree than which none is better.
GridTree prove_grid(const Grid& grid, Objective objective, const std::function<void()>& look);

// Drops places and dimensions that change nothing. Gives, per remaining dimension, the original
// one and, per remaining split, the original split.
struct Compressed {
  Grid grid;
  std::vector<std::int32_t> dimension;
  std::vector<std::vector<std::int32_t>> split;
};
Compressed compress(const Grid& grid);

}  // namespace clearwood::condense
