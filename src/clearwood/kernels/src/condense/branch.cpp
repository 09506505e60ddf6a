// Which split to divide a box by.
//
// After a round of messages the least sum of trees is bounded by the features' part (sums of
// messages) and the trees' part (their values less their own messages). With the
// messages held fixed, the same bound can be read off for both sides of every cut at once: a feature's
// least is taken over the ranks of one side, a tree's over the leaves that reach into it.
#include "condense/branch.hpp"

#include <algorithm>
#include <cmath>

namespace clearwood::condense {

namespace {
// what one tree may add to the growth of a bound, so that sums stay within range
constexpr std::int64_t most_growth = std::int64_t(1) << 32;
}  // namespace

Spread::Spread(const Ensemble& ensemble, const Rows& rows)
    : ensemble_(ensemble),
      rows_(rows),
      up_to_(ensemble.n_features()),
      missing_(ensemble.n_features(), 0) {}

void Spread::count(const std::vector<Span>& box, const std::vector<std::int32_t>& rows) {
  box_ = &box;
  n_rows_ = double(rows.size());
  for (std::size_t j = 0; j < box.size(); ++j) {
    if (ensemble_.is_set[j] || box[j].lo > box[j].hi) continue;
    auto& counts = up_to_[j];
    counts.assign(std::size_t(box[j].hi - box[j].lo + 1), 0);
    missing_[j] = 0;
    for (const std::int32_t row : rows) {
      const std::int32_t place = rows_[std::size_t(row)][j];
      ++(place < 0 ? missing_[j] : counts[std::size_t(place - box[j].lo)]);
    }
    for (std::size_t r = 1; r < counts.size(); ++r) counts[r] += counts[r - 1];
  }
}

double Spread::left(std::size_t feature, std::int32_t cut, bool missing_left) const {
  const Span& span = (*box_)[feature];
  const auto& counts = up_to_[feature];
  const auto rank = std::min(std::size_t(cut - span.lo), counts.size() - 1);
  const double seen = double(counts[rank] + (missing_left ? missing_[feature] : 0));
  const double part = double(rank + 1) / double(counts.size());
  return left(seen, n_rows_, part);
}

double worth(double grows, double needed) {
  return grows >= needed ? 1.0 : std::sqrt(std::max(grows, 0.0) / needed);
}

Branching::Branching(const Ensemble& ensemble, const Rows& rows)
    : ensemble_(ensemble),
      spread_(ensemble, rows),
      left_(ensemble.n_features()),
      right_(ensemble.n_features()),
      left_worth_(ensemble.n_features()),
      right_worth_(ensemble.n_features()),
      is_cut_(ensemble.n_features()),
      ways_(ensemble.n_features(), 1) {}

void Branching::begin(const std::vector<Span>& box, const std::vector<std::int32_t>& rows) {
  box_ = &box;
  spread_.count(box, rows);
  for (std::size_t j = 0; j < box.size(); ++j) {
    is_cut_[j].clear();
    if (ensemble_.is_set[j] || box[j].lo > box[j].hi) continue;
    const auto n = std::size_t(box[j].hi - box[j].lo + 1);
    ways_[j] = ensemble_.missing_atom[j] && box[j].missing ? 2 : 1;
    is_cut_[j].assign(n, 0);
    is_cut_[j][n - 1] = ways_[j] == 2;  // between numbers and missing values
    for (std::size_t v = 0; v < ways_[j]; ++v) {
      left_worth_[j][v].assign(n, 0.0);
      right_worth_[j][v].assign(n, 0.0);
    }
  }
}

// What feature i of a tree adds to the growth on either side, as differences from rank to rank.
void Branching::add_tree(const Shape& shape, const Ranks& ranks, std::size_t i,
                         std::int32_t least) {
  const auto j = std::size_t(shape.feature[i]);
  const std::int32_t first = shape.first_cell[i];
  const std::int32_t numbers = shape.first_cell[i + 1] - 1 - shape.has_missing[i];
  const auto growth = [&](std::int32_t rest) {
    return std::min(std::int64_t(rest) - least, most_growth);
  };
  for (std::size_t v = 0; v < ways_[j]; ++v) {
    // a cut behind rank r leaves the cells up to that of r, and those from that of r + 1 on
    const bool with_missing = shape.has_missing[i] && ways_[j] == 2;
    std::int32_t rest = with_missing && v == 1 ? rests_[std::size_t(numbers) + 1] : unreachable;
    std::int64_t told = 0;
    std::int32_t rank = ranks.lo;
    for (std::int32_t c = first; c <= numbers; ++c) {
      const std::int32_t end = c == numbers ? ranks.hi : std::min(ranks.hi, shape.end[std::size_t(c)]);
      if (end < rank) continue;
      rest = std::min(rest, rests_[std::size_t(c)]);
      const std::int64_t now = growth(rest);
      left_[j][v][std::size_t(rank - ranks.lo)] += now - told;
      told = now;
      is_cut_[j][std::size_t(end - ranks.lo)] |= end < ranks.hi;
      rank = end + 1;
    }
    rest = with_missing && v == 0 ? rests_[std::size_t(numbers) + 1] : unreachable;
    std::int32_t last = ranks.hi;
    Growth& right = right_[j][v];
    if (rest != unreachable) right[std::size_t(last - ranks.lo)] += growth(rest);  // no number left
    for (std::int32_t c = numbers; c >= first; --c) {
      const std::int32_t start =
          c == first ? ranks.lo : std::max(ranks.lo, shape.end[std::size_t(c) - 1] + 1);
      if (start > last) continue;
      rest = std::min(rest, rests_[std::size_t(c)]);
      if (last > ranks.lo) {
        const std::int64_t now = growth(rest);
        right[std::size_t(std::max(start - 1, ranks.lo) - ranks.lo)] += now;
        right[std::size_t(last - ranks.lo)] -= now;
      }
      last = start - 1;
    }
  }
}

void Branching::add(const Messages& messages, double needed) {
  static const auto rests_of = CLEARWOOD_DISPATCH(least_rests);
  for (std::size_t j = 0; j < box_->size(); ++j) {
    for (std::size_t v = 0; v < ways_[j]; ++v) {
      left_[j][v].assign(is_cut_[j].size(), 0);
      right_[j][v].assign(is_cut_[j].size(), 0);
    }
  }
  messages.each_tree([&](const Shape& shape, const std::int32_t* value, const std::int32_t* message) {
    rests_.resize(std::max(rests_.size(), std::size_t(shape.n_cells())));
    scratch_.resize(std::max(scratch_.size(), shape.feature.size()));
    const std::int32_t least =
        rests_of(shape.view(), value, message, rests_.data(), scratch_.data());
    for (std::size_t i = 0; i < shape.feature.size(); ++i) {
      add_tree(shape, messages.ranks(std::size_t(shape.feature[i])), i, least);
    }
  });
  for (std::size_t j = 0; j < box_->size(); ++j) {
    const std::size_t n = is_cut_[j].size();
    if (n == 0) continue;
    const Ranks& ranks = messages.ranks(j);
    const std::int32_t* sums = messages.sums(j) + ranks.lo;
    const std::int32_t apart = ways_[j] == 2 ? messages.sums(j)[ranks.missing] : unreachable;
    std::int32_t least = apart;
    for (std::size_t r = 0; r < n; ++r) least = std::min(least, sums[r]);
    for (std::size_t v = 0; v < ways_[j]; ++v) {
      std::int64_t trees = 0;
      std::int32_t here = v == 1 ? apart : unreachable;
      for (std::size_t r = 0; r < n; ++r) {
        trees += left_[j][v][r];
        here = std::min(here, sums[r]);
        left_worth_[j][v][r] += worth(double(trees + here - least) / messages.scale(), needed);
      }
      trees = 0;
      for (std::size_t r = 0; r < n; ++r) right_[j][v][r] = trees += right_[j][v][r];
      here = v == 0 ? apart : unreachable;
      for (std::size_t r = n; r-- > 0;) {
        if (here != unreachable) {
          right_worth_[j][v][r] +=
              worth(double(right_[j][v][r] + here - least) / messages.scale(), needed);
        }
        here = std::min(here, sums[r]);
      }
    }
  }
}

std::pair<Question, double> Branching::best() const {
  Question best;
  double most = 0;
  for (std::size_t j = 0; j < box_->size(); ++j) {
    for (std::size_t r = 0; r < is_cut_[j].size(); ++r) {
      if (!is_cut_[j][r]) continue;
      const std::int32_t cut = (*box_)[j].lo + std::int32_t(r);
      const bool numbers_left = r + 1 == is_cut_[j].size();
      for (std::size_t v = 0; v < (numbers_left ? 1 : ways_[j]); ++v) {
        const double share = spread_.left(j, cut, v == 1);
        const double sum =
            share * left_worth_[j][v][r] + (1 - share) * right_worth_[j][v][r];
        if (sum <= most) continue;
        most = sum;
        best.feature = std::int32_t(j);
        best.cut = numbers_left ? ensemble_.n_cuts[j] : cut;
        best.default_left = v == 1;
      }
    }
  }
  return {best, most};
}

}  // namespace clearwood::condense
