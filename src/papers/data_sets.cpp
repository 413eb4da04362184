// SPDX-License-Identifier: Apache-2.0
#include "papers/data_sets.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "support/byte_source.hpp"
#include "copse/support/error.hpp"

// The bytes of the file as they are; COPSE_DIGITS_FILE comes from CMakeLists.txt.
asm(".section .rodata\n"
    "copse_digits_begin: .incbin \"" COPSE_DIGITS_FILE
    "\"\n"
    "copse_digits_end: .byte 0\n"
    ".previous\n");
extern "C" const char copse_digits_begin[], copse_digits_end[];  // NOLINT: names of the assembler

namespace copse {
namespace {

/// The file of that name or, failing that, its packed form.
std::optional<std::string> find_file(const std::string& directory, const std::string& set,
                                     const std::string& file) {
  const std::string path = (std::filesystem::path(directory) / set / file).string();
  for (const char* packing : {"", ".zst", ".gz", ".xz"})
    if (std::filesystem::exists(path + packing)) return path + packing;
  return std::nullopt;
}

std::string needed_file(const std::string& directory, const std::string& set, const std::string& file) {
  if (const std::optional<std::string> found = find_file(directory, set, file)) return *found;
  throw InputError{
      (std::filesystem::path(directory) / set / file).string(), "no such file, packed or not",
      "--data is a directory with one folder per data set; docs/reproduce.md lists what is read"};
}

/// Rows of pixels, the last column the digit.
LabelledPoints carried_digits() {
  const NamedPoints table =
      read_points(ByteSource::from_memory("digits.csv.gz", {copse_digits_begin, copse_digits_end}),
                  {.ids = IdColumn::none}, {});
  const PointsView& rows = table.points.view();
  const std::uint64_t pixels = rows.num_columns - 1;
  Buffer<float> values(rows.num_points * pixels);
  LabelledPoints digits;
  for (std::uint64_t i = 0; i < rows.num_points; ++i) {
    const std::span<const float> row = rows.row(i);
    std::copy_n(row.begin(), pixels, values.begin() + i * pixels);
    digits.labels.push_back(static_cast<Label>(row[pixels]));
  }
  digits.points = Points(rows.num_points, pixels, std::move(values));
  return digits;
}

LabelledPoints usps_digits(const std::string& directory) {
  NamedPoints points = read_points(needed_file(directory, "usps", "points.npy"), {}, {});
  const std::string path = needed_file(directory, "usps", "labels.tsv");
  const Labels labels = read_labels(path, points.names);
  LabelledPoints digits{std::move(points.points), {}};
  for (const Label label : labels.of_node) {
    const std::string name = label == kNoLabel ? "nothing" : labels.classes.name(label);
    if (name.size() != 1 || name[0] < '0' || name[0] > '9')
      throw InputError{path, "a digit is labelled " + copse::quoted(name),
                       "every row needs a label from 0 to 9"};
    digits.labels.push_back(static_cast<Label>(name[0] - '0'));
  }
  return digits;
}

}  // namespace

LabelledPoints digits(const std::string& directory) {
  return directory.empty() ? carried_digits() : usps_digits(directory);
}

std::vector<std::size_t> rows_of_digit(const std::vector<Label>& labels, Label digit, std::size_t needed) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] == digit) rows.push_back(i);
  if (rows.size() < needed)
    throw InputError{"digits",
                     "there are only " + std::to_string(rows.size()) + " of digit " + std::to_string(digit),
                     "the experiment draws " + std::to_string(needed) + " of each"};
  return rows;
}

LabelledPoints chosen_points(const LabelledPoints& points, const std::vector<std::size_t>& rows) {
  const PointsView& all = points.points.view();
  Buffer<float> values(rows.size() * all.num_columns);
  LabelledPoints chosen;
  auto at = values.begin();
  for (const std::size_t i : rows) {
    at = std::copy_n(all.row(i).begin(), all.num_columns, at);
    chosen.labels.push_back(points.labels[i]);
  }
  chosen.points = Points(rows.size(), all.num_columns, std::move(values));
  return chosen;
}

LabelledGraph read_labelled_graph(const std::string& directory, const std::string& set,
                                  const Execution& execution) {
  NamedGraph graph = read_graph(needed_file(directory, set, "edges.tsv"), {}, execution);
  MultiLabels labels = read_multi_labels(needed_file(directory, set, "labels.tsv"), graph.names);
  return {std::move(graph), std::move(labels)};
}

MultiLabelledPoints read_labelled_points(const std::string& directory, const std::string& set,
                                         const Execution& execution) {
  NamedPoints points = read_points(needed_file(directory, set, "points.svm"), {}, execution);
  MultiLabels labels = read_multi_labels(needed_file(directory, set, "labels.tsv"), points.names);
  return {std::move(points.points), std::move(labels)};
}

bool has_file(const std::string& directory, const std::string& set, const std::string& file) {
  return find_file(directory, set, file).has_value();
}

}  // namespace copse
