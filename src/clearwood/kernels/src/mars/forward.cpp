// Friedman's forward pass: at each step the pair of hinges that lowers the sum of squares most.
//
// Terms in the model span an orthonormal basis q_1, q_2, ... A candidate h lowers the sum of
// squares by <h, r>² / (|h|² - Σ_k <h, q_k>²). For a parent b and a column x, all hinges
// b (x - t)+ are scored together: rows are added up in bins between knots, and sums from the right
// turn bins into inner products of every hinge. These are kept for each parent and column, so that
// a step costs one pass for each function that was added since, not one for each in the model.
#include "mars/forward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "common/parallel.hpp"

namespace clearwood {
namespace {

constexpr double tie = 1e-9;         // gains that differ by less are equal up to rounding
constexpr double alpha = 0.05;       // of Friedman's rules for spans
constexpr double dependent = 1e-8;   // a squared norm below this share is rounding
constexpr double perfect_fit = 0.999;
constexpr double most_bytes = 512e6;  // of inner products kept for parents that wait
constexpr double ageing = 1e-3;      // priority, in R², that a parent gains for each step it waits

// Four partial sums in a fixed order: faster than one, and the same on every machine.
double dot(const double* a, const double* b, std::size_t n) {
  double sum[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sum[k] += a[i + k] * b[i + k];
  }
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

struct Column {
  std::size_t n_levels = 0;  // 0 for numbers
  bool has_missing = false;
  double centre = 0;
  std::vector<double> knots;         // less the centre
  std::vector<double> value;         // less the centre; 0 where missing
  std::vector<std::uint32_t> bin;    // knots at or below the value, or the level; then missing
  std::size_t missing_bin() const { return n_levels > 0 ? n_levels : knots.size() + 1; }
};

struct Spans {
  double min;
  double end;
};

Spans friedman_spans(const MarsInput& input, const MarsOptions& options) {
  const double n = std::accumulate(input.weight, input.weight + input.n_rows, 0.0);
  const double p = static_cast<double>(input.n_columns);
  Spans spans{options.min_span, options.end_span};
  if (spans.min <= 0) {
    spans.min = std::max(1.0, std::floor(-std::log2(-std::log1p(-alpha) / (n * p)) / 2.5));
  }
  if (spans.end <= 0) spans.end = std::max(1.0, std::ceil(3 - std::log2(alpha / p)));
  return spans;
}

// Knots are values of rows, spaced by weight so that a row of weight two counts as two rows.
std::vector<double> knots_of(const double* x, const double* weight,
                             const std::vector<std::uint32_t>& sorted, const Spans& spans,
                             std::size_t max_knots) {
  std::vector<double> knots;
  if (sorted.empty()) return knots;
  double total = 0;
  for (const std::uint32_t row : sorted) total += weight[row];
  const double inner = total - 2 * spans.end;
  if (inner <= 0 || max_knots == 0) return knots;
  const double step = std::max(spans.min, std::ceil(inner / static_cast<double>(max_knots)));
  const double low = x[sorted.front()], high = x[sorted.back()];
  double at = spans.end, below = 0;
  for (const std::uint32_t row : sorted) {
    below += weight[row];
    // a little slack, since weights that are no whole numbers do not add up exactly
    if (below <= at + 1e-9) continue;
    if (at >= total - spans.end - 1e-9) break;
    while (below > at + 1e-9) at += step;
    if (x[row] > low && x[row] < high && (knots.empty() || x[row] > knots.back())) {
      knots.push_back(x[row]);
    }
  }
  return knots;
}

Column prepare(const MarsInput& input, std::size_t j, const Spans& spans, std::size_t max_knots) {
  const std::size_t n = input.n_rows;
  const double* x = input.columns + j * n;
  Column column;
  column.n_levels = static_cast<std::size_t>(input.levels[j]);
  column.value.resize(n);
  column.bin.resize(n);
  if (column.n_levels > 0) {
    for (std::size_t i = 0; i < n; ++i) {
      const bool missing = std::isnan(x[i]);
      column.has_missing |= missing;
      column.bin[i] = static_cast<std::uint32_t>(missing ? column.n_levels
                                                         : static_cast<std::size_t>(x[i]));
    }
    return column;
  }
  // values beside rows: comparing through an index takes twice as long
  std::vector<std::pair<double, std::uint32_t>> values;
  values.reserve(n);
  double total = 0, sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) continue;
    values.emplace_back(x[i], static_cast<std::uint32_t>(i));
    total += input.weight[i];
  }
  std::sort(values.begin(), values.end());
  std::vector<std::uint32_t> sorted;
  sorted.reserve(values.size());
  for (const auto& [value, row] : values) sorted.push_back(row);
  column.has_missing = sorted.size() < n;
  if (!sorted.empty()) {
    for (const std::uint32_t row : sorted) sum += input.weight[row] * (x[row] - x[sorted.front()]);
    // a missing value contributes nothing to a line, as if it were the mean
    column.centre = x[sorted.front()] + (column.has_missing ? sum / total : 0);
  }
  const std::vector<double> knots = knots_of(x, input.weight, sorted, spans, max_knots);
  std::size_t bin = 0;
  for (const std::uint32_t row : sorted) {
    while (bin < knots.size() && knots[bin] <= x[row]) ++bin;
    column.bin[row] = static_cast<std::uint32_t>(bin);
    column.value[row] = x[row] - column.centre;
  }
  column.knots = knots;
  for (double& knot : column.knots) knot -= column.centre;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) column.bin[i] = static_cast<std::uint32_t>(knots.size() + 1);
  }
  return column;
}

