// The Python face of the kernels: argument types, the GIL, nothing else.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_core, m) { m.doc() = "Compiled loops on arrays."; }
