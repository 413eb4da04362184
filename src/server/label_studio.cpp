// SPDX-License-Identifier: Apache-2.0
#include "server/label_studio.hpp"

#include <pugixml.hpp>

#include "server/changes.hpp"

namespace copse::server {

namespace {

/// What a project's labelling configuration says: where the answer goes, and which field of a task is the
/// node.
struct LabelingConfig {
  std::string choices = "label", object = "node", field = "node";
};

LabelingConfig config_in(const Json& config) {
  LabelingConfig found;
  pugi::xml_document document;
  if (!config.is_string() || !document.load_string(config.get<std::string>().c_str())) return found;
  const pugi::xml_node choices = document.find_node(
      [](const pugi::xml_node& node) { return std::string_view(node.name()) == "Choices"; });
  if (!choices) return found;
  found.choices = choices.attribute("name").as_string("label");
  found.object = choices.attribute("toName").as_string("node");
  const pugi::xml_node object = document.find_node(
      [&](const pugi::xml_node& node) { return found.object == node.attribute("name").as_string(); });
  if (const std::string value = object.attribute("value").as_string(); value.starts_with('$'))
    found.field = value.substr(1);
  return found;
}

/// The member, or null: Label Studio sends more, and sometimes less, than it documents. Never a copy, which
/// would follow a hostile body down to any depth.
const Json& member(const Json& object, const std::string& name) {
  static const Json null;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? null : *found;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_primitive() ? dump(value) : "";
}

std::string node_of(const Json& task, const LabelingConfig& config) {
  const Json& value = member(member(task, "data"), config.field);
  if (value.is_string() || value.is_number_integer()) return text_of(value);
  throw HttpError(400, "task", "has no field " + copse::quoted(config.field) + " that names a node",
                  "import tasks as {\"data\": {\"" + config.field + "\": \"id of the node\"}}");
}

std::string version_text(const GraphState& state) {
  return "copse-" + std::to_string(state.read().model.version);
}

Json prediction_of(const GraphState& state, const std::string& name, const LabelingConfig& config) {
  const std::string version = version_text(state);
  const GraphState::Reading reading = state.read();
  const std::optional<NodeId> node = state.names().find(name);
  const Prediction answer = node ? reading.predict(*node) : Prediction{};
  Json result = Json::array();
  if (answer.label != kNoLabel)
    result.push_back({{"from_name", config.choices},
                      {"to_name", config.object},
                      {"type", "choices"},
                      {"value", {{"choices", {or_null(reading.class_name(answer.label))}}}}});
  return {{"result", std::move(result)}, {"score", answer.confidence}, {"model_version", version}};
}

/// The label that an annotation chooses; HttpError if it is of another kind.
std::string choice_in(const Json& annotation) {
  for (const Json& one : member(annotation, "result"))
    if (const Json& choices = member(member(one, "value"), "choices");
        choices.is_array() && !choices.empty() && choices[0].is_string())
      return choices[0];
  throw HttpError(422, "annotation", "chooses no label",
                  "use <Choices> in the project's labelling configuration");
}

}  // namespace

Response label_studio_health(const Call&) {
  return json_response({{"status", "UP"}, {"model_class", "copse"}});
}

Response label_studio_setup(const Call& call) {
  object_in(call.request);
  return json_response({{"model_version", version_text(*call.graph->state())}});
}

Response label_studio_predict(const Call& call) {
  const Json body = object_in(call.request);
  const LabelingConfig config = config_in(member(body, "label_config"));
  const auto state = call.graph->state();
  Json results = Json::array();
  for (const Json& task : member(body, "tasks"))
    results.push_back(prediction_of(*state, node_of(task, config), config));
  return json_response({{"results", std::move(results)}});
}

void label_studio_webhook(const Call& call, const Reply& reply) {
  const Json body = object_in(call.request);
  const std::string action = text_of(member(body, "action"));
  if (action != "ANNOTATION_CREATED" && action != "ANNOTATION_UPDATED")
    return reply(json_response({{"status", "Unknown event"}}));
  const Json& annotation = member(body, "annotation");
  const std::string node =
      node_of(member(body, "task"), config_in(member(member(body, "project"), "label_config")));
  const Caller caller{
      call.who,
      "label-studio\n" + text_of(member(annotation, "id")) + "/" + text_of(member(annotation, "updated_at")),
      true};
  const bool is_skip = member(annotation, "was_cancelled") == true;
  store(call, reply,
        is_skip ? to_skip(caller, node, kReasonLater) : to_label(caller, node, choice_in(annotation), {}),
        [](const Prepared& prepared) {
          return Json{{"result", {{"seq", prepared.events.at(0).seq}}}, {"status", "ok"}};
        });
}

}  // namespace copse::server
