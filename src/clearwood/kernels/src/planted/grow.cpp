#include "planted/grow.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace clearwood {
namespace {

// Splitmix64: few draws are needed, and the same on every machine.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  std::size_t below(std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>(uniform() * static_cast<double>(n)));
  }

 private:
  std::uint64_t state_;
};

struct Split {
  double gain = 0.0;
  std::size_t leaf = 0;
  std::int32_t column = -1, last = 0;  // bins up to `last` go left
  bool missing_left = false;
};

class Family {
 public:
  Family(const PlantedData& data, const PlantedOptions& options, std::uint64_t family)
      : data_(data),
        options_(options),
        n_outputs_(data.n_outputs),
        draws_(options.seed * 0xd1342543de82ef95ULL + family * 0x2545f4914f6cdd1dULL + 1),
        weight_(data.n_rows, 0.0),
        score_(data.n_rows * n_outputs_),
        first_(data.n_rows * n_outputs_),
        second_(data.n_rows * n_outputs_),
        sums_(256 * (2 * n_outputs_ + 1)) {
    draw_rows();
    PlantedLeaf root;
    root.value.assign(data.start, data.start + n_outputs_);
    for (std::size_t i = 0; i < data.n_rows; ++i) {
      if (weight_[i] <= 0.0) continue;
      root.rows.push_back(static_cast<std::int32_t>(i));
      root.weight += weight_[i];
      std::copy(data.start, data.start + n_outputs_, score_.begin() + i * n_outputs_);
    }
    for (const std::int32_t i : root.rows) derive(static_cast<std::size_t>(i));
    leaves_.push_back(std::move(root));
  }

  std::vector<PlantedLeaf> grow() {
    int failures = 0;
    for (int split = 0; split < options_.n_splits && failures < most_failures;) {
      const Split best = best_split();
      if (best.column < 0) {
        ++failures;
        continue;
      }
      apply(best);
      failures = 0;
      ++split;
    }
    return std::move(leaves_);
  }

 private:
  static constexpr int most_failures = 5;

  void draw_rows() {
    const std::size_t n = data_.n_rows;
    if (!options_.bootstrap) {
      std::copy(data_.weight, data_.weight + n, weight_.begin());
      return;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = draws_.below(n);
      weight_[i] += data_.weight[i];
    }
  }

  // Derivatives of the loss of a row by its scores, times its weight.
  void derive(std::size_t i) {
    const double* score = score_.data() + i * n_outputs_;
    double* first = first_.data() + i * n_outputs_;
    double* second = second_.data() + i * n_outputs_;
    const double weight = weight_[i], y = data_.y[i];
    switch (options_.loss) {
      case PlantedLoss::squared:
        first[0] = weight * (score[0] - y);
        second[0] = weight;
        break;
      case PlantedLoss::logistic: {
        const double p = 1.0 / (1.0 + std::exp(-score[0]));
        first[0] = weight * (p - y);
        second[0] = weight * p * (1.0 - p);
        break;
      }
      case PlantedLoss::poisson: {
        const double mean = std::exp(score[0]);
        first[0] = weight * (mean - y);
        second[0] = weight * mean;
        break;
      }
      case PlantedLoss::softmax: {
        double largest = score[0], total = 0.0;
        for (std::size_t o = 1; o < n_outputs_; ++o) largest = std::max(largest, score[o]);
        for (std::size_t o = 0; o < n_outputs_; ++o) {
          first[o] = std::exp(score[o] - largest);
          total += first[o];
        }
        for (std::size_t o = 0; o < n_outputs_; ++o) {
          const double p = first[o] / total;
          first[o] = weight * (p - (static_cast<double>(o) == y ? 1.0 : 0.0));
          second[o] = weight * p * (1.0 - p);
        }
        break;
      }
    }
  }

  // How many columns a leaf may be split by.
  std::size_t choices(const PlantedLeaf& leaf) const {
    if (leaf.weight < 2.0 * options_.least) return 0;
    return leaf.n_sides < options_.order ? data_.n_columns
                                         : static_cast<std::size_t>(leaf.n_sides);
  }

