// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "copse/graph/names.hpp"
#include "graph/hash_index.hpp"

namespace copse {

/// Gives each distinct id a node, in order of first appearance, and becomes the NodeNames in the end.
class Interner {
 public:
  /// `hash` is hash_text(name). kNoNode when all kMaxNodes are given away.
  NodeId intern(std::string_view name, std::uint64_t hash);
  NodeId intern(std::string_view name);
  void prefetch(std::uint64_t hash) const { index_.prefetch(hash); }
  std::uint64_t size() const { return ends_.size(); }
  NodeNames take_names();

 private:
  std::string_view name(NodeId node) const;

  std::vector<std::uint64_t> ends_;
  std::vector<char> text_;
  HashIndex index_;
};

}  // namespace copse
