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
// zero. Leaves are never visited: what they add is a table of their parent. There is no division
// and no branch on data here.
#include "shapley/path.hpp"

#include "shapley/lanes.hpp"

namespace clearwood::CLEARWOOD_LEVEL {
namespace {

static_assert(rows_per_walk == path_rows);
constexpr int V = vectors_per_block;

// Scratch: one row of vectors per depth.
struct Stacks {
  Lanes* product;    // depth x n_points x V: P
  Lanes* sum;        // depth x n_values x n_points x V: S
  Lanes* change;     // depth x n_values x n_points x V: (psi after - psi before) * S of the node's
                     // edges; summed over the points, in the first V, unless pairs need them apart
  Lanes* psi;        // depth x n_points x V: psi of the edge taken at that depth
  Mask* satisfied;   // depth x V: rows that satisfy the player's questions including that edge
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
  stacks.sum = take<Lanes>(at, depth * values * points);
  stacks.change = take<Lanes>(at, depth * values * points);
  stacks.psi = take<Lanes>(at, depth * points);
  stacks.satisfied = take<Mask>(at, depth * V);
  return static_cast<std::size_t>(at - base);
}

// n_points is a constant for shallow trees, so that the loops over it unroll; 0 means read it.
template <int n_points, bool with_pairs>
class Walk {
 public:
  Walk(const PathTree& tree, const Code* codes, std::int32_t first_output, std::int32_t n_outputs,
       const Stacks& stacks, double* shapley, double* pairs)
      : tree_(tree), codes_(codes), first_output_(first_output), n_outputs_(n_outputs),
        stacks_(stacks), shapley_(reinterpret_cast<Lanes*>(shapley)),
        pairs_(reinterpret_cast<Lanes*>(pairs)) {}

  void run() {
    Lanes* product = stacks_.product;
    for (int k = 0; k < points() * V; ++k) product[k] = 1.0 - Lanes{};
    visit(0, 0);
  }

 private:
  int points() const { return n_points > 0 ? n_points : tree_.n_points; }
  int values() const { return tree_.n_values; }

  void visit(std::int32_t index, int depth) {
    const PathNode& node = tree_.nodes[index];
    Mask left[V], right[V];
    for (int v = 0; v < V; ++v) {
      const Code* code = codes_ + node.test.column * rows_per_walk + v * lane_count;
      const Mask goes = goes_left(code, node.test);
      const Mask before = node.previous < 0 ? everyone : stacks_.satisfied[node.previous * V + v];
      left[v] = both(before, goes);
      right[v] = first_only(before, goes);
    }
    const double* table = tree_.tables + node.table;
    if (node.has_leaf) {
      add_leaves(table, depth, left, right);
      table += path_leaf_entry * static_cast<std::size_t>(values() * points());
    } else {
      clear(depth);
    }
    for (int side = 0; side < 2; ++side) {
      if (node.child[side] < 0) continue;
      const Mask* taken = side == 0 ? left : right;
      for (int v = 0; v < V; ++v) stacks_.satisfied[depth * V + v] = taken[v];
      descend(table, depth, left, right, taken);
      visit(node.child[side], depth + 1);
      ascend(table, depth, left, right);
      table += path_edge_entry * static_cast<std::size_t>(points());
    }
    credit(node, depth);
  }

  int at(int k, int q) const { return (k * points() + q) * V; }
  Lanes* sum_at(int depth) { return stacks_.sum + depth * at(values(), 0); }
  Lanes* change_at(int depth) { return stacks_.change + depth * at(values(), 0); }

  void clear(int depth) {
    Lanes* sum = sum_at(depth);
    Lanes* change = change_at(depth);
    for (int k = 0; k < at(values(), 0); ++k) sum[k] = change[k] = Lanes{};
  }

  void add_leaves(const double* table, int depth, const Mask* left, const Mask* right) {
    const Lanes* product = stacks_.product + depth * points() * V;
    Lanes* sum = sum_at(depth);
    Lanes* change = change_at(depth);
    for (int k = 0; k < values(); ++k) {
      Lanes total[V] = {};
      for (int q = 0; q < points(); ++q, table += path_leaf_entry) {
        for (int v = 0; v < V; ++v) {
          const Lanes p = product[q * V + v];
          sum[at(k, q) + v] = p * choose3(left[v], right[v], table[0], table[1], table[2]);
          const Lanes changed = p * choose2(left[v], right[v], table[3], table[4]);
          if constexpr (with_pairs) change[at(k, q) + v] = changed;
          total[v] += changed;
        }
      }
      if constexpr (!with_pairs) store(total, change + at(k, 0));
    }
  }

