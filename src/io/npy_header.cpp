// SPDX-License-Identifier: Apache-2.0
#include "io/npy_header.hpp"

#include <charconv>

#include "copse/support/error.hpp"

namespace copse {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostDimensions = 64;  // NumPy's own limit

// What is told of a header that is wrong.
struct Place {
  const std::string& where;
  const std::string& remedy;
};
InputError damaged(const Place& place, const std::string& what) {
  return InputError{place.where, what, place.remedy};
}

// What stands behind 'key': in the header, a Python dictionary.
std::string_view field(std::string_view header, const std::string& key, const Place& place) {
  const std::string quoted_key = "'" + key + "':";
  const std::size_t found = header.find(quoted_key);
  if (found == std::string_view::npos) throw damaged(place, "the array's header has no " + quoted(key));
  header.remove_prefix(found + quoted_key.size());
  while (!header.empty() && header[0] == ' ') header.remove_prefix(1);
  return header;
}

std::string_view header_text(std::string_view bytes, const Place& place, std::size_t& values_begin) {
  if (bytes.empty()) throw damaged(place, "is empty");
  if (!bytes.starts_with(kMagic))
    throw damaged(place, kMagic.starts_with(bytes) ? "ends in its header" : "is not a NumPy array");
  if (bytes.size() < 10) throw damaged(place, "ends in its header");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    throw damaged(place, "has format version " + std::to_string(version) + ", which is not known");
  const std::size_t begin = version == 1 ? 10 : 12;
  if (bytes.size() < begin) throw damaged(place, "ends in its header");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (bytes.size() - begin < length) throw damaged(place, "ends in its header");
  values_begin = begin + length;
  return bytes.substr(begin, length);
}

std::string parse_type(std::string_view text, const Place& place) {
  const std::size_t end = text.empty() || text[0] != '\'' ? std::string_view::npos : text.find('\'', 1);
  if (end == std::string_view::npos) throw damaged(place, "holds records, not numbers");
  return std::string(text.substr(1, end - 1));
}

// A tuple of sizes; Python 2 wrote "5L".
std::vector<std::uint64_t> parse_shape(std::string_view text, const Place& place) {
  const std::size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos)
    throw damaged(place, "has a shape that is no tuple");
  text = text.substr(1, close - 1);
  std::vector<std::uint64_t> shape;
  while (!text.empty()) {
    std::uint64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc{} || shape.size() == kMostDimensions)
      throw damaged(place, "has a shape that is no tuple of numbers");
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    while (!text.empty() && (text[0] == ',' || text[0] == ' ' || text[0] == 'L')) text.remove_prefix(1);
  }
  return shape;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& where, const std::string& remedy) {
  const Place place{where, remedy};
  NpyHeader header;
  const std::string_view text = header_text(bytes, place, header.num_bytes);
  header.type = parse_type(field(text, "descr", place), place);
  const std::string_view order = field(text, "fortran_order", place);
  header.is_fortran = order.starts_with("True");
  if (!header.is_fortran && !order.starts_with("False"))
    throw damaged(place, "does not say whether it is in Fortran order");
  header.shape = parse_shape(field(text, "shape", place), place);
  return header;
}

}  // namespace copse
