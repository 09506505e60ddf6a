// _core.plant: families of planted trees, threads over families.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "common/bind.hpp"
#include "common/parallel.hpp"
#include "planted/grow.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

template <class T, std::size_t dimensions>
using Array = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

nb::dict plant(Array<std::uint8_t, 2> bins, Array<std::int32_t, 1> n_bins, Array<double, 1> y,
               Array<double, 1> weight, Array<double, 1> start, std::size_t n_families,
               const nb::dict& options, int n_threads) {
  const std::size_t n_columns = bins.shape(0), n_rows = bins.shape(1), n_outputs = start.size();
  require(n_bins.size() == n_columns && y.size() == n_rows && weight.size() == n_rows &&
              n_outputs > 0 && n_rows > 0,
          "plant: shapes of rows and columns disagree");
  PlantedOptions chosen;
  chosen.loss = static_cast<PlantedLoss>(nb::cast<int>(options["loss"]));
  chosen.order = nb::cast<int>(options["order"]);
  chosen.n_splits = nb::cast<int>(options["n_splits"]);
  chosen.n_thresholds = nb::cast<int>(options["n_thresholds"]);
  chosen.max_candidates = nb::cast<int>(options["max_candidates"]);
  chosen.share = nb::cast<double>(options["share"]);
  chosen.least = nb::cast<double>(options["least"]);
  chosen.l2 = nb::cast<double>(options["l2"]);
  chosen.rate = nb::cast<double>(options["rate"]);
  chosen.bound = nb::cast<double>(options["bound"]);
  chosen.bootstrap = nb::cast<bool>(options["bootstrap"]);
  chosen.seed = nb::cast<std::uint64_t>(options["seed"]);
  require(chosen.order >= 1 && chosen.order <= most_planted_columns && chosen.least > 0.0 &&
              chosen.l2 >= 0.0,
          "plant: options out of range");
  require(chosen.loss == PlantedLoss::softmax || n_outputs == 1,
          "plant: one output for this loss");
  for (std::size_t j = 0; j < n_columns; ++j) {
    const std::int32_t most = n_bins.data()[j];
    require(most >= 0 && most <= 255, "plant: at most 255 bins");
    const std::uint8_t* column = bins.data() + j * n_rows;
    for (std::size_t i = 0; i < n_rows; ++i) {
      require(column[i] <= most, "plant: a bin beyond the largest");
    }
  }

  const PlantedData data{n_rows,      n_columns,     n_outputs,   bins.data(),
                         n_bins.data(), y.data(), weight.data(), start.data()};
  std::vector<std::vector<PlantedLeaf>> families(n_families);
  {
    nb::gil_scoped_release released;
    parallel_for(n_families, n_threads, [&](std::size_t k, int) {
      families[k] = grow_planted(data, chosen, k);
      for (PlantedLeaf& leaf : families[k]) std::vector<std::int32_t>().swap(leaf.rows);
    });
  }

  std::vector<std::int32_t> family, column, low, high;
  std::vector<std::uint8_t> missing;
  std::vector<double> value, cover;
  for (std::size_t k = 0; k < n_families; ++k) {
    for (const PlantedLeaf& leaf : families[k]) {
      family.push_back(static_cast<std::int32_t>(k));
      cover.push_back(leaf.weight);
      value.insert(value.end(), leaf.value.begin(), leaf.value.end());
      for (int s = 0; s < most_planted_columns; ++s) {
        const bool is_used = s < leaf.n_sides;
        column.push_back(is_used ? leaf.sides[s].column : -1);
        low.push_back(is_used ? leaf.sides[s].low : 0);
        high.push_back(is_used ? leaf.sides[s].high : 0);
        missing.push_back(is_used && leaf.sides[s].missing ? 1 : 0);
      }
    }
  }
  nb::dict result;
  result["family"] = as_array(family);
  result["column"] = as_array(column);
  result["low"] = as_array(low);
  result["high"] = as_array(high);
  result["missing"] = as_array(missing);
  result["value"] = as_array(value);
  result["cover"] = as_array(cover);
  return result;
}

}  // namespace

void bind_planted(nb::module_& m) {
  m.def("plant", &plant, nb::arg("bins").noconvert(), nb::arg("n_bins").noconvert(),
        nb::arg("y").noconvert(), nb::arg("weight").noconvert(), nb::arg("start").noconvert(),
        nb::arg("n_families"), nb::arg("options"), nb::arg("n_threads"));
}

}  // namespace clearwood
