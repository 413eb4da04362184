// SPDX-License-Identifier: Apache-2.0
#include "laplacian/laplacian_system.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"

namespace copse {

namespace {

constexpr std::size_t kRows = 1 << 14;  // nodes that one task handles
// Below this a pass is over before other threads have woken up.
constexpr std::uint64_t kWorthThreads = 1 << 17;
constexpr NodeId kNear = 1 << 15;  // 2^15 doubles are a quarter of a megabyte: half of a second-level cache

std::vector<char> grounded_flags(const GraphView& graph, std::span<const NodeId> grounded) {
  std::vector<char> flags(graph.num_nodes());
  for (const NodeId node : grounded) {
    if (node >= graph.num_nodes())
      throw UsageError{
          "grounded", "node " + std::to_string(node) + " is not in the graph",
          "the graph has nodes 0 to " + std::to_string(graph.num_nodes()) + ", the last excluded"};
    flags[node] = 1;
  }
  return flags;
}

/// Numbers the components that hold no grounded node and more than one node.
void number_singular_components(LaplacianSystem& system, std::span<const NodeId> grounded) {
  const Components components = connected_components(system.graph, system.execution);
  std::vector<NodeId> number(components.count());
  for (const NodeId node : grounded) number[components.of_node[node]] = kNoNode;
  for (std::size_t c = 0; c < number.size(); ++c) {
    if (components.sizes[c] == 1) number[c] = kNoNode;
    if (number[c] == kNoNode) continue;
    number[c] = static_cast<NodeId>(system.sizes.size());
    system.sizes.push_back(components.sizes[c]);
  }
  system.singular = Buffer<NodeId>(system.num_nodes());
  parallel_blocks(system.execution, system.num_nodes(), kRows,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t u = begin; u < end; ++u)
                      system.singular[u] = number[components.of_node[u]];
                  });
}

}  // namespace

LaplacianSystem LaplacianSystem::of(const GraphView& graph, std::span<const NodeId> grounded,
                                    const Execution& execution) {
  LaplacianSystem system{.graph = graph, .execution = execution, .num_arcs = graph.num_arcs()};
  if (graph.num_nodes() + graph.num_arcs() < kWorthThreads || execution.threads < 1)
    system.execution.threads = 1;
  const std::vector<char> is_grounded = grounded_flags(graph, grounded);
  number_singular_components(system, grounded);
  system.inverse_degree = Buffer<double>(graph.num_nodes());
  system.num_free = deterministic_reduce(
      system.execution, graph.num_nodes(), NodeId{0},
      [&](std::size_t begin, std::size_t end) {
        NodeId free = 0;
        for (std::size_t u = begin; u < end; ++u) {
          const double degree = is_grounded[u] ? 0 : weighted_degree(graph, static_cast<NodeId>(u));
          system.inverse_degree[u] = degree > 0 ? 1 / degree : 0;
          free += degree > 0;
        }
        return free;
      },
      [](NodeId a, NodeId b) { return a + b; }, kRows);
  return system;
}

ReorderedSystem reorder(const LaplacianSystem& system, std::vector<NodeId> order) {
  const GraphView& graph = system.graph;
  const std::size_t n = graph.num_nodes();
  std::vector<NodeId> number(n);
  for (std::size_t i = 0; i < n; ++i) number[order[i]] = static_cast<NodeId>(i);

  Buffer<EdgeIndex> offsets(n + 1);
  for (std::size_t i = 0; i < n; ++i) offsets[i + 1] = offsets[i] + graph.degree(order[i]);
  Buffer<NodeId> neighbors(graph.num_arcs());
  Buffer<Weight> weights(graph.weights.size());
  LaplacianSystem moved{.execution = system.execution,
                        .inverse_degree = Buffer<double>(n),
                        .singular = Buffer<NodeId>(n),
                        .sizes = system.sizes,
                        .num_free = system.num_free,
                        .num_arcs = system.num_arcs};
  // Rows keep the order of their arcs: nothing here needs them sorted.
  parallel_blocks(system.execution, n, kRows, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      const NodeId u = order[i];
      const EdgeIndex from = graph.offsets[u], to = offsets[i], degree = graph.degree(u);
      for (EdgeIndex arc = 0; arc < degree; ++arc) neighbors[to + arc] = number[graph.neighbors[from + arc]];
      const std::span<const Weight> row = graph.weights_of(u);
      std::copy(row.begin(), row.end(), weights.begin() + to);
      moved.inverse_degree[i] = system.inverse_degree[u];
      moved.singular[i] = system.singular[u];
    }
  });
  ReorderedSystem result{std::move(order),
                         Graph(std::move(offsets), std::move(neighbors), std::move(weights)),
                         std::move(moved)};
  result.system.graph = result.graph.view();
  return result;
}

