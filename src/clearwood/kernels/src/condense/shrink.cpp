// Making a diagram smaller: parts of it become grids, and grids small trees.
#include "condense/shrink.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace clearwood::condense {

Shrinker::Shrinker(Store& store, const Built& from, Canvas& to, const Decision& decision,
                   const ShrinkOptions& options, const Rows& rows, std::function<void()> look)
    : store_(store),
      from_(from),
      to_(to),
      decision_(decision),
      options_(options),
      rows_(rows),
      look_(std::move(look)),
      leaves_(from.size(), 1),
      depth_(from.size(), 0),
      copied_(from.size(), -1),
      seen_(from.size(), 0) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from.left[i] < 0) continue;
    const auto l = std::size_t(from.left[i]), r = std::size_t(from.right[i]);
    leaves_[i] = leaves_[l] + leaves_[r];
    depth_[i] = 1 + std::max(depth_[l], depth_[r]);
  }
}

void Shrinker::run() {
  std::vector<Span> box = store_.everything();
  std::vector<std::int32_t> rows(rows_.size());
  std::iota(rows.begin(), rows.end(), 0);
  to_.built().root = shrink(from_.root, box, rows, false);
}

std::int32_t Shrinker::leaf(std::int32_t node) {
  const auto at = static_cast<std::size_t>(node);
  if (!from_.certified[at]) return to_.open_leaf();
  if (from_.payload[at] < 0) return to_.class_leaf(from_.outcome[at]);
  const std::size_t n = store_.ensemble().n_outputs();
  return to_.value_leaf(&from_.value[std::size_t(from_.payload[at]) * n],
                        decision_.mode == Mode::tolerance ? decision_.tolerance : 0.0);
}

std::int32_t Shrinker::copy(std::int32_t node) {
  const auto at = static_cast<std::size_t>(node);
  if (copied_[at] >= 0) return copied_[at];
  if (from_.left[at] < 0) return copied_[at] = leaf(node);
  const std::int32_t left = copy(from_.left[at]);
  const std::int32_t right = copy(from_.right[at]);
  return copied_[at] = to_.split(from_.question[at], left, right);
}

Hash Shrinker::name(std::int32_t node, const std::vector<Span>& box) const {
  Hash hash{mix(std::uint64_t(node) + 1), std::uint64_t(node)};
  for (std::size_t j = 0; j < box.size(); ++j) {
    if (!store_.ensemble().is_set[j]) continue;
    hash.a = mix(hash.a + std::uint64_t(box[j].lo) + 1);
    hash.b = mix(hash.b ^ (std::uint64_t(box[j].lo) * 31 + j));
  }
  return hash;
}

double Shrinker::cost(std::int32_t node) const {
  const auto at = static_cast<std::size_t>(node);
  return options_.objective == Objective::depth ? depth_[at] : leaves_[at];
}

std::int32_t Shrinker::keep(std::int32_t node, std::vector<Span>& box,
                            std::vector<std::int32_t>& rows, bool searched) {
  const auto at = static_cast<std::size_t>(node);
  const std::int32_t number = from_.question[at];
  const Question q = store_.question(number);
  const auto j = static_cast<std::size_t>(q.feature);
  std::vector<std::int32_t> one, two;
  for (const std::int32_t row : rows) {
    (store_.goes_left(q, rows_[std::size_t(row)][j]) ? one : two).push_back(row);
  }
  const Span span = box[j];
  box[j] = store_.side(q, span, true);
  const std::int32_t left = shrink(from_.left[at], box, one, searched);
  box[j] = store_.side(q, span, false);
  const std::int32_t right = shrink(from_.right[at], box, two, searched);
  box[j] = span;
  return to_.split(number, left, right);
}

