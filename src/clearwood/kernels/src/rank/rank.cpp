// Rank values against sorted thresholds: count a few pivots, then halve the group between two.
//
// Both parts run over a block of values at once and have no branch on data. Counting compares every
// value with every pivot: wasteful in operations, but whole vectors at a time. Halving takes log2 of
// the group's size steps, each of which looks up one threshold per value. Padding with NaN, which
// compares false with everything, spares the search any care about the end of the last group.
#include "rank/rank.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

constexpr std::size_t block = 256;  // values, ranks and a column's thresholds stay in the L1 cache

// An index as wide as the values compared keeps both in the same number of vector lanes.
template <class Threshold>
struct IndexOf;
template <>
struct IndexOf<float> {
  using type = std::int32_t;
};
template <>
struct IndexOf<double> {
  using type = std::int64_t;
};

template <bool or_equal, class T>
inline bool below(T threshold, T value) {
  if constexpr (or_equal) {
    return threshold <= value;
  } else {
    return threshold < value;
  }
}

#if defined(__AVX512F__)

// GCC 12 does not gather here by itself: measured, that took 1.4 to 3 times as long from 255
// thresholds on. Four vectors at a time are meant to hide a gather's latency.
constexpr std::size_t together = 4;

template <bool or_equal>
void halve(const float* x, const RankTable<float>& table, std::int32_t* rank) {
  constexpr int order = or_equal ? _CMP_LE_OQ : _CMP_LT_OQ;
  for (std::size_t i = 0; i < block; i += 16 * together) {
    __m512 value[together];
    __m512i at[together];
    for (std::size_t k = 0; k < together; ++k) {
      value[k] = _mm512_load_ps(x + i + 16 * k);
      at[k] = _mm512_slli_epi32(_mm512_load_si512(rank + i + 16 * k), table.shift);
    }
    for (std::int32_t half = 1 << (table.shift - 1); half > 0; half >>= 1) {
      const float* middle = table.sorted + (half - 1);
      const __m512i step = _mm512_set1_epi32(half);
      for (std::size_t k = 0; k < together; ++k) {
        const __m512 threshold = _mm512_i32gather_ps(at[k], middle, sizeof(float));
        const __mmask16 below = _mm512_cmp_ps_mask(threshold, value[k], order);
        at[k] = _mm512_mask_add_epi32(at[k], below, at[k], step);
      }
    }
    for (std::size_t k = 0; k < together; ++k) _mm512_store_si512(rank + i + 16 * k, at[k]);
  }
}

template <bool or_equal>
void halve(const double* x, const RankTable<double>& table, std::int64_t* rank) {
  constexpr int order = or_equal ? _CMP_LE_OQ : _CMP_LT_OQ;
  for (std::size_t i = 0; i < block; i += 8 * together) {
    __m512d value[together];
    __m512i at[together];
    for (std::size_t k = 0; k < together; ++k) {
      value[k] = _mm512_load_pd(x + i + 8 * k);
      at[k] = _mm512_slli_epi64(_mm512_load_si512(rank + i + 8 * k), table.shift);
    }
    for (std::int64_t half = std::int64_t(1) << (table.shift - 1); half > 0; half >>= 1) {
      const double* middle = table.sorted + (half - 1);
      const __m512i step = _mm512_set1_epi64(half);
      for (std::size_t k = 0; k < together; ++k) {
        const __m512d threshold = _mm512_i64gather_pd(at[k], middle, sizeof(double));
        const __mmask8 below = _mm512_cmp_pd_mask(threshold, value[k], order);
        at[k] = _mm512_mask_add_epi64(at[k], below, at[k], step);
      }
    }
    for (std::size_t k = 0; k < together; ++k) _mm512_store_si512(rank + i + 8 * k, at[k]);
  }
}

#else

