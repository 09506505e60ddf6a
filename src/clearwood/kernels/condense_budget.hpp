// Composing under a budget: the boxes with most rows first, and tighter bounds.
#pragma once

#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "condense_build.hpp"
#include "condense_shrink.hpp"

namespace clearwood::condense {

// A tree as a mean, a step function per feature, and what these leave over. Summed over trees the
// steps cancel before they are bounded: the sum over features of the extremes of one-dimensional
// sums is far tighter than the sum over trees of their extremes.
struct Effects {
  std::vector<std::int32_t> feature, start;  // cuts of feature i: [start[i], start[i + 1])
  std::vector<std::int32_t> cut;
  std::vector<double> first;  // (features, functionals): left of all cuts
  std::vector<double> jump;   // (cuts, functionals)
  std::vector<double> mean, rest_low, rest_high;
};

class BudgetComposer : public Composer {
 public:
  BudgetComposer(const Ensemble& ensemble, const Decision& decision, Limits limits,
                 std::function<void()> poll, const Rows& rows, std::size_t max_leaves);
  // Which limit ended the work; empty where everything was decided.
  std::string run();
  // Per feature, the atoms some open leaf has.
  const std::vector<Span>& open_hull() const { return hull_; }
  bool any_open() const { return any_open_; }

 private:
  struct Item {
    State state;
    std::vector<Span> box;
    std::vector<std::int32_t> rows;
    std::int32_t node = 0;
    double weight = 0;
  };

  std::int32_t certify(Item& item, bool closely);  // a leaf of the canvas, or -1
  void tighten(const State& state, const std::vector<Span>& box);
  const Effects& effects(Id id);
  std::int32_t choose(const Item& item);
  void tree_scores(Id id, double weight, const Item& item);
  double left_share(const Question& q, const Item& item) const;
  void open(const Item& item);
  std::int32_t draw(std::int32_t node);

  static constexpr double prior_ = 2.0;  // rows that every box is given besides its own
  const Rows& rows_;
  std::size_t max_leaves_;
  std::vector<std::unique_ptr<Item>> items_;
  std::unordered_map<Id, Effects> effects_;
  std::size_t effects_bytes_ = 0, item_bytes_ = 0;
  std::vector<std::vector<double>> steps_;              // per feature: (ranks, functionals)
  std::vector<std::vector<std::uint32_t>> cumulative_;  // per feature: rows up to each rank
  std::vector<std::int32_t> question_, left_, right_, leaf_;
  std::vector<Span> hull_;
  bool any_open_ = false;
};

}  // namespace clearwood::condense
