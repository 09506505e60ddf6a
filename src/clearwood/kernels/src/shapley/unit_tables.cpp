#include "shapley/unit_tables.hpp"

#include <bit>

namespace clearwood {
namespace {

// The term's own pattern for every pattern of the unit. Players on the way have the same bits in
// both.
std::vector<std::uint16_t> term_patterns(const UnitTerm& term, std::size_t n_way,
                                         std::size_t size) {
  const auto way = static_cast<std::uint16_t>((1u << n_way) - 1);
  std::vector<std::uint16_t> patterns(size);
  for (std::size_t p = 0; p < size; ++p) patterns[p] = static_cast<std::uint16_t>(p & way);
  for (std::size_t k = 0; k < term.conditions.size(); ++k) {
    const auto mask = term.conditions[k].mask, want = term.conditions[k].want;
    if (mask == want && std::popcount(mask) == 1 && k < n_way) continue;  // no split inside
    const auto bit = static_cast<std::uint16_t>(1u << k), others = static_cast<std::uint16_t>(~bit);
    for (std::size_t p = 0; p < size; ++p) {
      const bool holds = static_cast<std::uint16_t>(p & mask) == want;
      patterns[p] = static_cast<std::uint16_t>((patterns[p] & others) | (holds ? bit : 0));
    }
  }
  return patterns;
}

std::vector<double> factors_of(const ForestArrays& forest, const UnitTerm& term) {
  std::vector<double> factors(forest.n_values);
  for (std::size_t k = 0; k < forest.n_values; ++k) {
    factors[k] = forest.value[static_cast<std::size_t>(term.plus) * forest.n_values + k];
    if (term.minus < 0) continue;
    factors[k] -= forest.value[static_cast<std::size_t>(term.minus) * forest.n_values + k];
  }
  return factors;
}

// Calls visit(subset as a bit mask of `bits`, its size) for every subset.
template <class Visit>
void for_each_subset(const std::vector<std::int32_t>& bits, Visit&& visit) {
  for (unsigned chosen = 0; chosen < 1u << bits.size(); ++chosen) {
    unsigned mask = 0;
    for (std::size_t k = 0; k < bits.size(); ++k) {
      if (chosen >> k & 1) mask |= 1u << bits[k];
    }
    visit(static_cast<std::uint16_t>(mask), static_cast<std::size_t>(std::popcount(chosen)));
  }
}

}  // namespace

UnitTables::UnitTables(const ForestArrays& forest, const Unit& unit,
                       const std::vector<std::int32_t>& way, const SlotMap& slots,
                       const double* counts, double total_weight)
    : n_way_(way.size()), size_(std::size_t(1) << unit.bits), n_values_(forest.n_values),
      quantity_(slots.quantity()), players_(way), baseline_(forest.n_values, 0.0) {
  const std::vector<UnitTerm> terms = unit_terms(forest, unit.node, way);
  for (const UnitTerm& term : terms) {
    for (const Condition& condition : term.conditions) {
      if (std::find(players_.begin(), players_.end(), condition.player) == players_.end()) {
        players_.push_back(condition.player);
      }
    }
  }
  for (const Slot& slot : slots.slots_of(players_)) plan(slot);
  tables_.assign(keys_.size() * n_values_ * size_, 0.0);
  for (const UnitTerm& term : terms) add_term(term, factors_of(forest, term), counts, total_weight);
  if (unit.bits <= most_merged_bits) collapse();
}

// Which tables a slot needs, and where it looks them up.
void UnitTables::plan(const Slot& slot) {
  std::vector<std::int32_t> on_way, inside;
  for (std::int32_t position : slot.positions) {
    (static_cast<std::size_t>(position) < n_way_ ? on_way : inside).push_back(position);
  }
  SlotLookUps wanted{slot.index, none, {}};
  const std::size_t order = slot.positions.size();
  if (quantity_ == Quantity::components) {
    unsigned keep = 0xffffu << n_way_;
    for (std::int32_t position : on_way) keep |= 1u << position;
    wanted.look_ups.push_back({table_for({inside, order, 0}), static_cast<std::uint16_t>(keep),
                               order % 2 == 0 ? 1.0 : -1.0});
  } else {
    for_each_subset(on_way, [&](std::uint16_t out, std::size_t level) {
      const std::size_t index = table_for({inside, order, level});
      if (level == 0 && inside.empty()) {
        wanted.shared = index;
      } else {
        wanted.look_ups.push_back(
            {index, static_cast<std::uint16_t>(~out), level % 2 == 0 ? 1.0 : -1.0});
      }
    });
  }
  slots_.push_back(std::move(wanted));
}

std::size_t UnitTables::table_for(TableKey key) {
  // The components of sets that differ only on the way come from one table.
  if (quantity_ == Quantity::components) key.order = 0;
  const auto known = std::find(keys_.begin(), keys_.end(), key);
  if (known != keys_.end()) return static_cast<std::size_t>(known - keys_.begin());
  keys_.push_back(std::move(key));
  return keys_.size() - 1;
}

void UnitTables::add_term(const UnitTerm& term, const std::vector<double>& factors,
                          const double* counts, double total_weight) {
  const std::vector<std::uint16_t> patterns = term_patterns(term, n_way_, size_);
  const auto d = static_cast<int>(term.conditions.size());
  const std::size_t everyone = (std::size_t(1) << d) - 1;
  std::vector<double> failures(everyone + 1, 0.0);
  for (std::size_t p = 0; p < size_; ++p) failures[everyone ^ patterns[p]] += counts[p];
  for (double& share : failures) share /= total_weight;
  for (std::size_t k = 0; k < n_values_; ++k) baseline_[k] += factors[k] * failures[0];

  // Where each of the unit's players has its bit in the term's patterns, or -1.
  std::vector<std::int32_t> term_bits(players_.size(), -1);
  for (std::size_t bit = 0; bit < term.conditions.size(); ++bit) {
    const auto at = std::find(players_.begin(), players_.end(), term.conditions[bit].player);
    term_bits[static_cast<std::size_t>(at - players_.begin())] = static_cast<std::int32_t>(bit);
  }
  const GameTables tables(d, std::move(failures), quantity_);
  for (std::size_t index = 0; index < keys_.size(); ++index) {
    add_to_table(index, tables, term_bits, patterns, factors);
  }
}

void UnitTables::add_to_table(std::size_t index, const GameTables& tables,
                              const std::vector<std::int32_t>& term_bits,
                              const std::vector<std::uint16_t>& patterns,
                              const std::vector<double>& factors) {
  const auto add_look_up = CLEARWOOD_DISPATCH(add_look_up);
  const TableKey& key = keys_[index];
  std::vector<std::int32_t> bits;
  for (std::int32_t position : key.inside) {
    bits.push_back(term_bits[static_cast<std::size_t>(position)]);
    if (bits.back() < 0) return;
  }
  const auto add = [&](std::size_t level, std::uint16_t keep, double sign) {
    for (std::size_t k = 0; k < n_values_; ++k) {
      add_look_up(tables.table(key.order, level), patterns.data(), size_, keep,
                  sign * factors[k], table(index, k));
    }
  };
  if (quantity_ == Quantity::components) {
    unsigned keep = (1u << n_way_) - 1;
    for (std::int32_t bit : bits) keep |= 1u << bit;
    add(0, static_cast<std::uint16_t>(keep), 1.0);
    return;
  }
  for_each_subset(bits, [&](std::uint16_t out, std::size_t size) {
    add(key.level + size, static_cast<std::uint16_t>(~out), size % 2 == 0 ? 1.0 : -1.0);
  });
}

// Pairs look up to four tables up; where tables are small, one of the pair's own is faster.
void UnitTables::collapse() {
  if (quantity_ != Quantity::interactions) return;
  const auto add_look_up = CLEARWOOD_DISPATCH(add_look_up);
  std::vector<std::uint16_t> all(size_);
  for (std::size_t p = 0; p < size_; ++p) all[p] = static_cast<std::uint16_t>(p);
  std::vector<double> collapsed(slots_.size() * n_values_ * size_, 0.0);
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    SlotLookUps& wanted = slots_[s];
    if (wanted.shared != none) wanted.look_ups.push_back({wanted.shared, 0xffff, 1.0});
    for (std::size_t k = 0; k < n_values_; ++k) {
      for (const LookUp& one : wanted.look_ups) {
        add_look_up(table(one.table, k), all.data(), size_, one.keep, one.sign,
                    collapsed.data() + (s * n_values_ + k) * size_);
      }
    }
    wanted = {wanted.slot, none, {{s, 0xffff, 1.0}}};
  }
  tables_ = std::move(collapsed);
}

}  // namespace clearwood