std::vector<NodeId> breadth_first_order(const GraphView& graph, const Execution& execution,
                                        NodeId most_wide) {
  const NodeId n = graph.num_nodes();
  std::vector<NodeId> order;
  order.reserve(n);
  std::vector<char> seen(n);
  CancelCheck check(execution);
  std::uint64_t num_wide = 0;
  for (NodeId start = 0, next = 0; start < n; ++start) {
    if (seen[start]) continue;
    seen[start] = 1;
    order.push_back(start);
    for (std::size_t end = order.size(); next < order.size(); ++next) {
      const std::size_t width = order.size() - end;  // of the level that is being found
      const std::uint64_t wide = num_wide + (width > kNear ? width : 0);
      if (wide > most_wide) return {};
      if (next == end) end = order.size(), num_wide = wide;
      check.step();
      for (const NodeId v : graph.neighbors_of(order[next])) {
        if (seen[v]) continue;
        seen[v] = 1;
        order.push_back(v);
      }
    }
  }
  return order;
}

LevelStructure level_structure(const GraphView& graph, std::uint64_t max_fill, const Execution& execution) {
  const NodeId n = graph.num_nodes();
  std::vector<char> seen(n);
  std::vector<NodeId> level, next;
  LevelStructure levels;
  CancelCheck check(execution);
  for (NodeId start = 0; start < n && levels.is_whole; ++start) {
    if (seen[start]) continue;
    seen[start] = 1;
    level.assign(1, start);
    NodeId depth = 0;
    for (std::uint64_t before = 0; !level.empty() && levels.is_whole; before = next.size()) {
      levels.fill += level.size() * (level.size() + before);
      levels.is_whole = levels.fill <= max_fill;
      levels.depth = std::max(levels.depth, ++depth);
      next.clear();
      for (const NodeId u : level) {
        check.step();
        for (const NodeId v : graph.neighbors_of(u)) {
          if (!seen[v]) seen[v] = 1, next.push_back(v);
        }
      }
      next.swap(level);
    }
  }
  return levels;
}

