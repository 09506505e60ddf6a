// Which states were proved before, and which question divides a box best.
//
// The same state met again by another way needs no second proof: trees keep in their questions which
// places of a set, and whether missing values, are still possible, and the ranks of numbers enter
// a question only by being on one side of its cut. The diagram's own questions about sets and
// missing values put the column's region into the key.
#include "certify/certify.hpp"

namespace clearwood::certify {

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
  fold(state.closed.a);
  fold(state.closed.b);
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

}  // namespace clearwood::certify