template <bool or_equal, class T, class Index>
void halve(const T* __restrict x, const RankTable<T>& table, Index* __restrict rank) {
  const T* __restrict sorted = table.sorted;
  for (std::size_t i = 0; i < block; ++i) rank[i] <<= table.shift;
  for (Index half = Index(1) << (table.shift - 1); half > 0; half >>= 1) {
    for (std::size_t i = 0; i < block; ++i) {
      rank[i] += below<or_equal>(sorted[rank[i] + half - 1], x[i]) ? half : 0;
    }
  }
}

#endif

template <bool or_equal, class T, class Index>
void search(const T* __restrict x, const RankTable<T>& table, Index* __restrict rank) {
  const T* __restrict pivots = table.pivots;
  std::size_t p = 0;
  for (std::size_t i = 0; i < block; ++i) rank[i] = 0;
  for (; p + 4 <= table.n_pivots; p += 4) {
    const T a = pivots[p], b = pivots[p + 1], c = pivots[p + 2], d = pivots[p + 3];
    for (std::size_t i = 0; i < block; ++i) {
      rank[i] += Index(below<or_equal>(a, x[i])) + Index(below<or_equal>(b, x[i])) +
                 Index(below<or_equal>(c, x[i])) + Index(below<or_equal>(d, x[i]));
    }
  }
  for (; p < table.n_pivots; ++p) {
    const T a = pivots[p];
    for (std::size_t i = 0; i < block; ++i) rank[i] += below<or_equal>(a, x[i]);
  }
  if (table.shift > 0) halve<or_equal>(x, table, rank);
}

}  // namespace

std::size_t rank_max_pivots([[maybe_unused]] bool doubles) noexcept {
#if defined(__SSE2__) && !defined(__AVX2__)
  // SSE2 has no 64-bit integer comparisons, so counting doubles is no faster than one at a time.
  if (doubles) return 2;
#endif
  return 16;
}

template <class Value, class Threshold, class Code>
void rank_values(const Value* values, std::ptrdiff_t stride, std::size_t n,
                 const RankTable<Threshold>& table, bool or_equal, Code missing,
                 Code* codes) noexcept {
  using Index = typename IndexOf<Threshold>::type;
  alignas(64) Threshold x[block];
  alignas(64) Index rank[block];
  for (std::size_t start = 0; start < n; start += block) {
    const std::size_t size = n - start < block ? n - start : block;
    const Value* from = values + static_cast<std::ptrdiff_t>(start) * stride;
    if (stride == 1) {
      for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<Threshold>(from[i]);
    } else {
      for (std::size_t i = 0; i < size; ++i) {
        x[i] = static_cast<Threshold>(from[static_cast<std::ptrdiff_t>(i) * stride]);
      }
    }
    for (std::size_t i = size; i < block; ++i) x[i] = Threshold(0);
    if (or_equal) {
      search<true>(x, table, rank);
    } else {
      search<false>(x, table, rank);
    }
    Code* to = codes + start;
    for (std::size_t i = 0; i < size; ++i) {
      to[i] = x[i] != x[i] ? missing : static_cast<Code>(rank[i]);
    }
  }
}

#define CLEARWOOD_RANK(Value, Threshold, Code)                                         \
  template void rank_values<Value, Threshold, Code>(                                   \
      const Value*, std::ptrdiff_t, std::size_t, const RankTable<Threshold>&, bool, Code,      \
      Code*) noexcept;
#define CLEARWOOD_RANK_CODES(Value, Threshold)     \
  CLEARWOOD_RANK(Value, Threshold, std::uint8_t)   \
  CLEARWOOD_RANK(Value, Threshold, std::uint16_t)  \
  CLEARWOOD_RANK(Value, Threshold, std::int32_t)
CLEARWOOD_RANK_CODES(float, float)
CLEARWOOD_RANK_CODES(double, float)
CLEARWOOD_RANK_CODES(double, double)

}  // namespace clearwood::CLEARWOOD_LEVEL
