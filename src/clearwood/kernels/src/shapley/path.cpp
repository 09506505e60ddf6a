// Path-dependent Shapley values by quadrature, a few vectors of rows at a time.
//
// For a leaf with value c let o_j be 1 if the row satisfies all of player j's questions on the
// path, and r_j the product of their cover ratios. The leaf's game has the multilinear extension c
// * prod_j (t o_j + (1 - t) r_j), and the Shapley value is the integral of its derivative along the
// diagonal (Owen 1972):
//     phi_i = c * int_0^1 (o_i - r_i) prod_{j != i} (t o_j + (1 - t) r_j) dt.
// With d players on the path this is a polynomial of degree d - 1, for which ceil(d / 2)
// Gauss-Legendre points are exact. Likewise the interaction of i and j has the integrand with (o_i
// - r_i)(o_j - r_j).
//
// The walk carries P(t), the product so far. An edge changes one factor, from (o, r) to (o', r
// rho): P is multiplied by new / old, which can take three values only, and these are computed
// beforehand. On the way up S(t) is the sum of c P(t) over the leaves below. With psi = (o - r) /
// (t o + (1-t) r), phi_i sums psi_i at the leaf times c P; as psi_i changes only at edges of player
// i, every edge adds (psi after - psi before) * S. Those weights take three values too, one of them
// zero. Leaves are never visited: what they add is a line of their parent's; and a stump, a node
// that has leaves only, is walked with its parent, so that its P and S stay in registers. There is
// no division and no branch on data here.
#include "shapley/path.hpp"

#include "shapley/lanes.hpp"

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

static_assert(rows_per_walk == path_rows);
constexpr int V = vectors_per_walk;

// Scratch: vectors of a depth lie side by side, those of one vector of rows point by point.
struct Stacks {
  Lanes* product;   // depth x V x n_points: P
  Lanes* sum;       // depth x 2 sides x n_values x V x n_points: S of the node on that side
  Lanes* psi;       // depth x V x n_points: psi of the edge taken at that depth
  Lanes* change;    // n_values x V x n_points: (psi after - psi before) * S of one node's edges
  Rows* satisfied;  // depth: rows that satisfy the player's questions including that edge
};

template <class T>
T* take(char*& at, std::size_t n) {
  T* const taken = reinterpret_cast<T*>(at);
  at += (n * sizeof(T) + 63) / 64 * 64;
  return taken;
}

std::size_t lay_out(const PathTree& tree, char* base, Stacks& stacks) {
  const std::size_t points = static_cast<std::size_t>(tree.n_points) * V;
  const std::size_t depth = static_cast<std::size_t>(tree.depth);
  const std::size_t values = static_cast<std::size_t>(tree.n_values);
  char* at = base;
  stacks.product = take<Lanes>(at, depth * points);
  stacks.sum = take<Lanes>(at, depth * 2 * values * points);
  stacks.psi = take<Lanes>(at, depth * points);
  stacks.change = take<Lanes>(at, values * points);
  stacks.satisfied = take<Rows>(at, depth);
  return static_cast<std::size_t>(at - base);
}

template <bool with_pairs>
class Walk {
 public:
  Walk(const PathTree& tree, const Code* codes, std::int32_t first_output, std::int32_t n_outputs,
       const Stacks& stacks, double* shapley, double* pairs)
      : tree_(tree), codes_(codes), first_output_(first_output), n_outputs_(n_outputs),
        n_points_(tree.n_points), stacks_(stacks), shapley_(reinterpret_cast<Lanes*>(shapley)),
        pairs_(reinterpret_cast<Lanes*>(pairs)) {}

  void run() {
    for (int k = 0; k < V * n_points_; ++k) stacks_.product[k] = 1.0 - Lanes{};
    visit(0, 0, 0);
  }

 private:
  // Rows that go left or right at a node, having satisfied the earlier questions to its player.
  struct Sides {
    Rows left, right;
  };

  // A child with the lines of its edge.
  template <PathChild kind>
  struct Edge {
    const PathLine* lines;
    const Lanes* sum;          // inner: S of the child
    const PathLine* leaves;    // stump: its leaves
    Sides sides;               // stump: where rows go there
    std::int32_t player;       // stump: of its question
  };

  Sides sides_of(const PathNode& node) const {
    const Rows goes = goes_left(codes_ + node.test.column * rows_per_walk, node.test);
    const Rows before = node.previous < 0 ? everyone() : stacks_.satisfied[node.previous];
    return {both(before, goes), first_only(before, goes)};
  }

