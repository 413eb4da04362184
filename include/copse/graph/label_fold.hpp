// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "copse/graph/types.hpp"

namespace copse {

/// Something that a person told about a node, as a log keeps it: nothing is ever deleted, and what is taken
/// back is told by a later event.
struct LabelEvent {
  enum class Kind : std::uint8_t { label, retract, skip, note };

  std::uint64_t seq = 0;  // rises along the log, from 1
  Kind kind = Kind::label;
  std::uint32_t who = 0;  // the person, counted from 0
  NodeId node = kNoNode;
  Label label = kNoLabel;      // of a label
  bool for_everybody = false;  // of a skip: nobody can tell this node's label
  std::uint64_t target = 0;    // of a retract: the event that is taken back; 0: all labels of the node
};

/// Which of several persons' labels counts: the latest one; that of most persons (the latest of equals); or
/// the adjudicator's, and before that one speaks the label on which all agree.
enum class Resolve { latest, majority, adjudicated };

/// The labels that follow from a log of events: the same log gives the same labels, whoever reads it. A
/// person's label of a node is the last one that this person told and nobody took back, so that taking back
/// a correction restores what it corrected.
class LabelFold {
 public:
  struct Told {
    std::uint64_t seq;
    std::uint32_t who;
    Label label;
  };
  struct Change {
    Label before, after;  // of the event's node; kNoLabel is none
  };

  static constexpr std::uint32_t kAdjudicator = 0;  // the person, under Resolve::adjudicated

  explicit LabelFold(Resolve resolve = Resolve::latest) : resolve_(resolve) {}

  Change apply(const LabelEvent& event);
  /// The label that the event's node would have after apply(event).
  Label label_after(const LabelEvent& event) const;

  /// The label that counts, kNoLabel if there is none.
  Label label(NodeId node) const;
  /// Who told the label that counts, and when; nothing where there is none.
  std::optional<Told> standing(NodeId node) const;
  /// One entry per person with a label for this node, in the order in which they were told.
  std::vector<Told> by_person(NodeId node) const;
  /// The last event that told or took back a label of this node; 0 if there is none.
  std::uint64_t version(NodeId node) const;
  /// The last label or skip of a person that still stands: what undo takes back.
  std::optional<LabelEvent> last_of(std::uint32_t who) const;

  bool is_skipped(NodeId node, std::uint32_t who) const;  // by this person, or because nobody can tell
  bool is_excluded(NodeId node) const { return excluded_.contains(node); }
  std::uint64_t num_skips(std::uint32_t who) const;
  std::uint64_t num_labelled() const { return num_labelled_; }
  /// Nodes whose label is this one.
  std::uint64_t num_labelled(Label label) const { return label < counts_.size() ? counts_[label] : 0; }

  /// Nodes that two or more persons labelled.
  const std::set<NodeId>& shared_nodes() const { return shared_; }
  /// Whether two persons gave this node different labels and no adjudicator has spoken.
  bool is_disputed(NodeId node) const;

 private:
  struct Node {
    std::vector<Told> told;  // what stands, ascending by seq; several per person where labels were corrected
    std::uint64_t version = 0;
  };
  struct Person {
    std::vector<LabelEvent> own;                      // labels and skips, some taken back since
    std::unordered_map<NodeId, std::uint64_t> skips;  // node -> event
  };
  static void tell(Node& node, const LabelEvent& event);
  static std::vector<Told> latest_of(const std::vector<Told>& told);
  void count(Label label, std::uint64_t change);
  std::optional<Told> resolve(const Node& node) const;
  bool still_stands(const LabelEvent& event) const;
  void apply_skip(const LabelEvent& event);
  void take_back_skip(const LabelEvent& event);
  Person& person(std::uint32_t who);

  Resolve resolve_;
  std::unordered_map<NodeId, Node> nodes_;
  std::unordered_map<NodeId, std::uint64_t> excluded_;  // node -> event
  std::vector<Person> persons_;
  std::set<NodeId> shared_;
  std::vector<std::uint64_t> counts_;  // by label
  std::uint64_t num_labelled_ = 0;
};

/// Fleiss' kappa over the nodes that two or more persons labelled, with any number of persons per node: 1 if
/// they always agree, 0 if as often as by chance. Nothing where there is no such node or only one class.
std::optional<double> agreement(const LabelFold& fold);

}  // namespace copse
