#include "shapley/interventional.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <optional>
#include <vector>

#include "common/parallel.hpp"
#include "shapley/game.hpp"
#include "shapley/row_pairs.hpp"
#include "shapley/unit_tables.hpp"
#include "shapley/walk.hpp"

namespace clearwood {
namespace {

// Units are prepared in ranges, each by one thread; ranges are held in groups, which all rows then
// pass through. The first bounds what one thread allocates, the second the memory of the whole.
constexpr std::size_t range_budget = std::size_t(1) << 20;
constexpr std::size_t group_budget = std::size_t(64) << 20;
// Tables of a whole forest up to this size are kept between calls; the larger ones only if they
// pay for this many rows, since what has explained one row will explain more.
constexpr std::size_t keep_budget = std::size_t(16) << 20;
constexpr std::size_t large_keep_budget = std::size_t(256) << 20;
constexpr std::size_t rows_to_come = 256;

struct Range {
  std::size_t tree;
  std::int32_t first;
  std::int32_t last;
  std::size_t bytes;
};

struct PreparedUnit {
  std::vector<std::int32_t> way;
  std::vector<double> baseline;
  // One of the two: tables, or the game of a leaf that has too many players for them.
  std::optional<UnitTables> tables;
  std::optional<SparseGame> sparse;
  std::vector<Slot> sparse_slots;
};

using PreparedRange = std::vector<PreparedUnit>;

// Whether a unit has tables over all of its patterns rather than a list of those that occur. For
// components the list of a leaf is short, as only rows that fail few of its players are in it.
bool has_tables(const ForestArrays& forest, const Unit& unit, bool wide, Quantity quantity) {
  const bool is_short = wide && quantity == Quantity::components && forest.left[unit.node] < 0;
  return unit.bits <= (is_short ? most_merged_bits : most_dense_bits);
}

std::size_t estimated_bytes(const ForestArrays& forest, const Unit& unit, bool wide,
                            Quantity quantity, std::size_t n_background) {
  const auto bits = static_cast<std::size_t>(unit.bits);
  const std::size_t n_values = forest.n_values;
  if (!has_tables(forest, unit, wide, quantity)) {
    const std::size_t few = quantity == Quantity::components ? 8 : 1;
    return n_background / few * (SparseGame::words(unit.bits) + 2) * 8;
  }
  const std::size_t n_tables = quantity == Quantity::interactions && unit.bits <= most_merged_bits
                                   ? bits * (bits + 1) / 2
                                   : 6;
  return (n_tables * n_values << bits) * sizeof(double) + 512;
}

// --- Background to tables -----------------------------------------------------------------------

// Patterns of more than 16 bits that occur, one row after another.
struct Occurrences {
  std::vector<std::uint64_t> words;
  std::vector<double> weights;
};

class RangeBuilder {
 public:
  RangeBuilder(const ForestArrays& forest, const Units& units, const SlotMap& slots,
               const Background& background, const Range& range)
      : forest_(forest), units_(units), slots_(slots), background_(background), range_(range),
        tree_(units.tree(range.tree)),
        prepared_(static_cast<std::size_t>(range.last - range.first)) {}

  PreparedRange build() && {
    if (tree_.wide) {
      build_with<std::uint64_t>();
    } else {
      build_with<std::uint16_t>();
    }
    return std::move(prepared_);
  }

 private:
  std::size_t local(const Unit& unit) const {
    return static_cast<std::size_t>(&unit - tree_.units.data()) -
           static_cast<std::size_t>(range_.first);
  }

  template <class Pattern>
  void build_with() {
    PatternWalk<Pattern> walk(forest_, units_);
    const auto visit_all = [&](const RowBlock& rows, auto&& visit) {
      walk.run(range_.tree, range_.first, range_.last, rows, visit);
    };
    counts_.resize(prepared_.size());
    occurrences_.resize(prepared_.size());
    visit_all({}, [&](const Unit& unit, const auto& way, const Pattern*, std::size_t) {
      prepared_[local(unit)].way = way;
      if (!tree_.counted && has_tables(unit)) {
        counts_[local(unit)].assign(std::size_t(1) << unit.bits, 0.0);
      }
    });
    if (!tree_.counted) {
      const WeightedRows& rows = background_.rows;
      for (std::size_t row = 0; row < rows.n; row += pattern_rows) {
        const RowBlock block{rows.codes + row, rows.n, std::min(pattern_rows, rows.n - row)};
        visit_all(block, [&](const Unit& unit, const auto&, const Pattern* patterns,
                             std::size_t n_words) {
          count(unit, patterns, n_words, rows.weights + row, block.n);
        });
      }
    }
    for (std::int32_t k = range_.first; k < range_.last; ++k) {
      finish(tree_.units[static_cast<std::size_t>(k)]);
    }
  }

