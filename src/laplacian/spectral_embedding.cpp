// SPDX-License-Identifier: Apache-2.0
#include "copse/laplacian/spectral_embedding.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "laplacian/tall_matrix.hpp"

namespace copse {
namespace {

constexpr std::uint64_t kManyNodes = 2'000'000;
/// Of the random start, whatever the seed of a run: the embedding is a function of the graph.
constexpr std::uint64_t kStartSeed = 1;
constexpr std::size_t kEmbeddingBlock = 1 << 12;
constexpr double kShortest = 1e-12;  // rows that are no longer say nothing
/// What columns before it leave of a column, squared: below the first share the digits of floats are too few
/// for one pass, and at the second one they end.
constexpr double kNearlyDependent = 1e-4, kDependent = 1e-7;

std::size_t wanted_dimension(std::uint64_t num_nodes, const SpectralOptions& options) {
  if (options.dimension > 0) return static_cast<std::size_t>(options.dimension);
  return num_nodes > kManyNodes ? 64 : 128;
}

/// The columns that are worked with: filling the last panel costs nothing.
std::size_t num_columns(std::uint64_t num_nodes, const SpectralOptions& options) {
  const std::size_t wanted =
      wanted_dimension(num_nodes, options) + static_cast<std::size_t>(options.oversample);
  return (wanted + TallMatrix::kPanel - 1) / TallMatrix::kPanel * TallMatrix::kPanel;
}

std::size_t dimension_of(const GraphView& graph, const SpectralOptions& options) {
  return std::min<std::size_t>(wanted_dimension(graph.num_nodes(), options), graph.num_nodes());
}

/// (degree + tau)^-1/2.
std::vector<double> inverse_roots(const GraphView& graph, double tau, const Execution& execution) {
  const NodeId n = graph.num_nodes();
  std::vector<double> degrees(n);
  const double total = deterministic_reduce(
      execution, n, 0.0,
      [&](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t u = begin; u < end; ++u)
          sum += degrees[u] = weighted_degree(graph, static_cast<NodeId>(u));
        return sum;
      },
      std::plus{});
  const double added = tau * (total / n);
  for (double& value : degrees) value = value + added > 0 ? 1 / std::sqrt(value + added) : 0;
  return degrees;
}

/// Entries that are all but normal: the sum of the four bytes of a word, from its mean.
TallMatrix random_start(NodeId n, std::size_t columns, const Execution& execution) {
  TallMatrix start(n, columns);
  parallel_blocks(execution, n, kEmbeddingBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t u = begin; u < end; ++u) {
      Stream stream(kStartSeed, Purpose::spectral_start, u);
      for (std::size_t c = 0; c < columns; ++c) {
        const std::uint32_t bits = stream.next32();
        const std::uint32_t sum = (bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24);
        start.row(u)[c] = static_cast<float>(sum) - 510;
      }
    }
  });
  return start;
}

/// Where there are no more nodes than columns nothing needs to be iterated.
TallMatrix all_directions(NodeId n, std::size_t columns) {
  TallMatrix start(n, columns);
  for (std::size_t u = 0; u < n; ++u) start.row(u)[u] = 1;
  return start;
}

/// What makes the columns of Q orthonormal when Q is multiplied with it.
struct Orthonormalizer {
  Eigen::MatrixXd factor;
  bool is_upper = true;  // triangular

  /// From Q'Q, by its Cholesky factor or, where columns all but depend on each other, by its eigenvectors
  /// (Stathopoulos & Wu 2002): those that only rounding can tell from 0 become short columns.
  explicit Orthonormalizer(Eigen::MatrixXd gram) {
    const Eigen::Index size = gram.rows();
    const Eigen::VectorXd scale =
        gram.diagonal().unaryExpr([](double square) { return square > 0 ? 1 / std::sqrt(square) : 0; });
    gram = scale.asDiagonal() * gram * scale.asDiagonal();
    const Eigen::LLT<Eigen::MatrixXd> cholesky(gram);
    if (cholesky.info() == Eigen::Success &&
        cholesky.matrixLLT().diagonal().cwiseAbs2().minCoeff() >= kNearlyDependent) {
      factor = scale.asDiagonal() *
               Eigen::MatrixXd(cholesky.matrixU().solve(Eigen::MatrixXd::Identity(size, size)));
      return;
    }
    is_upper = false;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram);
    const double least = std::max(kDependent * solver.eigenvalues()[size - 1], 1e-300);
    factor = scale.asDiagonal() * solver.eigenvectors() *
             solver.eigenvalues().cwiseMax(least).cwiseSqrt().cwiseInverse().asDiagonal();
  }
};

