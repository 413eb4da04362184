// SPDX-License-Identifier: Apache-2.0
#include "io/edge_piece.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "graph/hash_index.hpp"
#include "io/integer_text.hpp"
#include "io/readers.hpp"

// Two ways through a piece. The narrow one takes lines that look like almost all lines do; whatever it
// does not understand it leaves untouched to the careful one, which knows comments, blanks and errors.

namespace copse {
namespace {

constexpr std::ptrdiff_t kReadAhead = 16;  // bytes take_integer may look at

/// Lines in order, with the number of the current one.
class Lines {
 public:
  explicit Lines(const EdgePiece& piece)
      : at_(piece.text.data()), end_(at_ + piece.text.size()), line_(piece.first_line - 1) {}

  bool is_done() const { return at_ == end_; }
  const char* at() const { return at_; }
  const char* end() const { return end_; }
  std::uint64_t line() const { return line_; }
  void skip_to(const char* next) {
    at_ = next;
    ++line_;
  }
  std::string_view next() {
    const void* found = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
    const char* stop = found == nullptr ? end_ : static_cast<const char*>(found);
    const std::string_view line{at_, static_cast<std::size_t>(stop - at_)};
    skip_to(found == nullptr ? end_ : stop + 1);
    return without_cr(line);
  }

 private:
  const char* at_;
  const char* end_;
  std::uint64_t line_;
};

// One entry a line at the most: reserved once, written by index, cut to size in the end.
class ChunkWriter {
 public:
  ChunkWriter(EdgePiece& piece, bool has_weights) : chunk_(piece.chunk) {
    chunk_.u.resize(piece.num_lines);
    chunk_.v.resize(piece.num_lines);
    if (has_weights) chunk_.weight.resize(piece.num_lines);
  }
  void add(NodeId u, NodeId v) {
    chunk_.u[size_] = u;
    chunk_.v[size_++] = v;
  }
  void add(NodeId u, NodeId v, Weight weight) {
    chunk_.weight[size_] = weight;
    add(u, v);
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

// A positive weight, or one of any sign. Up to seven digits with a point among them are an integer below 2^24
// over a power of ten up to 10^7, both exact as floats, so one division rounds correctly (Clinger 1990).
bool take_weight(const char*& at, const char* end, bool is_signed, Weight& weight) {
  constexpr float kPowers[] = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F};
  constexpr int kMostDigits = 7;
  const bool is_negative = is_signed && at < end && *at == '-';
  const char* p = at + is_negative;
  std::uint32_t mantissa = 0;
  int num_digits = 0, num_decimals = 0;
  bool has_point = false;
  for (; p < end; ++p) {
    const auto digit = static_cast<unsigned>(*p - '0');
    if (digit <= 9) {
      mantissa = 10 * mantissa + digit;
      num_decimals += has_point;
      if (++num_digits > kMostDigits) break;
    } else if (*p == '.' && !has_point) {
      has_point = true;
    } else {
      break;
    }
  }
  if (p < end && (*p == '\n' || *p == '\r') && num_digits > 0) {
    weight = static_cast<float>(mantissa) / kPowers[num_decimals];
    if (!(weight > 0)) return false;
    if (is_negative) weight = -weight;
    at = p;
    return true;
  }
  const auto [stop, error] = std::from_chars(at, end, weight);
  if (error != std::errc() || !std::isfinite(weight) || !(weight > 0)) return false;
  at = stop;
  return true;
}

template <char kSeparator, bool kHasWeights>
void parse_integers(EdgePiece& piece, const EdgeListContext& context) {
  ChunkWriter out(piece, kHasWeights);
  Lines lines(piece);
  const std::uint64_t base = context.integer_base;
  NodeId smallest = kNoNode, largest = 0;
  const auto add = [&](NodeId u, NodeId v, Weight weight) {
    smallest = std::min({smallest, u, v});
    largest = std::max({largest, u, v});
    if constexpr (kHasWeights) {
      out.add(u, v, weight);
    } else {
      out.add(u, v);
    }
  };
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
    const std::string_view line = lines.next();
    if (is_skipped(line) || lines.line() == context.format.header_line) continue;
    const LineFields fields = split_line(line, kSeparator);
    check_fields(fields, context.format, context.name, lines.line());
    if (kHasWeights) weight = parse_weight(fields.field[2], context.name, lines.line(), context.is_signed);
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
  Lines lines(piece);
  const auto token = [&](std::string_view id) {
    const std::uint64_t hash = hash_text(id);
    const auto fresh = static_cast<NodeId>(piece.tokens.size());
    index.make_room([&](NodeId i) { return piece.tokens[i].hash; });
    const NodeId found = index.find_or_add(hash, fresh, [&](NodeId i) { return piece.tokens[i].text == id; });
    if (found != fresh) return found;
    check_name(id, at(context.name, lines.line()));
    piece.tokens.push_back({id, hash});
    return found;
  };
  while (!lines.is_done()) {
    const std::string_view line = lines.next();
    if (is_skipped(line) || lines.line() == context.format.header_line) continue;
    const LineFields fields = split_line(line, kSeparator);
    check_fields(fields, context.format, context.name, lines.line());
    if constexpr (kHasWeights) {
      const char* at = fields.field[2].data();
      const char* end = at + fields.field[2].size();
      // The quick way wants to see the end of the line, which is there unless the input lacks it.
      Weight weight = 0;
      if (end == piece.text.data() + piece.text.size() ||
          !take_weight(at, end + 1, context.is_signed, weight) || at != end)
        weight = parse_weight(fields.field[2], context.name, lines.line(), context.is_signed);
      const NodeId u = token(fields.field[0]);
      out.add(u, token(fields.field[1]), weight);
    } else {
      const NodeId u = token(fields.field[0]);
      out.add(u, token(fields.field[1]));
    }
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

void EdgePiece::reset() {
  EdgePiece fresh;
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
