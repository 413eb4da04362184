// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/forest_builder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "trees/edge_keys.hpp"
#include "trees/prefetch.hpp"

namespace copse {
namespace {

constexpr std::size_t kPiece = 1 << 16;  // edges that a thread looks at before another one may

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

/// Kruskal's algorithm over columns, in place, from edge `first` on. Edges go into buckets by key first; what
/// the buckets before have closed off is dropped before one is sorted, and the forest is written where they
/// were.
template <class Keys>
class ColumnKruskal {
 public:
  ColumnKruskal(KeptEdges& edges, std::size_t first, const EdgeRandom& random, std::span<NodeId> component,
                const Execution& execution)
      : edges_(edges), first_(first), random_(random), component_(component), execution_(execution) {}

  void run() {
    std::size_t begin = first_, num_taken = first_;
    for (const std::size_t end : sort_into_buckets()) {
      execution_.throw_if_cancelled();
      num_taken = take(std::exchange(begin, end), end, num_taken);
    }
    edges_.resize(num_taken);
    for (NodeId& component : component_) component = component_[component];  // links point down
  }

 private:
  static constexpr std::size_t kBucketBits = 11, kAhead = 16, kInHand = 16;

  StreamedEdge edge(std::size_t i) const {
    return {edges_.u[i], edges_.v[i], has_weights_ ? edges_.weight[i] : Weight{1},
            has_occurrences_ ? edges_.occurrence[i] : 0};
  }
  void put(std::size_t i, const StreamedEdge& edge) {
    edges_.u[i] = edge.u;
    edges_.v[i] = edge.v;
    if (has_weights_) edges_.weight[i] = edge.weight;
    if (has_occurrences_) edges_.occurrence[i] = edge.occurrence;
  }
  /// Whole numbers in the order of the keys: doubles that are not negative order like their bits.
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
  /// bucket or the last. Returns where they end. Of every bucket some edges at once are taken in hand and put
  /// where they belong, in exchange for those that are there, until the places they left are filled.
  std::vector<std::size_t> sort_into_buckets() {
    const std::size_t size = edges_.size();
    std::uint32_t low = std::numeric_limits<std::uint32_t>::max(), high = 0;
    for (std::size_t i = first_, step = (size - first_) / 4096 + 1; i < size; i += step) {
      low = std::min(low, upper_key(edge(i)));
      high = std::max(high, upper_key(edge(i)));
    }
    const int shift = std::max(
        0, static_cast<int>(std::bit_width(high - std::min(low, high))) - static_cast<int>(kBucketBits));
    const auto bucket_of = [&](const StreamedEdge& edge) {
      return (std::clamp(upper_key(edge), low, high) - low) >> shift;
    };
    std::vector<std::size_t> ends(std::size_t{1} << kBucketBits), next(ends.size());
    for (std::size_t i = first_; i < size; ++i) ++ends[bucket_of(edge(i))];
    std::exclusive_scan(ends.begin(), ends.end(), next.begin(), first_);
    std::inclusive_scan(ends.begin(), ends.end(), ends.begin(), std::plus<>(), first_);
    for (std::size_t bucket = 0; bucket < ends.size(); ++bucket) {
      execution_.throw_if_cancelled();
      while (next[bucket] < ends[bucket]) {
        std::array<StreamedEdge, kInHand> hand;
        std::array<std::uint32_t, kInHand> goes_to;
        const std::size_t free = next[bucket], num_free = std::min(kInHand, ends[bucket] - free);
        for (std::size_t k = 0; k < num_free; ++k) hand[k] = edge(free + k);
        for (std::size_t in_hand = num_free; in_hand > 0;) {
          for (std::size_t k = 0; k < in_hand; ++k) goes_to[k] = bucket_of(hand[k]);
          for (std::size_t k = 0, num = std::exchange(in_hand, 0); k < num; ++k) {
            const std::size_t place = next[goes_to[k]]++;
            const StreamedEdge moved = hand[k];
            if (place - free >= num_free) hand[in_hand++] = edge(place);
            put(place, moved);
          }
        }
      }
    }
    return ends;
  }

