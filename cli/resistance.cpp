// SPDX-License-Identifier: Apache-2.0
#include "copse/laplacian/resistance.hpp"
#include "choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inputs.hpp"
#include "io/table.hpp"
#include "learners/kernel_operator.hpp"
#include "support/byte_source.hpp"

namespace copse::cli {
namespace {

struct ResistanceOptions {
  GraphInput graph;
  std::string u, v, pairs;
  bool diagonal = false, diameter = false;
  std::string method = "auto";
  double error = 0;  // 0: the method's own default
  double confidence = TreeEstimateOptions{}.confidence;
  std::uint64_t max_trees = TreeEstimateOptions{}.max_trees;
};

constexpr double kExactError = 1e-6, kProjectionError = 0.3;

/// One run: what is asked, of which graph, by which method.
class ResistanceRun {
 public:
  ResistanceRun(Session& session, const ResistanceOptions& options)
      : session_(session),
        options_(options),
        output_(session.output),
        graph_(options.graph.read(session)),
        execution_(session.execution()),
        method_(options.method) {
    if (graph_.graph.view().is_signed()) {
      if (method_ != "auto" && method_ != "exact")
        throw UsageError("resistance", "those of a graph with negative edges are exact",
                         "leave --method out");
      method_ = "exact";
    }
    // Small graphs are done exactly in a second or two; the diagonal of large ones is for random trees.
    if (method_ == "auto" && options.diagonal && graph_.graph.num_nodes() > kExactDiameterNodes)
      method_ = "trees";
    else if (method_ == "auto")
      method_ = options.diameter && graph_.graph.num_nodes() > kExactDiameterNodes ? "bounds" : "exact";
  }

  void pairs() {
    if (method_ == "trees")
      throw UsageError("--method", "trees estimate the diagonal and the diameter, not pairs",
                       "use exact, or projection for very many pairs");
    const std::vector<NodePair> pairs =
        options_.pairs.empty() ? std::vector<NodePair>{{find(options_.u, "U"), find(options_.v, "V")}}
                               : read_pairs();
    constexpr std::size_t kManyPairs = 1000;
    if (method_ == "exact" && pairs.size() > kManyPairs)
      session_.say("{}, a solve each; --method projection answers many at once, roughly",
                   counted(pairs.size(), "pair"));
    const Estimates found = method_ == "exact" ? exact_pairs(pairs) : projected_pairs(pairs);
    Table table(output_, session_, about(), {"u", "v", "resistance", "error"});
    table.rows(pairs.size(), session_.threads, [&](RowBuffer& row, std::size_t i) {
      row.name(graph_.names, pairs[i].u).name(graph_.names, pairs[i].v);
      row.number(found.value[i]).number(found.error[i]).end_row();
    });
    finish(table, found.report);
  }

  void diagonal() {
    const Estimates found = estimate_diagonal();
    Table table(output_, session_, about(), {"node", "diagonal", "error"});
    table.rows(graph_.graph.num_nodes(), session_.threads, [&](RowBuffer& row, std::size_t i) {
      row.name(graph_.names, static_cast<NodeId>(i)).number(found.value[i]).number(found.error[i]).end_row();
    });
    finish(table, found.report);
  }

  void diameter() {
    std::vector<double> at_most;
    if (method_ == "trees" || method_ == "projection") {
      const Estimates found = estimate_diagonal();
      at_most.resize(found.value.size());
      for (std::size_t i = 0; i < at_most.size(); ++i) at_most[i] = found.value[i] + found.error[i];
      notes_.push_back(fmt::format("the upper bound holds with confidence {:g}", options_.confidence));
    }
    if (method_ == "exact" && graph_.graph.num_nodes() > kMaxDenseNodes)
      throw UsageError(
          "--method",
          fmt::format("an exact diameter of {} takes {}", counted(graph_.graph.num_nodes(), "node"),
                      bytes_text(8 * std::uint64_t{graph_.graph.num_nodes()} * graph_.graph.num_nodes())),
          "leave --method out for an interval");
    require_memory(0);
    const ResistanceDiameter found =
        graph_.graph.view().is_signed()
            ? signed_diameter()
            : resistance_diameter(graph_.graph, {}, execution_, method_ == "exact" ? kMaxDenseNodes : 0,
                                  at_most);
    Table table(output_, session_, about(), {"lower", "upper", "u", "v"}, Table::Size::small);
    table.row([&](RowBuffer& row) {
      row.number(found.lower).number(found.upper);
      for (const NodeId node : {found.u, found.v})
        node == kNoNode ? row.missing() : row.name(graph_.names, node);
    });
    finish(table, found.report);
  }

