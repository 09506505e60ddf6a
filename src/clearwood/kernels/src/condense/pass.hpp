// One round of message passing between a tree and its features, in whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dispatch.hpp"

namespace clearwood::condense {

// A value above all others, for what cannot be reached; sums of real values stay below it.
inline constexpr std::int32_t unreachable = 1 << 28;

// The ranks of a feature in a box; missing values have a rank of their own, or -1.
struct Ranks {
  std::int32_t lo = 0, hi = -1, missing = -1;
};

// A tree as a list of leaves. Cells of feature i are [first_cell[i], first_cell[i + 1]); each ends
// at a rank, but for the last one of numbers, which ends where the box does; a feature with missing
// values has one more for them.
struct TreeView {
  std::int32_t n_features, n_leaves;
  const std::int32_t *feature, *first_cell, *end;
  const std::uint8_t* has_missing;
  const std::uint8_t *from, *to;  // (leaves, features): first and last cell of a leaf
};

}  // namespace clearwood::condense

CLEARWOOD_EACH_LEVEL(
    // The tree takes in the others' messages to its features (sums less its own messages) and gives
    // all it can back: feature by feature an equal part of its least value per cell, and once more
    // what this leaves over. Rounded down: what it keeps is nowhere negative, and zero somewhere in
    // every cell. `scratch` has room for two numbers a cell, and for one a leaf and one a leaf and
    // feature.
    void pass_messages(const condense::TreeView& tree, const condense::Ranks* ranks,
                       std::int32_t* const* sums, const std::int32_t* value, std::int32_t* message,
                       std::int32_t* scratch) noexcept;
    // The same, but an equal part and no more.
    void pass_evenly(const condense::TreeView& tree, const condense::Ranks* ranks,
                     std::int32_t* const* sums, const std::int32_t* value, std::int32_t* message,
                     std::int32_t* scratch) noexcept;
    // Adds messages to the sums of their features.
    void add_messages(const condense::TreeView& tree, const condense::Ranks* ranks,
                      std::int32_t* const* sums, const std::int32_t* message) noexcept;
    // The least value of a tree less its own messages (which are -unreachable where a box has no
    // rank), and per cell that of the leaves that reach into it. `scratch` has room for one number a
    // feature.
    std::int32_t least_rests(const condense::TreeView& tree, const std::int32_t* value,
                             const std::int32_t* message, std::int32_t* rests,
                             std::int32_t* scratch) noexcept;
    std::int32_t least_of(const std::int32_t* values, std::size_t n) noexcept;)
