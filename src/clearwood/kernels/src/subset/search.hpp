// The subset of each size with the least residual sum of squares: leaps and bounds (Furnival and
// Wilson 1974), with the columns ordered anew at each node (Hofmann, Gatu and Kontoghiorghes 2007).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace clearwood {

// Least squares by inner products. Column j belongs to group group[j]; columns of one group stand
// side by side and enter together.
struct SubsetProblem {
  const double* inverse;       // of the columns' inner products, n_columns x n_columns
  const double* coefficients;  // of all columns
  double rss;                  // of all columns
  const std::int32_t* group;
  std::size_t n_columns, n_groups;
  std::size_t largest;  // the greatest number of groups that is wanted
};

// best[k] and sets[k]: the least residual sum of squares of k groups, and which they are, as bits.
// Both hold candidates at the start. Returns the number of nodes visited; `max_nodes` + 1 where the
// search ended before it was complete.
std::uint64_t best_subsets(const SubsetProblem& problem, std::uint64_t max_nodes, double* best,
                           std::uint64_t* sets, const std::function<void()>& pause);

}  // namespace clearwood