std::int32_t Shrinker::shrink(std::int32_t node, std::vector<Span>& box,
                              std::vector<std::int32_t>& rows, bool searched) {
  const auto at = static_cast<std::size_t>(node);
  if (from_.left[at] < 0) return leaf(node);
  const bool weighted = options_.objective == Objective::questions;
  // two leaves cannot be fewer
  if (!weighted && leaves_[at] <= 2) return copy(node);
  const Hash key = name(node, box);
  if (!weighted) {
    if (const auto found = done_.find(key); found != done_.end()) return found->second;
  }
  if (!options_.prove && spent_ > options_.total) return copy(node);
  look_();
  std::int32_t result = -1;
  Cells cells;
  const auto n_boxes_of = [&] {
    return cells.usable ? n_boxes(compress(cells.grid).grid) : 1e300;
  };
  const double most = node == from_.root ? std::max(options_.whole, options_.provable)
                                         : options_.provable;
  // every leaf takes a cell at least
  if (leaves_[at] <= options_.cells) cells = coloured(node, box, true);
  double boxes = options_.prove ? 0 : n_boxes_of();
  if (boxes > most && cells.either_side) {
    // too many questions to try them all: those of the diagram
    cells = coloured(node, box, false);
    boxes = n_boxes_of();
  }
  if (!cells.usable) {
    if (options_.prove) throw TooLarge(1e300);
    result = keep(node, box, rows, false);
  } else {
    ++n_grids_;
    if (weighted) weigh(cells, rows);
    if (options_.prove) {
      const double bytes = proof_bytes(compress(cells.grid).grid, options_.objective);
      if (bytes > options_.bytes) throw TooLarge(bytes);
      return emit(prove_grid(cells.grid, options_.objective, look_), cells);
    }
    const bool whole = node == from_.root && boxes <= options_.whole;
    const bool small = whole || boxes <= options_.provable;
    spent_ += 4.0 * double(cells.grid.labels.size()) + (small ? 4 * boxes : 0.0);
    if (!small && !searched) spent_ += options_.work;
    GridTree tree;
    if (whole) {
      tree = prove_grid(cells.grid, options_.objective, look_);
    } else if (small || !searched) {
      tree = searched_tree(cells.grid);
    }
    double found = std::numeric_limits<double>::infinity();
    if (!tree.split.empty()) found = tree_cost(cells.grid, tree, options_.objective);
    if (!weighted && found > cost(node)) {
      found = cost(node);
      result = copy(node);
    } else if (!tree.split.empty()) {
      result = emit(tree, cells);
    }
    if (!small && !weighted) {
      // the questions of the diagram itself, with parts made smaller one by one
      const std::int32_t other = keep(node, box, rows, true);
      if (result < 0 || made_cost(other) < found) result = other;
    } else if (result < 0) {
      result = keep(node, box, rows, true);
    }
  }
  if (!weighted) done_.emplace(key, result);
  return result;
}

GridTree Shrinker::searched_tree(const Grid& grid) {
  for (int breadth = options_.breadth; breadth >= 1; --breadth) {
    try {
      return reduce_grid(grid, breadth, options_.provable, options_.work, options_.objective, look_);
    } catch (const GaveUp&) {
      // a narrower search is quicker
    }
  }
  return {};
}

double Shrinker::made_cost(std::int32_t node) {
  const Built& built = to_.built();
  for (std::size_t i = made_.size(); i < built.size(); ++i) {
    double value = options_.objective == Objective::depth ? 0 : 1;
    if (built.left[i] >= 0) {
      const double l = made_[std::size_t(built.left[i])], r = made_[std::size_t(built.right[i])];
      value = options_.objective == Objective::depth ? 1 + std::max(l, r) : l + r;
    }
    made_.push_back(value);
  }
  return made_[std::size_t(node)];
}

Shrinker::Cells Shrinker::coloured(std::int32_t node, const std::vector<Span>& box,
                                   bool either_side) {
  Cells cells = lay_out(node, box, either_side);
  if (cells.usable) colour(cells, node);
  return cells;
}

void Shrinker::colour(Cells& cells, std::int32_t node) {
  std::vector<std::vector<std::int32_t>> places;
  for (const Dimension& d : cells.grid.dimensions) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(d.size));
    std::iota(all.begin(), all.end(), 0);
    places.push_back(std::move(all));
  }
  colour(node, cells, places);
}

