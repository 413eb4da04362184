// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>

#include "arrays.hpp"
#include "bindings.hpp"
#include "copse/io/read.hpp"
#include "copse/laplacian/resistance.hpp"

namespace copse::python {
namespace {

constexpr std::pair<const char*, SolveMethod> kSolveMethods[] = {
    {"automatic", SolveMethod::automatic},
    {"auto", SolveMethod::automatic},
    {"jacobi", SolveMethod::jacobi},
    {"approximate_cholesky", SolveMethod::approximate_cholesky},
    {"approximate_cholesky2", SolveMethod::approximate_cholesky2},
    {"exact", SolveMethod::exact}};

constexpr std::pair<const char*, SolveMeasure> kSolveMeasures[] = {
    {"backward_error", SolveMeasure::backward_error}, {"relative_residual", SolveMeasure::relative_residual}};

const char* name_of(SolveMethod method) {
  for (const auto& [name, value] : kSolveMethods)
    if (value == method) return name;
  return "";
}

nb::dict report_of(const SolveReport& report) {
  nb::dict out;
  out["method"] = name_of(report.method);
  out["iterations"] = report.iterations;
  out["backward_error"] = report.backward_error;
  out["relative_residual"] = report.relative_residual;
  out["converged"] = report.converged;
  out["note"] = report.note();
  return out;
}

nb::tuple solve(const NamedGraph& graph, const MatrixIn<double>& b, const VectorIn<NodeId>& grounded,
                const std::string& method, const std::string& measure, const std::optional<double>& tolerance,
                const std::optional<int>& max_iterations, const Settings& settings) {
  SolveOptions options = SolveOptions{}.expecting(b.shape(1));
  options.method = chosen(kSolveMethods, "method", method);
  options.measure = chosen(kSolveMeasures, "measure", measure);
  options.tolerance = tolerance.value_or(options.tolerance);
  options.max_iterations = max_iterations.value_or(options.max_iterations);
  check_rows("b", b.shape(0), graph.graph.num_nodes());
  check_nodes(span_of(grounded), graph.graph.num_nodes());
  std::vector<double> x(b.size());
  const SolveReport report = run(
      settings,
      [&](const Execution& execution) {
        LaplacianSolver solver(graph.graph, options, execution, span_of(grounded));
        return solver.solve({b.data(), b.size()}, x, b.shape(1));
      },
      size_of(graph.graph));
  return nb::make_tuple(give<double>(std::move(x), {b.shape(0), b.shape(1)}), report_of(report));
}

std::vector<NodePair> pairs_of(const MatrixIn<NodeId>& pairs, NodeId num_nodes) {
  check_nodes({pairs.data(), pairs.size()}, num_nodes);
  std::vector<NodePair> out(pairs.shape(0));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {pairs.data()[2 * i], pairs.data()[2 * i + 1]};
  return out;
}

/// What `estimate` says of a graph.
template <class Estimate>
nb::tuple estimated(const NamedGraph& graph, const Settings& settings, Estimate&& estimate) {
  Estimates found = run(settings, estimate, size_of(graph.graph));
  return nb::make_tuple(give(std::move(found.value)), give(std::move(found.error)), report_of(found.report));
}

nb::tuple exact_pairs(const NamedGraph& graph, const MatrixIn<NodeId>& pairs, double error,
                      const Settings& settings) {
  const std::vector<NodePair> asked = pairs_of(pairs, graph.graph.num_nodes());
  return estimated(graph, settings, [&](const Execution& execution) {
    return exact_resistances(graph.graph, asked, error, {}, execution);
  });
}

nb::tuple exact_diagonal_of(const NamedGraph& graph, double error, const Settings& settings) {
  return estimated(graph, settings, [&](const Execution& execution) {
    return exact_diagonal(graph.graph, error, {}, execution);
  });
}

// Of the estimate: the truth is within a factor 1 - e ... 1 + e of it.
double share_of(double e) { return e < 1 ? e / (1 - e) : INFINITY; }

/// value(sketch, i) for every question.
template <class Value>
nb::tuple projected(const NamedGraph& graph, std::size_t questions, double error, double confidence,
                    const Settings& settings, Value&& value) {
  return estimated(graph, settings, [&](const Execution& execution) {
    const int k = ResistanceSketch::projections_for(error, confidence, questions);
    const ResistanceSketch sketch(graph.graph, k, {}, execution);
    const double share = share_of(ResistanceSketch::relative_error(k, confidence, questions));
    Estimates found{{}, {}, confidence, sketch.report()};
    for (std::size_t i = 0; i < questions; ++i) {
      found.value.push_back(value(sketch, i));
      found.error.push_back(std::isinf(found.value.back()) ? 0 : share * found.value.back());
    }
    return found;
  });
}

nb::tuple projected_pairs(const NamedGraph& graph, const MatrixIn<NodeId>& pairs, double error,
                          double confidence, const Settings& settings) {
  const std::vector<NodePair> asked = pairs_of(pairs, graph.graph.num_nodes());
  return projected(graph, asked.size(), error, confidence, settings,
                   [&](const ResistanceSketch& sketch, std::size_t i) {
                     return sketch.resistance(asked[i].u, asked[i].v);
                   });
}

nb::tuple projected_diagonal(const NamedGraph& graph, double error, double confidence,
                             const Settings& settings) {
  return projected(
      graph, graph.graph.num_nodes(), error, confidence, settings,
      [](const ResistanceSketch& sketch, std::size_t i) { return sketch.diagonal(static_cast<NodeId>(i)); });
}

nb::tuple tree_diagonal_of(const NamedGraph& graph, const std::optional<double>& error, double confidence,
                           const std::optional<std::uint64_t>& max_trees, const Settings& settings) {
  TreeEstimateOptions options;
  options.error = error.value_or(options.error);
  options.confidence = confidence;
  options.max_trees = max_trees.value_or(options.max_trees);
  RootResistances found = run(
      settings, [&](const Execution& execution) { return tree_diagonal(graph.graph, options, execution); });
  nb::dict report = report_of(found.report);
  report["num_trees"] = found.num_trees;
  report["reached"] = found.reached;
  report["num_inexact_trees"] = found.num_inexact_trees;
  return nb::make_tuple(give(std::move(found.value)), give(std::move(found.error)), report);
}

nb::tuple diameter(const NamedGraph& graph, const Settings& settings) {
  const ResistanceDiameter found = run(
      settings, [&](const Execution& execution) { return resistance_diameter(graph.graph, {}, execution); });
  return nb::make_tuple(found.lower, found.upper);
}

}  // namespace

void bind_kernels(nb::module_& m) {
  m.attr("exact_diagonal_nodes") = kExactDiameterNodes;  // up to here the CLI, too, is exact by default
  m.attr("default_confidence") = TreeEstimateOptions{}.confidence;
  m.def("laplacian_solve", solve);
  m.def("exact_resistances", exact_pairs);
  m.def("projected_resistances", projected_pairs);
  m.def("exact_diagonal", exact_diagonal_of);
  m.def("projected_diagonal", projected_diagonal);
  m.def("tree_diagonal", tree_diagonal_of);
  m.def("resistance_diameter", diameter);
}

}  // namespace copse::python
