// _core.certify: is a diagram in ranks equal to an ensemble in ranks?
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "certify/certify.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

using namespace certify;

template <class T>
std::vector<T> read(const nb::dict& from, const char* name) {
  using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
  const auto array = nb::cast<Array>(from[name], false);
  return std::vector<T>(array.data(), array.data() + array.size());
}

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("certify: ") + what);
}

Nodes read_nodes(const nb::dict& from) {
  Nodes nodes;
  nodes.feature = read<std::int32_t>(from, "feature");
  nodes.cut = read<std::int32_t>(from, "cut");
  nodes.default_left = read<std::int32_t>(from, "default_left");
  nodes.left = read<std::int32_t>(from, "left");
  nodes.right = read<std::int32_t>(from, "right");
  const std::size_t n = nodes.size();
  require(n > 0 && nodes.cut.size() == n && nodes.default_left.size() == n &&
              nodes.left.size() == n && nodes.right.size() == n,
          "arrays of nodes disagree");
  return nodes;
}

// Children come after their parents, so every walk ends; ranks and sets are within range.
void check_nodes(const Nodes& nodes, const Columns& columns, const std::vector<std::size_t>& words) {
  const auto n = static_cast<std::int64_t>(nodes.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t j = nodes.feature[std::size_t(i)];
    if (j < 0) continue;
    require(std::size_t(j) < columns.is_set.size(), "a node asks about no column");
    const std::int64_t left = nodes.left[std::size_t(i)], right = nodes.right[std::size_t(i)];
    require(left > i && left < n && right > i && right < n, "a child is out of range");
    const std::int32_t cut = nodes.cut[std::size_t(i)];
    if (columns.is_set[std::size_t(j)]) {
      require(cut >= 0 && std::size_t(cut) < words.size(), "a node asks for no set");
      require(words[std::size_t(cut)] == (std::size_t(columns.size[std::size_t(j)]) + 63) / 64,
              "a set does not fit its column");
    } else {
      require(cut >= 0 && cut <= columns.size[std::size_t(j)], "a cut is out of range");
    }
  }
}

Ensemble read_ensemble(const nb::dict& from) {
  Ensemble e;
  e.nodes = read_nodes(from);
  e.roots = read<std::int32_t>(from, "roots");
  e.tree_output = read<std::int32_t>(from, "tree_output");
  e.node_output = read<std::int32_t>(from, "node_output");
  e.gain = read<double>(from, "gain");
  e.gain_low = read<std::int64_t>(from, "gain_low");
  e.gain_high = read<std::int64_t>(from, "gain_high");
  e.base = read<double>(from, "base");
  e.divisor = read<double>(from, "divisor");
  e.weight = read<double>(from, "weight");
  e.base_low = read<std::int64_t>(from, "base_low");
  e.base_high = read<std::int64_t>(from, "base_high");
  e.single = nb::cast<bool>(from["single"]);
  e.divides = nb::cast<bool>(from["divides"]);
  const std::size_t n = e.nodes.size(), outputs = e.n_outputs(), trees = e.n_trees();
  e.columns = e.gain.size() / n;
  require(outputs > 0 && trees > 0 && e.columns > 0 && e.gain.size() == n * e.columns &&
              e.gain_low.size() == e.gain.size() && e.gain_high.size() == e.gain.size() &&
              e.divisor.size() == outputs && e.base_low.size() == outputs &&
              e.base_high.size() == outputs && e.tree_output.size() == trees &&
              e.weight.size() == trees && e.node_output.size() == n,
          "arrays of the ensemble disagree");
  for (std::size_t t = 0; t < trees; ++t) {
    require(e.roots[t] >= 0 && std::size_t(e.roots[t]) < n, "a root is out of range");
    require(e.tree_output[t] < std::int32_t(outputs) &&
                (e.tree_output[t] >= 0 || e.columns == outputs),
            "a tree's output is out of range");
  }
  for (std::size_t i = 0; i < n; ++i) {
    require(e.node_output[i] < std::int32_t(outputs) &&
                (e.node_output[i] >= 0 || e.columns == outputs),
            "a node's output is out of range");
  }
  return e;
}

