// The cheapest set of nodes that cuts two nodes of a network apart (Dinic's maximum flow).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clearwood {

// Arrows from[k] -> to[k] with capacities; returns for every node whether the source still reaches
// it when the flow is largest, so that arrows from reached to unreached nodes are a cheapest cut.
std::vector<std::uint8_t> source_side(std::size_t n_nodes, std::size_t n_arrows,
                                      const std::int32_t* from, const std::int32_t* to,
                                      const double* capacity, std::int32_t source,
                                      std::int32_t sink);

}  // namespace clearwood
