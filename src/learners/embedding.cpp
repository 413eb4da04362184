// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/embedding.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "copse/laplacian/resistance.hpp"
#include "copse/support/parallel.hpp"
#include "learners/ridge_regression.hpp"
#include "learners/score_table.hpp"
#include "learners/signs.hpp"
#include "learners/small_component.hpp"
#include "support/exponential.hpp"

namespace copse {
namespace {

/// Smaller components have no eigenvector among the leading ones, as a rule.
constexpr NodeId kFewestInComponent = 10;
/// A score of 0.5 more than another one counts for e^2 times its weight.
constexpr double kSharpness = 4;

}  // namespace

struct Embedding::Fit {
  LabelledClasses classes;
  std::optional<RidgeRegression> ridge;  // of the labels that have a place, if there are any
};

struct Embedding::Cache {
  std::mutex mutex;
  std::atomic<bool> is_ready = false;  // readers need no lock once it is
  std::optional<Fit> fit;
};

Embedding::Embedding(const GraphView& graph, const Options& options, const Execution& execution)
    : LabelledLearner(graph),
      graph_(graph),
      options_(options),
      execution_(execution),
      cache_(std::make_unique<Cache>()) {
  refuse_signs(graph, "embedding", "take graph.magnitudes() if signs are not meant");
  components_ = connected_components(graph, execution);
  embedding_ = spectral_embedding(graph, options.spectral, execution);
  mix_in_neighbors(graph, embedding_, execution);
}

Embedding::~Embedding() = default;

void Embedding::change_label(NodeId, Label) {
  cache_->is_ready = false;
  cache_->fit.reset();
}

bool Embedding::has_place(NodeId node) const {
  return components_.sizes[components_.of_node[node]] >= kFewestInComponent &&
         std::ranges::any_of(embedding_.row(node), [](float x) { return x != 0; });
}

const Embedding::Fit& Embedding::fitted() const {
  if (!cache_->is_ready.load(std::memory_order_acquire)) {
    const std::lock_guard lock(cache_->mutex);
    if (!cache_->fit) {
      Fit fit{LabelledClasses(labels(), components_), {}};
      std::vector<RidgeExample> examples;
      for (const NodeId node : fit.classes.labelled())
        if (has_place(node))
          examples.push_back({node, static_cast<Label>(fit.classes.column(labels()[node]))});
      if (!examples.empty())
        fit.ridge =
            RidgeRegression::best(embedding_, examples, fit.classes.count(),
                                  {.lambda = options_.ridge, .exponent = options_.exponent}, execution_);
      cache_->fit.emplace(std::move(fit));
    }
    cache_->is_ready.store(true, std::memory_order_release);
  }
  return *cache_->fit;
}

/// The labels that answer for a node without a place: by random walks where its component is small, all alike
/// where it is not. Its own label is not among them.
std::vector<Reason> Embedding::others(const Fit& fit, NodeId node) const {
  const NodeId component = components_.of_node[node];
  std::vector<Reason> reasons;
  if (components_.sizes[component] < kFewestInComponent) reasons = first_labels_met(graph_, labels(), node);
  if (!reasons.empty()) return reasons;
  for (const NodeId u : fit.classes.labelled())
    if (u != node && components_.of_node[u] == component) reasons.push_back({u, labels()[u], 1, 0});
  for (Reason& reason : reasons) reason.share /= static_cast<double>(reasons.size());
  return reasons;
}

/// The score of every column at a node that a label reaches, as if it had none. Returns whether it is that of
/// the regression.
bool Embedding::raw(const Fit& fit, NodeId node, std::span<double> scores) const {
  const bool is_regression = fit.ridge && has_place(node);
  if (is_regression) {
    fit.ridge->values(node, scores);
  } else {
    for (const Reason& reason : others(fit, node)) scores[fit.classes.column(reason.label)] += reason.share;
  }
  return is_regression;
}

double Embedding::weigh(NodeId node, std::span<double> weights) const {
  const Fit& fit = fitted();
  if (!fit.classes.is_reached(components_.of_node[node])) return 0;
  std::vector<double> scores(fit.classes.count());
  const bool is_regression = raw(fit, node, scores);
  const double most = *std::ranges::max_element(scores);
  double total = 0;
  for (std::size_t c = 0; c < scores.size(); ++c)
    total += weights[fit.classes.classes()[c]] =
        is_regression ? exponential_of(kSharpness * (scores[c] - most)) : scores[c];
  return total;
}

void Embedding::raw_scores(NodeId node, std::span<double> scores) const {
  std::ranges::fill(scores, 0.0);
  if (prior().total() == 0) return;
  const Fit& fit = fitted();
  if (!fit.classes.is_reached(components_.of_node[node])) return prior().scores(scores);
  std::vector<double> values(fit.classes.count());
  raw(fit, node, values);
  for (std::size_t c = 0; c < values.size(); ++c) scores[fit.classes.classes()[c]] = values[c];
}

std::optional<LeaveOneOut> Embedding::leave_one_out(const Execution& execution) const {
  LeaveOneOut result;
  if (prior().total() == 0) return result;
  const Fit& fit = fitted();
  const std::size_t columns = fit.classes.count();
  std::vector<double> of_examples;  // by example
  if (fit.ridge && fit.ridge->examples().size() > 1) {
    constexpr std::size_t kBlock = 256;
    const std::size_t count = fit.ridge->examples().size();
    of_examples.resize(count * columns);
    parallel_blocks(execution, count, kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
      const Eigen::MatrixXd values = fit.ridge->left_out(begin, end).transpose();
      std::copy_n(values.data(), values.size(), &of_examples[begin * columns]);
    });
  }
  std::size_t example = 0;
  for (const NodeId node : fit.classes.labelled()) {
    std::vector<double> values(columns);
    if (!of_examples.empty() && has_place(node))
      std::copy_n(&of_examples[example++ * columns], columns, values.begin());
    else
      for (const Reason& reason : others(fit, node)) values[fit.classes.column(reason.label)] += reason.share;
    if (fit.classes.num_labelled(components_.of_node[node]) == 1) continue;  // nothing else reaches it
    result.nodes.push_back(node);
    result.raw_scores.resize(result.nodes.size() * num_classes());
    double* const row = &result.raw_scores[(result.nodes.size() - 1) * num_classes()];
    for (std::size_t c = 0; c < columns; ++c) row[fit.classes.classes()[c]] = values[c];
  }
  return result;
}

