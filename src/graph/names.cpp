// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/names.hpp"

#include <bit>
#include <charconv>
#include <mutex>

#include "copse/support/buffer.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace copse {

struct NodeNames::Data {
  bool is_numbered = true;
  std::uint64_t size = 0, first = 0;
  std::span<const std::uint64_t> ends;
  std::span<const char> text;
  std::shared_ptr<const void> owner;

  // Open addressing, at the most half full; an entry is a node, kNoNode is free. Built when first asked
  // for, because most runs only ever write names.
  mutable std::once_flag indexed;
  mutable Buffer<NodeId> slots;

  std::string_view name(NodeId node) const {
    const std::uint64_t begin = node == 0 ? 0 : ends[node - 1];
    return {text.data() + begin, static_cast<std::size_t>(ends[node] - begin)};
  }

  void build_index() const {
    Buffer<NodeId> table(std::bit_ceil(2 * size + 1));
    for (NodeId& slot : table) slot = kNoNode;
    const std::uint64_t mask = table.size() - 1;
    // Hashes first, then places: the places are random in memory, so they are asked for in advance.
    constexpr NodeId kAhead = 16;
    std::uint64_t hashes[kAhead];
    for (std::uint64_t begin = 0; begin < size; begin += kAhead) {
      const auto count = static_cast<NodeId>(size - begin < kAhead ? size - begin : kAhead);
      for (NodeId i = 0; i < count; ++i) {
        const std::string_view key = name(static_cast<NodeId>(begin + i));
        hashes[i] = XXH3_64bits(key.data(), key.size());
        __builtin_prefetch(&table[hashes[i] & mask], 1);
      }
      for (NodeId i = 0; i < count; ++i) {
        std::uint64_t slot = hashes[i] & mask;
        while (table[slot] != kNoNode) slot = (slot + 1) & mask;
        table[slot] = static_cast<NodeId>(begin + i);
      }
    }
    slots = std::move(table);
  }
};

NodeNames NodeNames::numbered(std::uint64_t size, std::uint64_t first) {
  NodeNames names;
  names.data_ = std::make_shared<Data>();
  names.data_->size = size;
  names.data_->first = first;
  return names;
}

NodeNames NodeNames::strings(std::span<const std::uint64_t> ends, std::span<const char> text,
                             std::shared_ptr<const void> owner) {
  NodeNames names;
  names.data_ = std::make_shared<Data>();
  names.data_->is_numbered = false;
  names.data_->size = ends.size();
  names.data_->ends = ends;
  names.data_->text = text;
  names.data_->owner = std::move(owner);
  return names;
}

std::uint64_t NodeNames::size() const { return data_ ? data_->size : 0; }

std::string NodeNames::name(NodeId node) const {
  return is_numbered() ? std::to_string(first_number() + node) : std::string(data_->name(node));
}

std::optional<NodeId> NodeNames::find(std::string_view name) const {
  if (size() == 0) return std::nullopt;
  if (is_numbered()) {
    // Only the text that name() would write: "007" and "+7" are not 7.
    if (name.empty() || (name[0] == '0' && name.size() > 1) || name[0] == '-') return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    if (number < data_->first || number - data_->first >= data_->size) return std::nullopt;
    return static_cast<NodeId>(number - data_->first);
  }
  const Data& data = *data_;
  std::call_once(data.indexed, [&data] { data.build_index(); });
  const std::uint64_t mask = data.slots.size() - 1;
  for (std::uint64_t slot = XXH3_64bits(name.data(), name.size()) & mask;; slot = (slot + 1) & mask) {
    const NodeId node = data.slots[slot];
    if (node == kNoNode) return std::nullopt;
    if (data.name(node) == name) return node;
  }
}

bool NodeNames::is_numbered() const { return !data_ || data_->is_numbered; }
std::uint64_t NodeNames::first_number() const { return data_ ? data_->first : 0; }
std::span<const std::uint64_t> NodeNames::ends() const {
  return is_numbered() ? std::span<const std::uint64_t>() : data_->ends;
}
std::span<const char> NodeNames::text() const {
  return is_numbered() ? std::span<const char>() : data_->text;
}

}  // namespace copse
