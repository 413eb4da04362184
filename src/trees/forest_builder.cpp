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

constexpr std::size_t kAtOnce = 1024;  // edges whose keys are computed together
constexpr std::array<std::uint32_t, kAtOnce> kNoOccurrences{};

/// The bound on keys in the type of the keys. Without weights `bound` is a share of all keys.
template <class Keys>
typename Keys::Key bound_in(double bound) {
  if constexpr (std::is_same_v<Keys, UniformKeys>)
    return bound >= 1 ? std::numeric_limits<std::uint64_t>::max()
                      : static_cast<std::uint64_t>(bound * 0x1p63);
  else
    return bound;
}

template <class Id>
EdgeBlock<Id> part_of(const EdgeBlock<Id>& block, std::size_t begin, std::size_t size) {
  const auto cut = [&](auto column) { return column.empty() ? column : column.subspan(begin, size); };
  return {cut(block.u), cut(block.v), cut(block.weight), cut(block.occurrence)};
}

/// With the columns that `edges` has.
template <class Edges>
void resize_like(const Edges& edges, std::size_t size, KeptEdges& some) {
  some.u.resize(size);
  some.v.resize(size);
  some.weight.resize(edges.weight.empty() ? 0 : size);
  some.occurrence.resize(edges.occurrence.empty() ? 0 : size);
}

void copy_edge(const KeptEdges& from, std::size_t i, KeptEdges& to, std::size_t k) {
  to.u[k] = from.u[i];
  to.v[k] = from.v[i];
  if (!from.weight.empty()) to.weight[k] = from.weight[i];
  if (!from.occurrence.empty()) to.occurrence[k] = from.occurrence[i];
}

/// body(edges) for the edges that count, so many at a time, smaller ends first. Ids and weights come from
/// outside: checked here, trusted from here on. What bodies do is without branches that nobody can foretell:
/// then the processor waits for the memory of many edges at once.
template <class Id, class Body>
void for_some_edges(const EdgeBlock<Id>& block, std::uint64_t num_nodes, Body&& body) {
  check_columns(block);
  KeptEdges some;
  for (std::size_t begin = 0; begin < block.u.size(); begin += kAtOnce) {
    const EdgeBlock<Id> part = part_of(block, begin, std::min(kAtOnce, block.u.size() - begin));
    resize_like(part, part.u.size(), some);
    std::size_t size = 0;
    for (std::size_t i = 0; i < part.u.size(); ++i) {
      const Id u = part.u[i], v = part.v[i];
      if (u >= num_nodes || v >= num_nodes) no_such_node(std::max<std::uint64_t>(u, v), num_nodes);
      const Weight weight = part.weight.empty() ? Weight{1} : part.weight[i];
      if (!(weight >= 0) || weight == std::numeric_limits<Weight>::infinity()) no_such_weight(weight);
      some.u[size] = static_cast<NodeId>(std::min(u, v));
      some.v[size] = static_cast<NodeId>(std::max(u, v));
      if (!part.weight.empty()) some.weight[size] = weight;
      if (!part.occurrence.empty()) some.occurrence[size] = part.occurrence[i];
      size += u != v && weight != 0;
    }
    some.resize(size);
    body(std::as_const(some));
  }
}

/// Of some edges, for EdgeRandom.
const std::uint32_t* occurrences(const KeptEdges& edges, std::size_t first = 0) {
  return edges.occurrence.empty() ? kNoOccurrences.data() : edges.occurrence.data() + first;
}

