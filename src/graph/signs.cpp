// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/signs.hpp"

#include <algorithm>
#include <cmath>

#include "copse/graph/build.hpp"
#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "graph/row_builder.hpp"

namespace copse {

Buffer<std::uint64_t> take_signs(Buffer<Weight>& weights, int threads) {
  struct Facts {
    bool has_negative = false, are_all_one = true;
  };
  const EdgeIndex num_arcs = weights.size();
  Buffer<std::uint64_t> negative(num_sign_words(num_arcs));
  const Facts facts = deterministic_reduce(
      threads, negative.size(), Facts{},
      [&](std::size_t begin, std::size_t end) {
        Facts part;
        for (std::size_t word = begin; word < end; ++word) {
          std::uint64_t bits = 0;
          const EdgeIndex last = std::min<EdgeIndex>(64 * word + 64, num_arcs);
          for (EdgeIndex arc = 64 * word; arc < last; ++arc) {
            bits |= static_cast<std::uint64_t>(std::signbit(weights[arc])) << (arc % 64);
            weights[arc] = std::fabs(weights[arc]);
            part.are_all_one &= weights[arc] == 1;
          }
          negative[word] = bits;
          part.has_negative |= bits != 0;
        }
        return part;
      },
      [](const Facts& a, const Facts& b) {
        return Facts{a.has_negative || b.has_negative, a.are_all_one && b.are_all_one};
      },
      std::size_t{1} << 12);
  if (!facts.has_negative) return {};
  if (facts.are_all_one) weights = {};
  return negative;
}

SignBalance sign_balance(const GraphView& graph, const Components& components) {
  SignBalance balance{std::vector<char>(graph.num_nodes()), std::vector<char>(components.count(), 1), 0};
  if (!graph.is_signed()) return balance;
  std::vector<char> is_seen(graph.num_nodes());
  std::vector<NodeId> queue;
  queue.reserve(graph.num_nodes());
  for (NodeId start = 0; start < graph.num_nodes(); ++start) {
    if (is_seen[start] != 0) continue;
    is_seen[start] = 1;
    queue.clear();
    queue.push_back(start);
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const NodeId u = queue[next];
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
        const NodeId v = graph.neighbors[arc];
        const auto side = static_cast<char>(balance.side[u] ^ static_cast<char>(graph.is_negative(arc)));
        if (is_seen[v] == 0) {
          is_seen[v] = 1;
          balance.side[v] = side;
          queue.push_back(v);
        } else if (u < v && balance.side[v] != side) {
          ++balance.num_frustrated;
          balance.is_balanced[components.of_node[u]] = 0;
        }
      }
    }
  }
  return balance;
}

Graph double_cover(const GraphView& graph, int threads) {
  const NodeId n = graph.num_nodes();
  if (2 * std::uint64_t{n} > kMaxNodes)
    throw InputError{"signed graph", "has " + with_commas(n) + " nodes, and its double cover twice as many",
                     "learners on the whole graph take up to " + with_commas(kMaxNodes / 2) +
                         " nodes with signs; wta and tree_cut take all"};
  const EdgeIndex half = graph.num_arcs();
  Buffer<EdgeIndex> offsets(2 * std::size_t{n} + 1);
  Buffer<NodeId> neighbors(2 * half);
  Buffer<Weight> weights(graph.is_weighted() ? 2 * half : 0);
  parallel_blocks(threads, n, std::size_t{1} << 12, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (auto u = static_cast<NodeId>(begin); u < end; ++u) {
      EdgeIndex same = graph.offsets[u], mirror = half + graph.offsets[u];
      offsets[u] = same;
      offsets[std::size_t{u} + n] = mirror;
      const auto put = [&](EdgeIndex& place, EdgeIndex arc, NodeId shift) {
        neighbors[place] = graph.neighbors[arc] + shift;
        if (graph.is_weighted()) weights[place] = graph.weights[arc];
        ++place;
      };
      // The copies below n come first in both rows: rows stay sorted.
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
        put(graph.is_negative(arc) ? mirror : same, arc, 0);
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
        put(graph.is_negative(arc) ? same : mirror, arc, n);
    }
  });
  offsets[2 * std::size_t{n}] = 2 * half;
  return {std::move(offsets), std::move(neighbors), std::move(weights)};
}

Graph with_diagonal(const GraphView& graph, std::span<const double> diagonal) {
  if (diagonal.size() != graph.num_nodes())
    throw UsageError{"diagonal",
                     with_commas(diagonal.size()) + " terms for " + with_commas(graph.num_nodes()) + " nodes",
                     "give one per node, 0 for none"};
  std::vector<Edge> edges;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      if (u < graph.neighbors[arc]) edges.push_back({u, graph.neighbors[arc], graph.signed_weight(arc)});
  std::uint64_t num_nodes = graph.num_nodes();
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (!(diagonal[u] >= 0) || !std::isfinite(diagonal[u]))
      throw UsageError{"diagonal", "the term of node " + std::to_string(u) + " is no number from 0 on",
                       "a signed Laplacian has terms of 0 and more"};
    if (diagonal[u] == 0) continue;
    // Three conductances in a ring: f_u and -f_u are 3 resistances apart, and 4 f_u^2 w / 3 = c f_u^2.
    const auto weight = static_cast<Weight>(0.75 * diagonal[u]);
    const auto near = static_cast<NodeId>(num_nodes), far = static_cast<NodeId>(num_nodes + 1);
    edges.insert(edges.end(), {{u, near, weight}, {near, far, weight}, {far, u, -weight}});
    num_nodes += 2;
  }
  return graph_from_signed_edges(num_nodes, edges);
}

}  // namespace copse
