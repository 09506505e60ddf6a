// _core.parallel_probe: lets the tests see parallel_for at work without a kernel around it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

#include "common/parallel.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

using Visits = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Adds one to visits[block] for every block, each taking `pause` seconds; throws at block fail_at.
// Returns the largest worker number seen, -1 if there was no block.
int parallel_probe(Visits visits, int n_threads, double pause, std::int64_t fail_at) {
  std::int64_t* count = visits.data();
  const std::size_t n_blocks = visits.size();
  std::atomic<int> largest{-1};
  nb::gil_scoped_release released;
  parallel_for(n_blocks, n_threads, [&](std::size_t block, int worker) {
    if (static_cast<std::int64_t>(block) == fail_at) {
      throw std::runtime_error("block " + std::to_string(block) + " failed");
    }
    if (pause > 0) std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    ++count[block];
    int seen = largest.load();
    while (seen < worker && !largest.compare_exchange_weak(seen, worker)) {
    }
  });
  return largest.load();
}

}  // namespace

void bind_parallel(nb::module_& m) {
  m.def("parallel_probe", &parallel_probe, nb::arg("visits").noconvert(), nb::arg("n_threads"),
        nb::arg("pause"), nb::arg("fail_at"));
}

}  // namespace clearwood
