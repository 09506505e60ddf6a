// Tighter bounds on sums of trees: steps of one feature cancel before they are bounded.
#include <algorithm>
#include <cmath>
#include <functional>

#include "condense_build.hpp"

namespace clearwood::condense {

namespace {
// of one tree; larger ones are bounded as they are
constexpr std::size_t most_cells = 4096;
constexpr std::uint32_t most_leaves = 64;
// more functionals cost more than closer bounds save
constexpr std::size_t most_functionals = 3;
}  // namespace

bool Composer::is_close() const {
  return (decision_.mode == Mode::class_ || decision_.mode == Mode::tolerance) &&
         decision_.size() <= most_functionals;
}

const Effects& Composer::effects(Id id) {
  if (effects_.size() <= id) effects_.resize(2 * std::size_t(id) + 1);
  if (effects_[id]) return *effects_[id];
  effects_[id] = std::make_unique<Effects>();
  Effects& e = *effects_[id];
  effects_bytes_ += sizeof(Effects) + 64;
  const std::size_t n = decision_.size();
  e.mean.assign(n, 0.0);
  e.rest_low.assign(store_.low(id), store_.low(id) + n);
  e.rest_high.assign(store_.high(id), store_.high(id) + n);
  e.start.push_back(0);
  if (store_.node(id).leaves > most_leaves) return e;
  // the tree's own cuts
  std::vector<std::pair<std::int32_t, std::int32_t>> cuts;
  bool plain = true;
  const std::function<void(Id)> collect = [&](Id node) {
    if (store_.is_leaf(node)) return;
    const Question& q = store_.question(store_.node(node).question);
    const auto j = static_cast<std::size_t>(q.feature);
    plain &= !ensemble_.is_set[j] && !ensemble_.missing_atom[j];
    cuts.emplace_back(q.feature, q.cut);
    collect(store_.node(node).left);
    collect(store_.node(node).right);
  };
  collect(id);
  if (!plain) return e;
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<std::int32_t> feature, start{0}, cut;
  std::size_t cells = 1;
  for (const auto& [f, c] : cuts) {
    if (feature.empty() || feature.back() != f) {
      if (!feature.empty()) start.push_back(static_cast<std::int32_t>(cut.size()));
      feature.push_back(f);
    }
    cut.push_back(c);
  }
  start.push_back(static_cast<std::int32_t>(cut.size()));
  const std::size_t k = feature.size();
  std::vector<std::size_t> size(k), stride(k);
  for (std::size_t i = k; i-- > 0;) {
    size[i] = std::size_t(start[i + 1] - start[i]) + 1;
    stride[i] = cells;
    cells *= size[i];
    if (cells > most_cells) return e;
  }
  std::vector<double> value(cells * n);
  std::vector<std::size_t> low(k, 0), high(k);
  for (std::size_t i = 0; i < k; ++i) high[i] = size[i];
  const std::function<void(Id)> paint = [&](Id node) {
    if (store_.is_leaf(node)) {
      const double* leaf = store_.low(node);
      std::vector<std::size_t> position = low;
      while (true) {
        std::size_t cell = 0;
        for (std::size_t i = 0; i < k; ++i) cell += position[i] * stride[i];
        std::copy(leaf, leaf + n, &value[cell * n]);
        std::size_t i = k;
        while (i-- > 0) {
          if (++position[i] < high[i]) break;
          position[i] = low[i];
        }
        if (i == std::size_t(-1)) return;
      }
    }
    const Question& q = store_.question(store_.node(node).question);
    std::size_t i = 0;
    while (feature[i] != q.feature) ++i;
    std::size_t at_cut = std::size_t(
        std::lower_bound(cut.begin() + start[i], cut.begin() + start[i + 1], q.cut) -
        (cut.begin() + start[i]));
    const std::size_t keep_low = low[i], keep_high = high[i];
    high[i] = std::min(keep_high, at_cut + 1);
    if (low[i] < high[i]) paint(store_.node(node).left);
    high[i] = keep_high;
    low[i] = std::max(keep_low, at_cut + 1);
    if (low[i] < high[i]) paint(store_.node(node).right);
    low[i] = keep_low;
  };
  paint(id);
  std::vector<double> main(0);
  std::vector<std::size_t> main_start(k + 1, 0);
  for (std::size_t i = 0; i < k; ++i) main_start[i + 1] = main_start[i] + size[i];
  main.assign(main_start[k] * n, 0.0);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    for (std::size_t d = 0; d < n; ++d) {
      const double v = value[cell * n + d];
      e.mean[d] += v;
      for (std::size_t i = 0; i < k; ++i) {
        main[(main_start[i] + cell / stride[i] % size[i]) * n + d] += v;
      }
    }
  }
  for (std::size_t d = 0; d < n; ++d) e.mean[d] /= double(cells);
  for (std::size_t i = 0; i < k; ++i) {
    const double share = double(cells) / double(size[i]);
    for (std::size_t a = 0; a < size[i]; ++a) {
      for (std::size_t d = 0; d < n; ++d) {
        double& m = main[(main_start[i] + a) * n + d];
        m = m / share - e.mean[d];
      }
    }
  }
  std::fill(e.rest_low.begin(), e.rest_low.end(), std::numeric_limits<double>::infinity());
  std::fill(e.rest_high.begin(), e.rest_high.end(), -std::numeric_limits<double>::infinity());
  for (std::size_t cell = 0; cell < cells; ++cell) {
    for (std::size_t d = 0; d < n; ++d) {
      double rest = value[cell * n + d] - e.mean[d];
      for (std::size_t i = 0; i < k; ++i) {
        rest -= main[(main_start[i] + cell / stride[i] % size[i]) * n + d];
      }
      e.rest_low[d] = std::min(e.rest_low[d], rest);
      e.rest_high[d] = std::max(e.rest_high[d], rest);
    }
  }
  e.feature = feature;
  e.start = start;
  e.cut = cut;
  e.first.resize(k * n);
  e.jump.resize(cut.size() * n);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t d = 0; d < n; ++d) {
      e.first[i * n + d] = main[main_start[i] * n + d];
      for (std::size_t a = 1; a < size[i]; ++a) {
        e.jump[(std::size_t(start[i]) + a - 1) * n + d] =
            main[(main_start[i] + a) * n + d] - main[(main_start[i] + a - 1) * n + d];
      }
    }
  }
  effects_bytes_ += 400 + 24 * n + 16 * cut.size() * (n + 1);
  return e;
}

