// Rank values against sorted thresholds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dispatch.hpp"

namespace clearwood {

// The thresholds of one column, laid out for the search (see rank.cpp). Pure data: no member
// functions, since this type is shared by objects compiled for different levels.
template <class Threshold>
struct RankTable {
  const Threshold* sorted;  // ascending, then NaN up to (n_pivots + 1) << shift
  const Threshold* pivots;  // the last threshold of each of the n_pivots full groups of 1 << shift
  std::size_t n_pivots;
  int shift;
};

}  // namespace clearwood

CLEARWOOD_EACH_LEVEL(
    // Up to this many pivots, counting one by one beats halving; more make larger groups.
    // Of 1, 2, 4, ..., 64 tried, these were the fastest or near it for 16, 63 and 255 thresholds;
    // for AVX-512 that was before it gathered, and has not been tried again since.
    std::size_t rank_max_pivots(bool doubles) noexcept;

    // codes[i] = how many thresholds lie below values[i * stride], or `missing` if that is NaN.
    // Below is t < x or, with or_equal, t <= x. The value is cast to Threshold first.
    template <class Value, class Threshold, class Code>
    void rank_values(const Value* values, std::ptrdiff_t stride, std::size_t n,
                     const RankTable<Threshold>& table, bool or_equal, Code missing,
                     Code* codes) noexcept;)
