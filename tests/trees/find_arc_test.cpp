// SPDX-License-Identifier: Apache-2.0
#include "trees/find_arc.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "copse/support/random.hpp"

namespace copse {
namespace {

/// Rows of many lengths, up to the last arc of the graph. Neighbouring rows share most of their neighbours:
/// one that is looked for is often behind the row, too.
Graph rows_side_by_side(Stream& stream) {
  std::vector<NodeId> all;
  const NodeId num_rows = 300;
  Buffer<EdgeIndex> offsets(num_rows + 1);
  for (NodeId row = 0; row < num_rows; ++row) {
    const std::uint64_t length = stream.below(4) == 0 ? stream.below(200) : stream.below(20);
    NodeId neighbor = num_rows;  // never the node itself
    for (std::uint64_t i = 0; i < length; ++i)
      all.push_back(neighbor += static_cast<NodeId>(1 + stream.below(2)));
    offsets[row + 1] = all.size();
  }
  Buffer<NodeId> neighbors(all.size());
  std::copy(all.begin(), all.end(), neighbors.begin());
  return {std::move(offsets), std::move(neighbors), Buffer<Weight>()};
}

void expect_all_found(const GraphView& graph) {
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      ASSERT_EQ(find_arc(graph, u, graph.neighbors[arc]), arc);
}

TEST(FindArc, finds_every_neighbour_in_rows_of_every_length) {
  Stream stream(1, Purpose::test, 0);
  for (int game = 0; game < 50; ++game) {
    const Graph graph = rows_side_by_side(stream);
    expect_all_found(graph);
  }
}

}  // namespace
}  // namespace copse
