// Composing under a budget: the boxes with most rows first, and tighter bounds.
#include "condense/budget.hpp"

#include "common/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace clearwood::condense {

namespace {

constexpr int most_rounds = 5;
constexpr int rounds_for_cuts = 2;
// Where messages take more than this (leaves times features, for all trees and aims), they are passed
// only in boxes that are near to a decision: what is needed is this part of the bounds' width.
constexpr std::size_t most_work = std::size_t(1) << 18;
constexpr double near = 0.25;
constexpr std::size_t at_a_time = 8;

bool has_close_bounds(Mode mode) { return mode == Mode::class_ || mode == Mode::tolerance; }

}  // namespace

BudgetComposer::BudgetComposer(const Ensemble& ensemble, const Decision& decision, Limits limits,
                               std::function<void()> poll, const Rows& rows,
                               std::size_t max_leaves, int n_threads)
    : Composer(ensemble, decision, limits, std::move(poll)),
      rows_(rows),
      n_threads_(std::max(n_threads, 1)),
      shapes_(store_, ensemble),
      has_sets_(std::any_of(ensemble.is_set.begin(), ensemble.is_set.end(),
                            [](auto is) { return is != 0; })),
      timed_(std::isfinite(limits.seconds)),
      max_leaves_(std::max<std::size_t>(max_leaves, 1)) {
  keeps_leaves_ = true;
  for (int t = 0; t < n_threads_; ++t) {
    workers_.push_back(std::make_unique<Worker>(
        Worker{Messages(store_, shapes_, ensemble, decision), Branching(ensemble, rows)}));
  }
}

// Which bounds would decide: for the class of most rows every difference to another, else both
// bounds of every functional.
void BudgetComposer::aim(Item& item) {
  item.aims.clear();
  if (decision_.mode == Mode::tolerance) {
    for (const std::int32_t d : wanted_) {
      item.aims.push_back({std::size_t(d), 1.0});
      item.aims.push_back({std::size_t(d), -1.0});
    }
    return;
  }
  std::vector<double> votes(std::size_t(decision_.n_classes), 0.0);
  if (!rows_.classes.empty()) {
    for (const std::int32_t row : item.rows) {
      votes[std::size_t(rows_.classes[std::size_t(row)])] += 1;
    }
  }
  // without rows, the middle of the bounds votes
  for (std::size_t d = 0; d < decision_.size(); ++d) {
    const double middle = item.state.base[d] + 0.5 * (low_[d] + high_[d]);
    const bool first = middle >= 0.5 * (decision_.above[d] + decision_.below[d]);
    votes[std::size_t(first ? decision_.a[d] : decision_.b[d])] += 1e-3;
  }
  for (std::size_t c = 0; c < votes.size(); ++c) {
    if (item.state.dead >> c & 1) votes[c] = -1;
  }
  item.target = std::int32_t(std::max_element(votes.begin(), votes.end()) - votes.begin());
  for (std::size_t d = 0; d < decision_.size(); ++d) {
    const int a = decision_.a[d], b = decision_.b[d];
    if (((item.state.dead >> a) | (item.state.dead >> b)) & 1) continue;
    if (a == item.target) item.aims.push_back({d, 1.0});
    if (b == item.target) item.aims.push_back({d, -1.0});
  }
}

// How far a bound is from deciding.
double BudgetComposer::need(const Item& item, const Aim& aim) const {
  const std::size_t d = aim.functional;
  if (decision_.mode == Mode::tolerance) {
    return item.high[d] - item.low[d] - 2 * (decision_.tolerance - decision_.slack);
  }
  if (aim.sign > 0) return decision_.above[d] - item.state.base[d] - item.low[d];
  return item.state.base[d] + item.high[d] - decision_.below[d];
}

// The bound that would decide.
double BudgetComposer::enough(const Item& item, const Aim& aim) const {
  const std::size_t d = aim.functional;
  return (aim.sign > 0 ? item.low[d] : -item.high[d]) + need(item, aim);
}

