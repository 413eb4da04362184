// SPDX-License-Identifier: Apache-2.0
#include "graph/edge_collector.hpp"

#include <utility>

#include "graph/build_rows.hpp"

namespace copse {
namespace {

template <class Arc>
class Collector final : public EdgeCollector {
 public:
  explicit Collector(std::uint64_t expected_edges) : edges_(expected_edges, 0) {}

  void add(std::span<const EdgeColumns> pieces, NodeId largest_id, const Execution& execution) override {
    edges_.make_room_for(largest_id);
    edges_.add(pieces, kNoNode, execution);
  }

  void mark_ids(SeenIds& seen, const Execution& execution) const override {
    const ArcLists<Arc>& lists = edges_.lists();
    parallel_for(execution.threads, lists.count(), [&](std::size_t b) {
      lists.visit(b, [&](std::span<Arc> arcs) {
        for (const Arc& a : arcs) {
          seen.mark(a.row);
          seen.mark(a.neighbor);
        }
      });
    });
    for (const NodeId id : edges_.facts().dropped) seen.mark(id);
  }

  void number_now(const SeenIds& seen, std::uint64_t num_nodes) override {
    edges_.rename(static_cast<NodeId>(num_nodes - 1), [&](NodeId id) { return seen.rank(id); });
  }

  Graph build(std::uint64_t num_nodes, const SeenIds* seen, const BuildOptions& options,
              const Execution& execution, const std::string& where, BuildReport& report) override {
    return RowBuilder<Arc>(std::move(edges_), num_nodes, seen, options, execution, where).build(report);
  }

 private:
  EdgeBuckets<Arc> edges_;
};

}  // namespace

std::unique_ptr<EdgeCollector> EdgeCollector::make(bool has_weights, std::uint64_t expected_edges) {
  if (has_weights) return std::make_unique<Collector<WeightedArc>>(expected_edges);
  return std::make_unique<Collector<PlainArc>>(expected_edges);
}

}  // namespace copse
