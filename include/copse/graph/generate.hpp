// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/graph/labels.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// A made graph and, where the paper's family has one, its labelling (kNoLabel everywhere otherwise).
struct GeneratedGraph {
  Graph graph;
  Labels labels;
};

/// A parameter of a family: name, default, what it means, and what it may be.
struct GeneratorParameter {
  std::string name;
  double default_value;
  std::string help;
  double low = 0, high = 0;  // both allowed
  bool is_whole = true;      // a whole number
};

/// One row per family: the CLI, the docs and the tests read these.
struct GeneratorRow {
  std::string name;
  std::string description;  // with the paper where it comes from one
  std::vector<GeneratorParameter> parameters;
  GeneratedGraph (*make)(const std::vector<double>& values,
                         const Execution& execution);  // in parameter order, in range
};

/// Families of general use; papers/generators.hpp adds those of the papers.
const std::vector<GeneratorRow>& generator_rows();

/// By name, with the given parameters over the defaults; a pure function of these and of execution.seed,
/// whatever the number of threads. UsageError lists the known names, or the family's parameters.
GeneratedGraph generate_graph(const std::string& name,
                              const std::vector<std::pair<std::string, double>>& parameters,
                              const Execution& execution,
                              const std::vector<GeneratorRow>& rows = generator_rows());

}  // namespace copse
