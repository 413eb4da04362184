// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "copse/io/read.hpp"
#include "copse/points/points.hpp"
#include "copse/points/similarity_graph.hpp"
#include "trees/similarity_forest.hpp"

namespace copse::python {
namespace {

constexpr std::pair<const char*, SimilarityTree> kSimilarityTrees[] = {{"mst", SimilarityTree::mst},
                                                                       {"spt", SimilarityTree::spt}};
constexpr std::pair<const char*, Metric> kMetrics[] = {
    {"euclidean", Metric::euclidean}, {"cosine", Metric::cosine}, {"inner", Metric::inner}};
constexpr std::pair<const char*, NeighborMethod> kNeighborMethods[] = {
    {"automatic", NeighborMethod::automatic},
    {"auto", NeighborMethod::automatic},
    {"exact", NeighborMethod::exact},
    {"approximate", NeighborMethod::approximate}};
constexpr std::pair<const char*, Weighting> kWeightings[] = {{"local", Weighting::local},
                                                             {"none", Weighting::none},
                                                             {"gaussian", Weighting::gaussian},
                                                             {"heat", Weighting::heat},
                                                             {"similarity", Weighting::similarity}};
constexpr std::pair<const char*, Symmetrize> kSymmetrizes[] = {{"union", Symmetrize::either},
                                                               {"mutual", Symmetrize::mutual}};

/// What Python leaves out (None) keeps the default of the C++ struct.
struct NeighborChoices {
  std::optional<std::uint32_t> k;
  std::optional<std::string> metric, method, weights, symmetrize, tree;
  std::optional<double> radius, scale, recall;
  bool complete = false, connect = false;
  std::uint64_t max_bytes = 0;

  SimilarityOptions options(std::uint64_t num_points) const {
    SimilarityOptions out;
    NeighborOptions& neighbors = out.neighbors;
    // Asked for by number, k must be possible; as a default it gives way.
    if (!k && num_points > 1)
      neighbors.k = static_cast<std::uint32_t>(std::min<std::uint64_t>(neighbors.k, num_points - 1));
    neighbors.k = k.value_or(neighbors.k);
    neighbors.recall = recall.value_or(neighbors.recall);
    if (metric) neighbors.metric = chosen(kMetrics, "metric", *metric);
    if (method) neighbors.method = chosen(kNeighborMethods, "method", *method);
    if (weights) out.weighting = chosen(kWeightings, "weights", *weights);
    if (symmetrize) out.symmetrize = chosen(kSymmetrizes, "symmetrize", *symmetrize);
    if (complete && radius)
      throw UsageError{"complete", "a complete graph has all pairs, radius some", "give one of the two"};
    if (complete) out.rule = PairRule::complete;
    if (radius) out.rule = PairRule::radius;
    out.radius = radius.value_or(0);
    if (scale && !(*scale > 0))
      throw UsageError{"scale", "the scale of weights is a positive number",
                       "leave it out to have it chosen from the points"};
    out.scale = scale.value_or(0);
    out.connect = connect;
    out.max_bytes = max_bytes;
    return out;
  }
};

nb::dict report_of(const SimilarityOptions& options, const SimilarityReport& report) {
  nb::dict out;
  out["k"] = options.neighbors.k;
  out["exact"] = report.neighbors.method == NeighborMethod::exact;
  out["recall"] = report.neighbors.recall;
  out["scale"] = report.scale;
  out["num_coinciding"] = report.num_coinciding;
  out["num_not_similar"] = report.num_not_similar;
  out["num_joining_edges"] = report.num_joining_edges;
  out["num_components"] = report.num_components;
  out["num_squeezed"] = report.num_squeezed;
  return out;
}

nb::tuple make(const PointsView& points, NodeNames names, const NeighborChoices& choices,
               const Settings& settings) {
  if (choices.tree) {
    const SimilarityTree kind = chosen(kSimilarityTrees, "tree", *choices.tree);
    std::uint64_t num_clamped = 0;
    Graph tree = run(settings, [&](const Execution& execution) {
      check_points(points, "points", execution.threads);
      return similarity_tree(points, kind, choices.scale.value_or(0), execution, &num_clamped);
    });
    nb::dict report;
    report["num_clamped"] = num_clamped;
    return nb::make_tuple(NamedGraph{std::move(tree), std::move(names)}, report);
  }
  const SimilarityOptions options = choices.options(points.num_points);
  SimilarityReport report;
  Graph graph = run(settings, [&](const Execution& execution) {
    check_points(points, "points", execution.threads);
    return similarity_graph(points, options, execution, &report);
  });
  return nb::make_tuple(NamedGraph{std::move(graph), std::move(names)}, report_of(options, report));
}

nb::tuple of_dense(const MatrixIn<float>& points, const NeighborChoices& choices, const Settings& settings) {
  const PointsView view{points.shape(0), points.shape(1), {points.data(), points.size()}, {}, {}};
  return make(view, NodeNames::numbered(view.num_points), choices, settings);
}

nb::tuple of_sparse(const VectorIn<std::uint64_t>& offsets, const VectorIn<std::uint32_t>& columns,
                    const VectorIn<float>& values, std::uint64_t num_columns, const NeighborChoices& choices,
                    const Settings& settings) {
  const PointsView view{offsets.size() - 1, num_columns, span_of(values), span_of(offsets), span_of(columns)};
  return make(view, NodeNames::numbered(view.num_points), choices, settings);
}

nb::tuple of_file(const std::string& path, const NeighborChoices& choices, const Settings& settings) {
  const NamedPoints points =
      run(settings, [&](const Execution& execution) { return read_points(path, {}, execution); });
  return make(points.points, points.names, choices, settings);
}

}  // namespace

void bind_points(nb::module_& m) {
  nb::class_<NeighborChoices>(m, "NeighborChoices")
      .def(nb::init<>())
      .def_rw("k", &NeighborChoices::k, nb::arg().none())
      .def_rw("recall", &NeighborChoices::recall, nb::arg().none())
      .def_rw("metric", &NeighborChoices::metric, nb::arg().none())
      .def_rw("method", &NeighborChoices::method, nb::arg().none())
      .def_rw("weights", &NeighborChoices::weights, nb::arg().none())
      .def_rw("symmetrize", &NeighborChoices::symmetrize, nb::arg().none())
      .def_rw("radius", &NeighborChoices::radius, nb::arg().none())
      .def_rw("scale", &NeighborChoices::scale, nb::arg().none())
      .def_rw("tree", &NeighborChoices::tree, nb::arg().none())
      .def_rw("complete", &NeighborChoices::complete)
      .def_rw("connect", &NeighborChoices::connect)
      .def_rw("max_bytes", &NeighborChoices::max_bytes);
  m.def("neighbors_of_dense", of_dense);
  m.def("neighbors_of_sparse", of_sparse);
  m.def("neighbors_of_file", of_file);
  m.def("is_points_file", is_points_file);
}

}  // namespace copse::python
