// What a split gains, for each criterion, while rows move from the right of it to the left.
//
// A measure keeps sums over a set of rows as `width` doubles (a "bin"): of weights and of weighted
// targets, or of the weights of each class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "cart/cart.hpp"

namespace clearwood {

// x * log(y), and zero where x is; rounding may leave x slightly below zero.
inline double times_log(double x, double y) { return x > 0.0 ? x * std::log(y) : 0.0; }

// Numbers: sums of weights and of weighted targets.
//
// Of the deviances, Poisson's is that of variance power 1, Tweedie's that of 1.5 and gamma's that
// of 2. All are a weight times a concave function of the mean, so that the best set of levels is a
// range of their means, as for squared errors.
class NumberMeasure {
 public:
  NumberMeasure(const CartRows& rows, const CartLimits& limits)
      : sums_(2 * rows.n_rows), criterion_(limits.criterion) {
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
      sums_[2 * i] = rows.weight[i];
      sums_[2 * i + 1] = rows.weight[i] * rows.target[i];
    }
  }

  std::size_t width() const { return 2; }
  bool is_ordered() const { return true; }  // the best set of levels is a range of their means
  void add(std::int32_t row, double* bin) const {
    bin[0] += sums_[2 * static_cast<std::size_t>(row)];
    bin[1] += sums_[2 * static_cast<std::size_t>(row) + 1];
  }
  static double mean(const double* bin) { return bin[0] > 0.0 ? bin[1] / bin[0] : 0.0; }

  void start(const double* total) {
    weight_ = total[0];
    sum_ = total[1];
    mean_ = mean(total);
    left_[0] = left_[1] = 0.0;
  }
  void move(std::int32_t row) { add(row, left_); }
  void move(const double* bin, double sign) {
    left_[0] += sign * bin[0];
    left_[1] += sign * bin[1];
  }
  double gain() const {
    const double weight = weight_ - left_[0], sum = sum_ - left_[1];
    if (!(left_[0] > 0.0 && weight > 0.0)) return 0.0;
    if (criterion_ == CartCriterion::squared) {
      const double off = left_[1] - left_[0] * mean_;
      return off * off * weight_ / (left_[0] * weight);
    }
    // means relative to the node's, so that the unit of the target makes no difference
    const double left = left_[1] / left_[0] / mean_, right = sum / weight / mean_;
    if (criterion_ == CartCriterion::poisson) {
      return 2.0 * (times_log(left_[1], left) + times_log(sum, right));
    }
    if (criterion_ == CartCriterion::gamma) {
      // rounding could leave a side without the targets above zero that it has
      return left > 0.0 && right > 0.0
                 ? -2.0 * (left_[0] * std::log(left) + weight * std::log(right))
                 : 0.0;
    }
    const double roots = left_[0] * std::sqrt(std::max(left, 0.0)) +
                         weight * std::sqrt(std::max(right, 0.0));
    return 8.0 * std::sqrt(mean_) * (weight_ - roots);
  }
  double left_mean() const { return mean(left_); }
  double right_mean() const {
    const double right[2] = {weight_ - left_[0], sum_ - left_[1]};
    return mean(right);
  }
  // What is lost of the gain because the sides' values must stay within bounds.
  double lost_to_bounds(double low, double high) const {
    if (criterion_ != CartCriterion::squared) return 0.0;
    const auto loss = [&](double weight, double at) {
      const double off = at - std::clamp(at, low, high);
      return weight * off * off;
    };
    return loss(left_[0], left_mean()) + loss(weight_ - left_[0], right_mean()) -
           loss(weight_, mean_);
  }
  // The deviance of a target from a mean above zero.
  double deviance(double target, double mean) const {
    if (criterion_ == CartCriterion::gamma) {
      const double off = (target - mean) / mean;
      return 2.0 * (off - std::log1p(off));
    }
    const double off = std::sqrt(target) - std::sqrt(mean);
    return 4.0 * off * off / std::sqrt(mean);
  }

 private:
  std::vector<double> sums_;
  CartCriterion criterion_;
  double weight_ = 0.0, sum_ = 0.0, mean_ = 0.0;
  double left_[2] = {0.0, 0.0};
};

// Classes: the weight of each.
class ClassMeasure {
 public:
  ClassMeasure(const CartRows& rows, const CartLimits& limits)
      : rows_(rows),
        n_(limits.n_classes),
        entropy_(limits.criterion == CartCriterion::entropy),
        costs_(limits.costs),
        total_(n_),
        left_(n_) {}

  std::size_t width() const { return n_; }
  bool is_ordered() const { return n_ == 2; }
  void add(std::int32_t row, double* bin) const {
    bin[static_cast<std::size_t>(rows_.target[row])] += rows_.weight[row];
  }
  double mean(const double* bin) const {
    const double weight = sum(bin);
    return weight > 0.0 ? bin[1] / weight : 0.0;
  }

  void start(const double* total) {
    std::copy(total, total + n_, total_.begin());
    std::fill(left_.begin(), left_.end(), 0.0);
    base_ = impurity(total_.data());
  }
  void move(std::int32_t row) { add(row, left_.data()); }
  void move(const double* bin, double sign) {
    for (std::size_t k = 0; k < n_; ++k) left_[k] += sign * bin[k];
  }
  double gain() {
    right();
    return base_ - impurity(left_.data()) - impurity(right_.data());
  }
  double left_mean() const { return mean(left_.data()); }
  double right_mean() {
    right();
    return mean(right_.data());
  }
  double lost_to_bounds(double, double) const { return 0.0; }

  // Weight times Gini's index (with costs: the expected cost of a guess by the shares) or entropy.
  double impurity(const double* bin) const {
    const double weight = sum(bin);
    if (!(weight > 0.0)) return 0.0;
    double total = 0.0;
    if (entropy_) {
      for (std::size_t k = 0; k < n_; ++k) total -= times_log(bin[k], bin[k] / weight);
      return total;
    }
    if (costs_ != nullptr) {
      for (std::size_t k = 0; k < n_; ++k) {
        for (std::size_t l = 0; l < n_; ++l) total += costs_[k * n_ + l] * bin[k] * bin[l];
      }
      return total / weight;
    }
    for (std::size_t k = 0; k < n_; ++k) total += bin[k] * bin[k];
    return weight - total / weight;
  }

 private:
  double sum(const double* bin) const {
    double weight = 0.0;
    for (std::size_t k = 0; k < n_; ++k) weight += bin[k];
    return weight;
  }
  void right() {
    right_.resize(n_);
    for (std::size_t k = 0; k < n_; ++k) right_[k] = std::max(total_[k] - left_[k], 0.0);
  }

  const CartRows& rows_;
  std::size_t n_;
  bool entropy_;
  const double* costs_;
  double base_ = 0.0;
  std::vector<double> total_, left_, right_;
};

}  // namespace clearwood
