// Where each value of a document in Universal Binary JSON (draft 12) is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace clearwood {

// One value of a document; what a container holds follows it.
struct UbjsonValue {
  std::uint8_t kind;     // its marker
  std::uint8_t element;  // marker of an array's numbers of one type, which is one value; else 0
  std::int64_t key;      // position among the keys; -1 in arrays and for the outermost value
  std::size_t start;     // where its content starts
  std::size_t count;     // bytes of a text, entries of a container, else 1
  std::size_t end;       // position of the next value that is not inside this one
};

struct UbjsonError : std::invalid_argument {
  UbjsonError(std::size_t at, const std::string& what)
      : std::invalid_argument("byte " + std::to_string(at) + ": " + what) {}
};

// The values in the order of the bytes. Keys point into the bytes, which must outlive them.
class UbjsonDocument {
 public:
  // Throws UbjsonError unless the bytes are exactly one value. Nothing past the end is read,
  // nothing is allocated for what is announced but not there, and containers nest in a vector, not
  // on the stack.
  UbjsonDocument(const std::uint8_t* data, std::size_t n_bytes);

  const UbjsonValue& at(std::size_t position) const { return values_.at(position); }
  std::string_view key(std::size_t position) const {
    return keys_.at(static_cast<std::size_t>(values_.at(position).key));
  }

  // Position of a key among the keys; -2, which is none, where no object has it.
  std::int64_t key_number(std::string_view name) const;

  // Position of the value that an object has under a key; npos where there is none.
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::size_t find(std::size_t object, std::int64_t key) const;

  // Bytes of one number of a type; 0 for everything that is no number.
  static std::size_t number_size(std::uint8_t marker);

 private:
  friend class UbjsonScanner;
  std::vector<UbjsonValue> values_;
  std::vector<std::string_view> keys_;
  std::unordered_map<std::string_view, std::int64_t> known_;
};

}  // namespace clearwood
