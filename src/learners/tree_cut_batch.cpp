// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/tree_cut.hpp"
#include "learners/committee.hpp"
#include "learners/cut_credits.hpp"

// One tree's votes in O(n): everything is passes over the forest by rank, parents first or children first.
//
// Branches with labels meet at the labelled nodes and at the nodes with two or more labelled branches below:
// the *meeting places*, closed under lowest common ancestors. Between two that follow each other the tree is
// a path, on which only its smallest weight and its length matter. A meeting place that is labelled or joins
// at least three labelled branches is a *hinge* of Shazoo; the only other kind is a topmost place with two
// branches, which lies inside a hinge line.

namespace copse {
namespace {

/// Resistance to the nearest label of each class, through unlabelled nodes; by ascending class. Of several as
/// near the smallest node is remembered.
template <class Integer>
class NearestLabels {
 public:
  NearestLabels() = default;
  NearestLabels(Label label, NodeId node) : entries_{{label, 0, node}} {}
  NearestLabels farther_by(Integer distance) const {
    NearestLabels result = *this;
    for (Entry& entry : result.entries_) entry.distance += distance;
    return result;
  }
  void add(const NearestLabels& other) {
    for (const Entry& news : other.entries_) {
      const auto at = std::lower_bound(entries_.begin(), entries_.end(), news.label,
                                       [](const Entry& entry, Label l) { return entry.label < l; });
      if (at == entries_.end() || at->label != news.label)
        entries_.insert(at, news);
      else if (news.distance < at->distance || (news.distance == at->distance && news.node < at->node))
        *at = news;
    }
  }
  /// The nearest of `labels`; of two as near the one the prior prefers, or without a prior the one of the
  /// smaller node: which class is more frequent says nothing where sides are turned.
  Label nearest_of(const std::vector<Label>& labels, const ClassPrior* prior) const {
    const Entry* best = nullptr;
    for (const Entry& entry : entries_) {
      if (!std::binary_search(labels.begin(), labels.end(), entry.label)) continue;
      if (best == nullptr || entry.distance < best->distance ||
          (entry.distance == best->distance &&
           (prior != nullptr ? prior->prefers(entry.label, best->label) : entry.node < best->node)))
        best = &entry;
    }
    return best == nullptr ? kNoLabel : best->label;
  }

 private:
  struct Entry {
    Label label;
    Integer distance;
    NodeId node;
  };
  std::vector<Entry> entries_;
};

/// Of a signed graph, everything is as seen from the root of the tree, but for the votes.
template <class Integer>
class BatchCut {
 public:
  BatchCut(const SpanningForest& forest, const Ballot& ballot, const TieOrder& ties)
      : forest_(forest), ballot_(ballot), ties_(ties), branches_(n()), outside_(n()), link_(n()) {}

  Buffer<copse::Vote> vote() {
    for (const auto step : {&BatchCut::find_branches, &BatchCut::link_places, &BatchCut::sum_up,
                            &BatchCut::sum_down, &BatchCut::resolve_ties, &BatchCut::cast}) {
      ballot_.execution.throw_if_cancelled();
      (this->*step)();
    }
    return std::move(votes_);
  }

 private:
  /// A meeting place's way to the next one above it; for a node between two of them, to the one below.
  struct Link {
    NodeId place = kNoNode;
    Weight smallest = std::numeric_limits<Weight>::infinity();
    Integer length = 0;
  };
  /// What is known of an unlabelled meeting place.
  struct Place {
    Credits<Integer> credits;
    NearestLabels<Integer> near;
    NodeId below[2] = {kNoNode, kNoNode};  // two of the places below it
    Label label = kNoLabel;                // of the minimum cut; kNoLabel while classes tie
    Label resolved = kNoLabel;             // the same, ties broken
  };
  struct End {  // of a hinge line, seen from a node
    NodeId place;
    Integer distance;
  };
  struct Vote {
    Label label = kNoLabel;
    Integer distance = 0;
  };

  NodeId n() const { return forest_.num_nodes(); }
  Label seen_from_root(NodeId rank, Label label) const {
    return turned(label, ballot_.parity.is_other_side(forest_.node[rank]));
  }
  Label label(NodeId rank) const { return seen_from_root(rank, ballot_.labels[forest_.node[rank]]); }
  bool is_labelled(NodeId rank) const { return ballot_.labels[forest_.node[rank]] != kNoLabel; }
  bool has_label_below(NodeId rank) const { return branches_[rank] > 0 || is_labelled(rank); }
  bool is_place(NodeId rank) const { return branches_[rank] >= 2 || is_labelled(rank); }
  bool is_hinge(NodeId rank) const { return is_labelled(rank) || branches_[rank] + outside_[rank] >= 3; }
  Place& place(NodeId rank) { return places_[slot_[rank]]; }
  Integer conductance(Weight weight) const {
    return forest_.is_weighted() ? ballot_.scale.template conductance<Integer>(weight) : Integer{1};
  }
  Integer resistance(NodeId rank) const {
    return forest_.is_weighted() ? ballot_.scale.template resistance<Integer>(forest_.weight[rank])
                                 : Integer{1};
  }

