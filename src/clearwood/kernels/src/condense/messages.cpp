// Close bounds on a sum of trees in a box.
//
// For any step functions m[t, j] of single features, the least sum of trees is at least
//
//     sum over features j of the least, over its ranks, of the sum over trees t of m[t, j]
//   + sum over trees t of the least value of tree t less its own steps,
//
// because both lines are minimised apart. The steps are chosen in rounds of message passing: one
// tree at a time takes in the messages of all others to its features and gives back all it can, so
// that the second line is zero. No round makes the bound worse. An equal part of its least value
// per cell for every feature is what Globerson and Jaakkola (2007, "Fixing max-product") give;
// what is left over is given too (Tourani, Shekhovtsov, Rother and Savchynskyy 2018, "MPLP++"),
// which takes a tenth of the rounds. All of it is done in whole numbers, values rounded down, so
// that nothing is lost to the order of adding.
#include "condense/messages.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace clearwood::condense {

namespace {
constexpr std::uint32_t most_leaves = 64;
constexpr std::size_t most_entries = 256;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_sum = 1 << 24;
}  // namespace

Messages::Messages(const Store& store, const Shapes& shapes, const Ensemble& ensemble,
                   const Decision& decision)
    : store_(store),
      shapes_(shapes),
      ensemble_(ensemble),
      ranks_(ensemble.n_features()),
      sums_(ensemble.n_features()),
      sums_at_(ensemble.n_features()) {
  for (std::size_t j = 0; j < ensemble.n_features(); ++j) {
    if (!ensemble.is_set[j]) sums_[j].resize(static_cast<std::size_t>(ensemble.n_cuts[j]) + 2);
    sums_at_[j] = sums_[j].data();
  }
  double size = 0;
  for (const Id id : store.trees()) {
    double most = 0;
    for (std::size_t d = 0; d < decision.size(); ++d) {
      most = std::max({most, std::abs(store.low(id)[d]), std::abs(store.high(id)[d])});
    }
    size += most;
  }
  if (size > 0) scale_ = std::exp2(std::floor(std::log2(largest_sum / size)));
}

const Shape& Shapes::make(Id id) {
  if (shapes_.size() <= id) shapes_.resize(2 * std::size_t(id) + 1);
  if (shapes_[id]) return *shapes_[id];
  shapes_[id] = std::make_unique<Shape>();
  Shape& s = *shapes_[id];
  bytes_ += sizeof(Shape) + 64;
  if (store_.node(id).leaves > most_leaves) return s;
  std::vector<std::pair<std::int32_t, std::int32_t>> cuts;
  const std::function<void(Id)> collect = [&](Id node) {
    if (store_.is_leaf(node)) return;
    const Question& q = store_.question(store_.node(node).question);
    if (!ensemble_.is_set[std::size_t(q.feature)]) cuts.emplace_back(q.feature, q.cut);
    collect(store_.node(node).left);
    collect(store_.node(node).right);
  };
  collect(id);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  s.first_cell.push_back(0);
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    const auto [feature, cut] = cuts[c];
    if (s.feature.empty() || s.feature.back() != feature) s.feature.push_back(feature);
    // "is it missing?" cuts no numbers
    if (cut < ensemble_.n_cuts[std::size_t(feature)]) s.end.push_back(cut);
    if (c + 1 == cuts.size() || cuts[c + 1].first != feature) {
      const bool missing = ensemble_.missing_atom[std::size_t(feature)] != 0;
      s.end.insert(s.end.end(), missing ? 2 : 1, std::numeric_limits<std::int32_t>::max());
      s.has_missing.push_back(missing);
      s.first_cell.push_back(static_cast<std::int32_t>(s.end.size()));
    }
  }
  const std::size_t k = s.feature.size();
  // the cells a path leaves over: an interval of numbers, perhaps none, and missing values
  struct Part {
    std::int32_t from, to;
    bool missing;
  };
  std::vector<Part> part(k);
  for (std::size_t i = 0; i < k; ++i) {
    const bool missing = s.has_missing[i] != 0;
    part[i] = {0, s.first_cell[i + 1] - s.first_cell[i] - 1 - missing, missing};
  }
  bool fits = true;
  const std::function<void(Id, std::size_t)> add = [&](Id leaf, std::size_t i) {
    if (s.leaves.size() > most_entries) fits = false;
    if (i == k || !fits) {
      for (const Part& p : part) {
        s.from.push_back(static_cast<std::uint8_t>(p.from));
        s.to.push_back(static_cast<std::uint8_t>(p.to));
      }
      s.leaves.push_back(leaf);
      return;
    }
    const Part all = part[i];
    const std::int32_t missing = s.first_cell[i + 1] - s.first_cell[i] - 1;
    if (all.missing && all.from <= all.to && all.to == missing - 1) {
      part[i].to = missing;  // one interval
      add(leaf, i + 1);
    } else {
      if (all.from <= all.to) add(leaf, i + 1);
      if (all.missing) {
        part[i].from = part[i].to = missing;
        add(leaf, i + 1);
      }
    }
    part[i] = all;
  };
  const std::function<void(Id)> walk = [&](Id node) {
    if (store_.is_leaf(node)) {
      add(node, 0);
      return;
    }
    const Question& q = store_.question(store_.node(node).question);
    if (ensemble_.is_set[std::size_t(q.feature)]) {
      walk(store_.node(node).left);
      walk(store_.node(node).right);
      return;
    }
    std::size_t i = 0;
    while (s.feature[i] != q.feature) ++i;
    const auto first = s.end.begin() + s.first_cell[i];
    const auto last = s.end.begin() + s.first_cell[i + 1] - 1 - s.has_missing[i];
    const auto cell = static_cast<std::int32_t>(std::lower_bound(first, last, q.cut) - first);
    const Part all = part[i];
    part[i] = {all.from, std::min(all.to, cell), all.missing && q.default_left};
    if (part[i].from <= part[i].to || part[i].missing) walk(store_.node(node).left);
    part[i] = {std::max(all.from, cell + 1), all.to, all.missing && !q.default_left};
    if (part[i].from <= part[i].to || part[i].missing) walk(store_.node(node).right);
    part[i] = all;
  };
  walk(id);
  s.usable = fits && s.end.size() < 255;
  bytes_ += 12 * k + 4 * s.end.size() + 2 * s.from.size() + 4 * s.leaves.size();
  return s;
}

