// _core.PackedForest: leaves and sums of rows, blocks of rows over threads.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <variant>
#include <vector>

#include "common/bind.hpp"
#include "common/parallel.hpp"
#include "forest/pack.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Space for one block of rows, one per worker.
template <class T, class Sum>
struct Scratch {
  std::vector<T> block;
  std::vector<std::uint32_t> categories;
  std::vector<std::int32_t> leaf;
  std::vector<Sum> total;
};

// Runs one pass: fills a block's columns, then gives each tree's leaves to `use`.
template <class Value, class T, class Sum>
class Pass {
 public:
  Pass(const PackedForest<T, Sum>& forest, const Matrix<Value>& values)
      : forest_(forest),
        values_(values.data()),
        row_stride_(values.stride(0)),
        column_stride_(values.stride(1)),
        n_rows_(values.shape(0)) {}

  std::size_t n_blocks() const { return block_count(n_rows_, forest_.rows_per_block); }

  template <class Start, class Use, class Finish>
  void run(int n_threads, Start start, Use use, Finish finish) const {
    std::vector<Scratch<T, Sum>> scratch(static_cast<std::size_t>(std::max(n_threads, 1)));
    parallel_for(n_blocks(), n_threads, [&](std::size_t block, int worker) {
      Scratch<T, Sum>& own = scratch[static_cast<std::size_t>(worker)];
      if (own.block.empty()) {
        own.block.assign(forest_.block_size, T(0));
        own.categories.assign(forest_.category_features.size() * forest_.rows_per_block, 0);
        own.leaf.assign(forest_.rows_per_block, 0);
        own.total.assign(forest_.rows_per_block * forest_.n_outputs, Sum(0));
      }
      const std::size_t first = block * forest_.rows_per_block;
      const std::size_t n = std::min(n_rows_ - first, forest_.rows_per_block);
      fill_columns(first, n, own);
      start(own);
      for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
        find_leaves(forest_.trees[t], n, own);
        use(t, first, n, own);
      }
      finish(first, n, own);
    });
  }

 private:
  const Value* at(std::size_t row, std::int32_t feature) const {
    return values_ + static_cast<std::ptrdiff_t>(row) * row_stride_ + feature * column_stride_;
  }

  // A lot of rows at a time: the cache lines of a row-major matrix serve all columns.
  void fill_columns(std::size_t first, std::size_t n, Scratch<T, Sum>& own) const {
    const auto fill = CLEARWOOD_DISPATCH(fill_column<Value, T>);
    const auto categories = CLEARWOOD_DISPATCH(fill_categories<Value, T>);
    for (std::size_t row = 0; row < n; row += rows_per_lot) {
      const std::size_t size = std::min(rows_per_lot, n - row);
      for (std::size_t k = 1; k < forest_.columns.size(); ++k) {
        const ColumnRule& rule = forest_.columns[k];
        fill(at(first + row, rule.feature), row_stride_, size, rule,
             own.block.data() + k * forest_.rows_per_block + row);
      }
      for (std::size_t k = 0; k < forest_.category_features.size(); ++k) {
        categories(at(first + row, forest_.category_features[k]), row_stride_, size,
                   own.categories.data() + k * forest_.rows_per_block + row);
      }
    }
  }

  void find_leaves(const typename PackedForest<T, Sum>::Tree& tree, std::size_t n,
                   Scratch<T, Sum>& own) const {
    const auto fill = CLEARWOOD_DISPATCH(fill_set<T>);
    for (std::size_t s = 0; s < tree.n_sets; ++s) {
      const SetRule& rule = forest_.sets[tree.first_set + s];
      fill(own.categories.data() + rule.column * forest_.rows_per_block, n, rule,
           own.block.data() + (forest_.first_set_column + s) * forest_.rows_per_block);
    }
    const std::size_t n_lots = block_count(n, rows_per_lot);
    if (tree.by_mask) {
      const auto leaves = CLEARWOOD_DISPATCH(leaves_by_mask<T>);
      leaves(own.block.data(), n_lots, forest_.mask_tree(tree), own.leaf.data());
    } else {
      const auto leaves = CLEARWOOD_DISPATCH(leaves_by_walk<T>);
      leaves(own.block.data(), n_lots, forest_.walk_tree(tree), own.leaf.data());
    }
  }

  const PackedForest<T, Sum>& forest_;
  const Value* values_;
  std::ptrdiff_t row_stride_, column_stride_;
  std::size_t n_rows_;
};

