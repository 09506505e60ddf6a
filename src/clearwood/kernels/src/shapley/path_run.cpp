#include "shapley/path_run.hpp"

#include <algorithm>
#include <vector>

#include "common/aligned.hpp"
#include "common/parallel.hpp"
#include "shapley/path_tables.hpp"

namespace clearwood {
namespace {

// Tables of as many trees as fit here are made together, then all rows walk them. Their memory
// serves the next trees: fresh memory costs more than filling it. Where all trees fit, their tables
// are kept.
constexpr std::size_t table_budget = std::size_t(16) << 20;
constexpr std::size_t most_rows_per_task = 512;

// What the tables of a tree take at most, as a rule.
std::size_t bytes_bound(const ForestArrays& forest, std::size_t tree) {
  const auto begin = static_cast<std::size_t>(forest.roots[tree]);
  const std::size_t end = tree + 1 < forest.n_trees
                              ? static_cast<std::size_t>(forest.roots[tree + 1])
                              : forest.n_nodes;
  constexpr std::size_t points = 8;  // typical: a path of 16 players
  return (end - begin) * points * sizeof(PathLine) * (1 + forest.n_values) / 2;
}

// As many trees from `first` on as fit the budget, at least one.
std::size_t end_of_group(const ForestArrays& forest, std::size_t first) {
  std::size_t last = first, bytes = 0;
  while (last < forest.n_trees) {
    bytes += bytes_bound(forest, last);
    if (last > first && bytes > table_budget) break;
    ++last;
  }
  return last;
}

void make_tables(const ForestArrays& forest, std::size_t begin, std::size_t end, bool with_pairs,
                 int n_threads, PathTables& tables) {
  tables.resize(end - begin);
  parallel_for(end - begin, n_threads, [&](std::size_t k, int) {
    make_path_parts(forest, begin + k, with_pairs, tables[k]);
  });
}

class Run {
 public:
  Run(const ForestArrays& forest, const Code* codes, std::size_t n_rows, double* shapley,
      double* pairs, std::size_t pitch, int n_threads)
      : forest_(forest), codes_(codes), n_rows_(n_rows), shapley_(shapley), pairs_(pairs),
        pitch_(pitch), n_threads_(n_threads), n_shapley_(forest.n_players * forest.n_outputs),
        n_pairs_(pairs == nullptr
                     ? 0
                     : forest.n_players * (forest.n_players - 1) / 2 * forest.n_outputs) {}

  void run(const PathTables& kept) {
    if (!kept.empty()) return walk(kept);
    PathTables group;
    for (std::size_t tree = 0; tree < forest_.n_trees;) {
      const std::size_t end = end_of_group(forest_, tree);
      make_tables(forest_, tree, end, pairs_ != nullptr, n_threads_, group);
      walk(group);
      tree = end;
    }
  }

 private:
  void walk(const PathTables& group) const {
    std::size_t scratch_bytes = 0;
    for (const auto& parts : group) {
      for (const PathPart& part : parts) {
        scratch_bytes = std::max(scratch_bytes, CLEARWOOD_DISPATCH(path_scratch_size)(part.view()));
      }
    }
    const std::size_t share = n_rows_ / (4 * static_cast<std::size_t>(n_threads_)) + 1;
    const std::size_t rows_per_task =
        std::min(most_rows_per_task, block_count(share, path_rows) * path_rows);
    parallel_for(block_count(n_rows_, rows_per_task), n_threads_, [&](std::size_t task, int) {
      const std::size_t begin = task * rows_per_task;
      walk_rows(group, begin, std::min(n_rows_, begin + rows_per_task), scratch_bytes);
    });
  }

  void walk_rows(const PathTables& group, std::size_t begin, std::size_t end,
                 std::size_t scratch_bytes) const {
    const auto path_walk = CLEARWOOD_DISPATCH(path_walk);
    const std::size_t n_blocks = block_count(end - begin, path_rows);
    const std::size_t per_block = (n_shapley_ + n_pairs_) * path_rows;
    const std::size_t codes_per_block = forest_.n_columns * path_rows;
    AlignedVector<std::byte> scratch(scratch_bytes);
    AlignedVector<double> sums(n_blocks * per_block, 0.0);
    AlignedVector<Code> codes(n_blocks * codes_per_block);
    for (std::size_t b = 0; b < n_blocks; ++b) {
      gather_codes(begin + b * path_rows, end, codes.data() + b * codes_per_block);
    }
    for (const auto& parts : group) {
      for (const PathPart& part : parts) {
        for (std::size_t b = 0; b < n_blocks; ++b) {
          double* block = sums.data() + b * per_block;
          path_walk(part.view(), codes.data() + b * codes_per_block, part.first_output,
                    static_cast<std::int32_t>(forest_.n_outputs), scratch.data(), block,
                    pairs_ == nullptr ? nullptr : block + n_shapley_ * path_rows);
        }
      }
    }
    for (std::size_t b = 0; b < n_blocks; ++b) {
      const std::size_t row = begin + b * path_rows;
      const double* block = sums.data() + b * per_block;
      add_block(block, n_shapley_, row, end, shapley_);
      add_block(block + n_shapley_ * path_rows, n_pairs_, row, end, pairs_);
    }
  }

  // A block's codes side by side; past the last row it is repeated.
  void gather_codes(std::size_t row, std::size_t end, Code* to) const {
    for (std::size_t column = 0; column < forest_.n_columns; ++column) {
      const Code* from = codes_ + column * n_rows_;
      for (std::size_t i = 0; i < path_rows; ++i) *to++ = from[std::min(row + i, end - 1)];
    }
  }

  void add_block(const double* block, std::size_t n, std::size_t row, std::size_t end,
                 double* to) const {
    const std::size_t size = std::min(path_rows, end - row);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < size; ++i) to[k * pitch_ + row + i] += block[k * path_rows + i];
    }
  }

  const ForestArrays& forest_;
  const Code* codes_;
  const std::size_t n_rows_;
  double* const shapley_;
  double* const pairs_;
  const std::size_t pitch_;
  const int n_threads_;
  const std::size_t n_shapley_;
  const std::size_t n_pairs_;
};

}  // namespace

void PathDependent::add(const Code* codes, std::size_t n_rows, double* shapley, double* pairs,
                        std::size_t pitch, int n_threads) const {
  if (pairs == nullptr) {
    std::call_once(once_, [&] {
      if (end_of_group(forest_, 0) < forest_.n_trees) return;
      PathTables made;
      make_tables(forest_, 0, forest_.n_trees, false, n_threads, made);
      kept_ = std::move(made);
    });
  }
  Run(forest_, codes, n_rows, shapley, pairs, pitch, n_threads)
      .run(pairs == nullptr ? kept_ : PathTables());
}

}  // namespace clearwood
