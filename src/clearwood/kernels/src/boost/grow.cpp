// Growing a tree: leaves are split in the order of their gain, by a random threshold for each
// column (few rows: smoother shapes) or by the best one of a histogram (many rows).
#include "boost/grow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clearwood {
namespace {

constexpr std::size_t bins_of_column = 256;

// SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::size_t padded(std::size_t n) { return (n + boost_rows - 1) / boost_rows * boost_rows; }

// The sum of w·log(x). With equal weights, logarithms of products of 16 numbers, which the caller
// keeps below 1e19 each.
double sum_of_logs(const float* x, const float* weight, std::size_t n, bool equal_weights) {
  double total = 0.0;
  if (!equal_weights) {
    for (std::size_t i = 0; i < n; ++i) {
      total += static_cast<double>(weight[i]) * std::log(static_cast<double>(x[i]));
    }
    return total;
  }
  for (std::size_t i = 0; i < n; i += 16) {
    double product = 1.0;
    for (std::size_t k = i; k < std::min(n, i + 16); ++k) product *= static_cast<double>(x[k]);
    total += std::log(product);
  }
  return n == 0 ? 0.0 : total * static_cast<double>(weight[0]);
}

bool all_equal(const std::vector<float>& weight, std::size_t n) {
  return std::all_of(weight.begin(), weight.begin() + static_cast<std::ptrdiff_t>(n),
                     [&](float w) { return w == weight[0]; });
}

}  // namespace

BoostGrower::BoostGrower(const BoostData& data, const BoostFold& fold, const BoostOptions& options,
                         int number)
    : data_(data),
      options_(options),
      leaves_(static_cast<std::size_t>(options.max_leaves)),
      state_(options.seed),
      sums_(CLEARWOOD_DISPATCH(boost_sums)),
      route_(CLEARWOOD_DISPATCH(boost_route)),
      add_(CLEARWOOD_DISPATCH(boost_add)),
      exp_(CLEARWOOD_DISPATCH(boost_exp)),
      softmax_(CLEARWOOD_DISPATCH(boost_softmax)) {
  for (int k = 0; k <= number; ++k) state_ = next(state_);
  switch (options.loss) {
    case BoostLoss::logistic: gradients_ = CLEARWOOD_DISPATCH(boost_logistic); break;
    case BoostLoss::poisson: gradients_ = CLEARWOOD_DISPATCH(boost_poisson); break;
    case BoostLoss::gamma: gradients_ = CLEARWOOD_DISPATCH(boost_gamma); break;
    default: gradients_ = CLEARWOOD_DISPATCH(boost_squared);
  }
  take(data, fold, fold.kept, kept_);
  take(data, fold, fold.held_out, held_out_);
  g_.resize(kept_.padded * data.n_outputs);
  h_.resize(kept_.padded * data.n_outputs);
  has_missing_.resize(data.n_columns);
  for (std::size_t j = 0; j < data.n_columns; ++j) {
    const std::uint8_t* column = kept_.columns[j];
    has_missing_[j] = std::find(column, column + kept_.n, 0) != column + kept_.n;
  }
  if (!options.drawn) {
    order_.resize(kept_.n);
    spare_.resize(kept_.n);
    ordered_g_.resize(kept_.n);
    ordered_h_.resize(kept_.n);
    for (Leaf& leaf : leaves_) leaf.histogram.resize(data.n_columns * bins_of_column * 2);
  }
}

