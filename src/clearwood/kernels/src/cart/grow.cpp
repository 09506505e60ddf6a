#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cart/cart.hpp"
#include "cart/impurity.hpp"

namespace clearwood {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// A split is better than another only by more than rounding, so that equals keep their order.
constexpr double rounding = 1e-10;
constexpr double deviance_rounding = 1e-13;

struct Split {
  double gain = 0.0;
  std::int32_t column = -1;
  double threshold = 0.0;
  std::vector<std::int32_t> left_levels;  // of a category
};

// A node to be split: its rows are [begin, end) of every list of rows.
struct Task {
  std::int32_t parent;
  bool is_left;
  std::size_t begin, end;
  std::int32_t depth;
  double low, high;  // bounds of its values, from monotone columns
};

// Direction of the largest spread of the levels' class shares (first principal component).
std::vector<double> first_component(const std::vector<double>& shares,
                                    const std::vector<double>& weights, std::size_t width) {
  const std::size_t n = weights.size();
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> mean(width), square(width * width), direction(width), next(width);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < width; ++k) mean[k] += weights[i] * shares[i * width + k] / total;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      for (std::size_t l = 0; l < width; ++l) {
        square[k * width + l] += weights[i] * (shares[i * width + k] - mean[k]) *
                                 (shares[i * width + l] - mean[l]);
      }
    }
  }
  std::size_t widest = 0;
  for (std::size_t k = 1; k < width; ++k) {
    if (square[k * width + k] > square[widest * width + widest]) widest = k;
  }
  for (std::size_t k = 0; k < width; ++k) direction[k] = square[k * width + widest];
  for (int step = 0; step < 200; ++step) {
    double norm = 0.0;
    for (std::size_t k = 0; k < width; ++k) {
      next[k] = 0.0;
      for (std::size_t l = 0; l < width; ++l) next[k] += square[k * width + l] * direction[l];
      norm += next[k] * next[k];
    }
    if (!(norm > 0.0)) break;
    for (std::size_t k = 0; k < width; ++k) direction[k] = next[k] / std::sqrt(norm);
  }
  return direction;
}

