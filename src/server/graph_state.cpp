// SPDX-License-Identifier: Apache-2.0
#include "server/graph_state.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace copse::server {

std::string graph_checksum(const NamedGraph& graph) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  const auto add = [&](const auto& span) { XXH3_64bits_update(&state, span.data(), span.size_bytes()); };
  const GraphView& view = graph.graph;
  add(view.offsets);
  add(view.neighbors);
  add(view.weights);
  add(view.negative);
  NodeNames::Digits digits;
  for (NodeId node = 0; node < view.num_nodes(); ++node) {
    const std::string_view name = graph.names.view(node, digits);
    XXH3_64bits_update(&state, name.data(), name.size());
    XXH3_64bits_update(&state, "", 1);
  }
  return fmt::format("{:016x}", XXH3_64bits_digest(&state));
}

GraphState::GraphState(GraphInput input, const GraphSetup& setup)
    : input_(std::move(input)),
      setup_(setup),
      checksum_(graph_checksum(input_.graph)),
      fold_(setup.resolve),
      model_(input_.graph.graph, setup.learner),
      questions_(input_.graph.graph, setup.strategy),
      leases_(setup.lease) {
  for (const std::string& name : setup.classes) classes_.intern(name);
  if (setup.resolve == Resolve::adjudicated) person_locked(setup.adjudicator);  // LabelFold::kAdjudicator
  if (view().num_nodes() > 0)
    (void)names().find(names().name(0));  // builds the index now, not at the first request
}

Prediction GraphState::Reading::predict(NodeId node) const {
  if (const Label known = fold().label(node); known != kNoLabel) return {known, 1, true};
  return model.learner ? model.learner->predict(node) : Prediction{};
}

std::optional<std::string> GraphState::Reading::class_name(Label label) const {
  if (label == kNoLabel) return std::nullopt;
  // Across a negative edge lies the other class, also while nobody has named it.
  if (label >= classes().size()) return classes().size() == 0 ? "?" : "not " + classes().name(0);
  return classes().name(label);
}

std::uint32_t GraphState::person_locked(const std::string& who) {
  const auto [found, is_new] = person_of_.try_emplace(who, static_cast<std::uint32_t>(persons_.size()));
  if (is_new) {
    persons_.push_back(who);
    labels_by_person_.push_back(0);
  }
  return found->second;
}

std::uint32_t GraphState::person(const std::string& who) {
  const std::lock_guard lock(lock_);
  return person_locked(who);
}

LabelEvent GraphState::to_fold(const Event& event) {
  LabelEvent told;
  told.seq = event.seq;
  told.kind = event.kind;
  told.who = person_locked(event.who);
  told.node = names().find(event.node).value_or(kNoNode);
  told.target = event.target;
  if (event.kind == LabelEvent::Kind::label) told.label = classes_.intern(event.label.value_or(""));
  told.for_everybody = event.kind == LabelEvent::Kind::skip && event.label == kReasonNobody;
  return told;
}

void GraphState::apply(const Event& event) {
  std::unique_lock lock(lock_);
  version_ = event.seq;
  const LabelEvent told = to_fold(event);
  if (told.node == kNoNode) {
    ++num_ignored_;
    return;
  }
  const bool was_excluded = fold_.is_excluded(told.node);
  const LabelFold::Change change = fold_.apply(told);
  if (told.kind == LabelEvent::Kind::label) {
    ++labels_by_person_[told.who];
    if (event.predicted) curve_.add(event.seq, *event.predicted != event.label);
  }
  if (told.kind == LabelEvent::Kind::retract && told.target != 0) curve_.remove(told.target);
  const std::size_t num_persons = setup_.annotators_per_node > 1 ? fold_.by_person(told.node).size() : 0;
  if (num_persons > 0 && num_persons < setup_.annotators_per_node)
    unfinished_.insert(told.node);
  else
    unfinished_.erase(told.node);
  if (change.before != change.after) model_.change(told.node, change.after, event.seq);
  const bool is_excluded = fold_.is_excluded(told.node);
  lock.unlock();
  if (change.before != change.after) questions_.change(told.node, change.after);
  if (was_excluded != is_excluded) questions_.exclude(told.node, is_excluded);
  const std::lock_guard leases(leases_mutex_);
  if (leases_.held_by(told.who, Leases::Time::clock::now()) == told.node) leases_.release(told.who);
}

void GraphState::take_leases(const GraphState& before) {
  std::scoped_lock leases(leases_mutex_, before.leases_mutex_);
  for (const auto& [who, lease] : before.leases_.all())
    if (const std::optional<NodeId> node = names().find(before.names().name(lease.node)))
      leases_.take(person(before.read().persons()[who]), {*node, lease.until});
}

