// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "arrays.hpp"
#include "copse/graph/build.hpp"
#include "copse/support/execution.hpp"

namespace copse::python {

/// A SciPy matrix in compressed rows, as it came: `data` is not valid where the graph has no weights.
struct CsrArrays {
  AnyVectorIn indptr, indices, data;
};

struct CsrGraph {
  Graph graph;
  BuildReport report;
  bool is_view = false;  // some array of the matrix is used where it lies
};

/// The graph of a square matrix. Where it is symmetric, with sorted rows, no loops, no duplicates and weights
/// above 0, its arrays become the graph: copied without an `owner`, since Python can write to its arrays
/// whenever it likes, and inner loops trust what was checked. With an `owner`, which keeps the arrays alive
/// and answers for nobody writing to them, int32 indices, float32 data and an int64 indptr stay where they
/// lie; other types are converted. Any other matrix is read as a list of edges, as `copse` reads a .npz file.
/// Runs without the interpreter's lock.
CsrGraph graph_of_csr(const CsrArrays& arrays, std::shared_ptr<const void> owner, const BuildOptions& options,
                      const Execution& execution);

}  // namespace copse::python
