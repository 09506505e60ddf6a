#include "shapley/path_run.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "common/parallel.hpp"
#include "shapley/path.hpp"
#include "shapley/quadrature.hpp"

namespace clearwood {
namespace {

// Tables of as many trees as fit here are made together, then all rows walk them.
constexpr std::size_t table_budget = std::size_t(64) << 20;
constexpr std::size_t most_rows_per_task = 512;

// How the path to a node looks for one player.
struct PlayerState {
  std::int32_t player;
  std::int32_t depth;  // of the player's last edge
  double share;        // product of the cover ratios of the player's edges
};

struct PreparedTree {
  std::vector<PathNode> nodes;
  std::vector<double> tables;
  std::vector<std::int32_t> others;
  std::vector<double> beyond;
  PathTree view{};
  std::int32_t first_output = 0;
};

// The distinct players on the longest path, and the depth of inner nodes.
struct Extent {
  std::int32_t players = 0;
  std::int32_t depth = 0;
};

class TreeBuilder {
 public:
  TreeBuilder(const ForestArrays& forest, std::size_t tree, bool with_pairs)
      : forest_(forest), root_(forest.roots[tree]), with_pairs_(with_pairs) {
    measure(root_, {}, 0);
    const std::int32_t output = forest.tree_output[tree];
    prepared_.first_output = output < 0 ? 0 : output;
  }

  PreparedTree build() && {
    if (extent_.depth > 0) {
      rule_ = gauss_legendre(points_for(extent_.players));
      for (double t : rule_.points) prepared_.beyond.push_back(-1.0 / (1.0 - t));
      path_.clear();
      add_node(root_, 0);
    }
    prepared_.view = {prepared_.nodes.data(), prepared_.tables.data(), prepared_.others.data(),
                      prepared_.beyond.data(), static_cast<std::int32_t>(rule_.points.size()),
                      extent_.depth, static_cast<std::int32_t>(forest_.n_values)};
    return std::move(prepared_);
  }

 private:
  bool is_leaf(std::int32_t node) const { return forest_.left[node] < 0; }

  void measure(std::int32_t node, std::vector<std::int32_t> players, std::int32_t depth) {
    if (is_leaf(node)) {
      extent_.players = std::max(extent_.players, static_cast<std::int32_t>(players.size()));
      extent_.depth = std::max(extent_.depth, depth);
      return;
    }
    if (std::find(players.begin(), players.end(), forest_.player[node]) == players.end()) {
      players.push_back(forest_.player[node]);
    }
    measure(forest_.left[node], players, depth + 1);
    measure(forest_.right[node], std::move(players), depth + 1);
  }

  // Where no training row came, nobody knows: half each.
  double ratio(std::int32_t node, std::int32_t child) const {
    return forest_.cover[node] > 0 ? forest_.cover[child] / forest_.cover[node] : 0.5;
  }

  std::int32_t add_node(std::int32_t node, std::int32_t depth) {
    const std::int32_t player = forest_.player[node];
    const auto known = std::find_if(path_.begin(), path_.end(),
                                    [&](const PlayerState& s) { return s.player == player; });
    const bool fresh = known == path_.end();
    const PlayerState before = fresh ? PlayerState{player, -1, 1.0} : *known;
    const std::size_t slot = static_cast<std::size_t>(known - path_.begin());
    const std::int32_t children[2] = {forest_.left[node], forest_.right[node]};

    const std::int32_t index = static_cast<std::int32_t>(prepared_.nodes.size());
    prepared_.nodes.push_back({
        .test = {forest_.column[node], forest_.start[node], forest_.width[node]},
        .player = player,
        .previous = before.depth,
        .child = {-1, -1},
        .others_begin = static_cast<std::int32_t>(prepared_.others.size() / 2),
        .others_end = 0,
        .table = prepared_.tables.size(),
        .has_leaf = is_leaf(children[0]) || is_leaf(children[1]),
    });
    if (with_pairs_) {
      for (const PlayerState& other : path_) {
        if (other.player == player) continue;
        prepared_.others.insert(prepared_.others.end(), {other.player, other.depth});
      }
    }
    prepared_.nodes[index].others_end = static_cast<std::int32_t>(prepared_.others.size() / 2);
    if (prepared_.nodes[index].has_leaf) add_leaf_table(node, before.share);
    for (int side = 0; side < 2; ++side) {
      if (!is_leaf(children[side])) add_edge_table(node, side, before.share);
    }

    if (fresh) path_.push_back(before);
    for (int side = 0; side < 2; ++side) {
      if (is_leaf(children[side])) continue;
      path_[slot] = {player, depth, before.share * ratio(node, children[side])};
      prepared_.nodes[index].child[side] = add_node(children[side], depth + 1);
    }
    if (fresh) {
      path_.pop_back();
    } else {
      path_[slot] = before;
    }
    return index;
  }

