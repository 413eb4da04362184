// SPDX-License-Identifier: Apache-2.0
// What the search for neighbours takes of making a graph of points, and what weights, symmetrization and
// writing add to it: processor seconds of one thread, each part once, in one run.
//   point_graph --points FILE [--k 10] [--method exact|approximate] [--output FILE.copse]
#include <cstdio>
#include <string>

#include "bench.hpp"
#include "copse/io/read.hpp"
#include "copse/points/points.hpp"
#include "copse/points/similarity_graph.hpp"

namespace {

using namespace copse;

NeighborMethod method_of(const std::string& name) {
  return name == "exact" ? NeighborMethod::exact : NeighborMethod::approximate;
}

int run(int argc, char** argv) {
  const std::string path = bench::argument(argc, argv, "points", "points.npy");
  const std::string output = bench::argument(argc, argv, "output", "");
  SimilarityOptions options;
  options.neighbors.k = static_cast<std::uint32_t>(std::stoul(bench::argument(argc, argv, "k", "10")));
  options.neighbors.method = method_of(bench::argument(argc, argv, "method", "approximate"));
  const Execution execution;

  NamedPoints points;
  NeighborReport report;
  Neighbors neighbors;
  NamedGraph graph;
  const double reading = bench::cpu_seconds([&] { points = read_points(path, {}, execution); });
  const double searching = bench::cpu_seconds(
      [&] { neighbors = nearest_neighbors(points.points, options.neighbors, execution, &report); });
  const double making = bench::cpu_seconds(
      [&] { graph.graph = similarity_graph(points.points, std::move(neighbors), options, execution); });
  graph.names = std::move(points.names);
  const double writing = bench::cpu_seconds([&] {
    if (!output.empty()) write_graph(output, graph, execution);
  });
  const std::string quality =
      report.method == NeighborMethod::exact
          ? "exact"
          : "recall " + std::to_string(*report.recall) + " +- " + std::to_string(report.recall_error) + ", " +
                std::to_string(report.num_trees) + " trees, leaves of " + std::to_string(report.leaf_size);
  std::printf(
      "search %.3f s (%s), reading %.3f, weights and symmetrization %.3f (%.1f %% of the search), "
      "writing %.3f\n",
      searching, quality.c_str(), reading, making, 100 * making / searching, writing);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
