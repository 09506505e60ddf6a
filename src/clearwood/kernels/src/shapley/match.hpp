// Which explained and background rows reach a leaf together, and what the players get from that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dispatch.hpp"

namespace clearwood {

constexpr int most_matched_players = 32;
// beta[n][m] = n! m! / (n + m + 1)! lies at beta[n * beta_stride + m], from n = m = -1 on, where it
// is zero.
constexpr int beta_stride = most_matched_players + 2;

// Background patterns are read in steps of this many, so there must be room for whole ones.
constexpr std::size_t match_step = 64;

// What a block of explained rows has from one leaf. Pure data.
struct Matches {
  double* gains;            // n_rows x bits of a pattern, aligned to 64 bytes
  std::uint32_t* matched;   // the rows that have a match, room for n_rows + 1
  double* losses;           // n_rows, zero between calls
  std::uint8_t* has_match;  // n_rows, zero between calls
  std::uint64_t* scratch;   // 3 * (n_rows + 8)
};

}  // namespace clearwood

CLEARWOOD_EACH_LEVEL(
    // Patterns have a bit per player on the path to a leaf, set where the row satisfies all of the
    // player's questions; `all` has every bit. A coalition reaches the leaf if its players are
    // satisfied by the explained row and all others by the background row, so the patterns of a
    // pair that matters make `all` together. With A the players that only the explained row
    // satisfies and B those that only the background row does, each of A gains the weight of the
    // background row times beta[|A| - 1][|B|], and each of B loses it times beta[|A|][|B| - 1].
    //
    // Adds to gains, of which losses are the negative ones, and returns how many rows have a match.
    // Pattern is uint16_t or uint32_t.
    template <class Pattern>
    std::size_t match_rows(const Pattern* rows, std::size_t n_rows, const Pattern* background,
                           std::size_t n_background, const double* weights, Pattern all,
                           const double* beta, const Matches& matches) noexcept;)