struct Candidate {
  double gain = 0;
  MarsKind kind = MarsKind::constant;
  std::size_t knot = 0;              // position among the column's knots
  std::vector<std::uint8_t> subset;  // of levels
};

struct Model {
  const MarsInput* input;
  Spans spans;
  double least_gain = 0;
  std::vector<Column> columns;
  std::vector<std::vector<double>> q;     // orthonormal functions
  std::vector<std::vector<double>> g;     // inner product of each with each response
  std::vector<std::vector<double>> start; // responses less means, times the root of the weight
  std::vector<std::vector<double>> residual;
};

// Inner products of everything that one parent times one column can add.
class Pair {
 public:
  Pair(const Model& model, const double* basis, const std::vector<std::uint32_t>& support,
       const Column& column)
      : model_(&model), basis_(basis), support_(&support), column_(&column) {
    const std::size_t n_bins = column.missing_bin() + 1, n_responses = model.start.size();
    const std::size_t n_knots = column.knots.size();
    counts_.assign(n_bins, 0);
    squares_.assign(n_bins, 0);
    std::vector<double> cross(n_bins, 0), curve(n_bins, 0);
    responses_.assign(n_responses, std::vector<double>(n_bins, 0));
    std::vector<std::vector<double>> moved(n_responses, std::vector<double>(n_bins, 0));
    for (const std::uint32_t row : support) {
      const std::uint32_t bin = column.bin[row];
      const double b = basis[row], bx = b * column.value[row];
      counts_[bin] += model.input->weight[row];
      squares_[bin] += b * b;
      cross[bin] += b * bx;
      curve[bin] += bx * bx;
      for (std::size_t o = 0; o < n_responses; ++o) {
        responses_[o][bin] += b * model.start[o][row];
        moved[o][bin] += bx * model.start[o][row];
      }
    }
    missing_left_ = squares_.back();
    if (column.n_levels > 0) return;
    line_ = std::accumulate(curve.begin(), curve.end() - 1, 0.0);
    line_left_ = line_;
    for (const auto& values : moved) {
      line_response_.push_back(std::accumulate(values.begin(), values.end() - 1, 0.0));
    }
    hinge_.assign(n_knots, 0);
    line_hinge_.assign(n_knots, 0);
    above_.assign(n_knots, 0);
    hinge_response_.assign(n_responses, std::vector<double>(n_knots, 0));
    double b2 = 0, b2x = 0, b2x2 = 0, count = 0;
    for (std::size_t k = n_knots; k-- > 0;) {
      const double t = column.knots[k];
      b2 += squares_[k + 1], b2x += cross[k + 1], b2x2 += curve[k + 1], count += counts_[k + 1];
      hinge_[k] = b2x2 - 2 * t * b2x + t * t * b2;
      line_hinge_[k] = b2x2 - t * b2x;
      above_[k] = count;
    }
    for (std::size_t o = 0; o < n_responses; ++o) {
      double br = 0, bxr = 0;
      for (std::size_t k = n_knots; k-- > 0;) {
        br += responses_[o][k + 1], bxr += moved[o][k + 1];
        hinge_response_[o][k] = bxr - column.knots[k] * br;
      }
    }
    hinge_left_ = hinge_;
  }

