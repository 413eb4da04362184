// SPDX-License-Identifier: Apache-2.0
#include "queries/margin_query.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "copse/learners/shared_columns.hpp"
#include "copse/support/parallel.hpp"
#include "laplacian/interpolation.hpp"

namespace copse {

void ProjectionHypothesis::assign(std::vector<std::vector<double>> values) {
  unseen_ = std::move(values.back());
  values.pop_back();
  of_class_ = std::move(values);
}

double ProjectionHypothesis::project(NodeId node, Label label, std::span<const double> column, int threads) {
  const double diagonal = column[node];
  while (of_class_.size() <= label) of_class_.push_back(unseen_);
  if (!(diagonal > 0)) return 0;
  std::vector<double*> functions;
  std::vector<double> steps;
  double progress = 0;
  const auto add = [&](std::vector<double>& function, double wanted) {
    const double missing = wanted - function[node];
    functions.push_back(function.data());
    steps.push_back(missing / diagonal);
    return missing * missing / diagonal / 2;
  };
  for (std::size_t c = 0; c < of_class_.size(); ++c) progress += add(of_class_[c], c == label ? 1 : -1);
  const double of_unseen = add(unseen_, -1);
  if (num_classes() < 2) progress += of_unseen;
  parallel_blocks(threads, column.size(), std::size_t{1} << 15,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t f = 0; f < functions.size(); ++f)
                      for (std::size_t u = begin; u < end; ++u) functions[f][u] += steps[f] * column[u];
                  });
  return progress;
}

double ProjectionHypothesis::least_progress(NodeId node) const {
  const auto missing = [](double margin) {
    const double short_of = std::max(0.0, 1 - margin);
    return short_of * short_of;
  };
  double if_none = 0, least = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < num_rivals(); ++r) {
    const double g = value(r, node);
    if_none += missing(-g);
    least = std::min(least, missing(g) - missing(-g));
  }
  return std::max(0.0, if_none + least) / 2;
}

double ProjectionHypothesis::margin(NodeId node) const {
  double first = -std::numeric_limits<double>::infinity(), second = first;
  for (std::size_t r = 0; r < num_rivals(); ++r) {
    const double g = value(r, node);
    second = std::max(second, std::min(first, g));
    first = std::max(first, g);
  }
  return (first - second) / 2;
}

Label ProjectionHypothesis::best(NodeId node) const {
  std::size_t best = 0;
  for (std::size_t r = 1; r < num_rivals(); ++r)
    if (value(r, node) > value(best, node)) best = r;
  return static_cast<Label>(std::min(best, num_classes()));
}

MarginQuery::MarginQuery(const GraphView& graph, const Execution& execution)
    : QueryStrategy(graph, execution),
      laplacian_(graph, {}, execution),
      column_(graph.num_nodes()),
      margins_(graph.num_nodes()) {
  report_.converged = true;
}

std::span<const double> MarginQuery::column(NodeId node) {
  const auto solve = [&](std::span<double> x) {
    std::fill(x.begin(), x.end(), 0.0);
    x[node] = 1;
    return laplacian_.solve(x);
  };
  SharedColumns* shared = execution().columns;
  if (shared != nullptr && shared->serves(graph(), 1, {})) return shared->column(node, report_, solve);
  const SolveReport report = solve(column_);
  if (!report.converged) report_ = report;
  return column_;
}

void MarginQuery::learn(NodeId node, Label label) { since_.emplace_back(node, label); }

void MarginQuery::forget(NodeId node, Label label) {
  std::erase(from_start_, Labelled{node, label});
  std::erase(since_, Labelled{node, label});
  is_stale_ = true;
}

void MarginQuery::learn_all(std::span<const Label> labels) {
  for (NodeId node = 0; node < labels.size(); ++node)
    if (labels[node] != kNoLabel) from_start_.emplace_back(node, labels[node]);
  is_stale_ = true;
}

void MarginQuery::bring_up_to_date() {
  if (is_stale_) {
    margins_ = ProjectionHypothesis(graph().num_nodes());
    progress_ = 0;
    num_projected_ = 0;
    if (!from_start_.empty()) interpolate();
    is_stale_ = false;
  }
  for (; num_projected_ < since_.size(); ++num_projected_) {
    execution().throw_if_cancelled();
    const auto& [node, label] = since_[num_projected_];
    progress_ += margins_.project(node, label, column(node), execution().threads);
  }
}

