// Composing: from restricted trees to one diagram.
#include "condense/build.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace clearwood::condense {

std::int32_t Canvas::add(std::int32_t question, std::int32_t left, std::int32_t right,
                         std::int32_t outcome, std::int32_t payload, bool certified) {
  built_.question.push_back(question);
  built_.left.push_back(left);
  built_.right.push_back(right);
  built_.outcome.push_back(outcome);
  built_.payload.push_back(payload);
  built_.certified.push_back(certified);
  return static_cast<std::int32_t>(built_.size()) - 1;
}

std::int32_t Canvas::split(std::int32_t question, std::int32_t left, std::int32_t right) {
  if (left == right) return left;
  const std::uint64_t children = (std::uint64_t(std::uint32_t(left)) << 32) | std::uint32_t(right);
  const Hash key{mix(children + 0x9e3779b97f4a7c15ULL * std::uint64_t(question + 1)),
                 children ^ (std::uint64_t(question) << 17)};
  const auto [at, fresh] = unique_.try_emplace(key, 0);
  if (fresh) at->second = add(question, left, right, -1, -1, true);
  return at->second;
}

std::int32_t Canvas::class_leaf(std::int32_t outcome) {
  const auto at = static_cast<std::size_t>(outcome);
  if (class_leaf_.size() <= at) class_leaf_.resize(at + 1, -1);
  if (class_leaf_[at] < 0) class_leaf_[at] = add(-1, -1, -1, outcome, -1, true);
  return class_leaf_[at];
}

std::int32_t Canvas::value_leaf(const double* value, double half_width) {
  Hash key{11, 13};
  for (std::size_t k = 0; k < n_outputs_; ++k) {
    std::uint64_t bits;
    std::memcpy(&bits, value + k, sizeof bits);
    key.a = mix(key.a + bits + 0x9e3779b97f4a7c15ULL);
    key.b = mix(key.b ^ (bits + 0xd1b54a32d192ed03ULL));
  }
  const auto [at, fresh] = unique_value_.try_emplace(key, 0);
  if (fresh) {
    at->second = add(-1, -1, -1, -1, static_cast<std::int32_t>(built_.value.size() / n_outputs_), true);
    for (std::size_t k = 0; k < n_outputs_; ++k) {
      built_.value.push_back(value[k]);
      built_.lower.push_back(value[k] - half_width);
      built_.upper.push_back(value[k] + half_width);
    }
  }
  return at->second;
}

std::int32_t Canvas::open_leaf() {
  if (open_ < 0) open_ = add(-1, -1, -1, -1, -1, false);
  return open_;
}

double simplest(double low, double high) {
  if (low <= 0 && high >= 0) return 0;
  if (!(low < high)) return low;
  int exponent;
  std::frexp(high - low, &exponent);
  for (int e = exponent + 1;; --e) {
    const double step = std::ldexp(1.0, e);
    const double candidate = std::ceil(low / step) * step;
    if (candidate <= high && candidate >= low) return candidate;
    if (e < exponent - 60) return low;
  }
}

Composer::Composer(const Ensemble& ensemble, const Decision& decision, Limits limits,
                   std::function<void()> poll)
    : ensemble_(ensemble),
      decision_(decision),
      store_(ensemble, decision),
      canvas_(ensemble.n_outputs()),
      watch_(limits, std::move(poll)),
      constant_(ensemble.n_trees()),
      low_(decision.size()),
      high_(decision.size()),
      fifth_(limits.nodes / 5) {}

void Composer::absorb(State& state, std::int32_t position, Id leaf) {
  const auto at = static_cast<std::size_t>(position);
  constant_[at] = leaf;
  if (keeps_leaves_) state.leaves[at] = leaf;
  const double* value = store_.low(leaf);
  for (std::size_t d = 0; d < state.base.size(); ++d) state.base[d] += value[d];
  if (decision_.mode == Mode::value || decision_.mode == Mode::median) {
    state.closed += mix((std::uint64_t(position) << 32) ^ store_.key(leaf));
  }
}

State Composer::start() {
  State state;
  if (keeps_leaves_) state.leaves.resize(ensemble_.n_trees());
  state.base.resize(decision_.size());
  for (std::size_t d = 0; d < decision_.size(); ++d) {
    const auto a = std::size_t(decision_.a[d]), b = std::size_t(decision_.b[d]);
    const auto scaled = [&](std::size_t k) {
      return decision_.divide ? ensemble_.base[k] / ensemble_.divisor[k] : ensemble_.base[k];
    };
    if (ensemble_.n_outputs() == 1) {
      state.base[d] = scaled(0);
    } else {
      state.base[d] = decision_.mode == Mode::class_ ? scaled(a) - scaled(b) : scaled(a);
    }
  }
  for (std::size_t t = 0; t < ensemble_.n_trees(); ++t) {
    const Id id = store_.trees()[t];
    if (store_.is_leaf(id)) {
      absorb(state, static_cast<std::int32_t>(t), id);
    } else {
      state.ids.push_back(id);
      state.positions.push_back(static_cast<std::int32_t>(t));
    }
  }
  return state;
}

