// SPDX-License-Identifier: Apache-2.0
#include "graph/edge_collector.hpp"

#include <algorithm>
#include <utility>

#include "graph/row_builder.hpp"

namespace copse {
namespace {

void free_chunk(EdgeChunk& chunk) {
  EdgeChunk gone = std::move(chunk);
  const auto release = [](auto& column) { release_pages(column.data(), column.size() * sizeof(column[0])); };
  release(gone.u);
  release(gone.v);
  release(gone.weight);
}

}  // namespace

template <class Arc>
Graph EdgeBuckets<Arc>::build(std::uint64_t num_nodes, const SeenIds* seen, const BuildOptions& options,
                              const Execution& execution, const std::string& where, BuildReport& report) {
  return RowBuilder<Arc>(*this, num_nodes, seen, options, execution, where).build(report);
}

// Slices of chunks go to the buckets a few at a time, so that list and buckets never lie side by side.
std::unique_ptr<EdgeCollector> EdgeCollector::of(std::vector<EdgeChunk> chunks, std::uint64_t num_ids,
                                                 const Execution& execution) {
  constexpr std::size_t kEdgesPerSlice = std::size_t{1} << 18;
  const std::size_t most = 4 * static_cast<std::size_t>(std::max(execution.threads, 1));
  std::uint64_t num_edges = 0;
  bool has_weights = false;
  for (const EdgeChunk& chunk : chunks) {
    num_edges += chunk.u.size();
    has_weights = has_weights || !chunk.weight.empty();
  }
  std::unique_ptr<EdgeCollector> edges = make(has_weights, num_edges);
  std::vector<EdgeColumns> slices;
  std::size_t num_freed = 0;
  const auto hand_over = [&](std::size_t num_done) {
    execution.throw_if_cancelled();
    edges->add(slices, static_cast<NodeId>(num_ids == 0 ? 0 : num_ids - 1), execution);
    slices.clear();
    for (; num_freed < num_done; ++num_freed) free_chunk(chunks[num_freed]);
  };
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const EdgeChunk& chunk = chunks[c];
    for (std::size_t begin = 0; begin < chunk.u.size(); begin += kEdgesPerSlice) {
      if (slices.size() == most) hand_over(c);
      slices.push_back({chunk.u.data() + begin, chunk.v.data() + begin,
                        has_weights ? chunk.weight.data() + begin : nullptr,
                        std::min(kEdgesPerSlice, chunk.u.size() - begin)});
    }
  }
  hand_over(chunks.size());
  return edges;
}

std::unique_ptr<EdgeCollector> EdgeCollector::make(bool has_weights, std::uint64_t expected_edges) {
  if (has_weights) return std::make_unique<EdgeBuckets<WeightedArc>>(expected_edges);
  return std::make_unique<EdgeBuckets<PlainArc>>(expected_edges);
}

}  // namespace copse
