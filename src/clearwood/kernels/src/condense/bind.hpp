// Arrays in and out of the condensing kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "condense/store.hpp"

namespace clearwood::condense {

namespace nb = nanobind;

template <class T>
std::vector<T> vector(const nb::dict& from, const char* name) {
  using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  const Array given = nb::cast<Array>(from[name]);
  return std::vector<T>(given.data(), given.data() + given.size());
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t n = kept->size();
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {n}, owner);
}

void poll_signals();
Ensemble read_ensemble(const nb::dict& d);
Decision read_decision(const nb::dict& d, const Ensemble& ensemble);
Limits read_limits(const nb::dict& d);
nb::dict write(const Built& built, const Store& store, std::size_t n_outputs, bool values);

}  // namespace clearwood::condense
