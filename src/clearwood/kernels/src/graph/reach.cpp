#include "graph/reach.hpp"

#include <cstring>

namespace clearwood {
namespace {

// How a walk came to a node; a node is left at most once for each way.
constexpr std::uint8_t from_cause = 1, from_effect = 2;

}  // namespace

void closure(const Neighbours& next, const std::uint8_t* start, std::uint8_t* seen,
             std::int32_t* stack) noexcept {
  std::size_t height = 0;
  for (std::size_t k = 0; k < next.n; ++k) {
    seen[k] = start[k] ? 1 : 0;
    if (start[k]) stack[height++] = static_cast<std::int32_t>(k);
  }
  while (height) {
    const std::int32_t node = stack[--height];
    for (std::int32_t e = next.offsets[node]; e < next.offsets[node + 1]; ++e) {
      const std::int32_t to = next.targets[e];
      if (seen[to]) continue;
      seen[to] = 1;
      stack[height++] = to;
    }
  }
}

void reach(const Neighbours& effects, const Neighbours& causes, const std::uint8_t* start,
           const std::uint8_t* blocked, const std::uint8_t* opened, const std::uint8_t* inside,
           const std::uint8_t* wanted, std::uint8_t* seen, std::int32_t* stack) noexcept {
  const std::size_t n = effects.n;
  std::memset(seen, 0, n);
  std::size_t height = 0;
  // an entry of the stack is a node and how the walk came to it: twice the node, plus one from above
  const auto visit = [&](const Neighbours& next, std::int32_t node, std::uint8_t way) {
    for (std::int32_t e = next.offsets[node]; e < next.offsets[node + 1]; ++e) {
      const std::int32_t to = next.targets[e];
      if (!inside[to] || (seen[to] & way)) continue;
      seen[to] |= way;
      if (wanted[to]) return true;
      stack[height++] = 2 * to + (way == from_cause);
    }
    return false;
  };
  for (std::size_t k = 0; k < n; ++k) {
    if (!start[k]) continue;
    seen[k] |= from_cause | from_effect;
    stack[height++] = static_cast<std::int32_t>(2 * k);
  }
  while (height) {
    const std::int32_t entry = stack[--height];
    const std::int32_t node = entry / 2;
    const bool is_from_cause = entry % 2, is_start = start[node];
    if ((!blocked[node] || is_start) && visit(effects, node, from_cause)) return;
    if (is_from_cause ? opened[node] != 0 : (!blocked[node] || is_start)) {
      if (visit(causes, node, from_effect)) return;
    }
  }
}

}  // namespace clearwood
