// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/label_fold.hpp"

#include <algorithm>
#include <map>

namespace copse {

LabelFold::Person& LabelFold::person(std::uint32_t who) {
  if (who >= persons_.size()) persons_.resize(std::size_t{who} + 1);
  return persons_[who];
}

void LabelFold::tell(Node& node, const LabelEvent& event) {
  node.version = event.seq;
  if (event.kind == LabelEvent::Kind::label)
    node.told.push_back({event.seq, event.who, event.label});
  else if (event.target == 0)
    node.told.clear();
  else
    std::erase_if(node.told, [&](const Told& told) { return told.seq == event.target; });
}

std::optional<LabelFold::Told> LabelFold::resolve(const Node& node) const {
  if (node.told.empty()) return std::nullopt;
  if (resolve_ == Resolve::latest) return node.told.back();
  std::map<std::uint32_t, Told> latest;  // by person
  for (const Told& told : node.told) latest.insert_or_assign(told.who, told);
  std::map<Label, std::size_t> votes;
  for (const auto& [who, told] : latest) ++votes[told.label];
  Told best = latest.begin()->second;
  for (const auto& [who, told] : latest)
    if (std::pair(votes[told.label], told.seq) > std::pair(votes[best.label], best.seq)) best = told;
  return best;
}

LabelFold::Change LabelFold::apply(const LabelEvent& event) {
  using Kind = LabelEvent::Kind;
  const Label before = label(event.node);
  if (event.kind == Kind::skip) apply_skip(event);
  if (event.kind == Kind::retract) take_back_skip(event);
  if (event.kind != Kind::label && event.kind != Kind::retract) return {before, before};
  tell(nodes_[event.node], event);
  if (event.kind == Kind::label) person(event.who).own.push_back(event);
  const Label after = label(event.node);
  num_labelled_ += (after != kNoLabel ? 1 : 0);
  num_labelled_ -= (before != kNoLabel ? 1 : 0);
  return {before, after};
}

Label LabelFold::label_after(const LabelEvent& event) const {
  const auto found = nodes_.find(event.node);
  Node node = found == nodes_.end() ? Node{} : found->second;
  if (event.kind == LabelEvent::Kind::label || event.kind == LabelEvent::Kind::retract) tell(node, event);
  const std::optional<Told> told = resolve(node);
  return told ? told->label : kNoLabel;
}

void LabelFold::apply_skip(const LabelEvent& event) {
  Person& one = person(event.who);
  one.own.push_back(event);
  one.skips[event.node] = event.seq;
  if (event.for_everybody) excluded_[event.node] = event.seq;
}

void LabelFold::take_back_skip(const LabelEvent& event) {
  if (event.target == 0) return;
  const auto is_target = [&](const auto& skip) { return skip.second == event.target; };
  for (Person& one : persons_) {
    const auto found = one.skips.find(event.node);
    if (found != one.skips.end() && is_target(*found)) one.skips.erase(found);
  }
  const auto found = excluded_.find(event.node);
  if (found != excluded_.end() && is_target(*found)) excluded_.erase(found);
}

std::optional<LabelFold::Told> LabelFold::standing(NodeId node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::nullopt : resolve(found->second);
}

Label LabelFold::label(NodeId node) const {
  const std::optional<Told> told = standing(node);
  return told ? told->label : kNoLabel;
}

std::vector<LabelFold::Told> LabelFold::by_person(NodeId node) const {
  std::vector<Told> latest;
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return latest;
  for (const Told& told : found->second.told) {
    std::erase_if(latest, [&](const Told& other) { return other.who == told.who; });
    latest.push_back(told);
  }
  return latest;
}

std::uint64_t LabelFold::version(NodeId node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? 0 : found->second.version;
}

bool LabelFold::still_stands(const LabelEvent& event) const {
  if (event.kind == LabelEvent::Kind::skip) {
    const auto& skips = persons_[event.who].skips;
    const auto found = skips.find(event.node);
    return found != skips.end() && found->second == event.seq;
  }
  const auto found = nodes_.find(event.node);
  return found != nodes_.end() &&
         std::ranges::any_of(found->second.told, [&](const Told& told) { return told.seq == event.seq; });
}

std::optional<LabelEvent> LabelFold::last_of(std::uint32_t who) const {
  if (who >= persons_.size()) return std::nullopt;
  const std::vector<LabelEvent>& own = persons_[who].own;
  for (auto event = own.rbegin(); event != own.rend(); ++event)
    if (still_stands(*event)) return *event;
  return std::nullopt;
}

bool LabelFold::is_skipped(NodeId node, std::uint32_t who) const {
  return is_excluded(node) || (who < persons_.size() && persons_[who].skips.contains(node));
}

std::uint64_t LabelFold::num_skips(std::uint32_t who) const {
  return who < persons_.size() ? persons_[who].skips.size() : 0;
}

std::vector<NodeId> LabelFold::shared_nodes() const {
  std::vector<NodeId> shared;
  for (const auto& [id, node] : nodes_) {
    const auto& told = node.told;
    if (std::ranges::any_of(told, [&told](const Told& one) { return one.who != told[0].who; }))
      shared.push_back(id);
  }
  std::ranges::sort(shared);
  return shared;
}

std::vector<NodeId> LabelFold::labelled_nodes() const {
  std::vector<NodeId> labelled;
  for (const auto& [id, node] : nodes_)
    if (!node.told.empty()) labelled.push_back(id);
  std::ranges::sort(labelled);
  return labelled;
}

std::optional<double> agreement(const LabelFold& fold) {
  std::map<Label, double> total_of_class;
  double sum_of_agreement = 0, num_labels = 0;
  const std::vector<NodeId> shared = fold.shared_nodes();
  for (const NodeId node : shared) {
    std::map<Label, double> count;
    double persons = 0;
    for (const LabelFold::Told& told : fold.by_person(node)) {
      ++count[told.label];
      ++persons;
    }
    double pairs = 0;
    for (const auto& [label, number] : count) {
      pairs += number * (number - 1);
      total_of_class[label] += number;
    }
    sum_of_agreement += pairs / (persons * (persons - 1));
    num_labels += persons;
  }
  if (shared.empty() || total_of_class.size() < 2) return std::nullopt;
  double by_chance = 0;
  for (const auto& [label, total] : total_of_class) by_chance += (total / num_labels) * (total / num_labels);
  const double observed = sum_of_agreement / static_cast<double>(shared.size());
  return (observed - by_chance) / (1 - by_chance);
}

}  // namespace copse
