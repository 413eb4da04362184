// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "copse/graph/build.hpp"
#include "copse/graph/generate.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"

// What the families of generate_*.cpp share. Edges are made in blocks, each from a stream of its own or
// from none, so that a graph is the same on any number of threads.

namespace copse {

std::vector<GeneratorRow> classic_generators();  // generate_classic.cpp
std::vector<GeneratorRow> random_generators();   // generate_random.cpp

inline constexpr std::size_t kEdgesPerChunk = std::size_t{1} << 16;

/// body(begin, end, block, chunk) fills one chunk from items [begin, end) of [0, count).
template <class Body>
std::vector<EdgeChunk> make_chunks(std::uint64_t count, const Execution& execution, Body&& body,
                                   std::size_t items_per_chunk = kEdgesPerChunk) {
  std::vector<EdgeChunk> chunks((count + items_per_chunk - 1) / items_per_chunk);
  parallel_blocks(execution.threads, count, items_per_chunk,
                  [&](std::size_t begin, std::size_t end, std::size_t block) {
                    execution.throw_if_cancelled();
                    body(begin, end, block, chunks[block]);
                  });
  return chunks;
}

inline void add_edge(EdgeChunk& chunk, std::uint64_t u, std::uint64_t v) {
  chunk.u.push_back(static_cast<NodeId>(u));
  chunk.v.push_back(static_cast<NodeId>(v));
}

inline void append(std::vector<EdgeChunk>& chunks, std::vector<EdgeChunk> more) {
  for (EdgeChunk& chunk : more) chunks.push_back(std::move(chunk));
}

/// The edges of a complete graph on the nodes first ... first + size - 1.
std::vector<EdgeChunk> clique_chunks(std::uint64_t first, std::uint64_t size, const Execution& execution);

/// Gives every edge a weight between 1 and `contrast`, log-uniform and a function of (seed, the two
/// nodes) alone, so that it does not matter how often or where a pair is listed. None if contrast is 1.
void add_weights(std::vector<EdgeChunk>& chunks, double contrast, const Execution& execution);

/// Builds the graph, where a pair that was drawn twice is one edge, and labels node u with label_of(u).
template <class LabelOf>
GeneratedGraph finish(std::vector<EdgeChunk> chunks, std::uint64_t num_nodes,
                      const std::vector<std::string>& classes, LabelOf label_of, const Execution& execution,
                      bool is_signed = false) {
  GeneratedGraph made;
  made.graph =
      build_graph(std::move(chunks), num_nodes, {.duplicates = Duplicates::max, .is_signed = is_signed},
                  execution, "generated graph");
  for (const std::string& name : classes) made.labels.classes.intern(name);
  made.labels.of_node.resize(num_nodes, kNoLabel);
  parallel_blocks(execution.threads, num_nodes, std::size_t{1} << 16,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t u = begin; u < end; ++u) made.labels.of_node[u] = label_of(u);
                  });
  return made;
}
inline GeneratedGraph finish(std::vector<EdgeChunk> chunks, std::uint64_t num_nodes,
                             const Execution& execution) {
  return finish(
      std::move(chunks), num_nodes, {}, [](std::uint64_t) { return kNoLabel; }, execution);
}

std::vector<std::string> two_sides();  // "+1", "-1", as the papers call them

/// A random one-to-one map of 0 ... size - 1 onto itself that needs no memory: six Feistel rounds with
/// Philox as the round function, on the smallest rectangle that holds the range (Black & Rogaway, Ciphers
/// with Arbitrary Finite Domains, 2002). Its first m values are m distinct random numbers, each computed
/// on its own: sampling without replacement for any number of threads. Small ranges are shuffled outright,
/// because on a tiny rectangle six rounds do not reach every order equally often.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t seed, std::uint32_t index);
  std::uint64_t operator()(std::uint64_t i) const;

 private:
  std::uint64_t size_, rows_, columns_;
  std::uint64_t seed_;
  std::uint32_t index_;
  std::vector<std::uint32_t> shuffled_;  // small ranges only
};

/// Pair number i of the n (n - 1) / 2 pairs u < v, in the order (0,1), (0,2), (1,2), (0,3), ...
struct EdgeEnds {
  std::uint64_t u, v;
};
EdgeEnds pair_at(std::uint64_t i);

inline constexpr double kMostGeneratedNodes = 4'000'000'000;

/// "contrast", of the families with optional weights: what add_weights() takes.
GeneratorParameter contrast_parameter();

/// UsageError for a value that clashes with another one.
[[noreturn]] void refuse(const std::string& family, const std::string& parameter, const std::string& problem,
                         const std::string& remedy);

}  // namespace copse
