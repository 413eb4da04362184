// SPDX-License-Identifier: Apache-2.0
// The embedding beside the eigenvectors of a dense matrix.

#include "copse/laplacian/spectral_embedding.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "copse/graph/generate.hpp"
#include "laplacian/tall_matrix.hpp"
#include "oracle/graphs.hpp"
#include "oracle/spectral.hpp"
#include "support/simd.hpp"

namespace copse {
namespace {

std::vector<float> values(const SpectralEmbedding& embedding) {
  return {embedding.rows.begin(), embedding.rows.end()};
}

Eigen::MatrixXd matrix(const SpectralEmbedding& embedding) {
  Eigen::MatrixXd result(embedding.num_nodes, static_cast<Eigen::Index>(embedding.dimension));
  for (NodeId u = 0; u < embedding.num_nodes; ++u)
    for (std::size_t c = 0; c < embedding.dimension; ++c)
      result(u, static_cast<Eigen::Index>(c)) = static_cast<double>(embedding.row(u)[c]);
  return result;
}

// Rows are known up to a rotation of the space: their products are compared.
void expect_same_products(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double tolerance) {
  EXPECT_LT((a * a.transpose() - b * b.transpose()).cwiseAbs().maxCoeff(), tolerance);
}

TEST(SpectralEmbedding, of_all_dimensions_is_that_of_the_dense_matrix) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph({.num_nodes = static_cast<NodeId>(3 + 6 * seed),
                                              .num_edges = 20 * seed,
                                              .seed = seed,
                                              .weighted = seed % 2 == 0});
    const SpectralEmbedding embedding = spectral_embedding(graph, {}, {.seed = seed});
    ASSERT_EQ(embedding.dimension, graph.num_nodes());
    expect_same_products(matrix(embedding), oracle::spectral_rows(graph, 1, graph.num_nodes()), 1e-4);
  }
}

TEST(SpectralEmbedding, of_some_dimensions_spans_the_leading_eigenvectors_where_there_is_a_gap) {
  int num_clear = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_connected_graph(
        {.num_nodes = 150, .num_edges = 200 + 60 * seed, .seed = seed, .weighted = seed % 2 == 0});
    const oracle::Spectrum spectrum = oracle::spectrum(graph, 1);
    for (const int dimension : {1, 2, 3, 5, 8}) {
      const auto d = static_cast<std::size_t>(dimension);
      if (spectrum.size(d) > 0.95 * spectrum.size(d - 1)) continue;
      ++num_clear;
      const SpectralEmbedding embedding =
          spectral_embedding(graph, {.dimension = dimension, .power = 40}, {.seed = seed});
      for (std::size_t i = 0; i < d; ++i)
        EXPECT_NEAR(std::fabs(embedding.eigenvalues[i]), spectrum.size(i), 1e-5);
      expect_same_products(matrix(embedding), oracle::spectral_rows(graph, 1, d), 1e-3);
    }
  }
  EXPECT_GT(num_clear, 10);
}

TEST(SpectralEmbedding, mixes_in_the_neighbors_with_the_sign_of_each_eigenvalue) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph =
        oracle::random_graph({.num_nodes = 50, .num_edges = 30 + 30 * seed, .seed = seed, .weighted = true});
    SpectralEmbedding embedding = spectral_embedding(graph, {.dimension = 12}, {});
    const Eigen::MatrixXd rows = matrix(embedding);
    Eigen::MatrixXd neighbors = oracle::unit_rows(oracle::adjacency(graph) * rows);
    for (Eigen::Index c = 0; c < rows.cols(); ++c)
      if (embedding.eigenvalues[static_cast<std::size_t>(c)] < 0) neighbors.col(c) *= -1;
    mix_in_neighbors(graph, embedding, {.threads = 3});
    EXPECT_LT((matrix(embedding) - oracle::unit_rows(rows + neighbors)).cwiseAbs().maxCoeff(), 1e-6);
  }
}