double MarginQuery::measure_progress() {
  bring_up_to_date();
  return progress_;
}

void MarginQuery::interpolate() {
  std::vector<NodeId> nodes;
  std::size_t num_classes = 0;
  for (const auto& [node, label] : from_start_) {
    nodes.push_back(node);
    num_classes = std::max<std::size_t>(num_classes, std::size_t{label} + 1);
  }
  // Class by class, then the one that nobody has named: -1 everywhere.
  std::vector<std::vector<double>> functions;
  std::vector<double> wanted(nodes.size());
  // On the double cover of a signed graph a label is told of the mirror image as well, the other way round.
  const Graph cover = graph().is_signed() ? double_cover(graph(), execution().threads) : Graph();
  const std::size_t told = nodes.size();
  for (std::size_t i = 0; graph().is_signed() && i < told; ++i)
    nodes.push_back(graph().num_nodes() + nodes[i]);
  for (std::size_t c = 0; c <= num_classes; ++c) {
    if (c == 1 && num_classes <= 2) {  // the mirror image of the first
      functions.push_back(functions[0]);
      for (double& value : functions[1]) value = -value;
      continue;
    }
    wanted.resize(nodes.size());
    for (std::size_t i = 0; i < told; ++i) wanted[i] = from_start_[i].second == c ? 1 : -1;
    for (std::size_t i = told; i < nodes.size(); ++i) wanted[i] = -wanted[i - told];
    Interpolation found = minimum_norm_interpolation(graph().is_signed() ? cover.view() : graph(), nodes,
                                                     wanted, SolveOptions{}, execution());
    found.value.resize(graph().num_nodes());
    if (!found.report.converged) report_ = found.report;
    functions.push_back(std::move(found.value));
  }
  margins_.assign(std::move(functions));
}

Query MarginQuery::highest(const ProjectionHypothesis& margins, std::span<const char> open) const {
  const auto goes_first = [&](const Query& a, const Query& b) {
    if (a.node == kNoNode || b.node == kNoNode) return b.node == kNoNode && a.node != kNoNode;
    if (a.score != b.score) return a.score > b.score;
    const std::uint64_t key_a = tie_key(a.node), key_b = tie_key(b.node);
    return key_a != key_b ? key_a < key_b : a.node < b.node;
  };
  return deterministic_reduce(
      execution().threads, open.size(), Query{},
      [&](std::size_t begin, std::size_t end) {
        Query top;
        for (std::size_t u = begin; u < end; ++u) {
          if (open[u] == 0) continue;
          const Query here{static_cast<NodeId>(u), score(margins, static_cast<NodeId>(u))};
          if (goes_first(here, top)) top = here;
        }
        return top;
      },
      [&](const Query& a, const Query& b) { return goes_first(b, a) ? b : a; }, std::size_t{1} << 14);
}

Query MarginQuery::best(const ProjectionHypothesis& margins, std::span<const char> open) {
  return highest(margins, open);
}

// Between the picks of a batch nobody answers. Each is taken as answered by what is predicted for it: the
// answer that moves the hypothesis least, the worst case that criterion 15 reckons with.
std::vector<Query> MarginQuery::choose(std::size_t count, std::vector<char> left) {
  bring_up_to_date();
  begin_choice();
  std::optional<ProjectionHypothesis> expected;
  std::vector<Query> queries;
  while (true) {
    execution().throw_if_cancelled();
    execution().report("queries", queries.size(), count);
    const ProjectionHypothesis& margins = expected ? *expected : margins_;
    queries.push_back(best(margins, left));
    if (queries.size() == count) return queries;
    const NodeId node = queries.back().node;
    left[node] = 0;
    if (!expected) expected = margins_;
    expected->project(node, expected->best(node), column(node), execution().threads);
  }
}

std::vector<std::string> MarginQuery::remarks() const {
  if (report_.converged) return {};
  return {report_.note()};
}

std::uint64_t MarginQuery::margin_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs,
                                        std::size_t num_classes) {
  // A column, the functions and their copy for a batch.
  return num_nodes * (kBytesPerNode + 8 + 16 * (num_classes + 1)) +
         LaplacianSolver::bytes(num_nodes, num_arcs, 8, {});
}

}  // namespace copse
