// Lasso paths of generalised linear models by coordinate descent, folds in step.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clearwood {

enum class LassoFamily : int { gaussian = 0, logistic = 1, poisson = 2, multinomial = 3 };

// Columns of zeros and ones come as the rows of the ones; others have a value for every row.
struct LassoColumns {
  const std::int64_t* start;  // rows of sparse column j are rows[start[j]] ... rows[start[j + 1]]
  const std::uint32_t* rows;
  const double* scale;  // the value of a sparse column at its rows
  std::size_t n_sparse;
  const double* dense;  // column after column
  std::size_t n_dense;
  std::size_t n_rows;
};

struct LassoProblem {
  LassoColumns columns;
  const double* response;  // class after class; one unless multinomial
  const double* weight;
  const std::int32_t* fold;  // of each row
  std::size_t n_folds;       // 0 for a path without cross-validation
  std::size_t n_classes;
  LassoFamily family;
};

struct LassoOptions {
  std::size_t n_penalties;
  double ratio;          // of the least penalty to the largest
  std::size_t patience;  // penalties without a lower held-out loss after which the path ends
  bool one_error;        // the largest penalty within one standard error of the best
  double tolerance;      // of the sum of squares of a step, as a share of that without columns
};

struct LassoOutput {
  double* penalties;     // (n_penalties)
  double* losses;        // (n_folds, n_penalties): mean held-out loss; NaN where not computed
  double* intercept;     // (n_classes)
  double* coefficients;  // (n_classes, columns), sparse ones first
};

// Returns the position of the chosen penalty.
std::size_t lasso_path(const LassoProblem& problem, const LassoOptions& options,
                       const LassoOutput& output, int n_threads);

}  // namespace clearwood
