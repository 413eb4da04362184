// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/names.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <vector>

#include "copse/support/error.hpp"
#include "graph/hash_index.hpp"
#include "graph/integer_ids.hpp"

namespace copse {

namespace {

// Where the first byte stands that ends a field, a line or a string.
std::size_t find_end_byte(std::string_view text) {
  std::size_t first = std::string_view::npos;
  for (const char c : {'\t', '\n', '\r', '\0'}) first = std::min(first, text.find(c));
  return first;
}

}  // namespace

void check_name(std::string_view name, const std::string& where) {
  if (find_end_byte(name) == std::string_view::npos) return;
  throw InputError{
      where, quoted(name) + " holds a tab, a line end or a zero byte",
      "ids and labels are one field of a line: replace these, or leave out what is not id or label"};
}

struct NodeNames::Data {
  enum class Kind : std::uint8_t { numbered, integers, text };
  Kind kind = Kind::numbered;
  std::uint64_t size = 0, first = 0;
  Buffer<NodeId> distances;  // of integers from `first`
  std::span<const std::uint64_t> ends;
  std::span<const char> text;
  std::shared_ptr<const void> owner;

  // Built when first asked for, because most runs only ever write names.
  mutable std::once_flag indexed;
  mutable HashIndex index;

  std::string_view name(NodeId node) const {
    const std::uint64_t begin = node == 0 ? 0 : ends[node - 1];
    return {text.data() + begin, static_cast<std::size_t>(ends[node] - begin)};
  }

  std::uint64_t number(NodeId node) const {
    return first + (kind == Kind::integers ? distances[node] : node);
  }

  std::optional<NodeId> find_number(std::uint64_t wanted) const {
    if (wanted < number(0) || wanted > number(static_cast<NodeId>(size - 1))) return std::nullopt;
    const std::uint64_t distance = wanted - first;
    if (kind == Kind::numbered) return static_cast<NodeId>(distance);
    // They rise by 1 at least: few are left to search where few are missing.
    const std::uint64_t from_last = distances[size - 1] - distance, last = size - 1;
    const NodeId* begin = distances.data() + (last > from_last ? last - from_last : 0);
    const NodeId* end = distances.data() + std::min(last, distance - distances[0]) + 1;
    const NodeId* found = std::lower_bound(begin, end, distance);
    if (found == end || *found != distance) return std::nullopt;
    return static_cast<NodeId>(found - distances.data());
  }

  void build_index() const {
    index = HashIndex(size);
    // Hashes first, then places: the places are random in memory, so they are asked for in advance.
    constexpr NodeId kAhead = 16;
    std::uint64_t hashes[kAhead];
    for (std::uint64_t begin = 0; begin < size; begin += kAhead) {
      const auto count = static_cast<NodeId>(std::min<std::uint64_t>(size - begin, kAhead));
      for (NodeId i = 0; i < count; ++i) {
        hashes[i] = hash_text(name(static_cast<NodeId>(begin + i)));
        index.prefetch(hashes[i]);
      }
      for (NodeId i = 0; i < count; ++i)  // of a name that occurs twice, the first
        index.find_or_add(hashes[i], static_cast<NodeId>(begin + i),
                          [&](NodeId other) { return name(other) == name(static_cast<NodeId>(begin + i)); });
    }
  }
};

NodeNames NodeNames::numbered(std::uint64_t size, std::uint64_t first) {
  NodeNames names;
  names.data_ = std::make_shared<Data>();
  names.data_->size = size;
  names.data_->first = first;
  return names;
}

NodeNames NodeNames::integers(std::uint64_t base, Buffer<NodeId> distances) {
  NodeNames names = numbered(distances.size(), base);
  names.data_->kind = Data::Kind::integers;
  names.data_->distances = std::move(distances);
  return names;
}

NodeNames NodeNames::strings(std::span<const std::uint64_t> ends, std::span<const char> text,
                             std::shared_ptr<const void> owner) {
  NodeNames names;
  names.data_ = std::make_shared<Data>();
  names.data_->kind = Data::Kind::text;
  names.data_->size = ends.size();
  names.data_->ends = ends;
  names.data_->text = text;
  names.data_->owner = std::move(owner);
  if (const std::size_t bad = find_end_byte({text.data(), text.size()}); bad != std::string_view::npos) {
    const auto node = std::upper_bound(ends.begin(), ends.end(), bad) - ends.begin();
    check_name(names.name(static_cast<NodeId>(node)), "node " + std::to_string(node));
  }
  return names;
}

std::uint64_t NodeNames::size() const { return data_ ? data_->size : 0; }

std::string NodeNames::name(NodeId node) const {
  Digits digits;
  return std::string(view(node, digits));
}

std::string_view NodeNames::view(NodeId node, Digits& digits) const {
  if (data_ && data_->kind == Data::Kind::text) return data_->name(node);
  const std::uint64_t number = data_ ? data_->number(node) : node;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), static_cast<std::size_t>(end - digits.data())};
}

std::optional<NodeId> NodeNames::find(std::string_view name) const {
  if (size() == 0) return std::nullopt;
  const Data& data = *data_;
  if (data.kind != Data::Kind::text) {
    const std::optional<std::uint64_t> number = canonical_integer(name);
    return number ? data.find_number(*number) : std::nullopt;
  }
  std::call_once(data.indexed, [&data] { data.build_index(); });
  const NodeId node =
      data.index.find(hash_text(name), [&](NodeId other) { return data.name(other) == name; });
  return node == kNoNode ? std::nullopt : std::optional(node);
}

bool NodeNames::is_numbered() const { return !data_ || data_->kind == Data::Kind::numbered; }
std::uint64_t NodeNames::first_number() const { return data_ ? data_->first : 0; }
std::uint64_t NodeNames::bytes() const {
  return data_ ? data_->distances.size() * sizeof(NodeId) + data_->ends.size_bytes() + data_->text.size() : 0;
}

NodeNames NodeNames::as_text() const {
  if (!data_ || data_->kind != Data::Kind::integers) return *this;
  struct Owned {
    Buffer<std::uint64_t> ends;
    std::vector<char> text;
  };
  const auto owned = std::make_shared<Owned>();
  owned->ends = Buffer<std::uint64_t>(size());
  owned->text.reserve(size() *
                      name(static_cast<NodeId>(size() - 1)).size());  // unwritten, it takes no memory
  Digits digits;
  for (std::uint64_t node = 0; node < size(); ++node) {
    const std::string_view text = view(static_cast<NodeId>(node), digits);
    owned->text.insert(owned->text.end(), text.begin(), text.end());
    owned->ends[node] = owned->text.size();
  }
  return strings(owned->ends.span(), owned->text, owned);
}

std::span<const std::uint64_t> NodeNames::ends() const {
  return data_ ? data_->ends : std::span<const std::uint64_t>();
}
std::span<const char> NodeNames::text() const { return data_ ? data_->text : std::span<const char>(); }

}  // namespace copse
