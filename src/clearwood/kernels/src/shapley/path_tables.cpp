#include "shapley/path_tables.hpp"

#include <algorithm>
#include <bit>

#include "shapley/quadrature.hpp"

namespace clearwood {
namespace {

// Subtrees of up to this many inner nodes lie in one part: their nodes would be walked once for
// every part they have leaves in.
constexpr std::int32_t most_undivided = 32;
// Parts have all, 7, 6 and 5 eighths of the points that the deepest leaf needs.
constexpr int most_parts = 4;

// Which parts have leaves below a node, a bit for each.
using Parts = std::uint8_t;

class TreeBuilder {
 public:
  TreeBuilder(const ForestArrays& forest, std::size_t tree, bool with_pairs)
      : forest_(forest), root_(forest.roots[tree]),
        end_(tree + 1 < forest.n_trees ? forest.roots[tree + 1]
                                       : static_cast<std::int32_t>(forest.n_nodes)),
        with_pairs_(with_pairs), output_(forest.tree_output[tree]), below_(end_ - root_),
        on_path_(forest.n_players, 0), states_(forest.n_players, {-1, 1.0}) {}

  void build(std::vector<PathPart>& parts) {
    Parts used = 0;
    if (!is_leaf(root_)) {
      measure(root_, 0);
      most_points_ = below(root_).points;
      used = divide(root_);
    }
    parts.resize(static_cast<std::size_t>(std::popcount(used)));
    auto part = parts.begin();
    for (int index = 0; index < most_parts; ++index) {
      if ((used >> index & 1) != 0) fill(*part++, index);
    }
  }

 private:
  struct Below {
    std::int32_t n_inner = 0;
    std::int32_t points = 1;  // that the leaves below need
    Parts parts = 0;
  };
  // How the path to a node looks for one player.
  struct PlayerState {
    std::int32_t depth;  // of the player's last edge, or -1
    double share;        // product of the cover ratios of the player's edges
  };

  bool is_leaf(std::int32_t node) const { return forest_.left[node] < 0; }
  Below& below(std::int32_t node) { return below_[static_cast<std::size_t>(node - root_)]; }
  bool has(std::int32_t node) { return (below(node).parts >> index_ & 1) != 0; }

  void measure(std::int32_t node, int n_players) {
    Below& here = below(node);
    if (is_leaf(node)) {
      here.points = points_for(n_players);
      return;
    }
    std::int32_t& times = on_path_[static_cast<std::size_t>(forest_.player[node])];
    if (times++ == 0) ++n_players;
    const std::int32_t left = forest_.left[node], right = forest_.right[node];
    measure(left, n_players);
    measure(right, n_players);
    --times;
    here.n_inner = 1 + below(left).n_inner + below(right).n_inner;
    here.points = std::max(below(left).points, below(right).points);
  }

  int points_of(int part) const { return (most_points_ * (8 - part) + 7) / 8; }

  Parts divide(std::int32_t node) {
    Below& here = below(node);
    if (here.n_inner > most_undivided) {
      here.parts = static_cast<Parts>(divide(forest_.left[node]) | divide(forest_.right[node]));
    } else {
      int part = most_parts - 1;
      while (points_of(part) < here.points) --part;
      mark(node, static_cast<Parts>(1u << part));
    }
    return here.parts;
  }

  void mark(std::int32_t node, Parts parts) {
    below(node).parts = parts;
    if (is_leaf(node)) return;
    mark(forest_.left[node], parts);
    mark(forest_.right[node], parts);
  }

  void fill(PathPart& part, int index) {
    index_ = index;
    part_ = std::move(part);
    part_.nodes.clear();
    part_.others.clear();
    part_.beyond.clear();
    part_.depth = 0;
    part_.first_output = output_ < 0 ? 0 : output_;
    part_.n_values = static_cast<std::int32_t>(forest_.n_values);
    rule_ = &gauss_legendre(points_of(index));
    for (double t : rule_->points) part_.beyond.push_back(-1.0 / (1.0 - t));
    std::size_t n_nodes = 0, n_lines = 0;
    count(root_, n_nodes, n_lines);
    part_.nodes.reserve(n_nodes);
    part_.lines.resize(std::max(part_.lines.size(), n_lines * rule_->points.size()));
    next_line_ = part_.lines.data();
    add_node(root_, 0);
    part = std::move(part_);
  }

  // Room that a subtree takes: nodes, and lines for every point.
  void count(std::int32_t node, std::size_t& n_nodes, std::size_t& n_lines) {
    ++n_nodes;
    bool has_leaf = false;
    for (std::int32_t child : {forest_.left[node], forest_.right[node]}) {
      if (!has(child)) continue;
      if (is_leaf(child)) {
        has_leaf = true;
      } else {
        ++n_lines;
        count(child, n_nodes, n_lines);
      }
    }
    if (has_leaf) n_lines += forest_.n_values;
  }

  PathChild kind(std::int32_t node) {
    if (!has(node) || is_leaf(node)) return PathChild::none;
    const bool deep = (has(forest_.left[node]) && !is_leaf(forest_.left[node])) ||
                      (has(forest_.right[node]) && !is_leaf(forest_.right[node]));
    return deep || with_pairs_ ? PathChild::inner : PathChild::stump;
  }

  // Nodes that no training row reached share evenly.
  double ratio(std::int32_t node, std::int32_t child) const {
    return forest_.cover[node] > 0 ? forest_.cover[child] / forest_.cover[node] : 0.5;
  }

  const double* value(std::int32_t leaf) const {
    return forest_.value + static_cast<std::size_t>(leaf) * forest_.n_values;
  }