State Composer::child(const State& state, std::int32_t feature, const Span& span) {
  State next;
  next.base = state.base;
  next.dead = state.dead;
  next.closed = state.closed;
  next.leaves = state.leaves;
  next.ids.reserve(state.ids.size());
  next.positions.reserve(state.ids.size());
  for (std::size_t i = 0; i < state.ids.size(); ++i) {
    const Id id = store_.restrict(state.ids[i], feature, span);
    if (store_.is_leaf(id)) {
      absorb(next, state.positions[i], id);
    } else {
      next.ids.push_back(id);
      next.positions.push_back(state.positions[i]);
    }
  }
  return next;
}

Hash Composer::key(const State& state) const {
  Hash key{state.dead + 1, state.closed};
  const bool ordered = decision_.mode == Mode::value || decision_.mode == Mode::median;
  for (std::size_t i = 0; i < state.ids.size(); ++i) {
    const std::uint64_t part =
        ordered ? mix((std::uint64_t(state.positions[i]) << 32) ^ store_.key(state.ids[i]))
                : store_.key(state.ids[i]);
    key.a += part;
    key.b += mix(part + 0x632be59bd9b4e019ULL);
  }
  key.a = mix(key.a ^ state.closed);
  return key;
}

std::int32_t Composer::closed_leaf() {
  std::vector<double> raw(ensemble_.n_outputs());
  store_.exact(constant_.data(), raw.data());
  if (decision_.mode == Mode::class_) return canvas_.class_leaf(store_.class_of(raw.data()));
  return canvas_.value_leaf(raw.data(), 0.0);
}

std::int32_t Composer::median(const State& state) {
  // Bounds of the weighted median, from below and above; half is widened for rounding.
  std::vector<std::pair<double, double>> lows, highs;
  std::vector<Id> now = constant_;
  double total = 0;
  for (std::size_t i = 0; i < state.ids.size(); ++i) {
    now[std::size_t(state.positions[i])] = state.ids[i];
  }
  for (std::size_t t = 0; t < now.size(); ++t) {
    lows.emplace_back(store_.low(now[t])[0], ensemble_.weight[t]);
    highs.emplace_back(store_.high(now[t])[0], ensemble_.weight[t]);
    total += ensemble_.weight[t];
  }
  const auto reach = [](std::vector<std::pair<double, double>>& votes, double half) {
    std::sort(votes.begin(), votes.end());
    double reached = 0;
    for (const auto& vote : votes) {
      reached += vote.second;
      if (reached >= half) return vote.first;
    }
    return votes.back().first;
  };
  const double low = reach(lows, 0.5 * total * (1 - 1e-9));
  const double high = reach(highs, 0.5 * total * (1 + 1e-9));
  return low == high ? canvas_.value_leaf(&low, 0.0) : -1;
}

void Composer::bound(const State& state) {
  const std::size_t n = decision_.size();
  std::fill(low_.begin(), low_.end(), 0.0);
  std::fill(high_.begin(), high_.end(), 0.0);
  for (const Id id : state.ids) {
    const double *low = store_.low(id), *high = store_.high(id);
    for (std::size_t d = 0; d < n; ++d) {
      low_[d] += low[d];
      high_[d] += high[d];
    }
  }
}

std::int32_t Composer::decide(State& state, Validity& validity) {
  bound(state);
  return judge(state, validity);
}

