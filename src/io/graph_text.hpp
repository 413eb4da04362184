// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "copse/io/read.hpp"
#include "io/formats.hpp"

// Writing text formats of graphs: formatted in parallel blocks of rows, written in order.

namespace copse {

void append_number(std::string& out, std::uint64_t number);
/// The shortest text that reads back as the same float.
void append_weight(std::string& out, Weight weight);
/// With &, <, > and quotes as entities, for XML and HTML.
std::string xml_text(std::string_view text);
/// format(out, u) appends the lines of row u.
void write_rows(AtomicFile& file, const GraphView& graph, const Execution& execution,
                const std::function<void(std::string& out, NodeId u)>& format);

/// A format that lists nodes, then edges. Names that such a file could not hold are UsageErrors: none of them
/// is empty or anything but UTF-8.
class GraphText {
 public:
  GraphText(const std::string& path, const NamedGraph& graph);

  bool has_weights() const { return view_.is_weighted() || view_.is_signed(); }
  void append_weight_of(std::string& out, EdgeIndex arc) const {
    append_weight(out, view_.signed_weight(arc));
  }
  std::string name(NodeId node) const;
  /// As xml_text(); refuses control characters, which XML cannot hold.
  std::string xml_name(NodeId node) const;

  using NodeFormat = std::function<void(std::string& out, NodeId node)>;
  /// The edge between u and v; `arc` is its place among the arcs, 0 for the first edge of all.
  using EdgeFormat = std::function<void(std::string& out, NodeId u, NodeId v, EdgeIndex arc)>;
  void write(const Execution& execution, const std::string& head, const NodeFormat& node,
             const std::string& between, const EdgeFormat& edge, const std::string& tail) const;
  UsageError unfit(NodeId node, const std::string& problem) const;

 private:
  const std::string& path_;
  const NamedGraph& graph_;
  const GraphView& view_;
};

}  // namespace copse
