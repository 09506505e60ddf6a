// Small trees for a function on a grid of cells, by a search of few splits.
#include "condense_grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <unordered_map>

namespace clearwood::condense {
namespace {

using Labels = std::vector<std::uint32_t>;

std::vector<std::size_t> strides_of(const std::vector<Dimension>& dimensions) {
  std::vector<std::size_t> strides(dimensions.size());
  std::size_t stride = 1;
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= static_cast<std::size_t>(dimensions[i].size);
  }
  return strides;
}

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

// Questions that still split, once each up to exchange of sides; places told apart by none merge.
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

struct Split {
  std::int32_t dimension, split;
  double score;
};

// Solutions are numbered; a solution is for a compressed grid with labels in order of appearance.
struct Solution {
  double cost = 0;
  std::int32_t dimension = -1, split = -1;
  struct Side {
    std::int32_t solution = -1;
    std::vector<std::uint32_t> label;
    std::vector<std::int32_t> dimension;
    std::vector<std::vector<std::int32_t>> split;
  } sides[2];
  GridTree whole;  // instead of sides, where the grid was small enough to prove
};

class Reducer {
 public:
  Reducer(int breadth, double provable, double work, Objective objective,
          const std::function<void()>& look)
      : breadth_(breadth), provable_(provable), work_(work), objective_(objective), look_(look) {}

  GridTree run(const Grid& grid) {
    const Solution::Side top = side(grid);
    GridTree tree;
    std::vector<std::int32_t> dimension(grid.dimensions.size());
    std::iota(dimension.begin(), dimension.end(), 0);
    Frame frame;
    frame.label.resize(1 + *std::max_element(grid.labels.begin(), grid.labels.end()));
    std::iota(frame.label.begin(), frame.label.end(), 0u);
    frame.dimension = dimension;
    for (const Dimension& d : grid.dimensions) {
      std::vector<std::int32_t> split(d.n_splits());
      std::iota(split.begin(), split.end(), 0);
      frame.split.push_back(split);
    }
    write(tree, below(frame, top), top.solution);
    return tree;
  }

 private:
  // What labels, dimensions and splits of a compressed part are called at the top.
  struct Frame {
    std::vector<std::uint32_t> label;
    std::vector<std::int32_t> dimension;
    std::vector<std::vector<std::int32_t>> split;
  };

  static Frame below(const Frame& frame, const Solution::Side& side) {
    Frame next;
    for (const std::uint32_t label : side.label) next.label.push_back(frame.label[label]);
    for (std::size_t i = 0; i < side.dimension.size(); ++i) {
      const auto from = static_cast<std::size_t>(side.dimension[i]);
      next.dimension.push_back(frame.dimension[from]);
      std::vector<std::int32_t> split;
      for (const std::int32_t s : side.split[i]) split.push_back(frame.split[from][std::size_t(s)]);
      next.split.push_back(std::move(split));
    }
    return next;
  }

  std::int32_t write(GridTree& tree, const Frame& frame, std::int32_t solution) {
    const auto node = static_cast<std::int32_t>(tree.split.size());
    const Solution& found = solutions_[std::size_t(solution)];
    tree.dimension.push_back(-1);
    tree.split.push_back(-1);
    tree.left.push_back(-1);
    tree.right.push_back(-1);
    tree.label.push_back(0);
    const auto at = static_cast<std::size_t>(node);
    if (!found.whole.split.empty()) {
      tree.dimension.pop_back();
      tree.split.pop_back();
      tree.left.pop_back();
      tree.right.pop_back();
      tree.label.pop_back();
      graft(tree, frame, found.whole);
      return node;
    }
    if (found.dimension < 0) {
      tree.label[at] = frame.label[0];
      return node;
    }
    const auto d = static_cast<std::size_t>(found.dimension);
    tree.dimension[at] = frame.dimension[d];
    tree.split[at] = frame.split[d][std::size_t(found.split)];
    const std::int32_t left = write(tree, below(frame, found.sides[0]), found.sides[0].solution);
    const std::int32_t right = write(tree, below(frame, found.sides[1]), found.sides[1].solution);
    tree.left[at] = left;
    tree.right[at] = right;
    return node;
  }

