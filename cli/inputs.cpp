// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "suggest.hpp"

namespace copse::cli {

namespace {

const Words<std::optional<Duplicates>> kDuplicates{{"automatic", std::nullopt},
                                                   {"sum", Duplicates::sum},
                                                   {"max", Duplicates::max},
                                                   {"min", Duplicates::min},
                                                   {"error", Duplicates::error}};
constexpr const char* kDelimiters = "tab|comma|semicolon|space|bar";

// By its name, or as itself.
char delimiter_of(const std::string& text) {
  const std::vector<std::string> names = split(kDelimiters, '|');
  constexpr std::string_view kCharacters = "\t,; |";
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text == names[i] || text == kCharacters.substr(i, 1) || (text == "\\t" && i == 0))
      return kCharacters[i];
  throw UsageError("--delimiter", copse::quoted(text) + " is not one of " + kDelimiters,
                   "leave it out to have it found out");
}

// source=a,target=b,weight=c: commas begin the next one only where a role follows, so names may hold some.
std::vector<std::pair<std::string, std::string>> parse_columns(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> columns;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string role = part.substr(0, equals);
    const bool is_role = role == "source" || role == "target" || role == "weight" || role == "node";
    if (equals != std::string::npos && is_role) {
      for (const auto& [known, column] : columns)
        if (known == role) throw UsageError("--columns", "the " + role + " is told twice", "name one column");
      columns.emplace_back(role, part.substr(equals + 1));
    } else if (!columns.empty() && equals == std::string::npos) {
      columns.back().second += "," + part;
    } else {
      throw UsageError("--columns",
                       copse::quoted(part) + " is not source=COLUMN, target=COLUMN or weight=COLUMN",
                       role == "label" ? "for labels say --node-column and --label-column"
                                       : "as in --columns source=from,target=to,weight=amount");
    }
  }
  return columns;
}

std::string shown(const std::string& path) { return path == "-" ? "standard input" : path; }

void say_unknown(Session& session, const LabelReadReport& report) {
  if (report.num_unknown_nodes == 0) return;
  session.say("  {} of {} rows name no node of the graph and are left out:",
              with_commas(report.num_unknown_nodes), with_commas(report.num_rows));
  for (const std::string& example : report.unknown_examples) session.say("    " + example);
  if (report.num_unknown_nodes > report.unknown_examples.size()) session.say("    ...");
}

void say_dropped(Session& session, const BuildReport& build) {
  if (build.listed_both_ways) session.say("  every edge is listed in both directions; read as one edge each");
  session.say_any(build.num_self_loops, "self-loop", "dropped");
  session.say_any(build.num_zero_weights, "edge", "of weight 0 dropped (0 means no edge)");
}

}  // namespace

NamedGraph GraphInput::read(Session& session, ReadReport* report) const {
  if (options.format == GraphFormat::automatic && options.nodes_path.empty() && is_points_file(path)) {
    if (options.is_signed)
      throw UsageError("--signed", shown(path) + " holds points, and points have no negative edges",
                       "leave it out");
    session.say(shown(path) + " holds points, not a graph: building one of them first (`copse graph build`)");
    PointsInput of_path = points;
    of_path.path = path;
    return of_path.build(session);
  }
  if (points.tree)
    throw UsageError("--similarity-tree", shown(path) + " holds a graph, and the tree is one of points",
                     "give a .npy file of points, or leave it out");
  ReadReport own;
  ReadReport& result = report == nullptr ? own : *report;
  NamedGraph graph = read_graph(path, options, session.execution(), &result);
  const GraphView view = graph.graph;
  if (!result.columns.empty()) session.say(shown(path) + ": " + result.columns);
  session.say(fmt::format("{}: {}, {}{}", shown(path), counted(view.num_nodes(), "node"),
                          counted(view.num_edges(), "edge"), view.is_weighted() ? ", weighted" : "") +
              (view.is_signed() ? ", signed" : ""));
  const BuildReport& build = result.build;
  say_dropped(session, build);
  session.say_any(build.num_cancelled, "pair", "whose listings add to 0 dropped");
  if (build.num_merged > 0 && !options.duplicates && !view.is_weighted() && !build.listed_both_ways)
    session.say("  {} a pair that is there already and counted once; --duplicates sum makes weights of them",
                counted(build.num_merged, "listing repeats", "listings repeat"));
  else if (build.num_merged > 0 && !build.listed_both_ways)
    session.say("  {} merged into another of the same pair (--duplicates {})",
                counted(build.num_merged, "listing"),
                options.duplicates ? word_for(kDuplicates, options.duplicates) : "sum");
  return graph;
}

