// SPDX-License-Identifier: Apache-2.0
#include "io/formats.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "graph/integer_ids.hpp"
#include "io/edge_lines.hpp"
#include "io/intern.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"

// Text to edges: blocks of lines are read one after the other, the pieces of a block are parsed in parallel
// and go to the collector (graph/edge_collector.hpp). Ids are taken for integers (no hashing) until one is
// not: then what was read is given text ids after all, or is read again (EdgeListKeeps).

namespace copse {
namespace {

constexpr char kKnownFormats[] = "copse reads edge lists (UTF-8) and the formats that docs/formats.md lists";

// Numbering takes one bit per id: worth it while the bits take no more memory than the edges themselves.
bool lie_too_thinly(NodeId smallest, NodeId largest, std::uint64_t num_edges) {
  constexpr std::uint64_t kBitsPerEdge = 64, kBitsAtLeast = std::uint64_t{1} << 20;
  const std::uint64_t range = std::uint64_t{largest} - smallest + 1;
  return range > kBitsAtLeast && range / kBitsPerEdge > num_edges;
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
        block_size_(cut.block != 0          ? cut.block
                    : execution.threads > 1 ? 4 * static_cast<std::size_t>(execution.threads) * cut.piece
                                            : cut.piece),
        is_collecting_(is_collecting),
        may_have_integer_ids_(may_have_integer_ids) {
    context_.name = source.name();
    context_.is_signed = options.is_signed;
  }

  ParsedEdges read() {
    // Large enough for a header and some lines below it, whatever the cut.
    constexpr std::size_t kFirstBlock = 4096;
    std::string_view block = next_block(std::max(block_size_, kFirstBlock));
    block = checked_start(block, context_.name, kKnownFormats);
    for (; !block.empty(); block = next_block(block_size_)) {
      context_.format = detect_edge_lines(block, next_line_, context_.name, options_.table);
      if (context_.format.num_columns != 0) break;
      next_line_ += count_lines(block);  // comments only, so far
    }
    if (!block.empty()) choose_id_kind(block);
    for (; !block.empty(); block = next_block(block_size_)) {
      execution_.throw_if_cancelled();
      read_block(block);
      execution_.report("read", num_bytes_, source_.known_size());
    }
    if (num_edges_ == 0)
      throw InputError{
          context_.name, "this file holds no edge",
          "an edge is a line \"u v\" or \"u v weight\"; lines that begin with # or % are comments"};
    check_header();
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
    LineCursor lines(block, next_line_ - 1);
    has_integer_ids_ = false;
    for (std::string_view line; may_have_integer_ids_ && lines.next(line);) {
      line = without_cr(line);
      if (lines.line_number() == context_.format.header_line || is_skipped(line)) continue;
      UnquotedText unquoted;
      const RowFields fields =
          split_fields(line, context_.format.delimiter, unquoted, context_.name, lines.line_number());
      const auto id_at = [&](std::size_t column) {
        return column < fields.size() ? canonical_integer(fields[column]) : std::nullopt;
      };
      const auto u = id_at(context_.format.source), v = id_at(context_.format.target);
      if (!u || !v) return;
      const std::uint64_t smaller = std::min(*u, *v);
      constexpr std::uint64_t kBelow = std::uint64_t{1} << 31;
      context_.integer_base = std::max(*u, *v) < kNoNode ? 0 : smaller - std::min(smaller, kBelow);
      has_integer_ids_ = true;
      return;
    }
  }

  void read_block(std::string_view block) {
    const std::vector<std::string_view> cuts = cut_at_lines(block, cut_.piece);
    pieces_.resize(cuts.size());
    if (has_integer_ids_ && !read_integers(cuts)) change_to_text_ids();
    if (!has_integer_ids_) read_texts(cuts);
    for (const EdgePiece& piece : pieces_) {
      next_line_ += piece.num_lines;
      num_edges_ += piece.chunk.u.size();
    }
    if (is_collecting_) return collect(block.size());
    for (EdgePiece& piece : pieces_) {
      for (std::vector<NodeId>* ends : {&piece.chunk.u, &piece.chunk.v}) ends->shrink_to_fit();
      piece.chunk.weight.shrink_to_fit();
      chunks_.push_back(std::move(piece.chunk));
    }
  }

  // False when an id is not what parse takes. A piece with an error is parsed again, to name the line.
  bool parse_all(const std::vector<std::string_view>& cuts,
                 void (*parse)(EdgePiece&, const EdgeListContext&)) {
    parallel_for(execution_.threads, cuts.size(), [&](std::size_t i) {
      pieces_[i].start(cuts[i], i == 0 ? next_line_ : EdgePiece::kUnknownLine);
      parse(pieces_[i], context_);
    });
    std::uint64_t first_line = next_line_;
    for (EdgePiece& piece : pieces_) {
      if (piece.error) {
        piece.start(piece.text, first_line);
        parse(piece, context_);
        std::rethrow_exception(piece.error);
      }
      if (piece.met_other_id) return false;
      first_line += piece.num_lines;
    }
    return true;
  }

  std::uint64_t num_ids() const {
    return has_integer_ids_ ? std::uint64_t{largest_} + 1 : std::max<std::uint64_t>(interner_.size(), 1);
  }

  void collect(std::size_t num_bytes) {
    if (edges_ == nullptr) {
      // A text of unknown length is taken for a long one: too many buckets cost less than too few.
      constexpr std::uint64_t kManyBlocks = 64;
      const std::uint64_t blocks =
          source_.known_size() == 0 ? kManyBlocks : source_.known_size() / num_bytes + 1;
      edges_ = cut_.collector(context_.format.has_weights(), num_edges_ * blocks);
    }
    std::vector<EdgeColumns> columns;
    columns.reserve(pieces_.size());
    for (const EdgePiece& piece : pieces_)
      columns.push_back(
          {piece.chunk.u.data(), piece.chunk.v.data(), piece.chunk.weight.data(), piece.chunk.u.size()});
    edges_->add(columns, static_cast<NodeId>(num_ids() - 1), execution_);
  }

  // False when the block has to be read again, with text ids.
  bool read_integers(const std::vector<std::string_view>& cuts) {
    if (!parse_all(cuts, parse_integer_ids)) return false;
    for (const EdgePiece& piece : pieces_) {
      smallest_ = std::min(smallest_, piece.smallest);
      largest_ = std::max(largest_, piece.largest);
    }
    return true;
  }

  void read_texts(const std::vector<std::string_view>& cuts) {
    parse_all(cuts, parse_text_ids);
    // In order, so that nodes are numbered by first appearance.
    for (EdgePiece& piece : pieces_) {
      piece.chunk.u.resize(piece.tokens.size() / 2);
      piece.chunk.v.resize(piece.tokens.size() / 2);
      interner_.intern_all(piece.tokens, [&](std::size_t i, NodeId node) {
        (i % 2 == 0 ? piece.chunk.u : piece.chunk.v)[i / 2] = checked(node);
      });
    }
  }

  NodeId checked(NodeId node) const {
    if (node == kNoNode)
      throw InputError{context_.name, "there are more than " + with_commas(kMaxNodes) + " nodes",
                       "that is the limit: split the graph by component"};
    return node;
  }

  NodeId intern_integer(NodeId distance) {
    char digits[20];
    char* const end = std::to_chars(digits, digits + sizeof digits, context_.integer_base + distance).ptr;
    return checked(interner_.intern({digits, static_cast<std::size_t>(end - digits)}));
  }

  // The integers were read from their canonical text, so nothing is lost.
  void change_to_text_ids() {
    const auto intern = [this](NodeId id) { return intern_integer(id); };
    if (is_collecting_ && edges_ != nullptr && !edges_->renumber(intern)) throw TextIdsNeeded{};
    for (EdgeChunk& chunk : chunks_)
      for (std::size_t i = 0; i < chunk.u.size(); ++i) {
        chunk.u[i] = intern_integer(chunk.u[i]);
        chunk.v[i] = intern_integer(chunk.v[i]);
      }
    for (const NodeId id : more_ids_) intern_integer(id);
    more_ids_ = {};
    has_integer_ids_ = false;
  }

  // A first line of column names that are nodes as well may have been an edge.
  void check_header() const {
    for (const std::string& name : {context_.format.source_name, context_.format.target_name})
      if (!has_integer_ids_ && interner_.find(name) != kNoNode)
        throw InputError{at(context_.name, context_.format.header_line),
                         "this line looks like a header, but " + quoted(name) + " is also a node",
                         "if it is an edge, --no-header; if it is a header, say so: --columns source=" +
                             context_.format.source_name + ",target=" + context_.format.target_name};
  }

  // A file of nodes may be one of labels: the column that its header calls so, or else the first one. Ids
  // hold what those of the edge list may hold, so it is cut at tabs or as that list is.
  void read_nodes() {
    ByteSource nodes = ByteSource::open(options_.nodes_path, execution_);
    TableRows rows(nodes, kKnownFormats);
    const TableSample sample = rows.sample();
    if (sample.lines.empty()) return;
    UnquotedText unquoted;
    const auto first_with = [&](char delimiter) {
      return split_fields(sample.lines[0], delimiter, unquoted, nodes.name(), sample.numbers[0]);
    };
    const auto is_header = [&](const RowFields& first) {
      const bool names_node = !columns_named(Role::node, first).empty();
      return names_node && (first.size() == 1 || !columns_named(Role::label, first).empty());
    };
    char delimiter = context_.format.delimiter;
    for (const std::string_view line : sample.lines)
      if (line.find('\t') != std::string_view::npos) delimiter = '\t';
    for (const char other : {',', ';'})
      if (!is_header(first_with(delimiter)) && is_header(first_with(other))) delimiter = other;
    const RowFields first = first_with(delimiter);
    std::size_t column = 0;
    std::uint64_t header_line = 0;
    if (is_header(first) && !has_node(first[columns_named(Role::node, first)[0]])) {
      column = columns_named(Role::node, first)[0];
      header_line = sample.numbers[0];
    }
    rows.set_delimiter(delimiter);
    while (rows.next()) {
      const RowFields& fields = rows.fields();
      if (rows.line_number() == header_line) continue;
      add_node(column < fields.size() ? fields[column] : std::string_view(), rows.line(), nodes.name(),
               rows.line_number());
    }
  }

  bool has_node(std::string_view id) const { return !has_integer_ids_ && interner_.find(id) != kNoNode; }

  void add_node(std::string_view id, std::string_view line, const std::string& name,
                std::uint64_t line_number) {
    if (id.empty())
      throw InputError{
          at(name, line_number), "found " + quoted(line) + " where an id was expected",
          "a file of nodes has one id a line, written as in the edge list, alone or before a label"};
    check_name(id, at(name, line_number));
    const auto number = canonical_integer(id);
    if (has_integer_ids_ && number && *number - context_.integer_base < kNoNode) {
      const auto distance = static_cast<NodeId>(*number - context_.integer_base);
      more_ids_.push_back(distance);
      smallest_ = std::min(smallest_, distance);
      largest_ = std::max(largest_, distance);
      return;
    }
    if (has_integer_ids_) change_to_text_ids();
    checked(interner_.intern(id));
  }

  ParsedEdges finish() {
    if (has_integer_ids_ && lie_too_thinly(smallest_, largest_, num_edges_ + more_ids_.size()))
      change_to_text_ids();
    if (!is_collecting_) edges_ = EdgeCollector::of(std::move(chunks_), num_ids(), execution_);
    ParsedEdges parsed;
    parsed.num_bytes = num_bytes_;
    parsed.columns = context_.format.said;
    parsed.has_no_weights = !context_.format.has_weights();
    if (has_integer_ids_)
      number_nodes(parsed);
    else
      parsed.names = interner_.take_names();
    parsed.num_nodes = parsed.names.size();
    parsed.edges = std::move(edges_);
    return parsed;
  }

  // In the order of their ids, which are exactly the ids that occur. Consecutive ones take no names at all.
  void number_nodes(ParsedEdges& parsed) {
    auto seen = std::make_unique<SeenIds>(smallest_, largest_);
    edges_->mark_ids(*seen, execution_);
    for (const NodeId id : more_ids_) seen->mark(id);
    const std::uint64_t count = seen->count(), end = seen->end();
    const bool is_run = count == end - smallest_;
    parsed.names = is_run ? NodeNames::numbered(count, context_.integer_base + smallest_)
                          : seen->names(count, context_.integer_base);
    if (count == end) return;  // ids are nodes
    if (end > 2 * count) {
      edges_->number_now(*seen, count);
    } else {
      parsed.seen = std::move(seen);
    }
  }

  ByteSource& source_;
  const ReadOptions& options_;
  const Execution& execution_;
  const EdgeListCut& cut_;
  std::size_t block_size_;
  bool is_collecting_, may_have_integer_ids_;
  std::unique_ptr<EdgeCollector> edges_;
  std::vector<EdgePiece> pieces_;
  EdgeListContext context_;
  bool has_integer_ids_ = false;
  NodeId smallest_ = kNoNode, largest_ = 0;  // integer ids, minus context_.integer_base
  std::vector<EdgeChunk> chunks_;            // where the list is kept
  std::vector<NodeId> more_ids_;             // integer ids of nodes that no edge may mention
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
