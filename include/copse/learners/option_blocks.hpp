// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/support/options.hpp"
#include "copse/trees/sample.hpp"

// Options that several learners have, each with its default and its text told once.

namespace copse {

inline constexpr int kDefaultTrees = 31;  // odd, so that two classes never tie

/// `when` follows the text: ", for on=tree".
template <class Options>
Field tree_field(TreeKind Options::*member, const std::string& when = "") {
  return choice("tree", member, kTreeKindsText + when,
                {{"rst", TreeKind::rst},
                 {"nwrst", TreeKind::nwrst},
                 {"dfst", TreeKind::dfst},
                 {"mst", TreeKind::mst},
                 {"spt", TreeKind::spt},
                 {"random_key", TreeKind::random_key},
                 {"bfst", TreeKind::bfst}});
}
template <class Options>
Field num_trees_field(int Options::*member, const std::string& help) {
  return field("num_trees", member, help, between(1, 65535));
}

/// When the solver of a learner stops. `when` as above.
inline Fields solver_fields(const std::string& when = "", const SolveOptions& defaults = {}) {
  return {field("tolerance", &SolveOptions::tolerance, "backward error at which the solver stops" + when,
                between(1e-14, 0.1), defaults),
          field("max_iterations", &SolveOptions::max_iterations, "most iterations of the solver", at_least(1),
                defaults)};
}

/// What learners that let spanning trees vote have in common.
struct CommitteeOptions {
  TreeKind tree = TreeKind::rst;
  int num_trees = kDefaultTrees;
  bool weighted = true;

  static Fields fields() {
    return {
        tree_field(&CommitteeOptions::tree),
        num_trees_field(&CommitteeOptions::num_trees, "trees in the committee: more is better and slower"),
        field("weighted", &CommitteeOptions::weighted,
              "measure by weight and resistance in the tree; false takes every edge as 1")};
  }
};

/// Whether a kernel is that of the whole graph or of spanning trees.
enum class KernelOn { graph, tree };

/// What learners in the kernel of the graph, or of spanning trees, have in common.
struct KernelOptions {
  KernelOn on = KernelOn::graph;
  TreeKind tree = TreeKind::rst;
  int num_trees = kDefaultTrees;
  SolveOptions solve;
  int epochs = 30;  // of learners that correct themselves by their mistakes

  static Fields fields() {
    return {choice("on", &KernelOptions::on, "learn on the whole graph, or on spanning trees that vote",
                   {{"graph", KernelOn::graph}, {"tree", KernelOn::tree}}),
            tree_field(&KernelOptions::tree, ", for on=tree"),
            num_trees_field(&KernelOptions::num_trees, "trees in the committee, for on=tree")};
  }
  static Fields fields_of_epochs() {
    return {
        field("epochs", &KernelOptions::epochs,
              "most passes over the labels in batch, which ends with the first that finds no mistake; online "
              "every label comes once",
              at_least(1))};
  }
  static Fields fields_of_solver() { return block(&KernelOptions::solve, solver_fields(", for on=graph")); }
};

/// b in the kernel L^+ + b 11' + c I of Herbster & Pontil 2006, eq. 10: a number, or one of two that follow
/// the graph.
struct KernelBias {
  enum class Kind {
    number,
    per_square,  // 1/n^2 for the n nodes of a component: (L + 11')^-1, GPA of Cesa-Bianchi et al. 2013
    resistance_diameter,  // the largest effective resistance (Herbster 2008)
  };
  Kind kind = Kind::number;
  double number = 1;

  static constexpr const char* kType = "number|1/n2|resistance_diameter";
  static KernelBias from_text(const std::string& where, const std::string& text);
  std::string text() const;
};

inline constexpr const char* kZeroIsMistakeHelp =
    "also learn from a margin of 0; false: only from a wrong guess";

/// How many kernel columns of 4 bytes per node to keep: what the option says, and where that is -1 what fits
/// 1 GiB.
inline std::size_t columns_to_keep(int max_columns, std::uint64_t num_nodes) {
  constexpr std::uint64_t kFloatsThatFit = std::uint64_t{1} << 28;
  if (max_columns >= 0) return static_cast<std::size_t>(max_columns);
  return static_cast<std::size_t>(num_nodes == 0 ? 0 : kFloatsThatFit / num_nodes);
}

}  // namespace copse
