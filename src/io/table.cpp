// SPDX-License-Identifier: Apache-2.0
#include "io/table.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "io/numbers.hpp"

namespace copse {
namespace {

constexpr std::size_t kSampleLines = 20;

// The one list of names that headers are recognised by, as plain_word leaves them.
constexpr std::string_view kSourceNames[] = {
    "source",   "sourceid", "src",     "srcid",    "from",     "fromid",      "fromnode",    "fromnodeid",
    "sender",   "senderid", "u",       "i",        "start",    "startid",     "startnode",   "node1",
    "nodea",    "nodeid1",  "id1",     "ida",      "vertex1",  "vertexa",     "orig",        "origin",
    "nameorig", "payer",    "payerid", "account1", "accounta", "fromaccount", "accountfrom", "user1",
    "usera",    "gene1",    "genea",   "protein1", "proteina", "interactora", "citing",      "follower"};
constexpr std::string_view kTargetNames[] = {
    "target",      "targetid",  "tgt",         "dst",         "dstid",    "dest",     "destid",
    "destination", "to",        "toid",        "tonode",      "tonodeid", "receiver", "receiverid",
    "v",           "j",         "end",         "endid",       "endnode",  "node2",    "nodeb",
    "nodeid2",     "id2",       "idb",         "vertex2",     "vertexb",  "namedest", "payee",
    "payeeid",     "recipient", "recipientid", "beneficiary", "account2", "accountb", "toaccount",
    "accountto",   "user2",     "userb",       "gene2",       "geneb",    "protein2", "proteinb",
    "interactorb", "cited",     "followee"};
constexpr std::string_view kWeightNames[] = {
    "weight",     "weights",  "w",           "wt",       "edgeweight",  "amount",
    "amt",        "value",    "val",         "score",    "scores",      "combinedscore",
    "similarity", "sim",      "strength",    "count",    "counts",      "frequency",
    "freq",       "affinity", "conductance", "capacity", "probability", "confidence"};
constexpr std::string_view kNodeNames[] = {
    "node",      "nodeid", "id",     "name",     "vertex",     "vertexid", "account",
    "accountid", "user",   "userid", "customer", "customerid", "point",    "pointid",
    "key",       "item",   "itemid", "gene",     "protein",    "entity",   "entityid"};
constexpr std::string_view kLabelNames[] = {
    "label", "labels",       "class",       "classes",   "category", "y",       "target",
    "truth", "group",        "community",   "type",      "fraud",    "isfraud", "isspam",
    "isbot", "islaundering", "ismalicious", "isillicit", "kind"};

std::span<const std::string_view> names_of(Role role) {
  switch (role) {
    case Role::source:
      return kSourceNames;
    case Role::target:
      return kTargetNames;
    case Role::weight:
      return kWeightNames;
    case Role::node:
      return kNodeNames;
    default:
      return kLabelNames;
  }
}

// Lower case, without underscores, dashes, colons and blanks, and without what Neo4j puts behind a name:
// "Node_1" is "node1", ":START_ID(Person)" is "startid", "amount:float" is "amount", "personId:ID" is "id".
std::string plain_word(std::string_view text) {
  text = text.substr(0, text.find('('));
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && colon > 0)
    text = text.substr(colon) == ":ID" ? text.substr(colon) : text.substr(0, colon);
  std::string word;
  for (const char c : text) {
    if (c == '_' || c == '-' || c == ':' || c == ' ' || c == '\'' || c == '.') continue;
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

// How often a character stands in a line outside quotes.
std::size_t count_outside_quotes(std::string_view line, char wanted) {
  const bool has_pairs = std::count(line.begin(), line.end(), '"') % 2 == 0;
  bool is_inside = false;
  std::size_t count = 0;
  for (const char c : line) {
    if (c == '"' && has_pairs) is_inside = !is_inside;
    count += c == wanted && !is_inside;
  }
  return count;
}

// In every line as often as in the first.
bool is_regular(const TableSample& sample, char delimiter) {
  const std::size_t count = count_outside_quotes(sample.lines[0], delimiter);
  return std::all_of(sample.lines.begin(), sample.lines.end(),
                     [&](std::string_view line) { return count_outside_quotes(line, delimiter) == count; });
}

}  // namespace

bool FieldCursor::skip_blanks() {
  while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  return rest_.empty();
}

bool FieldCursor::next(std::string_view& field) {
  if (is_done_) return false;
  if (delimiter_ != '\t') skip_blanks();
  field = !rest_.empty() && rest_.front() == '"' ? quoted_field() : plain_field();
  finish_field();
  return true;
}

std::string_view FieldCursor::plain_field() {
  std::size_t end = 0;
  if (delimiter_ == ' ') {
    while (end < rest_.size() && !is_blank(rest_[end])) ++end;
  } else {
    end = std::min(rest_.find(delimiter_), rest_.size());
  }
  const std::string_view field = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return delimiter_ == '\t' ? field : trimmed(field);
}

std::string_view FieldCursor::quoted_field() {
  std::size_t end = rest_.find('"', 1);
  bool has_doubled = false;
  while (end != std::string_view::npos && end + 1 < rest_.size() && rest_[end + 1] == '"') {
    has_doubled = true;
    end = rest_.find('"', end + 2);
  }
  if (end == std::string_view::npos) {
    has_bad_quotes_ = true;
    return std::exchange(rest_, {});
  }
  const std::string_view inside = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  if (!has_doubled) return inside;
  std::string& text = unquoted_->emplace_back();
  for (std::size_t i = 0; i < inside.size(); ++i) {
    text += inside[i];
    if (inside[i] == '"') ++i;
  }
  return text;
}

// Behind a field comes a delimiter or the end of the line.
void FieldCursor::finish_field() {
  const bool is_at_delimiter = !rest_.empty() && is_delimiter(rest_.front());
  if (delimiter_ != '\t' && skip_blanks()) {
    is_done_ = true;
    return;
  }
  if (rest_.empty()) {
    is_done_ = true;
  } else if (delimiter_ == ' ') {
    if (!is_at_delimiter) has_bad_quotes_ = true;
  } else if (rest_.front() == delimiter_) {
    rest_.remove_prefix(1);
  } else {
    has_bad_quotes_ = true;
    rest_.remove_prefix(std::min(rest_.find(delimiter_), rest_.size() - 1) + 1);
    is_done_ = rest_.empty();
  }
}

InputError bad_quotes(const std::string& name, std::uint64_t line_number) {
  return {
      at(name, line_number), "a field begins with a quote (\") that does not end it in this line",
      "quotes stand around a whole field, a quote inside them is written twice (\"\"), and ids and labels "
      "have no line ends"};
}

RowFields split_fields(std::string_view line, char delimiter, UnquotedText& unquoted, const std::string& name,
                       std::uint64_t line_number) {
  RowFields fields;
  FieldCursor cursor(line, delimiter, unquoted);
  for (std::string_view field; cursor.next(field);) fields.push_back(field);
  if (cursor.has_bad_quotes()) throw bad_quotes(name, line_number);
  return fields;
}

const char* delimiter_name(char delimiter) {
  switch (delimiter) {
    case '\t':
      return "tabs";
    case ',':
      return "commas";
    case ';':
      return "semicolons";
    case '|':
      return "bars";
    default:
      return "spaces";
  }
}

TableSample::TableSample(std::string_view text, std::uint64_t first_line) {
  LineCursor cursor(text, first_line - 1);
  for (std::string_view line; lines.size() < kSampleLines && cursor.next(line);) {
    line = without_cr(line);
    if (is_skipped(line)) continue;
    lines.push_back(line);
    numbers.push_back(cursor.line_number());
  }
}

char detect_delimiter(const TableSample& sample) {
  const std::string_view first = sample.lines[0];
  const auto has = [&](char c) { return count_outside_quotes(first, c) > 0; };
  if (has('\t')) return '\t';
  if (has(',') && has(';')) {
    const bool commas = is_regular(sample, ','), semicolons = is_regular(sample, ';');
    return commas == semicolons ? '\0' : commas ? ',' : ';';
  }
  return has(',') ? ',' : has(';') ? ';' : ' ';
}

char detect_delimiter(const TableSample& sample, const std::string& name) {
  const char delimiter = detect_delimiter(sample);
  if (delimiter == '\0')
    throw InputError{at(name, sample.numbers[0]),
                     "fields may end at commas or at semicolons: both stand in this line",
                     "say which: --delimiter comma or --delimiter semicolon"};
  return delimiter;
}

bool is_name_of(Role role, std::string_view header) {
  const std::string word = plain_word(header);
  const auto names = names_of(role);
  return std::find(names.begin(), names.end(), word) != names.end();
}

std::vector<std::size_t> columns_named(Role role, const RowFields& header) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < header.size(); ++i)
    if (is_name_of(role, header[i])) columns.push_back(i);
  return columns;
}

