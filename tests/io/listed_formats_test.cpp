// SPDX-License-Identifier: Apache-2.0
//
// GraphML, GEXF, GML, Pajek, JSON, adjacency lists, DIMACS: what is read, what is refused, what is written.
// python/tests/test_formats.py has networkx and igraph judge the same.

#include <gtest/gtest.h>

#include <map>

#include "copse/graph/build.hpp"
#include "copse/io/read.hpp"
#include "copse/support/error.hpp"
#include "graph/edges_of.hpp"
#include "oracle/graphs.hpp"
#include "oracle/temporary_directory.hpp"

namespace copse {
namespace {

using NamedEdges = std::map<std::pair<std::string, std::string>, double>;

NamedEdges by_name(const NamedGraph& graph) {
  NamedEdges edges;
  for (const auto& [ends, weight] : oracle::edges_of(graph.graph)) {
    const std::string u = graph.names.name(static_cast<NodeId>(ends.first)),
                      v = graph.names.name(static_cast<NodeId>(ends.second));
    edges[{std::min(u, v), std::max(u, v)}] = weight;
  }
  return edges;
}

struct ReadBack {
  NamedGraph graph;
  ReadReport report;
};

ReadBack read_as(const std::string& name, const std::string& text, ReadOptions options = {}) {
  const oracle::TemporaryDirectory directory;
  oracle::put(directory.file(name), text);
  ReadBack read;
  read.graph = read_graph(directory.file(name), options, {}, &read.report);
  return read;
}

// "LINE: problem", without the directory.
std::string error_of(const std::string& name, const std::string& text, const ReadOptions& options = {}) {
  try {
    read_as(name, text, options);
  } catch (const Error& error) {
    const std::string where = error.where().substr(error.where().rfind('/') + 1);
    EXPECT_FALSE(error.remedy().empty());
    return where + ": " + error.problem();
  }
  return "nothing is wrong";
}

ReadOptions told(const std::string& role, const std::string& column) {
  ReadOptions options;
  options.table.columns.emplace_back(role, column);
  return options;
}

const NamedEdges kPath{{{"a", "b"}, 2}, {{"b", "c"}, 0.5}};

constexpr char kGraphml[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE graphml [<!ENTITY x "y">]>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="weight" attr.type="double"><default>0.5</default></key>
  <key id="d1" for="node" attr.name="title" attr.type="string"/>
  <graph edgedefault="directed">
    <node id="a"><data key="d1">Ann</data></node><node id="b"><data key="d1">Bob</data></node>
    <node id="c"><data key="d1">Cid &amp; Co</data></node><node id="alone"><data key="d1">Dan</data></node>
    <edge source="a" target="b"><data key="d0"> 2.0
    </data></edge>
    <edge source="c" target="b"/>
  </graph>
</graphml>)";

TEST(ListedFormats, graphml_with_a_default_weight_and_a_node_without_edges) {
  const ReadBack read = read_as("g.graphml", kGraphml);
  EXPECT_EQ(by_name(read.graph), kPath);
  EXPECT_EQ(read.graph.names.name(3), "alone");
  EXPECT_EQ(read.report.format, GraphFormat::graphml);
  EXPECT_EQ(by_name(read_as("nameless", kGraphml).graph), kPath);  // known by its first bytes
  EXPECT_EQ(read_as("g.graphml", kGraphml, told("node", "title")).graph.names.name(2), "Cid & Co");
  EXPECT_FALSE(read_as("g.graphml", kGraphml, told("weight", "")).graph.graph.view().is_weighted());
}

TEST(ListedFormats, gexf_without_a_weight_has_weight_one) {
  const std::string text =
      R"(<gexf version="1.2"><graph><nodes><node id="a" label="A"/><node id="b" label="B">
      <nodes><node id="c" label="C"/></nodes></node></nodes>
      <edges><edge id="0" source="a" target="b" weight="2"/><edge id="1" source="b" target="c"/></edges></graph></gexf>)";
  EXPECT_EQ(by_name(read_as("g.gexf", text).graph), (NamedEdges{{{"a", "b"}, 2}, {{"b", "c"}, 1}}));
  EXPECT_EQ(read_as("x", text, told("node", "label")).graph.names.name(2), "C");
}

TEST(ListedFormats, gml_calls_nodes_by_labels_that_differ) {
  const std::string text =
      "Creator \"me\"\n# a comment\ngraph [\n directed 0\n node [ id 1 label \"a\" graphics [ x 1 y [ z 2 ] "
      "] ]\n"
      " node [ id 7 label \"b\" ]\n node [ id 3 label \"LABEL\" ]\n edge [ source 1 target 7 value 2 ]\n"
      " edge [ source 7 target 3 value 5.0E-1 since 1990 ]\n]\n";
  const auto with_label = [&](const std::string& label) {
    return std::string(text).replace(text.find("LABEL"), 5, label);
  };
  const ReadBack read = read_as("g.gml", with_label("c"));
  EXPECT_EQ(by_name(read.graph), kPath);
  EXPECT_EQ(read.report.columns, "weight value; not used: since");
  EXPECT_EQ(read_as("g.gml", with_label("&#233;&#x65E5;&quot;&amp;&bad;")).graph.names.name(2),
            "é日\"&&bad;");
  const ReadBack by_id = read_as("g.gml", with_label("a"));
  EXPECT_EQ(by_name(by_id.graph), (NamedEdges{{{"1", "7"}, 2}, {{"3", "7"}, 0.5}}));
  EXPECT_EQ(
      by_id.report.columns,
      "weight value; not used: since; nodes are called by their ids: not every one has a label of its own");
  EXPECT_EQ(read_as("g.gml", with_label("c"), told("node", "id")).graph.names.name(1), "7");
}

TEST(ListedFormats, pajek_edges_arcs_and_lists) {
  const std::string text =
      "% made by hand\r\n*Network friends\r\n*vertices 4\r\n1 \"a\" 0.5 0.5\r\n2 \"b\"\r\n3 c\r\n4 \"d "
      "e\"\r\n*Arcs\r\n1 2 "
      "2\r\n*Edges\r\n3 2 0.5\r\n*Edgeslist\r\n4 1 2\r\n";
  EXPECT_EQ(by_name(read_as("g.net", text).graph),
            (NamedEdges{{{"a", "b"}, 2}, {{"b", "c"}, 0.5}, {{"a", "d e"}, 1}, {{"b", "d e"}, 1}}));
  EXPECT_EQ(by_name(read_as("g.net", "*Vertices 3\n*Edges\n1 2\n").graph), (NamedEdges{{{"1", "2"}, 1}}));
}

TEST(ListedFormats, json_of_networkx_d3_and_pandas) {
  const std::string links =
      R"([{"source": "a", "target": "b", "weight": 2}, {"weight": 5e-1, "x": [{"source": 1}],
      "source": "c", "target": "b"}])";
  EXPECT_EQ(by_name(read_as("g.json",
                            R"({"directed": true, "graph": {"nodes": [1]}, "nodes": [{"id": "a"}, {"id": "b",
      "pos": [0, {"id": 3}]}, {"id": "c"}], "links": )" +
                                links + "}")
                        .graph),
            kPath);
  EXPECT_EQ(by_name(read_as("g", "{\"edges\": " + links +
                                     ", \"nodes\": [{\"id\":\"c\"},{\"id\":\"a\"},{\"id\":\"b\"}]}")
                        .graph),
            kPath);
  EXPECT_EQ(by_name(read_as("g.json", links).graph), kPath);
  const NamedGraph numbers =
      read_as("g.json", R"({"nodes":[{"id":5},{"id":6}],"links":[{"source":5,"target":6}]})").graph;
  EXPECT_TRUE(numbers.names.is_numbered());
  EXPECT_EQ(numbers.names.first_number(), 5u);
}

