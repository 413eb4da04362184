// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "server/changes.hpp"
#include "server/label_studio.hpp"
#include "server/page.hpp"
#include "server/views.hpp"

namespace copse::server {

namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kNdjson = "application/x-ndjson";
constexpr const char* kTsv = "text/tab-separated-values";

bool wants_ndjson(const Call& call) {
  return call.request.header("accept").find(kNdjson) != std::string::npos;
}

NodeId asked_node(const Call& call, const GraphState& state) {
  return node_named(state, call.parameters.at(0));
}

// --- reading ---

Response get_graph(const Call& call) {
  return json_response(graph_view(*call.graph, call.service.options().is_readonly));
}

Response get_graphs(const Call& call) {
  Json list = Json::array();
  for (const auto& graph : call.service.graphs())
    list.push_back(graph_view(*graph, call.service.options().is_readonly));
  return json_response({{"graphs", std::move(list)}});
}

Response get_node(const Call& call) {
  const auto state = call.graph->state();
  const NodeId node = asked_node(call, *state);
  Response response = json_response(node_view(*state, node, number_in(call.query, "neighbors", 50, 0, 300)));
  response.headers.emplace_back("ETag", "\"" + std::to_string(state->read().fold().version(node)) + "\"");
  return response;
}

Response get_neighborhood(const Call& call) {
  const auto state = call.graph->state();
  return json_response(
      neighborhood_view(*state, asked_node(call, *state), number_in(call.query, "nodes", 300, 1, 1000)));
}

Response get_search(const Call& call) {
  const auto text = call.query.find("q");
  return json_response(search_view(*call.graph->state(), text == call.query.end() ? "" : text->second,
                                   number_in(call.query, "limit", 20, 1, 1000)));
}

Response post_predict(const Call& call) {
  const Json body = object_in(call.request);
  const auto nodes = body.find("nodes");
  constexpr std::size_t kMost = 10'000, kBetween = 64;  // nodes for which a label that arrives has to wait
  if (nodes == body.end() || !nodes->is_array() || nodes->size() > kMost ||
      !std::all_of(nodes->begin(), nodes->end(), [](const Json& id) { return id.is_string(); }))
    throw HttpError(400, "body", "has no list \"nodes\" of at most 10,000 ids",
                    "send {\"nodes\": [\"id\", ...]}");
  const auto state = call.graph->state();
  Json list = Json::array();
  std::uint64_t version = state->read().model.version;
  for (std::size_t begin = 0; begin < nodes->size(); begin += kBetween) {
    const GraphState::Reading reading = state->read();
    version = std::min(version, reading.model.version);
    for (std::size_t i = begin; i < std::min(nodes->size(), begin + kBetween); ++i)
      list.push_back(prediction_view(reading, (*nodes)[i]));
  }
  if (!wants_ndjson(call)) return json_response({{"version", version}, {"predictions", std::move(list)}});
  std::string lines;
  for (const Json& one : list) lines += dump(one) + "\n";
  return {200, kNdjson, std::move(lines), {}, {}};
}

Response get_labels(const Call& call) {
  if (wants_ndjson(call)) return {200, kNdjson, labels_as_ndjson(*call.graph), {}, {}};
  return {200, kTsv, labels_as_tsv(*call.graph->state()), {}, {}};
}

Response get_progress(const Call& call) { return json_response(progress_view(*call.graph)); }

Response get_history(const Call& call) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 62;
  return json_response(history_view(*call.graph, number_in(call.query, "before", kEnd, 0, kEnd),
                                    number_in(call.query, "limit", 50, 1, 1000)));
}

Response get_events(const Call& call) {
  Response response{200, "text/event-stream", "", {}, call.graph->state()->read().version(), call.graph};
  const std::string last = call.request.header("last-event-id");
  if (!last.empty())
    response.stream_after =
        number_in({{"Last-Event-ID", last}}, "Last-Event-ID", 0, 0, ~std::uint64_t{0} >> 1);
  return response;
}

