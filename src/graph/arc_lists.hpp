// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// An entry of a row on its way there. Its key orders the entries of a row totally, weights included, so that
/// it does not matter in which order they arrived.
struct PlainArc {
  using Key = std::uint32_t;
  NodeId row, neighbor;
  Key key() const { return neighbor; }
  /// From its smaller end.
  PlainArc upper() const { return {std::min(row, neighbor), std::max(row, neighbor)}; }
  std::uint32_t weight_bits() const { return std::bit_cast<std::uint32_t>(Weight{1}); }
  static NodeId neighbor_of(Key key) { return key; }
  static PlainArc backwards(NodeId row, Key key) { return {key, row}; }
};
struct WeightedArc {
  using Key = std::uint64_t;
  NodeId row, neighbor;
  Weight weight;
  // Bits of positive floats sort like their values.
  Key key() const { return Key{neighbor} << 32 | weight_bits(); }
  WeightedArc upper() const { return {std::min(row, neighbor), std::max(row, neighbor), weight}; }
  std::uint32_t weight_bits() const { return std::bit_cast<std::uint32_t>(weight); }
  static NodeId neighbor_of(Key key) { return static_cast<NodeId>(key >> 32); }
  static Weight weight_of(Key key) { return std::bit_cast<Weight>(static_cast<std::uint32_t>(key)); }
  static WeightedArc backwards(NodeId row, Key key) { return {neighbor_of(key), row, weight_of(key)}; }
};

/// Gives the memory of the whole pages among these bytes back to the system; the bytes are lost. Also for
/// memory of the C library, which may keep what it is given back to itself.
inline void release_pages(void* begin, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const auto first = (address + page - 1) / page * page;
  const auto last = (address + bytes) / page * page;
  if (first < last) madvise(static_cast<char*>(begin) + (first - address), last - first, MADV_DONTNEED);
}

/// Blocks of memory of one size for lists that grow and shrink while others do the opposite. A block that is
/// given back is the next one taken: fresh pages cost the system a fault and a clearing each, many times what
/// writing them does. Blocks beyond a small reserve give their memory back to the system, so that what is
/// taken is what is held. Not thread-safe.
class BlockPool {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 13;

  /// A block that begins at a multiple of its size; its bytes are whatever they were.
  void* take() {
    if (warm_.empty() && released_.empty()) add_slab();
    std::vector<void*>& from = warm_.empty() ? released_ : warm_;
    void* const block = from.back();
    from.pop_back();
    return block;
  }
  void give(void* block) {
    if (warm_.size() < kMostWarm) return warm_.push_back(block);
    release_pages(block, kBlockBytes);
    released_.push_back(block);
  }

 private:
  static constexpr std::size_t kSlabBytes = std::size_t{4} << 20,
                               kMostWarm = (std::size_t{1} << 20) / kBlockBytes;

  // Large enough for Buffer to begin it at a multiple of 2 MiB. Small pages: blocks are released one by one.
  void add_slab() {
    Buffer<std::byte>& slab = slabs_.emplace_back(kSlabBytes);
    madvise(slab.data(), kSlabBytes, MADV_NOHUGEPAGE);
#ifdef MADV_POPULATE_WRITE
    // All pages by one call: they will be written to soon, and a fault each costs as much again as clearing
    // them. Advice only, for kernels that know it (Linux 5.14). The first slab may be all that is needed.
    if (slabs_.size() > 1) madvise(slab.data(), kSlabBytes, MADV_POPULATE_WRITE);
#endif
    for (std::size_t at = kSlabBytes; at != 0;) released_.push_back(slab.data() + (at -= kBlockBytes));
  }

  std::vector<Buffer<std::byte>> slabs_;
  std::vector<void*> warm_, released_;  // blocks nobody holds, with and without memory
};

/// Many lists of arcs in blocks of one pool: written at many places at once, read and freed one by one. All
/// blocks of a list but the last are full, and end with the address of the next.
template <class Arc>
class ArcLists {
 public:
  static constexpr std::size_t kLinkBytes = sizeof(void*);
  static constexpr std::size_t kPerBlock = (BlockPool::kBlockBytes - kLinkBytes) / sizeof(Arc);