TEST(ListedFormats, json_lines_by_the_names_of_tables) {
  const ReadBack read = read_as("g.jsonl",
                            "{\"from\": \"a\", \"to\": \"b\", \"amount\": 2, \"when\": null}\n\n"
                            "{\"to\": \"b\", \"amount\": \"0.5\", \"from\": \"c\"}\r\n");
  EXPECT_EQ(by_name(read.graph), kPath);
  EXPECT_EQ(read.report.columns, "weight amount; not used: when");
}

TEST(ListedFormats, adjacency_lists_and_dimacs) {
  EXPECT_EQ(by_name(read_as("g.adjlist", "# of networkx\na b c # behind\nc b\nd\n").graph),
            (NamedEdges{{{"a", "b"}, 1}, {{"a", "c"}, 1}, {{"b", "c"}, 1}}));
  EXPECT_EQ(by_name(read_as("g.adjlist", "a b\nb a c\nc b\n").graph),
            (NamedEdges{{{"a", "b"}, 1}, {{"b", "c"}, 1}}));
  const NamedGraph dimacs = read_as("g.col", "c a triangle\np edge 4 3\ne 1 2\ne 2 3\nn 1 5\ne 3 1\n").graph;
  EXPECT_EQ(by_name(dimacs), (NamedEdges{{{"1", "2"}, 1}, {{"1", "3"}, 1}, {{"2", "3"}, 1}}));
  EXPECT_EQ(dimacs.graph.num_nodes(), 4u);
}