std::vector<Reason> Embedding::reasons(NodeId node) const {
  const Fit& fit = fitted();
  const NodeId component = components_.of_node[node];
  std::vector<Reason> reasons;
  if (!fit.classes.is_reached(component)) return reasons;
  double total = 0;
  if (fit.ridge && has_place(node)) {
    const std::vector<double> influence = fit.ridge->influence(node);
    for (std::size_t i = 0; i < influence.size(); ++i) {
      if (!(influence[i] > 0)) continue;
      total += influence[i];
      const NodeId u = fit.ridge->examples()[i].node;
      if (components_.of_node[u] == component) reasons.push_back({u, labels()[u], influence[i], 0});
    }
  }
  if (reasons.empty()) {
    reasons = others(fit, node);
    total = 1;
  }
  std::ranges::stable_sort(reasons, std::greater{}, &Reason::share);
  if (reasons.size() > kMostReasons) reasons.resize(kMostReasons);
  std::vector<NodePair> pairs;
  for (Reason& reason : reasons) {
    reason.share /= total;
    pairs.push_back({node, reason.node});
  }
  const Estimates resistances = exact_resistances(graph_, pairs, 1e-3, {}, execution_);
  for (std::size_t i = 0; i < reasons.size(); ++i) reasons[i].resistance = resistances.value[i];
  return reasons;
}

std::vector<std::string> Embedding::notes() const {
  fitted();
  NodeId num_without = 0;
  for (NodeId node = 0; node < graph_.num_nodes(); ++node) num_without += has_place(node) ? 0 : 1;
  std::vector<std::string> notes;
  if (graph_.embedding != nullptr && !has_embedding(graph_, options_.spectral))
    notes.emplace_back("the embedding kept with the graph has another dimension or option and was not used");
  if (num_without > graph_.num_nodes() / 10)
    notes.push_back(with_commas(num_without) + " of " + with_commas(graph_.num_nodes()) +
                    " nodes have no place in the embedding, most in components of fewer than " +
                    std::to_string(kFewestInComponent) +
                    " nodes: label_propagation would answer them as well, in less time");
  return notes;
}

BatchResult Embedding::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                           const Options& options, const Execution& execution) {
  return fit_by_revealing(std::make_unique<Embedding>(graph, options, execution), labels, num_classes);
}

std::uint64_t Embedding::bytes(const ProblemSize& size, const Options& options) {
  return size.num_nodes * (sizeof(Label) + sizeof(NodeId)) +
         spectral_embedding_bytes(size.num_nodes, options.spectral);
}

}  // namespace copse
