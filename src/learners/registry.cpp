// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/registry.hpp"

#include "copse/learners/graph_perceptron.hpp"
#include "copse/learners/halving.hpp"
#include "copse/learners/kernel_ridge.hpp"
#include "copse/learners/label_propagation.hpp"
#include "copse/learners/majority_vote.hpp"
#include "copse/learners/nearest_neighbor.hpp"
#include "copse/learners/poisson.hpp"
#include "copse/learners/pounce.hpp"
#include "copse/learners/projection.hpp"
#include "copse/learners/tree_cut.hpp"
#include "copse/learners/wta.hpp"
#include "learners/cover_learner.hpp"
#include "learners/signs.hpp"

namespace copse {
namespace {

/// What a learner does with the signs of a graph: learns from them itself, or on the double cover. Who is not
/// listed refuses them.
enum class SignUse { refused, itself, cover };

template <class L, class... Learners>
inline constexpr bool kIsOneOf = (std::is_same_v<L, Learners> || ...);

template <class L>
SignUse sign_use(const typename L::Options& options) {
  if constexpr (kIsOneOf<L, Wta, TreeCut, GraphPerceptron, Projection, OneProjection, CyclicProjection,
                         MinNormInterpolation, Pounce, Halving>)
    return SignUse::itself;
  if constexpr (kIsOneOf<L, LabelPropagation, Poisson, NearestNeighbor, MajorityVote>) return SignUse::cover;
  if constexpr (kIsOneOf<L, KernelRidge>)
    return options.on == KernelRidgeOptions::On::graph ? SignUse::cover : SignUse::itself;
  return (void)options, SignUse::refused;
}

void refuse_signed_graph(const GraphView& graph, const std::string& name) {
  std::string known;
  for (const LearnerRow& row : learner_rows())
    if (row.signed_graphs) known += (known.empty() ? "" : ", ") + row.name;
  refuse_signs(graph, name, "learners that can are " + known);
}

/// Signs are dealt with here, once for all learners: nobody gets them by accident.
template <class L>
std::unique_ptr<Learner> make_learner(const std::string& name, const GraphView& graph,
                                      const OptionValues& values, const Execution& execution) {
  const auto options = parse_options<typename L::Options>(name, values);
  const SignUse use = graph.is_signed() ? sign_use<L>(options) : SignUse::itself;
  if (use == SignUse::refused) refuse_signed_graph(graph, name);
  const auto make = [&](const GraphView& g) { return std::make_unique<L>(g, options, execution); };
  if (use == SignUse::itself) return make(graph);
  return std::make_unique<CoverLearner>(graph, execution.threads, make);
}

template <class L>
BatchResult fit_learner(const std::string& name, const GraphView& graph, std::span<const Label> labels,
                        std::size_t num_classes, const OptionValues& values, const Execution& execution) {
  const auto options = parse_options<typename L::Options>(name, values);
  const SignUse use = graph.is_signed() ? sign_use<L>(options) : SignUse::itself;
  if (use == SignUse::refused) refuse_signed_graph(graph, name);
  if (graph.is_signed()) check_signed_classes(num_classes);
  if (use == SignUse::itself) return L::fit(graph, labels, num_classes, options, execution);
  return fit_on_cover(graph, labels, num_classes, execution.threads,
                      [&](const GraphView& cover, std::span<const Label> both) {
                        return L::fit(cover, both, kSignedClasses, options, execution);
                      });
}

template <class L>
LearnerRow row(const char* name, const char* idea, const char* cost, const char* paper) {
  // The name travels by the row, not by a capture: these are plain function pointers.
  static const std::string owner = name;
  LearnerRow row;
  row.name = name;
  row.idea = idea;
  row.cost = cost;
  row.paper = paper;
  row.options = describe_options<typename L::Options>();
  row.signed_graphs = sign_use<L>(typename L::Options{}) != SignUse::refused;
  row.make = [](const GraphView& graph, const OptionValues& values, const Execution& execution) {
    return make_learner<L>(owner, graph, values, execution);
  };
  row.fit = [](const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
               const OptionValues& values, const Execution& execution) {
    return fit_learner<L>(owner, graph, labels, num_classes, values, execution);
  };
  row.bytes = [](std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted, std::size_t num_classes,
                 const OptionValues& values, int threads) {
    return L::bytes(num_nodes, num_arcs, weighted, num_classes,
                    parse_options<typename L::Options>(owner, values), threads);
  };
  row.online_bytes = [](std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                        const OptionValues& values, int threads) {
    const auto options = parse_options<typename L::Options>(owner, values);
    constexpr std::size_t kTwoClasses = 2;
    if constexpr (requires { L::online_bytes(num_nodes, num_arcs, weighted, options, threads); }) {
      return L::online_bytes(num_nodes, num_arcs, weighted, options, threads);
    } else {
      return L::bytes(num_nodes, num_arcs, weighted, kTwoClasses, options, threads);
    }
  };
  return row;
}

/// The same for a learner whose answers depend on the order of the labels.
template <class L>
LearnerRow sequential_row(const char* name, const char* idea, const char* cost, const char* paper) {
  LearnerRow made = row<L>(name, idea, cost, paper);
  made.depends_on_order = true;
  return made;
}

}  // namespace

const std::vector<LearnerRow>& learner_rows() {
  static const std::vector<LearnerRow> rows = {
      row<Wta>("wta", "nearest label on linearized spanning trees, majority of the trees",
               "batch O(m + n) a tree, O(n) memory; online O(1) a tree and label",
               "Cesa-Bianchi, Gentile, Vitale & Zappella 2013"),
      row<TreeCut>("tree_cut", "minimum cut on spanning trees (Shazoo), majority of the trees",
                   "batch O(m + n) a tree, O(n) memory; online O(log n + meeting places on the way) a tree",
                   "Vitale, Cesa-Bianchi, Gentile & Zappella 2011"),
      row<LabelPropagation>("label_propagation",
                            "harmonic function on the whole graph, from its mean where labels are few",
                            "one Laplacian solve of classes - 1 columns; online one for the first answer "
                            "after a label",
                            "Zhu, Ghahramani & Lafferty 2003"),
      row<Poisson>("poisson", "labels as sources and sinks of a current, for very few labels",
                   "one Laplacian solve of as many columns as classes; online one for the first answer after "
                   "a label",
                   "Calder, Cook, Thorpe & Slepcev 2020"),
      row<KernelRidge>("kernel_ridge",
                       "ridge regression in the kernel L^+ + b 11' + c I of the graph or of trees",
                       "graph: one Laplacian solve of classes + 1 columns; trees: O(n classes) each; online "
                       "one of these for the first answer after a label",
                       "Rojas Galeano & Herbster; Herbster, Pontil & Rojas Galeano 2008"),
      sequential_row<GraphPerceptron>(
          "graph_perceptron", "perceptron in the kernel L^+ + b 11' + c I of the graph or of trees",
          "graph: one Laplacian solve a mistake, O(1) an answer; trees: O(log^2 n) each",
          "Herbster & Pontil 2006"),
      sequential_row<Projection>("projection",
                                 "the nearest function that meets the labels, found by projections",
                                 "one Laplacian solve a mistake, O(1) an answer; trees: O(log^2 n) each",
                                 "Herbster, Pontil & Wainer 2005"),
      sequential_row<OneProjection>("one_projection",
                                    "projection on the last label when it was guessed wrong",
                                    "one Laplacian solve a mistake, O(1) an answer; trees: O(log^2 n) each",
                                    "1-proj in Herbster, Pontil & Wainer 2005"),
      sequential_row<CyclicProjection>(
          "cyclic_projection", "projections on all labels in turn until none is on the wrong side",
          "a Laplacian solve for each label that was ever wrong, O(n) a correction, O(1) an answer",
          "C-proj in Herbster, Pontil & Wainer 2005"),
      row<MinNormInterpolation>(
          "min_norm_interpolation", "the smoothest function that meets all labels and sums to 0",
          "one Laplacian solve of classes + 1 columns for the first answer after a label",
          "MNI-ag in Herbster, Pontil & Wainer 2005"),
      sequential_row<Pounce>(
          "pounce", "nearest stored example in resistance, corrected by a perceptron",
          "graph: one Laplacian solve a mistake, O(stored examples) an answer; trees: O(log^2 n) each",
          "Herbster 2008"),
      row<NearestNeighbor>("nearest_neighbor", "majority of the nearest labels, by geodesic or resistance",
                           "geodesic: a label costs the part of the graph it is near to; resistance: one "
                           "Laplacian solve a label; O(1) an answer",
                           "Herbster & Pontil 2006, section 5.1"),
      row<MajorityVote>("majority_vote", "weighted majority of the labelled neighbours",
                        "O(degree) an answer", "WMV in Cesa-Bianchi et al. 2013"),
      row<Halving>("halving", "majority of all labellings that cut few edges, for trees and small graphs",
                   "O(n classes) times the square of the cut for the first answer after a label",
                   "Herbster & Pontil 2006, section 5.2"),
  };
  return rows;
}

const LearnerRow& learner_row(const std::string& name) {
  std::string known;
  for (const LearnerRow& row : learner_rows()) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + row.name;
  }
  throw UsageError{"learner", quoted(name) + " is not known",
                   "the learners are " + known + "; `copse learners` describes them"};
}

}  // namespace copse