TEST(ListedFormats, what_is_wrong_is_told_with_its_place) {
  const auto graphml = [](const std::string& body) {
    return "<graphml>\n<graph>\n" + body + "\n</graph></graphml>";
  };
  const std::string nodes = "<node id=\"a\"/><node id=\"b\"/>\n";
  EXPECT_EQ(error_of("g.graphml", graphml("<node/>")), "g.graphml:3: node has no attribute \"id\"");
  EXPECT_EQ(error_of("g.graphml", graphml(nodes + "<node id=\"a\"/>")),
            "g.graphml:4: node \"a\" is listed a second time");
  EXPECT_EQ(error_of("g.graphml", graphml(nodes + "<edge source=\"a\" target=\"q\"/>")),
            "g.graphml: an edge has the end \"q\", which is not among the nodes");
  EXPECT_EQ(error_of("g.graphml", graphml("<hyperedge/>")), "g.graphml:3: this is a hyperedge");
  EXPECT_EQ(error_of("g.graphml", graphml("</graph><graph>")),
            "g.graphml:3: this is the second graph of the file");
  EXPECT_EQ(error_of("g.graphml", graphml("<node id=\"a\nb\"/>")),
            "g.graphml:3: \"a\\x0ab\" holds a tab, a line end or a zero byte");
  EXPECT_EQ(error_of("g.graphml", graphml("<node id=\"\"/>")), "g.graphml:3: an id is empty");
  EXPECT_EQ(error_of("g.graphml", graphml("<node id=\"a\">")).substr(0, 27), "g.graphml:4: this is no XML");
  EXPECT_EQ(error_of("g.graphml", "<svg/>"), "g.graphml: the document is \"svg\", not graphml");
  EXPECT_EQ(error_of("g.gexf", "<svg/>"), "g.gexf: the document is \"svg\", not gexf");
  EXPECT_EQ(error_of("g.graphml", "").substr(0, 28), "g.graphml:1: this is no XML:");
  EXPECT_EQ(error_of("g.graphml", kGraphml, told("node", "nothing")),
            "g.graphml: no node has an attribute \"nothing\"");
  EXPECT_EQ(error_of("g.graphml", kGraphml, told("source", "a")),
            "g.graphml: there is no source to be told, and this is graphml");
  const std::string gml = "graph [\nnode [ id 1 ]\nnode [ id 2 ]\n";
  EXPECT_EQ(error_of("g.gml", gml + "edge [ source 1 target 2 weight -1 ]\n]"),
            "g.gml:4: weight \"-1\" is not a positive number");
  EXPECT_EQ(error_of("g.gml", gml + "edge [ source 1 target 2 weight 1 ]\nedge [ source 1 target 2 ] ]")
                .substr(0, 62),
            "g.gml:5: this edge has no weight, another one has (/tmp/copse-");
  EXPECT_EQ(error_of("g.gml", gml + "edge [ source 1 ] ]"), "g.gml:4: this edge has no source or no target");
  EXPECT_EQ(error_of("g.gml", gml + "edge [ source 1 target 2 weight 1 value 2 ] ]"),
            "g.gml: \"weight\" and \"value\" may both be the weight");
  EXPECT_EQ(error_of("g.gml", gml), "g.gml:4: the file ends inside of a list");
  EXPECT_EQ(error_of("g.gml", gml + "] ]"), "g.gml:4: found ] without its [");
  EXPECT_EQ(error_of("g.gml", gml + "node ]"), "g.gml:4: the key \"node\" has no value");
  EXPECT_EQ(error_of("g.gml", gml + "\"node\" 1 ]"), "g.gml:4: found \"node\" where a key was expected");
  EXPECT_EQ(error_of("g.gml", gml + "] graph [ ]"), "g.gml:4: this is the second graph of the file");
  EXPECT_EQ(error_of("g.gml", "version 1"), "g.gml: this file holds no node");
  EXPECT_EQ(error_of("g.net", "*Vertices 2\n*Edges\n1 3\n"), "g.net:3: vertex \"3\" is not between 1 and 2");
  EXPECT_EQ(error_of("g.net", "*Vertices 4000000000\n*Edges\n1 3\n"),
            "g.net:1: 4,000,000,000 vertices are more than the file can need");
  EXPECT_EQ(error_of("g.net", "*Vertices 2\n*Matrix\n0 1\n"),
            "g.net:2: copse does not read \"*matrix\" of a Pajek file");
  EXPECT_EQ(error_of("g.net", "1 2\n"), "g.net:1: found \"1\" before *Vertices");
  EXPECT_EQ(error_of("g.net", "*Vertices 1\n1 \"a\n"),
            "g.net:2: a label begins with a quote that does not end it");
  EXPECT_EQ(error_of("g.net", "*Vertices 1\n*Vertices 1\n"),
            "g.net:2: this is the second network of the file");
  EXPECT_EQ(error_of("g.net", "%\n"), "g.net: this file holds no *Vertices");
  EXPECT_EQ(error_of("g.json", "{\"links\": [\n{]}"), "g.json:2: this is no JSON");
  EXPECT_EQ(error_of("g.json", "{}"), "g.json: there is neither \"links\" nor \"edges\"");
  EXPECT_EQ(error_of("g.json", "{\"nodes\": [{\"id\": 1}, {}], \"links\": []}"),
            "g.json(nodes[1]): this node has no \"id\"");
  EXPECT_EQ(error_of("g.json", "{\"links\": [{\"source\": [1, 2], \"target\": 1}]}"),
            "g.json(edges[0]): an id is neither text nor a whole number");
  EXPECT_EQ(error_of("g.json", "{\"links\": [{\"source\": 1.5, \"target\": 1}]}"),
            "g.json(edges[0]): an id is neither text nor a whole number");
  EXPECT_EQ(error_of("g.json", "{\"links\": [{\"source\": 1}]}"),
            "g.json(edges[0]): this edge has no target");
  EXPECT_EQ(error_of("g.json", "{\"links\": [{\"source\": 1, \"target\": 2, \"weight\": true}]}"),
            "g.json(edges[0]): weight \"true\" is not a positive number");
  EXPECT_EQ(error_of("g.jsonl", "{\"source\": 1, \"target\": 2}\n{\"source\": 1, \"target\": 2\n"),
            "g.jsonl:2: this is no JSON");
  EXPECT_EQ(error_of("g.jsonl", "[1]\n"), "g.jsonl: this file holds no node");
  EXPECT_EQ(error_of("g.adjlist", "# nothing\n"), "g.adjlist: this file holds no node");
  EXPECT_EQ(error_of("g.col", "p edge 2 1\ne 1 3\n"), "g.col:2: \"3\" is no number from 1 to 2");
  EXPECT_EQ(error_of("g.col", "e 1 3\n"), "g.col:1: an edge stands before the line \"p edge\"");
  EXPECT_EQ(error_of("g.col", "p edge 4294967295 1\ne 1 3\n"),
            "g.col: 4,294,967,295 nodes are more than the edges can need");
  EXPECT_EQ(error_of("g.col", "p sp 2 1\na 1 2 5\n"), "g.col:1: the numbers at these edges are lengths");
  EXPECT_EQ(error_of("g.col", "p max 2 1\n"), "g.col:1: the problem is \"max\", not edge or col");
  EXPECT_EQ(error_of("g.col", "x\n"), "g.col:1: a line begins with \"x\"");
  EXPECT_EQ(error_of("g.col", "c\n"), "g.col: this file holds no line \"p edge\"");
  ReadOptions commas;
  commas.table.delimiter = ',';
  EXPECT_EQ(error_of("g.json", "{}", commas),
            "g.json: delimiters and headers are told of edge lists only, and this is json");
}

