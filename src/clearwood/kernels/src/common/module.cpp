// The Python face of the kernels: every area binds its own functions in <area>/bind.cpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "common/dispatch.hpp"

namespace nb = nanobind;

namespace clearwood {

void bind_boost(nb::module_& m);
void bind_cart(nb::module_& m);
void bind_condense(nb::module_& m);
void bind_certify(nb::module_& m);
void bind_exponential(nb::module_& m);
void bind_parallel(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_lasso(nb::module_& m);
void bind_mars(nb::module_& m);
void bind_planted(nb::module_& m);
void bind_rank(nb::module_& m);
void bind_shapley(nb::module_& m);
void bind_subset(nb::module_& m);
void bind_ubjson(nb::module_& m);

static std::vector<std::string> supported_levels() {
  std::vector<std::string> names;
  for (int k = 0; k < level_count; ++k) {
    if (supported(static_cast<Level>(k))) names.emplace_back(level_names[k]);
  }
  return names;
}

static void use_level(const std::string& name) {
  for (int k = 0; k < level_count; ++k) {
    if (name == level_names[k] && supported(static_cast<Level>(k))) {
      set_level(static_cast<Level>(k));
      return;
    }
  }
  throw std::invalid_argument("no such instruction-set level on this machine: " + name);
}

}  // namespace clearwood

NB_MODULE(_core, m) {
  m.doc() = "Compiled loops on arrays.";
  m.def("supported_levels", &clearwood::supported_levels);
  m.def("use_level", &clearwood::use_level, nb::arg("name"));
  m.def("level", [] { return clearwood::level_names[static_cast<int>(clearwood::level())]; });
  clearwood::bind_boost(m);
  clearwood::bind_cart(m);
  clearwood::bind_condense(m);
  clearwood::bind_certify(m);
  clearwood::bind_exponential(m);
  clearwood::bind_parallel(m);
  clearwood::bind_forest(m);
  clearwood::bind_graph(m);
  clearwood::bind_lasso(m);
  clearwood::bind_mars(m);
  clearwood::bind_planted(m);
  clearwood::bind_rank(m);
  clearwood::bind_shapley(m);
  clearwood::bind_subset(m);
  clearwood::bind_ubjson(m);
}
