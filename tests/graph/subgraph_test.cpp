// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/subgraph.hpp"

#include <gtest/gtest.h>

#include "oracle/graphs.hpp"

namespace copse {
namespace {

TEST(ComponentSubgraph, is_the_component_with_its_weights_and_knows_its_nodes) {
  for (const oracle::NamedTestGraph& named : oracle::small_graphs()) {
    SCOPED_TRACE(named.name);
    const GraphView whole = named.graph;
    const Components components = connected_components(whole);
    std::uint64_t num_arcs = 0;
    for (NodeId c = 0; c < components.count(); ++c) {
      const Subgraph part = component_subgraph(whole, components, c);
      const GraphView view = part.graph;
      check_graph(view, "part");
      ASSERT_EQ(view.num_nodes(), components.sizes[c]);
      EXPECT_EQ(view.is_weighted(), whole.is_weighted() && view.num_arcs() > 0);
      EXPECT_EQ(connected_components(view).count(), 1u);
      num_arcs += view.num_arcs();
      for (NodeId u = 0; u < view.num_nodes(); ++u) {
        const NodeId original = part.nodes[u];
        EXPECT_EQ(components.of_node[original], c);
        ASSERT_EQ(view.degree(u), whole.degree(original));
        for (EdgeIndex i = 0; i < view.degree(u); ++i) {
          EXPECT_EQ(part.nodes[view.neighbors[view.offsets[u] + i]],
                    whole.neighbors[whole.offsets[original] + i]);
          EXPECT_EQ(view.weight(view.offsets[u] + i), whole.weight(whole.offsets[original] + i));
        }
      }
    }
    EXPECT_EQ(num_arcs, whole.num_arcs());
  }
}

}  // namespace
}  // namespace copse