void BoostGrower::take(const BoostData& data, const BoostFold& fold,
                       const std::vector<std::int32_t>& which, Rows& rows) {
  rows.n = which.size();
  rows.padded = padded(rows.n);
  rows.y.assign(rows.padded, 0.0f);
  rows.weight.assign(rows.padded, 0.0f);
  rows.leaf.assign(rows.padded, 0);
  rows.score.assign(rows.padded * data.n_outputs, 0.0f);
  const std::size_t n_scratch =
      options_.loss == BoostLoss::softmax ? data.n_outputs + 1 : std::size_t(1);
  rows.scratch.assign(rows.padded * n_scratch, 0.0f);
  for (std::size_t i = 0; i < rows.n; ++i) {
    rows.y[i] = data.y[which[i]];
    rows.weight[i] = data.weight[which[i]];
    for (std::size_t o = 0; o < data.n_outputs; ++o) {
      rows.score[o * rows.padded + i] =
          fold.offset[o * data.n_rows + static_cast<std::size_t>(which[i])];
    }
  }
  const std::size_t n_copies = data.n_columns + fold.n_categories * (data.n_outputs - 1);
  rows.bins.assign(rows.padded * n_copies, 0);
  rows.columns.resize(data.n_outputs * data.n_columns);
  std::uint8_t* to = rows.bins.data();
  for (std::size_t j = 0; j < data.n_columns; ++j) {
    const std::uint8_t* from = data.bins + j * data.n_rows;
    const std::int32_t* found = std::find(fold.categories, fold.categories + fold.n_categories,
                                          static_cast<std::int32_t>(j));
    const auto category = static_cast<std::size_t>(found - fold.categories);
    const bool is_category = category < fold.n_categories;
    for (std::size_t o = 0; o < data.n_outputs; ++o) {
      if (is_category) {
        const std::uint8_t* order =
            fold.orders + (o * fold.n_categories + category) * bins_of_column;
        for (std::size_t i = 0; i < rows.n; ++i) to[i] = order[from[which[i]]];
      } else if (o == 0) {
        for (std::size_t i = 0; i < rows.n; ++i) to[i] = from[which[i]];
      }
      rows.columns[o * data.n_columns + j] = to;
      if (is_category || o + 1 == data.n_outputs) to += rows.padded;
    }
  }
}

// Exponentials of scores less the largest of a row, by output, then their sum.
void BoostGrower::sum_of_exponentials(Rows& rows) {
  const std::size_t n = rows.padded, outputs = data_.n_outputs;
  float* sum = rows.scratch.data() + outputs * n;
  std::copy_n(rows.score.data(), n, sum);
  for (std::size_t o = 1; o < outputs; ++o) {
    const float* score = rows.score.data() + o * n;
    for (std::size_t i = 0; i < n; ++i) sum[i] = std::max(sum[i], score[i]);
  }
  for (std::size_t o = 0; o < outputs; ++o) {
    const float* score = rows.score.data() + o * n;
    float* to = rows.scratch.data() + o * n;
    for (std::size_t i = 0; i < n; ++i) to[i] = score[i] - sum[i];
    exp_(to, n, to);
  }
  std::fill_n(sum, n, 0.0f);
  for (std::size_t o = 0; o < outputs; ++o) {
    const float* from = rows.scratch.data() + o * n;
    for (std::size_t i = 0; i < n; ++i) sum[i] += from[i];
  }
}

