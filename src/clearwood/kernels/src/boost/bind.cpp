// _core.boost: shallow boosted trees of all folds, grown in step and stopped together.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "boost/grow.hpp"
#include "common/bind.hpp"
#include "common/parallel.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

template <class T, std::size_t dimensions>
using Array = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

// Rounds that a fold grows before the folds are compared: one thread's block of work.
constexpr std::size_t rounds_of_block = 8;

template <class T>
T option(const nb::dict& options, const char* name) {
  return nb::cast<T>(options[name]);
}

struct Grown {
  std::vector<double> curve;
  std::size_t best = 0;
};

// Grows the folds until the pooled held-out loss has not fallen for `patience` rounds.
Grown in_step(std::vector<std::unique_ptr<BoostGrower>>& folds, double total_weight,
              std::size_t max_rounds, std::size_t patience, int n_threads) {
  Grown grown;
  std::vector<std::vector<double>> losses(folds.size());
  double start = 0.0;
  for (auto& fold : folds) start += fold->held_out_loss();
  grown.curve.push_back(start / total_weight);
  while (grown.curve.size() <= max_rounds && grown.curve.size() - 1 - grown.best < patience) {
    const std::size_t rounds = std::min(rounds_of_block, max_rounds + 1 - grown.curve.size());
    parallel_for(folds.size(), n_threads, [&](std::size_t k, int) {
      losses[k].resize(rounds);
      for (std::size_t r = 0; r < rounds; ++r) {
        folds[k]->grow();
        losses[k][r] = folds[k]->held_out_loss();
      }
    });
    for (std::size_t r = 0; r < rounds; ++r) {
      double pooled = 0.0;
      for (const auto& loss : losses) pooled += loss[r];
      grown.curve.push_back(pooled / total_weight);
      if (grown.curve.back() < grown.curve[grown.best]) grown.best = grown.curve.size() - 1;
    }
  }
  return grown;
}