Response post_next(const Call& call) {
  const auto state = call.graph->state();
  const std::optional<NodeId> node = state->next_question(call.who);
  if (!node) return {204, kJson, "", {}, {}};
  const std::uint64_t left = state->view().num_nodes() - state->read().fold().num_labelled();
  return json_response({{"node", node_view(*state, *node, 50)},
                        {"lease_seconds", state->setup().lease.count()},
                        {"strategy", state->setup().strategy.row->name},
                        {"remaining_hint", left}});
}

Response post_snapshots(const Call& call) {
  const auto seq = call.graph->state()->read().version();
  const std::string file = call.graph->name() + "-" + std::to_string(seq) + "-" + random_hex(4) + ".sqlite";
  const std::string directory = call.service.options().data + "/snapshots";
  make_directory(directory);
  const std::uint64_t bytes = call.graph->store().back_up(directory + "/" + file);
  return json_response({{"file", "snapshots/" + file}, {"bytes", bytes}, {"seq", seq}});
}

Response get_health(const Call&) { return json_response({{"status", "ok"}}); }

Response get_ready(const Call& call) {
  const auto& graphs = call.service.graphs();
  const bool is_ready = !graphs.empty() && std::all_of(graphs.begin(), graphs.end(), [](const auto& graph) {
    return graph->state()->is_ready();
  });
  if (!is_ready)
    throw HttpError(503, "server", "graphs are being read, or the first answers computed",
                    "ask again in a moment");
  return json_response({{"status", "ready"}});
}

struct Gauge {
  const char* name;
  std::uint64_t (*value)(const ServedGraph& graph, const GraphState& state);
};
constexpr Gauge kGauges[] = {
    {"labels", [](const auto&, const auto& state) { return state.read().fold().num_labelled(); }},
    {"version", [](const auto&, const auto& state) { return state.read().version(); }},
    {"lag", [](const auto&, const auto& state) { return state.read().model.lag; }},
    {"leases", [](const auto&, const auto& state) -> std::uint64_t { return state.num_leases(); }},
    {"waiting", [](const auto& graph, const auto&) -> std::uint64_t { return graph.num_waiting(); }},
    {"wal_bytes", [](const auto& graph, const auto&) { return graph.store().wal_bytes(); }},
    {"ignored_events", [](const auto&, const auto& state) { return state.num_ignored(); }},
};

Response get_metrics(const Call& call) {
  std::string text = call.service.metrics().text();
  for (const Gauge& gauge : kGauges) {
    text += std::string("# TYPE copse_") + gauge.name + " gauge\n";
    for (const auto& graph : call.service.graphs())
      text += std::string("copse_") + gauge.name + "{graph=\"" + graph->name() + "\"} " +
              std::to_string(gauge.value(*graph, *graph->state())) + "\n";
  }
  return {200, "text/plain; version=0.0.4", std::move(text), {}, {}};
}

Response get_openapi(const Call&) { return json_response(openapi_document()); }

// --- changing ---

Json shown(const Prepared& prepared) {
  const Event& event = prepared.events.at(0);
  return {{"seq", event.seq},
          {"version", event.seq},
          {"kind", kind_name(event.kind)},
          {"node", event.node},
          {"label", or_null(event.label)},
          {"predicted", or_null(event.predicted)},
          {"confidence", or_null(event.confidence)},
          {"replayed", prepared.is_stored}};
}

void put_label(const Call& call, const Reply& reply) {
  std::optional<std::uint64_t> expected;
  std::string match = call.request.header("if-match");
  std::erase(match, '"');
  if (!match.empty()) expected = number_in({{"If-Match", match}}, "If-Match", 0, 0, ~std::uint64_t{0} >> 1);
  const std::string label = string_in(object_in(call.request), "label");
  store(call, reply, to_label(caller_of(call), call.parameters.at(0), label, expected), shown);
}

void delete_label(const Call& call, const Reply& reply) {
  store(call, reply, to_retract(caller_of(call), call.parameters.at(0)), shown);
}

void post_undo(const Call& call, const Reply& reply) { store(call, reply, to_undo(caller_of(call)), shown); }

void post_skip(const Call& call, const Reply& reply) {
  const Json body = object_in(call.request);
  const std::string reason = body.contains("reason") ? string_in(body, "reason") : kReasonLater;
  store(call, reply, to_skip(caller_of(call), string_in(body, "node"), reason), [](const Prepared& prepared) {
    return Json{{"seq", prepared.events.at(0).seq}, {"replayed", prepared.is_stored}};
  });
}

