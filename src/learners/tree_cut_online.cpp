// SPDX-License-Identifier: Apache-2.0
#include <queue>

#include "copse/learners/tree_cut.hpp"
#include "copse/support/parallel.hpp"
#include "learners/committee.hpp"
#include "learners/cut_credits.hpp"
#include "learners/heavy_paths.hpp"
#include "learners/position_set.hpp"

// A tree that keeps its meeting places (see tree_cut_batch.cpp) while labels come and go. They are found by
// neighbours in preorder and lowest common ancestors. Every unlabelled place keeps the credits that it hears
// from below; a label changes those of the places above it, up to the first labelled one or the first that
// hears nothing new. What a place hears from above is added up when it is asked for.

namespace copse {
namespace {

struct CutContext {
  std::span<const Label> labels;
  const ClassPrior& prior;
  const ResistanceScale& scale;
};

class OnlineCutTree {
 public:
  virtual ~OnlineCutTree() = default;
  /// Labels are read from here from now on: of the same nodes, and the same ones.
  virtual void read_labels(std::span<const Label> labels) = 0;
  /// Of `node`; the labels of the others are read from the context.
  virtual void change_label(NodeId node, Label old_label, Label new_label) = 0;
  virtual TreeVote vote(NodeId node) const = 0;
  /// The same with the labelled node behind it.
  virtual TreeVote explained_vote(NodeId node) const = 0;
};

/// Of a signed graph, everything is as seen from the root of the tree, but for what is asked and told.
template <class Integer>
class OnlineCut final : public OnlineCutTree {
 public:
  OnlineCut(const SpanningForest& forest, TreeParity parity, const CutContext& context, const TieOrder& ties)
      : paths_(forest),
        parity_(std::move(parity)),
        context_(context),
        ties_(ties),
        is_weighted_(forest.is_weighted()),
        depth_(forest.num_nodes()),
        places_(std::max<NodeId>(forest.num_nodes(), 1)),
        above_(forest.num_nodes()),
        credits_(forest.num_nodes()) {
    if (is_weighted_) smallest_ = Buffer<Weight>(forest.num_nodes());
    // Written now: a page that the system has to clear first would make the first labels wait, tree by tree.
    std::fill(above_.begin(), above_.end(), kNoNode);
    std::fill(smallest_.begin(), smallest_.end(), Weight{1});
    for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
      const NodeId at = paths_.position(forest.node[rank]);
      if (forest.is_root(rank)) continue;
      depth_[at] = depth_[paths_.above(at)] +
                   (is_weighted_ ? context.scale.template resistance<Integer>(forest.weight[rank]) : 1);
    }
  }

  void read_labels(std::span<const Label> labels) override { context_.labels = labels; }

  void change_label(NodeId node, Label old_told, Label new_told) override {
    const NodeId at = paths_.position(node);
    const Label old_label = seen_from_root(node, old_told), new_label = seen_from_root(node, new_told);
    if (!places_.contains(at)) add_place(at);
    const Amounts before = message(at, old_label);
    if (new_label != kNoLabel && old_label == kNoLabel)
      credits_.erase(at);
    else if (new_label == kNoLabel && old_label != kNoLabel)
      credits_.insert(at, heard_from_below(at));
    tell(above_[at], before, message(at, new_label));
    if (new_label == kNoLabel) drop_places(at);
  }

  TreeVote vote(NodeId node) const override {
    const Decision decision = decide(node);
    return {seen_from_root(node, decision.label), kNoNode, context_.scale.to_double(decision.distance)};
  }

  TreeVote explained_vote(NodeId node) const override {
    const Decision decision = decide(node);
    if (decision.place == kNoNode) return {};
    const Found found = nearest_label(decision.place, {decision.label});
    return {seen_from_root(node, decision.label), paths_.node(found.place),
            context_.scale.to_double(decision.distance + found.distance)};
  }