TEST(ListedFormats, entities_are_not_expanded_and_depth_costs_no_stack) {
  std::string bomb = "<!DOCTYPE graphml [<!ENTITY l0 \"lol\">";
  for (int i = 1; i < 30; ++i) {
    const std::string below = "&l" + std::to_string(i - 1) + ";";
    bomb += "<!ENTITY l" + std::to_string(i) + " \"" + below + below + below + below + "\">";
  }
  bomb += "<!ENTITY file SYSTEM \"file:///etc/passwd\">]>";
  const std::string graph = "<graphml><graph><node id=\"&l29;\"/><node id=\"&file;\"/></graph></graphml>";
  const NamedGraph read = read_as("g.graphml", bomb + graph).graph;
  EXPECT_EQ(read.names.name(0), "&l29;");
  EXPECT_EQ(read.names.name(1), "&file;");
  constexpr std::size_t kDepth = 1'000'000;
  std::string deep = "<graphml>", brackets, gml = "graph [ ";
  for (std::size_t i = 0; i < kDepth; ++i) deep += "<a>";
  for (std::size_t i = 0; i < kDepth; ++i) gml += "a [ ";
  EXPECT_EQ(error_of("g.graphml", deep).substr(0, 27), "g.graphml:1: this is no XML");
  EXPECT_EQ(error_of("g.gml", gml), "g.gml:1: the file ends inside of a list");
  for (std::size_t i = 0; i < kDepth; ++i) deep += "</a>";
  EXPECT_EQ(read_as("g.graphml", deep + "</graphml>").graph.graph.num_nodes(), 0u);
  EXPECT_EQ(error_of("g.json", "{\"x\": " + std::string(kDepth, '[')), "g.json:1: this is no JSON");
  const std::string closed =
      "{\"x\": " + std::string(kDepth, '[') + std::string(kDepth, ']') + ", \"nodes\": [], \"links\": []}";
  EXPECT_EQ(read_as("g.json", closed).graph.graph.num_nodes(), 0u);
}

