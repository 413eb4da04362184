// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/graph.hpp"

namespace copse {

/// The double cover of a signed graph of n nodes: a graph without signs of 2n nodes, v and its mirror image
/// v + n. A positive edge {u, v} joins u with v and u + n with v + n; a negative one joins u with v + n and
/// v with u + n. A function f on the nodes is the function (f, -f) on the cover, whose Laplacian then is the
/// signed one of Herbster 2008, sum over positive edges of w (f_u - f_v)^2 + over negative ones of
/// w (f_u + f_v)^2, counted twice. A balanced component (balance.hpp) becomes two copies of itself, any other
/// one component. O(m), twice the memory of the graph; InputError beyond 2^31 nodes.
Graph double_cover(const GraphView& graph, int threads = 1);

}  // namespace copse