  Lanes* sum_at(int depth, int side) const {
    return stacks_.sum + (depth * 2 + side) * tree_.n_values * V * n_points_;
  }

  // Leaves S of the node in sum_at(depth, side).
  void visit(std::int32_t index, int depth, int side) {
    const PathNode& node = tree_.nodes[index];
    const Sides sides = sides_of(node);
    const PathLine* edge = edges(node);
    for (int child = 0; child < 2; ++child) {
      if (node.kind[child] == PathChild::inner) {
        const Rows& taken = child == 0 ? sides.left : sides.right;
        stacks_.satisfied[depth] = taken;
        descend(edge, depth, sides, taken);
        visit(node.child[child], depth + 1, child);
      }
      if (node.kind[child] != PathChild::none) edge += n_points_;
    }
    if (node.has_leaf) {
      finish_first<true>(node, depth, side, sides);
    } else {
      finish_first<false>(node, depth, side, sides);
    }
  }

  const PathLine* edges(const PathNode& node) const {
    return tree_.lines + node.lines + (node.has_leaf ? tree_.n_values * n_points_ : 0);
  }

  void descend(const PathLine* edge, int depth, const Sides& sides,
               [[maybe_unused]] const Rows& taken) {
    for (int v = 0; v < V; ++v) {
      const Places at = places(sides.left, sides.right, v);
      const Lanes* product = stacks_.product + (depth * V + v) * n_points_;
      Lanes* next = stacks_.product + ((depth + 1) * V + v) * n_points_;
      for (int q = 0; q < n_points_; ++q) next[q] = product[q] * factor(load(edge[q]), at);
      if constexpr (with_pairs) {
        Lanes* psi = stacks_.psi + (depth * V + v) * n_points_;
        for (int q = 0; q < n_points_; ++q) {
          psi[q] = choose(taken, v, edge[q].psi, tree_.beyond[q]);
        }
      }
    }
  }

  // Which code finishes a node depends on what its children are.
  template <bool has_leaf>
  void finish_first(const PathNode& node, int depth, int side, const Sides& sides) {
    const PathLine* lines = edges(node);
    switch (node.kind[0]) {
      case PathChild::none:
        return finish_second<has_leaf>(node, depth, side, sides,
                                       edge<PathChild::none>(node, 0, lines, depth, sides), lines);
      case PathChild::stump:
        return finish_second<has_leaf>(node, depth, side, sides,
                                       edge<PathChild::stump>(node, 0, lines, depth, sides),
                                       lines + n_points_);
      case PathChild::inner:
        return finish_second<has_leaf>(node, depth, side, sides,
                                       edge<PathChild::inner>(node, 0, lines, depth, sides),
                                       lines + n_points_);
    }
  }

  template <bool has_leaf, PathChild first>
  void finish_second(const PathNode& node, int depth, int side, const Sides& sides,
                     const Edge<first>& left, const PathLine* lines) {
    switch (node.kind[1]) {
      case PathChild::none:
        return finish<has_leaf>(node, depth, side, sides, left,
                                edge<PathChild::none>(node, 1, lines, depth, sides));
      case PathChild::stump:
        return finish<has_leaf>(node, depth, side, sides, left,
                                edge<PathChild::stump>(node, 1, lines, depth, sides));
      case PathChild::inner:
        return finish<has_leaf>(node, depth, side, sides, left,
                                edge<PathChild::inner>(node, 1, lines, depth, sides));
    }
  }

  template <PathChild kind>
  Edge<kind> edge(const PathNode& node, int child, const PathLine* lines, int depth,
                  [[maybe_unused]] const Sides& sides) {
    Edge<kind> made;
    made.lines = lines;
    if constexpr (kind == PathChild::inner) made.sum = sum_at(depth + 1, child);
    if constexpr (kind == PathChild::stump) {
      const PathNode& stump = tree_.nodes[node.child[child]];
      stacks_.satisfied[depth] = child == 0 ? sides.left : sides.right;
      made.leaves = tree_.lines + stump.lines;
      made.sides = sides_of(stump);
      made.player = stump.player;
    }
    return made;
  }

