#include "shapley/units.hpp"

#include <algorithm>

namespace clearwood {
namespace {

class TermBuilder {
 public:
  TermBuilder(const ForestArrays& forest, const std::vector<std::int32_t>& way)
      : forest_(forest), next_bit_(way.size()) {
    for (std::size_t k = 0; k < way.size(); ++k) {
      const auto bit = static_cast<std::uint16_t>(1u << k);
      path_.push_back({way[k], bit, bit});
    }
  }

  std::vector<UnitTerm> build(std::int32_t node) && {
    terms_.push_back({rightmost_leaf(node), -1, path_});
    visit(node);
    return std::move(terms_);
  }

 private:
  std::int32_t rightmost_leaf(std::int32_t node) const {
    while (forest_.right[node] >= 0) node = forest_.right[node];
    return node;
  }

  void visit(std::int32_t node) {
    const std::int32_t left = forest_.left[node], right = forest_.right[node];
    if (left < 0) return;
    const auto bit = static_cast<std::uint16_t>(1u << next_bit_++);
    const std::vector<Condition> before = path_;
    ask(forest_.player[node], bit, true);
    terms_.push_back({rightmost_leaf(left), rightmost_leaf(right), path_});
    visit(left);
    path_ = before;
    ask(forest_.player[node], bit, false);
    visit(right);
    path_ = before;
  }

  void ask(std::int32_t player, std::uint16_t bit, bool left) {
    auto known = std::find_if(path_.begin(), path_.end(),
                              [&](const Condition& c) { return c.player == player; });
    if (known == path_.end()) known = path_.insert(path_.end(), {player, 0, 0});
    known->mask |= bit;
    if (left) known->want |= bit;
  }

  const ForestArrays& forest_;
  std::size_t next_bit_;
  std::vector<Condition> path_;
  std::vector<UnitTerm> terms_;
};

}  // namespace

std::vector<UnitTerm> unit_terms(const ForestArrays& forest, std::int32_t node,
                                 const std::vector<std::int32_t>& way) {
  return TermBuilder(forest, way).build(node);
}

Units::Units(const ForestArrays& forest)
    : trees_(forest.n_trees), first_(forest.n_nodes), last_(forest.n_nodes),
      inner_nodes_(forest.n_nodes), height_(forest.n_nodes) {
  for (std::size_t node = forest.n_nodes; node-- > 0;) {  // children come after their parent
    const std::int32_t left = forest.left[node], right = forest.right[node];
    if (left < 0) continue;
    inner_nodes_[node] = 1 + inner_nodes_[left] + inner_nodes_[right];
    height_[node] = 1 + std::max(height_[left], height_[right]);
  }
  std::vector<std::int32_t> players;
  for (std::size_t index = 0; index < forest.n_trees; ++index) {
    TreeUnits& tree = trees_[index];
    cut(forest, forest.roots[index], players, tree);
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

bool Units::is_unit(const ForestArrays& forest, std::int32_t node, std::size_t n_players) const {
  if (forest.left[node] < 0) return true;
  const auto bits = static_cast<int>(n_players) + inner_nodes_[node];
  const bool chain = inner_nodes_[node] == height_[node] && height_[node] <= most_inner_of_chain;
  return bits <= (chain ? most_dense_bits : most_merged_bits);
}

void Units::cut(const ForestArrays& forest, std::int32_t node, std::vector<std::int32_t>& players,
                TreeUnits& tree) {
  first_[node] = static_cast<std::int32_t>(tree.units.size());
  if (is_unit(forest, node, players.size())) {
    tree.units.push_back(
        {node, static_cast<std::int32_t>(players.size()) + inner_nodes_[node], 0});
  } else {
    const std::int32_t player = forest.player[node];
    const bool fresh = std::find(players.begin(), players.end(), player) == players.end();
    if (fresh) players.push_back(player);
    cut(forest, forest.left[node], players, tree);
    cut(forest, forest.right[node], players, tree);
    if (fresh) players.pop_back();
  }
  last_[node] = static_cast<std::int32_t>(tree.units.size());
}

}  // namespace clearwood
