// SPDX-License-Identifier: Apache-2.0
#include "choices.hpp"

#include <fmt/format.h>

#include "inputs.hpp"

namespace copse::cli {
namespace {

const Words<PointsFormat> kPointsFormats{{"automatic", PointsFormat::automatic},
                                         {"npy", PointsFormat::npy},
                                         {"table", PointsFormat::table},
                                         {"svmlight", PointsFormat::svmlight}};
const Words<IdColumn> kIdColumns{
    {"automatic", IdColumn::automatic}, {"first", IdColumn::first}, {"none", IdColumn::none}};
const Words<Metric> kMetrics{
    {"euclidean", Metric::euclidean}, {"cosine", Metric::cosine}, {"inner", Metric::inner}};
const Words<Weighting> kWeightings{{"local", Weighting::local},
                                   {"none", Weighting::none},
                                   {"gaussian", Weighting::gaussian},
                                   {"heat", Weighting::heat},
                                   {"similarity", Weighting::similarity}};
const Words<Symmetrize> kSymmetrizes{{"union", Symmetrize::either}, {"mutual", Symmetrize::mutual}};
const Words<NeighborMethod> kMethods{{"automatic", NeighborMethod::automatic},
                                     {"exact", NeighborMethod::exact},
                                     {"approximate", NeighborMethod::approximate}};
const Words<std::optional<SimilarityTree>> kTrees{{"mst", SimilarityTree::mst}, {"spt", SimilarityTree::spt}};

SimilarityOptions similarity_options(const PointsInput& input, std::uint64_t num_points) {
  SimilarityOptions options = input.options;
  if (input.complete && input.epsilon)
    throw UsageError("--complete", "a complete graph has all pairs, --epsilon some", "give one of the two");
  if (input.complete) options.rule = PairRule::complete;
  if (input.epsilon) options.rule = PairRule::radius;
  options.radius = input.epsilon.value_or(0);
  if (input.scale && !(*input.scale > 0))
    throw UsageError("--scale", "the scale of weights is a positive number",
                     "leave it out to have it chosen from the points");
  options.scale = input.scale.value_or(0);
  // Asked for by number, k must be possible; as a default it gives way.
  if (input.k)
    options.neighbors.k = *input.k;
  else if (num_points > 1)
    options.neighbors.k =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(options.neighbors.k, num_points - 1));
  options.max_bytes = available_memory();
  return options;
}

std::string rule_text(const SimilarityOptions& options) {
  const std::string metric = word_for(kMetrics, options.neighbors.metric) + " distance";
  if (options.rule == PairRule::complete) return "all pairs";
  if (options.rule == PairRule::radius) return fmt::format("pairs within {} by {}", options.radius, metric);
  return fmt::format("{} nearest by {}, {}", options.neighbors.k,
                     options.neighbors.metric == Metric::inner ? "inner product" : metric,
                     word_for(kSymmetrizes, options.symmetrize));
}

std::string weight_text(const SimilarityOptions& options, const SimilarityReport& report) {
  switch (options.weighting) {
    case Weighting::none:
      return "no weights";
    case Weighting::gaussian:
      return fmt::format("weights exp(-d^2/s^2), s = {:.6g}{}", report.scale,
                         options.scale == 0 ? " (root mean square distance to the nearest)" : "");
    case Weighting::heat:
      return fmt::format("weights exp(-d/s), s = {:.6g}{}", report.scale,
                         options.scale == 0 ? " (root mean square distance to the nearest)" : "");
    case Weighting::similarity:
      return "weights are the similarities";
    default:
      return fmt::format("weights exp(-d^2/s_ij), s_ij the mean square distance to the {} nearest of both",
                         options.neighbors.k);
  }
}

std::string why_exact_text(WhyExact why) {
  switch (why) {
    case WhyExact::no_dearer:
      return ", which is no dearer here than approximate ones";
    case WhyExact::inner_product:
      return ": approximate ones are of distances, and an inner product is none";
    default:
      return "";
  }
}

void say_neighbors(Session& session, const NeighborReport& report, std::uint32_t k) {
  if (report.method == NeighborMethod::exact) {
    session.say("  neighbours exact" + why_exact_text(report.why_exact) +
                (report.num_searched_again == 0
                     ? std::string()
                     : fmt::format(" ({} searched twice, with more than one candidate for the last place)",
                                   counted(report.num_searched_again, "point"))));
    return;
  }
  session.say(
      "  neighbours approximate: recall {:.4f} of the {} nearest, give or take {:.4f}, on {} against exact "
      "search",
      report.recall.value_or(0), k, report.recall_error, counted(report.recall_sample, "random point"));
  session.say("  {} with leaves of {}, {:.2g} % of all pairs compared",
              counted(report.num_trees, "random tree"), counted(report.leaf_size, "point"),
              100 * report.share_compared);
}

void say_result(Session& session, const SimilarityOptions& options, const SimilarityReport& report) {
  if (report.used_neighbors) say_neighbors(session, report.neighbors, options.neighbors.k);
  session.say_any(report.num_coinciding, "edge", "between points that coincide (distance 0)");
  session.say_any(report.num_not_similar, "pair", "left out: similarity not above 0");
  if (report.log_divisor != 0)
    session.say("  weights are divided by e^{:.6g}: the smallest would not fit into 32 bits",
                report.log_divisor);
  if (report.num_squeezed > 0)
    session.say(
        "  {} too light even so (down to e^{:.6g}): kept below all others and in order, not "
        "in size; a larger --scale avoids it",
        counted(report.num_squeezed, "edge"), report.smallest_log_weight);
  if (options.connect)
    session.say("  {} added to join the components", counted(report.num_joining_edges, "edge"));
  if (report.num_components > 1)
    session.say("  {} (--connect joins them by their shortest pairs)",
                counted(report.num_components, "component"));
}

// The library knows the points as its argument; a user knows their file.
Graph build_from(const PointsView& points, const SimilarityOptions& options, const std::string& file,
                 const Execution& execution, SimilarityReport& report) {
  try {
    return similarity_graph(points, options, execution, &report);
  } catch (const InputError& error) {
    if (error.where() != "points") throw;
    throw InputError{file, error.problem(), error.remedy()};
  }
}

}  // namespace

