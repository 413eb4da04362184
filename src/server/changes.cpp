// SPDX-License-Identifier: Apache-2.0
#include "server/changes.hpp"

#include <set>
#include <unordered_set>

#include "server/http.hpp"
#include "server/views.hpp"

namespace copse::server {

namespace {

using Kind = LabelEvent::Kind;

Event event_by(const Caller& caller, Kind kind, const std::string& node) {
  Event event;
  event.id = caller.key;
  event.at = now_milliseconds();
  event.who = caller.who;
  event.kind = kind;
  event.node = node;
  return event;
}

/// Why a label cannot be told; empty if it can. `num_new` classes are told in the same request.
std::string trouble_with(const GraphState::Reading& reading, const std::string& label, std::size_t num_new) {
  if (label.empty()) return "the label is empty";
  if (label.size() > kMostLabelBytes) return "the label is longer than 1,024 bytes";
  try {
    check_name(label, "label");
  } catch (const Error& error) {
    return error.problem();
  }
  if (reading.classes().find(label) != kNoLabel) return "";
  const std::size_t num_classes = reading.classes().size() + num_new;
  if (reading.state.view().is_signed() && num_classes >= 2)
    return copse::quoted(label) + " is a third class, and the graph has negative edges";
  return num_classes >= kMaxClasses ? copse::quoted(label) + " is one class too many" : "";
}

/// The event that the same key stored before, if there is one; HttpError if that was another request.
std::optional<Prepared> stored_before(const EventStore& store, const Caller& caller, const Event& event) {
  if (!caller.is_own_key) return std::nullopt;
  std::optional<Event> earlier = store.find(event.id);
  if (!earlier) return std::nullopt;
  const bool is_same = earlier->who == event.who && earlier->kind == event.kind &&
                       earlier->node == event.node &&
                       (event.kind == Kind::retract || earlier->label == event.label);
  if (!is_same)
    throw HttpError(409, "Idempotency-Key", "this key was used for another request",
                    "make a new key for every new request, and keep it for retries only");
  return Prepared{{std::move(*earlier)}, true, false};
}

/// What is predicted of a node whose label nobody knew: correcting a label that was told before is no guess.
void add_prediction(Event& event, const GraphState::Reading& reading, NodeId node) {
  event.model_version = reading.model.version;
  if (reading.fold().label(node) != kNoLabel) return;
  const Prediction answer = reading.predict(node);
  event.predicted = reading.class_name(answer.label);
  if (event.predicted) event.confidence = answer.confidence;
}

/// A retract of `target`, with the label that stands afterwards.
Prepared taking_back(GraphState& state, Event event, NodeId node, std::uint64_t target) {
  LabelEvent told;
  told.kind = Kind::retract;
  told.node = node;
  told.target = event.target = target;
  const GraphState::Reading reading = state.read();
  event.label = reading.class_name(reading.fold().label_after(told));
  return {{std::move(event)}, false, target != 0};
}

}  // namespace

Caller caller_of(const Call& call) {
  const std::string key = call.request.header("idempotency-key");
  if (key.size() > kMostNameBytes)
    throw HttpError(400, "Idempotency-Key", "is longer than 256 bytes",
                    "a random number of 32 hexadecimal digits will do");
  // Keys of one person are not those of another.
  return key.empty() ? Caller{call.who, random_hex(16), false}
                     : Caller{call.who, call.who + "\n" + key, true};
}

void store(const Call& call, const Reply& reply, Prepare prepare, std::function<Json(const Prepared&)> show) {
  const auto done = [reply, show = std::move(show)](std::exception_ptr error, const Prepared& prepared) {
    try {
      if (error) std::rethrow_exception(error);
      reply(json_response(show(prepared)));
    } catch (...) {
      reply(problem_response(std::current_exception()));
    }
  };
  call.graph->submit({std::move(prepare), done});
}

Prepare to_label(Caller caller, std::string name, std::string label,
                 std::optional<std::uint64_t> expected_version) {
  return [=](GraphState& state, const EventStore& store) -> Prepared {
    const NodeId node = node_named(state, name);
    Event event = event_by(caller, Kind::label, name);
    event.label = label;
    if (std::optional<Prepared> earlier = stored_before(store, caller, event)) return *earlier;
    const GraphState::Reading reading = state.read();
    if (const std::string trouble = trouble_with(reading, label, 0); !trouble.empty())
      throw HttpError(422, "label", trouble,
                      "a label is a text of 1 to 1,024 bytes without tabs and line ends");
    if (expected_version && *expected_version != reading.fold().version(node))
      throw HttpError(412, "If-Match",
                      "somebody else changed this node's label meanwhile (version " +
                          std::to_string(reading.fold().version(node)) + ")",
                      "look at the node again, then decide");
    add_prediction(event, reading, node);
    return {{std::move(event)}, false, false};
  };
}

Prepare to_retract(Caller caller, std::string name) {
  return [=](GraphState& state, const EventStore& store) -> Prepared {
    const NodeId node = node_named(state, name);
    Event event = event_by(caller, Kind::retract, name);
    if (std::optional<Prepared> earlier = stored_before(store, caller, event)) return *earlier;
    if (state.read().fold().by_person(node).empty())
      throw HttpError(404, "node " + copse::quoted(name), "has no label to take back",
                      "GET /v1/history shows what was told");
    return taking_back(state, std::move(event), node, 0);
  };
}

Prepare to_undo(Caller caller) {
  return [=](GraphState& state, const EventStore& store) -> Prepared {
    if (caller.is_own_key)
      if (std::optional<Event> earlier = store.find(caller.key)) {
        Event same = *earlier;
        same.kind = Kind::retract;
        return *stored_before(store, caller, same);
      }
    const std::uint32_t who = state.person(caller.who);
    const std::optional<LabelEvent> last = state.read().fold().last_of(who);
    if (!last)
      throw HttpError(404, "undo", copse::quoted(caller.who) + " has told nothing that could be taken back",
                      "others' labels are taken back by DELETE /v1/nodes/{id}/label");
    return taking_back(state, event_by(caller, Kind::retract, state.names().name(last->node)), last->node,
                       last->seq);
  };
}

Prepare to_skip(Caller caller, std::string name, std::string reason) {
  return [=](GraphState& state, const EventStore& store) -> Prepared {
    node_named(state, name);
    if (reason != kReasonLater && reason != kReasonNobody)
      throw HttpError(422, "reason", copse::quoted(reason) + " is not one of later, nobody",
                      "later: this person is not asked again; nobody: nobody is");
    Event event = event_by(caller, Kind::skip, name);
    event.label = reason;
    if (std::optional<Prepared> earlier = stored_before(store, caller, event)) return *earlier;
    return {{std::move(event)}, false, false};
  };
}

Prepare to_label_all(Caller caller, std::vector<LabelLine> lines,
                     std::shared_ptr<std::vector<Rejected>> rejected) {
  return [=](GraphState& state, const EventStore& store) -> Prepared {
    rejected->clear();
    Prepared prepared;
    std::set<std::string> new_classes;
    std::unordered_set<std::string> seen;
    for (const LabelLine& line : lines) {
      const GraphState::Reading reading = state.read();  // for each: nobody waits for all of them
      const std::optional<NodeId> node = state.names().find(line.node);
      std::string trouble =
          node ? trouble_with(reading, line.label, new_classes.size() - new_classes.count(line.label))
               : "the graph has no node " + copse::quoted(line.node);
      if (trouble.empty() && !seen.insert(line.node).second)
        trouble = copse::quoted(line.node) + " comes twice";
      if (!trouble.empty()) {
        rejected->push_back({line.line, trouble});
        continue;
      }
      if (reading.classes().find(line.label) == kNoLabel) new_classes.insert(line.label);
      Event event = event_by(caller, Kind::label, line.node);
      event.id += "/" + std::to_string(line.line);
      event.label = line.label;
      if (prepared.events.empty() && stored_before(store, caller, event)) prepared.is_stored = true;
      if (!prepared.is_stored) add_prediction(event, reading, *node);
      prepared.events.push_back(std::move(event));
    }
    return rejected->empty() ? prepared : Prepared{{}, true, false};
  };
}

}  // namespace copse::server