  static void graft(GridTree& tree, const Frame& frame, const GridTree& whole) {
    const auto start = static_cast<std::int32_t>(tree.split.size());
    for (std::size_t i = 0; i < whole.split.size(); ++i) {
      const bool inner = whole.left[i] >= 0;
      const auto d = static_cast<std::size_t>(inner ? whole.dimension[i] : 0);
      tree.dimension.push_back(inner ? frame.dimension[d] : -1);
      tree.split.push_back(inner ? frame.split[d][std::size_t(whole.split[i])] : -1);
      tree.left.push_back(inner ? start + whole.left[i] : -1);
      tree.right.push_back(inner ? start + whole.right[i] : -1);
      tree.label.push_back(inner ? 0 : frame.label[whole.label[i]]);
    }
  }

  Solution::Side side(const Grid& part) {
    Compressed small = compress(part);
    Solution::Side result;
    result.dimension = std::move(small.dimension);
    result.split = std::move(small.split);
    // labels in order of appearance, so that equal patterns are one pattern
    const std::uint32_t unknown = ~std::uint32_t(0);
    number_.resize(std::max<std::size_t>(
        number_.size(), 1 + *std::max_element(small.grid.labels.begin(), small.grid.labels.end())),
        unknown);
    for (std::uint32_t& label : small.grid.labels) {
      if (number_[label] == unknown) {
        number_[label] = static_cast<std::uint32_t>(result.label.size());
        result.label.push_back(label);
      }
      label = number_[label];
    }
    for (const std::uint32_t label : result.label) number_[label] = unknown;
    result.solution = solve(small.grid, result.label.size());
    return result;
  }

  Hash name(const Grid& grid) const {
    Hash hash{grid.dimensions.size(), 7};
    const auto add = [&hash](std::uint64_t x) {
      hash.a = mix(hash.a + x + 0x9e3779b97f4a7c15ULL);
      hash.b = mix(hash.b ^ (x + 0xd1b54a32d192ed03ULL));
    };
    for (const Dimension& d : grid.dimensions) {
      add(std::uint64_t(d.size) * 2 + d.ordered);
      for (const std::uint64_t mask : d.masks) add(mask);
    }
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < grid.labels.size(); ++i) {
      word = word * 0x100000001b3ULL + grid.labels[i] + 1;
      if (i % 8 == 7) add(word), word = 0;
    }
    add(word);
    for (const double w : grid.weights) {
      std::uint64_t bits;
      std::memcpy(&bits, &w, sizeof bits);
      add(bits);
    }
    return hash;
  }