EdgeStream GraphInput::stream(Session& session, const std::string& directory, ReadReport& report) const {
  EdgeStream stream = EdgeStream::read(path, options, directory, session.execution(), &report);
  if (!report.columns.empty()) session.say(shown(path) + ": " + report.columns);
  session.say("{}: {}, {}{}", shown(path), counted(stream.num_nodes(), "node"),
              counted(stream.num_edges(), "edge"), stream.is_weighted() ? ", weighted" : "");
  say_dropped(session, report.build);
  return stream;
}

NodeId find_node(const NodeNames& names, const std::string& name, const std::string& where) {
  if (const std::optional<NodeId> node = names.find(name)) return *node;
  const std::vector<std::string> near = nearest_names(name, names, 3);
  std::string remedy = "ids are compared letter by letter";
  if (!near.empty())
    remedy = fmt::format("did you mean {}?", fmt::join(near, ", "));
  else if (names.size() > 0)
    remedy =
        "its nodes are called " + names.name(0) + " ... " + names.name(static_cast<NodeId>(names.size() - 1));
  throw UsageError(where, "the graph has no node " + copse::quoted(name), remedy);
}

CLI::Option* add_graph_options(CLI::App* verb, GraphInput& input) {
  CLI::Option* graph =
      add_option(verb, "GRAPH FILE", input.path,
                 "edge list, .copse, GraphML, GEXF, GML, Pajek, JSON, Matrix Market, METIS, .npz, ...\n"
                 "(docs/formats.md), compressed or not; - is stdin;\n"
                 "a .npy or svmlight file of points becomes the graph of `copse graph build`");
  const Heading heading(verb, "Reading");
  add_choice(verb, "--format", graph_formats(), input.options.format,
             "format of GRAPH, if its first bytes and its name mislead");
  add_similarity_tree_option(verb, input.points);
  add_option(verb, "--similarity-scale X", input.points.scale, "s of --similarity-tree");
  verb->add_option_function<std::string>(
          "--columns",
          [&input](const std::string& text) { input.options.table.columns = parse_columns(text); },
          "which columns of an edge list are what, by name or number; weight= takes none;\n"
          "of GraphML, GML, JSON, ...: weight=ATTRIBUTE, node=ATTRIBUTE (what nodes are called)")
      ->type_name("source=A,target=B,weight=C");
  verb->add_option_function<std::string>(
          "--delimiter",
          [&input](const std::string& text) { input.options.table.delimiter = delimiter_of(text); },
          "what separates the fields of an edge list [found out]")
      ->type_name(kDelimiters);
  verb->add_flag("--no-header", input.options.table.no_header,
                 "the first line of an edge list is an edge, whatever it looks like");
  add_choice(verb, "--duplicates", kDuplicates, input.options.duplicates,
             "an edge that is listed again: add weights, and count pairs without weights once, or ...");
  verb->add_flag(
      "--signed", input.options.is_signed,
      "weights below 0 are negative edges: between nodes of different classes, of which there are two");
  add_option(verb, "--nodes FILE", input.options.nodes_path,
             "a file of ids, one a line, or of labels: nodes that no edge may mention");
  return graph;
}

