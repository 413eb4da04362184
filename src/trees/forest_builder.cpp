// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/forest_builder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "trees/edge_keys.hpp"
#include "trees/filter_kruskal.hpp"
#include "trees/prefetch.hpp"

namespace copse {
namespace {

struct StreamedEdge {
  NodeId u, v;  // u < v
  Weight weight;
  std::uint32_t occurrence;
};

[[noreturn]] void no_such_node(std::uint64_t id, std::uint64_t num_nodes) {
  // As a signed number: columns of those are taken as they are.
  throw InputError("edges",
                   "node " + std::to_string(static_cast<std::int64_t>(id)) + " is not one of 0 ... " +
                       std::to_string(static_cast<std::int64_t>(num_nodes) - 1),
                   "number the nodes 0, 1, 2, ... and say how many there are");
}
[[noreturn]] void no_such_weight(Weight weight) {
  throw InputError("edges", "weight " + std::to_string(weight) + " is not a positive number",
                   "weights are similarities (> 0, finite); leave the edge out to mean \"no edge\"");
}

template <class Id>
void check_columns(const EdgeBlock<Id>& block) {
  const std::size_t size = block.u.size();
  if (block.v.size() != size || (!block.weight.empty() && block.weight.size() != size) ||
      (!block.occurrence.empty() && block.occurrence.size() != size))
    throw UsageError("edges", "the columns of a block differ in length", "give every edge all of its values");
}

/// body(edge) for the edges that count. Ids and weights come from outside: checked here, trusted from here
/// on.
template <class Id, class Body>
void for_each_edge(const EdgeBlock<Id>& block, std::uint64_t num_nodes, Body&& body) {
  check_columns(block);
  for (std::size_t i = 0; i < block.u.size(); ++i) {
    const Id u = block.u[i], v = block.v[i];
    if (u >= num_nodes || v >= num_nodes) no_such_node(std::max<std::uint64_t>(u, v), num_nodes);
    const Weight weight = block.weight.empty() ? Weight{1} : block.weight[i];
    if (!(weight >= 0) || weight == std::numeric_limits<Weight>::infinity()) no_such_weight(weight);
    if (u == v || weight == 0) continue;
    body(StreamedEdge{static_cast<NodeId>(std::min(u, v)), static_cast<NodeId>(std::max(u, v)), weight,
                      block.occurrence.empty() ? 0 : block.occurrence[i]},
         i);
  }
}

void append(KeptEdges& kept, const StreamedEdge& edge, bool has_weights, bool has_occurrences) {
  kept.u.push_back(edge.u);
  kept.v.push_back(edge.v);
  if (has_weights) kept.weight.push_back(edge.weight);
  if (has_occurrences) kept.occurrence.push_back(edge.occurrence);
}

/// The bound on keys in the type of the keys. Without weights `bound` is a share of all keys.
template <class Keys>
typename Keys::Key bound_in(double bound) {
  if constexpr (std::is_same_v<Keys, UniformKeys>)
    return bound >= 1 ? std::numeric_limits<std::uint64_t>::max()
                      : static_cast<std::uint64_t>(bound * 0x1p63);
  else
    return bound;
}

template <class Keys, class Id>
void keep_small(const EdgeBlock<Id>& block, std::uint64_t num_nodes, const TreeGroup& trees, double bound,
                std::span<KeptEdges> kept) {
  const EdgeRandom random(trees.seed);
  const auto key_bound = bound_in<Keys>(bound);
  for_each_edge(block, num_nodes, [&](const StreamedEdge& edge, std::size_t) {
    const std::uint64_t start = random.start(edge.u, edge.v, edge.occurrence);
    std::uint32_t hits = 0;
    for (std::uint32_t t = 0; t < trees.count; ++t) {
      const auto key = Keys::of_bits(EdgeRandom::of_tree(start, trees.first + t), edge.weight, key_bound);
      hits |= static_cast<std::uint32_t>(key <= key_bound) << t;
    }
    for (; hits != 0; hits &= hits - 1)
      append(kept[static_cast<std::size_t>(std::countr_zero(hits))], edge, !block.weight.empty(),
             !block.occurrence.empty());
  });
}

/// An edge with the upper half of its key; the rest is computed again where that does not tell two apart.
struct PlainCandidate {
  std::uint32_t upper_key;
  NodeId u, v;
  PlainCandidate() = default;
  PlainCandidate(std::uint32_t key, const StreamedEdge& edge) : upper_key(key), u(edge.u), v(edge.v) {}
  StreamedEdge edge() const { return {u, v, 1, 0}; }
};
struct FullCandidate {
  std::uint32_t upper_key;
  NodeId u, v;
  Weight weight;
  std::uint32_t occurrence;
  FullCandidate() = default;
  FullCandidate(std::uint32_t key, const StreamedEdge& edge)
      : upper_key(key), u(edge.u), v(edge.v), weight(edge.weight), occurrence(edge.occurrence) {}
  StreamedEdge edge() const { return {u, v, weight, occurrence}; }
};

/// Kruskal's algorithm over columns. Edges go into buckets by key first; a bucket fits a cache, and what the
/// ones before have closed off is dropped before it is sorted.
template <class Keys, class Candidate>
class ColumnKruskal {
 public:
  ColumnKruskal(KeptEdges&& edges, const EdgeRandom& random, std::span<NodeId> component,
                const Execution& execution)
      : edges_(std::move(edges)), random_(random), component_(component), execution_(execution) {}

