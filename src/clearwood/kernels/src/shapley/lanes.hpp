// Thirty-two rows side by side in vector registers, and what each of them picks from a table line.
//
// For use inside sources compiled per level: everything here is inlined and has internal linkage.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "shapley/forest.hpp"
#include "shapley/members.hpp"
#include "shapley/path.hpp"

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

constexpr int lane_count = 8;
constexpr int vectors_per_walk = 4;
constexpr int rows_per_walk = lane_count * vectors_per_walk;

typedef double Lanes __attribute__((vector_size(64)));

#if defined(__AVX512F__)

// A bit per row.
typedef std::uint32_t Rows;
constexpr Rows everyone = 0xffffffff;

inline Rows both(Rows a, Rows b) { return a & b; }
inline Rows first_only(Rows a, Rows b) { return a & ~b; }
inline Rows goes_left(const Code* codes, const SplitTest& test) {
  if (test.set != nullptr) return members_of_32(codes, test);
  const __m512i code = _mm512_load_si512(codes);
  const __m512i from_start =
      _mm512_sub_epi16(code, _mm512_set1_epi16(static_cast<short>(test.start)));
  return _mm512_cmple_epu16_mask(from_start, _mm512_set1_epi16(static_cast<short>(test.width)));
}

// Where the eight rows of a vector look into a line: the places of their factor and weight.
struct Places {
  __m512i factor, weight;
};
inline Places places(Rows left, Rows right, int vector) {
  const auto goes_left = static_cast<__mmask8>(left >> (vector * lane_count));
  const auto goes_right = static_cast<__mmask8>(right >> (vector * lane_count));
  const __m512i one = _mm512_set1_epi64(1), two = _mm512_set1_epi64(2);
  __m512i place = _mm512_mask_mov_epi64(two, goes_right, one);
  place = _mm512_mask_mov_epi64(place, goes_left, _mm512_setzero_si512());
  return {place, _mm512_add_epi64(place, _mm512_set1_epi64(3))};
}

typedef __m512d Line;
inline Line load(const PathLine& line) { return _mm512_load_pd(line.factor); }
inline Lanes factor(Line line, const Places& at) {
  return (Lanes)_mm512_maskz_permutexvar_pd(0xff, at.factor, line);
}
inline Lanes weight(Line line, const Places& at) {
  return (Lanes)_mm512_maskz_permutexvar_pd(0xff, at.weight, line);
}
inline Lanes choose(Rows rows, int vector, double yes, double no) {
  const auto mask = static_cast<__mmask8>(rows >> (vector * lane_count));
  return (Lanes)_mm512_mask_blend_pd(mask, _mm512_set1_pd(no), _mm512_set1_pd(yes));
}

#else

typedef std::int64_t Mask __attribute__((vector_size(64)));
struct Rows {
  Mask vector[vectors_per_walk];
};
constexpr Mask all_lanes = {-1, -1, -1, -1, -1, -1, -1, -1};
constexpr Rows everyone = {{all_lanes, all_lanes, all_lanes, all_lanes}};

inline Rows both(const Rows& a, const Rows& b) {
  Rows result;
  for (int v = 0; v < vectors_per_walk; ++v) result.vector[v] = a.vector[v] & b.vector[v];
  return result;
}
inline Rows first_only(const Rows& a, const Rows& b) {
  Rows result;
  for (int v = 0; v < vectors_per_walk; ++v) result.vector[v] = a.vector[v] & ~b.vector[v];
  return result;
}
inline Rows goes_left(const Code* codes, const SplitTest& test) {
  Rows result;
  for (int v = 0; v < vectors_per_walk; ++v) {
    for (int i = 0; i < lane_count; ++i) {
      const Code code = codes[v * lane_count + i];
      const bool left = test.set == nullptr ? in_interval(code, test) : in_set(code, test.set);
      result.vector[v][i] = -static_cast<std::int64_t>(left);
    }
  }
  return result;
}

// Which of the eight rows of a vector take which side.
struct Places {
  Mask left, right;
};
inline Places places(const Rows& left, const Rows& right, int vector) {
  return {left.vector[vector], right.vector[vector]};
}

typedef const PathLine& Line;
inline Line load(const PathLine& line) { return line; }
inline Lanes blend(const Mask& mask, double yes, const Lanes& no) {
  const Lanes wide = yes - Lanes{};
  return (Lanes)(((Mask)wide & mask) | ((Mask)no & ~mask));
}
inline Lanes factor(Line line, const Places& at) {
  return blend(at.left, line.factor[0],
               blend(at.right, line.factor[1], line.factor[2] - Lanes{}));
}
inline Lanes weight(Line line, const Places& at) {
  const Lanes left = line.weight[0] - Lanes{}, right = line.weight[1] - Lanes{};
  // no row goes both ways
  return (Lanes)(((Mask)left & at.left) | ((Mask)right & at.right));
}
inline Lanes choose(const Rows& rows, int vector, double yes, double no) {
  return blend(rows.vector[vector], yes, no - Lanes{});
}

#endif

}  // namespace
}  // namespace clearwood::CLEARWOOD_LEVEL
