// The walk through the product of diagram and ensemble.
//
// A state is a node of the diagram and the trees as they are within the box of the way there. A
// proof that found a branch of the diagram unreachable holds for its box only and is not reused.
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "certify/certify.hpp"

namespace clearwood::certify {

namespace {

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

void Walk::absorb(State& state, std::int32_t tree, Id leaf) {
  constant_[std::size_t(tree)] = leaf;
  const std::int64_t *low = store_.low(leaf), *high = store_.high(leaf);
  for (std::size_t f = 0; f < state.low.size(); ++f) {
    state.low[f] += low[f];
    state.high[f] += high[f];
  }
  if (claim_.mode == Mode::value || claim_.mode == Mode::median) {
    const std::uint64_t name = (std::uint64_t(tree) << 32) + leaf + 1;
    state.closed.a += mix(name);
    state.closed.b += mix(name ^ 0x9fb21c651e98df25ULL);
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
