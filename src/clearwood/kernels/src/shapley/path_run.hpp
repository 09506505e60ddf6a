// Path-dependent Shapley values of many rows: tables per tree, threads over blocks of rows.
#pragma once

#include <mutex>
#include <vector>

#include "shapley/path_tables.hpp"

namespace clearwood {

// The forest must outlive it. Tables for Shapley values that take little memory are made by the
// first call and kept; others are made for every call.
class PathDependent {
 public:
  explicit PathDependent(const ForestArrays& forest) : forest_(forest) {}

  // Adds to shapley[(player * n_outputs + output) * pitch + row] and, unless null, to pairs[(pair *
  // n_outputs + output) * pitch + row], pair = i * (i - 1) / 2 + j for players i > j, the full
  // interaction index of the pair. codes[column * n_rows + row].
  void add(const Code* codes, std::size_t n_rows, double* shapley, double* pairs,
           std::size_t pitch, int n_threads) const;

 private:
  const ForestArrays& forest_;
  mutable std::once_flag once_;
  mutable PathTables kept_;
};

}  // namespace clearwood
