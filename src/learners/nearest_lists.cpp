// SPDX-License-Identifier: Apache-2.0
#include "learners/nearest_lists.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_map>

#include "copse/graph/components.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"
#include "learners/line_resistance.hpp"
#include "learners/machine.hpp"

namespace copse {
namespace {

/// Dijkstra from all sources at once, pruned: where k sources are nearer to a node than s, they are also
/// nearer to all that s reaches through it. So a source costs no more than the part of the graph where it is
/// listed, and the order in which sources come does not matter. Distances are integers (ResistanceScale): no
/// two ways to add them up differ.
template <class Integer>
class GeodesicLists final : public NearestLists {
 public:
  GeodesicLists(const GraphView& graph, std::size_t k, const ResistanceScale& scale,
                const Execution& execution)
      : graph_(graph),
        k_(k),
        scale_(scale),
        execution_(execution),
        count_(graph.num_nodes()),
        entries_(graph.num_nodes() * k) {}

  void add(std::span<const NodeId> sources) override {
    Queue queue;
    for (const NodeId source : sources) queue.push({0, source, source});
    spread(queue);
  }

  void remove(NodeId source) override {
    std::vector<NodeId> region{source};  // where it is listed: connected, since pruning is by prefixes
    erase(source, source);
    for (std::size_t i = 0; i < region.size(); ++i) {
      for (const NodeId v : graph_.neighbors_of(region[i]))
        if (erase(v, source)) region.push_back(v);
    }
    Queue queue;
    for (const NodeId v : region) {
      for (EdgeIndex arc = graph_.offsets[v]; arc < graph_.offsets[v + 1]; ++arc) {
        const NodeId u = graph_.neighbors[arc];
        for (NodeId place = 0; place < count_[u]; ++place) {
          const Entry& entry = entries_[u * k_ + place];
          offer(queue, {entry.distance + length(arc), entry.source, v});
        }
      }
    }
    spread(queue);
  }

  std::size_t size(NodeId node) const override { return count_[node]; }
  NodeId source(NodeId node, std::size_t place) const override { return entries_[node * k_ + place].source; }
  std::vector<double> distances(NodeId node) const override {
    std::vector<double> all;
    for (std::size_t place = 0; place < count_[node]; ++place)
      all.push_back(scale_.to_double(entries_[node * k_ + place].distance));
    return all;
  }

 private:
  struct Entry {
    Integer distance;
    NodeId source;
  };
  struct Item {
    Integer distance;
    NodeId source, node;
    bool operator>(const Item& other) const {
      if (distance != other.distance) return distance > other.distance;
      return source != other.source ? source > other.source : node > other.node;
    }
  };
  using Queue = std::priority_queue<Item, std::vector<Item>, std::greater<>>;

  Integer length(EdgeIndex arc) const { return scale_.resistance<Integer>(graph_.weight(arc)); }

  bool is_wanted(const Item& item) const {
    if (count_[item.node] < k_) return true;
    const Entry& last = entries_[item.node * k_ + k_ - 1];
    return item.distance != last.distance ? item.distance < last.distance : item.source < last.source;
  }
  void offer(Queue& queue, const Item& item) const {
    if (is_wanted(item)) queue.push(item);
  }

  /// Nearest first, so a source that is listed already is listed with its distance.
  bool insert(const Item& item) {
    if (!is_wanted(item)) return false;
    Entry* list = &entries_[item.node * k_];
    const std::size_t count = count_[item.node];
    for (std::size_t place = 0; place < count; ++place)
      if (list[place].source == item.source) return false;
    std::size_t place = std::min(count, k_ - 1);
    while (place > 0 && (list[place - 1].distance != item.distance ? list[place - 1].distance > item.distance
                                                                   : list[place - 1].source > item.source)) {
      list[place] = list[place - 1];
      --place;
    }
    list[place] = {item.distance, item.source};
    count_[item.node] = static_cast<NodeId>(std::min(count + 1, k_));
    return true;
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

  void spread(Queue& queue) {
    CancelCheck check(execution_);
    while (!queue.empty()) {
      check.step();
      const Item item = queue.top();
      queue.pop();
      if (!insert(item)) continue;
      for (EdgeIndex arc = graph_.offsets[item.node]; arc < graph_.offsets[item.node + 1]; ++arc)
        offer(queue, {item.distance + length(arc), item.source, graph_.neighbors[arc]});
    }
  }

  GraphView graph_;
  std::size_t k_;
  ResistanceScale scale_;
  Execution execution_;
  Buffer<NodeId> count_;
  Buffer<Entry> entries_;  // k places a node
};

/// r(i, j) = L^+_ii + L^+_jj - 2 L^+_ij: the column of j ranks it against other sources at every node i at
/// once, the first term being the same for all of them.
class ResistanceLists final : public NearestLists {
 public:
  ResistanceLists(const GraphView& graph, std::size_t k, const SolveOptions& solve,
                  const Execution& execution)
      : graph_(graph),
        k_(k),
        solve_(solve),
        execution_(execution),
        component_(connected_components(graph, execution).of_node),
        count_(graph.num_nodes()),
        entries_(graph.num_nodes() * k) {}

