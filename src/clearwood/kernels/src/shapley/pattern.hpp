// Loops over blocks of rows and over tables of patterns, for the interventional kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dispatch.hpp"
#include "shapley/forest.hpp"

CLEARWOOD_EACH_LEVEL(
    // Patterns one edge further down: `bit` stands for the edge's player and is set in rows that
    // satisfy all of the player's questions so far. Pattern is uint16_t, uint32_t or uint64_t.
    template <class Pattern>
    void follow_edge(const Pattern* from, const Code* codes, std::size_t n, const SplitTest& test,
                     bool left, Pattern bit, bool first_of_player, Pattern* to) noexcept;

    // Sets `bit` in rows that go left.
    template <class Pattern>
    void note_outcome(const Code* codes, std::size_t n, const SplitTest& test, Pattern bit,
                      Pattern* patterns) noexcept;

    // out[i] += factor * table[patterns[i] & keep]
    void add_look_up(const double* table, const std::uint16_t* patterns, std::size_t n,
                     std::uint16_t keep, double factor, double* out) noexcept;

    // Replaces h[c], c < 2^d, by the sum over the subsets c of a of t^|c| (1 - t)^(d - |a|) h[c].
    void subset_sums(double* h, int d, double t) noexcept;

    // to[a] += factor * from[a] for a < n
    void add_scaled(const double* from, std::size_t n, double factor, double* to) noexcept;)
