// SPDX-License-Identifier: Apache-2.0
#include "io/edge_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "io/edge_piece.hpp"
#include "io/integer_text.hpp"
#include "io/intern.hpp"
#include "io/number_nodes.hpp"

// Blocks of lines are read one after the other; the pieces of a block are parsed in parallel. Ids are
// taken for integers (no hashing) until one is not: then what was read is given text ids after all, or is
// read again (EdgeListKeeps).

namespace copse {
namespace {

std::string_view without_bom(std::string_view text) {
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  return text.starts_with(kBom) ? text.substr(kBom.size()) : text;
}

void check_is_text(std::string_view block, const std::string& name) {
  if (block.find('\0') != std::string_view::npos)
    throw InputError{name, "this is not text: it holds a NUL byte",
                     "copse reads edge lists (UTF-8), Matrix Market, METIS, scipy .npz and .copse files"};
}

// Counted in bytes while these cannot overflow: the compiler compares sixteen characters at a time.
std::uint64_t count_lines(std::string_view text) {
  constexpr std::size_t kAtOnce = 240;
  std::uint64_t lines = text.ends_with('\n') ? 0 : 1;
  for (; !text.empty(); text.remove_prefix(std::min(kAtOnce, text.size()))) {
    std::uint8_t count = 0;
    for (const char c : text.substr(0, kAtOnce)) count = static_cast<std::uint8_t>(count + (c == '\n'));
    lines += count;
  }
  return lines;
}

// Cut at line ends, by size only: never by the number of threads. Pieces keep their memory.
void cut_at_lines(std::string_view block, std::size_t size, std::vector<EdgePiece>& pieces) {
  std::size_t count = 0;
  while (!block.empty()) {
    std::size_t length = block.size();
    if (length > size) {
      const std::size_t end = block.find('\n', size);
      if (end != std::string_view::npos) length = end + 1;
    }
    if (count == pieces.size()) pieces.emplace_back();
    pieces[count].reset();
    pieces[count++].text = block.substr(0, length);
    block.remove_prefix(length);
  }
  pieces.resize(count);
}

// A file of nodes may be one of labels: what stands before the first tab, or else comma or blank if the edge
// list is separated by these.
std::string_view node_of_row(std::string_view line, char separator) {
  if (const std::size_t tab = line.find('\t'); tab != std::string_view::npos) return line.substr(0, tab);
  return split_line(line, separator).field[0];
}

bool is_labels_header(std::string_view line) {
  for (const std::string_view node : {"node", "node_id", "id"})
    for (const std::string_view label : {"label", "labels", "class"})
      for (const std::string_view separator : {"\t", ",", " "})
        if (line == std::string(node).append(separator).append(label)) return true;
  return false;
}

// Thrown where edges have left their order behind and it is needed after all.
struct TextIdsNeeded {};

class EdgeListReader {
 public:
  EdgeListReader(ByteSource& source, const ReadOptions& options, const Execution& execution,
                 const EdgeListCut& cut, bool is_collecting, bool may_have_integer_ids)
      : source_(source),
        options_(options),
        execution_(execution),
        cut_(cut),
        is_collecting_(is_collecting),
        may_have_integer_ids_(may_have_integer_ids) {
    context_.name = source.name();
    context_.is_signed = options.is_signed;
  }

  ParsedEdges read() {
    // Large enough for a header and the line below it, whatever the cut.
    constexpr std::size_t kFirstBlock = 1024;
    std::string_view block = next_block(std::max(cut_.block, kFirstBlock));
    check_is_text(block, context_.name);
    block = without_bom(block);
    for (; !block.empty(); block = next_block(cut_.block)) {
      context_.format = detect_edge_lines(block, next_line_, context_.name);
      if (context_.format.num_columns != 0) break;
      next_line_ += count_lines(block);  // comments only, so far
    }
    choose_id_kind(block);
    for (; !block.empty(); block = next_block(cut_.block)) {
      execution_.throw_if_cancelled();
      read_block(block);
      execution_.report("read", num_bytes_, source_.known_size());
    }
    if (num_edges_ == 0)
      throw InputError{
          context_.name, "this file holds no edge",
          "an edge is a line \"u v\" or \"u v weight\"; lines that begin with # or % are comments"};
    if (!options_.nodes_path.empty()) read_nodes();
    return finish();
  }

 private:
  std::string_view next_block(std::size_t size) {
    const std::span<const char> bytes = source_.next_lines(size);
    num_bytes_ += bytes.size();
    return {bytes.data(), bytes.size()};
  }

