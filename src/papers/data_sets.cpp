// SPDX-License-Identifier: Apache-2.0
#include "papers/data_sets.hpp"

#include <algorithm>
#include <filesystem>

#include "copse/support/byte_source.hpp"
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
std::string plain_or_packed(const std::string& directory, const std::string& set, const std::string& file) {
  const std::string path = (std::filesystem::path(directory) / set / file).string();
  for (const char* packing : {"", ".zst", ".gz", ".xz"})
    if (std::filesystem::exists(path + packing)) return path + packing;
  throw InputError{path, "no such file, packed or not",
                   "--data is a directory with one folder a data set; docs/reproduce.md lists what is read"};
}

}  // namespace

LabelledPoints carried_digits() {
  const NamedPoints table =
      read_points(ByteSource::from_memory("digits.csv.gz", {copse_digits_begin, copse_digits_end}),
                  {.ids = IdColumn::none}, {});
  const PointsView& rows = table.points.view();
  const std::uint64_t pixels = rows.num_columns - 1;  // the last column is the digit
  Buffer<float> values(rows.num_points * pixels);
  LabelledPoints digits{"the 1,797 digits that copse carries", {}, {}};
  for (std::uint64_t i = 0; i < rows.num_points; ++i) {
    const std::span<const float> row = rows.row(i);
    std::copy_n(row.begin(), pixels, values.begin() + static_cast<std::ptrdiff_t>(i * pixels));
    digits.labels.push_back(static_cast<Label>(row[pixels]));
  }
  digits.points = Points(rows.num_points, pixels, std::move(values));
  return digits;
}

LabelledPoints usps_digits(const std::string& directory) {
  NamedPoints points = read_points(plain_or_packed(directory, "usps", "points.npy"), {}, {});
  const std::string path = plain_or_packed(directory, "usps", "labels.tsv");
  const Labels labels = read_labels(path, points.names);
  LabelledPoints digits{"USPS", std::move(points.points), {}};
  for (const Label label : labels.of_node) {
    const std::string name = label == kNoLabel ? "nothing" : labels.classes.name(label);
    if (name.size() != 1 || name[0] < '0' || name[0] > '9')
      throw InputError{path, "a digit is labelled " + copse::quoted(name),
                       "every row needs a label from 0 to 9"};
    digits.labels.push_back(static_cast<Label>(name[0] - '0'));
  }
  return digits;
}

LabelledPoints digits(const std::string& directory) {
  return directory.empty() ? carried_digits() : usps_digits(directory);
}

LabelledPoints chosen_points(const LabelledPoints& points, const std::vector<std::size_t>& rows) {
  const PointsView& all = points.points.view();
  Buffer<float> values(rows.size() * all.num_columns);
  LabelledPoints chosen{points.name, {}, {}};
  auto at = values.begin();
  for (const std::size_t i : rows) {
    at = std::copy_n(all.row(i).begin(), all.num_columns, at);
    chosen.labels.push_back(points.labels[i]);
  }
  chosen.points = Points(rows.size(), all.num_columns, std::move(values));
  return chosen;
}

LabelledGraph read_labelled_graph(const std::string& directory, const std::string& name,
                                  const Execution& execution) {
  LabelledGraph set{name, read_graph(plain_or_packed(directory, name, "edges.tsv"), {}, execution), {}};
  set.labels = read_multi_labels(plain_or_packed(directory, name, "labels.tsv"), set.graph.names);
  return set;
}

MultiLabelledPoints read_labelled_points(const std::string& directory, const std::string& name,
                                         const Execution& execution) {
  NamedPoints points = read_points(plain_or_packed(directory, name, "points.svm"), {}, execution);
  MultiLabels labels = read_multi_labels(plain_or_packed(directory, name, "labels.tsv"), points.names);
  return {name, std::move(points.points), std::move(labels)};
}

bool has_points(const std::string& directory, const std::string& name) {
  for (const char* file : {"points.svm", "points.svm.zst", "points.svm.gz", "points.npy", "points.npy.zst"})
    if (std::filesystem::exists(std::filesystem::path(directory) / name / file)) return true;
  return false;
}

bool has_labelled_graph(const std::string& directory, const std::string& name) {
  const std::string path = (std::filesystem::path(directory) / name / "edges.tsv").string();
  return std::filesystem::exists(path) || std::filesystem::exists(path + ".zst") ||
         std::filesystem::exists(path + ".gz");
}

}  // namespace copse
