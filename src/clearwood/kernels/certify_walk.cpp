// The walk through the product of diagram and ensemble.
//
// A state is a node of the diagram and the trees as they are within the box of the way there. The
// same state met again by another way needs no second proof: trees keep in their questions which
// places of a set, and whether missing values, are still possible, and the ranks of numbers enter
// a question only by being on one side of its cut. The diagram's own questions about sets and
// missing values put the column's region into the key. A proof that found a branch of the diagram
// unreachable holds for its box only and is not reused.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "certify.hpp"

namespace clearwood::certify {

namespace {

constexpr std::int64_t unbounded = std::int64_t(1) << 62;
constexpr std::size_t most_classes_in_pairs = 24;
constexpr int deepest = 20000;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Walk::Proof::Proof(std::size_t n) : least(n, -unbounded), greatest(n, unbounded) {}

Walk::Walk(const Columns& columns, const std::vector<std::vector<std::uint64_t>>& sets,
           const Ensemble& ensemble, const Claim& claim, const Limits& limits,
           std::function<void()> poll)
    : columns_(columns),
      ensemble_(ensemble),
      claim_(claim),
      limits_(limits),
      poll_(std::move(poll)),
      n_classes_(std::max<std::size_t>(2, ensemble.n_outputs())),
      pairs_(claim.mode == Mode::class_ && ensemble.n_outputs() > 1 &&
             ensemble.n_outputs() <= most_classes_in_pairs),
      store_(columns, sets, ensemble, claim,
             pairs_ ? ensemble.n_outputs() * (ensemble.n_outputs() - 1) / 2 : 0),
      box_(store_.everything()),
      constant_(ensemble.n_trees()),
      low_(store_.n_functionals()),
      high_(store_.n_functionals()) {
  const Nodes& nodes = claim.nodes;
  std::vector<std::int32_t> number(columns.is_set.size(), -1);
  for (std::size_t j = 0; j < columns.is_set.size(); ++j) {
    if (columns.is_set[j] || columns.missing[j]) {
      number[j] = static_cast<std::int32_t>(special_.size());
      special_.push_back(static_cast<std::int32_t>(j));
    }
  }
  support_.assign(nodes.size(), 0);
  parents_.assign(nodes.size(), 0);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes.feature[i] < 0) continue;
    const auto left = std::size_t(nodes.left[i]), right = std::size_t(nodes.right[i]);
    ++parents_[left], ++parents_[right];
    support_[i] = support_[left] | support_[right];
    const std::int32_t at = number[std::size_t(nodes.feature[i])];
    if (at >= 0) support_[i] |= std::uint64_t(1) << (at & 63);
  }
}

std::size_t Walk::pair(std::size_t a, std::size_t b) const {
  if (ensemble_.n_outputs() == 1) return 0;
  return a * ensemble_.n_outputs() - a * (a + 1) / 2 + (b - a - 1);
}

void Walk::absorb(State& state, std::int32_t tree, Id leaf) {
  constant_[std::size_t(tree)] = leaf;
  const std::int64_t *low = store_.low(leaf), *high = store_.high(leaf);
  for (std::size_t f = 0; f < state.low.size(); ++f) {
    state.low[f] += low[f];
    state.high[f] += high[f];
  }
  if (claim_.mode == Mode::value || claim_.mode == Mode::median) {
    state.closed += mix((std::uint64_t(tree) << 32) + leaf + 1);
  }
}

Walk::State Walk::start() {
  State state;
  if (claim_.mode == Mode::class_ || claim_.mode == Mode::tolerance) {
    const std::size_t outputs = ensemble_.n_outputs();
    if (pairs_) {
      for (std::size_t a = 0; a < outputs; ++a) {
        for (std::size_t b = a + 1; b < outputs; ++b) {
          state.low.push_back(ensemble_.base_low[a] - ensemble_.base_high[b]);
          state.high.push_back(ensemble_.base_high[a] - ensemble_.base_low[b]);
        }
      }
    } else {
      state.low = ensemble_.base_low;
      state.high = ensemble_.base_high;
    }
  }
  for (std::size_t t = 0; t < ensemble_.n_trees(); ++t) {
    const Id id = store_.trees()[t];
    if (store_.is_leaf(id)) {
      absorb(state, std::int32_t(t), id);
    } else {
      state.ids.push_back(id);
      state.trees.push_back(std::int32_t(t));
    }
  }
  return state;
}