  template <class Pattern>
  void count(const Unit& unit, const Pattern* patterns, std::size_t n_words, const double* weights,
             std::size_t n) {
    if (has_tables(unit)) {
      double* counts = counts_[local(unit)].data();
      for (std::size_t i = 0; i < n; ++i) counts[patterns[i]] += weights[i];
      return;
    }
    Occurrences& found = occurrences_[local(unit)];
    const std::size_t wanted = std::min(n_words, SparseGame::words(unit.bits));
    // the component of a set depends on rows that fail no player outside of it
    const bool components = slots_.quantity() == Quantity::components;
    const int most = components ? static_cast<int>(slots_.largest()) : unit.bits;
    for (std::size_t i = 0; i < n; ++i) {
      int n_failed = unit.bits;
      for (std::size_t w = 0; w < wanted; ++w) {
        n_failed -= std::popcount(std::uint64_t(patterns[w * pattern_rows + i]));
      }
      if (n_failed > most) continue;
      for (std::size_t w = 0; w < wanted; ++w) {
        found.words.push_back(patterns[w * pattern_rows + i]);
      }
      found.weights.push_back(weights[i]);
    }
  }

  bool has_tables(const Unit& unit) const {
    return clearwood::has_tables(forest_, unit, tree_.wide, slots_.quantity());
  }

  void finish(const Unit& unit) {
    PreparedUnit& prepared = prepared_[local(unit)];
    if (!has_tables(unit)) {
      finish_sparse(unit, prepared);
    } else {
      prepared.tables.emplace(forest_, unit, prepared.way, slots_, counts(unit),
                              background_.total_weight);
      for (std::size_t k = 0; k < forest_.n_values; ++k) {
        prepared.baseline.push_back(prepared.tables->baseline(k));
      }
    }
    counts_[local(unit)] = {};
    occurrences_[local(unit)] = {};
  }

  const double* counts(const Unit& unit) const {
    return tree_.counted ? background_.counts + tree_.counts + unit.counts
                         : counts_[local(unit)].data();
  }

  void finish_sparse(const Unit& unit, PreparedUnit& prepared) {
    const Occurrences& found = occurrences_[local(unit)];
    const std::size_t n_words = SparseGame::words(unit.bits);
    const auto words_of = [&](std::size_t i) { return found.words.data() + i * n_words; };
    std::vector<std::size_t> order(found.weights.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
      return std::lexicographical_compare(words_of(i), words_of(i) + n_words, words_of(j),
                                          words_of(j) + n_words);
    });
    std::vector<std::uint64_t> failures;
    std::vector<double> shares;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::uint64_t* words = words_of(order[k]);
      if (k == 0 || !std::equal(words, words + n_words, words_of(order[k - 1]))) {
        for (std::size_t w = 0; w < n_words; ++w) {
          failures.push_back(complement(words[w], w, unit.bits));
        }
        shares.push_back(0.0);
      }
      shares.back() += found.weights[order[k]] / background_.total_weight;
    }
    prepared.sparse_slots = slots_.slots_of(prepared.way);
    prepared.sparse.emplace(unit.bits, std::move(failures), std::move(shares), slots_.quantity());
    const double* value = forest_.value + static_cast<std::size_t>(unit.node) * forest_.n_values;
    for (std::size_t k = 0; k < forest_.n_values; ++k) {
      prepared.baseline.push_back(value[k] * prepared.sparse->reached_share());
    }
  }

  static std::uint64_t complement(std::uint64_t word, std::size_t index, int bits) {
    const std::size_t left = static_cast<std::size_t>(bits) - 64 * index;
    const std::uint64_t mask =
        left >= 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << left) - 1;
    return ~word & mask;
  }

  const ForestArrays& forest_;
  const Units& units_;
  const SlotMap& slots_;
  const Background& background_;
  const Range range_;
  const TreeUnits& tree_;
  PreparedRange prepared_;
  std::vector<std::vector<double>> counts_;
  std::vector<Occurrences> occurrences_;
};

// --- Tables to rows -----------------------------------------------------------------------------