  /// Labelled branches below every node (three count as all), and whether there is a label elsewhere.
  void find_branches() {
    for (NodeId rank = n(); rank-- > 0;) {
      const NodeId parent = forest_.parent[rank];
      if (parent != rank && has_label_below(rank) && branches_[parent] < 3) ++branches_[parent];
    }
    for (NodeId rank = 0; rank < n(); ++rank) {
      const NodeId parent = forest_.parent[rank];
      if (parent == rank) continue;
      outside_[rank] = outside_[parent] != 0 || is_labelled(parent) ||
                       branches_[parent] > static_cast<int>(has_label_below(rank));
    }
  }

  void link_places() {
    slot_ = Buffer<NodeId>(n());
    NodeId num_places = 0;
    for (NodeId rank = 0; rank < n(); ++rank) {
      link_[rank] = {};  // a buffer comes zeroed
      if (is_place(rank) && !is_labelled(rank)) slot_[rank] = num_places++;
    }
    places_.resize(num_places);
    for (NodeId rank = n(); rank-- > 0;) {
      const NodeId parent = forest_.parent[rank];
      if (!has_label_below(rank) || parent == rank) continue;
      Link way = is_place(rank) ? Link{rank} : link_[rank];
      way.smallest = std::min(way.smallest, forest_.edge_weight(rank));
      way.length += resistance(rank);
      if (!is_place(parent)) {
        link_[parent] = way;
        continue;
      }
      link_[way.place] = {parent, way.smallest, way.length};
      if (is_labelled(parent)) continue;
      auto& below = place(parent).below;
      below[below[0] == kNoNode ? 0 : 1] = way.place;
    }
  }

  Credits<Integer> message_up(NodeId rank) {
    const Integer weight = conductance(link_[rank].smallest);
    return is_labelled(rank) ? Credits<Integer>(label(rank), weight) : place(rank).credits.behind(weight);
  }

  /// Every place hears from those below it.
  void sum_up() {
    for (NodeId rank = n(); rank-- > 0;) {
      if (!is_place(rank)) continue;
      const NodeId above = link_[rank].place;
      if (above != kNoNode && !is_labelled(above)) place(above).credits.add(message_up(rank));
    }
  }

  /// And from the one above it, which has heard from all others.
  void sum_down() {
    for (NodeId rank = 0; rank < n(); ++rank) {
      if (!is_place(rank) || is_labelled(rank)) continue;
      Place& here = place(rank);
      if (const NodeId above = link_[rank].place; above != kNoNode) {
        const Integer weight = conductance(link_[rank].smallest);
        if (is_labelled(above)) {
          here.credits.add({label(above), weight});
        } else {
          Credits<Integer> others = place(above).credits;
          others.subtract(message_up(rank));
          here.credits.add(others.behind(weight));
        }
      }
      const std::vector<Label> best = here.credits.best();
      if (best.size() == 1)
        here.label = here.resolved = best[0];
      else
        has_ties_ = true;
    }
  }

  /// Where cuts tie, the class among the tied ones whose label is nearest. The way to a place and back is
  /// longer than not to go there, so that what a place hears from above may contain its own news.
  void resolve_ties() {
    if (!has_ties_) return;
    for (NodeId rank = n(); rank-- > 0;) {
      const NodeId above = link_[rank].place;
      if (!is_place(rank) || above == kNoNode || is_labelled(above)) continue;
      const auto near =
          is_labelled(rank) ? NearestLabels<Integer>(label(rank), forest_.node[rank]) : place(rank).near;
      place(above).near.add(near.farther_by(link_[rank].length));
    }
    for (NodeId rank = 0; rank < n(); ++rank) {
      if (!is_place(rank) || is_labelled(rank)) continue;
      Place& here = place(rank);
      if (const NodeId above = link_[rank].place; above != kNoNode) {
        const auto near = is_labelled(above) ? NearestLabels<Integer>(label(above), forest_.node[above])
                                             : place(above).near;
        here.near.add(near.farther_by(link_[rank].length));
      }
      if (here.label == kNoLabel)
        here.resolved =
            here.near.nearest_of(here.credits.best(), ballot_.parity.is_signed() ? nullptr : &ballot_.prior);
    }
  }

  Label decided(NodeId rank) { return is_labelled(rank) ? label(rank) : place(rank).label; }
  Label resolved(NodeId rank) { return is_labelled(rank) ? label(rank) : place(rank).resolved; }

