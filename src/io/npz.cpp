// SPDX-License-Identifier: Apache-2.0
//
// scipy.sparse.save_npz: a zip of NumPy arrays. "format" says csr, csc or coo; "shape" the size; csr and
// csc have "indptr", "indices" and "data", coo has "row", "col" and "data". A column of a csc matrix is
// read like a row of a csr one: the graph is undirected. A matrix with both triangles lists every edge
// both ways, which build_graph knows; one triangle is a list of edges. Explicit zeros mean no edge.
// The layout of an array is that of NumPy's format versions 1 to 3 (numpy.lib.format).

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "io/claimed_nodes.hpp"
#include "io/readers.hpp"
#include "support/zip_members.hpp"

namespace copse {
namespace {

constexpr char kSaveMatrixAgain[] =
    "write it with scipy.sparse.save_npz(file, A.tocsr()) on a little-endian machine";
constexpr std::uint64_t kEntriesPerChunk = std::uint64_t{1} << 20;

struct NpyArray {
  std::string where;        // "file.npz(indices.npy)"
  std::string type;         // as NumPy writes it: "<i4"
  std::uint64_t size = 0;   // number of values; 1 for a scalar
  std::string_view values;  // size * item_size bytes, not aligned
  std::size_t item_size = 0;
};

template <class T>
T load(const NpyArray& array, std::uint64_t i) {
  T value;
  std::memcpy(&value, array.values.data() + i * sizeof(T), sizeof(T));
  return value;
}

// What stands behind 'key': in the header, a Python dictionary in one line.
std::string_view header_field(std::string_view header, const std::string& key, const std::string& where) {
  const std::string quoted_key = "'" + key + "':";
  const std::size_t found = header.find(quoted_key);
  if (found == std::string_view::npos) {
    throw InputError{where, "the array's header has no " + quoted(key), kSaveMatrixAgain};
  }
  header.remove_prefix(found + quoted_key.size());
  while (!header.empty() && header[0] == ' ') header.remove_prefix(1);
  return header;
}

// `bytes` must outlive the array.
NpyArray parse_npy(std::string_view bytes, const std::string& where) {
  NpyArray array;
  array.where = where;
  const auto damaged = [&](const std::string& what) {
    return InputError{array.where, what, kSaveMatrixAgain};
  };
  if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY") throw damaged("is not a NumPy array");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    throw damaged("has format version " + std::to_string(version) + ", which is not known");
  const std::size_t begin = version == 1 ? 10 : 12;
  if (bytes.size() < begin) throw damaged("ends in its header");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (bytes.size() - begin < length) throw damaged("ends in its header");
  const std::string_view header = bytes.substr(begin, length);
  array.values = bytes.substr(begin + length);

  std::string_view type = header_field(header, "descr", array.where);
  if (type.empty() || type[0] != '\'' || type.find('\'', 1) == std::string_view::npos) {
    throw damaged("holds records, not numbers");
  }
  type = type.substr(1, type.find('\'', 1) - 1);
  array.type = type;
  if (type.empty() || type[0] == '>') throw damaged("is big-endian (" + quoted(type) + ")");
  std::size_t width = 0;
  if (type.size() < 3 ||
      std::from_chars(type.data() + 2, type.data() + type.size(), width).ptr != type.data() + type.size() ||
      width == 0 || width > 1024 || std::string_view("bifuSU").find(type[1]) == std::string_view::npos) {
    throw damaged("has type " + quoted(type) +
                  (type.size() > 1 && type[1] == 'O' ? " (Python objects)" : "") + ", not numbers");
  }
  array.item_size = type[1] == 'U' ? 4 * width : width;
  if (header_field(header, "fortran_order", array.where).substr(0, 5) != "False")
    throw damaged("is in Fortran order");

  // A tuple of sizes; Python 2 wrote "5L".
  std::string_view shape = header_field(header, "shape", array.where);
  const std::size_t close = shape.find(')');
  if (shape.empty() || shape[0] != '(' || close == std::string_view::npos)
    throw damaged("has a shape that is no tuple");
  shape = shape.substr(1, close - 1);
  array.size = 1;
  int dimensions = 0;
  while (!shape.empty()) {
    std::uint64_t extent = 0;
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), extent);
    if (error != std::errc{}) throw damaged("has a shape that is no tuple of numbers");
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
    while (!shape.empty() && (shape[0] == ',' || shape[0] == ' ' || shape[0] == 'L')) shape.remove_prefix(1);
    array.size = extent;
    if (++dimensions > 1) throw damaged("has more than one dimension");
  }
  if (array.size > array.values.size() / array.item_size ||
      array.size * array.item_size != array.values.size()) {
    throw damaged("says " + with_commas(array.size) + " values of " + std::to_string(array.item_size) +
                  " bytes, has " + with_commas(array.values.size()) + " bytes");
  }
  return array;
}

class NpzFile {
 public:
  NpzFile(std::span<const char> bytes, const std::string& name) : name_(name), bytes_(bytes) {}

