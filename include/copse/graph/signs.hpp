// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copse/graph/components.hpp"
#include "copse/graph/graph.hpp"

// What a signed graph is good for beside its magnitudes: its two sides, and the graph without signs that
// stands for it.

namespace copse {

/// Whether the nodes of a signed graph fall into two sides, positive edges within and negative ones between
/// them. Then its signs are those of a graph without signs seen from the two sides: to *switch* a set of
/// nodes flips the signs of the edges that leave it (Harary 1953; Zaslavsky 1982).
struct SignBalance {
  std::vector<char> side;            // of each node, 0 for the smallest of a component: parity along a tree
  std::vector<char> is_balanced;     // by component
  std::uint64_t num_frustrated = 0;  // edges against the sides; 0 where everything is balanced, otherwise no
                                     // minimum: another tree may leave fewer

  bool is_all_balanced() const { return num_frustrated == 0; }
};

/// Sides along a breadth-first tree from the smallest node of every component. O(m), n / 2 words of memory
/// beside the answer. A graph without signs is balanced, all nodes on side 0.
SignBalance sign_balance(const GraphView& graph, const Components& components);

/// The double cover of a signed graph of n nodes: a graph without signs of 2n nodes, v and its mirror image
/// v + n. A positive edge {u, v} joins u with v and u + n with v + n; a negative one joins u with v + n and
/// v with u + n. A function f on the nodes is the function (f, -f) on the cover, whose Laplacian then is the
/// signed one of Herbster 2008, sum over positive edges of w (f_u - f_v)^2 + over negative ones of
/// w (f_u + f_v)^2, counted twice. A balanced component (SignBalance) becomes two copies of itself, any other
/// one component. O(m), twice the memory of the graph; InputError beyond 2^31 nodes.
Graph double_cover(const GraphView& graph, int threads = 1);

/// The graph whose signed Laplacian has the further terms sum of c_i f_i^2 (Herbster 2008): two nodes hang at
/// every node with c_i > 0, on a triangle with one negative edge, each of weight 3 c_i / 4. As f takes the least
/// energy there, the triangle adds just c_i f_i^2, so that learners see the terms and answers for the first n
/// nodes are those of L + diag(c). The further nodes follow in the order of i. UsageError for c_i that are
/// negative or not finite, or too many or too few of them.
Graph with_diagonal(const GraphView& graph, std::span<const double> diagonal);

}  // namespace copse
