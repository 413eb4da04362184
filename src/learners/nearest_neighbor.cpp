// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/nearest_neighbor.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_map>

#include "copse/graph/components.hpp"
#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"
#include "learners/hypothesis.hpp"
#include "learners/line_resistance.hpp"
#include "learners/signs.hpp"

namespace copse {

/// For every node the `k` nearest of a set of sources that grows and shrinks, of its component, nearest
/// first; of two as near the one of lower number.
class NearestLists {
 public:
  virtual ~NearestLists() = default;
  virtual void add(std::span<const NodeId> sources) = 0;
  virtual void remove(NodeId source) = 0;
  virtual std::size_t size(NodeId node) const = 0;
  virtual NodeId source(NodeId node, std::size_t place) const = 0;
  /// Distances of all that are listed for the node. A solve where they are resistances.
  virtual std::vector<double> distances(NodeId node) const = 0;
};

namespace {

using Distance = NearestNeighborOptions::Distance;

/// The lists themselves, sorted by a key: 16 bytes per node and place, 32 where keys have 128 bits.
template <class Key>
class SortedLists : public NearestLists {
 public:
  std::size_t size(NodeId node) const final { return count_[node]; }
  NodeId source(NodeId node, std::size_t place) const final { return at(node)[place].source; }

 protected:
  struct Entry {
    Key key;
    NodeId source;
  };
  SortedLists(NodeId num_nodes, std::size_t k) : k_(k), count_(num_nodes), entries_(num_nodes * k) {}

  std::span<const Entry> at(NodeId node) const { return {entries_.data() + node * k_, count_[node]}; }

  /// Whether there is a place for the entry.
  template <class IsNearer>
  bool is_wanted(NodeId node, const Entry& entry, IsNearer&& is_nearer) const {
    return count_[node] < k_ || is_nearer(entry, at(node).back());
  }
  template <class IsNearer>
  void insert(NodeId node, const Entry& entry, IsNearer&& is_nearer) {
    if (!is_wanted(node, entry, is_nearer)) return;
    Entry* list = &entries_[node * k_];
    std::size_t place = std::min<std::size_t>(count_[node], k_ - 1);
    count_[node] = static_cast<NodeId>(place + 1);
    for (; place > 0 && is_nearer(entry, list[place - 1]); --place) list[place] = list[place - 1];
    list[place] = entry;
  }
  bool erase(NodeId node, NodeId source) {
    Entry* list = &entries_[node * k_];
    Entry* end = list + count_[node];
    Entry* found = std::find_if(list, end, [&](const Entry& entry) { return entry.source == source; });
    if (found == end) return false;
    std::move(found + 1, end, found);
    --count_[node];
    return true;
  }
  void erase_all() { std::fill(count_.begin(), count_.end(), NodeId{0}); }

 private:
  std::size_t k_;
  Buffer<NodeId> count_;
  Buffer<Entry> entries_;  // k places per node
};

/// By the length of the shortest path: Dijkstra from all sources at once, pruned. Where k sources are nearer
/// to a node than s, they are also nearer to all that s reaches through it. So a source costs no more than
/// the part of the graph where it is listed, and the order in which sources come does not matter. Distances
/// are integers (ResistanceScale): no two ways to add them up differ.
template <class Integer>
class GeodesicLists final : public SortedLists<Integer> {
  using Lists = SortedLists<Integer>;
  using Entry = typename Lists::Entry;

 public:
  GeodesicLists(const GraphView& graph, std::size_t k, const ResistanceScale& scale,
                const Execution& execution)
      : Lists(graph.num_nodes(), k), graph_(graph), scale_(scale), execution_(execution) {}

  void add(std::span<const NodeId> sources) override {
    Queue queue;
    for (const NodeId source : sources) queue.push({{0, source}, source});
    spread(queue);
  }

  void remove(NodeId source) override {
    std::vector<NodeId> region{source};  // where it is listed: connected, since pruning is by prefixes
    this->erase(source, source);
    for (std::size_t i = 0; i < region.size(); ++i) {
      for (const NodeId v : graph_.neighbors_of(region[i]))
        if (this->erase(v, source)) region.push_back(v);
    }
    Queue queue;
    for (const NodeId v : region) {
      for (EdgeIndex arc = graph_.offsets[v]; arc < graph_.offsets[v + 1]; ++arc)
        for (const Entry& entry : this->at(graph_.neighbors[arc])) offer(queue, entry, arc, v);
    }
    spread(queue);
  }

