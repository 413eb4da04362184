// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laplacian/column_block.hpp"

namespace copse {

/// z = M^-1 r for a symmetric M close to L. In singular components z may be off by a constant.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// In place: z comes in as r, 0 at fixed nodes, and has room for one row more than there are nodes. Returns
  /// r . z of each of the `width` columns.
  virtual ColumnValues apply(double* z, int width) const = 0;
  virtual std::uint64_t entries() const = 0;
};

}  // namespace copse
