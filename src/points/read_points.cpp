// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string_view>

#include "copse/points/points.hpp"
#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"  // Uint128
#include "io/npy_header.hpp"
#include "points/points_readers.hpp"
#include "support/decompress.hpp"

namespace copse {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

bool has_svmlight_name(std::string_view name) {
  name = without_compression(name);
  return name.ends_with(".svm") || name.ends_with(".svmlight") || name.ends_with(".libsvm");
}

bool is_npy(ByteSource& source) {
  const std::span<const char> first = source.peek();
  return std::string_view{first.data(), first.size()}.starts_with(kNpyMagic) ||
         without_compression(source.name()).ends_with(".npy");
}

PointsFormat detect_points_format(ByteSource& source) {
  if (is_npy(source)) return PointsFormat::npy;
  if (has_svmlight_name(source.name())) return PointsFormat::svmlight;
  const std::span<const char> first = source.peek();
  const std::string_view bytes{first.data(), first.size()};
  if (bytes.starts_with("PK\x03\x04"))
    throw InputError{source.name(), "this is a zip of arrays (.npz), not one array",
                     "save the points alone: numpy.save(\"points.npy\", x)"};
  return PointsFormat::table;
}

// One NumPy array of two dimensions, one row per point. 32-bit floats in C order are used where they lie, in
// the mapped file; every other type and order is copied once, block by block on all threads.

constexpr std::size_t kValuesPerBlock = std::size_t{1} << 18;
constexpr std::size_t kTile = 32;  // rows and columns turned at a time: 4 KiB of floats

struct Half {
  std::uint16_t bits;
};

// IEEE 754 binary16.
float to_float(Half half) {
  const auto sign = static_cast<std::uint32_t>(half.bits >> 15) << 31;
  const std::uint32_t exponent = half.bits >> 10 & 31, fraction = half.bits & 1023;
  if (exponent == 0) {
    const float size = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -size : size;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

// To the nearest float. What is too large becomes infinite here and is then told with its place.
template <class T>
float to_float(T value) {
  if constexpr (std::is_same_v<T, double>) {
    constexpr double kMost = std::numeric_limits<float>::max();
    if (value > kMost || value < -kMost)
      return value > 0 ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
  }
  return static_cast<float>(value);
}

struct Raw {
  const char* values;
  std::uint64_t num_rows, num_columns;
  bool is_fortran;
};

template <class T>
float load(const char* values, std::uint64_t i) {
  T value;
  std::memcpy(&value, values + i * sizeof(T), sizeof(T));
  return to_float(value);
}

// Column-major to row-major, a small square at a time, so that both sides stay in a cache.
template <class T>
void turn_rows(const Raw& raw, std::uint64_t begin, std::uint64_t end, float* out) {
  for (std::uint64_t row = begin; row < end; row += kTile) {
    const std::uint64_t last_row = row + kTile < end ? row + kTile : end;
    for (std::uint64_t column = 0; column < raw.num_columns; column += kTile) {
      const std::uint64_t last = column + kTile < raw.num_columns ? column + kTile : raw.num_columns;
      for (std::uint64_t c = column; c < last; ++c)
        for (std::uint64_t r = row; r < last_row; ++r)
          out[r * raw.num_columns + c] = load<T>(raw.values, c * raw.num_rows + r);
    }
  }
}

template <class T>
Buffer<float> converted(const Raw& raw, int threads) {
  Buffer<float> out(raw.num_rows * raw.num_columns);
  const std::uint64_t rows_per_block = kValuesPerBlock / raw.num_columns + 1;
  parallel_blocks(threads, raw.num_rows, rows_per_block,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    if (raw.is_fortran) return turn_rows<T>(raw, begin, end, out.data());
                    for (std::uint64_t i = begin * raw.num_columns; i < end * raw.num_columns; ++i)
                      out[i] = load<T>(raw.values, i);
                  });
  return out;
}

struct TypeRow {
  std::string_view name;
  std::size_t size;
  Buffer<float> (*convert)(const Raw&, int threads);
};

constexpr TypeRow kTypes[] = {
    {"<f4", 4, converted<float>},         {"<f8", 8, converted<double>},
    {"<f2", 2, converted<Half>},          {"|u1", 1, converted<std::uint8_t>},
    {"|i1", 1, converted<std::int8_t>},   {"|b1", 1, converted<std::uint8_t>},
    {"<u2", 2, converted<std::uint16_t>}, {"<i2", 2, converted<std::int16_t>},
    {"<u4", 4, converted<std::uint32_t>}, {"<i4", 4, converted<std::int32_t>},
    {"<u8", 8, converted<std::uint64_t>}, {"<i8", 8, converted<std::int64_t>},
};

const TypeRow& type_row(const std::string& type, const std::string& where) {
  for (const TypeRow& row : kTypes)
    if (row.name == type) return row;
  const std::string remedy = "save it with numpy.save(file, x.astype(\"<f4\"))";
  if (type.size() > 1 && type[1] == 'O')
    throw InputError{where, "holds Python objects, not numbers (rows of different lengths?)", remedy};
  if (!type.empty() && type[0] == '>')
    throw InputError{where, "is big-endian (type " + copse::quoted(type) + ")", remedy};
  throw InputError{where, "has type " + copse::quoted(type) + ", which copse does not read", remedy};
}

void check_shape(const NpyHeader& header, const std::string& where) {
  if (header.shape.size() == 2) return;
  const std::string remedy = header.shape.size() == 1
                                 ? "one column: numpy.save(file, x.reshape(-1, 1))"
                                 : "one row per point: numpy.save(file, x.reshape(len(x), -1))";
  throw InputError{where,
                   "the array has " + std::to_string(header.shape.size()) + " dimension" +
                       (header.shape.size() == 1 ? "" : "s") + ", points need 2",
                   remedy};
}

// The shape can claim anything: it is believed only when the values are there.
void check_size(const NpyHeader& header, std::size_t item, std::size_t available, const std::string& where) {
  const Uint128 wanted = static_cast<Uint128>(header.shape[0]) * header.shape[1];
  if (wanted <= available && wanted * item == available) return;
  throw InputError{where,
                   "the header says " + with_commas(header.shape[0]) + " x " + with_commas(header.shape[1]) +
                       " values of " + std::to_string(item) + " bytes, " + with_commas(available) +
                       " bytes follow",
                   wanted * item > available ? "the file is cut short: write or copy it again"
                                             : "save one array a file with numpy.save"};
}

}  // namespace

NamedPoints read_npy_points(ByteSource& source, const Execution& execution, PointsReadReport& report) {
  const bool is_file = source.known_size() != 0;
  const std::span<const char> bytes = source.rest();
  const NpyHeader header = parse_npy_header({bytes.data(), bytes.size()}, source.name());
  const TypeRow& type = type_row(header.type, source.name());
  check_shape(header, source.name());
  const std::span<const char> values = bytes.subspan(header.num_bytes);
  check_size(header, type.size, values.size(), source.name());
  if (header.shape[0] > kMaxNodes)
    throw InputError{source.name(), with_commas(header.shape[0]) + " rows are more than copse can number",
                     "a graph may have up to " + with_commas(kMaxNodes) + " nodes"};

  NamedPoints result;
  result.names = NodeNames::numbered(header.shape[0], 0);
  const bool in_place = header.type == "<f4" && !header.is_fortran &&
                        reinterpret_cast<std::uintptr_t>(values.data()) % alignof(float) == 0;
  if (in_place || values.empty()) {
    PointsView view;
    view.num_points = header.shape[0];
    view.num_columns = header.shape[1];
    view.values = {reinterpret_cast<const float*>(values.data()), values.size() / sizeof(float)};
    result.points = Points(view, source.share());
    report.is_mapped = is_file;
  } else {
    const Raw raw{values.data(), header.shape[0], header.shape[1], header.is_fortran};
    result.points = Points(header.shape[0], header.shape[1], type.convert(raw, execution.threads));
  }
  return result;
}

NamedPoints read_points(const std::string& path, const PointsReadOptions& options, const Execution& execution,
                        PointsReadReport* report) {
  return read_points(ByteSource::open(path, execution), options, execution, report);
}

NamedPoints read_points(ByteSource source, const PointsReadOptions& options, const Execution& execution,
                        PointsReadReport* report) {
  PointsReadReport own;
  PointsReadReport& result = report == nullptr ? own : *report;
  result = {};
  result.format = options.format == PointsFormat::automatic ? detect_points_format(source) : options.format;
  if (options.ids == IdColumn::first && result.format != PointsFormat::table)
    throw UsageError{source.name(), "only a table of text has a column of ids",
                     "leave the ids out: rows are numbered from 0"};
  NamedPoints points = result.format == PointsFormat::npy ? read_npy_points(source, execution, result)
                       : result.format == PointsFormat::svmlight
                           ? read_svmlight_points(source, execution)
                           : read_table_points(source, options.ids, execution);
  check_points(points.points, source.name(), execution.threads);
  return points;
}

bool is_points_file(const std::string& path) {
  if (path != "-" && has_svmlight_name(path)) return true;
  std::error_code ignored;  // looking at a pipe's first bytes would use them up
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  ByteSource source = ByteSource::open(path);
  return is_npy(source);
}

}  // namespace copse
