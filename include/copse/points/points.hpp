// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "copse/graph/names.hpp"
#include "copse/graph/types.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/execution.hpp"

namespace copse {

class ByteSource;  // support/byte_source.hpp

/// A matrix of points, a row each, in someone else's arrays. Dense: `values` is row-major and the other two
/// spans are empty. Sparse: row i holds `columns` (ascending, no column twice) and `values` (none 0) from
/// offsets[i] to offsets[i + 1]. Every value is finite.
struct PointsView {
  std::uint64_t num_points = 0, num_columns = 0;
  std::span<const float> values;
  std::span<const EdgeIndex> offsets;        // sparse: num_points + 1 entries
  std::span<const std::uint32_t> columns{};  // sparse: as long as values

  bool is_sparse() const { return !offsets.empty(); }
  /// Dense: all values of a row. Sparse: those that are not 0.
  std::span<const float> row(std::uint64_t i) const {
    return is_sparse() ? values.subspan(offsets[i], offsets[i + 1] - offsets[i])
                       : values.subspan(i * num_columns, num_columns);
  }
  std::span<const std::uint32_t> columns_of(std::uint64_t i) const {
    return columns.subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
  std::uint64_t num_bytes() const {
    return values.size_bytes() + offsets.size_bytes() + columns.size_bytes();
  }
};

/// Owns the arrays of a PointsView, in memory or in a mapped file.
class Points {
 public:
  Points() = default;
  /// Dense, row-major.
  Points(std::uint64_t num_points, std::uint64_t num_columns, Buffer<float> values);
  /// Arrays that `owner` keeps alive.
  Points(PointsView view, std::shared_ptr<const void> owner) : view_(view), owner_(std::move(owner)) {}

  const PointsView& view() const { return view_; }
  operator const PointsView&() const {
    return view_;
  }  // NOLINT: Points are used wherever a view is asked for

 private:
  PointsView view_;
  std::shared_ptr<const void> owner_;
};

/// Throws InputError, with `where` and the first row and column at fault, unless `points` keeps the promises
/// of PointsView and has at least one row and one column. One pass: for arrays that come from outside.
void check_points(const PointsView& points, const std::string& where, int threads = 1);

struct NamedPoints {
  Points points;
  NodeNames names;  // rows are numbered from 0 unless the file names them
};

enum class PointsFormat { automatic, npy, table, svmlight };
enum class IdColumn { automatic, first, none };

struct PointsReadOptions {
  PointsFormat format = PointsFormat::automatic;  // by magic bytes, then by extension, else a table
  IdColumn ids = IdColumn::automatic;             // of a table
};

struct PointsReadReport {
  PointsFormat format = PointsFormat::automatic;
  bool is_mapped = false;  // values are used in place, in the file
};

/// Reads points from a file; "-" is standard input; compressed files are known by their first bytes. Values
/// become 32-bit floats. Throws InputError with file and line, or row and column. docs/points.md.
NamedPoints read_points(const std::string& path, const PointsReadOptions& options, const Execution& execution,
                        PointsReadReport* report = nullptr);
/// The same from bytes that are there already.
NamedPoints read_points(ByteSource source, const PointsReadOptions& options, const Execution& execution,
                        PointsReadReport* report = nullptr);

/// Whether a file can only be one of points: a NumPy array by its first bytes, or svmlight by its name. A
/// table of numbers looks like a list of edges and is not told apart.
bool is_points_file(const std::string& path);

}  // namespace copse
