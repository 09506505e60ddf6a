// Restricted trees, each kept once.
#include <algorithm>
#include <bit>
#include <cstring>

#include "condense/store.hpp"

namespace clearwood::condense {

std::int32_t Sets::intern(const std::uint64_t* words, std::size_t n) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < n; ++i) hash = mix(hash + words[i] + 0x9e3779b97f4a7c15ULL);
  auto& bucket = found_[hash];
  for (const std::int32_t at : bucket) {
    if (pool_[at].size() == n && std::equal(words, words + n, pool_[at].begin())) return at;
  }
  std::int32_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += std::popcount(words[i]);
  bucket.push_back(static_cast<std::int32_t>(pool_.size()));
  pool_.emplace_back(words, words + n);
  count_.push_back(count);
  return bucket.back();
}

Store::Store(const Ensemble& ensemble, const Decision& decision)
    : ensemble_(ensemble),
      decision_(decision),
      n_functionals_(decision.size()),
      columns_(ensemble.n_outputs()),
      remembered_(std::size_t(1) << 18) {
  for (std::size_t s = 0; s + 1 < ensemble.set_start.size(); ++s) {
    const auto from = ensemble.set_start[s], to = ensemble.set_start[s + 1];
    question_set_.push_back(
        sets_.intern(ensemble.set_words.data() + from, static_cast<std::size_t>(to - from)));
  }
  for (std::size_t t = 0; t < ensemble.n_trees(); ++t) {
    auto box = everything();
    trees_.push_back(import(ensemble.roots[t], box));
  }
}

std::vector<Span> Store::everything() const {
  std::vector<Span> box(ensemble_.n_features());
  for (std::size_t j = 0; j < box.size(); ++j) {
    if (ensemble_.is_set[j]) {
      const std::size_t n = static_cast<std::size_t>(ensemble_.n_cuts[j]);
      std::vector<std::uint64_t> all((n + 63) / 64, ~std::uint64_t(0));
      if (n % 64) all.back() = (std::uint64_t(1) << (n % 64)) - 1;
      box[j] = {sets_.intern(all.data(), all.size()), ensemble_.n_cuts[j], false};
    } else {
      box[j] = {0, ensemble_.n_cuts[j], ensemble_.missing_atom[j] != 0};
    }
  }
  return box;
}

std::int32_t Store::narrowed(std::int32_t set, std::int32_t by, bool inside) const {
  std::vector<std::uint64_t> words = sets_[set];
  const auto& other = sets_[by];
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t keep = i < other.size() ? other[i] : 0;
    words[i] &= inside ? keep : ~keep;
  }
  return sets_.intern(words.data(), words.size());
}

Span Store::side(const Question& q, const Span& span, bool left) const {
  if (ensemble_.is_set[q.feature]) {
    // in canonical form the sides are known; an ensemble's own question has only its set
    const std::int32_t set = q.set_left >= 0 ? (left ? q.set_left : q.set_right)
                                             : narrowed(span.lo, question_set_[q.cut], left);
    const std::int32_t kept = q.set_left >= 0 ? narrowed(span.lo, set, true) : set;
    return {kept, sets_.count(kept), false};
  }
  Span part = span;
  if (left) {
    part.hi = std::min(span.hi, q.cut);
    part.missing = span.missing && q.default_left;
  } else {
    part.lo = std::max(span.lo, q.cut + 1);
    part.missing = span.missing && !q.default_left;
  }
  if (part.lo > part.hi) part.lo = 0, part.hi = -1;
  return part;
}

Side Store::status(const Question& q, const Span& span) const {
  bool left, right;
  if (ensemble_.is_set[q.feature]) {
    const auto& have = sets_[span.lo];
    left = right = false;
    if (q.set_left >= 0) {
      const auto &one = sets_[q.set_left], &two = sets_[q.set_right];
      for (std::size_t i = 0; i < have.size(); ++i) {
        left |= (have[i] & one[i]) != 0;
        right |= (have[i] & two[i]) != 0;
      }
    } else {
      const auto& one = sets_[question_set_[q.cut]];
      for (std::size_t i = 0; i < have.size(); ++i) {
        left |= (have[i] & one[i]) != 0;
        right |= (have[i] & ~one[i]) != 0;
      }
    }
  } else {
    left = span.lo <= std::min(span.hi, q.cut) || (span.missing && q.default_left);
    right = std::max(span.lo, q.cut + 1) <= span.hi || (span.missing && !q.default_left);
  }
  return left && right ? Side::both : left ? Side::left : Side::right;
}

std::int32_t Store::intern(const Question& q) {
  const std::uint64_t one = (std::uint64_t(std::uint32_t(q.feature)) << 32) | std::uint32_t(q.cut);
  const std::uint64_t two = (std::uint64_t(std::uint32_t(q.set_left)) << 32) |
                            std::uint32_t(q.set_right);
  Hash key;
  if (ensemble_.is_set[q.feature]) {
    // the split of the ensemble that it came from is kept, but is no part of its identity
    key = {mix(two + 0x51ed270b) ^ std::uint64_t(q.feature), two};
    if (q.set_left < 0) key = {mix(one + 0x2545f491), one};
  } else {
    key = {mix(one * 2 + std::uint64_t(q.default_left)), one * 2 + std::uint64_t(q.default_left)};
  }
  const auto [at, fresh] = unique_question_.try_emplace(key, std::int32_t(questions_.size()));
  if (fresh) questions_.push_back(q);
  return at->second;
}

