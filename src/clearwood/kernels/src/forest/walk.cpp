// Rows through trees, a lot of rows at a time: no branch depends on a row's values.
#include "forest/walk.hpp"

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

constexpr std::size_t lot = rows_per_lot;

#if defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif

template <class Bits>
inline std::int32_t first_bit(Bits bits) {
  if constexpr (sizeof(Bits) == 8) {
    return __builtin_ctzll(bits);
  } else {
    return __builtin_ctz(bits);
  }
}

}  // namespace

template <class Value, class T>
void fill_column(const Value* values, std::ptrdiff_t stride, std::size_t n, const ColumnRule& rule,
                 T* column) noexcept {
  const T missing = rule.missing_left ? -__builtin_inf() : __builtin_nan("");
  if (rule.zero_missing) {
    for (std::size_t i = 0; i < n; ++i) {
      const T x = static_cast<T>(values[static_cast<std::ptrdiff_t>(i) * stride]);
      const bool present = x < T(-zero_band) || x > T(zero_band);
      column[i] = present ? x : missing;
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      const T x = static_cast<T>(values[static_cast<std::ptrdiff_t>(i) * stride]);
      column[i] = x == x ? x : missing;
    }
  }
}

template <class Value, class T>
void fill_categories(const Value* values, std::ptrdiff_t stride, std::size_t n,
                     std::uint32_t* categories) noexcept {
  constexpr T beyond = T(2147483648.0);
  for (std::size_t i = 0; i < n; ++i) {
    const T x = static_cast<T>(values[static_cast<std::ptrdiff_t>(i) * stride]);
    const bool present = x >= T(0) && x < beyond;
    const auto category = static_cast<std::uint32_t>(static_cast<std::int32_t>(present ? x : T(0)));
    const std::uint32_t otherwise = x == x ? unseen_category : missing_category;
    categories[i] = present ? category : otherwise;
  }
}

template <class T>
void leaves_by_mask(const T* block, std::size_t n_lots, const MaskTree<T>& tree,
                    std::int32_t* leaf) noexcept {
  using Bits = typename LeafBits<T>::type;
  typedef T Values __attribute__((vector_size(vector_bytes)));
  typedef Bits Leaves __attribute__((vector_size(vector_bytes)));
  constexpr std::size_t lanes = vector_bytes / sizeof(T);
  constexpr std::size_t n_vectors = lot / lanes < 8 ? lot / lanes : 8;  // they stay in registers
  constexpr std::size_t n_rows = n_vectors * lanes;

  for (std::size_t start = 0; start < n_lots * lot; start += n_rows) {
    const T* rows = block + start;
    Leaves alive[n_vectors];
    for (std::size_t v = 0; v < n_vectors; ++v) alive[v] = ~Leaves{};
    for (std::size_t q = 0; q < tree.n_questions; ++q) {
      const Question<T>& question = tree.questions[q];
      const T* column = rows + question.column;
      const Values threshold = Values{} + question.threshold;
      const Leaves keep = Leaves{} + question.keep;
#pragma GCC unroll 8
      for (std::size_t v = 0; v < n_vectors; ++v) {
        Values x;
        __builtin_memcpy(&x, column + v * lanes, sizeof x);
        alive[v] = x <= threshold ? alive[v] : alive[v] & keep;
      }
    }
    Bits left_over[n_rows];
    __builtin_memcpy(left_over, alive, sizeof left_over);
    for (std::size_t i = 0; i < n_rows; ++i) leaf[start + i] = first_bit(left_over[i]);
  }
}

// Gathers are slower than the loads they stand for on many processors.
#if defined(__GNUC__) && !defined(__clang__)
#define CLEARWOOD_NO_GATHER __attribute__((optimize("no-tree-vectorize")))
#else
#define CLEARWOOD_NO_GATHER
#endif

