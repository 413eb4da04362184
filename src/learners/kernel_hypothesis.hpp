// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "learners/hypothesis_committee.hpp"
#include "learners/kernel_operator.hpp"

namespace copse {

/// When a function is corrected, and by how much of the kernel's column.
struct KernelRule {
  enum class Step {
    perceptron,  // g += y K_i (Herbster & Pontil 2006, figure 1)
    projection,  // g += (y - g_i) / K_ii K_i, to the next function that has g_i = y (Herbster et al. 2005)
  };
  Step step = Step::perceptron;
  bool zero_is_mistake = true;  // a margin of 0 is corrected; else only where the guess was wrong
  bool cyclic = false;          // project on half-spaces: a margin of 1 or more is let be
  bool aggressive = false;      // correct also where the sign is right
  bool all = false;             // cyclic: come back to earlier labels that are wrong now
  int max_sweeps = 100;         // over these, after one label
};

/// Kernel methods that keep one function per class (ClassFunctions) and correct it when it is wrong: class
/// against rest. `max_kept` as of graph_kernel().
HypothesisMaker kernel_hypotheses(const GraphView& graph, const KernelTerms& terms, const KernelRule& rule,
                                  const SolveOptions& solve, std::size_t max_kept,
                                  const Execution& execution);

}  // namespace copse
