// Thirty-two rows side by side in vector registers, and masks that choose between two values per row.
//
// For use inside sources compiled per level: everything here is inlined and has internal linkage.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "shapley/forest.hpp"

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

constexpr int lane_count = 8;
constexpr int vectors_per_block = 4;
constexpr int rows_per_walk = lane_count * vectors_per_block;

typedef double Lanes __attribute__((vector_size(64)));

#if defined(__AVX512F__)

typedef __mmask8 Mask;
constexpr Mask everyone = 0xff;

inline Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
inline Mask first_only(Mask a, Mask b) { return static_cast<Mask>(a & ~b); }
inline Lanes choose(Mask mask, double yes, Lanes no) {
  return (Lanes)_mm512_mask_blend_pd(mask, (__m512d)no, _mm512_set1_pd(yes));
}
inline Lanes choose_or_zero(Mask mask, double yes) {
  return (Lanes)_mm512_maskz_mov_pd(mask, _mm512_set1_pd(yes));
}
inline Mask goes_left(const Code* codes, const SplitTest& test) {
  const __m128i code = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
  const __m128i from_start = _mm_sub_epi16(code, _mm_set1_epi16(static_cast<short>(test.start)));
  return _mm_cmple_epu16_mask(from_start, _mm_set1_epi16(static_cast<short>(test.width)));
}

#else

typedef std::int64_t Mask __attribute__((vector_size(64)));
constexpr Mask everyone = {-1, -1, -1, -1, -1, -1, -1, -1};

inline Mask both(Mask a, Mask b) { return a & b; }
inline Mask first_only(Mask a, Mask b) { return a & ~b; }
inline Lanes choose(Mask mask, double yes, Lanes no) {
  const Lanes wide = yes - Lanes{};
  return (Lanes)(((Mask)wide & mask) | ((Mask)no & ~mask));
}
inline Lanes choose_or_zero(Mask mask, double yes) {
  const Lanes wide = yes - Lanes{};
  return (Lanes)((Mask)wide & mask);
}
inline Mask goes_left(const Code* codes, const SplitTest& test) {
  Mask mask;
  for (int i = 0; i < lane_count; ++i) {
    mask[i] = -static_cast<std::int64_t>(static_cast<Code>(codes[i] - test.start) <= test.width);
  }
  return mask;
}

#endif

inline Lanes choose3(Mask first, Mask second, double a, double b, double otherwise) {
  return choose(first, a, choose(second, b, otherwise - Lanes{}));
}
// The two masks have no row in common.
inline Lanes choose2(Mask first, Mask second, double a, double b) {
  return choose(first, a, choose_or_zero(second, b));
}

}  // namespace
}  // namespace clearwood::CLEARWOOD_LEVEL