  // One edge at one point: what P is multiplied by and how psi changes, for rows that take the edge
  // (in), rows that leave the path here (out), and rows that had left it before (gone).
  struct Edge {
    double in, out, gone, weight_in, weight_out, psi;
  };

  Edge edge(std::size_t q, double share, double ratio) const {
    const double t = rule_.points[q];
    const double after = share * ratio;
    const double factor_before = t + (1 - t) * share;
    const double factor_after = t + (1 - t) * after;
    const double psi_before = (1 - share) / factor_before;
    const double psi_after = (1 - after) / factor_after;
    const double weight = rule_.weights[q];
    return {factor_after / factor_before,
            (1 - t) * after / factor_before,
            ratio,
            weight * (psi_after - psi_before),
            weight * (prepared_.beyond[q] - psi_before),
            psi_after};
  }

  void add_edge_table(std::int32_t node, int side, double share) {
    const double rho = ratio(node, side == 0 ? forest_.left[node] : forest_.right[node]);
    for (std::size_t q = 0; q < rule_.points.size(); ++q) {
      const Edge e = edge(q, share, rho);
      if (side == 0) {
        append({e.in, e.out, e.gone, e.weight_in, e.weight_out, e.psi});
      } else {
        append({e.out, e.in, e.gone, e.weight_out, e.weight_in, e.psi});
      }
    }
  }

  void add_leaf_table(std::int32_t node, double share) {
    const std::int32_t children[2] = {forest_.left[node], forest_.right[node]};
    for (std::size_t k = 0; k < forest_.n_values; ++k) {
      for (std::size_t q = 0; q < rule_.points.size(); ++q) {
        double entry[path_leaf_entry] = {};
        for (int side = 0; side < 2; ++side) {
          if (!is_leaf(children[side])) continue;
          const Edge e = edge(q, share, ratio(node, children[side]));
          const double c = forest_.value[children[side] * forest_.n_values + k];
          entry[side] += c * e.in;
          entry[1 - side] += c * e.out;
          entry[2] += c * e.gone;
          entry[3 + side] += c * e.in * e.weight_in;
          entry[4 - side] += c * e.out * e.weight_out;
        }
        prepared_.tables.insert(prepared_.tables.end(), entry, entry + path_leaf_entry);
      }
    }
  }

  void append(std::initializer_list<double> entry) {
    prepared_.tables.insert(prepared_.tables.end(), entry);
  }

  const ForestArrays& forest_;
  const std::int32_t root_;
  const bool with_pairs_;
  Extent extent_;
  Quadrature rule_;
  std::vector<PlayerState> path_;
  PreparedTree prepared_;
};

// Memory for vectors of 64 bytes.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t bytes)
      : data_(::operator new(std::max<std::size_t>(bytes, 64), std::align_val_t(64))) {}
  template <class T>
  T* as() const { return static_cast<T*>(data_.get()); }

 private:
  struct Free {
    void operator()(void* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::unique_ptr<void, Free> data_;
};

class Run {
 public:
  Run(const ForestArrays& forest, const Code* codes, std::size_t n_rows, double* shapley,
      double* pairs, std::size_t pitch, int n_threads)
      : forest_(forest), codes_(codes), n_rows_(n_rows), shapley_(shapley), pairs_(pairs),
        pitch_(pitch), n_threads_(n_threads), n_shapley_(forest.n_players * forest.n_outputs),
        n_pairs_(pairs == nullptr
                     ? 0
                     : forest.n_players * (forest.n_players - 1) / 2 * forest.n_outputs) {}

  void run() {
    std::size_t tree = 0;
    while (tree < forest_.n_trees) {
      tree = prepare_group(tree);
      walk_group();
    }
  }

 private:
  // As many trees from `first` on as fit the budget; a bound on their size is known beforehand.
  std::size_t prepare_group(std::size_t first) {
    std::size_t last = first, bytes = 0;
    while (last < forest_.n_trees) {
      bytes += bytes_bound(last);
      if (last > first && bytes > table_budget) break;
      ++last;
    }
    group_.clear();
    group_.resize(last - first);
    parallel_for(last - first, n_threads_, [&](std::size_t k, int) {
      group_[k] = TreeBuilder(forest_, first + k, pairs_ != nullptr).build();
    });
    return last;
  }

