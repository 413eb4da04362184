// SPDX-License-Identifier: Apache-2.0
#include "copse/io/read_labels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "copse/support/buffer.hpp"
#include "copse/support/error.hpp"
#include "io/numbers.hpp"
#include "io/table.hpp"
#include "support/byte_source.hpp"

namespace copse {
namespace {

constexpr std::size_t kExamples = 5;

constexpr char kLabelRow[] = "a row is \"node<TAB>label\"";
constexpr const char* kLogColumns[] = {"node", "predicted", "confidence", "label", "mistakes", "status"};
constexpr const char* kPredictionColumns[] = {"node", "label", "confidence", "status"};

/// How a file of labels is written.
struct LabelColumns {
  char delimiter = '\t';
  std::size_t num_columns = 2, node = 0, label = 1;
  std::uint64_t header_line = 0;
  bool is_log = false;  // of `copse online`: rows in the order of events
  std::string said;

  // Between blanks the label is the rest of the line and may hold some.
  bool takes_rest() const { return delimiter == ' ' && num_columns <= 2 && node == 0; }
};

/// Finds out which columns of a file are nodes and labels, by their names and by what the graph's nodes are
/// called: a first row that names a node of the graph is never a header.
class LabelColumnFinder {
 public:
  LabelColumnFinder(TableSample sample, const std::string& name, const NodeNames& names,
                    const TableOptions& options)
      : sample_(std::move(sample)), name_(name), names_(names), options_(options) {
    // Nodes alone, which have no label, tell nothing.
    const auto is_alone = [](std::string_view line) {
      return line.find_first_of("\t,; ") == std::string_view::npos;
    };
    while (sample_.lines.size() > 1 && is_alone(sample_.lines[0])) sample_.remove_first();
  }

  LabelColumns find() {
    found_.delimiter = delimiter();
    first_ = split_fields(sample_.lines[0], found_.delimiter, unquoted_, name_, sample_.numbers[0]);
    found_.num_columns = std::max<std::size_t>(first_.size(), 2);
    const bool is_told = options_.column("node") || options_.column("label");
    const bool has_header = is_told ? take_told() : recognise();
    if (has_header) {
      found_.header_line = sample_.numbers[0];
      found_.said = "columns " + std::string(first_[found_.node]) + ", label " +
                    std::string(first_[found_.label]) + unused_columns(first_, {found_.node, found_.label});
    }
    return found_;
  }

 private:
  std::string where() const { return at(name_, sample_.numbers[0]); }

  // Of commas and semicolons, those that leave a node of the graph.
  char delimiter() {
    if (const char found = detect_delimiter(sample_)) return found;
    for (const char one : {',', ';'})
      for (const std::string_view line : sample_.lines) {
        std::string_view node;
        FieldCursor(line, one, unquoted_).next(node);
        if (names_.find(node)) return one;
      }
    return ',';
  }

  bool is_node(std::size_t column) const { return names_.find(first_[column]).has_value(); }

  bool take_told() {
    bool has_header = false;
    const auto told = [&](const char* role, std::size_t& column) {
      if (const auto text = options_.column(role))
        column = told_column(*text, first_, true, role, where(), has_header);
    };
    const std::vector<std::size_t> nodes = columns_named(Role::node, first_);
    if (nodes.size() == 1 && !is_node(nodes[0])) found_.node = nodes[0];
    found_.label = found_.node == 0 ? 1 : 0;
    told("node", found_.node);
    told("label", found_.label);
    if (found_.node == kNoColumn || found_.label == kNoColumn || found_.node == found_.label)
      throw InputError{where(), "the node and the label are to be two columns",
                       "name both: --node-column NAME --label-column NAME"};
    if (!has_header) has_header = !is_node(found_.node) && is_name_of(Role::node, first_[found_.node]);
    return has_header;
  }

  template <std::size_t count>
  bool has_columns(const char* const (&columns)[count]) const {
    return first_.size() == count && std::equal(first_.begin(), first_.end(), std::begin(columns));
  }

