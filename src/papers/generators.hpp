// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/generate.hpp"

namespace copse {

/// generator_rows() and the families that the papers argue with.
const std::vector<GeneratorRow>& all_generator_rows();

/// generate_graph() over all of them.
inline GeneratedGraph generate_any_graph(const std::string& name,
                                         const std::vector<std::pair<std::string, double>>& parameters,
                                         const Execution& execution) {
  return generate_graph(name, parameters, execution, all_generator_rows());
}

}  // namespace copse
