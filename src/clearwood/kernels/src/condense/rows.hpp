// Element-wise minima over long rows, for the proof of the least tree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dispatch.hpp"

CLEARWOOD_EACH_LEVEL(
    // to[i] = min(to[i], one[i] + two[i])
    void least_sum(std::uint16_t* to, const std::uint16_t* one, const std::uint16_t* two,
                   std::size_t n) noexcept;
    void least_sum64(std::uint64_t* to, const std::uint64_t* one, const std::uint64_t* two,
                     std::size_t n) noexcept;
    // Depth in the upper 8 bits, leaves in the lower 24: one more than the larger depth, leaves
    // added; the smaller of both readings stays.
    void least_depth(std::uint32_t* to, const std::uint32_t* one, const std::uint32_t* two,
                     std::size_t n) noexcept;)
