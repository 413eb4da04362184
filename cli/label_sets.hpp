// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "copse/evaluation/splits.hpp"
#include "copse/graph/labels.hpp"

namespace copse::cli {

/// Sets of nodes whose labels are given, ascending, by their size: one line per set, `name<TAB>node node ...`
/// (the name is for people). InputError for a node that has no label.
std::map<std::size_t, std::vector<std::vector<NodeId>>> read_label_sets(const std::string& path,
                                                                        const NodeNames& names,
                                                                        const std::vector<Label>& labels,
                                                                        const Execution& execution);

/// Gives the labels of `nodes` and hides all others.
Split split_by_set(const std::vector<NodeId>& nodes, const std::vector<Label>& labels);

}  // namespace copse::cli