// Replaces the bounds by better ones where there are any; leaves the summed steps in steps_.
void Composer::tighten(const State& state, const std::vector<Span>& box) {
  const std::size_t n = decision_.size();
  std::vector<double> low(n, 0.0), high(n, 0.0), size(n, 0.0);
  for (std::size_t j = 0; j < box.size(); ++j) {
    if (ensemble_.is_set[j] || ensemble_.missing_atom[j]) continue;
    std::fill(steps_[j].begin() + std::ptrdiff_t(std::size_t(box[j].lo) * n),
              steps_[j].begin() + std::ptrdiff_t(std::size_t(box[j].hi + 1) * n), 0.0);
  }
  for (const Id id : state.ids) {
    const Effects& e = effects(id);
    for (std::size_t d = 0; d < n; ++d) {
      low[d] += e.mean[d] + e.rest_low[d];
      high[d] += e.mean[d] + e.rest_high[d];
      size[d] += std::abs(store_.low(id)[d]) + std::abs(store_.high(id)[d]);
    }
    for (std::size_t i = 0; i < e.feature.size(); ++i) {
      const auto j = static_cast<std::size_t>(e.feature[i]);
      double* steps = steps_[j].data();
      const auto from = static_cast<std::size_t>(box[j].lo);
      for (std::size_t d = 0; d < n; ++d) steps[from * n + d] += e.first[i * n + d];
      for (auto c = std::size_t(e.start[i]); c < std::size_t(e.start[i + 1]); ++c) {
        const std::size_t rank = std::size_t(e.cut[c]) + 1;
        for (std::size_t d = 0; d < n; ++d) steps[rank * n + d] += e.jump[c * n + d];
      }
    }
  }
  for (std::size_t j = 0; j < box.size(); ++j) {
    if (ensemble_.is_set[j] || ensemble_.missing_atom[j]) continue;
    double* steps = steps_[j].data();
    for (std::size_t d = 0; d < n; ++d) {
      double sum = 0, least = std::numeric_limits<double>::infinity(), most = -least;
      for (auto r = std::size_t(box[j].lo); r <= std::size_t(box[j].hi); ++r) {
        sum += steps[r * n + d];
        steps[r * n + d] = sum;
        least = std::min(least, sum);
        most = std::max(most, sum);
      }
      low[d] += least;
      high[d] += most;
    }
  }
  for (std::size_t d = 0; d < n; ++d) {
    // the means and differences above are rounded
    const double slack = 1e-11 * size[d];
    low_[d] = std::max(low_[d], low[d] - slack);
    high_[d] = std::min(high_[d], high[d] + slack);
  }
}

