// SPDX-License-Identifier: Apache-2.0
#include "laplacian/exact_cholesky.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "laplacian/elimination_tree.hpp"
#include "laplacian/fill_order.hpp"
#include "oracle/graphs.hpp"
#include "oracle/sparse_cholesky.hpp"

namespace copse {
namespace {

/// Cliques of `size` in a row, every two joined by an edge, under shuffled names.
Graph cliques(NodeId count, NodeId size, std::uint64_t seed) {
  std::vector<NodeId> name(std::size_t{count} * size);
  for (NodeId i = 0; i < name.size(); ++i) name[i] = i;
  std::shuffle(name.begin(), name.end(), std::mt19937_64(seed));
  std::vector<Edge> edges;
  for (NodeId c = 0; c < count; ++c) {
    for (NodeId i = 0; i < size; ++i) {
      for (NodeId j = i + 1; j < size; ++j) edges.push_back({name[c * size + i], name[c * size + j], 1});
    }
    if (c > 0) edges.push_back({name[c * size - 1], name[c * size], 2});
  }
  return graph_from_edges(count * size, edges);
}

/// Every graph that the tests below run on, and the nodes grounded.
struct Case {
  std::string name;
  Graph graph;
  std::vector<NodeId> grounded;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (auto& [name, graph] : oracle::small_graphs()) {
    all.push_back({name, std::move(graph), {}});
  }
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    all.push_back(
        {"random " + std::to_string(seed),
         oracle::random_graph(
             {.num_nodes = 90, .num_edges = 60 + 30 * seed, .seed = seed, .weighted = seed % 2 == 0}),
         seed % 3 == 0 ? std::vector<NodeId>{7, 8, 60} : std::vector<NodeId>{}});
  }
  all.push_back({"grid", oracle::grid(23, 31), {}});
  all.push_back({"grounded grid", oracle::grid(17, 40), {5, 100, 101}});
  all.push_back({"cliques", cliques(9, 11, 1), {}});
  all.push_back({"cliques of 40", cliques(4, 40, 2), {3}});
  all.push_back({"one clique", cliques(1, 70, 3), {}});
  all.push_back({"star", oracle::star(200), {}});
  all.push_back({"star, grounded leaf", oracle::star(200), {3}});
  all.push_back({"path", oracle::path(300), {}});
  all.push_back({"tree", oracle::random_tree({.num_nodes = 300, .seed = 4, .weighted = true}), {}});
  return all;
}

TEST(QuotientPattern, puts_together_exactly_the_joined_nodes_with_the_same_other_neighbours) {
  for (const auto& [name, graph, grounded] : cases()) {
    SCOPED_TRACE(name);
    const LaplacianSystem system = LaplacianSystem::of(graph, grounded, {});
    const QuotientPattern pattern = QuotientPattern::of(system);
    const std::vector<NodeId> unknown = oracle::unknowns(graph, grounded);
    auto sorted = pattern.members;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, unknown);
    const auto closed = [&](NodeId u) {
      std::set<NodeId> result{u};
      for (const NodeId v : graph.view().neighbors_of(u))
        if (std::binary_search(unknown.begin(), unknown.end(), v)) result.insert(v);
      return result;
    };
    const bool has_twins = system.num_arcs >= 3 * system.num_free;
    std::vector<NodeId> group(graph.num_nodes(), kNoNode);
    for (NodeId g = 0; g < pattern.num_groups(); ++g)
      for (NodeId m = pattern.begin[g]; m < pattern.begin[g + 1]; ++m) group[pattern.members[m]] = g;
    for (const NodeId u : unknown) {
      std::set<NodeId> wanted, found;
      for (const NodeId v : closed(u)) {
        const bool are_twins = has_twins && closed(u) == closed(v);
        EXPECT_EQ(group[u] == group[v], u == v || are_twins) << u << ' ' << v;
        if (group[v] != group[u]) wanted.insert(group[v]);
      }
      for (const NodeId g : pattern.neighbors_of(group[u])) found.insert(g);
      EXPECT_EQ(found, wanted);
      EXPECT_EQ(found.size(), pattern.neighbors_of(group[u]).size()) << "none twice";
    }
  }
}