Walk::State Walk::restricted(const State& state, std::int32_t feature, const Region& region) {
  State next;
  next.low = state.low;
  next.high = state.high;
  next.dead = state.dead;
  next.closed = state.closed;
  next.ids.reserve(state.ids.size());
  next.trees.reserve(state.ids.size());
  for (std::size_t i = 0; i < state.ids.size(); ++i) {
    const Id id = store_.restrict(state.ids[i], feature, region);
    if (store_.is_leaf(id)) {
      absorb(next, state.trees[i], id);
    } else {
      next.ids.push_back(id);
      next.trees.push_back(state.trees[i]);
    }
  }
  return next;
}

void Walk::sum(const State& state) {
  const std::size_t n = low_.size();
  std::fill(low_.begin(), low_.end(), 0);
  std::fill(high_.begin(), high_.end(), 0);
  for (const Id id : state.ids) {
    const std::int64_t *low = store_.low(id), *high = store_.high(id);
    for (std::size_t f = 0; f < n; ++f) low_[f] += low[f], high_[f] += high[f];
  }
}

void Walk::need_least(Proof& proof, std::size_t f, std::int64_t least) const {
  proof.least[f] = std::max(proof.least[f], least);
}

void Walk::need_greatest(Proof& proof, std::size_t f, std::int64_t greatest) const {
  proof.greatest[f] = std::min(proof.greatest[f], greatest);
}

// Whether one class beats another everywhere in the box, without pairs.
bool Walk::beats(const State& state, std::size_t winner, std::size_t loser) const {
  const std::int64_t lead = state.low[winner] + low_[winner] - state.high[loser] - high_[loser];
  if (claim_.ties_exact) return lead >= (winner < loser ? 0 : 1);
  return lead >= 2 * claim_.error;
}

// Finds the classes that another one beats everywhere in the box; trees of theirs alone are left.
void Walk::bury(State& state, Proof& proof) {
  const std::uint64_t before = state.dead;
  const std::size_t outputs = ensemble_.n_outputs();
  const auto is_dead = [&](std::size_t k) { return (state.dead >> k & 1) != 0; };
  if (outputs == 1) {
    if (state.dead) return;
    if (state.low[0] + low_[0] > claim_.cut + claim_.error) {
      state.dead |= 1;
      need_least(proof, 0, claim_.cut + claim_.error + 1 - low_[0]);
    } else if (state.high[0] + high_[0] <= claim_.cut - claim_.error) {
      state.dead |= 2;
      need_greatest(proof, 0, claim_.cut - claim_.error - high_[0]);
    }
  } else if (pairs_) {
    const std::int64_t above = claim_.ties_exact ? 0 : 2 * claim_.error;
    const std::int64_t below = claim_.ties_exact ? -1 : -2 * claim_.error;
    for (std::size_t a = 0; a < outputs; ++a) {
      for (std::size_t b = a + 1; b < outputs && !is_dead(a); ++b) {
        if (is_dead(b)) continue;
        const std::size_t f = pair(a, b);
        if (state.low[f] + low_[f] >= above) {
          state.dead |= std::uint64_t(1) << b;
          need_least(proof, f, above - low_[f]);
        } else if (state.high[f] + high_[f] <= below) {
          state.dead |= std::uint64_t(1) << a;
          need_greatest(proof, f, below - high_[f]);
        }
      }
    }
  } else {
    return;  // more classes than can be told apart in pairs: leaves look at them
  }
  const std::uint64_t all = (std::uint64_t(1) << n_classes_) - 1;
  const std::uint64_t alive = all & ~state.dead;
  if ((alive & (alive - 1)) == 0) {
    state.ids.clear();
    state.trees.clear();
  } else if (state.dead != before && outputs > 1 && ensemble_.tree_output[0] >= 0) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < state.ids.size(); ++i) {
      if (is_dead(std::size_t(ensemble_.tree_output[std::size_t(state.trees[i])]))) {
        // whatever it says, its class is out: any of its leaves stands for it
        Id id = state.ids[i];
        while (!store_.is_leaf(id)) id = store_[id].left;
        constant_[std::size_t(state.trees[i])] = id;
        continue;
      }
      state.ids[kept] = state.ids[i];
      state.trees[kept++] = state.trees[i];
    }
    state.ids.resize(kept);
    state.trees.resize(kept);
  }
}