 private:
  NodeId find(const std::string& name, const std::string& where) const {
    return find_node(graph_.names, name, where);
  }

  /// Two ids a line; a first line of names for the ends of an edge, which are no nodes, is a header.
  std::vector<NodePair> read_pairs() const {
    std::vector<NodePair> pairs;
    ByteSource source = ByteSource::open(options_.pairs, execution_);
    TableRows rows(source, "pairs are two ids a line");
    const TableSample sample = rows.sample();
    if (sample.lines.empty()) return pairs;
    rows.set_delimiter(detect_delimiter(sample, source.name()));
    bool is_first = true;
    while (rows.next()) {
      if (rows.fields().size() != 2)
        throw InputError(rows.where(), copse::quoted(rows.line()) + " is not two ids",
                         "give u<TAB>v, a pair a line");
      const std::string u(rows.fields()[0]), v(rows.fields()[1]);
      if (std::exchange(is_first, false) && is_name_of(Role::source, u) && is_name_of(Role::target, v) &&
          !graph_.names.find(u))
        continue;
      pairs.push_back({find(u, rows.where()), find(v, rows.where())});
    }
    return pairs;
  }

  double wanted(double fallback) { return error_ = options_.error > 0 ? options_.error : fallback; }

  /// Refuses what would not fit, with the number of bytes, before it starts.
  void require_memory(std::uint64_t beside_solver) const {
    const std::uint64_t needed =
        beside_solver +
        LaplacianSolver::bytes(graph_.graph.num_nodes(), graph_.graph.view().num_arcs(), 8, {});
    const std::uint64_t available = available_memory();
    if (available != 0 && needed > available)
      throw UsageError("memory",
                       fmt::format("this needs about {} beside the graph, and {} are free",
                                   bytes_text(needed), bytes_text(available)),
                       "a larger --error needs less with --method projection");
  }

  Estimates exact_pairs(const std::vector<NodePair>& pairs) {
    require_memory(std::uint64_t{graph_.graph.num_nodes()} * 8 * 8 * 4);
    if (graph_.graph.view().is_signed()) return signed_resistances(pairs);
    return exact_resistances(graph_.graph, pairs, wanted(kExactError), {}, execution_);
  }

  /// (e_u - e_v)' G^+ (e_u - e_v), G the signed Laplacian (Herbster 2008): a solve each; with v = kNoNode the
  /// diagonal at u.
  Estimates signed_resistances(const std::vector<NodePair>& pairs) {
    GraphLaplacian laplacian(graph_.graph, {}, execution_);
    Estimates found;
    found.report.converged = true;
    std::vector<double> x(graph_.graph.num_nodes());
    for (const auto& [u, v] : pairs) {
      std::fill(x.begin(), x.end(), 0.0);
      x[u] += 1;
      if (v != kNoNode) x[v] -= 1;
      const bool is_apart = v != kNoNode && laplacian.component(u) != laplacian.component(v);
      if (!is_apart) found.report = merge(found.report, laplacian.solve(x));
      found.value.push_back(is_apart ? INFINITY : x[u] - (v == kNoNode ? 0 : x[v]));
      found.error.push_back(is_apart ? 0 : kExactError * std::fabs(found.value.back()));
    }
    return found;
  }

