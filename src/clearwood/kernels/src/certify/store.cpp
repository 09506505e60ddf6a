// Restricted trees, each kept once, for the checker.
#include <algorithm>
#include <bit>
#include <cstring>

#include "certify/certify.hpp"

namespace clearwood::certify {

namespace {

std::uint64_t bits_of(double x) {
  if (x == 0) x = 0;  // -0 adds what 0 adds
  return std::bit_cast<std::uint64_t>(x);
}

// A whole number that orders as the double does.
std::int64_t ordered(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x == 0 ? 0.0 : x);
  return bits >= 0 ? bits : std::int64_t(std::uint64_t(1) << 63) - bits;
}

std::uint64_t folded(std::int32_t feature) { return std::uint64_t(1) << (feature & 63); }

}  // namespace

std::int32_t SetPool::intern(const std::vector<std::uint64_t>& words) {
  std::uint64_t hash = words.size();
  for (const std::uint64_t word : words) hash = mix(hash ^ word) + 0x9e3779b97f4a7c15ULL;
  auto& bucket = found_[hash];
  for (const std::int32_t at : bucket) {
    if (sets_[std::size_t(at)] == words) return at;
  }
  bucket.push_back(static_cast<std::int32_t>(sets_.size()));
  sets_.push_back(words);
  return bucket.back();
}

bool SetPool::is_empty(std::int32_t at) const {
  const auto& words = (*this)[at];
  return std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; });
}

std::int32_t SetPool::meet(std::int32_t one, std::int32_t other, bool inside) {
  std::vector<std::uint64_t> words = (*this)[one];
  const auto& mask = (*this)[other];
  for (std::size_t i = 0; i < words.size(); ++i) words[i] &= inside ? mask[i] : ~mask[i];
  return intern(words);
}

Store::Store(const Columns& columns, const std::vector<std::vector<std::uint64_t>>& sets,
             const Ensemble& ensemble, const Claim& claim, std::size_t n_pairs)
    : columns_(columns), ensemble_(ensemble), claim_(claim), remembered_(std::size_t(1) << 18) {
  pairs_ = n_pairs > 0;
  n_ = claim.mode == Mode::value ? 0 : claim.mode == Mode::median ? 1 : ensemble.n_outputs();
  if (pairs_) n_ = n_pairs;
  for (const auto& words : sets) asked_set_.push_back(sets_.intern(words));
  for (std::size_t j = 0; j < columns.is_set.size(); ++j) {
    Region region;
    if (columns.is_set[j]) {
      const auto n = static_cast<std::size_t>(columns.size[j]);
      std::vector<std::uint64_t> all((n + 63) / 64, ~std::uint64_t(0));
      if (n % 64) all.back() = (std::uint64_t(1) << (n % 64)) - 1;
      region.lo = sets_.intern(all);
    } else {
      region = {0, columns.size[j], columns.missing[j] != 0};
    }
    everything_.push_back(region);
  }
  for (const std::int32_t root : ensemble.roots) {
    auto box = everything_;
    trees_.push_back(import(root, box));
  }
}

Question Store::asked(const Nodes& nodes, std::size_t at) const {
  Question question;
  question.feature = nodes.feature[at];
  question.cut = nodes.cut[at];
  if (is_set(question.feature)) {
    question.set_left = asked_set_[std::size_t(question.cut)];
  } else {
    question.missing = nodes.default_left[at] ? 1 : 2;
  }
  return question;
}

Region Store::side(const Question& question, const Region& region, bool left) {
  if (is_set(question.feature)) {
    const bool known = !left && question.set_right >= 0;
    return {known ? sets_.meet(region.lo, question.set_right, true)
                  : sets_.meet(region.lo, question.set_left, left),
            0, false};
  }
  Region part = region;
  if (left) {
    part.hi = std::min(region.hi, question.cut);
    part.missing = region.missing && question.missing == 1;
  } else {
    part.lo = std::max(region.lo, question.cut + 1);
    part.missing = region.missing && question.missing == 2;
  }
  if (part.lo > part.hi) part.lo = 0, part.hi = -1;
  return part;
}

