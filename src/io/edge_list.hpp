// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "io/readers.hpp"

namespace copse {

/// How an edge list is cut up. The result does not depend on it; the tests cut very small.
struct EdgeListCut {
  std::size_t block = std::size_t{16} << 20;  // read at a time: a mapped file takes this much memory
  std::size_t piece = std::size_t{1} << 20;   // parsed by one thread: its edges fit in a cache
};

/// Where edges go while they are read. Buckets are faster and take less memory; but they forget the order of
/// the list, and numbering text ids needs it. So a list that turns out to have some after all has to be read
/// again from its beginning, and a pipe has to be kept.
enum class EdgeListKeeps { list, buckets };

ParsedEdges read_edge_list(ByteSource& source, const ReadOptions& options, const Execution& execution,
                           const EdgeListCut& cut, EdgeListKeeps keeps);

}  // namespace copse
