// SPDX-License-Identifier: Apache-2.0
#include "io/listing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/numbers.hpp"

namespace copse {
namespace {

const char* role_name(Role role) {
  return role == Role::source ? "source" : role == Role::target ? "target" : "weight";
}

}  // namespace

std::optional<Role> AttributeRoles::decide(std::string_view attribute) const {
  for (const Role role : wanted_) {
    const std::optional<std::string> told = told_.column(role_name(role));
    if (told ? *told == attribute : is_name_of(role, attribute)) return role;
  }
  return std::nullopt;
}

std::optional<Role> AttributeRoles::of(std::string_view attribute) {
  constexpr std::size_t kRemembered = 64;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const Known& known = known_[(next_ + i) % known_.size()];
    if (known.name != attribute) continue;
    next_ = (next_ + i + 1) % known_.size();
    return known.role;
  }
  const std::optional<Role> role = decide(attribute);
  for (const Known& known : known_)
    if (role && known.role == role)
      throw InputError{
          where_, quoted(known.name) + " and " + quoted(attribute) + " may both be the " + role_name(*role),
          std::string("say which attribute of the edges to take: --columns ") + role_name(*role) + "=" +
              known.name};
  if (role || known_.size() < kRemembered) known_.push_back({std::string(attribute), role});
  return role;
}

std::string AttributeRoles::said() const {
  std::string used, others;
  for (const Known& known : known_) {
    if (!known.role)
      others += (others.empty() ? "" : ", ") + known.name;
    else if (known.role == Role::weight)
      used = "weight " + known.name;
  }
  if (others.empty()) return used == "weight weight" ? "" : used;
  return (used.empty() ? "no weights" : used) + "; not used: " + others;
}

// Places are told for errors only: to find the line of an offset takes time.
void GraphListing::check(std::string_view name, std::size_t place) const {
  try {
    check_name(name, "");
  } catch (const InputError& error) {
    throw wrong(place, error.problem(), error.remedy());
  }
}

NodeId GraphListing::node_of(std::string_view id, std::size_t place) {
  const std::uint64_t before = ids_.size();
  const NodeId node = ids_.intern(id);
  if (node == kNoNode)
    throw wrong(place, "there are more than " + with_commas(kMaxNodes) + " nodes",
                "that is the limit: split the graph by component");
  if (ids_.size() == before) return node;
  if (id.empty()) throw wrong(place, "an id is empty", "give every node an id");
  check(id, place);
  is_listed_.push_back(false);
  return node;
}

NodeId GraphListing::add_node(std::string_view id, std::size_t place) {
  const NodeId node = node_of(id, place);
  if (is_listed_[node])
    throw wrong(place, "node " + quoted(id) + " is listed a second time", "give every node an id of its own");
  is_listed_[node] = true;
  return node;
}

void GraphListing::call(NodeId node, std::string_view name, std::size_t place) {
  check(name, place);
  names_.resize(std::max<std::size_t>(names_.size(), node + std::size_t{1}));
  names_[node] = name;
}

void GraphListing::add_edge(NodeId u, NodeId v, std::string_view weight, std::size_t place) {
  constexpr Weight kNone = std::numeric_limits<Weight>::quiet_NaN();
  Weight value = kNone;
  if (weight.empty()) {
    if (num_weights_ == edges_.u.size()) first_without_ = place;
  } else {
    if (num_weights_++ == 0) first_with_ = place;
    try {
      value = parse_weight(weight, name_, 1, options_.is_signed);
    } catch (const InputError& error) {
      throw wrong(place, error.problem(), error.remedy());
    }
  }
  edges_.u.push_back(u);
  edges_.v.push_back(v);
  edges_.weight.push_back(value);
}

void GraphListing::complete_weights(const Rules& rules) {
  if (num_weights_ == 0) {
    edges_.weight = {};
  } else if (num_weights_ < edges_.u.size()) {
    if (!rules.missing_weight)
      throw wrong(first_without_, "this edge has no weight, another one has (" + where_(first_with_) + ")",
                  "give every edge a weight, or none; --columns weight= takes none");
    for (Weight& weight : edges_.weight)
      if (std::isnan(weight)) weight = *rules.missing_weight;
  }
}

// Consecutive integers take no memory.
NodeNames GraphListing::take_names(std::string& said) {
  const bool is_told = options_.table.column("node").has_value();
  if (!names_.empty()) {
    names_.resize(num_nodes());
    Interner names;
    bool are_names = true;
    for (NodeId node = 0; are_names && node < names_.size(); ++node)
      are_names = !names_[node].empty() && names.intern(names_[node]) == node;
    if (are_names) {
      ids_ = std::move(names);
      num_numbered_ = 0;
    } else if (is_told) {
      throw InputError{name_, "not every node has a name of its own in that attribute",
                       "leave node= out of --columns: nodes are then called by their ids"};
    } else {
      said += (said.empty() ? "" : "; ") +
              std::string("nodes are called by their ids: not every one has a label of its own");
    }
  } else if (is_told && num_nodes() != 0 && *options_.table.column("node") != "id") {
    throw InputError{name_, "no node has an attribute " + quoted(*options_.table.column("node")),
                     "leave node= out of --columns: nodes are then called by their ids"};
  }
  if (num_numbered_ != 0) return NodeNames::numbered(num_numbered_, 1);
  const std::uint64_t size = ids_.size();
  NodeNames names = ids_.take_names();
  NodeNames::Digits digits;
  const std::optional<std::uint64_t> first = size == 0 ? 0 : canonical_integer(names.view(0, digits));
  for (NodeId node = 0; first && node < size; ++node)
    if (canonical_integer(names.view(node, digits)) != *first + node) return names;
  return first ? NodeNames::numbered(size, *first) : names;
}

ParsedEdges GraphListing::finish(const Rules& rules, std::uint64_t num_bytes, std::string said,
                                 const Execution& execution) {
  execution.throw_if_cancelled();
  if (num_nodes() == 0 && !rules.may_be_empty)
    throw InputError{name_, "this file holds no node", "is it of another format? --format names it"};
  complete_weights(rules);
  ParsedEdges parsed;
  parsed.num_nodes = num_nodes();
  parsed.num_bytes = num_bytes;
  parsed.has_no_weights = num_weights_ == 0;
  const auto missing = std::find(is_listed_.begin(), is_listed_.end(), false);
  const auto first_missing = static_cast<NodeId>(missing - is_listed_.begin());
  if (rules.lists_nodes && missing != is_listed_.end())
    throw InputError{name_,
                     "an edge has the end " + quoted(ids_.take_names().name(first_missing)) +
                         ", which is not among the nodes",
                     "list every node, or correct the edge"};
  parsed.names = take_names(said);
  parsed.columns = std::move(said);
  std::vector<EdgeChunk> chunks;
  chunks.push_back(std::move(edges_));
  parsed.edges =
      EdgeCollector::of(std::move(chunks), std::max<std::uint64_t>(parsed.num_nodes, 1), execution);
  return parsed;
}

std::function<std::string(std::size_t)> line_of_offset(const std::string& name, std::string_view text) {
  return [name, text](std::size_t offset) {
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    return at(name, static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')) + 1);
  };
}

std::string_view whole_text(ByteSource& source, const char* remedy) {
  const std::span<const char> bytes = source.rest();
  return checked_start({bytes.data(), bytes.size()}, source.name(), remedy);
}

}  // namespace copse