  std::size_t bytes_bound(std::size_t tree) const {
    const std::size_t begin = static_cast<std::size_t>(forest_.roots[tree]);
    const std::size_t end = tree + 1 < forest_.n_trees
                                ? static_cast<std::size_t>(forest_.roots[tree + 1])
                                : forest_.n_nodes;
    constexpr std::size_t points = 8;  // typical: a path of 16 players
    return (end - begin) * points * sizeof(double) * (path_edge_entry + forest_.n_values * 2);
  }

  void walk_group() {
    std::size_t scratch_bytes = 0;
    for (const PreparedTree& tree : group_) {
      scratch_bytes = std::max(scratch_bytes, CLEARWOOD_DISPATCH(path_scratch_size)(tree.view));
    }
    const std::size_t share = n_rows_ / (4 * static_cast<std::size_t>(n_threads_)) + 1;
    const std::size_t rows_per_task =
        std::min(most_rows_per_task, block_count(share, path_rows) * path_rows);
    parallel_for(block_count(n_rows_, rows_per_task), n_threads_, [&](std::size_t task, int) {
      const std::size_t begin = task * rows_per_task;
      walk_rows(begin, std::min(n_rows_, begin + rows_per_task), scratch_bytes);
    });
  }

  void walk_rows(std::size_t begin, std::size_t end, std::size_t scratch_bytes) {
    const auto path_walk = CLEARWOOD_DISPATCH(path_walk);
    const std::size_t n_blocks = block_count(end - begin, path_rows);
    const std::size_t per_block = (n_shapley_ + n_pairs_) * path_rows;
    const std::size_t codes_per_block = forest_.n_columns * path_rows;
    AlignedBuffer scratch(scratch_bytes);
    AlignedBuffer sums(n_blocks * per_block * sizeof(double));
    std::vector<Code> codes(n_blocks * codes_per_block);
    std::fill_n(sums.as<double>(), n_blocks * per_block, 0.0);
    for (std::size_t b = 0; b < n_blocks; ++b) {
      gather_codes(begin + b * path_rows, end, codes.data() + b * codes_per_block);
    }
    for (const PreparedTree& tree : group_) {
      if (tree.nodes.empty()) continue;
      for (std::size_t b = 0; b < n_blocks; ++b) {
        double* block = sums.as<double>() + b * per_block;
        path_walk(tree.view, codes.data() + b * codes_per_block, tree.first_output,
                  static_cast<std::int32_t>(forest_.n_outputs), scratch.as<void>(), block,
                  pairs_ == nullptr ? nullptr : block + n_shapley_ * path_rows);
      }
    }
    for (std::size_t b = 0; b < n_blocks; ++b) {
      const std::size_t row = begin + b * path_rows;
      const double* block = sums.as<double>() + b * per_block;
      add_block(block, n_shapley_, row, end, shapley_);
      add_block(block + n_shapley_ * path_rows, n_pairs_, row, end, pairs_);
    }
  }

  // A block's codes side by side; past the last row it is repeated.
  void gather_codes(std::size_t row, std::size_t end, Code* to) const {
    for (std::size_t column = 0; column < forest_.n_columns; ++column) {
      const Code* from = codes_ + column * n_rows_;
      for (std::size_t i = 0; i < path_rows; ++i) *to++ = from[std::min(row + i, end - 1)];
    }
  }

  void add_block(const double* block, std::size_t n, std::size_t row, std::size_t end,
                 double* to) const {
    const std::size_t size = std::min(path_rows, end - row);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < size; ++i) to[k * pitch_ + row + i] += block[k * path_rows + i];
    }
  }

  const ForestArrays& forest_;
  const Code* codes_;
  const std::size_t n_rows_;
  double* const shapley_;
  double* const pairs_;
  const std::size_t pitch_;
  const int n_threads_;
  const std::size_t n_shapley_;
  const std::size_t n_pairs_;
  std::vector<PreparedTree> group_;
};

}  // namespace

void path_dependent(const ForestArrays& forest, const Code* codes, std::size_t n_rows,
                    double* shapley, double* pairs, std::size_t pitch, int n_threads) {
  Run(forest, codes, n_rows, shapley, pairs, pitch, n_threads).run();
}

}  // namespace clearwood
