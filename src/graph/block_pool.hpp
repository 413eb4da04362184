// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "copse/support/buffer.hpp"

namespace copse {

/// Blocks of memory of one size for lists that grow and shrink while others do the opposite. A block that is
/// given back is the next one taken: fresh pages cost the system a fault and a clearing each, many times what
/// writing them does. Blocks beyond a small reserve give their memory back to the system, so that what is
/// taken is what is held. Not thread-safe.
class BlockPool {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 13;

  /// A block that begins at a multiple of its size; its bytes are whatever they were.
  void* take();
  void give(void* block);

 private:
  std::vector<Buffer<std::byte>> slabs_;
  std::vector<void*> warm_, released_;  // blocks nobody holds, with and without memory
};

}  // namespace copse
