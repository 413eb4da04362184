// SPDX-License-Identifier: Apache-2.0
// What does a committee take whose graph changes? Random edges come and go, some at a time, and then a node
// is asked about. Beside it: the same committee made anew for the graph as it is, whose answers must be the
// same.
//
//   changing_graph [--nodes 1e6] [--edges 1e7] [--trees 31] [--batches 1,100,10000] [--weighted 0]

#include <map>
#include <random>
#include <sstream>

#include "bench.hpp"
#include "copse/graph/build.hpp"
#include "copse/learners/wta.hpp"

namespace {

using namespace copse;

/// Of the process, on one thread.
template <class Body>
double take(const char* what, Body&& body) {
  const double seconds = bench::cpu_seconds(body);
  std::printf("%-44s %9.3f s\n", what, seconds);
  std::fflush(stdout);
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](const char* name, double fallback) {
    return std::atof(bench::argument(argc, argv, name, std::to_string(fallback)).c_str());
  };
  const auto n = static_cast<NodeId>(number("nodes", 1e6));
  const auto m = static_cast<std::size_t>(number("edges", 1e7));
  const bool weighted = number("weighted", 0) != 0;
  std::mt19937_64 random(1);
  const auto draw = [&] {
    const auto u = static_cast<NodeId>(random() % n), v = static_cast<NodeId>(random() % (n - 1));
    return Edge{u, v < u ? v : v + 1, weighted ? static_cast<Weight>(1 + random() % 8) : Weight{1}};
  };
  std::vector<Edge> edges(m);
  for (Edge& edge : edges) edge = draw();
  const auto graph_of = [&] {
    EdgeChunk chunk;
    for (const Edge& edge : edges) {
      chunk.u.push_back(edge.u);
      chunk.v.push_back(edge.v);
      if (weighted) chunk.weight.push_back(edge.weight);
    }
    std::vector<EdgeChunk> chunks;
    chunks.push_back(std::move(chunk));
    return build_graph(std::move(chunks), n, {.duplicates = Duplicates::max}, {}, "changing_graph");
  };
  const WtaOptions options{.tree = TreeKind::random_key, .num_trees = static_cast<int>(number("trees", 31))};
  const auto tell = [&](Wta& wta) {
    for (NodeId node = 0; node < n; node += 100) wta.reveal(node, static_cast<Label>(node / 100 % 4));
  };
  const Graph start = graph_of();
  std::printf("%u nodes, %zu edges, %d trees, one thread, processor time\n", n, m, options.num_trees);
  std::unique_ptr<Wta> wta;
  take("made", [&] { wta = std::make_unique<Wta>(start, options, Execution{}); });
  tell(*wta);
  take("first change and answer", [&] {
    wta->add_edge(0, 1);
    bench::keep(wta->predict(1).label);
  });
  edges.push_back({0, 1, 1});
  std::map<std::pair<NodeId, NodeId>, int> listed;  // how often; only edges that are listed once may go
  for (const Edge& edge : edges) ++listed[std::minmax(edge.u, edge.v)];
  std::istringstream batches(bench::argument(argc, argv, "batches", "1,1,1,100,10000"));
  for (std::string text; std::getline(batches, text, ',');) {
    const int size = std::stoi(text);
    double changing = 0, answering = 0;
    changing = bench::cpu_seconds([&] {
      for (int i = 0; i < size; ++i) {
        if (i % 2 == 0) {
          const Edge edge = draw();
          if (listed[std::minmax(edge.u, edge.v)]++ != 0) continue;
          wta->add_edge(edge.u, edge.v, edge.weight);
          edges.push_back(edge);
          continue;
        }
        Edge& edge = edges[random() % edges.size()];
        int& count = listed[std::minmax(edge.u, edge.v)];
        if (count != 1) continue;
        wta->remove_edge(edge.u, edge.v);
        count = 0;
        edge = edges.back();
        edges.pop_back();
      }
    });
    answering = bench::cpu_seconds([&] { bench::keep(wta->predict(1).label); });
    std::printf("%6d changes %9.3f s, the next answer %9.3f s: %9.1f changes per second\n", size, changing,
                answering, size / (changing + answering));
    std::fflush(stdout);
  }
  const Graph now = graph_of();
  std::unique_ptr<Wta> anew;
  take("made anew", [&] { anew = std::make_unique<Wta>(now, options, Execution{}); });
  tell(*anew);
  for (NodeId node = 0; node < n; node += 37) {
    const Prediction a = wta->predict(node), b = anew->predict(node);
    bench::check(a.label == b.label && a.confidence == b.confidence,
                 "not the answers of a committee made anew");
  }
  std::printf("the answers agree\n");
}
