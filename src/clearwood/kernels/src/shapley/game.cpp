#include "shapley/game.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "shapley/pattern.hpp"
#include "shapley/quadrature.hpp"

namespace clearwood {

GameTables::GameTables(int d, std::vector<double> failures, Quantity quantity)
    : d_(d), quantity_(quantity) {
  if (quantity == Quantity::components) {
    tables_ = std::move(failures);
    for (std::size_t b = 0; b < size(); ++b) {
      if (std::popcount(b) % 2 == 1) tables_[b] = -tables_[b];
    }
    return;
  }
  integrate(failures, 1);
  if (quantity == Quantity::interactions) integrate(failures, 2);
}

const double* GameTables::table(std::size_t order, std::size_t level) const {
  if (quantity_ == Quantity::components) return tables_.data();
  return tables_.data() + (order == 1 ? level : 2 + level) * size();
}

// Appends the tables of one order, one after another.
void GameTables::integrate(const std::vector<double>& failures, std::size_t order) {
  const auto subset_sums = CLEARWOOD_DISPATCH(subset_sums);
  const auto add_scaled = CLEARWOOD_DISPATCH(add_scaled);
  const std::size_t first = tables_.size();
  tables_.resize(first + size() * (order + 1), 0.0);
  const Quadrature& rule = gauss_legendre(points_for(d_));
  std::vector<double> h;
  for (std::size_t q = 0; q < rule.points.size(); ++q) {
    const double t = rule.points[q];
    h = failures;
    subset_sums(h.data(), d_, t);
    double factor = rule.weights[q] / (order == 1 ? t : t * t);
    for (std::size_t level = 0; level <= order; ++level) {
      add_scaled(h.data(), size(), factor, tables_.data() + first + level * size());
      factor /= 1 - t;
    }
  }
}

SparseGame::SparseGame(int d, std::vector<std::uint64_t> failures, std::vector<double> weights,
                       Quantity quantity)
    : d_(d), n_words_(words(d)), quantity_(quantity), failures_(std::move(failures)),
      weights_(std::move(weights)) {
  for (std::size_t b = 0; b < weights_.size(); ++b) {
    int size = 0;
    for (std::size_t w = 0; w < n_words_; ++w) size += std::popcount(failures_[b * n_words_ + w]);
    sizes_.push_back(size);
  }
  if (quantity == Quantity::components) return;  // which are not integrals
  for (int n = 0; n <= d; ++n) {
    for (int m = 0; m <= d; ++m) {
      beta_.push_back(std::exp(std::lgamma(n + 1) + std::lgamma(m + 1) - std::lgamma(n + m + 2)));
    }
  }
}

double SparseGame::reached_share() const {
  const auto none = std::find(sizes_.begin(), sizes_.end(), 0);
  return none == sizes_.end() ? 0.0 : weights_[static_cast<std::size_t>(none - sizes_.begin())];
}

// Calls match(failures, how many players they hold, weight) for the background rows with which the
// explained row can reach the leaf: every player is satisfied by at least one of the two.
template <class Match>
void SparseGame::for_each_match(const std::uint64_t* satisfied, Match&& match) const {
  for (std::size_t b = 0; b < weights_.size(); ++b) {
    const std::uint64_t* failed = failures_.data() + b * n_words_;
    std::uint64_t neither = 0;
    for (std::size_t w = 0; w < n_words_; ++w) neither |= failed[w] & ~satisfied[w];
    if (neither == 0) match(failed, sizes_[b], weights_[b]);
  }
}

// Against one background row the leaf is reached exactly by coalitions that hold all of the A
// players whom only the explained row satisfies and none of the B whom only the other does, so that
// the derivative in one of the A leaves t^(A - 1) (1 - t)^B to be integrated, in one of the B -t^A
// (1 - t)^(B - 1).
void SparseGame::evaluate_singles(const std::uint64_t* satisfied,
                                  std::vector<double>& player_values) const {
  int n_against = d_;
  for (std::size_t w = 0; w < n_words_; ++w) n_against -= std::popcount(satisfied[w]);
  const auto stride = static_cast<std::size_t>(d_ + 1);
  const auto against = static_cast<std::size_t>(n_against);
  double loss = 0.0;
  player_values.assign(static_cast<std::size_t>(d_), 0.0);
  for_each_match(satisfied, [&](const std::uint64_t* failed, int n_for, double weight) {
    const auto size = static_cast<std::size_t>(n_for);
    if (n_against > 0) loss -= weight * beta_[size * stride + against - 1];
    if (n_for == 0) return;
    const double gain = weight * beta_[(size - 1) * stride + against];
    for (std::size_t w = 0; w < n_words_; ++w) {
      for (std::uint64_t rest = failed[w]; rest != 0; rest &= rest - 1) {
        player_values[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))] += gain;
      }
    }
  });
  for (std::size_t i = 0; i < player_values.size(); ++i) {
    if ((satisfied[i / 64] >> (i % 64) & 1) == 0) player_values[i] = loss;
  }
}

// What a set gets from one match.
double SparseGame::evaluate_set(const Slot& slot, const std::uint64_t* satisfied,
                                const std::uint64_t* failed, int n_for, int n_against) const {
  const auto has = [](const std::uint64_t* words, std::int32_t i) {
    return (words[i / 64] >> (i % 64) & 1) != 0;
  };
  int inside_for = 0, inside_against = 0;
  for (std::int32_t i : slot.positions) {
    inside_for += has(failed, i);
    inside_against += !has(satisfied, i);
  }
  if (inside_for + inside_against != static_cast<int>(slot.positions.size())) return 0.0;
  const double sign = inside_against % 2 == 0 ? 1.0 : -1.0;
  if (quantity_ == Quantity::components) return inside_for == n_for ? sign : 0.0;
  return sign * beta_[static_cast<std::size_t>((n_for - inside_for) * (d_ + 1) + n_against -
                                               inside_against)];
}

void SparseGame::evaluate(const std::vector<Slot>& slots, const std::uint64_t* patterns,
                          std::size_t n, double* values) const {
  std::fill_n(values, slots.size() * n, 0.0);
  std::vector<double> player_values;
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint64_t* satisfied = patterns + k * n_words_;
    if (quantity_ == Quantity::shapley) {
      evaluate_singles(satisfied, player_values);
      for (std::size_t s = 0; s < slots.size(); ++s) {
        values[s * n + k] = player_values[static_cast<std::size_t>(slots[s].positions[0])];
      }
      continue;
    }
    int n_against = d_;
    for (std::size_t w = 0; w < n_words_; ++w) n_against -= std::popcount(satisfied[w]);
    for_each_match(satisfied, [&](const std::uint64_t* failed, int n_for, double weight) {
      for (std::size_t s = 0; s < slots.size(); ++s) {
        values[s * n + k] += weight * evaluate_set(slots[s], satisfied, failed, n_for, n_against);
      }
    });
  }
}

}  // namespace clearwood
