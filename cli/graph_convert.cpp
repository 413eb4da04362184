// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "inputs.hpp"

namespace copse::cli {
namespace {

struct ConvertOptions {
  GraphInput graph;
  std::string to;
};

int convert(Session& session, const ConvertOptions& options) {
  const NamedGraph graph = options.graph.read(session);
  write_graph(options.to, graph, session.execution());
  session.bar().clear();
  if (options.to != "-") session.say("written to " + options.to);
  return kDone;
}

}  // namespace

void add_graph_convert(Program& program, CLI::App& graph) {
  CLI::App* verb = add_verb(
      graph, "convert",
      "Write a graph in another format. The extension of OUT decides: .copse (opens at once), .csv, .tsv\n"
      "(edge lists), .mtx, .graphml, .gexf, .gml, .net (Pajek), .json (node-link); .gz, .zst, .xz, .bz2 on\n"
      "top compress. - is an edge list on stdout.",
      {"copse graph convert graph.tsv graph.copse", "copse graph convert graph.tsv graph.graphml",
       "copse graph convert graph.tsv -"});
  auto options = std::make_shared<ConvertOptions>();
  add_graph_options(verb, options->graph)->required();
  verb->add_option("OUT", options->to, "where to write")->required()->type_name("FILE");
  add_common(verb, program.session, kThreads);
  on_run(verb, program.session, options, convert);
}

}  // namespace copse::cli
