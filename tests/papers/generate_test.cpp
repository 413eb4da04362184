// SPDX-License-Identifier: Apache-2.0
#include "papers/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "copse/graph/components.hpp"
#include "copse/graph/statistics.hpp"
#include "copse/support/error.hpp"
#include "copse/trees/diameter.hpp"
#include "copse/trees/sample.hpp"
#include "graph/generate_parts.hpp"
#include "trees/similarity_forest.hpp"

namespace copse {
namespace {

using Parameters = std::vector<std::pair<std::string, double>>;

GeneratedGraph make(const std::string& name, const Parameters& parameters = {}, std::uint64_t seed = 1,
                    int threads = 1) {
  return generate_any_graph(name, parameters, {.seed = seed, .threads = threads});
}

bool has_edge(const GraphView& graph, NodeId u, NodeId v) {
  const auto row = graph.neighbors_of(u);
  return std::find(row.begin(), row.end(), v) != row.end();
}

std::uint64_t cut_of(const GeneratedGraph& made) {
  return label_statistics(made.graph, made.labels.of_node).cut_size;
}

// Largest distance in edges between two nodes, by a search from every node.
std::uint64_t diameter(const GraphView& graph) {
  std::uint64_t largest = 0;
  for (NodeId start = 0; start < graph.num_nodes(); ++start) {
    std::vector<std::uint64_t> distance(graph.num_nodes(), graph.num_nodes());
    std::queue<NodeId> queue({start});
    distance[start] = 0;
    while (!queue.empty()) {
      const NodeId u = queue.front();
      queue.pop();
      largest = std::max(largest, distance[u]);
      for (const NodeId v : graph.neighbors_of(u)) {
        if (distance[v] <= distance[u] + 1) continue;
        distance[v] = distance[u] + 1;
        queue.push(v);
      }
    }
  }
  return largest;
}

void expect_same(const GeneratedGraph& a, const GeneratedGraph& b) {
  EXPECT_TRUE(std::ranges::equal(a.graph.view().offsets, b.graph.view().offsets));
  EXPECT_TRUE(std::ranges::equal(a.graph.view().neighbors, b.graph.view().neighbors));
  EXPECT_TRUE(std::ranges::equal(a.graph.view().weights, b.graph.view().weights));
  EXPECT_EQ(a.labels.of_node, b.labels.of_node);
  EXPECT_EQ(a.labels.classes.names(), b.labels.classes.names());
}

TEST(Generators, every_family_makes_a_sound_graph_that_does_not_depend_on_threads) {
  for (const GeneratorRow& row : all_generator_rows()) {
    SCOPED_TRACE(row.name);
    const GeneratedGraph one = make(row.name, {}, 7, 1), four = make(row.name, {}, 7, 4);
    check_graph(one.graph, row.name.c_str());
    EXPECT_EQ(one.labels.of_node.size(), one.graph.num_nodes());
    for (const Label label : one.labels.of_node)
      EXPECT_TRUE(label == kNoLabel || label < one.labels.classes.size());
    expect_same(one, four);
  }
}

TEST(Generators, rows_are_fit_for_help_pages) {
  std::set<std::string> names;
  for (const GeneratorRow& row : all_generator_rows()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_FALSE(row.description.empty());
    std::set<std::string> parameters;
    for (const GeneratorParameter& parameter : row.parameters) {
      EXPECT_TRUE(parameters.insert(parameter.name).second) << parameter.name;
      EXPECT_FALSE(parameter.help.empty()) << parameter.name;
      EXPECT_LE(parameter.low, parameter.default_value) << parameter.name;
      EXPECT_GE(parameter.high, parameter.default_value) << parameter.name;
    }
  }
  for (const char* name :
       {"path", "cycle", "star", "wheel", "grid", "random", "regular", "rmat", "block_model", "barbell",
        "noisy_barbell", "thick_barbell", "flower", "octopus", "lollipop", "hierarchical"})
    EXPECT_EQ(names.count(name), 1U) << name;
}

TEST(Generators, random_families_change_with_the_seed) {
  for (const char* name : {"random", "regular", "rmat", "block_model", "hierarchical"}) {
    SCOPED_TRACE(name);
    const GeneratedGraph a = make(name, {}, 1), b = make(name, {}, 2);
    EXPECT_FALSE(std::ranges::equal(a.graph.view().neighbors, b.graph.view().neighbors));
  }
}

TEST(Generators, errors_name_the_parameter_its_range_and_the_others) {
  const auto text = [](const std::string& name, const Parameters& parameters) -> std::string {
    try {
      make(name, parameters);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(text("barbel", {}).substr(0, 38), "graph family: \"barbel\" is not known\n  ");
  EXPECT_NE(text("barbel", {}).find("octopus, lollipop"), std::string::npos);
  EXPECT_EQ(
      text("barbell", {{"cliques", 5}}),
      "barbell: there is no parameter \"cliques\"\n  barbell takes clique (nodes of each clique; whole, 2 to "
      "50000, default 100)");
  EXPECT_EQ(text("barbell", {{"clique", 1}}).substr(0, 75),
            "barbell parameter clique: 1 is not a whole number from 2 to 50000\n  barbell");
  EXPECT_NE(text("barbell", {{"clique", 2.5}}).find("2.5 is not a whole number"), std::string::npos);
  EXPECT_NE(text("rmat", {{"a", NAN}}).find("is not a number from 0 to 1"), std::string::npos);
  // Values that clash with one another.
  EXPECT_NE(text("path", {{"nodes", 3}, {"cut", 3}}), "");
  EXPECT_NE(text("cycle", {{"cut", 3}}), "");
  EXPECT_NE(text("grid", {{"rows", 1e9}, {"columns", 1e9}}), "");
  EXPECT_NE(text("random", {{"nodes", 3}, {"edges", 4}}), "");
  EXPECT_NE(text("regular", {{"nodes", 3}, {"degree", 3}}), "");
  EXPECT_NE(text("rmat", {{"a", 0.9}, {"b", 0.2}}), "");
  EXPECT_NE(text("block_model", {{"nodes", 3}, {"classes", 4}}), "");
  EXPECT_NE(text("block_model", {{"nodes", 10}, {"degree_inside", 5}}), "");
  EXPECT_NE(text("noisy_barbell", {{"clique", 3}, {"noisy", 3}}), "");
  EXPECT_NE(text("thick_barbell", {{"clique", 3}, {"bridges", 3}}), "");
  EXPECT_NE(text("octopus", {{"tentacles", 4e9}, {"length", 4e9}}), "");
  EXPECT_NE(text("hierarchical", {{"clusters", 3}, {"out", 3}}), "");
}

TEST(Generators, path_and_cycle_have_the_cut_that_was_asked_for) {
  for (const double cut : {0, 1, 2, 5, 9}) {
    const GeneratedGraph path = make("path", {{"nodes", 10}, {"cut", cut}});
    EXPECT_EQ(path.graph.view().num_edges(), 9U);
    EXPECT_EQ(cut_of(path), static_cast<std::uint64_t>(cut));
    for (NodeId u = 1; u < 10; ++u) EXPECT_TRUE(has_edge(path.graph, u - 1, u));
  }
  for (const double cut : {0, 2, 4, 10}) {
    const GeneratedGraph cycle = make("cycle", {{"nodes", 11}, {"cut", cut}});
    EXPECT_EQ(cycle.graph.view().num_edges(), 11U);
    EXPECT_EQ(cut_of(cycle), static_cast<std::uint64_t>(cut));
    EXPECT_TRUE(has_edge(cycle.graph, 0, 10));
  }
}

TEST(Generators, star_wheel_and_grid_have_their_shapes) {
  const GeneratedGraph star = make("star", {{"leaves", 6}});
  EXPECT_EQ(star.graph.view().degree(0), 6U);
  EXPECT_EQ(cut_of(star), 6U);
  EXPECT_EQ(star.labels.classes.name(star.labels.of_node[0]), "-1");
  const GeneratedGraph wheel = make("wheel", {{"rim", 6}});
  EXPECT_EQ(wheel.graph.view().num_edges(), 12U);
  EXPECT_EQ(wheel.graph.view().degree(0), 6U);
  for (NodeId u = 1; u <= 6; ++u) EXPECT_EQ(wheel.graph.view().degree(u), 3U);
  EXPECT_EQ(wheel.labels.num_labelled(), 0U);
  EXPECT_FALSE(wheel.graph.view().is_weighted());
  const GeneratedGraph grid = make("grid", {{"rows", 4}, {"columns", 7}});
  EXPECT_EQ(grid.graph.view().num_edges(), 4U * 6 + 3 * 7);
  EXPECT_EQ(diameter(grid.graph), 3U + 6);
  EXPECT_FALSE(grid.graph.view().is_weighted());
}

TEST(Generators, on_a_wheel_of_dear_spokes_the_minimum_tree_is_long_and_that_of_shortest_paths_short) {
  const GeneratedGraph wheel = make("wheel", {{"rim", 40}, {"spoke", 2}});
  const auto diameter_of = [&](TreeKind kind) {
    return geodesic_diameter(graph_of_tree(TreeSampler(wheel.graph, kind, {}).tree(0)), {}).upper;
  };
  EXPECT_GE(diameter_of(TreeKind::mst), 39);  // Rojas Galeano & Herbster, section 4: n + 1 at the most
  EXPECT_LE(diameter_of(TreeKind::mst), 41);
  EXPECT_LE(diameter_of(TreeKind::spt), 8);
}

TEST(Generators, contrast_gives_log_uniform_weights) {
  const GeneratedGraph grid = make("grid", {{"rows", 200}, {"columns", 200}, {"contrast", 1e6}});
  std::vector<int> decades(6);
  for (const Weight weight : grid.graph.view().weights) {
    ASSERT_GE(weight, 1.0F);
    ASSERT_LE(weight, 1e6F);
    ++decades[std::min(5, static_cast<int>(std::log10(weight)))];
  }
  const double expected = static_cast<double>(grid.graph.view().num_edges()) / 6;
  double chi_square = 0;  // 5 degrees of freedom: above 25 once in 10 000 seeds
  for (const int count : decades) chi_square += std::pow(count / 2.0 - expected, 2) / expected;
  EXPECT_LT(chi_square, 25);
}

TEST(Generators, random_has_exactly_the_edges_asked_for_and_favours_none) {
  EXPECT_EQ(make("random", {{"nodes", 300}, {"edges", 4000}}).graph.view().num_edges(), 4000U);
  EXPECT_EQ(make("random", {{"nodes", 20}, {"edges", 190}}).graph.view().num_edges(), 190U);  // complete
  // Over many seeds each of the 15 pairs of 6 nodes is drawn in 5 of 15 cases.
  std::map<std::pair<NodeId, NodeId>, int> drawn;
  constexpr int kSeeds = 3000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const GeneratedGraph made = make("random", {{"nodes", 6}, {"edges", 5}}, seed);
    for (NodeId u = 0; u < 6; ++u)
      for (const NodeId v : made.graph.view().neighbors_of(u))
        if (u < v) ++drawn[{u, v}];
  }
  ASSERT_EQ(drawn.size(), 15U);
  for (const auto& [pair, count] : drawn)  // standard deviation 26
    EXPECT_NEAR(count, kSeeds / 3.0, 130) << pair.first << " " << pair.second;
}

TEST(Generators, regular_is_connected_and_nearly_regular) {
  for (const double degree : {1, 2, 3, 6, 9}) {
    SCOPED_TRACE(degree);
    const GeneratedGraph made = make("regular", {{"nodes", 2000}, {"degree", degree}});
    const GraphStatistics facts = graph_statistics(made.graph);
    EXPECT_EQ(facts.max_degree, static_cast<std::uint64_t>(degree));
    EXPECT_GT(facts.mean_degree, degree - 0.1);
    if (degree >= 2) {
      EXPECT_EQ(facts.num_components, 1U);
    }
  }
}

TEST(Generators, rmat_is_skewed_and_keeps_nodes_without_edges) {
  const GeneratedGraph made = make("rmat", {{"scale", 14}, {"edge_factor", 8}});
  const GraphStatistics facts = graph_statistics(made.graph);
  EXPECT_EQ(facts.num_nodes, 1U << 14);
  EXPECT_LE(facts.num_edges, 8U << 14);
  EXPECT_GT(facts.num_edges, 6U << 14);  // few loops and repetitions
  EXPECT_GT(facts.num_isolated, 0U);
  EXPECT_GT(static_cast<double>(facts.max_degree), 20 * facts.mean_degree);
  // With four equal quarters it is an ordinary random graph.
  const GeneratedGraph even =
      make("rmat", {{"scale", 14}, {"edge_factor", 8}, {"a", .25}, {"b", .25}, {"c", .25}});
  EXPECT_LT(static_cast<double>(graph_statistics(even.graph).max_degree), 4 * 16.0);
}

TEST(Generators, rmat_fills_the_quarters_by_their_shares) {
  EXPECT_NO_THROW(make("rmat", {{"scale", 4}, {"c", 0.24}}));  // shares that sum to 1 but for rounding
  // Two nodes: only the quarters b and c hold an edge, so their absence leaves none; and in one level of
  // four nodes the share of pairs between the halves is b + c.
  EXPECT_EQ(make("rmat", {{"scale", 1}, {"edge_factor", 1000}, {"b", 0}, {"c", 0}, {"a", 0.5}})
                .graph.view()
                .num_edges(),
            0U);
  EXPECT_EQ(make("rmat", {{"scale", 1}, {"edge_factor", 1000}}).graph.view().num_edges(), 1U);
  // Expected degree of the heaviest node: both ends fall on node 0 (before the shuffle) with (a + b)^scale
  // and (a + c)^scale; at scale 12 and factor 16 that is 65536 * 2 * 0.76^12 = 4869 listings.
  const GraphStatistics facts = graph_statistics(make("rmat", {{"scale", 12}}).graph);
  EXPECT_LT(facts.max_degree, 4869U);
  EXPECT_GT(facts.max_degree, 1000U);
}

TEST(Generators, block_model_keeps_its_degrees_classes_and_weights) {
  const GeneratedGraph made = make("block_model", {{"nodes", 3001},
                                                   {"classes", 3},
                                                   {"degree_inside", 10},
                                                   {"degree_outside", 4},
                                                   {"weight_inside", 2},
                                                   {"weight_outside", 0.5}});
  const LabelStatistics facts = label_statistics(made.graph, made.labels.of_node);
  EXPECT_EQ(made.labels.classes.names(), (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(facts.class_counts, (std::vector<std::uint64_t>{1001, 1000, 1000}));
  EXPECT_EQ(facts.num_judged_edges - facts.cut_size, 15005U);  // exactly 3001 * 10 / 2
  EXPECT_NEAR(static_cast<double>(facts.cut_size), 3001 * 4 / 2, 5 * std::sqrt(6002 / 3.0));
  EXPECT_EQ(facts.cut_weight, 0.5 * static_cast<double>(facts.cut_size));
  EXPECT_EQ(facts.judged_weight - facts.cut_weight, 2 * 15005.0);
  // Classes are not stretches of node numbers.
  EXPECT_GT(std::set<Label>(made.labels.of_node.begin(), made.labels.of_node.begin() + 50).size(), 2U);
  // All pairs inside, none between.
  const GeneratedGraph full = make(
      "block_model", {{"nodes", 11}, {"classes", 2}, {"degree_inside", 50.0 / 11}, {"degree_outside", 0}});
  EXPECT_EQ(full.graph.view().num_edges(), 15U + 10);
  EXPECT_EQ(connected_components(full.graph).count(), 2U);
}

TEST(Generators, barbells_have_the_cuts_and_diameters_of_herbster_and_pontil_2006) {
  const GeneratedGraph barbell = make("barbell", {{"clique", 8}});
  EXPECT_EQ(barbell.graph.view().num_edges(), 2 * 28 + 1U);
  EXPECT_EQ(cut_of(barbell), 1U);
  EXPECT_EQ(diameter(barbell.graph), 3U);
  // "Now suppose ... the first clique contains one vertex which is labeled as the second": the cut becomes m.
  EXPECT_EQ(cut_of(make("noisy_barbell", {{"clique", 8}})), 8U);
  EXPECT_EQ(cut_of(make("noisy_barbell", {{"clique", 8}, {"noisy", 3}})), 3 * 5 + 1U);
  EXPECT_EQ(cut_of(make("noisy_barbell", {{"clique", 8}, {"noisy", 0}})), 1U);
  const GeneratedGraph thick = make("thick_barbell", {{"clique", 8}, {"bridges", 5}});
  EXPECT_EQ(cut_of(thick), 5U);
  EXPECT_EQ(diameter(thick.graph), 3U);
  EXPECT_EQ(graph_statistics(thick.graph).max_degree, 8U);  // no two bridges share an end
}

TEST(Generators, flower_and_octopus_have_the_sizes_of_herbster_and_pontil_2006) {
  const GeneratedGraph flower = make("flower", {{"stem", 6}, {"petals", 9}});
  EXPECT_EQ(flower.graph.num_nodes(), 15U);  // p + m
  EXPECT_EQ(flower.graph.view().num_edges(), 14U);
  EXPECT_EQ(diameter(flower.graph), 6U);          // p
  EXPECT_EQ(flower.graph.view().degree(5), 10U);  // the root: petals and stem
  const GeneratedGraph octopus = make("octopus", {{"head", 13}, {"tentacles", 4}, {"length", 3}});
  EXPECT_EQ(octopus.graph.num_nodes(), 13U + 4 * 3 + 1);
  EXPECT_EQ(diameter(octopus.graph), 6U);  // max(p + 2, 2p)
  EXPECT_EQ(cut_of(octopus), 1U);
  EXPECT_EQ(label_statistics(octopus.graph, octopus.labels.of_node).class_counts,
            (std::vector<std::uint64_t>{13, 13}));  // balanced
  EXPECT_EQ(octopus.graph.view().degree(13), 5U);   // the root: four tentacles and the body
  EXPECT_EQ(graph_statistics(make("octopus").graph).num_nodes, 122U);
}

TEST(Generators, lollipop_is_a_clique_with_a_line) {
  const GeneratedGraph made = make("lollipop", {{"clique", 5}, {"line", 4}});
  EXPECT_EQ(made.graph.view().num_edges(), 10U + 4);
  EXPECT_EQ(diameter(made.graph), 5U);
  EXPECT_EQ(cut_of(made), 1U);
}

TEST(Generators, hierarchical_follows_herbster_pontil_and_wainer_2005_section_6) {
  const GeneratedGraph made = make("hierarchical");
  const GraphView& graph = made.graph;
  ASSERT_EQ(graph.num_nodes(), 26U * 26);
  std::map<std::pair<NodeId, NodeId>, int> meta;
  std::vector<std::uint64_t> inside(26);
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    std::uint64_t own = 0;
    for (const NodeId v : graph.neighbors_of(u)) {
      if (u / 26 == v / 26) ++own;
      if (u < v && u / 26 == v / 26) ++inside[u / 26];
      if (u < v && u / 26 != v / 26) ++meta[{u / 26, v / 26}];
    }
    EXPECT_GE(own, 2U) << u;  // "each vertex has degree at least k"
  }
  for (const std::uint64_t edges : inside) EXPECT_LE(edges, 2U * 26);  // "at most kq edges"
  EXPECT_LE(meta.size(), 2U * 26);
  std::vector<int> meta_degree(26);
  for (const auto& [pair, count] : meta) {
    EXPECT_EQ(count, 1);  // one real edge a meta-edge
    ++meta_degree[pair.first], ++meta_degree[pair.second];
  }
  for (const int degree : meta_degree) EXPECT_GE(degree, 2);
  EXPECT_EQ(made.labels.num_labelled(), 26U * 26);
}

TEST(Generators, hierarchical_labels_spread_from_one_node_a_cluster_and_noise_breaks_them) {
  const auto homophily = [](double noise) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const GeneratedGraph made = make("hierarchical", {{"noise", noise}}, seed);
      sum += label_statistics(made.graph, made.labels.of_node).homophily().value() / 10;
    }
    return sum;
  };
  EXPECT_GT(homophily(0), 0.75);
  EXPECT_GT(homophily(0), homophily(0.1) + 0.03);
  EXPECT_NEAR(homophily(0.5), 0.5, 0.05);  // every label is a coin
}

TEST(Permutation, is_one_to_one_and_onto_for_any_size) {
  for (const std::uint64_t size : {1U, 2U, 3U, 4U, 7U, 16U, 100U, 1000U, 12345U, 65536U, 65537U, 100'000U}) {
    SCOPED_TRACE(size);
    const Permutation permutation(size, 3, 1);
    std::vector<int> hits(size);
    for (std::uint64_t i = 0; i < size; ++i) {
      ASSERT_LT(permutation(i), size);
      ++hits[permutation(i)];
    }
    for (const int count : hits) ASSERT_EQ(count, 1);
  }
}

TEST(Permutation, of_four_things_takes_every_order_equally_often) {
  std::map<std::vector<std::uint64_t>, int> orders;
  constexpr int kSeeds = 12'000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Permutation permutation(4, seed, 0);
    ++orders[{permutation(0), permutation(1), permutation(2), permutation(3)}];
  }
  ASSERT_EQ(orders.size(), 24U);
  double chi_square = 0;  // 23 degrees of freedom: above 60 once in 30 000
  for (const auto& entry : orders) chi_square += std::pow(entry.second - kSeeds / 24.0, 2) / (kSeeds / 24.0);
  EXPECT_LT(chi_square, 60);
}

TEST(Permutation, of_many_things_has_uniform_and_independent_values) {
  constexpr std::uint64_t kSize = 1'000'003, kSeeds = 8000;
  std::vector<int> joint(64);  // eighths of the first value and of its distance to the second
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Permutation permutation(kSize, seed, 0);
    const std::uint64_t a = permutation(17), b = permutation(18);
    ++joint[8 * (a * 8 / kSize) + (b + kSize - a) % kSize * 8 / kSize];
  }
  double chi_square = 0;  // 63 degrees of freedom: above 115 once in 10 000
  for (const int count : joint) chi_square += std::pow(count - kSeeds / 64.0, 2) / (kSeeds / 64.0);
  EXPECT_LT(chi_square, 115);
}

TEST(PairAt, counts_the_pairs_in_order_and_holds_at_the_far_end) {
  std::uint64_t i = 0;
  for (std::uint64_t v = 1; v < 60; ++v) {
    for (std::uint64_t u = 0; u < v; ++u, ++i) {
      EXPECT_EQ(pair_at(i).u, u);
      EXPECT_EQ(pair_at(i).v, v);
    }
  }
  const std::uint64_t n = 4'000'000'000, last = n / 2 * (n - 1) - 1;
  EXPECT_EQ(pair_at(last).u, n - 2);
  EXPECT_EQ(pair_at(last).v, n - 1);
  EXPECT_EQ(pair_at(last - (n - 2)).u, 0U);
  EXPECT_EQ(pair_at(last - (n - 1)).v, n - 2);
}

}  // namespace
}  // namespace copse
