// Minimises (1 / W) Σ w loss + λ Σ |β| along falling λ, each solution the start of the next.
//
// A step replaces the loss of one class by its quadratic approximation with weights v and gradient
// z and descends coordinate by coordinate. Columns are centred implicitly: with V = Σ v and s = Σ z,
// the gradient of column x is <x, z> - <x, v> s / V, and the intercept follows from s. Only columns
// that the strong rule admits are visited; the others are checked at the end. Rules overlap, so a
// pass over their rows, of which half are zero, is cheaper than a matrix of all inner products.
#include "lasso/path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/parallel.hpp"

namespace clearwood {
namespace {

constexpr double least_curvature = 1e-5;  // of a row, as a share of its weight
constexpr double largest_score = 30;      // of counts: exp stays finite
constexpr int max_steps = 50;
constexpr int max_sweeps = 1000;

class Fit {
 public:
  Fit(const LassoProblem& problem, const LassoOptions& options, std::int32_t held_out)
      : problem_(problem),
        columns_(problem.columns),
        n_(problem.columns.n_rows),
        p_(problem.columns.n_sparse + problem.columns.n_dense),
        classes_(problem.n_classes),
        weight_(problem.weight, problem.weight + n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      if (held_out >= 0 && problem.fold[i] == held_out) weight_[i] = 0;
      total_ += weight_[i];
    }
    intercept.assign(classes_, 0);
    beta.assign(classes_ * p_, 0);
    score_.assign(classes_ * n_, 0);
    gradient_.assign(classes_ * p_, 0);
    z_.assign(n_, 0);
    v_.assign(n_, 0);
    column_v_.assign(p_, 0);
    curvature_.assign(p_, 0);
    is_candidate_.assign(classes_ * p_, 0);
    has_curvature_.assign(p_, 0);
    start();
    stop_at_ = options.tolerance * std::max(lost(), std::numeric_limits<double>::min());
    full_gradient();
  }

  // The least penalty at which all coefficients are zero, where they are.
  double largest_penalty() const {
    double largest = 0;
    for (const double g : gradient_) largest = std::max(largest, std::abs(g));
    return total_ > 0 ? largest / total_ : 0;
  }

  void advance(double penalty) {
    const double bound = penalty * total_;
    const double strong = (2 * penalty - last_penalty_) * total_;
    for (std::size_t at = 0; at < gradient_.size(); ++at) {
      is_candidate_[at] = beta[at] != 0 || std::abs(gradient_[at]) >= strong;
    }
    last_penalty_ = penalty;
    while (true) {
      solve(bound);
      full_gradient();
      bool complete = true;
      for (std::size_t at = 0; at < gradient_.size(); ++at) {
        if (!is_candidate_[at] && std::abs(gradient_[at]) > bound * (1 + 1e-6)) {
          is_candidate_[at] = 1;
          complete = false;
        }
      }
      if (complete) return;
    }
  }

  // Weighted loss, over rows of a fold, and their weight.
  void held_out_loss(std::int32_t fold, double& loss, double& weight) const {
    loss = weight = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (problem_.fold[i] != fold) continue;
      loss += problem_.weight[i] * row_loss(i);
      weight += problem_.weight[i];
    }
  }

  std::vector<double> intercept, beta;

 private:
  const double* response(std::size_t k) const { return problem_.response + k * n_; }