 private:
  using Amounts = Credits<Integer>;
  struct End {
    NodeId place = kNoNode;
    Integer distance = 0;
  };
  struct Decision {
    Label label = kNoLabel;
    NodeId place = kNoNode;
    Integer distance = 0;
  };
  using Found = Decision;

  Label seen_from_root(NodeId node, Label label) const { return turned(label, parity_.is_other_side(node)); }
  Label label(NodeId at) const { return seen_from_root(paths_.node(at), context_.labels[paths_.node(at)]); }
  /// Of labels as near, where classes tie: the more frequent class, or on a signed graph, where that says
  /// nothing, that of the smaller node.
  bool goes_first(const Found& a, const Found& b) const {
    if (parity_.is_signed()) return paths_.node(a.place) < paths_.node(b.place);
    return a.label != b.label && context_.prior.prefers(a.label, b.label);
  }
  bool is_labelled(NodeId at) const { return context_.labels[paths_.node(at)] != kNoLabel; }
  Integer climb(NodeId at, NodeId ancestor) const { return depth_[at] - depth_[ancestor]; }

  // The places.

  /// The first place of a subtree from a position on, in preorder.
  NodeId first_from(std::uint64_t begin, NodeId subtree) const {
    const auto found = places_.at_or_after(begin);
    return found && *found < paths_.end(subtree) ? *found : kNoNode;
  }
  /// The topmost place in the subtree, `at` itself included.
  NodeId first_place(NodeId at) const { return first_from(at, at); }
  /// The topmost places below a place, one after the other.
  NodeId first_below(NodeId place) const { return first_from(std::uint64_t{place} + 1, place); }
  NodeId next_below(NodeId place, NodeId previous) const { return first_from(paths_.end(previous), place); }
  int count_below(NodeId place) const {  // up to two
    const NodeId first = first_below(place);
    return first == kNoNode ? 0 : next_below(place, first) == kNoNode ? 1 : 2;
  }
  /// A topmost place that joins two branches only lies inside a hinge line.
  bool is_hinge(NodeId place) const {
    if (is_labelled(place) || above_[place] != kNoNode) return true;
    const NodeId second = next_below(place, first_below(place));
    return next_below(place, second) != kNoNode;
  }

  void link(NodeId place, NodeId above) {
    above_[place] = above;
    if (is_weighted_ && above != kNoNode) smallest_[place] = paths_.smallest_weight(place, above);
  }
  Integer link_weight(NodeId place) const {
    return is_weighted_ ? context_.scale.template conductance<Integer>(smallest_[place]) : Integer{1};
  }

  /// Where the way from a node outside all places meets the ways between them; kNoNode without a place in
  /// its tree.
  NodeId meeting_point(NodeId at) const {
    NodeId deepest = kNoNode;
    for (const auto neighbor : {places_.at_or_before(at), places_.at_or_after(at)}) {
      if (!neighbor) continue;
      const NodeId meet = paths_.common_ancestor(at, *neighbor);
      if (meet != kNoNode && (deepest == kNoNode || meet > deepest)) deepest = meet;
    }
    return deepest;
  }

  void add_place(NodeId at) {
    const NodeId meet = meeting_point(at);
    if (meet == kNoNode) {
      above_[at] = kNoNode;
    } else if (meet == at) {
      insert_above_first(at);
      return;
    } else {
      if (!places_.contains(meet)) insert_above_first(meet);
      link(at, meet);
    }
    places_.insert(at);
    credits_.insert(at, {});
  }

  /// A new place on the way from the one below it to the next above: nobody hears a difference.
  void insert_above_first(NodeId at) {
    const NodeId below = first_place(at);
    link(at, above_[below]);
    link(below, at);
    places_.insert(at);
    credits_.insert(at, message(below, label(below)));
  }