template <class Value, class T, class Sum>
void sum_leaves(const PackedForest<T, Sum>& forest, const Matrix<Value>& values,
                const double* base, double* out, int n_threads) {
  const auto add = CLEARWOOD_DISPATCH(add_leaves<Sum>);
  const auto add_vectors = CLEARWOOD_DISPATCH(add_leaf_vectors<Sum>);
  const std::size_t n_outputs = forest.n_outputs;
  const bool shared = forest.n_values == n_outputs && forest.trees[0].output < 0;
  // Totals lie by row where trees add to all outputs at once, else by output.
  const std::size_t row_step = shared ? n_outputs : 1;
  const std::size_t output_step = shared ? 1 : forest.rows_per_block;
  Pass<Value, T, Sum>(forest, values)
      .run(
          n_threads,
          [&](Scratch<T, Sum>& own) {
            for (std::size_t i = 0; i < forest.rows_per_block; ++i) {
              for (std::size_t k = 0; k < n_outputs; ++k) {
                own.total[i * row_step + k * output_step] = static_cast<Sum>(base[k]);
              }
            }
          },
          [&](std::size_t t, std::size_t, std::size_t n, Scratch<T, Sum>& own) {
            const auto& tree = forest.trees[t];
            const Sum* value = &forest.value[tree.first_leaf * forest.n_values];
            if (shared) {
              add_vectors(value, own.leaf.data(), n, n_outputs, own.total.data());
            } else {
              const auto output = static_cast<std::size_t>(tree.output);
              add(value, own.leaf.data(), n, own.total.data() + output * output_step);
            }
          },
          [&](std::size_t first, std::size_t n, Scratch<T, Sum>& own) {
            for (std::size_t i = 0; i < n; ++i) {
              for (std::size_t k = 0; k < n_outputs; ++k) {
                out[(first + i) * n_outputs + k] = own.total[i * row_step + k * output_step];
              }
            }
          });
}

template <class Value, class T, class Sum>
void find_leaves(const PackedForest<T, Sum>& forest, const Matrix<Value>& values,
                 std::int32_t* out, int n_threads) {
  const std::size_t n_trees = forest.trees.size();
  Pass<Value, T, Sum>(forest, values)
      .run(
          n_threads, [](Scratch<T, Sum>&) {},
          [&](std::size_t t, std::size_t first, std::size_t n, Scratch<T, Sum>& own) {
            const std::int32_t* node = &forest.node_of[forest.trees[t].first_leaf];
            for (std::size_t i = 0; i < n; ++i) {
              out[(first + i) * n_trees + t] = node[own.leaf[i]];
            }
          },
          [](std::size_t, std::size_t, Scratch<T, Sum>&) {});
}