  ArcLists(BlockPool& pool, std::size_t count) : pool_(&pool), lists_(count) {}
  ArcLists(const ArcLists&) = delete;
  ArcLists& operator=(const ArcLists&) = delete;
  ArcLists(ArcLists&&) noexcept = default;
  ArcLists& operator=(ArcLists&&) noexcept = default;

  std::size_t count() const { return lists_.size(); }
  std::uint64_t size(std::size_t list) const { return lists_[list].size; }

  /// A place in a list to write at. Any number of them may be written through at once.
  using Cursor = Arc*;
  static void put(Cursor& cursor, const Arc& arc) {
    if (is_block_end(cursor)) cursor = next_block(cursor - kPerBlock);
    *cursor++ = arc;
  }

  /// A cursor for `more` arcs at the end of the list, in the order of calls.
  Cursor append(std::size_t list, std::uint64_t more) {
    List& l = lists_[list];
    if (more == 0) return l.end;
    if (l.head == nullptr) l.head = l.end = static_cast<Arc*>(pool_->take());
    const Cursor cursor = l.end;
    l.size += more;
    for (;;) {
      Arc* const block = block_of(l.end);
      const std::uint64_t room =
          is_block_end(l.end) ? 0 : kPerBlock - static_cast<std::size_t>(l.end - block);
      if (more <= room) break;
      more -= room;
      l.end = static_cast<Arc*>(pool_->take());
      set_next_block(block, l.end);
    }
    l.end += more;
    return cursor;
  }

  /// body(span) for the arcs of a list in order.
  template <class Body>
  void visit(std::size_t list, Body&& body) const {
    std::uint64_t left = lists_[list].size;
    for (Arc* block = lists_[list].head; left != 0; block = next_block(block)) {
      const std::size_t size = left < kPerBlock ? left : kPerBlock;
      body(std::span<Arc>(block, size));
      left -= size;
      if (left == 0) break;
    }
  }

  /// Gives the list's blocks back.
  void clear(std::size_t list) {
    List& l = lists_[list];
    for (std::uint64_t left = l.size; left != 0;) {
      Arc* const block = l.head;
      left -= left < kPerBlock ? left : kPerBlock;
      if (left != 0) l.head = next_block(block);
      pool_->give(block);
    }
    l = {};
  }

  /// Lists 2i and 2i+1 become list i, in no order.
  void join_pairs() {
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      if (2 * i >= lists_.size()) {
        lists_[i] = {};
        continue;
      }
      List first = lists_[2 * i], second = 2 * i + 1 < lists_.size() ? lists_[2 * i + 1] : List{};
      lists_[i] = join(first, second);
    }
  }

 private:
  struct List {
    Arc* head = nullptr;
    Arc* end = nullptr;  // where the next arc goes; behind a full block until there is one
    std::uint64_t size = 0;
  };

  static std::uintptr_t offset(const Arc* at) {
    return reinterpret_cast<std::uintptr_t>(at) % BlockPool::kBlockBytes;
  }
  static bool is_block_end(const Arc* at) { return offset(at) == kPerBlock * sizeof(Arc); }
  static Arc* block_of(Arc* at) { return at - offset(at) / sizeof(Arc); }
  static Arc* next_block(Arc* block) {
    Arc* next = nullptr;
    std::memcpy(&next, static_cast<const void*>(block + kPerBlock), kLinkBytes);
    return next;
  }
  static void set_next_block(Arc* block, Arc* next) {
    std::memcpy(static_cast<void*>(block + kPerBlock), &next, kLinkBytes);
  }

  // The last block of `first`, which need not be full, is copied to the end of `second`.
  List join(List first, List second) {
    if (first.size == 0) return second;
    if (second.size == 0) return first;
    Arc *last = first.head, *before = nullptr;
    std::uint64_t left = first.size;
    for (; left > kPerBlock; left -= kPerBlock) {
      before = last;
      last = next_block(last);
    }
    lists_.push_back(second);
    Cursor to = append(lists_.size() - 1, left);
    for (std::uint64_t i = 0; i < left; ++i) put(to, last[i]);
    second = lists_.back();
    lists_.pop_back();
    pool_->give(last);
    if (before == nullptr) return second;
    set_next_block(before, second.head);
    second.head = first.head;
    second.size += first.size - left;
    return second;
  }

  BlockPool* pool_;
  std::vector<List> lists_;
};

}  // namespace copse