std::vector<LabelLine> label_lines(const Request& request) {
  const bool is_json = request.header("content-type").find("json") != std::string::npos;
  std::vector<LabelLine> lines;
  std::istringstream text(request.body);
  std::string line;
  for (std::uint64_t number = 1; std::getline(text, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || (number == 1 && line == "node\tlabel")) continue;
    if (is_json) {
      const Json json = Json::parse(line, nullptr, false);
      if (!json.is_object())
        throw HttpError(400, at("body", number), "is not a JSON object",
                        "send {\"node\", \"label\"} on each line");
      lines.push_back({number, string_in(json, "node"), string_in(json, "label")});
      continue;
    }
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos)
      throw HttpError(400, at("body", number), "is not node<TAB>label", "send one label on each line");
    lines.push_back({number, line.substr(0, tab), line.substr(tab + 1)});
  }
  return lines;
}

void post_labels(const Call& call, const Reply& reply) {
  auto rejected = std::make_shared<std::vector<Rejected>>();
  const auto done = [=, graph = call.graph](std::exception_ptr error, const Prepared& prepared) {
    if (error) return reply(problem_response(error));
    Json list = Json::array();
    for (const Rejected& row : *rejected) list.push_back({{"line", row.line}, {"what", row.what}});
    reply(json_response({{"accepted", prepared.events.size()},
                         {"rejected", std::move(list)},
                         {"version", graph->state()->read().version()}},
                        rejected->empty() ? 200 : 422));
  };
  call.graph->submit({to_label_all(caller_of(call), label_lines(call.request), rejected), done});
}

// --- the table ---

using Answer = std::function<Response(const Call&)>;

Route asks(std::string method, std::string path, Role role, std::string summary, Answer answer) {
  Route route{std::move(method), std::move(path), role, std::move(summary), {}};
  if (route.method != "GET") route.body = kJson;
  route.run = [answer = std::move(answer)](const Call& call, const Reply& reply) { reply(answer(call)); };
  return route;
}

Route gets(std::string path, std::string summary, Answer answer, std::vector<std::string> query = {},
           std::string type = kJson) {
  Route route = asks("GET", std::move(path), Role::read, std::move(summary), std::move(answer));
  route.query = std::move(query);
  route.answer = std::move(type);
  return route;
}

/// Open to everybody, and never waits.
Route shows(std::string path, std::string summary, Answer answer, std::string type = kJson) {
  Route route = gets(std::move(path), std::move(summary), std::move(answer), {}, std::move(type));
  route.role = Role::nobody;
  route.quick_bytes = ~std::size_t{0};
  return route;
}

Route predicts(std::string path, std::string summary, Answer answer) {
  Route route = asks("POST", std::move(path), Role::read, std::move(summary), std::move(answer));
  route.quick_bytes = 256;
  return route;
}

Route changes(std::string method, std::string path, std::string summary,
              void (*run)(const Call&, const Reply&), std::string body = kJson) {
  Route route{std::move(method), std::move(path), Role::label, std::move(summary), run};
  route.body = std::move(body);
  route.is_change = true;
  return route;
}

Route copies(std::string path, std::string summary, Answer answer) {
  Route route = asks("POST", std::move(path), Role::admin, std::move(summary), std::move(answer));
  route.body = "";
  route.is_change = true;
  return route;
}

Route page_route(const PageFile& file) {
  return shows(
      file.path, "The page",
      [&file](const Call&) -> Response {
        return {200, file.type, std::string(file.bytes), {{"Cache-Control", "no-cache"}}, {}};
      },
      file.type.substr(0, file.type.find(';')));
}

