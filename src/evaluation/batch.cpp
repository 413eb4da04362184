// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <utility>

#include "copse/evaluation/protocols.hpp"
#include "copse/learners/embedding.hpp"
#include "copse/learners/multi_label.hpp"
#include "copse/support/parallel.hpp"
#include "learners/pool_weights.hpp"

namespace copse {
namespace {

constexpr std::size_t kNodesPerBlock = 4096;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The labels a learner may see: those of split.train and no other.
std::vector<Label> visible_labels(const GraphView& graph, std::span<const Label> labels, const Split& split) {
  const auto refuse = [](const std::string& problem, const std::string& remedy) {
    throw UsageError{"evaluation split", problem, remedy};
  };
  if (labels.size() != graph.num_nodes()) {
    refuse("there are " + with_commas(labels.size()) + " labels for " + with_commas(graph.num_nodes()) +
               " nodes",
           "give one label per node, kNoLabel where it is unknown");
  }
  for (const auto* part : {&split.train, &split.test}) {
    for (const NodeId u : *part) {
      if (u < labels.size() && labels[u] != kNoLabel) continue;
      refuse("node " + std::to_string(u) + " has no label", "splits hold labelled nodes only");
    }
  }
  std::vector<Label> visible(labels.size(), kNoLabel);
  for (const NodeId u : split.train) visible[u] = labels[u];
  for (const NodeId u : split.test) {
    if (visible[u] == kNoLabel) continue;
    refuse("node " + std::to_string(u) + " is both given and hidden", "only hidden labels may be scored");
  }
  return visible;
}

// How many classes there are: those with a name, and those that occur.
std::size_t count_classes(std::size_t num_names, std::span<const Label> labels) {
  for (const Label label : labels)
    if (label != kNoLabel) num_names = std::max<std::size_t>(num_names, std::size_t{label} + 1);
  return num_names;
}

BatchResult complete(BatchResult result) {
  if (result.interrupted) throw Cancelled{};  // a part of a committee is an answer, but not a measurement
  return result;
}

// `table` counts the answers: Confusion or OneVersusRest.
template <class Table>
BatchScore score_of(const Table& table, std::uint64_t num_hidden, std::uint64_t num_reached, double seconds,
                    std::vector<std::string> notes) {
  BatchScore score{table.error(), table.macro_f1(), table.micro_f1()};
  score.num_hidden = num_hidden;
  if (num_hidden > 0) score.coverage = static_cast<double>(num_reached) / static_cast<double>(num_hidden);
  score.seconds = seconds;
  score.notes = std::move(notes);
  return score;
}

Answers scores_of(const Predictor& predictor, std::span<const NodeId> nodes, std::size_t num_classes,
                  const Execution& execution) {
  Answers answers{num_classes,
                  {},
                  {},
                  std::vector<double>(nodes.size() * num_classes),
                  std::vector<double>(nodes.size() * num_classes)};
  parallel_blocks(execution, nodes.size(), kNodesPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t i = begin; i < end; ++i) {
                      predictor.scores(nodes[i], {&answers.scores[i * num_classes], num_classes});
                      predictor.raw_scores(nodes[i], {&answers.raw_scores[i * num_classes], num_classes});
                    }
                  });
  return answers;
}

// The given nodes' sets of labels, renumbered without gaps: a set that only hidden nodes have must not even
// be a possible answer.
MultiLabels visible_part(const MultiLabels& all, std::vector<Label> visible) {
  std::vector<Label> number(all.sets.size(), kNoLabel);
  for (const Label set : visible)
    if (set != kNoLabel) number[set] = 0;
  MultiLabels part;
  for (std::size_t set = 0; set < number.size(); ++set) {
    if (number[set] == kNoLabel) continue;
    number[set] = static_cast<Label>(part.sets.size());
    part.sets.push_back(all.sets[set]);
  }
  for (Label& set : visible)
    if (set != kNoLabel) set = number[set];
  part.set_of_node = std::move(visible);
  return part;
}

// Counts of one block of hidden nodes.
struct MultiTally {
  std::vector<BinaryCounts> by_class;
  std::uint64_t num_reached = 0;
};

