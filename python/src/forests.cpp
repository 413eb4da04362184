// SPDX-License-Identifier: Apache-2.0
//
// The stages of trees/forest_builder.hpp and learners/forest_committee.hpp on columns, for copse.forests:
// every function is a map or a reduction that a cluster may run anywhere, by one thread.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <numeric>
#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "copse/learners/forest_committee.hpp"
#include "copse/trees/forest_builder.hpp"

namespace copse::python {
namespace {

using Ids = VectorIn<std::uint64_t>;
using Weights = std::optional<VectorIn<float>>;
using Occurrences = std::optional<VectorIn<std::uint32_t>>;

EdgeBlock<std::uint64_t> block_of(const Ids& u, const Ids& v, const Weights& weight,
                                  const Occurrences& occurrence) {
  return {span_of(u), span_of(v), weight ? span_of(*weight) : std::span<const float>{},
          occurrence ? span_of(*occurrence) : std::span<const std::uint32_t>{}};
}

/// Columns tree, u, v, weight, occurrence; the last two None where the stream has none.
nb::tuple columns(const TreeGroup& trees, std::vector<KeptEdges>&& kept, bool has_weights,
                  bool has_occurrences) {
  std::vector<std::uint32_t> tree;
  KeptEdges all;
  for (std::uint32_t t = 0; t < kept.size(); ++t) {
    tree.insert(tree.end(), kept[t].size(), trees.first + t);
    all.append(kept[t]);
    kept[t] = {};
  }
  return nb::make_tuple(give(std::move(tree)), give(std::move(all.u)), give(std::move(all.v)),
                        has_weights ? nb::cast(give(std::move(all.weight))) : nb::none(),
                        has_occurrences ? nb::cast(give(std::move(all.occurrence))) : nb::none());
}

void check_group(std::uint32_t num_trees) {
  if (num_trees < 1 || num_trees > kMostTreesAtOnce)
    throw UsageError{"num_trees", std::to_string(num_trees) + " trees at once are not 1 to 32",
                     "build larger committees in groups"};
}

nb::tuple small_key_edges(const Ids& u, const Ids& v, const Weights& weight, const Occurrences& occurrence,
                          std::uint64_t num_nodes, std::uint64_t seed, std::uint32_t first_tree,
                          std::uint32_t num_trees, double bound) {
  check_group(num_trees);
  const TreeGroup trees{seed, first_tree, num_trees};
  std::vector<KeptEdges> kept(num_trees);
  run_here([&] { keep_small_keys(block_of(u, v, weight, occurrence), num_nodes, trees, bound, kept); });
  return columns(trees, std::move(kept), weight.has_value(), occurrence.has_value());
}

/// The component array from Python: `component[c] == c`, links point down.
std::vector<NodeId> component_of(const std::optional<VectorIn<std::uint32_t>>& component,
                                 std::uint64_t num_nodes) {
  if (num_nodes > kMaxNodes)
    throw UsageError{"num_nodes", with_commas(num_nodes) + " are more than " + with_commas(kMaxNodes),
                     "leave out nodes without edges, or take a part of the graph"};
  std::vector<NodeId> result(num_nodes);
  if (!component) {
    std::iota(result.begin(), result.end(), NodeId{0});
    return result;
  }
  const auto given = span_of(*component);
  if (given.size() != num_nodes)
    throw UsageError{"component", "has " + with_commas(given.size()) + " entries",
                     "give one for each of the " + with_commas(num_nodes) + " nodes"};
  std::copy(given.begin(), given.end(), result.begin());
  for (std::size_t u = 0; u < result.size(); ++u)
    if (result[u] > u || result[result[u]] != result[u])
      throw UsageError{"component", "entry " + std::to_string(u) + " is not the smallest node of a component",
                       "give what spanning_edges returned, as it was"};
  return result;
}

KeptEdges kept_of(const EdgeBlock<std::uint64_t>& block, std::uint64_t num_nodes) {
  std::vector<KeptEdges> kept(1);
  keep_small_keys(block, num_nodes, {}, std::numeric_limits<double>::infinity(), kept);  // checks, keeps all
  return std::move(kept[0]);
}

nb::tuple spanning(const Ids& u, const Ids& v, const Weights& weight, const Occurrences& occurrence,
                   std::uint64_t num_nodes, std::uint64_t seed, std::uint32_t tree,
                   const std::optional<VectorIn<std::uint32_t>>& component) {
  std::vector<NodeId> components = component_of(component, num_nodes);
  KeptEdges forest = run_here([&] {
    KeptEdges edges = kept_of(block_of(u, v, weight, occurrence), num_nodes);
    spanning_edges(edges, seed, tree, components, {});
    return edges;
  });
  return nb::make_tuple(give(std::move(forest.u)), give(std::move(forest.v)),
                        weight ? nb::cast(give(std::move(forest.weight))) : nb::none(),
                        occurrence ? nb::cast(give(std::move(forest.occurrence))) : nb::none(),
                        give(std::move(components)));
}

/// The components of a group of trees, and which nodes are outside their giants.
class Crossing {
 public:
  Crossing(const MatrixIn<std::uint32_t>& components, std::uint32_t first_tree)
      : given_(components), first_(first_tree) {
    check_group(static_cast<std::uint32_t>(components.shape(0)));
    for (std::size_t t = 0; t < components.shape(0); ++t)
      rows_.emplace_back(components.data() + t * components.shape(1), components.shape(1));
    run_here([&] { outside_.emplace(rows_); });
  }
  nb::tuple edges(const Ids& u, const Ids& v, const Weights& weight, const Occurrences& occurrence) const {
    std::vector<KeptEdges> kept(rows_.size());
    run_here([&] { keep_crossing(block_of(u, v, weight, occurrence), rows_, *outside_, kept); });
    return columns({1, first_, static_cast<std::uint32_t>(rows_.size())}, std::move(kept), weight.has_value(),
                   occurrence.has_value());
  }

