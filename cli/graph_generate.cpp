// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "inputs.hpp"
#include "papers/generators.hpp"
#include "papers/tree_cut.hpp"

namespace copse::cli {
namespace {

struct GenerateOptions {
  std::string family;
  std::vector<std::pair<std::string, double>> parameters;
  std::string labels_out;
  std::int64_t adversary = 0;
};

// Labels by the adversary of theorem 1. Rows begin with its coins: the order in which to present the nodes.
std::vector<NodeId> let_adversary_label(Session& session, std::int64_t budget, GeneratedGraph& made) {
  if (budget < 0)
    throw UsageError("--adversary", "a number of nodes is at least 1", "for example --adversary 10");
  Adversary adversary =
      adversarial_labelling(made.graph, static_cast<std::uint64_t>(budget), session.execution());
  session.say(
      "adversary: labels by coins on {}, the first rows of the labels: whatever method errs on half of them\n"
      "  on average; a random spanning tree is cut at {:.4g} edges{}",
      counted(adversary.budget.size(), "node"), adversary.expected_cut,
      adversary.num_trees > 0 ? fmt::format(" (estimated from {} trees)", adversary.num_trees) : "");
  std::vector<char> is_first(made.graph.num_nodes());
  for (const NodeId node : adversary.budget) is_first[node] = 1;
  std::vector<NodeId> order = std::move(adversary.budget);
  for (NodeId node = 0; node < made.graph.num_nodes(); ++node)
    if (is_first[node] == 0) order.push_back(node);
  made.labels = std::move(adversary.labels);
  return order;
}

int generate(Session& session, const GenerateOptions& options) {
  GeneratedGraph made = generate_any_graph(options.family, options.parameters, session.execution());
  const NodeId num_nodes = made.graph.num_nodes();
  std::vector<NodeId> order;
  if (options.adversary != 0) {
    if (options.labels_out.empty())
      throw UsageError("--adversary", "makes labels, and there is nowhere to write them",
                       "give --labels-out");
    order = let_adversary_label(session, options.adversary, made);
  }
  const NamedGraph graph{std::move(made.graph), NodeNames::numbered(num_nodes)};
  session.say(
      "{}: {}, {}{}, {}, seed {}", options.family, counted(num_nodes, "node"),
      counted(graph.graph.view().num_edges(), "edge"), graph.graph.view().is_weighted() ? ", weighted" : "",
      made.labels.num_labelled() == 0 ? "no labels" : counted(made.labels.classes.size(), "class", "classes"),
      session.seed);
  if (!options.labels_out.empty()) {
    if (made.labels.num_labelled() == 0)
      throw UsageError("--labels-out", "graphs of the family " + options.family + " have no labels",
                       "leave --labels-out away");
    Output output(options.labels_out);
    RowBuffer rows({}, TableStyle::tsv);
    for (NodeId i = 0; i < num_nodes; ++i) {
      const NodeId node = order.empty() ? i : order[i];
      if (made.labels.of_node[node] == kNoLabel) continue;
      rows.name(graph.names, node).text(made.labels.classes.name(made.labels.of_node[node])).end_row();
      if (rows.bytes.size() > (1 << 20)) {
        output.write(rows.bytes);
        rows.bytes.clear();
      }
    }
    output.write(rows.bytes);
    output.commit();
  }
  const GraphView view = graph.graph;
  std::uint64_t num_isolated = 0;
  for (NodeId node = 0; node < num_nodes; ++node) num_isolated += view.degree(node) == 0 ? 1 : 0;
  if (num_isolated > 0 && !session.output.ends_with(".copse"))
    session.say("  {} without an edge: a list of edges does not mention them, a .copse file does",
                counted(num_isolated, "node"));
  write_graph(session.output, graph, session.execution());
  return kDone;
}

std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::string families() {
  constexpr std::size_t kIndent = 23, kWidth = 100 - kIndent;
  std::string text =
      "Make a graph of one of the papers' families\n\nWith labels where it has some. Nodes are numbered "
      "from 0.\n\nFamilies:";
  for (const GeneratorRow& row : all_generator_rows()) {
    text += fmt::format("\n  {:<20} {}", row.name, wrapped(row.description, kWidth, kIndent));
    std::string parameters;
    for (const GeneratorParameter& parameter : row.parameters)
      parameters += fmt::format(" {} {:g}", flag_of(parameter.name), parameter.default_value);
    text += fmt::format("\n  {:<20} {}", "", wrapped(parameters, kWidth, kIndent));
  }
  return text;
}

}  // namespace

void add_graph_generate(Program& program, CLI::App& graph) {
  CLI::App* verb = add_verb(graph, "generate", families(),
                            {"copse graph generate grid -o grid.tsv", "copse graph generate grid --help"});
  auto options = std::make_shared<GenerateOptions>();
  add_option(verb, "FAMILY NAME", options->family,
             "one of the families above; with --help: what its parameters mean")
      ->required();
  std::set<std::string> done;
  for (const GeneratorRow& row : all_generator_rows()) {
    if (!program.mentioned.everything && row.name != program.mentioned.family) continue;
    for (const GeneratorParameter& parameter : row.parameters) {
      if (!done.insert(parameter.name).second) continue;
      verb->add_option_function<double>(
              flag_of(parameter.name),
              [options, name = parameter.name](double value) {
                options->parameters.emplace_back(name, value);
              },
              parameter.help)
          ->type_name("X")
          ->default_str(fmt::format("{:g}", parameter.default_value))
          ->group("Parameters of " + row.name);
    }
  }
  add_option(verb, "--labels-out FILE", options->labels_out, "write the labels there");
  add_option(verb, "--adversary K", options->adversary,
             "label the graph so that any method errs on K/2 nodes on average while a random spanning "
             "tree is cut at fewer than K edges");
  add_common(verb, program.session, kOutput | kThreads | kSeed);
  on_run(verb, program.session, options, generate);
}

}  // namespace copse::cli