void Walk::exact_raw(std::vector<double>& raw) const {
  const std::size_t outputs = ensemble_.n_outputs(), columns = ensemble_.columns;
  const auto add = [&]<class Number>(std::vector<Number> total) {
    for (std::size_t t = 0; t < constant_.size(); ++t) {
      const std::size_t from = std::size_t(store_[constant_[t]].left) * columns;
      const std::int32_t output = ensemble_.tree_output[t];
      if (output >= 0) {
        total[std::size_t(output)] += static_cast<Number>(ensemble_.gain[from]);
      } else {
        for (std::size_t k = 0; k < outputs; ++k) {
          total[k] += static_cast<Number>(ensemble_.gain[from + k]);
        }
      }
    }
    for (std::size_t k = 0; k < outputs; ++k) {
      raw[k] = static_cast<double>(total[k]);
      if (ensemble_.divides) raw[k] /= ensemble_.divisor[k];
    }
  };
  raw.resize(outputs);
  if (ensemble_.single) {
    add(std::vector<float>(ensemble_.base.begin(), ensemble_.base.end()));
  } else {
    add(std::vector<double>(ensemble_.base.begin(), ensemble_.base.end()));
  }
}

std::int32_t Walk::exact_class(const State& state) const {
  std::vector<double> raw;
  exact_raw(raw);
  if (raw.size() == 1) return raw[0] > claim_.exact_cut ? 1 : 0;
  std::int32_t best = -1;
  for (std::size_t k = 0; k < raw.size(); ++k) {
    if (k < 64 && (state.dead >> k & 1)) continue;
    if (best < 0 || raw[k] > raw[std::size_t(best)]) best = std::int32_t(k);
  }
  return best;
}

bool Walk::within(std::int32_t at, State& state, Proof& proof) const {
  const std::size_t outputs = ensemble_.n_outputs();
  const std::int64_t *least = &claim_.least[std::size_t(at) * outputs],
                     *greatest = &claim_.greatest[std::size_t(at) * outputs];
  for (std::size_t k = 0; k < outputs; ++k) {
    if (state.low[k] + low_[k] - claim_.error < least[k] ||
        state.high[k] + high_[k] + claim_.error > greatest[k]) {
      return false;
    }
  }
  for (std::size_t k = 0; k < outputs; ++k) {
    need_least(proof, k, least[k] + claim_.error - low_[k]);
    need_greatest(proof, k, greatest[k] - claim_.error - high_[k]);
  }
  return true;
}

