// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/graph.hpp"

namespace copse {

/// What is wrong with the rows of a graph whose offsets are in order. O(m).
struct RowCheck {
  NodeId bad_row = kNoNode;  // the first that is not ascending, in range, without loops, with weights > 0
  bool is_symmetric = true;  // each edge stands in both rows, with one weight and sign; if no row is bad
};
RowCheck check_rows(const GraphView& graph, int threads);  // graph.cpp

}  // namespace copse