 private:
  MatrixIn<std::uint32_t> given_;  // keeps the array
  std::uint32_t first_;
  std::vector<std::span<const NodeId>> rows_;
  std::optional<OutsideGiants> outside_;
};

ForestRule rule_of(const std::string& name) {
  if (name == "wta") return ForestRule::wta;
  if (name == "tree_cut") return ForestRule::tree_cut;
  throw UsageError{"learner", quoted(name) + " does not learn from forests", "choose wta or tree_cut"};
}

/// What is to be a forest, sorted by key whatever became of its order on the way, and its components.
SpanningForest forest_of(const EdgeBlock<std::uint64_t>& block, std::uint64_t num_nodes, std::uint64_t seed,
                         std::uint32_t tree) {
  std::vector<NodeId> component = component_of({}, num_nodes);
  KeptEdges edges = kept_of(block, num_nodes);
  spanning_edges(edges, seed, tree, component, {});
  if (edges.size() != block.u.size())
    throw InputError{"forest", "tree " + std::to_string(tree) + " has cycles or loops",
                     "give the edges that spanning_edges returned, of both scans"};
  return root_forest(edges, !block.weight.empty(), component, tree);
}

nb::tuple tree_votes(const Ids& u, const Ids& v, const Weights& weight, const Occurrences& occurrence,
                     std::uint64_t seed, std::uint32_t tree, const VectorIn<std::uint16_t>& labels,
                     std::size_t num_classes, const std::string& learner, float lowest, float highest) {
  const ForestRule rule = rule_of(learner);
  for (const Label label : span_of(labels))
    if (label != kNoLabel && label >= num_classes)
      throw UsageError{"labels", std::to_string(label) + " is not below num_classes",
                       "number the classes from 0; 65535 is unlabelled"};
  TreeVotes votes = run_here([&] {
    SpanningForest forest = forest_of(block_of(u, v, weight, occurrence), labels.size(), seed, tree);
    const WeightRange range = weight ? WeightRange{lowest, highest} : WeightRange{};
    return votes_of_tree(rule, std::move(forest), tree, span_of(labels), num_classes, range, {.seed = seed});
  });
  return nb::make_tuple(give(std::move(votes.label)), give(std::move(votes.nearness)));
}

nb::tuple decide(const MatrixIn<std::uint16_t>& labels, const MatrixIn<std::uint16_t>& nearness,
                 const VectorIn<std::uint64_t>& class_counts) {
  if (labels.shape(0) != nearness.shape(0) || labels.shape(1) != nearness.shape(1))
    throw UsageError{"nearness", "has another shape than labels", "give both as (nodes, trees)"};
  ClassPrior prior;
  for (std::size_t c = 0; c < class_counts.size(); ++c)
    prior.add(static_cast<Label>(c), class_counts.data()[c]);
  const std::size_t nodes = labels.shape(0), trees = labels.shape(1);
  std::vector<Label> label(nodes);
  std::vector<double> confidence(nodes);
  std::vector<std::uint8_t> reached(nodes);
  for (std::size_t i = 0; i < nodes * trees; ++i)
    if (nearness.data()[i] != 0 && labels.data()[i] >= prior.num_classes())
      throw UsageError{"labels", std::to_string(labels.data()[i]) + " is no class of class_counts",
                       "count all classes"};
  for (std::size_t node = 0; node < nodes; ++node) {
    const Prediction answer =
        decide_votes({labels.data() + node * trees, trees}, {nearness.data() + node * trees, trees}, prior);
    label[node] = answer.label;
    confidence[node] = answer.confidence;
    reached[node] = answer.reached ? 1 : 0;
  }
  return nb::make_tuple(give(std::move(label)), give(std::move(confidence)), give(std::move(reached)));
}

}  // namespace

void bind_forests(nb::module_& m) {
  m.def("weight_bins", [](const VectorIn<float>& weights) {
    std::vector<std::uint64_t> bins(kWeightBins);
    count_weights(span_of(weights), bins);
    return give(std::move(bins));
  });
  m.def("key_bound", [](std::uint64_t num_nodes, std::uint64_t num_edges,
                        const std::optional<VectorIn<std::uint64_t>>& bins, double per_node) {
    return key_bound(num_nodes, num_edges, bins ? span_of(*bins) : std::span<const std::uint64_t>{},
                     per_node);
  });
  m.attr("candidates_per_node") = kCandidatesPerNode;
  m.def("small_key_edges", small_key_edges);
  m.def("spanning_edges", spanning);
  nb::class_<Crossing>(m, "Crossing")
      .def(nb::init<const MatrixIn<std::uint32_t>&, std::uint32_t>())
      .def("edges", &Crossing::edges);
  m.def("tree_votes", tree_votes);
  m.def("decide_votes", decide);
}

}  // namespace copse::python