bool has_local_order(const GraphView& graph, std::span<const NodeId> order) {
  constexpr NodeId kSample = 10'000;
  constexpr EdgeIndex kOfRow = 16;
  const NodeId n = graph.num_nodes();
  if (n <= 2 * kNear || graph.num_arcs() == 0) return true;
  std::vector<NodeId> number(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<NodeId>(i);
  const auto place = [&](NodeId u) { return std::int64_t{number.empty() ? u : number[u]}; };
  std::uint64_t sampled = 0, near = 0;
  for (std::uint64_t at = 0; at < n; at += std::max<NodeId>(1, n / kSample)) {
    const auto u = static_cast<NodeId>(at);
    for (const NodeId v : graph.neighbors_of(u).first(std::min(graph.degree(u), kOfRow))) {
      near += std::abs(place(u) - place(v)) <= kNear;
      ++sampled;
    }
  }
  return near * 4 >= sampled * 3;
}

namespace {

// Arcs whose other ends are fetched early: where rows of p are long, these wait.
constexpr EdgeIndex kAhead = 12;

/// q_u = sum of w (p_u - p_v) for the rows [begin, end); returns p . q of these.
template <class Real, int width, bool weighted>
struct ApplyRows {
  template <std::size_t register_bytes>
  [[gnu::always_inline]] ColumnValues operator()(const LaplacianSystem* system, const Real* p, Real* q,
                                                 std::size_t begin, std::size_t end) const {
    using Row = BlockRow<Real, width, register_bytes>;
    BlockRow<double, width, register_bytes> dot;
    for (std::size_t u = begin; u < end; ++u) {
      Row sum;
      if (system->inverse_degree[u] != 0) add_row(system->graph, u, p, sum);
      sum.store(q + u * width);
      if constexpr (std::is_same_v<Real, double>)
        dot.add_product(Row(p + u * width), sum);
      else
        dot.add_product(widened<register_bytes>(p + u * width), widened<register_bytes>(q + u * width));
    }
    ColumnValues result{};
    dot.store(result.data());
    return result;
  }

  template <std::size_t register_bytes>
  [[gnu::always_inline]] static BlockRow<double, width, register_bytes> widened(const Real* row) {
    double values[width];
    for (int c = 0; c < width; ++c) values[c] = row[c];
    return BlockRow<double, width, register_bytes>(values);
  }

  template <class Row>
  [[gnu::always_inline]] static void add_row(const GraphView& graph, std::size_t u, const Real* p, Row& sum) {
    const Row own(p + u * width);
    for (EdgeIndex arc = graph.offsets[u], end = graph.offsets[u + 1]; arc < end; ++arc) {
      if constexpr (width >= 4)
        __builtin_prefetch(p + std::size_t{graph.neighbors[std::min(arc + kAhead, graph.num_arcs() - 1)]} *
                                   width);
      const Real weight = weighted ? static_cast<Real>(graph.weights[arc]) : 1;
      sum.add_difference(own, p + std::size_t{graph.neighbors[arc]} * width, weight);
    }
  }
};

}  // namespace

template <class Real>
ColumnValues apply_laplacian(const LaplacianSystem& system, const Real* p, Real* q, int width) {
  ColumnValues dot{};
  with_width(width, [&](auto w) {
    dot = sum_rows(system.execution, system.num_nodes(), [&](std::size_t begin, std::size_t end) {
      return system.graph.is_weighted()
                 ? run_row_kernel<w()>(ApplyRows<Real, w(), true>{}, &system, p, q, begin, end)
                 : run_row_kernel<w()>(ApplyRows<Real, w(), false>{}, &system, p, q, begin, end);
    });
  });
  return dot;
}

template <class Real>
void subtract_component_means(const LaplacianSystem& system, Real* values, int width) {
  if (!system.is_singular()) return;
  with_width(width, [&](auto w) {
    // One pass in the order of the nodes: sums do not depend on threads, however many components there are.
    std::vector<double> means(system.sizes.size() * w());
    const std::size_t n = system.num_nodes();
    for (std::size_t u = 0; u < n; ++u) {
      const NodeId component = system.singular[u];
      if (component == kNoNode) continue;
      for (int c = 0; c < w(); ++c) means[std::size_t{component} * w() + c] += values[u * w() + c];
    }
    for (std::size_t i = 0; i < means.size(); ++i) means[i] /= system.sizes[i / w()];
    parallel_blocks(system.execution, n, kBlockRows, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t u = begin; u < end; ++u) {
        const NodeId component = system.singular[u];
        if (component == kNoNode) continue;
        for (int c = 0; c < w(); ++c)
          values[u * w() + c] -= static_cast<Real>(means[std::size_t{component} * w() + c]);
      }
    });
  });
}

template ColumnValues apply_laplacian(const LaplacianSystem&, const double*, double*, int);
template ColumnValues apply_laplacian(const LaplacianSystem&, const float*, float*, int);
template void subtract_component_means(const LaplacianSystem&, double*, int);
template void subtract_component_means(const LaplacianSystem&, float*, int);

}  // namespace copse
