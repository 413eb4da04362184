// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/laplacian/spectral_embedding.hpp"
#include "copse/learners/labelled_learner.hpp"

namespace copse {

struct EmbeddingOptions {
  SpectralOptions spectral;
  double ridge = 0;
  double exponent = 0;

  static Fields fields() {
    using Self = EmbeddingOptions;
    return joined({block(&Self::spectral, SpectralOptions::fields()),
                   {field("ridge", &Self::ridge,
                          "price of large weights; 0: what errs least when each label is left out in turn",
                          between(0.0, 1e9)),
                    field("exponent", &Self::exponent,
                          "power of the eigenvalues that weighs eigenvectors, small for many labels; 0: 1 to "
                          "16, by the same measure",
                          between(0.0, 100.0))}});
  }
};

/// Ridge regression of every class on a spectral embedding of the graph (spectral_embedding.hpp) with the
/// neighbours of each node mixed in, which knows nothing of the labels and is made once. The first question
/// after a label fits anew, in O(labels d^2 + d^3); an answer is O(d classes). docs/learners/embedding.md.
class Embedding final : public LabelledLearner {
 public:
  static constexpr SignUse kSigns = SignUse::refused;
  using Options = EmbeddingOptions;
  Embedding(const GraphView& graph, const Options& options, const Execution& execution);
  ~Embedding() override;

  /// What the regression says, which may lie outside of [0, 1].
  void raw_scores(NodeId node, std::span<double> scores) const override;
  /// Exact, ridge and exponent being what they are with all labels.
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override;
  const SpectralEmbedding& embedding() const { return embedding_; }
  /// Whether the regression can say something of the node.
  bool has_place(NodeId node) const;
  /// Fits now if need be; what a user should know.
  std::vector<std::string> notes() const override;

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  double weigh(NodeId node, std::span<double> weights) const override;
  /// The labelled nodes of the component that raise their class most, up to 16.
  std::vector<Reason> reasons(NodeId node) const override;
  void change_label(NodeId node, Label label) override;

  struct Fit;
  struct Cache;
  const Fit& fitted() const;
  std::vector<Reason> others(const Fit& fit, NodeId node) const;
  bool raw(const Fit& fit, NodeId node, std::span<double> scores) const;

  GraphView graph_;
  Options options_;
  Execution execution_;
  Components components_;
  SpectralEmbedding embedding_;
  std::unique_ptr<Cache> cache_;
};

}  // namespace copse
