// SPDX-License-Identifier: Apache-2.0
#include "papers/generators.hpp"

#include <algorithm>

#include "graph/generate_parts.hpp"

// The families with which the papers show what a method can and cannot do, labelled as there.

namespace copse {
namespace {

constexpr double kMostOfClique = 50'000;  // 1.25 * 10^9 edges

using Values = std::vector<double>;

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(value); }

// Two cliques 0 ... size - 1 and size ... 2 size - 1 with opposite labels, joined by `bridges`; the first
// `num_noisy` nodes have the label of the other clique.
GeneratedGraph joined_cliques(std::uint64_t size, EdgeChunk bridges, std::uint64_t num_noisy,
                              const Execution& execution) {
  std::vector<EdgeChunk> chunks = clique_chunks(0, size, execution);
  append(chunks, clique_chunks(size, size, execution));
  chunks.push_back(std::move(bridges));
  return finish(
      std::move(chunks), 2 * size, two_sides(),
      [=](std::uint64_t u) { return static_cast<Label>(u >= size || u < num_noisy); }, execution);
}

// One edge between the last node of the first clique and the first of the second.
EdgeChunk one_bridge(std::uint64_t size) {
  EdgeChunk bridge;
  add_edge(bridge, size - 1, size);
  return bridge;
}

void check_below_clique(const char* family, const char* parameter, std::uint64_t value, std::uint64_t size,
                        const char* reason) {
  if (value < size) return;
  refuse(family, parameter, std::to_string(value) + " is not below clique = " + std::to_string(size), reason);
}

GeneratedGraph make_barbell(const Values& values, const Execution& execution) {
  return joined_cliques(whole(values[0]), one_bridge(whole(values[0])), 0, execution);
}

GeneratedGraph make_noisy_barbell(const Values& values, const Execution& execution) {
  const std::uint64_t size = whole(values[0]), num_noisy = whole(values[1]);
  check_below_clique("noisy_barbell", "noisy", num_noisy, size, "the node at the bridge keeps its label");
  return joined_cliques(size, one_bridge(size), num_noisy, execution);
}

GeneratedGraph make_thick_barbell(const Values& values, const Execution& execution) {
  const std::uint64_t size = whole(values[0]), num_bridges = whole(values[1]);
  check_below_clique("thick_barbell", "bridges", num_bridges, size,
                     "bridges share no end, and the paper has fewer of them than a clique has nodes");
  EdgeChunk bridges;
  for (std::uint64_t i = 0; i < num_bridges; ++i) add_edge(bridges, i, size + i);
  return joined_cliques(size, std::move(bridges), 0, execution);
}

// The nodes first ... first + count - 1, number i of which hangs on node parent(i).
template <class Parent>
std::vector<EdgeChunk> hanging_nodes(std::uint64_t first, std::uint64_t count, const Execution& execution,
                                     Parent&& parent) {
  return make_chunks(count, execution,
                     [&](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
                       for (std::uint64_t i = begin; i < end; ++i) add_edge(chunk, parent(i), first + i);
                     });
}

GeneratedGraph make_flower(const Values& values, const Execution& execution) {
  const std::uint64_t stem = whole(values[0]), petals = whole(values[1]);
  return finish(
      hanging_nodes(1, stem + petals - 1, execution, [=](std::uint64_t i) { return std::min(i, stem - 1); }),
      stem + petals, execution);
}

// A clique 0 ... size - 1 (+1) and what hangs on it (-1).
GeneratedGraph clique_with(std::uint64_t size, std::vector<EdgeChunk> more, std::uint64_t num_nodes,
                           const Execution& execution) {
  append(more, clique_chunks(0, size, execution));
  return finish(
      std::move(more), num_nodes, two_sides(), [=](std::uint64_t u) { return static_cast<Label>(u >= size); },
      execution);
}

GeneratedGraph make_octopus(const Values& values, const Execution& execution) {
  const std::uint64_t head = whole(values[0]), tentacles = whole(values[1]), length = whole(values[2]);
  if (values[0] + values[1] * values[2] + 1 > kMostGeneratedNodes) {
    refuse("octopus", "length", "head + tentacles x length + 1 nodes are too many",
           "at most " + with_commas(whole(kMostGeneratedNodes)) + " nodes fit");
  }
  const std::uint64_t root = head, size = tentacles * length;
  auto chunks = hanging_nodes(root + 1, size, execution,
                              [=](std::uint64_t i) { return i % length == 0 ? root : root + i; });
  add_edge(chunks.emplace_back(), 0, root);
  return clique_with(head, std::move(chunks), head + 1 + size, execution);
}

GeneratedGraph make_lollipop(const Values& values, const Execution& execution) {
  const std::uint64_t clique = whole(values[0]), line = whole(values[1]);
  return clique_with(clique,
                     hanging_nodes(clique, line, execution, [=](std::uint64_t i) { return clique + i - 1; }),
                     clique + line, execution);
}

using Pair = std::pair<std::uint64_t, std::uint64_t>;

// `out` of the `size` - 1 others of each of `size` vertices, without replacement (Floyd's sampling): the
// sampled pairs, some of them perhaps from both ends.
std::vector<Pair> sample_k_out(std::uint64_t size, std::uint64_t out, Stream& stream) {
  std::vector<Pair> pairs;
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t u = 0; u < size; ++u) {
    chosen.clear();
    for (std::uint64_t last = size - 1 - out; last < size - 1; ++last) {
      const std::uint64_t drawn = stream.below(last + 1);
      const bool is_new = std::find(chosen.begin(), chosen.end(), drawn) == chosen.end();
      chosen.push_back(is_new ? drawn : last);
    }
    for (const std::uint64_t other : chosen)
      pairs.push_back(std::minmax(u, other + (other >= u)));  // without u
  }
  return pairs;
}