  std::int32_t add_node(std::int32_t node, std::int32_t depth) {
    const std::int32_t player = forest_.player[node];
    PlayerState& state = states_[static_cast<std::size_t>(player)];
    const PlayerState before = state;
    const std::int32_t children[2] = {forest_.left[node], forest_.right[node]};
    const PathChild kinds[2] = {kind(children[0]), kind(children[1])};
    const auto leaf = [&](int side) { return has(children[side]) && is_leaf(children[side]); };

    const auto index = static_cast<std::int32_t>(part_.nodes.size());
    part_.nodes.push_back({
        .test = split_test(forest_, node),
        .player = player,
        .previous = before.depth,
        .child = {-1, -1},
        .others_begin = static_cast<std::int32_t>(part_.others.size() / 2),
        .others_end = 0,
        .lines = static_cast<std::size_t>(next_line_ - part_.lines.data()),
        .kind = {kinds[0], kinds[1]},
        .has_leaf = leaf(0) || leaf(1),
    });
    if (with_pairs_) add_others(player);
    part_.nodes[index].others_end = static_cast<std::int32_t>(part_.others.size() / 2);
    const double ratios[2] = {ratio(node, children[0]), ratio(node, children[1])};
    if (leaf(0) || leaf(1)) {
      const double* const values[2] = {leaf(0) ? value(children[0]) : nullptr,
                                       leaf(1) ? value(children[1]) : nullptr};
      add_leaf_lines(before.share, ratios, values);
    }
    for (int side = 0; side < 2; ++side) {
      if (kinds[side] != PathChild::none) add_edge_lines(before.share, ratios[side], side);
    }

    if (before.depth < 0) path_.push_back(player);
    for (int side = 0; side < 2; ++side) {
      if (kinds[side] == PathChild::none) continue;
      state = {depth, before.share * ratios[side]};
      const std::int32_t child = add_node(children[side], depth + 1);
      part_.nodes[index].child[side] = child;
    }
    if (before.depth < 0) path_.pop_back();
    state = before;
    part_.depth = std::max(part_.depth, depth + 1);
    return index;
  }

  void add_others(std::int32_t player) {
    for (std::int32_t other : path_) {
      if (other == player) continue;
      part_.others.push_back(other);
      part_.others.push_back(states_[static_cast<std::size_t>(other)].depth);
    }
  }

  // With s the product of cover ratios before an edge and s' after it, P is multiplied by
  //     (t + (1 - t) s') / b for rows that take the edge,    b = t + (1 - t) s,
  //     (1 - t) s' / b       for rows that leave the path here,
  //     s' / s               for rows that had left it before,
  // and psi changes, for the first two, by (s - s') / (b (t + (1 - t) s')) and by -1 / (b (1 - t)).
  void add_edge_lines(double share, double ratio, int side) {
    const double after = share * ratio;
    for (std::size_t q = 0; q < rule_->points.size(); ++q) {
      const double t = rule_->points[q], rest = 1 - t;
      const double inverse = 1 / (t + rest * share);
      const double taken = t + rest * after, inverse_taken = 1 / taken;
      PathLine& line = *next_line_++;
      line.factor[side] = taken * inverse;
      line.factor[1 - side] = rest * after * inverse;
      line.factor[2] = ratio;
      line.weight[side] = rule_->weights[q] * (share - after) * inverse * inverse_taken;
      line.weight[1 - side] = rule_->weights[q] * part_.beyond[q] * inverse;
      line.weight[2] = 0;
      line.psi = (1 - after) * inverse_taken;
    }
  }

  // The same, with the leaf's value for S: factor times value, and factor times weight times value.
  // A side that is no leaf has the value 0.
  void add_leaf_lines(double share, const double (&ratios)[2], const double* const (&values)[2]) {
    for (std::size_t k = 0; k < forest_.n_values; ++k) {
      const double c[2] = {values[0] ? values[0][k] : 0.0, values[1] ? values[1][k] : 0.0};
      for (std::size_t q = 0; q < rule_->points.size(); ++q) {
        const double t = rule_->points[q], rest = 1 - t;
        const double inverse = 1 / (t + rest * share);
        const double scale = rule_->weights[q] * inverse * inverse;
        PathLine& line = *next_line_++;
        for (int side = 0; side < 2; ++side) {
          const double mine = share * ratios[side], other = share * ratios[1 - side];
          line.factor[side] =
              (c[side] * (t + rest * mine) + c[1 - side] * (rest * other)) * inverse;
          line.weight[side] = (c[side] * (share - mine) - c[1 - side] * other) * scale;
        }
        line.factor[2] = c[0] * ratios[0] + c[1] * ratios[1];
        line.weight[2] = 0;
      }
    }
  }

  const ForestArrays& forest_;
  const std::int32_t root_;
  const std::int32_t end_;
  const bool with_pairs_;
  const std::int32_t output_;
  std::vector<Below> below_;
  std::vector<std::int32_t> on_path_;  // how many splits of each player are on the path
  std::vector<PlayerState> states_;
  std::vector<std::int32_t> path_;  // the distinct players above
  int most_points_ = 1;
  int index_ = 0;
  const Quadrature* rule_ = nullptr;
  PathPart part_;
  PathLine* next_line_ = nullptr;
};

}  // namespace

void make_path_parts(const ForestArrays& forest, std::size_t tree, bool with_pairs,
                     std::vector<PathPart>& parts) {
  TreeBuilder(forest, tree, with_pairs).build(parts);
}

}  // namespace clearwood