TEST(ListedFormats, whatever_is_written_reads_back) {
  const std::vector<std::string> names{"a", "b c", "é日",       "<&>'", "#d",  "007",
                                       "%", "{x}", "*Vertices", "]",    "\\x", "1"};
  std::vector<char> text;
  std::vector<std::uint64_t> ends;
  for (const std::string& name : names) {
    text.insert(text.end(), name.begin(), name.end());
    ends.push_back(text.size());
  }
  const auto owner = std::make_shared<std::pair<std::vector<std::uint64_t>, std::vector<char>>>(ends, text);
  const NodeNames texts = NodeNames::strings(owner->first, owner->second, owner);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Graph weighted = oracle::random_connected_graph({.num_nodes = 11, .num_edges = 20, .seed = seed});
    std::vector<Edge> edges;
    for (const auto& [pair, weight] : oracle::edges_of(weighted))
      edges.push_back(
          {static_cast<NodeId>(pair.first), static_cast<NodeId>(pair.second), static_cast<Weight>(weight)});
    for (const bool is_weighted : {true, false})
      for (const NodeNames& called : {texts, NodeNames::numbered(12, 3)}) {
        const NamedGraph graph{is_weighted ? graph_from_edges(12, edges) : graph_from_pairs(12, edges),
                               called};
        for (const std::string name : {"g.graphml", "g.gexf", "g.gml", "g.net", "g.json", "g.json.gz"}) {
          SCOPED_TRACE(name + " " + std::to_string(seed));
          const oracle::TemporaryDirectory directory;
          write_graph(directory.file(name), graph, {});
          const NamedGraph back = read_graph(directory.file(name), {}, {});
          EXPECT_EQ(by_name(back), by_name(graph));
          EXPECT_EQ(back.graph.num_nodes(), 12u);  // node 11 has no edge
          EXPECT_EQ(back.names.is_numbered(), graph.names.is_numbered());
          for (NodeId u = 0; u < 12; ++u) EXPECT_EQ(back.names.name(u), graph.names.name(u));
          EXPECT_EQ(back.graph.view().is_weighted(), is_weighted);
        }
      }
  }
}

