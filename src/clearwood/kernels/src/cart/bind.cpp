// _core.grow_cart, _core.cart_leaves and _core.weakest_links.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cart/cart.hpp"
#include "common/bind.hpp"
#include "common/parallel.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void poll() {
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Field `get(item)` of every item, as an array of Python's own.
template <class T, class Items, class Get>
nb::object column_of(const Items& items, Get get) {
  std::vector<T> values;
  values.reserve(items.size());
  for (const auto& item : items) values.push_back(static_cast<T>(get(item)));
  return as_array(values);
}

// The question of nodes and of surrogates under the same names.
template <class Items>
void add_questions(const Items& items, nb::dict& into) {
  using Item = typename Items::value_type;
  into["column"] = column_of<std::int32_t>(items, [](const Item& i) { return i.question.column; });
  into["threshold"] = column_of<double>(items, [](const Item& i) { return i.question.threshold; });
  into["first_word"] =
      column_of<std::int32_t>(items, [](const Item& i) { return i.question.first_word; });
  into["n_words"] = column_of<std::int32_t>(items, [](const Item& i) { return i.question.n_words; });
}

CartCriterion criterion_of(const std::string& name) {
  if (name == "squared") return CartCriterion::squared;
  if (name == "poisson") return CartCriterion::poisson;
  if (name == "tweedie") return CartCriterion::tweedie;
  if (name == "gamma") return CartCriterion::gamma;
  if (name == "gini") return CartCriterion::gini;
  require(name == "entropy", "no such criterion");
  return CartCriterion::entropy;
}

nb::dict grow(Matrix<double> columns, Matrix<std::int32_t> order, Vector<std::int32_t> n_levels,
              Vector<std::int8_t> monotone, Vector<bool> surrogates, Vector<double> target,
              Vector<double> weight, Vector<double> cover, std::string criterion,
              Matrix<double> costs, std::size_t n_classes, double prior_mean, double prior_weight,
              std::int32_t max_depth, std::int32_t min_rows, std::int32_t max_surrogates,
              std::int32_t max_subset_levels) {
  const std::size_t n_columns = columns.shape(0), n_rows = columns.shape(1);
  require(order.shape(0) == n_columns && order.shape(1) == n_rows, "order has another shape");
  require(n_levels.shape(0) == n_columns && monotone.shape(0) == n_columns &&
              surrogates.shape(0) == n_columns,
          "one entry for each column");
  require(target.shape(0) == n_rows && weight.shape(0) == n_rows && cover.shape(0) == n_rows,
          "one entry for each row");
  require(costs.shape(0) == 0 || (costs.shape(0) == n_classes && costs.shape(1) == n_classes),
          "one cost for each pair of classes");
  require(max_subset_levels <= 20, "too many subsets");
  const CartRows rows{n_rows,          n_columns,         columns.data(),    order.data(),
                      n_levels.data(), monotone.data(),   surrogates.data(), target.data(),
                      weight.data(),   cover.data()};
  const CartLimits limits{criterion_of(criterion),
                          n_classes,
                          costs.shape(0) ? costs.data() : nullptr,
                          prior_mean,
                          prior_weight,
                          max_depth,
                          min_rows,
                          max_surrogates,
                          max_subset_levels};
  std::size_t n_sampled = 0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    n_sampled += cover.data()[i] > 0.0;
    if (n_classes) require(target.data()[i] >= 0 && target.data()[i] < n_classes, "unknown class");
    const bool is_gamma = limits.criterion == CartCriterion::gamma && cover.data()[i] > 0.0;
    require(!is_gamma || target.data()[i] > 0.0, "a target is not above zero");
  }
  require(n_sampled > 0, "no row has a weight");
  std::vector<bool> is_met;
  for (std::size_t j = 0; j < n_columns; ++j) {
    is_met.assign(n_rows, false);
    for (std::size_t i = 0; i < n_rows; ++i) {
      const double value = columns.data()[j * n_rows + i];
      const std::int32_t row = order.data()[j * n_rows + i];
      if (n_levels.data()[j] > 0) {
        require(!(value < 0.0) && !(value >= n_levels.data()[j]), "unknown category");
      } else {
        require(row >= 0 && static_cast<std::size_t>(row) < n_rows, "unknown row");
        require(!is_met[static_cast<std::size_t>(row)], "a row is met twice");
        is_met[static_cast<std::size_t>(row)] = true;
      }
    }
  }
  CartTree tree;
  {
    nb::gil_scoped_release released;
    tree = grow_cart(rows, limits, poll);
  }
  nb::dict nodes, others;
  add_questions(tree.nodes, nodes);
  nodes["left"] = column_of<std::int32_t>(tree.nodes, [](const CartNode& i) { return i.left; });
  nodes["right"] = column_of<std::int32_t>(tree.nodes, [](const CartNode& i) { return i.right; });
  nodes["missing_left"] =
      column_of<bool>(tree.nodes, [](const CartNode& i) { return i.missing_left; });
  nodes["gain"] = column_of<double>(tree.nodes, [](const CartNode& i) { return i.gain; });
  nodes["risk"] = column_of<double>(tree.nodes, [](const CartNode& i) { return i.risk; });
  nodes["weight"] = column_of<double>(tree.nodes, [](const CartNode& i) { return i.weight; });
  nodes["cover"] = column_of<double>(tree.nodes, [](const CartNode& i) { return i.cover; });
  nodes["n_rows"] = column_of<std::int32_t>(tree.nodes, [](const CartNode& i) { return i.n_rows; });
  nodes["first_surrogate"] =
      column_of<std::int32_t>(tree.nodes, [](const CartNode& i) { return i.first_surrogate; });
  nodes["n_surrogates"] =
      column_of<std::int32_t>(tree.nodes, [](const CartNode& i) { return i.n_surrogates; });
  nodes["value"] = column_of<double>(tree.values, [](double value) { return value; });
  add_questions(tree.surrogates, others);
  others["flipped"] =
      column_of<bool>(tree.surrogates, [](const CartSurrogate& i) { return i.question.flipped; });
  others["agreement"] =
      column_of<double>(tree.surrogates, [](const CartSurrogate& i) { return i.agreement; });
  others["gain"] = column_of<double>(tree.surrogates, [](const CartSurrogate& i) { return i.gain; });
  nb::dict all;
  all["nodes"] = nodes;
  all["surrogates"] = others;
  all["words"] = column_of<std::uint32_t>(tree.words, [](std::uint32_t word) { return word; });
  return all;
}

