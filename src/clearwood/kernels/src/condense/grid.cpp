// Grids of cells: parts of them, and what is left of them where places change nothing.
#include "condense/grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace clearwood::condense {

std::vector<std::size_t> strides_of(const std::vector<Dimension>& dimensions) {
  std::vector<std::size_t> strides(dimensions.size());
  std::size_t stride = 1;
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= static_cast<std::size_t>(dimensions[i].size);
  }
  return strides;
}

namespace {

using Labels = std::vector<std::uint32_t>;

// Keeps the given places of one dimension.
template <class T>
std::vector<T> gather(const std::vector<T>& from, std::size_t stride, std::size_t size,
                      const std::vector<std::int32_t>& places) {
  std::vector<T> to;
  to.reserve(from.size() / size * places.size());
  for (std::size_t block = 0; block < from.size(); block += stride * size) {
    for (const std::int32_t place : places) {
      const auto start = from.begin() + static_cast<std::ptrdiff_t>(block + std::size_t(place) * stride);
      to.insert(to.end(), start, start + static_cast<std::ptrdiff_t>(stride));
    }
  }
  return to;
}

// Adds up the weights of places that become one.
std::vector<double> pooled(const std::vector<double>& from, std::size_t stride, std::size_t size,
                           const std::vector<std::int32_t>& group, std::size_t n_groups) {
  std::vector<double> to(from.size() / size * n_groups, 0.0);
  const std::size_t blocks = from.size() / (stride * size);
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t place = 0; place < size; ++place) {
      const double* source = &from[(block * size + place) * stride];
      double* target = &to[(block * n_groups + std::size_t(group[place])) * stride];
      for (std::size_t k = 0; k < stride; ++k) target[k] += source[k];
    }
  }
  return to;
}

bool same_slice(const Labels& labels, std::size_t stride, std::size_t size, std::size_t one,
                std::size_t two) {
  for (std::size_t block = 0; block < labels.size(); block += stride * size) {
    if (std::memcmp(&labels[block + one * stride], &labels[block + two * stride],
                    stride * sizeof(std::uint32_t)) != 0) {
      return false;
    }
  }
  return true;
}

// Questions that still split, once each up to exchange of sides; places that none separates merge.
void tidy(Dimension& dimension, std::vector<std::int32_t>& keep, std::vector<std::int32_t>& group,
          std::vector<std::int32_t>& split) {
  const auto n = static_cast<std::size_t>(dimension.size);
  std::vector<std::uint64_t> signature(n, 0);
  for (std::size_t q = 0; q < dimension.masks.size(); ++q) {
    for (std::size_t place = 0; place < n; ++place) {
      signature[place] = mix(signature[place] * 2 + (dimension.masks[q] >> place & 1) + q);
    }
  }
  keep.clear();
  group.assign(n, 0);
  for (std::size_t place = 0; place < n; ++place) {
    std::size_t g = 0;
    while (g < keep.size() && signature[std::size_t(keep[g])] != signature[place]) ++g;
    if (g == keep.size()) keep.push_back(static_cast<std::int32_t>(place));
    group[place] = static_cast<std::int32_t>(g);
  }
  Dimension next;
  next.ordered = false;
  next.size = static_cast<std::int32_t>(keep.size());
  const std::uint64_t all = keep.size() >= 64 ? ~std::uint64_t(0)
                                              : (std::uint64_t(1) << keep.size()) - 1;
  std::vector<std::int32_t> kept;
  for (std::size_t q = 0; q < dimension.masks.size(); ++q) {
    std::uint64_t mask = 0;
    for (std::size_t g = 0; g < keep.size(); ++g) {
      mask |= (dimension.masks[q] >> keep[g] & 1) << g;
    }
    if (mask == 0 || mask == all) continue;
    bool seen = false;
    for (const std::uint64_t other : next.masks) seen |= other == mask || other == (all & ~mask);
    if (seen) continue;
    next.masks.push_back(mask);
    next.questions.push_back(dimension.questions[q]);
    kept.push_back(split[q]);
  }
  dimension = std::move(next);
  split = std::move(kept);
}

}  // namespace