bool Store::is_empty(std::int32_t feature, const Region& region) const {
  if (is_set(feature)) return sets_.is_empty(region.lo);
  return region.lo > region.hi && !region.missing;
}

void Store::bound(std::int32_t node) {
  const std::size_t columns = ensemble_.columns;
  const auto at = static_cast<std::size_t>(node) * columns;
  const std::int32_t output = ensemble_.node_output[std::size_t(node)];
  if (claim_.mode == Mode::median) {
    low_.push_back(ordered(ensemble_.gain[at]));
    high_.push_back(low_.back());
    return;
  }
  if (claim_.mode == Mode::value) return;
  const auto low = [&](std::size_t k) {
    if (output < 0) return ensemble_.gain_low[at + k];
    return std::size_t(output) == k ? ensemble_.gain_low[at] : std::int64_t(0);
  };
  const auto high = [&](std::size_t k) {
    if (output < 0) return ensemble_.gain_high[at + k];
    return std::size_t(output) == k ? ensemble_.gain_high[at] : std::int64_t(0);
  };
  const std::size_t outputs = ensemble_.n_outputs();
  if (!pairs_) {
    for (std::size_t k = 0; k < outputs; ++k) low_.push_back(low(k)), high_.push_back(high(k));
    return;
  }
  for (std::size_t a = 0; a < outputs; ++a) {
    for (std::size_t b = a + 1; b < outputs; ++b) {
      low_.push_back(low(a) - high(b));
      high_.push_back(high(a) - low(b));
    }
  }
}

Id Store::leaf(std::int32_t node) {
  const std::size_t columns = ensemble_.columns;
  const std::int32_t output = ensemble_.node_output[std::size_t(node)];
  Key key{std::uint64_t(output + 2), 31};
  for (std::size_t c = 0; c < (output < 0 ? columns : 1); ++c) {
    const std::uint64_t bits = bits_of(ensemble_.gain[std::size_t(node) * columns + c]);
    key.a = mix(key.a + bits + 0x9e3779b97f4a7c15ULL);
    key.b = mix(key.b ^ (bits + 0xd1b54a32d192ed03ULL));
  }
  const auto [at, fresh] = leaf_of_.try_emplace(key, Id(nodes_.size()));
  if (fresh) {
    Node made;
    made.left = Id(node);
    nodes_.push_back(made);
    bound(node);
  }
  return at->second;
}

Id Store::make(std::int32_t question, Id left, Id right) {
  if (left == right) return left;
  const std::uint64_t children = (std::uint64_t(left) << 32) | right;
  const Key key{mix(children + 0x9e3779b97f4a7c15ULL * std::uint64_t(question + 1)),
                mix(children ^ 0x2545f4914f6cdd1dULL) + std::uint64_t(question)};
  const auto [at, fresh] = node_of_.try_emplace(key, Id(nodes_.size()));
  if (!fresh) return at->second;
  Node made;
  made.question = question;
  made.left = left;
  made.right = right;
  made.features = nodes_[left].features | nodes_[right].features |
                  folded(questions_[std::size_t(question)].feature);
  nodes_.push_back(made);
  for (std::size_t f = 0; f < n_; ++f) {
    low_.push_back(std::min(low_[left * n_ + f], low_[right * n_ + f]));
    high_.push_back(std::max(high_[left * n_ + f], high_[right * n_ + f]));
  }
  return at->second;
}