  void start() {
    for (std::size_t k = 0; k < classes_; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < n_; ++i) sum += weight_[i] * response(k)[i];
      const double mean = total_ > 0 ? sum / total_ : 0;
      const double share = std::clamp(mean, 1e-9, 1 - 1e-9);
      switch (problem_.family) {
        case LassoFamily::gaussian: intercept[k] = mean; break;
        case LassoFamily::logistic: intercept[k] = std::log(share / (1 - share)); break;
        case LassoFamily::poisson: intercept[k] = std::log(std::max(mean, 1e-9)); break;
        case LassoFamily::multinomial: intercept[k] = std::log(share); break;
      }
      std::fill_n(score_.begin() + static_cast<std::ptrdiff_t>(k * n_), n_, intercept[k]);
    }
  }

  // What all columns together could lower the objective by, at most: steps are judged by it.
  double lost() const {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (weight_[i] > 0) sum += weight_[i] * (row_loss(i) - least_loss(response(0)[i]));
    }
    return sum;
  }

  // The loss of a row that is predicted perfectly; that of classes is zero.
  double least_loss(double y) const {
    return problem_.family == LassoFamily::poisson && y > 0 ? y - y * std::log(y) : 0;
  }

  double row_loss(std::size_t i) const {
    const double f = score_[i], y = response(0)[i];
    switch (problem_.family) {
      case LassoFamily::gaussian: return 0.5 * (y - f) * (y - f);
      case LassoFamily::logistic:
        return std::max(f, 0.0) - f * y + std::log1p(std::exp(-std::abs(f)));
      case LassoFamily::poisson: return std::exp(std::min(f, largest_score)) - y * f;
      case LassoFamily::multinomial: break;
    }
    double most = f, own = 0, sum = 0;
    for (std::size_t k = 1; k < classes_; ++k) most = std::max(most, score_[k * n_ + i]);
    for (std::size_t k = 0; k < classes_; ++k) {
      sum += std::exp(score_[k * n_ + i] - most);
      own += response(k)[i] * score_[k * n_ + i];
    }
    return most + std::log(sum) - own;
  }

  double objective(double bound) const {
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (weight_[i] > 0) sum += weight_[i] * row_loss(i);
    }
    for (const double b : beta) size += std::abs(b);
    return sum + bound * size;
  }

  // Gradient and curvature of each row's loss in the score of class k.
  void work(std::size_t k) {
    const double* y = response(k);
    const double* f = score_.data() + k * n_;
    sum_z_ = sum_v_ = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double w = weight_[i];
      double mean = f[i], curve = 1;
      switch (problem_.family) {
        case LassoFamily::gaussian: break;
        case LassoFamily::logistic:
          mean = 1 / (1 + std::exp(-f[i]));
          curve = std::max(mean * (1 - mean), least_curvature);
          break;
        case LassoFamily::poisson:
          mean = std::exp(std::min(f[i], largest_score));
          curve = std::max(mean, least_curvature);
          break;
        case LassoFamily::multinomial: {
          double most = f[i], sum = 0;
          for (std::size_t c = 0; c < classes_; ++c) most = std::max(most, score_[c * n_ + i]);
          for (std::size_t c = 0; c < classes_; ++c) sum += std::exp(score_[c * n_ + i] - most);
          mean = std::exp(f[i] - most) / sum;
          curve = std::max(mean * (1 - mean), least_curvature);
          break;
        }
      }
      z_[i] = w * (y[i] - mean);
      v_[i] = w * curve;
      sum_z_ += z_[i];
      sum_v_ += v_[i];
    }
  }

  double inner(std::size_t j, const std::vector<double>& values) const {
    double sum[4] = {0, 0, 0, 0};
    if (j < columns_.n_sparse) {
      const std::uint32_t* row = columns_.rows + columns_.start[j];
      const std::uint32_t* end = columns_.rows + columns_.start[j + 1];
      for (; row + 4 <= end; row += 4) {
        for (std::size_t k = 0; k < 4; ++k) sum[k] += values[row[k]];
      }
      for (; row < end; ++row) sum[0] += values[*row];
      return columns_.scale[j] * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
    const double* x = columns_.dense + (j - columns_.n_sparse) * n_;
    std::size_t i = 0;
    for (; i + 4 <= n_; i += 4) {
      for (std::size_t k = 0; k < 4; ++k) sum[k] += x[i + k] * values[i + k];
    }
    for (; i < n_; ++i) sum[0] += x[i] * values[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  void measure(std::size_t j) {
    column_v_[j] = inner(j, v_);
    double square;
    if (j < columns_.n_sparse) {
      square = columns_.scale[j] * column_v_[j];
    } else {
      const double* x = columns_.dense + (j - columns_.n_sparse) * n_;
      square = 0;
      for (std::size_t i = 0; i < n_; ++i) square += x[i] * x[i] * v_[i];
    }
    const double centred = square - column_v_[j] * column_v_[j] / sum_v_;
    // a column that is constant over these rows has no coefficient of its own
    curvature_[j] = centred > 1e-9 * square ? centred : 0;
  }

  // Adds change * x_j to the score's quadratic approximation.
  void move(std::size_t j, double change) {
    if (j < columns_.n_sparse) {
      const double step = change * columns_.scale[j];
      for (std::int64_t at = columns_.start[j]; at < columns_.start[j + 1]; ++at) {
        const std::uint32_t row = columns_.rows[at];
        z_[row] -= step * v_[row];
      }
    } else {
      const double* x = columns_.dense + (j - columns_.n_sparse) * n_;
      for (std::size_t i = 0; i < n_; ++i) z_[i] -= change * x[i] * v_[i];
    }
    sum_z_ -= change * column_v_[j];
  }

  // Returns the decrease that the step makes, in units of the objective.
  double descend(std::size_t j, double& coefficient, double bound) {
    const double h = curvature_[j];
    if (h == 0) return 0;
    const double g = inner(j, z_) - column_v_[j] * sum_z_ / sum_v_ + coefficient * h;
    const double next = std::copysign(std::max(std::abs(g) - bound, 0.0), g) / h;
    const double change = next - coefficient;
    if (change == 0) return 0;
    coefficient = next;
    move(j, change);
    return h * change * change;
  }

  // One quadratic approximation for class k, solved over the candidates.
  void step(std::size_t k, double bound) {
    work(k);
    if (!(sum_v_ > 0)) return;
    double* b = beta.data() + k * p_;
    std::vector<std::size_t> candidates, active;
    for (std::size_t j = 0; j < p_; ++j) {
      if (is_candidate_[k * p_ + j]) candidates.push_back(j);
    }
    const bool fixed = problem_.family == LassoFamily::gaussian;
    std::vector<double> before;
    for (const std::size_t j : candidates) {
      before.push_back(b[j]);
      if (!fixed || !has_curvature_[j]) measure(j);
      has_curvature_[j] = 1;
    }
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
      double most = 0;
      for (const std::size_t j : candidates) most = std::max(most, descend(j, b[j], bound));
      if (most < stop_at_) break;
      active.clear();
      for (const std::size_t j : candidates) {
        if (b[j] != 0) active.push_back(j);
      }
      for (; sweep < max_sweeps && most >= stop_at_; ++sweep) {
        most = 0;
        for (const std::size_t j : active) most = std::max(most, descend(j, b[j], bound));
      }
    }
    double* f = score_.data() + k * n_;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const std::size_t j = candidates[c];
      const double change = b[j] - before[c];
      if (change == 0) continue;
      if (j < columns_.n_sparse) {
        for (std::int64_t at = columns_.start[j]; at < columns_.start[j + 1]; ++at) {
          f[columns_.rows[at]] += change * columns_.scale[j];
        }
      } else {
        const double* x = columns_.dense + (j - columns_.n_sparse) * n_;
        for (std::size_t i = 0; i < n_; ++i) f[i] += change * x[i];
      }
    }
    const double shift = sum_z_ / sum_v_;
    intercept[k] += shift;
    for (std::size_t i = 0; i < n_; ++i) f[i] += shift;
  }

  void solve(double bound) {
    if (problem_.family == LassoFamily::gaussian) {
      step(0, bound);
      return;
    }
    double before = objective(bound);
    for (int round = 0; round < max_steps; ++round) {
      for (std::size_t k = 0; k < classes_; ++k) guarded_step(k, bound);
      const double after = objective(bound);
      if (!(before - after > stop_at_)) return;
      before = after;
    }
  }

  // A step, halved until the objective does not rise.
  void guarded_step(std::size_t k, double bound) {
    const auto at = [&](std::vector<double>& values, std::size_t size) {
      return values.begin() + static_cast<std::ptrdiff_t>(k * size);
    };
    const double before = objective(bound);
    old_score_.assign(at(score_, n_), at(score_, n_) + static_cast<std::ptrdiff_t>(n_));
    old_beta_.assign(at(beta, p_), at(beta, p_) + static_cast<std::ptrdiff_t>(p_));
    const double old_intercept = intercept[k];
    step(k, bound);
    for (int halving = 0; halving < 30 && objective(bound) > before + stop_at_; ++halving) {
      for (std::size_t i = 0; i < n_; ++i) {
        score_[k * n_ + i] = 0.5 * (score_[k * n_ + i] + old_score_[i]);
      }
      for (std::size_t j = 0; j < p_; ++j) {
        beta[k * p_ + j] = 0.5 * (beta[k * p_ + j] + old_beta_[j]);
      }
      intercept[k] = 0.5 * (intercept[k] + old_intercept);
    }
  }

  void full_gradient() {
    for (std::size_t k = 0; k < classes_; ++k) {
      work(k);
      for (std::size_t j = 0; j < p_; ++j) gradient_[k * p_ + j] = inner(j, z_);
    }
  }

  LassoProblem problem_;
  LassoColumns columns_;
  std::size_t n_, p_, classes_;
  std::vector<double> weight_;
  double total_ = 0, stop_at_ = 0, sum_z_ = 0, sum_v_ = 0;
  double last_penalty_ = std::numeric_limits<double>::infinity();
  std::vector<double> score_, gradient_, z_, v_, column_v_, curvature_;
  std::vector<std::uint8_t> is_candidate_, has_curvature_;
  std::vector<double> old_score_, old_beta_;
};

}  // namespace

