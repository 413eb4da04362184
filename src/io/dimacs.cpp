// SPDX-License-Identifier: Apache-2.0
//
// DIMACS graphs (challenge of 1993, colouring and cliques): `c` begins a comment, `p edge NODES EDGES` the
// graph, `e U V` an edge; nodes count from 1. Files of shortest paths (`p sp`) hold lengths, which are no
// similarities, and are refused.

#include "io/formats.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"

namespace copse {
namespace {

constexpr char kDimacsRemedy[] = "after comments (c) comes \"p edge NODES EDGES\", then edges: \"e U V\"";

class DimacsReader {
 public:
  explicit DimacsReader(ByteSource& source) : source_(source), lines_(source, kDimacsRemedy) {}

  ParsedEdges read(const Execution& execution) {
    for (std::string_view line; lines_.next(line);) {
      const std::string_view kind = next_word(line);
      if (kind == "p")
        read_problem(line);
      else if (kind == "e")
        read_edge(line);
      else if (!kind.empty() && kind != "c" && kind != "n")
        throw wrong("a line begins with " + quoted(kind));
    }
    if (!num_nodes_) throw InputError{source_.name(), "this file holds no line \"p edge\"", kDimacsRemedy};
    if (claims_too_many_nodes(*num_nodes_, edges_[0].u.size()))
      throw InputError{source_.name(), with_commas(*num_nodes_) + " nodes are more than the edges can need",
                       "check the line \"p edge\", or leave out nodes that have no edge"};
    ParsedEdges parsed = numbered(std::move(edges_), *num_nodes_, 1, lines_.num_bytes(), execution);
    parsed.has_no_weights = true;
    return parsed;
  }

 private:
  InputError wrong(const std::string& problem) const {
    return {at(source_.name(), lines_.line_number()), problem, kDimacsRemedy};
  }

  std::uint64_t number(std::string_view word, std::uint64_t least, std::uint64_t most) const {
    const std::optional<std::uint64_t> value = parse_count(word);
    if (value && *value >= least && *value <= most) return *value;
    throw wrong(quoted(word) + " is no number from " + std::to_string(least) + " to " + with_commas(most));
  }

  void read_problem(std::string_view line) {
    const std::string_view problem = next_word(line);
    if (problem == "sp")
      throw InputError{
          at(source_.name(), lines_.line_number()), "the numbers at these edges are lengths",
          "weights are similarities: awk '/^a/ {print $2, $3, 1 / $4}' makes an edge list of them"};
    if (problem != "edge" && problem != "edges" && problem != "col")
      throw wrong("the problem is " + quoted(problem) + ", not edge or col");
    if (num_nodes_) throw wrong("this is the second line \"p\"");
    num_nodes_ = number(next_word(line), 0, kMaxNodes);
  }

  void read_edge(std::string_view line) {
    if (!num_nodes_) throw wrong("an edge stands before the line \"p edge\"");
    edges_[0].u.push_back(static_cast<NodeId>(number(next_word(line), 1, *num_nodes_) - 1));
    edges_[0].v.push_back(static_cast<NodeId>(number(next_word(line), 1, *num_nodes_) - 1));
    if (!next_word(line).empty()) throw wrong("an edge has more than two ends");
  }

  ByteSource& source_;
  TextLines lines_;
  std::optional<std::uint64_t> num_nodes_;
  std::vector<EdgeChunk> edges_{1};
};

}  // namespace

ParsedEdges read_dimacs(ByteSource& source, const ReadOptions&, const Execution& execution) {
  return DimacsReader(source).read(execution);
}

}  // namespace copse