TEST(FillOrder, names_every_group_once) {
  for (const auto& [name, graph, grounded] : cases()) {
    SCOPED_TRACE(name);
    const QuotientPattern pattern = QuotientPattern::of(LaplacianSystem::of(graph, grounded, {}));
    auto order = fill_reducing_order(pattern);
    std::sort(order.begin(), order.end());
    ASSERT_EQ(order.size(), pattern.num_groups());
    for (NodeId g = 0; g < order.size(); ++g) EXPECT_EQ(order[g], g);
  }
}

TEST(FillOrder, fills_nothing_in_trees_rows_of_cliques_and_stars) {
  for (const auto& [name, graph, grounded] : cases()) {
    const bool is_chordal = name.find("cliq") != std::string::npos ||
                            name.find("star") != std::string::npos || name == "tree" || name == "path";
    if (!is_chordal) continue;
    SCOPED_TRACE(name);
    const QuotientPattern pattern = QuotientPattern::of(LaplacianSystem::of(graph, grounded, {}));
    std::vector<NodeId> order;
    for (const NodeId g : fill_reducing_order(pattern))
      for (NodeId m = pattern.begin[g]; m < pattern.begin[g + 1]; ++m) order.push_back(pattern.members[m]);
    std::size_t entries = order.size();
    for (const NodeId u : order)
      for (const NodeId v : graph.view().neighbors_of(u))
        entries += u < v && std::find(order.begin(), order.end(), v) != order.end();
    std::size_t filled = 0;
    for (const auto& column : oracle::filled_columns(graph, order)) filled += column.size();
    EXPECT_EQ(filled, entries);
  }
}

TEST(EliminationTree, parents_and_counts_are_those_of_elimination_column_by_column) {
  for (const auto& [name, graph, grounded] : cases()) {
    SCOPED_TRACE(name);
    const QuotientPattern pattern = QuotientPattern::of(LaplacianSystem::of(graph, grounded, {}));
    std::vector<NodeId> order = fill_reducing_order(pattern);
    for (const bool shuffled : {false, true}) {
      if (shuffled) std::shuffle(order.begin(), order.end(), std::mt19937_64(5));
      // Columns of single nodes, group after group; a group's first column stands for it.
      std::vector<NodeId> nodes, group_of;
      const auto spread = [&] {
        nodes.clear(), group_of.clear();
        for (NodeId step = 0; step < order.size(); ++step)
          for (NodeId m = pattern.begin[order[step]]; m < pattern.begin[order[step] + 1]; ++m)
            nodes.push_back(pattern.members[m]), group_of.push_back(step);
      };
      spread();
      const auto parent = elimination_tree(pattern, order);
      auto columns = oracle::filled_columns(graph, nodes);
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        NodeId wanted = kNoNode;
        for (const NodeId row : columns[i])
          if (group_of[row] != group_of[i]) wanted = std::min(wanted, group_of[row]);
        EXPECT_EQ(parent[group_of[i]], wanted);
      }
      // In postorder the factor has as many entries, column by column.
      const auto post = postorder(parent);
      std::vector<NodeId> moved;
      for (const NodeId step : post) moved.push_back(order[step]);
      order = moved;
      spread();
      const auto tree = elimination_tree(pattern, order);
      const auto counts = column_counts(pattern, order, tree);
      columns = oracle::filled_columns(graph, nodes);
      for (std::size_t i = nodes.size(); i-- > 0;)
        if (i == 0 || group_of[i - 1] != group_of[i]) {
          EXPECT_EQ(counts[group_of[i]], columns[i].size());
        }
      for (NodeId step = 0; step < tree.size(); ++step) EXPECT_GT(tree[step], step);
    }
  }
}

