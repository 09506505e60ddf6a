// Loops of boosting over the rows of a fold: sums over one side of a split, routing, gradients.
//
// Rows are padded to a multiple of `boost_rows`; padded rows have weight zero, so that no loop has
// a tail. Bins are bytes: 0 where the value is missing, then 1, 2, ... in order of the values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dispatch.hpp"

namespace clearwood {

constexpr std::size_t boost_rows = 64;

// Rows that a split sends left: those with bin - shift <= top, as unsigned bytes. A shift of 1
// makes 255 of a missing value, which goes right.
struct BoostSide {
  std::uint8_t shift;
  std::uint8_t top;
};

}  // namespace clearwood

CLEARWOOD_EACH_LEVEL(
    // total[0] and total[1]: g and h summed over the left side among rows of one leaf.
    void boost_sums(const std::uint8_t* bins, BoostSide side, const std::uint8_t* leaf_of_row,
                    std::uint8_t leaf, const float* g, const float* h, std::size_t n,
                    float* total) noexcept;

    // Rows of a leaf that go right get the number of a new leaf.
    void boost_route(const std::uint8_t* bins, BoostSide side, std::uint8_t leaf,
                     std::uint8_t right, std::size_t n, std::uint8_t* leaf_of_row) noexcept;

    // score += values[leaf_of_row], with at most 16 leaves.
    void boost_add(const std::uint8_t* leaf_of_row, const float* values, std::size_t n,
                   float* score) noexcept;

    // Exponentials of 32-bit numbers to about two units in the last place; the same bits on every
    // level, which the C library's are not on every processor.
    void boost_exp(const float* values, std::size_t n, float* out) noexcept;

    // Negative first derivatives g and second derivatives h of a loss, times the weight. For gamma,
    // h is the expected second derivative, which cannot vanish.
    void boost_squared(const float* score, const float* y, const float* weight, std::size_t n,
                       float* g, float* h) noexcept;
    void boost_logistic(const float* score, const float* y, const float* weight, std::size_t n,
                        float* g, float* h) noexcept;
    void boost_poisson(const float* score, const float* y, const float* weight, std::size_t n,
                       float* g, float* h) noexcept;
    void boost_gamma(const float* score, const float* y, const float* weight, std::size_t n,
                     float* g, float* h) noexcept;

    // The same for one class of a softmax from its exponential and the sum over classes; a row is
    // in the class where y is its number.
    void boost_softmax(const float* exponential, const float* sum, const float* y, float number,
                       const float* weight, std::size_t n, float* g, float* h) noexcept;)