  std::int32_t solve(const Grid& grid, std::size_t n_labels) {
    if (n_labels == 1) return leaf();
    const Hash key = name(grid);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    look_();
    if (n_boxes(grid) <= provable_) {
      work_ -= 4 * n_boxes(grid);
      if (work_ < 0) throw GaveUp();
      Solution proved;
      proved.whole = prove_grid(grid, objective_, look_);
      proved.dimension = proved.whole.dimension[0];
      proved.cost = tree_cost(grid, proved.whole, objective_);
      solutions_.push_back(std::move(proved));
      known_.emplace(key, static_cast<std::int32_t>(solutions_.size()) - 1);
      return static_cast<std::int32_t>(solutions_.size()) - 1;
    }
    work_ -= static_cast<double>(grid.labels.size() * (1 + grid.dimensions.size()));
    if (work_ < 0) throw GaveUp();
    std::vector<Split> splits = ranked(grid, n_labels);
    const std::size_t tried = std::min<std::size_t>(
        splits.size(), static_cast<std::size_t>(std::max(1, breadth_)));
    const double here =
        objective_ == Objective::questions
            ? std::accumulate(grid.weights.begin(), grid.weights.end(), 0.0)
            : objective_ == Objective::depth ? 1.0 : 0.0;
    Solution best;
    best.cost = std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < tried; ++s) {
      Solution now;
      now.dimension = splits[s].dimension;
      now.split = splits[s].split;
      now.sides[0] = side(part(grid, splits[s], true));
      const double one = cost(now.sides[0]);
      // another leaf, or no further question, is the least that the other side can cost
      const double least = objective_ == Objective::leaves ? 1.0 : 0.0;
      if (combined(one, least) + here >= best.cost) continue;
      now.sides[1] = side(part(grid, splits[s], false));
      now.cost = combined(one, cost(now.sides[1])) + here;
      if (now.cost < best.cost) best = std::move(now);
    }
    solutions_.push_back(std::move(best));
    const auto number = static_cast<std::int32_t>(solutions_.size()) - 1;
    known_.emplace(key, number);
    return number;
  }

  double combined(double one, double two) const {
    return objective_ == Objective::depth ? std::max(one, two) : one + two;
  }
  double cost(const Solution::Side& side) const {
    return solutions_[std::size_t(side.solution)].cost;
  }

  std::int32_t leaf() {
    if (leaf_ < 0) {
      Solution one;
      one.cost = objective_ == Objective::leaves ? 1 : 0;
      solutions_.push_back(one);
      leaf_ = static_cast<std::int32_t>(solutions_.size()) - 1;
    }
    return leaf_;
  }

  static Grid part(const Grid& grid, const Split& split, bool left) {
    const auto d = static_cast<std::size_t>(split.dimension);
    const Dimension& dimension = grid.dimensions[d];
    std::vector<std::int32_t> places;
    for (std::int32_t place = 0; place < dimension.size; ++place) {
      const bool goes_left = dimension.ordered
                                 ? place <= split.split
                                 : dimension.masks[std::size_t(split.split)] >> place & 1;
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
      kept.questions.assign(1, left ? 0 : split.split + 1);  // where the numbering starts
    } else {
      for (std::uint64_t& mask : kept.masks) {
        std::uint64_t now = 0;
        for (std::size_t g = 0; g < places.size(); ++g) now |= (mask >> places[g] & 1) << g;
        mask = now;
      }
    }
    return result;
  }

  std::vector<Split> ranked(const Grid& grid, std::size_t n_labels);

  int breadth_;
  double provable_, work_;
  Objective objective_;
  const std::function<void()>& look_;
  std::vector<Solution> solutions_;
  std::unordered_map<Hash, std::int32_t, HashOfHash> known_;
  std::vector<std::uint32_t> number_;
  double weight_ = 1.0;  // of questions still open, against bits of entropy
  std::int32_t leaf_ = -1;
};

double entropy(const double* counts, std::size_t n) {
  double total = 0, sum = 0;
  for (std::size_t c = 0; c < n; ++c) {
    total += counts[c];
    if (counts[c] > 0) sum += counts[c] * std::log2(counts[c]);
  }
  return total > 0 ? total * std::log2(total) - sum : 0;  // times the number of cells
}

