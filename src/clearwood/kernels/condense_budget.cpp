// Composing under a budget: the boxes with most rows first, and tighter bounds.
#include "condense_budget.hpp"

#include <algorithm>
#include <cmath>

namespace clearwood::condense {

BudgetComposer::BudgetComposer(const Ensemble& ensemble, const Decision& decision, Limits limits,
                               std::function<void()> poll, const Rows& rows,
                               std::size_t max_leaves)
    : Composer(ensemble, decision, limits, std::move(poll)),
      rows_(rows),
      timed_(std::isfinite(limits.seconds)),
      max_leaves_(std::max<std::size_t>(max_leaves, 1)) {
  keeps_leaves_ = true;
  for (std::size_t j = 0; j < ensemble.n_features(); ++j) {
    cumulative_[j].assign(static_cast<std::size_t>(ensemble.n_cuts[j]) + 2, 0);
  }
}

std::int32_t BudgetComposer::certify(Item& item) {
  // near ties and medians are told from one leaf per closed tree
  constant_ = item.state.leaves;
  Validity unused(decision_.size());
  std::int32_t leaf = decide(item.state, unused);
  if (leaf < 0 && is_close()) {
    tighten(item.state, item.box);
    leaf = judge(item.state, unused);
  }
  return leaf;
}

void BudgetComposer::count(const Item& item) {
  for (std::size_t j = 0; j < item.box.size() && !item.rows.empty(); ++j) {
    if (ensemble_.is_set[j]) continue;
    auto& counts = cumulative_[j];
    std::fill(counts.begin(), counts.end(), 0);
    for (const std::int32_t row : item.rows) {
      const std::int32_t place = rows_[std::size_t(row)][j];
      ++counts[place < 0 ? counts.size() - 1 : std::size_t(place)];
    }
    for (std::size_t r = 1; r < counts.size(); ++r) counts[r] += counts[r - 1];
  }
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

std::string BudgetComposer::run() {
  const auto add = [&] {
    question_.push_back(-1);
    left_.push_back(-1);
    right_.push_back(-1);
    leaf_.push_back(-1);
    parent_.push_back(-1);
    same_.push_back(still_open);
    count_.push_back(1);
    return static_cast<std::int32_t>(leaf_.size()) - 1;
  };
  std::priority_queue<std::pair<double, std::int64_t>> queue;
  const auto bytes_of = [](const Item& item) {
    return 160 + 8 * item.state.ids.size() + 4 * item.state.leaves.size() + sizeof(Span) * item.box.size() + 4 * item.rows.size();
  };
  const auto enqueue = [&](std::unique_ptr<Item> item) {
    if (leaf_[std::size_t(item->node)] >= 0) return;
    item_bytes_ += bytes_of(*item);
    queue.emplace(item->weight, -std::int64_t(items_.size()));  // older first
    items_.push_back(std::move(item));
  };
  auto first = std::make_unique<Item>();
  first->state = start();
  first->box = store_.everything();
  for (std::size_t row = 0; row < rows_.size(); ++row) first->rows.push_back(std::int32_t(row));
  first->weight = 1.0;
  first->node = add();
  leaf_[0] = certify(*first);
  recount(0);
  enqueue(std::move(first));
  std::string stopped;
  while (!queue.empty()) {
    // branches that stay open take no leaves but time, which may have no other limit
    if (items_.size() / (timed_ ? 1000 : 20) > max_leaves_ + 100) {
      stopped = "leaves";
      break;
    }
    try {
      watch_.look(0, bytes() + item_bytes_, 20000);
    } catch (const LimitReached& limit) {
      stopped = limit.what();
      break;
    }
    std::unique_ptr<Item> item = std::move(items_[std::size_t(-queue.top().second)]);
    queue.pop();
    item_bytes_ -= bytes_of(*item);
    // again, for the summed steps of this box, which the choice reads
    (void)certify(*item);
    count(*item);
    std::int32_t best = choose(item->state, item->box, item->rows.size());
    const auto j = static_cast<std::size_t>(store_.question(best).feature);
    best = store_.asked_of(best, item->box[j]);
    const Question q = store_.question(best);
    const auto at = static_cast<std::size_t>(item->node);
    question_[at] = best;
    std::unique_ptr<Item> sides[2];
    for (const bool left : {true, false}) {
      auto next = std::make_unique<Item>();
      next->box = item->box;
      next->box[j] = store_.side(q, item->box[j], left);
      next->state = child(item->state, q.feature, next->box[j]);
      next->node = add();
      parent_.back() = item->node;
      (left ? left_ : right_)[at] = next->node;
      sides[left ? 0 : 1] = std::move(next);
    }
    for (const std::int32_t row : item->rows) {
      const std::int32_t place = rows_[std::size_t(row)][j];
      bool goes_left;
      if (ensemble_.is_set[j]) {
        goes_left = store_.in_set(q, std::size_t(place)) != (q.default_left != 0);
      } else {
        goes_left = place < 0 ? q.default_left != 0 : place <= q.cut;
      }
      sides[goes_left ? 0 : 1]->rows.push_back(row);
    }
    double share = left_share(q, item->box, item->rows.size());
    if (ensemble_.is_set[j]) {
      share = (double(sides[0]->rows.size()) + 0.5 * prior_) / (double(item->rows.size()) + prior_);
    }
    for (int side = 0; side < 2; ++side) {
      sides[side]->weight = item->weight * (side == 0 ? share : 1 - share);
      const auto node = static_cast<std::size_t>(sides[side]->node);
      leaf_[node] = certify(*sides[side]);
      recount(node);
    }
    if (count_[0] > max_leaves_) {
      // one question too many
      left_[at] = right_[at] = -1;
      recount(at);
      open(*item);
      stopped = "leaves";
      break;
    }
    for (auto& side : sides) enqueue(std::move(side));
  }
  while (!queue.empty()) {
    open(*items_[std::size_t(-queue.top().second)]);
    queue.pop();
  }
  canvas_.built().root = draw(0);
  return stopped;
}

}  // namespace clearwood::condense
