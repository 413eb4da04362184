// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

namespace copse::cli {
namespace {

struct CheckOptions {
  GraphInput graph;
};

// The file was checked while it was read; this is what reading leaves to chance, or to whoever wrote it.
int check(Session& session, const CheckOptions& options) {
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  check_graph_exactly(graph.graph, options.graph.path.c_str(), session.threads);
  const NodeId num_nodes = graph.graph.num_nodes();
  for (NodeId node = 0; node < num_nodes && !graph.names.is_numbered(); ++node) {
    const std::string name = graph.names.name(node);
    if (const auto found = graph.names.find(name); found != node)
      throw InputError{
          options.graph.path,
          "node " + std::to_string(node) + " is called " + copse::quoted(name) +
              (found ? ", as node " + std::to_string(*found) + " is" : ", and is not found by it"),
          "the file was not written by copse: convert it again with copse graph convert"};
  }
  Table table(output, session, {{"verb", "graph check"}, {"graph", options.graph.path}}, {"checked", "count"},
              Table::Size::small);
  table.add("names_all_different", num_nodes);
  table.add("edges_in_both_rows", graph.graph.view().num_edges());
  table.finish();
  return kDone;
}

}  // namespace

void add_graph_check(Program& program, CLI::App& graph) {
  CLI::App* verb = add_verb(
      graph, "check",
      "Check a graph edge by edge\n\n"
      "Every verb checks the whole of a file as it opens it. This one looks up each edge in both rows,\n"
      "where others compare random sums, and every name, which others trust; it says which is wrong.",
      {"copse graph check graph.copse"});
  auto options = std::make_shared<CheckOptions>();
  add_graph_options(verb, options->graph)->required();
  add_common(verb, program.session, kTable);
  on_run(verb, program.session, options, check);
}

}  // namespace copse::cli
