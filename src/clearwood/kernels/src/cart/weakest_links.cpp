#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "cart/cart.hpp"

namespace clearwood {

// Repeatedly, the node whose subtree gains least per leaf becomes a leaf. A queue may hold outdated
// gains of a node: only the one that equals its present gain counts.
void weakest_links(std::size_t n_nodes, const std::int32_t* left, const std::int32_t* right,
                   const double* risk, double* level) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<std::int32_t> parent(n_nodes, -1), leaves(n_nodes, 1);
  std::vector<double> below(risk, risk + n_nodes), gain(n_nodes, -infinity);
  std::vector<bool> is_leaf(n_nodes);
  for (std::size_t i = n_nodes; i-- > 0;) {  // children come after their parent
    is_leaf[i] = left[i] < 0;
    level[i] = is_leaf[i] ? -infinity : infinity;
    if (is_leaf[i]) continue;
    const auto a = static_cast<std::size_t>(left[i]), b = static_cast<std::size_t>(right[i]);
    parent[a] = parent[b] = static_cast<std::int32_t>(i);
    below[i] = below[a] + below[b];
    leaves[i] = leaves[a] + leaves[b];
  }
  const auto gain_per_leaf = [&](std::size_t i) { return (risk[i] - below[i]) / (leaves[i] - 1); };
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (std::size_t i = 0; i < n_nodes; ++i) {
    if (!is_leaf[i]) queue.emplace(gain[i] = gain_per_leaf(i), i);
  }
  const auto has_vanished = [&](std::size_t i) {
    for (std::int32_t above = parent[i]; above >= 0; above = parent[static_cast<std::size_t>(above)])
      if (is_leaf[static_cast<std::size_t>(above)]) return true;
    return false;
  };
  double penalty = 0.0;
  while (!is_leaf[0] && !queue.empty()) {
    const auto [least, i] = queue.top();
    queue.pop();
    if (is_leaf[i] || least != gain[i] || has_vanished(i)) continue;
    // in exact arithmetic gains never fall along the sequence; rounding must not make them
    penalty = std::max(penalty, least);
    level[i] = penalty;
    is_leaf[i] = true;
    const double more_risk = risk[i] - below[i];
    const std::int32_t fewer = leaves[i] - 1;
    for (std::int32_t above = parent[i]; above >= 0;) {
      const auto at = static_cast<std::size_t>(above);
      below[at] += more_risk;
      leaves[at] -= fewer;
      queue.emplace(gain[at] = gain_per_leaf(at), at);
      above = parent[at];
    }
  }
}

}  // namespace clearwood