template <class Keys, class Id>
void keep_small(const EdgeBlock<Id>& block, std::uint64_t num_nodes, const TreeGroup& trees, double bound,
                std::span<KeptEdges> kept) {
  const EdgeRandom random(trees.seed);
  const auto key_bound = bound_in<Keys>(bound);
  std::array<std::uint64_t, kAtOnce> starts, bits;
  std::array<std::uint32_t, kAtOnce> small;
  for_some_edges(block, num_nodes, [&](const KeptEdges& some) {
    const std::size_t size = some.size();
    random.starts(some.u.data(), some.v.data(), occurrences(some), size, starts.data());
    for (std::uint32_t t = 0; t < trees.count; ++t) {
      EdgeRandom::of_tree(starts.data(), size, trees.first + t, bits.data());
      std::size_t num_small = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const Weight weight = some.weight.empty() ? Weight{1} : some.weight[i];
        small[num_small] = static_cast<std::uint32_t>(i);
        num_small += Keys::of_bits(bits[i], weight, key_bound) <= key_bound;
      }
      kept[t].append(some, std::span(small).first(num_small));
    }
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
  static constexpr std::size_t kBucket = 1 << 14, kMostBuckets = 1 << 13, kAhead = 16, kInHand = 16;
  struct Keyed {
    std::uint64_t key;
    std::uint32_t place;  // in open_
  };

  /// Whole numbers in the order of the keys, of at most kAtOnce edges.
  void compute_keys(const KeptEdges& edges, std::size_t first, std::size_t count, std::uint64_t* keys) const {
    random_.bits(edges.u.data() + first, edges.v.data() + first, occurrences(edges, first), count, keys);
    for (std::size_t i = 0; i < count; ++i)
      keys[i] = Keys::order(keys[i], edges.weight.empty() ? Weight{1} : edges.weight[first + i]);
  }

  /// Cut evenly between the smallest and the largest key of a sample: what is outside goes into the first
  /// bucket or the last. Returns where they end. Of every bucket some edges at once are taken in hand and put
  /// where they belong, in exchange for those that are there, until the places they left are filled.
  std::vector<std::size_t> sort_into_buckets() {
    const std::size_t size = edges_.size();
    std::array<std::uint64_t, kAtOnce> keys;
    std::uint64_t low = std::numeric_limits<std::uint64_t>::max(), high = 0;
    for (std::size_t i = first_, step = (size - first_) / 4096 + 1; i < size; i += step) {
      compute_keys(edges_, i, 1, keys.data());
      low = std::min(low, keys[0]);
      high = std::max(high, keys[0]);
    }
    const std::size_t num_buckets = std::min(kMostBuckets, std::bit_ceil((size - first_) / kBucket + 1));
    const int shift = std::max(0, static_cast<int>(std::bit_width(high - std::min(low, high))) -
                                      static_cast<int>(std::bit_width(num_buckets - 1)));
    const auto bucket_of = [&](std::uint64_t key) { return (std::clamp(key, low, high) - low) >> shift; };
    std::vector<std::size_t> ends(num_buckets), next(ends.size());
    for (std::size_t i = first_; i < size; i += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, size - i);
      compute_keys(edges_, i, count, keys.data());
      for (std::size_t k = 0; k < count; ++k) ++ends[bucket_of(keys[k])];
    }
    std::exclusive_scan(ends.begin(), ends.end(), next.begin(), first_);
    std::inclusive_scan(ends.begin(), ends.end(), ends.begin(), std::plus<>(), first_);
    KeptEdges hand, moved;
    resize_like(edges_, kInHand, hand);
    for (std::size_t bucket = 0; bucket < ends.size(); ++bucket) {
      execution_.throw_if_cancelled();
      while (next[bucket] < ends[bucket]) {
        const std::size_t free = next[bucket], num_free = std::min(kInHand, ends[bucket] - free);
        for (std::size_t k = 0; k < num_free; ++k) copy_edge(edges_, free + k, hand, k);
        for (std::size_t in_hand = num_free; in_hand > 0;) {
          compute_keys(hand, 0, in_hand, keys.data());
          moved = hand;
          for (std::size_t k = 0, num = std::exchange(in_hand, 0); k < num; ++k) {
            const std::size_t place = next[bucket_of(keys[k])]++;
            if (place - free >= num_free) copy_edge(edges_, place, hand, in_hand++);
            copy_edge(moved, k, edges_, place);
          }
        }
      }
    }
    return ends;
  }

  /// Of a bucket; returns where the forest ends with its edges. They are copied first: its places are used.
  std::size_t take(std::size_t begin, std::size_t end, std::size_t num_taken) {
    places_.resize(end - begin);
    std::size_t num_open = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t soon = std::min(i + kAhead, end - 1), later = std::min(i + 2 * kAhead, end - 1);
      fetch(edges_.u[later], edges_.u[soon]);
      fetch(edges_.v[later], edges_.v[soon]);
      places_[num_open] = static_cast<std::uint32_t>(i - begin);
      num_open += find(edges_.u[i]) != find(edges_.v[i]);
    }
    open_.resize(0);
    open_.append(edges_, std::span(places_).first(num_open), begin);
    sort_open();
    const auto at = [&](std::size_t i) { return sorted_[std::min(i, sorted_.size() - 1)].place; };
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      fetch(open_.u[at(i + 2 * kAhead)], open_.u[at(i + kAhead)]);
      fetch(open_.v[at(i + 2 * kAhead)], open_.v[at(i + kAhead)]);
      const std::uint32_t place = sorted_[i].place;
      if (join(open_.u[place], open_.v[place])) copy_edge(open_, place, edges_, num_taken++);
    }
    return num_taken;
  }

  /// Into smaller buckets of some edges, these by comparing.
  void sort_open() {
    const std::size_t size = open_.size();
    keys_.resize(size);
    sorted_.resize(size);
    if (size == 0) return;
    for (std::size_t i = 0; i < size; i += kAtOnce)
      compute_keys(open_, i, std::min(kAtOnce, size - i), keys_.data() + i);
    const auto [low, high] = std::minmax_element(keys_.begin(), keys_.end());
    const std::uint64_t base = *low;
    const int shift = std::max(
        0, static_cast<int>(std::bit_width(*high - base)) - static_cast<int>(std::bit_width(size / 4)));
    ends_.assign(((*high - base) >> shift) + 2, 0);
    for (const std::uint64_t key : keys_) ++ends_[((key - base) >> shift) + 1];
    std::inclusive_scan(ends_.begin(), ends_.end(), ends_.begin());
    for (std::size_t i = 0; i < size; ++i)
      sorted_[ends_[(keys_[i] - base) >> shift]++] = {keys_[i], static_cast<std::uint32_t>(i)};
    std::uint32_t begin = 0;
    for (const std::uint32_t end : ends_) {  // where the small buckets end now; of the last, twice
      if (end - begin > 1)
        std::sort(sorted_.begin() + begin, sorted_.begin() + end,
                  [&](const Keyed& a, const Keyed& b) { return is_before(a, b); });
      begin = end;
    }
  }
  bool is_before(const Keyed& a, const Keyed& b) const {
    if (a.key != b.key) return a.key < b.key;
    if (open_.u[a.place] != open_.u[b.place]) return open_.u[a.place] < open_.u[b.place];
    if (open_.v[a.place] != open_.v[b.place]) return open_.v[a.place] < open_.v[b.place];
    return !open_.weight.empty() && open_.weight[a.place] > open_.weight[b.place];
  }

  /// What find() of the first node will read, and where that of the second goes on.
  void fetch(NodeId later, NodeId sooner) const {
    prefetch(&component_[later]);
    prefetch(&component_[component_[sooner]]);
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
  // Of a bucket:
  std::vector<std::uint32_t> places_;
  KeptEdges open_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> ends_;
  std::vector<Keyed> sorted_;
};

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