  Split best_split() {
    // A tree holds leaves that together cover all rows about once; drawing leaves by their rows
    // is drawing trees, without looking through all leaves of each.
    cumulated_.clear();
    double total = 0.0, n_candidates = 0.0;
    for (const PlantedLeaf& leaf : leaves_) {
      const auto n = static_cast<double>(choices(leaf));
      total += n * leaf.weight;
      n_candidates += n;
      cumulated_.push_back(total);
    }
    Split best;
    if (total <= 0.0) return best;
    const int wanted = std::min(options_.max_candidates,
                                static_cast<int>(std::ceil(options_.share * n_candidates)));
    for (int k = 0; k < wanted; ++k) {
      const double at = draws_.uniform() * total;
      const auto found = std::upper_bound(cumulated_.begin(), cumulated_.end(), at);
      const std::size_t leaf =
          std::min(static_cast<std::size_t>(found - cumulated_.begin()), leaves_.size() - 1);
      const std::size_t n = choices(leaves_[leaf]);
      if (n == 0) continue;
      const std::size_t pick = draws_.below(n);
      const std::int32_t column = leaves_[leaf].n_sides < options_.order
                                      ? static_cast<std::int32_t>(pick)
                                      : leaves_[leaf].sides[pick].column;
      try_column(leaf, column, best);
    }
    return best;
  }

  // Tries thresholds of a column that are drawn among those that part the rows of a leaf.
  void try_column(std::size_t leaf, std::int32_t column, Split& best) {
    const std::size_t width = 2 * n_outputs_ + 1;
    const std::uint8_t* bins = data_.bins + static_cast<std::size_t>(column) * data_.n_rows;
    const auto n_bins = static_cast<std::size_t>(data_.n_bins[column]);
    std::fill(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>((n_bins + 1) * width), 0.0);
    for (const std::int32_t row : leaves_[leaf].rows) {
      const auto i = static_cast<std::size_t>(row);
      double* sum = sums_.data() + bins[i] * width;
      sum[0] += weight_[i];
      for (std::size_t o = 0; o < n_outputs_; ++o) {
        sum[1 + 2 * o] += first_[i * n_outputs_ + o];
        sum[2 + 2 * o] += second_[i * n_outputs_ + o];
      }
    }
    // sums of all bins up to each, missing values left out
    filled_.clear();
    for (std::size_t b = 1; b <= n_bins; ++b) {
      const bool is_filled = sums_[b * width] > 0.0;
      if (b > 1) {
        for (std::size_t k = 0; k < width; ++k) sums_[b * width + k] += sums_[(b - 1) * width + k];
      }
      if (is_filled) filled_.push_back(static_cast<std::int32_t>(b));
    }
    if (filled_.empty()) return;
    const bool any_missing = sums_[0] > 0.0;
    const double* all = sums_.data() + static_cast<std::size_t>(filled_.back()) * width;
    if (any_missing) try_threshold(leaf, column, filled_.back(), all, all, best);
    const std::size_t n_cuts = filled_.size() - 1;  // after each filled bin but the last
    const auto wanted = static_cast<std::size_t>(options_.n_thresholds);
    for (std::size_t k = 0; k < std::min(wanted, n_cuts); ++k) {
      if (n_cuts > wanted) {
        // draws without replacement: the drawn one changes places with the first undrawn
        std::swap(filled_[k], filled_[k + draws_.below(n_cuts - k)]);
      }
      const double* left = sums_.data() + static_cast<std::size_t>(filled_[k]) * width;
      try_threshold(leaf, column, filled_[k], left, all, best);
    }
  }

