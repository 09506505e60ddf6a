#include "subset/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace clearwood {
namespace {

constexpr std::uint64_t kNodesBetweenPauses = 1024;
// A bound must lie below the best by more than rounding.
constexpr double kSlack = 1e-12;

// A set of groups, the inverse of its inner products and its coefficients. The first `fixed` groups
// stay in every subset below this node.
struct Node {
  std::vector<std::int32_t> groups;
  std::vector<std::size_t> start;  // of each group's columns, and their number at the end
  std::vector<double> inverse, coefficients, increase;
  double rss = 0;
  std::size_t fixed = 0;
  std::uint64_t set = 0;

  std::size_t size() const { return start.back(); }
};

class Search {
 public:
  Search(const SubsetProblem& problem, std::uint64_t max_nodes, double* best, std::uint64_t* sets,
         const std::function<void()>& pause)
      : largest_(problem.largest), max_nodes_(max_nodes), best_(best), sets_(sets), pause_(pause) {
    nodes_.resize(problem.n_groups + 1);
    Node& root = nodes_[0];
    for (std::size_t j = 0; j < problem.n_columns; ++j) {
      if (j == 0 || problem.group[j] != problem.group[j - 1]) {
        root.groups.push_back(problem.group[j]);
        root.start.push_back(j);
        root.set |= std::uint64_t{1} << problem.group[j];
      }
    }
    root.start.push_back(problem.n_columns);
    root.inverse.assign(problem.inverse, problem.inverse + problem.n_columns * problem.n_columns);
    root.coefficients.assign(problem.coefficients, problem.coefficients + problem.n_columns);
    root.rss = problem.rss;
    scratch_.resize(problem.n_columns * problem.n_columns + 2 * problem.n_columns);
  }

  std::uint64_t run() {
    record(nodes_[0].groups.size(), nodes_[0].rss, nodes_[0].set);
    visit(0);
    return is_cut_ ? max_nodes_ + 1 : visited_;
  }

 private:
  void record(std::size_t size, double rss, std::uint64_t set) {
    if (size <= largest_ && rss < best_[size]) {
      best_[size] = rss;
      sets_[size] = set;
    }
  }

