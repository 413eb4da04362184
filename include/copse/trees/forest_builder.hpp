// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/execution.hpp"
#include "copse/trees/spanning_forest.hpp"

// Forests of kind random_key from edges that do not fit into memory: T trees in two scans over blocks of
// edges, in any order, cut anywhere, by any number of threads or machines. They are the trees that
// TreeSampler draws from the same edges in memory, bit for bit. What it takes is O(n) memory per tree.
//
// Every edge has a key per tree, Exp(1)/weight, which is a hash of (seed, tree, edge); a tree is the minimum
// spanning forest of its keys. Its law is not that of random spanning trees (docs/scale.md). Forests are
// summaries: the forest of A and B is that of the forests of A and of B.
//
//   scan 1   keep_small_keys: an edge whose key is at most a bound, which about two edges per node and tree
//            are, becomes a candidate of that tree.
//   between  spanning_edges: Kruskal per tree over its candidates. These edges are final; most nodes are now
//            in one giant component per tree.
//   scan 2   keep_crossing: an edge whose ends lie in two components of a tree becomes a candidate of it. A
//            bit per node and tree, "outside the giant", spares most edges any look at components.
//   after    spanning_edges again, on the components: these edges follow the others.
//
// A ForestBuilder does all of it on one machine: add() every block, end_scan(), and once more if is_done()
// says no. On a cluster the functions below are the stages, pure maps and reductions over columns:
//
//   count_weights, key_bound   driver: bins summed over partitions (unweighted: the number of edges)
//   keep_small_keys            map over partitions: columns (tree, u, v, weight)
//   spanning_edges             one task per tree, also as a combiner before the shuffle
//   component array            filled by spanning_edges, broadcast for a group of up to 32 trees
//   keep_crossing              map over partitions with that broadcast; then spanning_edges per tree
//   root_forest                one task per tree, then its votes (learners/forest_committee.hpp)
//
// Nodes are 0 ... n - 1 (at most 2^32 - 2 of them); columns of ids may be 64 bits wide and are checked. Loops
// and edges of weight 0 are dropped. A pair that is listed several times counts once, with its largest
// weight: the listings share a random number. Where they are parallel edges that add, merge them first (then
// distances are right as well), or number them in `occurrence`: 0, 1, 2, ... within a pair, or anything else
// that stays with the listing however the stream is cut.

namespace copse {

/// Some edges of a stream. A column that is empty: weights 1, occurrences 0.
template <class Id>
struct EdgeBlock {
  std::span<const Id> u, v;
  std::span<const Weight> weight = {};
  std::span<const std::uint32_t> occurrence = {};
};

/// Edges that were kept. The columns weight and occurrence are empty where those of the stream are.
struct KeptEdges {
  std::vector<NodeId> u, v;
  std::vector<Weight> weight;
  std::vector<std::uint32_t> occurrence;