void Messages::gather(const std::vector<Id>& ids, const std::vector<Span>& box, std::size_t d,
                      double sign) {
  for (std::size_t j = 0; j < box.size(); ++j) {
    if (ensemble_.is_set[j]) continue;
    const bool missing = ensemble_.missing_atom[j] && box[j].missing;
    ranks_[j] = {box[j].lo, box[j].hi, missing ? ensemble_.n_cuts[j] + 1 : -1};
  }
  open_.clear();
  values_.clear();
  fixed_ = 0;
  n_trees_ = ids.size();
  for (const Id id : ids) {
    const double low = sign > 0 ? store_.low(id)[d] : -store_.high(id)[d];
    const Shape& s = shapes_[id];
    open_.push_back(nullptr);
    if (store_.low(id)[d] == store_.high(id)[d] || !s.usable || s.feature.empty()) {
      fixed_ += low;
      continue;
    }
    open_.back() = &s;
    for (const Id leaf : s.leaves) {
      values_.push_back(static_cast<std::int32_t>(std::floor(sign * store_.low(leaf)[d] * scale_)));
    }
  }
}

// Messages of a larger box hold in a smaller one; cells that grew together take one of theirs.
void Messages::carry_over(const Letters& from, const std::vector<Id>& ids,
                          const std::vector<std::int32_t>& positions,
                          const std::vector<Span>& box) {
  messages_.clear();
  std::size_t at = 0, start = 0;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const Shape* mine = open_[t];
    while (at < from.ids.size() && from.positions[at] < positions[t]) {
      start += std::size_t(shapes_[from.ids[at++]].n_cells());
    }
    if (mine == nullptr) continue;
    if (at == from.ids.size() || from.positions[at] != positions[t]) {
      messages_.resize(messages_.size() + std::size_t(mine->n_cells()), 0);
      continue;
    }
    const Shape& theirs = shapes_[from.ids[at]];
    if (&theirs == mine) {
      messages_.insert(messages_.end(), from.messages.begin() + std::ptrdiff_t(start),
                       from.messages.begin() + std::ptrdiff_t(start) + mine->n_cells());
      continue;
    }
    std::size_t f = 0;
    for (std::size_t i = 0; i < mine->feature.size(); ++i) {
      while (f < theirs.feature.size() && theirs.feature[f] < mine->feature[i]) ++f;
      const std::int32_t first = mine->first_cell[i], last = mine->first_cell[i + 1] - 1;
      const std::int32_t numbers = last - mine->has_missing[i];
      if (f == theirs.feature.size() || theirs.feature[f] != mine->feature[i]) {
        messages_.resize(messages_.size() + std::size_t(last - first + 1), 0);
        continue;
      }
      const std::int32_t their_last = theirs.first_cell[f + 1] - 1;
      std::int32_t c = theirs.first_cell[f];
      for (std::int32_t cell = first; cell <= numbers; ++cell) {
        const std::int32_t rank =
            cell == numbers ? box[std::size_t(mine->feature[i])].hi : mine->end[std::size_t(cell)];
        while (c < their_last - theirs.has_missing[f] && theirs.end[std::size_t(c)] < rank) ++c;
        messages_.push_back(from.messages[start + std::size_t(c)]);
      }
      if (mine->has_missing[i]) messages_.push_back(from.messages[start + std::size_t(their_last)]);
    }
  }
}

