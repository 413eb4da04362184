// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "copse/graph/components.hpp"
#include "copse/laplacian/spectral_embedding.hpp"
#include "copse/support/parallel.hpp"
#include "queries/query_row.hpp"

namespace copse {
namespace {

struct SpectralQueryOptions {
  int dimension = 64;
  int num_candidates = 16384;

  static Fields fields() {
    using Self = SpectralQueryOptions;
    return {field("dimension", &Self::dimension, "eigenvectors of the embedding, numbers per node",
                  between(1, 4096)),
            field("num_candidates", &Self::num_candidates,
                  "nodes that are scored for a question, at most; drawn at random", between(1, 1 << 30))};
  }
  SpectralOptions spectral() const {
    SpectralOptions options;
    options.dimension = dimension;
    return options;
  }
};

enum class Gain { variance, uncertainty, both };

using Matrix = std::vector<double>;  // d x d, row by row

double dot(const double* a, const double* b, std::size_t d) { return std::inner_product(a, a + d, b, 0.0); }

/// In place, by Gauss-Jordan elimination; positive definite matrices need no pivots.
void invert(Matrix& a, std::size_t d) {
  for (std::size_t k = 0; k < d; ++k) {
    const double pivot = a[k * d + k];
    a[k * d + k] = 1;
    for (std::size_t j = 0; j < d; ++j) a[k * d + j] /= pivot;
    for (std::size_t i = 0; i < d; ++i) {
      if (i == k) continue;
      const double factor = std::exchange(a[i * d + k], 0);
      for (std::size_t j = 0; j < d; ++j) a[i * d + j] -= factor * a[k * d + j];
    }
  }
}

/// Bayesian linear regression of every class on the rows x of a spectral embedding, prior precision `kRidge`
/// and noise 1. With A the posterior covariance of the weights and G the mean of x x^T over the nodes,
///   variance     (A x)^T G (A x) / (1 + x^T A x): by how much the label lowers the mean variance of all
///                answers, whatever it is (V-optimality; Ji & Han 2012),
///   uncertainty  1 - margin: the margin between the two best classes, where one unseen so far scores 0,
///   both         their product: it covers the graph while nothing is known and then asks at borders, those
///                first where many nodes learn from the answer.
/// Small components count less, by their size beside the largest.
template <Gain gain>
class SpectralQuery final : public QueryStrategy {
 public:
  using Options = SpectralQueryOptions;
  static constexpr bool kTakesSigns = false;

  SpectralQuery(const GraphView& graph, const Options& options, const Execution& execution)
      : QueryStrategy(graph, execution),
        options_(options),
        components_(connected_components(graph, execution)),
        embedding_(spectral_embedding(graph, options.spectral(), execution)),
        d_(embedding_.dimension),
        gram_(d_ * d_),
        mean_(d_ * d_) {
    if (gain != Gain::uncertainty) average();
  }

  static std::uint64_t bytes(const ProblemSize& size, const Options& options) {
    return spectral_embedding_bytes(size.num_nodes, options.spectral()) +
           size.num_nodes * (kBytesPerNode + sizeof(NodeId));
  }

 private:
  static constexpr double kRidge = 1;
  // Sums over labels are kept in integers, rows rounded to multiples of 1 / kUnit: they are exact, so that a
  // label taken back leaves nothing behind.
  static constexpr double kUnit = 65536;

  void learn(NodeId node, Label label) override { add(node, label, 1); }
  void forget(NodeId node, Label label) override { add(node, label, -1); }
  void add(NodeId node, Label label, std::int64_t sign) {
    const std::size_t end = (std::size_t{label} + 1) * d_;
    if (sums_.size() < end) sums_.resize(end);
    std::vector<std::int64_t> x;
    for (const float value : embedding_.row(node)) x.push_back(std::llround(value * kUnit));
    for (std::size_t a = 0; a < d_; ++a) {
      sums_[label * d_ + a] += sign * x[a];
      for (std::size_t b = 0; b < d_; ++b) gram_[a * d_ + b] += sign * x[a] * x[b];
    }
  }

  /// G.
  void average() {
    mean_ = deterministic_reduce(
        execution(), graph().num_nodes(), mean_,
        [&](std::size_t begin, std::size_t end) {
          Matrix sum(d_ * d_);
          for (std::size_t u = begin; u < end; ++u) {
            const std::span<const float> x = embedding_.row(static_cast<NodeId>(u));
            for (std::size_t a = 0; a < d_; ++a)
              for (std::size_t b = 0; b < d_; ++b) sum[a * d_ + b] += double{x[a]} * x[b];
          }
          return sum;
        },
        [&](Matrix all, const Matrix& part) {
          for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i] / graph().num_nodes();
          return all;
        });
  }

  /// The regression as candidates see it; a label changes it by a rank-one update.
  struct Candidates {
    std::vector<NodeId> nodes;
    std::vector<double> x, z;              // rows, and A x
    std::vector<double> variance, spread;  // x^T A x and (A x)^T G (A x)
    std::vector<double> sums;              // over labels, by class
    std::vector<char> is_taken;
  };

