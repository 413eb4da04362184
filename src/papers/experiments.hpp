// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "papers/experiment.hpp"

/// One function a file; registry.cpp lists them.
namespace copse {

ExperimentRow digits_online_experiment();
ExperimentRow hierarchical_online_experiment();
ExperimentRow digits_tree_experiment();
ExperimentRow spanning_trees_experiment();
ExperimentRow perceptron_bounds_experiment();
ExperimentRow pounce_clusters_experiment();
ExperimentRow lower_bound_experiment();
ExperimentRow weights_matter_experiment();

}  // namespace copse
