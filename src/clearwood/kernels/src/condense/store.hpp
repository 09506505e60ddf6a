// Tree ensembles restricted to boxes: what composing, reducing and budgeted composing share.
//
// A feature's values fall into atoms, which no split of the ensemble separates. An *interval*
// feature has ordered atoms 0 .. n_cuts (the ranks of numbers among the thresholds) and perhaps an
// atom of its own for missing values; a *set* feature (categories; numbers whose zeros count as
// missing) has atoms without order. A box holds, per feature, the atoms that are still possible.
//
// Trees restricted to a box are kept once each (Store): equal restricted trees have equal numbers,
// questions are in one canonical form, and a number never depends on the box beyond the questions
// that are open in it. A subdiagram built for one list of numbers therefore serves every box that
// leads to the same list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace clearwood::condense {

using Id = std::uint32_t;

inline std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

struct Hash {
  std::uint64_t a = 0, b = 0;
  bool operator==(const Hash&) const = default;
};
struct HashOfHash {
  std::size_t operator()(const Hash& h) const { return static_cast<std::size_t>(h.a); }
};

// The arrays of a forest, in ranks instead of thresholds.
struct Ensemble {
  // features
  std::vector<std::int32_t> is_set;        // 1 where atoms have no order
  std::vector<std::int32_t> n_cuts;        // interval: thresholds; set: atoms
  std::vector<std::int32_t> missing_atom;  // interval: whether missing values are an atom of their own
  // nodes
  std::vector<std::int32_t> left, right, feature, cut, default_left;  // set features: cut = set number
  std::vector<double> gain;  // (nodes, columns): value times weight, as the library rounds it
  std::size_t columns = 1;
  // trees
  std::vector<std::int32_t> roots, tree_output;
  // sets of atoms, one per question of a set feature
  std::vector<std::uint64_t> set_words;
  std::vector<std::int64_t> set_start;
  // sums
  std::vector<double> base, divisor;
  std::vector<double> weight;  // of trees; only the weighted median needs it
  bool single = false;         // sums are float32
  bool divides = false;        // sums are divided
  std::size_t n_features() const { return is_set.size(); }
  std::size_t n_trees() const { return roots.size(); }
  std::size_t n_outputs() const { return base.size(); }
};

enum class Mode : int { class_ = 0, value = 1, tolerance = 2, median = 3 };

// Decisions are between at most this many classes: a bit of a word stands for each.
constexpr std::int32_t most_classes = 64;

// How an outcome is decided. Functional d of a raw prediction v is scale_a v[a] - scale_b v[b], or
// scale_a v[a] alone where there is one output (b is then the class it counts against).
struct Decision {
  Mode mode = Mode::class_;
  std::vector<std::int32_t> a, b;
  std::vector<double> above, below;  // >= above: a beats b; <= below: b beats a
  double cut = 0;                    // one output: positive where the raw prediction exceeds it
  double tolerance = 0;
  double slack = 0;                  // rounding of sums of bounds, for tolerance
  bool divide = false;               // functionals are taken of divided sums
  std::int32_t n_classes = 2;
  std::size_t size() const { return a.size(); }
};

// The atoms of one feature in a box: interval lo..hi of ranks and perhaps missing, or a set.
struct Span {
  std::int32_t lo = 0, hi = 0;  // set feature: lo is the number of the set, hi its size
  bool missing = false;
  bool operator==(const Span&) const = default;
};

struct Question {
  std::int32_t feature = -1;
  std::int32_t cut = 0;           // interval: rank, n_cuts for missing values; set: its number
  std::int32_t default_left = 0;  // set: whether sides are exchanged against the set
  std::int32_t set_left = -1, set_right = -1;  // set: atoms on either side
};

enum class Side { left, right, both };

// Sets of atoms, each kept once.
class Sets {
 public:
  std::int32_t intern(const std::uint64_t* words, std::size_t n);
  const std::vector<std::uint64_t>& operator[](std::int32_t set) const { return pool_[set]; }
  std::int32_t count(std::int32_t set) const { return count_[set]; }

 private:
  std::vector<std::vector<std::uint64_t>> pool_;
  std::vector<std::int32_t> count_;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> found_;
};

class Store {
 public:
  static constexpr std::int32_t leaf = -1;
  static constexpr std::uint32_t many = 1u << 30;