void Messages::add_up() {
  static const auto add = CLEARWOOD_DISPATCH(add_messages);
  for (std::size_t j = 0; j < ranks_.size(); ++j) {
    if (ranks_[j].lo <= ranks_[j].hi) {
      std::fill(&sums_[j][std::size_t(ranks_[j].lo)], &sums_[j][std::size_t(ranks_[j].hi)] + 1, 0);
    }
    if (ranks_[j].missing >= 0) sums_[j][std::size_t(ranks_[j].missing)] = 0;
  }
  const std::int32_t* message = messages_.data();
  for (const Shape* s : open_) {
    if (s == nullptr) continue;
    add(s->view(), ranks_.data(), sums_at_.data(), message);
    message += s->n_cells();
  }
}

void Messages::round(bool evenly) {
  static const auto fully = CLEARWOOD_DISPATCH(pass_messages);
  static const auto in_part = CLEARWOOD_DISPATCH(pass_evenly);
  std::int32_t* message = messages_.data();
  const std::int32_t* value = values_.data();
  for (const Shape* s : open_) {
    if (s == nullptr) continue;
    const std::size_t room =
        2 * std::size_t(s->n_cells()) + (s->feature.size() + 1) * s->leaves.size();
    scratch_.resize(std::max(scratch_.size(), room));
    (evenly ? in_part : fully)(s->view(), ranks_.data(), sums_at_.data(), value, message,
                               scratch_.data());
    message += s->n_cells();
    value += s->leaves.size();
  }
}

// After a round, which leaves every tree with nothing below zero.
double Messages::bound() const {
  static const auto least = CLEARWOOD_DISPATCH(least_of);
  // sums of messages that might not fit into 32 bits bound nothing
  std::int64_t size = 0;
  for (const std::int32_t m : messages_) size += m == -unreachable ? 0 : std::abs(m);
  if (size > (std::int64_t(1) << 30)) return -infinity;
  std::int64_t sum = 0;
  for (std::size_t j = 0; j < ranks_.size(); ++j) {
    if (ensemble_.is_set[j]) continue;
    std::int32_t smallest = unreachable;
    if (ranks_[j].lo <= ranks_[j].hi) {
      smallest = least(&sums_[j][std::size_t(ranks_[j].lo)],
                       std::size_t(ranks_[j].hi - ranks_[j].lo + 1));
    }
    if (ranks_[j].missing >= 0) {
      smallest = std::min(smallest, sums_[j][std::size_t(ranks_[j].missing)]);
    }
    sum += smallest;
  }
  // the trees that are bounded as they are were added with rounding
  return double(sum) / scale_ + fixed_ -
         double(n_trees_ + 2) * 2.3e-16 * (std::abs(fixed_) + largest_sum / scale_);
}

double Messages::lower(const std::vector<Id>& ids, const std::vector<std::int32_t>& positions,
                       const std::vector<Span>& box, std::size_t d, double sign, double enough,
                       int rounds, Letters& letters) {
  gather(ids, box, d, sign);
  carry_over(letters, ids, positions, box);
  add_up();
  double best = -infinity, last = -infinity;
  for (int done = 1; done <= rounds; ++done) {
    round(false);
    const double now = bound();
    best = std::max(best, now);
    // as much again in every round that is left would not do
    if (best >= enough || (now - last) * (rounds - done) < enough - best) break;
    last = now;
  }
  letters.ids.clear();
  letters.positions.clear();
  for (std::size_t t = 0; t < ids.size(); ++t) {
    if (open_[t] == nullptr) continue;
    letters.ids.push_back(ids[t]);
    letters.positions.push_back(positions[t]);
  }
  letters.messages = messages_;
  return best;
}

double Messages::from_nothing(const std::vector<Id>& ids, const std::vector<Span>& box,
                              std::size_t d, double sign, int rounds) {
  gather(ids, box, d, sign);
  std::size_t n_cells = 0;
  for (const Shape* s : open_) n_cells += s == nullptr ? 0 : std::size_t(s->n_cells());
  messages_.assign(n_cells, 0);
  add_up();
  for (int done = 0; done < rounds; ++done) round(true);
  return bound();
}

}  // namespace clearwood::condense
