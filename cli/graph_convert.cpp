// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "copse/graph/signs.hpp"
#include "copse/laplacian/spectral_embedding.hpp"
#include "inputs.hpp"

namespace copse::cli {
namespace {

struct ConvertOptions {
  GraphInput graph;
  LabelsInput diagonal;
  std::string to;
  bool embedding = false;
};

struct NameList {
  std::vector<std::uint64_t> ends;
  std::string text;
  void add(std::string_view name) {
    text += name;
    ends.push_back(text.size());
  }
};

// The terms c_i of a signed Laplacian as two further nodes each (with_diagonal), called after the node.
NamedGraph with_diagonal_of(Session& session, const NamedGraph& graph, const LabelsInput& input) {
  const Labels given = input.read(session, graph.names);
  std::vector<double> diagonal(graph.graph.num_nodes());
  const auto names = std::make_shared<NameList>();
  for (NodeId u = 0; u < diagonal.size(); ++u) names->add(graph.names.name(u));
  for (NodeId u = 0; u < diagonal.size(); ++u) {
    if (given.of_node[u] == kNoLabel) continue;
    const std::string text(given.classes.name(given.of_node[u]));
    const std::optional<double> value = parse_number(text);
    if (!value || !(*value >= 0))
      throw InputError(input.path,
                       copse::quoted(text) + " of node " + copse::quoted(graph.names.name(u)) +
                           " is no term of a diagonal",
                       "a line is node<TAB>number, from 0 on");
    diagonal[u] = *value;
    for (const char* end : {"~1", "~2"})
      if (*value > 0) names->add(std::string(graph.names.name(u)) + end);
  }
  Graph made = with_diagonal(graph.graph, diagonal);
  session.say("  {} hang at nodes with a diagonal term",
              counted(made.num_nodes() - diagonal.size(), "further node"));
  return {std::move(made), NodeNames::strings(names->ends, names->text, names)};
}

int convert(Session& session, const ConvertOptions& options) {
  if (options.embedding && !options.to.ends_with(".copse"))
    throw UsageError("--embedding", "is kept in .copse files", "call OUT so, or leave it away");
  NamedGraph graph = options.graph.read(session);
  if (!options.diagonal.path.empty()) graph = with_diagonal_of(session, graph, options.diagonal);
  if (options.embedding) graph.graph = keep_embedding(graph.graph, {}, session.execution());
  write_graph(options.to, graph, session.execution());
  if (options.to != "-") session.say("written to " + options.to);
  return kDone;
}

}  // namespace

void add_graph_convert(Program& program, CLI::App& graph) {
  CLI::App* verb = add_verb(
      graph, "convert",
      "Write a graph in another format\n\n"
      "The extension of OUT decides: .copse (opens at once), .csv, .tsv\n"
      "(edge lists), .mtx, .graphml, .gexf, .gml, .net (Pajek), .json (node-link); .gz, .zst, .xz, .bz2 on\n"
      "top compress. - is an edge list on stdout.",
      {"copse graph convert graph.tsv graph.copse", "copse graph convert graph.tsv graph.graphml",
       "copse graph convert graph.tsv -"});
  auto options = std::make_shared<ConvertOptions>();
  add_graph_options(verb, options->graph)->required();
  add_option(verb, "OUT FILE", options->to, "where to write")->required();
  add_option(verb, "--diagonal FILE", options->diagonal.path,
             "terms c_i of a signed Laplacian, node and number a line: each becomes two further nodes on a\n"
             "triangle with a negative edge, which adds c_i f_i^2 and nothing else (docs/signed.md)");
  verb->add_flag(
      "--embedding", options->embedding,
      "keep the spectral embedding of the graph in the file: embedding and auto then begin with it\n"
      "(512 bytes per node; by their defaults)");
  add_common(verb, program.session, kThreads);
  on_run(verb, program.session, options, convert);
}

}  // namespace copse::cli