// Arrays of questions from a dictionary, as `grow` returns them; they may come from a file.
class Questions {
 public:
  Questions(const nb::dict& held, std::size_t n_columns, std::size_t n_words, bool are_nodes)
      : column_(nb::cast<Vector<std::int32_t>>(held["column"])),
        threshold_(nb::cast<Vector<double>>(held["threshold"])),
        first_word_(nb::cast<Vector<std::int32_t>>(held["first_word"])),
        n_words_(nb::cast<Vector<std::int32_t>>(held["n_words"])) {
    const std::size_t n = size();
    require(threshold_.shape(0) == n && first_word_.shape(0) == n && n_words_.shape(0) == n,
            "questions of different lengths");
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t column = column_.data()[i], first = first_word_.data()[i];
      require((are_nodes && column == -1) ||
                  (column >= 0 && static_cast<std::size_t>(column) < n_columns),
              "unknown column");
      require(first < 0 || (n_words_.data()[i] >= 0 &&
                            static_cast<std::size_t>(first) +
                                    static_cast<std::size_t>(n_words_.data()[i]) <=
                                n_words),
              "a set of categories reaches past the words");
    }
  }
  std::size_t size() const { return column_.shape(0); }
  CartQuestion at(std::size_t i) const {
    return {column_.data()[i], threshold_.data()[i], first_word_.data()[i], n_words_.data()[i],
            false};
  }

 private:
  Vector<std::int32_t> column_;
  Vector<double> threshold_;
  Vector<std::int32_t> first_word_, n_words_;
};