  /// Unlabelled places with fewer than two branches below are none.
  void drop_places(NodeId at) {
    while (at != kNoNode && count_below(at) < 2) {
      const NodeId above = above_[at], below = first_below(at);
      places_.erase(at);
      credits_.erase(at);
      if (below != kNoNode) {
        link(below, above);
        return;
      }
      at = above != kNoNode && !is_labelled(above) ? above : kNoNode;
    }
  }

  // The credits.

  const Amounts& from_below(NodeId place) const { return credits_[place]; }
  /// What the next place above hears.
  Amounts message(NodeId place, Label label) const {
    if (above_[place] == kNoNode) return {};
    return label != kNoLabel ? Amounts(label, link_weight(place))
                             : from_below(place).behind(link_weight(place));
  }
  Amounts heard_from_below(NodeId place) const {
    Amounts sum;
    for (NodeId below = first_below(place); below != kNoNode; below = next_below(place, below))
      sum.add(message(below, label(below)));
    return sum;
  }
  /// `place` hears `after` where it heard `before`, and so on upwards.
  void tell(NodeId place, Amounts before, Amounts after) {
    while (place != kNoNode && !is_labelled(place) && !(before == after)) {
      Amounts old_message = message(place, kNoLabel);
      Amounts& heard = credits_[place];
      heard.subtract(before);
      heard.add(after);
      before = std::move(old_message);
      after = message(place, kNoLabel);
      place = above_[place];
    }
  }

  /// All that an unlabelled place hears. The way up ends where what comes from above is certain: mostly after
  /// a few places, since branches of one class soon outweigh the edge below them, whatever comes from farther
  /// up.
  Amounts all_credits(NodeId place) const {
    std::vector<NodeId> way{place};
    std::optional<SureLead<Integer>> sure;  // of what way[since] hears from above
    std::size_t since = 0;
    Amounts sum;
    for (;;) {
      const NodeId at = way.back(), above = above_[at];
      if (above == kNoNode || is_labelled(above)) {
        sum = from_below(at);
        if (above != kNoNode) sum.add({label(above), link_weight(at)});
        break;
      }
      Amounts others = from_below(above);
      others.subtract(message(at, kNoLabel));
      if (sure) sure->extend(others.lead(sure->label()), link_weight(at));
      if (!sure || !sure->may_become_certain()) {
        since = way.size() - 1;
        sure.reset();
        if (const std::vector<Label> best = others.best(); best.size() == 1)
          sure.emplace(best[0], others.lead(best[0]), link_weight(at));
      }
      if (sure && sure->is_certain()) {
        way.resize(since + 1);
        sum = from_below(way.back());
        sum.add({sure->label(), link_weight(way.back())});
        break;
      }
      way.push_back(above);
    }
    for (std::size_t i = way.size() - 1; i-- > 0;) {
      sum.subtract(message(way[i], kNoLabel));
      Amounts heard = sum.behind(link_weight(way[i]));
      sum = from_below(way[i]);
      sum.add(heard);
    }
    return sum;
  }

  // The answers.

  std::vector<Label> best_labels(NodeId place) const {
    return is_labelled(place) ? std::vector<Label>{label(place)} : all_credits(place).best();
  }

  /// The hinges at the ends of the line of a node, or the one that connects it.
  std::pair<End, End> ends(NodeId at) const {
    Integer distance = 0;
    if (first_place(at) == kNoNode) {
      const NodeId meet = meeting_point(at);
      if (meet == kNoNode) return {};
      distance = climb(at, meet);
      at = meet;
    }
    const NodeId below = first_place(at);
    if (below != at && above_[below] != kNoNode) {  // inside a line
      const NodeId above = above_[below];
      const End down{below, distance + climb(below, at)};
      distance += climb(at, above);
      return {down, is_hinge(above) ? End{above, distance} : other_end(above, below, distance)};
    }
    distance += climb(below, at);  // at a place, or above the topmost
    if (is_hinge(below)) return {{below, distance}, {}};
    const NodeId first = first_below(below);
    return {End{first, distance + climb(first, below)}, other_end(below, first, distance)};
  }
  /// Of the line through a topmost place with two branches.
  End other_end(NodeId top, NodeId one_end, Integer distance) const {
    NodeId other = first_below(top);
    if (other == one_end) other = next_below(top, other);
    return {other, distance + climb(other, top)};
  }