Id Store::join(const Question& question, const Region& region, Id left, Id right) {
  if (left == right) return left;
  Question plain = question;
  Key key;
  if (is_set(question.feature)) {
    plain.set_left = side(question, region, true).lo;
    plain.set_right = side(question, region, false).lo;
    // the side with the first place is called left, so that opposite questions are one
    const auto &one = sets_[plain.set_left], &two = sets_[plain.set_right];
    for (std::size_t i = 0; i < one.size(); ++i) {
      const std::uint64_t both = one[i] | two[i];
      if (both == 0) continue;
      if ((one[i] & (both & (~both + 1))) == 0) {
        std::swap(plain.set_left, plain.set_right);
        std::swap(left, right);
      }
      break;
    }
    plain.cut = -1;
    key.a = (std::uint64_t(std::uint32_t(plain.set_left)) << 32) | std::uint32_t(plain.set_right);
    key.b = (std::uint64_t(std::uint32_t(plain.feature)) << 2) | 3;
  } else {
    if (!region.missing) {
      plain.missing = 0;
    } else if (region.lo > region.hi || question.cut >= region.hi || question.cut < region.lo) {
      // numbers all go one way and missing values the other
      if (question.missing == 1) std::swap(left, right);
      plain.cut = columns_.size[std::size_t(question.feature)];
      plain.missing = 2;
    }
    key.a = std::uint64_t(std::uint32_t(plain.cut));
    key.b = (std::uint64_t(std::uint32_t(plain.feature)) << 2) | std::uint64_t(plain.missing);
  }
  const Key name{mix(key.a + 0x9e3779b97f4a7c15ULL * (key.b + 1)), key.a ^ (key.b << 36)};
  const auto [at, fresh] = question_of_.try_emplace(name, std::int32_t(questions_.size()));
  if (fresh) questions_.push_back(plain);
  return make(at->second, left, right);
}

Id Store::import(std::int32_t node, std::vector<Region>& box) {
  const auto at = static_cast<std::size_t>(node);
  if (ensemble_.nodes.feature[at] < 0) return leaf(node);
  const Question question = asked(ensemble_.nodes, at);
  const auto j = static_cast<std::size_t>(question.feature);
  const Region region = box[j];
  const Region one = side(question, region, true), two = side(question, region, false);
  if (is_empty(question.feature, two)) return import(ensemble_.nodes.left[at], box);
  if (is_empty(question.feature, one)) return import(ensemble_.nodes.right[at], box);
  box[j] = one;
  const Id left = import(ensemble_.nodes.left[at], box);
  box[j] = two;
  const Id right = import(ensemble_.nodes.right[at], box);
  box[j] = region;
  return join(question, region, left, right);
}

Id Store::restrict(Id id, std::int32_t feature, const Region& region) {
  if ((nodes_[id].features & folded(feature)) == 0) return id;
  const std::uint64_t hash =
      mix((std::uint64_t(id) << 32) ^ (std::uint64_t(std::uint32_t(region.lo)) << 17) ^
          (std::uint64_t(std::uint32_t(region.hi)) << 1) ^ std::uint64_t(region.missing)) +
      std::uint64_t(feature) * 0x9e3779b97f4a7c15ULL;
  const std::size_t slot = hash & (remembered_.size() - 1);
  {
    const Remembered& known = remembered_[slot];
    if (known.id == id && known.feature == feature && known.region == region) return known.result;
  }
  const Node node = nodes_[id];
  const Question question = questions_[std::size_t(node.question)];
  Id result;
  if (question.feature != feature) {
    const Id left = restrict(node.left, feature, region);
    const Id right = restrict(node.right, feature, region);
    result = make(node.question, left, right);
  } else {
    const Region one = side(question, region, true), two = side(question, region, false);
    if (is_empty(feature, two)) {
      result = restrict(node.left, feature, one);
    } else if (is_empty(feature, one)) {
      result = restrict(node.right, feature, two);
    } else {
      const Id left = restrict(node.left, feature, one);
      const Id right = restrict(node.right, feature, two);
      result = join(question, region, left, right);
    }
  }
  remembered_[slot] = {id, result, feature, region};
  return result;
}

std::size_t Store::bytes() const {
  return nodes_.size() * (sizeof(Node) + 16 * n_ + 56) + questions_.size() * 80 +
         remembered_.size() * sizeof(Remembered);
}

}  // namespace clearwood::certify
