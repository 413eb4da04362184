// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "copse/graph/labels.hpp"
#include "copse/graph/names.hpp"
#include "copse/io/table.hpp"
#include "copse/support/execution.hpp"

namespace copse {

struct LabelReadOptions {
  bool strict = false;  // any row that names no node of the graph is an error
  TableOptions table;   // columns node and label; the delimiter is always found out
};

struct LabelReadReport {
  std::uint64_t num_rows = 0;                 // rows with a label
  std::uint64_t num_unknown_nodes = 0;        // rows that name no node of the graph
  std::vector<std::string> unknown_examples;  // the first few of them, as "file:line: name"
  std::string columns;                        // of a file with a header: "columns account, label is_fraud"
};

/// Reads a table of nodes and labels (docs/formats.md); an empty label field means unlabelled. Two different
/// labels of one node name both lines, except in a log of `copse online`, where the last one counts; most
/// rows naming no node is an error.
Labels read_labels(const std::string& path, const NodeNames& names, const LabelReadOptions& options = {},
                   LabelReadReport* report = nullptr, const Execution& execution = {});
MultiLabels read_multi_labels(const std::string& path, const NodeNames& names,
                              const LabelReadOptions& options = {}, LabelReadReport* report = nullptr,
                              const Execution& execution = {});

/// Rows "node class weight" with or without a header, as `predict --scores long` writes them: soft labels, or
/// a prior. Weights are finite and >= 0; no pair of node and class is listed twice. New classes are added to
/// `classes`. By node, then by class.
std::vector<SoftLabel> read_soft_labels(const std::string& path, const NodeNames& names, ClassNames& classes,
                                        LabelReadReport* report = nullptr, const Execution& execution = {});
/// Rows "class size" with or without a header: the size of each of the classes, all of which must be there.
std::vector<double> read_class_sizes(const std::string& path, const ClassNames& classes,
                                     const Execution& execution = {});

}  // namespace copse
