// SPDX-License-Identifier: Apache-2.0
#include "copse/queries/query.hpp"

#include <algorithm>

#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "learners/signs.hpp"

namespace copse {

QueryStrategy::QueryStrategy(const GraphView& graph, const Execution& execution)
    : graph_(graph),
      execution_(execution),
      labels_(graph.num_nodes(), kNoLabel),
      excluded_(graph.num_nodes(), 0),
      open_(graph.num_nodes(), 1),
      num_open_(graph.num_nodes()) {}

void QueryStrategy::start(std::span<const Label> labels) {
  if (labels.size() != graph_.num_nodes())
    throw UsageError{"query",
                     "there are " + with_commas(labels.size()) + " labels for " +
                         with_commas(graph_.num_nodes()) + " nodes",
                     "give one label per node, kNoLabel where it is unknown"};
  const std::lock_guard lock(working_);
  for (NodeId node = 0; node < labels.size(); ++node) {
    if (labels[node] == kNoLabel) continue;
    check_label(labels[node]);
    set_label(node, labels[node]);
  }
  if (!class_counts_.empty()) learn_all(labels);
}

void QueryStrategy::learn_all(std::span<const Label> labels) {
  for (NodeId node = 0; node < labels.size(); ++node)
    if (labels[node] != kNoLabel) learn(node, labels[node]);
}

void QueryStrategy::check_label(Label label) const {
  if (label == kNoLabel)
    throw UsageError{"query", "kNoLabel is no label to reveal", "retract(node) takes one back"};
  if (graph_.is_signed()) check_signed_label(label);
}

void QueryStrategy::reveal(NodeId node, Label label) {
  check_label(label);
  note(node, Kind::label, label);
}
void QueryStrategy::retract(NodeId node) { note(node, Kind::no_label); }
void QueryStrategy::exclude(NodeId node) { note(node, Kind::excluded); }
void QueryStrategy::readmit(NodeId node) { note(node, Kind::readmitted); }

void QueryStrategy::note(NodeId node, Kind kind, Label label) {
  if (node >= graph_.num_nodes())
    throw UsageError{"query", "there is no node " + std::to_string(node),
                     "nodes are 0 to " + with_commas(graph_.num_nodes()) + ", without the last"};
  const std::lock_guard lock(noting_);
  events_.push_back({node, kind, label});
}

// An event leaves the queue when it has been taken in: a question that is cancelled on the way loses none.
void QueryStrategy::catch_up() {
  std::unique_lock lock(noting_);
  for (std::size_t waiting = events_.size(); waiting > 0; --waiting) {
    const Event event = events_.front();
    lock.unlock();
    take_in(event);
    lock.lock();
    events_.pop_front();
  }
}

void QueryStrategy::take_in(const Event& event) {
  const NodeId node = event.node;
  if (event.kind == Kind::excluded || event.kind == Kind::readmitted) {
    excluded_[node] = event.kind == Kind::excluded ? 1 : 0;
    return count_open(node);
  }
  const Label before = labels_[node];
  if (before == event.label) return;
  if (before != kNoLabel) {
    set_label(node, kNoLabel);
    forget(node, before);
  }
  if (event.label == kNoLabel) return;
  learn(node, event.label);
  set_label(node, event.label);
}

void QueryStrategy::set_label(NodeId node, Label label) {
  if (labels_[node] != kNoLabel) --class_counts_[labels_[node]];
  if (label != kNoLabel && label >= class_counts_.size()) class_counts_.resize(std::size_t{label} + 1);
  if (label != kNoLabel) ++class_counts_[label];
  while (!class_counts_.empty() && class_counts_.back() == 0) class_counts_.pop_back();
  labels_[node] = label;
  count_open(node);
}

void QueryStrategy::count_open(NodeId node) {
  const char is_open = labels_[node] == kNoLabel && excluded_[node] == 0 ? 1 : 0;
  num_open_ += static_cast<std::uint64_t>(is_open) - static_cast<std::uint64_t>(open_[node]);
  open_[node] = is_open;
}

std::vector<Query> QueryStrategy::next(std::size_t count, std::span<const NodeId> skip) {
  const std::lock_guard lock(working_);
  catch_up();
  std::vector<char> left = open_;
  std::uint64_t num_left = num_open_;
  for (const NodeId node : skip) {
    if (node < left.size() && left[node] != 0) --num_left;
    if (node < left.size()) left[node] = 0;
  }
  count = static_cast<std::size_t>(std::min<std::uint64_t>(count, num_left));
  if (count == 0) return {};
  std::vector<Query> queries = choose(count, std::move(left));
  for (std::size_t i = 1; i < queries.size(); ++i)
    queries[i].score = std::min(queries[i].score, queries[i - 1].score);
  return queries;
}

double QueryStrategy::progress() {
  const std::lock_guard lock(working_);
  catch_up();
  return measure_progress();
}

std::uint64_t QueryStrategy::num_open() {
  const std::lock_guard lock(working_);
  catch_up();
  return num_open_;
}

std::vector<std::string> QueryStrategy::notes() {
  const std::lock_guard lock(working_);
  return remarks();
}

std::uint64_t QueryStrategy::tie_key(NodeId node) const {
  return Stream{execution_.seed, Purpose::query, node}.next64();
}

// Keys are uniform, so those below a bound are about as many as its share: no more memory than that.
std::vector<NodeId> QueryStrategy::draw(std::size_t count, std::span<const char> left) const {
  using Place = std::pair<std::uint64_t, NodeId>;
  const auto num_left = static_cast<std::size_t>(std::count(left.begin(), left.end(), 1));
  count = std::min(count, num_left);
  std::vector<Place> first;
  const double wanted = 2 * static_cast<double>(count) + 64;
  for (double share = wanted / static_cast<double>(num_left); first.size() < count; share *= 4) {
    const std::uint64_t bound = share < 1 ? static_cast<std::uint64_t>(share * 0x1p64) : ~std::uint64_t{0};
    first = deterministic_reduce(
        execution_, left.size(), std::vector<Place>{},
        [&](std::size_t begin, std::size_t end) {
          std::vector<Place> places;
          for (std::size_t u = begin; u < end; ++u) {
            if (left[u] == 0) continue;
            const auto node = static_cast<NodeId>(u);
            if (const std::uint64_t key = tie_key(node); key <= bound) places.emplace_back(key, node);
          }
          return places;
        },
        [](std::vector<Place> all, const std::vector<Place>& more) {
          all.insert(all.end(), more.begin(), more.end());
          return all;
        });
  }
  std::partial_sort(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(count), first.end());
  std::vector<NodeId> nodes(count);
  for (std::size_t i = 0; i < count; ++i) nodes[i] = first[i].second;
  return nodes;
}

}  // namespace copse
