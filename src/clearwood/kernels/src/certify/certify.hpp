// Whether a decision diagram equals an ensemble everywhere: a walk through the product of both.
//
// Columns are in ranks. An interval column has ranks 0, 1, ... of its numbers and perhaps a place
// for missing values; a question keeps the ranks up to its cut on the left. A set column has places
// without order; a question keeps a set of them on the left.
//
// Sums are bounded in whole numbers: leaf values times a power of two, rounded down and up. Bounds
// add up without rounding, so a state's bounds do not depend on the way to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace clearwood::certify {

enum class Mode : int { class_ = 0, value = 1, tolerance = 2, median = 3 };
enum class Verdict : int { proved = 0, refuted = 1, out_of_time = 2, out_of_memory = 3 };

struct Columns {
  std::vector<std::int32_t> is_set;
  std::vector<std::int32_t> size;     // interval: the last rank; set: how many places
  std::vector<std::int32_t> missing;  // interval: whether missing values have their own place
};

// Nodes of trees or of a diagram; feature < 0 at leaves.
struct Nodes {
  std::vector<std::int32_t> feature, cut, default_left, left, right;
  std::size_t size() const { return feature.size(); }
};

struct Ensemble {
  Nodes nodes;
  std::vector<std::int32_t> roots;
  std::vector<std::int32_t> tree_output;  // -1: all outputs
  std::vector<std::int32_t> node_output;  // of the node's tree
  std::vector<double> gain;               // per node and column: weighed, rounded as the library does
  std::vector<std::int64_t> gain_low, gain_high;  // the same in whole numbers, outward
  std::size_t columns = 1;
  std::vector<double> base, divisor, weight;
  std::vector<std::int64_t> base_low, base_high;
  bool single = false;   // add in float32
  bool divides = false;  // means and votes
  std::size_t n_outputs() const { return base.size(); }
  std::size_t n_trees() const { return roots.size(); }
};

struct Claim {
  Mode mode = Mode::class_;
  Nodes nodes;
  std::vector<std::int32_t> outcome, certified;
  std::vector<double> value, lower, upper;    // per node and output
  std::vector<std::int64_t> least, greatest;  // lower and upper in whole numbers, inward
  std::int64_t error = 0;   // what the library's rounding can change about a sum
  bool ties_exact = false;  // sums are never rounded, so that equal means equal
  std::int64_t cut = 0;     // one output: sums up to it, in whole numbers, are the first class
  double exact_cut = 0;     // the same as the library's own sum
  double tolerance = 0;
};

using Id = std::uint32_t;

// More than any sum reaches: no bound.
inline constexpr std::int64_t unbounded = std::int64_t(1) << 62;
// Differences between any two classes are bounded up to so many classes; with more, each by itself.
inline constexpr std::size_t most_classes_in_pairs = 24;

struct Region {
  std::int32_t lo = 0, hi = -1;  // ranks of an interval; lo is the number of the set in a set column
  bool missing = false;
  bool operator==(const Region&) const = default;
};

// A question as it acts within a region, so that equal actions are equal questions.
struct Question {
  std::int32_t feature = -1, cut = 0, missing = 0;  // missing: 0 absent, 1 left, 2 right
  std::int32_t set_left = -1, set_right = -1;
};

struct Key {
  std::uint64_t a = 0, b = 0;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const { return key.a; }
};

inline std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 29;
  x *= 0xd6e8feb86659fd93ULL;
  return x ^ (x >> 32);
}

// Sets of places, each kept once.
class SetPool {
 public:
  std::int32_t intern(const std::vector<std::uint64_t>& words);
  const std::vector<std::uint64_t>& operator[](std::int32_t at) const {
    return sets_[static_cast<std::size_t>(at)];
  }
  bool is_empty(std::int32_t at) const;
  std::int32_t meet(std::int32_t one, std::int32_t other, bool inside);

 private:
  std::vector<std::vector<std::uint64_t>> sets_;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> found_;
};

// Trees restricted to regions, each kept once, with bounds on what they can add.
class Store {
 public:
  struct Node {
    std::int32_t question = -1;  // -1: leaf, whose gains are those of node `left` of the ensemble
    Id left = 0, right = 0;
    std::uint64_t features = 0;  // columns that split, folded into 64 bits
  };

  Store(const Columns& columns, const std::vector<std::vector<std::uint64_t>>& sets,
        const Ensemble& ensemble, const Claim& claim, std::size_t n_pairs);

  const Node& operator[](Id id) const { return nodes_[id]; }
  bool is_leaf(Id id) const { return nodes_[id].question < 0; }
  const std::int64_t* low(Id id) const { return &low_[std::size_t(id) * n_]; }
  const std::int64_t* high(Id id) const { return &high_[std::size_t(id) * n_]; }
  std::size_t n_functionals() const { return n_; }
  const std::vector<Id>& trees() const { return trees_; }
  const std::vector<Region>& everything() const { return everything_; }
  const Question& question(std::int32_t at) const { return questions_[std::size_t(at)]; }
  std::size_t n_questions() const { return questions_.size(); }
  const SetPool& sets() const { return sets_; }
  bool is_set(std::int32_t feature) const { return columns_.is_set[std::size_t(feature)] != 0; }