  /// Of a bucket; returns where the forest ends with its edges. They are copied first: its places are used.
  std::size_t take(std::size_t begin, std::size_t end, std::size_t num_taken) {
    open_.clear();
    order_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t soon = std::min(i + kAhead, end - 1);
      prefetch(&component_[edges_.u[soon]]);
      prefetch(&component_[edges_.v[soon]]);
      const StreamedEdge candidate = edge(i);
      if (find(candidate.u) == find(candidate.v)) continue;
      order_.push_back(std::uint64_t{upper_key(candidate)} << 32 | open_.size());
      open_.push_back(candidate);
    }
    const auto edge_of = [&](std::uint64_t place) { return open_[place & 0xFFFFFFFF]; };
    std::sort(order_.begin(), order_.end(), [&](std::uint64_t a, std::uint64_t b) {
      return (a ^ b) >> 32 != 0 ? a < b : is_before(edge_of(a), edge_of(b));
    });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const StreamedEdge soon = edge_of(order_[std::min(i + kAhead, order_.size() - 1)]);
      prefetch(&component_[soon.u]);
      prefetch(&component_[soon.v]);
      const StreamedEdge candidate = edge_of(order_[i]);
      if (join(candidate.u, candidate.v)) put(num_taken++, candidate);
    }
    return num_taken;
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