Shrinker::Cells Shrinker::lay_out(std::int32_t node, const std::vector<Span>& box,
                                  bool either_side) {
  const Ensemble& ensemble = store_.ensemble();
  ++round_;
  std::vector<std::int32_t> stack{node};
  std::vector<std::vector<std::int32_t>> asked(ensemble.n_features());
  while (!stack.empty()) {
    const auto at = static_cast<std::size_t>(stack.back());
    stack.pop_back();
    if (seen_[at] == round_ || from_.left[at] < 0) continue;
    seen_[at] = round_;
    spent_ += 20;
    asked[std::size_t(store_.question(from_.question[at]).feature)].push_back(from_.question[at]);
    stack.push_back(from_.left[at]);
    stack.push_back(from_.right[at]);
  }
  Cells cells;
  double total = 1;
  for (std::size_t j = 0; j < asked.size(); ++j) {
    auto& questions = asked[j];
    if (questions.empty()) continue;
    if (options_.prove && ensemble.is_set[j]) add_sets(j, questions);
    std::sort(questions.begin(), questions.end());
    questions.erase(std::unique(questions.begin(), questions.end()), questions.end());
    Axis axis;
    axis.feature = static_cast<std::int32_t>(j);
    Dimension dimension;
    if (ensemble.is_set[j]) {
      // places: atoms of the box that every question treats alike
      const auto& have = store_.sets()[box[j].lo];
      std::vector<std::vector<bool>> signature;
      for (std::size_t atom = 0; atom < have.size() * 64; ++atom) {
        if (!(have[atom / 64] >> (atom % 64) & 1)) continue;
        std::vector<bool> mine;
        for (const std::int32_t q : questions) {
          mine.push_back(store_.in_set(store_.question(q), atom));
        }
        std::size_t place = 0;
        while (place < signature.size() && signature[place] != mine) ++place;
        if (place == signature.size()) {
          signature.push_back(mine);
          axis.atoms.emplace_back(have.size(), 0);
        }
        axis.atoms[place][atom / 64] |= std::uint64_t(1) << (atom % 64);
      }
      if (signature.size() > 64) return cells;
      dimension.ordered = false;
      dimension.size = static_cast<std::int32_t>(signature.size());
      for (std::size_t q = 0; q < questions.size(); ++q) {
        std::uint64_t mask = 0;
        for (std::size_t place = 0; place < signature.size(); ++place) {
          mask |= std::uint64_t(signature[place][q]) << place;
        }
        dimension.masks.push_back(mask);
        dimension.questions.push_back(store_.plain(questions[q]));
      }
    } else {
      axis.missing = box[j].missing;
      for (const std::int32_t q : questions) {
        const std::int32_t cut = store_.question(q).cut;
        if (cut < ensemble.n_cuts[j] && cut >= box[j].lo && cut < box[j].hi) {
          axis.cuts.push_back(cut);
        }
      }
      std::sort(axis.cuts.begin(), axis.cuts.end());
      axis.cuts.erase(std::unique(axis.cuts.begin(), axis.cuts.end()), axis.cuts.end());
      axis.numbers = box[j].lo <= box[j].hi;
      axis.top = box[j].hi;
      dimension.size = static_cast<std::int32_t>(axis.cuts.size()) + axis.numbers + axis.missing;
      dimension.ordered = !axis.missing;
      if (axis.missing) {
        if (dimension.size > 64) return cells;
        // missing values may go to either side of each cut, whatever the diagram asks
        cells.either_side |= either_side;
        if (either_side) questions = with_either_side(axis, ensemble.n_cuts[j]);
        for (const std::int32_t q : questions) {
          std::uint64_t mask = 0;
          for (std::int32_t place = 0; place < dimension.size; ++place) {
            mask |= std::uint64_t(goes_left(store_.question(q), axis, place)) << place;
          }
          dimension.masks.push_back(mask);
          dimension.questions.push_back(q);
        }
      }
    }
    total *= dimension.size;
    if (total > options_.cells) return cells;
    cells.grid.dimensions.push_back(std::move(dimension));
    cells.axes.push_back(std::move(axis));
  }
  cells.grid.labels.assign(static_cast<std::size_t>(total), 0);
  cells.usable = true;
  return cells;
}

// A least tree may ask any set of the ensemble, not only those that the diagram asks.
void Shrinker::add_sets(std::size_t feature, std::vector<std::int32_t>& questions) {
  const Ensemble& ensemble = store_.ensemble();
  for (std::size_t node = 0; node < ensemble.left.size(); ++node) {
    if (ensemble.left[node] < 0 || std::size_t(ensemble.feature[node]) != feature) continue;
    questions.push_back(store_.threshold(std::int32_t(feature), ensemble.cut[node]));
  }
  for (std::int32_t& question : questions) question = store_.plain(question);
}

std::vector<std::int32_t> Shrinker::with_either_side(const Axis& axis, std::int32_t n_cuts) {
  std::vector<std::int32_t> questions;
  if (axis.numbers) questions.push_back(store_.threshold(axis.feature, n_cuts));
  for (const std::int32_t cut : axis.cuts) {
    questions.push_back(store_.threshold(axis.feature, cut, false));
    questions.push_back(store_.threshold(axis.feature, cut, true));
  }
  return questions;
}