void LabelsInput::say(Session& session, const LabelReadReport& report, std::uint64_t num_labelled,
                      const std::string& classes) const {
  if (num_labelled == 0)
    throw InputError(shown(path), "no node of the graph has a label",
                     "rows are node<TAB>label; an empty label means unlabelled");
  if (!report.columns.empty()) session.say(shown(path) + ": " + report.columns);
  session.say("{}: {}, {}", shown(path), counted(num_labelled, "labelled node"), classes);
  say_unknown(session, report);
}

Labels LabelsInput::read(Session& session, const NodeNames& names) const {
  LabelReadReport report;
  Labels labels = read_labels(path, names, options, &report, session.execution());
  say(session, report, labels.num_labelled(), counted(labels.classes.size(), "class", "classes"));
  return labels;
}

GivenLabels LabelsInput::read_any(Session& session, const NodeNames& names) const {
  GivenLabels given;
  given.is_multi = multi_label;
  if (path.empty()) {
    given.of_node().assign(names.size(), kNoLabel);
  } else if (!multi_label) {
    given.one = read(session, names);
  } else {
    LabelReadReport report;
    given.many = read_multi_labels(path, names, options, &report, session.execution());
    const std::vector<Label>& sets = given.of_node();
    say(session, report, sets.size() - static_cast<std::uint64_t>(std::ranges::count(sets, kNoLabel)),
        counted(given.classes().size(), "class", "classes") + ", " +
            counted(given.many.sets.size(), "different set") + " of them");
  }
  return given;
}

CLI::Option* add_labels_options(CLI::App* verb, LabelsInput& input) {
  CLI::Option* labels = add_option(verb, "--labels FILE", input.path,
                                   "a table of nodes and labels; an empty label means unlabelled");
  const Heading heading(verb, "Reading");
  verb->add_flag("--strict", input.options.strict,
                 "a label of a node that the graph does not have is an error");
  for (const std::string role : {"label", "node"})
    verb->add_option_function<std::string>(
            "--" + role + "-column",
            [&input, role](const std::string& column) {
              input.options.table.columns.emplace_back(role, column);
            },
            "which column of --labels is the " + role + ", by name or number")
        ->type_name("COLUMN");
  return labels;
}

void add_multi_label_flag(CLI::App* verb, LabelsInput& input, const std::string& answers) {
  verb->add_flag("--multi-label", input.multi_label, "nodes may have several labels, a row each: " + answers);
}

void add_thresholds_option(CLI::App* verb, Thresholds& thresholds) {
  add_choice(verb, "--thresholds", {{"f1", Thresholds::f1}, {"half", Thresholds::half}}, thresholds,
             "with --multi-label a class is answered where its score is above its threshold, or else the\n"
             "best class. f1: that of the largest F1 among the given labels, each left out in turn, where\n"
             "the learner can tell; half: one half, which errs least often");
}

std::vector<std::string_view> GivenLabels::names(std::span<const Label> labels) const {
  std::vector<std::string_view> names;
  for (const Label label : labels) names.emplace_back(classes().name(label));
  return names;
}

std::vector<std::string_view> GivenLabels::names(Label answer) const {
  return is_multi ? names(std::span(many.sets[answer])) : names(std::span(&answer, 1));
}

std::string GivenLabels::text(Label answer) const { return fmt::format("{}", fmt::join(names(answer), ",")); }

void GivenLabels::write(RowBuffer& row, std::span<const std::string_view> names) const {
  if (is_multi)
    row.list(names);
  else
    row.text(names[0]);
}

std::vector<double> GivenLabels::class_scores(std::span<const double> scores) const {
  if (!is_multi) return {scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(one.classes.size())};
  std::vector<double> of_classes(many.classes.size());
  many.add_up(scores, of_classes);
  return of_classes;
}

