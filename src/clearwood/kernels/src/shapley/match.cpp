// Comparing explained with background rows at a leaf.
//
// Few pairs match, a handful among thousands, and a processor foresees none of them: a branch taken
// at a match costs more than the match. So comparisons write words of 64 bits, a bit for each
// background row, words that are zero are dropped without a branch, and only the others are gone
// through.
#include "shapley/match.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

constexpr std::size_t lane_count = 8;  // players of a byte

#if defined(__AVX512F__)

inline std::uint64_t compare_vector(const std::uint16_t* background, std::uint16_t mine,
                                    std::uint16_t all) {
  const __m512i both = _mm512_or_si512(_mm512_loadu_si512(background),
                                       _mm512_set1_epi16(static_cast<short>(mine)));
  return _mm512_cmpeq_epi16_mask(both, _mm512_set1_epi16(static_cast<short>(all)));
}
inline std::uint64_t compare_vector(const std::uint32_t* background, std::uint32_t mine,
                                    std::uint32_t all) {
  const __m512i both = _mm512_or_si512(_mm512_loadu_si512(background),
                                       _mm512_set1_epi32(static_cast<int>(mine)));
  return _mm512_cmpeq_epi32_mask(both, _mm512_set1_epi32(static_cast<int>(all)));
}

// A bit for every one of 64 background rows that matches.
template <class Pattern>
inline std::uint64_t compare(const Pattern* background, Pattern mine, Pattern all) {
  constexpr std::size_t step = 64 / sizeof(Pattern);
  std::uint64_t word = 0;
  for (std::size_t k = 0; k < match_step / step; ++k) {
    word |= compare_vector(background + k * step, mine, all) << (k * step);
  }
  return word;
}

// Writes the words that are not zero and their places, and returns how many these are. Room beyond
// them may be overwritten, up to one vector.
inline std::size_t drop_zeros(const std::uint64_t* words, std::size_t n, std::uint64_t* kept,
                              std::uint64_t* places) {
  std::size_t n_kept = 0;
  __m512i place = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  for (std::size_t i = 0; i < n; i += lane_count) {
    const __m512i eight = _mm512_loadu_si512(words + i);
    const __mmask8 there = _mm512_test_epi64_mask(eight, eight);
    _mm512_storeu_si512(kept + n_kept, _mm512_maskz_compress_epi64(there, eight));
    _mm512_storeu_si512(places + n_kept, _mm512_maskz_compress_epi64(there, place));
    n_kept += static_cast<std::size_t>(__builtin_popcount(there));
    place = _mm512_add_epi64(place, _mm512_set1_epi64(lane_count));
  }
  return n_kept;
}

// Adds to the eight sums whose bits are set.
inline void add_where(std::uint8_t bits, double amount, double* sums) {
  const __m512d before = _mm512_load_pd(sums);
  _mm512_store_pd(sums, _mm512_mask_add_pd(before, bits, before, _mm512_set1_pd(amount)));
}

#else

#if defined(__AVX2__)

inline __m256i load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

// A bit for every one of 64 background rows that matches.
inline std::uint64_t compare(const std::uint16_t* background, std::uint16_t mine,
                             std::uint16_t all) {
  const __m256i ours = _mm256_set1_epi16(static_cast<short>(mine));
  const __m256i wanted = _mm256_set1_epi16(static_cast<short>(all));
  std::uint64_t word = 0;
  for (int half = 0; half < 2; ++half) {
    const std::uint16_t* rows = background + half * 32;
    const __m256i low = _mm256_cmpeq_epi16(_mm256_or_si256(load(rows), ours), wanted);
    const __m256i high = _mm256_cmpeq_epi16(_mm256_or_si256(load(rows + 16), ours), wanted);
    // packing works on halves of registers, which the permutation puts in order
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0b11011000);
    const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
    word |= static_cast<std::uint64_t>(bits) << (half * 32);
  }
  return word;
}

inline std::uint64_t compare(const std::uint32_t* background, std::uint32_t mine,
                             std::uint32_t all) {
  const __m256i ours = _mm256_set1_epi32(static_cast<int>(mine));
  const __m256i wanted = _mm256_set1_epi32(static_cast<int>(all));
  std::uint64_t word = 0;
  for (int k = 0; k < 8; ++k) {
    const __m256i same =
        _mm256_cmpeq_epi32(_mm256_or_si256(load(background + k * 8), ours), wanted);
    const auto bits = static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
    word |= static_cast<std::uint64_t>(bits) << (k * 8);
  }
  return word;
}

