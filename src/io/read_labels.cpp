// SPDX-License-Identifier: Apache-2.0
#include "copse/io/read_labels.hpp"

#include <algorithm>
#include <map>

#include "copse/support/buffer.hpp"
#include "support/byte_source.hpp"
#include "copse/support/error.hpp"
#include "io/text.hpp"

namespace copse {
namespace {

constexpr std::size_t kExamples = 5;

/// Goes through the rows of a file of labels and tells `reveal(node, label text, line)` of each known one.
class LabelFile {
 public:
  LabelFile(const std::string& path, const NodeNames& names, const LabelReadOptions& options,
            LabelReadReport* report, const Execution& execution)
      : source_(ByteSource::open(path, execution)),
        names_(names),
        options_(options),
        report_(report == nullptr ? own_ : *report) {
    report_ = {};
  }

  const std::string& name() const { return source_.name(); }

  template <class Reveal>
  void read(Reveal&& reveal) {
    TextLines lines(source_, "labels are rows \"node<TAB>label\" in UTF-8");
    bool is_first = true;
    for (std::string_view line; lines.next_row(line);) {
      const LabelRow row = split_label_row(line);
      const bool may_be_header = std::exchange(is_first, false);
      if (may_be_header && row.is_header() && !names_.find(row.node)) continue;
      if (row.node.empty())
        throw InputError{at(name(), lines.line_number()), "the node has an empty id",
                         "a row is \"node<TAB>label\""};
      if (row.label.empty()) continue;
      ++report_.num_rows;
      if (const auto node = names_.find(row.node)) {
        reveal(*node, row.label, lines.line_number());
      } else {
        note_unknown(row, lines.line_number());
      }
    }
    check_unknown();
  }

 private:
  void note_unknown(const LabelRow& row, std::uint64_t line) {
    if (options_.strict)
      throw InputError{at(name(), line), "node " + quoted(row.node) + " is not in the graph",
                       "remove the row, or leave --strict out to skip such rows"};
    ++report_.num_unknown_nodes;
    if (report_.unknown_examples.size() < kExamples)
      report_.unknown_examples.push_back(at(name(), line) + ": " + std::string(row.node));
    if (first_unknown_.empty()) first_unknown_ = row.node;
  }

  void check_unknown() const {
    if (2 * report_.num_unknown_nodes <= report_.num_rows) return;
    throw InputError{
        name(),
        with_commas(report_.num_unknown_nodes) + " of " + with_commas(report_.num_rows) +
            " labelled nodes are not in the graph: the ids are of another kind (here " +
            quoted(first_unknown_) + ", in the graph " +
            (names_.size() == 0 ? "none" : quoted(names_.name(0))) + ")",
        "write the same ids in both files; a node that no edge mentions must be given by --nodes"};
  }

  ByteSource source_;
  const NodeNames& names_;
  LabelReadOptions options_;
  LabelReadReport own_;
  LabelReadReport& report_;
  std::string first_unknown_;
};

Label intern_at(ClassNames& classes, std::string_view name, const std::string& file, std::uint64_t line) {
  check_name(name, at(file, line));
  if (classes.size() >= kMaxClasses && classes.find(name) == kNoLabel)
    throw InputError{
        at(file, line), "label " + quoted(name) + " is one class too many",
        "copse knows up to " + with_commas(kMaxClasses) + " classes; is the second column a label?"};
  return classes.intern(name);
}

}  // namespace

Labels read_labels(const std::string& path, const NodeNames& names, const LabelReadOptions& options,
                   LabelReadReport* report, const Execution& execution) {
  LabelFile file(path, names, options, report, execution);
  Labels labels;
  labels.of_node.assign(names.size(), kNoLabel);
  Buffer<std::uint64_t> line_of_node(names.size());  // few are labelled: pages never touched cost nothing
  file.read([&](NodeId node, std::string_view text, std::uint64_t line) {
    const Label label = intern_at(labels.classes, text, file.name(), line);
    if (labels.of_node[node] != kNoLabel && labels.of_node[node] != label)
      throw InputError{at(file.name(), line),
                       "node " + quoted(names.name(node)) + " is labelled " + quoted(text) + ", but line " +
                           std::to_string(line_of_node[node]) + " says " +
                           quoted(labels.classes.name(labels.of_node[node])),
                       "keep one of the two, or use --multi-label where a node may have several labels"};
    if (labels.of_node[node] == kNoLabel) line_of_node[node] = line;
    labels.of_node[node] = label;
  });
  return labels;
}

MultiLabels read_multi_labels(const std::string& path, const NodeNames& names,
                              const LabelReadOptions& options, LabelReadReport* report,
                              const Execution& execution) {
  LabelFile file(path, names, options, report, execution);
  MultiLabels labels;
  std::vector<std::pair<NodeId, Label>> pairs;
  file.read([&](NodeId node, std::string_view text, std::uint64_t line) {
    pairs.emplace_back(node, intern_at(labels.classes, text, file.name(), line));
  });
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());

  labels.set_of_node.assign(names.size(), kNoLabel);
  std::map<std::vector<Label>, Label> number_of_set;
  std::vector<Label> set;
  for (std::size_t i = 0; i < pairs.size();) {
    const NodeId node = pairs[i].first;
    set.clear();
    for (; i < pairs.size() && pairs[i].first == node; ++i) set.push_back(pairs[i].second);
    const auto [known, is_new] = number_of_set.try_emplace(set, static_cast<Label>(labels.sets.size()));
    if (is_new) {
      if (labels.sets.size() >= kMaxClasses)
        throw InputError{file.name(),
                         "the nodes have more than " + with_commas(kMaxClasses) + " different sets of labels",
                         "that is the limit: leave rare labels out, or ask about fewer labels at a time"};
      labels.sets.push_back(set);
    }
    labels.set_of_node[node] = known->second;
  }
  return labels;
}

}  // namespace copse
