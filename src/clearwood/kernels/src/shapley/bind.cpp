// _core.ShapleyForest: trees for the Shapley kernels, checked once, and what is computed from them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/bind.hpp"
#include "shapley/components.hpp"
#include "shapley/interventional.hpp"
#include "shapley/path_run.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// Rows by columns, every column contiguous.
using Codes = nb::ndarray<const Code, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
// Players, pairs or sets by outputs by rows: some rows of a contiguous array, so that large tables
// can be explained piece by piece. Kernels add to it.
using Result = nb::ndarray<double, nb::ndim<3>, nb::device::cpu>;
using Counts = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// Set k holds players[offsets[k]] to players[offsets[k + 1] - 1].
using Sets = std::optional<std::pair<Vector<std::int64_t>, Vector<std::int32_t>>>;
using Few = std::optional<std::pair<Codes, Result>>;

template <class T>
std::vector<T> copied(const Vector<T>& given) {
  return {given.data(), given.data() + given.size()};
}

std::vector<std::uint32_t> with_room(const Vector<std::uint32_t>& sets) {
  std::vector<std::uint32_t> words = copied(sets);
  words.resize(words.size() + room_behind_sets);
  return words;
}

class ShapleyForest {
 public:
  ShapleyForest(Vector<std::int32_t> roots, Vector<std::int32_t> left, Vector<std::int32_t> right,
                Vector<std::int32_t> column, Vector<Code> start, Vector<Code> width,
                Vector<std::int64_t> set, Vector<std::uint32_t> words,
                Vector<std::int32_t> n_classes, Vector<std::int32_t> player,
                Vector<double> cover, Matrix<double> value, Vector<std::int32_t> tree_output,
                std::size_t n_players, std::size_t n_outputs)
      : roots_(copied(roots)), left_(copied(left)), right_(copied(right)), column_(copied(column)),
        start_(copied(start)), width_(copied(width)), set_(copied(set)), words_(with_room(words)),
        n_classes_(copied(n_classes)), player_(copied(player)),
        cover_(copied(cover)), value_(value.data(), value.data() + value.size()),
        tree_output_(copied(tree_output)),
        arrays_{roots_.size(), left_.size(), n_classes_.size(), n_players, n_outputs,
                roots_.data(), left_.data(), right_.data(), column_.data(), start_.data(),
                width_.data(), set_.data(), words_.data(), player_.data(), cover_.data(),
                value_.data(), value.shape(1), tree_output_.data()} {
    const std::size_t n = left_.size();
    require(right_.size() == n && column_.size() == n && start_.size() == n &&
                width_.size() == n && set_.size() == n && player_.size() == n &&
                cover_.size() == n && value.shape(0) == n && tree_output_.size() == roots_.size(),
            "ShapleyForest: arrays differ in length");
    check_nodes();
    check_trees();
    for (std::size_t node = 0; node < n; ++node) {
      if (set_[node] < 0) continue;
      width_[node] = static_cast<Code>(n_classes_[static_cast<std::size_t>(column_[node])] - 1);
    }
    units_.emplace(arrays_);
    path_.emplace(arrays_);
  }

  std::vector<std::vector<std::int32_t>> path_sets(std::size_t max_order, std::size_t most) const {
    nb::gil_scoped_release released;
    return clearwood::path_sets(arrays_, max_order, most);
  }

  std::size_t n_counts() const { return units_->n_counts(); }
  bool needs_rows() const { return units_->needs_rows(); }

  void count(Codes codes, Vector<double> weights, Counts counts, int n_threads) const {
    check_codes(codes);
    require(weights.size() == codes.shape(0), "there must be a weight for every row");
    require(counts.size() == units_->n_counts(), "counts have the wrong length");
    const WeightedRows rows{codes.data(), codes.shape(0), weights.data()};
    double* data = counts.data();
    nb::gil_scoped_release released;
    count_background(arrays_, *units_, rows, data, n_threads);
  }

  // What is wanted: Shapley values, with `pairs` their interactions too, or with `sets` (offsets,
  // players) the components of these.
  InterventionalTables tables(const Vector<double>& counts, const Codes& background_codes,
                              const Vector<double>& background_weights, double total_weight,
                              bool pairs, const Sets& sets, int n_threads) const {
    check_codes(background_codes);
    require(counts.size() == units_->n_counts(), "counts have the wrong length");
    require(background_weights.size() == background_codes.shape(0),
            "there must be a weight for every background row");
    SlotMap slots = sets    ? set_slots(sets->first, sets->second)
                    : pairs ? SlotMap::interactions(arrays_.n_players)
                            : SlotMap::shapley(arrays_.n_players);
    const Background background{
        counts.data(),
        {background_codes.data(), background_codes.shape(0), background_weights.data()},
        total_weight};
    nb::gil_scoped_release released;
    return {arrays_, *units_, std::move(slots), background, n_threads};
  }

