// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/build.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "copse/support/parallel.hpp"
#include "graph/edge_collector.hpp"

namespace copse {
namespace {

void check_columns(const std::vector<EdgeChunk>& chunks, const std::string& where) {
  bool has_plain = false, has_weights = false;
  for (const EdgeChunk& chunk : chunks) {
    const std::size_t count = chunk.u.size();
    if (count == 0) continue;
    (chunk.weight.empty() ? has_plain : has_weights) = true;
    if (chunk.v.size() != count || (!chunk.weight.empty() && chunk.weight.size() != count))
      throw UsageError{where, "a chunk of edges has columns of different lengths",
                       "give one entry per edge in each"};
  }
  if (has_plain && has_weights)
    throw UsageError{where, "some edges have weights and some have none",
                     "give all or none of them a weight"};
}

void check_ids(const std::vector<EdgeChunk>& chunks, std::uint64_t num_nodes, const Execution& execution,
               const std::string& where) {
  std::vector<NodeId> largest(chunks.size());
  parallel_for(execution.threads, chunks.size(), [&](std::size_t c) {
    for (const std::vector<NodeId>* ids : {&chunks[c].u, &chunks[c].v})
      for (const NodeId id : *ids) largest[c] = std::max(largest[c], id);
  });
  for (std::size_t c = 0; c < chunks.size(); ++c)
    if (!chunks[c].u.empty() && largest[c] >= num_nodes)
      throw InputError{
          where,
          "an edge names node " + std::to_string(largest[c]) + " of " + with_commas(num_nodes) + " nodes",
          "nodes count from 0; raise the number of nodes or correct the edge"};
}

Graph from_list(std::uint64_t num_nodes, const std::vector<Edge>& edges, bool has_weights,
                bool is_signed = false) {
  std::vector<EdgeChunk> chunks(1);
  for (const Edge& edge : edges) {
    chunks[0].u.push_back(edge.u);
    chunks[0].v.push_back(edge.v);
    if (!has_weights) continue;
    if (!((is_signed || edge.weight >= 0) && std::fabs(edge.weight) <= std::numeric_limits<Weight>::max()))
      throw InputError{"edges", "weight " + std::to_string(edge.weight) + " is not a positive number",
                       "weights are similarities (> 0); leave the edge out to mean \"no edge\""};
    chunks[0].weight.push_back(edge.weight);
  }
  // A pair that is listed twice must not turn an unweighted graph into a weighted one here.
  const BuildOptions options{has_weights ? Duplicates::sum : Duplicates::max, is_signed};
  return build_graph(std::move(chunks), num_nodes, options, {}, "edges");
}

}  // namespace

Graph build_graph(std::vector<EdgeChunk> chunks, std::uint64_t num_nodes, const BuildOptions& options,
                  const Execution& execution, const std::string& where, BuildReport* report) {
  BuildReport own;
  if (report == nullptr) report = &own;
  *report = {};
  if (num_nodes > kMaxNodes)
    throw InputError{where, with_commas(num_nodes) + " nodes are more than copse can number",
                     "the limit is " + with_commas(kMaxNodes) + " nodes: split the graph by component"};
  check_columns(chunks, where);
  check_ids(chunks, num_nodes, execution, where);
  return EdgeCollector::of(std::move(chunks), num_nodes, execution)
      ->build(num_nodes, nullptr, options, execution, where, *report);
}

Graph graph_from_edges(std::uint64_t num_nodes, const std::vector<Edge>& edges) {
  return from_list(num_nodes, edges, true);
}

Graph graph_from_signed_edges(std::uint64_t num_nodes, const std::vector<Edge>& edges) {
  return from_list(num_nodes, edges, true, true);
}

Graph graph_from_pairs(std::uint64_t num_nodes, const std::vector<Edge>& edges) {
  return from_list(num_nodes, edges, false);
}

}  // namespace copse
