// SPDX-License-Identifier: Apache-2.0
#include "papers/tree_sets.hpp"

#include <algorithm>
#include <numeric>

#include "copse/graph/build.hpp"
#include "copse/graph/subgraph.hpp"
#include "copse/points/similarity_graph.hpp"
#include "papers/data_sets.hpp"

namespace copse {

const char* const kTreeSetFiles =
    "usps, rcv1_2316 (points, labels.tsv), rcv1_10k, krogan, collins2007, yeast_vonmering, and if you have "
    "them combined and webspam (edges.tsv: u, v, weight; labels.tsv: node, label); else the carried digits";

namespace {

constexpr TreeKind kKinds[] = {TreeKind::rst, TreeKind::nwrst, TreeKind::dfst, TreeKind::mst, TreeKind::spt};

/// Weights as in the paper: exp(-d^2 / s_ij), s_ij the mean over both ends of their mean squared distance to
/// the k nearest.
Graph weighted_neighbors(const PointsView& points, std::uint32_t k, std::uint64_t seed) {
  SimilarityOptions options;
  options.neighbors.k = k;
  options.weighting = Weighting::local;
  return similarity_graph(points, options, {seed});
}

/// The one label of every node, if no node has several.
std::optional<Labels> single_labels(const MultiLabels& labels) {
  Labels single;
  for (const Label set : labels.set_of_node) {
    if (set != kNoLabel && labels.sets[set].size() != 1) return std::nullopt;
    single.of_node.push_back(set == kNoLabel ? kNoLabel : labels.sets[set].front());
  }
  single.classes = labels.classes;
  return single;
}

TreeSet with_labels(Graph graph, MultiLabels labels) {
  std::optional<Labels> single = single_labels(labels);
  return {std::move(graph), std::move(labels), std::move(single)};
}

TreeSet digit_set(const LabelledPoints& digits, std::uint32_t k, std::uint64_t seed) {
  MultiLabels labels;
  labels.set_of_node = digits.labels;
  for (Label digit = 0; digit < 10; ++digit) {
    labels.classes.intern(std::to_string(digit));
    labels.sets.push_back({digit});
  }
  return with_labels(weighted_neighbors(digits.points, k, seed), std::move(labels));
}

/// The yes/no questions of the `count` most frequent classes; a node of none of them answers no to all.
MultiLabels most_frequent(const MultiLabels& all, std::size_t count) {
  std::vector<std::size_t> frequency(all.classes.size());
  for (const Label set : all.set_of_node)
    if (set != kNoLabel)
      for (const Label label : all.sets[set]) ++frequency[label];
  std::vector<Label> order(all.classes.size());
  std::iota(order.begin(), order.end(), Label{0});
  std::stable_sort(order.begin(), order.end(), [&](Label a, Label b) { return frequency[a] > frequency[b]; });
  order.resize(std::min(count, order.size()));

  MultiLabels kept;
  for (const Label label : order) kept.classes.intern(all.classes.name(label));
  std::map<std::vector<Label>, Label> number;
  for (const Label set : all.set_of_node) {
    if (set == kNoLabel) {
      kept.set_of_node.push_back(kNoLabel);
      continue;
    }
    std::vector<Label> wanted;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (std::binary_search(all.sets[set].begin(), all.sets[set].end(), order[i]))
        wanted.push_back(static_cast<Label>(i));
    const auto [place, is_new] = number.try_emplace(wanted, static_cast<Label>(kept.sets.size()));
    if (is_new) kept.sets.push_back(wanted);
    kept.set_of_node.push_back(place->second);
  }
  return kept;
}

TreeSet largest_component(const LabelledGraph& read) {
  const Components components = connected_components(read.graph.graph);
  Subgraph part = component_subgraph(read.graph.graph, components, components.largest());
  MultiLabels labels = read.labels;
  labels.set_of_node.clear();
  for (const NodeId node : part.nodes) labels.set_of_node.push_back(read.labels.set_of_node[node]);
  return with_labels(std::move(part.graph), std::move(labels));
}

std::string neighbors_text(const std::string& points, std::uint32_t k) {
  return points + ", " + std::to_string(k) + " nearest neighbours with the paper's weights";
}

void add_digits(std::vector<SharedSet>& sets, const std::string& data, std::uint64_t seed) {
  const Lazy<LabelledPoints> points([data] { return digits(data); });
  const std::string name = data.empty() ? "digits" : "usps";
  const std::string text =
      data.empty() ? "the 1,797 digits of 8 x 8 that copse carries" : "9,298 digits of 16 x 16";
  for (const std::uint32_t k : {10u, 100u})
    sets.emplace_back(name + "-" + std::to_string(k), neighbors_text(text, k), seed,
                      [=] { return digit_set(points(), k, seed); });
}

void add_rcv1(std::vector<SharedSet>& sets, const std::string& data, std::uint64_t seed) {
  const Lazy<MultiLabelledPoints> points([=] { return read_labelled_points(data, "rcv1_2316", {seed}); });
  for (const std::uint32_t k : {10u, 100u})
    sets.emplace_back(
        "rcv1-" + std::to_string(k),
        neighbors_text("2,316 Reuters stories (the paper: the first 10,000), four most frequent topics", k),
        seed, [=] {
          return with_labels(weighted_neighbors(points().points, k, seed), most_frequent(points().labels, 4));
        });
}

struct GraphSet {
  const char* name;
  const char* text;
};

constexpr GraphSet kGraphSets[] = {
    {"rcv1_10k",
     "10,000 Reuters stories, 10 nearest neighbours without weights (the graph as its makers publish it), "
     "four topics"},
    {"krogan", "yeast proteins, interactions weighted by confidence, 17 functions; the largest component"},
    {"collins2007",
     "yeast proteins, another weighting, 17 functions; the largest component (in place of COMBINED)"},
    {"yeast_vonmering",
     "yeast proteins, combined evidence in two grades, 17 functions (in place of COMBINED)"},
    {"combined", "the paper's COMBINED"},
    {"webspam",
     "the host graph of the Web Spam Challenge; random splits of its labels, not the challenge's own"},
};

}  // namespace

SharedSet::SharedSet(std::string name, std::string text, std::uint64_t seed, std::function<TreeSet()> make)
    : name_(std::move(name)), text_(std::move(text)), set_(std::move(make)) {
  for (const TreeKind kind : kKinds) {
    const Lazy<TreeSampler> sampler(
        [set = set_, kind, seed] { return TreeSampler(set().graph, kind, {seed}); });
    for (std::size_t instance = 0; instance < num_instances(kind, kMostInstances); ++instance)
      trees_[kind].emplace_back([=] { return graph_of_tree(sampler().tree(instance)); });
  }
}

const Graph& SharedSet::tree(TreeKind kind, std::size_t instance) const {
  const std::vector<Lazy<Graph>>& trees = trees_.at(kind);
  return trees[instance % trees.size()]();
}

std::size_t num_instances(TreeKind kind, std::size_t wanted) {
  return kind == TreeKind::mst || kind == TreeKind::spt ? 1 : std::min(wanted, kMostInstances);
}

std::vector<SharedSet> tree_sets(const ExperimentSetup& setup, const Execution& execution) {
  std::vector<SharedSet> sets;
  const std::string& data = setup.data;
  const std::uint64_t seed = execution.seed;
  if (data.empty() || has_file(data, "usps", "points.npy")) add_digits(sets, data, seed);
  if (data.empty()) return sets;
  if (has_file(data, "rcv1_2316", "points.svm")) add_rcv1(sets, data, seed);
  for (const GraphSet& known : kGraphSets)
    if (has_file(data, known.name, "edges.tsv"))
      sets.emplace_back(known.name, known.text, seed, [data, name = std::string(known.name), seed] {
        return largest_component(read_labelled_graph(data, name, {seed}));
      });
  if (sets.empty())
    throw InputError{data, "has none of the data sets of this experiment",
                     std::string("one folder per set: ") + kTreeSetFiles};
  return sets;
}

}  // namespace copse