// Numbers the distinct patterns of a block of rows, so that a game is evaluated once for each.
class DistinctPatterns {
 public:
  // Word w of row i is patterns[w * pattern_rows + i].
  void find(const std::uint64_t* patterns, std::size_t n_words, std::size_t n) {
    std::vector<std::uint16_t> order(n);
    std::iota(order.begin(), order.end(), std::uint16_t(0));
    const auto compare = [&](std::uint16_t i, std::uint16_t j) {
      for (std::size_t w = 0; w < n_words; ++w) {
        const std::uint64_t a = patterns[w * pattern_rows + i], b = patterns[w * pattern_rows + j];
        if (a != b) return a < b ? -1 : 1;
      }
      return 0;
    };
    std::sort(order.begin(), order.end(),
              [&](std::uint16_t i, std::uint16_t j) { return compare(i, j) < 0; });
    words_.clear();
    numbers_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      if (k == 0 || compare(order[k - 1], order[k]) != 0) {
        for (std::size_t w = 0; w < n_words; ++w) {
          words_.push_back(patterns[w * pattern_rows + order[k]]);
        }
      }
      numbers_[order[k]] = static_cast<std::uint16_t>(words_.size() / n_words - 1);
    }
  }

  const std::vector<std::uint64_t>& words() const { return words_; }
  const std::uint16_t* numbers() const { return numbers_.data(); }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint16_t> numbers_;
};

// The slots of `Explained` are [first, last).
struct SlotRange {
  std::size_t first, last;
};

class RowExplainer {
 public:
  RowExplainer(const ForestArrays& forest, const Units& units, const Explained& to,
               const SlotRange& slots)
      : forest_(forest), to_(to), slots_(slots), narrow_walk_(forest, units),
        wide_walk_(forest, units) {}

  void explain(const Range& range, const PreparedRange& prepared, const TreeUnits& tree,
               std::size_t first_row, std::size_t n_rows) {
    const RowBlock rows{to_.codes + first_row, to_.n, n_rows};
    first_row_ = first_row;
    n_ = n_rows;
    const std::int32_t output = forest_.tree_output[range.tree];
    first_output_ = output < 0 ? 0 : static_cast<std::size_t>(output);
    const auto visit = [&](const Unit& unit, const auto&, const auto* patterns,
                           std::size_t n_words) {
      const auto local = static_cast<std::size_t>(&unit - tree.units.data()) -
                         static_cast<std::size_t>(range.first);
      add(unit, prepared[local], patterns, n_words);
    };
    if (tree.wide) {
      wide_walk_.run(range.tree, range.first, range.last, rows, visit);
    } else {
      narrow_walk_.run(range.tree, range.first, range.last, rows, visit);
    }
  }

 private:
  // Where a slot's values go, or nullptr if they are not wanted.
  double* column(std::int32_t slot, std::size_t k) const {
    const auto wanted = static_cast<std::size_t>(slot);
    if (wanted < slots_.first || wanted >= slots_.last) return nullptr;
    const std::size_t index = (wanted - slots_.first) * forest_.n_outputs;
    return to_.out + (index + first_output_ + k) * to_.pitch + first_row_;
  }

  void add(const Unit&, const PreparedUnit& prepared, const std::uint16_t* patterns, std::size_t) {
    prepared.tables->add(patterns, n_, scratch_.data(),
                         [&](std::int32_t slot, std::size_t k) { return column(slot, k); });
  }

  void add(const Unit& unit, const PreparedUnit& prepared, const std::uint64_t* patterns,
           std::size_t n_words) {
    if (!prepared.sparse) {
      narrow_.assign(patterns, patterns + n_);
      add(unit, prepared, narrow_.data(), 1);
      return;
    }
    const std::vector<Slot>& slots = prepared.sparse_slots;
    if (prepared.sparse->is_empty() || slots.empty()) return;
    const auto add_look_up = CLEARWOOD_DISPATCH(add_look_up);
    n_words = std::min(n_words, SparseGame::words(unit.bits));
    distinct_.find(patterns, n_words, n_);
    const std::size_t n_distinct = distinct_.words().size() / n_words;
    values_.resize(slots.size() * n_distinct);
    prepared.sparse->evaluate(slots, distinct_.words().data(), n_distinct, values_.data());
    const double* value = forest_.value + static_cast<std::size_t>(unit.node) * forest_.n_values;
    for (std::size_t s = 0; s < slots.size(); ++s) {
      for (std::size_t k = 0; k < forest_.n_values; ++k) {
        double* to = column(slots[s].index, k);
        if (to == nullptr) continue;
        add_look_up(values_.data() + s * n_distinct, distinct_.numbers(), n_, 0xffff, value[k], to);
      }
    }
  }

