// Interventional Shapley values, interactions and components over a whole background.
//
// Time grows with rows plus background rows, not with their product: each unit of a tree (see
// units.hpp) turns the background into counts of patterns, the counts into tables (see game.hpp),
// and a row is explained by looking its patterns up. Trees with long paths have large tables; for
// few rows they are explained by comparing every row with every background row (see row_pairs.hpp).
#pragma once

#include <memory>
#include <vector>

#include "shapley/slots.hpp"
#include "shapley/units.hpp"

namespace clearwood {

// Rows with weights; column c of the codes starts at codes + c * n.
struct WeightedRows {
  const Code* codes;
  std::size_t n;
  const double* weights;
};

struct Background {
  const double* counts;  // summed weights per pattern, for the trees that are counted
  WeightedRows rows;     // for the trees that are not
  double total_weight;
};

// Where explained rows go: out[(slot * n_outputs + output) * pitch + row].
struct Explained {
  const Code* codes;  // column c starts at codes + c * n
  std::size_t n;
  double* out;
  std::size_t pitch;
};

// Adds rows to counts[Units::n_counts()].
void count_background(const ForestArrays& forest, const Units& units, const WeightedRows& rows,
                      double* counts, int n_threads);

// What explaining rows needs of a forest and a background, all of which must outlive it. Tables
// that take little memory are made at once and kept, others are made group by group for every call.
class InterventionalTables {
 public:
  InterventionalTables(const ForestArrays& forest, const Units& units, SlotMap slots,
                       const Background& background, int n_threads);
  ~InterventionalTables();
  InterventionalTables(InterventionalTables&&) noexcept;

  const SlotMap& slots() const;
  bool are_kept() const;
  std::size_t n_bytes() const;  // of the tables that are kept, about

  // Adds to `rows` what they get, of all slots from first_slot on, and to baseline[output]. The slots
  // before it are those of `few` instead: functions of little, which a few rows tell all of.
  void explain(const Explained& rows, const Explained& few, std::size_t first_slot,
               double* baseline, int n_threads) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace clearwood
