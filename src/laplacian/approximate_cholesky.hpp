// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "laplacian/laplacian_system.hpp"

namespace copse {

/// An approximate LDL^T factorization of the Laplacian by randomized elimination: taking out a node of
/// degree d would leave a clique on its neighbours; d - 1 random edges stand for it, right in expectation
/// and always connected (Kyng & Sachdeva 2016; in this form Gao, Kyng & Spielman 2023). Nodes of degree up
/// to 4 (to 16 where the graph is nearly a tree) are taken out exactly: trees, paths and cycles are solved as
/// they are. With `doubled` every edge counts as two that are sampled apart (AC-s2).
///
/// Elimination stops where the entries pass `max_entries`; the nodes left are preconditioned by
/// their degrees in what is left of the graph. Deterministic: a function of the system and the seed.
std::unique_ptr<Preconditioner> approximate_cholesky(const LaplacianSystem& system, bool doubled,
                                                     std::uint64_t max_entries, const Execution& execution);

}  // namespace copse