std::size_t told_column(const std::string& told, const RowFields& first, bool may_have_header,
                        const std::string& role, const std::string& where, bool& has_header) {
  if (told.empty()) return kNoColumn;
  const std::optional<std::uint64_t> number = parse_count(told);
  if (number && *number >= 1 && *number <= first.size()) return *number - 1;
  if (may_have_header) {
    for (const bool exactly : {true, false})
      for (std::size_t i = 0; i < first.size(); ++i)
        if (exactly ? first[i] == told : lower_case(first[i]) == lower_case(told)) {
          has_header = true;
          return i;
        }
  }
  std::string names;
  for (const std::string_view name : first) names += (names.empty() ? "" : ", ") + quoted(name);
  throw InputError{where, "there is no column " + quoted(told) + " for the " + role,
                   number ? "columns count from 1 to " + std::to_string(first.size())
                          : "the first line has " + names + "; a column can also be counted, from 1"};
}

std::string unused_columns(const RowFields& header, const std::vector<std::size_t>& used) {
  std::string text;
  for (std::size_t i = 0; i < header.size(); ++i)
    if (std::find(used.begin(), used.end(), i) == used.end())
      text += (text.empty() ? "; not used: " : ", ") +
              (header[i].empty() ? "column " + std::to_string(i + 1) : std::string(header[i]));
  return text;
}

bool TableRows::next() {
  unquoted_.clear();
  if (!lines_.next_row(line_)) return false;
  fields_ = split_fields(line_, delimiter_, unquoted_, source_.name(), lines_.line_number());
  return true;
}

}  // namespace copse