  // Tries a threshold with missing values on either side.
  void try_threshold(std::size_t leaf, std::int32_t column, std::int32_t last, const double* left,
                     const double* all, Split& best) {
    const double* missing = sums_.data();
    const int sides = missing[0] > 0.0 ? 2 : 1;
    for (int side = 0; side < sides; ++side) {
      const double with_left = side == 1 ? 1.0 : 0.0;
      const double with_right = sides == 2 ? 1.0 - with_left : 0.0;
      const double weight_left = left[0] + with_left * missing[0];
      const double weight_right = all[0] - left[0] + with_right * missing[0];
      if (weight_left < options_.least || weight_right < options_.least) continue;
      double gain = 0.0;
      for (std::size_t o = 0; o < n_outputs_; ++o) {
        const std::size_t g = 1 + 2 * o, h = g + 1;
        const double g_left = left[g] + with_left * missing[g];
        const double g_right = all[g] - left[g] + with_right * missing[g];
        const double h_left = left[h] + with_left * missing[h];
        const double h_right = all[h] - left[h] + with_right * missing[h];
        gain += g_left * g_left / (h_left + options_.l2) +
                g_right * g_right / (h_right + options_.l2);
      }
      if (gain > best.gain) best = Split{gain, leaf, column, last, side == 1};
    }
  }

  void apply(const Split& split) {
    const PlantedLeaf& parent = leaves_[split.leaf];
    int at = 0;
    while (at < parent.n_sides && parent.sides[at].column != split.column) ++at;
    const bool is_new = at == parent.n_sides;
    PlantedLeaf left;
    left.n_sides = parent.n_sides + (is_new ? 1 : 0);
    std::copy(parent.sides, parent.sides + parent.n_sides, left.sides);
    if (is_new) left.sides[at] = PlantedSide{split.column, 0, data_.n_bins[split.column], true};
    // a leaf of a new tree starts from nothing; one that takes the place of another goes on from it
    left.value = is_new ? std::vector<double>(n_outputs_, 0.0) : parent.value;
    PlantedLeaf right = left;
    left.sides[at].high = split.last;
    right.sides[at].low = split.last;
    const std::uint8_t* bins = data_.bins + static_cast<std::size_t>(split.column) * data_.n_rows;
    bool any_missing = false;
    for (const std::int32_t row : parent.rows) {
      const std::uint8_t bin = bins[row];
      any_missing = any_missing || bin == 0;
      const bool goes_left = bin == 0 ? split.missing_left : bin <= split.last;
      PlantedLeaf& to = goes_left ? left : right;
      to.rows.push_back(row);
      to.weight += weight_[static_cast<std::size_t>(row)];
    }
    // missing values that no row had go to the heavier side
    const bool missing_left = any_missing ? split.missing_left : left.weight >= right.weight;
    left.sides[at].missing = left.sides[at].missing && missing_left;
    right.sides[at].missing = right.sides[at].missing && !missing_left;
    step(left);
    step(right);
    if (is_new) {
      leaves_.push_back(std::move(left));
    } else {
      leaves_[split.leaf] = std::move(left);
    }
    leaves_.push_back(std::move(right));
  }

  // Adds to a leaf, and to the score of its rows, the step that lowers the loss most.
  void step(PlantedLeaf& leaf) {
    for (std::size_t o = 0; o < n_outputs_; ++o) {
      double first = 0.0, second = 0.0;
      for (const std::int32_t row : leaf.rows) {
        first += first_[static_cast<std::size_t>(row) * n_outputs_ + o];
        second += second_[static_cast<std::size_t>(row) * n_outputs_ + o];
      }
      double move = -options_.rate * first / (second + options_.l2);
      if (options_.bound > 0.0) move = std::max(-options_.bound, std::min(options_.bound, move));
      leaf.value[o] += move;
      for (const std::int32_t row : leaf.rows) {
        score_[static_cast<std::size_t>(row) * n_outputs_ + o] += move;
      }
    }
    for (const std::int32_t row : leaf.rows) derive(static_cast<std::size_t>(row));
  }

  const PlantedData& data_;
  const PlantedOptions& options_;
  std::size_t n_outputs_;
  Draws draws_;
  std::vector<double> weight_, score_, first_, second_;
  std::vector<double> sums_, cumulated_;
  std::vector<std::int32_t> filled_;
  std::vector<PlantedLeaf> leaves_;
};

}  // namespace

std::vector<PlantedLeaf> grow_planted(const PlantedData& data, const PlantedOptions& options,
                                      std::uint64_t family) {
  return Family(data, options, family).grow();
}

}  // namespace clearwood
