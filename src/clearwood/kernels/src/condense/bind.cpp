// _core.compose: an ensemble in ranks to one diagram.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "condense/bind.hpp"
#include "condense/budget.hpp"
#include "condense/build.hpp"
#include "condense/shrink.hpp"

namespace nb = nanobind;

namespace clearwood::condense {

void poll_signals() {
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Ensemble read_ensemble(const nb::dict& d) {
  Ensemble e;
  e.is_set = vector<std::int32_t>(d, "is_set");
  e.n_cuts = vector<std::int32_t>(d, "n_cuts");
  e.missing_atom = vector<std::int32_t>(d, "missing_atom");
  e.left = vector<std::int32_t>(d, "left");
  e.right = vector<std::int32_t>(d, "right");
  e.feature = vector<std::int32_t>(d, "feature");
  e.cut = vector<std::int32_t>(d, "cut");
  e.default_left = vector<std::int32_t>(d, "default_left");
  e.gain = vector<double>(d, "gain");
  e.roots = vector<std::int32_t>(d, "roots");
  e.tree_output = vector<std::int32_t>(d, "tree_output");
  e.set_words = vector<std::uint64_t>(d, "set_words");
  e.set_start = vector<std::int64_t>(d, "set_start");
  e.base = vector<double>(d, "base");
  e.divisor = vector<double>(d, "divisor");
  e.weight = vector<double>(d, "weight");
  e.single = nb::cast<bool>(d["single"]);
  e.divides = nb::cast<bool>(d["divides"]);
  const std::size_t n = e.left.size(), features = e.is_set.size(), outputs = e.base.size();
  e.columns = n ? e.gain.size() / n : 0;
  const bool fits = n > 0 && outputs > 0 && e.right.size() == n && e.feature.size() == n &&
                    e.cut.size() == n && e.default_left.size() == n &&
                    e.gain.size() == n * e.columns && e.n_cuts.size() == features &&
                    e.missing_atom.size() == features && e.divisor.size() == outputs &&
                    e.tree_output.size() == e.roots.size() && e.weight.size() == e.roots.size() &&
                    !e.roots.empty() && !e.set_start.empty();
  if (!fits) throw std::invalid_argument("compose: arrays of the ensemble disagree");
  for (std::size_t t = 0; t < e.roots.size(); ++t) {
    const std::size_t wanted = e.tree_output[t] < 0 ? outputs : 1;
    if (e.columns < wanted || e.tree_output[t] >= std::int32_t(outputs) || e.roots[t] < 0 ||
        std::size_t(e.roots[t]) >= n) {
      throw std::invalid_argument("compose: a tree's output or root is out of range");
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (e.left[i] < 0) continue;
    const auto j = std::size_t(e.feature[i]);
    if (std::size_t(e.left[i]) >= n || std::size_t(e.right[i]) >= n || j >= features ||
        (e.is_set[j] && std::size_t(e.cut[i]) + 1 >= e.set_start.size())) {
      throw std::invalid_argument("compose: a node is out of range");
    }
  }
  return e;
}

Decision read_decision(const nb::dict& d, const Ensemble& ensemble) {
  Decision decision;
  const int mode = nb::cast<int>(d["mode"]);
  if (mode < int(Mode::class_) || mode > int(Mode::median)) {
    throw std::invalid_argument("compose: the decision has no known mode");
  }
  decision.mode = static_cast<Mode>(mode);
  decision.a = vector<std::int32_t>(d, "a");
  decision.b = vector<std::int32_t>(d, "b");
  decision.above = vector<double>(d, "above");
  decision.below = vector<double>(d, "below");
  decision.cut = nb::cast<double>(d["cut"]);
  decision.tolerance = nb::cast<double>(d["tolerance"]);
  decision.slack = nb::cast<double>(d["slack"]);
  decision.divide = nb::cast<bool>(d["divide"]);
  decision.n_classes = nb::cast<int>(d["n_classes"]);
  const std::size_t n = decision.a.size();
  if (decision.b.size() != n || decision.above.size() != n || decision.below.size() != n) {
    throw std::invalid_argument("compose: arrays of the decision disagree");
  }
  const bool by_class = decision.mode == Mode::class_;
  if (by_class && (decision.n_classes < 2 || decision.n_classes > most_classes)) {
    throw std::invalid_argument("compose: decisions are between 2 and " +
                                std::to_string(most_classes) + " classes, not " +
                                std::to_string(decision.n_classes));
  }
  const std::size_t known =
      by_class ? static_cast<std::size_t>(decision.n_classes) : ensemble.n_outputs();
  for (std::size_t d = 0; d < n; ++d) {
    if (static_cast<std::size_t>(decision.a[d]) >= known ||
        static_cast<std::size_t>(decision.b[d]) >= known) {
      throw std::invalid_argument("compose: a class or output of the decision is out of range");
    }
  }
  if (by_class && ensemble.n_outputs() > 1 &&
      ensemble.n_outputs() != static_cast<std::size_t>(decision.n_classes)) {
    throw std::invalid_argument("compose: the ensemble has no output for every class");
  }
  return decision;
}

Limits read_limits(const nb::dict& d) {
  Limits limits;
  limits.nodes = nb::cast<std::size_t>(d["nodes"]);
  limits.seconds = nb::cast<double>(d["seconds"]);
  limits.bytes = nb::cast<std::size_t>(d["bytes"]);
  return limits;
}

// Parents first, only what the root reaches, each node's question spelled out.
nb::dict write(const Built& built, const Store& store, std::size_t n_outputs, bool values) {
  const std::size_t n = built.size();
  std::vector<std::int32_t> place(n, -1), order;
  std::vector<std::uint8_t> reached(n, 0);
  reached[std::size_t(built.root)] = 1;
  // children were made before their parents
  for (std::size_t i = n; i-- > 0;) {
    if (!reached[i]) continue;
    place[i] = static_cast<std::int32_t>(order.size());
    order.push_back(static_cast<std::int32_t>(i));
    if (built.left[i] >= 0) {
      reached[std::size_t(built.left[i])] = 1;
      reached[std::size_t(built.right[i])] = 1;
    }
  }
  const std::size_t m = order.size();
  std::vector<std::int32_t> feature(m, -1), cut(m, -1), left(m, -1), right(m, -1), outcome(m, -1);
  std::vector<std::uint8_t> default_left(m, 0), certified(m, 1);
  const std::size_t width = values ? n_outputs : 0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> value(m * width, nan), lower(m * width, nan), upper(m * width, nan);
  for (std::size_t i = 0; i < m; ++i) {
    const auto from = std::size_t(order[i]);
    outcome[i] = built.outcome[from];
    certified[i] = built.certified[from];
    if (built.left[from] >= 0) {
      const Question& q = store.question(built.question[from]);
      feature[i] = q.feature;
      cut[i] = q.cut;
      default_left[i] = static_cast<std::uint8_t>(q.default_left);
      left[i] = place[std::size_t(built.left[from])];
      right[i] = place[std::size_t(built.right[from])];
    } else if (values && built.payload[from] >= 0) {
      const std::size_t row = std::size_t(built.payload[from]) * n_outputs;
      std::copy_n(&built.value[row], n_outputs, &value[i * width]);
      std::copy_n(&built.lower[row], n_outputs, &lower[i * width]);
      std::copy_n(&built.upper[row], n_outputs, &upper[i * width]);
    }
  }
  nb::dict out;
  out["feature"] = array(std::move(feature));
  out["cut"] = array(std::move(cut));
  out["default_left"] = array(std::move(default_left));
  out["left"] = array(std::move(left));
  out["right"] = array(std::move(right));
  out["outcome"] = array(std::move(outcome));
  out["certified"] = array(std::move(certified));
  out["value"] = array(std::move(value));
  out["lower"] = array(std::move(lower));
  out["upper"] = array(std::move(upper));
  return out;
}

static ShrinkOptions read_options(const nb::dict& d) {
  ShrinkOptions options;
  options.breadth = nb::cast<int>(d["breadth"]);
  options.cells = nb::cast<double>(d["cells"]);
  options.work = nb::cast<double>(d["work"]);
  options.provable = nb::cast<double>(d["provable"]);
  options.whole = nb::cast<double>(d["whole"]);
  options.objective = static_cast<Objective>(nb::cast<int>(d["objective"]));
  options.prove = nb::cast<bool>(d["prove"]);
  options.bytes = nb::cast<double>(d["bytes"]);
  return options;
}

static Rows read_rows(const nb::dict& d, const Ensemble& ensemble, const Decision& decision) {
  Rows rows;
  rows.places = vector<std::int32_t>(d, "rows");
  rows.n_features = ensemble.n_features();
  if (d.contains("classes")) rows.classes = vector<std::int32_t>(d, "classes");
  if (!rows.classes.empty() && rows.classes.size() != rows.size()) {
    throw std::invalid_argument("compose: rows and their classes disagree");
  }
  for (const std::int32_t c : rows.classes) {
    if (c < 0 || c >= decision.n_classes) {
      throw std::invalid_argument("compose: a row's class is out of range");
    }
  }
  if (rows.n_features == 0 || rows.places.size() % rows.n_features != 0) {
    throw std::invalid_argument("compose: rows do not fit the features");
  }
  for (std::size_t i = 0; i < rows.places.size(); ++i) {
    const std::size_t j = i % rows.n_features;
    const bool set = ensemble.is_set[j] != 0;
    if (rows.places[i] < (set ? 0 : -1) || rows.places[i] > ensemble.n_cuts[j] - set) {
      throw std::invalid_argument("compose: a row's place is out of range");
    }
  }
  return rows;
}

// Composes and, with a breadth above zero, makes the result smaller. `stopped` names the limit that
// ended the work; `too_large` is the size of a proof that would not fit.
static nb::dict compose(const nb::dict& ensemble_arrays, const nb::dict& decision_arrays,
                        const nb::dict& limits, const nb::dict& option_values) {
  const Ensemble ensemble = read_ensemble(ensemble_arrays);
  const Decision decision = read_decision(decision_arrays, ensemble);
  const Limits bounds = read_limits(limits);
  const ShrinkOptions options = read_options(option_values);
  const Rows rows = read_rows(option_values, ensemble, decision);
  std::string stopped;
  double too_large = 0;
  std::size_t n_grids = 0;
  Composer composer(ensemble, decision, bounds, poll_signals);
  Canvas smaller(ensemble.n_outputs());
  bool shrunk = false;
  double composing = 0;
  {
    nb::gil_scoped_release released;
    try {
      composer.run();
      composing = composer.seconds();
    } catch (const LimitReached& limit) {
      stopped = limit.what();
    }
    if (stopped.empty() && options.breadth > 0) {
      std::uint64_t calls = 0;
      const auto look = [&] {
        if (++calls % 1024 == 0) poll_signals();
        if (calls % 64 == 0 && composer.seconds() > bounds.seconds) throw LimitReached("seconds");
      };
      try {
        Shrinker shrinker(composer.store(), composer.canvas().built(), smaller, decision, options,
                          rows, look);
        shrinker.run();
        n_grids = shrinker.n_grids();
        shrunk = true;
      } catch (const TooLarge& proof) {
        too_large = proof.bytes;
      } catch (const LimitReached&) {
        // what was composed is whole; only its size stays as it is
      }
    }
  }
  nb::dict out;
  if (stopped.empty()) {
    out = write(shrunk ? smaller.built() : composer.canvas().built(), composer.store(),
                ensemble.n_outputs(), decision.mode != Mode::class_);
  }
  out["stopped"] = stopped;
  out["too_large"] = too_large;
  out["shrunk"] = shrunk;
  out["n_grids"] = n_grids;
  out["progress"] = composer.progress();
  out["early_progress"] = composer.early_progress();
  out["nodes_made"] = composer.canvas().size();
  out["bytes"] = composer.memory();
  out["composing"] = composing;
  return out;
}

// Composes the boxes with most rows first and stops at the limits; leaves that are open by then are
// not certified, and `open_low`, `open_high`, `open_missing` bound where they lie.
static nb::dict compose_within(const nb::dict& ensemble_arrays, const nb::dict& decision_arrays,
                               const nb::dict& limits, const nb::dict& option_values,
                               std::size_t leaves, int n_threads) {
  const Ensemble ensemble = read_ensemble(ensemble_arrays);
  const Decision decision = read_decision(decision_arrays, ensemble);
  const Rows rows = read_rows(option_values, ensemble, decision);
  BudgetComposer composer(ensemble, decision, read_limits(limits), poll_signals, rows, leaves,
                          n_threads);
  std::string stopped;
  {
    nb::gil_scoped_release released;
    stopped = composer.run();
  }
  nb::dict out = write(composer.canvas().built(), composer.store(), ensemble.n_outputs(),
                       decision.mode != Mode::class_);
  std::vector<std::int32_t> low, high, missing;
  if (composer.any_open()) {
    for (const Span& span : composer.open_hull()) {
      low.push_back(span.lo);
      high.push_back(span.hi);
      missing.push_back(span.missing);
    }
  }
  out["stopped"] = stopped;
  out["open_low"] = array(std::move(low));
  out["open_high"] = array(std::move(high));
  out["open_missing"] = array(std::move(missing));
  out["bytes"] = composer.memory();
  return out;
}

}  // namespace clearwood::condense

namespace clearwood {

void bind_condense(nb::module_& m) {
  m.def("compose", &condense::compose, nb::arg("ensemble"), nb::arg("decision"), nb::arg("limits"),
        nb::arg("options"));
  m.def("compose_within", &condense::compose_within, nb::arg("ensemble"), nb::arg("decision"),
        nb::arg("limits"), nb::arg("options"), nb::arg("leaves"), nb::arg("n_threads"));
}

}  // namespace clearwood
