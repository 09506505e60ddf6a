#include "shapley_game.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "shapley_pattern.hpp"
#include "shapley_quadrature.hpp"

namespace clearwood {
namespace {

// n! (m - 1)! / (n + m)!, the integral of t^n (1 - t)^(m - 1).
double beta(int n, int m) { return std::exp(std::lgamma(n + 1) + std::lgamma(m) - std::lgamma(n + m + 1)); }

const Quadrature& rule_for(int d) {
  static const std::vector<Quadrature> rules = [] {
    std::vector<Quadrature> made;
    for (int n = 0; n <= 16; ++n) made.push_back(gauss_legendre(points_for(n)));
    return made;
  }();
  return rules[static_cast<std::size_t>(d)];
}

}  // namespace

DenseGame::DenseGame(int d, std::vector<double> failures, Quantity quantity)
    : d_(d), quantity_(quantity) {
  switch (quantity) {
    case Quantity::components: sums_ = std::move(failures); break;
    case Quantity::shapley: integrate(std::move(failures), 2); break;
    case Quantity::interactions: integrate(std::move(failures), 4); break;
  }
}

void DenseGame::integrate(std::vector<double> failures, int n_sums) {
  const auto subset_sums = CLEARWOOD_DISPATCH(subset_sums);
  const auto add_scaled = CLEARWOOD_DISPATCH(add_scaled);
  const std::size_t size = std::size_t(1) << d_;
  sums_.assign(size * static_cast<std::size_t>(n_sums), 0.0);
  const Quadrature& rule = rule_for(d_);
  std::vector<double> h;
  for (std::size_t q = 0; q < rule.points.size(); ++q) {
    const double t = rule.points[q], w = rule.weights[q];
    h = failures;
    subset_sums(h.data(), d_, t);
    const double factors[4] = {w / t, w / (1 - t), w / (t * t), w / ((1 - t) * (1 - t))};
    for (int k = 0; k < n_sums; ++k) {
      add_scaled(h.data(), size, factors[k], sums_.data() + static_cast<std::size_t>(k) * size);
    }
  }
}

double DenseGame::single(unsigned a, unsigned i) const {
  const double* over_t = sums_.data();
  const double* over_rest = over_t + (std::size_t(1) << d_);
  // 1 / (t (1 - t)) = 1 / t + 1 / (1 - t)
  return a & i ? over_t[a] - (over_t[a ^ i] + over_rest[a ^ i]) : -over_rest[a];
}

double DenseGame::pair(unsigned a, unsigned i, unsigned j) const {
  const std::size_t size = std::size_t(1) << d_;
  const double* u = sums_.data();  // 1 / t
  const double* s = u + size;      // 1 / (1 - t)
  const double* uu = s + size;
  const double* ss = uu + size;
  // Products by partial fractions: u s = u + s.
  const auto us = [&](unsigned b) { return u[b] + s[b]; };
  const auto uus = [&](unsigned b) { return uu[b] + us(b); };
  const auto uss = [&](unsigned b) { return us(b) + ss[b]; };
  const auto uuss = [&](unsigned b) { return uu[b] + 2 * us(b) + ss[b]; };
  if ((a & i) && (a & j)) return uu[a] - uus(a ^ i) - uus(a ^ j) + uuss(a ^ i ^ j);
  if (a & i) return uss(a ^ i) - us(a);
  if (a & j) return uss(a ^ j) - us(a);
  return ss[a];
}

double DenseGame::component(unsigned a, unsigned set) const {
  const double share = sums_[set & a];
  return std::popcount(set & ~a) % 2 == 0 ? share : -share;
}

void DenseGame::evaluate(const std::vector<Slot>& slots, const std::uint16_t* patterns,
                         std::size_t n, double* values) const {
  for (const Slot& slot : slots) {
    unsigned set = 0;
    for (std::int32_t position : slot.positions) set |= 1u << position;
    const unsigned first = 1u << slot.positions.front();
    if (quantity_ == Quantity::components) {
      for (std::size_t k = 0; k < n; ++k) values[k] = component(patterns[k], set);
    } else if (slot.positions.size() == 1) {
      for (std::size_t k = 0; k < n; ++k) values[k] = single(patterns[k], first);
    } else {
      for (std::size_t k = 0; k < n; ++k) values[k] = pair(patterns[k], first, set ^ first);
    }
    values += n;
  }
}

SparseGame::SparseGame(int d, std::vector<std::uint64_t> failures, std::vector<double> weights,
                       Quantity quantity)
    : d_(d), n_words_(words(d)), quantity_(quantity), failures_(std::move(failures)),
      weights_(std::move(weights)) {}

void SparseGame::evaluate(const std::vector<Slot>& slots, const std::uint64_t* patterns,
                          std::size_t n, double* values) const {
  std::fill_n(values, slots.size() * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint64_t* satisfied = patterns + k * n_words_;
    for (std::size_t b = 0; b < weights_.size(); ++b) {
      const std::uint64_t* failed = failures_.data() + b * n_words_;
      std::uint64_t neither = 0;
      for (std::size_t w = 0; w < n_words_; ++w) neither |= failed[w] & ~satisfied[w];
      if (neither == 0) add_match(slots, satisfied, failed, weights_[b], n, values + k);
    }
  }
}

// One explained row against one background row: the leaf is reached exactly by coalitions that hold
// all of the A players whom only the explained row satisfies and none of the B whom only the other
// does. Everything follows from A and B.
void SparseGame::add_match(const std::vector<Slot>& slots, const std::uint64_t* satisfied,
                           const std::uint64_t* failed, double weight, std::size_t n,
                           double* values) const {
  int n_for = 0, n_against = d_;
  for (std::size_t w = 0; w < n_words_; ++w) {
    n_for += std::popcount(failed[w]);
    n_against -= std::popcount(satisfied[w]);
  }
  const auto has = [](const std::uint64_t* words, std::int32_t i) {
    return (words[i / 64] >> (i % 64) & 1) != 0;
  };
  for (std::size_t s = 0; s < slots.size(); ++s) {
    int inside_for = 0, inside_against = 0;
    for (std::int32_t i : slots[s].positions) {
      inside_for += has(failed, i);
      inside_against += !has(satisfied, i);
    }
    const int size = static_cast<int>(slots[s].positions.size());
    if (inside_for + inside_against != size) continue;
    double share;
    if (quantity_ == Quantity::components) {
      share = inside_for == n_for ? 1.0 : 0.0;
    } else {
      // The derivative leaves t^(A - in) (1 - t)^(B - in) to be integrated.
      share = beta(n_for - inside_for, n_against - inside_against + 1);
    }
    values[s * n] += (inside_against % 2 == 0 ? share : -share) * weight;
  }
}

}  // namespace clearwood
