// SPDX-License-Identifier: Apache-2.0
#include "copse/queries/query.hpp"

#include <algorithm>

#include "copse/support/random.hpp"

namespace copse {

QueryStrategy::QueryStrategy(const GraphView& graph, const Execution& execution)
    : graph_(graph), execution_(execution), open_(graph.num_nodes(), 1), num_open_(graph.num_nodes()) {}

void QueryStrategy::close(NodeId node) {
  num_open_ -= open_[node] != 0 ? 1 : 0;
  open_[node] = 0;
}

void QueryStrategy::start(std::span<const Label> labels) {
  if (labels.size() != graph_.num_nodes())
    throw UsageError{"query",
                     "there are " + with_commas(labels.size()) + " labels for " +
                         with_commas(graph_.num_nodes()) + " nodes",
                     "give one label per node, kNoLabel where it is unknown"};
  bool any = false;
  for (NodeId node = 0; node < labels.size(); ++node) {
    if (labels[node] == kNoLabel) continue;
    close(node);
    any = true;
  }
  if (any) learn_all(labels);
}

void QueryStrategy::reveal(NodeId node, Label label) {
  close(node);
  learn(node, label);
}

void QueryStrategy::exclude(NodeId node) { close(node); }

std::vector<Query> QueryStrategy::next(std::size_t count) {
  count = static_cast<std::size_t>(std::min<std::uint64_t>(count, num_open_));
  return count == 0 ? std::vector<Query>{} : choose(count);
}

std::uint64_t QueryStrategy::tie_key(NodeId node) const {
  return Stream{execution_.seed, Purpose::query, node}.next64();
}

}  // namespace copse
