// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace copse {

/// z = M^-1 r for a symmetric M close to L. In singular components z may be off by a constant.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// `width` columns; 0 at fixed nodes. z has room for one row more than there are nodes.
  virtual void apply(const double* r, double* z, int width) const = 0;
  virtual std::uint64_t entries() const = 0;
};

}  // namespace copse
