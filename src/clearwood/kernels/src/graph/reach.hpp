// Which nodes of a directed graph are reached: along arrows, or along open paths (Bayes ball).
#pragma once

#include <cstddef>
#include <cstdint>

namespace clearwood {

// Neighbours of every node in one direction: those of k are targets[offsets[k]..offsets[k + 1]).
struct Neighbours {
  const std::int32_t* offsets;
  const std::int32_t* targets;
  std::size_t n;
};

// Sets seen[k] for every node that directed walks from the nodes with start[k] come to, the starts
// themselves included. stack holds n numbers.
void closure(const Neighbours& next, const std::uint8_t* start, std::uint8_t* seen,
             std::int32_t* stack) noexcept;

// Sets seen[k] for every node that a path open given the blocked nodes comes to from a start, the
// blocked nodes at which it ends included. A path passes a collider where opened[k], any other node
// where it is not blocked, and stays among the nodes with inside[k]. The walk ends
// at the first node with wanted[k]. stack holds 2 n numbers.
void reach(const Neighbours& effects, const Neighbours& causes, const std::uint8_t* start,
           const std::uint8_t* blocked, const std::uint8_t* opened, const std::uint8_t* inside,
           const std::uint8_t* wanted, std::uint8_t* seen, std::int32_t* stack) noexcept;

}  // namespace clearwood