  struct Node {
    std::int32_t question = leaf;  // leaves: left is the number of the gain
    Id left = 0, right = 0;
    std::uint32_t leaves = 1;    // as a tree, up to `many`
    std::uint64_t features = 0;  // bit feature % 64 of every feature that splits below
  };

  Store(const Ensemble& ensemble, const Decision& decision);

  const std::vector<Id>& trees() const { return trees_; }
  const Node& node(Id id) const { return nodes_[id]; }
  const Question& question(std::int32_t q) const { return questions_[q]; }
  std::size_t n_questions() const { return questions_.size(); }
  const double* low(Id id) const { return &low_[id * n_functionals_]; }
  const double* high(Id id) const { return &high_[id * n_functionals_]; }
  bool is_leaf(Id id) const { return nodes_[id].question == leaf; }
  const double* gain(Id id) const { return &gains_[nodes_[id].left * columns_]; }
  std::uint64_t key(Id id) const { return keys_[id]; }
  std::size_t bytes() const;

  // The box everything starts from.
  std::vector<Span> everything() const;
  // The span on one side of a question that splits it.
  Span side(const Question& question, const Span& span, bool left) const;
  // A restricted tree, restricted further.
  Id restrict(Id id, std::int32_t feature, const Span& span);
  // Whether the ensemble's set behind a question of a set feature holds an atom.
  bool in_set(const Question& question, std::size_t atom) const {
    const auto& words = sets_[question_set_[std::size_t(question.cut)]];
    return atom / 64 < words.size() && (words[atom / 64] >> (atom % 64) & 1);
  }
  // Whether a row with this place (a rank, an atom of a set, or below zero where it is missing) goes left.
  bool goes_left(const Question& question, std::int32_t place) const {
    if (ensemble_.is_set[question.feature]) {
      return in_set(question, std::size_t(place)) != (question.default_left != 0);
    }
    return place < 0 ? question.default_left != 0 : place <= question.cut;
  }
  // A split by a set feature in the ensemble's own form; a threshold.
  std::int32_t plain(std::int32_t question);
  std::int32_t threshold(std::int32_t feature, std::int32_t cut, bool missing_left = false);
  // The question as it splits a whole span. One from deep inside a tree may cover a part only.
  std::int32_t asked_of(std::int32_t question, const Span& span);
  Side status(const Question& question, const Span& span) const;
  const Sets& sets() const { return sets_; }
  const Ensemble& ensemble() const { return ensemble_; }

  // Raw prediction from one leaf per tree, in the library's order and precision.
  void exact(const Id* leaves, double* raw) const;
  std::int32_t class_of(const double* raw) const;

 private:
  Id import(std::int32_t node, std::vector<Span>& box);
  Id make_leaf(const double* gain, std::int32_t output);
  Id make(std::int32_t question, Id left, Id right);
  std::int32_t intern(const Question& question);
  // The question's canonical form in a span it splits; whether its sides are exchanged.
  std::int32_t canonical(const Question& question, const Span& span, bool& exchanged);
  std::int32_t narrowed(std::int32_t set, std::int32_t by, bool inside) const;

  const Ensemble& ensemble_;
  const Decision& decision_;
  std::size_t n_functionals_, columns_;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> keys_;
  std::vector<double> low_, high_, gains_;
  std::vector<Question> questions_;
  std::vector<Id> trees_;
  std::vector<std::int32_t> question_set_;  // set number of an ensemble's set -> interned set
  mutable Sets sets_;
  std::unordered_map<Hash, Id, HashOfHash> unique_, unique_leaf_;
  std::unordered_map<Hash, std::int32_t, HashOfHash> unique_question_;
  struct Remembered {
    Id id = std::numeric_limits<Id>::max();
    std::int32_t feature = -1;
    Span span;
    Id result = 0;
  };
  std::vector<Remembered> remembered_;
};

// The diagram under construction: nodes kept once, children before parents.
struct Built {
  std::vector<std::int32_t> question, left, right, outcome;
  std::vector<double> value, lower, upper;  // (leaves' rows, outputs), at row `payload`
  std::vector<std::int32_t> payload;
  std::vector<std::uint8_t> certified;
  std::int32_t root = -1;
  std::size_t size() const { return question.size(); }
};

struct Limits {
  std::size_t nodes = std::numeric_limits<std::size_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
};

}  // namespace clearwood::condense