std::int32_t Composer::judge(State& state, Validity& validity) {
  const std::size_t n = decision_.size();
  wanted_.clear();
  switch (decision_.mode) {
    case Mode::value:
    case Mode::median: {
      if (state.ids.empty()) return closed_leaf();
      if (decision_.mode == Mode::median) {
        const std::int32_t leaf = median(state);
        if (leaf >= 0) return leaf;
      }
      for (std::size_t d = 0; d < n; ++d) wanted_.push_back(std::int32_t(d));
      return -1;
    }
    case Mode::tolerance: {
      const double reach = decision_.tolerance - decision_.slack;
      for (std::size_t d = 0; d < n; ++d) {
        if (high_[d] - low_[d] > 2 * reach) wanted_.push_back(std::int32_t(d));
      }
      if (!wanted_.empty()) return -1;
      std::vector<double> value(n);
      for (std::size_t d = 0; d < n; ++d) {
        value[d] = simplest(state.base[d] + high_[d] - reach, state.base[d] + low_[d] + reach);
        validity.lo[d] = std::max(validity.lo[d], value[d] - reach - low_[d]);
        validity.hi[d] = std::min(validity.hi[d], value[d] + reach - high_[d]);
      }
      return canvas_.value_leaf(value.data(), decision_.tolerance);
    }
    case Mode::class_: break;
  }
  // A class that another one beats everywhere in the box is out; so are the trees of its own.
  const std::uint64_t before = state.dead;
  for (std::size_t d = 0; d < n; ++d) {
    const int a = decision_.a[d], b = decision_.b[d];
    if (((state.dead >> a) | (state.dead >> b)) & 1) continue;
    if (state.base[d] + low_[d] >= decision_.above[d]) {
      state.dead |= std::uint64_t(1) << b;
      validity.lo[d] = std::max(validity.lo[d], decision_.above[d] - low_[d]);
    } else if (state.base[d] + high_[d] <= decision_.below[d]) {
      state.dead |= std::uint64_t(1) << a;
      validity.hi[d] = std::min(validity.hi[d], decision_.below[d] - high_[d]);
    }
  }
  const std::uint64_t all = decision_.n_classes == most_classes
                                ? ~std::uint64_t(0)
                                : (std::uint64_t(1) << decision_.n_classes) - 1;
  const std::uint64_t alive = all & ~state.dead;
  if ((alive & (alive - 1)) == 0) {
    int winner = 0;
    while (!(alive >> winner & 1)) ++winner;
    return canvas_.class_leaf(winner);
  }
  if (state.dead != before && ensemble_.n_outputs() > 1 && ensemble_.tree_output[0] >= 0) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < state.ids.size(); ++i) {
      const int output = ensemble_.tree_output[std::size_t(state.positions[i])];
      if (state.dead >> output & 1) {
        // the tree's value no longer matters: any of its leaves stands for it
        Id id = state.ids[i];
        while (!store_.is_leaf(id)) id = store_.node(id).left;
        constant_[std::size_t(state.positions[i])] = id;
        if (keeps_leaves_) state.leaves[std::size_t(state.positions[i])] = id;
        continue;
      }
      state.ids[kept] = state.ids[i];
      state.positions[kept] = state.positions[i];
      ++kept;
    }
    state.ids.resize(kept);
    state.positions.resize(kept);
  }
  if (state.ids.empty()) {
    // within rounding of a tie: as the library adds up
    std::vector<double> raw(ensemble_.n_outputs());
    store_.exact(constant_.data(), raw.data());
    for (std::size_t k = 0; k < raw.size() && raw.size() > 1; ++k) {
      if (state.dead >> k & 1) raw[k] = -std::numeric_limits<double>::infinity();
    }
    validity.close();
    return canvas_.class_leaf(store_.class_of(raw.data()));
  }
  // Narrow the differences between the likeliest class and those that may still beat it.
  std::vector<double> lead(std::size_t(decision_.n_classes), 0.0);
  for (std::size_t d = 0; d < n; ++d) {
    const auto a = std::size_t(decision_.a[d]), b = std::size_t(decision_.b[d]);
    if (((state.dead >> a) | (state.dead >> b)) & 1) continue;
    const double middle = state.base[d] + 0.5 * (low_[d] + high_[d]);
    ++lead[middle >= 0 ? a : b];
  }
  const auto likeliest = std::max_element(lead.begin(), lead.end()) - lead.begin();
  for (std::size_t d = 0; d < n; ++d) {
    const auto a = std::size_t(decision_.a[d]), b = std::size_t(decision_.b[d]);
    if (((state.dead >> a) | (state.dead >> b)) & 1) continue;
    if (std::ptrdiff_t(a) == likeliest || std::ptrdiff_t(b) == likeliest) {
      wanted_.push_back(std::int32_t(d));
    }
  }
  if (wanted_.empty()) {
    for (std::size_t d = 0; d < n; ++d) wanted_.push_back(std::int32_t(d));
  }
  return -1;
}