  NpyArray get(const std::string& key) {
    std::optional<Buffer<char>> member = read_zip_member(bytes_, key + ".npy", name_);
    if (!member) throw InputError{name_, "has no array " + quoted(key), kSaveMatrixAgain};
    const Buffer<char>& kept = members_.emplace_back(std::move(*member));
    return parse_npy({kept.data(), kept.size()}, name_ + "(" + key + ".npy)");
  }
  NpyArray integers(const std::string& key) {
    NpyArray array = get(key);
    if (array.type != "<i4" && array.type != "<i8") {
      throw InputError{array.where, "has type " + quoted(array.type) + ", not int32 or int64",
                       kSaveMatrixAgain};
    }
    return array;
  }

 private:
  const std::string& name_;
  std::span<const char> bytes_;
  std::vector<Buffer<char>> members_;  // what the arrays are read from; moving one leaves its bytes in place
};

// Negative numbers become huge and fail every check of bounds.
std::uint64_t integer(const NpyArray& array, std::uint64_t i) {
  return array.item_size == 4 ? static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(array, i)})
                              : static_cast<std::uint64_t>(load<std::int64_t>(array, i));
}

std::string text(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

// The entry that cannot be a weight, if there is one, and why.
struct BadValue {
  std::uint64_t entry = 0;
  std::string problem, remedy;
};

template <class T>
std::optional<BadValue> load_weights(const NpyArray& data, std::uint64_t begin, std::uint64_t end,
                                     bool is_signed, std::vector<Weight>& out) {
  out.resize(end - begin);
  for (std::uint64_t i = begin; i < end; ++i) {
    const auto value = static_cast<double>(load<T>(data, i));
    if (std::isnan(value) || std::isinf(value) || (value < 0 && !is_signed)) {
      return BadValue{i, text(value) + (is_signed ? ", not a finite number" : ", not a positive number"),
                      std::string("weights are similarities (> 0); leave the entry out to mean \"no edge\"") +
                          (value < 0 ? ", or read negative edges with --signed" : "")};
    }
    // To the nearest float; what rounds to infinity is caught before, where the conversion is defined.
    if (std::fabs(value) > std::numeric_limits<Weight>::max()) {
      return BadValue{i, text(value) + ", too large to be stored (32 bits)",
                      "divide all weights by a constant: only their ratios matter"};
    }
    out[i - begin] = static_cast<Weight>(value);
    if (value != 0 && out[i - begin] == 0) {
      return BadValue{i, text(value) + ", too small to be stored (32 bits)",
                      "multiply all weights by a constant: only their ratios matter"};
    }
  }
  return std::nullopt;
}

using WeightLoader = std::optional<BadValue> (*)(const NpyArray&, std::uint64_t, std::uint64_t, bool,
                                                 std::vector<Weight>&);

WeightLoader weight_loader(const NpyArray& data) {
  static constexpr std::pair<std::string_view, WeightLoader> kLoaders[] = {
      {"|b1", load_weights<std::uint8_t>},  {"|i1", load_weights<std::int8_t>},
      {"|u1", load_weights<std::uint8_t>},  {"<i2", load_weights<std::int16_t>},
      {"<u2", load_weights<std::uint16_t>}, {"<i4", load_weights<std::int32_t>},
      {"<u4", load_weights<std::uint32_t>}, {"<i8", load_weights<std::int64_t>},
      {"<u8", load_weights<std::uint64_t>}, {"<f4", load_weights<float>},
      {"<f8", load_weights<double>},
  };
  for (const auto& [type, loader] : kLoaders) {
    if (type == data.type) return loader;
  }
  throw InputError{data.where, "has type " + quoted(data.type) + ", which copse does not read",
                   "save the matrix as A.astype(\"float32\")"};
}

// Boolean matrices say where edges are, not how strong: no weights, unless a False must be told apart.
bool is_all_true(const NpyArray& data) {
  return data.type == "|b1" && data.values.find('\0') == std::string_view::npos;
}

std::uint64_t square_size(const NpyArray& shape, const std::string& name) {
  const std::uint64_t rows = shape.size == 2 ? integer(shape, 0) : 0;
  if (shape.size != 2)
    throw InputError{shape.where, "has " + with_commas(shape.size) + " sizes, not 2", kSaveMatrixAgain};
  if (rows != integer(shape, 1)) {
    throw InputError{
        name, "the matrix is " + with_commas(rows) + " by " + with_commas(integer(shape, 1)) + ", not square",
        "a graph has as many rows as columns; for rows and columns of two kinds save [[None, B], [B.T, "
        "None]]"};
  }
  if (rows > kMaxNodes) {
    throw InputError{name, with_commas(rows) + " rows are more than copse can number",
                     "a graph may have up to " + with_commas(kMaxNodes) + " nodes"};
  }
  return rows;
}

std::string format_name(const NpyArray& array) {
  std::string name;
  for (const char c : array.values) {
    if (c != '\0') name += c;
  }
  return name;
}

// One pass over the pointers: from here on they may be trusted.
void check_pointers(const NpyArray& pointers, std::uint64_t num_rows, std::uint64_t num_indices) {
  if (pointers.size != num_rows + 1) {
    throw InputError{
        pointers.where,
        "has " + with_commas(pointers.size) + " values, the shape asks for " + with_commas(num_rows + 1),
        kSaveMatrixAgain};
  }
  std::uint64_t previous = 0;
  for (std::uint64_t i = 0; i <= num_rows; ++i) {
    const std::uint64_t pointer = integer(pointers, i);
    if ((i == 0 && pointer != 0) || pointer < previous || pointer > num_indices) {
      throw InputError{pointers.where, "value " + std::to_string(i) + " is out of order", kSaveMatrixAgain};
    }
    previous = pointer;
  }
}

}  // namespace

