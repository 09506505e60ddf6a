// Gauss-Legendre quadrature on [0, 1].
#pragma once

#include <vector>

namespace clearwood {

struct Quadrature {
  std::vector<double> points;
  std::vector<double> weights;
};

// Exact for polynomials up to degree 2 n_points - 1. Every rule is made once and kept.
const Quadrature& gauss_legendre(int n_points);

// How many points integrate a product of n_factors linear factors, less one of them, exactly.
inline int points_for(int n_factors) { return n_factors < 2 ? 1 : (n_factors + 1) / 2; }

}  // namespace clearwood
