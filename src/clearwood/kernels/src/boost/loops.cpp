// Loops of boosting over the rows of a fold, in vectors of sixteen 32-bit numbers.
//
// Sums run in 32 lanes on every level, so their order, and with it every bit, is the same.
#include "boost/loops.hpp"

#include <cstring>
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

constexpr std::size_t lanes = 16;

typedef float Floats __attribute__((vector_size(64)));
typedef std::int32_t Ints __attribute__((vector_size(64)));
typedef std::uint8_t Bytes __attribute__((vector_size(16)));
typedef std::int8_t Truth __attribute__((vector_size(16)));

template <class Vector, class Number>
inline Vector load(const Number* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

inline void store(Floats vector, float* to) { std::memcpy(to, &vector, sizeof vector); }

inline Floats all(float value) { return value - Floats{}; }

inline Floats choose(Ints yes, Floats a, Floats b) {
  return (Floats)((yes & (Ints)a) | (~yes & (Ints)b));
}

inline Floats at_most(Floats a, float bound) { return choose(a < all(bound), a, all(bound)); }
inline Floats at_least(Floats a, float bound) { return choose(a > all(bound), a, all(bound)); }

// 2^k·e^r with |r| <= log(2)/2 and a polynomial for e^r (coefficients of Cephes' expf).
inline Floats exponential(Floats x) {
  x = at_least(at_most(x, 88.0f), -86.0f);
  const Floats magic = all(12582912.0f);  // adding 1.5·2^23 rounds to a whole number
  const Floats shifted = x * all(1.44269504088896341f) + magic;
  const Floats k = shifted - magic;
  const Floats r = (x - k * all(0.693359375f)) - k * all(-2.12194440e-4f);
  Floats p = all(1.9875691500e-4f);
  p = p * r + all(1.3981999507e-3f);
  p = p * r + all(8.3334519073e-3f);
  p = p * r + all(4.1665795894e-2f);
  p = p * r + all(1.6666665459e-1f);
  p = p * r + all(5.0000001201e-1f);
  p = (p * r) * r + r + all(1.0f);
  const Ints power = ((Ints)shifted - (Ints)magic) << 23;
  return (Floats)((Ints)p + power);
}

inline float across(Floats a, Floats b) {
  const Floats sum = a + b;
  float lane[lanes];
  store(sum, lane);
  for (std::size_t step = lanes / 2; step > 0; step /= 2) {
    for (std::size_t i = 0; i < step; ++i) lane[i] += lane[i + step];
  }
  return lane[0];
}

#if defined(__AVX512BW__)

struct Adder {
  __m512 low = _mm512_setzero_ps(), high = _mm512_setzero_ps();
  void add(__mmask32 rows, const float* from) {
    low = _mm512_mask_add_ps(low, static_cast<__mmask16>(rows), low, _mm512_loadu_ps(from));
    high = _mm512_mask_add_ps(high, static_cast<__mmask16>(rows >> 16), high,
                              _mm512_loadu_ps(from + lanes));
  }
  float total() const { return across((Floats)low, (Floats)high); }
};

inline __mmask64 left_rows(const std::uint8_t* bins, BoostSide side) {
  const __m512i from_shift = _mm512_sub_epi8(_mm512_loadu_si512(bins),
                                             _mm512_set1_epi8(static_cast<char>(side.shift)));
  return _mm512_cmple_epu8_mask(from_shift, _mm512_set1_epi8(static_cast<char>(side.top)));
}

inline __mmask64 leaf_rows(const std::uint8_t* leaf_of_row, std::uint8_t leaf) {
  return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(leaf_of_row),
                                _mm512_set1_epi8(static_cast<char>(leaf)));
}

#else

inline Truth left_rows(const std::uint8_t* bins, BoostSide side) {
  return (Truth)((load<Bytes>(bins) - side.shift) <= (side.top - Bytes{}));
}

inline Truth leaf_rows(const std::uint8_t* leaf_of_row, std::uint8_t leaf) {
  return (Truth)(load<Bytes>(leaf_of_row) == (leaf - Bytes{}));
}

#endif

}  // namespace

#if defined(__AVX512BW__)

void boost_sums(const std::uint8_t* bins, BoostSide side, const std::uint8_t* leaf_of_row,
                std::uint8_t leaf, const float* g, const float* h, std::size_t n,
                float* total) noexcept {
  Adder first, second;
  for (std::size_t i = 0; i < n; i += boost_rows) {
    const __mmask64 rows = left_rows(bins + i, side) & leaf_rows(leaf_of_row + i, leaf);
    first.add(static_cast<__mmask32>(rows), g + i);
    second.add(static_cast<__mmask32>(rows), h + i);
    first.add(static_cast<__mmask32>(rows >> 32), g + i + 32);
    second.add(static_cast<__mmask32>(rows >> 32), h + i + 32);
  }
  total[0] = first.total();
  total[1] = second.total();
}