void GraphState::start(std::function<void()> published) {
  model_.start(std::move(published));
  questions_.start();
}

std::vector<Reason> GraphState::explain(NodeId node) const {
  const Model::Snapshot snapshot = model_.snapshot();
  if (!snapshot.learner) return {};
  if (!model_.is_live()) return snapshot.learner->explain(node);  // may solve: nobody waits for it
  const std::shared_lock lock(lock_);
  return snapshot.learner->explain(node);
}

bool GraphState::is_open(const Reading& reading, NodeId node, std::uint32_t who, Leases::Time now) const {
  if (reading.fold().is_skipped(node, who)) return false;
  const std::vector<LabelFold::Told> told = reading.fold().by_person(node);
  if (std::ranges::any_of(told, [&](const LabelFold::Told& one) { return one.who == who; })) return false;
  if (decides(who) && reading.fold().is_disputed(node)) return true;
  return told.size() + leases_.num_others(node, who, now) < setup_.annotators_per_node;
}

std::optional<NodeId> GraphState::choose(const Reading& reading, std::uint32_t who,
                                         const std::vector<NodeId>& candidates, Leases::Time now) const {
  const auto open = [&](NodeId node) { return is_open(reading, node, who, now); };
  if (const std::optional<NodeId> held = leases_.held_by(who, now); held && open(*held)) return held;
  if (decides(who))
    for (const NodeId node : reading.fold().shared_nodes())
      if (open(node)) return node;
  for (const NodeId node : unfinished_)
    if (open(node)) return node;
  for (const NodeId node : candidates)
    if (open(node)) return node;
  // The strategy is slow, or this person skipped all that it names: any node is better than "no more".
  for (NodeId node = 0; node < view().num_nodes(); ++node)
    if (open(node)) return node;
  return std::nullopt;
}

std::optional<NodeId> GraphState::next_question(const std::string& name) {
  const std::uint32_t who = person(name);
  std::size_t wanted = 1 + num_leases();
  wanted += read().fold().num_skips(who);
  const std::vector<NodeId> candidates = questions_.next(wanted);
  const std::lock_guard leases(leases_mutex_);
  const Leases::Time now = Leases::Time::clock::now();
  const std::optional<NodeId> node = choose(read(), who, candidates, now);
  if (node) leases_.take(who, *node, now);
  return node;
}

std::size_t GraphState::num_leases() const {
  const std::lock_guard leases(leases_mutex_);
  return leases_.num_held(Leases::Time::clock::now());
}

void ErrorCurve::remove(std::uint64_t seq) {
  const auto found = std::ranges::lower_bound(trials_, seq, {}, &Trial::seq);
  if (found != trials_.end() && found->seq == seq) trials_.erase(found);  // mostly the last
}

std::size_t ErrorCurve::mistakes_before(std::size_t end) const {
  const auto last = trials_.begin() + static_cast<std::ptrdiff_t>(end);
  return static_cast<std::size_t>(std::count_if(last - static_cast<std::ptrdiff_t>(std::min(end, kWindow)),
                                                last, [](const Trial& trial) { return trial.is_mistake; }));
}

std::vector<ErrorCurve::Point> ErrorCurve::points(std::size_t most) const {
  const std::size_t step = std::max<std::size_t>(1, (trials_.size() + most - 1) / most);
  std::vector<Point> points;
  for (std::size_t end = trials_.empty() ? 1 : (trials_.size() - 1) % step + 1; end <= trials_.size();
       end += step) {
    constexpr double z = 1.959963984540054;
    const auto n = static_cast<double>(std::min(end, kWindow));
    const double p = static_cast<double>(mistakes_before(end)) / n;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    points.push_back(
        {trials_[end - 1].seq, end, p, std::max(0.0, middle - half), std::min(1.0, middle + half)});
  }
  return points;
}

ErrorCurve::Stop ErrorCurve::stop() const {
  if (trials_.size() < 2 * kWindow)
    return {false, "a hint needs " + std::to_string(2 * kWindow) +
                       " labels that were guessed before they were told; there are " +
                       std::to_string(trials_.size())};
  const std::size_t last = mistakes_before(trials_.size()),
                    earlier = mistakes_before(trials_.size() - kWindow);
  const std::string facts = std::to_string(last) + " of the last 100 were guessed wrong, " +
                            std::to_string(earlier) + " of the 100 before";
  return last < earlier ? ErrorCurve::Stop{false, facts + ": further labels still pay"}
                        : ErrorCurve::Stop{true, facts + ": further labels of this kind gain little"};
}

}  // namespace copse::server