double BoostGrower::held_out_loss() {
  Rows& rows = held_out_;
  const std::size_t n = rows.n;
  const float* y = rows.y.data();
  const float* w = rows.weight.data();
  const float* f = rows.score.data();
  float* e = rows.scratch.data();
  double total = 0.0;
  switch (options_.loss) {
    case BoostLoss::squared:
      for (std::size_t i = 0; i < n; ++i) {
        const double residual = static_cast<double>(y[i]) - static_cast<double>(f[i]);
        total += static_cast<double>(w[i]) * residual * residual;
      }
      return total;
    case BoostLoss::logistic:
      for (std::size_t i = 0; i < rows.padded; ++i) e[i] = -std::fabs(f[i]);
      exp_(e, rows.padded, e);
      for (std::size_t i = 0; i < n; ++i) {
        e[i] += 1.0f;
        total += static_cast<double>(w[i]) *
                 (static_cast<double>(std::max(f[i], 0.0f)) - static_cast<double>(y[i]) * static_cast<double>(f[i]));
      }
      return total + sum_of_logs(e, w, n, all_equal(rows.weight, n));
    case BoostLoss::softmax: {
      sum_of_exponentials(rows);
      const float* sum = e + data_.n_outputs * rows.padded;
      for (std::size_t i = 0; i < n; ++i) {
        float largest = f[i];
        for (std::size_t o = 1; o < data_.n_outputs; ++o) {
          largest = std::max(largest, f[o * rows.padded + i]);
        }
        const float own = f[static_cast<std::size_t>(y[i]) * rows.padded + i];
        total += static_cast<double>(w[i]) * (static_cast<double>(largest) - static_cast<double>(own));
      }
      return total + sum_of_logs(sum, w, n, all_equal(rows.weight, n));
    }
    case BoostLoss::poisson:
      exp_(f, rows.padded, e);
      for (std::size_t i = 0; i < n; ++i) {
        total += static_cast<double>(w[i]) *
                 (static_cast<double>(e[i]) - static_cast<double>(y[i]) * static_cast<double>(f[i]));
      }
      return total;
    case BoostLoss::gamma:
      for (std::size_t i = 0; i < rows.padded; ++i) e[i] = -f[i];
      exp_(e, rows.padded, e);
      for (std::size_t i = 0; i < n; ++i) {
        total += static_cast<double>(w[i]) *
                 (static_cast<double>(y[i]) * static_cast<double>(e[i]) + static_cast<double>(f[i]));
      }
      return total;
  }
  return total;
}

void BoostGrower::gradients() {
  const std::size_t n = kept_.padded;
  const float* y = kept_.y.data();
  const float* w = kept_.weight.data();
  if (options_.loss != BoostLoss::softmax) {
    gradients_(kept_.score.data(), y, w, n, g_.data(), h_.data());
    return;
  }
  sum_of_exponentials(kept_);
  const float* sum = kept_.scratch.data() + data_.n_outputs * n;
  for (std::size_t o = 0; o < data_.n_outputs; ++o) {
    softmax_(kept_.scratch.data() + o * n, sum, y, static_cast<float>(o), w, n, g_.data() + o * n,
             h_.data() + o * n);
  }
}

void BoostGrower::grow() {
  gradients();
  for (std::size_t o = 0; o < data_.n_outputs; ++o) tree(o);
}

void BoostGrower::tree(std::size_t output) {
  root(output);
  while (n_leaves_ < options_.max_leaves) {
    int best = -1;
    for (int k = 0; k < n_leaves_; ++k) {
      const Split& split = leaves_[static_cast<std::size_t>(k)].split;
      if (split.feature < 0) continue;
      if (best < 0 || split.gain > leaves_[static_cast<std::size_t>(best)].split.gain) best = k;
    }
    if (best < 0) break;
    divide(output, best, n_leaves_++);
    const bool last = n_leaves_ == options_.max_leaves;
    if (!last) {
      search(output, best);
      search(output, n_leaves_ - 1);
    }
  }
  float values[most_leaves] = {};
  for (int k = 0; k < n_leaves_; ++k) {
    const Leaf& leaf = leaves_[static_cast<std::size_t>(k)];
    BoostNode& node = nodes_[static_cast<std::size_t>(leaf.node)];
    values[k] = options_.rate * leaf.value;
    node.value = static_cast<double>(values[k]);
  }
  add_(kept_.leaf.data(), values, kept_.padded, kept_.score.data() + output * kept_.padded);
  add_(held_out_.leaf.data(), values, held_out_.padded,
       held_out_.score.data() + output * held_out_.padded);
}