  void descend(const double* table, int depth, const Mask* left, const Mask* right,
               [[maybe_unused]] const Mask* taken) {
    const Lanes* product = stacks_.product + depth * points() * V;
    Lanes* next = stacks_.product + (depth + 1) * points() * V;
    for (int q = 0; q < points(); ++q, table += path_edge_entry) {
      for (int v = 0; v < V; ++v) {
        next[q * V + v] =
            product[q * V + v] * choose3(left[v], right[v], table[0], table[1], table[2]);
        if constexpr (with_pairs) {
          stacks_.psi[(depth * points() + q) * V + v] =
              choose(taken[v], table[5], tree_.beyond[q] - Lanes{});
        }
      }
    }
  }

  void ascend(const double* edge, int depth, const Mask* left, const Mask* right) {
    const Lanes* below = sum_at(depth + 1);
    Lanes* sum = sum_at(depth);
    Lanes* change = change_at(depth);
    for (int k = 0; k < values(); ++k) {
      Lanes total[V];
      store(change + at(k, 0), total);
      for (int q = 0; q < points(); ++q) {
        const double* table = edge + path_edge_entry * static_cast<std::size_t>(q);
        for (int v = 0; v < V; ++v) {
          const Lanes s = below[at(k, q) + v];
          sum[at(k, q) + v] += s;
          const Lanes changed = s * choose2(left[v], right[v], table[3], table[4]);
          if constexpr (with_pairs) change[at(k, q) + v] += changed;
          total[v] += changed;
        }
      }
      if constexpr (!with_pairs) store(total, change + at(k, 0));
    }
  }

  static void store(const Lanes* from, Lanes* to) {
    for (int v = 0; v < V; ++v) to[v] = from[v];
  }

  // Hands the integral over t of the node's change to its player and to the pairs it makes with the
  // players above. The quadrature's weights are part of the tables.
  void credit(const PathNode& node, int depth) {
    for (int k = 0; k < values(); ++k) {
      const Lanes* change = change_at(depth) + at(k, 0);
      const int output = first_output_ + k;
      Lanes* own = shapley_ + (node.player * n_outputs_ + output) * V;
      for (int q = 0; q < (with_pairs ? points() : 1); ++q) {
        for (int v = 0; v < V; ++v) own[v] += change[q * V + v];
      }
      if constexpr (with_pairs) {
        for (std::int32_t other = node.others_begin; other < node.others_end; ++other) {
          credit_pair(node.player, tree_.others[2 * other], tree_.others[2 * other + 1], output,
                      change);
        }
      }
    }
  }

  void credit_pair(std::int32_t player, std::int32_t other, int other_depth, int output,
                   const Lanes* change) {
    const std::int32_t i = player > other ? player : other;
    const std::int32_t j = player > other ? other : player;
    Lanes* pair = pairs_ + ((i * (i - 1) / 2 + j) * n_outputs_ + output) * V;
    const Lanes* psi = stacks_.psi + other_depth * points() * V;
    for (int q = 0; q < points(); ++q) {
      for (int v = 0; v < V; ++v) pair[v] += psi[q * V + v] * change[q * V + v];
    }
  }

  const PathTree& tree_;
  const Code* codes_;
  const std::int32_t first_output_;
  const std::int32_t n_outputs_;
  const Stacks stacks_;
  Lanes* const shapley_;
  Lanes* const pairs_;
};

template <int n_points>
void walk(const PathTree& tree, const Code* codes, std::int32_t first_output,
          std::int32_t n_outputs, const Stacks& stacks, double* shapley, double* pairs) {
  if (pairs != nullptr) {
    Walk<n_points, true>(tree, codes, first_output, n_outputs, stacks, shapley, pairs).run();
  } else {
    Walk<n_points, false>(tree, codes, first_output, n_outputs, stacks, shapley, pairs).run();
  }
}

}  // namespace

std::size_t path_scratch_size(const PathTree& tree) noexcept {
  Stacks stacks;
  return lay_out(tree, nullptr, stacks);
}

void path_walk(const PathTree& tree, const Code* codes, std::int32_t first_output,
               std::int32_t n_outputs, void* scratch, double* shapley, double* pairs) noexcept {
  Stacks stacks;
  lay_out(tree, static_cast<char*>(scratch), stacks);
  const auto go = [&](auto chosen) {
    chosen(tree, codes, first_output, n_outputs, stacks, shapley, pairs);
  };
  switch (tree.n_points) {
    case 1: return go(walk<1>);
    case 2: return go(walk<2>);
    case 3: return go(walk<3>);
    case 4: return go(walk<4>);
    case 5: return go(walk<5>);
    case 6: return go(walk<6>);
    case 7: return go(walk<7>);
    case 8: return go(walk<8>);
    default: return go(walk<0>);
  }
}

}  // namespace clearwood::CLEARWOOD_LEVEL