void KeptEdges::append(const KeptEdges& other, std::span<const std::uint32_t> places, std::size_t first) {
  const auto extend = [&](auto& column, const auto& more) {
    if (more.empty()) return;
    const std::size_t size = column.size();
    column.resize(size + places.size());
    for (std::size_t i = 0; i < places.size(); ++i) column[size + i] = more[first + places[i]];
  };
  extend(u, other.u);
  extend(v, other.v);
  extend(weight, other.weight);
  extend(occurrence, other.occurrence);
}

void KeptEdges::reserve(std::size_t size, bool has_weights) {
  const auto make_room = [&](auto& column) {
    column.reserve(size);
    detail::ask_for_huge_pages(column.data(), size * sizeof column[0]);
  };
  make_room(u);
  make_room(v);
  if (has_weights) make_room(weight);
}

void KeptEdges::shrink() {
  const auto cut = [](auto& column) {
    detail::give_back_pages(column.data() + column.size(),
                            (column.capacity() - column.size()) * sizeof column[0]);
  };
  cut(u);
  cut(v);
  cut(weight);
  occurrence = {};
}

void KeptEdges::resize(std::size_t size) { resize_like(*this, size, *this); }

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

void spanning_edges(KeptEdges& edges, std::uint64_t seed, std::uint32_t tree, std::span<NodeId> component,
                    const Execution& execution, std::size_t first) {
  const EdgeRandom random(seed, tree);
  if (edges.weight.empty())
    ColumnKruskal<UniformKeys>(edges, first, random, component, execution).run();
  else
    ColumnKruskal<ExponentialKeys>(edges, first, random, component, execution).run();
}