inline void add_where(std::uint8_t bits, double amount, double* sums) {
  const __m256i all_bits = _mm256_set1_epi64x(bits);
  __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
  for (int half = 0; half < 2; ++half, bit = _mm256_slli_epi64(bit, 4)) {
    const __m256i chosen = _mm256_cmpeq_epi64(_mm256_and_si256(all_bits, bit), bit);
    const __m256d before = _mm256_load_pd(sums + half * 4);
    const __m256d after = _mm256_add_pd(before, _mm256_set1_pd(amount));
    _mm256_store_pd(sums + half * 4,
                    _mm256_blendv_pd(before, after, _mm256_castsi256_pd(chosen)));
  }
}

#else

template <class Pattern>
inline std::uint64_t compare(const Pattern* background, Pattern mine, Pattern all) {
  Pattern any = 0;
  for (std::size_t j = 0; j < match_step; ++j) {
    any = static_cast<Pattern>(any | (static_cast<Pattern>(background[j] | mine) == all));
  }
  if (any == 0) return 0;
  std::uint64_t word = 0;
  for (std::size_t j = 0; j < match_step; ++j) {
    word |= static_cast<std::uint64_t>(static_cast<Pattern>(background[j] | mine) == all) << j;
  }
  return word;
}

inline void add_where(std::uint8_t bits, double amount, double* sums) {
  for (unsigned rest = bits; rest != 0; rest &= rest - 1) sums[__builtin_ctz(rest)] += amount;
}

#endif

inline std::size_t drop_zeros(const std::uint64_t* words, std::size_t n, std::uint64_t* kept,
                              std::uint64_t* places) {
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    kept[n_kept] = words[i];
    places[n_kept] = i;
    n_kept += words[i] != 0;
  }
  return n_kept;
}

#endif

template <class Pattern>
inline void add_to_players(Pattern players, double amount, double* sums) {
  for (std::size_t k = 0; k < sizeof(Pattern); ++k) {
    add_where(static_cast<std::uint8_t>(players >> (k * lane_count)), amount,
              sums + k * lane_count);
  }
}

}  // namespace

template <class Pattern>
std::size_t match_rows(const Pattern* rows, std::size_t n_rows, const Pattern* background,
                       std::size_t n_background, const double* weights, Pattern all,
                       const double* beta, const Matches& matches) noexcept {
  const std::size_t room = n_rows + lane_count;
  std::uint64_t* words = matches.scratch;
  std::uint64_t* kept = words + room;
  std::uint64_t* places = kept + room;
  std::size_t n_matched = 0;
  for (std::size_t i = n_rows; i < room; ++i) words[i] = 0;
  for (std::size_t first = 0; first < n_background; first += match_step) {
    const std::size_t left = n_background - first;
    const std::uint64_t there =
        left < match_step ? (std::uint64_t(1) << left) - 1 : ~std::uint64_t(0);
    for (std::size_t i = 0; i < n_rows; ++i) {
      words[i] = compare(background + first, rows[i], all) & there;
    }
    const std::size_t n_kept = drop_zeros(words, n_rows, kept, places);
    for (std::size_t k = 0; k < n_kept; ++k) {
      const std::size_t i = places[k];
      matches.matched[n_matched] = static_cast<std::uint32_t>(i);
      n_matched += matches.has_match[i] == 0;
      matches.has_match[i] = 1;
      const double* beta_of_row = beta + __builtin_popcount(static_cast<Pattern>(all & ~rows[i]));
      double* gains = matches.gains + i * sizeof(Pattern) * lane_count;
      double loss = matches.losses[i];
      std::uint64_t word = kept[k];
      do {
        const std::size_t j = first + static_cast<std::size_t>(__builtin_ctzll(word));
        const Pattern in_favour = static_cast<Pattern>(all & ~background[j]);
        const double* entry = beta_of_row + __builtin_popcount(in_favour) * beta_stride;
        loss += weights[j] * entry[-1];
        add_to_players(in_favour, weights[j] * entry[-beta_stride], gains);
      } while ((word &= word - 1) != 0);
      matches.losses[i] = loss;
    }
  }
  for (std::size_t m = 0; m < n_matched; ++m) {
    const std::size_t i = matches.matched[m];
    add_to_players(static_cast<Pattern>(all & ~rows[i]), -matches.losses[i],
                   matches.gains + i * sizeof(Pattern) * lane_count);
    matches.losses[i] = 0;
    matches.has_match[i] = 0;
  }
  return n_matched;
}

#define CLEARWOOD_MATCH(Pattern)                                                                \
  template std::size_t match_rows<Pattern>(const Pattern*, std::size_t, const Pattern*,         \
                                           std::size_t, const double*, Pattern, const double*,  \
                                           const Matches&) noexcept;
CLEARWOOD_MATCH(std::uint16_t)
CLEARWOOD_MATCH(std::uint32_t)

}  // namespace clearwood::CLEARWOOD_LEVEL
