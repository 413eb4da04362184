// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/nearest_neighbor.hpp"

#include <algorithm>

#include "copse/learners/prior.hpp"
#include "learners/fit_by_revealing.hpp"
#include "learners/nearest_lists.hpp"
#include "learners/signs.hpp"

namespace copse {
namespace {

using Distance = NearestNeighborOptions::Distance;

}  // namespace

struct NearestNeighbor::State {
  std::unique_ptr<NearestLists> lists;
  std::vector<Label> labels;
  ClassPrior prior;

  /// Votes a class, and the class that wins: of several with as many votes that of the nearest voter.
  Label count(NodeId node, std::vector<double>& votes) const {
    votes.assign(prior.num_classes(), 0);
    for (std::size_t place = 0; place < lists->size(node); ++place)
      votes[labels[lists->source(node, place)]] += 1;
    const double most = *std::max_element(votes.begin(), votes.end());
    for (std::size_t place = 0;; ++place) {
      const Label label = labels[lists->source(node, place)];
      if (votes[label] == most) return label;
    }
  }
};

NearestNeighbor::NearestNeighbor(const GraphView& graph, const Options& options, const Execution& execution)
    : state_(new State{nullptr, std::vector<Label>(graph.num_nodes(), kNoLabel), {}}) {
  refuse_signs(graph, "nearest_neighbor", kUseRegistry);
  const auto k = static_cast<std::size_t>(options.num_neighbors);
  state_->lists = options.distance == Distance::geodesic
                      ? geodesic_lists(graph, k, execution)
                      : resistance_lists(graph, k, options.solve, execution);
}

NearestNeighbor::~NearestNeighbor() = default;

Prediction NearestNeighbor::predict(NodeId node) const {
  if (state_->labels[node] != kNoLabel) return {state_->labels[node], 1, true};
  if (state_->lists->size(node) == 0) {
    const Label label = state_->prior.favourite();
    return {label, label == kNoLabel ? 0 : state_->prior.share(label), false};
  }
  std::vector<double> votes;
  const Label label = state_->count(node, votes);
  return {label, votes[label] / static_cast<double>(state_->lists->size(node)), true};
}

void NearestNeighbor::scores(NodeId node, std::span<double> scores) const {
  std::fill(scores.begin(), scores.end(), 0.0);
  if (state_->labels[node] != kNoLabel) {
    scores[state_->labels[node]] = 1;
    return;
  }
  if (state_->lists->size(node) == 0) return state_->prior.scores(scores);
  std::vector<double> votes;
  state_->count(node, votes);
  for (std::size_t c = 0; c < votes.size(); ++c)
    scores[c] = votes[c] / static_cast<double>(state_->lists->size(node));
}

std::size_t NearestNeighbor::num_classes() const { return state_->prior.num_classes(); }

void NearestNeighbor::reveal(NodeId node, Label label) {
  Label& known = state_->labels[node];
  if (known == kNoLabel)
    state_->lists->add({&node, 1});
  else
    state_->prior.remove(known);
  known = label;
  state_->prior.add(label);
}

void NearestNeighbor::retract(NodeId node) {
  Label& known = state_->labels[node];
  if (known == kNoLabel) return;
  state_->lists->remove(node);
  state_->prior.remove(known);
  known = kNoLabel;
}

std::vector<Reason> NearestNeighbor::explain(NodeId node) const {
  if (state_->labels[node] != kNoLabel) return {{node, state_->labels[node], 1, 0}};
  const std::size_t count = state_->lists->size(node);
  if (count == 0) return {};
  const std::vector<double> distances = state_->lists->distances(node);
  std::vector<Reason> reasons;
  for (std::size_t place = 0; place < count; ++place) {
    const NodeId source = state_->lists->source(node, place);
    reasons.push_back({source, state_->labels[source], 1 / static_cast<double>(count), distances[place]});
  }
  return reasons;
}

BatchResult NearestNeighbor::fit(const GraphView& graph, std::span<const Label> labels,
                                 std::size_t num_classes, const Options& options,
                                 const Execution& execution) {
  auto learner = std::make_unique<NearestNeighbor>(graph, options, execution);
  std::vector<NodeId> labelled;
  for (NodeId node = 0; node < labels.size(); ++node) {
    if (labels[node] == kNoLabel) continue;
    labelled.push_back(node);
    learner->state_->labels[node] = labels[node];
    learner->state_->prior.add(labels[node]);
  }
  learner->state_->lists->add(labelled);
  BatchResult result;
  result.predictor = std::make_unique<Revealed<NearestNeighbor>>(std::move(learner), num_classes);
  return result;
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