  Decision decide(NodeId node) const {
    auto [near, far] = ends(paths_.position(node));
    if (near.place == kNoNode) return {};
    if (far.place != kNoNode &&
        (far.distance < near.distance ||
         (far.distance == near.distance && ties_.first(paths_.node(far.place), paths_.node(near.place)))))
      std::swap(near, far);
    const std::vector<Label> tied = best_labels(near.place);
    if (tied.size() == 1) return {tied[0], near.place, near.distance};
    if (far.place != kNoNode) {
      const std::vector<Label> best = best_labels(far.place);
      if (best.size() == 1) return {best[0], far.place, far.distance};
    }
    return {nearest_label(near.place, tied).label, near.place, near.distance};
  }

  /// The nearest label of these classes from a place, through unlabelled nodes; of several as near the
  /// one that goes_first. Best first: as many places are looked at as there are nearer ones.
  Found nearest_label(NodeId start, const std::vector<Label>& wanted) const {
    struct Step {
      Integer distance;
      NodeId place, from;
      bool operator<(const Step& other) const {  // the queue gives the largest first
        return distance != other.distance ? distance > other.distance : place > other.place;
      }
    };
    std::priority_queue<Step> queue;
    queue.push({0, start, kNoNode});
    Found best;
    while (!queue.empty()) {
      const Step step = queue.top();
      queue.pop();
      if (best.place != kNoNode && step.distance > best.distance) break;
      if (is_labelled(step.place)) {
        const Label found = label(step.place);
        if (std::binary_search(wanted.begin(), wanted.end(), found) &&
            (best.place == kNoNode || goes_first({found, step.place, step.distance}, best)))
          best = {found, step.place, step.distance};
        continue;
      }
      if (const NodeId above = above_[step.place]; above != kNoNode && above != step.from)
        queue.push({step.distance + climb(step.place, above), above, step.place});
      for (NodeId below = first_below(step.place); below != kNoNode; below = next_below(step.place, below)) {
        if (below != step.from) queue.push({step.distance + climb(below, step.place), below, step.place});
      }
    }
    return best;
  }

  HeavyPaths paths_;
  TreeParity parity_;
  CutContext context_;
  TieOrder ties_;
  bool is_weighted_;
  Buffer<Integer> depth_;  // resistance from the root
  PositionSet places_;
  Buffer<NodeId> above_;          // of a place: the next one on the way to the root
  Buffer<Weight> smallest_;       // weight on that way
  PositionMap<Amounts> credits_;  // of unlabelled places, from below
};

std::unique_ptr<OnlineCutTree> make_cut_tree(const SpanningForest& forest, TreeParity&& parity,
                                             const CutContext& context, std::uint64_t seed,
                                             std::size_t tree) {
  const TieOrder ties(seed, tree);
  if (context.scale.wide)
    return std::make_unique<OnlineCut<Uint128>>(forest, std::move(parity), context, ties);
  return std::make_unique<OnlineCut<std::uint64_t>>(forest, std::move(parity), context, ties);
}

}  // namespace

struct TreeCut::State {
  std::vector<std::unique_ptr<OnlineCutTree>> trees;

  template <TreeVote (OnlineCutTree::*Ask)(NodeId) const>
  auto votes_for(NodeId node) const {
    return [this, node](auto&& body) {
      for (const auto& tree : trees) {
        const TreeVote vote = (*tree.*Ask)(node);
        if (vote.label != kNoLabel) body(vote);
      }
    };
  }
};

