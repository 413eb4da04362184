// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/build.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/build_rows.hpp"
#include "graph/listed_edges.hpp"

namespace copse {
namespace {

// Slices go to the buckets a few at a time and are freed: list and buckets never lie side by side.
template <class Arc>
EdgeBuckets<Arc> to_buckets(ListedEdges list, std::uint64_t num_nodes, const Execution& execution,
                            const std::string& where) {
  EdgeBuckets<Arc> buckets(list.size(), static_cast<NodeId>(num_nodes == 0 ? 0 : num_nodes - 1));
  const std::size_t most = 4 * static_cast<std::size_t>(std::max(execution.threads, 1));
  std::vector<EdgeColumns> columns;
  for (std::size_t first = 0; first < list.num_slices(); first += most) {
    execution.throw_if_cancelled();
    const std::size_t last = std::min(first + most, list.num_slices());
    columns.clear();
    for (std::size_t s = first; s < last; ++s) columns.push_back(list.columns(s));
    buckets.add(columns, static_cast<NodeId>(num_nodes), execution);
    if (buckets.facts().largest >= num_nodes)
      throw InputError{where,
                       "an edge names node " + std::to_string(buckets.facts().largest) + " of " +
                           with_commas(num_nodes) + " nodes",
                       "nodes count from 0; raise the number of nodes or correct the edge"};
    for (std::size_t s = first; s < last; ++s) list.free_slice(s);
  }
  return buckets;
}

template <class Arc>
Graph build(ListedEdges list, std::uint64_t num_nodes, const BuildOptions& options,
            const Execution& execution, const std::string& where, BuildReport& report) {
  EdgeBuckets<Arc> buckets = to_buckets<Arc>(std::move(list), num_nodes, execution, where);
  return RowBuilder<Arc>(std::move(buckets), num_nodes, nullptr, options, execution, where).build(report);
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
  ListedEdges edges(std::move(chunks), where);
  return edges.has_weights()
             ? build<WeightedArc>(std::move(edges), num_nodes, options, execution, where, *report)
             : build<PlainArc>(std::move(edges), num_nodes, options, execution, where, *report);
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