std::int32_t BudgetComposer::decide_simply(Item& item) {
  // near ties and medians are decided from one leaf per closed tree
  constant_ = item.state.leaves;
  Validity unused(decision_.size());
  const std::int32_t leaf = decide(item.state, unused);
  item.low = low_;
  item.high = high_;
  if (leaf >= 0 || !has_close_bounds(decision_.mode)) return leaf;
  const std::vector<Aim> before = item.aims;
  aim(item);
  if (item.aims != before) item.letters.assign(item.aims.size(), {});
  std::size_t work = 0;
  for (const Id id : item.state.ids) {
    const Shape& shape = shapes_.make(id);
    if (shape.usable) work += item.aims.size() * shape.leaves.size() * shape.feature.size();
  }
  item.is_far = work > most_work && std::any_of(item.aims.begin(), item.aims.end(), [&](auto& aim) {
    return need(item, aim) > near * (item.high[aim.functional] - item.low[aim.functional]);
  });
  if (item.is_far) item.letters.assign(item.aims.size(), {});
  return -1;
}

// This and the next need no more than the item and the worker given, so that items can be worked on
// side by side.
void BudgetComposer::pass_messages(Item& item, Worker& worker) const {
  if (item.is_far) return;
  for (std::size_t i = 0; i < item.aims.size(); ++i) {
    const Aim& aim = item.aims[i];
    const std::size_t d = aim.functional;
    const double bound =
        worker.messages.lower(item.state.ids, item.state.positions, item.box, d, aim.sign,
                              enough(item, aim), most_rounds, item.letters[i]);
    if (aim.sign > 0) {
      item.low[d] = std::max(item.low[d], bound);
    } else {
      item.high[d] = std::min(item.high[d], -bound);
    }
  }
}

void BudgetComposer::find_cut(Item& item, Worker& worker) const {
  if (item.is_far) return;
  worker.branching.begin(item.box, item.rows);
  for (const Aim& aim : item.aims) {
    const double needed = need(item, aim);
    if (needed <= 0) continue;
    const double so_far = worker.messages.from_nothing(item.state.ids, item.box, aim.functional,
                                                       aim.sign, rounds_for_cuts);
    worker.branching.add(worker.messages, std::max(enough(item, aim) - so_far, needed));
  }
  std::tie(item.cut, item.worth) = worker.branching.best();
}

std::int32_t BudgetComposer::decide_finally(Item& item) {
  constant_ = item.state.leaves;
  low_ = item.low;
  high_ = item.high;
  Validity unused(decision_.size());
  return judge(item.state, unused);
}

void BudgetComposer::open(const Item& item) {
  if (!any_open_) {
    hull_ = item.box;
    any_open_ = true;
    return;
  }
  for (std::size_t j = 0; j < hull_.size(); ++j) {
    if (ensemble_.is_set[j]) continue;
    const bool none = hull_[j].lo > hull_[j].hi, other = item.box[j].lo > item.box[j].hi;
    if (none && !other) hull_[j].lo = item.box[j].lo, hull_[j].hi = item.box[j].hi;
    if (!none && !other) {
      hull_[j].lo = std::min(hull_[j].lo, item.box[j].lo);
      hull_[j].hi = std::max(hull_[j].hi, item.box[j].hi);
    }
    hull_[j].missing |= item.box[j].missing;
  }
}

std::int32_t BudgetComposer::draw(std::int32_t node) {
  const auto at = static_cast<std::size_t>(node);
  if (left_[at] < 0) return leaf_[at] >= 0 ? leaf_[at] : canvas_.open_leaf();
  const std::int32_t one = draw(left_[at]);
  const std::int32_t two = draw(right_[at]);
  return canvas_.split(question_[at], one, two);
}

// Leaves as they will be drawn: a branch that is open throughout, or of one outcome, is one leaf.
void BudgetComposer::recount(std::size_t node) {
  while (true) {
    std::int32_t same = leaf_[node] >= 0 ? leaf_[node] : still_open;
    std::size_t count = 1;
    if (left_[node] >= 0 && right_[node] >= 0) {
      const auto l = std::size_t(left_[node]), r = std::size_t(right_[node]);
      same = same_[l] == same_[r] ? same_[l] : mixed;
      count = same == mixed ? count_[l] + count_[r] : 1;
    }
    if (same == same_[node] && count == count_[node] && left_[node] >= 0) return;
    same_[node] = same;
    count_[node] = count;
    if (parent_[node] < 0) return;
    node = std::size_t(parent_[node]);
  }
}

