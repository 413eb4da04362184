// SPDX-License-Identifier: Apache-2.0
#include "queries/query_row.hpp"

namespace copse {
namespace {

struct RandomQueryOptions {
  static Fields fields() { return {}; }
};

/// Every node has its place in one random order, a function of the seed: asked again when some are answered,
/// it goes on where it was. The score is 1 at the front of that order and 0 at its end.
class RandomQuery final : public QueryStrategy {
 public:
  using Options = RandomQueryOptions;
  static constexpr bool kTakesSigns = true;
  RandomQuery(const GraphView& graph, const Options&, const Execution& execution)
      : QueryStrategy(graph, execution) {}
  static std::uint64_t bytes(const ProblemSize& size, const Options&) {
    return size.num_nodes * kBytesPerNode;
  }

 private:
  void learn(NodeId, Label) override {}
  void forget(NodeId, Label) override {}
  std::vector<Query> choose(std::size_t count, std::vector<char> left) override {
    std::vector<Query> queries;
    for (const NodeId node : draw(count, left))
      queries.push_back({node, 1 - static_cast<double>(tie_key(node) >> 11) * 0x1p-53});
    return queries;
  }
};

}  // namespace

QueryRow random_row() {
  return make_query_row<RandomQuery>("random", "any node as likely as any other", "O(n) per call",
                                     "the yardstick");
}

}  // namespace copse