std::int32_t Store::canonical(const Question& q, const Span& span, bool& exchanged) {
  exchanged = false;
  Question plain = q;
  if (ensemble_.is_set[q.feature]) {
    Span one = side(q, span, true), two = side(q, span, false);
    plain.set_left = one.lo;
    plain.set_right = two.lo;
    const auto &a = sets_[one.lo], &b = sets_[two.lo];
    for (std::size_t i = 0; i < a.size(); ++i) {
      if ((a[i] | b[i]) == 0) continue;
      const std::uint64_t lowest = (a[i] | b[i]) & (~(a[i] | b[i]) + 1);
      exchanged = (a[i] & lowest) == 0;
      break;
    }
    if (exchanged) {
      std::swap(plain.set_left, plain.set_right);
      plain.default_left = !plain.default_left;
    }
    return intern(plain);
  }
  if (!span.missing) {
    plain.default_left = 0;
  } else if (span.hi < span.lo || q.cut >= span.hi || q.cut < span.lo) {
    // numbers all go one way and missing values the other
    exchanged = q.default_left != 0;
    plain.cut = ensemble_.n_cuts[q.feature];
    plain.default_left = 0;
  }
  return intern(plain);
}

std::int32_t Store::plain(std::int32_t question) {
  Question whole = questions_[question];
  whole.set_left = whole.set_right = -1;
  whole.default_left = 0;
  return intern(whole);
}

std::int32_t Store::threshold(std::int32_t feature, std::int32_t cut, bool missing_left) {
  Question q;
  q.feature = feature;
  q.cut = cut;
  q.default_left = missing_left;
  return intern(q);
}

std::int32_t Store::asked_of(std::int32_t question, const Span& span) {
  if (!ensemble_.is_set[questions_[question].feature]) return question;
  Question whole = questions_[question];
  whole.set_left = whole.set_right = -1;
  whole.default_left = 0;
  bool exchanged;
  return canonical(whole, span, exchanged);
}

Id Store::make_leaf(const double* gain, std::int32_t output) {
  const std::size_t n = ensemble_.n_outputs();
  std::vector<double> wide(n, 0.0);
  if (output < 0) {
    std::copy(gain, gain + n, wide.begin());
  } else {
    wide[static_cast<std::size_t>(output)] = gain[0];
  }
  Hash key{std::uint64_t(output) + 17, 29};
  for (double& value : wide) {
    if (value == 0) value = 0;  // -0 adds what 0 adds
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    key.a = mix(key.a + bits + 0x9e3779b97f4a7c15ULL);
    key.b = mix(key.b ^ (bits + 0xd1b54a32d192ed03ULL));
  }
  const auto [at, fresh] = unique_leaf_.try_emplace(key, Id(nodes_.size()));
  if (!fresh) return at->second;
  Node node;
  node.left = Id(gains_.size() / columns_);
  nodes_.push_back(node);
  keys_.push_back(mix(nodes_.size()));
  gains_.insert(gains_.end(), wide.begin(), wide.end());
  for (std::size_t d = 0; d < n_functionals_; ++d) {
    const auto a = std::size_t(decision_.a[d]), b = std::size_t(decision_.b[d]);
    double f;
    if (n == 1) {
      f = decision_.divide ? wide[0] / ensemble_.divisor[0] : wide[0];
    } else if (decision_.mode != Mode::class_) {
      f = decision_.divide ? wide[a] / ensemble_.divisor[a] : wide[a];
    } else {
      f = decision_.divide ? wide[a] / ensemble_.divisor[a] - wide[b] / ensemble_.divisor[b]
                           : wide[a] - wide[b];
    }
    low_.push_back(f);
    high_.push_back(f);
  }
  return at->second;
}

Id Store::make(std::int32_t question, Id left, Id right) {
  if (left == right) return left;
  const std::uint64_t children = (std::uint64_t(left) << 32) | right;
  const Hash key{mix(children + 0x9e3779b97f4a7c15ULL * std::uint64_t(question + 1)),
                 children ^ (std::uint64_t(question) << 17)};
  const auto [at, fresh] = unique_.try_emplace(key, Id(nodes_.size()));
  if (!fresh) return at->second;
  Node node;
  node.question = question;
  node.left = left;
  node.right = right;
  node.leaves = std::min(nodes_[left].leaves + nodes_[right].leaves, many);
  node.features = nodes_[left].features | nodes_[right].features |
                  (std::uint64_t(1) << (questions_[question].feature % 64));
  nodes_.push_back(node);
  keys_.push_back(mix(nodes_.size()));
  for (std::size_t d = 0; d < n_functionals_; ++d) {
    const double l = std::min(low_[left * n_functionals_ + d], low_[right * n_functionals_ + d]);
    const double h = std::max(high_[left * n_functionals_ + d], high_[right * n_functionals_ + d]);
    low_.push_back(l);
    high_.push_back(h);
  }
  return at->second;
}