  KeptEdges& edges_;
  std::size_t first_;
  EdgeRandom random_;
  std::span<NodeId> component_;
  Execution execution_;
  std::vector<StreamedEdge> open_;    // of a bucket
  std::vector<std::uint64_t> order_;  // of these: upper half of the key, place in open_
  bool has_weights_ = !edges_.weight.empty(), has_occurrences_ = !edges_.occurrence.empty();
};

/// The edges from `first` on become those of the forest.
void span_columns(KeptEdges& edges, std::size_t first, std::uint64_t seed, std::uint32_t tree,
                  std::span<NodeId> component, const Execution& execution) {
  const EdgeRandom random(seed, tree);
  if (edges.weight.empty())
    ColumnKruskal<UniformKeys>(edges, first, random, component, execution).run();
  else
    ColumnKruskal<ExponentialKeys>(edges, first, random, component, execution).run();
}

std::vector<NodeId> roots_of(std::span<const NodeId> component) {
  std::vector<NodeId> roots;
  for (NodeId u = 0; u < component.size(); ++u)
    if (component[u] == u) roots.push_back(u);
  return roots;
}

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

void KeptEdges::append(const KeptEdges& other, std::size_t first) {
  const auto extend = [&](auto& column, const auto& more) {
    if (!more.empty())
      column.insert(column.end(), more.begin() + static_cast<std::ptrdiff_t>(first), more.end());
  };
  extend(u, other.u);
  extend(v, other.v);
  extend(weight, other.weight);
  extend(occurrence, other.occurrence);
}

void KeptEdges::reserve(std::size_t size, bool has_weights) {
  u.reserve(size);
  v.reserve(size);
  if (has_weights) weight.reserve(size);
}

void KeptEdges::shrink() {
  u.shrink_to_fit();
  v.shrink_to_fit();
  weight.shrink_to_fit();
  occurrence = {};
}

void KeptEdges::resize(std::size_t size) {
  u.resize(size);
  v.resize(size);
  if (!weight.empty()) weight.resize(size);
  if (!occurrence.empty()) occurrence.resize(size);
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
  span_columns(edges, 0, seed, tree, component, execution);
  return std::move(edges);
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
  return root_forest(static_cast<NodeId>(component.size()), edges.u, edges.v, edges.weight, is_weighted,
                     roots_of(component));
}

ForestBuilder::ForestBuilder(std::uint64_t num_nodes, bool is_weighted, const TreeGroup& trees, double bound,
                             const Execution& execution)
    : num_nodes_(num_nodes),
      is_weighted_(is_weighted),
      trees_(trees),
      bound_(bound),
      execution_(execution),
      limit_(static_cast<std::size_t>(1.05 * kCandidatesPerNode * static_cast<double>(num_nodes)) +
             2 * kPiece),
      state_(trees.count) {
  if (num_nodes > kMaxNodes)
    throw UsageError("num_nodes", with_commas(num_nodes) + " are more than " + with_commas(kMaxNodes),
                     "leave out nodes without edges, or take a part of the graph");
  if (trees.count < 1 || trees.count > kMostTreesAtOnce)
    throw UsageError("num_trees", std::to_string(trees.count) + " trees at once are not 1 to 32",
                     "build larger committees in groups");
  for (Tree& tree : state_) {
    tree.edges.reserve(limit_, is_weighted);
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
  std::vector<std::vector<KeptEdges>> kept((size + kPiece - 1) / kPiece,
                                           std::vector<KeptEdges>(trees_.count));
  parallel_blocks(execution_, size, kPiece, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    keep(begin, end - begin, kept[piece]);
  });
  parallel_for(execution_, trees_.count, [&](std::size_t t) {
    for (const std::vector<KeptEdges>& piece : kept) append(static_cast<std::uint32_t>(t), piece[t], 0);
  });
}

/// More than `limit_` edges become their forest first, so that columns never grow.
void ForestBuilder::append(std::uint32_t t, const KeptEdges& edges, std::size_t first) {
  Tree& tree = state_[t];
  if (tree.edges.size() + edges.size() - first > limit_) {
    auto component = Buffer<NodeId>::for_overwrite(num_nodes_);
    std::copy(tree.component.begin(), tree.component.end(), component.begin());
    span_columns(tree.edges, tree.num_final, trees_.seed, trees_.first + t, component.span(), execution_);
  }
  tree.edges.append(edges, first);
}

void ForestBuilder::merge(ForestBuilder&& other) {
  if (other.num_nodes_ != num_nodes_ || other.is_weighted_ != is_weighted_ || other.bound_ != bound_ ||
      other.trees_.seed != trees_.seed || other.trees_.first != trees_.first ||
      other.trees_.count != trees_.count || other.is_second_ != is_second_ || is_done_ || other.is_done_)
    throw UsageError("merge", "the two builders do not build the same trees, or are not in the same scan",
                     "make both with the same arguments and end their scans alike");
  for (std::uint32_t t = 0; t < trees_.count; ++t) {
    append(t, other.state_[t].edges, other.state_[t].num_final);
    other.state_[t] = {};
  }
}

std::vector<std::span<const NodeId>> ForestBuilder::components() const {
  std::vector<std::span<const NodeId>> all;
  for (const Tree& tree : state_) all.push_back(tree.component.span());
  return all;
}

void ForestBuilder::end_scan() {
  is_done_ = is_second_ || bound_ == std::numeric_limits<double>::infinity();
  is_second_ = true;
  parallel_for(execution_, trees_.count, [&](std::size_t t) {
    Tree& tree = state_[t];
    span_columns(tree.edges, tree.num_final, trees_.seed, trees_.first + static_cast<std::uint32_t>(t),
                 tree.component.span(), execution_);
    tree.num_final = tree.edges.size();
    if (!is_done_) return;
    tree.roots = roots_of(tree.component.span());
    tree.component = {};
  });
  outside_ = OutsideGiants(is_done_ ? std::vector<std::span<const NodeId>>{} : components());
  if (is_done_)
    for (Tree& tree : state_) tree.edges.shrink();  // one by one: each needs room for a copy
}

KeptEdges ForestBuilder::take_edges(std::uint32_t t) {
  if (!is_done_) throw UsageError("forest", "is not done", "end the scan, and read the edges once more");
  return std::move(state_[t].edges);
}

SpanningForest ForestBuilder::take_forest(std::uint32_t t) {
  const KeptEdges edges = take_edges(t);
  return root_forest(static_cast<NodeId>(num_nodes_), edges.u, edges.v, edges.weight, is_weighted_,
                     state_[t].roots);
}

std::uint64_t ForestBuilder::bytes_per_node(bool is_weighted, std::uint32_t num_trees, int threads) {
  const std::uint64_t an_edge = is_weighted ? 12 : 8;
  // While edges pass by: the columns, which have some room to spare, components, and bits of them. While
  // trees vote: final edges, and of those that do just now the rows or the line.
  const auto at_once = std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), num_trees);
  return std::max(num_trees * (2 * an_edge + 6) + 4, num_trees * an_edge + at_once * (an_edge + 12));
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
