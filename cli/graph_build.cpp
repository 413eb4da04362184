// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"
#include "points_input.hpp"

namespace copse::cli {
namespace {

int build_from_points(Session& session, const PointsInput& points) {
  const NamedGraph graph = points.build(session);
  write_graph(session.output, graph, session.execution());
  if (session.output != "-") session.say("written to " + session.output);
  return kDone;
}

}  // namespace

void add_graph_build(Program& program, CLI::App& graph) {
  CLI::App* verb = add_verb(
      graph, "build",
      "Make a graph of points\n\n"
      "Each joined to its k nearest, to all within a distance, or to all others.\n"
      "The extension of the output decides its format: .copse (opens at once), otherwise an edge list.",
      {"copse graph build points.npy -o graph.copse", "copse graph build points.csv --k 20 --metric cosine",
       "copse graph build points.npy --weights gaussian --scale 2.5 --connect -o graph.tsv.zst"});
  auto options = std::make_shared<PointsInput>();
  add_points_options(verb, *options);
  verb->get_option("POINTS")->required();
  add_common(verb, program.session, kOutput | kThreads | kSeed);
  on_run(verb, program.session, options, build_from_points);
}

}  // namespace copse::cli