  /// The largest of them within a component: a solve per node.
  ResistanceDiameter signed_diameter() {
    const std::size_t n = graph_.graph.num_nodes();
    if (n > kExactDiameterNodes)
      throw UsageError("resistance",
                       fmt::format("with negative edges there are no bounds of the diameter, and it takes a "
                                   "solve for each of {}",
                                   counted(n, "node")),
                       fmt::format("up to {} that is done; ask for U V, --pairs or --diagonal",
                                   counted(kExactDiameterNodes, "node")));
    GraphLaplacian laplacian(graph_.graph, {}, execution_);
    std::vector<double> kernel(n * n);
    ResistanceDiameter found;
    found.report.converged = true;
    for (NodeId u = 0; u < n; ++u) {
      kernel[u * n + u] = 1;
      found.report = merge(found.report, laplacian.solve(std::span(kernel).subspan(u * n, n)));
      for (NodeId v = 0; v < u; ++v) {
        const double r = kernel[u * n + u] + kernel[v * n + v] - 2 * kernel[u * n + v];
        if (laplacian.component(u) != laplacian.component(v) || r <= found.lower) continue;
        found.lower = found.upper = r;
        found.u = v, found.v = u;
      }
    }
    return found;
  }

  ResistanceSketch sketch(std::uint64_t questions, double& share) {
    const double error = wanted(kProjectionError);
    const int k = ResistanceSketch::projections_for(error, options_.confidence, questions);
    require_memory(ResistanceSketch::bytes(graph_.graph.num_nodes(), k));
    const double e = ResistanceSketch::relative_error(k, options_.confidence, questions);
    share = e < 1 ? e / (1 - e)
                  : INFINITY;  // of the estimate: the truth is within a factor 1 - e ... 1 + e of it
    notes_.push_back(fmt::format("{}; all errors together hold with confidence {:g}",
                                 counted(static_cast<std::uint64_t>(k), "projection"), options_.confidence));
    return {graph_.graph, k, {}, execution_};
  }

  Estimates projected_pairs(const std::vector<NodePair>& pairs) {
    double share = 0;
    const ResistanceSketch points = sketch(pairs.size(), share);
    Estimates found{{}, {}, options_.confidence, points.report()};
    for (const auto& [u, v] : pairs) {
      found.value.push_back(points.resistance(u, v));
      found.error.push_back(std::isinf(found.value.back()) ? 0 : share * found.value.back());
    }
    return found;
  }

  Estimates estimate_diagonal() {
    if (method_ == "exact") {
      require_memory(0);
      if (graph_.graph.view().is_signed()) {
        std::vector<NodePair> nodes(graph_.graph.num_nodes());
        for (NodeId u = 0; u < nodes.size(); ++u) nodes[u] = {u, kNoNode};
        return signed_resistances(nodes);
      }
      return exact_diagonal(graph_.graph, wanted(kExactError), {}, execution_);
    }
    if (method_ == "projection") {
      double share = 0;
      const ResistanceSketch points = sketch(graph_.graph.num_nodes(), share);
      Estimates found{{}, {}, options_.confidence, points.report()};
      for (NodeId u = 0; u < graph_.graph.num_nodes(); ++u) {
        found.value.push_back(points.diagonal(u));
        found.error.push_back(share * found.value.back());
      }
      return found;
    }
    const TreeEstimateOptions trees{wanted(TreeEstimateOptions{}.error), options_.confidence,
                                    options_.max_trees};
    require_memory(std::uint64_t{graph_.graph.num_nodes()} *
                   (48 + 40 * static_cast<unsigned>(session_.threads)));
    RootResistances found = tree_diagonal(graph_.graph, trees, execution_);
    const double certain =
        found.value.empty() ? 0 : *std::max_element(found.certain_error.begin(), found.certain_error.end());
    notes_.push_back(
        fmt::format("{}; all errors together hold with confidence {:g}, by the samples' variance (whatever "
                    "their law: {:.3g})",
                    counted(found.num_trees, "tree"), options_.confidence, certain));
    if (!found.reached)
      notes_.push_back(
          fmt::format("the error wanted was not reached: --max-trees {} stopped it", trees.max_trees));
    if (found.num_inexact_trees > 0)
      notes_.push_back(fmt::format("{} completed by random keys: not quite the law",
                                   counted(found.num_inexact_trees, "tree was", "trees were")));
    return found;
  }

