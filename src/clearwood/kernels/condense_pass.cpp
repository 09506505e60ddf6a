// One round of message passing between a tree and its features, in whole numbers.
#include "condense_pass.hpp"

namespace clearwood::CLEARWOOD_LEVEL {

using condense::Ranks;
using condense::TreeView;
using condense::unreachable;

namespace {

inline std::int32_t smaller(std::int32_t a, std::int32_t b) { return a < b ? a : b; }

inline std::int32_t larger(std::int32_t a, std::int32_t b) { return a > b ? a : b; }

// Calls body(cell, first rank, number of ranks) for every cell of feature i.
template <class Body>
inline void each_cell(const TreeView& tree, std::int32_t i, const Ranks& ranks, Body&& body) {
  const std::int32_t first = tree.first_cell[i], last = tree.first_cell[i + 1] - 1;
  const std::int32_t numbers = last - tree.has_missing[i];
  std::int32_t rank = ranks.lo;
  for (std::int32_t cell = first; cell <= numbers; ++cell) {
    std::int32_t end = cell == numbers ? ranks.hi : tree.end[cell];
    if (end > ranks.hi) end = ranks.hi;
    const std::int32_t n = end >= rank ? end - rank + 1 : 0;
    body(cell, rank, n);
    rank += n;
  }
  if (tree.has_missing[i]) body(last, ranks.missing, ranks.missing >= 0 ? 1 : 0);
}

}  // namespace

std::int32_t least_of(const std::int32_t* values, std::size_t n) noexcept {
  std::int32_t least = unreachable;
  for (std::size_t i = 0; i < n; ++i) least = smaller(least, values[i]);
  return least;
}

void pass_messages(const TreeView& tree, const Ranks* ranks, std::int32_t* const* sums,
                   const std::int32_t* value, std::int32_t* message,
                   std::int32_t* scratch) noexcept {
  const std::int32_t k = tree.n_features, cells = tree.first_cell[k];
  std::int32_t *least = scratch, *marginal = scratch + cells, *across = scratch + 2 * cells;
  for (std::int32_t i = 0; i < k; ++i) {
    const std::int32_t* own = sums[tree.feature[i]];
    each_cell(tree, i, ranks[tree.feature[i]], [&](std::int32_t c, std::int32_t rank, std::int32_t n) {
      least[c] = n ? least_of(own + rank, std::size_t(n)) - message[c] : unreachable;
      marginal[c] = unreachable;
    });
  }
  for (std::int32_t leaf = 0; leaf < tree.n_leaves; ++leaf) {
    const std::uint8_t *from = tree.from + leaf * k, *to = tree.to + leaf * k;
    std::int32_t sum = value[leaf];
    bool reached = true;
    for (std::int32_t i = 0; i < k; ++i) {
      const std::int32_t* mine = least + tree.first_cell[i];
      std::int32_t smallest = mine[from[i]];
      for (std::int32_t c = from[i] + 1; c <= to[i]; ++c) smallest = smaller(smallest, mine[c]);
      across[i] = smallest;
      reached &= smallest < unreachable;
      sum += smallest;
    }
    if (!reached) continue;
    for (std::int32_t i = 0; i < k; ++i) {
      const std::int32_t others = sum - across[i];
      const std::int32_t* mine = least + tree.first_cell[i];
      std::int32_t* out = marginal + tree.first_cell[i];
      for (std::int32_t c = from[i]; c <= to[i]; ++c) {
        if (mine[c] < unreachable) out[c] = smaller(out[c], others + mine[c]);
      }
    }
  }
  for (std::int32_t i = 0; i < k; ++i) {
    std::int32_t* own = sums[tree.feature[i]];
    each_cell(tree, i, ranks[tree.feature[i]], [&](std::int32_t c, std::int32_t rank, std::int32_t n) {
      if (n == 0) {
        message[c] = -unreachable;
        return;
      }
      const std::int32_t next = marginal[c] / k - least[c];
      const std::int32_t change = next - message[c];
      message[c] = next;
      for (std::int32_t r = rank; r < rank + n; ++r) own[r] += change;
    });
  }
}

void add_messages(const TreeView& tree, const Ranks* ranks, std::int32_t* const* sums,
                  const std::int32_t* message) noexcept {
  for (std::int32_t i = 0; i < tree.n_features; ++i) {
    std::int32_t* own = sums[tree.feature[i]];
    each_cell(tree, i, ranks[tree.feature[i]], [&](std::int32_t c, std::int32_t rank, std::int32_t n) {
      for (std::int32_t r = rank; r < rank + n; ++r) own[r] += message[c];
    });
  }
}

std::int32_t least_rest(const TreeView& tree, const std::int32_t* value,
                        const std::int32_t* message) noexcept {
  const std::int32_t k = tree.n_features;
  std::int32_t least = unreachable;
  for (std::int32_t leaf = 0; leaf < tree.n_leaves; ++leaf) {
    const std::uint8_t *from = tree.from + leaf * k, *to = tree.to + leaf * k;
    std::int32_t sum = value[leaf];
    bool reached = true;
    for (std::int32_t i = 0; i < k; ++i) {
      const std::int32_t* mine = message + tree.first_cell[i];
      std::int32_t largest = mine[from[i]];
      for (std::int32_t c = from[i] + 1; c <= to[i]; ++c) largest = larger(largest, mine[c]);
      reached &= largest > -unreachable;
      sum -= largest;
    }
    if (reached) least = smaller(least, sum);
  }
  return least;
}

}  // namespace clearwood::CLEARWOOD_LEVEL