  void path_dependent(Codes codes, Result shapley, std::optional<Result> pairs,
                      int n_threads) const {
    check_codes(codes);
    const std::size_t n_rows = codes.shape(0);
    check_result(shapley, arrays_.n_players, n_rows);
    if (pairs) check_result(*pairs, arrays_.n_players * (arrays_.n_players - 1) / 2, n_rows);
    const std::size_t pitch = pitch_of(shapley);
    require(!pairs || pairs->size() == 0 || pitch_of(*pairs) == pitch,
            "results differ in their number of rows");
    double* pair_data = pairs ? pairs->data() : nullptr;
    const Code* code_data = codes.data();
    double* data = shapley.data();
    nb::gil_scoped_release released;
    path_->add(code_data, n_rows, data, pair_data, pitch, n_threads);
  }

  std::size_t n_outputs() const { return arrays_.n_outputs; }

  void check_codes(const Codes& codes) const {
    require(codes.shape(1) == arrays_.n_columns, "codes have the wrong number of columns");
    const std::size_t n = codes.shape(0);
    for (std::size_t column = 0; column < n_classes_.size() && n > 0; ++column) {
      if (n_classes_[column] == 0) continue;
      const Code* first = codes.data() + column * n;
      require(*std::max_element(first, first + n) < n_classes_[column],
              "codes hold a class that does not exist");
    }
  }

  void check_result(const Result& result, std::size_t first, std::size_t n_rows) const {
    require(result.shape(0) == first && result.shape(1) == arrays_.n_outputs &&
                result.shape(2) == n_rows,
            "the result has the wrong shape");
    require(result.size() == 0 ||
                (result.stride(2) == 1 && result.stride(1) >= static_cast<std::int64_t>(n_rows) &&
                 result.stride(0) == result.stride(1) * static_cast<std::int64_t>(result.shape(1))),
            "the result must be rows of a contiguous array");
  }

  static std::size_t pitch_of(const Result& result) {
    return static_cast<std::size_t>(result.stride(1));
  }

 private:
  void check_nodes() const {
    const auto n = static_cast<std::int32_t>(left_.size());
    for (std::int32_t node = 0; node < n; ++node) {
      const std::int32_t left = left_[node], right = right_[node];
      if (left < 0 && right < 0) continue;
      require(left > node && left < n && right > node && right < n,
              "ShapleyForest: children must come after their parent");
      require(column_[node] >= 0 && static_cast<std::size_t>(column_[node]) < arrays_.n_columns,
              "ShapleyForest: a node asks for a column that does not exist");
      const std::int32_t classes = n_classes_[static_cast<std::size_t>(column_[node])];
      require((set_[node] >= 0) == (classes > 0),
              "ShapleyForest: columns of classes, and only those, are split by sets");
      require(set_[node] < 0 || set_[node] + (classes + 31) / 32 <=
                                    static_cast<std::int64_t>(words_.size() - room_behind_sets),
              "ShapleyForest: a set lies outside the words");
      require(player_[node] >= 0 && static_cast<std::size_t>(player_[node]) < arrays_.n_players,
              "ShapleyForest: a node belongs to a player that does not exist");
    }
  }

  void check_trees() const {
    std::int32_t before = -1;
    for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
      require(roots_[tree] > before && static_cast<std::size_t>(roots_[tree]) < left_.size(),
              "ShapleyForest: roots must rise within the nodes");
      before = roots_[tree];
      const auto n = static_cast<std::int32_t>(left_.size());
      const std::int32_t end = tree + 1 < roots_.size() ? std::min(roots_[tree + 1], n) : n;
      for (std::int32_t node = before; node < end; ++node) {
        require(left_[node] < end && right_[node] < end,
                "ShapleyForest: the nodes of a tree must lie between its root and the next");
      }
      const auto output = static_cast<std::size_t>(tree_output_[tree]);
      require(tree_output_[tree] < 0 ? arrays_.n_values == arrays_.n_outputs
                                     : arrays_.n_values == 1 && output < arrays_.n_outputs,
              "ShapleyForest: values do not match the trees' outputs");
    }
  }

  SlotMap set_slots(const Vector<std::int64_t>& offsets,
                    const Vector<std::int32_t>& players) const {
    require(offsets.size() > 0 && offsets.data()[0] == 0, "offsets must start at 0");
    const std::size_t n_sets = offsets.size() - 1;
    require(offsets.data()[n_sets] == static_cast<std::int64_t>(players.size()),
            "offsets do not cover the players");
    for (std::size_t k = 0; k < n_sets; ++k) {
      require(offsets.data()[k] < offsets.data()[k + 1], "sets must not be empty");
      for (std::int64_t at = offsets.data()[k]; at < offsets.data()[k + 1]; ++at) {
        const std::int32_t player = players.data()[at];
        require(player >= 0 && static_cast<std::size_t>(player) < arrays_.n_players &&
                    (at == offsets.data()[k] || players.data()[at - 1] < player),
                "sets must hold known players in rising order");
      }
    }
    return SlotMap::components(arrays_.n_players, offsets.data(), n_sets, players.data());
  }

  std::vector<std::int32_t> roots_, left_, right_, column_;
  std::vector<Code> start_, width_;
  std::vector<std::int64_t> set_;
  std::vector<std::uint32_t> words_;
  std::vector<std::int32_t> n_classes_;  // of each column of codes; 0 where they are ranks
  std::vector<std::int32_t> player_;
  std::vector<double> cover_, value_;
  std::vector<std::int32_t> tree_output_;
  ForestArrays arrays_;
  std::optional<Units> units_;
  std::optional<PathDependent> path_;
};

