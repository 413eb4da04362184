// SPDX-License-Identifier: Apache-2.0
// What do the reader and the row builder earn beside their plain twins? The twins are what anyone would
// write: std::getline and std::from_chars, a hash table for the ids, then one sort of all arcs. Both must
// give the same graph before they are timed; one thread.
//
//   read_twins [--data ../shared/data] [--graph NAME|all] [--repeats 5]

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "bench.hpp"
#include "copse/graph/build.hpp"
#include "copse/io/read.hpp"
#include "support/byte_source.hpp"

namespace {

using namespace copse;

struct PlainGraph {
  std::vector<EdgeIndex> offsets;
  std::vector<NodeId> neighbors;
  std::vector<Weight> weights;
};

PlainGraph plain_rows(const EdgeChunk& list, std::uint64_t num_nodes) {
  std::vector<std::tuple<NodeId, NodeId, Weight>> arcs;
  for (std::size_t i = 0; i < list.u.size(); ++i) {
    if (list.u[i] == list.v[i]) continue;
    const Weight weight = list.weight.empty() ? 1 : list.weight[i];
    arcs.emplace_back(list.u[i], list.v[i], weight);
    arcs.emplace_back(list.v[i], list.u[i], weight);
  }
  std::sort(arcs.begin(), arcs.end());
  PlainGraph graph;
  graph.offsets.assign(num_nodes + 1, 0);
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const auto [u, v, weight] = arcs[i];
    if (i > 0 && std::get<0>(arcs[i - 1]) == u && std::get<1>(arcs[i - 1]) == v) {
      graph.weights.back() = weight;  // the largest, as Duplicates::max
      continue;
    }
    ++graph.offsets[u + 1];
    graph.neighbors.push_back(v);
    graph.weights.push_back(weight);
  }
  for (std::size_t u = 0; u < num_nodes; ++u) graph.offsets[u + 1] += graph.offsets[u];
  return graph;
}

// Lines `u<TAB>v[<TAB>weight]`, nodes in order of first appearance.
EdgeChunk plain_list(const std::string& text, std::uint64_t& num_nodes) {
  std::istringstream in(text);
  std::unordered_map<std::string, NodeId> nodes;
  EdgeChunk list;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    const auto node = [&](const std::string& id) {
      return nodes.try_emplace(id, static_cast<NodeId>(nodes.size())).first->second;
    };
    list.u.push_back(node(line.substr(0, first)));
    list.v.push_back(node(line.substr(first + 1, second - first - 1)));
    if (second == std::string::npos) continue;
    Weight weight = 0;
    std::from_chars(line.data() + second + 1, line.data() + line.size(), weight);
    list.weight.push_back(weight);
  }
  num_nodes = nodes.size();
  return list;
}

double median_of(int repeats, const std::function<void()>& body) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(bench::cpu_seconds(body));
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void compare(const std::string& name, const std::string& path, int repeats) {
  ByteSource source = ByteSource::open(path);
  const std::span<const char> bytes = source.rest();
  const std::string text(bytes.data(), bytes.size());
  const std::string plain_path =
      (std::filesystem::temp_directory_path() / ("copse_read_twins_" + std::to_string(getpid()))).string();
  FILE* out = std::fopen(plain_path.c_str(), "wb");
  if (out == nullptr || std::fwrite(text.data(), 1, text.size(), out) != text.size()) std::abort();
  std::fclose(out);
  const ReadOptions options{.duplicates = Duplicates::max};
  std::uint64_t num_nodes = 0;
  const EdgeChunk list = plain_list(text, num_nodes);
  const auto rows = [&] {
    return build_graph({list}, num_nodes, {.duplicates = Duplicates::max}, {}, "list");
  };
  const PlainGraph plain = plain_rows(list, num_nodes);
  const Graph fast = rows();
  const NamedGraph read = read_graph(plain_path, options, {});
  if (!std::ranges::equal(fast.view().offsets, plain.offsets) ||
      !std::ranges::equal(fast.view().neighbors, plain.neighbors) ||
      (fast.view().is_weighted() && !std::ranges::equal(fast.view().weights, plain.weights)) ||
      read.graph.num_nodes() != num_nodes || read.graph.view().num_arcs() != plain.neighbors.size()) {
    std::printf("%-16s the twins disagree: nothing is timed\n", name.c_str());
  } else {
    const double fast_rows = median_of(repeats, [&] { rows(); }),
                 slow_rows = median_of(repeats, [&] { plain_rows(list, num_nodes); }),
                 fast_read = median_of(repeats, [&] { read_graph(plain_path, options, {}); }),
                 slow_read = median_of(repeats, [&] {
                   std::uint64_t count = 0;
                   const EdgeChunk again = plain_list(text, count);
                   plain_rows(again, count);
                 });
    std::printf("%-16s %9lu %10zu %10.1f %10.1f %7.2f %10.1f %10.1f %7.2f\n", name.c_str(),
                static_cast<unsigned long>(num_nodes), plain.neighbors.size() / 2, 1e3 * slow_rows,
                1e3 * fast_rows, slow_rows / fast_rows, 1e3 * slow_read, 1e3 * fast_read,
                slow_read / fast_read);
  }
  std::fflush(stdout);
  std::remove(plain_path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string data = bench::argument(argc, argv, "data", "../shared/data"),
                    wanted = bench::argument(argc, argv, "graph", "all");
  const int repeats = std::stoi(bench::argument(argc, argv, "repeats", "5"));
  std::printf("%-16s %9s %10s %10s %10s %7s %10s %10s %7s\n", "graph", "nodes", "edges", "rows: plain",
              "fast, ms", "ratio", "read: plain", "fast, ms", "ratio");
  for (const char* name : {"cora", "collins2007", "pubmed", "wordnet", "road_cal", "road_sf", "flickr",
                           "ndwww", "fb100_cornell5", "debian_deps"})
    for (const char* packing : {"", ".zst"}) {
      const std::string path = data + "/" + name + "/edges.tsv" + packing;
      if ((wanted == "all" || wanted == name) && std::filesystem::exists(path)) compare(name, path, repeats);
    }
}
