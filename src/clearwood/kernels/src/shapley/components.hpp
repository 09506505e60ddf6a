// Which sets of players can have a component at all: those that meet on some path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shapley/forest.hpp"

namespace clearwood {

// The sets of up to max_order players that split together on some path, each in rising order; the
// sets are ordered by size, then by players. Stops after `most` sets and returns one more than
// that.
std::vector<std::vector<std::int32_t>> path_sets(const ForestArrays& forest, std::size_t max_order,
                                                 std::size_t most);

}  // namespace clearwood