void add_similarity_tree_option(CLI::App* verb, PointsInput& input) {
  add_choice(verb, "--similarity-tree", kTrees, input.tree,
             "of points: the minimum (mst) or shortest-path tree (spt, from the first point) of all pairs\n"
             "under exp(-d^2/s^2), in O(n) memory, instead of nearest neighbours");
}

NamedGraph PointsInput::build(Session& session) const {
  similarity_options(*this, 0);  // a wrong option is told before the reading
  const std::string name = path == "-" ? "standard input" : path;
  NamedPoints points = read_points(path, reading, session.execution());
  const PointsView view = points.points;
  session.say("{}: {} of {}{}", name, counted(view.num_points, "point"), counted(view.num_columns, "column"),
              view.is_sparse() ? ", sparse" : "");
  const Stopwatch watch;
  if (tree) {
    std::uint64_t num_clamped = 0;
    Graph made = similarity_tree(view, *tree, scale.value_or(0), session.execution(), &num_clamped);
    session.say("{} of {} under exp(-d^2/{:g}^2), all pairs in O(n) memory: {}, {}{}",
                tree == SimilarityTree::mst ? "minimum tree" : "shortest-path tree", name, *scale,
                counted(made.view().num_edges(), "edge"), duration_text(watch.seconds()),
                num_clamped == 0
                    ? ""
                    : fmt::format("; {} of its weights are too small for a float", with_commas(num_clamped)));
    return {std::move(made), std::move(points.names)};
  }
  const SimilarityOptions wanted = similarity_options(*this, view.num_points);
  SimilarityReport report;
  Graph graph = build_from(view, wanted, name, session.execution(), report);
  session.say("graph of {}: {}; {}", name, rule_text(wanted), weight_text(wanted, report));
  say_result(session, wanted, report);
  session.say("  {}, {}, {}", counted(graph.view().num_nodes(), "node"),
              counted(graph.view().num_edges(), "edge"), duration_text(watch.seconds()));
  return {std::move(graph), std::move(points.names)};
}

namespace {

void add_points_options(CLI::App* verb, PointsInput& input) {
  add_option(verb, "POINTS FILE", input.path,
             ".npy, a table (CSV, TSV) or svmlight, compressed or not; - is stdin");
  {
    const Heading reading(verb, "Reading");
    add_choice(verb, "--format", kPointsFormats, input.reading.format,
               "format of POINTS, if its first bytes and its name mislead");
    add_choice(verb, "--ids", kIdColumns, input.reading.ids,
               "which column of a table names the points; by default rows are numbered from 0");
  }
  {
    const Heading pairs(verb, "Which pairs");
    add_option(verb, "--k N", input.k, "each point with its k nearest")
        ->default_str(std::to_string(NeighborOptions{}.k));
    add_choice(verb, "--metric", kMetrics, input.options.neighbors.metric, "what near means");
    add_choice(verb, "--symmetrize", kSymmetrizes, input.options.symmetrize,
               "an edge if one, or if both, are among the other's k nearest");
    add_option(verb, "--epsilon X", input.epsilon, "instead: all pairs at this distance or less");
    verb->add_flag("--complete", input.complete, "instead: all pairs, for a few thousand points");
    verb->add_flag("--connect", input.options.connect, "add the shortest pairs that join the components");
    add_similarity_tree_option(verb, input);
    add_choice(verb, "--method", kMethods, input.options.neighbors.method,
               "how to search; automatic is exact up to points^2 x columns = 1e12");
    add_option(verb, "--recall X", input.options.neighbors.recall,
               "share of the true neighbours that approximate is to find");
  }
  const Heading weights(verb, "Weights");
  add_choice(verb, "--weights", kWeightings, input.options.weighting,
             "of an edge at distance d; see docs/points.md");
  add_option(verb, "--scale X", input.scale, "s of gaussian exp(-d^2/s^2) and heat exp(-d/s)")
      ->default_str("root mean square distance to the k nearest");
}

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
