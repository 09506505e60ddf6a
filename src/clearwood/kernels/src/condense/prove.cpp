// The least tree for a function on a grid: a table over all boxes, small ones first.
//
// A box takes one part of every dimension: an interval of places, or a set of places that questions
// can leave over. Parts are numbered by size, so that both sides of a split have smaller numbers,
// and the table is filled in the order of its indices. A split of dimension i combines two runs of
// entries that are as long as one step of that dimension: dimensions with many splits come first,
// where runs are longest.
#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <stdexcept>

#include "condense/grid.hpp"
#include "condense/rows.hpp"

namespace clearwood::condense {
namespace {

struct Part {
  std::int32_t low, high;  // a place in it; another one, the last where places have order
  std::uint64_t places;    // listed dimensions only
  struct Split {
    std::int32_t split, left, right;
  };
  std::vector<Split> splits;
};

std::vector<Part> parts_of(const Dimension& dimension) {
  std::vector<Part> parts;
  if (dimension.ordered) {
    const std::int32_t n = dimension.size;
    std::vector<std::int32_t> number(static_cast<std::size_t>(n) * std::size_t(n));
    for (std::int32_t width = 0; width < n; ++width) {
      for (std::int32_t low = 0; low + width < n; ++low) {
        Part part{low, low + width, 0, {}};
        for (std::int32_t cut = low; cut < part.high; ++cut) {
          part.splits.push_back({cut, number[std::size_t(low * n + cut)],
                                 number[std::size_t((cut + 1) * n + part.high)]});
        }
        number[std::size_t(low * n + part.high)] = static_cast<std::int32_t>(parts.size());
        parts.push_back(std::move(part));
      }
    }
    return parts;
  }
  const std::uint64_t all = dimension.size >= 64 ? ~std::uint64_t(0)
                                                 : (std::uint64_t(1) << dimension.size) - 1;
  std::map<std::pair<int, std::uint64_t>, std::int32_t> number;
  std::vector<std::uint64_t> queue{all};
  number[{dimension.size, all}] = -1;
  while (!queue.empty()) {
    const std::uint64_t have = queue.back();
    queue.pop_back();
    if (number.size() > 100000) return {};
    for (const std::uint64_t mask : dimension.masks) {
      for (const std::uint64_t side : {have & mask, have & ~mask}) {
        if (side == 0 || side == have) continue;
        if (number.try_emplace({std::popcount(side), side}, -1).second) queue.push_back(side);
      }
    }
  }
  for (auto& [key, id] : number) {
    id = static_cast<std::int32_t>(parts.size());
    const std::uint64_t have = key.second;
    Part part{std::countr_zero(have), 63 - std::countl_zero(have), have, {}};
    for (std::size_t q = 0; q < dimension.masks.size(); ++q) {
      const std::uint64_t one = have & dimension.masks[q], two = have & ~dimension.masks[q];
      if (one == 0 || two == 0) continue;
      part.splits.push_back({static_cast<std::int32_t>(q), number.at({std::popcount(one), one}),
                             number.at({std::popcount(two), two})});
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

struct Leaves {
  using Cost = std::uint16_t;
  static constexpr Cost leaf = 1, none = 65535, two_leaves = 2;
  static auto rule() { return CLEARWOOD_DISPATCH(least_sum); }
  static Cost both(Cost one, Cost two) { return static_cast<Cost>(one + two); }
};

struct Depth {
  using Cost = std::uint32_t;
  static constexpr Cost leaf = 1, none = ~Cost(0), two_leaves = (1u << 24) + 2;
  static auto rule() { return CLEARWOOD_DISPATCH(least_depth); }
  static Cost both(Cost one, Cost two) {
    constexpr Cost leaves = (1u << 24) - 1;
    return std::max(one & ~leaves, two & ~leaves) + leaves + 1 + (one & leaves) + (two & leaves);
  }
};

// Rows that pass through inner boxes, times 2^20, plus leaves: fewest questions, then leaves.
struct Questions {
  using Cost = std::uint64_t;
  static constexpr Cost leaf = 1, none = ~Cost(0) >> 1, two_leaves = 2;
  static auto rule() { return CLEARWOOD_DISPATCH(least_sum64); }
  static Cost both(Cost one, Cost two) { return one + two; }
};

template <class Rule>
class Prover {
 public:
  using Cost = typename Rule::Cost;

  Prover(const Grid& grid, const std::function<void()>& look) : grid_(grid), look_(look) {
    const std::size_t n = grid.dimensions.size();
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), std::size_t(0));
    std::vector<std::vector<Part>> parts;
    for (const Dimension& d : grid.dimensions) parts.push_back(parts_of(d));
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t x, std::size_t y) {
      return parts[x].size() > parts[y].size();
    });
    std::vector<std::size_t> cell(n);
    std::size_t stride = 1;
    for (std::size_t i = n; i-- > 0;) {
      cell[i] = stride;
      stride *= static_cast<std::size_t>(grid.dimensions[i].size);
      listed_ |= !grid.dimensions[i].ordered;
    }
    for (const std::size_t i : order_) {
      parts_.push_back(std::move(parts[i]));
      cell_.push_back(cell[i]);
    }
    stride_.resize(n);
    std::size_t size = 1;
    for (std::size_t i = n; i-- > 0;) {
      stride_[i] = size;
      size *= parts_[i].size();
    }
    table_.assign(size, Rule::none);
    flatten();
    if (!grid.weights.empty()) weight_.resize(size);
  }