  // Takes the functions that were added to the model since the last call into account.
  void update() {
    while (done_ < model_->q.size()) {
      const std::size_t left = model_->q.size() - done_;
      if (left >= 4) {
        pass<4>();
      } else if (left >= 2) {
        pass<2>();
      } else {
        pass<1>();
      }
    }
  }

  Candidate best() const { return column_->n_levels > 0 ? best_levels() : best_hinge(); }

 private:
  template <std::size_t together>
  void pass() {
    const std::size_t n_bins = column_->missing_bin() + 1;
    const double* q[together];
    for (std::size_t k = 0; k < together; ++k) q[k] = model_->q[done_ + k].data();
    std::vector<double> sums(2 * together * n_bins, 0.0);
    const std::uint32_t* bins = column_->bin.data();
    const double* value = column_->value.data();
    if (column_->n_levels > 0) {
      for (const std::uint32_t row : *support_) {
        double* sum = &sums[2 * together * bins[row]];
        for (std::size_t k = 0; k < together; ++k) sum[2 * k] += basis_[row] * q[k][row];
      }
    } else {
      for (const std::uint32_t row : *support_) {
        double* sum = &sums[2 * together * bins[row]];
        for (std::size_t k = 0; k < together; ++k) {
          const double bq = basis_[row] * q[k][row];
          sum[2 * k] += bq;
          sum[2 * k + 1] += bq * value[row];
        }
      }
    }
    for (std::size_t k = 0; k < together; ++k) {
      take(&sums[2 * k], 2 * together, model_->g[done_ + k].data());
    }
    done_ += together;
  }

  // sums: of b q and of b x q in each bin, `stride` apart; g: inner products of q with responses.
  void take(const double* sums, std::size_t stride, const double* g) {
    const std::size_t n_responses = responses_.size(), n_bins = column_->missing_bin() + 1;
    const double in_missing = sums[stride * (n_bins - 1)];
    missing_left_ -= in_missing * in_missing;
    for (std::size_t o = 0; o < n_responses; ++o) responses_[o].back() -= g[o] * in_missing;
    if (column_->n_levels > 0) {
      for (std::size_t bin = 0; bin < n_bins; ++bin) products_.push_back(sums[stride * bin]);
      for (std::size_t o = 0; o < n_responses; ++o) {
        for (std::size_t bin = 0; bin + 1 < n_bins; ++bin) {
          responses_[o][bin] -= g[o] * sums[stride * bin];
        }
      }
      return;
    }
    const std::size_t n_knots = column_->knots.size();
    double line = 0;
    for (std::size_t bin = 0; bin <= n_knots; ++bin) line += sums[stride * bin + 1];
    line_left_ -= line * line;
    for (std::size_t o = 0; o < n_responses; ++o) line_response_[o] -= g[o] * line;
    double b = 0, bx = 0;
    for (std::size_t k = n_knots; k-- > 0;) {
      b += sums[stride * (k + 1)], bx += sums[stride * (k + 1) + 1];
      const double c = bx - column_->knots[k] * b;
      hinge_left_[k] -= c * c;
      line_hinge_[k] -= c * line;
      for (std::size_t o = 0; o < n_responses; ++o) hinge_response_[o][k] -= g[o] * c;
    }
  }

  void consider_missing(Candidate& best) const {
    if (!column_->has_missing || missing_left_ <= dependent * squares_.back()) return;
    const double present = std::accumulate(counts_.begin(), counts_.end() - 1, 0.0);
    if (std::min(counts_.back(), present) < model_->spans.end) return;
    double gain = 0;
    for (const auto& response : responses_) gain += response.back() * response.back();
    gain /= missing_left_;
    if (gain > best.gain) best = {gain, MarsKind::missing, 0, {}};
  }

