// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "copse/graph/types.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// Throws InputError, at `where`, for an id or a label with a tab, a line end or a zero byte: no line of a
/// text file could hold it. All that come in are checked, so that whatever is written can be read back.
void check_name(std::string_view name, const std::string& where);

/// The user's ids of the nodes 0 ... size() - 1. Ids that are the numbers 0, 1, 2, ... or another run of
/// consecutive integers take no memory, integers with gaps 4 bytes each; others are kept as text in one block
/// (possibly a mapped one) with a hash index for the way back that is built when first asked for.
class NodeNames {
 public:
  NodeNames() = default;
  /// Node i is called first + i.
  static NodeNames numbered(std::uint64_t size, std::uint64_t first = 0);
  /// Node i is called base + distances[i], which rise.
  static NodeNames integers(std::uint64_t base, Buffer<NodeId> distances);
  /// Node i is called text[ends[i - 1], ends[i]) (0 for ends[-1]); `owner` keeps both alive.
  /// Each must pass check_name().
  static NodeNames strings(std::span<const std::uint64_t> ends, std::span<const char> text,
                           std::shared_ptr<const void> owner);

  std::uint64_t size() const;
  std::string name(NodeId node) const;
  /// The same without an allocation: names that are not kept as text are written into `digits`.
  using Digits = std::array<char, 20>;
  std::string_view view(NodeId node, Digits& digits) const;
  /// The node of that name, if there is one. Thread-safe; the first call may build the index, O(n).
  std::optional<NodeId> find(std::string_view name) const;

  bool is_numbered() const;            // by consecutive integers
  std::uint64_t first_number() const;  // when numbered
  std::uint64_t bytes() const;         // of memory, the index aside

  /// Integers with gaps become text, the way files keep them.
  NodeNames as_text() const;
  std::span<const std::uint64_t> ends() const;  // of text, else empty
  std::span<const char> text() const;

 private:
  struct Data;
  std::shared_ptr<Data> data_;
};

}  // namespace copse
