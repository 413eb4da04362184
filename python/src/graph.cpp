// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "arrow.hpp"
#include "bindings.hpp"
#include "copse/graph/components.hpp"
#include "copse/graph/statistics.hpp"
#include "copse/io/read.hpp"
#include "copse/io/read_labels.hpp"
#include "copse/laplacian/spectral_embedding.hpp"
#include "csr_graph.hpp"
#include "graph/edge_collector.hpp"
#include "papers/generators.hpp"

namespace copse::python {
namespace {

constexpr std::pair<const char*, Duplicates> kDuplicates[] = {{"sum", Duplicates::sum},
                                                              {"max", Duplicates::max},
                                                              {"min", Duplicates::min},
                                                              {"error", Duplicates::error}};

nb::dict report_of(const BuildReport& report) {
  nb::dict out;
  out["num_listed"] = report.num_listed;
  out["num_self_loops"] = report.num_self_loops;
  out["num_zero_weights"] = report.num_zero_weights;
  out["num_merged"] = report.num_merged;
  out["num_cancelled"] = report.num_cancelled;
  out["listed_both_ways"] = report.listed_both_ways;
  return out;
}

NodeNames names_of(const std::vector<std::string>& names) {
  struct Text {
    std::vector<std::uint64_t> ends;
    std::vector<char> bytes;
  };
  auto text = std::make_shared<Text>();
  for (const std::string& name : names) {
    check_name(name, "graph");
    text->bytes.insert(text->bytes.end(), name.begin(), name.end());
    text->ends.push_back(text->bytes.size());
  }
  return NodeNames::strings(text->ends, text->bytes, text);
}

// What Python lent: given back under the interpreter's lock, whichever thread drops the graph. The object
// itself, not an nb::ndarray of it: NumPy does not take those back once the interpreter has begun to end.
std::shared_ptr<const void> keep(const nb::object& lent) {
  return {new nb::object(lent), [](const void* p) {
            if (const nb::detail::cleanup_guard guard{}) delete static_cast<const nb::object*>(p);
          }};
}

/// `lent` keeps the arrays alive while the graph uses them where they lie; None: they are copied.
nb::tuple from_csr(const AnyVectorIn& indptr, const AnyVectorIn& indices,
                   const std::optional<AnyVectorIn>& data, const nb::object& lent,
                   const std::string& duplicates, bool is_signed, const Settings& settings) {
  const CsrArrays arrays{indptr, indices, data.value_or(AnyVectorIn{})};
  const BuildOptions options{chosen(kDuplicates, "duplicates", duplicates), is_signed};
  std::shared_ptr<const void> owner = lent.is_none() ? nullptr : keep(lent);
  CsrGraph made = run(
      settings, [&](const Execution& execution) { return graph_of_csr(arrays, owner, options, execution); },
      indptr.size() + indices.size());
  owner.reset();
  const NodeId num_nodes = made.graph.num_nodes();
  return nb::make_tuple(NamedGraph{std::move(made.graph), NodeNames::numbered(num_nodes)},
                        report_of(made.report), made.is_view);
}

nb::tuple from_edges(const VectorIn<NodeId>& u, const VectorIn<NodeId>& v,
                     const std::optional<VectorIn<float>>& weight, std::uint64_t num_nodes,
                     const std::string& duplicates, bool is_signed, const Settings& settings) {
  const BuildOptions options{chosen(kDuplicates, "duplicates", duplicates), is_signed};
  if (u.size() != v.size() || (weight && weight->size() != u.size()))
    throw UsageError{"edges", "the arrays differ in length", "give one entry per edge in each"};
  if (num_nodes > kMaxNodes)
    throw UsageError{"num_nodes", with_commas(num_nodes) + " nodes are more than copse can number",
                     "a graph may have up to " + with_commas(kMaxNodes)};
  BuildReport report;
  Graph graph = run(settings, [&](const Execution& execution) {
    std::vector<EdgeChunk> chunks(1);
    chunks[0].u.assign(u.data(), u.data() + u.size());
    chunks[0].v.assign(v.data(), v.data() + v.size());
    if (weight) chunks[0].weight.assign(weight->data(), weight->data() + weight->size());
    return build_graph(std::move(chunks), num_nodes, options, execution, "edges", &report);
  });
  const auto nodes = graph.num_nodes();
  return nb::make_tuple(NamedGraph{std::move(graph), NodeNames::numbered(nodes)}, report_of(report));
}

/// Core, report, and the ids where they are integers with gaps.
nb::tuple graph_of_table(ArrowTable& table, std::size_t source, std::size_t target,
                         std::optional<std::size_t> weight, const std::string& duplicates, bool is_signed,
                         const Settings& settings) {
  const BuildOptions options{chosen(kDuplicates, "duplicates", duplicates), is_signed};
  BuildReport report;
  ArrowTable::Edges edges;
  Graph graph = run(settings, [&](const Execution& execution) {
    edges = table.edges(source, target, weight, is_signed, execution);
    try {
      return build_graph(std::move(edges.chunks), edges.names.size(), options, execution, "table", &report);
    } catch (const PairError& error) {
      throw error.with_names(edges.names.name(error.u), edges.names.name(error.v));
    }
  });
  nb::object integers = nb::none();
  if (!edges.integers.empty()) integers = nb::cast(give(std::move(edges.integers)));
  return nb::make_tuple(NamedGraph{std::move(graph), std::move(edges.names)}, report_of(report), integers);
}

nb::tuple read(const std::string& path, const std::string& format, const std::string& duplicates,
               const std::string& nodes, bool is_signed,
               const std::vector<std::pair<std::string, std::string>>& columns, const Settings& settings) {
  ReadOptions options;
  options.table.columns = columns;
  options.is_signed = is_signed;
  options.format = chosen(graph_formats(), "format", format);
  options.duplicates = chosen(kDuplicates, "duplicates", duplicates);
  options.nodes_path = nodes;
  ReadReport report;
  NamedGraph graph = run(
      settings, [&](const Execution& execution) { return read_graph(path, options, execution, &report); });
  return nb::make_tuple(std::move(graph), report_of(report.build));
}

// A graph's array as NumPy sees it: not a copy, not to be changed. The graph is kept alive.
template <class Seen, class T>
nb::ndarray<nb::numpy, const Seen> show(std::span<const T> values, const nb::object& owner) {
  static_assert(sizeof(Seen) == sizeof(T));
  return nb::ndarray<nb::numpy, const Seen>(values.data(), {values.size()}, owner);
}

nb::object weights_of(const GraphView& view, const nb::object& self) {
  if (!view.is_signed() && !view.is_weighted()) return nb::none();
  if (!view.is_signed()) return nb::cast(show<float>(view.weights, self));
  std::vector<float> weights(view.num_arcs());
  for (EdgeIndex arc = 0; arc < view.num_arcs(); ++arc) weights[arc] = view.signed_weight(arc);
  return nb::cast(give(std::move(weights)));
}

// Weights are a view but where there are signs, which they then have. SciPy wants signed indices, both of one
// type: int32 ones are a view of ours, and stay so while they fit.
nb::tuple arrays_of(const nb::object& self) {
  const GraphView& view = nb::cast<const NamedGraph&>(self).graph;
  return nb::make_tuple(show<std::int64_t>(view.offsets, self), show<std::int32_t>(view.neighbors, self),
                        weights_of(view, self));
}

// The same edges, weights and signs.
bool same_edges(const NamedGraph& self, const NamedGraph& other) {
  const GraphView &a = self.graph, &b = other.graph;
  return std::ranges::equal(a.offsets, b.offsets) && std::ranges::equal(a.neighbors, b.neighbors) &&
         std::ranges::equal(a.weights, b.weights) && std::ranges::equal(a.negative, b.negative);
}

std::vector<std::string> node_names(const NamedGraph& self) {
  std::vector<std::string> names;
  names.reserve(self.names.size());
  for (std::uint64_t i = 0; i < self.names.size(); ++i)
    names.push_back(self.names.name(static_cast<NodeId>(i)));
  return names;
}

nb::dict statistics(const NamedGraph& self, int threads) {
  const GraphStatistics s = run_here([&] { return graph_statistics(self.graph, usable_threads(threads)); });
  nb::dict out;
  out["num_nodes"] = s.num_nodes;
  out["num_edges"] = s.num_edges;
  out["num_isolated"] = s.num_isolated;
  out["num_components"] = s.num_components;
  out["largest_component"] = s.largest_component;
  out["min_degree"] = s.min_degree;
  out["median_degree"] = s.median_degree;
  out["mean_degree"] = s.mean_degree;
  out["max_degree"] = s.max_degree;
  out["is_weighted"] = s.is_weighted;
  out["min_weight"] = s.min_weight;
  out["median_weight"] = s.median_weight;
  out["max_weight"] = s.max_weight;
  out["total_weight"] = s.total_weight;
  out["is_signed"] = s.is_signed;
  if (s.is_signed) {
    out["num_negative"] = s.num_negative;
    out["num_balanced_components"] = s.num_balanced_components;
    out["num_frustrated"] = s.num_frustrated;
  }
  out["num_bytes"] = s.num_bytes;
  return out;
}

nb::tuple labels_of_file(const NamedGraph& self, const std::string& path) {
  LabelReadReport report;
  Labels labels = run_here([&] { return read_labels(path, self.names, {}, &report); });
  return nb::make_tuple(give(std::move(labels.of_node)), labels.classes.names(), report.num_unknown_nodes,
                        report.unknown_examples);
}

nb::list generators() {
  nb::list rows;
  for (const GeneratorRow& row : all_generator_rows()) {
    nb::list parameters;
    for (const GeneratorParameter& p : row.parameters) {
      nb::dict out;
      out["name"] = p.name;
      out["default"] = p.is_whole ? nb::object(nb::int_(static_cast<std::int64_t>(p.default_value)))
                                  : nb::object(nb::float_(p.default_value));
      out["help"] = p.help;
      out["low"] = p.low;
      out["high"] = p.high;
      out["is_whole"] = p.is_whole;
      parameters.append(out);
    }
    nb::dict out;
    out["name"] = row.name;
    out["description"] = row.description;
    out["parameters"] = parameters;
    rows.append(out);
  }
  return rows;
}

nb::tuple generate(const std::string& name, const std::vector<std::pair<std::string, double>>& parameters,
                   const Settings& settings) {
  GeneratedGraph made = run(
      settings, [&](const Execution& execution) { return generate_any_graph(name, parameters, execution); });
  const NodeId nodes = made.graph.num_nodes();
  return nb::make_tuple(NamedGraph{std::move(made.graph), NodeNames::numbered(nodes)},
                        give(std::move(made.labels.of_node)), made.labels.classes.names());
}

}  // namespace

void bind_graph(nb::module_& m) {
  nb::class_<NamedGraph>(m, "Graph")
      .def_prop_ro("num_nodes", [](const NamedGraph& g) { return g.graph.num_nodes(); })
      .def_prop_ro("num_edges", [](const NamedGraph& g) { return g.graph.view().num_edges(); })
      .def_prop_ro("is_weighted", [](const NamedGraph& g) { return g.graph.view().is_weighted(); })
      .def_prop_ro("is_signed", [](const NamedGraph& g) { return g.graph.view().is_signed(); })
      .def_prop_ro("first_number",
                   [](const NamedGraph& g) -> std::optional<std::uint64_t> {
                     if (g.names.is_numbered()) return g.names.first_number();
                     return std::nullopt;
                   })
      .def("node_names", node_names)
      .def("find", [](const NamedGraph& g, const std::string& name) { return g.names.find(name); })
      .def("named",
           [](const NamedGraph& g, const std::vector<std::string>& names) {
             return NamedGraph{g.graph, names_of(names)};
           })
      .def("numbered_from",
           [](const NamedGraph& g, std::uint64_t first) {
             return NamedGraph{g.graph, NodeNames::numbered(g.graph.num_nodes(), first)};
           })
      .def_static("arrays", arrays_of)
      .def("same_edges", [](const NamedGraph& a,
                            const NamedGraph& b) { return run_here([&] { return same_edges(a, b); }); })
      .def("statistics", statistics)
      .def("components",
           [](const NamedGraph& g, int threads) {
             return give(
                 run_here([&] { return connected_components(g.graph, usable_threads(threads)).of_node; }));
           })
      .def("read_labels", labels_of_file);
  m.def("graph_from_csr", from_csr, nb::arg("indptr"), nb::arg("indices"), nb::arg("data").none(),
        nb::arg("lent").none(), nb::arg("duplicates"), nb::arg("is_signed"), nb::arg("settings"));
  m.def("graph_from_edges", from_edges, nb::arg("u"), nb::arg("v"), nb::arg("weight").none(),
        nb::arg("num_nodes"), nb::arg("duplicates"), nb::arg("is_signed"), nb::arg("settings"));
  nb::class_<ArrowTable>(m, "ArrowTable")
      .def(nb::init<nb::object>())
      .def_prop_ro("columns", &ArrowTable::columns)
      .def("kind", &ArrowTable::kind)
      .def("graph", graph_of_table, nb::arg("source"), nb::arg("target"), nb::arg("weight").none(),
           nb::arg("duplicates"), nb::arg("is_signed"), nb::arg("settings"));
  m.def("read_graph", read);
  m.def("write_graph",
        [](const std::string& path, const NamedGraph& graph, bool with_embedding, const Settings& settings) {
          run(settings, [&](const Execution& execution) {
            if (!with_embedding) return write_graph(path, graph, execution);
            write_graph(path, {keep_embedding(graph.graph, {}, execution), graph.names}, execution);
          });
        });
  m.def("generators", generators);
  m.def("generate", generate);
}

}  // namespace copse::python