  std::size_t size() const { return u.size(); }
  EdgeBlock<NodeId> block() const { return {u, v, weight, occurrence}; }
  void append(const KeptEdges& other, std::size_t first = 0);  // other's from `first` on
  void append(const KeptEdges& other, std::span<const std::uint32_t> places, std::size_t first = 0);
  void reserve(std::size_t size, bool has_weights);
  void resize(std::size_t size);
  void shrink();  // to what a forest needs, in memory as well
};

/// Which trees: number `first` and so on of this seed, at most 32 at once.
struct TreeGroup {
  std::uint64_t seed = 1;
  std::uint32_t first = 0, count = 1;
};
inline constexpr std::uint32_t kMostTreesAtOnce = 32;

inline constexpr double kCandidatesPerNode = 2;

/// Weights by size: what key_bound has to know of them. `bins` has kWeightBins places, which add up over
/// parts.
inline constexpr std::size_t kWeightBins = 2048;
void count_weights(std::span<const Weight> weights, std::span<std::uint64_t> bins);

/// The bound on keys that `per_node` edges per node and tree are expected to meet; infinity where that is all
/// of them. No result depends on it, only what passes between the scans. `bins` is empty without weights.
double key_bound(std::uint64_t num_nodes, std::uint64_t num_edges, std::span<const std::uint64_t> bins,
                 double per_node = kCandidatesPerNode);

/// Scan 1: appends to kept[t] the edges whose key in tree trees.first + t is at most `bound`. InputError for
/// a node or a weight that cannot be.
template <class Id>
void keep_small_keys(const EdgeBlock<Id>& block, std::uint64_t num_nodes, const TreeGroup& trees,
                     double bound, std::span<KeptEdges> kept);

/// The minimum spanning forest of `edges` by their keys in that tree, smallest key first, between components
/// that exist already: component[u] is the smallest node of the component of u, at first u itself, and is so
/// again afterwards. Parallel edges are right. In place, of the edges from `first` on.
void spanning_edges(KeptEdges& edges, std::uint64_t seed, std::uint32_t tree, std::span<NodeId> component,
                    const Execution& execution, std::size_t first = 0);

/// For scan 2: which nodes are outside the giant component of each tree of a group, a bit per node and tree,
/// and one for all trees, which caches hold longer.
class OutsideGiants {
 public:
  explicit OutsideGiants(std::span<const std::span<const NodeId>> components,
                         const Execution& execution = {});
  std::uint32_t in_any(NodeId u) const { return static_cast<std::uint32_t>(in_any_[u / 64] >> u % 64 & 1); }
  std::uint32_t trees_of(NodeId u) const {
    const std::size_t bit = u * num_trees_, word = bit / 64, shift = bit % 64;
    const std::uint64_t two_words = bits_[word] >> shift | bits_[word + 1] << 1 << (63 - shift);
    return static_cast<std::uint32_t>(two_words & ((std::uint64_t{1} << num_trees_) - 1));
  }

 private:
  std::size_t num_trees_;
  Buffer<std::uint64_t> bits_, in_any_;
};

/// Scan 2: appends to kept[t] the edges whose ends lie in two components of tree t.
template <class Id>
void keep_crossing(const EdgeBlock<Id>& block, std::span<const std::span<const NodeId>> components,
                   const OutsideGiants& outside, std::span<KeptEdges> kept);

/// The forest from its edges in the order of spanning_edges; component as that left it.
SpanningForest root_forest(const KeptEdges& edges, bool is_weighted, std::span<const NodeId> component,
                           std::uint32_t tree);

/// All of it on one machine. Blocks may come in any order, and in another one in the second scan.
class ForestBuilder {
 public:
  /// `bound` as key_bound() says.
  ForestBuilder(std::uint64_t num_nodes, bool is_weighted, const TreeGroup& trees, double bound,
                const Execution& execution);

  template <class Id>
  void add(const EdgeBlock<Id>& block);
  /// What `other` was given in the same scan (of the same trees and bound), as if it had been added here.
  void merge(ForestBuilder&& other);
  /// Instead of blocks, in the first scan: the edges that a tree had after it in an earlier run.
  void resume(std::uint32_t t, const KeptEdges& edges) { append(t, edges, 0); }
  void end_scan();
  bool is_done() const { return is_done_; }
  /// Of tree trees.first + t, those that are final after the last scan.
  const KeptEdges& edges(std::uint32_t t) const { return state_[t].edges; }

  /// Of tree trees.first + t, once it is done: each can be taken once, by any thread.
  KeptEdges take_edges(std::uint32_t t);
  SpanningForest take_forest(std::uint32_t t);

  /// Bytes per node at the peak, beside the blocks: for groups of trees that fit.
  static std::uint64_t bytes_per_node(bool is_weighted, std::uint32_t num_trees, int threads);

 private:
  struct Tree {
    KeptEdges edges;  // those of the forest so far, and candidates
    std::size_t num_final = 0;
    Buffer<NodeId> component;
    std::vector<NodeId> roots;  // once it is done, instead
  };
  template <class Keep>
  void add_pieces(std::size_t size, const Keep& keep);
  void append(std::uint32_t t, const KeptEdges& edges, std::size_t first);
  std::vector<std::span<const NodeId>> components() const;

  std::uint64_t num_nodes_;
  bool is_weighted_;
  TreeGroup trees_;
  double bound_;
  Execution execution_;
  std::size_t limit_;  // of edges of a tree
  std::vector<Tree> state_;
  std::vector<std::vector<KeptEdges>> pieces_;  // of a block, by tree; their memory is used again
  OutsideGiants outside_{{}};
  bool is_second_ = false, is_done_ = false;
};

}  // namespace copse
