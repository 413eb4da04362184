// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "copse/graph/build.hpp"
#include "copse/graph/components.hpp"
#include "papers/generators.hpp"
#include "copse/io/read.hpp"
#include "copse/support/random.hpp"

// The graphs that benchmarks run on, by name.

namespace bench {

/// The k nearest of n random points of the unit cube (union), weights exp(-d^2 / s^2) with s^2 the mean
/// squared distance to the neighbours. Cells of a grid instead of an index: the points are uniform.
inline copse::Graph neighbors_in_3d(copse::NodeId n, int k, std::uint64_t seed) {
  using copse::NodeId;
  struct Point {
    float x[3];
  };
  std::vector<Point> points(n);
  copse::Stream stream(seed, copse::Purpose::generator, 77);
  for (Point& p : points) {
    for (float& x : p.x) x = static_cast<float>(stream.uniform());
  }
  const int side = std::max(1, static_cast<int>(std::cbrt(n / 4.0)));
  const auto cell_of = [&](const Point& p, int d) {
    return std::min(side - 1, static_cast<int>(p.x[d] * side));
  };
  const auto cell = [&](int a, int b, int c) { return (static_cast<std::size_t>(a) * side + b) * side + c; };
  std::vector<NodeId> begin(static_cast<std::size_t>(side) * side * side + 1), order(n);
  for (const Point& p : points) ++begin[cell(cell_of(p, 0), cell_of(p, 1), cell_of(p, 2)) + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  auto fill = begin;
  for (NodeId i = 0; i < n; ++i)
    order[fill[cell(cell_of(points[i], 0), cell_of(points[i], 1), cell_of(points[i], 2))]++] = i;

  copse::EdgeChunk chunk;
  std::vector<std::pair<float, NodeId>> near;
  for (NodeId i = 0; i < n; ++i) {
    const int c[3] = {cell_of(points[i], 0), cell_of(points[i], 1), cell_of(points[i], 2)};
    for (int radius = 1;; ++radius) {
      near.clear();
      for (int a = std::max(0, c[0] - radius); a <= std::min(side - 1, c[0] + radius); ++a)
        for (int b = std::max(0, c[1] - radius); b <= std::min(side - 1, c[1] + radius); ++b)
          for (int d = std::max(0, c[2] - radius); d <= std::min(side - 1, c[2] + radius); ++d)
            for (NodeId at = begin[cell(a, b, d)]; at < begin[cell(a, b, d) + 1]; ++at) {
              const NodeId j = order[at];
              if (j == i) continue;
              float square = 0;
              for (int x = 0; x < 3; ++x)
                square += (points[i].x[x] - points[j].x[x]) * (points[i].x[x] - points[j].x[x]);
              near.push_back({square, j});
            }
      if (static_cast<int>(near.size()) < k) continue;
      std::nth_element(near.begin(), near.begin() + (k - 1), near.end());
      if (near[k - 1].first <= std::pow(static_cast<float>(radius) / side, 2.0F)) break;
    }
    double scale = 0;
    for (int j = 0; j < k; ++j) scale += near[j].first / k;
    for (int j = 0; j < k; ++j) {
      chunk.u.push_back(i);
      chunk.v.push_back(near[j].second);
      chunk.weight.push_back(static_cast<float>(std::exp(-near[j].first / scale)));
    }
  }
  std::vector<copse::EdgeChunk> chunks;
  chunks.push_back(std::move(chunk));
  return copse::build_graph(std::move(chunks), n, {.duplicates = copse::Duplicates::max}, {}, "points");
}

/// The same graph with weights log-uniform over [1, contrast], a function of the edge.
inline copse::Graph with_weights(const copse::GraphView& graph, double contrast, std::uint64_t seed) {
  copse::Buffer<copse::EdgeIndex> offsets(graph.offsets.size());
  copse::Buffer<copse::NodeId> neighbors(graph.neighbors.size());
  copse::Buffer<copse::Weight> weights(graph.neighbors.size());
  std::copy(graph.offsets.begin(), graph.offsets.end(), offsets.begin());
  std::copy(graph.neighbors.begin(), graph.neighbors.end(), neighbors.begin());
  for (copse::NodeId u = 0; u < graph.num_nodes(); ++u) {
    for (copse::EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      const copse::NodeId v = graph.neighbors[arc];
      copse::Stream stream(seed, copse::Purpose::generator,
                           std::uint64_t{std::min(u, v)} << 32 | std::max(u, v));
      weights[arc] = static_cast<float>(std::exp(std::log(contrast) * stream.uniform()));
    }
  }
  return {std::move(offsets), std::move(neighbors), std::move(weights)};
}

/// The same graph without its weights. Shares the arrays of `graph`.
inline copse::GraphView without_weights(const copse::GraphView& graph) {
  return {graph.offsets, graph.neighbors, {}};
}

/// The graph with the nodes that `number` keeps (not kNoNode), under their new numbers.
inline copse::Graph renumbered(const copse::GraphView& graph, const std::vector<copse::NodeId>& number) {
  copse::EdgeChunk chunk;
  copse::NodeId n = 0;
  for (copse::NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (number[u] == copse::kNoNode) continue;
    ++n;
    for (copse::EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      if (graph.neighbors[arc] < u) continue;
      chunk.u.push_back(number[u]);
      chunk.v.push_back(number[graph.neighbors[arc]]);
      if (graph.is_weighted()) chunk.weight.push_back(graph.weights[arc]);
    }
  }
  std::vector<copse::EdgeChunk> chunks;
  chunks.push_back(std::move(chunk));
  return copse::build_graph(std::move(chunks), n, {}, {}, "benchmark");
}

inline copse::Graph largest_component(const copse::GraphView& graph) {
  const copse::Components components = copse::connected_components(graph, 2);
  const copse::NodeId largest = components.largest();
  std::vector<copse::NodeId> number(graph.num_nodes(), copse::kNoNode);
  copse::NodeId n = 0;
  for (copse::NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (components.of_node[u] == largest) number[u] = n++;
  }
  return renumbered(graph, number);
}

/// The same graph, its nodes in a random order.
inline copse::Graph shuffled(const copse::GraphView& graph, std::uint64_t seed) {
  std::vector<copse::NodeId> number(graph.num_nodes());
  std::iota(number.begin(), number.end(), copse::NodeId{0});
  copse::Stream stream(seed, copse::Purpose::generator, 78);
  for (std::size_t i = number.size(); i > 1; --i) std::swap(number[i - 1], number[stream.below(i)]);
  return renumbered(graph, number);
}

/// Calls body(name, graph) for the graphs that trees are drawn from, each connected, without weights and
/// with: real ones from the folder `data`, where it is, and large generated ones. `which` is one name or
/// "all".
inline void for_each_tree_graph(const std::string& data, const std::string& which,
                                const std::function<void(const char*, const copse::GraphView&)>& body) {
  const copse::Execution execution{.seed = 1, .threads = 2};
  const auto visit = [&](const char* name, const auto& make) {
    if (which != "all" && which != name) return;
    const copse::Graph graph = largest_component(make());
    body(name, without_weights(graph));
    if (graph.view().is_weighted())
      body(name, graph);
    else
      body(name, with_weights(graph, 100, 1));
  };
  for (const char* name : {"cora", "pubmed", "debian_deps", "wordnet", "road_sf", "ndwww", "blogcatalog",
                           "fb100_cornell5", "newsgroups20"}) {
    std::string path = data + "/" + name + "/edges.tsv";
    if (!std::filesystem::exists(path)) path += ".zst";
    if (std::filesystem::exists(path))
      visit(name, [&] { return copse::read_graph(path, {}, execution).graph; });
    else if (which == "all" || which == name)
      std::printf("%-15s skipped: no %s\n", name, path.c_str());
  }
  const auto generate = [&](const char* family, const std::vector<std::pair<std::string, double>>& values) {
    return copse::generate_any_graph(family, values, execution).graph;
  };
  visit("grid", [&] { return generate("grid", {{"rows", 1000}, {"columns", 1000}}); });
  visit("grid_shuffled", [&] { return shuffled(generate("grid", {{"rows", 1000}, {"columns", 1000}}), 1); });
  visit("rmat", [&] { return generate("rmat", {{"scale", 20}, {"edge_factor", 16}}); });
  visit("random", [&] { return generate("random", {{"nodes", 4e6}, {"edges", 3.2e7}}); });
  visit("knn", [&] { return neighbors_in_3d(1'000'000, 10, 1); });
}

}  // namespace bench