ParsedEdges read_npz(ByteSource& source, const Execution& execution, bool is_signed) {
  const std::span<const char> bytes = source.rest();
  const std::string& name = source.name();
  if (bytes.empty()) throw InputError{name, "is empty", kSaveMatrixAgain};
  NpzFile file(bytes, name);
  const NpyArray format_array = file.get("format");
  const std::string format = format_name(format_array);
  const bool is_coo = format == "coo";
  if (format != "csr" && format != "csc" && !is_coo) {
    throw InputError{format_array.where, "format " + quoted(format) + " is not csr, csc or coo",
                     kSaveMatrixAgain};
  }
  const std::uint64_t num_nodes = square_size(file.integers("shape"), name);
  const NpyArray data = file.get("data"), columns = file.integers(is_coo ? "col" : "indices");
  const NpyArray rows = file.integers(is_coo ? "row" : "indptr");
  if (is_coo && rows.size != columns.size) {
    throw InputError{rows.where,
                     "has " + with_commas(rows.size) + " values, col has " + with_commas(columns.size),
                     kSaveMatrixAgain};
  }
  if (is_coo && claims_too_many_nodes(num_nodes, rows.size)) {
    throw InputError{
        name,
        with_commas(num_nodes) + " rows are more than the entries (" + with_commas(rows.size) + ") can need",
        "check the shape, or leave out nodes that have no edge"};
  }
  if (!is_coo) check_pointers(rows, num_nodes, columns.size);
  const std::uint64_t num_entries = is_coo ? rows.size : integer(rows, num_nodes);
  if (data.size != columns.size) {
    throw InputError{
        data.where, "has " + with_commas(data.size) + " values for " + with_commas(columns.size) + " indices",
        kSaveMatrixAgain};
  }
  const WeightLoader load_chunk = is_all_true(data) ? nullptr : weight_loader(data);

  ParsedEdges parsed;
  parsed.chunks.resize((num_entries + kEntriesPerChunk - 1) / kEntriesPerChunk);
  std::vector<std::optional<InputError>> errors(parsed.chunks.size());
  parallel_blocks(execution.threads, num_entries, kEntriesPerChunk,
                  [&](std::size_t begin, std::size_t end, std::size_t block) {
                    EdgeChunk& chunk = parsed.chunks[block];
                    chunk.u.resize(end - begin);
                    chunk.v.resize(end - begin);
                    // The row of the block's first entry: the last one that begins at or before it.
                    std::uint64_t row = 0;
                    if (!is_coo) {
                      for (std::uint64_t high = num_nodes; high - row > 1;) {
                        const std::uint64_t middle = row + (high - row) / 2;
                        (integer(rows, middle) <= begin ? row : high) = middle;
                      }
                    }
                    for (std::size_t i = begin; i < end; ++i) {
                      if (is_coo) {
                        row = integer(rows, i);
                      } else {
                        while (integer(rows, row + 1) <= i) ++row;
                      }
                      const std::uint64_t column = integer(columns, i);
                      if (row >= num_nodes || column >= num_nodes) {
                        const auto index = static_cast<std::int64_t>(row >= num_nodes ? row : column);
                        errors[block] =
                            InputError{name,
                                       "entry " + std::to_string(i) + " has index " + std::to_string(index) +
                                           " in a matrix of " + with_commas(num_nodes) + " rows",
                                       kSaveMatrixAgain};
                        return;
                      }
                      chunk.u[i - begin] = static_cast<NodeId>(row);
                      chunk.v[i - begin] = static_cast<NodeId>(column);
                    }
                    if (load_chunk == nullptr) return;
                    if (const auto bad = load_chunk(data, begin, end, is_signed, chunk.weight)) {
                      std::uint64_t u = chunk.u[bad->entry - begin], v = chunk.v[bad->entry - begin];
                      if (format == "csc") std::swap(u, v);
                      errors[block] = InputError{name,
                                                 "the entry in row " + std::to_string(u) + ", column " +
                                                     std::to_string(v) + " is " + bad->problem,
                                                 bad->remedy};
                    }
                  });
  for (const auto& error : errors) {
    if (error) throw *error;
  }
  parsed.num_nodes = num_nodes;
  parsed.num_bytes = bytes.size();
  parsed.names = NodeNames::numbered(num_nodes, 0);  // SciPy counts from 0
  return parsed;
}

}  // namespace copse