namespace {

/// The classes of a text like a,b, in order and each once; number(name) is the class of a name.
template <class Number>
std::vector<Label> set_of(const std::string& text, Number&& number) {
  std::set<Label> set;
  for (const std::string& name : split(text, ',')) set.insert(number(name));
  return {set.begin(), set.end()};
}

}  // namespace

Label GivenLabels::find(const std::string& text) const {
  if (!is_multi) return one.classes.find(text);
  const auto set = set_of(text, [&](const std::string& name) { return many.classes.find(name); });
  const auto found = std::ranges::find(many.sets, set);
  return found == many.sets.end() ? kNoLabel : static_cast<Label>(found - many.sets.begin());
}

Label GivenLabels::intern(const std::string& text) {
  if (!is_multi) return one.classes.intern(text);
  if (const Label known = find(text); known != kNoLabel) return known;
  many.sets.push_back(set_of(text, [&](const std::string& name) { return many.classes.intern(name); }));
  return static_cast<Label>(many.sets.size() - 1);
}

Labels GivenLabels::as_classes() const {
  if (!is_multi) return one;
  refuse_commas();
  Labels labels;
  labels.of_node = many.set_of_node;
  for (std::size_t set = 0; set < many.sets.size(); ++set)
    labels.classes.intern(text(static_cast<Label>(set)));
  return labels;
}

void GivenLabels::refuse_commas() const {
  for (const std::string& name : is_multi ? many.classes.names() : std::vector<std::string>{})
    if (name.find(',') != std::string::npos)
      throw UsageError("--multi-label",
                       "the label " + copse::quoted(name) + " holds a comma, which lists separate by",
                       "replace the comma");
}

Hints HintsInput::read(Session& session, const NodeNames& names, Labels& labels) const {
  Hints hints;
  const auto rows_of = [&](const std::string& path, const char* what) {
    LabelReadReport report;
    std::vector<SoftLabel> rows = read_soft_labels(path, names, labels.classes, &report, session.execution());
    session.say("{}: {}, {}", shown(path), counted(rows.size(), what),
                counted(labels.classes.size(), "class", "classes"));
    say_unknown(session, report);
    return rows;
  };
  if (!soft_labels.empty()) hints.labels = rows_of(soft_labels, "soft label");
  if (!prior.empty()) {
    const std::vector<SoftLabel> rows = rows_of(prior, "share of a prior");
    hints.prior.resize(labels.of_node.size() * labels.classes.size());
    for (const SoftLabel& row : rows) hints.prior[row.node * labels.classes.size() + row.label] = row.weight;
    hints.prior_weight = prior_weight;
  }
  if (class_sizes == "uniform")
    hints.class_sizes.assign(labels.classes.size(), 1);
  else if (!class_sizes.empty())
    hints.class_sizes = read_class_sizes(class_sizes, labels.classes, session.execution());
  return hints;
}

void add_hints_options(CLI::App* verb, HintsInput& input) {
  const Heading heading(verb, "Hints");
  add_option(verb, "--soft-labels FILE", input.soft_labels,
             "rows \"node class weight\": labels that are not certain; what a node's weights leave to 1 is\n"
             "the share of its neighbours in its answer");
  add_option(verb, "--prior FILE", input.prior,
             "rows \"node class probability\", as --scores long writes them: what another model thinks");
  add_option(verb, "--prior-weight W", input.prior_weight,
             "what the prior weighs at a node, its neighbours together being 1")
      ->check(in_range(1e-6, 1e6));
  add_option(verb, "--class-sizes FILE|uniform", input.class_sizes,
             "rows \"class size\", or uniform: answers are to have these sizes");
}

void check_standard_input(const GraphInput& graph, std::vector<std::string> paths) {
  paths.insert(paths.end(), {graph.path, graph.options.nodes_path});
  if (std::count(paths.begin(), paths.end(), "-") > 1)
    throw UsageError("-", "standard input is named for two inputs", "give one of them as a file");
}

}  // namespace copse::cli