std::vector<Split> Reducer::ranked(const Grid& grid, std::size_t n_labels) {
  const std::size_t n = grid.dimensions.size();
  const auto strides = strides_of(grid.dimensions);
  const std::size_t cells = grid.labels.size();
  // Which places of every dimension see a change across each gap between neighbours.
  std::vector<std::size_t> gap_start(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    gap_start[i + 1] = gap_start[i] + static_cast<std::size_t>(grid.dimensions[i].size) - 1;
  }
  const std::size_t gaps = gap_start[n];
  std::vector<std::int32_t> first(gaps * n, std::numeric_limits<std::int32_t>::max());
  std::vector<std::int32_t> last(gaps * n, -1);
  std::vector<double> change(gaps, 0.0);
  const std::size_t hist_labels = std::min<std::size_t>(n_labels, 32);
  std::vector<std::vector<double>> counts(n);
  for (std::size_t i = 0; i < n; ++i) {
    counts[i].assign(static_cast<std::size_t>(grid.dimensions[i].size) * hist_labels, 0.0);
  }
  std::vector<std::int32_t> at(n, 0);
  const std::size_t step = cells > 60000 ? 1 + cells / 40000 : 1;
  for (std::size_t cell = 0; cell < cells; cell += step) {
    if (step == 1) {
      if (cell) {
        for (std::size_t i = n; i-- > 0;) {
          if (++at[i] < grid.dimensions[i].size) break;
          at[i] = 0;
        }
      }
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        at[i] = static_cast<std::int32_t>(cell / strides[i] %
                                          static_cast<std::size_t>(grid.dimensions[i].size));
      }
    }
    const std::uint32_t label = grid.labels[cell];
    for (std::size_t i = 0; i < n; ++i) {
      counts[i][std::size_t(at[i]) * hist_labels + label % hist_labels] += 1;
      if (at[i] + 1 < grid.dimensions[i].size && grid.labels[cell + strides[i]] != label) {
        const std::size_t gap = gap_start[i] + std::size_t(at[i]);
        change[gap] += 1;
        for (std::size_t j = 0; j < n; ++j) {
          if (at[j] < first[gap * n + j]) first[gap * n + j] = at[j];
          if (at[j] > last[gap * n + j]) last[gap * n + j] = at[j];
        }
      }
    }
  }
  std::vector<Split> splits;
  std::vector<double> one(hist_labels), two(hist_labels);
  for (std::size_t i = 0; i < n; ++i) {
    const Dimension& dimension = grid.dimensions[i];
    for (std::size_t s = 0; s < dimension.n_splits(); ++s) {
      std::fill(one.begin(), one.end(), 0.0);
      std::fill(two.begin(), two.end(), 0.0);
      std::size_t n_left = 0;
      for (std::int32_t place = 0; place < dimension.size; ++place) {
        const bool left = dimension.ordered ? std::size_t(place) <= s
                                            : dimension.masks[s] >> place & 1;
        n_left += left;
        std::vector<double>& side = left ? one : two;
        for (std::size_t c = 0; c < hist_labels; ++c) {
          side[c] += counts[i][std::size_t(place) * hist_labels + c];
        }
      }
      double relevant = 0;
      for (std::size_t gap = 0; gap < gaps; ++gap) {
        if (gap >= gap_start[i] && gap < gap_start[i + 1]) {
          // in its own dimension a gap stays on one side, or is the split itself
          const auto here = static_cast<std::int32_t>(gap - gap_start[i]);
          if (!(dimension.ordered && here == std::int32_t(s)) && change[gap] > 0) relevant += 1;
          continue;
        }
        const std::int32_t lo = first[gap * n + i], hi = last[gap * n + i];
        if (hi < 0) continue;
        if (dimension.ordered) {
          relevant += (lo <= std::int32_t(s)) + (hi > std::int32_t(s));
        } else {
          relevant += 2;
        }
      }
      const double impure = entropy(one.data(), hist_labels) + entropy(two.data(), hist_labels);
      const double sampled = static_cast<double>(cells) / static_cast<double>(step);
      splits.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(s),
                        impure / sampled + weight_ * relevant / (2.0 * double(gaps))});
    }
  }
  std::stable_sort(splits.begin(), splits.end(),
                   [](const Split& x, const Split& y) { return x.score < y.score; });
  return splits;
}

}  // namespace

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
  // questions: what every row is asked on its way down
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

GridTree reduce_grid(const Grid& grid, int breadth, double provable, double work,
                     Objective objective, const std::function<void()>& look) {
  return Reducer(breadth, provable, work, objective, look).run(grid);
}

}  // namespace clearwood::condense
