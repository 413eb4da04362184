// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/graph.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "graph/check_rows.hpp"

namespace copse {

double weighted_degree(const GraphView& graph, NodeId u) {
  if (!graph.is_weighted()) return static_cast<double>(graph.degree(u));
  double sum = 0;
  for (const Weight weight : graph.weights_of(u)) sum += weight;
  return sum;
}

Graph::Graph(Buffer<EdgeIndex> offsets, Buffer<NodeId> neighbors, Buffer<Weight> weights,
             Buffer<std::uint64_t> negative) {
  struct Arrays {
    Buffer<EdgeIndex> offsets;
    Buffer<NodeId> neighbors;
    Buffer<Weight> weights;
    Buffer<std::uint64_t> negative;
  };
  auto arrays = std::make_shared<Arrays>(
      Arrays{std::move(offsets), std::move(neighbors), std::move(weights), std::move(negative)});
  view_ = {std::as_const(*arrays).offsets.span(), std::as_const(*arrays).neighbors.span(),
           std::as_const(*arrays).weights.span(), std::as_const(*arrays).negative.span()};
  owner_ = std::move(arrays);
}

namespace {

constexpr std::size_t kRowsPerBlock = 1024;
constexpr const char* kRowRemedy =
    "a graph is a symmetric CSR matrix: each edge in both rows, rows sorted, no loops, no duplicates, "
    "weights finite "
    "and > 0; copse::build_graph makes one from any list of edges";

std::string row_name(NodeId u) { return "row " + std::to_string(u); }

// The first row that `fault` finds something wrong with, and what. Blocks behind a fault already found
// are skipped; the smallest row wins, so the answer does not depend on who came first.
template <class Fault>
void throw_first_fault(const GraphView& graph, const char* where, int threads, Fault fault) {
  std::atomic<NodeId> first{kNoNode};
  parallel_blocks(
      threads, graph.num_nodes(), kRowsPerBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t row = begin; row < end && row < first.load(std::memory_order_relaxed); ++row) {
          const auto u = static_cast<NodeId>(row);
          if (!fault(u)) continue;
          NodeId seen = first.load();
          while (u < seen && !first.compare_exchange_weak(seen, u)) {
          }
          return;
        }
      });
  if (first != kNoNode) throw InputError{where, *fault(first), kRowRemedy};
}

void check_offsets(const GraphView& graph, const char* where) {
  const auto& offsets = graph.offsets;
  const auto bad = [&](const std::string& problem, const std::string& remedy) {
    throw InputError{where, problem, remedy};
  };
  const std::string shape =
      "offsets has one entry more than there are nodes, starts with 0 and ends with the number "
      "of entries in neighbors";
  if (offsets.empty()) {
    if (!graph.neighbors.empty() || !graph.weights.empty() || graph.is_signed())
      bad("there are neighbors but no offsets", shape);
    return;
  }
  if (offsets.size() - 1 > kMaxNodes) {
    bad("the graph has " + with_commas(offsets.size() - 1) + " nodes",
        "copse counts nodes in 32 bits: at most " + with_commas(kMaxNodes));
  }
  if (offsets[0] != 0) bad("offsets starts with " + std::to_string(offsets[0]), shape);
  if (offsets.back() != graph.neighbors.size()) {
    bad("offsets ends with " + std::to_string(offsets.back()) + " but neighbors has " +
            std::to_string(graph.neighbors.size()) + " entries",
        shape);
  }
  if (graph.is_weighted() && graph.weights.size() != graph.neighbors.size()) {
    bad("weights has " + std::to_string(graph.weights.size()) + " entries but neighbors has " +
            std::to_string(graph.neighbors.size()),
        "give one weight for each neighbor, or no weights at all for an unweighted graph");
  }
  if (!graph.is_signed()) return;
  if (graph.negative.size() != num_sign_words(graph.num_arcs())) {
    bad("negative has " + std::to_string(graph.negative.size()) + " words but " +
            std::to_string(graph.num_arcs()) + " arcs take " +
            std::to_string(num_sign_words(graph.num_arcs())),
        "give one bit for each neighbor in words of 64, or none at all for a graph without signs");
  }
  if (const unsigned used = graph.num_arcs() % 64; used != 0 && graph.negative.back() >> used != 0)
    bad("negative has bits behind the last arc", "they must be 0");
}