TreeCut::TreeCut(const GraphView& graph, const Options& options, const Execution& execution)
    : TreeCommittee(graph, options, execution), state_(new State) {
  state_->trees.resize(static_cast<std::size_t>(options.num_trees));
  draw_trees();
  state_->trees.resize(num_voters());
}

TreeCut::~TreeCut() = default;

void TreeCut::plant(std::size_t tree, SpanningForest&& forest, TreeParity&& parity) {
  state_->trees[tree] = make_cut_tree(forest, std::move(parity), {labels(), prior(), scale()}, seed(), tree);
}

void TreeCut::tell_all(std::size_t tree, std::span<const Label> told) {
  std::vector<Label> known(told.size(), kNoLabel);
  state_->trees[tree]->read_labels(known);
  for (NodeId node = 0; node < told.size(); ++node) {
    if (told[node] == kNoLabel) continue;
    state_->trees[tree]->change_label(node, kNoLabel, told[node]);
    known[node] = told[node];
  }
  state_->trees[tree]->read_labels(told);
}

LeaveOneOut TreeCut::leave_out(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                               const Options& options, const Execution& execution) {
  const TreeSampler sampler(graph, options.tree, execution);
  const ResistanceScale scale = ResistanceScale::of(graph, options.weighted, execution.threads);
  std::vector<NodeId> labelled;
  for (NodeId node = 0; node < labels.size(); ++node)
    if (labels[node] != kNoLabel) labelled.push_back(node);
  std::vector<std::vector<Label>> votes(sampler.num_trees(options.num_trees));  // of a tree, as `labelled`
  parallel_for(execution, votes.size(), [&](std::size_t tree) {
    std::vector<Label> known(labels.size(), kNoLabel);
    ClassPrior prior;
    prior.expect(num_classes);
    SpanningForest forest = sampler.tree(tree);
    TreeParity parity(graph, forest);
    if (!options.weighted) forest.weight = {};
    execution.throw_if_cancelled();
    const auto cut = make_cut_tree(forest, std::move(parity), {known, prior, scale}, execution.seed, tree);
    const auto tell = [&](NodeId node, Label label) {
      cut->change_label(node, known[node], label);
      if (label == kNoLabel)
        prior.remove(known[node]);
      else
        prior.add(label);
      known[node] = label;
    };
    for (const NodeId node : labelled) tell(node, labels[node]);
    for (const NodeId node : labelled) {
      tell(node, kNoLabel);
      votes[tree].push_back(cut->vote(node).label);
      tell(node, labels[node]);
    }
  });
  LeaveOneOut result;
  std::vector<double> scores(num_classes);
  for (std::size_t i = 0; i < labelled.size(); ++i) {
    Tally tally(num_classes);
    for (const std::vector<Label>& tree : votes)
      if (tree[i] != kNoLabel) tally.add(tree[i]);
    if (tally.total() == 0) continue;
    tally.scores({}, scores);
    result.nodes.push_back(labelled[i]);
    result.raw_scores.insert(result.raw_scores.end(), scores.begin(), scores.end());
  }
  return result;
}

std::optional<LeaveOneOut> TreeCut::leave_one_out(const Execution& execution) const {
  Execution own = execution;
  own.seed = seed();
  return leave_out(current_graph(), labels(), num_classes(), options(), own);
}

Prediction TreeCut::choose(NodeId node) const {
  refresh();
  return predict_by_votes(prior(), state_->votes_for<&OnlineCutTree::vote>(node));
}

double TreeCut::weigh(NodeId node, std::span<double> weights) const {
  refresh();
  return weigh_by_votes(weights, state_->votes_for<&OnlineCutTree::vote>(node));
}

void TreeCut::tell(std::size_t tree, NodeId node, Label label) {
  state_->trees[tree]->change_label(node, labels()[node], label);
}

std::vector<Reason> TreeCut::reasons(NodeId node) const {
  refresh();
  return explain_by_votes(num_voters(), labels(), state_->votes_for<&OnlineCutTree::explained_vote>(node));
}

}  // namespace copse
