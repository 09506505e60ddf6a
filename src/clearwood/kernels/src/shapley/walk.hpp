// Walks a tree with a block of rows and passes the rows' patterns to every unit.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "shapley/pattern.hpp"
#include "shapley/units.hpp"

namespace clearwood {

constexpr std::size_t pattern_rows = 1024;  // at most, per block

// Columns of codes of a block of rows; column c starts at codes + c * pitch.
struct RowBlock {
  const Code* codes;
  std::size_t pitch;
  std::size_t n;
};

// Pattern is uint16_t, or uint64_t for trees whose patterns need more bits; a row's pattern then
// has n_words words, word w of all rows at patterns + w * pattern_rows.
template <class Pattern>
class PatternWalk {
 public:
  explicit PatternWalk(const ForestArrays& forest, const Units& units)
      : forest_(forest), units_(units), follow_edge_(CLEARWOOD_DISPATCH(follow_edge<Pattern>)),
        note_outcome_(CLEARWOOD_DISPATCH(note_outcome<Pattern>)) {}

  // Calls visit(unit, way, patterns, n_words) for the units [first, last) of a tree. `way` holds
  // the players whose bits the patterns have, in the order of the bits.
  template <class Visit>
  void run(std::size_t tree, std::int32_t first, std::int32_t last, const RowBlock& rows,
           Visit&& visit) {
    tree_ = &units_.tree(tree);
    range_first_ = first;
    range_last_ = last;
    rows_ = rows;
    way_.clear();
    n_words_ = 1;
    for (const Unit& unit : tree_->units) {
      const auto bits = static_cast<std::size_t>(unit.bits);
      n_words_ = std::max(n_words_, (bits + word_bits - 1) / word_bits);
    }
    for (std::size_t w = 0; w < n_words_; ++w) {
      std::fill_n(level(0) + w * pattern_rows, rows.n, Pattern(0));
    }
    descend(forest_.roots[tree], 0, visit);
  }

 private:
  static constexpr std::size_t word_bits = sizeof(Pattern) * 8;

  Pattern* level(std::size_t depth) {
    const std::size_t size = n_words_ * pattern_rows;
    while (levels_.size() <= depth) levels_.emplace_back();
    if (levels_[depth].size() < size) levels_[depth].resize(size);
    return levels_[depth].data();
  }

  SplitTest test(std::int32_t node) const { return split_test(forest_, node); }
  const Code* codes(std::int32_t node) const {
    return rows_.codes + static_cast<std::size_t>(forest_.column[node]) * rows_.pitch;
  }

  template <class Visit>
  void descend(std::int32_t node, std::size_t depth, Visit& visit) {
    if (units_.last(node) <= range_first_ || units_.first(node) >= range_last_) return;
    const Unit& unit = tree_->units[static_cast<std::size_t>(units_.first(node))];
    if (unit.node == node) {
      note_inner(node, depth);
      visit(unit, way_, level(depth), n_words_);
      return;
    }
    const auto known = std::find(way_.begin(), way_.end(), forest_.player[node]);
    const bool fresh = known == way_.end();
    const auto bit = static_cast<std::size_t>(known - way_.begin());
    if (fresh) way_.push_back(forest_.player[node]);
    for (bool left : {true, false}) {
      follow(node, left, bit, fresh, depth);
      descend(left ? forest_.left[node] : forest_.right[node], depth + 1, visit);
    }
    if (fresh) way_.pop_back();
  }

  void follow(std::int32_t node, bool left, std::size_t bit, bool fresh, std::size_t depth) {
    Pattern* to = level(depth + 1);
    const Pattern* from = level(depth);
    for (std::size_t w = 0; w < n_words_; ++w) {
      if (w == bit / word_bits) {
        follow_edge_(from + w * pattern_rows, codes(node), rows_.n, test(node), left,
                     static_cast<Pattern>(Pattern(1) << (bit % word_bits)), fresh,
                     to + w * pattern_rows);
      } else {
        std::memcpy(to + w * pattern_rows, from + w * pattern_rows, rows_.n * sizeof(Pattern));
      }
    }
  }

  // The outcomes below a merged unit, whose bits all lie in the first word.
  void note_inner(std::int32_t node, std::size_t depth) {
    std::size_t bit = way_.size();
    note_below(node, bit, level(depth));
  }
  void note_below(std::int32_t node, std::size_t& bit, Pattern* patterns) {
    if (forest_.left[node] < 0) return;
    note_outcome_(codes(node), rows_.n, test(node), static_cast<Pattern>(Pattern(1) << bit++),
                  patterns);
    note_below(forest_.left[node], bit, patterns);
    note_below(forest_.right[node], bit, patterns);
  }

  const ForestArrays& forest_;
  const Units& units_;
  decltype(CLEARWOOD_DISPATCH(follow_edge<Pattern>)) follow_edge_;
  decltype(CLEARWOOD_DISPATCH(note_outcome<Pattern>)) note_outcome_;
  const TreeUnits* tree_ = nullptr;
  std::int32_t range_first_ = 0, range_last_ = 0;
  RowBlock rows_{};
  std::size_t n_words_ = 1;
  std::vector<std::int32_t> way_;
  std::vector<std::vector<Pattern>> levels_;
};

}  // namespace clearwood
