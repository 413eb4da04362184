// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "copse/io/read.hpp"
#include "copse/points/similarity_graph.hpp"
#include "program.hpp"
#include "trees/similarity_forest.hpp"

namespace copse::cli {

/// POINTS and how to make a graph of them. The defaults are the library's.
struct PointsInput {
  std::string path;
  PointsReadOptions reading;
  SimilarityOptions options;       // as far as they do not depend on the points
  std::optional<std::uint32_t> k;  // by default 10, or all others where there are fewer
  std::optional<double> scale, epsilon;
  bool complete = false;
  std::optional<SimilarityTree> tree;  // instead: that tree of all pairs

  /// Reads, builds, and says on stderr what was done.
  NamedGraph build(Session& session) const;
};

void add_points_options(CLI::App* verb, PointsInput& input);
/// --similarity-tree, for `graph build` and for every verb that takes points for a graph.
void add_similarity_tree_option(CLI::App* verb, PointsInput& input);

}  // namespace copse::cli