TEST(SpectralEmbedding, that_is_kept_is_taken_where_it_was_made_alike_and_made_anew_otherwise) {
  const Graph graph = generate_graph("block_model", {{"nodes", 400}, {"classes", 3}}, {.seed = 2}).graph;
  const SpectralOptions options{.dimension = 10};
  const Graph kept = keep_embedding(graph, options, {.seed = 3});  // no seed changes it
  EXPECT_EQ(kept.view().neighbors.data(), graph.view().neighbors.data());
  for (const bool is_alike : {true, false}) {
    std::vector<SpectralOptions> tried{options};
    if (!is_alike) tried = {{.dimension = 11}, {.dimension = 10, .power = 7}, {.dimension = 10, .tau = 2}};
    for (const SpectralOptions& one : tried) {
      EXPECT_EQ(has_embedding(kept, one), is_alike);
      const SpectralEmbedding again = spectral_embedding(kept, one, {.seed = 4}),
                              made = spectral_embedding(graph, one, {.seed = 5});
      EXPECT_EQ(values(again), values(made));
      EXPECT_EQ(again.eigenvalues, made.eigenvalues);
    }
  }
  EXPECT_FALSE(has_embedding(graph, options));
  // It is taken, not made to the same numbers.
  std::vector<double> other(10 + 400 * 10 / 2);
  KeptEmbedding zeros{1,  10, 8,
                      10, 1,  {reinterpret_cast<const char*>(other.data()), other.size() * sizeof(double)}};
  GraphView view = graph;
  view.embedding = &zeros;
  EXPECT_EQ(values(spectral_embedding(view, options, {})), std::vector<float>(4000));
  zeros.seed = 3;  // of another start
  EXPECT_FALSE(has_embedding(view, options));
}

TEST(SpectralEmbedding, has_the_same_bits_on_any_number_of_threads_and_any_processor) {
  const Graph graph = generate_graph("block_model", {{"nodes", 5000}, {"classes", 3}}, {.seed = 2}).graph;
  const SpectralOptions options{.dimension = 20, .power = 3};
  const std::vector<float> one = values(spectral_embedding(graph, options, {.seed = 7}));
  for (const int threads : {2, 4, 8})
    EXPECT_EQ(values(spectral_embedding(graph, options, {.seed = 7, .threads = threads})), one);
  EXPECT_EQ(values(spectral_embedding(graph, options, {.seed = 8})), one);
  const NarrowRegisters narrow;
  EXPECT_EQ(values(spectral_embedding(graph, options, {.seed = 7})), one);
}

TEST(SpectralEmbedding, does_not_change_when_all_weights_are_multiplied_by_a_power_of_two) {
  auto edges =
      oracle::random_connected_edges({.num_nodes = 60, .num_edges = 150, .seed = 4, .weighted = true});
  const std::vector<float> before = values(spectral_embedding(graph_from_edges(60, edges), {}, {}));
  for (Edge& edge : edges) edge.weight *= 0x1p-40F;
  EXPECT_EQ(values(spectral_embedding(graph_from_edges(60, edges), {}, {})), before);
}

TEST(SpectralEmbedding, has_rows_of_length_one_or_zero) {
  // Weights of all sizes, components of all sizes, ranks far below the dimension.
  std::vector<Graph> graphs;
  graphs.push_back(graph_from_pairs(0, {}));
  graphs.push_back(graph_from_pairs(1, {}));
  graphs.push_back(graph_from_pairs(300, {}));
  graphs.push_back(oracle::star(400));
  graphs.push_back(oracle::complete(200));
  graphs.push_back(oracle::random_graph({.num_nodes = 400, .num_edges = 200, .seed = 1}));
  graphs.push_back(graph_from_edges(5, {{0, 1, 1e-40F}, {1, 2, 1e-40F}, {3, 4, 1e-40F}}));
  graphs.push_back(graph_from_edges(5, {{0, 1, 1e-40F}, {1, 2, 1e30F}, {3, 4, 1e30F}}));
  for (const Graph& graph : graphs)
    for (const double tau : {0.0, 1.0}) {
      const SpectralEmbedding embedding = spectral_embedding(graph, {.tau = tau}, {});
      const Eigen::MatrixXd rows = matrix(embedding);
      for (NodeId u = 0; u < embedding.num_nodes; ++u) {
        const double length = rows.row(u).norm();
        EXPECT_TRUE(length == 0 || std::fabs(length - 1) < 1e-5) << length;
        if (embedding.num_nodes > 5) {
          EXPECT_EQ(length == 0, graph.view().degree(u) == 0);
        }
      }
    }
}

