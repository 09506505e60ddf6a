// Blocks of rows as bit patterns, and sums over subsets of patterns.
//
// All loops run over contiguous memory without branches, so that the compiler can use whole
// vectors.
#include "shapley/pattern.hpp"

#include <algorithm>

#include "shapley/members.hpp"

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

typedef double Lanes __attribute__((vector_size(64)));

// Calls run(first, codes, n, test) for blocks of rows from `first` on, with codes that are tested by
// an interval: of a set they are 1 for its members.
template <class Run>
inline void by_interval(const Code* codes, std::size_t n, const SplitTest& test, Run&& run) {
  if (test.set == nullptr) return run(std::size_t(0), codes, n, test);
  constexpr std::size_t block = 512;
  constexpr SplitTest is_member{0, 1, 0, nullptr};
  Code members[block];
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t size = std::min(block, n - first);
    find_members(codes + first, size, test, members);
    run(first, members, size, is_member);
  }
}

template <class Pattern>
inline void follow_block(const Pattern* from, const Code* codes, std::size_t n,
                         const SplitTest& test, bool left, Pattern bit, bool first_of_player,
                         Pattern* to) {
  const SplitTest asked = test;
  // The pattern keeps every other bit; `bit` stays or becomes set where the row takes the edge.
  const Pattern on_left = left ? bit : Pattern(0);
  const Pattern on_right = left ? Pattern(0) : bit;
  if (first_of_player) {
    for (std::size_t i = 0; i < n; ++i) {
      to[i] = static_cast<Pattern>(from[i] | (in_interval(codes[i], asked) ? on_left : on_right));
    }
  } else {
    const Pattern others = static_cast<Pattern>(~bit);
    for (std::size_t i = 0; i < n; ++i) {
      const Pattern kept = in_interval(codes[i], asked) ? on_left : on_right;
      to[i] = static_cast<Pattern>(from[i] & (others | kept));
    }
  }
}

template <class Pattern>
inline void note_block(const Code* codes, std::size_t n, const SplitTest& test, Pattern bit,
                       Pattern* patterns) {
  const SplitTest asked = test;
  for (std::size_t i = 0; i < n; ++i) {
    const Pattern noted = in_interval(codes[i], asked) ? bit : Pattern(0);
    patterns[i] = static_cast<Pattern>(patterns[i] | noted);
  }
}

// The steps of subset_sums for bits 0, 1 and 2, which pair entries of one vector.
inline Lanes sums_within(Lanes h, double t) {
  const double u = 1 - t;
  const Lanes zero = {};
  h = __builtin_shufflevector(h, zero, 8, 0, 8, 2, 8, 4, 8, 6) + h * Lanes{u, t, u, t, u, t, u, t};
  h = __builtin_shufflevector(h, zero, 8, 8, 0, 1, 8, 8, 4, 5) + h * Lanes{u, u, t, t, u, u, t, t};
  return __builtin_shufflevector(h, zero, 8, 8, 8, 8, 0, 1, 2, 3) +
         h * Lanes{u, u, u, u, t, t, t, t};
}

// One bit, whose value is `step`.
inline void sums_over_bit(double* h, std::size_t size, std::size_t step, double t) {
  const double u = 1 - t;
  for (std::size_t start = 0; start < size; start += 2 * step) {
    double* __restrict without = h + start;
    double* __restrict with = without + step;
    for (std::size_t a = 0; a < step; ++a) {
      const double before = without[a];
      without[a] = u * before;
      with[a] = before + t * with[a];
    }
  }
}

// Two bits, of values `step` and 2 * step, in one pass over memory.
inline void sums_over_two_bits(double* h, std::size_t size, std::size_t step, double t) {
  const double u = 1 - t;
  for (std::size_t start = 0; start < size; start += 4 * step) {
    double* __restrict none = h + start;
    double* __restrict low = none + step;
    double* __restrict high = low + step;
    double* __restrict both = high + step;
    for (std::size_t a = 0; a < step; ++a) {
      const double none_low = u * none[a], with_low = none[a] + t * low[a];
      const double none_high = u * high[a], with_both = high[a] + t * both[a];
      none[a] = u * none_low;
      low[a] = u * with_low;
      high[a] = none_low + t * none_high;
      both[a] = with_low + t * with_both;
    }
  }
}

}  // namespace

template <class Pattern>
void follow_edge(const Pattern* from, const Code* codes, std::size_t n, const SplitTest& test,
                 bool left, Pattern bit, bool first_of_player, Pattern* to) noexcept {
  by_interval(codes, n, test, [&](std::size_t first, const Code* block, std::size_t size,
                                  const SplitTest& interval) {
    follow_block(from + first, block, size, interval, left, bit, first_of_player, to + first);
  });
}

template <class Pattern>
void note_outcome(const Code* codes, std::size_t n, const SplitTest& test, Pattern bit,
                  Pattern* patterns) noexcept {
  by_interval(codes, n, test, [&](std::size_t first, const Code* block, std::size_t size,
                                  const SplitTest& interval) {
    note_block(block, size, interval, bit, patterns + first);
  });
}

void add_look_up(const double* __restrict table, const std::uint16_t* __restrict patterns,
                 std::size_t n, std::uint16_t keep, double factor,
                 double* __restrict out) noexcept {
  for (std::size_t i = 0; i < n; ++i) out[i] += factor * table[patterns[i] & keep];
}

void subset_sums(double* h, int d, double t) noexcept {
  const std::size_t size = std::size_t(1) << d;
  std::size_t step = 1;
  if (d >= 3) {
    for (std::size_t a = 0; a < size; a += 8) {
      Lanes eight;
      __builtin_memcpy(&eight, h + a, sizeof eight);
      eight = sums_within(eight, t);
      __builtin_memcpy(h + a, &eight, sizeof eight);
    }
    step = 8;
  }
  for (; 4 * step <= size; step *= 4) sums_over_two_bits(h, size, step, t);
  if (step < size) sums_over_bit(h, size, step, t);
}

void add_scaled(const double* __restrict from, std::size_t n, double factor,
                double* __restrict to) noexcept {
  for (std::size_t a = 0; a < n; ++a) to[a] += factor * from[a];
}

#define CLEARWOOD_PATTERN(Pattern)                                                               \
  template void follow_edge<Pattern>(const Pattern*, const Code*, std::size_t, const SplitTest&, \
                                     bool, Pattern, bool, Pattern*) noexcept;                    \
  template void note_outcome<Pattern>(const Code*, std::size_t, const SplitTest&, Pattern,       \
                                      Pattern*) noexcept;
CLEARWOOD_PATTERN(std::uint16_t)
CLEARWOOD_PATTERN(std::uint32_t)
CLEARWOOD_PATTERN(std::uint64_t)

}  // namespace clearwood::CLEARWOOD_LEVEL