  void add(std::span<const NodeId> sources) override {
    if (!solver_) solver_.emplace(graph_, solve_, execution_);
    constexpr std::size_t kTogether = 8;
    for (std::size_t begin = 0; begin < sources.size(); begin += kTogether) {
      const auto block = sources.subspan(begin, std::min(kTogether, sources.size() - begin));
      const std::size_t columns = block.size(), n = graph_.num_nodes();
      Buffer<double> x(n * columns);
      for (std::size_t c = 0; c < columns; ++c) x[block[c] * columns + c] = 1;
      solver_->solve(x.span(), x.span(), columns);
      for (std::size_t c = 0; c < columns; ++c) diagonal_[block[c]] = x[block[c] * columns + c];
      parallel_blocks(execution_.threads, n, std::size_t{1} << 14,
                      [&](std::size_t from, std::size_t to, std::size_t) {
                        for (std::size_t i = from; i < to; ++i)
                          for (std::size_t c = 0; c < columns; ++c) {
                            const NodeId s = block[c];
                            if (component_[i] == component_[s])
                              insert(i, {diagonal_.at(s) - 2 * x[i * columns + c], s});
                          }
                      });
    }
  }

  void remove(NodeId source) override {
    diagonal_.erase(source);
    std::vector<NodeId> rest;
    for (const auto& entry : diagonal_) rest.push_back(entry.first);
    std::sort(rest.begin(), rest.end());
    diagonal_.clear();
    std::fill(count_.begin(), count_.end(), NodeId{0});
    solver_.reset();
    add(rest);
  }

  std::size_t size(NodeId node) const override { return count_[node]; }
  NodeId source(NodeId node, std::size_t place) const override { return entries_[node * k_ + place].source; }
  std::vector<double> distances(NodeId node) const override {
    std::vector<double> column(graph_.num_nodes()), all;
    column[node] = 1;
    LaplacianSolver(graph_, solve_, execution_).solve(column, column);
    for (std::size_t place = 0; place < count_[node]; ++place) {
      const Entry& entry = entries_[node * k_ + place];
      all.push_back(
          entry.source == node ? 0 : std::max(column[node] + entry.key, std::numeric_limits<double>::min()));
    }
    return all;
  }

 private:
  struct Entry {
    double key;  // the resistance less L^+_ii
    NodeId source;
  };

  /// A resistance that comes out of a solve is equal to another if it is within the error of both.
  bool is_nearer(std::size_t node, const Entry& a, const Entry& b) const {
    if ((a.source == node) != (b.source == node)) return a.source == node;
    const double zero = kZeroMargin * std::max(diagonal_.at(a.source), diagonal_.at(b.source));
    return std::fabs(a.key - b.key) > zero ? a.key < b.key : a.source < b.source;
  }

  void insert(std::size_t node, const Entry& entry) {
    Entry* list = &entries_[node * k_];
    const std::size_t count = count_[node];
    if (count == k_ && !is_nearer(node, entry, list[k_ - 1])) return;
    std::size_t place = std::min(count, k_ - 1);
    for (; place > 0 && is_nearer(node, entry, list[place - 1]); --place) list[place] = list[place - 1];
    list[place] = entry;
    count_[node] = static_cast<NodeId>(std::min(count + 1, k_));
  }

  GraphView graph_;
  std::size_t k_;
  SolveOptions solve_;
  Execution execution_;
  std::vector<NodeId> component_;
  Buffer<NodeId> count_;
  Buffer<Entry> entries_;
  std::unordered_map<NodeId, double> diagonal_;  // L^+_jj of the sources
  std::optional<LaplacianSolver> solver_;
};

}  // namespace

std::unique_ptr<NearestLists> geodesic_lists(const GraphView& graph, std::size_t k,
                                             const Execution& execution) {
  const ResistanceScale scale = ResistanceScale::of(graph, true, execution.threads);
  if (scale.wide) return std::make_unique<GeodesicLists<Uint128>>(graph, k, scale, execution);
  return std::make_unique<GeodesicLists<std::uint64_t>>(graph, k, scale, execution);
}

std::unique_ptr<NearestLists> resistance_lists(const GraphView& graph, std::size_t k,
                                               const SolveOptions& solve, const Execution& execution) {
  return std::make_unique<ResistanceLists>(graph, k, solve, execution);
}

}  // namespace copse