  GridTree run() {
    if constexpr (std::is_same_v<Rule, Questions>) add_weights(0, 0, 0);
    fill(0, 0, 0, 0);
    GridTree tree;
    std::vector<std::int32_t> box;
    for (const auto& parts : parts_) box.push_back(static_cast<std::int32_t>(parts.size()) - 1);
    write(tree, box);
    return tree;
  }

 private:
  // The last levels, where runs are short, are written out as one list of sums.
  void flatten() {
    flat_ = parts_.size() - 1;
    while (flat_ > 0 && stride_[flat_ - 1] <= longest_list) --flat_;
    const std::size_t size = stride_[flat_] * parts_[flat_].size();
    pair_start_.assign(1, 0);
    for (std::size_t k = 0; k < size; ++k) {
      std::size_t low = 0, high = 0;
      for (std::size_t level = flat_; level < parts_.size(); ++level) {
        const std::size_t p = k / stride_[level] % parts_[level].size();
        const Part& part = parts_[level][p];
        low += std::size_t(part.low) * cell_[level];
        high += std::size_t(part.high) * cell_[level];
        const std::size_t others = k - p * stride_[level];
        for (const Part::Split& split : part.splits) {
          pairs_.push_back(std::uint32_t(others + std::size_t(split.left) * stride_[level]));
          pairs_.push_back(std::uint32_t(others + std::size_t(split.right) * stride_[level]));
        }
      }
      pair_start_.push_back(std::uint32_t(pairs_.size()));
      list_low_.push_back(low);
      list_high_.push_back(high);
    }
  }

  void fill(std::size_t level, std::size_t offset, std::size_t low, std::size_t high) {
    if (level == flat_) {
      Cost* block = &table_[offset];
      for (std::size_t k = 0; k < list_low_.size(); ++k) {
        Cost cost = block[k];
        for (std::uint32_t pair = pair_start_[k]; pair < pair_start_[k + 1]; pair += 2) {
          cost = std::min(cost, Rule::both(block[pairs_[pair]], block[pairs_[pair + 1]]));
        }
        close(cost, offset + k, low + list_low_[k], high + list_high_[k]);
        block[k] = cost;
      }
      return;
    }
    const std::size_t stride = stride_[level];
    const auto& parts = parts_[level];
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Part& part = parts[p];
      Cost* block = &table_[offset + p * stride];
      for (const Part::Split& split : part.splits) {
        least_(block, &table_[offset + std::size_t(split.left) * stride],
               &table_[offset + std::size_t(split.right) * stride], stride);
      }
      fill(level + 1, offset + p * stride, low + std::size_t(part.low) * cell_[level],
           high + std::size_t(part.high) * cell_[level]);
      if (level + 2 == flat_) look_();
    }
  }

  // A box of one cell, or of two parts with one label each, may be a single leaf.
  void close(Cost& cost, std::size_t box, std::size_t low, std::size_t high) {
    if (cost == Rule::none) {
      cost = Rule::leaf;
      return;
    }
    if (cost == Rule::two_leaves && grid_.labels[low] == grid_.labels[high]) {
      if (!listed_ || one_label(box)) {
        cost = Rule::leaf;
        return;
      }
    }
    if constexpr (std::is_same_v<Rule, Questions>) cost += weight_[box] << 20;
  }

  bool one_label(std::size_t at) const {
    std::vector<std::int32_t> box;
    for (std::size_t level = 0; level < parts_.size(); ++level) {
      box.push_back(static_cast<std::int32_t>(at / stride_[level] % parts_[level].size()));
    }
    bool found = false;
    std::uint32_t label = 0;
    const std::function<bool(std::size_t, std::size_t)> same = [&](std::size_t level,
                                                                   std::size_t cell) {
      if (level == box.size()) {
        if (!found) label = grid_.labels[cell], found = true;
        return grid_.labels[cell] == label;
      }
      const Part& part = parts_[level][std::size_t(box[level])];
      for (std::int32_t place = part.low; place <= part.high; ++place) {
        if (part.places && !(part.places >> place & 1)) continue;
        if (!same(level + 1, cell + std::size_t(place) * cell_[level])) return false;
      }
      return true;
    };
    return same(0, 0);
  }

