// What decides a leaf of the diagram: bounds on sums, else the library's own sum.
//
// Bounds are whole numbers, so they hold whatever the order of adding; the claim's error is what the
// library's rounding can change about them. A bound that decides also gives the sums of the
// constant trees for which it would decide again; a proof is reused for those.
#include <algorithm>
#include <cmath>
#include <utility>

#include "certify/certify.hpp"

namespace clearwood::certify {

namespace {

// Whether |a - b| <= tolerance for the exact difference. The rounded one decides unless it equals
// the tolerance; then what rounding took away does (Knuth's TwoSum), on any compiler's types.
bool close_to(double a, double b, double tolerance) {
  const double off = a - b;
  if (std::fabs(off) != tolerance) return std::fabs(off) < tolerance;
  const double part = off - a;
  const double lost = (a - (off - part)) - (b + part);
  return off < 0 ? lost >= 0 : lost <= 0;
}

}  // namespace

std::size_t Walk::pair(std::size_t a, std::size_t b) const {
  if (ensemble_.n_outputs() == 1) return 0;
  return a * ensemble_.n_outputs() - a * (a + 1) / 2 + (b - a - 1);
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

void Walk::need_least(Proof& proof, std::size_t f, std::int64_t least) {
  proof.least[f] = std::max(proof.least[f], least);
}

void Walk::need_greatest(Proof& proof, std::size_t f, std::int64_t greatest) {
  proof.greatest[f] = std::min(proof.greatest[f], greatest);
}

// Whether one class beats another everywhere in the box, without pairs.
bool Walk::beats(const State& state, std::size_t winner, std::size_t loser) const {
  const std::int64_t lead = state.low[winner] + low_[winner] - state.high[loser] - high_[loser];
  // ties go to the first class
  return lead >= (claim_.ties_exact ? 0 : 2 * claim_.error) + (winner < loser ? 0 : 1);
}

// Finds the classes that another one beats everywhere in the box, and drops the trees that add to
// these only.
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
    const std::int64_t below = -above - 1;  // ties go to the first class
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
    return;  // too many classes to compare in pairs: leaves compare them
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
        // its class is out: any of its leaves stands for it
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
        if (!close_to(raw[k], claim_.value[i], claim_.tolerance) || raw[k] < claim_.lower[i] ||
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

}  // namespace clearwood::certify
