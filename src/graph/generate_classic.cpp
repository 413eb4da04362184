// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/generate_parts.hpp"

// Graphs that need no paper, though papers use them.

namespace copse {
namespace {

// `cut` changes of label, as evenly spread over 0 ... n - 1 as whole numbers allow.
auto stripes(std::uint64_t n, std::uint64_t num_stripes) {
  return [=](std::uint64_t u) { return static_cast<Label>((static_cast<Uint128>(u) * num_stripes / n) % 2); };
}

std::vector<EdgeChunk> path_chunks(std::uint64_t n, const Execution& execution) {
  return make_chunks(n - 1, execution, [](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
    for (std::uint64_t u = begin; u < end; ++u) add_edge(chunk, u, u + 1);
  });
}

GeneratedGraph make_path(const std::vector<double>& values, const Execution& execution) {
  const auto n = static_cast<std::uint64_t>(values[0]), cut = static_cast<std::uint64_t>(values[1]);
  if (cut >= n) {
    refuse("path", "cut",
           std::to_string(cut) + " edges cannot be cut where there are " + std::to_string(n - 1),
           "a path has one edge less than nodes; cut is below nodes");
  }
  return finish(path_chunks(n, execution), n, two_sides(), stripes(n, cut + 1), execution);
}

GeneratedGraph make_cycle(const std::vector<double>& values, const Execution& execution) {
  const auto n = static_cast<std::uint64_t>(values[0]), cut = static_cast<std::uint64_t>(values[1]);
  if (cut > n || cut % 2 != 0) {
    refuse("cycle", "cut",
           std::to_string(cut) + " edges of a cycle of " + std::to_string(n) + " cannot be cut",
           "going round, labels change an even number of times, at most once an edge");
  }
  std::vector<EdgeChunk> chunks = path_chunks(n, execution);
  add_edge(chunks.emplace_back(), n - 1, 0);
  return finish(std::move(chunks), n, two_sides(), stripes(n, std::max<std::uint64_t>(cut, 1)), execution);
}

GeneratedGraph make_star(const std::vector<double>& values, const Execution& execution) {
  const auto leaves = static_cast<std::uint64_t>(values[0]);
  auto chunks =
      make_chunks(leaves, execution, [](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
        for (std::uint64_t leaf = begin; leaf < end; ++leaf) add_edge(chunk, 0, leaf + 1);
      });
  return finish(
      std::move(chunks), leaves + 1, two_sides(), [](std::uint64_t u) { return Label{u == 0}; }, execution);
}

GeneratedGraph make_wheel(const std::vector<double>& values, const Execution& execution) {
  const auto rim = static_cast<std::uint64_t>(values[0]);
  auto chunks =
      make_chunks(rim, execution, [&](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
        for (std::uint64_t i = begin; i < end; ++i) {
          add_edge(chunk, 0, 1 + i);
          add_edge(chunk, 1 + i, 1 + (i + 1) % rim);
          if (values[1] == 1) continue;
          chunk.weight.push_back(static_cast<Weight>(1 / values[1]));
          chunk.weight.push_back(1);
        }
      });
  return finish(std::move(chunks), rim + 1, execution);
}

GeneratedGraph make_grid(const std::vector<double>& values, const Execution& execution) {
  const auto rows = static_cast<std::uint64_t>(values[0]), columns = static_cast<std::uint64_t>(values[1]);
  if (static_cast<double>(rows) * static_cast<double>(columns) > kMostGeneratedNodes) {
    refuse("grid", "rows", "rows x columns are " + with_commas(rows * columns) + " nodes",
           "at most " + with_commas(static_cast<std::uint64_t>(kMostGeneratedNodes)) + " nodes fit");
  }
  auto chunks = make_chunks(rows * columns, execution,
                            [&](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
                              for (std::uint64_t u = begin; u < end; ++u) {
                                if (u % columns + 1 < columns) add_edge(chunk, u, u + 1);
                                if (u + columns < rows * columns) add_edge(chunk, u, u + columns);
                              }
                            });
  add_weights(chunks, values[2], execution);
  return finish(std::move(chunks), rows * columns, execution);
}

}  // namespace

std::vector<GeneratorRow> classic_generators() {
  return {
      {"path",
       "a line of nodes whose labels change `cut` times (the line graph of Herbster & Pontil 2006, section "
       "5.2)",
       {{"nodes", 1000, "nodes", 2, kMostGeneratedNodes},
        {"cut", 1, "edges between different labels", 0, kMostGeneratedNodes}},
       make_path},
      {"cycle",
       "a ring of nodes whose labels change `cut` times",
       {{"nodes", 1000, "nodes", 3, kMostGeneratedNodes},
        {"cut", 2, "edges between different labels, even", 0, kMostGeneratedNodes}},
       make_cycle},
      {"star",
       "a centre, labelled -1, and its leaves, labelled +1: every edge is cut, yet one flipped label mends "
       "it "
       "(Cesa-Bianchi et al. 2013, after the theorem on robustness)",
       {{"leaves", 1000, "nodes around the centre", 1, kMostGeneratedNodes}},
       make_star},
      {"wheel",
       "a hub (node 0) joined to every node of a ring; with spoke = 2 the minimum tree is long where that of "
       "shortest paths is not (Rojas Galeano & Herbster, section 4)",
       {{"rim", 1000, "nodes of the ring", 3, kMostGeneratedNodes},
        {"spoke", 1, "cost (resistance) of an edge to the hub; those of the ring cost 1", 1e-6, 1e6}},
       make_wheel},
      {"grid",
       "rows x columns nodes, each joined to its neighbours left, right, above and below",
       {{"rows", 100, "rows", 1, kMostGeneratedNodes},
        {"columns", 100, "columns", 1, kMostGeneratedNodes},
        contrast_parameter()},
       make_grid},
  };
}

}  // namespace copse