Claim read_claim(const nb::dict& from, std::size_t outputs) {
  Claim c;
  c.nodes = read_nodes(from);
  c.mode = static_cast<Mode>(nb::cast<int>(from["mode"]));
  c.outcome = read<std::int32_t>(from, "outcome");
  c.certified = read<std::int32_t>(from, "certified");
  c.value = read<double>(from, "value");
  c.lower = read<double>(from, "lower");
  c.upper = read<double>(from, "upper");
  c.least = read<std::int64_t>(from, "least");
  c.greatest = read<std::int64_t>(from, "greatest");
  c.error = nb::cast<std::int64_t>(from["error"]);
  c.ties_exact = nb::cast<bool>(from["ties_exact"]);
  c.cut = nb::cast<std::int64_t>(from["cut_sum"]);
  c.exact_cut = nb::cast<double>(from["exact_cut"]);
  c.tolerance = nb::cast<double>(from["tolerance"]);
  const std::size_t n = c.nodes.size();
  require(c.outcome.size() == n && c.certified.size() == n, "arrays of the diagram disagree");
  if (c.mode != Mode::class_) {
    require(c.value.size() == n * outputs && c.lower.size() == n * outputs &&
                c.upper.size() == n * outputs,
            "the diagram has other outputs");
  }
  if (c.mode == Mode::tolerance) {
    require(c.least.size() == n * outputs && c.greatest.size() == n * outputs,
            "the diagram has no bounds");
  }
  return c;
}

nb::list regions(const std::vector<Region>& box, const Columns& columns, const SetPool& sets) {
  nb::list told;
  for (std::size_t j = 0; j < box.size(); ++j) {
    if (!columns.is_set[j]) {
      told.append(nb::make_tuple(box[j].lo, box[j].hi, box[j].missing));
      continue;
    }
    nb::list places;
    const auto& words = sets[box[j].lo];
    for (std::int32_t place = 0; place < columns.size[j]; ++place) {
      if (words[std::size_t(place) / 64] >> (place % 64) & 1) places.append(place);
    }
    told.append(places);
  }
  return told;
}

nb::dict certify_claim(const nb::dict& columns_in, const nb::dict& ensemble_in,
                       const nb::dict& claim_in, double seconds, double bytes) {
  Columns columns;
  columns.is_set = read<std::int32_t>(columns_in, "is_set");
  columns.size = read<std::int32_t>(columns_in, "size");
  columns.missing = read<std::int32_t>(columns_in, "missing");
  require(columns.size.size() == columns.is_set.size() &&
              columns.missing.size() == columns.is_set.size(),
          "arrays of the columns disagree");
  const auto words = read<std::uint64_t>(columns_in, "set_words");
  const auto start = read<std::int64_t>(columns_in, "set_start");
  std::vector<std::vector<std::uint64_t>> sets;
  std::vector<std::size_t> lengths;
  for (std::size_t s = 0; s + 1 < start.size(); ++s) {
    require(start[s] >= 0 && start[s] <= start[s + 1] &&
                start[s + 1] <= std::int64_t(words.size()),
            "a set is out of range");
    sets.emplace_back(words.begin() + start[s], words.begin() + start[s + 1]);
    lengths.push_back(sets.back().size());
  }
  const Ensemble ensemble = read_ensemble(ensemble_in);
  const Claim claim = read_claim(claim_in, ensemble.n_outputs());
  check_nodes(ensemble.nodes, columns, lengths);
  check_nodes(claim.nodes, columns, lengths);

  Outcome outcome;
  const auto poll = [] {
    nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
  nb::dict told;
  {
    std::unique_ptr<Walk> walk;
    {
      nb::gil_scoped_release released;
      walk = std::make_unique<Walk>(columns, sets, ensemble, claim, Limits{seconds, bytes}, poll);
      outcome = walk->run();
    }
    const SetPool& pool = walk->sets();
    if (outcome.verdict == Verdict::refuted) told["box"] = regions(outcome.box, columns, pool);
    nb::list open;
    for (std::size_t i = 0; i < outcome.open.size(); ++i) {
      open.append(nb::make_tuple(outcome.open_leaf[i], regions(outcome.open[i], columns, pool)));
    }
    told["open"] = open;
  }
  told["verdict"] = static_cast<int>(outcome.verdict);
  told["leaf"] = outcome.leaf;
  told["n_states"] = outcome.n_states;
  told["n_leaves"] = outcome.n_leaves;
  told["n_shared"] = outcome.n_shared;
  told["n_exact"] = outcome.n_exact;
  return told;
}

}  // namespace

void bind_certify(nb::module_& m) {
  m.def("certify", &certify_claim, nb::arg("columns"), nb::arg("ensemble"), nb::arg("claim"),
        nb::arg("seconds"), nb::arg("bytes"));
}

}  // namespace clearwood
