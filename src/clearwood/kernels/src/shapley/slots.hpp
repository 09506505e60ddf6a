// Which numbers are wanted, and where they go: single players, pairs of players, or larger sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace clearwood {

enum class Quantity { shapley, interactions, components };

// A set of players on a path, by their positions there, and its place in the result.
struct Slot {
  std::int32_t index;
  std::vector<std::int32_t> positions;
};

class SlotMap {
 public:
  static SlotMap shapley(std::size_t n_players);
  // Players first, then pairs: n_players + i * (i - 1) / 2 + j for i > j.
  static SlotMap interactions(std::size_t n_players);
  // One place per set; set k holds players[offsets[k]] to players[offsets[k + 1] - 1], rising.
  static SlotMap components(std::size_t n_players, const std::int64_t* offsets, std::size_t n_sets,
                            const std::int32_t* players);

  Quantity quantity() const { return quantity_; }
  std::size_t size() const { return size_; }
  // The most players in a wanted set.
  std::size_t largest() const { return largest_; }

  // All wanted sets of these players, which are distinct.
  std::vector<Slot> slots_of(const std::vector<std::int32_t>& players) const;

 private:
  SlotMap(Quantity quantity, std::size_t n_players)
      : quantity_(quantity), n_players_(n_players), single_(n_players, -1) {}

  std::size_t pair(std::int32_t i, std::int32_t j) const;
  void add_large(const std::vector<std::int32_t>& players, std::size_t from,
                 std::vector<std::int32_t>& positions, std::vector<Slot>& found) const;

  Quantity quantity_;
  std::size_t n_players_;
  std::size_t size_ = 0;
  std::size_t largest_ = 1;
  std::vector<std::int32_t> single_;
  std::vector<std::int32_t> pair_;  // empty if no pair is wanted
  std::map<std::vector<std::int32_t>, std::int32_t> large_;
};

}  // namespace clearwood