// The weighted median by bounds; not known where rounding of the weights decides.
bool Walk::median_is(std::int32_t at, const State& state, bool& known) const {
  std::vector<Id> ids = constant_;
  for (std::size_t i = 0; i < state.ids.size(); ++i) ids[std::size_t(state.trees[i])] = state.ids[i];
  std::vector<std::pair<std::int64_t, double>> lows, highs;
  double total = 0;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    lows.emplace_back(store_.low(ids[t])[0], ensemble_.weight[t]);
    highs.emplace_back(store_.high(ids[t])[0], ensemble_.weight[t]);
    total += ensemble_.weight[t];
  }
  const auto reach = [](std::vector<std::pair<std::int64_t, double>>& votes, double half) {
    std::sort(votes.begin(), votes.end());
    double reached = 0;
    for (const auto& vote : votes) {
      reached += vote.second;
      if (reached >= half) return vote.first;
    }
    return votes.back().first;
  };
  const double slack = 1e-15 * double(ids.size() + 8);
  const std::int64_t low = reach(lows, 0.5 * total * (1 - slack));
  const std::int64_t high = reach(highs, 0.5 * total * (1 + slack));
  known = low == high;
  if (!known) return false;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    Id id = ids[t];
    if (store_.low(id)[0] > low || store_.high(id)[0] < low) continue;
    while (!store_.is_leaf(id)) {
      const Id left = store_[id].left;
      id = store_.low(left)[0] <= low && low <= store_.high(left)[0] ? left : store_[id].right;
    }
    if (store_.low(id)[0] == low) {
      const double value = ensemble_.gain[std::size_t(store_[id].left) * ensemble_.columns];
      return value == claim_.value[std::size_t(at)];
    }
  }
  known = false;
  return false;
}

bool Walk::refute(std::int32_t leaf) {
  outcome_.verdict = Verdict::refuted;
  outcome_.box = box_;
  outcome_.leaf = leaf;
  return false;
}

void Walk::score(Id id, double weight, int depth) {
  const Store::Node& node = store_[id];
  if (node.question < 0 || depth == 0) return;
  double narrowed = 0;
  const std::int64_t *low = store_.low(id), *high = store_.high(id);
  const std::int64_t *ll = store_.low(node.left), *lh = store_.high(node.left);
  const std::int64_t *rl = store_.low(node.right), *rh = store_.high(node.right);
  for (std::size_t f = 0; f < low_.size(); ++f) {
    narrowed += double(high[f] - low[f]) - 0.5 * (double(lh[f] - ll[f]) + double(rh[f] - rl[f]));
  }
  double& found = score_[std::size_t(node.question)];
  if (found == 0) touched_.push_back(node.question);
  found += weight * (narrowed + 1);
  score(node.left, 0.5 * weight, depth - 1);
  score(node.right, 0.5 * weight, depth - 1);
}

std::int32_t Walk::best_question(const State& state) {
  if (score_.size() < store_.n_questions()) score_.resize(2 * store_.n_questions(), 0.0);
  touched_.clear();
  for (const Id id : state.ids) score(id, 1.0, 6);
  std::int32_t best = touched_.front();
  for (const std::int32_t q : touched_) {
    const double mine = score_[std::size_t(q)], its = score_[std::size_t(best)];
    if (mine > its || (mine == its && q < best)) best = q;
  }
  for (const std::int32_t q : touched_) score_[std::size_t(q)] = 0;
  return best;
}

Key Walk::key(std::int32_t at, const State& state) const {
  const bool ordered = claim_.mode == Mode::value || claim_.mode == Mode::median;
  std::uint64_t a = 0, b = 0;
  for (std::size_t i = 0; i < state.ids.size(); ++i) {
    std::uint64_t part = state.ids[i] + 1;
    if (ordered) part += std::uint64_t(state.trees[i]) << 32;
    a += mix(part);
    b += mix(part ^ 0x9fb21c651e98df25ULL);
  }
  const auto fold = [&](std::uint64_t x) {
    a = mix(a + 0x9e3779b97f4a7c15ULL + x);
    b = mix(b ^ (x + 0xd1b54a32d192ed03ULL));
  };
  fold(std::uint64_t(at));
  fold(state.dead);
  fold(state.closed);
  if (claim_.mode == Mode::class_ && ensemble_.n_outputs() > most_classes_in_pairs) {
    for (std::size_t f = 0; f < state.low.size(); ++f) {
      fold(std::uint64_t(state.low[f]));
      fold(std::uint64_t(state.high[f]));
    }
  }
  if (const std::uint64_t mask = support_[std::size_t(at)]) {
    for (std::size_t s = 0; s < special_.size(); ++s) {
      if (!(mask >> (s & 63) & 1)) continue;
      const Region& region = box_[std::size_t(special_[s])];
      const bool set = store_.is_set(special_[s]);
      fold((std::uint64_t(s) << 33) + (set ? 2 * std::uint64_t(region.lo) : region.missing));
    }
  }
  return {a, b};
}

