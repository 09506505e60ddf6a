// Element-wise minima over long rows, for the proof of the least tree.
#include "condense/rows.hpp"

namespace clearwood::CLEARWOOD_LEVEL {

void least_sum(std::uint16_t* to, const std::uint16_t* one, const std::uint16_t* two,
               std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t sum = static_cast<std::uint16_t>(one[i] + two[i]);
    to[i] = sum < to[i] ? sum : to[i];
  }
}

void least_sum64(std::uint64_t* to, const std::uint64_t* one, const std::uint64_t* two,
                 std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t sum = one[i] + two[i];
    to[i] = sum < to[i] ? sum : to[i];
  }
}

void least_depth(std::uint32_t* to, const std::uint32_t* one, const std::uint32_t* two,
                 std::size_t n) noexcept {
  constexpr std::uint32_t leaves = (1u << 24) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t a = one[i] & ~leaves, b = two[i] & ~leaves;
    const std::uint32_t both = (a > b ? a : b) + leaves + 1 + (one[i] & leaves) + (two[i] & leaves);
    to[i] = both < to[i] ? both : to[i];
  }
}

}  // namespace clearwood::CLEARWOOD_LEVEL