  std::vector<double> distances(NodeId node) const override {
    std::vector<double> all;
    for (const Entry& entry : this->at(node)) all.push_back(scale_.to_double(entry.key));
    return all;
  }

 private:
  static bool is_nearer(const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.source < b.source;
  }
  struct Item {
    Entry entry;
    NodeId node;
    bool operator>(const Item& other) const {
      if (is_nearer(entry, other.entry) || is_nearer(other.entry, entry))
        return is_nearer(other.entry, entry);
      return node > other.node;
    }
  };
  using Queue = std::priority_queue<Item, std::vector<Item>, std::greater<>>;

  /// `entry`, listed at one end of the arc, for the node at its other end.
  void offer(Queue& queue, const Entry& entry, EdgeIndex arc, NodeId node) const {
    const Entry farther{entry.key + scale_.template resistance<Integer>(graph_.weight(arc)), entry.source};
    if (this->is_wanted(node, farther, is_nearer)) queue.push({farther, node});
  }

  void spread(Queue& queue) {
    CancelCheck check(execution_);
    while (!queue.empty()) {
      check.step();
      const auto [entry, node] = queue.top();
      queue.pop();
      // Nearest first, so a source that is listed already is listed with its distance.
      if (!this->is_wanted(node, entry, is_nearer) || is_listed(node, entry.source)) continue;
      this->insert(node, entry, is_nearer);
      for (EdgeIndex arc = graph_.offsets[node]; arc < graph_.offsets[node + 1]; ++arc)
        offer(queue, entry, arc, graph_.neighbors[arc]);
    }
  }
  bool is_listed(NodeId node, NodeId source) const {
    return std::ranges::any_of(this->at(node), [&](const Entry& entry) { return entry.source == source; });
  }

  GraphView graph_;
  ResistanceScale scale_;
  Execution execution_;
};

/// By effective resistance, r(i, j) = L^+_ii + L^+_jj - 2 L^+_ij: the column of j ranks it against other
/// sources at every node i at once, the first term being the same for all of them. A solve per source; to
/// remove one, a solve for each that stays. The key is the resistance less L^+_ii.
class ResistanceLists final : public SortedLists<double> {
 public:
  ResistanceLists(const GraphView& graph, std::size_t k, const SolveOptions& solve,
                  const Execution& execution)
      : SortedLists(graph.num_nodes(), k),
        graph_(graph),
        solve_(solve),
        execution_(execution),
        component_(connected_components(graph, execution).of_node),
        solver_(graph, solve.expecting(kManySolves), execution) {}

  void add(std::span<const NodeId> sources) override {
    constexpr std::size_t kTogether = 8;
    for (std::size_t begin = 0; begin < sources.size(); begin += kTogether)
      add_block(sources.subspan(begin, std::min(kTogether, sources.size() - begin)));
  }

  void remove(NodeId source) override {
    diagonal_.erase(source);
    std::vector<NodeId> rest;
    for (const auto& entry : diagonal_) rest.push_back(entry.first);
    std::sort(rest.begin(), rest.end());
    diagonal_.clear();
    erase_all();
    add(rest);
  }

  std::vector<double> distances(NodeId node) const override {
    std::vector<double> column(graph_.num_nodes()), all;
    column[node] = 1;
    LaplacianSolver(graph_, solve_, execution_).solve(column, column);
    for (const Entry& entry : at(node))
      all.push_back(
          entry.source == node ? 0 : std::max(column[node] + entry.key, std::numeric_limits<double>::min()));
    return all;
  }

 private:
  void add_block(std::span<const NodeId> block) {
    const std::size_t columns = block.size(), n = graph_.num_nodes();
    Buffer<double> x(n * columns);
    for (std::size_t c = 0; c < columns; ++c) x[block[c] * columns + c] = 1;
    solver_.solve(x.span(), x.span(), columns);
    for (std::size_t c = 0; c < columns; ++c) diagonal_[block[c]] = x[block[c] * columns + c];
    parallel_blocks(execution_.threads, n, std::size_t{1} << 14,
                    [&](std::size_t from, std::size_t to, std::size_t) {
                      for (auto i = static_cast<NodeId>(from); i < to; ++i)
                        for (std::size_t c = 0; c < columns; ++c) offer(i, block[c], x[i * columns + c]);
                    });
  }