  // Solves block * x = right for a group's diagonal block of the inverse, by Cholesky.
  void solve_block(const Node& node, std::size_t at, std::vector<double>& right,
                   std::size_t n_right) {
    const std::size_t first = node.start[at], width = node.start[at + 1] - first, n = node.size();
    factor_.assign(width * width, 0.0);
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = node.inverse[(first + i) * n + first + j];
        for (std::size_t k = 0; k < j; ++k) sum -= factor_[i * width + k] * factor_[j * width + k];
        factor_[i * width + j] =
            i == j ? std::sqrt(std::max(sum, std::numeric_limits<double>::min()))
                   : sum / factor_[j * width + j];
      }
    }
    for (std::size_t c = 0; c < n_right; ++c) {
      for (std::size_t i = 0; i < width; ++i) {
        double sum = right[i * n_right + c];
        for (std::size_t k = 0; k < i; ++k) sum -= factor_[i * width + k] * right[k * n_right + c];
        right[i * n_right + c] = sum / factor_[i * width + i];
      }
      for (std::size_t i = width; i-- > 0;) {
        double sum = right[i * n_right + c];
        for (std::size_t k = i + 1; k < width; ++k) {
          sum -= factor_[k * width + i] * right[k * n_right + c];
        }
        right[i * n_right + c] = sum / factor_[i * width + i];
      }
    }
  }

  // How much the residual sum of squares grows without a group.
  double increase_of(const Node& node, std::size_t at) {
    const std::size_t first = node.start[at], width = node.start[at + 1] - first, n = node.size();
    if (width == 1) {
      const double b = node.coefficients[first];
      return b * b / node.inverse[first * n + first];
    }
    right_.assign(node.coefficients.begin() + static_cast<std::ptrdiff_t>(first),
                  node.coefficients.begin() + static_cast<std::ptrdiff_t>(first + width));
    solve_block(node, at, right_, 1);
    double sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum += right_[i] * node.coefficients[first + i];
    return sum;
  }

  // Puts free groups whose loss costs most first, so that they are fixed in most children.
  void reorder(Node& node) {
    const std::size_t n_groups = node.groups.size(), n = node.size();
    order_.resize(n_groups);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(
        order_.begin() + static_cast<std::ptrdiff_t>(node.fixed), order_.end(),
        [&](std::size_t a, std::size_t b) { return node.increase[a] > node.increase[b]; });
    columns_.clear();
    for (std::size_t at : order_) {
      for (std::size_t j = node.start[at]; j < node.start[at + 1]; ++j) columns_.push_back(j);
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        scratch_[i * n + j] = node.inverse[columns_[i] * n + columns_[j]];
      }
    }
    std::copy_n(scratch_.begin(), n * n, node.inverse.begin());
    for (std::size_t i = 0; i < n; ++i) scratch_[i] = node.coefficients[columns_[i]];
    std::copy_n(scratch_.begin(), n, node.coefficients.begin());
    Node old;
    old.groups = node.groups;
    old.start = node.start;
    old.increase = node.increase;
    std::size_t start = 0;
    for (std::size_t k = 0; k < n_groups; ++k) {
      node.groups[k] = old.groups[order_[k]];
      node.increase[k] = old.increase[order_[k]];
      node.start[k] = start;
      start += old.start[order_[k] + 1] - old.start[order_[k]];
    }
  }

  // Makes the child of a node without one group; the groups before it are fixed.
  void drop(const Node& node, std::size_t at, Node& child) {
    const std::size_t first = node.start[at], width = node.start[at + 1] - first, n = node.size();
    const std::size_t m = n - width;
    child.groups = node.groups;
    child.groups.erase(child.groups.begin() + static_cast<std::ptrdiff_t>(at));
    child.start.clear();
    for (std::size_t k = 0; k <= node.groups.size(); ++k) {
      if (k != at) child.start.push_back(k < at ? node.start[k] : node.start[k] - width);
    }
    child.set = node.set & ~(std::uint64_t{1} << node.groups[at]);
    child.rss = node.rss + node.increase[at];
    child.fixed = at;
    // X = (block)^-1 (block's rows of the inverse), with the coefficients as one column more
    right_.resize(width * (m + 1));
    const auto old = [&](std::size_t j) { return j < first ? j : j + width; };
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        right_[i * (m + 1) + j] = node.inverse[(first + i) * n + old(j)];
      }
      right_[i * (m + 1) + m] = node.coefficients[first + i];
    }
    solve_block(node, at, right_, m + 1);
    child.inverse.resize(m * m);
    child.coefficients.resize(m);
    for (std::size_t i = 0; i < m; ++i) {
      const double* row = &node.inverse[old(i) * n];
      for (std::size_t j = 0; j < m; ++j) child.inverse[i * m + j] = row[old(j)];
      child.coefficients[i] = node.coefficients[old(i)];
      for (std::size_t k = 0; k < width; ++k) {
        const double factor = row[first + k];
        for (std::size_t j = 0; j < m; ++j) {
          child.inverse[i * m + j] -= factor * right_[k * (m + 1) + j];
        }
        child.coefficients[i] -= factor * right_[k * (m + 1) + m];
      }
    }
  }

  // Whether some subset below could be the best of its size.
  bool may_improve(double rss, std::size_t least, std::size_t most) const {
    for (std::size_t k = std::max<std::size_t>(least, 1); k <= std::min(most, largest_); ++k) {
      if (rss < best_[k] * (1 - kSlack)) return true;
    }
    return false;
  }

  void visit(std::size_t depth) {
    Node& node = nodes_[depth];
    const std::size_t n_groups = node.groups.size();
    if (is_cut_ || n_groups == 0) return;
    if (visited_ == max_nodes_) {
      is_cut_ = true;
      return;
    }
    if (++visited_ % kNodesBetweenPauses == 0) pause_();
    node.increase.assign(n_groups, 0.0);
    for (std::size_t at = node.fixed; at < n_groups; ++at) {
      node.increase[at] = increase_of(node, at);
      record(n_groups - 1, node.rss + node.increase[at],
             node.set & ~(std::uint64_t{1} << node.groups[at]));
    }
    reorder(node);
    for (std::size_t at = n_groups; at-- > node.fixed;) {
      // below the child are subsets of at to n_groups - 2 groups; with at = n_groups - 1 none
      if (at + 2 > n_groups || at > largest_) continue;
      const double rss = node.rss + node.increase[at];
      if (!may_improve(rss, at, n_groups - 2)) continue;
      drop(node, at, nodes_[depth + 1]);
      visit(depth + 1);
    }
  }

  std::size_t largest_;
  std::uint64_t max_nodes_, visited_ = 0;
  bool is_cut_ = false;
  double* best_;
  std::uint64_t* sets_;
  const std::function<void()>& pause_;
  std::vector<Node> nodes_;
  std::vector<double> scratch_, right_, factor_;
  std::vector<std::size_t> order_, columns_;
};

}  // namespace

std::uint64_t best_subsets(const SubsetProblem& problem, std::uint64_t max_nodes, double* best,
                           std::uint64_t* sets, const std::function<void()>& pause) {
  return Search(problem, max_nodes, best, sets, pause).run();
}

}  // namespace clearwood
