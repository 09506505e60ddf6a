// _core.graph_closure, graph_reach, graph_cut: walks and cuts in graphs given as arrays.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <vector>

#include "common/bind.hpp"
#include "graph/flow.hpp"
#include "graph/reach.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Mask = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The arrays as neighbours, after a check that none of them leads outside.
Neighbours neighbours(const Ints& offsets, const Ints& targets) {
  require(offsets.size() > 0, "graph: there are no offsets");
  const std::size_t n = offsets.size() - 1;
  require(n < (1u << 30), "graph: there are too many nodes");
  require(offsets.data()[0] == 0 &&
              static_cast<std::size_t>(offsets.data()[n]) == targets.size(),
          "graph: offsets and targets disagree");
  for (std::size_t k = 0; k < n; ++k) {
    require(offsets.data()[k] <= offsets.data()[k + 1], "graph: offsets must not fall");
  }
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const std::int32_t to = targets.data()[k];
    require(to >= 0 && static_cast<std::size_t>(to) < n, "graph: a target is no node");
  }
  return {offsets.data(), targets.data(), n};
}

nb::object graph_closure(Ints offsets, Ints targets, Mask start) {
  const Neighbours next = neighbours(offsets, targets);
  require(start.size() == next.n, "graph_closure: the mask has another length than the graph");
  std::vector<std::uint8_t> seen(next.n);
  std::vector<std::int32_t> stack(next.n);
  closure(next, start.data(), seen.data(), stack.data());
  return as_array(seen);
}

nb::object graph_reach(Ints effect_offsets, Ints effects, Ints cause_offsets, Ints causes,
                       Mask start, Mask blocked, Mask opened, Mask inside, Mask wanted) {
  const Neighbours down = neighbours(effect_offsets, effects);
  const Neighbours up = neighbours(cause_offsets, causes);
  require(up.n == down.n, "graph_reach: effects and causes have different lengths");
  require(start.size() == up.n && blocked.size() == up.n && opened.size() == up.n &&
              inside.size() == up.n && wanted.size() == up.n,
          "graph_reach: a mask has another length than the graph");
  std::vector<std::uint8_t> seen(up.n);
  std::vector<std::int32_t> stack(2 * up.n);
  reach(down, up, start.data(), blocked.data(), opened.data(), inside.data(), wanted.data(),
        seen.data(), stack.data());
  return as_array(seen);
}

nb::object graph_cut(std::size_t n_nodes, Ints from, Ints to, Reals capacity, std::int32_t source,
                     std::int32_t sink) {
  const std::size_t n = from.size();
  require(to.size() == n && capacity.size() == n, "graph_cut: lengths disagree");
  require(n < (1u << 29) && n_nodes < (1u << 30), "graph_cut: the network is too large");
  const auto is_node = [&](std::int32_t k) {
    return k >= 0 && static_cast<std::size_t>(k) < n_nodes;
  };
  require(is_node(source) && is_node(sink) && source != sink, "graph_cut: no source or no sink");
  for (std::size_t k = 0; k < n; ++k) {
    require(is_node(from.data()[k]) && is_node(to.data()[k]), "graph_cut: an end is no node");
    require(capacity.data()[k] >= 0 && std::isfinite(capacity.data()[k]),
            "graph_cut: a capacity is negative or not finite");
  }
  return as_array(
      source_side(n_nodes, n, from.data(), to.data(), capacity.data(), source, sink));
}

}  // namespace

void bind_graph(nb::module_& m) {
  m.def("graph_closure", &graph_closure, nb::arg("offsets").noconvert(),
        nb::arg("targets").noconvert(), nb::arg("start").noconvert());
  m.def("graph_reach", &graph_reach, nb::arg("effect_offsets").noconvert(),
        nb::arg("effects").noconvert(), nb::arg("cause_offsets").noconvert(),
        nb::arg("causes").noconvert(), nb::arg("start").noconvert(),
        nb::arg("blocked").noconvert(), nb::arg("opened").noconvert(),
        nb::arg("inside").noconvert(), nb::arg("wanted").noconvert());
  m.def("graph_cut", &graph_cut, nb::arg("n_nodes"), nb::arg("from_").noconvert(),
        nb::arg("to").noconvert(), nb::arg("capacity").noconvert(), nb::arg("source"),
        nb::arg("sink"));
}

}  // namespace clearwood