  bool recognise() {
    if (first_.size() < 2) return false;
    if (has_columns(kPredictionColumns) && !is_node(0))
      throw InputError{
          where(), "these are predictions of copse, not labels that are known",
          "give the labels they were made from; --label-column label takes predictions for labels"};
    found_.is_log = has_columns(kLogColumns);
    std::vector<std::size_t> nodes = columns_named(Role::node, first_),
                             labels = columns_named(Role::label, first_);
    if (!nodes.empty() && nodes[0] == 0) nodes.resize(1);
    if (first_.size() == 2 || found_.takes_rest()) return recognise_two(nodes, labels);
    if (nodes.size() == 1 && labels.size() == 1 && nodes != labels && !is_node(nodes[0])) {
      found_.node = nodes[0];
      found_.label = labels[0];
      return true;
    }
    if (found_.delimiter == ' ') {  // a label may hold blanks
      found_.num_columns = 2;
      return false;
    }
    std::string columns;
    for (const std::string_view field : first_) columns += (columns.empty() ? "" : ", ") + quoted(field);
    throw InputError{where(),
                     "there are " + std::to_string(first_.size()) +
                         " columns, and which is the label is not clear: " + columns,
                     "say it: --label-column " +
                         (first_[1].empty() || is_node(0) ? std::string("2") : std::string(first_[1])) +
                         " (a name of the first line, or a number from 1)"};
  }

  // One known name is enough: the other column is the other thing.
  bool recognise_two(const std::vector<std::size_t>& nodes, const std::vector<std::size_t>& labels) {
    const auto is_one = [](const std::vector<std::size_t>& columns, std::size_t column) {
      return std::find(columns.begin(), columns.end(), column) != columns.end();
    };
    const bool is_swapped = is_one(nodes, 1) && is_one(labels, 0) && !is_one(nodes, 0);
    if (nodes.empty() && !is_one(labels, 1)) return false;
    if (!is_swapped && !is_one(nodes, 0) && !is_one(labels, 1)) return false;
    if (is_node(is_swapped ? 1 : 0)) return false;
    if (is_swapped) std::swap(found_.node, found_.label);
    return true;
  }

  TableSample sample_;
  const std::string& name_;
  const NodeNames& names_;
  const TableOptions& options_;
  UnquotedText unquoted_;
  RowFields first_;
  LabelColumns found_;
};

struct LabelRow {
  std::string_view node, label;
};

/// Goes through the rows of a file of labels and tells `reveal(node, label text, line)` of each known one,
/// with an empty text where a log takes a label back.
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
  bool is_log() const { return columns_.is_log; }

  template <class Reveal>
  void read(Reveal&& reveal) {
    TableRows rows(source_, "labels are rows \"node<TAB>label\" in UTF-8");
    const TableSample sample = rows.sample();
    if (sample.lines.empty()) return;
    columns_ = LabelColumnFinder(sample, name(), names_, options_.table).find();
    report_.columns = columns_.said;
    rows.set_delimiter(columns_.delimiter);
    while (rows.next()) {
      if (rows.line_number() == columns_.header_line) continue;
      const LabelRow row = row_of(rows);
      if (is_log() && rows.fields().back() == "error") continue;
      if (row.node.empty()) throw InputError{rows.where(), "the node has an empty id", kLabelRow};
      const bool takes_back = is_log() && rows.fields().back() == "retracted";
      if (row.label.empty() && !takes_back) continue;
      ++report_.num_rows;
      if (const auto node = names_.find(row.node)) {
        reveal(*node, row.label, rows.line_number());
      } else {
        note_unknown(row, rows.line_number());
      }
    }
    check_unknown();
  }