/// Cholesky QR; a second time where the first one has cost too many digits.
void orthonormalize(TallMatrix& q, const Execution& execution) {
  bool is_upper = false;
  for (int pass = 0; pass < 2 && !is_upper; ++pass) {
    const Orthonormalizer orthonormalizer(symmetric_product(q, q, execution));
    is_upper = orthonormalizer.is_upper;
    q.multiply(orthonormalizer.factor, is_upper, execution);
  }
}

/// The eigenvectors of M in the space that the columns of q span, largest eigenvalues first (Rayleigh &
/// Ritz), each times its eigenvalue: q times what is returned.
Eigen::MatrixXd ritz_vectors(const TallMatrix& q, const TallMatrix& m_q, std::size_t count,
                             std::vector<double>& eigenvalues, const Execution& execution) {
  const Eigen::MatrixXd transform = Orthonormalizer(symmetric_product(q, q, execution)).factor;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      transform.transpose() * symmetric_product(q, m_q, execution) * transform);
  std::vector<Eigen::Index> order(static_cast<std::size_t>(transform.cols()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::ranges::stable_sort(order, std::greater{},
                           [&](Eigen::Index i) { return std::fabs(solver.eigenvalues()[i]); });
  Eigen::MatrixXd vectors = Eigen::MatrixXd::Zero(transform.rows(), transform.cols());
  for (std::size_t i = 0; i < count; ++i) {
    eigenvalues.push_back(solver.eigenvalues()[order[i]]);
    vectors.col(static_cast<Eigen::Index>(i)) =
        transform * solver.eigenvectors().col(order[i]) * eigenvalues.back();
  }
  return vectors;
}

/// Makes it of length 1, or 0 where it is too short to say anything.
void normalize(std::span<float> row) {
  double square = 0;
  for (const float x : row) square += static_cast<double>(x) * static_cast<double>(x);
  const double length = std::sqrt(square);
  for (float& x : row) x = length < kShortest ? 0.0F : static_cast<float>(static_cast<double>(x) / length);
}

/// body(row, node) for every row, in parallel.
template <class Body>
void for_each_row(SpectralEmbedding& embedding, Buffer<float>& rows, const Execution& execution,
                  Body&& body) {
  parallel_blocks(
      execution, embedding.num_nodes, kEmbeddingBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t u = begin; u < end; ++u)
          body(rows.span().subspan(u * embedding.dimension, embedding.dimension), static_cast<NodeId>(u));
      });
}

}  // namespace

SpectralEmbedding spectral_embedding(const GraphView& graph, const SpectralOptions& options,
                                     const Execution& execution) {
  if (graph.is_signed())
    throw UsageError{"graph", "has negative edges, and this embedding knows none",
                     "take graph.magnitudes() if signs are not meant"};
  SpectralEmbedding embedding;
  embedding.num_nodes = graph.num_nodes();
  embedding.dimension = dimension_of(graph, options);
  if (has_embedding(graph, options)) {
    const KeptEmbedding& kept = *graph.embedding;
    embedding.rows = Buffer<float>(kept.rows().size());
    std::ranges::copy(kept.rows(), embedding.rows.begin());
    embedding.eigenvalues.assign(kept.eigenvalues().begin(), kept.eigenvalues().end());
    return embedding;
  }
  if (graph.num_arcs() == 0) {
    embedding.rows = Buffer<float>(embedding.dimension * graph.num_nodes());
    embedding.eigenvalues.resize(embedding.dimension);
    return embedding;
  }
  const std::size_t columns = num_columns(graph.num_nodes(), options);
  const bool is_small = graph.num_nodes() <= columns;
  const std::uint64_t steps = is_small ? 0 : static_cast<std::uint64_t>(options.power);
  const std::vector<double> scale = inverse_roots(graph, options.tau, execution);
  TallMatrix q = is_small ? all_directions(graph.num_nodes(), columns)
                          : random_start(graph.num_nodes(), columns, execution);
  TallMatrix m_q(q.num_rows(), columns);
  for (std::uint64_t step = 0; step < steps; ++step) {
    multiply_adjacency(graph, scale, q, m_q, execution);
    multiply_adjacency(graph, scale, m_q, q, execution);
    orthonormalize(q, execution);
    execution.report("embedding", step + 1, steps + 1);
  }
  multiply_adjacency(graph, scale, q, m_q, execution);
  const Eigen::MatrixXd vectors = ritz_vectors(q, m_q, embedding.dimension, embedding.eigenvalues, execution);
  m_q = {};
  q.multiply(vectors, false, execution);
  embedding.rows = std::move(q).take_columns(embedding.dimension);
  for_each_row(embedding, embedding.rows, execution, [](std::span<float> row, NodeId) { normalize(row); });
  execution.report("embedding", steps + 1, steps + 1);
  return embedding;
}

