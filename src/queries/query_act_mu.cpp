// SPDX-License-Identifier: Apache-2.0
#include "queries/margin_query.hpp"
#include "queries/query_row.hpp"

namespace copse {
namespace {

struct ActMuOptions {
  static Fields fields() { return {}; }
};

/// The node of least margin (Herbster, Pontil & Wainer 2005, section 6: Act-mu). The score is 1 - |g|.
class ActMu final : public MarginQuery {
 public:
  using Options = ActMuOptions;
  static constexpr bool kTakesSigns = true;
  ActMu(const GraphView& graph, const Options&, const Execution& execution) : MarginQuery(graph, execution) {}
  static std::uint64_t bytes(const ProblemSize& size, const Options&) {
    return margin_bytes(size.num_nodes, size.num_arcs, size.num_classes);
  }

 private:
  double score(const ProjectionHypothesis& margins, NodeId node) const override {
    return 1 - margins.margin(node);
  }
};

}  // namespace

QueryRow act_mu_row() {
  return make_query_row<ActMu>("act_mu", "least margin: the node the projection algorithm is least sure of",
                               "a Laplacian solve per label, and one more a node of a batch",
                               "Herbster, Pontil & Wainer 2005");
}

}  // namespace copse