void Composer::score(Id id, double weight) {
  const Store::Node& node = store_.node(id);
  if (node.question == Store::leaf || weight < least_weight) return;
  const double *low = store_.low(id), *high = store_.high(id);
  const double *ll = store_.low(node.left), *lh = store_.high(node.left);
  const double *rl = store_.low(node.right), *rh = store_.high(node.right);
  double shrinks = 0;
  for (const std::int32_t d : wanted_) {
    shrinks += (high[d] - low[d]) - 0.5 * ((lh[d] - ll[d]) + (rh[d] - rl[d]));
  }
  double& score = score_[std::size_t(node.question)];
  if (score == 0) touched_.push_back(node.question);
  // a question that narrows nothing may still be the only one left
  score += weight * (shrinks + 1e-12 * std::abs(high[0] - low[0])) + 1e-280;
  this->score(node.left, 0.5 * weight);
  this->score(node.right, 0.5 * weight);
}

std::int32_t Composer::best_question(const State& state) {
  if (score_.size() < store_.n_questions()) score_.resize(store_.n_questions() * 2, 0.0);
  touched_.clear();
  for (const Id id : state.ids) score(id, 1.0);
  std::int32_t best = touched_.front();
  for (const std::int32_t q : touched_) {
    if (score_[std::size_t(q)] > score_[std::size_t(best)] ||
        (score_[std::size_t(q)] == score_[std::size_t(best)] && q < best)) {
      best = q;
    }
  }
  for (const std::int32_t q : touched_) score_[std::size_t(q)] = 0;
  return best;
}

std::int32_t Composer::recall(const Hash& name, const State& state, Validity& validity) {
  const auto found = memo_.find(name);
  if (found == memo_.end()) return -1;
  const std::size_t n = decision_.size();
  for (std::int32_t at = found->second; at >= 0; at = entries_[std::size_t(at)].next) {
    const double* lo = &ranges_[std::size_t(at) * 2 * n];
    const double* hi = lo + n;
    bool holds = true;
    for (std::size_t d = 0; d < n && holds; ++d) {
      holds = lo[d] <= state.base[d] && state.base[d] <= hi[d];
    }
    if (!holds) continue;
    for (std::size_t d = 0; d < n; ++d) {
      validity.lo[d] = std::max(validity.lo[d], lo[d]);
      validity.hi[d] = std::min(validity.hi[d], hi[d]);
    }
    return entries_[std::size_t(at)].node;
  }
  return -1;
}

void Composer::remember(const Hash& name, std::int32_t node, const Validity& validity) {
  if (validity.empty()) return;
  const auto [at, fresh] = memo_.try_emplace(name, -1);
  entries_.push_back({at->second, node});
  at->second = static_cast<std::int32_t>(entries_.size()) - 1;
  ranges_.insert(ranges_.end(), validity.lo.begin(), validity.lo.end());
  ranges_.insert(ranges_.end(), validity.hi.begin(), validity.hi.end());
}

std::size_t Composer::n_open(const State& state) const {
  std::size_t sum = 0;
  for (const Id id : state.ids) sum += store_.node(id).leaves;
  return sum;
}

std::size_t Composer::bytes() const {
  return store_.bytes() + canvas_.bytes() + memo_.size() * 56 + entries_.size() * 8 +
         ranges_.size() * 8;
}

std::int32_t Composer::build(State& state, std::vector<Span>& box, double weight,
                             Validity& validity) {
  const std::int32_t decided = decide(state, validity);
  if (decided >= 0) {
    progress_ += weight;
    return decided;
  }
  const Hash name = key(state);
  const std::int32_t known = recall(name, state, validity);
  if (known >= 0) {
    progress_ += weight;
    return known;
  }
  watch_.look(canvas_.size(), bytes(), n_open(state));
  if (canvas_.size() <= fifth_) early_progress_ = progress_;
  // closer bounds would end branches earlier, but those come out as one leaf in any case
  std::int32_t best = best_question(state);
  const auto j = static_cast<std::size_t>(store_.question(best).feature);
  const Span span = box[j];
  best = store_.asked_of(best, span);
  const Question question = store_.question(best);
  Validity inner(decision_.size());
  std::int32_t sides[2];
  for (const bool left : {true, false}) {
    box[j] = store_.side(question, span, left);
    State next = child(state, question.feature, box[j]);
    Validity one(decision_.size());
    sides[left ? 0 : 1] = build(next, box, 0.5 * weight, one);
    inner.meet(one, next.base, state.base);
  }
  box[j] = span;
  const std::int32_t node = canvas_.split(best, sides[0], sides[1]);
  remember(name, node, inner);
  validity.meet(inner);
  return node;
}

void Composer::run() {
  std::vector<Span> box = store_.everything();
  State state = start();
  Validity validity(decision_.size());
  canvas_.built().root = build(state, box, 1.0, validity);
}

}  // namespace clearwood::condense
