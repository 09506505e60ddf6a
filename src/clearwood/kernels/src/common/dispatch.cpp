#include "common/dispatch.hpp"

#include <atomic>

namespace clearwood {

const char* const level_names[level_count] = {"baseline", "avx2", "avx512"};

bool supported(Level wanted) noexcept {
#if defined(CLEARWOOD_HAS_AVX2)
  __builtin_cpu_init();
#endif
  switch (wanted) {
    case Level::baseline:
      return true;
#if defined(CLEARWOOD_HAS_AVX2)
    case Level::avx2:
      return __builtin_cpu_supports("x86-64-v3") != 0;
#endif
#if defined(CLEARWOOD_HAS_AVX512)
    case Level::avx512:
      return __builtin_cpu_supports("x86-64-v4") != 0;
#endif
    default:
      return false;
  }
}

namespace {

Level widest() noexcept {
  for (int k = level_count - 1; k > 0; --k) {
    if (supported(static_cast<Level>(k))) return static_cast<Level>(k);
  }
  return Level::baseline;
}

std::atomic<Level>& current() noexcept {
  static std::atomic<Level> value{widest()};
  return value;
}

}  // namespace

Level level() noexcept { return current().load(std::memory_order_relaxed); }

void set_level(Level wanted) noexcept { current().store(wanted, std::memory_order_relaxed); }

}  // namespace clearwood