  void add_weights(std::size_t level, std::size_t offset, std::size_t cell) {
    const auto& parts = parts_[level];
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Part& part = parts[p];
      const std::size_t block = offset + p * stride_[level];
      if (!part.splits.empty()) {
        const std::size_t one = offset + std::size_t(part.splits[0].left) * stride_[level];
        const std::size_t two = offset + std::size_t(part.splits[0].right) * stride_[level];
        for (std::size_t k = 0; k < stride_[level]; ++k) {
          weight_[block + k] = weight_[one + k] + weight_[two + k];
        }
      } else if (level + 1 < parts_.size()) {
        add_weights(level + 1, block, cell + std::size_t(part.low) * cell_[level]);
      } else {
        const double rows = grid_.weights[cell + std::size_t(part.low) * cell_[level]];
        weight_[block] = static_cast<std::uint64_t>(rows);
      }
    }
  }

  std::size_t index(const std::vector<std::int32_t>& box) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < box.size(); ++i) at += std::size_t(box[i]) * stride_[i];
    return at;
  }

  std::int32_t write(GridTree& tree, std::vector<std::int32_t>& box) {
    const auto node = static_cast<std::int32_t>(tree.split.size());
    const auto at = static_cast<std::size_t>(node);
    tree.dimension.push_back(-1);
    tree.split.push_back(-1);
    tree.left.push_back(-1);
    tree.right.push_back(-1);
    tree.label.push_back(0);
    const std::size_t here = index(box);
    Cost wanted = table_[here];
    if (wanted == Rule::leaf) {
      std::size_t cell = 0;
      for (std::size_t i = 0; i < box.size(); ++i) {
        cell += std::size_t(parts_[i][std::size_t(box[i])].low) * cell_[i];
      }
      tree.label[at] = grid_.labels[cell];
      return node;
    }
    if constexpr (std::is_same_v<Rule, Questions>) wanted -= weight_[here] << 20;
    for (std::size_t i = 0; i < box.size(); ++i) {
      const std::int32_t mine = box[i];
      for (const Part::Split& split : parts_[i][std::size_t(mine)].splits) {
        const std::size_t others = here - std::size_t(mine) * stride_[i];
        const Cost one = table_[others + std::size_t(split.left) * stride_[i]];
        const Cost two = table_[others + std::size_t(split.right) * stride_[i]];
        if (Rule::both(one, two) != wanted) continue;
        tree.dimension[at] = static_cast<std::int32_t>(order_[i]);
        tree.split[at] = split.split;
        box[i] = split.left;
        const std::int32_t left = write(tree, box);
        box[i] = split.right;
        const std::int32_t right = write(tree, box);
        box[i] = mine;
        tree.left[at] = left;
        tree.right[at] = right;
        return node;
      }
    }
    throw std::logic_error("condense: the table of boxes contradicts itself");
  }

  static constexpr std::size_t longest_list = 64;
  std::size_t flat_ = 0;
  std::vector<std::uint32_t> pairs_, pair_start_;
  std::vector<std::size_t> list_low_, list_high_;
  const decltype(Rule::rule()) least_ = Rule::rule();
  const Grid& grid_;
  const std::function<void()>& look_;
  std::vector<std::size_t> order_, cell_, stride_;
  std::vector<std::vector<Part>> parts_;
  std::vector<Cost> table_;
  std::vector<std::uint64_t> weight_;
  bool listed_ = false;
};

}  // namespace

double proof_bytes(const Grid& grid, Objective objective) {
  double boxes = 1;
  for (const Dimension& d : grid.dimensions) {
    if (d.ordered) {
      boxes *= 0.5 * d.size * (d.size + 1.0);
    } else {
      const std::size_t n = parts_of(d).size();
      boxes *= n ? static_cast<double>(n) : 1e300;
    }
  }
  return boxes * (objective == Objective::leaves ? 2 : objective == Objective::depth ? 4 : 16);
}

GridTree prove_grid(const Grid& grid, Objective objective, const std::function<void()>& look) {
  const Compressed small = compress(grid);
  GridTree tree;
  if (small.grid.dimensions.empty()) {
    tree.dimension = tree.split = tree.left = tree.right = {-1};
    tree.label = {small.grid.labels[0]};
    return tree;
  }
  switch (objective) {
    case Objective::leaves: tree = Prover<Leaves>(small.grid, look).run(); break;
    case Objective::depth: tree = Prover<Depth>(small.grid, look).run(); break;
    case Objective::questions: tree = Prover<Questions>(small.grid, look).run(); break;
  }
  for (std::size_t i = 0; i < tree.split.size(); ++i) {
    if (tree.dimension[i] < 0) continue;
    const auto d = static_cast<std::size_t>(tree.dimension[i]);
    tree.split[i] = small.split[d][std::size_t(tree.split[i])];
    tree.dimension[i] = small.dimension[d];
  }
  return tree;
}

}  // namespace clearwood::condense
