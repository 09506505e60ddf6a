#include "shapley/quadrature.hpp"

#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

namespace clearwood {
namespace {

struct Legendre {
  double value;
  double slope;
};

Legendre legendre(int degree, double x) {
  double before = 1.0, value = x;
  for (int k = 2; k <= degree; ++k) {
    const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
    before = value;
    value = next;
  }
  return {value, degree * (x * value - before) / (x * x - 1.0)};
}

Quadrature make_rule(int n_points) {
  Quadrature rule;
  for (int k = 0; k < n_points; ++k) {
    // Newton's method from the usual asymptotic guess for the k-th root.
    double x = -std::cos(std::numbers::pi * (k + 0.75) / (n_points + 0.5));
    for (int step = 0; step < 8; ++step) {
      const Legendre at = legendre(n_points, x);
      x -= at.value / at.slope;
    }
    const double slope = legendre(n_points, x).slope;
    rule.points.push_back(0.5 * (1.0 + x));
    rule.weights.push_back(1.0 / ((1.0 - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace

const Quadrature& gauss_legendre(int n_points) {
  // Common rules are read without a lock.
  static const std::vector<Quadrature> common = [] {
    std::vector<Quadrature> made(1);
    for (int n = 1; n <= 16; ++n) made.push_back(make_rule(n));
    return made;
  }();
  if (static_cast<std::size_t>(n_points) < common.size()) {
    return common[static_cast<std::size_t>(n_points)];
  }
  static std::mutex mutex;
  static std::map<int, Quadrature> rules;
  std::lock_guard lock(mutex);
  const auto known = rules.find(n_points);
  return known != rules.end() ? known->second
                              : rules.emplace(n_points, make_rule(n_points)).first->second;
}

}  // namespace clearwood
