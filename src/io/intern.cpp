// SPDX-License-Identifier: Apache-2.0
#include "io/intern.hpp"

#include <memory>
#include <utility>

namespace copse {

std::string_view Interner::name(NodeId node) const {
  const std::uint64_t begin = node == 0 ? 0 : ends_[node - 1];
  return {text_.data() + begin, static_cast<std::size_t>(ends_[node] - begin)};
}

NodeId Interner::intern(std::string_view text, std::uint64_t hash) {
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

NodeId Interner::intern(std::string_view text) { return intern(text, hash_text(text)); }

NodeNames Interner::take_names() {
  struct Owned {
    std::vector<std::uint64_t> ends;
    std::vector<char> text;
  };
  index_ = HashIndex();
  const auto owned = std::make_shared<Owned>(Owned{std::move(ends_), std::move(text_)});
  return NodeNames::strings(owned->ends, owned->text, owned);
}

}  // namespace copse