bool Walk::recall(const Key& key, const State& state, Proof& proof) const {
  const auto found = memo_.find(key);
  if (found == memo_.end()) return false;
  const std::size_t n = proof.least.size();
  for (std::int32_t at = found->second; at >= 0; at = entries_[std::size_t(at)].next) {
    const std::int64_t* least = ranges_.data() + std::size_t(at) * 2 * n;
    const std::int64_t* greatest = least + n;
    bool holds = true;
    for (std::size_t f = 0; f < n && holds; ++f) {
      holds = least[f] <= state.low[f] && state.high[f] <= greatest[f];
    }
    if (!holds) continue;
    for (std::size_t f = 0; f < n; ++f) {
      need_least(proof, f, least[f]);
      need_greatest(proof, f, greatest[f]);
    }
    return true;
  }
  return false;
}

void Walk::remember(const Key& key, const Proof& proof) {
  const auto [at, fresh] = memo_.try_emplace(key, -1);
  entries_.push_back({at->second});
  at->second = static_cast<std::int32_t>(entries_.size()) - 1;
  ranges_.insert(ranges_.end(), proof.least.begin(), proof.least.end());
  ranges_.insert(ranges_.end(), proof.greatest.begin(), proof.greatest.end());
}

void Walk::watch() {
  if ((++outcome_.n_states & 0xfff) != 0) return;
  poll_();
  if (limits_.seconds > 0 && now() - started_ > limits_.seconds) {
    outcome_.verdict = Verdict::out_of_time;
    throw Stop{};
  }
  const std::size_t bytes = store_.bytes() + memo_.size() * 64 + ranges_.size() * 8;
  if (limits_.bytes > 0 && double(bytes) > limits_.bytes) {
    outcome_.verdict = Verdict::out_of_memory;
    throw Stop{};
  }
}

bool Walk::split(std::int32_t at, const Question& question, std::int32_t left, std::int32_t right,
                 State& state, Proof& proof, int depth) {
  const auto j = static_cast<std::size_t>(question.feature);
  const Region region = box_[j];
  Region sides[2] = {store_.side(question, region, true), store_.side(question, region, false)};
  const bool no_left = store_.is_empty(question.feature, sides[0]);
  const bool no_right = store_.is_empty(question.feature, sides[1]);
  if (no_left || no_right) {
    proof.reusable = false;
    return prove(no_left ? right : left, state, proof, depth + 1);
  }
  const bool shared = parents_[std::size_t(at)] > 1 || left == right;
  Key name;
  if (shared) {
    name = key(at, state);
    if (recall(name, state, proof)) {
      ++outcome_.n_shared;
      return true;
    }
  }
  watch();
  Proof mine(proof.least.size());
  for (int s = 0; s < 2; ++s) {
    box_[j] = sides[s];
    State next = restricted(state, question.feature, sides[s]);
    Proof one(proof.least.size());
    const std::vector<std::int64_t> low = next.low, high = next.high;
    if (!prove(s == 0 ? left : right, next, one, depth + 1)) return false;
    mine.reusable = mine.reusable && one.reusable;
    for (std::size_t f = 0; f < one.least.size(); ++f) {
      if (one.least[f] > -unbounded) need_least(mine, f, one.least[f] - (low[f] - state.low[f]));
      if (one.greatest[f] < unbounded) {
        need_greatest(mine, f, one.greatest[f] - (high[f] - state.high[f]));
      }
    }
  }
  box_[j] = region;
  if (shared && mine.reusable) remember(name, mine);
  proof.reusable = proof.reusable && mine.reusable;
  for (std::size_t f = 0; f < mine.least.size(); ++f) {
    need_least(proof, f, mine.least[f]);
    need_greatest(proof, f, mine.greatest[f]);
  }
  return true;
}