OutsideGiants::OutsideGiants(std::span<const std::span<const NodeId>> components, const Execution& execution)
    : num_trees_(components.size()) {
  if (num_trees_ == 0) return;
  const std::size_t num_nodes = components[0].size();
  bits_ = Buffer<std::uint64_t>(num_nodes / 64 * num_trees_ + num_trees_ + 1);
  in_any_ = Buffer<std::uint64_t>(num_nodes / 64 + 1);
  std::vector<NodeId> giants;
  for (const auto& component : components) giants.push_back(giant_of(component));
  // 64 nodes at a time are whole words.
  parallel_blocks(execution, num_nodes, 64 << 10, [&](std::size_t first, std::size_t last, std::size_t) {
    for (std::size_t begin = first; begin < last; begin += 64) {
      std::array<std::uint32_t, 64> trees{};
      const std::size_t count = std::min<std::size_t>(64, last - begin);
      for (std::size_t t = 0; t < num_trees_; ++t)
        for (std::size_t i = 0; i < count; ++i)
          trees[i] |= static_cast<std::uint32_t>(components[t][begin + i] != giants[t]) << t;
      for (std::size_t i = 0, bit = begin * num_trees_; i < count; ++i, bit += num_trees_) {
        bits_[bit / 64] |= std::uint64_t{trees[i]} << bit % 64;
        if (bit % 64 + num_trees_ > 64) bits_[bit / 64 + 1] |= std::uint64_t{trees[i]} >> (64 - bit % 64);
        in_any_[begin / 64] |= std::uint64_t{trees[i] != 0} << i;
      }
    }
  });
}

template <class Id>
void keep_crossing(const EdgeBlock<Id>& block, std::span<const std::span<const NodeId>> components,
                   const OutsideGiants& outside, std::span<KeptEdges> kept) {
  std::array<std::uint32_t, kAtOnce> looked_at, any, both,
      crossing;  // any, both: trees where ends are outside
  for_some_edges(block, components[0].size(), [&](const KeptEdges& some) {
    std::size_t num_looked_at = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
      looked_at[num_looked_at] = static_cast<std::uint32_t>(i);
      num_looked_at += outside.in_any(some.u[i]) | outside.in_any(some.v[i]);
    }
    for (std::size_t i = 0; i < num_looked_at; ++i) {
      const std::uint32_t u = outside.trees_of(some.u[looked_at[i]]);
      const std::uint32_t v = outside.trees_of(some.v[looked_at[i]]);
      any[i] = u | v;
      both[i] = u & v;
    }
    for (std::size_t t = 0; t < components.size(); ++t) {
      std::size_t num_crossing = 0;
      for (std::size_t i = 0; i < num_looked_at; ++i) {
        const std::uint32_t place = looked_at[i];
        crossing[num_crossing] = place;
        num_crossing +=
            (any[i] >> t & 1) != 0 &&
            // From the giant to what is outside, or within one component there?
            ((both[i] >> t & 1) == 0 || components[t][some.u[place]] != components[t][some.v[place]]);
      }
      kept[t].append(some, std::span(crossing).first(num_crossing));
    }
  });
}