TEST(ListedFormats, a_name_that_a_format_cannot_hold_is_refused) {
  const auto refused = [](const std::string& name, const std::string& file) {
    const oracle::TemporaryDirectory directory;
    oracle::put(directory.file("g.tsv"), "source\ttarget\n" + name + "\tb\n");
    const NamedGraph graph = read_graph(directory.file("g.tsv"), {}, {});
    try {
      write_graph(directory.file(file), graph, {});
    } catch (const UsageError& error) {
      EXPECT_EQ(directory.listing(), std::vector<std::string>{"g.tsv"});
      return error.problem();
    }
    return std::string("nothing");
  };
  EXPECT_EQ(refused("a\xFF", "g.json"), "the id \"a\xFF\" is not UTF-8, which such a file cannot hold");
  EXPECT_EQ(refused("a\x01", "g.graphml"),
            "the id \"a\\x01\" holds a control character, which such a file cannot hold");
  EXPECT_EQ(refused("a\"", "g.net"), "the id \"a\"\" holds a quote, which such a file cannot hold");
  EXPECT_EQ(refused("a\"", "g.gml"), "nothing");
}

TEST(ListedFormats, pairs_without_weights_count_once_in_every_format) {
  const std::string market = "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n1 2\n2 3\n";
  EXPECT_EQ(by_name(read_as("g.mtx", market).graph), (NamedEdges{{{"1", "2"}, 1}, {{"2", "3"}, 1}}));
  EXPECT_EQ(by_name(read_as("g.col", "p edge 2 2\ne 1 2\ne 1 2\n").graph), (NamedEdges{{{"1", "2"}, 1}}));
  EXPECT_EQ(by_name(read_as("g.net", "*Vertices 2\n*Edges\n1 2\n1 2\n").graph),
            (NamedEdges{{{"1", "2"}, 1}}));
}

TEST(OtherFiles, are_named_with_the_way_to_convert_them) {
  const std::pair<std::string, std::string> kFiles[] = {
      {std::string("PAR1\0\0", 6), "a Parquet file, not text"},
      {std::string("ARROW1\0\0xx", 10), "an Arrow (Feather) file, not text"},
      {std::string("FEA1\0", 5), "a Feather file, not text"},
      {std::string("\xFF\xFF\xFF\xFF\0\0", 6), "an Arrow stream, not text"},
      {std::string("SQLite format 3\0\1", 17), "an SQLite database, not text"},
      {std::string("12345678DUCK\0", 13), "a DuckDB database, not text"},
      {std::string("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0", 9), "an old Excel or Office file, not text"},
      {std::string("\x89HDF\r\n\x1A\n\0", 9), "an HDF5 file, not text"},
      {std::string("\x80\x04\x95\0", 4), "a Python pickle, which may run any program when it is opened"},
      {"%PDF-1.7\n1 2\n", "a PDF document, not text"},
      {"\n<!DOCTYPE HTML>\n<title>404</title>", "an HTML page, not a graph"},
      {"<?xml version=\"1.0\"?><svg/>", "XML, but neither GraphML nor GEXF is seen in its first lines"},
      {"digraph g {\na -> b;\n}\n", "a DOT file of Graphviz"},
  };
  const auto zip = [](const std::string& member) {
    return std::string("PK\x03\x04", 4) + std::string(22, '\0') + static_cast<char>(member.size()) +
           std::string(3, '\0') + member;
  };
  for (const auto& [bytes, kind] : kFiles)
    for (const std::string name : {"g.csv", "g", "g.json"})
      EXPECT_EQ(error_of(name, bytes), name + ": this is " + kind);
  EXPECT_EQ(error_of("g.xlsx", zip("[Content_Types].xml")), "g.xlsx: this is an Excel file, not text");
  EXPECT_EQ(error_of("g.zip", zip("edges.csv")), "g.zip: this is a ZIP archive, not text");
}

}  // namespace
}  // namespace copse
