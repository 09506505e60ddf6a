// Composing under a budget: the boxes with most rows first, and tighter bounds.
#pragma once

#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "condense_build.hpp"
#include "condense_shrink.hpp"

namespace clearwood::condense {

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

  std::int32_t certify(Item& item);  // a leaf of the canvas, or -1
  void count(const Item& item);      // its rows up to each rank
  void open(const Item& item);
  std::int32_t draw(std::int32_t node);
  void recount(std::size_t node);

  const Rows& rows_;
  bool timed_;
  std::size_t max_leaves_;
  std::vector<std::unique_ptr<Item>> items_;
  std::size_t item_bytes_ = 0;
  static constexpr std::int32_t mixed = -1, still_open = -2;
  std::vector<std::int32_t> question_, left_, right_, leaf_, parent_;
  std::vector<std::int32_t> same_;   // the one leaf that all of a branch is, or mixed
  std::vector<std::size_t> count_;   // leaves of a branch
  std::vector<Span> hull_;
  bool any_open_ = false;
};

}  // namespace clearwood::condense
