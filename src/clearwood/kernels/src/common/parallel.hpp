// Blocks of work over threads, with errors and Ctrl-C carried back to the caller.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace clearwood {

namespace detail {
using Call = void (*)(void* context, std::size_t block, int worker);
void run_blocks(std::size_t n_blocks, int n_threads, void* context, Call call);
}  // namespace detail

// Calls work(block, worker) once for every block in [0, n_blocks), in any order, on up to n_threads
// threads. The calling thread is worker 0 and takes its share; 0 <= worker < n_threads picks
// scratch space. The first exception stops the others at their next block and is thrown again here.
//
// Call it with the GIL released. About every 50 ms the calling thread polls Python for signals, so
// Ctrl-C ends a long kernel with KeyboardInterrupt: keep a block well below that.
template <class Work>
void parallel_for(std::size_t n_blocks, int n_threads, Work&& work) {
  using Body = std::remove_reference_t<Work>;
  detail::run_blocks(
      n_blocks, n_threads, const_cast<std::remove_const_t<Body>*>(std::addressof(work)),
      [](void* context, std::size_t block, int worker) {
        (*static_cast<Body*>(context))(block, worker);
      });
}

// How many blocks of block_size cover n items.
constexpr std::size_t block_count(std::size_t n, std::size_t block_size) {
  return n / block_size + (n % block_size != 0);
}

}  // namespace clearwood