bool Shrinker::goes_left(const Question& q, const Axis& axis, std::int32_t place) const {
  if (!axis.atoms.empty()) {
    const auto& atoms = axis.atoms[std::size_t(place)];
    for (std::size_t word = 0; word < atoms.size(); ++word) {
      if (atoms[word]) {
        const auto atom = word * 64 + std::size_t(std::countr_zero(atoms[word]));
        return store_.in_set(q, atom) != (q.default_left != 0);
      }
    }
  }
  // numbers first, if any are left, then missing values
  const auto n = static_cast<std::int32_t>(axis.cuts.size());
  if (axis.missing && place == n + axis.numbers) return q.default_left != 0;
  return (place < n ? axis.cuts[std::size_t(place)] : axis.top) <= q.cut;
}

void Shrinker::colour(std::int32_t node, Cells& cells,
                      std::vector<std::vector<std::int32_t>>& places) {
  const auto at = static_cast<std::size_t>(node);
  if (from_.left[at] < 0) {
    const std::size_t n = places.size();
    const auto& dimensions = cells.grid.dimensions;
    std::vector<std::size_t> position(n, 0);
    while (true) {
      std::size_t cell = 0;
      for (std::size_t i = 0; i < n; ++i) {
        cell = cell * std::size_t(dimensions[i].size) + std::size_t(places[i][position[i]]);
      }
      // the last dimension in one go
      const std::size_t start = n ? cell - std::size_t(places[n - 1][0]) : 0;
      if (n == 0) {
        cells.grid.labels[0] = std::uint32_t(node);
        return;
      }
      for (const std::int32_t place : places[n - 1]) {
        cells.grid.labels[start + std::size_t(place)] = std::uint32_t(node);
      }
      std::size_t i = n - 1;
      while (i-- > 0) {
        if (++position[i] < places[i].size()) break;
        position[i] = 0;
      }
      if (i == std::size_t(-1)) return;
    }
  }
  const Question q = store_.question(from_.question[at]);
  std::size_t i = 0;
  while (cells.axes[i].feature != q.feature) ++i;
  std::vector<std::int32_t> one, two, all = std::move(places[i]);
  for (const std::int32_t place : all) {
    (goes_left(q, cells.axes[i], place) ? one : two).push_back(place);
  }
  if (!one.empty()) {
    places[i] = std::move(one);
    colour(from_.left[at], cells, places);
  }
  if (!two.empty()) {
    places[i] = std::move(two);
    colour(from_.right[at], cells, places);
  }
  places[i] = std::move(all);
}

void Shrinker::weigh(Cells& cells, const std::vector<std::int32_t>& rows) {
  cells.grid.weights.assign(cells.grid.labels.size(), 0.0);
  for (const std::int32_t row : rows) {
    std::size_t cell = 0;
    for (std::size_t i = 0; i < cells.axes.size(); ++i) {
      const Axis& axis = cells.axes[i];
      const std::int32_t value = rows_[std::size_t(row)][std::size_t(axis.feature)];
      std::size_t place = 0;
      if (!axis.atoms.empty()) {
        while (!(axis.atoms[place][std::size_t(value) / 64] >> (value % 64) & 1)) ++place;
      } else if (value < 0) {
        place = std::size_t(cells.grid.dimensions[i].size) - 1;
      } else {
        while (place < axis.cuts.size() && axis.cuts[place] < value) ++place;
      }
      cell = cell * std::size_t(cells.grid.dimensions[i].size) + place;
    }
    cells.grid.weights[cell] += 1;
  }
}

std::int32_t Shrinker::emit(const GridTree& tree, const Cells& cells) {
  std::vector<std::int32_t> made(tree.split.size(), -1);
  for (std::size_t i = tree.split.size(); i-- > 0;) {
    if (tree.left[i] < 0) {
      made[i] = leaf(static_cast<std::int32_t>(tree.label[i]));
      continue;
    }
    const auto d = static_cast<std::size_t>(tree.dimension[i]);
    const auto s = static_cast<std::size_t>(tree.split[i]);
    const Dimension& dimension = cells.grid.dimensions[d];
    const std::int32_t question =
        dimension.ordered ? store_.threshold(cells.axes[d].feature, cells.axes[d].cuts[s])
                          : dimension.questions[s];
    made[i] = to_.split(question, made[std::size_t(tree.left[i])], made[std::size_t(tree.right[i])]);
  }
  return made[0];
}

}  // namespace clearwood::condense