// By one half every class is a question of its own, as in the papers; by chosen thresholds a node always has
// an answer, as in `copse predict`.
void count_answers(std::span<const double> scores, std::span<const double> thresholds, Thresholds rule,
                   const std::vector<Label>& truth, std::vector<BinaryCounts>& by_class) {
  const std::vector<Label> above =
      rule == Thresholds::half ? std::vector<Label>{} : classes_above(scores, thresholds).classes;
  for (std::size_t c = 0; c < by_class.size(); ++c) {
    const auto label = static_cast<Label>(c);
    by_class[c].add(std::ranges::binary_search(truth, label),
                    scores[c] > thresholds[c] || std::ranges::binary_search(above, label));
  }
}

}  // namespace

Graph prepare_for_splits(const Graph& graph, const LearnerRow& learner, const OptionValues& options,
                         const Execution& execution) {
  if (graph.view().is_signed()) return graph;  // both refuse it, and say what to do
  if (learner.name == "embedding")
    return keep_embedding(graph, parse_options<EmbeddingOptions>(learner.name, options).spectral, execution);
  const ProblemSize size = ProblemSize::of(graph, 1, execution.threads);
  if (learner.name == "auto" && fits_in_pool("embedding", size, 0))
    return keep_embedding(graph, {}, execution);
  return graph;
}

BatchScore evaluate_split(const GraphView& graph, const Labels& labels, const Split& split,
                          const LearnerRow& learner, const OptionValues& options, const Execution& execution,
                          Confusion* confusion, Answers* details) {
  const std::vector<Label> visible = visible_labels(graph, labels.of_node, split);
  const std::size_t num_classes = count_classes(labels.classes.size(), labels.of_node);

  const auto start = Clock::now();
  BatchResult result = complete(learner.fit(graph, visible, num_classes, options, execution));
  std::vector<Prediction> answers(split.test.size());
  parallel_blocks(execution, split.test.size(), kNodesPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t i = begin; i < end; ++i)
                      answers[i] = result.predictor->predict(split.test[i]);
                  });
  const double seconds = seconds_since(start);

  Confusion table(num_classes);
  std::uint64_t num_reached = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    table.add(labels.of_node[split.test[i]], answers[i].label);
    num_reached += answers[i].reached;
  }
  BatchScore score = score_of(table, answers.size(), num_reached, seconds, std::move(result.notes));
  if (details != nullptr) {
    *details = scores_of(*result.predictor, split.test, num_classes, execution);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      details->truth.push_back(labels.of_node[split.test[i]]);
      details->predicted.push_back(answers[i].label);
    }
  }
  if (confusion != nullptr) *confusion = std::move(table);
  return score;
}

BatchScore evaluate_split(const GraphView& graph, const MultiLabels& labels, const Split& split,
                          const LearnerRow& learner, const OptionValues& options, const Execution& execution,
                          OneVersusRest* counts, Thresholds rule) {
  const MultiLabels given = visible_part(labels, visible_labels(graph, labels.set_of_node, split));
  std::size_t num_classes = labels.classes.size();
  for (const auto& set : labels.sets) num_classes = count_classes(num_classes, set);

  const auto start = Clock::now();
  BatchResult result = complete(fit_multi(learner, graph, given, num_classes, options, execution));
  const std::vector<double> thresholds = class_thresholds(*result.predictor, given, rule, execution);
  const std::size_t num_blocks = (split.test.size() + kNodesPerBlock - 1) / kNodesPerBlock;
  std::vector<MultiTally> tallies(num_blocks);
  parallel_blocks(execution, split.test.size(), kNodesPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t block) {
                    MultiTally tally{std::vector<BinaryCounts>(num_classes)};
                    std::vector<double> scores(num_classes);
                    for (std::size_t i = begin; i < end; ++i) {
                      const NodeId u = split.test[i];
                      tally.num_reached += result.predictor->predict(u).reached;
                      result.predictor->scores(u, scores);
                      count_answers(scores, thresholds, rule, labels.sets[labels.set_of_node[u]],
                                    tally.by_class);
                    }
                    tallies[block] = std::move(tally);
                  });
  const double seconds = seconds_since(start);

  OneVersusRest total{std::vector<BinaryCounts>(num_classes)};
  std::uint64_t num_reached = 0;
  for (const MultiTally& tally : tallies) {
    for (std::size_t c = 0; c < num_classes; ++c) total.by_class[c] += tally.by_class[c];
    num_reached += tally.num_reached;
  }
  BatchScore score = score_of(total, split.test.size(), num_reached, seconds, std::move(result.notes));
  if (counts != nullptr) *counts = std::move(total);
  return score;
}

}  // namespace copse
