// The tables of a unit: what its leaves give together, by the patterns of the unit.
//
// The leaves are written as terms, multiples of indicators of nodes (see units.hpp).
//
// Write D_i for the derivative in player i: with tables T(order, level) of integrals of
// H / (t^order (1 - t)^level) it is
//     (D_i T)(order, level)[a] = T(order, level)[a] - T(order, level + 1)[a \ i],
// so a set S of players gets the sum over its subsets C of (-1)^|C| T(|S|, |C|)[a \ C]. All terms
// of a unit have the players on the way to it, and taking one of them out of a term's pattern is
// clearing its bit in the unit's; hence the terms' tables are added up first and C, as far as it
// lies on the way, is taken out when a row is looked up. For players inside the unit, J, the
// differences are taken term by term, in the terms that have all of J, and each J has tables of its
// own. Components need one look-up: the unit's pattern without the players that are not in S.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shapley/game.hpp"
#include "shapley/pattern.hpp"
#include "shapley/units.hpp"

namespace clearwood {

class UnitTables {
 public:
  // `way`: the players above the unit's node in the order of their bits. counts: the background's
  // weight per pattern of the unit.
  UnitTables(const ForestArrays& forest, const Unit& unit, const std::vector<std::int32_t>& way,
             const SlotMap& slots, const double* counts, double total_weight);

  // Mean over the background of what the unit adds to value k.
  double baseline(std::size_t k) const { return baseline_[k]; }

  // Adds what the rows get to column(slot index, k)[row], unless that is nullptr; scratch has room
  // for n numbers.
  template <class Column>
  void add(const std::uint16_t* patterns, std::size_t n, double* scratch, Column&& column) const;

 private:
  // sign * table[pattern & keep]
  struct LookUp {
    std::size_t table;
    std::uint16_t keep;
    double sign;
  };
  struct SlotLookUps {
    std::int32_t slot;
    std::size_t shared;  // a table looked up at the whole pattern by many slots, or none
    std::vector<LookUp> look_ups;
  };
  // Which sum over terms a table holds: positions of players inside the unit; order; level.
  struct TableKey {
    std::vector<std::int32_t> inside;
    std::size_t order;
    std::size_t level;
    bool operator==(const TableKey&) const = default;
  };

  void plan(const Slot& slot);
  std::size_t table_for(TableKey key);
  void add_term(const UnitTerm& term, const std::vector<double>& factors, const double* counts,
                double total_weight);
  void add_to_table(std::size_t index, const GameTables& tables,
                    const std::vector<std::int32_t>& term_bits,
                    const std::vector<std::uint16_t>& patterns,
                    const std::vector<double>& factors);
  void collapse();

  double* table(std::size_t index, std::size_t k) {
    return tables_.data() + (index * n_values_ + k) * size_;
  }
  const double* table(std::size_t index, std::size_t k) const {
    return tables_.data() + (index * n_values_ + k) * size_;
  }

  static constexpr std::size_t none = ~std::size_t(0);

  std::size_t n_way_;
  std::size_t size_;  // patterns
  std::size_t n_values_;
  Quantity quantity_;
  std::vector<std::int32_t> players_;  // on the way, then inside
  std::vector<TableKey> keys_;
  std::vector<double> tables_;  // n_values_ tables for every key
  std::vector<SlotLookUps> slots_;
  std::vector<double> baseline_;
};

template <class Column>
void UnitTables::add(const std::uint16_t* patterns, std::size_t n, double* scratch,
                     Column&& column) const {
  const auto add_look_up = CLEARWOOD_DISPATCH(add_look_up);
  const auto add_scaled = CLEARWOOD_DISPATCH(add_scaled);
  for (std::size_t k = 0; k < n_values_; ++k) {
    std::size_t in_scratch = none;
    for (const SlotLookUps& wanted : slots_) {
      double* to = column(wanted.slot, k);
      if (to == nullptr) continue;
      if (wanted.shared != none) {
        if (in_scratch != wanted.shared) {
          std::fill_n(scratch, n, 0.0);
          add_look_up(table(wanted.shared, k), patterns, n, 0xffff, 1.0, scratch);
          in_scratch = wanted.shared;
        }
        add_scaled(scratch, n, 1.0, to);
      }
      for (const LookUp& one : wanted.look_ups) {
        add_look_up(table(one.table, k), patterns, n, one.keep, one.sign, to);
      }
    }
  }
}

}  // namespace clearwood
