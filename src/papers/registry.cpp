// SPDX-License-Identifier: Apache-2.0
#include "copse/support/options.hpp"
#include "papers/experiments.hpp"

namespace copse {

const std::vector<ExperimentRow>& experiment_rows() {
  static const std::vector<ExperimentRow> rows = {
      digits_online_experiment(),  hierarchical_online_experiment(), digits_tree_experiment(),
      spanning_trees_experiment(), perceptron_bounds_experiment(),   pounce_clusters_experiment(),
      lower_bound_experiment(),
      weights_matter_experiment(),  // one a line
  };
  return rows;
}

const ExperimentRow& experiment_row(const std::string& name) {
  return find_row(experiment_rows(), name, "experiment", "; `copse reproduce --list` describes them");
}

}  // namespace copse
