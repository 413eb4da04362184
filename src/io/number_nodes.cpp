// SPDX-License-Identifier: Apache-2.0
#include "io/number_nodes.hpp"

#include "copse/support/parallel.hpp"
#include "graph/seen_ids.hpp"

namespace copse {
namespace {

// A bit an id is worth it while the bits take no more memory than the edges themselves.
constexpr std::uint64_t kBitsPerEdge = 64, kBitsAtLeast = std::uint64_t{1} << 20;

}  // namespace

bool lie_too_thinly(NodeId smallest, NodeId largest, std::uint64_t num_edges) {
  const std::uint64_t range = std::uint64_t{largest} - smallest + 1;
  return range > kBitsAtLeast && range / kBitsPerEdge > num_edges;
}

std::optional<NodeNames> number_nodes(IntegerEdges& edges, int threads) {
  if (edges.smallest > edges.largest) return NodeNames::numbered(0);
  const std::uint64_t range = std::uint64_t{edges.largest} - edges.smallest + 1;
  std::uint64_t num_edges = edges.more_ids.size();
  for (const EdgeChunk& chunk : edges.chunks) num_edges += chunk.u.size();
  if (lie_too_thinly(edges.smallest, edges.largest, num_edges)) return std::nullopt;

  SeenIds seen(edges.smallest, edges.largest);
  parallel_for(threads, edges.chunks.size(), [&](std::size_t c) {
    for (const NodeId id : edges.chunks[c].u) seen.mark(id);
    for (const NodeId id : edges.chunks[c].v) seen.mark(id);
  });
  for (const NodeId id : edges.more_ids) seen.mark(id);
  const std::uint64_t count = seen.count();
  const bool is_run = count == range;
  if (is_run && edges.smallest == 0) return NodeNames::numbered(count, edges.base);

  parallel_for(threads, edges.chunks.size(), [&](std::size_t c) {
    for (std::vector<NodeId>* ids : {&edges.chunks[c].u, &edges.chunks[c].v})
      for (NodeId& id : *ids) id = is_run ? id - edges.smallest : seen.rank(id);
  });
  return is_run ? NodeNames::numbered(count, edges.base + edges.smallest) : seen.names(count, edges.base);
}

}  // namespace copse