bool Walk::prove_leaf(std::int32_t at, State& state, Proof& proof, int depth) {
  const auto leaf = static_cast<std::size_t>(at);
  if (!claim_.certified[leaf]) return true;  // the ensemble itself answers there
  bool decided = false;
  if (claim_.mode == Mode::class_) {
    const auto outcome = static_cast<std::size_t>(claim_.outcome[leaf]);
    if (outcome >= n_classes_) return refute(at);
    if (n_classes_ <= 64 && (state.dead >> outcome & 1)) return refute(at);
    const std::uint64_t all = n_classes_ < 64 ? (std::uint64_t(1) << n_classes_) - 1 : 0;
    if (n_classes_ < 64 && (all & ~state.dead) == std::uint64_t(1) << outcome) return true;
    if (!pairs_ && ensemble_.n_outputs() > 1) {
      decided = true;
      for (std::size_t k = 0; k < n_classes_ && decided; ++k) {
        decided = k == outcome || beats(state, outcome, k);
      }
      if (decided) return true;
    }
    if (state.ids.empty()) {
      ++outcome_.n_exact;
      proof.reusable = false;
      return exact_class(state) == std::int32_t(outcome) || refute(at);
    }
  } else if (claim_.mode == Mode::tolerance) {
    if (within(at, state, proof)) return true;
    if (state.ids.empty()) {
      ++outcome_.n_exact;
      proof.reusable = false;
      std::vector<double> raw;
      exact_raw(raw);
      for (std::size_t k = 0; k < raw.size(); ++k) {
        const std::size_t i = leaf * raw.size() + k;
        const long double off = static_cast<long double>(raw[k]) - claim_.value[i];
        if (!(std::fabs(off) <= claim_.tolerance) || raw[k] < claim_.lower[i] ||
            raw[k] > claim_.upper[i]) {
          return refute(at);
        }
      }
      return true;
    }
  } else if (claim_.mode == Mode::median) {
    bool known = false;
    const bool equal = median_is(at, state, known);
    if (known) return equal || refute(at);
    if (state.ids.empty()) {
      outcome_.open.push_back(box_);
      outcome_.open_leaf.push_back(at);
      return true;
    }
  } else if (state.ids.empty()) {
    ++outcome_.n_exact;
    std::vector<double> raw;
    exact_raw(raw);
    for (std::size_t k = 0; k < raw.size(); ++k) {
      if (!(raw[k] == claim_.value[leaf * raw.size() + k])) return refute(at);
    }
    return true;
  }
  const Question question = store_.question(best_question(state));
  return split(at, question, at, at, state, proof, depth);
}

bool Walk::prove(std::int32_t at, State& state, Proof& proof, int depth) {
  if (depth > deepest) throw std::invalid_argument("the diagram is too deep to be checked");
  if (claim_.mode == Mode::class_ || claim_.mode == Mode::tolerance) {
    sum(state);
    if (claim_.mode == Mode::class_) bury(state, proof);
  }
  const auto node = static_cast<std::size_t>(at);
  if (claim_.nodes.feature[node] < 0) {
    ++outcome_.n_leaves;
    return prove_leaf(at, state, proof, depth);
  }
  const Question question = store_.asked(claim_.nodes, node);
  return split(at, question, claim_.nodes.left[node], claim_.nodes.right[node], state, proof, depth);
}

Outcome Walk::run() {
  started_ = now();
  State state = start();
  Proof proof(claim_.mode == Mode::class_ && ensemble_.n_outputs() > most_classes_in_pairs
                  ? 0
                  : state.low.size());
  try {
    prove(0, state, proof, 0);
  } catch (const Stop&) {
  }
  return outcome_;
}

}  // namespace clearwood::certify
