// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "laplacian/quotient_pattern.hpp"

namespace copse {

/// parent[step]: the first row below the diagonal of the column eliminated in that step, kNoNode at a root
/// (Liu 1986, with path compression). order[step] = group.
std::vector<NodeId> elimination_tree(const QuotientPattern& pattern, const std::vector<NodeId>& order);

/// A numbering of a forest in which every subtree is consecutive and children come before parents:
/// result[new] = old.
std::vector<NodeId> postorder(const std::vector<NodeId>& parent);

/// Entries of every column of the factor, the diagonal's included, each group counting as often as it has
/// members: almost linear, without the factor's pattern (Gilbert, Ng & Peyton 1994). `order` must be a
/// postorder of its own tree `parent`.
std::vector<std::uint64_t> column_counts(const QuotientPattern& pattern, const std::vector<NodeId>& order,
                                         const std::vector<NodeId>& parent);

}  // namespace copse
