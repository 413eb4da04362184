// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/registry.hpp"

#include <set>

#include "copse/learners/auto.hpp"
#include "copse/learners/embedding.hpp"
#include "copse/learners/graph_perceptron.hpp"
#include "copse/learners/halving.hpp"
#include "copse/learners/kernel_ridge.hpp"
#include "copse/learners/label_propagation.hpp"
#include "copse/learners/majority_vote.hpp"
#include "copse/learners/nearest_neighbor.hpp"
#include "copse/learners/online_pool.hpp"
#include "copse/learners/poisson.hpp"
#include "copse/learners/pounce.hpp"
#include "copse/learners/projection.hpp"
#include "copse/learners/tree_cut.hpp"
#include "copse/learners/wta.hpp"
#include "learners/cover_learner.hpp"
#include "learners/signs.hpp"

namespace copse {
namespace {

template <class L>
SignUse sign_use(const typename L::Options& options) {
  if constexpr (requires { L::kSigns; })
    return L::kSigns;
  else
    return L::signs(options);
}

/// Signs are dealt with here, once for all learners: nobody gets them by accident.
template <class L>
SignUse sign_use_on(const GraphView& graph, const std::string& name, const typename L::Options& options) {
  if (!graph.is_signed()) return SignUse::itself;
  const SignUse use = sign_use<L>(options);
  if (use != SignUse::refused) return use;
  std::string known;
  for (const LearnerRow& row : learner_rows())
    if (row.signed_graphs) known += (known.empty() ? "" : ", ") + row.name;
  throw UsageError{name, kRefusesSigns, "learners that can are " + known};
}

template <class L>
std::unique_ptr<Learner> make_learner(const std::string& name, const GraphView& graph,
                                      const typename L::Options& options, const Execution& execution) {
  const auto make = [&](const GraphView& g) { return std::make_unique<L>(g, options, execution); };
  if (sign_use_on<L>(graph, name, options) == SignUse::itself) return make(graph);
  return std::make_unique<CoverLearner>(graph, execution.threads, make);
}

template <class L>
BatchResult fit_learner(const std::string& name, const GraphView& graph, std::span<const Label> labels,
                        std::size_t num_classes, const typename L::Options& options,
                        const Execution& execution) {
  const SignUse use = sign_use_on<L>(graph, name, options);
  if (graph.is_signed()) check_signed_classes(num_classes);
  if (use == SignUse::itself) return L::fit(graph, labels, num_classes, options, execution);
  return fit_by_revealing(make_learner<L>(name, graph, options, execution), labels, num_classes);
}

template <class L>
std::uint64_t bytes_online(ProblemSize size, const typename L::Options& options) {
  size.num_classes = 2;
  if constexpr (requires { L::online_bytes(size, options); })
    return L::online_bytes(size, options);
  else
    return L::bytes(size, options);
}

template <class L>
LearnerRow row(const char* name, const char* idea, const char* cost, const char* paper) {
  LearnerRow row{{name, idea, cost, paper, describe_options<typename L::Options>(), {}}};
  const auto read = [owner = row.name](const OptionValues& values) {
    return parse_options<typename L::Options>(owner, values);
  };
  row.check = read;
  row.signed_graphs = sign_use<L>(typename L::Options{}) != SignUse::refused;
  row.make = [=](const GraphView& graph, const OptionValues& values, const Execution& execution) {
    return make_learner<L>(name, graph, read(values), execution);
  };
  row.fit = [=](const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                const OptionValues& values, const Execution& execution) {
    return fit_learner<L>(name, graph, labels, num_classes, read(values), execution);
  };
  row.bytes = [=](const ProblemSize& size, const OptionValues& values) {
    return L::bytes(size, read(values));
  };
  row.online_bytes = [=](const ProblemSize& size, const OptionValues& values) {
    return bytes_online<L>(size, read(values));
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

/// A learner under another name, with some options fixed and those left that `keeps` names.
LearnerRow preset(const LearnerRow& of, const Described& what, const OptionValues& fixed,
                  const std::set<std::string>& keeps) {
  LearnerRow row = of;
  static_cast<Described&>(row) = what;
  for (const OptionInfo& option : of.options)
    if (keeps.contains(option.name)) row.options.push_back(option);
  const auto all = [fixed, name = row.name, options = row.options](OptionValues values) {
    check_names(options, name, values);
    values.insert(fixed.begin(), fixed.end());
    return values;
  };
  row.check = [=](const OptionValues& values) { of.check(all(values)); };
  row.make = [=](const GraphView& graph, const OptionValues& values, const Execution& execution) {
    return of.make(graph, all(values), execution);
  };
  row.fit = [=](const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                const OptionValues& values, const Execution& execution) {
    return of.fit(graph, labels, num_classes, all(values), execution);
  };
  row.bytes = [=](const ProblemSize& size, const OptionValues& values) {
    return of.bytes(size, all(values));
  };
  row.online_bytes = [=](const ProblemSize& size, const OptionValues& values) {
    return of.online_bytes(size, all(values));
  };
  return row;
}

std::vector<LearnerRow> all_learners() {
  const LearnerRow projection = sequential_row<Projection>(
      "projection", "the nearest function that meets the labels, found by projections",
      "one Laplacian solve per mistake, O(1) per answer; trees: O(log^2 n) each",
      "Herbster, Pontil & Wainer 2005");
  const std::set<std::string> kernel_options = {
      "on", "tree", "num_trees", "epochs", "zero_is_mistake", "tolerance", "max_iterations"};
  std::set<std::string> sweep_options = kernel_options;
  sweep_options.insert({"max_sweeps", "max_columns"});
  LearnerRow interpolation =
      preset(projection,
             {"min_norm_interpolation", "the smoothest function that meets all labels and sums to 0",
              "one Laplacian solve of classes + 1 columns for the first answer after a label",
              "MNI-ag in Herbster, Pontil & Wainer 2005"},
             {{"strategy", "all"}, {"aggressive", "true"}}, {"tolerance", "max_iterations"});
  interpolation.depends_on_order = false;  // all values at once, whatever order they came in
  return {
      row<Auto>("auto", "a pool of the learners below, weighed by labels left out: probabilities",
                "what label_propagation, kernel_ridge (up to 64 labels), embedding and wta cost together",
                "ours; after Wolpert 1992"),
      row<Wta>("wta", "nearest label on linearized spanning trees, majority of the trees",
               "batch O(m + n) per tree, O(n) memory; online O(1) per tree and label",
               "Cesa-Bianchi, Gentile, Vitale & Zappella 2013"),
      row<TreeCut>(
          "tree_cut", "minimum cut on spanning trees (Shazoo), majority of the trees",
          "batch O(m + n) per tree, O(n) memory; online O(log n + meeting places on the way) per tree",
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
      row<Embedding>(
          "embedding", "ridge regression on a regularised spectral embedding, for dense graphs",
          "O(m d + n d^2) once for d = 128; O(labels d^2 + d^3) for the first answer after a label",
          "Amini, Chen, Bickel & Levina 2013"),
      sequential_row<OnlinePool>(
          "online_pool", "PageRank, two regressions and wta, weighed by their mistakes so far, for `online`",
          "what wta and a small embedding cost; per label O(classes d^2) for d = 64 and the part of the "
          "graph that notices",
          "ours; after Zhou, Sun & Babanezhad Harikandeh 2023"),
      sequential_row<GraphPerceptron>(
          "graph_perceptron", "perceptron in the kernel L^+ + b 11' + c I of the graph or of trees",
          "graph: one Laplacian solve per mistake, O(1) per answer; trees: O(log^2 n) each",
          "Herbster & Pontil 2006"),
      projection,
      preset(projection,
             {"one_projection", "projection on the last label when it was guessed wrong",
              "one Laplacian solve per mistake, O(1) per answer; trees: O(log^2 n) each",
              "1-proj in Herbster, Pontil & Wainer 2005"},
             {}, kernel_options),
      preset(projection,
             {"cyclic_projection", "projections on all labels in turn until none is on the wrong side",
              "a Laplacian solve for each label that was ever wrong, O(n) per correction, O(1) per answer",
              "C-proj in Herbster, Pontil & Wainer 2005"},
             {{"strategy", "all"}, {"cyclic", "true"}}, sweep_options),
      interpolation,
      sequential_row<Pounce>(
          "pounce", "nearest stored example in resistance, corrected by a perceptron",
          "graph: one Laplacian solve per mistake, O(stored examples) per answer; trees: O(log^2 n) each",
          "Herbster 2008"),
      row<NearestNeighbor>("nearest_neighbor", "majority of the nearest labels, by geodesic or resistance",
                           "geodesic: a label costs the part of the graph it is near to; resistance: one "
                           "Laplacian solve per label; O(1) per answer",
                           "Herbster & Pontil 2006, section 5.1"),
      row<MajorityVote>("majority_vote", "weighted majority of the labelled neighbours",
                        "O(degree) per answer", "WMV in Cesa-Bianchi et al. 2013"),
      row<Halving>("halving", "majority of all labellings that cut few edges, for trees and small graphs",
                   "O(n classes) times the square of the cut for the first answer after a label",
                   "Herbster & Pontil 2006, section 5.2"),
  };
}

}  // namespace

const std::vector<LearnerRow>& learner_rows() {
  static const std::vector<LearnerRow> rows = all_learners();
  return rows;
}

const LearnerRow& learner_row(const std::string& name) {
  return find_row(learner_rows(), name, "learner", "; `copse learners` describes them");
}

}  // namespace copse
