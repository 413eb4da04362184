// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "server/commands.hpp"
#include "server/page.hpp"
#include "server/service.hpp"
#include "server/views.hpp"

namespace copse::server {

namespace {

using Answer = Response (*)(const Call&);
using Run = std::function<void(const Call&, const Reply&)>;
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

Response get_graph(const Call& call) { return json_response(graph_view(*call.graph)); }

Response get_graphs(const Call& call) {
  Json list = Json::array();
  for (const auto& graph : call.service.graphs()) list.push_back(graph_view(*graph));
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
  Response response{200, "text/event-stream", "", {}, call.graph->state()->read().version()};
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

Response get_metrics(const Call& call) {
  std::ostringstream out;
  out << call.service.metrics().text();
  for (const char* name : {"labels", "version", "lag", "leases", "waiting", "wal_bytes", "ignored_events"}) {
    out << "# TYPE copse_" << name << " gauge\n";
    for (const auto& graph : call.service.graphs()) {
      const auto state = graph->state();
      const std::string what = name;
      const std::uint64_t leases = what == "leases" ? state->num_leases() : 0;
      const GraphState::Reading reading = state->read();
      const std::uint64_t value = what == "labels"      ? reading.fold().num_labelled()
                                  : what == "version"   ? reading.version()
                                  : what == "lag"       ? reading.model.lag
                                  : what == "leases"    ? leases
                                  : what == "waiting"   ? graph->num_waiting()
                                  : what == "wal_bytes" ? graph->store().wal_bytes()
                                                        : state->num_ignored();
      out << "copse_" << name << "{graph=\"" << graph->name() << "\"} " << value << "\n";
    }
  }
  return {200, "text/plain; version=0.0.4", out.str(), {}, {}};
}

Response get_openapi(const Call&) { return json_response(openapi_document()); }

template <const PageFile& (*file)()>
Response get_page(const Call&) {
  return {200, file().type, std::string(file().bytes), {{"Cache-Control", "no-cache"}}, {}};
}

// --- changing ---

Caller caller_of(const Call& call) {
  const std::string key = call.request.header("idempotency-key");
  if (key.size() > kMostNameBytes)
    throw HttpError(400, "Idempotency-Key", "is longer than 256 bytes",
                    "a random number of 32 hexadecimal digits will do");
  // Keys of one person are not those of another.
  return key.empty() ? Caller{call.who, random_hex(16), false}
                     : Caller{call.who, call.who + "\n" + key, true};
}

/// Stores what `prepare` says and answers with what `show` makes of it.
void store(const Call& call, const Reply& reply,
           std::function<Prepared(GraphState&, const EventStore&)> prepare,
           std::function<Json(const Prepared&)> show) {
  call.graph->submit({std::move(prepare),
                      [reply, show = std::move(show)](std::exception_ptr error, const Prepared& prepared) {
                        try {
                          if (error) std::rethrow_exception(error);
                          reply(json_response(show(prepared)));
                        } catch (...) {
                          reply(problem_response(std::current_exception()));
                        }
                      }});
}

Json shown(const Prepared& prepared) {
  const Event& event = prepared.events.at(0);
  return {{"seq", event.seq},
          {"version", event.seq},
          {"node", event.node},
          {"label", or_null(event.label)},
          {"predicted", or_null(event.predicted)},
          {"confidence", or_null(event.confidence)},
          {"replayed", prepared.is_stored}};
}

void put_label(const Call& call, const Reply& reply) {
  const std::string label = string_in(object_in(call.request), "label");
  std::optional<std::uint64_t> expected;
  std::string match = call.request.header("if-match");
  std::erase(match, '"');
  if (!match.empty()) expected = number_in({{"If-Match", match}}, "If-Match", 0, 0, ~std::uint64_t{0} >> 1);
  store(
      call, reply,
      [caller = caller_of(call), node = call.parameters.at(0), label, expected](GraphState& state,
                                                                                const EventStore& events) {
        return prepare_label(state, events, caller, node, label, expected);
      },
      shown);
}

Json shown_without_prediction(const Prepared& prepared) {
  Json json = shown(prepared);
  json.erase("predicted");
  json.erase("confidence");
  return json;
}

void delete_label(const Call& call, const Reply& reply) {
  store(
      call, reply,
      [caller = caller_of(call), node = call.parameters.at(0)](GraphState& state, const EventStore& events) {
        return prepare_retract(state, events, caller, node);
      },
      shown_without_prediction);
}

void post_undo(const Call& call, const Reply& reply) {
  store(
      call, reply,
      [caller = caller_of(call)](GraphState& state, const EventStore& events) {
        return prepare_undo(state, events, caller);
      },
      [](const Prepared& prepared) {
        Json json = shown_without_prediction(prepared);
        json["kind"] = kind_name(prepared.events.at(0).kind);
        return json;
      });
}

void post_skip(const Call& call, const Reply& reply) {
  const Json body = object_in(call.request);
  store(
      call, reply,
      [caller = caller_of(call), node = string_in(body, "node"),
       reason = body.contains("reason") ? string_in(body, "reason") : kReasonLater](
          GraphState& state, const EventStore& events) {
        return prepare_skip(state, events, caller, node, reason);
      },
      [](const Prepared& prepared) {
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
  const auto as_json = [](const std::vector<Rejected>& rows) {
    Json list = Json::array();
    for (const Rejected& row : rows) list.push_back({{"line", row.line}, {"what", row.what}});
    return list;
  };
  auto prepare = [caller = caller_of(call), lines = label_lines(call.request), rejected](
                     GraphState& state, const EventStore& events) {
    Prepared prepared = prepare_labels(state, events, caller, lines, *rejected);
    if (!rejected->empty()) prepared = {{}, true, false};
    return prepared;
  };
  const auto graph = call.graph;
  call.graph->submit({std::move(prepare), [=](std::exception_ptr error, const Prepared& prepared) {
                        if (error) return reply(problem_response(error));
                        const bool is_good = rejected->empty();
                        reply(json_response({{"accepted", prepared.events.size()},
                                             {"rejected", as_json(*rejected)},
                                             {"version", graph->state()->read().version()}},
                                            is_good ? 200 : 422));
                      }});
}

Run reads(Answer answer) {
  return [answer](const Call& call, const Reply& reply) { reply(answer(call)); };
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> rows = {
      {"GET", "/", Role::nobody, "The page", "", "text/html", {}, reads(get_page<page_html>), true},
      {"GET",
       "/app.js",
       Role::nobody,
       "Its program",
       "",
       "text/javascript",
       {},
       reads(get_page<page_script>),
       true},
      {"GET", "/app.css", Role::nobody, "Its style", "", "text/css", {}, reads(get_page<page_style>), true},
      {"GET",
       "/favicon.svg",
       Role::nobody,
       "Its sign",
       "",
       "image/svg+xml",
       {},
       reads(get_page<page_icon>),
       true},
      {"GET",
       "/healthz",
       Role::nobody,
       "Whether the process answers",
       "",
       kJson,
       {},
       reads(get_health),
       true},
      {"GET",
       "/readyz",
       Role::nobody,
       "Whether graphs are open, events replayed, and answers there",
       "",
       kJson,
       {},
       reads(get_ready),
       true},
      {"GET",
       "/metrics",
       Role::read,
       "Counts and times for Prometheus",
       "",
       "text/plain",
       {},
       reads(get_metrics)},
      {"GET", "/v1/openapi.json", Role::nobody, "This document", "", kJson, {}, reads(get_openapi), true},
      {"GET", "/v1/graphs", Role::read, "All graphs served here", "", kJson, {}, reads(get_graphs)},
      {"GET", "/v1/graph", Role::read, "Facts about the graph", "", kJson, {}, reads(get_graph)},
      {"GET",
       "/v1/nodes/{id}",
       Role::read,
       "A node, what is predicted of it and why",
       "",
       kJson,
       {"neighbors"},
       reads(get_node)},
      {"GET",
       "/v1/nodes/{id}/neighborhood",
       Role::read,
       "The nodes around it and their edges",
       "",
       kJson,
       {"nodes"},
       reads(get_neighborhood)},
      {"GET",
       "/v1/search",
       Role::read,
       "Nodes by a part of their id or name",
       "",
       kJson,
       {"q", "limit"},
       reads(get_search)},
      {"POST",
       "/v1/predict",
       Role::read,
       "Predictions of up to 10,000 nodes",
       kJson,
       kJson,
       {},
       reads(post_predict)},
      {"PUT", "/v1/nodes/{id}/label", Role::label, "Tell a label", kJson, kJson, {}, put_label},
      {"DELETE",
       "/v1/nodes/{id}/label",
       Role::label,
       "Take a node's label back",
       "",
       kJson,
       {},
       delete_label},
      {"POST",
       "/v1/undo",
       Role::label,
       "Take back the caller's last label or skip",
       kJson,
       kJson,
       {},
       post_undo},
      {"POST", "/v1/labels", Role::label, "Many labels, all or none", kTsv, kJson, {}, post_labels},
      {"GET", "/v1/labels", Role::read, "All labels that stand", "", kTsv, {}, reads(get_labels)},
      {"POST",
       "/v1/queue/next",
       Role::label,
       "The node to ask the caller about",
       kJson,
       kJson,
       {},
       reads(post_next)},
      {"POST", "/v1/queue/skip", Role::label, "Do not ask about this node", kJson, kJson, {}, post_skip},
      {"GET",
       "/v1/progress",
       Role::read,
       "Classes, the error so far, who told how much, agreement",
       "",
       kJson,
       {},
       reads(get_progress)},
      {"GET",
       "/v1/history",
       Role::read,
       "Events, the latest first",
       "",
       kJson,
       {"limit", "before"},
       reads(get_history)},
      {"GET",
       "/v1/events",
       Role::read,
       "Events as they come (server-sent events)",
       "",
       "text/event-stream",
       {},
       reads(get_events)},
      {"POST",
       "/v1/snapshots",
       Role::admin,
       "A copy of the labels in the data directory",
       "",
       kJson,
       {},
       reads(post_snapshots)},
  };
  return rows;
}

}  // namespace copse::server
