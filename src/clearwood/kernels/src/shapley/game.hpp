// The game of one node: what reaching it gives to players and sets, for any pattern of the row.
//
// Let F be the d players on the node's path, whose value when reached is 1. The explained row
// satisfies the players in a, a background row all but those in b (its failures). With coalition S
// the node is reached exactly if S \ a is empty and b is within S. Averaged over background rows
// with weights N[b] the multilinear extension at the point (t, ..., t) is
//     H_t(a) = sum over b within a of N[b] t^|b| (1 - t)^(d - |a|),
// a sum over subsets. Its derivative in player i, whether i is in a or not, is
//     (D_i H_t)(a) = H_t(a) / t - H_t(a \ i) / (t (1 - t)).
// The Shapley value integrates that over t, the interaction of two players the second derivative
// (Owen 1972; Grabisch and Roubens 1999), and the component of a set S in the marginal
// identification (Hiabu 2024, theorem 7.4.2) is the derivative in all of S at t = 0, which is
//     (-1)^|S \ a| N[S and a].
// So a few tables, integrals of H over powers of t and 1 - t by Gauss-Legendre quadrature, give
// every number as a sum of look-ups at subsets of a.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shapley/slots.hpp"

namespace clearwood {

// The tables of a node whose patterns fit in 16 bits.
class GameTables {
 public:
  // failures[b] is the share of the background rows that fail exactly the players in b, b < 2^d.
  GameTables(int d, std::vector<double> failures, Quantity quantity);

  // The integral of H / (t^order (1 - t)^level), level <= order; order is 1 or, for interactions,
  // 2. For components there is one table, (-1)^|b| N[b], whatever the order and level.
  const double* table(std::size_t order, std::size_t level) const;

 private:
  void integrate(const std::vector<double>& failures, std::size_t order);
  std::size_t size() const { return std::size_t(1) << d_; }

  int d_;
  Quantity quantity_;
  std::vector<double> tables_;
};

// Too many players for a table: a list of the failures that occur.
class SparseGame {
 public:
  // Patterns have n_words words of 64 bits. failures: sorted, distinct, with weights.
  SparseGame(int d, std::vector<std::uint64_t> failures, std::vector<double> weights,
             Quantity quantity);

  // Whether no background row matters, so that every value is zero.
  bool is_empty() const { return weights_.empty(); }

  // Share of the background rows that reach the leaf themselves.
  double reached_share() const;

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