  const ForestArrays& forest_;
  const Explained to_;
  const SlotRange slots_;
  PatternWalk<std::uint16_t> narrow_walk_;
  PatternWalk<std::uint64_t> wide_walk_;
  DistinctPatterns distinct_;
  std::vector<double> values_;
  std::vector<double> scratch_ = std::vector<double>(pattern_rows);
  std::vector<std::uint16_t> narrow_;
  std::size_t first_row_ = 0, n_ = 0, first_output_ = 0;
};

std::vector<Range> ranges_of(const ForestArrays& forest, const Units& units, Quantity quantity,
                             std::size_t n_background) {
  std::vector<Range> ranges;
  for (std::size_t tree = 0; tree < forest.n_trees; ++tree) {
    const auto& all = units.tree(tree).units;
    const bool wide = units.tree(tree).wide;
    const auto n_units = static_cast<std::int32_t>(all.size());
    for (std::int32_t first = 0; first < n_units;) {
      Range range{tree, first, first, 0};
      while (range.last < n_units && (range.last == first || range.bytes < range_budget)) {
        range.bytes += estimated_bytes(forest, all[static_cast<std::size_t>(range.last++)], wide,
                                       quantity, n_background);
      }
      ranges.push_back(range);
      first = range.last;
    }
  }
  return ranges;
}

// Enough tasks for all threads, none so small that starting it matters.
std::size_t rows_per_task(std::size_t n_rows, int n_threads) {
  const std::size_t share = n_rows / (2 * static_cast<std::size_t>(n_threads)) + 1;
  return std::clamp(block_count(share, 64) * 64, std::size_t(128), pattern_rows);
}

}  // namespace

void count_background(const ForestArrays& forest, const Units& units, const WeightedRows& rows,
                      double* counts, int n_threads) {
  parallel_for(forest.n_trees, n_threads, [&](std::size_t index, int) {
    const TreeUnits& tree = units.tree(index);
    if (!tree.counted) return;
    PatternWalk<std::uint16_t> walk(forest, units);
    for (std::size_t row = 0; row < rows.n; row += pattern_rows) {
      const RowBlock block{rows.codes + row, rows.n, std::min(pattern_rows, rows.n - row)};
      const double* weights = rows.weights + row;
      walk.run(index, 0, static_cast<std::int32_t>(tree.units.size()), block,
               [&](const Unit& unit, const auto&, const std::uint16_t* patterns, std::size_t) {
                 double* to = counts + tree.counts + unit.counts;
                 for (std::size_t i = 0; i < block.n; ++i) to[patterns[i]] += weights[i];
               });
    }
  });
}

class InterventionalTables::Impl {
 public:
  Impl(const ForestArrays& forest, const Units& units, SlotMap slots, const Background& background,
       int n_threads)
      : forest_(forest), units_(units), slots_(std::move(slots)), background_(background),
        ranges_(ranges_of(forest, units, slots_.quantity(), background.rows.n)) {
    for (const Range& range : ranges_) n_bytes_ += range.bytes;
    if (n_bytes_ <= keep_budget ||
        (n_bytes_ <= large_keep_budget && compared_trees(rows_to_come).empty())) {
      kept_ = prepare(ranges_.data(), ranges_.size(), n_threads);
      kept_baseline_.assign(forest_.n_outputs, 0.0);
      add_baselines(kept_, ranges_.data(), kept_baseline_.data());
    }
  }

  const SlotMap& slots() const { return slots_; }
  bool are_kept() const { return kept_.size() == ranges_.size(); }
  std::size_t n_bytes() const { return are_kept() ? n_bytes_ : 0; }

  void explain(const Explained& rows, const Explained& few, std::size_t first_slot,
               double* baseline, int n_threads) const {
    const Wanted wanted{rows, few, first_slot};
    if (are_kept()) {
      explain_with(kept_, ranges_.data(), wanted, n_threads);
      for (std::size_t k = 0; k < kept_baseline_.size(); ++k) baseline[k] += kept_baseline_[k];
      return;
    }
    const std::vector<std::size_t> compared = compared_trees(rows.n);
    add_row_pairs(forest_, compared, background_.rows, background_.total_weight, rows.codes, rows.n,
                  rows.out, rows.pitch, baseline, n_threads);
    std::vector<Range> ranges;
    std::copy_if(ranges_.begin(), ranges_.end(), std::back_inserter(ranges), [&](const Range& r) {
      return !std::binary_search(compared.begin(), compared.end(), r.tree);
    });
    for (std::size_t begin = 0, end = 0; begin < ranges.size(); begin = end) {
      std::size_t bytes = 0;
      while (end < ranges.size() && (end == begin || bytes < group_budget)) {
        bytes += ranges[end++].bytes;
      }
      const Range* first = ranges.data() + begin;
      const std::vector<PreparedRange> group = prepare(first, end - begin, n_threads);
      explain_with(group, first, wanted, n_threads);
      add_baselines(group, first, baseline);
    }
  }