TEST(SymbolicCholesky, panels_hold_every_entry_of_the_factor) {
  for (const auto& [name, graph, grounded] : cases()) {
    SCOPED_TRACE(name);
    const auto symbolic = SymbolicCholesky::of(LaplacianSystem::of(graph, grounded, {}));
    ASSERT_TRUE(symbolic);
    const Supernodes parts = symbolic->supernodes();
    auto sorted = parts.node_of;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, oracle::unknowns(graph, grounded));
    EXPECT_EQ(parts.panel_begin.back(), symbolic->entries());
    EXPECT_EQ(parts.count(), symbolic->num_supernodes());
    const auto columns = oracle::filled_columns(graph, parts.node_of);
    for (NodeId s = 0; s < parts.count(); ++s) {
      const auto rows = parts.rows_of(s);
      EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
      EXPECT_EQ(parts.parent[s] == kNoNode, rows.empty());
      if (!rows.empty()) {
        const NodeId p = parts.parent[s];
        EXPECT_TRUE(p > s && parts.first[p] <= rows[0] && rows[0] < parts.first[p + 1]);
      }
      for (NodeId i = parts.first[s]; i < parts.first[s + 1]; ++i) {
        for (const NodeId row : columns[i])
          EXPECT_TRUE(row < parts.first[s + 1] || std::binary_search(rows.begin(), rows.end(), row));
      }
    }
  }
}

TEST(ExactCholesky, solves_as_eigens_factorization_does) {
  for (const auto& [name, graph, grounded] : cases()) {
    SCOPED_TRACE(name);
    const LaplacianSystem system = LaplacianSystem::of(graph, grounded, {});
    const auto factor = exact_cholesky(system, *SymbolicCholesky::of(system), {});
    ASSERT_TRUE(factor);
    const std::size_t n = graph.num_nodes();
    for (const int width : {1, 2, 5, 8}) {
      const auto w = static_cast<std::size_t>(width);
      std::mt19937_64 random(3);
      std::vector<double> r(n * w), z((n + 1) * w);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < w; ++c)
          r[i * w + c] =
              system.is_fixed(static_cast<NodeId>(i)) ? 0 : static_cast<double>(random() % 2001) - 1000;
      std::copy(r.begin(), r.end(), z.begin());
      const ColumnValues product = factor->apply(z.data(), width);
      for (std::size_t c = 0; c < w; ++c) {
        std::vector<double> b(n);
        for (std::size_t i = 0; i < n; ++i) b[i] = r[i * w + c];
        const auto wanted = oracle::solve_by_eigen(graph, grounded, b);
        double size = 0, dot = 0;
        for (std::size_t i = 0; i < n; ++i) {
          size = std::max(size, std::abs(wanted[i]));
          dot += b[i] * wanted[i];
        }
        for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(z[i * w + c], wanted[i], 1e-10 * size) << i;
        EXPECT_NEAR(product[c], dot, 1e-9 * std::abs(dot));
      }
    }
  }
}

TEST(ExactCholesky, a_column_is_the_same_bits_alone_or_beside_others) {
  const Graph graph = oracle::grid(40, 40);
  const LaplacianSystem system = LaplacianSystem::of(graph, {}, {});
  const auto factor = exact_cholesky(system, *SymbolicCholesky::of(system), {});
  std::mt19937_64 random(3);
  std::vector<double> together(1601 * 8);
  for (double& value : together) value = static_cast<double>(random() % 2001) - 1000;
  std::vector<double> alone(1601);
  for (std::size_t i = 0; i < 1600; ++i) alone[i] = together[i * 8 + 5];
  factor->apply(together.data(), 8);
  factor->apply(alone.data(), 1);
  for (std::size_t i = 0; i < 1600; ++i) ASSERT_EQ(alone[i], together[i * 8 + 5]);
}

}  // namespace
}  // namespace copse
