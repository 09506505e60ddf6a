// One round of message passing between a tree and its features, in whole numbers.
#include "condense/pass.hpp"

namespace clearwood::CLEARWOOD_LEVEL {

using condense::Ranks;
using condense::TreeView;
using condense::unreachable;

namespace {

inline std::int32_t smaller(std::int32_t a, std::int32_t b) { return a < b ? a : b; }

inline std::int32_t larger(std::int32_t a, std::int32_t b) { return a > b ? a : b; }

// Rounded down.
inline std::int32_t divided(std::int32_t a, std::int32_t b) { return a / b - (a % b < 0); }

inline std::int32_t least_within(const std::int32_t* cells, std::int32_t from, std::int32_t to) {
  std::int32_t least = cells[from];
  for (std::int32_t c = from + 1; c <= to; ++c) least = smaller(least, cells[c]);
  return least;
}

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

// Per cell, the least sum of the other trees' messages.
inline void take_in(const TreeView& tree, const Ranks* ranks, std::int32_t* const* sums,
                    const std::int32_t* message, std::int32_t* others) {
  for (std::int32_t i = 0; i < tree.n_features; ++i) {
    const std::int32_t* own = sums[tree.feature[i]];
    each_cell(tree, i, ranks[tree.feature[i]], [&](std::int32_t c, std::int32_t rank, std::int32_t n) {
      others[c] = n ? least_of(own + rank, std::size_t(n)) - message[c] : unreachable;
    });
  }
}

// Replaces the messages by next(cell).
template <class Next>
inline void hand_out(const TreeView& tree, const Ranks* ranks, std::int32_t* const* sums,
                     std::int32_t* message, Next&& next) {
  for (std::int32_t i = 0; i < tree.n_features; ++i) {
    std::int32_t* own = sums[tree.feature[i]];
    each_cell(tree, i, ranks[tree.feature[i]], [&](std::int32_t c, std::int32_t rank, std::int32_t n) {
      if (n == 0) {
        message[c] = -unreachable;
        return;
      }
      const std::int32_t change = next(c) - message[c];
      message[c] += change;
      for (std::int32_t r = rank; r < rank + n; ++r) own[r] += change;
    });
  }
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
  // rest: the others' messages to a cell, less what it has received by now; across: its least over
  // the cells of a leaf; total: the leaf's value with these
  std::int32_t *rest = scratch, *marginal = scratch + cells, *across = scratch + 2 * cells;
  std::int32_t* total = across + tree.n_leaves * k;
  take_in(tree, ranks, sums, message, rest);
  for (std::int32_t leaf = 0; leaf < tree.n_leaves; ++leaf) {
    std::int32_t sum = value[leaf];
    bool reached = true;
    for (std::int32_t i = 0; i < k; ++i) {
      const std::int32_t at = leaf * k + i;
      across[at] = least_within(rest + tree.first_cell[i], tree.from[at], tree.to[at]);
      reached &= across[at] < unreachable;
      sum += across[at];
    }
    total[leaf] = reached ? sum : unreachable;
  }
  // Gives a part of what the tree has left per cell to feature i.
  const auto give = [&](std::int32_t i, std::int32_t part) {
    std::int32_t *mine = rest + tree.first_cell[i], *least = marginal + tree.first_cell[i];
    const std::int32_t n = tree.first_cell[i + 1] - tree.first_cell[i];
    for (std::int32_t c = 0; c < n; ++c) least[c] = unreachable;
    for (std::int32_t leaf = 0; leaf < tree.n_leaves; ++leaf) {
      if (total[leaf] == unreachable) continue;
      const std::int32_t at = leaf * k + i, others = total[leaf] - across[at];
      for (std::int32_t c = tree.from[at]; c <= tree.to[at]; ++c) least[c] = smaller(least[c], others);
    }
    for (std::int32_t c = 0; c < n; ++c) {
      if (mine[c] == unreachable || least[c] == unreachable) continue;
      const std::int32_t left = mine[c] + least[c];
      mine[c] -= part == 1 ? left : divided(left, part);
    }
    for (std::int32_t leaf = 0; leaf < tree.n_leaves; ++leaf) {
      if (total[leaf] == unreachable) continue;
      const std::int32_t at = leaf * k + i;
      const std::int32_t now = least_within(mine, tree.from[at], tree.to[at]);
      total[leaf] += now - across[at];
      across[at] = now;
    }
  };
  for (std::int32_t i = 0; i < k; ++i) give(i, k - i);
  for (std::int32_t i = k - 1; i-- > 0;) give(i, 1);  // what giving to others left over
  hand_out(tree, ranks, sums, message, [&](std::int32_t c) { return -rest[c]; });
}

void pass_evenly(const TreeView& tree, const Ranks* ranks, std::int32_t* const* sums,
                 const std::int32_t* value, std::int32_t* message,
                 std::int32_t* scratch) noexcept {
  const std::int32_t k = tree.n_features, cells = tree.first_cell[k];
  std::int32_t *others = scratch, *marginal = scratch + cells, *across = scratch + 2 * cells;
  take_in(tree, ranks, sums, message, others);
  for (std::int32_t c = 0; c < cells; ++c) marginal[c] = unreachable;
  for (std::int32_t leaf = 0; leaf < tree.n_leaves; ++leaf) {
    const std::uint8_t *from = tree.from + leaf * k, *to = tree.to + leaf * k;
    std::int32_t sum = value[leaf];
    bool reached = true;
    for (std::int32_t i = 0; i < k; ++i) {
      across[i] = least_within(others + tree.first_cell[i], from[i], to[i]);
      reached &= across[i] < unreachable;
      sum += across[i];
    }
    if (!reached) continue;
    for (std::int32_t i = 0; i < k; ++i) {
      const std::int32_t rest = sum - across[i];
      const std::int32_t* mine = others + tree.first_cell[i];
      std::int32_t* out = marginal + tree.first_cell[i];
      for (std::int32_t c = from[i]; c <= to[i]; ++c) {
        if (mine[c] < unreachable) out[c] = smaller(out[c], rest + mine[c]);
      }
    }
  }
  hand_out(tree, ranks, sums, message,
           [&](std::int32_t c) { return divided(marginal[c], k) - others[c]; });
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

std::int32_t least_rests(const TreeView& tree, const std::int32_t* value,
                         const std::int32_t* message, std::int32_t* rests,
                         std::int32_t* scratch) noexcept {
  const std::int32_t k = tree.n_features;
  for (std::int32_t c = 0; c < tree.first_cell[k]; ++c) rests[c] = unreachable;
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
      scratch[i] = largest;
      sum -= largest;
    }
    if (!reached) continue;
    least = smaller(least, sum);
    for (std::int32_t i = 0; i < k; ++i) {
      const std::int32_t* mine = message + tree.first_cell[i];
      std::int32_t* out = rests + tree.first_cell[i];
      for (std::int32_t c = from[i]; c <= to[i]; ++c) {
        if (mine[c] > -unreachable) out[c] = smaller(out[c], sum + scratch[i] - mine[c]);
      }
    }
  }
  return least;
}

}  // namespace clearwood::CLEARWOOD_LEVEL
