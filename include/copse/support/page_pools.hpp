// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace copse {

namespace detail {
class KeptPages;
}

/// Memory that tasks of the same kind hand on from one to the next, as the trees of a committee do: the pages
/// of Buffers that were freed become those of the next ones. A page fresh from the kernel has to be cleared
/// first, which can take a tenth of the time of a tree.
///
/// Every task that is under way has a pool of its own, so that what one task needs at its peak is what the
/// next finds. A Buffer may outlive all this; memory goes back to the system with the last of a pool.
class PagePools {
 public:
  /// While one lives, large Buffers that its thread makes come from one of the pools.
  class Use {
   public:
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();

   private:
    friend class PagePools;
    explicit Use(PagePools& pools);

    PagePools& pools_;
    std::shared_ptr<detail::KeptPages> mine_, before_;
  };

  Use use() { return Use(*this); }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<detail::KeptPages>> idle_;
};

}  // namespace copse