void BoostGrower::root(std::size_t output) {
  std::fill(kept_.leaf.begin(), kept_.leaf.end(), 0);
  std::fill(held_out_.leaf.begin(), held_out_.leaf.end(), 0);
  const float* g = g_.data() + output * kept_.padded;
  const float* h = h_.data() + output * kept_.padded;
  float total[2];
  sums_(kept_.leaf.data(), {0, 255}, kept_.leaf.data(), 0, g, h, kept_.padded, total);
  Leaf& leaf = leaves_[0];
  leaf.node = static_cast<std::int32_t>(nodes_.size());
  leaf.depth = leaf.n_path = 0;
  leaf.g = total[0];
  leaf.h = total[1];
  leaf.low = -options_.bound;
  leaf.high = options_.bound;
  leaf.begin = 0;
  leaf.end = kept_.n;
  // a tree of one leaf would only move the constant, which is the starting score's business
  leaf.value = 0.0f;
  roots_.push_back(leaf.node);
  nodes_.push_back({});
  nodes_.back().cover = static_cast<double>(leaf.h);
  n_leaves_ = 1;
  if (!options_.drawn) {
    for (std::size_t i = 0; i < kept_.n; ++i) order_[i] = static_cast<std::int32_t>(i);
    fill(output, leaf);
  }
  search(output, 0);
}

void BoostGrower::search(std::size_t output, int number) {
  Leaf& leaf = leaves_[static_cast<std::size_t>(number)];
  leaf.split = Split{};
  leaf.split.gain = 1e-12f;
  if (leaf.depth >= options_.max_depth) return;
  if (options_.drawn) {
    search_drawn(output, number);
  } else {
    search_best(number);
  }
}

void BoostGrower::search_drawn(std::size_t output, int number) {
  Leaf& leaf = leaves_[static_cast<std::size_t>(number)];
  const float* g = g_.data() + output * kept_.padded;
  const float* h = h_.data() + output * kept_.padded;
  const auto id = static_cast<std::uint8_t>(number);
  for (std::size_t j = 0; j < data_.n_columns; ++j) {
    const auto feature = static_cast<std::int32_t>(j);
    if (!allowed(leaf, feature)) continue;
    std::uint8_t first = 1, last = static_cast<std::uint8_t>(data_.n_bins[j]);
    for (int k = 0; k < leaf.n_path; ++k) {
      if (leaf.path[k] == feature) {
        first = leaf.first[k];
        last = leaf.last[k];
      }
    }
    // the last bin is a threshold only where it divides values from missing ones
    const int choices = int(last) - int(first) + (has_missing_[j] ? 1 : 0);
    if (choices <= 0) continue;
    const int at = first + static_cast<int>(below(static_cast<std::uint32_t>(choices)));
    const std::uint8_t* column = kept_.columns[output * data_.n_columns + j];
    float with_missing[2], missing[2] = {0.0f, 0.0f};
    sums_(column, {0, static_cast<std::uint8_t>(at)}, kept_.leaf.data(), id, g, h, kept_.padded,
          with_missing);
    if (has_missing_[j]) {
      sums_(column, {0, 0}, kept_.leaf.data(), id, g, h, kept_.padded, missing);
      consider(leaf, feature, at, false, with_missing[0] - missing[0], with_missing[1] - missing[1]);
    }
    consider(leaf, feature, at, true, with_missing[0], with_missing[1]);
    // nothing is missing here: a value missing later follows the larger side
    if (missing[1] == 0.0f && leaf.split.feature == feature) {
      leaf.split.missing_left = leaf.split.left_h + leaf.split.left_h >= leaf.h;
    }
  }
}

