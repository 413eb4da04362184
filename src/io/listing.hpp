// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/formats.hpp"
#include "io/intern.hpp"
#include "io/table.hpp"

// What files that list nodes and edges with attributes have in common (GraphML, GEXF, GML, Pajek, JSON,
// adjacency lists): ids become nodes, an attribute is the weight, and all of it becomes the edges of a graph.

namespace copse {

/// Which attributes of a file's edges mean what: as the user told (--columns weight=amount), else by the
/// names that headers of tables are recognised by.
class AttributeRoles {
 public:
  AttributeRoles(const TableOptions& told, std::vector<Role> wanted, std::string where)
      : told_(told), wanted_(std::move(wanted)), where_(std::move(where)) {}
  /// InputError if another attribute has that role already.
  std::optional<Role> of(std::string_view attribute);
  /// "weight amount; not used: since", or nothing.
  std::string said() const;

 private:
  struct Known {
    std::string name;
    std::optional<Role> role;
  };
  std::optional<Role> decide(std::string_view attribute) const;

  const TableOptions& told_;
  std::vector<Role> wanted_;
  std::string where_;
  std::vector<Known> known_;  // the first names met; those of an edge come in the same order as the last time
  std::size_t next_ = 0;
};

/// The nodes and edges of a file in the order it lists them.
class GraphListing {
 public:
  /// `where` tells the place (an offset, a number) that the calls below are given: only asked for errors.
  GraphListing(const ReadOptions& options, std::string name,
               std::function<std::string(std::size_t place)> where)
      : options_(options), name_(std::move(name)), where_(std::move(where)) {}

  InputError wrong(std::size_t place, const std::string& problem, const std::string& remedy) const {
    return {where_(place), problem, remedy};
  }
  /// The nodes are 0 ... count - 1, called 1 ... count unless they get names; instead of add_node.
  void number_nodes(std::uint64_t count) { num_numbered_ = count; }
  /// A node that the file lists: once.
  NodeId add_node(std::string_view id, std::size_t place);
  /// The node of an id, new or not.
  NodeId node_of(std::string_view id, std::size_t place);
  /// What the node is called in place of its id, if all nodes have such a name and these differ.
  void call(NodeId node, std::string_view name, std::size_t place);
  /// `weight` is the text of a number; empty for none.
  void add_edge(NodeId u, NodeId v, std::string_view weight, std::size_t place);
  struct Rules {
    bool lists_nodes = true;               // an edge's ends must be listed
    std::optional<Weight> missing_weight;  // of an edge without one where others have one; nothing: an error
    bool may_be_empty = true;              // no node at all
  };
  ParsedEdges finish(const Rules& rules, std::uint64_t num_bytes, std::string said,
                     const Execution& execution);

 private:
  std::uint64_t num_nodes() const { return std::max(num_numbered_, ids_.size()); }
  void check(std::string_view name, std::size_t place) const;
  void complete_weights(const Rules& rules);
  NodeNames take_names(std::string& said);

  const ReadOptions& options_;
  std::string name_;
  std::function<std::string(std::size_t)> where_;
  std::uint64_t num_numbered_ = 0;
  Interner ids_;
  std::vector<bool> is_listed_;
  std::vector<std::string> names_;  // empty where a node has no other name
  EdgeChunk edges_;                 // weights NaN where there is none
  std::uint64_t num_weights_ = 0;
  std::size_t first_without_ = 0, first_with_ = 0;  // places of edges
};

/// A place in a text that is in memory as a whole, by its offset: "file:line".
std::function<std::string(std::size_t)> line_of_offset(const std::string& name, std::string_view text);

/// All of a text file; InputError, with `remedy`, if it is not text.
std::string_view whole_text(ByteSource& source, const char* remedy);

}  // namespace copse
