// _core.rank_columns: ranks of a matrix, column by column, threads over blocks of rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "common/parallel.hpp"
#include "rank/rank.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

constexpr std::size_t rows_per_block = 1024;
// Rows of a row-major matrix are read in strips, so that the cache lines that one column pulls in
// are still there for its neighbours.
constexpr std::size_t rows_per_strip = 256;

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Codes = nb::ndarray<T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// Owns what a RankTable points at.
template <class Threshold>
class PreparedColumn {
 public:
  PreparedColumn(const Threshold* thresholds, std::size_t n, std::size_t max_pivots) {
    while ((n >> shift_) > max_pivots) ++shift_;
    const std::size_t group = std::size_t(1) << shift_;
    const std::size_t n_pivots = n >> shift_;
    sorted_.assign((n_pivots + 1) * group, std::numeric_limits<Threshold>::quiet_NaN());
    std::copy_n(thresholds, n, sorted_.begin());
    pivots_.reserve(n_pivots);
    for (std::size_t k = 1; k <= n_pivots; ++k) pivots_.push_back(sorted_[k * group - 1]);
  }

  RankTable<Threshold> table() const {
    return {sorted_.data(), pivots_.data(), pivots_.size(), shift_};
  }

 private:
  std::vector<Threshold> sorted_;
  std::vector<Threshold> pivots_;
  int shift_ = 0;
};

// thresholds holds the columns' thresholds end to end; column j's are [offsets[j], offsets[j + 1]).
template <class Value, class Threshold, class Code>
void rank_columns(Matrix<Value> values, Vector<Threshold> thresholds, Vector<std::int64_t> offsets,
                  bool or_equal, Codes<Code> codes, int n_threads) {
  const std::size_t n_rows = values.shape(0);
  const std::size_t n_columns = values.shape(1);
  if (codes.shape(0) != n_rows || codes.shape(1) != n_columns || offsets.size() != n_columns + 1) {
    throw std::invalid_argument("rank_columns: shapes of values, offsets and codes disagree");
  }
  if (offsets.data()[0] != 0 ||
      offsets.data()[n_columns] != static_cast<std::int64_t>(thresholds.size()) ||
      !std::is_sorted(offsets.data(), offsets.data() + n_columns + 1)) {
    throw std::invalid_argument("rank_columns: offsets do not cover the thresholds");
  }
  const auto rank_values = CLEARWOOD_DISPATCH(rank_values<Value, Threshold, Code>);
  const std::size_t max_pivots =
      CLEARWOOD_DISPATCH(rank_max_pivots)(std::is_same_v<Threshold, double>);
  constexpr Code missing = std::numeric_limits<Code>::max();
  const Value* from = values.data();
  const std::ptrdiff_t row_stride = values.stride(0);
  const std::ptrdiff_t column_stride = values.stride(1);
  const Threshold* all = thresholds.data();
  const std::int64_t* offset = offsets.data();
  Code* to = codes.data();

  nb::gil_scoped_release released;
  std::vector<PreparedColumn<Threshold>> columns;
  columns.reserve(n_columns);
  for (std::size_t j = 0; j < n_columns; ++j) {
    columns.emplace_back(all + offset[j], static_cast<std::size_t>(offset[j + 1] - offset[j]),
                         max_pivots);
  }
  const std::size_t strip = row_stride == 1 ? rows_per_block : rows_per_strip;
  parallel_for(block_count(n_rows, rows_per_block), n_threads, [&](std::size_t block, int) {
    const std::size_t end = std::min(n_rows, (block + 1) * rows_per_block);
    for (std::size_t row = block * rows_per_block; row < end; row += strip) {
      const std::size_t size = std::min(strip, end - row);
      for (std::size_t j = 0; j < n_columns; ++j) {
        rank_values(from + static_cast<std::ptrdiff_t>(row) * row_stride +
                        static_cast<std::ptrdiff_t>(j) * column_stride,
                    row_stride, size, columns[j].table(), or_equal, missing, to + j * n_rows + row);
      }
    }
  });
}

template <class Value, class Threshold, class Code>
void define(nb::module_& m) {
  m.def("rank_columns", &rank_columns<Value, Threshold, Code>, nb::arg("values").noconvert(),
        nb::arg("thresholds").noconvert(), nb::arg("offsets").noconvert(), nb::arg("or_equal"),
        nb::arg("codes").noconvert(), nb::arg("n_threads"));
}

template <class Value, class Threshold>
void define_codes(nb::module_& m) {
  define<Value, Threshold, std::uint8_t>(m);
  define<Value, Threshold, std::uint16_t>(m);
  define<Value, Threshold, std::int32_t>(m);
}

}  // namespace

void bind_rank(nb::module_& m) {
  define_codes<float, float>(m);
  define_codes<double, float>(m);
  define_codes<double, double>(m);
}

}  // namespace clearwood
