// SPDX-License-Identifier: Apache-2.0
//
// scipy.sparse.save_npz: a zip of NumPy arrays. "format" says csr, csc or coo; "shape" the size; csr and
// csc have "indptr", "indices" and "data", coo has "row", "col" and "data". A column of a csc matrix is
// read like a row of a csr one: the graph is undirected. A matrix with both triangles lists every edge
// both ways, which build_graph knows; one triangle is a list of edges. Explicit zeros mean no edge.

#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "io/formats.hpp"
#include "io/npy_header.hpp"
#include "io/numbers.hpp"
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

// `bytes` must outlive the array.
NpyArray parse_npy(std::string_view bytes, const std::string& where) {
  const NpyHeader header = parse_npy_header(bytes, where, kSaveMatrixAgain);
  NpyArray array{.where = where, .type = header.type, .values = bytes.substr(header.num_bytes)};
  const auto damaged = [&](const std::string& what) { return InputError{where, what, kSaveMatrixAgain}; };
  const std::string_view type = array.type;
  if (type.empty() || type[0] == '>') throw damaged("is big-endian (" + quoted(type) + ")");
  const std::uint64_t width = type.size() < 3 ? 0 : parse_count(type.substr(2)).value_or(0);
  if (width == 0 || width > 1024 || std::string_view("bifuSU").find(type[1]) == std::string_view::npos) {
    throw damaged("has type " + quoted(type) +
                  (type.size() > 1 && type[1] == 'O' ? " (Python objects)" : "") + ", not numbers");
  }
  array.item_size = type[1] == 'U' ? 4 * width : width;
  if (header.is_fortran) throw damaged("is in Fortran order");
  if (header.shape.size() > 1) throw damaged("has more than one dimension");
  array.size = header.shape.empty() ? 1 : header.shape[0];
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

// Of all entries in a range; the first that is no weight is returned.
template <class T>
std::optional<std::uint64_t> load_weights(const NpyArray& data, std::uint64_t begin, std::uint64_t end,
                                          bool is_signed, std::vector<Weight>& out) {
  out.resize(end - begin);
  for (std::uint64_t i = begin; i < end; ++i) {
    out[i - begin] = weight_of_entry(static_cast<double>(load<T>(data, i)), is_signed);
    if (std::isnan(out[i - begin])) return i;
  }
  return std::nullopt;
}

struct WeightType {
  std::string_view name;
  std::optional<std::uint64_t> (*load)(const NpyArray&, std::uint64_t, std::uint64_t, bool,
                                       std::vector<Weight>&);
  double (*value)(const NpyArray&, std::uint64_t);
};

template <class T>
constexpr WeightType weight_type(std::string_view name) {
  return {name, load_weights<T>,
          [](const NpyArray& data, std::uint64_t i) { return static_cast<double>(load<T>(data, i)); }};
}

const WeightType& weight_type_of(const NpyArray& data) {
  static constexpr WeightType kTypes[] = {
      weight_type<std::uint8_t>("|b1"),  weight_type<std::int8_t>("|i1"),   weight_type<std::uint8_t>("|u1"),
      weight_type<std::int16_t>("<i2"),  weight_type<std::uint16_t>("<u2"), weight_type<std::int32_t>("<i4"),
      weight_type<std::uint32_t>("<u4"), weight_type<std::int64_t>("<i8"),  weight_type<std::uint64_t>("<u8"),
      weight_type<float>("<f4"),         weight_type<double>("<f8"),
  };
  for (const WeightType& type : kTypes) {
    if (type.name == data.type) return type;
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
  check_num_nodes(rows, name);
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

struct BadIndex {
  std::uint64_t entry = 0, index = 0;
};

InputError bad_index(const BadIndex& bad, std::uint64_t num_nodes, const std::string& name) {
  return {name,
          "entry " + std::to_string(bad.entry) + " has index " +
              std::to_string(static_cast<std::int64_t>(bad.index)) + " in a matrix of " +
              with_commas(num_nodes) + " rows",
          kSaveMatrixAgain};
}

// The row of an entry: the last one that begins at or before it.
std::uint64_t row_of(const NpyArray& pointers, std::uint64_t num_rows, std::uint64_t entry) {
  std::uint64_t row = 0;
  for (std::uint64_t high = num_rows; high - row > 1;) {
    const std::uint64_t middle = row + (high - row) / 2;
    (integer(pointers, middle) <= entry ? row : high) = middle;
  }
  return row;
}

// Both ends of the entries in a range; `rows` are pointers, or (coo) rows themselves.
std::optional<BadIndex> load_ends(const NpyArray& rows, const NpyArray& columns, bool is_coo,
                                  std::uint64_t num_nodes, std::uint64_t begin, std::uint64_t end,
                                  EdgeChunk& chunk) {
  chunk.u.resize(end - begin);
  chunk.v.resize(end - begin);
  std::uint64_t row = is_coo ? 0 : row_of(rows, num_nodes, begin);
  for (std::uint64_t i = begin; i < end; ++i) {
    if (is_coo) {
      row = integer(rows, i);
    } else {
      while (integer(rows, row + 1) <= i) ++row;
    }
    const std::uint64_t column = integer(columns, i);
    if (row >= num_nodes || column >= num_nodes) return BadIndex{i, row >= num_nodes ? row : column};
    chunk.u[i - begin] = static_cast<NodeId>(row);
    chunk.v[i - begin] = static_cast<NodeId>(column);
  }
  return std::nullopt;
}

}  // namespace

ParsedEdges read_npz(ByteSource& source, const ReadOptions& options, const Execution& execution) {
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
  const WeightType* type = is_all_true(data) ? nullptr : &weight_type_of(data);

  std::vector<EdgeChunk> chunks((num_entries + kEntriesPerChunk - 1) / kEntriesPerChunk);
  std::vector<std::optional<InputError>> errors(chunks.size());
  parallel_blocks(execution.threads, num_entries, kEntriesPerChunk,
                  [&](std::size_t begin, std::size_t end, std::size_t block) {
                    EdgeChunk& chunk = chunks[block];
                    if (const auto bad = load_ends(rows, columns, is_coo, num_nodes, begin, end, chunk)) {
                      errors[block] = bad_index(*bad, num_nodes, name);
                      return;
                    }
                    if (type == nullptr) return;
                    if (const auto bad = type->load(data, begin, end, options.is_signed, chunk.weight)) {
                      std::uint64_t u = chunk.u[*bad - begin], v = chunk.v[*bad - begin];
                      if (format == "csc") std::swap(u, v);
                      errors[block] = bad_entry(name, u, static_cast<std::int64_t>(v),
                                                type->value(data, *bad), options.is_signed, "--signed");
                    }
                  });
  for (const auto& error : errors) {
    if (error) throw *error;
  }
  return numbered(std::move(chunks), num_nodes, 0, bytes.size(), execution);  // SciPy counts from 0
}

}  // namespace copse
