// SPDX-License-Identifier: Apache-2.0
//
// GEXF 1.1 to 1.3, as Gephi writes it: <node id label>, <edge source target weight>; an edge without a weight
// has weight 1. Nodes are called by their ids (--columns node=label: by their labels). Directions and times
// are dropped, nested nodes taken as nodes.

#include "io/graph_text.hpp"
#include "io/listing.hpp"
#ifdef COPSE_WITH_PARSERS
#include "io/xml.hpp"
#endif

namespace copse {
#ifdef COPSE_WITH_PARSERS
ParsedEdges read_gexf(ByteSource& source, const ReadOptions& options, const Execution& execution) {
  const XmlFile file(source);
  if (local_name(file.root()) != "gexf")
    throw InputError{file.name(), "the document is " + quoted(file.root().name()) + ", not gexf",
                     "--format names another format"};
  GraphListing listing(options, file.name(), line_of_offset(file.name(), file.text()));
  const bool has_weights = options.table.column("weight") != "",
             by_label = options.table.column("node") == "label";
  for_each_element(file.root(), [&](const pugi::xml_node& element) {
    const std::string_view name = local_name(element);
    const std::size_t place = place_of(element);
    if (name == "node") {
      const NodeId node = listing.add_node(needed(listing, element, "id"), place);
      if (by_label) listing.call(node, element.attribute("label").value(), place);
    } else if (name == "edge") {
      const NodeId u = listing.node_of(needed(listing, element, "source"), place),
                   v = listing.node_of(needed(listing, element, "target"), place);
      listing.add_edge(u, v, has_weights ? stripped(element.attribute("weight").value()) : "", place);
    }
  });
  return listing.finish({.missing_weight = 1}, file.text().size(), "", execution);
}
#endif

void write_gexf(const std::string& path, const NamedGraph& graph, const Execution& execution) {
  const GraphText text(path, graph);
  text.write(
      execution,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<gexf xmlns=\"http://www.gexf.net/1.2draft\" version=\"1.2\">\n"
      "<graph defaultedgetype=\"undirected\">\n<nodes>\n",
      [&](std::string& out, NodeId u) {
        out += "<node id=\"" + text.xml_name(u) + "\" label=\"" + text.xml_name(u) + "\"/>\n";
      },
      "</nodes>\n<edges>\n",
      [&](std::string& out, NodeId u, NodeId v, EdgeIndex arc) {
        out += "<edge id=\"" + std::to_string(arc) + "\" source=\"" + text.xml_name(u) + "\" target=\"" +
               text.xml_name(v) + "\"";
        if (text.has_weights()) {
          out += " weight=\"";
          text.append_weight_of(out, arc);
          out += "\"";
        }
        out += "/>\n";
      },
      "</edges>\n</graph>\n</gexf>\n");
}

}  // namespace copse