 private:
  LabelRow row_of(const TableRows& rows) const {
    const RowFields& fields = rows.fields();
    if (columns_.takes_rest()) {
      UnquotedText unquoted;
      FieldCursor cursor(rows.line(), ' ', unquoted);
      std::string_view node;
      cursor.next(node);
      const std::string_view rest = trimmed(cursor.rest());
      return {fields[0], rest.starts_with('"') && fields.size() == 2 ? fields[1] : rest};
    }
    if (fields.size() > columns_.num_columns || (fields.size() < columns_.num_columns && fields.size() > 1))
      throw InputError{rows.where(),
                       "found " + std::to_string(fields.size()) + " columns where the lines before have " +
                           std::to_string(columns_.num_columns) + ", separated by " +
                           delimiter_name(columns_.delimiter),
                       std::string(kLabelRow) + "; a label with such a sign in it stands in quotes"};
    const auto field = [&](std::size_t column) {
      return column < fields.size() ? fields[column] : std::string_view();
    };
    return {field(columns_.node), trimmed(field(columns_.label))};
  }

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
  LabelColumns columns_;
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
    if (text.empty()) {
      labels.of_node[node] = kNoLabel;
      return;
    }
    const Label label = intern_at(labels.classes, text, file.name(), line);
    if (!file.is_log() && labels.of_node[node] != kNoLabel && labels.of_node[node] != label)
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
  std::map<NodeId, std::pair<std::string, std::uint64_t>> told;  // of a log the last list, and its line
  file.read([&](NodeId node, std::string_view text, std::uint64_t line) {
    if (file.is_log())
      told[node] = {std::string(text), line};
    else
      pairs.emplace_back(node, intern_at(labels.classes, text, file.name(), line));
  });
  for (const auto& [node, list] : told)
    for (std::string_view rest = list.first; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find(','));
      if (!name.empty()) pairs.emplace_back(node, intern_at(labels.classes, name, file.name(), list.second));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
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

namespace {

/// body(fields, number, where) for each row of a table whose last column is a number >= 0, which tells a
/// header from a row.
template <class Body>
void for_each_numbered_row(const std::string& path, std::size_t num_columns, const char* form,
                           const Execution& execution, Body&& body) {
  ByteSource source = ByteSource::open(path, execution);
  TableRows rows(source, form);
  const TableSample sample = rows.sample();
  if (sample.lines.empty()) throw InputError{path, "there are no rows", form};
  rows.set_delimiter(detect_delimiter(sample, source.name()));
  while (rows.next()) {
    const RowFields& fields = rows.fields();
    const bool is_first = rows.line_number() == sample.numbers[0];
    if (fields.size() != num_columns)
      throw InputError{
          rows.where(),
          "found " + std::to_string(fields.size()) + " columns, not " + std::to_string(num_columns), form};
    const std::optional<float> number = parse_number(trimmed(fields.back()));
    if (!number && is_first) continue;
    if (!number || !(*number >= 0) || std::isinf(*number))
      throw InputError{rows.where(), quoted(fields.back()) + " is no number >= 0", form};
    body(fields, static_cast<double>(*number), rows.line_number(), source.name());
  }
}

}  // namespace

std::vector<SoftLabel> read_soft_labels(const std::string& path, const NodeNames& names, ClassNames& classes,
                                        LabelReadReport* report, const Execution& execution) {
  LabelReadReport own;
  LabelReadReport& told = report == nullptr ? own : *report;
  told = {};
  std::vector<SoftLabel> labels;
  for_each_numbered_row(
      path, 3, "a row is \"node<TAB>class<TAB>weight\"", execution,
      [&](const RowFields& fields, double weight, std::uint64_t line, const std::string& file) {
        ++told.num_rows;
        const auto node = names.find(fields[0]);
        const Label label = intern_at(classes, trimmed(fields[1]), file, line);
        if (node && weight > 0) labels.push_back({*node, label, weight});
        if (node) return;
        ++told.num_unknown_nodes;
        if (told.unknown_examples.size() < kExamples)
          told.unknown_examples.push_back(at(file, line) + ": " + std::string(fields[0]));
      });
  if (2 * told.num_unknown_nodes > told.num_rows)
    throw InputError{path, "most rows name no node of the graph, as " + told.unknown_examples[0],
                     "write the same ids in both files"};
  const auto place = [](const SoftLabel& soft) { return std::pair(soft.node, soft.label); };
  std::ranges::sort(labels, {}, place);
  const auto twice = std::ranges::adjacent_find(labels, {}, place);
  if (twice != labels.end())
    throw InputError{path,
                     "node " + quoted(names.name(twice->node)) + " has class " +
                         quoted(classes.name(twice->label)) + " twice",
                     "keep one of the rows"};
  return labels;
}

std::vector<double> read_class_sizes(const std::string& path, const ClassNames& classes,
                                     const Execution& execution) {
  constexpr double kUntold = -1;
  std::vector<double> sizes(classes.size(), kUntold);
  for_each_numbered_row(
      path, 2, "a row is \"class<TAB>size\"", execution,
      [&](const RowFields& fields, double size, std::uint64_t line, const std::string& file) {
        const Label label = classes.find(trimmed(fields[0]));
        if (label == kNoLabel)
          throw InputError{at(file, line), quoted(fields[0]) + " is the label of no node",
                           "the classes are those of the label file, as they are written there"};
        if (sizes[label] != kUntold)
          throw InputError{at(file, line), "class " + quoted(fields[0]) + " has two sizes",
                           "keep one of the rows"};
        sizes[label] = size;
      });
  for (std::size_t c = 0; c < sizes.size(); ++c)
    if (sizes[c] == kUntold)
      throw InputError{path, "class " + quoted(classes.name(static_cast<Label>(c))) + " has no size",
                       "give every class one, 0 where only the given labels have it"};
  return sizes;
}

}  // namespace copse
