// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "copse/graph/names.hpp"
#include "graph/hash_index.hpp"

namespace copse {

/// Gives each distinct id a node, in order of first appearance, and becomes the NodeNames in the end.
class Interner {
 public:
  /// `hash` is hash_text(text). kNoNode when all kMaxNodes are given away.
  NodeId intern(std::string_view text, std::uint64_t hash) {
    const auto fresh = static_cast<NodeId>(ends_.size());
    if (fresh == kNoNode) return index_.find(hash, [&](NodeId node) { return name(node) == text; });
    index_.make_room([&](NodeId node) { return hash_text(name(node)); });
    const NodeId node = index_.find_or_add(hash, fresh, [&](NodeId other) { return name(other) == text; });
    if (node == fresh) {
      text_.insert(text_.end(), text.begin(), text.end());
      ends_.push_back(text_.size());
    }
    return node;
  }
  NodeId intern(std::string_view text) { return intern(text, hash_text(text)); }
  /// kNoNode if there is no such id.
  NodeId find(std::string_view text) const {
    return index_.find(hash_text(text), [&](NodeId node) { return name(node) == text; });
  }
  void prefetch(std::uint64_t hash) const { index_.prefetch(hash); }
  std::uint64_t size() const { return ends_.size(); }
  NodeNames take_names() {
    struct Owned {
      std::vector<std::uint64_t> ends;
      std::vector<char> text;
    };
    index_ = HashIndex();
    const auto owned = std::make_shared<Owned>(Owned{std::move(ends_), std::move(text_)});
    return NodeNames::strings(owned->ends, owned->text, owned);
  }

 private:
  std::string_view name(NodeId node) const {
    const std::uint64_t begin = node == 0 ? 0 : ends_[node - 1];
    return {text_.data() + begin, static_cast<std::size_t>(ends_[node] - begin)};
  }

  std::vector<std::uint64_t> ends_;
  std::vector<char> text_;
  HashIndex index_;
};

}  // namespace copse