void leaves(Matrix<double> values, nb::dict nodes, nb::dict others, Vector<std::uint32_t> words,
            Output<std::int32_t> out) {
  const std::size_t n_columns = values.shape(1);
  const Questions questions(nodes, n_columns, words.shape(0), true);
  const Questions surrogates(others, n_columns, words.shape(0), false);
  const auto left = nb::cast<Vector<std::int32_t>>(nodes["left"]);
  const auto right = nb::cast<Vector<std::int32_t>>(nodes["right"]);
  const auto missing_left = nb::cast<Vector<bool>>(nodes["missing_left"]);
  const auto first = nb::cast<Vector<std::int32_t>>(nodes["first_surrogate"]);
  const auto count = nb::cast<Vector<std::int32_t>>(nodes["n_surrogates"]);
  const auto flipped = nb::cast<Vector<bool>>(others["flipped"]);
  const std::size_t n = questions.size();
  require(n > 0 && left.shape(0) == n && right.shape(0) == n && missing_left.shape(0) == n &&
              first.shape(0) == n && count.shape(0) == n && flipped.shape(0) == surrogates.size(),
          "nodes of different lengths");
  require(out.shape(0) == values.shape(0), "one leaf for each row");
  for (std::size_t i = 0; i < n; ++i) {
    if (left.data()[i] < 0) continue;
    for (const std::int32_t child : {left.data()[i], right.data()[i]}) {
      require(child > static_cast<std::int32_t>(i) && static_cast<std::size_t>(child) < n,
              "children come after their parent");
    }
    require(questions.at(i).column >= 0, "a node without a column");
    require(first.data()[i] >= 0 && count.data()[i] >= 0 &&
                static_cast<std::size_t>(first.data()[i]) +
                        static_cast<std::size_t>(count.data()[i]) <=
                    surrogates.size(),
            "surrogates that are not there");
  }
  nb::gil_scoped_release released;
  constexpr std::size_t block_size = 4096;
  const std::size_t n_rows = values.shape(0);
  parallel_for(block_count(n_rows, block_size), 1, [&](std::size_t block, int) {
    for (std::size_t row = block * block_size; row < std::min(n_rows, (block + 1) * block_size);
         ++row) {
      const double* value = values.data() + row * n_columns;
      std::size_t node = 0;
      while (left.data()[node] >= 0) {
        const CartQuestion question = questions.at(node);
        int side = cart_side(question, words.data(), value[question.column]);
        for (std::int32_t s = 0; s < count.data()[node] && side < 0; ++s) {
          const auto at = static_cast<std::size_t>(first.data()[node] + s);
          CartQuestion other = surrogates.at(at);
          other.flipped = flipped.data()[at];
          side = cart_side(other, words.data(), value[other.column]);
        }
        if (side < 0) side = missing_left.data()[node];
        node = static_cast<std::size_t>(side ? left.data()[node] : right.data()[node]);
      }
      out.data()[row] = static_cast<std::int32_t>(node);
    }
  });
}

void links(Vector<std::int32_t> left, Vector<std::int32_t> right, Vector<double> risk,
           Output<double> out) {
  const std::size_t n = left.shape(0);
  require(n > 0 && right.shape(0) == n && risk.shape(0) == n && out.shape(0) == n,
          "nodes of different lengths");
  for (std::size_t i = 0; i < n; ++i) {
    require(std::isfinite(risk.data()[i]), "a risk is not a number");
    if (left.data()[i] < 0) continue;
    for (const std::int32_t child : {left.data()[i], right.data()[i]}) {
      require(child > static_cast<std::int32_t>(i) && static_cast<std::size_t>(child) < n,
              "children come after their parent");
    }
  }
  nb::gil_scoped_release released;
  weakest_links(n, left.data(), right.data(), risk.data(), out.data());
}

}  // namespace

void bind_cart(nb::module_& m) {
  using nb::arg;
  m.def("grow_cart", &grow, arg("columns").noconvert(), arg("order").noconvert(),
        arg("n_levels").noconvert(), arg("monotone").noconvert(), arg("surrogates").noconvert(),
        arg("target").noconvert(), arg("weight").noconvert(), arg("cover").noconvert(),
        arg("criterion"), arg("costs").noconvert(), arg("n_classes"), arg("prior_mean"),
        arg("prior_weight"), arg("max_depth"), arg("min_rows"), arg("max_surrogates"),
        arg("max_subset_levels"));
  m.def("cart_leaves", &leaves, arg("values").noconvert(), arg("nodes"), arg("surrogates"),
        arg("words").noconvert(), arg("out").noconvert());
  m.def("weakest_links", &links, arg("left").noconvert(), arg("right").noconvert(),
        arg("risk").noconvert(), arg("out").noconvert());
}

}  // namespace clearwood
