// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/wta.hpp"
#include "copse/trees/line.hpp"
#include "learners/committee.hpp"
#include "learners/position_set.hpp"

namespace copse {
namespace {

/// A line that answers "which revealed node is nearest?" while labels come and go: the nearest on either
/// side from a PositionSet, distances as differences of exact prefix sums.
class OnlineLine {
 public:
  OnlineLine(Line line, TreeParity parity, const ResistanceScale& scale)
      : ties_go_left_(line.ties_go_left),
        parity_(std::move(parity)),
        node_at_(std::move(line.node)),
        position_(node_at_.size()),
        revealed_(node_at_.size()) {
    const NodeId n = static_cast<NodeId>(node_at_.size());
    for (NodeId i = 0; i < n; ++i) position_[node_at_[i]] = i;
    if (line.weight.empty()) return;
    if (scale.wide)
      fill(prefix128_, line.weight, scale);
    else
      fill(prefix64_, line.weight, scale);
  }

  void insert(NodeId node) { revealed_.insert(position_[node]); }
  void erase(NodeId node) { revealed_.erase(position_[node]); }
  /// Whether the way between two nodes of a tree leads to the other class.
  bool differ(NodeId a, NodeId b) const { return parity_.is_other_side(a) != parity_.is_other_side(b); }

  /// Asks the memory for what a question about `node` will read: first its position, then, once that is
  /// there, what lies at it. Trees are asked one after the other, and each would wait by itself.
  void fetch_position(NodeId node) const { __builtin_prefetch(&position_[node]); }
  void fetch_place(NodeId node) const {
    const NodeId here = position_[node];
    revealed_.fetch(here);
    if (!prefix64_.empty()) __builtin_prefetch(&prefix64_[here]);
  }

  struct Nearest {
    NodeId node = kNoNode;
    double resistance = 0;
  };
  /// The nearest other revealed node on the node's tree. `tree_starts` are the positions where trees begin,
  /// the same on every line of a graph.
  Nearest nearest(NodeId node, const PositionSet& tree_starts, const ResistanceScale& scale) const {
    const NodeId here = position_[node];
    const NodeId begin = *tree_starts.at_or_before(here);
    const NodeId end =
        tree_starts.at_or_after(std::uint64_t{here} + 1).value_or(static_cast<NodeId>(node_at_.size()));
    std::optional<NodeId> left, right = revealed_.at_or_after(std::uint64_t{here} + 1);
    if (here > 0) left = revealed_.at_or_before(here - 1);
    if (left && *left < begin) left.reset();
    if (right && *right >= end) right.reset();
    if (!prefix128_.empty()) return nearer(prefix128_, here, left, right, scale);
    if (!prefix64_.empty()) return nearer(prefix64_, here, left, right, scale);
    return nearer(Positions{}, here, left, right, scale);
  }

 private:
  struct Positions {  // without weights a position is its own prefix sum
    std::uint64_t operator[](NodeId position) const { return position; }
  };

  template <class Integer>
  static void fill(Buffer<Integer>& prefix, const Buffer<Weight>& weight, const ResistanceScale& scale) {
    prefix = Buffer<Integer>(weight.size());
    Integer sum = 0;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      if (weight[i] != 0) sum += scale.resistance<Integer>(weight[i]);
      prefix[i] = sum;
    }
  }

  template <class Prefix>
  Nearest nearer(const Prefix& prefix, NodeId here, std::optional<NodeId> left, std::optional<NodeId> right,
                 const ResistanceScale& scale) const {
    if (!left && !right) return {};
    const auto to_left = left ? prefix[here] - prefix[*left] : 0,
               to_right = right ? prefix[*right] - prefix[here] : 0;
    return left && (!right || to_left < to_right || (to_left == to_right && ties_go_left_))
               ? Nearest{node_at_[*left], scale.to_double(to_left)}
               : Nearest{node_at_[*right], scale.to_double(to_right)};
  }

  bool ties_go_left_;
  TreeParity parity_;
  Buffer<NodeId> node_at_, position_;
  Buffer<std::uint64_t> prefix64_;
  Buffer<Uint128> prefix128_;
  PositionSet revealed_;
};

}  // namespace

struct Wta::State {
  const ResistanceScale& scale;
  PositionSet tree_starts;
  std::vector<std::optional<OnlineLine>> lines;

  auto votes_for(NodeId node, std::span<const Label> labels) const {
    return [this, node, labels](auto&& body) {
      for (const auto& line : lines) line->fetch_position(node);
      for (const auto& line : lines) line->fetch_place(node);
      for (const auto& line : lines) {
        const OnlineLine::Nearest nearest = line->nearest(node, tree_starts, scale);
        if (nearest.node == kNoNode) continue;
        const Label label = turned(labels[nearest.node], line->differ(node, nearest.node));
        body(TreeVote{label, nearest.node, nearest.resistance});
      }
    };
  }
};

Wta::Wta(const GraphView& graph, const Options& options, const Execution& execution)
    : TreeCommittee(graph, options, execution),
      state_(new State{scale(), PositionSet(graph.num_nodes()), {}}) {
  state_->lines.resize(static_cast<std::size_t>(options.num_trees));
  draw_trees();
  state_->lines.resize(num_voters());
}

Wta::~Wta() = default;

void Wta::plant(std::size_t tree, SpanningForest&& forest, TreeParity&& parity) {
  Line line = random_line(std::move(forest), seed(), tree);
  if (tree == 0) {
    state_->tree_starts = PositionSet(line.num_nodes());
    for (const NodeId start : line.starts) state_->tree_starts.insert(start);
  }
  state_->lines[tree].emplace(std::move(line), std::move(parity), state_->scale);
}

void Wta::tell_all(std::size_t tree, std::span<const Label> labels) {
  for (NodeId node = 0; node < labels.size(); ++node)
    if (labels[node] != kNoLabel) state_->lines[tree]->insert(node);
}

void Wta::tell(std::size_t tree, NodeId node, Label label) {
  if (!has_label(node))
    state_->lines[tree]->insert(node);
  else if (label == kNoLabel)
    state_->lines[tree]->erase(node);
}

Prediction Wta::choose(NodeId node) const {
  refresh();
  return predict_by_votes(prior(), state_->votes_for(node, labels()));
}

double Wta::weigh(NodeId node, std::span<double> weights) const {
  refresh();
  return weigh_by_votes(weights, state_->votes_for(node, labels()));
}

std::vector<Reason> Wta::reasons(NodeId node) const {
  refresh();
  return explain_by_votes(num_voters(), labels(), state_->votes_for(node, labels()));
}

std::uint64_t Wta::online_bytes(const ProblemSize& size, const Options& options) {
  // A line both ways (node at a position, position of a node), prefix sums of 64 bits, a bit for the
  // labelled.
  const std::uint64_t a_line = size.weighted && options.weighted ? 16 : 8;
  const auto trees = static_cast<std::uint64_t>(options.num_trees);
  return size.num_nodes * a_line * trees + size.num_nodes * trees / 8 + bytes(size, options);
}

}  // namespace copse
