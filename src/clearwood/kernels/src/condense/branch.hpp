// Which split to divide a box by: the cut on whose sides the bounds by messages grow most.
#pragma once

#include <array>
#include <vector>

#include "condense/messages.hpp"
#include "condense/shrink.hpp"
#include "condense/store.hpp"

namespace clearwood::condense {

// An estimate of how many rows of a box go left, unseen ones included: the known rows, and a few
// more that are spread over its ranks (thresholds are dense where training rows were).
class Spread {
 public:
  Spread(const Ensemble& ensemble, const Rows& rows);
  void count(const std::vector<Span>& box, const std::vector<std::int32_t>& rows);
  // The share that goes left at a cut of an ordered feature of the box that was counted.
  double left(std::size_t feature, std::int32_t cut, bool missing_left) const;
  // The same where the number of rows on the left is known, and what part of the ranks is there.
  static double left(double on_the_left, double rows, double part) {
    return (on_the_left + prior * part) / (rows + prior);
  }

 private:
  static constexpr double prior = 2.0;  // rows that every box is given besides its own
  const Ensemble& ensemble_;
  const Rows& rows_;
  const std::vector<Span>* box_ = nullptr;
  double n_rows_ = 0;
  std::vector<std::vector<std::uint32_t>> up_to_;  // per feature and rank, from the box's first on
  std::vector<std::uint32_t> missing_;
};

// The score of a split. A side on which a bound comes all the way counts as one, one on which it
// comes half the way as more than half: a split that helps both sides ends sooner.
double worth(double grows, double needed);

class Branching {
 public:
  Branching(const Ensemble& ensemble, const Rows& rows);
  // The next box, and its rows.
  void begin(const std::vector<Span>& box, const std::vector<std::int32_t>& rows);
  // The bound that `messages` has just given is short of what would do by `needed`.
  void add(const Messages& messages, double needed);
  // The best cut and its score; the question has feature -1 where none helps.
  std::pair<Question, double> best() const;

 private:
  // Per rank from the box's first on, for a cut behind it: how much the bound grows on that side.
  using Growth = std::vector<std::int64_t>;
  void add_tree(const Shape& shape, const Ranks& ranks, std::size_t i, std::int32_t least);

  const Ensemble& ensemble_;
  Spread spread_;
  const std::vector<Span>* box_ = nullptr;
  // [0]: missing values go right, [1]: they go left; where the box has none only [0] is used
  std::vector<std::array<Growth, 2>> left_, right_;
  std::vector<std::array<std::vector<double>, 2>> left_worth_, right_worth_;
  std::vector<std::vector<std::uint8_t>> is_cut_;
  std::vector<std::uint8_t> ways_;  // of missing values: two where the box has any, else one
  std::vector<std::int32_t> rests_, scratch_;
};

}  // namespace clearwood::condense