std::size_t lasso_path(const LassoProblem& problem, const LassoOptions& options,
                       const LassoOutput& output, int n_threads) {
  const std::size_t n_folds = problem.n_folds, n_penalties = options.n_penalties;
  Fit whole(problem, options, -1);
  const double largest = whole.largest_penalty();
  for (std::size_t at = 0; at < n_penalties; ++at) {
    const double steps = static_cast<double>(std::max<std::size_t>(n_penalties - 1, 1));
    const double share = static_cast<double>(at) / steps;
    output.penalties[at] = largest * std::pow(options.ratio, share);
  }
  std::fill_n(output.losses, n_folds * n_penalties, std::numeric_limits<double>::quiet_NaN());
  std::size_t chosen = n_penalties - 1;
  if (n_folds > 0) {
    std::vector<Fit> fits;
    fits.reserve(n_folds);
    for (std::size_t fold = 0; fold < n_folds; ++fold) {
      fits.emplace_back(problem, options, static_cast<std::int32_t>(fold));
    }
    std::vector<double> loss(n_folds), weight(n_folds), pooled;
    std::size_t best = 0;
    for (std::size_t at = 0; at < n_penalties && at <= best + options.patience; ++at) {
      parallel_for(n_folds, n_threads, [&](std::size_t fold, int) {
        fits[fold].advance(output.penalties[at]);
        fits[fold].held_out_loss(static_cast<std::int32_t>(fold), loss[fold], weight[fold]);
      });
      double sum = 0, total = 0;
      for (std::size_t fold = 0; fold < n_folds; ++fold) {
        output.losses[fold * n_penalties + at] = loss[fold] / weight[fold];
        sum += loss[fold];
        total += weight[fold];
      }
      pooled.push_back(sum / total);
      if (pooled[at] < pooled[best]) best = at;
    }
    chosen = best;
    if (options.one_error && n_folds > 1) {
      double mean = 0, square = 0;
      const double count = static_cast<double>(n_folds);
      for (std::size_t fold = 0; fold < n_folds; ++fold) {
        mean += output.losses[fold * n_penalties + best] / count;
      }
      for (std::size_t fold = 0; fold < n_folds; ++fold) {
        const double gap = output.losses[fold * n_penalties + best] - mean;
        square += gap * gap;
      }
      const double bound = pooled[best] + std::sqrt(square / (count - 1) / count);
      while (chosen > 0 && pooled[chosen - 1] <= bound) --chosen;
    }
  }
  for (std::size_t at = 0; at <= chosen; ++at) {
    parallel_for(1, 1, [&](std::size_t, int) { whole.advance(output.penalties[at]); });
  }
  std::copy(whole.intercept.begin(), whole.intercept.end(), output.intercept);
  std::copy(whole.beta.begin(), whole.beta.end(), output.coefficients);
  return chosen;
}

}  // namespace clearwood
