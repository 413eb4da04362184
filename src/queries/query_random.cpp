// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <queue>

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
  static std::uint64_t bytes(const ProblemSize& size, const Options&) { return size.num_nodes; }

 private:
  void learn_all(std::span<const Label>) override {}
  void learn(NodeId, Label) override {}
  std::vector<Query> choose(std::size_t count) override {
    using Place = std::pair<std::uint64_t, NodeId>;
    std::priority_queue<Place> first;  // the `count` smallest so far, the largest of them on top
    for (NodeId node = 0; node < graph().num_nodes(); ++node) {
      if (open()[node] == 0) continue;
      const Place place{tie_key(node), node};
      if (first.size() == count && !(place < first.top())) continue;
      first.push(place);
      if (first.size() > count) first.pop();
    }
    std::vector<Query> queries(first.size());
    for (std::size_t i = queries.size(); i > 0; --i, first.pop())
      queries[i - 1] = {first.top().second, 1 - static_cast<double>(first.top().first >> 11) * 0x1p-53};
    return queries;
  }
};

}  // namespace

QueryRow random_row() {
  return make_query_row<RandomQuery>("random", "any node as likely as any other", "O(n) per call",
                                     "the yardstick");
}

}  // namespace copse
