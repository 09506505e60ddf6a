// _core.UbjsonDocument: values of a document in Universal Binary JSON as Python's own, and the
// numbers that many objects have under one key as one array.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "ubjson/ubjson.hpp"

namespace nb = nanobind;

namespace clearwood {
namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<nb::numpy, nb::ndim<1>>;

// One number of a document, which holds them big-endian.
template <class T>
T number(const std::uint8_t* from) {
  std::uint8_t bytes[sizeof(T)];
  for (std::size_t k = 0; k < sizeof(T); ++k) {
    bytes[k] = from[std::endian::native == std::endian::big ? k : sizeof(T) - 1 - k];
  }
  T found;
  std::memcpy(&found, bytes, sizeof(T));
  return found;
}

// Calls use with a value of the type that a marker of numbers stands for.
template <class Use>
auto with_type(std::uint8_t marker, Use use) {
  switch (marker) {
    case 'i':
      return use(std::int8_t());
    case 'U':
      return use(std::uint8_t());
    case 'I':
      return use(std::int16_t());
    case 'l':
      return use(std::int32_t());
    case 'L':
      return use(std::int64_t());
    case 'd':
      return use(float());
    default:
      return use(double());
  }
}

template <class T>
Numbers owned(std::unique_ptr<T[]> values, std::size_t n) {
  nb::capsule owner(values.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  T* data = values.release();
  return Numbers(data, {n}, owner, {}, nb::dtype<T>());
}

class Document {
 public:
  explicit Document(Bytes data) : data_(std::move(data)), document_(data_.data(), data_.size()) {}

  std::int64_t find(std::size_t object, nb::str name) const {
    const std::size_t found = document_.find(object, document_.key_number(name.c_str()));
    return found == UbjsonDocument::npos ? -1 : static_cast<std::int64_t>(found);
  }

  nb::object value(std::size_t position) const {
    const UbjsonValue& one = document_.at(position);
    const std::uint8_t* from = data_.data() + one.start;
    switch (one.kind) {
      case 'Z':
        return nb::none();
      case 'T':
        return nb::bool_(true);
      case 'F':
        return nb::bool_(false);
      case 'S':
      case 'C':
        return text(one.start, one.count);
      case 'H':
        return numeral(one);
      case '[':
        return one.element ? nb::cast(joined({position}, one)) : list(position, one);
      case '{':
        return object(position, one);
      default:
        return with_type(one.kind, [&](auto type) -> nb::object {
          return nb::cast(number<decltype(type)>(from));
        });
    }
  }

  nb::tuple column(std::size_t records, nb::str name) const {
    const UbjsonValue& all = document_.at(records);
    if (all.kind != '[' || all.element) throw UbjsonError(all.start, "not an array of objects");
    std::vector<std::size_t> parts;
    parts.reserve(all.count);
    auto counts = std::make_unique<std::int64_t[]>(all.count);
    const std::int64_t key = document_.key_number(name.c_str());
    for (std::size_t k = records + 1; k < all.end; k = document_.at(k).end) {
      const std::size_t found = document_.find(k, key);
      const bool is_numbers = found != UbjsonDocument::npos && document_.at(found).element &&
                              (parts.empty() || document_.at(found).element ==
                                                    document_.at(parts.front()).element);
      if (!is_numbers) {
        throw UbjsonError(document_.at(k).start, "an object has no numbers of the right type at '" +
                                                     std::string(name.c_str()) + "'");
      }
      counts[parts.size()] = static_cast<std::int64_t>(document_.at(found).count);
      parts.push_back(found);
    }
    if (parts.empty()) throw UbjsonError(all.start, "an array of objects has none");
    const std::size_t n = parts.size();
    return nb::make_tuple(joined(parts, document_.at(parts.front())), owned(std::move(counts), n));
  }

  std::size_t count(std::size_t position) const { return document_.at(position).count; }

 private:
  nb::str text(std::size_t start, std::size_t count) const {
    PyObject* made = PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(data_.data() + start),
                                          static_cast<Py_ssize_t>(count), "strict");
    if (!made) {
      PyErr_Clear();
      throw UbjsonError(start, "a text is not UTF-8");
    }
    return nb::steal<nb::str>(made);
  }

  nb::object numeral(const UbjsonValue& one) const {
    PyObject* made = PyFloat_FromString(text(one.start, one.count).ptr());
    if (!made) {
      PyErr_Clear();
      throw UbjsonError(one.start, "a text is not a number");
    }
    return nb::steal(made);
  }

  // Arrays of numbers of one type, one after another.
  Numbers joined(const std::vector<std::size_t>& arrays, const UbjsonValue& first) const {
    std::size_t n = 0;
    for (const std::size_t array : arrays) n += document_.at(array).count;
    return with_type(first.element, [&](auto type) {
      using T = decltype(type);
      auto values = std::make_unique<T[]>(n);
      T* to = values.get();
      for (const std::size_t array : arrays) {
        const UbjsonValue& one = document_.at(array);
        const std::uint8_t* from = data_.data() + one.start;
        for (std::size_t k = 0; k < one.count; ++k) to[k] = number<T>(from + k * sizeof(T));
        to += one.count;
      }
      return owned(std::move(values), n);
    });
  }

  nb::object list(std::size_t position, const UbjsonValue& all) const {
    nb::list found;
    for (std::size_t k = position + 1; k < all.end; k = document_.at(k).end) found.append(value(k));
    return found;
  }

  nb::object object(std::size_t position, const UbjsonValue& all) const {
    nb::dict found;
    for (std::size_t k = position + 1; k < all.end; k = document_.at(k).end) {
      const std::string_view key = document_.key(k);
      const auto start = reinterpret_cast<const std::uint8_t*>(key.data()) - data_.data();
      found[text(static_cast<std::size_t>(start), key.size())] = value(k);
    }
    if (found.size() != all.count) throw UbjsonError(all.start, "an object has a key twice");
    return found;
  }

  Bytes data_;  // keeps the bytes alive that the document points into
  UbjsonDocument document_;
};

}  // namespace

void bind_ubjson(nb::module_& m) {
  nb::class_<Document>(m, "UbjsonDocument")
      .def(nb::init<Bytes>(), nb::arg("data").noconvert())
      .def("find", &Document::find, nb::arg("object"), nb::arg("name"))
      .def("count", &Document::count, nb::arg("position"))
      .def("value", &Document::value, nb::arg("position"))
      .def("column", &Document::column, nb::arg("records"), nb::arg("name"));
}

}  // namespace clearwood
