#include <algorithm>
#include <array>
#include <cmath>

#include "cart/cart.hpp"

namespace clearwood {
namespace {

// A surrogate must send at least this many rows each way.
constexpr std::size_t fewest_each_way = 2;

struct Candidate {
  CartQuestion question;
  std::vector<std::uint32_t> words;
  double agreeing = 0.0;
};

// The threshold and direction that send most weight the way the split does.
Candidate best_number(const CartRows& rows, std::int32_t column, const std::int8_t* side,
                      const std::int32_t* sorted, std::size_t n) {
  const double* values = rows.values + static_cast<std::size_t>(column) * rows.n_rows;
  while (n > 0 && std::isnan(values[sorted[n - 1]])) --n;
  std::array<double, 2> total{}, below{};  // by the side of the split: right, left
  std::size_t n_known = 0, n_below = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (side[sorted[i]] < 0) continue;
    total[static_cast<std::size_t>(side[sorted[i]])] += rows.cover[sorted[i]];
    ++n_known;
  }
  Candidate best;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const std::int32_t row = sorted[i];
    if (side[row] >= 0) {
      below[static_cast<std::size_t>(side[row])] += rows.cover[row];
      ++n_below;
    }
    const double low = values[row], high = values[sorted[i + 1]];
    if (!(low < high) || n_below < fewest_each_way || n_known - n_below < fewest_each_way) continue;
    const double straight = below[1] + (total[0] - below[0]);
    const double flipped = below[0] + (total[1] - below[1]);
    if (std::max(straight, flipped) > best.agreeing) {
      best.agreeing = std::max(straight, flipped);
      best.question.column = column;
      best.question.flipped = flipped > straight;
      best.question.threshold = cart_threshold(low, high);
    }
  }
  return best;
}

// Every level goes the way of most of its weight; levels without rows go with the majority.
Candidate best_category(const CartRows& rows, std::int32_t column, const std::int8_t* side,
                        const std::int32_t* node_rows, std::size_t n, bool majority_left) {
  const double* values = rows.values + static_cast<std::size_t>(column) * rows.n_rows;
  const auto n_levels = static_cast<std::size_t>(rows.n_levels[column]);
  std::vector<std::array<double, 2>> weight(n_levels);
  std::vector<std::size_t> count(n_levels);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t row = node_rows[i];
    if (side[row] < 0 || std::isnan(values[row])) continue;
    const auto level = static_cast<std::size_t>(values[row]);
    weight[level][static_cast<std::size_t>(side[row])] += rows.cover[row];
    ++count[level];
  }
  std::array<double, 2> known{};
  for (const auto& one : weight) {
    known[0] += one[0];
    known[1] += one[1];
  }
  Candidate best;
  best.question.n_words = static_cast<std::int32_t>((n_levels + 31) / 32);
  best.words.resize(static_cast<std::size_t>(best.question.n_words));
  std::array<std::size_t, 2> sent{};
  for (std::size_t level = 0; level < n_levels; ++level) {
    const double more_left = weight[level][1] - weight[level][0];
    const bool left = count[level] == 0 ? majority_left
                      : more_left != 0.0 ? more_left > 0.0
                                         : known[1] >= known[0];
    if (left) best.words[level / 32] |= 1u << (level % 32);
    best.agreeing += std::max(weight[level][0], weight[level][1]);
    sent[left] += count[level];
  }
  if (std::min(sent[0], sent[1]) >= fewest_each_way) best.question.column = column;
  return best;
}

}  // namespace

std::size_t find_surrogates(const CartRows& rows, std::int32_t column, const std::int8_t* side,
                            const std::int32_t* node_rows,
                            const std::vector<const std::int32_t*>& sorted, std::size_t n,
                            std::int32_t most, CartTree& tree) {
  std::array<double, 2> known{};
  for (std::size_t i = 0; i < n; ++i) {
    if (side[node_rows[i]] >= 0) {
      known[static_cast<std::size_t>(side[node_rows[i]])] += rows.cover[node_rows[i]];
    }
  }
  const double total = known[0] + known[1], majority = std::max(known[0], known[1]);
  std::vector<Candidate> candidates;
  for (std::size_t j = 0; j < rows.n_columns; ++j) {
    const auto other = static_cast<std::int32_t>(j);
    // a monotone column that stands in for another could turn its own direction round
    if (other == column || rows.monotone[j] != 0) continue;
    Candidate candidate =
        rows.n_levels[j] > 0
            ? best_category(rows, other, side, node_rows, n, known[1] >= known[0])
            : best_number(rows, other, side, sorted[j], n);
    if (candidate.question.column < 0) continue;
    if (candidate.agreeing <= majority * (1.0 + 1e-10)) continue;
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.agreeing > b.agreeing; });
  if (candidates.size() > static_cast<std::size_t>(most)) {
    candidates.resize(static_cast<std::size_t>(most));
  }
  // the column of one without missing values decides for every row, so what follows has no say
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!rows.surrogates[candidates[i].question.column]) candidates.resize(i + 1);
  }
  for (Candidate& one : candidates) {
    if (!one.words.empty()) {
      one.question.first_word = static_cast<std::int32_t>(tree.words.size());
      tree.words.insert(tree.words.end(), one.words.begin(), one.words.end());
    }
    tree.surrogates.push_back(
        {one.question, one.agreeing / total, (one.agreeing - majority) / (total - majority)});
  }
  return candidates.size();
}

}  // namespace clearwood