nb::dict boost(Array<std::uint8_t, 2> bins, Array<std::int32_t, 1> n_bins, Array<float, 1> y,
               Array<float, 1> weight, Array<float, 3> offset, Array<std::int32_t, 1> fold_of_row,
               Array<std::int32_t, 1> categories, Array<std::uint8_t, 4> orders,
               Array<std::int8_t, 1> monotone, Array<std::uint8_t, 2> pairs,
               const nb::dict& options, int n_threads) {
  const std::size_t n_columns = bins.shape(0), n_rows = bins.shape(1);
  const std::size_t n_folds = offset.shape(0), n_outputs = offset.shape(1);
  require(n_bins.size() == n_columns && monotone.size() == n_columns &&
              y.size() == n_rows && weight.size() == n_rows && offset.shape(2) == n_rows &&
              fold_of_row.size() == n_rows && n_outputs > 0,
          "boost: shapes of rows, columns and folds disagree");
  require(orders.shape(0) == n_folds && orders.shape(1) == n_outputs &&
              orders.shape(2) == categories.size() && orders.shape(3) == 256,
          "boost: shape of the orders of categories");
  const bool some_pairs = pairs.size() > 0;
  require(!some_pairs || (pairs.shape(0) == n_columns && pairs.shape(1) == n_columns),
          "boost: shape of the pairs");
  for (std::size_t k = 0; k < categories.size(); ++k) {
    require(categories.data()[k] >= 0 &&
                static_cast<std::size_t>(categories.data()[k]) < n_columns,
            "boost: no such column of categories");
  }
  for (std::size_t j = 0; j < n_columns; ++j) {
    require(n_bins.data()[j] >= 0 && n_bins.data()[j] <= 255, "boost: at most 255 bins");
  }

  BoostOptions chosen;
  chosen.loss = static_cast<BoostLoss>(option<int>(options, "loss"));
  chosen.rate = option<float>(options, "rate");
  chosen.l2 = option<float>(options, "l2");
  chosen.least = option<float>(options, "least");
  chosen.bound = option<float>(options, "bound");
  chosen.max_leaves = option<int>(options, "max_leaves");
  chosen.max_depth = option<int>(options, "max_depth");
  chosen.order = option<int>(options, "order");
  chosen.drawn = option<bool>(options, "drawn");
  chosen.seed = option<std::uint64_t>(options, "seed");
  const auto max_rounds = option<std::size_t>(options, "max_rounds");
  const auto patience = option<std::size_t>(options, "patience");
  require(chosen.max_leaves >= 2 && chosen.max_leaves <= most_leaves && chosen.order >= 1 &&
              chosen.order <= most_columns_of_path && chosen.least > 0.0f && chosen.l2 >= 0.0f,
          "boost: options out of range");
  if (chosen.loss == BoostLoss::softmax) {
    for (std::size_t i = 0; i < n_rows; ++i) {
      require(y.data()[i] >= 0.0f && y.data()[i] < static_cast<float>(n_outputs),
              "boost: no such class");
    }
  } else {
    require(n_outputs == 1, "boost: one output for this loss");
  }

  const BoostData data{n_rows,      n_columns,     n_outputs,       bins.data(), n_bins.data(),
                       y.data(),    weight.data(), monotone.data(), some_pairs ? pairs.data() : nullptr};
  std::vector<BoostFold> parts(n_folds);
  double total_weight = 0.0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::int32_t held_out = fold_of_row.data()[i];
    require(held_out >= 0 && static_cast<std::size_t>(held_out) < n_folds, "boost: no such fold");
    total_weight += static_cast<double>(weight.data()[i]);
    for (std::size_t k = 0; k < n_folds; ++k) {
      auto& rows = static_cast<std::size_t>(held_out) == k ? parts[k].held_out : parts[k].kept;
      rows.push_back(static_cast<std::int32_t>(i));
    }
  }

  std::vector<std::unique_ptr<BoostGrower>> folds(n_folds);
  Grown grown;
  {
    nb::gil_scoped_release released;
    parallel_for(n_folds, n_threads, [&](std::size_t k, int) {
      parts[k].offset = offset.data() + k * n_outputs * n_rows;
      parts[k].orders = orders.data() + k * n_outputs * categories.size() * 256;
      parts[k].categories = categories.data();
      parts[k].n_categories = categories.size();
      folds[k] = std::make_unique<BoostGrower>(data, parts[k], chosen, static_cast<int>(k));
    });
    grown = in_step(folds, total_weight, max_rounds, patience, n_threads);
  }

  std::vector<std::int32_t> roots, left, right, feature, last;
  std::vector<std::uint8_t> missing_left;
  std::vector<double> value, cover;
  for (const auto& fold : folds) {
    const auto& starts = fold->roots();
    const auto& nodes = fold->nodes();
    const std::size_t n_trees = grown.best * n_outputs;
    const std::size_t end =
        n_trees < starts.size() ? static_cast<std::size_t>(starts[n_trees]) : nodes.size();
    const auto before = static_cast<std::int32_t>(left.size());
    for (std::size_t t = 0; t < n_trees; ++t) roots.push_back(before + starts[t]);
    for (std::size_t k = 0; k < end; ++k) {
      const BoostNode& node = nodes[k];
      const bool leaf = node.feature < 0;
      left.push_back(leaf ? -1 : before + node.left);
      right.push_back(leaf ? -1 : before + node.right);
      feature.push_back(node.feature);
      last.push_back(node.last);
      missing_left.push_back(node.missing_left);
      value.push_back(node.value);
      cover.push_back(node.cover);
    }
  }
  nb::dict result;
  result["curve"] = as_array(grown.curve);
  result["rounds"] = grown.best;
  result["roots"] = as_array(roots);
  result["left"] = as_array(left);
  result["right"] = as_array(right);
  result["feature"] = as_array(feature);
  result["last"] = as_array(last);
  result["missing_left"] = as_array(missing_left);
  result["value"] = as_array(value);
  result["cover"] = as_array(cover);
  return result;
}

}  // namespace

void bind_boost(nb::module_& m) {
  m.def("boost", &boost, nb::arg("bins").noconvert(), nb::arg("n_bins").noconvert(),
        nb::arg("y").noconvert(), nb::arg("weight").noconvert(), nb::arg("offset").noconvert(),
        nb::arg("fold_of_row").noconvert(), nb::arg("categories").noconvert(),
        nb::arg("orders").noconvert(), nb::arg("monotone").noconvert(),
        nb::arg("pairs").noconvert(), nb::arg("options"), nb::arg("n_threads"));
}

}  // namespace clearwood