void BoostGrower::search_best(int number) {
  Leaf& leaf = leaves_[static_cast<std::size_t>(number)];
  for (std::size_t j = 0; j < data_.n_columns; ++j) {
    const auto feature = static_cast<std::int32_t>(j);
    if (!allowed(leaf, feature)) continue;
    const double* histogram = leaf.histogram.data() + j * bins_of_column * 2;
    const double missing_g = histogram[0], missing_h = histogram[1];
    double g = 0.0, h = 0.0;
    const int last = data_.n_bins[j] - (has_missing_[j] ? 0 : 1);
    for (int at = 1; at <= last; ++at) {
      if (histogram[2 * at + 1] == 0.0 && at < data_.n_bins[j]) continue;
      g += histogram[2 * at];
      h += histogram[2 * at + 1];
      consider(leaf, feature, at, false, static_cast<float>(g), static_cast<float>(h));
      if (missing_h > 0.0) {
        consider(leaf, feature, at, true, static_cast<float>(g + missing_g),
                 static_cast<float>(h + missing_h));
      }
    }
    if (missing_h <= 0.0 && leaf.split.feature == feature) {
      leaf.split.missing_left = leaf.split.left_h + leaf.split.left_h >= leaf.h;
    }
  }
}

bool BoostGrower::allowed(const Leaf& leaf, std::int32_t feature) const {
  for (int k = 0; k < leaf.n_path; ++k) {
    if (leaf.path[k] == feature) return true;
  }
  if (leaf.n_path >= options_.order) return false;
  if (data_.pairs == nullptr) return true;
  for (int k = 0; k < leaf.n_path; ++k) {
    if (!data_.pairs[static_cast<std::size_t>(leaf.path[k]) * data_.n_columns +
                     static_cast<std::size_t>(feature)]) {
      return false;
    }
  }
  return true;
}

float BoostGrower::best_value(float g, float h, const Leaf& leaf) const {
  return std::min(std::max(g / (h + options_.l2), leaf.low), leaf.high);
}

// Keeps the split if it is the best so far. On a monotone column both sides must be in order; what
// lies below them is then held apart by a bound halfway (see divide).
void BoostGrower::consider(Leaf& leaf, std::int32_t feature, int last, bool missing_left, float g,
                           float h) {
  const float right_g = leaf.g - g, right_h = leaf.h - h;
  if (h < options_.least || right_h < options_.least) return;
  const float left = best_value(g, h, leaf), right = best_value(right_g, right_h, leaf);
  const float direction = static_cast<float>(data_.monotone[feature]);
  if (direction * (right - left) < 0.0f) return;
  const float whole = best_value(leaf.g, leaf.h, leaf);
  const float gain = score(g, h, left) + score(right_g, right_h, right) - score(leaf.g, leaf.h, whole);
  if (!(gain > leaf.split.gain)) return;
  Split& split = leaf.split;
  split.gain = gain;
  split.feature = feature;
  split.last = static_cast<std::uint8_t>(last);
  split.missing_left = missing_left;
  split.left_g = g;
  split.left_h = h;
  split.left_value = left;
  split.right_value = right;
}

