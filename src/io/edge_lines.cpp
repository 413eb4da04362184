// SPDX-License-Identifier: Apache-2.0
#include "io/edge_lines.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "copse/graph/names.hpp"
#include "copse/support/error.hpp"
#include "graph/hash_index.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"

// Two ways through a piece. The narrow one takes lines that look like almost all lines do; whatever it
// does not understand it leaves untouched to the careful one, which knows comments, blanks and errors.

namespace copse {
namespace {

// The fields of a line that count, and how many there are in all.
struct EdgeFields {
  std::string_view source, target, weight;
  std::size_t count = 0;
};

// Reads the fields of lines as a format says.
class EdgeLineReader {
 public:
  EdgeLineReader(EdgePiece& piece, const EdgeListContext& context)
      : piece_(piece), context_(context), format_(context.format) {}

  /// Throws what a line with a wrong number of columns, an empty id or bad quotes deserves.
  EdgeFields read(std::string_view line, std::uint64_t line_number) {
    EdgeFields fields;
    FieldCursor cursor(line, format_.delimiter, piece_.unquoted);
    for (std::string_view field; cursor.next(field); ++fields.count) {
      if (fields.count == format_.source) fields.source = field;
      if (fields.count == format_.target) fields.target = field;
      if (fields.count == format_.weight) fields.weight = field;
    }
    if (cursor.has_bad_quotes()) throw bad_quotes(context_.name, line_number);
    check(fields, line_number);
    return fields;
  }

 private:
  void check(const EdgeFields& fields, std::uint64_t line) const {
    if (fields.count != format_.num_columns)
      throw InputError{at(context_.name, line),
                       "found " + std::to_string(fields.count) +
                           (fields.count == 1 ? " column" : " columns") + " where the lines before have " +
                           std::to_string(format_.num_columns) + ", separated by " +
                           delimiter_name(format_.delimiter),
                       std::string(kEdgeShape) + ", all lines alike"};
    if (fields.source.empty() || fields.target.empty())
      throw InputError{
          at(context_.name, line),
          fields.source.empty() ? "the first node has an empty id" : "the second node has an empty id",
          kEdgeShape};
  }

  EdgePiece& piece_;
  const EdgeListContext& context_;
  const EdgeLineFormat& format_;
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

// The edges of a piece whose ids are integers, as distances from the base. Columns get room for some edges at
// a time, and what is left of it is cut off in the end.
template <char kSeparator, bool kHasWeights>
class IntegerEdges {
 public:
  IntegerEdges(EdgePiece& piece, const EdgeListContext& context) : piece_(piece), context_(context) {}

  /// The lines from the cursor on that look like almost all lines do, while many bytes are left. What is no
  /// digit is found for 64 bytes at a time, so that no number waits for the one before.
  void take_lines(LineCursor& lines) {
    constexpr std::ptrdiff_t kBytes = 64, kReadAhead = 16, kShortestLine = 4;
    while (lines.end() - lines.at() >= kBytes + kReadAhead) {
      make_room(kBytes / kShortestLine);
      const char* const base = lines.at();
      std::uint64_t others = find_other_than_digits(base);
      while ((others & (others - 1)) != 0) {
        const char* const u_end = base + std::countr_zero(others);
        others &= others - 1;
        const char* const v_end = base + std::countr_zero(others);
        others &= others - 1;
        const char* at = u_end;
        NodeId u = 0, v = 0;
        Weight weight = 1;
        if (!take_id(lines.at(), u_end, u) || !take_separator<kSeparator>(at) || !take_id(at, v_end, v))
          return;
        at = v_end;
        if constexpr (kHasWeights) {
          if (!take_separator<kSeparator>(at) || !take_weight(at, lines.end(), context_.is_signed, weight))
            return;
        }
        if (!take_line_end(at, lines.end())) return;
        if (kHasWeights || *v_end == '\r')
          others = at - base < kBytes ? others >> (at - base) << (at - base) : 0;
        add(u, v, weight);
        lines.skip_to(at);
      }
      if (lines.at() == base) return;
    }
  }

  void add_line(std::uint64_t u, std::uint64_t v, Weight weight) {
    make_room(1);
    add(static_cast<NodeId>(u - context_.integer_base), static_cast<NodeId>(v - context_.integer_base),
        weight);
  }
  bool may_be(std::optional<std::uint64_t> id) const { return id && *id - context_.integer_base < kNoNode; }

  void finish() {
    piece_.smallest = smallest_;
    piece_.largest = largest_;
    resize(size_);
  }

 private:
  bool take_id(const char* begin, const char* end, NodeId& id) const {
    const auto size = static_cast<std::size_t>(end - begin);
    if (size - 1 >= 15 || (*begin == '0' && size != 1)) return false;
    const std::uint64_t distance = integer_of_digits(begin, size) - context_.integer_base;
    id = static_cast<NodeId>(distance);
    return distance < kNoNode;
  }
  void add(NodeId u, NodeId v, Weight weight) {
    smallest_ = std::min({smallest_, u, v});
    largest_ = std::max({largest_, u, v});
    piece_.chunk.u[size_] = u;
    piece_.chunk.v[size_] = v;
    if constexpr (kHasWeights) piece_.chunk.weight[size_] = weight;
    ++size_;
  }
  void make_room(std::size_t count) {
    const std::size_t room = piece_.chunk.u.size();
    if (room - size_ < count) resize(std::max(2 * room, size_ + count));
  }
  void resize(std::size_t size) {
    piece_.chunk.u.resize(size);
    piece_.chunk.v.resize(size);
    if constexpr (kHasWeights) piece_.chunk.weight.resize(size);
  }

