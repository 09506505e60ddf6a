// The game of one leaf: what it gives to players and sets, for any pattern of the explained row.
//
// Let F be the d players on the leaf's path and c the leaf's value, taken as 1 here. The explained row
// satisfies the players in a, a background row all but those in b (its failures). With coalition S the
// leaf is reached exactly if S \ a is empty and b is within S. Averaged over background rows with
// weights N[b] the multilinear extension at the point (t, ..., t) is
//     H_t(a) = sum over b within a of N[b] t^|b| (1 - t)^(d - |a|),
// a sum over subsets. Its derivative in player i is
//     -H_t(a) / (1 - t)                            where i is not in a,
//     (H_t(a) - H_t(a \ i) / (1 - t)) / t          where it is,
// the Shapley value integrates that over t, the interaction of two players the second derivative
// (Owen 1972; Grabisch and Roubens 1999), and the component of a set S in the marginal identification
// (Hiabu 2024, theorem 7.4.2) is the derivative in all of S at t = 0, which is
//     (-1)^|S \ a| N[S within a].
// So integrals of H times powers of 1 / t and 1 / (1 - t), by Gauss-Legendre quadrature, are all that
// Shapley values and interactions need.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "shapley_slots.hpp"

namespace clearwood {

// Patterns fit in 16 bits and a table over all of them is held.
class DenseGame {
 public:
  // failures[b] is the share of the background rows that fail exactly the players in b, b < 2^d.
  DenseGame(int d, std::vector<double> failures, Quantity quantity);

  // values[s * n + k] is what slot s gets at patterns[k].
  void evaluate(const std::vector<Slot>& slots, const std::uint16_t* patterns, std::size_t n,
                double* values) const;

  // How many patterns there are.
  std::size_t size() const { return std::size_t(1) << d_; }

 private:
  void integrate(std::vector<double> failures, int n_sums);
  double single(unsigned a, unsigned i) const;
  double pair(unsigned a, unsigned i, unsigned j) const;
  double component(unsigned a, unsigned set) const;

  int d_;
  Quantity quantity_;
  // components: N. Otherwise, one after another, the integrals of H / t, H / (1 - t) and, for
  // interactions, H / t^2 and H / (1 - t)^2.
  std::vector<double> sums_;
};

// Too many players for a table: a list of the failures that occur.
class SparseGame {
 public:
  // Patterns have n_words words of 64 bits. failures: sorted, distinct, with weights.
  SparseGame(int d, std::vector<std::uint64_t> failures, std::vector<double> weights,
             Quantity quantity);

  static std::size_t words(int d) { return static_cast<std::size_t>(d + 63) / 64; }

  // As DenseGame's; pattern k has its words at patterns[k * words(d)].
  void evaluate(const std::vector<Slot>& slots, const std::uint64_t* patterns, std::size_t n,
                double* values) const;

 private:
  void add_match(const std::vector<Slot>& slots, const std::uint64_t* satisfied,
                 const std::uint64_t* failed, double weight, std::size_t n, double* values) const;

  int d_;
  std::size_t n_words_;
  Quantity quantity_;
  std::vector<std::uint64_t> failures_;
  std::vector<double> weights_;
};

}  // namespace clearwood
