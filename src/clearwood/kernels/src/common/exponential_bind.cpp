// _core.exponential: exp as the C library has it, for models whose own library calls that.
//
// NumPy has vector code of its own for exp, whose last bit may differ from the C library's.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace nb = nanobind;

namespace clearwood {
namespace {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
void exponential(In<T> values, Out<T> out) {
  const std::size_t n = values.shape(0);
  if (out.shape(0) != n) throw std::invalid_argument("values and out differ in length");
  const T* from = values.data();
  T* to = out.data();
  nb::gil_scoped_release unlocked;
  for (std::size_t i = 0; i < n; ++i) to[i] = std::exp(from[i]);
}

}  // namespace

void bind_exponential(nb::module_& m) {
  m.def("exponential", &exponential<float>, nb::arg("values").noconvert(),
        nb::arg("out").noconvert());
  m.def("exponential", &exponential<double>, nb::arg("values").noconvert(),
        nb::arg("out").noconvert());
}

}  // namespace clearwood