std::size_t BudgetComposer::bytes_of(const Item& item) const {
  std::size_t bytes = 200 + 8 * item.state.ids.size() + 4 * item.state.leaves.size() +
                      sizeof(Span) * item.box.size() + 4 * item.rows.size();
  for (const Letters& letters : item.letters) bytes += letters.bytes();
  return bytes;
}

std::int32_t BudgetComposer::add_node(std::int32_t parent) {
  question_.push_back(-1);
  left_.push_back(-1);
  right_.push_back(-1);
  leaf_.push_back(-1);
  parent_.push_back(parent);
  same_.push_back(still_open);
  count_.push_back(1);
  return static_cast<std::int32_t>(leaf_.size()) - 1;
}

void BudgetComposer::enqueue(std::unique_ptr<Item> item) {
  if (leaf_[std::size_t(item->node)] >= 0) return;
  item_bytes_ += bytes_of(*item);
  queue_.emplace(item->weight, -std::int64_t(items_.size()));  // older first
  items_.push_back(std::move(item));
}

std::unique_ptr<BudgetComposer::Item> BudgetComposer::dequeue() {
  std::unique_ptr<Item> item = std::move(items_[std::size_t(-queue_.top().second)]);
  queue_.pop();
  item_bytes_ -= bytes_of(*item);
  return item;
}

// The score of a split by a feature without order, from the plain bounds of its sides.
double BudgetComposer::worth_of(const Item& item, std::int32_t question) {
  const Question q = store_.question(question);
  const auto j = static_cast<std::size_t>(q.feature);
  std::size_t on_the_left = 0;
  for (const std::int32_t row : item.rows) {
    on_the_left += store_.goes_left(q, rows_[std::size_t(row)][j]);
  }
  const double share = Spread::left(double(on_the_left), double(item.rows.size()), 0.5);
  double sum = 0;
  for (const bool left : {true, false}) {
    const Span span = store_.side(q, item.box[j], left);
    std::vector<double> grows(item.aims.size(), 0.0);
    for (const Id id : item.state.ids) {
      const Id part = store_.restrict(id, q.feature, span);
      for (std::size_t i = 0; i < grows.size(); ++i) {
        const std::size_t d = item.aims[i].functional;
        grows[i] += item.aims[i].sign > 0 ? store_.low(part)[d] - store_.low(id)[d]
                                          : store_.high(id)[d] - store_.high(part)[d];
      }
    }
    for (std::size_t i = 0; i < grows.size(); ++i) {
      const double needed = std::max(need(item, item.aims[i]), 0.0);
      sum += (left ? share : 1 - share) * worth(grows[i], needed);
    }
  }
  return sum;
}

std::int32_t BudgetComposer::question_for(Item& item) {
  if (item.cut.feature >= 0 && !has_sets_) {
    return store_.threshold(item.cut.feature, item.cut.cut, item.cut.default_left);
  }
  bound(item.state);
  Validity unused(decision_.size());
  constant_ = item.state.leaves;
  State state = item.state;
  (void)judge(state, unused);  // for the functionals to narrow
  std::int32_t best = best_question(item.state);
  const auto j = static_cast<std::size_t>(store_.question(best).feature);
  best = store_.asked_of(best, item.box[j]);
  if (item.cut.feature >= 0 && (!ensemble_.is_set[j] || worth_of(item, best) < item.worth)) {
    best = store_.threshold(item.cut.feature, item.cut.cut, item.cut.default_left);
  }
  return best;
}

