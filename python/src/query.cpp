// SPDX-License-Identifier: Apache-2.0
#include "copse/queries/query.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "copse/evaluation/splits.hpp"
#include "copse/io/read.hpp"
#include "papers/bounds.hpp"

namespace copse::python {
namespace {

/// The nodes to ask about, their scores, and notes. `excluded` is by node: never to be asked about.
nb::tuple query(const std::string& strategy, const NamedGraph& graph, const VectorIn<Label>& labels,
                const VectorIn<bool>& excluded, std::size_t count, const OptionValues& options,
                const Settings& settings) {
  const QueryRow& row = query_row(strategy);
  check_count(labels.size(), graph.graph.num_nodes());
  std::vector<std::string> notes;
  const std::vector<Query> queries = run(
      settings,
      [&](const Execution& execution) {
        const auto made = row.make(graph.graph, options, execution);
        made->start(span_of(labels));
        for (NodeId node = 0; node < excluded.size() && node < graph.graph.num_nodes(); ++node)
          if (excluded.data()[node]) made->exclude(node);
        std::vector<Query> found = made->next(count);
        notes = made->notes();
        return found;
      },
      size_of(graph.graph));
  std::vector<NodeId> nodes;
  std::vector<double> scores;
  for (const Query& one : queries) {
    nodes.push_back(one.node);
    scores.push_back(one.score);
  }
  return nb::make_tuple(give(std::move(nodes)), give(std::move(scores)), notes);
}

nb::list strategies() {
  nb::list rows;
  for (const QueryRow& row : query_rows())
    rows.append(row_dict(row.name, row.idea, row.cost, row.paper, row.options));
  return rows;
}

nb::tuple interval(const Interval& value) { return nb::make_tuple(value.lower, value.upper); }

nb::dict facts_of(const LabellingFacts& facts) {
  nb::dict out;
  out["num_nodes"] = facts.num_nodes;
  out["num_edges"] = facts.num_edges;
  out["num_labelled"] = facts.num_labelled;
  out["num_classes"] = facts.num_classes;
  out["cut_size"] = facts.cut_size;
  out["cut_weight"] = facts.cut_weight;
  out["largest_cut_weight"] = facts.largest_cut_weight;
  out["expected_tree_cut"] = facts.expected_cut;
  out["expected_tree_cut_error"] = facts.expected_cut_error;
  out["expected_tree_resistance"] = facts.expected_resistance;
  out["shuffled_tree_cut"] = facts.shuffled_cut;
  out["balance"] = facts.balance;
  out["squared_norm"] = facts.squared_norm;
  out["energy"] = facts.energy;
  out["interpolant_norm"] = facts.interpolant_norm;
  out["resistance_diameter"] = interval(facts.resistance_diameter);
  out["geodesic_diameter"] = interval(facts.geodesic_diameter);
  out["algebraic_connectivity"] = facts.algebraic_connectivity;
  out["largest_diagonal"] = facts.largest_diagonal;
  out["connectivity_ratio"] = facts.connectivity_ratio;
  out["separation"] = facts.separating.separation;
  out["separating_cover"] = nb::make_tuple(facts.separating.least_sets, facts.separating.most_sets);
  out["component_separating_cover"] =
      nb::make_tuple(facts.separating.least_components, facts.separating.most_components);
  out["is_exact"] = facts.is_exact;
  return out;
}

nb::dict bounds(const NamedGraph& graph, const VectorIn<Label>& labels, int num_trees,
                const Settings& settings) {
  check_count(labels.size(), graph.graph.num_nodes());
  BoundOptions options;
  if (num_trees > 0) options.num_trees = num_trees;
  const BoundReport report = run(
      settings,
      [&](const Execution& execution) {
        return mistake_bounds(graph.graph, span_of(labels), options, execution);
      },
      size_of(graph.graph));
  nb::list rows;
  for (const Bound& bound : report.bounds) {
    nb::dict row;
    row["name"] = bound.name;
    row["source"] = bound.source;
    row["learner"] = bound.learner;
    row["value"] = bound.value;
    row["is_lower"] = bound.is_lower;
    row["in_expectation"] = bound.in_expectation;
    row["made_of"] = bound.made_of;
    rows.append(row);
  }
  nb::dict out;
  out["facts"] = facts_of(report.facts);
  out["bounds"] = rows;
  out["verdict"] = report.verdict;
  out["notes"] = report.notes;
  return out;
}

nb::tuple give_split(Split&& split) {
  return nb::make_tuple(give(std::move(split.train)), give(std::move(split.test)));
}

/// Nodes whose labels are given, and those whose labels are hidden: the splits of `copse evaluate`.
nb::tuple split(const VectorIn<Label>& labels, double fraction, bool stratified, std::uint64_t seed,
                std::uint64_t index) {
  return give_split(stratified ? stratified_split(span_of(labels), fraction, seed, index)
                               : random_split(span_of(labels), fraction, seed, index));
}

}  // namespace

void bind_query(nb::module_& m) {
  m.def("strategies", strategies);
  m.def("query", query);
  m.def("query_bytes", [](const std::string& strategy, std::uint64_t num_nodes, std::uint64_t num_arcs,
                          bool weighted, std::size_t num_classes, const OptionValues& options, int threads) {
    return query_row(strategy).bytes({num_nodes, num_arcs, weighted, num_classes, threads}, options);
  });
  m.def("mistake_bounds", bounds);
  m.def("split", split);
  m.def("split_per_class",
        [](const VectorIn<Label>& labels, std::uint64_t per_class, std::uint64_t seed, std::uint64_t index) {
          return give_split(per_class_split(span_of(labels), per_class, seed, index));
        });
}

}  // namespace copse::python
