// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
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

/// A parameter of a family: name, default, what it means.
struct GeneratorParameter {
  std::string name;
  double default_value;
  std::string help;
};

/// One row a family: the CLI, the docs and the tests read these.
struct GeneratorRow {
  std::string name;
  std::string description;  // with the paper where it comes from one
  std::vector<GeneratorParameter> parameters;
  GeneratedGraph (*make)(const std::vector<double>& values, const Execution& execution);  // values in parameter order
};

const std::vector<GeneratorRow>& generator_rows();

/// By name, with the given parameters over the defaults. UsageError lists the known names.
GeneratedGraph generate_graph(const std::string& name, const std::vector<std::pair<std::string, double>>& parameters,
                              const Execution& execution);

}  // namespace copse