std::vector<Route> all_routes() {
  std::vector<Route> rows = {
      shows("/healthz", "Whether the process answers", get_health),
      shows("/readyz", "Whether graphs are open, events replayed, and answers there", get_ready),
      shows("/v1/openapi.json", "This document", get_openapi),
      gets("/metrics", "Counts and times for Prometheus", get_metrics, {}, "text/plain"),
      gets("/v1/graphs", "All graphs served here", get_graphs),
      gets("/v1/graph", "Facts about the graph", get_graph),
      gets("/v1/nodes/{id}", "A node, what is predicted of it and why", get_node, {"id", "neighbors"}),
      gets("/v1/nodes/{id}/neighborhood", "The nodes around it and their edges", get_neighborhood,
           {"id", "nodes"}),
      gets("/v1/search", "Nodes by a part of their id or name", get_search, {"q", "limit"}),
      predicts("/v1/predict", "Predictions of up to 10,000 nodes", post_predict),
      changes("PUT", "/v1/nodes/{id}/label", "Tell a label", put_label),
      changes("DELETE", "/v1/nodes/{id}/label", "Take a node's label back", delete_label, ""),
      changes("POST", "/v1/undo", "Take back the caller's last label or skip", post_undo),
      changes("POST", "/v1/labels", "Many labels, all or none", post_labels, kTsv),
      gets("/v1/labels", "All labels that stand", get_labels, {}, kTsv),
      asks("POST", "/v1/queue/next", Role::label, "The node to ask the caller about", post_next),
      changes("POST", "/v1/queue/skip", "Do not ask about this node", post_skip),
      gets("/v1/progress", "Classes, the error so far, who told how much, agreement", get_progress),
      gets("/v1/history", "Events, the latest first", get_history, {"limit", "before"}),
      gets("/v1/events", "Events as they come (server-sent events)", get_events, {}, "text/event-stream"),
      copies("/v1/snapshots", "A copy of the labels in the data directory", post_snapshots),
      shows("/health", "For Label Studio: whether the process answers", label_studio_health),
      asks("POST", "/setup", Role::read, "For Label Studio: the version of the answers", label_studio_setup),
      asks("POST", "/predict", Role::read, "For Label Studio: predictions of tasks", label_studio_predict),
      changes("POST", "/webhook", "For Label Studio: an annotation is a label", label_studio_webhook),
  };
  for (const PageFile& file : page_files()) rows.push_back(page_route(file));
  return rows;
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> rows = all_routes();
  return rows;
}

namespace {

Json parameter(const std::string& name, const std::string& in, bool is_required) {
  return {{"name", name}, {"in", in}, {"required", is_required}, {"schema", {{"type", "string"}}}};
}

Json operation(const Route& route) {
  Json parameters = Json::array();
  for (std::size_t at = route.path.find('{'); at != std::string::npos; at = route.path.find('{', at + 1))
    parameters.push_back(
        parameter(route.path.substr(at + 1, route.path.find('}', at) - at - 1), "path", true));
  for (const std::string& name : route.query) parameters.push_back(parameter(name, "query", false));
  if (route.role == Role::label) parameters.push_back(parameter("Idempotency-Key", "header", false));
  const Json problem = {
      {"description", "what is wrong, where, and what to do"},
      {"content", {{"application/problem+json", {{"schema", {{"$ref", "#/components/schemas/Problem"}}}}}}}};
  Json operation = {
      {"summary", route.summary},
      {"parameters", std::move(parameters)},
      {"responses",
       {{"200", {{"description", route.summary}, {"content", {{route.answer, Json::object()}}}}},
        {"default", problem}}},
      {"x-copse-role", role_name(route.role)}};
  if (!route.body.empty()) operation["requestBody"] = {{"content", {{route.body, Json::object()}}}};
  operation["security"] =
      route.role == Role::nobody ? Json::array() : Json::array({{{"token", Json::array()}}});
  return operation;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c | 0x20);
  return text;
}

}  // namespace

Json openapi_document() {
  Json paths = Json::object();
  for (const Route& route : routes()) paths[route.path][lower_case(route.method)] = operation(route);
  const Json text = {{"type", "string"}};
  return {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "copse serve"}, {"version", "1"}, {"description", "docs/serve.md describes every field."}}},
      {"paths", std::move(paths)},
      {"components",
       {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}},
        {"schemas",
         {{"Problem",
           {{"type", "object"},
            {"properties",
             {{"type", text},
              {"title", text},
              {"status", {{"type", "integer"}}},
              {"detail", text},
              {"instance", text}}}}}}}}}};
}

}  // namespace copse::server