  // Integers when the first edge has them. They are kept as 32-bit distances from a base: 0 if that can
  // reach them, else a value below the first id, so that long ids of one range work as well.
  void choose_id_kind(std::string_view block) {
    std::uint64_t line_number = next_line_;
    has_integer_ids_ = false;
    while (may_have_integer_ids_ && !block.empty()) {
      const std::size_t end = std::min(block.find('\n'), block.size());
      const std::string_view line = without_cr(block.substr(0, end));
      block.remove_prefix(std::min(end + 1, block.size()));
      if (line_number++ == context_.format.header_line || is_skipped(line)) continue;
      const LineFields fields = split_line(line, context_.format.separator);
      const auto u = canonical_integer(fields.field[0]), v = canonical_integer(fields.field[1]);
      if (!u || !v) return;
      const std::uint64_t smaller = std::min(*u, *v);
      constexpr std::uint64_t kBelow = std::uint64_t{1} << 31;
      context_.integer_base = std::max(*u, *v) < kNoNode ? 0 : smaller - std::min(smaller, kBelow);
      integers_.base = context_.integer_base;
      has_integer_ids_ = true;
      return;
    }
  }

  void read_block(std::string_view block) {
    std::vector<EdgePiece>& pieces = pieces_;
    cut_at_lines(block, cut_.piece, pieces);
    parallel_for(execution_.threads, pieces.size(),
                 [&](std::size_t i) { pieces[i].num_lines = count_lines(pieces[i].text); });
    std::uint64_t line = next_line_;
    for (EdgePiece& piece : pieces) {
      piece.first_line = line;
      line += piece.num_lines;
    }
    next_line_ = line;
    if (has_integer_ids_ && !read_integers(pieces)) change_to_text_ids();
    if (!has_integer_ids_) read_texts(pieces);
    for (EdgePiece& piece : pieces) num_edges_ += piece.chunk.u.size();
    if (is_collecting_) return collect(pieces, block.size());
    for (EdgePiece& piece : pieces) integers_.chunks.push_back(std::move(piece.chunk));
  }

  void collect(const std::vector<EdgePiece>& pieces, std::size_t num_bytes) {
    if (collector_ == nullptr) {
      // A text of unknown length is taken for a long one: too many buckets cost less than too few.
      constexpr std::uint64_t kManyBlocks = 64;
      const std::uint64_t blocks =
          source_.known_size() == 0 ? kManyBlocks : source_.known_size() / num_bytes + 1;
      collector_ = EdgeCollector::make(context_.format.num_columns == 3, num_edges_ * blocks);
    }
    std::vector<EdgeColumns> columns;
    columns.reserve(pieces.size());
    for (const EdgePiece& piece : pieces)
      columns.push_back(
          {piece.chunk.u.data(), piece.chunk.v.data(), piece.chunk.weight.data(), piece.chunk.u.size()});
    const std::uint64_t num_texts = std::max<std::uint64_t>(interner_.size(), 1);
    collector_->add(columns, has_integer_ids_ ? integers_.largest : static_cast<NodeId>(num_texts - 1),
                    execution_);
  }

  // False when the block has to be read again, with text ids.
  bool read_integers(std::vector<EdgePiece>& pieces) {
    parallel_for(execution_.threads, pieces.size(),
                 [&](std::size_t i) { parse_integer_ids(pieces[i], context_); });
    for (const EdgePiece& piece : pieces) {
      if (piece.error) std::rethrow_exception(piece.error);
      if (piece.met_other_id) return false;
    }
    for (const EdgePiece& piece : pieces) {
      integers_.smallest = std::min(integers_.smallest, piece.smallest);
      integers_.largest = std::max(integers_.largest, piece.largest);
    }
    return true;
  }

