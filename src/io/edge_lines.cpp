// SPDX-License-Identifier: Apache-2.0
#include "io/edge_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "copse/graph/names.hpp"
#include "copse/support/error.hpp"
#include "graph/hash_index.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"

// Two ways through a piece. The narrow one takes lines that look like almost all lines do; whatever it
// does not understand it leaves untouched to the careful one, which knows comments, blanks and errors.

namespace copse {
namespace {

constexpr const char* kShape =
    "an edge is a line \"u v\" or \"u v weight\", separated by tab, comma or spaces";

bool is_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

// Lower case, without quotes, underscores and dashes: "Node_1" is "node1".
std::string plain_word(std::string_view text) {
  std::string word;
  for (const char c : trimmed(text)) {
    if (c == '"' || c == '\'' || c == '_' || c == '-' || c == ' ') continue;
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

bool names_the_ends(const LineFields& fields) {
  static constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
      {"source", "target"},   {"source", "destination"}, {"source", "dest"},
      {"src", "dst"},         {"src", "dest"},           {"src", "tgt"},
      {"from", "to"},         {"fromnode", "tonode"},    {"u", "v"},
      {"node1", "node2"},     {"nodea", "nodeb"},        {"id1", "id2"},
      {"nodeid1", "nodeid2"}, {"sourceid", "targetid"},  {"fromnodeid", "tonodeid"},
      {"vertex1", "vertex2"},
  };
  const std::string first = plain_word(fields.field[0]), second = plain_word(fields.field[1]);
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](const auto& ends) { return ends.first == first && ends.second == second; });
}

// The error that a line with the wrong number of columns or an empty id deserves.
void check_fields(const LineFields& fields, const EdgeLineFormat& format, const std::string& name,
                  std::uint64_t line) {
  const auto expected = static_cast<std::size_t>(format.num_columns);
  if (fields.count != expected) {
    const char* separator = format.separator == '\t' ? "tabs" : format.separator == ',' ? "commas" : "spaces";
    throw InputError{at(name, line),
                     "found " + std::to_string(fields.count) + (fields.count == 1 ? " column" : " columns") +
                         " where the lines before have " + std::to_string(expected) + ", separated by " +
                         separator,
                     std::string(kShape) + ", all lines alike"};
  }
  for (std::size_t i = 0; i < 2; ++i)
    if (fields.field[i].empty())
      throw InputError{at(name, line),
                       i == 0 ? "the first node has an empty id" : "the second node has an empty id", kShape};
}

constexpr std::ptrdiff_t kReadAhead = 16;  // bytes take_integer may look at

// At most one entry per line: reserved once, written by index, cut to size in the end.
class ChunkWriter {
 public:
  ChunkWriter(EdgePiece& piece, bool has_weights) : chunk_(piece.chunk) {
    chunk_.u.resize(piece.num_lines);
    chunk_.v.resize(piece.num_lines);
    if (has_weights) chunk_.weight.resize(piece.num_lines);
  }
  template <bool kHasWeights>
  void add(NodeId u, NodeId v, Weight weight) {
    chunk_.u[size_] = u;
    chunk_.v[size_] = v;
    if constexpr (kHasWeights) chunk_.weight[size_] = weight;
    ++size_;
  }
  void finish() {
    chunk_.u.resize(size_);
    chunk_.v.resize(size_);
    if (!chunk_.weight.empty()) chunk_.weight.resize(size_);
  }

