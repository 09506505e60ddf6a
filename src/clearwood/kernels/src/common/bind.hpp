// What bindings share: checks of their arguments, and vectors as arrays of NumPy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

namespace clearwood {

inline void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

template <class T>
nanobind::object as_array(const std::vector<T>& values) {
  auto owned = std::make_unique<T[]>(values.size());
  std::copy(values.begin(), values.end(), owned.get());
  T* data = owned.release();
  nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(data, {values.size()}, owner));
}

}  // namespace clearwood
