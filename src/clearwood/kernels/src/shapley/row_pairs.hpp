// Interventional Shapley values of trees with long paths, for few rows: every explained row is
// compared with every background row at every leaf. The time grows with the product of the two, but
// a comparison is a fraction of a nanosecond and tables over all patterns are not needed.
#pragma once

#include <vector>

#include "shapley/interventional.hpp"

namespace clearwood {

// Whether the patterns of a tree fit the comparison and comparing takes less time than tables.
bool comparing_pays(const ForestArrays& forest, const Units& units, std::size_t tree,
                    std::size_t n_rows, std::size_t n_background);

// Adds the Shapley values of rows to out[(player * n_outputs + output) * pitch + row] and the mean
// over the background to baseline[output], for some of the trees.
void add_row_pairs(const ForestArrays& forest, const std::vector<std::size_t>& trees,
                   const WeightedRows& background, double total_weight, const Code* codes,
                   std::size_t n_rows, double* out, std::size_t pitch, double* baseline,
                   int n_threads);

}  // namespace clearwood