// The share of unseen rows that would go left, as far as one can tell: the rows of the box, and a
// few more that are spread over its ranks (thresholds are dense where training rows were).
double Composer::left_share(const Question& q, const std::vector<Span>& box,
                            std::size_t n_rows) const {
  const auto j = static_cast<std::size_t>(q.feature);
  const double n = double(n_rows);
  const Span& span = box[j];
  if (ensemble_.is_set[j]) return 0.5;
  double seen = 0;
  if (n_rows > 0) {
    const auto& counts = cumulative_[j];
    seen = double(counts[std::size_t(std::min<std::int32_t>(q.cut, std::int32_t(counts.size()) - 1))]);
  }
  const double part = std::clamp(double(q.cut - span.lo + 1) / double(span.hi - span.lo + 1), 0.0, 1.0);
  return (seen + prior_ * part) / (n + prior_);
}

void Composer::tree_scores(Id id, double weight, const std::vector<Span>& box,
                           std::size_t n_rows) {
  const Store::Node node = store_.node(id);
  if (node.question == Store::leaf || weight < least_weight) return;
  const double share = left_share(store_.question(node.question), box, n_rows);
  const Effects& mine = effects(id);
  const Effects& one = effects(node.left);
  const Effects& two = effects(node.right);
  double shrinks = 0;
  for (const std::int32_t w : wanted_) {
    const auto d = static_cast<std::size_t>(w);
    const double all = mine.rest_high[d] - mine.rest_low[d];
    shrinks += share * (all - (one.rest_high[d] - one.rest_low[d])) +
               (1 - share) * (all - (two.rest_high[d] - two.rest_low[d]));
  }
  double& score = score_[std::size_t(node.question)];
  if (score == 0) touched_.push_back(node.question), score = 1e-280;
  score += weight * std::max(shrinks, 0.0);
  tree_scores(node.left, weight * share, box, n_rows);
  tree_scores(node.right, weight * (1 - share), box, n_rows);
}

std::int32_t Composer::choose(const State& state, const std::vector<Span>& box,
                              std::size_t n_rows) {
  if (!is_close()) return best_question(state);
  const std::size_t n = decision_.size();
  if (score_.size() < store_.n_questions()) score_.resize(store_.n_questions() * 2, 0.0);
  touched_.clear();
  for (const Id id : state.ids) tree_scores(id, 1.0, box, n_rows);
  // what a question takes off the range of its feature's summed steps
  std::vector<std::vector<double>> up(box.size()), down(box.size());
  std::vector<double> range(box.size(), 0.0);
  for (std::size_t j = 0; j < box.size(); ++j) {
    if (ensemble_.is_set[j] || ensemble_.missing_atom[j]) continue;
    const auto lo = std::size_t(box[j].lo), hi = std::size_t(box[j].hi);
    up[j].assign(hi - lo + 1, 0.0);
    down[j].assign(hi - lo + 1, 0.0);
    for (const std::int32_t w : wanted_) {
      const auto d = static_cast<std::size_t>(w);
      double least = std::numeric_limits<double>::infinity(), most = -least;
      for (std::size_t r = lo; r <= hi; ++r) {
        least = std::min(least, steps_[j][r * n + d]);
        most = std::max(most, steps_[j][r * n + d]);
        up[j][r - lo] += most - least;
      }
      range[j] += most - least;
      least = std::numeric_limits<double>::infinity(), most = -least;
      for (std::size_t r = hi + 1; r-- > lo;) {
        least = std::min(least, steps_[j][r * n + d]);
        most = std::max(most, steps_[j][r * n + d]);
        down[j][r - lo] += most - least;
      }
    }
  }
  std::int32_t best = touched_.front();
  double most = -1;
  for (const std::int32_t number : touched_) {
    const Question& q = store_.question(number);
    const auto j = static_cast<std::size_t>(q.feature);
    double score = score_[std::size_t(number)];
    score_[std::size_t(number)] = 0;
    if (!up[j].empty() && q.cut >= box[j].lo && q.cut < box[j].hi) {
      const auto at = std::size_t(q.cut - box[j].lo);
      const double share = left_share(q, box, n_rows);
      score += share * (range[j] - up[j][at]) + (1 - share) * (range[j] - down[j][at + 1]);
    }
    if (score > most || (score == most && number < best)) most = score, best = number;
  }
  return best;
}

}  // namespace clearwood::condense
