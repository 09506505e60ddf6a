// Close bounds on a sum of trees in a box: the part of a tree's value that one feature
// decides is passed to that feature, where the messages of all trees add up.
#pragma once

#include <memory>
#include <vector>

#include "condense/pass.hpp"
#include "condense/store.hpp"

namespace clearwood::condense {

// A restricted tree as a list of leaves (see TreeView). Features without order are left out: the
// tree is then bounded over all their values.
struct Shape {
  std::vector<std::int32_t> feature, first_cell, end;
  std::vector<std::uint8_t> has_missing, from, to;
  std::vector<Id> leaves;
  bool usable = false;
  std::int32_t n_cells() const { return first_cell.back(); }
  TreeView view() const {
    return {std::int32_t(feature.size()), std::int32_t(leaves.size()), feature.data(),
            first_cell.data(), end.data(), has_missing.data(), from.data(), to.data()};
  }
};

// Messages of the trees of a box, one after another, for one functional and sign; and their trees.
struct Letters {
  std::vector<std::int32_t> positions;
  std::vector<Id> ids;
  std::vector<std::int32_t> messages;
  std::size_t bytes() const { return 4 * (positions.size() + ids.size() + messages.size()); }
};

// Shapes of restricted trees, each made once.
class Shapes {
 public:
  Shapes(const Store& store, const Ensemble& ensemble) : store_(store), ensemble_(ensemble) {}
  const Shape& make(Id id);
  const Shape& operator[](Id id) const { return *shapes_[id]; }  // one that was made
  std::size_t bytes() const { return bytes_; }

 private:
  const Store& store_;
  const Ensemble& ensemble_;
  std::vector<std::unique_ptr<Shape>> shapes_;
  std::size_t bytes_ = 0;
};

class Messages {
 public:
  Messages(const Store& store, const Shapes& shapes, const Ensemble& ensemble,
           const Decision& decision);

  // A lower bound of sign times functional d of the sum of the trees in a box, whose shapes were
  // made. Starts from `letters`, which may be those of a larger box, and leaves its own there. Stops
  // as soon as the bound is `enough`, or further rounds promise too little; at least one is done.
  double lower(const std::vector<Id>& ids, const std::vector<std::int32_t>& positions,
               const std::vector<Span>& box, std::size_t d, double sign, double enough, int rounds,
               Letters& letters);

  // The same by messages from nothing, of which an equal part only is given back. Cuts are judged by
  // them: near the best bound all cuts look alike.
  double from_nothing(const std::vector<Id>& ids, const std::vector<Span>& box, std::size_t d,
                      double sign, int rounds);

  // Of the messages at hand: every tree with the values of its leaves
  // and its messages; the ranks of a feature and the sums of messages there; whole numbers to one.
  template <class Body>
  void each_tree(Body&& body) const {
    const std::int32_t *value = values_.data(), *message = messages_.data();
    for (const Shape* shape : open_) {
      if (shape == nullptr) continue;
      body(*shape, value, message);
      value += shape->leaves.size();
      message += shape->n_cells();
    }
  }
  const Ranks& ranks(std::size_t feature) const { return ranks_[feature]; }
  const std::int32_t* sums(std::size_t feature) const { return sums_at_[feature]; }
  double scale() const { return scale_; }

 private:
  void gather(const std::vector<Id>& ids, const std::vector<Span>& box, std::size_t d, double sign);
  void carry_over(const Letters& from, const std::vector<Id>& ids,
                  const std::vector<std::int32_t>& positions, const std::vector<Span>& box);
  void add_up();
  void round(bool evenly);  // every tree passes its messages once
  double bound() const;

  const Store& store_;
  const Shapes& shapes_;
  const Ensemble& ensemble_;
  double scale_ = 1;
  // of the box at hand
  std::vector<const Shape*> open_;
  std::vector<Ranks> ranks_;
  std::vector<std::vector<std::int32_t>> sums_;  // per feature and rank: the messages of all trees
  std::vector<std::int32_t*> sums_at_;
  std::vector<std::int32_t> values_, messages_, scratch_;
  double fixed_ = 0;  // trees that are bounded as they are
  std::size_t n_trees_ = 0;
};

}  // namespace clearwood::condense
