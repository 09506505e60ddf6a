#include "graph/flow.hpp"

#include <algorithm>
#include <limits>

namespace clearwood {
namespace {

// Every arrow is followed by its reverse, so that arrow a and a ^ 1 belong together.
struct Network {
  std::vector<std::int32_t> offsets, arrows, head;
  std::vector<double> left;

  Network(std::size_t n_nodes, std::size_t n_arrows, const std::int32_t* from,
          const std::int32_t* to, const double* capacity)
      : offsets(n_nodes + 1), arrows(2 * n_arrows), head(2 * n_arrows), left(2 * n_arrows) {
    for (std::size_t k = 0; k < n_arrows; ++k) {
      head[2 * k] = to[k];
      head[2 * k + 1] = from[k];
      left[2 * k] = capacity[k];
      ++offsets[static_cast<std::size_t>(from[k]) + 1];
      ++offsets[static_cast<std::size_t>(to[k]) + 1];
    }
    for (std::size_t k = 0; k < n_nodes; ++k) offsets[k + 1] += offsets[k];
    std::vector<std::int32_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t k = 0; k < n_arrows; ++k) {
      arrows[static_cast<std::size_t>(next[static_cast<std::size_t>(from[k])]++)] =
          static_cast<std::int32_t>(2 * k);
      arrows[static_cast<std::size_t>(next[static_cast<std::size_t>(to[k])]++)] =
          static_cast<std::int32_t>(2 * k + 1);
    }
  }

  // Distance of every node from the source along arrows with capacity left; -1 beyond reach.
  void distances(std::int32_t source, std::vector<std::int32_t>& level) const {
    std::fill(level.begin(), level.end(), -1);
    std::vector<std::int32_t> queue{source};
    level[static_cast<std::size_t>(source)] = 0;
    for (std::size_t k = 0; k < queue.size(); ++k) {
      const auto node = static_cast<std::size_t>(queue[k]);
      for (std::int32_t e = offsets[node]; e < offsets[node + 1]; ++e) {
        const auto arrow = static_cast<std::size_t>(arrows[static_cast<std::size_t>(e)]);
        const auto to = static_cast<std::size_t>(head[arrow]);
        if (left[arrow] > 0 && level[to] < 0) {
          level[to] = level[node] + 1;
          queue.push_back(head[arrow]);
        }
      }
    }
  }

  // One path of the level graph, without recursion; false if there is none.
  bool augment(std::int32_t source, std::int32_t sink, const std::vector<std::int32_t>& level,
               std::vector<std::int32_t>& at, std::vector<std::int32_t>& path) {
    path.clear();
    std::int32_t node = source;
    while (node != sink) {
      const auto k = static_cast<std::size_t>(node);
      bool is_dead = true;
      for (; at[k] < offsets[k + 1]; ++at[k]) {
        const std::int32_t arrow = arrows[static_cast<std::size_t>(at[k])];
        const std::int32_t to = head[static_cast<std::size_t>(arrow)];
        if (left[static_cast<std::size_t>(arrow)] > 0 &&
            level[static_cast<std::size_t>(to)] == level[k] + 1) {
          path.push_back(arrow);
          node = to;
          is_dead = false;
          break;
        }
      }
      if (!is_dead) continue;
      if (path.empty()) return false;
      node = head[static_cast<std::size_t>(path.back() ^ 1)];
      path.pop_back();
      ++at[static_cast<std::size_t>(node)];
    }
    double flow = std::numeric_limits<double>::infinity();
    for (const std::int32_t arrow : path) flow = std::min(flow, left[static_cast<std::size_t>(arrow)]);
    for (const std::int32_t arrow : path) {
      left[static_cast<std::size_t>(arrow)] -= flow;
      left[static_cast<std::size_t>(arrow ^ 1)] += flow;
    }
    return true;
  }
};

}  // namespace

std::vector<std::uint8_t> source_side(std::size_t n_nodes, std::size_t n_arrows,
                                      const std::int32_t* from, const std::int32_t* to,
                                      const double* capacity, std::int32_t source,
                                      std::int32_t sink) {
  Network network(n_nodes, n_arrows, from, to, capacity);
  std::vector<std::int32_t> level(n_nodes), at(n_nodes), path;
  while (true) {
    network.distances(source, level);
    if (level[static_cast<std::size_t>(sink)] < 0) break;
    std::copy(network.offsets.begin(), network.offsets.end() - 1, at.begin());
    while (network.augment(source, sink, level, at, path)) {
    }
  }
  std::vector<std::uint8_t> side(n_nodes);
  for (std::size_t k = 0; k < n_nodes; ++k) side[k] = level[k] >= 0;
  return side;
}

}  // namespace clearwood
