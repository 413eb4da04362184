// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "copse/graph/names.hpp"
#include "graph/hash_index.hpp"

namespace copse {

/// An id of a piece of text, with its hash_text.
struct IdToken {
  std::string_view text;
  std::uint64_t hash = 0;
};

/// Gives each distinct id a node, in order of first appearance, and becomes the NodeNames in the end.
class Interner {
 public:
  /// `hash` is hash_text(text). kNoNode when all kMaxNodes are given away.
  NodeId intern(std::string_view text, std::uint64_t hash) {
    const Key key = key_of(text, hash);
    const auto is_it = [&](NodeId node) {
      return keys_[node] == key && (text.size() < kShort || name(node) == text);
    };
    const auto fresh = static_cast<NodeId>(ends_.size());
    if (fresh == kNoNode) return index_.find(hash, is_it);
    index_.make_room([&](NodeId node) { return hash_text(name(node)); });
    const NodeId node = index_.find_or_add(hash, fresh, is_it);
    if (node == fresh) {
      text_.insert(text_.end(), text.begin(), text.end());
      ends_.push_back(text_.size());
      keys_.push_back(key);
    }
    return node;
  }
  NodeId intern(std::string_view text) { return intern(text, hash_text(text)); }

  /// For a caller that has other work to do until it interns an id of that hash.
  void prefetch(std::uint64_t hash) const { index_.prefetch(hash); }

  /// take(i, node) for every token, in order. Where an id is to be found takes two reads that wait for
  /// memory, one behind the other: those of the next tokens are on their way meanwhile.
  template <class Take>
  void intern_all(std::span<const IdToken> tokens, const Take& take) {
    constexpr std::size_t kSlot = 24, kKey = 12;  // tokens ahead
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i + kSlot < tokens.size()) index_.prefetch(tokens[i + kSlot].hash);
      if (i + kKey < tokens.size()) {
        const NodeId node = index_.guess(tokens[i + kKey].hash);
        if (node != kNoNode) __builtin_prefetch(&keys_[node]);
      }
      take(i, intern(tokens[i].text, tokens[i].hash));
    }
  }

  /// kNoNode if there is no such id.
  NodeId find(std::string_view text) const {
    return index_.find(hash_text(text), [&](NodeId node) { return name(node) == text; });
  }
  std::uint64_t size() const { return ends_.size(); }
  NodeNames take_names() {
    struct Owned {
      std::vector<std::uint64_t> ends;
      std::vector<char> text;
    };
    index_ = HashIndex();
    keys_ = {};
    const auto owned = std::make_shared<Owned>(Owned{std::move(ends_), std::move(text_)});
    return NodeNames::strings(owned->ends, owned->text, owned);
  }

 private:
  // What ids are compared by: of a short one (nearly all are) the text itself and its length, else the hash.
  struct Key {
    std::uint64_t head = 0, tail = 0;
    bool operator==(const Key&) const = default;
  };
  static constexpr std::size_t kShort = 16;
  static Key key_of(std::string_view text, std::uint64_t hash) {
    constexpr int kLengthAt = 56;
    const std::size_t size = text.size();
    if (size >= kShort) return {hash, ~std::uint64_t{0} << kLengthAt | (size & 0xFFFFFFFF)};
    Key key{0, static_cast<std::uint64_t>(size) << kLengthAt};
    if (size < 8) {
      std::memcpy(&key.head, text.data(), size);
    } else {
      std::uint64_t last = 0;
      std::memcpy(&key.head, text.data(), 8);
      std::memcpy(&last, text.data() + size - 8, 8);
      if (size > 8) key.tail |= last >> (8 * (kShort - size));
    }
    return key;
  }

  std::string_view name(NodeId node) const {
    const std::uint64_t begin = node == 0 ? 0 : ends_[node - 1];
    return {text_.data() + begin, static_cast<std::size_t>(ends_[node] - begin)};
  }

  std::vector<std::uint64_t> ends_;
  std::vector<char> text_;
  std::vector<Key> keys_;
  HashIndex index_;
};

}  // namespace copse