// One real edge for each different pair of clusters, whichever end sampled it.
EdgeChunk meta_edges(std::uint64_t q, std::uint64_t k, const Execution& execution) {
  Stream stream{execution.seed, Purpose::generator, q};
  std::vector<Pair> pairs = sample_k_out(q, k, stream);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  EdgeChunk chunk;
  for (const auto& [a, b] : pairs) {
    const std::uint64_t u = a * q + stream.below(q);
    add_edge(chunk, u, b * q + stream.below(q));
  }
  return chunk;
}

// The paper leaves the diffusion to a report; here: one labelled node per cluster, half of them positive,
// then again and again a random node next to a labelled one takes the label of a random labelled
// neighbour, or with probability `noise` the other one. What no label reaches takes its cluster's first.
std::vector<Label> diffuse_labels(const GraphView& graph, std::uint64_t q, double noise, std::uint64_t seed) {
  Stream stream{seed, Purpose::generator, q + 1};
  std::vector<Label> of_cluster(q);
  for (std::uint64_t c = 0; c < q; ++c) of_cluster[c] = static_cast<Label>(c % 2);
  for (std::uint64_t c = q; c > 1; --c) std::swap(of_cluster[c - 1], of_cluster[stream.below(c)]);

  std::vector<Label> labels(graph.num_nodes(), kNoLabel);
  std::vector<NodeId> border;  // unlabelled, next to a labelled node
  std::vector<bool> is_listed(graph.num_nodes());
  const auto set_label = [&](NodeId u, Label label) {
    labels[u] = label;
    is_listed[u] = true;
    for (const NodeId v : graph.neighbors_of(u)) {
      if (!is_listed[v]) border.push_back(v);
      is_listed[v] = true;
    }
  };
  std::vector<NodeId> first(q);
  for (std::uint64_t c = 0; c < q; ++c)
    is_listed[first[c] = static_cast<NodeId>(c * q + stream.below(q))] = true;
  for (std::uint64_t c = 0; c < q; ++c) set_label(first[c], of_cluster[c]);

  std::vector<Label> known;
  while (!border.empty()) {
    std::swap(border[stream.below(border.size())], border.back());
    const NodeId u = border.back();
    border.pop_back();
    known.clear();
    for (const NodeId v : graph.neighbors_of(u))
      if (labels[v] != kNoLabel) known.push_back(labels[v]);
    const Label taken = known[stream.below(known.size())];
    set_label(u, stream.uniform() < noise ? static_cast<Label>(1 - taken) : taken);
  }
  for (std::uint64_t c = 0; c < q; ++c)
    for (std::uint64_t u = c * q; u < (c + 1) * q; ++u)
      if (labels[u] == kNoLabel) labels[u] = of_cluster[c];
  return labels;
}

