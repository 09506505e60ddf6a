// The forward pass of multivariate adaptive regression splines.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clearwood {

enum class MarsKind : std::int32_t {
  constant = 0,
  line = 1,
  up = 2,
  down = 3,
  levels = 4,
  missing = 5
};

struct MarsInput {
  const double* columns;       // column after column; NaN is missing; codes where levels[j] > 0
  const std::int32_t* levels;  // number of levels of a column of category codes, else 0
  const double* response;      // response after response
  const double* weight;        // how many rows each row stands for, positive
  std::size_t n_rows;
  std::size_t n_columns;
  std::size_t n_responses;
};

struct MarsOptions {
  std::size_t max_terms;
  int degree;
  double threshold;  // the least gain in R² of a step
  double min_span;   // rows between knots; 0 for Friedman's rule
  double end_span;   // rows beyond the outermost knots; 0 for Friedman's rule
  std::size_t max_knots;
  std::size_t n_parents;  // terms that a step tries to extend; 0 for all
};

struct MarsOutput {
  std::int32_t* parent;  // of each term; -1 for the constant
  std::int32_t* column;
  std::int32_t* kind;  // a MarsKind
  double* knot;
  std::uint8_t* subset;      // (max_terms, subset_size): levels of which the indicator is one
  std::size_t subset_size;   // at least the largest number of levels, and one for missing
  double* basis;             // (max_terms, n_rows): the functions times the root of the weight
};

// Returns the number of terms, the constant included.
std::size_t mars_forward(const MarsInput& input, const MarsOptions& options,
                         const MarsOutput& output, int n_threads);

}  // namespace clearwood
