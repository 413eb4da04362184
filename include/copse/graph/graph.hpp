// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "copse/graph/types.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// A spectral embedding that was made of a graph before and is kept beside it, for example in its file
/// (keep_embedding), and what it was made with.
struct KeptEmbedding {
  std::uint64_t seed = 0;
  std::uint32_t dimension = 0, power = 0, oversample = 0;
  double tau = 0;
  std::span<const char> bytes;  // of the eigenvalues, then of the rows, node by node; aligned for doubles

  std::span<const double> eigenvalues() const {
    return {reinterpret_cast<const double*>(bytes.data()), dimension};
  }
  std::span<const float> rows() const {
    const std::span<const char> rest = bytes.subspan(dimension * sizeof(double));
    return {reinterpret_cast<const float*>(rest.data()), rest.size() / sizeof(float)};
  }
};

/// An undirected weighted graph in someone else's arrays (CSR): each edge in both rows, rows sorted, no
/// loops, no duplicates, weights finite and > 0, or no weights at all (every weight is 1). Algorithms
/// take a GraphView and trust it; whoever makes one has checked it (`check_graph`, `build_graph`).
///
/// A signed graph also says of every edge whether it speaks for equal labels or for different ones (a
/// negative edge). Weights are then its magnitudes: what knows nothing of signs must refuse a graph that has
/// them, or take magnitudes() and mean it (docs/signed.md).
struct GraphView {
  std::span<const EdgeIndex> offsets;  // num_nodes() + 1 entries
  std::span<const NodeId> neighbors;
  std::span<const Weight> weights;  // as long as neighbors, or empty
  std::span<const std::uint64_t>
      negative;  // one bit per arc, lowest first, 0 behind the last; or empty: no signs
  const KeptEmbedding* embedding = nullptr;  // of this very graph, if somebody has one

  NodeId num_nodes() const { return offsets.empty() ? 0 : static_cast<NodeId>(offsets.size() - 1); }
  EdgeIndex num_arcs() const { return neighbors.size(); }
  EdgeIndex num_edges() const { return neighbors.size() / 2; }
  bool is_weighted() const { return !weights.empty(); }
  bool is_signed() const { return !negative.empty(); }
  EdgeIndex degree(NodeId u) const { return offsets[u + 1] - offsets[u]; }
  std::span<const NodeId> neighbors_of(NodeId u) const { return neighbors.subspan(offsets[u], degree(u)); }
  /// Empty when the graph has no weights.
  std::span<const Weight> weights_of(NodeId u) const {
    return weights.empty() ? weights : weights.subspan(offsets[u], degree(u));
  }
  Weight weight(EdgeIndex arc) const { return weights.empty() ? Weight{1} : weights[arc]; }
  bool is_negative(EdgeIndex arc) const {
    return !negative.empty() && (negative[arc / 64] >> (arc % 64) & 1) != 0;
  }
  Weight signed_weight(EdgeIndex arc) const { return is_negative(arc) ? -weight(arc) : weight(arc); }
  /// The same graph without signs.
  GraphView magnitudes() const { return {offsets, neighbors, weights, {}, nullptr}; }
};

/// Words of GraphView::negative for so many arcs.
constexpr std::uint64_t num_sign_words(EdgeIndex num_arcs) { return (num_arcs + 63) / 64; }

/// Sum of the weights at `u`, in row order; its degree when unweighted.
double weighted_degree(const GraphView& graph, NodeId u);

/// Owns the arrays of a GraphView, in memory or in a mapped file.
class Graph {
 public:
  Graph() = default;
  Graph(Buffer<EdgeIndex> offsets, Buffer<NodeId> neighbors, Buffer<Weight> weights,
        Buffer<std::uint64_t> negative = {});
  /// Arrays that `owner` keeps alive, a mapped file for example.
  Graph(GraphView view, std::shared_ptr<const void> owner) : view_(view), owner_(std::move(owner)) {}

  const GraphView& view() const { return view_; }
  operator const GraphView&() const { return view_; }  // NOLINT: a Graph is used wherever a view is asked for
  NodeId num_nodes() const { return view_.num_nodes(); }

 private:
  GraphView view_;
  std::shared_ptr<const void> owner_;
};

/// Throws InputError, with `where` and the first row at fault, unless `graph` keeps the promises of
/// GraphView. O(m): for arrays that come from outside (NumPy, mapped files, C++ callers).
void check_graph(const GraphView& graph, const char* where, int threads = 1);
/// The same without chance: check_graph compares the rows with their mirror image by random sums, this looks
/// up every edge in its other row. O(m log degree).
void check_graph_exactly(const GraphView& graph, const char* where, int threads = 1);

}  // namespace copse
