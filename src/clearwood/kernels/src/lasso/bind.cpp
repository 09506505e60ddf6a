// _core.lasso_path: threads over folds.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <stdexcept>

#include "lasso/path.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::size_t path(Vector<const std::int64_t> start, Vector<const std::uint32_t> rows,
                 Vector<const double> scale, Matrix<const double> dense,
                 Matrix<const double> response, Vector<const double> weight,
                 Vector<const std::int32_t> fold, std::size_t n_folds, int family, double ratio,
                 std::size_t patience, bool one_error, double tolerance, Vector<double> penalties,
                 Matrix<double> losses, Vector<double> intercept, Matrix<double> coefficients,
                 int n_threads) {
  const std::size_t n_rows = weight.size(), n_sparse = scale.size(), n_dense = dense.shape(0);
  const std::size_t n_classes = response.shape(0);
  if (start.size() != n_sparse + 1 || dense.shape(1) != n_rows || response.shape(1) != n_rows ||
      fold.size() != n_rows || n_rows == 0 || n_classes == 0) {
    throw std::invalid_argument("lasso_path: shapes of the input disagree");
  }
  if (losses.shape(0) != n_folds || losses.shape(1) != penalties.size() || penalties.size() == 0 ||
      intercept.size() != n_classes || coefficients.shape(0) != n_classes ||
      coefficients.shape(1) != n_sparse + n_dense) {
    throw std::invalid_argument("lasso_path: shapes of the output disagree");
  }
  if (family < 0 || family > 3 || (family < 3 && n_classes != 1)) {
    throw std::invalid_argument("lasso_path: no such family for these responses");
  }
  if (start.data()[0] != 0 || start.data()[n_sparse] != static_cast<std::int64_t>(rows.size()) ||
      !std::is_sorted(start.data(), start.data() + n_sparse + 1) ||
      std::any_of(rows.data(), rows.data() + rows.size(),
                  [&](std::uint32_t row) { return row >= n_rows; })) {
    throw std::invalid_argument("lasso_path: rows of the sparse columns are out of range");
  }
  const LassoColumns columns{start.data(), rows.data(), scale.data(), n_sparse,
                             dense.data(), n_dense,     n_rows};
  const LassoProblem problem{columns,     response.data(), weight.data(),
                             fold.data(), n_folds,         n_classes,
                             static_cast<LassoFamily>(family)};
  const LassoOptions options{penalties.size(), ratio, patience, one_error, tolerance};
  const LassoOutput output{penalties.data(), losses.data(), intercept.data(), coefficients.data()};
  nb::gil_scoped_release released;
  return lasso_path(problem, options, output, n_threads);
}

}  // namespace

void bind_lasso(nb::module_& m) {
  m.def("lasso_path", &path, nb::arg("start").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("scale").noconvert(), nb::arg("dense").noconvert(),
        nb::arg("response").noconvert(), nb::arg("weight").noconvert(),
        nb::arg("fold").noconvert(), nb::arg("n_folds"), nb::arg("family"), nb::arg("ratio"),
        nb::arg("patience"), nb::arg("one_error"), nb::arg("tolerance"),
        nb::arg("penalties").noconvert(), nb::arg("losses").noconvert(),
        nb::arg("intercept").noconvert(), nb::arg("coefficients").noconvert(),
        nb::arg("n_threads"));
}

}  // namespace clearwood
