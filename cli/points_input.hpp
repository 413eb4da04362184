// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "copse/io/read.hpp"
#include "copse/points/similarity_graph.hpp"
#include "program.hpp"

namespace copse::cli {

/// POINTS and how to make a graph of them, as texts of the command line. The defaults are the library's.
struct PointsInput {
  std::string path;
  std::string format = "automatic", ids = "automatic";
  std::optional<std::uint32_t> k;  // by default 10, or all others where there are fewer
  std::string metric = "euclidean", weights = "local", symmetrize = "union", method = "automatic";
  std::optional<double> scale, epsilon;
  bool complete = false, connect = false;
  std::string tree;       // "mst" or "spt": instead, that tree of all pairs
  NeighborOptions index;  // its recall of the approximate search

  /// Reads, builds, and says on stderr what was done.
  NamedGraph build(Session& session) const;
};

void add_points_options(CLI::App* verb, PointsInput& input);
/// --similarity-tree, for `graph build` and for every verb that takes points for a graph.
void add_similarity_tree_options(CLI::App* verb, PointsInput& input, const std::string& group);

}  // namespace copse::cli
