#include "shapley/slots.hpp"

#include <algorithm>
#include <numeric>

namespace clearwood {

SlotMap SlotMap::shapley(std::size_t n_players) {
  SlotMap map(Quantity::shapley, n_players);
  std::iota(map.single_.begin(), map.single_.end(), 0);
  map.size_ = n_players;
  return map;
}

SlotMap SlotMap::interactions(std::size_t n_players) {
  SlotMap map = shapley(n_players);
  map.quantity_ = Quantity::interactions;
  map.largest_ = 2;
  map.pair_.resize(n_players * (n_players - std::min<std::size_t>(n_players, 1)) / 2);
  std::iota(map.pair_.begin(), map.pair_.end(), static_cast<std::int32_t>(n_players));
  map.size_ += map.pair_.size();
  return map;
}

SlotMap SlotMap::components(std::size_t n_players, const std::int64_t* offsets, std::size_t n_sets,
                            const std::int32_t* players) {
  SlotMap map(Quantity::components, n_players);
  map.size_ = n_sets;
  map.largest_ = 0;
  for (std::size_t k = 0; k < n_sets; ++k) {
    const std::vector<std::int32_t> set(players + offsets[k], players + offsets[k + 1]);
    const auto index = static_cast<std::int32_t>(k);
    map.largest_ = std::max(map.largest_, set.size());
    if (set.size() == 1) {
      map.single_[set[0]] = index;
    } else if (set.size() == 2) {
      if (map.pair_.empty()) map.pair_.assign(n_players * (n_players - 1) / 2, -1);
      map.pair_[map.pair(set[0], set[1])] = index;
    } else if (set.size() > 2) {
      map.large_[set] = index;
    }
  }
  return map;
}

std::size_t SlotMap::pair(std::int32_t i, std::int32_t j) const {
  const auto high = static_cast<std::size_t>(std::max(i, j));
  return high * (high - 1) / 2 + static_cast<std::size_t>(std::min(i, j));
}

std::vector<Slot> SlotMap::slots_of(const std::vector<std::int32_t>& players) const {
  std::vector<Slot> found;
  const auto n = static_cast<std::int32_t>(players.size());
  for (std::int32_t i = 0; i < n; ++i) {
    if (single_[players[i]] >= 0) found.push_back({single_[players[i]], {i}});
  }
  if (!pair_.empty()) {
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = 0; j < i; ++j) {
        const std::int32_t index = pair_[pair(players[i], players[j])];
        if (index >= 0) found.push_back({index, {j, i}});
      }
    }
  }
  if (!large_.empty()) {
    std::vector<std::int32_t> positions;
    add_large(players, 0, positions, found);
  }
  return found;
}

void SlotMap::add_large(const std::vector<std::int32_t>& players, std::size_t from,
                        std::vector<std::int32_t>& positions, std::vector<Slot>& found) const {
  if (positions.size() > 2) {
    std::vector<std::int32_t> set;
    for (std::int32_t position : positions) set.push_back(players[position]);
    std::sort(set.begin(), set.end());
    const auto known = large_.find(set);
    if (known != large_.end()) found.push_back({known->second, positions});
  }
  if (positions.size() == largest_) return;
  for (std::size_t k = from; k < players.size(); ++k) {
    positions.push_back(static_cast<std::int32_t>(k));
    add_large(players, k + 1, positions, found);
    positions.pop_back();
  }
}

}  // namespace clearwood