void BoostGrower::divide(std::size_t output, int number, int right_number) {
  Leaf& left = leaves_[static_cast<std::size_t>(number)];
  Leaf& right = leaves_[static_cast<std::size_t>(right_number)];
  const Split split = left.split;
  const auto j = static_cast<std::size_t>(split.feature);
  const BoostSide side = split.missing_left
                             ? BoostSide{0, split.last}
                             : BoostSide{1, static_cast<std::uint8_t>(split.last - 1)};
  const auto from = static_cast<std::uint8_t>(number), to = static_cast<std::uint8_t>(right_number);
  for (Rows* rows : {&kept_, &held_out_}) {
    route_(rows->columns[output * data_.n_columns + j], side, from, to, rows->padded,
           rows->leaf.data());
  }

  const auto first_child = static_cast<std::int32_t>(nodes_.size());
  BoostNode& parent = nodes_[static_cast<std::size_t>(left.node)];
  parent.feature = split.feature;
  parent.last = split.last;
  parent.missing_left = split.missing_left;
  parent.left = first_child;
  parent.right = first_child + 1;
  nodes_.resize(nodes_.size() + 2);

  left.depth += 1;
  int place = 0;
  while (place < left.n_path && left.path[place] != split.feature) ++place;
  if (place == left.n_path) {
    left.path[place] = split.feature;
    left.first[place] = 1;
    left.last[place] = static_cast<std::uint8_t>(data_.n_bins[j]);
    left.n_path += 1;
  }
  const float g = left.g, h = left.h;
  const std::size_t begin = left.begin, end = left.end;
  right.depth = left.depth;
  right.n_path = left.n_path;
  std::copy_n(left.path, most_columns_of_path, right.path);
  std::copy_n(left.first, most_columns_of_path, right.first);
  std::copy_n(left.last, most_columns_of_path, right.last);
  left.last[place] = split.last;
  right.first[place] = static_cast<std::uint8_t>(
      std::min<int>(split.last + 1, data_.n_bins[j]));
  right.low = left.low;
  right.high = left.high;
  const float middle = 0.5f * (split.left_value + split.right_value);
  if (data_.monotone[j] > 0) left.high = right.low = middle;
  if (data_.monotone[j] < 0) left.low = right.high = middle;
  left.node = first_child;
  right.node = first_child + 1;
  left.g = split.left_g;
  left.h = split.left_h;
  right.g = g - split.left_g;
  right.h = h - split.left_h;
  left.value = split.left_value;
  right.value = split.right_value;
  nodes_[static_cast<std::size_t>(left.node)].cover = static_cast<double>(left.h);
  nodes_[static_cast<std::size_t>(right.node)].cover = static_cast<double>(right.h);
  if (options_.drawn) return;

  std::size_t n_left = 0, n_right = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::int32_t row = order_[i];
    if (kept_.leaf[static_cast<std::size_t>(row)] == to) {
      spare_[n_right++] = row;
    } else {
      order_[begin + n_left++] = row;
    }
  }
  std::copy_n(spare_.begin(), n_right, order_.begin() + static_cast<std::ptrdiff_t>(begin + n_left));
  left.begin = begin;
  left.end = right.begin = begin + n_left;
  right.end = end;
  // histograms serve the next split only
  if (n_leaves_ == options_.max_leaves || left.depth >= options_.max_depth) return;
  Leaf& smaller = n_left < n_right ? left : right;
  Leaf& larger = n_left < n_right ? right : left;
  if (n_left < n_right) {
    std::swap(left.histogram, right.histogram);  // the larger one has the parent's
  }
  fill(output, smaller);
  for (std::size_t k = 0; k < smaller.histogram.size(); ++k) {
    larger.histogram[k] -= smaller.histogram[k];
  }
}

void BoostGrower::fill(std::size_t output, Leaf& leaf) {
  const float* g = g_.data() + output * kept_.padded;
  const float* h = h_.data() + output * kept_.padded;
  const std::size_t n = leaf.end - leaf.begin;
  const bool all = n == kept_.n;
  const std::int32_t* rows = order_.data() + leaf.begin;
  if (!all) {
    for (std::size_t i = 0; i < n; ++i) {
      ordered_g_[i] = g[rows[i]];
      ordered_h_[i] = h[rows[i]];
    }
    g = ordered_g_.data();
    h = ordered_h_.data();
  }
  std::fill(leaf.histogram.begin(), leaf.histogram.end(), 0.0);
  for (std::size_t j = 0; j < data_.n_columns; ++j) {
    if (!allowed(leaf, static_cast<std::int32_t>(j))) continue;  // nor will it be below the leaf
    const std::uint8_t* column = kept_.columns[output * data_.n_columns + j];
    double* to = leaf.histogram.data() + j * bins_of_column * 2;
    for (std::size_t i = 0; i < n; ++i) {
      double* cell = to + 2 * std::size_t(all ? column[i] : column[rows[i]]);
      cell[0] += static_cast<double>(g[i]);
      cell[1] += static_cast<double>(h[i]);
    }
  }
}

std::uint32_t BoostGrower::below(std::uint32_t n) {
  return static_cast<std::uint32_t>(((next(state_) >> 32) * n) >> 32);
}

}  // namespace clearwood