template <class T>
CLEARWOOD_NO_GATHER void leaves_by_walk(const T* block, std::size_t n_lots, const WalkTree<T>& tree,
                                        std::int32_t* leaf) noexcept {
  const WalkNode<T>* nodes = tree.nodes;
  std::int32_t at[lot];
  for (std::size_t start = 0; start < n_lots * lot; start += lot) {
    const T* rows = block + start;
    for (std::size_t i = 0; i < lot; ++i) at[i] = 0;
    for (std::int32_t level = 0; level < tree.depth; ++level) {
      std::int32_t moved = 0;
      // The rows of a lot wait for memory together: none depends on another.
      for (std::size_t i = 0; i < lot; ++i) {
        const WalkNode<T>& node = nodes[at[i]];
        const std::int32_t next = node.left + !(rows[std::size_t(node.column) + i] <= node.threshold);
        moved |= next ^ at[i];
        at[i] = next;
      }
      if (moved == 0) break;
    }
    for (std::size_t i = 0; i < lot; ++i) leaf[start + i] = at[i];
  }
}

// Rows take either side about as often: a branch would be guessed wrong for many of them.
template <class T>
CLEARWOOD_NO_GATHER void fill_set(const std::uint32_t* categories, std::size_t n,
                                  const SetRule& rule, T* column) noexcept {
  const std::uint32_t none = 0;
  const std::uint32_t n_bits = rule.n_bits;
  const std::uint32_t* words = n_bits > 0 ? rule.words : &none;
  const std::uint32_t missing = rule.missing_left, unseen = rule.unseen_left;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t category = categories[i];
    const std::uint32_t otherwise = category == missing_category ? missing : unseen;
    const std::uint32_t known = category < n_bits ? category : 0;
    const std::uint32_t bit = words[known / 32] >> (known % 32) & 1;
    const std::uint32_t left = category < n_bits ? bit : otherwise;
    column[i] = static_cast<T>(static_cast<std::int32_t>(left ^ 1));
  }
}

template <class Sum>
CLEARWOOD_NO_GATHER void add_leaves(const Sum* value, const std::int32_t* leaf, std::size_t n,
                                    Sum* total) noexcept {
  for (std::size_t i = 0; i < n; ++i) total[i] += value[leaf[i]];
}

template <class Sum>
void add_leaf_vectors(const Sum* value, const std::int32_t* leaf, std::size_t n,
                      std::size_t n_outputs, Sum* total) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const Sum* __restrict from = value + static_cast<std::size_t>(leaf[i]) * n_outputs;
    Sum* __restrict to = total + i * n_outputs;
    for (std::size_t k = 0; k < n_outputs; ++k) to[k] += from[k];
  }
}

#define CLEARWOOD_FILL(Value, T)                                                                  \
  template void fill_column<Value, T>(const Value*, std::ptrdiff_t, std::size_t,                  \
                                      const ColumnRule&, T*) noexcept;                            \
  template void fill_categories<Value, T>(const Value*, std::ptrdiff_t, std::size_t,              \
                                          std::uint32_t*) noexcept;
CLEARWOOD_FILL(float, float)
CLEARWOOD_FILL(float, double)
CLEARWOOD_FILL(double, float)
CLEARWOOD_FILL(double, double)
template void fill_set<float>(const std::uint32_t*, std::size_t, const SetRule&, float*) noexcept;
template void fill_set<double>(const std::uint32_t*, std::size_t, const SetRule&, double*) noexcept;
template void leaves_by_mask<float>(const float*, std::size_t, const MaskTree<float>&,
                                    std::int32_t*) noexcept;
template void leaves_by_mask<double>(const double*, std::size_t, const MaskTree<double>&,
                                     std::int32_t*) noexcept;
template void leaves_by_walk<float>(const float*, std::size_t, const WalkTree<float>&,
                                    std::int32_t*) noexcept;
template void leaves_by_walk<double>(const double*, std::size_t, const WalkTree<double>&,
                                     std::int32_t*) noexcept;
template void add_leaves<float>(const float*, const std::int32_t*, std::size_t, float*) noexcept;
template void add_leaves<double>(const double*, const std::int32_t*, std::size_t, double*) noexcept;
template void add_leaf_vectors<float>(const float*, const std::int32_t*, std::size_t, std::size_t,
                                      float*) noexcept;
template void add_leaf_vectors<double>(const double*, const std::int32_t*, std::size_t, std::size_t,
                                       double*) noexcept;

}  // namespace clearwood::CLEARWOOD_LEVEL