// What Python holds: a packed forest of one of four pairs of types.
class Packed {
 public:
  Packed(Vector<std::int32_t> roots, Vector<std::int32_t> left, Vector<std::int32_t> right,
         Vector<std::int32_t> feature, Vector<double> threshold, Vector<bool> default_left,
         Vector<bool> zero_missing, Vector<std::int32_t> category_start,
         Vector<std::int32_t> category_size, Vector<std::uint32_t> category_words,
         Vector<bool> unseen_left, Matrix<double> value, Vector<std::int32_t> tree_output,
         std::size_t n_features, std::size_t n_outputs, bool compare_float32, bool add_float32) {
    const std::size_t n_nodes = left.size();
    require(roots.size() > 0 && tree_output.size() == roots.size(), "PackedForest: no trees");
    for (const std::size_t size :
         {right.size(), feature.size(), threshold.size(), default_left.size(), zero_missing.size(),
          category_start.size(), category_size.size(), unseen_left.size(), value.shape(0)}) {
      require(size == n_nodes, "PackedForest: arrays of nodes differ in length");
    }
    const std::size_t n_values = tree_output.data()[0] < 0 ? n_outputs : 1;
    require(value.shape(1) == n_values && value.stride(1) == 1 &&
                value.stride(0) == static_cast<std::int64_t>(n_values),
            "PackedForest: values do not fit the outputs");
    const ForestArrays arrays{
        .n_trees = roots.size(),
        .n_nodes = n_nodes,
        .n_features = n_features,
        .n_outputs = n_outputs,
        .roots = roots.data(),
        .left = left.data(),
        .right = right.data(),
        .feature = feature.data(),
        .threshold = threshold.data(),
        .default_left = default_left.data(),
        .zero_missing = zero_missing.data(),
        .category_start = category_start.data(),
        .category_size = category_size.data(),
        .category_words = category_words.data(),
        .unseen_left = unseen_left.data(),
        .value = value.data(),
        .tree_output = tree_output.data(),
    };
    nb::gil_scoped_release released;
    if (compare_float32 && add_float32) {
      forest_ = std::make_unique<PackedForest<float, float>>(arrays);
    } else if (compare_float32) {
      forest_ = std::make_unique<PackedForest<float, double>>(arrays);
    } else if (add_float32) {
      forest_ = std::make_unique<PackedForest<double, float>>(arrays);
    } else {
      forest_ = std::make_unique<PackedForest<double, double>>(arrays);
    }
  }

  template <class Value>
  void sum(Matrix<Value> values, Vector<double> base, Output<double> out, int n_threads) const {
    std::visit(
        [&](const auto& forest) {
          require(values.shape(1) == forest->n_features && out.shape(0) == values.shape(0) &&
                      out.shape(1) == forest->n_outputs && base.size() == forest->n_outputs,
                  "PackedForest.sum: shapes of values, base and out disagree");
          nb::gil_scoped_release released;
          sum_leaves(*forest, values, base.data(), out.data(), n_threads);
        },
        forest_);
  }

  template <class Value>
  void leaves(Matrix<Value> values, Output<std::int32_t> out, int n_threads) const {
    std::visit(
        [&](const auto& forest) {
          require(values.shape(1) == forest->n_features && out.shape(0) == values.shape(0) &&
                      out.shape(1) == forest->trees.size(),
                  "PackedForest.leaves: shapes of values and out disagree");
          nb::gil_scoped_release released;
          find_leaves(*forest, values, out.data(), n_threads);
        },
        forest_);
  }

 private:
  template <class T, class Sum>
  using Owned = std::unique_ptr<PackedForest<T, Sum>>;
  std::variant<Owned<float, float>, Owned<float, double>, Owned<double, float>,
               Owned<double, double>>
      forest_;
};

template <class Value>
void define(nb::class_<Packed>& packed) {
  packed.def("sum", &Packed::sum<Value>, nb::arg("values").noconvert(),
             nb::arg("base").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"));
  packed.def("leaves", &Packed::leaves<Value>, nb::arg("values").noconvert(),
             nb::arg("out").noconvert(), nb::arg("n_threads"));
}

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<Packed> packed(m, "PackedForest");
  packed.def(
      nb::init<Vector<std::int32_t>, Vector<std::int32_t>, Vector<std::int32_t>,
               Vector<std::int32_t>, Vector<double>, Vector<bool>, Vector<bool>,
               Vector<std::int32_t>, Vector<std::int32_t>, Vector<std::uint32_t>, Vector<bool>,
               Matrix<double>, Vector<std::int32_t>, std::size_t, std::size_t, bool, bool>(),
      nb::arg("roots").noconvert(), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
      nb::arg("feature").noconvert(), nb::arg("threshold").noconvert(),
      nb::arg("default_left").noconvert(), nb::arg("zero_missing").noconvert(),
      nb::arg("category_start").noconvert(), nb::arg("category_size").noconvert(),
      nb::arg("category_words").noconvert(), nb::arg("unseen_left").noconvert(),
      nb::arg("value").noconvert(), nb::arg("tree_output").noconvert(), nb::arg("n_features"),
      nb::arg("n_outputs"), nb::arg("compare_float32"), nb::arg("add_float32"));
  define<float>(packed);
  define<double>(packed);
}

}  // namespace clearwood
