#include "shapley/components.hpp"

#include <algorithm>
#include <set>

namespace clearwood {
namespace {

using Players = std::vector<std::int32_t>;

class SetCollector {
 public:
  SetCollector(const ForestArrays& forest, std::size_t max_order, std::size_t most)
      : forest_(forest), max_order_(max_order), most_(most) {}

  std::vector<Players> collect() && {
    for (std::size_t tree = 0; tree < forest_.n_trees; ++tree) visit(forest_.roots[tree]);
    std::vector<Players> found(sets_.begin(), sets_.end());
    std::stable_sort(found.begin(), found.end(),
                     [](const Players& a, const Players& b) { return a.size() < b.size(); });
    return found;
  }

 private:
  bool full() const { return sets_.size() > most_; }

  // A split by a player who is new on the path makes sets of that player with those above.
  void visit(std::int32_t node) {
    if (forest_.left[node] < 0 || full()) return;
    const std::int32_t player = forest_.player[node];
    const auto place = std::lower_bound(path_.begin(), path_.end(), player);
    const bool fresh = place == path_.end() || *place != player;
    if (fresh) {
      path_.insert(place, player);
      // Paths with the same players have the same sets.
      if (paths_.insert(path_).second) add_sets(player, 0, {player});
    }
    visit(forest_.left[node]);
    visit(forest_.right[node]);
    if (fresh) path_.erase(std::lower_bound(path_.begin(), path_.end(), player));
  }

  void add_sets(std::int32_t player, std::size_t from, const Players& chosen) {
    if (chosen.size() > max_order_ || full()) return;
    Players sorted = chosen;
    std::sort(sorted.begin(), sorted.end());
    sets_.insert(std::move(sorted));
    for (std::size_t k = from; k < path_.size(); ++k) {
      if (path_[k] == player) continue;
      Players larger = chosen;
      larger.push_back(path_[k]);
      add_sets(player, k + 1, larger);
    }
  }

  const ForestArrays& forest_;
  const std::size_t max_order_;
  const std::size_t most_;
  Players path_;
  std::set<Players> paths_;
  std::set<Players> sets_;
};

}  // namespace

std::vector<Players> path_sets(const ForestArrays& forest, std::size_t max_order,
                               std::size_t most) {
  return SetCollector(forest, max_order, most).collect();
}

}  // namespace clearwood