// A forest with a background, ready to explain rows. Python keeps the forest alive.
class ShapleyTables {
 public:
  ShapleyTables(const ShapleyForest& forest, Vector<double> counts, Codes background_codes,
                Vector<double> background_weights, double total_weight, bool pairs, Sets sets,
                int n_threads)
      : forest_(forest), counts_(counts), codes_(background_codes), weights_(background_weights),
        tables_(forest.tables(counts, background_codes, background_weights, total_weight, pairs,
                              sets, n_threads)) {}

  bool are_kept() const { return tables_.are_kept(); }
  std::size_t n_bytes() const { return tables_.n_bytes(); }

  // With `few` (codes, result), the first sets are explained for its rows instead.
  void explain(Codes codes, Result result, Counts baseline, Few few, int n_threads) const {
    require(baseline.size() == forest_.n_outputs(), "the baseline has the wrong length");
    const std::size_t first_slot = few ? few->second.shape(0) : 0;
    const SlotMap& slots = tables_.slots();
    require(first_slot == 0 || slots.quantity() == Quantity::components,
            "few rows stand for components only");
    require(first_slot <= slots.size(), "few rows have more results than there are sets");
    const Explained rows = explained(codes, result, slots.size() - first_slot);
    const Explained stand_in = few ? explained(few->first, few->second, first_slot) : Explained{};
    double* baseline_data = baseline.data();
    nb::gil_scoped_release released;
    tables_.explain(rows, stand_in, first_slot, baseline_data, n_threads);
  }

 private:
  Explained explained(const Codes& codes, const Result& result, std::size_t n_slots) const {
    forest_.check_codes(codes);
    const std::size_t n_rows = codes.shape(0);
    forest_.check_result(result, n_slots, n_rows);
    const std::size_t pitch = result.size() == 0 ? n_rows : ShapleyForest::pitch_of(result);
    return {codes.data(), n_rows, result.data(), pitch};
  }

  const ShapleyForest& forest_;
  const Vector<double> counts_;
  const Codes codes_;
  const Vector<double> weights_;
  const InterventionalTables tables_;  // points into the three above
};

}  // namespace

void bind_shapley(nb::module_& m) {
  using nb::arg;
  nb::class_<ShapleyForest>(m, "ShapleyForest")
      .def(nb::init<Vector<std::int32_t>, Vector<std::int32_t>, Vector<std::int32_t>,
                    Vector<std::int32_t>, Vector<Code>, Vector<Code>, Vector<std::int64_t>,
                    Vector<std::uint32_t>, Vector<std::int32_t>, Vector<std::int32_t>,
                    Vector<double>, Matrix<double>, Vector<std::int32_t>, std::size_t,
                    std::size_t>(),
           arg("roots").noconvert(), arg("left").noconvert(), arg("right").noconvert(),
           arg("column").noconvert(), arg("start").noconvert(), arg("width").noconvert(),
           arg("set").noconvert(), arg("words").noconvert(), arg("n_classes").noconvert(),
           arg("player").noconvert(), arg("cover").noconvert(), arg("value").noconvert(),
           arg("tree_output").noconvert(), arg("n_players"), arg("n_outputs"))
      .def("path_dependent", &ShapleyForest::path_dependent, arg("codes").noconvert(),
           arg("shapley").noconvert(), arg("pairs").noconvert().none(), arg("n_threads"))
      .def("path_sets", &ShapleyForest::path_sets, arg("max_order"), arg("most"))
      .def_prop_ro("n_counts", &ShapleyForest::n_counts)
      .def_prop_ro("needs_rows", &ShapleyForest::needs_rows)
      .def("count", &ShapleyForest::count, arg("codes").noconvert(), arg("weights").noconvert(),
           arg("counts").noconvert(), arg("n_threads"));
  nb::class_<ShapleyTables>(m, "ShapleyTables")
      .def(nb::init<const ShapleyForest&, Vector<double>, Codes, Vector<double>, double, bool,
                    Sets, int>(),
           arg("forest"), arg("counts").noconvert(), arg("background_codes").noconvert(),
           arg("background_weights").noconvert(), arg("total_weight"), arg("pairs"),
           arg("sets").none(), arg("n_threads"), nb::keep_alive<1, 2>())
      .def_prop_ro("are_kept", &ShapleyTables::are_kept)
      .def_prop_ro("n_bytes", &ShapleyTables::n_bytes)
      .def("explain", &ShapleyTables::explain, arg("codes").noconvert(),
           arg("result").noconvert(), arg("baseline").noconvert(), arg("few").none(),
           arg("n_threads"));
}

}  // namespace clearwood