  void read_texts(std::vector<EdgePiece>& pieces) {
    parallel_for(execution_.threads, pieces.size(), [&](std::size_t i) {
      pieces[i].error = nullptr;  // of an attempt to read integers
      parse_text_ids(pieces[i], context_);
    });
    std::vector<std::vector<NodeId>> node_of_token(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i].error) std::rethrow_exception(pieces[i].error);
      // In order, so that nodes are numbered by first appearance; a piece has each id once only, and the
      // table is asked for in advance.
      constexpr std::size_t kAhead = 12;
      const std::vector<IdToken>& tokens = pieces[i].tokens;
      node_of_token[i].resize(tokens.size());
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        if (t + kAhead < tokens.size()) interner_.prefetch(tokens[t + kAhead].hash);
        node_of_token[i][t] = checked(interner_.intern(tokens[t].text, tokens[t].hash));
      }
    }
    parallel_for(execution_.threads, pieces.size(), [&](std::size_t i) {
      for (std::vector<NodeId>* ids : {&pieces[i].chunk.u, &pieces[i].chunk.v})
        for (NodeId& id : *ids) id = node_of_token[i][id];
      pieces[i].tokens = {};
    });
  }

  NodeId checked(NodeId node) const {
    if (node == kNoNode)
      throw InputError{context_.name, "there are more than " + with_commas(kMaxNodes) + " nodes",
                       "that is the limit: split the graph by component"};
    return node;
  }

  NodeId intern_integer(NodeId distance) {
    char digits[20];
    char* const end = std::to_chars(digits, digits + sizeof digits, integers_.base + distance).ptr;
    return checked(interner_.intern({digits, static_cast<std::size_t>(end - digits)}));
  }

  // The integers were read from their canonical text, so nothing is lost.
  void change_to_text_ids() {
    if (is_collecting_) throw TextIdsNeeded{};
    for (EdgeChunk& chunk : integers_.chunks)
      for (std::size_t i = 0; i < chunk.u.size(); ++i) {
        chunk.u[i] = intern_integer(chunk.u[i]);
        chunk.v[i] = intern_integer(chunk.v[i]);
      }
    for (const NodeId id : integers_.more_ids) intern_integer(id);
    integers_.more_ids = {};
    has_integer_ids_ = false;
  }

  void read_nodes() {
    ByteSource nodes = ByteSource::open(options_.nodes_path, execution_);
    std::uint64_t line_number = 0;
    for (;;) {
      const std::span<const char> bytes = nodes.next_lines(cut_.block);
      if (bytes.empty()) return;
      std::string_view block{bytes.data(), bytes.size()};
      if (line_number == 0) {
        check_is_text(block, nodes.name());
        block = without_bom(block);
      }
      while (!block.empty()) {
        const std::size_t end = std::min(block.find('\n'), block.size());
        const std::string_view line = without_cr(block.substr(0, end));
        block.remove_prefix(std::min(end + 1, block.size()));
        ++line_number;
        if (!is_skipped(line) && !(line_number == 1 && is_labels_header(line)))
          add_node(line, nodes.name(), line_number);
      }
    }
  }

  void add_node(std::string_view line, const std::string& name, std::uint64_t line_number) {
    const std::string_view id = node_of_row(line, context_.format.separator);
    if (id.empty())
      throw InputError{
          at(name, line_number), "found " + quoted(line) + " where an id was expected",
          "a file of nodes has one id a line, written as in the edge list, alone or before a label"};
    check_name(id, at(name, line_number));
    const auto number = canonical_integer(id);
    if (has_integer_ids_ && number && *number - integers_.base < kNoNode) {
      const auto distance = static_cast<NodeId>(*number - integers_.base);
      integers_.more_ids.push_back(distance);
      integers_.smallest = std::min(integers_.smallest, distance);
      integers_.largest = std::max(integers_.largest, distance);
      return;
    }
    if (has_integer_ids_) change_to_text_ids();
    checked(interner_.intern(id));
  }

  ParsedEdges finish() {
    ParsedEdges parsed;
    parsed.num_bytes = num_bytes_;
    if (is_collecting_ && has_integer_ids_) {
      number_collected(parsed);
    } else if (has_integer_ids_) {
      if (auto names = number_nodes(integers_, execution_.threads)) {
        parsed.names = std::move(*names);
      } else {
        change_to_text_ids();
      }
    }
    if (!has_integer_ids_) parsed.names = interner_.take_names();
    parsed.num_nodes = parsed.names.size();
    parsed.chunks = std::move(integers_.chunks);
    parsed.collected = std::move(collector_);
    return parsed;
  }

  // As number_nodes does for a list.
  void number_collected(ParsedEdges& parsed) {
    if (lie_too_thinly(integers_.smallest, integers_.largest, num_edges_)) throw TextIdsNeeded{};
    auto seen = std::make_unique<SeenIds>(integers_.smallest, integers_.largest);
    collector_->mark_ids(*seen, execution_);
    const std::uint64_t count = seen->count(), end = seen->end();
    const bool is_run = count == end - integers_.smallest;
    parsed.names = is_run ? NodeNames::numbered(count, integers_.base + integers_.smallest)
                          : seen->names(count, integers_.base);
    if (count == end) return;  // ids are nodes
    if (end > 2 * count) {
      collector_->number_now(*seen, count);
    } else {
      parsed.seen = std::move(seen);
    }
  }

  ByteSource& source_;
  const ReadOptions& options_;
  const Execution& execution_;
  const EdgeListCut& cut_;
  bool is_collecting_, may_have_integer_ids_;
  std::unique_ptr<EdgeCollector> collector_;
  std::vector<EdgePiece> pieces_;
  EdgeListContext context_;
  bool has_integer_ids_ = false;
  IntegerEdges integers_;  // its chunks are the edges, whatever the ids
  Interner interner_;
  std::uint64_t num_bytes_ = 0, num_edges_ = 0, next_line_ = 1;
};

}  // namespace

ParsedEdges read_edge_list(ByteSource& source, const ReadOptions& options, const Execution& execution) {
  // A file of nodes may bring text ids as well, and may be a pipe.
  const bool can_read_again = source.can_rewind() && options.nodes_path.empty();
  return read_edge_list(source, options, execution, EdgeListCut(),
                        can_read_again ? EdgeListKeeps::buckets : EdgeListKeeps::list);
}

ParsedEdges read_edge_list(ByteSource& source, const ReadOptions& options, const Execution& execution,
                           const EdgeListCut& cut, EdgeListKeeps keeps) {
  const bool is_collecting = keeps == EdgeListKeeps::buckets;
  try {
    return EdgeListReader(source, options, execution, cut, is_collecting, true).read();
  } catch (const TextIdsNeeded&) {
    source.rewind();
    return EdgeListReader(source, options, execution, cut, is_collecting, false).read();
  }
}

}  // namespace copse