bool is_weight(Weight value) { return value > 0 && value <= std::numeric_limits<Weight>::max(); }

// What is wrong within row `u` by itself.
std::optional<std::string> row_fault(const GraphView& graph, NodeId u) {
  const auto row = graph.neighbors_of(u);
  const auto weights = graph.weights_of(u);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string neighbor = "neighbor " + std::to_string(row[i]);
    if (row[i] >= graph.num_nodes()) {
      return row_name(u) + ": " + neighbor + " is not a node (there are " +
             std::to_string(graph.num_nodes()) + ")";
    }
    if (row[i] == u) return row_name(u) + " has a loop: neighbor " + std::to_string(u);
    if (i > 0 && row[i] == row[i - 1]) return row_name(u) + ": " + neighbor + " stands there twice";
    if (i > 0 && row[i] < row[i - 1]) {
      return row_name(u) + " is not sorted: " + neighbor + " after " + std::to_string(row[i - 1]);
    }
    if (!weights.empty() && !is_weight(weights[i])) {
      return row_name(u) + ": the weight of " + neighbor + " is " + std::to_string(weights[i]);
    }
  }
  return std::nullopt;
}

// The arc back from `v` to `u`, found by binary search in the sorted row of `v`.
std::optional<EdgeIndex> arc_back(const GraphView& graph, NodeId u, NodeId v) {
  const auto row = graph.neighbors_of(v);
  const auto found = std::lower_bound(row.begin(), row.end(), u);
  if (found == row.end() || *found != u) return std::nullopt;
  return graph.offsets[v] + static_cast<EdgeIndex>(found - row.begin());
}

std::optional<std::string> mirror_fault(const GraphView& graph, NodeId u) {
  for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
    const NodeId v = graph.neighbors[arc];
    const auto back = arc_back(graph, u, v);
    if (!back)
      return row_name(u) + " has neighbor " + std::to_string(v) + ", but " + row_name(v) + " lacks " +
             std::to_string(u);
    if (graph.is_weighted() && graph.weights[arc] != graph.weights[*back]) {
      return row_name(u) + " gives the edge to " + std::to_string(v) + " weight " +
             std::to_string(graph.weights[arc]) + ", " + row_name(v) + " gives it " +
             std::to_string(graph.weights[*back]);
    }
    if (graph.is_negative(arc) != graph.is_negative(*back)) {
      return row_name(u) + " gives the edge to " + std::to_string(v) + " another sign than " + row_name(v);
    }
  }
  return std::nullopt;
}

}  // namespace

void check_graph(const GraphView& graph, const char* where, int threads) {
  check_offsets(graph, where);
  throw_first_fault(graph, where, threads, [&](NodeId u) -> std::optional<std::string> {
    if (graph.offsets[u] <= graph.offsets[u + 1] && graph.offsets[u + 1] <= graph.num_arcs())
      return std::nullopt;
    return row_name(u) + " runs from " + std::to_string(graph.offsets[u]) + " to " +
           std::to_string(graph.offsets[u + 1]) + " of " + std::to_string(graph.num_arcs()) + " arcs";
  });
  const RowCheck check = check_rows(graph, threads);
  if (check.bad_row != kNoNode) throw InputError{where, *row_fault(graph, check.bad_row), kRowRemedy};
  if (!check.is_symmetric)
    throw_first_fault(graph, where, threads, [&](NodeId u) { return mirror_fault(graph, u); });
}

void check_graph_exactly(const GraphView& graph, const char* where, int threads) {
  check_graph(graph, where, threads);
  throw_first_fault(graph, where, threads, [&](NodeId u) { return mirror_fault(graph, u); });
}

}  // namespace copse
