// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "copse/trees/sample.hpp"
#include "inputs.hpp"
#include "trees/parity.hpp"

namespace copse::cli {
namespace {

const Words<TreeKind> kKinds{
    {"rst", TreeKind::rst},  {"nwrst", TreeKind::nwrst}, {"random_key", TreeKind::random_key},
    {"mst", TreeKind::mst},  {"spt", TreeKind::spt},     {"dfst", TreeKind::dfst},
    {"bfst", TreeKind::bfst}};

struct TreeOptions {
  GraphInput graph;
  TreeKind kind = TreeKind::rst;
  std::uint64_t num_trees = 1;
};

int tree(Session& session, const TreeOptions& options) {
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  const Execution execution = session.execution();
  const TreeSampler sampler(graph.graph, options.kind, execution);
  Table table(output, session,
              {{"verb", "tree"},
               {"graph", options.graph.path},
               {"kind", to_string(options.kind)},
               {"num_trees", options.num_trees},
               {"seed", session.seed}},
              {"tree", "node", "parent", "weight"});
  std::map<std::string, std::uint64_t> paths;
  std::uint64_t steps = 0, done = 0;
  for (; done < options.num_trees && !was_interrupted(); ++done) {
    execution.report("trees", done, options.num_trees);
    TreeReport report;
    const SpanningForest forest = sampler.tree(done, &report);
    ++paths[to_string(report.path)];
    steps += report.steps;
    table.rows(forest.num_nodes(), session.threads, [&](RowBuffer& row, std::size_t i) {
      const auto rank = static_cast<NodeId>(i);
      row.count(done)
          .name(graph.names, forest.node[rank])
          .name(graph.names, forest.node[forest.parent[rank]]);
      double weight = forest.is_root(rank) ? 0 : double{forest.edge_weight(rank)};
      if (graph.graph.view().is_signed() && !forest.is_root(rank) &&
          is_negative_edge(graph.graph, forest.node[rank], forest.node[forest.parent[rank]]))
        weight = -weight;
      row.number(weight).end_row();
    });
  }
  Json notes = Json::array();
  for (const auto& [path, count] : paths)
    notes.push_back(fmt::format("{} made by path {}", counted(count, "tree"), path));
  if (done < options.num_trees)
    notes.push_back(fmt::format("interrupted after {} of {} trees", done, options.num_trees));
  table.finish({{"notes", notes}});
  for (const auto& note : notes) session.say(note.get<std::string>());
  if (steps > 0)
    session.say("{} of random walk, {:.2f} a node and tree", counted(steps, "step"),
                static_cast<double>(steps) / static_cast<double>(std::max<std::uint64_t>(1, done)) /
                    std::max<double>(1, graph.graph.num_nodes()));
  return done < options.num_trees ? kInterrupted : kDone;
}

}  // namespace

void add_tree(Program& program) {
  CLI::App* verb = add_verb(
      program.app, "tree",
      "Draw spanning trees\n\n"
      "One row per node with its parent, parents first; a root is its own parent. A disconnected graph\n"
      "has one root per component.",
      {"copse tree graph.tsv --kind rst --seed 7", "copse tree graph.tsv --kind mst -o tree.tsv",
       "copse tree graph.tsv --num-trees 3 --json"});
  auto options = std::make_shared<TreeOptions>();
  add_graph_options(verb, options->graph)->required();
  add_choice(verb, "--kind", kKinds, options->kind, kTreeKindsText);
  add_option(verb, "--num-trees N", options->num_trees, "how many, numbered from 0")->check(positive());
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, tree);
}

}  // namespace copse::cli