  Candidates regress(std::vector<NodeId> nodes) const {
    Candidates all{std::move(nodes), {}, {}, {}, {}, {}, {}};
    const std::size_t n = all.nodes.size();
    for (std::vector<double>* rows : {&all.x, &all.z}) rows->resize(n * d_);
    for (std::vector<double>* column : {&all.variance, &all.spread}) column->resize(n);
    all.is_taken.resize(n);
    all.sums.assign(std::max<std::size_t>(num_classes(), 1) * d_, 0);
    for (std::size_t i = 0; i < num_classes() * d_; ++i) all.sums[i] = static_cast<double>(sums_[i]) / kUnit;
    Matrix covariance(d_ * d_);
    for (std::size_t i = 0; i < covariance.size(); ++i)
      covariance[i] = static_cast<double>(gram_[i]) / (kUnit * kUnit) + (i % (d_ + 1) == 0 ? kRidge : 0);
    invert(covariance, d_);
    parallel_blocks(execution(), n, 256, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::span<const float> row = embedding_.row(all.nodes[i]);
        double* x = &all.x[i * d_];
        double* z = &all.z[i * d_];
        std::copy(row.begin(), row.end(), x);
        for (std::size_t a = 0; a < d_; ++a) z[a] = dot(&covariance[a * d_], x, d_);
        all.variance[i] = dot(x, z, d_);
        for (std::size_t a = 0; a < d_; ++a) all.spread[i] += z[a] * dot(&mean_[a * d_], z, d_);
      }
    });
    return all;
  }

  void answer(Candidates& all, std::size_t j, Label label) const {
    const std::vector<double> x(&all.x[j * d_], &all.x[j * d_] + d_), z(&all.z[j * d_], &all.z[j * d_] + d_);
    std::vector<double> g(d_);
    for (std::size_t a = 0; a < d_; ++a) g[a] = dot(&mean_[a * d_], z.data(), d_);
    const double scale = 1 / (1 + all.variance[j]), spread = all.spread[j];
    for (std::size_t a = 0; a < d_; ++a) all.sums[label * d_ + a] += x[a];
    all.is_taken[j] = 1;
    parallel_blocks(execution(), all.nodes.size(), 1024,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t i = begin; i < end; ++i) {
                        const double step = scale * dot(&all.x[i * d_], z.data(), d_);
                        all.variance[i] -= step * step / scale;
                        all.spread[i] += step * (step * spread - 2 * dot(g.data(), &all.z[i * d_], d_));
                        for (std::size_t a = 0; a < d_; ++a) all.z[i * d_ + a] -= step * z[a];
                      }
                    });
  }

  /// The best class, and by how much.
  std::pair<Label, double> best_class(const Candidates& all, std::size_t i) const {
    Label best = 0;
    double first = 0, second = 0;
    for (std::size_t c = 0; c < all.sums.size() / d_; ++c) {
      const double score = dot(&all.sums[c * d_], &all.z[i * d_], d_);
      if (score > first) best = static_cast<Label>(c);
      second = std::max(second, std::min(first, score));
      first = std::max(first, score);
    }
    return {best, first - second};
  }

  double score(const Candidates& all, std::size_t i) const {
    if (all.is_taken[i] != 0) return -1;
    const double size = components_.sizes[components_.of_node[all.nodes[i]]];
    double value = size / components_.sizes[components_.largest()];
    if (gain != Gain::uncertainty) value *= std::max(0.0, all.spread[i]) / (1 + all.variance[i]);
    // An answer that is sure still counts a little, or nothing would tell such nodes apart.
    if (gain != Gain::variance) value *= std::max(1e-3, 1 - best_class(all, i).second);
    return value;
  }

  std::vector<Query> choose(std::size_t count, std::vector<char> left) override {
    const auto most = static_cast<std::size_t>(options_.num_candidates);
    Candidates all = regress(draw(std::max(count, most), left));
    std::vector<double> scores(all.nodes.size());
    std::vector<Query> queries;
    while (true) {
      execution().report("queries", queries.size(), count);
      parallel_blocks(execution(), scores.size(), 256, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) scores[i] = score(all, i);
      });
      const auto best = static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
      queries.push_back({all.nodes[best], scores[best]});
      if (queries.size() == count) return queries;
      answer(all, best, best_class(all, best).first);
    }
  }

  Options options_;
  Components components_;
  SpectralEmbedding embedding_;
  std::size_t d_;
  std::vector<std::int64_t> gram_, sums_;  // of the labels: x x^T, and x by class
  Matrix mean_;
};

constexpr const char* kSpectralCost =
    "the embedding once, as the learner's; then O(d^2) per label and 16384 d^2 per call";

}  // namespace

QueryRow auto_query_row() {
  return make_query_row<SpectralQuery<Gain::both>>(
      "auto",
      "what lowers the error most: covers the graph first, then asks where answers are unsure and many "
      "learn from them",
      kSpectralCost, "vopt times uncertainty, after Miller & Bertozzi 2024");
}
QueryRow vopt_row() {
  return make_query_row<SpectralQuery<Gain::variance>>(
      "vopt", "least variance of all answers, from the graph alone: needs no label", kSpectralCost,
      "Ji & Han 2012, in the basis of the embedding");
}
QueryRow uncertainty_row() {
  return make_query_row<SpectralQuery<Gain::uncertainty>>(
      "uncertainty", "least margin of a regression on the spectral embedding", kSpectralCost,
      "Lewis & Gale 1994, in the basis of the embedding");
}

}  // namespace copse