void mix_in_neighbors(const GraphView& graph, SpectralEmbedding& embedding, const Execution& execution) {
  Buffer<float> mixed(embedding.rows.size());
  for_each_row(embedding, mixed, execution, [&](std::span<float> row, NodeId node) {
    std::vector<double> sum(row.size());
    for (EdgeIndex arc = graph.offsets[node]; arc < graph.offsets[node + 1]; ++arc) {
      const std::span<const float> other = embedding.row(graph.neighbors[arc]);
      const double weight = graph.weight(arc);
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += weight * static_cast<double>(other[c]);
    }
    double square = 0;
    for (const double x : sum) square += x * x;
    const double scale = square > 0 ? 1 / std::sqrt(square) : 0;
    for (std::size_t c = 0; c < sum.size(); ++c) {
      const double own = static_cast<double>(embedding.row(node)[c]);
      row[c] = static_cast<float>(own + (embedding.eigenvalues[c] < 0 ? -scale : scale) * sum[c]);
    }
    normalize(row);
  });
  embedding.rows = std::move(mixed);
}

bool has_embedding(const GraphView& graph, const SpectralOptions& options) {
  const KeptEmbedding* const kept = graph.embedding;
  return kept != nullptr && kept->seed == kStartSeed && kept->dimension == dimension_of(graph, options) &&
         kept->power == static_cast<std::uint32_t>(options.power) &&
         kept->oversample == static_cast<std::uint32_t>(options.oversample) && kept->tau == options.tau;
}

Graph keep_embedding(const Graph& graph, const SpectralOptions& options, const Execution& execution) {
  struct Kept {
    Graph graph;
    Buffer<char> bytes;
    KeptEmbedding about;
  };
  const SpectralEmbedding made = spectral_embedding(graph, options, execution);
  const std::size_t head = made.dimension * sizeof(double);
  auto kept = std::make_shared<Kept>(Kept{graph, Buffer<char>(head + made.rows.size() * sizeof(float)), {}});
  std::ranges::copy(made.eigenvalues, reinterpret_cast<double*>(kept->bytes.data()));
  std::ranges::copy(made.rows, reinterpret_cast<float*>(kept->bytes.data() + head));
  kept->about = {kStartSeed,
                 static_cast<std::uint32_t>(made.dimension),
                 static_cast<std::uint32_t>(options.power),
                 static_cast<std::uint32_t>(options.oversample),
                 options.tau,
                 std::as_const(kept->bytes).span()};
  GraphView view = graph;
  view.embedding = &kept->about;
  return {view, std::move(kept)};
}

std::uint64_t spectral_embedding_bytes(std::uint64_t num_nodes, const SpectralOptions& options) {
  return num_nodes * (2 * sizeof(float) * num_columns(num_nodes, options) + sizeof(double));
}

std::uint64_t bytes_of_embedding(std::uint64_t num_nodes, const SpectralOptions& options) {
  return num_nodes * sizeof(float) * wanted_dimension(num_nodes, options);
}

}  // namespace copse