  KeptEdges run() {
    std::vector<std::size_t> ends;
    Buffer<Candidate> buckets = sort_into_buckets(ends);
    edges_ = {};
    KeptEdges forest;
    const std::size_t most = std::min(buckets.size(), component_.size());
    forest.u.reserve(most);
    forest.v.reserve(most);
    if (has_weights_) forest.weight.reserve(most);
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      execution_.throw_if_cancelled();
      take(buckets.span().subspan(begin, end - begin), forest);
      begin = end;
    }
    for (NodeId& component : component_) component = component_[component];  // links point down
    return forest;
  }

 private:
  static constexpr std::size_t kBucketBits = 11, kAhead = 16;

  StreamedEdge edge(std::size_t i) const {
    return {edges_.u[i], edges_.v[i], has_weights_ ? edges_.weight[i] : Weight{1},
            has_occurrences_ ? edges_.occurrence[i] : 0};
  }
  /// As a number that is ordered alike: the bits of a double that is not negative are.
  std::uint64_t key(const StreamedEdge& edge) const {
    const auto key = Keys::of_bits(random_.bits(edge.u, edge.v, edge.occurrence), edge.weight,
                                   std::numeric_limits<typename Keys::Key>::max());
    if constexpr (std::is_same_v<Keys, UniformKeys>)
      return key;
    else
      return std::bit_cast<std::uint64_t>(key + 0.0);  // no -0
  }
  std::uint32_t upper_key(const StreamedEdge& edge) const {
    return static_cast<std::uint32_t>(key(edge) >> 32);
  }

  /// Cut evenly between the smallest and the largest key of a sample: what is outside goes into the first
  /// bucket or the last.
  Buffer<Candidate> sort_into_buckets(std::vector<std::size_t>& ends) const {
    std::uint32_t low = std::numeric_limits<std::uint32_t>::max(), high = 0;
    for (std::size_t i = 0, step = edges_.size() / 4096 + 1; i < edges_.size(); i += step) {
      low = std::min(low, upper_key(edge(i)));
      high = std::max(high, upper_key(edge(i)));
    }
    const int shift = std::max(
        0, static_cast<int>(std::bit_width(high - std::min(low, high))) - static_cast<int>(kBucketBits));
    const auto bucket_of = [&](std::uint32_t key) { return (std::clamp(key, low, high) - low) >> shift; };
    ends.resize(std::size_t{1} << kBucketBits);
    for (std::size_t i = 0; i < edges_.size(); ++i) ++ends[bucket_of(upper_key(edge(i)))];
    std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::size_t{0});
    auto buckets = Buffer<Candidate>::for_overwrite(edges_.size());
    CancelCheck check(execution_);
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      check.step();
      const Candidate candidate(upper_key(edge(i)), edge(i));
      buckets[ends[bucket_of(candidate.upper_key)]++] = candidate;
    }
    return buckets;
  }

  void take(std::span<Candidate> bucket, KeptEdges& forest) {
    const auto first = bucket.begin();
    auto last = first;
    for_each_fetched(bucket, [&](const Candidate& c) {
      if (find(c.u) != find(c.v)) *last++ = c;
    });
    const std::span<Candidate> open = bucket.first(static_cast<std::size_t>(last - first));
    std::sort(open.begin(), open.end(), [&](const Candidate& a, const Candidate& b) {
      return a.upper_key != b.upper_key ? a.upper_key < b.upper_key : is_before(a.edge(), b.edge());
    });
    for_each_fetched(open, [&](const Candidate& c) {
      if (join(c.u, c.v)) append(forest, c.edge(), has_weights_, has_occurrences_);
    });
  }
  template <class Body>
  void for_each_fetched(std::span<const Candidate> candidates, Body&& body) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Candidate& soon = candidates[std::min(i + kAhead, candidates.size() - 1)];
      prefetch(&component_[soon.u]);
      prefetch(&component_[soon.v]);
      body(candidates[i]);
    }
  }
  bool is_before(const StreamedEdge& a, const StreamedEdge& b) const {
    const std::uint64_t of_a = key(a), of_b = key(b);
    if (of_a != of_b) return of_a < of_b;
    if (a.u != b.u) return a.u < b.u;
    if (a.v != b.v) return a.v < b.v;
    return a.weight > b.weight;
  }

  NodeId find(NodeId u) {
    while (component_[u] != u) u = component_[u] = component_[component_[u]];
    return u;
  }
  bool join(NodeId u, NodeId v) {
    const NodeId a = find(u), b = find(v);
    component_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

  KeptEdges edges_;
  EdgeRandom random_;
  std::span<NodeId> component_;
  Execution execution_;
  bool has_weights_ = !edges_.weight.empty(), has_occurrences_ = !edges_.occurrence.empty();
};