  Candidate best_hinge() const {
    Candidate best;
    const std::size_t n_responses = responses_.size();
    const bool has_line = line_left_ > dependent * line_;
    double line_gain = 0;
    if (has_line) {
      for (const double response : line_response_) line_gain += response * response;
      line_gain /= line_left_;
      if (line_gain > 0) best = {line_gain, MarsKind::line, 0, {}};
    }
    const double present = std::accumulate(counts_.begin(), counts_.end() - 1, 0.0);
    for (std::size_t k = 0; k < hinge_.size(); ++k) {
      if (std::min(above_[k], present - above_[k]) < model_->spans.end) continue;
      double left = hinge_left_[k];
      if (left <= dependent * hinge_[k]) continue;
      const double on_line = has_line ? line_hinge_[k] / line_left_ : 0;
      if (has_line) left -= line_hinge_[k] * on_line;
      if (left <= dependent * hinge_[k]) continue;
      double gain = 0;
      for (std::size_t o = 0; o < n_responses; ++o) {
        const double response =
            hinge_response_[o][k] - (has_line ? on_line * line_response_[o] : 0);
        gain += response * response;
      }
      gain = line_gain + gain / left;
      if (gain > best.gain) best = {gain, MarsKind::up, k, {}};
    }
    // a bend that the search would not add for its own sake is left out: a line reads better
    if (has_line && best.kind == MarsKind::up && best.gain - line_gain < model_->least_gain) {
      best = {line_gain, MarsKind::line, 0, {}};
    }
    consider_missing(best);
    return best;
  }

  // Levels are put in the order of their mean residual, for which one cut is best (as in CART);
  // with several responses, of the one whose means differ most.
  Candidate best_levels() const {
    Candidate best;
    const std::size_t n_bins = counts_.size(), n_functions = model_->q.size();
    const std::vector<double>* by = nullptr;
    double widest = -1;
    for (const auto& response : responses_) {
      double spread = 0;
      for (std::size_t bin = 0; bin < n_bins; ++bin) {
        if (squares_[bin] > 0) spread += response[bin] * response[bin] / squares_[bin];
      }
      if (spread > widest) widest = spread, by = &response;
    }
    std::vector<std::size_t> order;
    double total = 0;
    for (std::size_t bin = 0; bin < n_bins; ++bin) {
      if (squares_[bin] > 0) order.push_back(bin);
      total += counts_[bin];
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return (*by)[a] / squares_[a] > (*by)[b] / squares_[b];
    });
    std::vector<double> products(n_functions, 0.0), response(responses_.size(), 0.0);
    double square = 0, count = 0;
    std::size_t cut = 0;
    for (std::size_t place = 0; place + 1 < order.size(); ++place) {
      const std::size_t bin = order[place];
      square += squares_[bin], count += counts_[bin];
      for (std::size_t o = 0; o < response.size(); ++o) response[o] += responses_[o][bin];
      double left = square;
      for (std::size_t k = 0; k < n_functions; ++k) {
        products[k] += products_[k * n_bins + bin];
        left -= products[k] * products[k];
      }
      if (std::min(count, total - count) < model_->spans.end) continue;
      if (left <= dependent * square) continue;
      double gain = 0;
      for (const double value : response) gain += value * value;
      gain /= left;
      // a level that has its own term already may be on either side: the first cut stands
      if (gain > best.gain * (1 + tie)) {
        best.gain = gain, best.kind = MarsKind::levels, cut = place + 1;
      }
    }
    if (best.kind == MarsKind::levels) {
      best.subset.assign(n_bins, 0);
      // the smaller side, so that a level never seen belongs to the larger one
      double inside = 0;
      for (std::size_t place = 0; place < cut; ++place) inside += counts_[order[place]];
      const bool first = 2 * inside <= total;
      for (std::size_t place = first ? 0 : cut; place < (first ? cut : order.size()); ++place) {
        best.subset[order[place]] = 1;
      }
    }
    return best;
  }

  const Model* model_;
  const double* basis_;
  const std::vector<std::uint32_t>* support_;
  const Column* column_;
  std::size_t done_ = 0;  // functions taken into account
  std::vector<double> counts_, squares_;         // by bin
  std::vector<std::vector<double>> responses_;   // by response and bin; of residuals once updated
  double missing_left_ = 0;
  std::vector<double> products_;                 // of levels with functions, by function
  double line_ = 0, line_left_ = 0;
  std::vector<double> line_response_;
  std::vector<double> hinge_, hinge_left_, line_hinge_, above_;
  std::vector<std::vector<double>> hinge_response_;
};

