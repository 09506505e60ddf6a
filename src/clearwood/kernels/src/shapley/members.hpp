// Which classes of a block are in a node's set.
//
// A set is a row of bits. Its words fit a few vector registers, so a vector of rows picks its words
// by a permutation and its bits by a shift, page by page; one row at a time takes ten times as long.
// Sets are followed by room for a whole page (room_behind_sets words), which is read but not used.
//
// For use inside sources compiled per level: everything here is inlined and has internal linkage.
#pragma once

#include <cstddef>
#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "shapley/forest.hpp"

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

#if defined(__AVX512F__)

constexpr unsigned page_bits = 10;  // classes of a page: two registers of 512 bits

// A bit for each of 32 rows.
inline std::uint32_t members_of_32(const Code* codes, const SplitTest& test) {
  const __m512i code = _mm512_loadu_si512(codes);
  const __m512i place = _mm512_srli_epi16(code, 4);
  const __m512i shift = _mm512_and_si512(code, _mm512_set1_epi16(15));
  const __m512i page_of = _mm512_srli_epi16(code, page_bits);
  const __m512i one = _mm512_set1_epi16(1);
  std::uint32_t members = 0;
  for (unsigned page = 0; page <= unsigned(test.width) >> page_bits; ++page) {
    const std::uint32_t* words = test.set + (page << (page_bits - 5));
    const __m512i word = _mm512_permutex2var_epi16(_mm512_loadu_si512(words), place,
                                                   _mm512_loadu_si512(words + 16));
    members |= _mm512_test_epi16_mask(_mm512_srlv_epi16(word, shift), one) &
               _mm512_cmpeq_epi16_mask(page_of, _mm512_set1_epi16(static_cast<short>(page)));
  }
  return members;
}

constexpr std::size_t members_step = 32;

inline void members_of_step(const Code* codes, const SplitTest& test, std::uint16_t* members) {
  _mm512_storeu_si512(members, _mm512_maskz_set1_epi16(members_of_32(codes, test), 1));
}

inline bool has_few_pages(const SplitTest&) { return true; }

#elif defined(__AVX2__)

constexpr unsigned page_bits = 8;  // classes of a page: one register of 256 bits
constexpr std::size_t members_step = 8;

inline void members_of_step(const Code* codes, const SplitTest& test, std::uint16_t* members) {
  const __m256i code =
      _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
  const __m256i place = _mm256_srli_epi32(code, 5);
  const __m256i shift = _mm256_and_si256(code, _mm256_set1_epi32(31));
  const __m256i page_of = _mm256_srli_epi32(code, page_bits);
  __m256i result = _mm256_setzero_si256();
  for (unsigned page = 0; page <= unsigned(test.width) >> page_bits; ++page) {
    const __m256i words = _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(test.set + (page << (page_bits - 5))));
    const __m256i bit = _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(words, place), shift);
    const __m256i mine = _mm256_cmpeq_epi32(page_of, _mm256_set1_epi32(static_cast<int>(page)));
    result = _mm256_or_si256(result, _mm256_and_si256(bit, mine));
  }
  result = _mm256_and_si256(result, _mm256_set1_epi32(1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(members),
                   _mm_packus_epi32(_mm256_castsi256_si128(result),
                                    _mm256_extracti128_si256(result, 1)));
}

inline bool has_few_pages(const SplitTest& test) { return test.width >> page_bits < 8; }

#else

constexpr std::size_t members_step = 1;

inline void members_of_step(const Code* codes, const SplitTest& test, std::uint16_t* members) {
  *members = in_set(*codes, test.set);
}

inline bool has_few_pages(const SplitTest&) { return true; }

#endif

// members[i] = 1 where the class codes[i] is in the set, else 0.
inline void find_members(const Code* codes, std::size_t n, const SplitTest& test,
                         std::uint16_t* members) {
  std::size_t i = 0;
  if (has_few_pages(test)) {
    for (; i + members_step <= n; i += members_step) {
      members_of_step(codes + i, test, members + i);
    }
  }
  for (; i < n; ++i) members[i] = in_set(codes[i], test.set);
}

}  // namespace
}  // namespace clearwood::CLEARWOOD_LEVEL