TEST(SpectralEmbedding, of_a_star_puts_the_leaves_at_one_point) {
  const SpectralEmbedding embedding = spectral_embedding(oracle::star(200), {}, {});
  const Eigen::MatrixXd rows = matrix(embedding);
  for (NodeId u = 2; u < 200; ++u) EXPECT_LT((rows.row(u) - rows.row(1)).norm(), 1e-3);
}

class CancelAfter final : public Progress {
 public:
  explicit CancelAfter(int reports) : left_(reports) {}
  void report(std::string_view stage, std::uint64_t done, std::uint64_t total) override {
    EXPECT_EQ(stage, "embedding");
    EXPECT_LE(done, total);
    --left_;
  }
  bool cancelled() const override { return left_ <= 0; }

 private:
  int left_;
};

TEST(SpectralEmbedding, reports_and_can_be_cancelled) {
  CancelAfter twice(2);
  EXPECT_THROW(spectral_embedding(oracle::path(300), {}, {.progress = &twice}), Cancelled);
  CancelAfter never(100);
  EXPECT_NO_THROW(spectral_embedding(oracle::path(300), {}, {.progress = &never}));
}

TEST(SpectralEmbedding, says_how_many_bytes_it_takes) {
  EXPECT_EQ(bytes_of_embedding(1000, {}), 1000u * 128 * 4);
  EXPECT_EQ(bytes_of_embedding(3'000'000, {}), 3'000'000u * 64 * 4);
  EXPECT_EQ(spectral_embedding_bytes(1000, {}), 1000u * (2 * 144 * 4 + 8));
}

TallMatrix some_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  TallMatrix result(rows, columns);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < columns; ++c)
      result.row(i)[c] = static_cast<float>(random() % 2001) / 1000 - 1;
  return result;
}
Eigen::MatrixXd dense(const TallMatrix& tall) {
  Eigen::MatrixXd result(tall.num_rows(), tall.num_columns());
  for (std::size_t i = 0; i < tall.num_rows(); ++i)
    for (std::size_t c = 0; c < tall.num_columns(); ++c)
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c)) =
          static_cast<double>(tall.row(i)[c]);
  return result;
}

TEST(TallMatrix, multiplies_as_dense_matrices_do) {
  for (const std::size_t rows : {1u, 31u, 32u, 1000u, 3001u})
    for (const std::size_t columns : {16u, 48u}) {
      TallMatrix tall = some_matrix(rows, columns, rows);
      const Eigen::MatrixXd before = dense(tall);
      EXPECT_LT((symmetric_product(tall, tall, {}) - before.transpose() * before).cwiseAbs().maxCoeff(),
                1e-3);
      const Eigen::MatrixXd factor = Eigen::MatrixXd::Random(before.cols(), before.cols());
      const Eigen::MatrixXd upper = factor.triangularView<Eigen::Upper>();
      tall.multiply(upper, true, {.threads = 2});
      EXPECT_LT((dense(tall) - before * upper).cwiseAbs().maxCoeff(), 1e-4);
      TallMatrix again = some_matrix(rows, columns, rows);
      again.multiply(factor, false, {});
      EXPECT_LT((dense(again) - before * factor).cwiseAbs().maxCoeff(), 1e-4);
      const Eigen::MatrixXd product = dense(again);
      const Buffer<float> narrow = std::move(again).take_columns(5);
      for (std::size_t i = 0; i < rows * 5; ++i)
        EXPECT_EQ(static_cast<double>(narrow[i]),
                  product(static_cast<Eigen::Index>(i / 5), static_cast<Eigen::Index>(i % 5)));
    }
}

}  // namespace
}  // namespace copse