// Both sides of the question that makes the bounds grow most, for the rows that go its ways.
std::array<std::unique_ptr<BudgetComposer::Item>, 2> BudgetComposer::split(Item& item) {
  const std::int32_t best = question_for(item);
  const auto j = static_cast<std::size_t>(store_.question(best).feature);
  const Question q = store_.question(best);
  const auto at = static_cast<std::size_t>(item.node);
  question_[at] = best;
  std::array<std::unique_ptr<Item>, 2> sides;
  for (const bool left : {true, false}) {
    auto next = std::make_unique<Item>();
    next->box = item.box;
    next->box[j] = store_.side(q, item.box[j], left);
    next->state = child(item.state, q.feature, next->box[j]);
    next->aims = item.aims;
    next->letters = item.letters;
    next->node = add_node(item.node);
    (left ? left_ : right_)[at] = next->node;
    sides[left ? 0 : 1] = std::move(next);
  }
  for (const std::int32_t row : item.rows) {
    const bool left = store_.goes_left(q, rows_[std::size_t(row)][j]);
    sides[left ? 0 : 1]->rows.push_back(row);
  }
  double part = 0.5;  // of the ranks, where they have an order
  const Span& span = item.box[j];
  if (!ensemble_.is_set[j] && span.lo <= span.hi) {
    part = double(std::min(q.cut, span.hi) - span.lo + 1) / double(span.hi - span.lo + 1);
  }
  const double share =
      Spread::left(double(sides[0]->rows.size()), double(item.rows.size()), part);
  sides[0]->weight = item.weight * share;
  sides[1]->weight = item.weight * (1 - share);
  return sides;
}

std::string BudgetComposer::run() {
  auto first = std::make_unique<Item>();
  first->state = start();
  first->box = store_.everything();
  for (std::size_t row = 0; row < rows_.size(); ++row) first->rows.push_back(std::int32_t(row));
  first->weight = 1.0;
  first->node = add_node(-1);
  leaf_[0] = decide_simply(*first);
  if (leaf_[0] < 0) {
    pass_messages(*first, *workers_[0]);
    leaf_[0] = decide_finally(*first);
  }
  recount(0);
  enqueue(std::move(first));
  std::string stopped;
  while (!queue_.empty() && stopped.empty()) {
    // branches that stay open take no leaves but time, which may have no other limit
    if (items_.size() / (timed_ ? 1000 : 20) > max_leaves_ + 100) {
      stopped = "leaves";
      break;
    }
    // as many at a time, however many threads there are, so that all give the same tree
    std::vector<std::unique_ptr<Item>> next, parents, sides;
    std::vector<std::size_t> undecided;
    try {
      while (next.size() < at_a_time && !queue_.empty()) next.push_back(dequeue());
      if (has_close_bounds(decision_.mode)) {
        parallel_for(next.size(), n_threads_, [&](std::size_t block, int worker) {
          find_cut(*next[block], *workers_[std::size_t(worker)]);
        });
      }
      for (auto& parent : next) {
        watch_.look(0, bytes() + item_bytes_ + shapes_.bytes(), 20000);
        parents.push_back(std::move(parent));
        for (auto& side : split(*parents.back())) {
          leaf_[std::size_t(side->node)] = decide_simply(*side);
          if (leaf_[std::size_t(side->node)] < 0) undecided.push_back(sides.size());
          sides.push_back(std::move(side));
        }
      }
    } catch (const LimitReached& limit) {
      stopped = limit.what();
      for (auto& item : next) {
        if (item) open(*item);
      }
    }
    if (has_close_bounds(decision_.mode)) {
      parallel_for(undecided.size(), n_threads_, [&](std::size_t block, int worker) {
        pass_messages(*sides[undecided[block]], *workers_[std::size_t(worker)]);
      });
      for (const std::size_t i : undecided) {
        leaf_[std::size_t(sides[i]->node)] = decide_finally(*sides[i]);
      }
    }
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const auto at = static_cast<std::size_t>(parents[i]->node);
      for (std::size_t side : {2 * i, 2 * i + 1}) recount(std::size_t(sides[side]->node));
      if (count_[0] > max_leaves_) {
        // one question too many
        left_[at] = right_[at] = -1;
        recount(at);
        open(*parents[i]);
        stopped = "leaves";
        continue;
      }
      for (std::size_t side : {2 * i, 2 * i + 1}) enqueue(std::move(sides[side]));
    }
  }
  while (!queue_.empty()) open(*dequeue());
  canvas_.built().root = draw(0);
  return stopped;
}

}  // namespace clearwood::condense
