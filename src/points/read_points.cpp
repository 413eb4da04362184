// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string_view>

#include "copse/points/points.hpp"
#include "copse/support/error.hpp"
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

}  // namespace

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
