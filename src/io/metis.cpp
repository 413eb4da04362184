// SPDX-License-Identifier: Apache-2.0
//
// METIS graph files (Karypis & Kumar, METIS manual 5.1, section 4.1.1): a line "nodes edges [fmt [ncon]]",
// then one line per node with its neighbours, counted from 1; an empty line is a node without neighbours,
// lines that begin with % are comments. fmt is three digits: vertex sizes, vertex weights (ncon of them),
// edge weights. Sizes and weights of vertices say nothing about similarity and are skipped.
//
// Each edge stands in both rows, so it is enough to hand on one of its two directions once it is certain
// that the other one agrees (both_ways.hpp); only a file that fails is sorted, to name the edge.

#include <algorithm>
#include <bit>
#include <tuple>

#include "graph/both_ways.hpp"
#include "io/formats.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"

namespace copse {
namespace {

struct MetisHeader {
  std::uint64_t num_nodes = 0, num_edges = 0;
  bool has_edge_weights = false;
  std::uint64_t skipped = 0;  // words at the start of a line: the vertex's size and weights
};

struct MetisPiece {
  EdgeChunk arcs;  // `u` is the row counted from the piece's first
  std::uint64_t num_rows = 0;
  std::uint64_t num_lines = 0;
  std::uint64_t last_text_row =
      0;  // rows up to the last one with words: empty lines at the end may be just that
  std::optional<PieceError> error;
};

MetisHeader parse_header(std::string_view line, const std::string& where) {
  constexpr char kExample[] = "the first line is \"nodes edges [fmt [ncon]]\", for example \"4 5 001\"";
  std::string_view words = line;
  const auto nodes = parse_count(next_word(words)), edges = parse_count(next_word(words));
  const std::string_view format = next_word(words), constraints = next_word(words);
  const bool is_format = format.size() <= 3 && std::all_of(format.begin(), format.end(),
                                                           [](char c) { return c == '0' || c == '1'; });
  const auto ncon = constraints.empty() ? std::optional<std::uint64_t>{1} : parse_count(constraints);
  if (!nodes || !edges || !is_format || !ncon || !next_word(words).empty()) {
    throw InputError{where, quoted(line) + " is not a METIS header", kExample};
  }
  check_num_nodes(*nodes, where, "nodes");
  const auto digit = [&](std::size_t from_right) {
    return format.size() >= from_right && format[format.size() - from_right] == '1';
  };
  if (!constraints.empty() && (*ncon == 0 || *ncon > 1000)) {
    throw InputError{where, quoted(constraints) + " weights a node make no sense", kExample};
  }
  return {*nodes, *edges, digit(1), (digit(3) ? 1 : 0) + (digit(2) ? *ncon : 0)};
}

void parse_rows(std::string_view text, const MetisHeader& header, const std::string& name, bool is_signed,
                MetisPiece& piece) {
  LineCursor lines(text);
  std::string_view line;
  const auto wrong = [&](const std::string& problem, const std::string& remedy) {
    piece.error = PieceError{piece.num_lines, problem, remedy};
  };
  while (lines.next(line)) {
    ++piece.num_lines;
    if (!line.empty() && line[0] == '%') continue;
    const auto row = static_cast<NodeId>(piece.num_rows++);
    std::string_view word = next_word(line);
    if (word.empty() && header.skipped == 0) continue;
    if (!word.empty()) piece.last_text_row = piece.num_rows;
    for (std::uint64_t i = 0; i < header.skipped; ++i, word = next_word(line)) {
      if (!parse_count(word)) {
        if (piece.last_text_row != piece.num_rows) break;  // an empty line, perhaps behind the last node
        return wrong(
            quoted(word) + " is not a size or weight of a node",
            "by the header each line begins with the sizes and weights of its node, whole numbers: " +
                std::to_string(header.skipped));
      }
    }
    for (; !word.empty(); word = next_word(line)) {
      const auto neighbor = parse_count(word);
      if (!neighbor || *neighbor < 1 || *neighbor > header.num_nodes) {
        return wrong(
            "neighbour " + quoted(word) + " is not between 1 and " + std::to_string(header.num_nodes),
            "neighbours count from 1; check fmt in the first line too: it says what else stands here");
      }
      piece.arcs.u.push_back(row);
      piece.arcs.v.push_back(static_cast<NodeId>(*neighbor - 1));
      if (!header.has_edge_weights) continue;
      word = next_word(line);
      if (word.empty()) {
        return wrong("the last neighbour has no weight",
                     "by the header each neighbour is followed by a weight");
      }
      try {
        piece.arcs.weight.push_back(parse_weight(word, name, piece.num_lines, is_signed));
      } catch (const InputError& error) {
        return wrong(error.problem(), error.remedy());
      }
    }
  }
}

struct Arcs {
  std::vector<EdgeChunk> upper, lower;  // to a larger node (and loops), to a smaller one
  std::uint64_t num_arcs = 0, num_loops = 0;
  BothWays both_ways;
};

void append(EdgeChunk& chunk, NodeId u, NodeId v, const EdgeChunk& from, std::size_t i) {
  chunk.u.push_back(u);
  chunk.v.push_back(v);
  if (!from.weight.empty()) chunk.weight.push_back(from.weight[i]);
}

void take_arcs(const EdgeChunk& arcs, std::uint64_t first_row, Arcs& all) {
  EdgeChunk upper, lower;
  for (std::size_t i = 0; i < arcs.u.size(); ++i) {
    const auto u = static_cast<NodeId>(first_row + arcs.u[i]);
    const NodeId v = arcs.v[i];
    const std::uint32_t weight = arcs.weight.empty() ? 0 : std::bit_cast<std::uint32_t>(arcs.weight[i]);
    if (u == v) {
      ++all.num_loops;
    } else {
      all.both_ways.add(u, v, weight);
    }
    append(u <= v ? upper : lower, u, v, arcs, i);
  }
  all.num_arcs += arcs.u.size();
  if (!upper.u.empty()) all.upper.push_back(std::move(upper));
  if (!lower.u.empty()) all.lower.push_back(std::move(lower));
}

using Arc = std::tuple<NodeId, NodeId, Weight>;  // smaller end, larger end

std::vector<Arc> sorted(const std::vector<EdgeChunk>& chunks) {
  std::vector<Arc> arcs;
  for (const EdgeChunk& chunk : chunks) {
    for (std::size_t i = 0; i < chunk.u.size(); ++i) {
      if (chunk.u[i] == chunk.v[i]) continue;
      arcs.emplace_back(std::min(chunk.u[i], chunk.v[i]), std::max(chunk.u[i], chunk.v[i]),
                        chunk.weight.empty() ? Weight{1} : chunk.weight[i]);
    }
  }
  std::sort(arcs.begin(), arcs.end());
  return arcs;
}

[[noreturn]] void not_symmetric(const Arcs& arcs, const std::string& name) {
  const std::vector<Arc> upper = sorted(arcs.upper), lower = sorted(arcs.lower);
  std::size_t i = 0;
  while (i < upper.size() && i < lower.size() && upper[i] == lower[i]) ++i;
  const bool only_upper = i < upper.size() && (i == lower.size() || upper[i] < lower[i]);
  const auto [low, high, weight] = only_upper ? upper[i] : lower[i];
  const std::string from = std::to_string((only_upper ? low : high) + std::uint64_t{1});
  const std::string to = std::to_string((only_upper ? high : low) + std::uint64_t{1});
  throw InputError{name,
                   "node " + from + " lists " + to + ", but node " + to + " does not list " + from +
                       (arcs.upper.empty() || arcs.upper[0].weight.empty() ? "" : " with the same weight"),
                   "a METIS file holds each edge in both rows; for a directed list write an edge list"};
}

}  // namespace

ParsedEdges read_metis(ByteSource& source, const ReadOptions& options, const Execution& execution) {
  TextLines head(source);
  std::string_view line;
  do {
    if (!head.next(line))
      throw InputError{source.name(), "has no METIS header",
                       "the first line is \"nodes edges [fmt [ncon]]\""};
  } while (line.empty() || line[0] == '%');
  const MetisHeader header = parse_header(line, at(source.name(), head.line_number()));

  Arcs arcs;
  std::uint64_t num_rows = 0, last_text_row = 0;
  const auto parse = [&](std::string_view text, MetisPiece& piece) {
    parse_rows(text, header, source.name(), options.is_signed, piece);
  };
  const auto take = [&](MetisPiece& piece, std::uint64_t) {
    if (piece.last_text_row != 0) last_text_row = num_rows + piece.last_text_row;
    // Rows beyond what a NodeId counts are an error below; their arcs are not looked at.
    if (last_text_row <= header.num_nodes) take_arcs(piece.arcs, num_rows, arcs);
    num_rows += piece.num_rows;
  };
  const std::string_view rest = head.rest();
  const std::uint64_t before = head.num_bytes();
  const std::uint64_t num_bytes =
      before + parse_pieces<MetisPiece>(source, rest, head.line_number(), execution, parse, take);

  if (num_rows < header.num_nodes || last_text_row > header.num_nodes) {
    throw InputError{source.name(),
                     "has " + with_commas(num_rows) + " lines of neighbours, the header says " +
                         with_commas(header.num_nodes) + " nodes",
                     "each node has its line, an empty one where it has no neighbour"};
  }
  if (!arcs.both_ways.agree()) not_symmetric(arcs, source.name());
  // Loops are not part of the format; where a program wrote some, it may or may not have counted them.
  const std::uint64_t num_edges = (arcs.num_arcs - arcs.num_loops) / 2;
  if (header.num_edges != num_edges && header.num_edges != num_edges + arcs.num_loops) {
    throw InputError{
        source.name(),
        "has " + with_commas(num_edges) + " edges, the header says " + with_commas(header.num_edges),
        "an edge counts once in the header and stands in both rows"};
  }
  // METIS counts from 1 and knows no other names.
  return numbered(std::move(arcs.upper), header.num_nodes, 1, num_bytes, execution);
}

}  // namespace copse