/// The component that most of some random nodes are in.
NodeId giant_of(std::span<const NodeId> component) {
  constexpr std::size_t kSamples = 1001;
  Stream stream{0, Purpose::edge_key, component.size()};
  std::vector<NodeId> seen(kSamples);
  for (NodeId& sample : seen) sample = component[stream.below(component.size())];
  std::sort(seen.begin(), seen.end());
  NodeId best = seen[0];
  std::size_t most = 0;
  for (std::size_t i = 0, next = 0; i < seen.size(); i = next) {
    while (next < seen.size() && seen[next] == seen[i]) ++next;
    if (next - i > most) most = next - i, best = seen[i];
  }
  return best;
}

}  // namespace

void KeptEdges::append(const KeptEdges& other) {
  u.insert(u.end(), other.u.begin(), other.u.end());
  v.insert(v.end(), other.v.begin(), other.v.end());
  weight.insert(weight.end(), other.weight.begin(), other.weight.end());
  occurrence.insert(occurrence.end(), other.occurrence.begin(), other.occurrence.end());
}

void count_weights(std::span<const Weight> weights, std::span<std::uint64_t> bins) {
  for (const Weight weight : weights) {
    if (!(weight >= 0) || weight == std::numeric_limits<Weight>::infinity()) no_such_weight(weight);
    ++bins[std::bit_cast<std::uint32_t>(weight) >> 20 & (kWeightBins - 1)];  // exponent, and 3 bits
  }
}

double key_bound(std::uint64_t num_nodes, std::uint64_t num_edges, std::span<const std::uint64_t> bins,
                 double per_node) {
  const double wanted = per_node * static_cast<double>(num_nodes);
  constexpr double kAll = std::numeric_limits<double>::infinity();
  if (wanted >= static_cast<double>(num_edges)) return kAll;
  if (bins.empty()) return wanted / static_cast<double>(num_edges);
  const auto expected = [&](double bound) {
    double sum = 0;
    for (std::uint32_t bin = 1; bin < bins.size(); ++bin)  // bin 0: no edges
      if (bins[bin] != 0)
        sum += static_cast<double>(bins[bin]) *
               -std::expm1(-static_cast<double>(std::bit_cast<Weight>(bin << 20)) * bound);
    return sum;
  };
  double low = 0x1p-140, high = 0x1p160;  // weights are floats
  if (expected(high) < wanted) return kAll;
  for (int step = 0; step < 60; ++step) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    (expected(middle) < wanted ? low : high) = middle;
  }
  return high;
}

template <class Id>
void keep_small_keys(const EdgeBlock<Id>& block, std::uint64_t num_nodes, const TreeGroup& trees,
                     double bound, std::span<KeptEdges> kept) {
  if (block.weight.empty())
    keep_small<UniformKeys>(block, num_nodes, trees, bound, kept);
  else
    keep_small<ExponentialKeys>(block, num_nodes, trees, bound, kept);
}

KeptEdges spanning_edges(KeptEdges&& edges, std::uint64_t seed, std::uint32_t tree,
                         std::span<NodeId> component, const Execution& execution) {
  const EdgeRandom random(seed, tree);
  if (!edges.weight.empty())
    return ColumnKruskal<ExponentialKeys, FullCandidate>(std::move(edges), random, component, execution)
        .run();
  if (!edges.occurrence.empty())
    return ColumnKruskal<UniformKeys, FullCandidate>(std::move(edges), random, component, execution).run();
  return ColumnKruskal<UniformKeys, PlainCandidate>(std::move(edges), random, component, execution).run();
}

