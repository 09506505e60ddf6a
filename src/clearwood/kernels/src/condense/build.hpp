// Composing: from restricted trees to one diagram.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "condense/store.hpp"

namespace clearwood::condense {

// Thrown when a limit ends the work, with the name of the limit.
struct LimitReached : std::runtime_error {
  explicit LimitReached(const std::string& which) : std::runtime_error(which) {}
};

// Looks at the clock, the memory and Ctrl-C now and then.
class Watch {
 public:
  Watch(Limits limits, std::function<void()> poll)
      : limits_(limits), poll_(std::move(poll)), start_(std::chrono::steady_clock::now()) {}
  // `work` is about the number of small steps since the last look.
  void look(std::size_t nodes, std::size_t bytes, std::size_t work) {
    since_look_ += work + 1;
    if (since_look_ < between_looks) return;
    since_look_ = 0;
    if (nodes > limits_.nodes) throw LimitReached("leaves");
    if (bytes > limits_.bytes) throw LimitReached("memory");
    if (++looks_ % 16 == 0 && poll_) poll_();
    if (seconds() > limits_.seconds) throw LimitReached("seconds");
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  Limits limits_;
  std::function<void()> poll_;
  std::chrono::steady_clock::time_point start_;
  static constexpr std::size_t between_looks = 20000;
  std::size_t since_look_ = 0, looks_ = 0;
};

// A diagram in the making: equal nodes kept once.
class Canvas {
 public:
  explicit Canvas(std::size_t n_outputs) : n_outputs_(n_outputs) {}
  std::int32_t split(std::int32_t question, std::int32_t left, std::int32_t right);
  std::int32_t class_leaf(std::int32_t outcome);
  std::int32_t value_leaf(const double* value, double half_width);
  std::int32_t open_leaf();
  Built& built() { return built_; }
  std::size_t size() const { return built_.size(); }
  std::size_t bytes() const { return built_.size() * 96 + built_.value.size() * 24; }

 private:
  std::int32_t add(std::int32_t question, std::int32_t left, std::int32_t right,
                   std::int32_t outcome, std::int32_t payload, bool certified);
  std::size_t n_outputs_;
  Built built_;
  std::unordered_map<Hash, std::int32_t, HashOfHash> unique_, unique_value_;
  std::vector<std::int32_t> class_leaf_;
  std::int32_t open_ = -1;
};

// The open trees of a box, the sum of the closed ones, and the classes that can no longer win.
struct State {
  std::vector<Id> ids;
  std::vector<std::int32_t> positions;
  std::vector<double> base;  // per functional
  std::uint64_t dead = 0;
  std::uint64_t closed = 0;  // hash of the closed trees, where their order matters
  std::vector<Id> leaves;    // of the closed trees, where states are not visited depth first
};

// For which sums of closed trees a subdiagram stays right: an interval per functional.
struct Validity {
  std::vector<double> lo, hi;
  explicit Validity(std::size_t n)
      : lo(n, -std::numeric_limits<double>::infinity()),
        hi(n, std::numeric_limits<double>::infinity()) {}
  void meet(const Validity& other) {
    for (std::size_t d = 0; d < lo.size(); ++d) {
      if (other.lo[d] > lo[d]) lo[d] = other.lo[d];
      if (other.hi[d] < hi[d]) hi[d] = other.hi[d];
    }
  }
  // The same with the bounds of `other`, whose sums differ from these by `shift`.
  void meet(const Validity& other, const std::vector<double>& from, const std::vector<double>& to) {
    for (std::size_t d = 0; d < lo.size(); ++d) {
      const double shift = from[d] - to[d];
      if (other.lo[d] - shift > lo[d]) lo[d] = other.lo[d] - shift;
      if (other.hi[d] - shift < hi[d]) hi[d] = other.hi[d] - shift;
    }
  }
  void close() {
    for (double& x : lo) x = std::numeric_limits<double>::infinity();
  }
  bool empty() const {
    for (std::size_t d = 0; d < lo.size(); ++d) {
      if (!(lo[d] <= hi[d])) return true;
    }
    return false;
  }
};

class Composer {
 public:
  Composer(const Ensemble& ensemble, const Decision& decision, Limits limits,
           std::function<void()> poll);

  // The whole space, depth first.
  void run();
  Canvas& canvas() { return canvas_; }
  Store& store() { return store_; }
  // Share of the space that is done, halving at every question; for estimates.
  double progress() const { return progress_; }
  // What of it was done with the first fifth of the nodes allowed.
  double early_progress() const { return early_progress_; }
  std::size_t memory() const { return bytes(); }
  double seconds() const { return watch_.seconds(); }

 protected:
  // How many nodes the open trees have; what a step with them costs.
  std::size_t n_open(const State& state) const;
  State start();
  // Decides the state's outcome as far as bounds can; -1 where they cannot. May close classes.
  std::int32_t decide(State& state, Validity& validity);
  // Sums of the smallest and largest values of the open trees, per functional.
  void bound(const State& state);
  std::int32_t judge(State& state, Validity& validity);
  std::int32_t build(State& state, std::vector<Span>& box, double weight, Validity& validity);
  std::int32_t best_question(const State& state);
  State child(const State& state, std::int32_t feature, const Span& span);
  std::int32_t recall(const Hash& name, const State& state, Validity& validity);
  void remember(const Hash& name, std::int32_t node, const Validity& validity);
  std::int32_t closed_leaf();
  void absorb(State& state, std::int32_t position, Id leaf);
  std::size_t bytes() const;
  Hash key(const State& state) const;
  std::int32_t median(const State& state);

  const Ensemble& ensemble_;
  const Decision& decision_;
  Store store_;
  Canvas canvas_;
  Watch watch_;
  std::vector<Id> constant_;  // leaf of each closed tree on the path to the current box
  bool keeps_leaves_ = false;  // whether states hold them too
  std::vector<double> low_, high_;
  std::vector<std::int32_t> wanted_;  // functionals that the next question should narrow
  std::vector<double> score_;
  std::vector<std::int32_t> touched_;
  // Subdiagrams by the open trees they were made from, each with the sums it is right for.
  struct Entry {
    std::int32_t next, node;
  };
  std::unordered_map<Hash, std::int32_t, HashOfHash> memo_;
  std::vector<Entry> entries_;
  std::vector<double> ranges_;
  double progress_ = 0, early_progress_ = 0;
  std::size_t fifth_;  // of the nodes allowed
  static constexpr double least_weight = 1.0 / 256;  // questions deeper in a tree are not looked at

 private:
  void score(Id id, double weight);
};

// The number with the fewest binary digits in [low, high].
double simplest(double low, double high);

}  // namespace clearwood::condense
