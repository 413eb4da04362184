// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/support/options.hpp"
#include "papers/tree_sets.hpp"

namespace copse {

/// A way to predict, named as in Cesa-Bianchi et al. 2013, section 7.
struct TreeMethod {
  enum class Run {
    wta,         // on one tree: the mean over several trees of the kind
    perceptron,  // GPA on one tree
    fit,         // a learner of the registry, on the graph
  };
  std::string name;
  Run run = Run::fit;
  TreeKind tree = TreeKind::rst;  // wta, perceptron
  std::string learner{};          // fit
  OptionValues options{};         // fit; `weighted` of wta, `bias` of perceptron
  bool ignores_weights = false;   // fit: on the graph without its weights
  bool is_decided = true;         // fit: also measured with one class per node, where nodes have one label
  bool is_binary = true;          // measured as the paper does: every class a yes/no question of its own
};

TreeMethod wta_on(TreeKind kind, bool weighted);
/// GPA with b = 1 in the kernel L^+ + b 11' (Herbster & Pontil 2006), or with another b, which its name then
/// tells.
TreeMethod perceptron_on(TreeKind kind, const std::string& bias = "1", int passes = 1);
/// 17*WTA+RST
TreeMethod wta_committee(int num_trees, TreeKind kind, bool weighted = true);
TreeMethod majority_method();     // WMV
TreeMethod propagation_method();  // LABPROP: the plain harmonic function

struct TreePlan {
  std::vector<SharedSet> sets;
  std::vector<TreeMethod> methods;
  std::vector<double> shares;
  std::size_t num_permutations = 10;
  std::size_t num_instances = kMostInstances;  // trees that wta on one tree is averaged over
};

/// Factors set, train, method, permutation. Measures "error" and "f_measure": macro-averaged over yes/no
/// questions; "answer_seconds": what these took, on one tree without making the tree; "decided_error" and
/// "decided_f": the same averages where every node is given the one class of largest score (sets with one
/// label per node; elsewhere as the first two); "nodes" and "edges" with WMV.
std::vector<Trial> tree_trials(const TreePlan& plan);

std::string share_heading(const std::string& train);  // the factor's value: "0.05" as "5 %"

/// Options of graph_perceptron for the kernel G^+ + 11' + I of a weighted graph whose weights are `unit`
/// times those stored (Rojas Galeano & Herbster, section 5). copse divides weights by their mean, which
/// multiplies G^+ by it: the other terms follow, and a perceptron does not see the scale of the whole.
OptionValues paper_kernel(const GraphView& graph, double unit);

}  // namespace copse