OutsideGiants::OutsideGiants(std::span<const std::span<const NodeId>> components)
    : trees_(components.empty() ? 0 : components[0].size()) {
  if (trees_.empty()) return;
  for (std::size_t t = 0; t < components.size(); ++t) {
    const NodeId giant = giant_of(components[t]);
    for (std::size_t u = 0; u < trees_.size(); ++u)
      trees_[u] |= static_cast<std::uint32_t>(components[t][u] != giant) << t;
  }
}

void OutsideGiants::fetch(NodeId u) const { prefetch(&trees_[u]); }

template <class Id>
void keep_crossing(const EdgeBlock<Id>& block, std::span<const std::span<const NodeId>> components,
                   const OutsideGiants& outside, std::span<KeptEdges> kept) {
  constexpr std::size_t kAhead = 16;
  const std::uint64_t num_nodes = components[0].size();
  for_each_edge(block, num_nodes, [&](const StreamedEdge& edge, std::size_t i) {
    if (const std::size_t soon = i + kAhead; soon < block.u.size()) {
      if (block.u[soon] < num_nodes) outside.fetch(static_cast<NodeId>(block.u[soon]));
      if (block.v[soon] < num_nodes) outside.fetch(static_cast<NodeId>(block.v[soon]));
    }
    for (std::uint32_t left = outside.trees_of(edge.u) | outside.trees_of(edge.v); left != 0;
         left &= left - 1) {
      const auto t = static_cast<std::size_t>(std::countr_zero(left));
      if (components[t][edge.u] != components[t][edge.v])
        append(kept[t], edge, !block.weight.empty(), !block.occurrence.empty());
    }
  });
}

SpanningForest root_forest(const KeptEdges& edges, bool is_weighted, std::span<const NodeId> component) {
  std::vector<NodeId> roots;
  for (NodeId u = 0; u < component.size(); ++u)
    if (component[u] == u) roots.push_back(u);
  return root_forest(static_cast<NodeId>(component.size()), edges.u, edges.v, edges.weight, is_weighted,
                     roots);
}

ForestBuilder::ForestBuilder(std::uint64_t num_nodes, bool is_weighted, const TreeGroup& trees, double bound,
                             const Execution& execution)
    : num_nodes_(num_nodes),
      is_weighted_(is_weighted),
      trees_(trees),
      bound_(bound),
      execution_(execution),
      state_(trees.count) {
  if (num_nodes > kMaxNodes)
    throw UsageError("num_nodes", with_commas(num_nodes) + " are more than " + with_commas(kMaxNodes),
                     "leave out nodes without edges, or take a part of the graph");
  if (trees.count < 1 || trees.count > kMostTreesAtOnce)
    throw UsageError("num_trees", std::to_string(trees.count) + " trees at once are not 1 to 32",
                     "build larger committees in groups");
  for (Tree& tree : state_) {
    // Twice what is expected: for edges that are not as key_bound() was told.
    tree.limit = std::max<std::size_t>(static_cast<std::size_t>(2 * kCandidatesPerNode) * num_nodes, 1 << 20);
    tree.component = Buffer<NodeId>::for_overwrite(num_nodes);
    std::iota(tree.component.begin(), tree.component.end(), NodeId{0});
  }
}

template <class Id>
void ForestBuilder::add(const EdgeBlock<Id>& block) {
  check_columns(block);
  if (block.u.empty()) return;
  if (block.weight.empty() == is_weighted_)
    throw UsageError("edges", is_weighted_ ? "a block has no weights" : "a block has weights",
                     "all blocks of a stream have them, or none");
  if (is_done_) throw UsageError("edges", "the forests are done", "add nothing after the last scan");
  const auto all = components();
  add_pieces(block.u.size(), [&](std::size_t begin, std::size_t size, std::span<KeptEdges> kept) {
    const auto cut = [&](auto column) { return column.empty() ? column : column.subspan(begin, size); };
    const EdgeBlock<Id> piece{cut(block.u), cut(block.v), cut(block.weight), cut(block.occurrence)};
    if (is_second_)
      keep_crossing(piece, all, outside_, kept);
    else
      keep_small_keys(piece, num_nodes_, trees_, bound_, kept);
  });
}