  // S of a node and the change that its edges make, from P and what its children left.
  template <bool has_leaf, PathChild first, PathChild second>
  void finish(const PathNode& node, int depth, int side, const Sides& sides,
              const Edge<first>& left, const Edge<second>& right) {
    const PathLine* leaves = tree_.lines + node.lines;
    Lanes* sum = sum_at(depth, side);
    for (int k = 0; k < tree_.n_values; ++k) {
      const int output = first_output_ + k;
      for (int v = 0; v < V; ++v) {
        const Places at = places(sides.left, sides.right, v);
        const Places at_left = stump_places(left, v, at), at_right = stump_places(right, v, at);
        const Lanes* product = stacks_.product + (depth * V + v) * n_points_;
        const int first_of_vector = (k * V + v) * n_points_;
        Lanes total{}, left_total{}, right_total{};
        for (int q = 0; q < n_points_; ++q) {
          Lanes p{}, s{}, changed{};
          if constexpr (has_leaf || first == PathChild::stump || second == PathChild::stump) {
            p = product[q];
          }
          if constexpr (has_leaf) {
            const Line line = load(leaves[k * n_points_ + q]);
            s = p * factor(line, at);
            changed = p * weight(line, at);
          }
          add_edge(left, k, q, first_of_vector, p, at, at_left, s, changed, left_total);
          add_edge(right, k, q, first_of_vector, p, at, at_right, s, changed, right_total);
          sum[first_of_vector + q] = s;
          if constexpr (with_pairs) stacks_.change[first_of_vector + q] = changed;
          total += changed;
        }
        shapley_[(node.player * n_outputs_ + output) * V + v] += total;
        if constexpr (first == PathChild::stump) {
          shapley_[(left.player * n_outputs_ + output) * V + v] += left_total;
        }
        if constexpr (second == PathChild::stump) {
          shapley_[(right.player * n_outputs_ + output) * V + v] += right_total;
        }
      }
      if constexpr (with_pairs) {
        for (std::int32_t other = node.others_begin; other < node.others_end; ++other) {
          credit_pair(node.player, tree_.others[2 * other], tree_.others[2 * other + 1], output,
                      stacks_.change + k * V * n_points_);
        }
      }
    }
  }

  template <PathChild kind>
  static Places stump_places(const Edge<kind>& edge, int v, const Places& otherwise) {
    if constexpr (kind == PathChild::stump) return places(edge.sides.left, edge.sides.right, v);
    return otherwise;
  }

  // What is below one edge at one point: adds to S and to the change of the node's player; for a
  // stump also to that of its own.
  template <PathChild kind>
  void add_edge(const Edge<kind>& edge, [[maybe_unused]] int k, int q, int first_of_vector,
                const Lanes& p, const Places& at, const Places& at_stump, Lanes& s, Lanes& changed,
                Lanes& stump_total) const {
    if constexpr (kind == PathChild::inner) {
      const Lanes below = edge.sum[first_of_vector + q];
      s += below;
      changed += below * weight(load(edge.lines[q]), at);
    }
    if constexpr (kind == PathChild::stump) {
      const Line line = load(edge.lines[q]), leaves = load(edge.leaves[k * n_points_ + q]);
      const Lanes entered = p * factor(line, at);
      const Lanes below = entered * factor(leaves, at_stump);
      s += below;
      changed += below * weight(line, at);
      stump_total += entered * weight(leaves, at_stump);
    }
  }

  // Adds the integral over t to a pair. The quadrature's weights are part of the lines.
  void credit_pair(std::int32_t player, std::int32_t other, int other_depth, int output,
                   const Lanes* change) {
    const std::int32_t i = player > other ? player : other;
    const std::int32_t j = player > other ? other : player;
    Lanes* pair = pairs_ + ((i * (i - 1) / 2 + j) * n_outputs_ + output) * V;
    const Lanes* psi = stacks_.psi + other_depth * V * n_points_;
    for (int v = 0; v < V; ++v, psi += n_points_, change += n_points_) {
      Lanes total{};
      for (int q = 0; q < n_points_; ++q) total += psi[q] * change[q];
      pair[v] += total;
    }
  }

  const PathTree& tree_;
  const Code* codes_;
  const std::int32_t first_output_;
  const std::int32_t n_outputs_;
  const int n_points_;
  const Stacks stacks_;
  Lanes* const shapley_;
  Lanes* const pairs_;
};

}  // namespace

std::size_t path_scratch_size(const PathTree& tree) noexcept {
  Stacks stacks;
  return lay_out(tree, nullptr, stacks);
}

void path_walk(const PathTree& tree, const Code* codes, std::int32_t first_output,
               std::int32_t n_outputs, void* scratch, double* shapley, double* pairs) noexcept {
  Stacks stacks;
  lay_out(tree, static_cast<char*>(scratch), stacks);
  if (pairs != nullptr) {
    Walk<true>(tree, codes, first_output, n_outputs, stacks, shapley, pairs).run();
  } else {
    Walk<false>(tree, codes, first_output, n_outputs, stacks, shapley, pairs).run();
  }
}

}  // namespace clearwood::CLEARWOOD_LEVEL