  Json about() const {
    const char* ask = options_.diagonal ? "diagonal" : options_.diameter ? "diameter" : "pairs";
    return {{"verb", "resistance"},
            {"graph", options_.graph.path},
            {"ask", ask},
            {"method", method_ == "bounds" ? "auto" : method_},
            {"error", error_ > 0 ? Json(error_) : Json()},
            {"confidence", options_.confidence},
            {"seed", session_.seed}};
  }

  void finish(Table& table, const SolveReport& report) {
    if (!report.note().empty()) notes_.push_back(report.note());
    table.finish({{"notes", notes_}});
    for (const auto& note : notes_) session_.say(note.get<std::string>());
  }

  Session& session_;
  const ResistanceOptions& options_;
  Output output_;
  NamedGraph graph_;
  Execution execution_;
  std::string method_;
  double error_ = 0;  // as it is in effect
  Json notes_ = Json::array();
};

int resistance(Session& session, const ResistanceOptions& options) {
  const int asked = !options.u.empty() + !options.pairs.empty() + options.diagonal + options.diameter;
  if (asked != 1 || (!options.u.empty() && options.v.empty()))
    throw UsageError("resistance", asked > 1 ? "several things are asked at once" : "which resistances?",
                     "two ids U V, --pairs FILE, --diagonal or --diameter");
  check_standard_input(options.graph, {options.pairs});
  ResistanceRun run(session, options);
  if (options.diagonal)
    run.diagonal();
  else if (options.diameter)
    run.diameter();
  else
    run.pairs();
  return kDone;
}

}  // namespace

void add_resistance(Program& program) {
  CLI::App* verb = add_verb(
      program.app, "resistance",
      "Effective resistances between nodes\n\n"
      "The graph is a network of conductors, an edge's weight its conductance. Between two nodes or many\n"
      "pairs, with a bound on the error; the diagonal of the pseudoinverse of the Laplacian; the largest\n"
      "resistance of all, as an interval. Infinite between components.",
      {"copse resistance graph.tsv a d",
       "copse tree graph.tsv -q | cut -f2,3 | tail -n +2 | "
       "copse resistance graph.tsv --pairs -",
       "copse resistance graph.tsv --diagonal --method trees --error 0.1",
       "copse resistance graph.tsv --diameter --json"});
  auto options = std::make_shared<ResistanceOptions>();
  add_graph_options(verb, options->graph)->required();
  add_option(verb, "U ID", options->u, "id of a node");
  add_option(verb, "V ID", options->v, "id of another");
  add_option(verb, "--pairs FILE", options->pairs, "pairs of ids, u<TAB>v a line; - is stdin");
  verb->add_flag("--diagonal", options->diagonal, "of every node: its entry on the diagonal of L^+");
  verb->add_flag("--diameter", options->diameter, "bounds of the largest resistance within a component");
  add_choice(verb, "--method",
             {{"auto", "auto"}, {"exact", "exact"}, {"trees", "trees"}, {"projection", "projection"}},
             options->method, "exact by solves, random spanning trees (diagonal), or random projection");
  add_option(
      verb, "--error E", options->error,
      "error wanted: relative for exact (1e-6) and projection (0.3), a share of the mean for trees (0.1)")
      ->check(in_range(1e-12, 1.0));
  add_option(verb, "--confidence C", options->confidence, "that all random errors hold together")
      ->check(in_range(0.01, 0.999999));
  add_option(verb, "--max-trees N", options->max_trees, "stop there, whatever the error")->check(positive());
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, resistance);
}

}  // namespace copse::cli
