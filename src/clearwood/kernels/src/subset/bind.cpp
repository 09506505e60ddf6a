// _core.best_subsets: one thread.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "common/bind.hpp"
#include "subset/search.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Throws what a signal handler raised, KeyboardInterrupt as a rule.
void check_signals() {
  nb::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

std::uint64_t search(Matrix<const double> inverse, Vector<const double> coefficients, double rss,
                     Vector<const std::int32_t> group, std::size_t n_groups, std::size_t largest,
                     std::uint64_t max_nodes, Vector<double> best, Vector<std::uint64_t> sets) {
  const std::size_t n = coefficients.size();
  require(inverse.shape(0) == n && inverse.shape(1) == n && group.size() == n,
          "best_subsets: shapes of the input disagree");
  require(n_groups <= 64, "best_subsets: at most 64 groups");
  require(best.size() == largest + 1 && sets.size() == largest + 1,
          "best_subsets: shapes of the output disagree");
  for (std::size_t j = 0; j < n; ++j) {
    const std::int32_t before = j == 0 ? -1 : group.data()[j - 1];
    require(group.data()[j] == before || group.data()[j] == before + 1,
            "best_subsets: groups are not in order");
  }
  require(n == 0 ? n_groups == 0
                 : static_cast<std::size_t>(group.data()[n - 1]) + 1 == n_groups,
          "best_subsets: groups are not as many as stated");
  const SubsetProblem problem{inverse.data(), coefficients.data(), rss,    group.data(),
                              n,              n_groups,            largest};
  nb::gil_scoped_release released;
  return best_subsets(problem, max_nodes, best.data(), sets.data(), check_signals);
}

}  // namespace

void bind_subset(nb::module_& m) {
  m.def("best_subsets", &search, nb::arg("inverse").noconvert(),
        nb::arg("coefficients").noconvert(), nb::arg("rss"), nb::arg("group").noconvert(),
        nb::arg("n_groups"), nb::arg("largest"), nb::arg("max_nodes"), nb::arg("best").noconvert(),
        nb::arg("sets").noconvert());
}

}  // namespace clearwood