void boost_route(const std::uint8_t* bins, BoostSide side, std::uint8_t leaf, std::uint8_t right,
                 std::size_t n, std::uint8_t* leaf_of_row) noexcept {
  const __m512i there = _mm512_set1_epi8(static_cast<char>(right));
  for (std::size_t i = 0; i < n; i += boost_rows) {
    const __mmask64 rows = ~left_rows(bins + i, side) & leaf_rows(leaf_of_row + i, leaf);
    _mm512_mask_storeu_epi8(leaf_of_row + i, rows, there);
  }
}

void boost_add(const std::uint8_t* leaf_of_row, const float* values, std::size_t n,
               float* score) noexcept {
  const __m512 table = _mm512_loadu_ps(values);
  for (std::size_t i = 0; i < n; i += lanes) {
    const __m512i leaf = _mm512_cvtepu8_epi32(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(leaf_of_row + i)));
    _mm512_storeu_ps(score + i, _mm512_add_ps(_mm512_loadu_ps(score + i),
                                              _mm512_permutexvar_ps(leaf, table)));
  }
}

#else

void boost_sums(const std::uint8_t* bins, BoostSide side, const std::uint8_t* leaf_of_row,
                std::uint8_t leaf, const float* g, const float* h, std::size_t n,
                float* total) noexcept {
  Floats g_low{}, g_high{}, h_low{}, h_high{};
  for (std::size_t i = 0; i < n; i += 2 * lanes) {
    const std::size_t k = i + lanes;
    const Ints low = __builtin_convertvector(
        left_rows(bins + i, side) & leaf_rows(leaf_of_row + i, leaf), Ints);
    const Ints high = __builtin_convertvector(
        left_rows(bins + k, side) & leaf_rows(leaf_of_row + k, leaf), Ints);
    g_low += (Floats)(low & load<Ints>(g + i));
    h_low += (Floats)(low & load<Ints>(h + i));
    g_high += (Floats)(high & load<Ints>(g + k));
    h_high += (Floats)(high & load<Ints>(h + k));
  }
  total[0] = across(g_low, g_high);
  total[1] = across(h_low, h_high);
}

void boost_route(const std::uint8_t* bins, BoostSide side, std::uint8_t leaf, std::uint8_t right,
                 std::size_t n, std::uint8_t* leaf_of_row) noexcept {
  const Bytes there = right - Bytes{};
  for (std::size_t i = 0; i < n; i += lanes) {
    const Bytes moved = (Bytes)(~left_rows(bins + i, side) & leaf_rows(leaf_of_row + i, leaf));
    const Bytes result = (moved & there) | (~moved & load<Bytes>(leaf_of_row + i));
    std::memcpy(leaf_of_row + i, &result, sizeof result);
  }
}

void boost_add(const std::uint8_t* leaf_of_row, const float* values, std::size_t n,
               float* score) noexcept {
  for (std::size_t i = 0; i < n; ++i) score[i] += values[leaf_of_row[i]];
}

#endif

void boost_exp(const float* values, std::size_t n, float* out) noexcept {
  for (std::size_t i = 0; i < n; i += lanes) store(exponential(load<Floats>(values + i)), out + i);
}

void boost_squared(const float* score, const float* y, const float* weight, std::size_t n, float* g,
                   float* h) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    g[i] = weight[i] * (y[i] - score[i]);
    h[i] = weight[i];
  }
}

void boost_logistic(const float* score, const float* y, const float* weight, std::size_t n,
                    float* g, float* h) noexcept {
  for (std::size_t i = 0; i < n; i += lanes) {
    const Floats w = load<Floats>(weight + i);
    const Floats p = all(1.0f) / (all(1.0f) + exponential(-load<Floats>(score + i)));
    store(w * (load<Floats>(y + i) - p), g + i);
    store(w * at_least(p * (all(1.0f) - p), 1e-6f), h + i);
  }
}

void boost_poisson(const float* score, const float* y, const float* weight, std::size_t n, float* g,
                   float* h) noexcept {
  for (std::size_t i = 0; i < n; i += lanes) {
    const Floats w = load<Floats>(weight + i);
    const Floats mean = exponential(load<Floats>(score + i));
    store(w * (load<Floats>(y + i) - mean), g + i);
    store(w * mean, h + i);
  }
}

void boost_gamma(const float* score, const float* y, const float* weight, std::size_t n, float* g,
                 float* h) noexcept {
  for (std::size_t i = 0; i < n; i += lanes) {
    const Floats w = load<Floats>(weight + i);
    const Floats ratio = load<Floats>(y + i) * exponential(-load<Floats>(score + i));
    store(w * (ratio - all(1.0f)), g + i);
    store(w, h + i);
  }
}

void boost_softmax(const float* exponential, const float* sum, const float* y, float number,
                   const float* weight, std::size_t n, float* g, float* h) noexcept {
  for (std::size_t i = 0; i < n; i += lanes) {
    const Floats w = load<Floats>(weight + i);
    const Floats p = load<Floats>(exponential + i) / load<Floats>(sum + i);
    const Floats is_class = choose(load<Floats>(y + i) == all(number), all(1.0f), all(0.0f));
    store(w * (is_class - p), g + i);
    store(w * at_least(p * (all(1.0f) - p), 1e-6f), h + i);
  }
}

}  // namespace clearwood::CLEARWOOD_LEVEL