 private:
  EdgeChunk& chunk_;
  std::size_t size_ = 0;
};

template <char kSeparator>
bool take_separator(const char*& at) {
  if constexpr (kSeparator == ' ') {
    if (*at != ' ' && *at != '\t') return false;
    ++at;
    return *at != ' ' && *at != '\t';  // longer runs are left to the careful way
  } else {
    return *at++ == kSeparator;
  }
}

bool take_line_end(const char*& at, const char* end) {
  if (at < end && *at == '\r') ++at;
  return at < end && *at++ == '\n';
}

// A weight without anything to say about it; all others are left to the careful way.
bool take_weight(const char*& at, const char* end, bool is_signed, Weight& weight) {
  const auto [stop, error] = std::from_chars(at, end, weight);
  if (error != std::errc() || !std::isfinite(weight) || !(weight > 0 || (is_signed && weight < 0)))
    return false;
  at = stop;
  return true;
}

template <char kSeparator, bool kHasWeights>
void parse_integers(EdgePiece& piece, const EdgeListContext& context) {
  ChunkWriter out(piece, kHasWeights);
  LineCursor lines(piece.text, piece.first_line - 1);
  const std::uint64_t base = context.integer_base;
  NodeId smallest = kNoNode, largest = 0;
  const auto add = [&](NodeId u, NodeId v, Weight weight) {
    smallest = std::min({smallest, u, v});
    largest = std::max({largest, u, v});
    out.add<kHasWeights>(u, v, weight);
  };
  std::string_view line;
  while (!lines.is_done()) {
    const char* at = lines.at();
    std::uint64_t u = 0, v = 0;
    Weight weight = 1;
    if (lines.end() - at > 3 * kReadAhead && take_integer(at, u) && take_separator<kSeparator>(at) &&
        take_integer(at, v) && u - base < kNoNode && v - base < kNoNode) {
      const bool is_whole = !kHasWeights || (take_separator<kSeparator>(at) &&
                                             take_weight(at, lines.end(), context.is_signed, weight));
      if (is_whole && take_line_end(at, lines.end())) {
        add(static_cast<NodeId>(u - base), static_cast<NodeId>(v - base), weight);
        lines.skip_to(at);
        continue;
      }
    }
    lines.next(line);
    line = without_cr(line);
    if (is_skipped(line) || lines.line_number() == context.format.header_line) continue;
    const LineFields fields = split_line(line, kSeparator);
    check_fields(fields, context.format, context.name, lines.line_number());
    if (kHasWeights)
      weight = parse_weight(fields.field[2], context.name, lines.line_number(), context.is_signed);
    const auto id_u = canonical_integer(fields.field[0]), id_v = canonical_integer(fields.field[1]);
    if (!id_u || !id_v || *id_u - base >= kNoNode || *id_v - base >= kNoNode) {
      piece.met_other_id = true;
      return;
    }
    add(static_cast<NodeId>(*id_u - base), static_cast<NodeId>(*id_v - base), weight);
  }
  piece.smallest = smallest;
  piece.largest = largest;
  out.finish();
}

template <char kSeparator, bool kHasWeights>
void parse_texts(EdgePiece& piece, const EdgeListContext& context) {
  ChunkWriter out(piece, kHasWeights);
  HashIndex index;
  LineCursor lines(piece.text, piece.first_line - 1);
  const auto token = [&](std::string_view id) {
    const std::uint64_t hash = hash_text(id);
    const auto fresh = static_cast<NodeId>(piece.tokens.size());
    index.make_room([&](NodeId i) { return piece.tokens[i].hash; });
    const NodeId found = index.find_or_add(hash, fresh, [&](NodeId i) { return piece.tokens[i].text == id; });
    if (found != fresh) return found;
    check_name(id, at(context.name, lines.line_number()));
    piece.tokens.push_back({id, hash});
    return found;
  };
  std::string_view line;
  while (lines.next(line)) {
    line = without_cr(line);
    if (is_skipped(line) || lines.line_number() == context.format.header_line) continue;
    const LineFields fields = split_line(line, kSeparator);
    check_fields(fields, context.format, context.name, lines.line_number());
    Weight weight = 1;
    if constexpr (kHasWeights)
      weight = parse_weight(fields.field[2], context.name, lines.line_number(), context.is_signed);
    const NodeId u = token(fields.field[0]);
    out.add<kHasWeights>(u, token(fields.field[1]), weight);
  }
  out.finish();
}

// The innermost loops are compiled for each separator and number of columns.
template <class Run>
void dispatch(EdgePiece& piece, const EdgeLineFormat& format, Run&& run) {
  const bool has_weights = format.num_columns == 3;
  try {
    const auto with = [&]<char kSeparator>() {
      has_weights ? run.template operator()<kSeparator, true>()
                  : run.template operator()<kSeparator, false>();
    };
    switch (format.separator) {
      case '\t':
        return with.template operator()<'\t'>();
      case ',':
        return with.template operator()<','>();
      default:
        return with.template operator()<' '>();
    }
  } catch (...) {
    piece.error = std::current_exception();
  }
}

}  // namespace

EdgeLineFormat detect_edge_lines(std::string_view text, std::uint64_t first_line, const std::string& name) {
  EdgeLineFormat format;
  LineCursor lines(text, first_line - 1);
  std::string_view line;
  const auto next_row = [&] {
    while (lines.next(line))
      if (!is_skipped(without_cr(line))) return true;
    return false;
  };
  if (!next_row()) return format;
  const std::uint64_t first_data_line = lines.line_number();
  const auto has = [&](char c) { return line.find(c) != std::string_view::npos; };
  format.separator = has('\t') ? '\t' : has(',') ? ',' : ' ';
  LineFields fields = split_line(without_cr(line), format.separator);
  const LineFields first = fields;
  const bool has_more = next_row();
  if (has_more) fields = split_line(without_cr(line), format.separator);

  const bool third_is_a_name = first.count == 3 && !is_number(first.field[2]);
  const bool third_is_a_number_below = has_more && fields.count == 3 && is_number(fields.field[2]);
  if ((first.count == 2 && names_the_ends(first)) ||
      (third_is_a_name && (third_is_a_number_below || names_the_ends(first)))) {
    format.header_line = first_data_line;
    if (!has_more) return format;
  } else {
    fields = first;
  }
  const std::uint64_t counted_line = format.header_line != 0 ? lines.line_number() : first_data_line;
  if (fields.count < 2 || fields.count > 3)
    throw InputError{at(name, counted_line),
                     "found " + std::to_string(fields.count) + (fields.count == 1 ? " column" : " columns"),
                     std::string(kShape) + (fields.count > 3 ? "; leave the other columns out" : "")};
  format.num_columns = static_cast<int>(fields.count);
  return format;
}

void EdgePiece::start(std::string_view lines, std::uint64_t count) {
  EdgePiece fresh;
  fresh.text = lines;
  fresh.num_lines = count;
  fresh.chunk = std::move(chunk);
  *this = std::move(fresh);
}

void parse_integer_ids(EdgePiece& piece, const EdgeListContext& context) {
  dispatch(piece, context.format, [&]<char kSeparator, bool kHasWeights>() {
    parse_integers<kSeparator, kHasWeights>(piece, context);
  });
}

void parse_text_ids(EdgePiece& piece, const EdgeListContext& context) {
  dispatch(piece, context.format, [&]<char kSeparator, bool kHasWeights>() {
    parse_texts<kSeparator, kHasWeights>(piece, context);
  });
}

}  // namespace copse