  void offer(NodeId node, NodeId source, double kernel) {
    if (component_[node] != component_[source]) return;
    insert(node, {diagonal_.at(source) - 2 * kernel, source},
           [&](const Entry& a, const Entry& b) { return is_nearer(node, a, b); });
  }

  /// A resistance that comes out of a solve is equal to another if it is within the error of both.
  bool is_nearer(NodeId node, const Entry& a, const Entry& b) const {
    if ((a.source == node) != (b.source == node)) return a.source == node;
    const double zero = kZeroMargin * std::max(diagonal_.at(a.source), diagonal_.at(b.source));
    return std::fabs(a.key - b.key) > zero ? a.key < b.key : a.source < b.source;
  }

  GraphView graph_;
  SolveOptions solve_;
  Execution execution_;
  std::vector<NodeId> component_;
  std::unordered_map<NodeId, double> diagonal_;  // L^+_jj of the sources
  LaplacianSolver solver_;
};

std::unique_ptr<NearestLists> nearest_lists(const GraphView& graph, const NearestNeighborOptions& options,
                                            const Execution& execution) {
  const auto k = static_cast<std::size_t>(options.num_neighbors);
  if (options.distance == Distance::resistance)
    return std::make_unique<ResistanceLists>(graph, k, options.solve, execution);
  const ResistanceScale scale = ResistanceScale::of(graph, true, execution.threads);
  if (scale.wide) return std::make_unique<GeodesicLists<Uint128>>(graph, k, scale, execution);
  return std::make_unique<GeodesicLists<std::uint64_t>>(graph, k, scale, execution);
}

}  // namespace

NearestNeighbor::NearestNeighbor(const GraphView& graph, const Options& options, const Execution& execution)
    : LabelledLearner(graph) {
  refuse_signs(graph, "nearest_neighbor", kUseRegistry);
  lists_ = nearest_lists(graph, options, execution);
}

NearestNeighbor::~NearestNeighbor() = default;

double NearestNeighbor::weigh(NodeId node, std::span<double> weights) const {
  const std::size_t count = lists_->size(node);
  for (std::size_t place = 0; place < count; ++place) weights[labels()[lists_->source(node, place)]] += 1;
  return static_cast<double>(count);
}

// Of several classes with as many votes that of the nearest voter.
Prediction NearestNeighbor::choose(NodeId node) const {
  std::vector<double> weights(num_classes());
  const double total = weigh(node, weights);
  if (total == 0) return unreached(prior());
  const double most = *std::max_element(weights.begin(), weights.end());
  for (std::size_t place = 0;; ++place) {
    const Label label = labels()[lists_->source(node, place)];
    if (weights[label] == most) return {label, most / total, true};
  }
}

std::vector<Reason> NearestNeighbor::reasons(NodeId node) const {
  const std::vector<double> distances = lists_->distances(node);
  std::vector<Reason> reasons;
  for (std::size_t place = 0; place < distances.size(); ++place) {
    const NodeId source = lists_->source(node, place);
    reasons.push_back(
        {source, labels()[source], 1 / static_cast<double>(distances.size()), distances[place]});
  }
  return reasons;
}

void NearestNeighbor::change_label(NodeId node, Label label) {
  if (!has_label(node))
    lists_->add({&node, 1});
  else if (label == kNoLabel)
    lists_->remove(node);
}

// All at once: a search from many sources, or solves of several columns.
BatchResult NearestNeighbor::reveal_all(std::span<const Label> labels) {
  std::vector<NodeId> labelled;
  for (NodeId node = 0; node < labels.size(); ++node) {
    if (labels[node] == kNoLabel) continue;
    labelled.push_back(node);
    set_label(node, labels[node]);
  }
  lists_->add(labelled);
  return {};
}

std::uint64_t NearestNeighbor::bytes(const ProblemSize& size, const Options& options) {
  const std::uint64_t lists = size.num_nodes * (sizeof(Label) + sizeof(NodeId) +
                                                16 * static_cast<std::uint64_t>(options.num_neighbors));
  // The queue of a search, or a block of columns with the solver and the components.
  if (options.distance == Distance::geodesic) return lists + size.num_arcs * 16;
  return lists + size.num_nodes * (4 + 64) +
         LaplacianSolver::bytes(size.num_nodes, size.num_arcs, 8, options.solve);
}

}  // namespace copse
