// Small trees for a function on a grid of cells, by a search of few splits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "condense/grid.hpp"

namespace clearwood::condense {
namespace {

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
      now.sides[0] = side(part_of(grid, splits[s].dimension, splits[s].split, true));
      const double one = cost(now.sides[0]);
      // another leaf, or no further question, is the least that the other side can cost
      const double least = objective_ == Objective::leaves ? 1.0 : 0.0;
      if (combined(one, least) + here >= best.cost) continue;
      now.sides[1] = side(part_of(grid, splits[s].dimension, splits[s].split, false));
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

GridTree reduce_grid(const Grid& grid, int breadth, double provable, double work,
                     Objective objective, const std::function<void()>& look) {
  return Reducer(breadth, provable, work, objective, look).run(grid);
}

}  // namespace clearwood::condense
