// Comparing explained with background rows at a leaf.
//
// Few pairs match, a handful among thousands, and a processor foresees none of them: a branch taken
// at a match costs more than the match. So comparisons write words of 64 bits, a bit for each
// background row, words that are zero are dropped without a branch, and only the others are gone
// through.
#include "shapley/match.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

typedef double Lanes __attribute__((vector_size(64)));
constexpr std::size_t lane_count = 8;

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

// Adds to the lanes whose bits are set.
inline Lanes add_where(std::uint8_t bits, Lanes to, double amount) {
  return (Lanes)_mm512_mask_add_pd((__m512d)to, bits, (__m512d)to, _mm512_set1_pd(amount));
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

inline Lanes add_where(std::uint8_t bits, Lanes to, double amount) {
  for (unsigned rest = bits; rest != 0; rest &= rest - 1) to[__builtin_ctz(rest)] += amount;
  return to;
}

#endif

template <class Pattern>
inline void add_to_players(Pattern players, double amount, double* sums) {
  Lanes* lanes = reinterpret_cast<Lanes*>(sums);
  for (std::size_t k = 0; k < sizeof(Pattern); ++k) {
    lanes[k] = add_where(static_cast<std::uint8_t>(players >> (k * lane_count)), lanes[k], amount);
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
