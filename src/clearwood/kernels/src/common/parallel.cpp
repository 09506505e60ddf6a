#include "common/parallel.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace nb = nanobind;

namespace clearwood::detail {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto signal_interval = std::chrono::milliseconds(50);

// Throws what a signal handler raised, KeyboardInterrupt as a rule.
void check_signals() {
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

struct Shared {
  std::size_t n_blocks;
  void* context;
  Call call;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;  // guards error and working
  std::condition_variable finished;
  std::exception_ptr error;
  std::size_t working = 0;

  void fail(std::exception_ptr raised) {
    stop.store(true, std::memory_order_relaxed);
    std::lock_guard lock(mutex);
    if (!error) error = raised;
  }

  template <class Between>
  void take_blocks(int worker, Between between) {
    try {
      while (!stop.load(std::memory_order_relaxed)) {
        const std::size_t block = next.fetch_add(1, std::memory_order_relaxed);
        if (block >= n_blocks) return;
        call(context, block, worker);
        between();
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }
};

}  // namespace

void run_blocks(std::size_t n_blocks, int n_threads, void* context, Call call) {
  Shared shared{.n_blocks = n_blocks, .context = context, .call = call};
  const std::size_t wanted =
      std::min(n_blocks, static_cast<std::size_t>(std::max(n_threads, 1)));
  std::vector<std::thread> others;
  others.reserve(wanted);
  for (std::size_t k = 1; k < wanted; ++k) {
    {
      std::lock_guard lock(shared.mutex);
      ++shared.working;
    }
    try {
      others.emplace_back([&shared, k] {
        shared.take_blocks(static_cast<int>(k), [] {});
        std::lock_guard lock(shared.mutex);
        --shared.working;
        shared.finished.notify_one();
      });
    } catch (const std::system_error&) {
      // The system grants no more threads: those we have do the work.
      std::lock_guard lock(shared.mutex);
      --shared.working;
      break;
    }
  }

  auto last_check = Clock::now();
  shared.take_blocks(0, [&last_check] {
    if (Clock::now() - last_check >= signal_interval) {
      check_signals();
      last_check = Clock::now();
    }
  });

  for (;;) {
    {
      std::unique_lock lock(shared.mutex);
      if (shared.finished.wait_for(lock, signal_interval, [&] { return shared.working == 0; })) {
        break;
      }
    }
    try {
      check_signals();
    } catch (...) {
      shared.fail(std::current_exception());
    }
  }
  for (auto& thread : others) thread.join();
  if (shared.error) std::rethrow_exception(shared.error);
}

}  // namespace clearwood::detail
