// Composing under a budget: the boxes with most rows first, and close bounds.
#pragma once

#include <array>
#include <memory>
#include <queue>
#include <vector>

#include "condense/branch.hpp"
#include "condense/build.hpp"
#include "condense/messages.hpp"
#include "condense/shrink.hpp"

namespace clearwood::condense {

class BudgetComposer : public Composer {
 public:
  BudgetComposer(const Ensemble& ensemble, const Decision& decision, Limits limits,
                 std::function<void()> poll, const Rows& rows, std::size_t max_leaves,
                 int n_threads);
  // Which limit ended the work; empty where everything was decided.
  std::string run();
  // Per feature, the atoms some open leaf has.
  const std::vector<Span>& open_hull() const { return hull_; }
  bool any_open() const { return any_open_; }

 private:
  // A bound that must grow before a box is decided: of sign times a functional.
  struct Aim {
    std::size_t functional;
    double sign;
    bool operator==(const Aim&) const = default;
  };
  struct Item {
    State state;
    std::vector<Span> box;
    std::vector<std::int32_t> rows;
    std::vector<Aim> aims;
    std::vector<Letters> letters;   // one per aim
    std::vector<double> low, high;  // bounds of every functional
    bool is_far = false;            // too far from a decision for the work that messages are
    Question cut;                   // the best cut of an ordered feature, and its score (worth)
    double worth = 0;
    std::int32_t node = 0;
    std::int32_t target = -1;  // the class of most rows
    double weight = 0;
  };

  // A leaf of the canvas, or -1: by bounds at hand, and by messages, which are the work.
  std::int32_t decide_simply(Item& item);
  std::int32_t decide_finally(Item& item);
  void aim(Item& item);
  double need(const Item& item, const Aim& aim) const;
  double enough(const Item& item, const Aim& aim) const;
  // What each thread works with.
  struct Worker {
    Messages messages;
    Branching branching;
  };
  void pass_messages(Item& item, Worker& worker) const;
  void find_cut(Item& item, Worker& worker) const;
  std::int32_t question_for(Item& item);
  double worth_of(const Item& item, std::int32_t question);
  std::array<std::unique_ptr<Item>, 2> split(Item& item);
  void open(const Item& item);
  std::int32_t draw(std::int32_t node);
  void recount(std::size_t node);
  std::int32_t add_node(std::int32_t parent);
  void enqueue(std::unique_ptr<Item> item);
  std::unique_ptr<Item> dequeue();
  std::size_t bytes_of(const Item& item) const;

  const Rows& rows_;
  int n_threads_;
  Shapes shapes_;
  std::vector<std::unique_ptr<Worker>> workers_;  // one per thread
  bool has_sets_;  // whether any feature has no order
  bool timed_;
  std::size_t max_leaves_;
  std::vector<std::unique_ptr<Item>> items_;
  std::priority_queue<std::pair<double, std::int64_t>> queue_;
  std::size_t item_bytes_ = 0;
  static constexpr std::int32_t mixed = -1, still_open = -2;
  std::vector<std::int32_t> question_, left_, right_, leaf_, parent_;
  std::vector<std::int32_t> same_;  // the one leaf that all of a branch is, or mixed
  std::vector<std::size_t> count_;  // leaves of a branch
  std::vector<Span> hull_;
  bool any_open_ = false;
};

}  // namespace clearwood::condense