Id Store::import(std::int32_t node, std::vector<Span>& box) {
  const auto at = static_cast<std::size_t>(node);
  if (ensemble_.left[at] < 0) {
    const auto tree = std::upper_bound(ensemble_.roots.begin(), ensemble_.roots.end(), node) -
                      ensemble_.roots.begin() - 1;
    return make_leaf(&ensemble_.gain[at * ensemble_.columns],
                     ensemble_.tree_output[static_cast<std::size_t>(tree)]);
  }
  Question q;
  q.feature = ensemble_.feature[at];
  q.cut = ensemble_.cut[at];
  q.default_left = ensemble_.default_left[at];
  const auto j = static_cast<std::size_t>(q.feature);
  const Span span = box[j];
  switch (status(q, span)) {
    case Side::left: return import(ensemble_.left[at], box);
    case Side::right: return import(ensemble_.right[at], box);
    case Side::both: break;
  }
  box[j] = side(q, span, true);
  Id one = import(ensemble_.left[at], box);
  box[j] = side(q, span, false);
  Id two = import(ensemble_.right[at], box);
  box[j] = span;
  bool exchanged;
  const std::int32_t plain = canonical(q, span, exchanged);
  if (exchanged) std::swap(one, two);
  return make(plain, one, two);
}

Id Store::restrict(Id id, std::int32_t feature, const Span& span) {
  const Node node = nodes_[id];
  if (node.question == leaf || !(node.features >> (feature % 64) & 1)) return id;
  const std::uint64_t slot =
      mix((std::uint64_t(id) << 32) ^ (std::uint64_t(std::uint32_t(span.lo)) << 16) ^
          std::uint64_t(std::uint32_t(span.hi)) ^ (std::uint64_t(feature) << 48) ^
          (std::uint64_t(span.missing) << 63)) &
      (remembered_.size() - 1);
  {
    const Remembered& known = remembered_[slot];
    if (known.id == id && known.feature == feature && known.span == span) return known.result;
  }
  const Question q = questions_[node.question];
  Id result;
  if (q.feature != feature) {
    const Id one = restrict(node.left, feature, span);
    const Id two = restrict(node.right, feature, span);
    result = one == node.left && two == node.right ? id : make(node.question, one, two);
  } else {
    switch (status(q, span)) {
      case Side::left: result = restrict(node.left, feature, span); break;
      case Side::right: result = restrict(node.right, feature, span); break;
      default: {
        Id one = restrict(node.left, feature, side(q, span, true));
        Id two = restrict(node.right, feature, side(q, span, false));
        bool exchanged;
        const std::int32_t plain = canonical(q, span, exchanged);
        if (exchanged) std::swap(one, two);
        result = make(plain, one, two);
      }
    }
  }
  remembered_[slot] = {id, feature, span, result};
  return result;
}

void Store::exact(const Id* leaves, double* raw) const {
  const std::size_t n = ensemble_.n_outputs();
  for (std::size_t k = 0; k < n; ++k) raw[k] = ensemble_.base[k];
  if (decision_.mode == Mode::median) {
    std::vector<std::pair<double, double>> votes;
    double total = 0;
    for (std::size_t t = 0; t < ensemble_.n_trees(); ++t) {
      votes.emplace_back(gain(leaves[t])[0], ensemble_.weight[t]);
    }
    std::stable_sort(votes.begin(), votes.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    for (const auto& vote : votes) total += vote.second;
    double reached = 0;
    for (const auto& vote : votes) {
      reached += vote.second;
      raw[0] = vote.first;
      if (reached >= 0.5 * total) break;
    }
    return;
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (ensemble_.single) {
      float sum = static_cast<float>(ensemble_.base[k]);
      for (std::size_t t = 0; t < ensemble_.n_trees(); ++t) {
        if (ensemble_.tree_output[t] >= 0 && std::size_t(ensemble_.tree_output[t]) != k) continue;
        sum += static_cast<float>(gain(leaves[t])[k]);
      }
      raw[k] = static_cast<double>(sum);
    } else {
      double sum = ensemble_.base[k];
      for (std::size_t t = 0; t < ensemble_.n_trees(); ++t) {
        if (ensemble_.tree_output[t] >= 0 && std::size_t(ensemble_.tree_output[t]) != k) continue;
        sum += gain(leaves[t])[k];
      }
      raw[k] = sum;
    }
    if (ensemble_.divides) raw[k] /= ensemble_.divisor[k];
  }
}

std::int32_t Store::class_of(const double* raw) const {
  const std::size_t n = ensemble_.n_outputs();
  if (n == 1) return raw[0] > decision_.cut ? 1 : 0;
  return static_cast<std::int32_t>(std::max_element(raw, raw + n) - raw);
}

std::size_t Store::bytes() const {
  return nodes_.size() * (sizeof(Node) + 8 + 16 * n_functionals_ + 64) + gains_.size() * 8;
}

}  // namespace clearwood::condense