GeneratedGraph make_hierarchical(const Values& values, const Execution& execution) {
  const std::uint64_t q = whole(values[0]), k = whole(values[1]);
  if (k >= q) {
    refuse("hierarchical", "out", std::to_string(k) + " is not below clusters = " + std::to_string(q),
           "a node samples its edges among the clusters - 1 others of its cluster");
  }
  auto chunks = make_chunks(
      q, execution,
      [&](std::size_t begin, std::size_t, std::size_t, EdgeChunk& chunk) {
        Stream stream{execution.seed, Purpose::generator, begin};
        for (const auto& [u, v] : sample_k_out(q, k, stream)) add_edge(chunk, begin * q + u, begin * q + v);
      },
      1);
  chunks.push_back(meta_edges(q, k, execution));
  GeneratedGraph made = finish(std::move(chunks), q * q, execution);
  for (const std::string& name : two_sides()) made.labels.classes.intern(name);
  made.labels.of_node = diffuse_labels(made.graph, q, values[2], execution.seed);
  return made;
}

std::vector<GeneratorRow> paper_generators() {
  const GeneratorParameter clique{"clique", 100, "nodes of each clique", 2, kMostOfClique};
  return {
      {"barbell",
       "two cliques with opposite labels, joined by one edge (Herbster & Pontil 2006, figure 2)",
       {clique},
       make_barbell},
      {"noisy_barbell",
       "a barbell where some nodes of the first clique have the label of the second: concept noise (Herbster "
       "& Pontil 2006, figure 3 and section 4)",
       {clique, {"noisy", 1, "nodes of the first clique with the other label", 0, kMostOfClique}},
       make_noisy_barbell},
      {"thick_barbell",
       "two cliques with opposite labels, joined by several edges that share no end (Herbster & Pontil 2006, "
       "end of section 4; Cesa-Bianchi et al. 2013, section 3)",
       {clique, {"bridges", 10, "edges between the cliques, below clique", 1, kMostOfClique}},
       make_thick_barbell},
      {"flower",
       "a stem, the last node of which carries the petals: its resistance diameter is nearly reached by one "
       "node's norm (Herbster & Pontil 2006, figure 4 and section 3); no labels",
       {{"stem", 10, "nodes of the stem, p in the paper", 1, 2e9},
        {"petals", 100, "petals, m in the paper", 1, 2e9}},
       make_flower},
      {"octopus",
       "a clique (the head, +1) joined by one edge to the root of the tentacles (-1): nearest neighbours err "
       "on every tip (Herbster & Pontil 2006, figure 5 and section 5.1); balanced if head = tentacles x "
       "length + 1",
       {{"head", 61, "nodes of the clique, l in the paper", 1, kMostOfClique},
        {"tentacles", 20, "tentacles, m in the paper", 1, kMostGeneratedNodes},
        {"length", 3, "nodes of a tentacle without the root, p in the paper", 1, kMostGeneratedNodes}},
       make_octopus},
      {"lollipop",
       "a clique (+1) with a line (-1) attached: a dense part and a large diameter (Cesa-Bianchi et al. "
       "2013, section 3; the labels are ours)",
       {{"clique", 100, "nodes of the clique", 1, kMostOfClique}, {"line", 100, "nodes of the line", 1, 2e9}},
       make_lollipop},
      {"hierarchical",
       "`clusters` random graphs G_k-out of as many nodes each, joined by a G_k-out of clusters, labelled by "
       "noisy diffusion from one node per cluster, half of them +1 (Herbster, Pontil & Wainer 2005, section "
       "6: 26 and 2; the amount of noise is ours)",
       {{"clusters", 26, "clusters, and nodes of each; q in the paper", 2, 60'000},
        {"out", 2, "edges sampled at each node and at each cluster; k in the paper", 1, 1000},
        {"noise", 0.05, "probability that a label is flipped when it spreads", 0, 1, false}},
       make_hierarchical},
  };
}

}  // namespace

const std::vector<GeneratorRow>& all_generator_rows() {
  static const std::vector<GeneratorRow> rows = [] {
    std::vector<GeneratorRow> all = generator_rows();
    for (GeneratorRow& row : paper_generators()) all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

}  // namespace copse