Grid part_of(const Grid& grid, std::int32_t at, std::int32_t split, bool left) {
  const auto d = static_cast<std::size_t>(at);
  const Dimension& dimension = grid.dimensions[d];
  std::vector<std::int32_t> places;
  for (std::int32_t place = 0; place < dimension.size; ++place) {
    const bool goes_left = dimension.ordered
                               ? place <= split
                               : dimension.masks[std::size_t(split)] >> place & 1;
    if (goes_left == left) places.push_back(place);
  }
  Grid result;
  result.dimensions = grid.dimensions;
  const std::size_t stride = strides_of(grid.dimensions)[d];
  const auto size = static_cast<std::size_t>(dimension.size);
  result.labels = gather(grid.labels, stride, size, places);
  if (!grid.weights.empty()) result.weights = gather(grid.weights, stride, size, places);
  Dimension& kept = result.dimensions[d];
  kept.size = static_cast<std::int32_t>(places.size());
  if (dimension.ordered) {
    kept.questions.assign(1, left ? 0 : split + 1);  // where the numbering starts
  } else {
    for (std::uint64_t& mask : kept.masks) {
      std::uint64_t now = 0;
      for (std::size_t g = 0; g < places.size(); ++g) now |= (mask >> places[g] & 1) << g;
      mask = now;
    }
  }
  return result;
}

Compressed compress(const Grid& grid) {
  Compressed result;
  result.grid = grid;
  Grid& now = result.grid;
  const std::size_t n = grid.dimensions.size();
  std::vector<Dimension> kept;
  for (std::size_t i = 0; i < n; ++i) {
    Dimension& dimension = now.dimensions[i];
    const std::size_t stride = strides_of(now.dimensions)[i];
    const auto size = static_cast<std::size_t>(dimension.size);
    // a part's ordered dimension remembers where its numbering starts
    const std::int32_t start =
        dimension.ordered && !dimension.questions.empty() ? dimension.questions[0] : 0;
    std::vector<std::int32_t> places, group(size, 0), split;
    if (dimension.ordered) {
      places.push_back(0);
      for (std::size_t place = 1; place < size; ++place) {
        if (!same_slice(now.labels, stride, size, place - 1, place)) {
          split.push_back(start + static_cast<std::int32_t>(place) - 1);
          places.push_back(static_cast<std::int32_t>(place));
        }
        group[place] = static_cast<std::int32_t>(places.size()) - 1;
      }
      dimension.questions.clear();
    } else {
      bool matters = false;
      for (std::size_t place = 1; place < size && !matters; ++place) {
        matters = !same_slice(now.labels, stride, size, 0, place);
      }
      split.resize(dimension.masks.size());
      std::iota(split.begin(), split.end(), 0);
      if (!matters) {
        dimension.masks.clear();
        dimension.questions.clear();
      }
      tidy(dimension, places, group, split);
    }
    dimension.size = static_cast<std::int32_t>(places.size());
    if (places.size() < size) {
      // labels are read with the old size, before it is replaced
      now.labels = gather(now.labels, stride, size, places);
      if (!now.weights.empty()) now.weights = pooled(now.weights, stride, size, group, places.size());
    }
    if (places.size() > 1) {
      kept.push_back(dimension);
      result.dimension.push_back(static_cast<std::int32_t>(i));
      result.split.push_back(std::move(split));
    }
  }
  now.dimensions = std::move(kept);
  return result;
}

double n_boxes(const Grid& grid) {
  double boxes = 1;
  for (const Dimension& d : grid.dimensions) {
    // sets of places that questions leave over: at most all of them
    boxes *= d.ordered ? 0.5 * d.size * (d.size + 1.0) : std::ldexp(1.0, d.size);
  }
  return boxes;
}

double tree_cost(const Grid& grid, const GridTree& tree, Objective objective) {
  if (objective == Objective::leaves) return static_cast<double>((tree.split.size() + 1) / 2);
  if (objective == Objective::depth) {
    std::vector<double> depth(tree.split.size(), 0);
    for (std::size_t i = depth.size(); i-- > 0;) {
      if (tree.left[i] < 0) continue;
      depth[i] = 1 + std::max(depth[std::size_t(tree.left[i])], depth[std::size_t(tree.right[i])]);
    }
    return depth[0];
  }
  // questions: the number of splits that all rows pass together
  const std::size_t n = grid.dimensions.size();
  std::vector<std::int32_t> at(n, 0);
  double total = 0;
  for (std::size_t cell = 0; cell < grid.labels.size(); ++cell) {
    if (cell) {
      for (std::size_t i = n; i-- > 0;) {
        if (++at[i] < grid.dimensions[i].size) break;
        at[i] = 0;
      }
    }
    if (grid.weights[cell] == 0) continue;
    std::size_t node = 0;
    while (tree.left[node] >= 0) {
      total += grid.weights[cell];
      const auto d = static_cast<std::size_t>(tree.dimension[node]);
      const Dimension& dimension = grid.dimensions[d];
      const bool left = dimension.ordered
                            ? at[d] <= tree.split[node]
                            : dimension.masks[std::size_t(tree.split[node])] >> at[d] & 1;
      node = static_cast<std::size_t>(left ? tree.left[node] : tree.right[node]);
    }
  }
  return total;
}

}  // namespace clearwood::condense