SpanningForest root_forest(const KeptEdges& edges, bool is_weighted, std::span<const NodeId> component,
                           std::uint32_t tree) {
  return root_forest(static_cast<NodeId>(component.size()), edges.u, edges.v, edges.weight, is_weighted,
                     roots_of(component), siblings_of(tree));
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
    const EdgeBlock<Id> piece = part_of(block, begin, size);
    if (is_second_)
      keep_crossing(piece, all, outside_, kept);
    else
      keep_small_keys(piece, num_nodes_, trees_, bound_, kept);
  });
}

template <class Keep>
void ForestBuilder::add_pieces(std::size_t size, const Keep& keep) {
  const std::size_t at_once = kPiece * 8 * static_cast<std::size_t>(std::max(1, execution_.threads));
  for (std::size_t first = 0; first < size; first += at_once) {
    const std::size_t count = std::min(at_once, size - first);
    if (pieces_.size() < (count + kPiece - 1) / kPiece)
      pieces_.resize((count + kPiece - 1) / kPiece, std::vector<KeptEdges>(trees_.count));
    parallel_blocks(execution_, count, kPiece, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      keep(first + begin, end - begin, pieces_[piece]);
    });
    parallel_for(execution_, trees_.count, [&](std::size_t t) {
      for (std::vector<KeptEdges>& piece : pieces_) {
        append(static_cast<std::uint32_t>(t), piece[t], 0);
        piece[t].resize(0);
      }
    });
  }
}

/// More than `limit_` edges become their forest first, so that columns never grow.
void ForestBuilder::append(std::uint32_t t, const KeptEdges& edges, std::size_t first) {
  Tree& tree = state_[t];
  if (tree.edges.size() + edges.size() - first > limit_) {
    auto component = Buffer<NodeId>::for_overwrite(num_nodes_);
    std::copy(tree.component.begin(), tree.component.end(), component.begin());
    spanning_edges(tree.edges, trees_.seed, trees_.first + t, component.span(), execution_, tree.num_final);
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
  pieces_ = {};
  is_done_ = is_second_ || bound_ == std::numeric_limits<double>::infinity();
  is_second_ = true;
  parallel_for(execution_, trees_.count, [&](std::size_t t) {
    Tree& tree = state_[t];
    spanning_edges(tree.edges, trees_.seed, trees_.first + static_cast<std::uint32_t>(t),
                   tree.component.span(), execution_, tree.num_final);
    tree.num_final = tree.edges.size();
    if (!is_done_) return;
    tree.edges.shrink();
    tree.roots = roots_of(tree.component.span());
    tree.component = {};
  });
  outside_ = OutsideGiants(is_done_ ? std::vector<std::span<const NodeId>>{} : components(), execution_);
}

KeptEdges ForestBuilder::take_edges(std::uint32_t t) {
  if (!is_done_) throw UsageError("forest", "is not done", "end the scan, and read the edges once more");
  return std::move(state_[t].edges);
}

SpanningForest ForestBuilder::take_forest(std::uint32_t t) {
  const KeptEdges edges = take_edges(t);
  return root_forest(static_cast<NodeId>(num_nodes_), edges.u, edges.v, edges.weight, is_weighted_,
                     state_[t].roots, siblings_of(trees_.first + t));
}

std::uint64_t ForestBuilder::bytes_per_node(bool is_weighted, std::uint32_t num_trees, int threads) {
  const std::uint64_t an_edge = is_weighted ? 12 : 8;
  // While edges pass by: the columns, which have some room to spare, components, and bits of them. While
  // trees vote: final edges, and of those that do just now the rows or the line.
  const auto at_once = std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), num_trees);
  return std::max(num_trees * (2 * an_edge + 6) + (num_trees + 7) / 8,
                  num_trees * an_edge + at_once * (an_edge + 12));
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
