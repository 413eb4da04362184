// SPDX-License-Identifier: Apache-2.0
//
// GraphML (Brandes, Eiglsperger, Herman, Himsolt & Marshall 2002): <key> elements declare attributes, <node
// id> and <edge source target> list the graph, <data key> hold values. Nodes are called by their ids, or by
// the attribute that the user names. Directions are dropped, as of edge lists; nested graphs are taken as
// one.

#include "io/graph_text.hpp"
#include "io/listing.hpp"
#ifdef COPSE_WITH_PARSERS
#include "io/xml.hpp"
#endif

namespace copse {
#ifdef COPSE_WITH_PARSERS
namespace {

// The keys of a file that matter here.
struct GraphmlKeys {
  std::string weight, node;
  std::string default_weight;

  GraphmlKeys(const pugi::xml_node& root, AttributeRoles& roles, const TableOptions& told) {
    for (const pugi::xml_node& key : root.children()) {
      if (local_name(key) != "key") continue;
      const std::string_view kind = key.attribute("for").value(), name = key.attribute("attr.name").value();
      const bool is_all = kind.empty() || kind == "all";
      if ((kind == "edge" || is_all) && !name.empty() && roles.of(name)) {
        weight = key.attribute("id").value();
        default_weight = stripped(key.child("default").child_value());
      }
      if ((kind == "node" || is_all) && told.column("node") == name) node = key.attribute("id").value();
    }
  }
};

std::string_view data_of(const pugi::xml_node& element, const std::string& key) {
  if (key.empty()) return {};
  for (const pugi::xml_node& child : element.children())
    if (key == child.attribute("key").value()) return stripped(child.child_value());
  return {};
}

}  // namespace

ParsedEdges read_graphml(ByteSource& source, const ReadOptions& options, const Execution& execution) {
  const XmlFile file(source);
  const pugi::xml_node root = file.root();
  if (local_name(root) != "graphml")
    throw InputError{file.name(), "the document is " + quoted(root.name()) + ", not graphml",
                     "--format names another format"};
  GraphListing listing(options, file.name(), line_of_offset(file.name(), file.text()));
  AttributeRoles roles(options.table, {Role::weight}, file.name());
  const GraphmlKeys keys(root, roles, options.table);
  bool has_graph = false;
  for_each_element(root, [&](const pugi::xml_node& element) {
    const std::string_view name = local_name(element);
    const std::size_t place = place_of(element);
    if (name == "node") {
      const NodeId node = listing.add_node(needed(listing, element, "id"), place);
      if (const std::string_view called = data_of(element, keys.node); !called.empty())
        listing.call(node, called, place);
    } else if (name == "edge") {
      const NodeId u = listing.node_of(needed(listing, element, "source"), place),
                   v = listing.node_of(needed(listing, element, "target"), place);
      const std::string_view weight = data_of(element, keys.weight);
      listing.add_edge(u, v, weight.empty() ? std::string_view(keys.default_weight) : weight, place);
    } else if (name == "hyperedge") {
      throw listing.wrong(place, "this is a hyperedge", "an edge has two ends: write it as edges or a node");
    } else if (name == "graph" && element.parent() == root && std::exchange(has_graph, true)) {
      throw listing.wrong(place, "this is the second graph of the file", "write a file for each graph");
    }
  });
  return listing.finish({}, file.text().size(), roles.said(), execution);
}
#endif

void write_graphml(const std::string& path, const NamedGraph& graph, const Execution& execution) {
  const GraphText text(path, graph);
  const bool has_weights = text.has_weights();
  text.write(
      execution,
      std::string("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n") +
          (has_weights ? "<key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n"
                       : "") +
          "<graph edgedefault=\"undirected\">\n",
      [&](std::string& out, NodeId u) { out += "<node id=\"" + text.xml_name(u) + "\"/>\n"; }, "",
      [&](std::string& out, NodeId u, NodeId v, EdgeIndex arc) {
        out += "<edge source=\"" + text.xml_name(u) + "\" target=\"" + text.xml_name(v) + "\"";
        if (has_weights) {
          out += "><data key=\"weight\">";
          text.append_weight_of(out, arc);
          out += "</data></edge>\n";
        } else {
          out += "/>\n";
        }
      },
      "</graph>\n</graphml>\n");
}

}  // namespace copse