template <class Keep>
void ForestBuilder::add_pieces(std::size_t size, const Keep& keep) {
  constexpr std::size_t kPiece = 1 << 16;
  std::vector<std::vector<KeptEdges>> kept((size + kPiece - 1) / kPiece,
                                           std::vector<KeptEdges>(trees_.count));
  parallel_blocks(execution_, size, kPiece, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    keep(begin, end - begin, kept[piece]);
  });
  parallel_for(execution_, trees_.count, [&](std::size_t t) {
    for (const std::vector<KeptEdges>& piece : kept) state_[t].candidates.append(piece[t]);
    if (state_[t].candidates.size() > state_[t].limit) reduce(static_cast<std::uint32_t>(t));
  });
}

void ForestBuilder::reduce(std::uint32_t t) {
  Tree& tree = state_[t];
  auto component = Buffer<NodeId>::for_overwrite(num_nodes_);
  std::copy(tree.component.begin(), tree.component.end(), component.begin());
  tree.candidates =
      spanning_edges(std::move(tree.candidates), trees_.seed, trees_.first + t, component.span(), execution_);
  tree.limit = std::max(tree.limit, 2 * tree.candidates.size());
}

void ForestBuilder::merge(ForestBuilder&& other) {
  if (other.num_nodes_ != num_nodes_ || other.is_weighted_ != is_weighted_ || other.bound_ != bound_ ||
      other.trees_.seed != trees_.seed || other.trees_.first != trees_.first ||
      other.trees_.count != trees_.count || other.is_second_ != is_second_ || is_done_ || other.is_done_)
    throw UsageError("merge", "the two builders do not build the same trees, or are not in the same scan",
                     "make both with the same arguments and end their scans alike");
  for (std::uint32_t t = 0; t < trees_.count; ++t) {
    state_[t].candidates.append(other.state_[t].candidates);
    other.state_[t] = {};
    if (state_[t].candidates.size() > state_[t].limit) reduce(t);
  }
}

std::vector<std::span<const NodeId>> ForestBuilder::components() const {
  std::vector<std::span<const NodeId>> all;
  for (const Tree& tree : state_) all.push_back(tree.component.span());
  return all;
}

void ForestBuilder::end_scan() {
  parallel_for(execution_, trees_.count, [&](std::size_t t) {
    Tree& tree = state_[t];
    Execution one_thread = execution_;
    one_thread.threads = 1;
    tree.final.append(spanning_edges(std::move(tree.candidates), trees_.seed,
                                     trees_.first + static_cast<std::uint32_t>(t), tree.component.span(),
                                     one_thread));
    tree.candidates = {};
  });
  is_done_ = is_second_ || bound_ == std::numeric_limits<double>::infinity();
  is_second_ = true;
  outside_ = OutsideGiants(is_done_ ? std::vector<std::span<const NodeId>>{} : components());
}

KeptEdges ForestBuilder::take_edges(std::uint32_t t) {
  if (!is_done_) throw UsageError("forest", "is not done", "end the scan, and read the edges once more");
  return std::move(state_[t].final);
}

SpanningForest ForestBuilder::take_forest(std::uint32_t t) {
  const KeptEdges edges = take_edges(t);
  const Buffer<NodeId> component = std::move(state_[t].component);
  return root_forest(edges, is_weighted_, component.span());
}

std::uint64_t ForestBuilder::bytes_per_node(bool is_weighted, std::uint32_t num_trees, int threads) {
  const std::uint64_t an_edge = is_weighted ? 12 : 8;
  // Per tree: candidates of the first scan (its final edges take half of that later) and components. While a
  // tree is sorted or rooted, or votes: its edges once more, and the batch, the rows or the line.
  const auto at_once = std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), num_trees);
  return num_trees * (2 * an_edge + 4) + 4 + at_once * (an_edge + 24);
}

template void keep_small_keys(const EdgeBlock<std::uint32_t>&, std::uint64_t, const TreeGroup&, double,
                              std::span<KeptEdges>);
template void keep_small_keys(const EdgeBlock<std::uint64_t>&, std::uint64_t, const TreeGroup&, double,
                              std::span<KeptEdges>);
template void keep_crossing(const EdgeBlock<std::uint32_t>&, std::span<const std::span<const NodeId>>,
                            const OutsideGiants&, std::span<KeptEdges>);
template void keep_crossing(const EdgeBlock<std::uint64_t>&, std::span<const std::span<const NodeId>>,
                            const OutsideGiants&, std::span<KeptEdges>);
template void ForestBuilder::add(const EdgeBlock<std::uint32_t>&);
template void ForestBuilder::add(const EdgeBlock<std::uint64_t>&);

}  // namespace copse
