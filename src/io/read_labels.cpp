// SPDX-License-Identifier: Apache-2.0
#include "copse/io/read_labels.hpp"

#include <algorithm>
#include <map>

#include "copse/support/buffer.hpp"
#include "copse/support/byte_source.hpp"
#include "copse/support/error.hpp"
#include "io/edge_line.hpp"

namespace copse {
namespace {

constexpr std::size_t kBlock = std::size_t{16} << 20;
constexpr std::size_t kExamples = 5;

struct Row {
  std::string_view node, label;
};

// Tab if the line has one, else comma, else blanks; split at the first of them, so that a label may hold
// whatever comes after.
Row split_row(std::string_view line) {
  for (const char separator : {'\t', ','}) {
    const std::size_t end = line.find(separator);
    if (end != std::string_view::npos)
      return separator == '\t' ? Row{line.substr(0, end), trimmed(line.substr(end + 1))}
                               : Row{trimmed(line.substr(0, end)), trimmed(line.substr(end + 1))};
  }
  line = trimmed(line);
  const std::size_t end = std::min(line.find(' '), line.size());
  return {line.substr(0, end), trimmed(line.substr(end))};
}

bool is_header(const Row& row) {
  const auto is_word = [](std::string_view text, std::initializer_list<std::string_view> words) {
    std::string lower;
    for (const char c : text) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return std::find(words.begin(), words.end(), lower) != words.end();
  };
  return is_word(row.node, {"node", "node_id", "id"}) && is_word(row.label, {"label", "labels", "class"});
}

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
    std::uint64_t line_number = 0;
    bool is_first = true;
    for (;;) {
      const std::span<const char> bytes = source_.next_lines(kBlock);
      if (bytes.empty()) break;
      std::string_view block{bytes.data(), bytes.size()};
      if (line_number == 0) block = checked_start(block);
      while (!block.empty()) {
        const std::size_t end = std::min(block.find('\n'), block.size());
        const std::string_view line = without_cr(block.substr(0, end));
        block.remove_prefix(std::min(end + 1, block.size()));
        ++line_number;
        if (is_skipped(line)) continue;
        const Row row = split_row(line);
        const bool may_be_header = std::exchange(is_first, false);
        if (may_be_header && is_header(row) && !names_.find(row.node)) continue;
        if (row.node.empty())
          throw InputError{at(name(), line_number), "the node has an empty id",
                           "a row is \"node<TAB>label\""};
        if (row.label.empty()) continue;
        ++report_.num_rows;
        if (const auto node = names_.find(row.node)) {
          reveal(*node, row.label, line_number);
        } else {
          note_unknown(row, line_number);
        }
      }
    }
    check_unknown();
  }

 private:
  std::string_view checked_start(std::string_view block) const {
    if (block.find('\0') != std::string_view::npos)
      throw InputError{name(), "this is not text: it holds a NUL byte",
                       "labels are rows \"node<TAB>label\" in UTF-8"};
    constexpr std::string_view kBom = "\xEF\xBB\xBF";
    if (block.starts_with(kBom)) block.remove_prefix(kBom.size());
    return block;
  }

  void note_unknown(const Row& row, std::uint64_t line) {
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
