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

// A vector is as wide as a register of the level: compilers keep wider ones in memory.
#if defined(__AVX512F__)
constexpr int lane_bytes = 64;
#elif defined(__AVX2__)
constexpr int lane_bytes = 32;
#else
constexpr int lane_bytes = 16;
#endif
constexpr int rows_per_walk = 32;
constexpr int lane_count = lane_bytes / sizeof(double);
constexpr int vectors_per_walk = rows_per_walk / lane_count;

typedef double Lanes __attribute__((vector_size(lane_bytes)));

#if defined(__AVX512F__)

// A bit per row.
typedef std::uint32_t Rows;
inline Rows everyone() { return 0xffffffff; }

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

// All bits set or none for each row, in the 16 bits of its code.
typedef std::int16_t Truth __attribute__((vector_size(lane_bytes)));
typedef Code Codes __attribute__((vector_size(lane_bytes)));
constexpr int codes_per_vector = lane_bytes / sizeof(Code);
constexpr int n_parts = rows_per_walk / codes_per_vector;
struct Rows {
  Truth part[n_parts];
};

inline Rows everyone() {
  Rows result;
  for (int k = 0; k < n_parts; ++k) result.part[k] = ~Truth{};
  return result;
}
inline Rows both(const Rows& a, const Rows& b) {
  Rows result;
  for (int k = 0; k < n_parts; ++k) result.part[k] = a.part[k] & b.part[k];
  return result;
}
inline Rows first_only(const Rows& a, const Rows& b) {
  Rows result;
  for (int k = 0; k < n_parts; ++k) result.part[k] = a.part[k] & ~b.part[k];
  return result;
}
inline Rows goes_left(const Code* codes, const SplitTest& test) {
  Code members[rows_per_walk];
  const bool is_set = test.set != nullptr;
  if (is_set) find_members(codes, rows_per_walk, test, members);
  const Code start = is_set ? Code(1) : test.start, width = is_set ? Code(0) : test.width;
  Rows result;
  for (int k = 0; k < n_parts; ++k) {
    Codes part;
    std::memcpy(&part, (is_set ? members : codes) + k * codes_per_vector, sizeof(part));
    const Codes from_start = part - (start - Codes{});
    result.part[k] = (Truth)(from_start <= (width - Codes{}));
  }
  return result;
}

// Which rows of a vector take which side.
typedef std::int64_t Mask __attribute__((vector_size(lane_bytes)));
typedef std::int16_t Narrow __attribute__((vector_size(lane_bytes / 4)));
inline Mask mask_of(const Rows& rows, int vector) {
  Narrow narrow;
  std::memcpy(&narrow, reinterpret_cast<const char*>(&rows) + vector * sizeof(narrow),
              sizeof(narrow));
  return __builtin_convertvector(narrow, Mask);
}
struct Places {
  Mask left, right;
};
inline Places places(const Rows& left, const Rows& right, int vector) {
  return {mask_of(left, vector), mask_of(right, vector)};
}

typedef const PathLine& Line;
inline Line load(const PathLine& line) { return line; }
inline Lanes wide(double value) { return value - Lanes{}; }
inline Lanes factor(Line line, const Places& at) {
  const Lanes otherwise = at.right ? wide(line.factor[1]) : wide(line.factor[2]);
  return at.left ? wide(line.factor[0]) : otherwise;
}
inline Lanes weight(Line line, const Places& at) {
  // no row goes both ways
  return (Lanes)(((Mask)wide(line.weight[0]) & at.left) | ((Mask)wide(line.weight[1]) & at.right));
}
inline Lanes choose(const Rows& rows, int vector, double yes, double no) {
  return mask_of(rows, vector) ? wide(yes) : wide(no);
}

#endif

}  // namespace
}  // namespace clearwood::CLEARWOOD_LEVEL
