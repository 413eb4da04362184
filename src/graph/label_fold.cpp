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

std::vector<LabelFold::Told> LabelFold::latest_of(const std::vector<Told>& told) {
  std::vector<Told> latest;
  for (const Told& one : told) {
    std::erase_if(latest, [&](const Told& other) { return other.who == one.who; });
    latest.push_back(one);
  }
  return latest;
}

namespace {

bool all_agree(const std::vector<LabelFold::Told>& told) {
  return std::ranges::all_of(told, [&](const auto& one) { return one.label == told[0].label; });
}

/// The last of those for whose label most spoke.
LabelFold::Told majority_of(const std::vector<LabelFold::Told>& told) {
  const auto votes = [&](const LabelFold::Told& one) {
    return std::ranges::count(told, one.label, &LabelFold::Told::label);
  };
  return *std::ranges::max_element(told, {}, [&](const auto& one) { return std::pair(votes(one), one.seq); });
}

auto of_adjudicator(const std::vector<LabelFold::Told>& told) {
  return std::ranges::find(told, LabelFold::kAdjudicator, &LabelFold::Told::who);
}

}  // namespace

std::optional<LabelFold::Told> LabelFold::resolve(const Node& node) const {
  if (node.told.empty()) return std::nullopt;
  if (resolve_ == Resolve::latest) return node.told.back();
  const std::vector<Told> latest = latest_of(node.told);
  if (resolve_ == Resolve::majority) return majority_of(latest);
  if (const auto decided = of_adjudicator(latest); decided != latest.end()) return *decided;
  return all_agree(latest) ? std::optional(latest.back()) : std::nullopt;
}

bool LabelFold::is_disputed(NodeId node) const {
  const std::vector<Told> told = by_person(node);
  return !all_agree(told) && (resolve_ != Resolve::adjudicated || of_adjudicator(told) == told.end());
}

void LabelFold::count(Label label, std::uint64_t change) {
  if (label == kNoLabel) return;
  if (label >= counts_.size()) counts_.resize(std::size_t{label} + 1);
  counts_[label] += change;
  num_labelled_ += change;
}

LabelFold::Change LabelFold::apply(const LabelEvent& event) {
  using Kind = LabelEvent::Kind;
  if (event.kind == Kind::skip) apply_skip(event);
  if (event.kind == Kind::retract) take_back_skip(event);
  if (event.kind != Kind::label && event.kind != Kind::retract) return {label(event.node), label(event.node)};
  Node& node = nodes_[event.node];
  const auto label_now = [&] {
    const std::optional<Told> told = resolve(node);
    return told ? told->label : kNoLabel;
  };
  const Label before = label_now();
  tell(node, event);
  if (event.kind == Kind::label) person(event.who).own.push_back(event);
  if (std::ranges::any_of(node.told, [&](const Told& one) { return one.who != node.told[0].who; }))
    shared_.insert(event.node);
  else
    shared_.erase(event.node);
  const Label after = label_now();
  count(before, std::uint64_t{0} - 1);
  count(after, 1);
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
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::vector<Told>{} : latest_of(found->second.told);
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

std::optional<double> agreement(const LabelFold& fold) {
  std::map<Label, double> total_of_class;
  double sum_of_agreement = 0, num_labels = 0;
  for (const NodeId node : fold.shared_nodes()) {
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
  if (total_of_class.size() < 2) return std::nullopt;
  double by_chance = 0;
  for (const auto& [label, total] : total_of_class) by_chance += (total / num_labels) * (total / num_labels);
  const double observed = sum_of_agreement / static_cast<double>(fold.shared_nodes().size());
  return (observed - by_chance) / (1 - by_chance);
}

}  // namespace copse