class Search {
 public:
  Search(const MarsInput& input, const MarsOptions& options, const MarsOutput& output,
         int n_threads)
      : input_(input), options_(options), output_(output), n_threads_(n_threads) {
    model_.input = &input_;
    terms_.reserve(options.max_terms);  // pairs point into terms
    model_.spans = friedman_spans(input, options);
    model_.columns.resize(input.n_columns);
    parallel_for(input.n_columns, n_threads, [&](std::size_t j, int) {
      model_.columns[j] = prepare(input_, j, model_.spans, options_.max_knots);
    });
    for (std::size_t o = 0; o < input.n_responses; ++o) {
      const double* y = input.response + o * input.n_rows;
      const double mean = dot(y, input.weight, input.n_rows) /
                          std::accumulate(input.weight, input.weight + input.n_rows, 0.0);
      std::vector<double> start(input.n_rows);
      for (std::size_t i = 0; i < input.n_rows; ++i) {
        start[i] = std::sqrt(input.weight[i]) * (y[i] - mean);
      }
      total_ += dot(start.data(), start.data(), input.n_rows);
      model_.start.push_back(std::move(start));
    }
    model_.residual = model_.start;
    model_.least_gain = options.threshold * total_;
    left_ = total_;
    for (std::size_t i = 0; i < input.n_rows; ++i) output.basis[i] = std::sqrt(input.weight[i]);
    record(-1, -1, MarsKind::constant, 0);
  }

  std::size_t run() {
    while (n_terms_ + 2 <= options_.max_terms && left_ > (1 - perfect_fit) * total_) {
      if (!step()) break;
    }
    return n_terms_;
  }

 private:
  struct Term {
    int degree = 0;
    std::vector<bool> uses;
    std::vector<std::uint32_t> support;  // rows where it is not zero
    std::vector<std::unique_ptr<Pair>> pairs;
    double gain = std::numeric_limits<double>::infinity();
    int waited = 0;
  };

