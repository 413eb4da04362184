// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "copse/queries/query.hpp"
#include "copse/learners/registry.hpp"

// What an answer must be whatever the weights are: for tests and for fuzz targets. Each function returns what
// is wrong, or nothing.

namespace copse::oracle {

inline std::string text_of(const OptionValues& options) {
  std::string text;
  for (const auto& [name, value] : options) text += " " + name + "=" + value;
  return text;
}

/// The defaults, and one after the other every choice, flag and word of every option, on the graph and on
/// trees where a learner has both. Committees of three: what goes wrong does so in the first tree.
inline std::vector<OptionValues> option_sets(const std::vector<OptionInfo>& options) {
  OptionValues base;
  bool has_trees = false;
  for (const OptionInfo& option : options) {
    if (option.name == "num_trees") base["num_trees"] = "3";
    has_trees |= option.name == "on";
  }
  std::vector<OptionValues> sets;
  for (int on_trees = 0; on_trees <= static_cast<int>(has_trees); ++on_trees) {
    if (on_trees != 0) base["on"] = "tree";
    sets.push_back(base);
    for (const OptionInfo& option : options) {
      const bool is_about_trees = option.name == "tree" || option.name == "num_trees";
      if (option.name == "on" || option.name == "max_iterations" || option.name == "tolerance" ||
          (has_trees && is_about_trees != (on_trees != 0)))
        continue;
      std::vector<std::string> values;
      if (option.type == "bool") values = {option.default_value == "true" ? "false" : "true"};
      if (option.type == "int") values = {"2"};
      if (option.name == "num_trees" && option.range.starts_with("between 1 ")) values.push_back("1");
      if (option.type.find('|') != std::string::npos) {
        std::istringstream choices(option.type);
        for (std::string choice; std::getline(choices, choice, '|');)
          if (choice != option.default_value && choice != "number") values.push_back(choice);
      }
      for (const std::string& value : values) {
        sets.push_back(base);
        sets.back()[option.name] = value;
      }
    }
  }
  return sets;
}

/// Walks take many steps to leave an edge that is so much heavier than those around it.
inline constexpr Weight kWide = 0x1p10F;

/// Whether trees are drawn by walks over the weights.
inline bool walks(const std::vector<OptionInfo>& known, const OptionValues& options) {
  const auto is_known = [&](const char* name) {
    return std::ranges::any_of(known, [&](const OptionInfo& option) { return option.name == name; });
  };
  const auto tree = options.find("tree");
  return is_known("tree") && (!is_known("on") || options.contains("on")) &&
         (tree == options.end() || tree->second == "rst");
}

/// The same options, but with other trees where walks would take long.
inline OptionValues with_quick_trees(const std::vector<OptionInfo>& known, OptionValues options,
                                     const GraphView& graph) {
  Weight low = 1, high = 0;
  for (EdgeIndex arc = 0; arc < graph.num_arcs(); ++arc) {
    low = arc == 0 ? graph.weight(arc) : std::min(low, graph.weight(arc));
    high = std::max(high, graph.weight(arc));
  }
  if (high / low > kWide && walks(known, options)) options["tree"] = "random_key";
  return options;
}

/// A label among the known ones and scores that are a distribution, the label's the largest.
inline std::string answer_fault(const Predictor& predictor, NodeId node, std::size_t num_classes) {
  const Prediction answer = predictor.predict(node);
  std::ostringstream fault;
  fault << "node " << node << ": ";
  if (answer.label >= num_classes) return fault << "label " << answer.label, fault.str();
  if (!(answer.confidence >= 0 && answer.confidence <= 1 + 1e-9))
    return fault << "confidence " << answer.confidence, fault.str();
  std::vector<double> scores(num_classes);
  predictor.scores(node, scores);
  double sum = 0;
  for (const double score : scores) {
    if (!(score >= 0)) return fault << "a score of " << score, fault.str();
    sum += score;
  }
  if (!(std::fabs(sum - 1) <= 1e-9)) return fault << "scores sum to " << sum, fault.str();
  if (!(std::fabs(scores[answer.label] - answer.confidence) <= 1e-9))
    return fault << "confidence " << answer.confidence << ", score " << scores[answer.label], fault.str();
  return "";
}

/// A learner that learns from its mistakes alone may have none to name (`may_be_none`).
inline std::string reasons_fault(const Learner& learner, NodeId node, std::span<const Label> labels,
                                 bool may_be_none) {
  std::ostringstream fault;
  fault << "why node " << node << ": ";
  const std::vector<Reason> reasons = learner.explain(node);
  if (!may_be_none && labels[node] == kNoLabel && reasons.empty() && learner.predict(node).reached)
    return fault << "no reason", fault.str();
  for (const Reason& reason : reasons) {
    if (reason.node >= labels.size() || reason.label != labels[reason.node])
      return fault << "a reason of another label", fault.str();
    if (!(reason.share > 0 && reason.share <= 1 + 1e-9))
      return fault << "a share of " << reason.share, fault.str();
    if (!(reason.resistance >= 0 && std::isfinite(reason.resistance)))
      return fault << "a resistance of " << reason.resistance, fault.str();
  }
  return "";
}

/// Batch, then online with questions in between. At least one node has a label.
inline std::string learner_fault(const LearnerRow& row, const OptionValues& options, const GraphView& graph,
                                 std::span<const Label> labels, std::size_t num_classes,
                                 const Execution& execution) {
  const BatchResult batch = row.fit(graph, labels, num_classes, options, execution);
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    std::string fault = answer_fault(*batch.predictor, u, num_classes);
    if (fault.empty() && labels[u] != kNoLabel && batch.predictor->predict(u).label != labels[u])
      fault = "a given label was changed";
    if (!fault.empty()) return "batch, " + fault;
  }
  const auto learner = row.make(graph, options, execution);
  std::vector<Label> told(labels.size(), kNoLabel);
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (labels[u] == kNoLabel) continue;
    learner->reveal(u, told[u] = labels[u]);
    const bool is_first = std::count(told.begin(), told.end(), kNoLabel) + 1 == std::ssize(told);
    for (NodeId v = 0; v < graph.num_nodes(); ++v) {
      std::string fault = answer_fault(*learner, v, learner->num_classes());
      if (fault.empty() && (is_first || std::ranges::equal(told, labels)))
        fault = reasons_fault(*learner, v, told, row.depends_on_order);
      if (!fault.empty()) return "online, " + fault;
    }
  }
  for (NodeId u = 0; u < graph.num_nodes() && !row.depends_on_order; ++u) {
    const Prediction one = batch.predictor->predict(u), other = learner->predict(u);
    if (one.label != other.label || one.confidence != other.confidence || one.reached != other.reached)
      return "batch and online differ at node " + std::to_string(u);
  }
  return "";
}

/// Asks for all nodes, three at a time, and tells their labels.
inline std::string query_fault(const QueryRow& row, const OptionValues& options, const GraphView& graph,
                               std::span<const Label> labels, const Execution& execution) {
  const auto strategy = row.make(graph, options, execution);
  std::set<NodeId> asked;
  while (strategy->num_open() > 0) {
    const std::uint64_t open = strategy->num_open();
    const std::vector<Query> next = strategy->next(3);
    if (next.size() != std::min<std::uint64_t>(3, open)) return "too few nodes";
    for (const Query& query : next) {
      if (query.node >= graph.num_nodes() || !asked.insert(query.node).second) return "a node asked twice";
      if (!std::isfinite(query.score)) return "a score of " + std::to_string(query.score);
    }
    for (const Query& query : next) strategy->reveal(query.node, labels[query.node]);
    if (!std::isfinite(strategy->progress())) return "progress of " + std::to_string(strategy->progress());
  }
  return "";
}

}  // namespace copse::oracle
