// Path-dependent Shapley values of many rows: tables per tree, threads over blocks of rows.
#pragma once

#include "shapley/forest.hpp"

namespace clearwood {

// Adds to shapley[(player * n_outputs + output) * pitch + row] and, unless null, to pairs[(pair *
// n_outputs + output) * pitch + row], pair = i * (i - 1) / 2 + j for players i > j, the full
// interaction index of the pair. codes[column * n_rows + row].
void path_dependent(const ForestArrays& forest, const Code* codes, std::size_t n_rows,
                    double* shapley, double* pairs, std::size_t pitch, int n_threads);

}  // namespace clearwood