  bool step() {
    const std::vector<std::size_t> parents = parents_to_try();
    std::vector<std::pair<std::size_t, std::size_t>> jobs;
    for (const std::size_t parent : parents) {
      for (std::size_t j = 0; j < input_.n_columns; ++j) {
        if (!terms_[parent].uses[j]) jobs.emplace_back(parent, j);
      }
    }
    std::vector<Candidate> candidates(jobs.size());
    parallel_for(jobs.size(), n_threads_, [&](std::size_t job, int) {
      const auto [parent, j] = jobs[job];
      std::unique_ptr<Pair>& pair = terms_[parent].pairs[j];
      if (!pair) {
        pair = std::make_unique<Pair>(model_, output_.basis + parent * input_.n_rows,
                                      terms_[parent].support, model_.columns[j]);
      }
      pair->update();
      candidates[job] = pair->best();
    });
    for (const std::size_t parent : parents) terms_[parent].gain = 0;
    std::size_t best = jobs.size();
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      Term& term = terms_[jobs[job].first];
      term.gain = std::max(term.gain, candidates[job].gain);
      if (best == jobs.size() || candidates[job].gain > candidates[best].gain) best = job;
    }
    if (best == jobs.size() || !(candidates[best].gain >= model_.least_gain) ||
        candidates[best].gain <= 0) {
      return false;
    }
    return add(jobs[best].first, jobs[best].second, candidates[best]);
  }

  // Fast MARS: the parents whose last gain was largest, and those that have waited long.
  std::vector<std::size_t> parents_to_try() {
    std::vector<std::size_t> parents;
    for (std::size_t m = 0; m < n_terms_; ++m) {
      if (terms_[m].degree < options_.degree) parents.push_back(m);
    }
    if (options_.n_parents == 0 || parents.size() <= options_.n_parents) return parents;
    const auto priority = [&](std::size_t m) {
      return terms_[m].gain + ageing * total_ * terms_[m].waited;
    };
    std::stable_sort(parents.begin(), parents.end(),
                     [&](std::size_t a, std::size_t b) { return priority(a) > priority(b); });
    for (std::size_t k = 0; k < parents.size(); ++k) {
      terms_[parents[k]].waited = k < options_.n_parents ? 0 : terms_[parents[k]].waited + 1;
    }
    const double per_pair = 8.0 * static_cast<double>((options_.max_knots + 2) *
                                                      (8 + 2 * input_.n_responses));
    const double bytes = per_pair * static_cast<double>(parents.size() * input_.n_columns);
    for (std::size_t k = options_.n_parents; bytes > most_bytes && k < parents.size(); ++k) {
      // made again, with the same sums, when the parent's turn comes
      for (std::unique_ptr<Pair>& pair : terms_[parents[k]].pairs) pair.reset();
    }
    parents.resize(options_.n_parents);
    return parents;
  }

  bool add(std::size_t parent, std::size_t j, const Candidate& candidate) {
    const Column& column = model_.columns[j];
    const double* b = output_.basis + parent * input_.n_rows;
    const std::size_t n = input_.n_rows, before = n_terms_;
    const auto append = [&](MarsKind kind, double knot, auto&& function) {
      double* to = output_.basis + n_terms_ * n;
      for (std::size_t i = 0; i < n; ++i) to[i] = b[i] == 0 ? 0 : b[i] * function(i);
      if (kind == MarsKind::levels) {
        std::copy(candidate.subset.begin(), candidate.subset.end(),
                  output_.subset + n_terms_ * output_.subset_size);
      }
      record(static_cast<std::int32_t>(parent), static_cast<std::int32_t>(j), kind, knot);
    };
    switch (candidate.kind) {
      case MarsKind::line:
        append(MarsKind::line, column.centre, [&](std::size_t i) { return column.value[i]; });
        break;
      case MarsKind::levels:
        append(MarsKind::levels, 0,
               [&](std::size_t i) { return candidate.subset[column.bin[i]] ? 1.0 : 0.0; });
        break;
      case MarsKind::missing:
        append(MarsKind::missing, 0,
               [&](std::size_t i) { return column.bin[i] == column.missing_bin() ? 1.0 : 0.0; });
        break;
      default: {
        const double t = column.knots[candidate.knot];
        const std::size_t missing = column.missing_bin();
        append(MarsKind::up, t + column.centre, [&](std::size_t i) {
          return column.bin[i] == missing ? 0.0 : std::max(column.value[i] - t, 0.0);
        });
        append(MarsKind::down, t + column.centre, [&](std::size_t i) {
          return column.bin[i] == missing ? 0.0 : std::max(t - column.value[i], 0.0);
        });
      }
    }
    return n_terms_ > before;
  }

  // Keeps the function at the end of the basis, unless the model spans it already.
  void record(std::int32_t parent, std::int32_t column, MarsKind kind, double knot) {
    const std::size_t n = input_.n_rows;
    const double* basis = output_.basis + n_terms_ * n;
    std::vector<double> q(basis, basis + n);
    for (int repeat = 0; repeat < 2; ++repeat) {
      // twice is enough for orthogonality to rounding
      for (const std::vector<double>& other : model_.q) {
        const double c = dot(other.data(), q.data(), n);
        for (std::size_t i = 0; i < n; ++i) q[i] -= c * other[i];
      }
    }
    const double square = dot(q.data(), q.data(), n);
    if (!(square > dependent / 10 * dot(basis, basis, n))) return;
    const double scale = 1 / std::sqrt(square);
    for (double& value : q) value *= scale;
    std::vector<double> g;
    for (std::vector<double>& residual : model_.residual) {
      g.push_back(dot(q.data(), residual.data(), n));
      for (std::size_t i = 0; i < n; ++i) residual[i] -= g.back() * q[i];
      left_ -= g.back() * g.back();
    }
    model_.q.push_back(std::move(q));
    model_.g.push_back(std::move(g));
    Term term;
    term.uses.assign(input_.n_columns, false);
    if (parent >= 0) {
      term.degree = terms_[static_cast<std::size_t>(parent)].degree + 1;
      term.uses = terms_[static_cast<std::size_t>(parent)].uses;
      term.uses[static_cast<std::size_t>(column)] = true;
    }
    if (term.degree < options_.degree) {
      for (std::size_t i = 0; i < n; ++i) {
        if (basis[i] != 0) term.support.push_back(static_cast<std::uint32_t>(i));
      }
    }
    term.pairs.resize(input_.n_columns);
    terms_.push_back(std::move(term));
    output_.parent[n_terms_] = parent;
    output_.column[n_terms_] = column;
    output_.kind[n_terms_] = static_cast<std::int32_t>(kind);
    output_.knot[n_terms_] = knot;
    ++n_terms_;
  }

  MarsInput input_;
  MarsOptions options_;
  MarsOutput output_;
  int n_threads_;
  Model model_;
  double total_ = 0, left_ = 0;
  std::size_t n_terms_ = 0;
  std::vector<Term> terms_;
};

}  // namespace

std::size_t mars_forward(const MarsInput& input, const MarsOptions& options,
                         const MarsOutput& output, int n_threads) {
  return Search(input, options, output, n_threads).run();
}

}  // namespace clearwood
