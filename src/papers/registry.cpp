// SPDX-License-Identifier: Apache-2.0
#include "copse/support/options.hpp"
#include "papers/experiment.hpp"
#include "papers/tree_sets.hpp"

namespace copse {

// An experiment is a plan and a report in a file, their names here, and a row; docs/reproduce.md tells of it.

// online_experiments.cpp
PlanTrials plan_digits_online, plan_hierarchical_online;
WriteReport report_digits_online, report_hierarchical_online;
// tree_experiments.cpp
PlanTrials plan_spanning_trees, plan_weights_matter;
WriteReport report_spanning_trees, report_weights_matter;
// in files of these names
PlanTrials plan_digits_tree, plan_perceptron_bounds, plan_pounce_clusters, plan_lower_bound;
WriteReport report_digits_tree, report_perceptron_bounds, report_pounce_clusters, report_lower_bound;

const std::vector<ExperimentRow>& experiment_rows() {
  static const std::vector<ExperimentRow> rows = {
      {"digits-online",
       "What do projections, and asking for labels, save on even against odd digits?",
       "Herbster, Pontil & Wainer 2005, section 6, figure 2 (top)",
       "usps (points.npy, labels.tsv); else the carried digits",
       {"draw", "method", "permutation"},
       plan_digits_online,
       report_digits_online},
      {"hierarchical-online",
       "Do the same methods keep their order where the task is harder: clusters in a random graph, noisy "
       "labels?",
       "Herbster, Pontil & Wainer 2005, section 6, figure 2 (bottom)",
       "nothing: the graphs are made",
       {"draw", "method", "permutation"},
       plan_hierarchical_online,
       report_hierarchical_online},
      {"digits-tree",
       "How much is lost when a tree stands for the complete graph, and what do unlabelled points gain?",
       "Rojas Galeano & Herbster, section 5, figure 1",
       "usps (points.npy, labels.tsv); else the carried digits, as many as there are",
       {"task", "graph", "size", "repeat"},
       plan_digits_tree,
       report_digits_tree},
      {"spanning-trees",
       "How good are spanning trees, one or a committee, against methods on the whole graph?",
       "Cesa-Bianchi, Gentile, Vitale & Zappella 2013, section 7",
       kTreeSetFiles,
       {"set", "train", "method", "permutation"},
       plan_spanning_trees,
       report_spanning_trees},
      {"perceptron-bounds",
       "How many mistakes does the graph perceptron make beside its bounds, nearest neighbours and halving, "
       "as graphs grow?",
       "Herbster & Pontil 2006, sections 3 to 5",
       "makes its graphs itself",
       {"family", "size", "method", "opponent"},
       plan_perceptron_bounds,
       report_perceptron_bounds},
      {"pounce-clusters",
       "Does Pounce pay for clusters only, whatever hangs between them, and what are unlabelled points "
       "worth?",
       "Herbster 2008, the talk's examples",
       "makes its graphs itself",
       {"part", "size", "method", "opponent"},
       plan_pounce_clusters,
       report_pounce_clusters},
      {"lower-bound",
       "Can any learner beat the lower bound: half of the nodes that an adversary labels by coins?",
       "Cesa-Bianchi, Gentile, Vitale & Zappella 2013, theorem 1",
       "makes its graphs itself",
       {"graph", "budget", "learner", "draw"},
       plan_lower_bound,
       report_lower_bound},
      {"weights-matter",
       "What are the weights worth, in drawing a tree and in predicting on it?",
       "Cesa-Bianchi, Gentile, Vitale & Zappella 2013, section 7",
       kTreeSetFiles,
       {"set", "train", "method", "permutation"},
       plan_weights_matter,
       report_weights_matter},
  };
  return rows;
}

const ExperimentRow& experiment_row(const std::string& name) {
  return find_row(experiment_rows(), name, "experiment", "; `copse reproduce --list` describes them");
}

}  // namespace copse