  // The question of a node of the ensemble or the claim.
  Question asked(const Nodes& nodes, std::size_t at) const;
  Region side(const Question& question, const Region& region, bool left);
  bool is_empty(std::int32_t feature, const Region& region) const;
  Id restrict(Id id, std::int32_t feature, const Region& region);
  std::size_t bytes() const;

 private:
  Id leaf(std::int32_t node);
  Id make(std::int32_t question, Id left, Id right);
  Id import(std::int32_t node, std::vector<Region>& box);
  // Join two branches under a question seen within a region.
  Id join(const Question& question, const Region& region, Id left, Id right);
  void bound(std::int32_t node);

  const Columns& columns_;
  const Ensemble& ensemble_;
  const Claim& claim_;
  std::size_t n_;
  bool pairs_;
  SetPool sets_;
  std::vector<std::int32_t> asked_set_;
  std::vector<Region> everything_;
  std::vector<Node> nodes_;
  std::vector<std::int64_t> low_, high_;
  std::vector<Question> questions_;
  std::unordered_map<Key, std::int32_t, KeyHash> question_of_;
  std::unordered_map<Key, Id, KeyHash> node_of_, leaf_of_;
  std::vector<Id> trees_;
  struct Remembered {
    Id id = 0, result = 0;
    std::int32_t feature = -1;
    Region region;
  };
  std::vector<Remembered> remembered_;
};

struct Limits {
  double seconds = 0;  // none where 0
  double bytes = 0;
};

struct Outcome {
  Verdict verdict = Verdict::proved;
  std::vector<Region> box;      // where it was refuted
  std::int32_t leaf = -1;       // the diagram's leaf there
  std::size_t n_states = 0, n_leaves = 0, n_shared = 0, n_exact = 0;
  std::vector<std::vector<Region>> open;  // places whose outcome the ensemble itself must compute
  std::vector<std::int32_t> open_leaf;
};

// Proves or refutes the claim. `poll` is called now and then and may throw.
class Walk {
 public:
  Walk(const Columns& columns, const std::vector<std::vector<std::uint64_t>>& sets,
       const Ensemble& ensemble, const Claim& claim, const Limits& limits,
       std::function<void()> poll);
  Outcome run();
  const SetPool& sets() const { return store_.sets(); }

 private:
  struct State {
    std::vector<Id> ids;
    std::vector<std::int32_t> trees;
    std::vector<std::int64_t> low, high;  // of the trees that are constant, and the base
    std::uint64_t dead = 0;               // classes beaten everywhere in the box
    Key closed;                           // names the constant trees, where their order matters
  };
  // For which sums of constant trees the same steps prove the same state.
  struct Proof {
    std::vector<std::int64_t> least, greatest;
    bool reusable = true;
    explicit Proof(std::size_t n);
  };
  struct Entry {
    std::int32_t next;
  };
  struct Stop {};

  // The walk itself: walk.cpp.
  State start();
  bool prove(std::int32_t at, State& state, Proof& proof, int depth);
  bool split(std::int32_t at, const Question& question, std::int32_t left, std::int32_t right,
             State& state, Proof& proof, int depth);
  State restricted(const State& state, std::int32_t feature, const Region& region);
  void absorb(State& state, std::int32_t tree, Id leaf);
  void watch();

  // What decides: leaf.cpp.
  bool prove_leaf(std::int32_t at, State& state, Proof& proof, int depth);
  void sum(const State& state);
  void bury(State& state, Proof& proof);
  bool beats(const State& state, std::size_t winner, std::size_t loser) const;
  bool within(std::int32_t at, State& state, Proof& proof) const;
  bool median_is(std::int32_t at, const State& state, bool& known) const;
  std::int32_t exact_class(const State& state) const;
  void exact_raw(std::vector<double>& raw) const;
  bool refute(std::int32_t leaf);
  std::size_t pair(std::size_t a, std::size_t b) const;
  static void need_least(Proof& proof, std::size_t f, std::int64_t least);
  static void need_greatest(Proof& proof, std::size_t f, std::int64_t greatest);

  // What was proved before, and where to divide: memo.cpp.
  Key key(std::int32_t at, const State& state) const;
  bool recall(const Key& key, const State& state, Proof& proof) const;
  void remember(const Key& key, const Proof& proof);
  std::int32_t best_question(const State& state);
  void score(Id id, double weight, int depth);

  const Columns& columns_;
  const Ensemble& ensemble_;
  const Claim& claim_;
  Limits limits_;
  std::function<void()> poll_;
  std::size_t n_classes_;
  bool pairs_;  // bounds of differences between two outputs, rather than of outputs
  Store store_;
  std::vector<Region> box_;
  std::vector<Id> constant_;  // per tree, its leaf where it is constant
  std::vector<std::int64_t> low_, high_;
  std::vector<double> score_;
  std::vector<std::int32_t> touched_;
  std::vector<std::uint64_t> support_;  // per node of the claim: special columns below it
  std::vector<std::int32_t> special_;   // columns whose region is part of a key
  std::vector<std::int32_t> parents_;
  std::unordered_map<Key, std::int32_t, KeyHash> memo_;
  std::vector<Entry> entries_;
  std::vector<std::int64_t> ranges_;
  Outcome outcome_;
  double started_ = 0;
};

}  // namespace clearwood::certify
