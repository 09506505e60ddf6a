// The game of one leaf: what it gives to players and sets, for any pattern of the explained row.
//
// Let F be the d players on the leaf's path and c the leaf's value, taken as 1 here. The explained row
// satisfies the players in a, a background row all but those in b (its failures). With coalition S the
// leaf is reached exactly if S \ a is empty and b is within S. Averaged over background rows with
// weights N[b] the multilinear extension at the point (t, ..., t) is
//     H_t(a) = sum over b within a of N[b] t^|b| (1 - t)^(d - |a|),
// a sum over subsets. Its derivative in player i, whether i is in a or not, is
//     (D_i H_t)(a) = H_t(a) / t - H_t(a \ i) / (t (1 - t)).
// The Shapley value integrates that over t, the interaction of two players the second derivative
// (Owen 1972; Grabisch and Roubens 1999), and the component of a set S in the marginal identification
// (Hiabu 2024, theorem 7.4.2) is the derivative in all of S at t = 0, which is
//     (-1)^|S \ a| N[S and a].
// So a few tables, integrals of H over powers of t and 1 - t by Gauss-Legendre quadrature, give every
// number as a sum of look-ups at subsets of a.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "shapley_pattern.hpp"
#include "shapley_slots.hpp"

namespace clearwood {

// Patterns fit in 16 bits and tables over all of them are held.
class DenseGame {
 public:
  // failures[b] is the share of the background rows that fail exactly the players in b, b < 2^d.
  DenseGame(int d, std::vector<double> failures, Quantity quantity);

  // How many patterns there are.
  std::size_t size() const { return std::size_t(1) << d_; }

  // Adds factor times what each slot gets at patterns[k] to column(slot)[k]; `scratch` has room for n.
  template <class Column>
  void add(const std::vector<Slot>& slots, const std::uint16_t* patterns, std::size_t n,
           double factor, double* scratch, Column&& column) const;

 private:
  void integrate(const std::vector<double>& failures, int power, int n_tables);
  const double* table(std::size_t k) const { return tables_.data() + k * size(); }

  int d_;
  Quantity quantity_;
  // components: (-1)^|b| N[b]. shapley: the integrals of H / t and H / (t (1 - t)). interactions: both
  // and those of H / t^2, H / (t^2 (1 - t)) and H / (t^2 (1 - t)^2).
  std::vector<double> tables_;
};

template <class Column>
void DenseGame::add(const std::vector<Slot>& slots, const std::uint16_t* patterns, std::size_t n,
                    double factor, double* scratch, Column&& column) const {
  const auto look_up = CLEARWOOD_DISPATCH(add_look_up);
  const auto add_scaled = CLEARWOOD_DISPATCH(add_scaled);
  constexpr std::uint16_t all = 0xffff;
  std::size_t looked_up = 0;  // the number of players whose first table is in `scratch`
  for (const Slot& slot : slots) {
    unsigned set = 0;
    for (std::int32_t position : slot.positions) set |= 1u << position;
    double* to = column(slot);
    const auto subtract = [&](std::size_t which, unsigned players, double sign) {
      look_up(table(which), patterns, n, static_cast<std::uint16_t>(~players), sign * factor, to);
    };
    if (quantity_ == Quantity::components) {
      const double sign = slot.positions.size() % 2 == 0 ? 1.0 : -1.0;
      look_up(table(0), patterns, n, static_cast<std::uint16_t>(set), sign * factor, to);
      continue;
    }
    const bool pair = slot.positions.size() == 2;
    if (looked_up != slot.positions.size()) {
      std::fill_n(scratch, n, 0.0);
      look_up(table(pair ? 2 : 0), patterns, n, all, factor, scratch);
      looked_up = slot.positions.size();
    }
    add_scaled(scratch, n, 1.0, to);
    if (pair) {
      subtract(3, 1u << slot.positions[0], -1.0);
      subtract(3, 1u << slot.positions[1], -1.0);
      subtract(4, set, 1.0);
    } else {
      subtract(1, set, -1.0);
    }
  }
}

// Too many players for a table: a list of the failures that occur.
class SparseGame {
 public:
  // Patterns have n_words words of 64 bits. failures: sorted, distinct, with weights.
  SparseGame(int d, std::vector<std::uint64_t> failures, std::vector<double> weights,
             Quantity quantity);

  static std::size_t words(int d) { return static_cast<std::size_t>(d + 63) / 64; }

  // values[s * n + k] is what slot s gets at pattern k, whose words lie at patterns[k * words(d)].
  void evaluate(const std::vector<Slot>& slots, const std::uint64_t* patterns, std::size_t n,
                double* values) const;

 private:
  template <class Match>
  void for_each_match(const std::uint64_t* satisfied, Match&& match) const;
  void evaluate_singles(const std::uint64_t* satisfied, std::vector<double>& player_values) const;
  double evaluate_set(const Slot& slot, const std::uint64_t* satisfied,
                      const std::uint64_t* failed, int n_for, int n_against) const;

  int d_;
  std::size_t n_words_;
  Quantity quantity_;
  std::vector<std::uint64_t> failures_;
  std::vector<int> sizes_;  // how many players each of the failures holds
  std::vector<double> weights_;
  std::vector<double> beta_;  // (d + 1) x (d + 1): the integral of t^n (1 - t)^m
};

}  // namespace clearwood
