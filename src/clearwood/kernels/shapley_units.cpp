#include "shapley_units.hpp"

#include <algorithm>

namespace clearwood {
namespace {

class ShapeBuilder {
 public:
  ShapeBuilder(const ForestArrays& forest, const std::vector<std::int32_t>& way)
      : forest_(forest), n_way_(way.size()) {
    for (std::size_t k = 0; k < way.size(); ++k) {
      const auto bit = static_cast<std::uint16_t>(1u << k);
      path_.push_back({way[k], bit, bit});
    }
  }

  UnitShape build(std::int32_t node) && {
    visit(node);
    return std::move(shape_);
  }

 private:
  void visit(std::int32_t node) {
    if (forest_.left[node] < 0) {
      shape_.leaves.push_back({node, path_});
      return;
    }
    const auto bit = static_cast<std::uint16_t>(1u << (n_way_ + shape_.inner_nodes.size()));
    shape_.inner_nodes.push_back(node);
    const std::vector<Condition> before = path_;
    for (bool left : {true, false}) {
      ask(forest_.player[node], bit, left);
      visit(left ? forest_.left[node] : forest_.right[node]);
      path_ = before;
    }
  }

  void ask(std::int32_t player, std::uint16_t bit, bool left) {
    auto known = std::find_if(path_.begin(), path_.end(),
                              [&](const Condition& c) { return c.player == player; });
    if (known == path_.end()) known = path_.insert(path_.end(), {player, 0, 0});
    known->mask |= bit;
    if (left) known->want |= bit;
  }

  const ForestArrays& forest_;
  const std::size_t n_way_;
  std::vector<Condition> path_;
  UnitShape shape_;
};

}  // namespace

UnitShape unit_shape(const ForestArrays& forest, std::int32_t node,
                     const std::vector<std::int32_t>& way) {
  return ShapeBuilder(forest, way).build(node);
}

Units::Units(const ForestArrays& forest)
    : trees_(forest.n_trees), first_(forest.n_nodes), last_(forest.n_nodes) {
  // How many inner nodes lie at or below each node; children come after their parent.
  std::vector<std::int32_t> inner_nodes(forest.n_nodes);
  for (std::size_t node = forest.n_nodes; node-- > 0;) {
    if (forest.left[node] < 0) continue;
    inner_nodes[node] = 1 + inner_nodes[forest.left[node]] + inner_nodes[forest.right[node]];
  }
  std::vector<std::int32_t> players;
  for (std::size_t index = 0; index < forest.n_trees; ++index) {
    TreeUnits& tree = trees_[index];
    cut(forest, forest.roots[index], players, inner_nodes, tree);
    for (Unit& unit : tree.units) {
      tree.wide = tree.wide || unit.bits > most_dense_bits;
      unit.counts = tree.n_counts;
      if (!tree.wide) tree.n_counts += std::size_t(1) << unit.bits;
    }
    tree.counted = !tree.wide && tree.n_counts <= most_counts_per_tree;
    tree.counts = n_counts_;
    if (tree.counted) n_counts_ += tree.n_counts;
    needs_rows_ = needs_rows_ || !tree.counted;
  }
}

void Units::cut(const ForestArrays& forest, std::int32_t node, std::vector<std::int32_t>& players,
                const std::vector<std::int32_t>& inner_nodes, TreeUnits& tree) {
  first_[node] = static_cast<std::int32_t>(tree.units.size());
  const auto bits = static_cast<std::int32_t>(players.size()) + inner_nodes[node];
  if (forest.left[node] < 0 || bits <= most_merged_bits) {
    tree.units.push_back({node, bits, 0});
  } else {
    const std::int32_t player = forest.player[node];
    const bool fresh = std::find(players.begin(), players.end(), player) == players.end();
    if (fresh) players.push_back(player);
    cut(forest, forest.left[node], players, inner_nodes, tree);
    cut(forest, forest.right[node], players, inner_nodes, tree);
    if (fresh) players.pop_back();
  }
  last_[node] = static_cast<std::int32_t>(tree.units.size());
}

}  // namespace clearwood
