#include "ubjson/ubjson.hpp"

namespace clearwood {
namespace {

// XGBoost nests eight deep; a walk down the values must not exhaust Python's stack.
constexpr std::size_t deepest = 64;

constexpr bool is_constant(std::uint8_t marker) {
  return marker == 'Z' || marker == 'T' || marker == 'F';
}

std::string shown(std::uint8_t byte) {
  static const char* digits = "0123456789abcdef";
  if (byte >= ' ' && byte < 0x7f) return std::string("'") + static_cast<char>(byte) + "'";
  return std::string("0x") + digits[byte >> 4] + digits[byte & 15];
}

}  // namespace

class UbjsonScanner {
 public:
  UbjsonScanner(const std::uint8_t* data, std::size_t n_bytes, UbjsonDocument& found)
      : data_(data), n_(n_bytes), found_(found) {}

  void run() {
    value(-1, marker());
    while (!open_.empty()) {
      Container& inside = open_.back();
      UbjsonValue& container = found_.values_[inside.at];
      if (ended(inside)) {
        container.end = found_.values_.size();
        open_.pop_back();
        continue;
      }
      --inside.left;
      ++container.count;
      const std::uint8_t implied = inside.implied;
      const std::int64_t key = inside.is_object ? name() : -1;
      value(key, implied ? implied : marker());
    }
    if (at_ != n_) throw error(std::to_string(n_ - at_) + " bytes follow the value");
  }

 private:
  struct Container {
    std::size_t at;
    std::int64_t left;     // entries still to come; negative where an end marker follows the last
    std::uint8_t implied;  // marker of every entry; 0 where each has its own
    bool is_object;
  };

  UbjsonError error(const std::string& what) const { return {at_, what}; }

  void need(std::uint64_t n_bytes) const {
    if (n_bytes <= n_ - at_) return;
    throw error(std::to_string(n_bytes) + " bytes are announced, " + std::to_string(n_ - at_) +
                " are left");
  }

  std::uint8_t peek() const {
    need(1);
    return data_[at_];
  }

  // The next marker; no-operations before it are skipped.
  std::uint8_t marker() {
    std::uint8_t next = peek();
    while (next == 'N') {
      ++at_;
      next = peek();
    }
    ++at_;
    return next;
  }

  std::int64_t length() {
    const std::uint8_t type = marker();
    const std::size_t size = UbjsonDocument::number_size(type);
    if (size == 0 || type == 'd' || type == 'D') {
      --at_;
      throw error("a length cannot be of type " + shown(type));
    }
    need(size);
    std::uint64_t bits = 0;
    for (std::size_t k = 0; k < size; ++k) bits = bits << 8 | data_[at_ + k];
    // the sign bit of a shorter type moves to the top and back down again
    const int unused = static_cast<int>(64 - 8 * size);
    const auto wide = static_cast<std::int64_t>(bits << unused) >> unused;
    const std::int64_t found = type == 'U' ? static_cast<std::int64_t>(bits) : wide;
    if (found < 0) throw error("a length of " + std::to_string(found));
    at_ += size;
    return found;
  }

  std::int64_t name() {
    const std::int64_t size = length();
    need(static_cast<std::uint64_t>(size));
    const std::string_view key(reinterpret_cast<const char*>(data_ + at_),
                               static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    const auto [place, is_new] =
        found_.known_.try_emplace(key, static_cast<std::int64_t>(found_.keys_.size()));
    if (is_new) found_.keys_.push_back(key);
    return place->second;
  }

  bool ended(const Container& inside) {
    if (inside.left >= 0) return inside.left == 0;
    while (peek() == 'N') ++at_;
    if (data_[at_] != (inside.is_object ? '}' : ']')) return false;
    ++at_;
    return true;
  }

  void add(std::uint8_t kind, std::uint8_t element, std::int64_t key, std::size_t count) {
    found_.values_.push_back({kind, element, key, at_, count, found_.values_.size() + 1});
  }

  void value(std::int64_t key, std::uint8_t kind) {
    if (kind == '[' || kind == '{') return container(key, kind);
    std::size_t count = 1;
    std::size_t n_bytes = UbjsonDocument::number_size(kind);
    if (kind == 'S' || kind == 'H') {
      count = n_bytes = static_cast<std::size_t>(length());
    } else if (kind == 'C') {
      n_bytes = 1;
    } else if (n_bytes == 0 && !is_constant(kind)) {
      --at_;
      throw error("no value starts with " + shown(kind));
    }
    need(n_bytes);
    add(kind, 0, key, count);
    at_ += n_bytes;
  }

  void container(std::int64_t key, std::uint8_t kind) {
    if (open_.size() == deepest) {
      throw error("values nest deeper than " + std::to_string(deepest));
    }
    std::uint8_t implied = 0;
    std::int64_t left = -1;
    if (peek() == '$') {
      need(2);
      implied = data_[at_ + 1];
      at_ += 2;
      if (is_constant(implied) || implied == 'N') {
        throw error("elements without bytes have no common type");
      }
      if (peek() != '#') throw error("a common type is not followed by a count");
    }
    if (peek() == '#') {
      ++at_;
      left = length();
    }
    const std::size_t size = UbjsonDocument::number_size(implied);
    if (kind == '[' && size > 0) {
      const auto n = static_cast<std::size_t>(left);
      // the product cannot overflow once the count itself is known to be small
      need(n);
      need(n * size);
      add(kind, implied, key, n);
      at_ += n * size;
      return;
    }
    open_.push_back({found_.values_.size(), left, implied, kind == '{'});
    add(kind, 0, key, 0);
  }

  const std::uint8_t* data_;
  std::size_t n_;
  std::size_t at_ = 0;
  UbjsonDocument& found_;
  std::vector<Container> open_;
};

UbjsonDocument::UbjsonDocument(const std::uint8_t* data, std::size_t n_bytes) {
  UbjsonScanner(data, n_bytes, *this).run();
}

std::int64_t UbjsonDocument::key_number(std::string_view name) const {
  const auto known = known_.find(name);
  return known == known_.end() ? -2 : known->second;
}

std::size_t UbjsonDocument::find(std::size_t object, std::int64_t key) const {
  const UbjsonValue& inside = at(object);
  if (inside.kind != '{') return npos;
  std::size_t found = npos;
  for (std::size_t k = object + 1; k < inside.end; k = values_[k].end) {
    if (values_[k].key != key) continue;
    if (found != npos) {
      const std::string name(keys_[static_cast<std::size_t>(key)]);
      throw UbjsonError(inside.start, "an object has '" + name + "' twice");
    }
    found = k;
  }
  return found;
}

std::size_t UbjsonDocument::number_size(std::uint8_t marker) {
  switch (marker) {
    case 'i':
    case 'U':
      return 1;
    case 'I':
      return 2;
    case 'l':
    case 'd':
      return 4;
    case 'L':
    case 'D':
      return 8;
    default:
      return 0;
  }
}

}  // namespace clearwood
