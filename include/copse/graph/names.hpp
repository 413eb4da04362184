// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "copse/graph/types.hpp"

namespace copse {

/// The user's ids of the nodes 0 ... size() - 1. Ids that are the numbers 0, 1, 2, ... or another run of
/// consecutive integers take no memory; others are kept as text in one block (possibly a mapped one)
/// with a hash index for the way back that is built when first asked for.
class NodeNames {
 public:
  NodeNames() = default;
  /// Node i is called first + i.
  static NodeNames numbered(std::uint64_t size, std::uint64_t first = 0);
  /// Node i is called text[ends[i - 1], ends[i]) (0 for ends[-1]); `owner` keeps both alive.
  static NodeNames strings(std::span<const std::uint64_t> ends, std::span<const char> text,
                           std::shared_ptr<const void> owner);

  std::uint64_t size() const;
  std::string name(NodeId node) const;
  /// The node of that name, if there is one. Thread-safe; the first call may build the index, O(n).
  std::optional<NodeId> find(std::string_view name) const;

  bool is_numbered() const;
  std::uint64_t first_number() const;           // when numbered
  std::span<const std::uint64_t> ends() const;  // when not
  std::span<const char> text() const;           // when not

 private:
  struct Data;
  std::shared_ptr<Data> data_;
};

}  // namespace copse
