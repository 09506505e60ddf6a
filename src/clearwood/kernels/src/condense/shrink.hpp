// Making a diagram smaller: parts of it become grids, and grids small trees.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "condense/build.hpp"
#include "condense/grid.hpp"

namespace clearwood::condense {

struct ShrinkOptions {
  int breadth = 3;
  double cells = 2e6;      // largest grid
  double provable = 2e4;   // boxes of a part that is proved rather than searched
  double whole = 2e4;      // the same of all of it, which is done only once
  Objective objective = Objective::leaves;
  double work = 3e8;  // looks at cells before a search is given up
  double total = 1e10;  // looks at cells and boxes before the rest stays as it is
  bool prove = false;
  double bytes = 8e9;  // of the table of a proof
};

// Rows of data as places: for every row the rank, set place or missing (rank -1) of each feature.
struct Rows {
  std::vector<std::int32_t> places;
  std::vector<std::int32_t> classes;  // the ensemble's class for each row; may be left out
  std::size_t n_features = 0;
  std::size_t size() const { return n_features ? places.size() / n_features : 0; }
  const std::int32_t* operator[](std::size_t row) const { return &places[row * n_features]; }
};

// A proof that does not fit: how many bytes its table would take.
struct TooLarge : std::runtime_error {
  double bytes;
  explicit TooLarge(double n) : std::runtime_error("table of boxes"), bytes(n) {}
};

class Shrinker {
 public:
  Shrinker(Store& store, const Built& from, Canvas& to, const Decision& decision,
           const ShrinkOptions& options, const Rows& rows, std::function<void()> look);
  void run();
  std::size_t n_grids() const { return n_grids_; }

 private:
  struct Axis {
    std::int32_t feature;
    std::vector<std::int32_t> cuts;                 // ordered: ranks
    std::vector<std::vector<std::uint64_t>> atoms;  // set: atoms of each place, by words
    std::int32_t top = 0;  // the highest rank in the box
    bool numbers = true;   // places for numbers come first
    bool missing = false;  // the last place is for missing values
  };
  struct Cells {
    Grid grid;
    std::vector<Axis> axes;
    bool usable = false;
    bool either_side = false;  // whether questions were added that the diagram does not ask
  };

  // `searched`: a part around this one was searched already, so that only a proof can add to it.
  std::int32_t shrink(std::int32_t node, std::vector<Span>& box, std::vector<std::int32_t>& rows,
                      bool searched);
  std::int32_t keep(std::int32_t node, std::vector<Span>& box, std::vector<std::int32_t>& rows,
                    bool searched);
  GridTree searched_tree(const Grid& grid);
  double made_cost(std::int32_t node);
  void colour(Cells& cells, std::int32_t node);
  // Whether the part fits into a grid, and that grid; `coloured`: with its labels. Missing values
  // go to either side of each cut, or only where the diagram sends them.
  Cells lay_out(std::int32_t node, const std::vector<Span>& box, bool either_side);
  Cells coloured(std::int32_t node, const std::vector<Span>& box, bool either_side);
  void colour(std::int32_t node, Cells& cells, std::vector<std::vector<std::int32_t>>& places);
  void weigh(Cells& cells, const std::vector<std::int32_t>& rows);
  std::int32_t emit(const GridTree& tree, const Cells& cells);
  std::int32_t copy(std::int32_t node);
  std::int32_t leaf(std::int32_t node);
  void add_sets(std::size_t feature, std::vector<std::int32_t>& questions);
  // "Is it known?", then every cut with missing values on either side.
  std::vector<std::int32_t> with_either_side(const Axis& axis, std::int32_t n_cuts);
  bool goes_left(const Question& q, const Axis& axis, std::int32_t place) const;
  Hash name(std::int32_t node, const std::vector<Span>& box) const;
  double cost(std::int32_t node) const;

  Store& store_;
  const Built& from_;
  Canvas& to_;
  const Decision& decision_;
  ShrinkOptions options_;
  const Rows& rows_;
  std::function<void()> look_;
  std::vector<double> leaves_, depth_;
  std::vector<std::int32_t> copied_;
  std::unordered_map<Hash, std::int32_t, HashOfHash> done_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  double spent_ = 0;
  std::size_t n_grids_ = 0;
  std::vector<double> made_;  // cost of the nodes made so far
};

}  // namespace clearwood::condense