 private:
  // Trees whose tables would cost more than comparing the rows with the background.
  std::vector<std::size_t> compared_trees(std::size_t n_rows) const {
    std::vector<std::size_t> trees;
    if (slots_.quantity() != Quantity::shapley) return trees;
    for (std::size_t tree = 0; tree < forest_.n_trees; ++tree) {
      if (!units_.tree(tree).counted &&
          comparing_pays(forest_, units_, tree, n_rows, background_.rows.n)) {
        trees.push_back(tree);
      }
    }
    return trees;
  }

  std::vector<PreparedRange> prepare(const Range* ranges, std::size_t n, int n_threads) const {
    std::vector<PreparedRange> group(n);
    parallel_for(n, n_threads, [&](std::size_t k, int) {
      group[k] = RangeBuilder(forest_, units_, slots_, background_, ranges[k]).build();
    });
    return group;
  }

  struct Wanted {
    Explained rows, few;
    std::size_t first_slot;
  };

  void explain_slots(const std::vector<PreparedRange>& group, const Range* ranges,
                     const Explained& to, const SlotRange& slots, int n_threads) const {
    if (slots.first == slots.last) return;
    const std::size_t task_rows = rows_per_task(to.n, n_threads);
    parallel_for(block_count(to.n, task_rows), n_threads, [&](std::size_t task, int) {
      const std::size_t row = task * task_rows;
      RowExplainer explainer(forest_, units_, to, slots);
      for (std::size_t k = 0; k < group.size(); ++k) {
        explainer.explain(ranges[k], group[k], units_.tree(ranges[k].tree), row,
                          std::min(task_rows, to.n - row));
      }
    });
  }

  // The group holds what was prepared for `ranges`.
  void explain_with(const std::vector<PreparedRange>& group, const Range* ranges,
                    const Wanted& wanted, int n_threads) const {
    explain_slots(group, ranges, wanted.few, {0, wanted.first_slot}, n_threads);
    explain_slots(group, ranges, wanted.rows, {wanted.first_slot, slots_.size()}, n_threads);
  }

  void add_baselines(const std::vector<PreparedRange>& group, const Range* ranges,
                     double* baseline) const {
    for (std::size_t k = 0; k < group.size(); ++k) {
      const std::int32_t output = forest_.tree_output[ranges[k].tree];
      for (const PreparedUnit& unit : group[k]) {
        for (std::size_t v = 0; v < forest_.n_values; ++v) {
          baseline[static_cast<std::size_t>(std::max(output, 0)) + v] += unit.baseline[v];
        }
      }
    }
  }

  const ForestArrays& forest_;
  const Units& units_;
  const SlotMap slots_;
  const Background background_;
  const std::vector<Range> ranges_;
  std::size_t n_bytes_ = 0;          // what the tables of all ranges take, about
  std::vector<PreparedRange> kept_;  // of all ranges, or none
  // Sums over all units, each of which lies elsewhere in memory: for one row, that takes as long as
  // the row.
  std::vector<double> kept_baseline_;
};

InterventionalTables::InterventionalTables(const ForestArrays& forest, const Units& units,
                                           SlotMap slots, const Background& background,
                                           int n_threads)
    : impl_(std::make_unique<const Impl>(forest, units, std::move(slots), background,
                                         n_threads)) {}
InterventionalTables::~InterventionalTables() = default;
InterventionalTables::InterventionalTables(InterventionalTables&&) noexcept = default;

const SlotMap& InterventionalTables::slots() const { return impl_->slots(); }
bool InterventionalTables::are_kept() const { return impl_->are_kept(); }
std::size_t InterventionalTables::n_bytes() const { return impl_->n_bytes(); }

void InterventionalTables::explain(const Explained& rows, const Explained& few,
                                   std::size_t first_slot, double* baseline, int n_threads) const {
  impl_->explain(rows, few, first_slot, baseline, n_threads);
}

}  // namespace clearwood
