// _core.mars_forward: the search for hinges, threads over pairs of a term and a column.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "mars/forward.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::size_t forward(Matrix<const double> columns, Vector<const std::int32_t> levels,
                    Matrix<const double> response, Vector<const double> weight, int degree,
                    double threshold, double min_span, double end_span, std::size_t max_knots,
                    std::size_t n_parents, Vector<std::int32_t> parent, Vector<std::int32_t> column,
                    Vector<std::int32_t> kind, Vector<double> knot, Matrix<std::uint8_t> subset,
                    Matrix<double> basis, int n_threads) {
  const std::size_t n_columns = columns.shape(0), n_rows = columns.shape(1);
  const std::size_t max_terms = basis.shape(0);
  if (levels.size() != n_columns || response.shape(1) != n_rows || weight.size() != n_rows ||
      basis.shape(1) != n_rows || n_rows == 0 || max_terms == 0) {
    throw std::invalid_argument("mars_forward: shapes of the input disagree");
  }
  if (parent.size() != max_terms || column.size() != max_terms || kind.size() != max_terms ||
      knot.size() != max_terms || subset.shape(0) != max_terms) {
    throw std::invalid_argument("mars_forward: shapes of the output disagree");
  }
  for (std::size_t j = 0; j < n_columns; ++j) {
    const std::int32_t n_levels = levels.data()[j];
    if (n_levels < 0 || static_cast<std::size_t>(n_levels) >= subset.shape(1)) {
      throw std::invalid_argument("mars_forward: the subsets are too short for the levels");
    }
    if (n_levels == 0) continue;
    const double* codes = columns.data() + j * n_rows;
    for (std::size_t i = 0; i < n_rows; ++i) {
      if (!std::isnan(codes[i]) && !(codes[i] >= 0 && codes[i] < n_levels)) {
        throw std::invalid_argument("mars_forward: a code is not a level");
      }
    }
  }
  const MarsInput input{columns.data(), levels.data(), response.data(), weight.data(),
                        n_rows,         n_columns,     response.shape(0)};
  const MarsOptions options{max_terms, degree, threshold, min_span, end_span, max_knots, n_parents};
  const MarsOutput output{parent.data(), column.data(),   kind.data(), knot.data(),
                          subset.data(), subset.shape(1), basis.data()};
  nb::gil_scoped_release released;
  return mars_forward(input, options, output, n_threads);
}

}  // namespace

void bind_mars(nb::module_& m) {
  m.def("mars_forward", &forward, nb::arg("columns").noconvert(), nb::arg("levels").noconvert(),
        nb::arg("response").noconvert(), nb::arg("weight").noconvert(), nb::arg("degree"),
        nb::arg("threshold"), nb::arg("min_span"), nb::arg("end_span"), nb::arg("max_knots"),
        nb::arg("n_parents"), nb::arg("parent").noconvert(), nb::arg("column").noconvert(),
        nb::arg("kind").noconvert(), nb::arg("knot").noconvert(), nb::arg("subset").noconvert(),
        nb::arg("basis").noconvert(), nb::arg("n_threads"));
}

}  // namespace clearwood
