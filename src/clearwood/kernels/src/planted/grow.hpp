// Random planted forests: families of trees, one tree for each small set of columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clearwood {

constexpr int most_planted_columns = 3;

enum class PlantedLoss { squared, logistic, softmax, poisson };

struct PlantedData {
  std::size_t n_rows, n_columns, n_outputs;
  const std::uint8_t* bins;    // columns by rows; 0 where missing
  const std::int32_t* n_bins;  // the largest bin of each column
  const double* y;             // class numbers for softmax
  const double* weight;
  const double* start;  // the score before any split, of each output
};

struct PlantedOptions {
  PlantedLoss loss = PlantedLoss::squared;
  int order = 2;
  int n_splits = 100;
  int n_thresholds = 10;
  int max_candidates = 50;
  double share = 0.4;  // of the candidates that are tried
  double least = 5.0;  // weight of the rows of a leaf
  double l2 = 1.0;
  double rate = 1.0;
  double bound = 0.0;  // of one step of the score
  bool bootstrap = true;
  std::uint64_t seed = 0;
};

// Bins of a column from low + 1 to high, and whether missing values are inside.
struct PlantedSide {
  std::int32_t column = -1, low = 0, high = 0;
  bool missing = true;
};

struct PlantedLeaf {
  int n_sides = 0;
  PlantedSide sides[most_planted_columns];
  std::vector<std::int32_t> rows;
  double weight = 0.0;
  std::vector<double> value;  // of each output
};

// Grows one family. `family` picks its draws, so that families may be grown in any order.
std::vector<PlantedLeaf> grow_planted(const PlantedData& data, const PlantedOptions& options,
                                      std::uint64_t family);

}  // namespace clearwood
