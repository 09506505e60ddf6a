// Instruction-set levels: one kernel source, one copy of its functions per level, chosen at run
// time.
//
// A kernel's header declares its functions once for all levels,
//     CLEARWOOD_EACH_LEVEL(void halve(double* values, std::size_t n) noexcept;)
// its source defines them in namespace clearwood::CLEARWOOD_LEVEL, and its binding calls the copy
// that suits the processor,
//     auto halve = CLEARWOOD_DISPATCH(halve);
#pragma once

#if defined(CLEARWOOD_HAS_AVX2)
#define CLEARWOOD_IF_AVX2(...) __VA_ARGS__
#else
#define CLEARWOOD_IF_AVX2(...)
#endif
#if defined(CLEARWOOD_HAS_AVX512)
#define CLEARWOOD_IF_AVX512(...) __VA_ARGS__
#else
#define CLEARWOOD_IF_AVX512(...)
#endif

#define CLEARWOOD_EACH_LEVEL(...)                                       \
  namespace clearwood::baseline { __VA_ARGS__ }                         \
  CLEARWOOD_IF_AVX2(namespace clearwood::avx2 { __VA_ARGS__ })          \
  CLEARWOOD_IF_AVX512(namespace clearwood::avx512 { __VA_ARGS__ })

// The argument may be a template-id with commas: CLEARWOOD_DISPATCH(rank_values<float, int>).
#define CLEARWOOD_DISPATCH(...)                                               \
  (CLEARWOOD_IF_AVX512(::clearwood::level() == ::clearwood::Level::avx512     \
                           ? &::clearwood::avx512::__VA_ARGS__ :)             \
   CLEARWOOD_IF_AVX2(::clearwood::level() == ::clearwood::Level::avx2         \
                         ? &::clearwood::avx2::__VA_ARGS__ :)                 \
   &::clearwood::baseline::__VA_ARGS__)

namespace clearwood {

enum class Level { baseline = 0, avx2 = 1, avx512 = 2 };

constexpr int level_count = 3;
extern const char* const level_names[level_count];

// Built into this module and offered by this processor.
bool supported(Level) noexcept;

// The level in use: the widest supported one until set_level is called.
Level level() noexcept;
void set_level(Level) noexcept;

}  // namespace clearwood