  /// The nearer end whose class is decided; if neither is, the nearer one with its tie broken.
  Vote vote_between(End a, End b) {
    if (b.distance < a.distance ||
        (b.distance == a.distance && ties_.first(forest_.node[b.place], forest_.node[a.place])))
      std::swap(a, b);
    if (decided(a.place) != kNoLabel) return {decided(a.place), a.distance};
    if (decided(b.place) != kNoLabel) return {decided(b.place), b.distance};
    return {resolved(a.place), a.distance};
  }

  Vote vote_of_place(NodeId rank) {
    if (is_hinge(rank)) return {resolved(rank), 0};
    const auto& below = place(rank).below;
    return vote_between({below[0], link_[below[0]].length}, {below[1], link_[below[1]].length});
  }

  /// Of a node with a labelled branch below and another above: it is on a hinge line.
  Vote vote_of_line(NodeId rank) {
    const Link& down = link_[rank];
    const Link& line = link_[down.place];
    End up{line.place, line.length - down.length};
    if (!is_hinge(up.place)) {  // the topmost place lies inside the line: go on to its other end
      const auto& below = place(up.place).below;
      const NodeId other = below[below[0] == down.place ? 1 : 0];
      up = {other, up.distance + link_[other].length};
    }
    return vote_between({down.place, down.length}, up);
  }

  void cast() {
    Buffer<Label> labels(n());
    Buffer<Integer> distances(n());
    votes_ = Buffer<copse::Vote>(ballot_.labels.size());
    for (NodeId rank = 0; rank < n(); ++rank) {
      if (is_labelled(rank)) {
        labels[rank] = label(rank);
        continue;
      }
      Vote vote;
      if (is_place(rank)) {
        vote = vote_of_place(rank);
      } else if (has_label_below(rank)) {
        if (outside_[rank] != 0) {
          vote = vote_of_line(rank);
        } else {  // above everything: the topmost place connects it
          vote = vote_of_place(link_[rank].place);
          vote.distance += link_[rank].length;
        }
      } else if (outside_[rank] != 0) {  // its parent connects it
        const NodeId parent = forest_.parent[rank];
        vote = {labels[parent], distances[parent] + resistance(rank)};
      } else {
        continue;  // no label in this tree
      }
      labels[rank] = vote.label;
      distances[rank] = vote.distance;
      const double distance = ballot_.scale.to_double(vote.distance);
      votes_[forest_.node[rank]] = vote_of(distance, seen_from_root(rank, vote.label));
    }
  }

  const SpanningForest& forest_;
  const Ballot& ballot_;
  TieOrder ties_;
  Buffer<std::uint8_t> branches_, outside_;
  Buffer<Link> link_;
  Buffer<NodeId> slot_;  // in places_, of unlabelled places
  std::vector<Place> places_;
  bool has_ties_ = false;
  Buffer<copse::Vote> votes_;  // by node
};

/// The answers of a committee, and how to have those for labels left out.
class CutAnswers final : public Predictor {
 public:
  using LeaveOut = std::function<LeaveOneOut(const Execution&)>;
  CutAnswers(std::unique_ptr<Predictor> committee, LeaveOut leave_out)
      : committee_(std::move(committee)), leave_out_(std::move(leave_out)) {}
  Prediction predict(NodeId node) const override { return committee_->predict(node); }
  void scores(NodeId node, std::span<double> scores) const override { committee_->scores(node, scores); }
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override {
    return leave_out_(execution);
  }
  std::size_t num_classes() const override { return committee_->num_classes(); }

 private:
  std::unique_ptr<Predictor> committee_;
  LeaveOut leave_out_;
};

}  // namespace

Buffer<Vote> vote_by_cut(SpanningForest&& forest, const Ballot& ballot) {
  const TieOrder ties(ballot.execution.seed, ballot.tree);
  if (ballot.scale.wide) return BatchCut<Uint128>(forest, ballot, ties).vote();
  return BatchCut<std::uint64_t>(forest, ballot, ties).vote();
}

BatchResult TreeCut::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution) {
  BatchResult result =
      fit_committee(graph, labels, num_classes, options, execution, "docs/learners/tree_cut.md", vote_by_cut);
  result.predictor = std::make_unique<CutAnswers>(
      std::move(result.predictor), [graph, given = std::vector<Label>(labels.begin(), labels.end()),
                                    num_classes, options, seed = execution.seed](Execution own) {
        own.seed = seed;
        return leave_out(graph, given, num_classes, options, own);
      });
  return result;
}

std::uint64_t TreeCut::bytes(const ProblemSize& size, const Options& options) {
  // A tree at its peak: forest, flags, links and slots, votes; and, should every tenth node be an unlabelled
  // place with a few classes (the number depends on the labels, not known here), 20 bytes per node for those.
  const std::uint64_t forest = size.weighted ? 12 : 8;
  return committee_bytes(size, options, forest + 2 + 16 + 4 + 10 + 4 + 20) + size.num_nodes * sizeof(Label);
}

}  // namespace copse
