// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "copse/io/read.hpp"

namespace copse {

/// The edges of a graph on disk, its nodes in memory: for what reads all edges in order a few times instead
/// of walking about. An edge list (compressed, or from a pipe) is parsed once into a nameless file of 8 bytes
/// per edge, 12 with weights, that ends with the process; a .copse file is read where it is.
class EdgeStream {
 public:
  /// The file goes to `directory`. InputError, before it is full, where there is no room for it.
  /// `report->build` tells what merge() will not: how many listings were met and dropped.
  static EdgeStream read(const std::string& path, const ReadOptions& options, const std::string& directory,
                         const Execution& execution, ReadReport* report = nullptr);
  EdgeStream(EdgeStream&&) noexcept;
  ~EdgeStream();

  const NodeNames& names() const;
  NodeId num_nodes() const;
  std::uint64_t num_edges() const;  // that scan() gives, repeated pairs included until they are merged
  bool is_weighted() const;
  /// Whether a pair may be listed more than once in a way that scan() has to do something about: listings
  /// with weights, unless they are to count as the largest.
  bool needs_merge() const;
  /// Repeated pairs become one edge, as they do in a graph in memory, by sorting parts of the list. Takes as
  /// much room on disk again.
  void merge(const Execution& execution);

  /// All edges, each in one direction, a million or so at a time: body(u, v, weights), weights empty without.
  using TakeEdges =
      std::function<void(std::span<const NodeId>, std::span<const NodeId>, std::span<const Weight>)>;
  void scan(const Execution& execution, const std::string& stage, const TakeEdges& body) const;

  /// The graph in memory after all, the same that read_graph() would have made.
  NamedGraph build(const Execution& execution, BuildReport* report = nullptr) &&;

 private:
  struct State;
  explicit EdgeStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace copse
