// The tables of a tree that path-dependent values are read from (see path.hpp).
//
// A leaf with d players on its path needs ceil(d / 2) points, and few leaves of a deep tree need as
// many as the deepest. As Shapley values are sums over leaves, a tree is cut into parts, each with
// some of its leaves, all nodes above them, and as many points as its own leaves need.
#pragma once

#include <vector>

#include "shapley/path.hpp"

namespace clearwood {

struct PathPart {
  std::vector<PathNode> nodes;
  std::vector<PathLine> lines;  // perhaps more than are used
  std::vector<std::int32_t> others;
  std::vector<double> beyond;
  std::int32_t first_output = 0;
  std::int32_t depth = 0;
  std::int32_t n_values = 1;

  PathTree view() const {
    return {nodes.data(), lines.data(), others.data(), beyond.data(),
            static_cast<std::int32_t>(beyond.size()), depth, n_values};
  }
};

// The parts of some trees, tree by tree.
using PathTables = std::vector<std::vector<PathPart>>;

// Makes the parts of a tree, none if it is a single leaf. What `parts` held is lost, but its memory
// is used again.
void make_path_parts(const ForestArrays& forest, std::size_t tree, bool with_pairs,
                     std::vector<PathPart>& parts);

}  // namespace clearwood