  EdgePiece& piece_;
  const EdgeListContext& context_;
  std::size_t size_ = 0;
  NodeId smallest_ = kNoNode, largest_ = 0;
};

template <char kSeparator, bool kHasWeights>
void parse_integers(EdgePiece& piece, const EdgeListContext& context) {
  IntegerEdges<kSeparator, kHasWeights> edges(piece, context);
  LineCursor lines(piece.text, piece.first_line - 1);
  EdgeLineReader reader(piece, context);
  std::string_view line;
  while (!lines.is_done()) {
    if (context.format.is_plain()) edges.take_lines(lines);
    if (!lines.next(line)) break;
    line = without_cr(line);
    if (is_skipped(line) || lines.line_number() == context.format.header_line) continue;
    const EdgeFields fields = reader.read(line, lines.line_number());
    Weight weight = 1;
    if (kHasWeights)
      weight = parse_weight(fields.weight, context.name, lines.line_number(), context.is_signed);
    const auto u = canonical_integer(fields.source), v = canonical_integer(fields.target);
    if (!edges.may_be(u) || !edges.may_be(v)) {
      piece.met_other_id = true;
      return;
    }
    edges.add_line(*u, *v, weight);
  }
  piece.num_lines = lines.line_number() + 1 - piece.first_line;
  edges.finish();
}

// The end of a field: at the separator, a blank one if that is a blank, or any control character.
template <char kSeparator>
const char* field_end(const char* at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
  constexpr std::uint64_t kLeast = kSeparator == ' ' ? ' ' + 1 : ' ';  // below are control characters
  for (;; at += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, 8);
    // The lowest byte that gets its top bit is exact; borrows and carries can only spoil those above.
    std::uint64_t found = (bytes - kOnes * kLeast) & ~bytes;
    if constexpr (kSeparator > ' ') {
      const std::uint64_t others = bytes ^ (kOnes * static_cast<unsigned char>(kSeparator));
      found |= (others - kOnes) & ~others;
    }
    found &= kTops;
    if (found != 0) return at + std::countr_zero(found) / 8;
  }
}

// A field of text without anything to say about it: not empty, no quotes, no blanks around it.
template <char kSeparator>
bool take_text(const char*& at, std::string_view& field) {
  if (*at == '"' || *at == ' ') return false;
  const char* const end = field_end<kSeparator>(at);
  if (end == at || (kSeparator != '\t' && end[-1] == ' ')) return false;
  field = {at, static_cast<std::size_t>(end - at)};
  at = end;
  return true;
}

template <char kSeparator, bool kHasWeights>
void parse_texts(EdgePiece& piece, const EdgeListContext& context) {
  if constexpr (kHasWeights) piece.chunk.weight.clear();
  EdgeLineReader reader(piece, context);
  LineCursor lines(piece.text, piece.first_line - 1);
  const auto add = [&](std::string_view u, std::string_view v, Weight weight) {
    piece.tokens.push_back({u, hash_text(u)});
    piece.tokens.push_back({v, hash_text(v)});
    if constexpr (kHasWeights) piece.chunk.weight.push_back(weight);
  };
  // Behind the last line end but some, a field may be looked for in steps of eight bytes without leaving the
  // piece: there is a line end before.
  constexpr std::size_t kStep = 8;
  const std::string_view text = piece.text;
  const std::size_t last_end =
      text.size() > kStep ? text.rfind('\n', text.size() - kStep) : std::string_view::npos;
  const char* const fast_end = last_end == std::string_view::npos ? text.data() : text.data() + last_end;
  const bool is_plain = context.format.is_plain();
  std::string_view line, u, v;
  while (!lines.is_done()) {
    const char* at = lines.at();
    Weight weight = 1;
    if (is_plain && at < fast_end && *at != '#' && *at != '%' && take_text<kSeparator>(at, u) &&
        take_separator<kSeparator>(at) && take_text<kSeparator>(at, v)) {
      const bool is_whole = !kHasWeights || (take_separator<kSeparator>(at) &&
                                             take_weight(at, lines.end(), context.is_signed, weight));
      if (is_whole && take_line_end(at, lines.end()) &&
          lines.line_number() + 1 != context.format.header_line) {
        add(u, v, weight);
        lines.skip_to(at);
        continue;
      }
    }
    lines.next(line);
    line = without_cr(line);
    if (is_skipped(line) || lines.line_number() == context.format.header_line) continue;
    const EdgeFields fields = reader.read(line, lines.line_number());
    if constexpr (kHasWeights)
      weight = parse_weight(fields.weight, context.name, lines.line_number(), context.is_signed);
    for (const std::string_view id : {fields.source, fields.target})
      check_name(id, copse::at(context.name, lines.line_number()));
    add(fields.source, fields.target, weight);
  }
  piece.num_lines = lines.line_number() + 1 - piece.first_line;
}

// The innermost loops are compiled for each separator and number of columns.
template <class Run>
void dispatch(EdgePiece& piece, const EdgeLineFormat& format, Run&& run) {
  const bool has_weights = format.has_weights();
  try {
    const auto with = [&]<char kSeparator>() {
      has_weights ? run.template operator()<kSeparator, true>()
                  : run.template operator()<kSeparator, false>();
    };
    switch (format.delimiter) {
      case '\t':
        return with.template operator()<'\t'>();
      case ',':
        return with.template operator()<','>();
      case ';':
        return with.template operator()<';'>();
      case '|':
        return with.template operator()<'|'>();
      default:
        return with.template operator()<' '>();
    }
  } catch (...) {
    piece.error = std::current_exception();
  }
}

}  // namespace

void EdgePiece::start(std::string_view lines, std::uint64_t first) {
  EdgePiece fresh;
  fresh.text = lines;
  fresh.first_line = first;
  fresh.chunk = std::move(chunk);
  fresh.tokens = std::move(tokens);
  fresh.tokens.clear();
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
