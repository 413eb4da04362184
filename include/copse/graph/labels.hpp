// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "copse/graph/names.hpp"
#include "copse/graph/types.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// The classes, in order of first appearance: index <-> name.
class ClassNames {
 public:
  /// The index of `name`, added if new. Throws InputError beyond kMaxClasses, and where check_name() does.
  Label intern(std::string_view name);
  /// kNoLabel if there is no such class.
  Label find(std::string_view name) const;
  const std::string& name(Label label) const { return names_[label]; }
  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::vector<std::uint32_t> slots_;  // open addressing over names_
};

/// One label a node at the most: label[node] or kNoLabel.
struct Labels {
  std::vector<Label> of_node;
  ClassNames classes;
  std::uint64_t num_labelled() const;
};

/// Any number of labels a node, kept as the distinct sets that occur. Every method then treats a set as
/// one class (`set_of_node`, kNoLabel = unlabelled), and a class's score is the sum over the sets that
/// hold it: one run answers every yes/no question at once, because all of them share the labelled nodes.
struct MultiLabels {
  std::vector<Label> set_of_node;
  std::vector<std::vector<Label>> sets;  // sorted class indices of each distinct set
  ClassNames classes;
};

struct LabelReadOptions {
  bool strict = false;  // any row that names no node of the graph is an error
};

struct LabelReadReport {
  std::uint64_t num_rows = 0;                 // rows with a label
  std::uint64_t num_unknown_nodes = 0;        // rows that name no node of the graph
  std::vector<std::string> unknown_examples;  // the first few of them, as "file:line: name"
};

/// Reads `node<TAB>label` rows (tab, or comma, or spaces where there is no tab; # and % comments; optional
/// header `node label`); an empty label field means unlabelled. Two different labels of one node name both
/// lines; most rows naming no node is an error.
Labels read_labels(const std::string& path, const NodeNames& names, const LabelReadOptions& options = {},
                   LabelReadReport* report = nullptr, const Execution& execution = {});
MultiLabels read_multi_labels(const std::string& path, const NodeNames& names,
                              const LabelReadOptions& options = {}, LabelReadReport* report = nullptr,
                              const Execution& execution = {});

}  // namespace copse