template <class Measure>
class Grower {
 public:
  Grower(const CartRows& rows, const CartLimits& limits, void (*poll)())
      : rows_(rows),
        limits_(limits),
        poll_(poll),
        measure_(rows, limits),
        n_values_(limits.n_classes ? limits.n_classes : 1),
        side_(rows.n_rows),
        spare_(rows.n_rows),
        sorted_(rows.n_columns) {
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
      if (rows.cover[i] > 0.0) all_.push_back(static_cast<std::int32_t>(i));
    }
    order_.resize(rows.n_columns);
    for (std::size_t j = 0; j < rows.n_columns; ++j) {
      has_monotone_ = has_monotone_ || rows.monotone[j] != 0;
      if (rows.n_levels[j] > 0) continue;
      order_[j].reserve(all_.size());
      for (std::size_t i = 0; i < rows.n_rows; ++i) {
        const std::int32_t row = rows.order[j * rows.n_rows + i];
        if (rows.cover[row] > 0.0) order_[j].push_back(row);
      }
    }
  }

  CartTree grow() {
    std::vector<Task> tasks{{-1, false, 0, all_.size(), 0, -infinity, infinity}};
    std::size_t work = 0;
    while (!tasks.empty()) {
      const Task task = tasks.back();
      tasks.pop_back();
      const auto at = static_cast<std::int32_t>(tree_.nodes.size());
      if (task.parent >= 0) {
        CartNode& above = tree_.nodes[static_cast<std::size_t>(task.parent)];
        (task.is_left ? above.left : above.right) = at;
      }
      describe(task);
      work += (task.end - task.begin) * rows_.n_columns;
      if (work > (std::size_t(1) << 20)) {
        poll_();
        work = 0;
      }
      if (!may_split(task)) continue;
      const Split split = best_split(task);
      if (split.column < 0) continue;
      const std::size_t middle = divide(task, at, split);
      CartNode& node = tree_.nodes[static_cast<std::size_t>(at)];
      if (middle == task.begin || middle == task.end) {  // cannot be: both sides have rows
        node.question = {};
        node.n_surrogates = 0;
        continue;
      }
      Task left{at, true, task.begin, middle, task.depth + 1, task.low, task.high};
      Task right{at, false, middle, task.end, task.depth + 1, task.low, task.high};
      if (const int sign = rows_.monotone[split.column]) {
        const double between = (value_of(left) + value_of(right)) / 2.0;
        (sign > 0 ? left.high : left.low) = between;
        (sign > 0 ? right.low : right.high) = between;
      }
      tasks.push_back(right);
      tasks.push_back(left);
    }
    return std::move(tree_);
  }

 private:
  double value(std::int32_t column, std::int32_t row) const {
    return rows_.values[static_cast<std::size_t>(column) * rows_.n_rows +
                        static_cast<std::size_t>(row)];
  }

  std::vector<double> total(const std::int32_t* rows, std::size_t n) const {
    std::vector<double> bin(measure_.width());
    for (std::size_t i = 0; i < n; ++i) measure_.add(rows[i], bin.data());
    return bin;
  }

  // The value of a node of numbers, or the share of the second of two classes, within its bounds.
  double bounded(const Task& task, const std::vector<double>& bin) const {
    double at;
    if (limits_.n_classes) {
      at = measure_.mean(bin.data());
    } else {
      const double weight = bin[0] + limits_.prior_weight;
      at = weight > 0.0 ? (bin[1] + limits_.prior_weight * limits_.prior_mean) / weight : 0.0;
    }
    return std::clamp(at, task.low, task.high);
  }
  double value_of(const Task& task) const {
    return bounded(task, total(all_.data() + task.begin, task.end - task.begin));
  }

  // Adds the node of a task, as a leaf.
  void describe(const Task& task) {
    CartNode node;
    node.parent = task.parent;
    node.n_rows = static_cast<std::int32_t>(task.end - task.begin);
    const std::int32_t* rows = all_.data() + task.begin;
    const std::vector<double> bin = total(rows, task.end - task.begin);
    for (std::int32_t i = 0; i < node.n_rows; ++i) {
      node.cover += rows_.cover[rows[i]];
      node.weight += rows_.weight[rows[i]];
    }
    if (limits_.n_classes) {
      const std::size_t first = tree_.values.size();
      for (const double one : bin) {
        tree_.values.push_back(node.weight > 0.0 ? one / node.weight : 0.0);
      }
      if (limits_.n_classes == 2) {
        tree_.values[first + 1] = bounded(task, bin);
        tree_.values[first] = 1.0 - tree_.values[first + 1];
      }
      if constexpr (requires { measure_.impurity(bin.data()); }) {
        node.risk = measure_.impurity(bin.data());
      }
    } else {
      const double at = bounded(task, bin);
      tree_.values.push_back(at);
      node.risk = risk_of(rows, task.end - task.begin, bin, at);
    }
    tree_.nodes.push_back(node);
  }

  double risk_of(const std::int32_t* rows, std::size_t n, const std::vector<double>& bin,
                 double at) const {
    double risk = 0.0;
    // a deviance is that of the unshrunk mean: it never rises by a split
    const double mean = bin[0] > 0.0 ? bin[1] / bin[0] : 0.0;
    if (limits_.criterion == CartCriterion::poisson) {
      for (std::size_t i = 0; i < n; ++i) {
        const double y = rows_.target[rows[i]];
        if (y > 0.0) risk += rows_.weight[rows[i]] * y * std::log(y / mean);
      }
      // of equal targets the logarithms are zero up to rounding
      return risk > deviance_rounding * bin[1] ? 2.0 * risk : 0.0;
    }
    if (limits_.criterion != CartCriterion::squared) {
      if constexpr (requires { measure_.deviance(mean, mean); }) {
        for (std::size_t i = 0; i < n && mean > 0.0; ++i) {
          risk += rows_.weight[rows[i]] * measure_.deviance(rows_.target[rows[i]], mean);
        }
        // where targets agree so far, gains are no more than rounding
        const double unit = limits_.criterion == CartCriterion::gamma ? 1.0 : std::sqrt(mean);
        if (!(risk > deviance_rounding * bin[0] * unit)) return 0.0;
      }
      return risk;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double off = rows_.target[rows[i]] - at;
      risk += rows_.weight[rows[i]] * off * off;
    }
    return risk;
  }

  bool may_split(const Task& task) const {
    const CartNode& node = tree_.nodes.back();
    const auto n = static_cast<std::int64_t>(task.end - task.begin);
    if (n < 2 || n < 2 * std::int64_t(limits_.min_rows)) return false;
    if (limits_.max_depth >= 0 && task.depth >= limits_.max_depth) return false;
    const CartNode& root = tree_.nodes.front();
    // a node whose rows agree up to rounding; bounds can keep a pure node's value off its rows
    return node.risk > rounding * rounding * root.risk && root.risk > 0.0;
  }

  Split best_split(const Task& task) {
    Split best;
    best.gain = rounding * rounding * tree_.nodes.front().risk;
    for (std::size_t j = 0; j < rows_.n_columns; ++j) {
      const auto column = static_cast<std::int32_t>(j);
      if (rows_.n_levels[j] > 0) {
        try_category(task, column, best);
      } else {
        try_number(task, column, best);
      }
    }
    return best;
  }

  // The gain of the split between what has moved and what has not, if the order of a monotone
  // column and the bounds allow it.
  double allowed_gain(const Task& task, std::int32_t column) {
    double gain = measure_.gain();
    if (!has_monotone_) return gain;
    const int sign = rows_.monotone[column];
    if (sign != 0 && sign * (measure_.right_mean() - measure_.left_mean()) < 0.0) return 0.0;
    if (task.low > -infinity || task.high < infinity) {
      gain -= measure_.lost_to_bounds(task.low, task.high);
    }
    return gain;
  }

  static bool is_better(double gain, double best) { return gain > best * (1.0 + rounding); }

  void try_number(const Task& task, std::int32_t column, Split& best) {
    const std::int32_t* rows = order_[static_cast<std::size_t>(column)].data() + task.begin;
    const double* values = rows_.values + static_cast<std::size_t>(column) * rows_.n_rows;
    std::size_t n = task.end - task.begin;
    while (n > 0 && std::isnan(values[rows[n - 1]])) --n;
    const auto least = static_cast<std::size_t>(std::max(limits_.min_rows, 1));
    if (n < 2 * least || values[rows[0]] == values[rows[n - 1]]) return;
    measure_.start(total(rows, n).data());
    for (std::size_t i = 0; i + 1 < least; ++i) measure_.move(rows[i]);
    double low = values[rows[least - 1]];
    for (std::size_t i = least - 1; i + least < n; ++i) {
      measure_.move(rows[i]);
      const double high = values[rows[i + 1]];
      if (low < high) {
        const double gain = allowed_gain(task, column);
        if (is_better(gain, best.gain)) {
          best.gain = gain;
          best.column = column;
          best.threshold = cart_threshold(low, high);
          best.left_levels.clear();
        }
      }
      low = high;
    }
  }

  void try_category(const Task& task, std::int32_t column, Split& best) {
    const std::size_t width = measure_.width();
    const auto n_levels = static_cast<std::size_t>(rows_.n_levels[column]);
    std::vector<double> bins(n_levels * width), total(width);
    std::vector<std::int64_t> count(n_levels);
    std::int64_t n = 0;
    for (std::size_t i = task.begin; i < task.end; ++i) {
      const double code = value(column, all_[i]);
      if (std::isnan(code)) continue;
      const auto level = static_cast<std::size_t>(code);
      measure_.add(all_[i], bins.data() + level * width);
      ++count[level];
      ++n;
    }
    std::vector<std::int32_t> present;
    for (std::size_t level = 0; level < n_levels; ++level) {
      if (count[level] == 0) continue;
      present.push_back(static_cast<std::int32_t>(level));
      for (std::size_t k = 0; k < width; ++k) total[k] += bins[level * width + k];
    }
    if (present.size() < 2 || n < 2 * std::int64_t(std::max(limits_.min_rows, 1))) return;
    measure_.start(total.data());
    if (!measure_.is_ordered() &&
        present.size() <= static_cast<std::size_t>(limits_.max_subset_levels)) {
      try_subsets(task, column, present, bins, count, n, best);
    } else {
      sort_levels(present, bins);
      try_ranges(task, column, present, bins, count, n, best);
    }
  }

  // By mean; of several classes, by the first principal component of their shares.
  void sort_levels(std::vector<std::int32_t>& levels, const std::vector<double>& bins) const {
    const std::size_t width = measure_.width();
    std::vector<double> key(bins.size() / width);
    if (measure_.is_ordered()) {
      for (const std::int32_t level : levels) {
        const auto at = static_cast<std::size_t>(level);
        key[at] = measure_.mean(bins.data() + at * width);
      }
    } else {
      std::vector<double> shares, weights;
      for (const std::int32_t level : levels) {
        const double* bin = bins.data() + static_cast<std::size_t>(level) * width;
        weights.push_back(std::accumulate(bin, bin + width, 0.0));
        for (std::size_t k = 0; k < width; ++k) {
          shares.push_back(weights.back() > 0.0 ? bin[k] / weights.back() : 0.0);
        }
      }
      const std::vector<double> direction = first_component(shares, weights, width);
      for (std::size_t i = 0; i < levels.size(); ++i) {
        double along = 0.0;
        for (std::size_t k = 0; k < width; ++k) along += direction[k] * shares[i * width + k];
        key[static_cast<std::size_t>(levels[i])] = along;
      }
    }
    std::stable_sort(levels.begin(), levels.end(), [&](std::int32_t a, std::int32_t b) {
      return key[static_cast<std::size_t>(a)] < key[static_cast<std::size_t>(b)];
    });
  }

  void try_ranges(const Task& task, std::int32_t column, const std::vector<std::int32_t>& levels,
                  const std::vector<double>& bins, const std::vector<std::int64_t>& count,
                  std::int64_t n, Split& best) {
    std::int64_t n_left = 0;
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
      const auto level = static_cast<std::size_t>(levels[i]);
      measure_.move(bins.data() + level * measure_.width(), 1.0);
      n_left += count[level];
      if (n_left < limits_.min_rows || n - n_left < limits_.min_rows) continue;
      const double gain = allowed_gain(task, column);
      if (is_better(gain, best.gain)) {
        best.gain = gain;
        best.column = column;
        best.left_levels.assign(levels.begin(), levels.begin() + std::ptrdiff_t(i) + 1);
      }
    }
  }

  // Every way to send levels left, in Gray's order: from one to the next a single level changes.
  // The last level always stays right.
  void try_subsets(const Task& task, std::int32_t column, const std::vector<std::int32_t>& levels,
                   const std::vector<double>& bins, const std::vector<std::int64_t>& count,
                   std::int64_t n, Split& best) {
    std::int64_t n_left = 0;
    const std::uint32_t n_subsets = 1u << (levels.size() - 1);
    std::uint32_t before = 0, best_subset = 0;
    for (std::uint32_t i = 1; i < n_subsets; ++i) {
      const std::uint32_t subset = i ^ (i >> 1);
      std::size_t changed = 0;
      while (((subset ^ before) >> changed & 1) == 0) ++changed;
      const bool joins = subset > before;
      const auto level = static_cast<std::size_t>(levels[changed]);
      measure_.move(bins.data() + level * measure_.width(), joins ? 1.0 : -1.0);
      n_left += joins ? count[level] : -count[level];
      before = subset;
      if (n_left < limits_.min_rows || n - n_left < limits_.min_rows) continue;
      const double gain = allowed_gain(task, column);
      if (is_better(gain, best.gain)) {
        best.gain = gain;
        best.column = column;
        best_subset = subset;
      }
    }
    if (best_subset == 0) return;
    best.left_levels.clear();
    for (std::size_t k = 0; k + 1 < levels.size(); ++k) {
      if (best_subset >> k & 1) best.left_levels.push_back(levels[k]);
    }
  }

  // Writes the split to the node, finds its surrogates and parts the rows; returns where the
  // rows of the right child begin.
  std::size_t divide(const Task& task, std::int32_t at, const Split& split) {
    const std::size_t n = task.end - task.begin;
    CartQuestion question;
    question.column = split.column;
    question.threshold = split.threshold;
    const auto n_levels = static_cast<std::size_t>(rows_.n_levels[split.column]);
    std::vector<bool> is_present(n_levels);
    if (n_levels) {
      question.threshold = 0.0;
      question.first_word = static_cast<std::int32_t>(tree_.words.size());
      question.n_words = static_cast<std::int32_t>((n_levels + 31) / 32);
      tree_.words.resize(tree_.words.size() + static_cast<std::size_t>(question.n_words));
      for (const std::int32_t level : split.left_levels) set_bit(question, level);
    }
    double left = 0.0, right = 0.0;
    std::size_t n_missing = 0;
    for (std::size_t i = task.begin; i < task.end; ++i) {
      const std::int32_t row = all_[i];
      const double one = value(split.column, row);
      const int side = cart_side(question, tree_.words.data(), one);
      side_[static_cast<std::size_t>(row)] = static_cast<std::int8_t>(side);
      n_missing += side < 0;
      if (side == 1) left += rows_.cover[row];
      if (side == 0) right += rows_.cover[row];
      if (n_levels && side >= 0) is_present[static_cast<std::size_t>(one)] = true;
    }
    const bool missing_left = left >= right;
    if (missing_left) {  // levels without rows here go with the majority
      for (std::size_t level = 0; level < n_levels; ++level) {
        if (!is_present[level]) set_bit(question, static_cast<std::int32_t>(level));
      }
    }
    const std::size_t first = tree_.surrogates.size();
    std::size_t n_surrogates = 0;
    if (limits_.max_surrogates > 0 && rows_.surrogates[split.column]) {
      for (std::size_t j = 0; j < rows_.n_columns; ++j) {
        sorted_[j] = rows_.n_levels[j] > 0 ? nullptr : order_[j].data() + task.begin;
      }
      n_surrogates = find_surrogates(rows_, split.column, side_.data(), all_.data() + task.begin,
                                     sorted_, n, limits_.max_surrogates, tree_);
    }
    if (n_missing > 0) send_missing(task, first, n_surrogates, missing_left);
    CartNode& node = tree_.nodes[static_cast<std::size_t>(at)];
    node.question = question;
    node.missing_left = missing_left;
    node.gain = split.gain;
    node.first_surrogate = first;
    node.n_surrogates = n_surrogates;
    const std::size_t n_left = part(all_.data() + task.begin, n);
    const auto fewest = 2 * static_cast<std::size_t>(std::max(limits_.min_rows, 1));
    if (n_left >= fewest || n - n_left >= fewest) {  // else neither child is split again
      for (auto& rows : order_) {
        if (!rows.empty()) part(rows.data() + task.begin, n);
      }
    }
    return task.begin + n_left;
  }

  void set_bit(const CartQuestion& question, std::int32_t level) {
    tree_.words[static_cast<std::size_t>(question.first_word + level / 32)] |= 1u << (level % 32);
  }

  void send_missing(const Task& task, std::size_t first, std::size_t n_surrogates,
                    bool missing_left) {
    for (std::size_t i = task.begin; i < task.end; ++i) {
      const std::int32_t row = all_[i];
      std::int8_t& side = side_[static_cast<std::size_t>(row)];
      for (std::size_t s = first; s < first + n_surrogates && side < 0; ++s) {
        const CartQuestion& asked = tree_.surrogates[s].question;
        side = static_cast<std::int8_t>(
            cart_side(asked, tree_.words.data(), value(asked.column, row)));
      }
      if (side < 0) side = missing_left;
    }
  }

  // Rows of the left first, both sides in their order; returns how many are on the left.
  std::size_t part(std::int32_t* rows, std::size_t n) {
    std::size_t n_left = 0, n_right = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t row = rows[i];
      const auto side = static_cast<std::size_t>(side_[static_cast<std::size_t>(row)]);
      spare_[n_right] = row;
      rows[n_left] = row;
      n_left += side;
      n_right += 1 - side;
    }
    std::copy_n(spare_.data(), n_right, rows + n_left);
    return n_left;
  }

  const CartRows& rows_;
  const CartLimits& limits_;
  void (*poll_)();
  Measure measure_;
  std::size_t n_values_;
  bool has_monotone_ = false;
  std::vector<std::int32_t> all_;                 // rows of the sample, node by node
  std::vector<std::vector<std::int32_t>> order_;  // the same by the values of each numeric column
  std::vector<std::int8_t> side_;
  std::vector<std::int32_t> spare_;
  std::vector<const std::int32_t*> sorted_;
  CartTree tree_;
};

}  // namespace

CartTree grow_cart(const CartRows& rows, const CartLimits& limits, void (*poll)()) {
  if (limits.n_classes) return Grower<ClassMeasure>(rows, limits, poll).grow();
  return Grower<NumberMeasure>(rows, limits, poll).grow();
}

}  // namespace clearwood
