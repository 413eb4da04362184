// SPDX-License-Identifier: Apache-2.0
#include "server/views.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "server/http.hpp"

namespace copse::server {

namespace {

using Reading = GraphState::Reading;
constexpr std::size_t kMostPoints = 500, kMostDisagreements = 100, kMostShownReasons = 10;
constexpr NodeId kMostCounted = 50'000;  // nodes whose answers are counted by class

/// The first `count` nodes, with a lock that a label which arrives need not wait for long.
template <class Body>
void for_some_nodes(NodeId count, const GraphState& state, Body&& body) {
  constexpr NodeId kBetween = 64;
  for (NodeId begin = 0; begin < count; begin += kBetween) {
    const Reading reading = state.read();
    for (NodeId node = begin; node < std::min(count, begin + kBetween); ++node) body(reading, node);
  }
}

Json display_of(const GraphState& state, NodeId node) {
  const std::string_view text = state.display(node);
  return text.empty() ? Json(nullptr) : Json(std::string(text));
}

Json known_label(const Reading& reading, NodeId node) {
  return or_null(reading.class_name(reading.fold().label(node)));
}

/// What lists of nodes show of each.
Json brief(const Reading& reading, NodeId node) {
  const Prediction answer = reading.predict(node);
  return {{"id", reading.state.names().name(node)},
          {"name", display_of(reading.state, node)},
          {"label", known_label(reading, node)},
          {"prediction", or_null(reading.class_name(answer.label))},
          {"confidence", answer.confidence}};
}

Json scores_of(const Reading& reading, NodeId node) {
  Json list = Json::array();
  if (!reading.model.learner) return list;
  std::vector<double> scores(reading.model.learner->num_classes());
  reading.model.learner->scores(node, scores);
  std::vector<Label> order(scores.size());
  std::iota(order.begin(), order.end(), Label{0});
  std::ranges::stable_sort(order, [&](Label a, Label b) { return scores[a] > scores[b]; });
  for (const Label label : order)
    if (scores[label] > 0)
      list.push_back({{"label", or_null(reading.class_name(label))}, {"score", scores[label]}});
  return list;
}

/// The arcs of a node, heaviest first, at most so many.
std::vector<EdgeIndex> heaviest_arcs(const GraphView& graph, NodeId node, std::size_t most) {
  std::vector<EdgeIndex> arcs(graph.degree(node));
  std::iota(arcs.begin(), arcs.end(), graph.offsets[node]);
  most = std::min(most, arcs.size());
  const auto heavier = [&](EdgeIndex a, EdgeIndex b) {
    return graph.weight(a) != graph.weight(b) ? graph.weight(a) > graph.weight(b) : a < b;
  };
  std::partial_sort(arcs.begin(), arcs.begin() + static_cast<std::ptrdiff_t>(most), arcs.end(), heavier);
  arcs.resize(most);
  return arcs;
}

Json reasons_of(const GraphState& state, NodeId node) {
  std::vector<Reason> reasons = state.explain(node);
  if (reasons.size() > kMostShownReasons) reasons.resize(kMostShownReasons);
  Json list = Json::array();
  const Reading reading = state.read();
  for (const Reason& reason : reasons)
    list.push_back({{"node", state.names().name(reason.node)},
                    {"label", or_null(reading.class_name(reason.label))},
                    {"share", reason.share}});
  return list;
}

}  // namespace

NodeId node_named(const GraphState& state, const std::string& name) {
  if (const std::optional<NodeId> node = state.names().find(name)) return *node;
  throw HttpError(404, "node " + copse::quoted(name), "the graph has no such node",
                  "GET /v1/search?q=... finds nodes");
}

Json graph_view(const ServedGraph& graph, bool is_readonly) {
  const std::shared_ptr<GraphState> state = graph.state();
  const GraphSetup& setup = state->setup();
  const Reading reading = state->read();
  return {{"name", graph.name()},
          {"nodes", state->view().num_nodes()},
          {"edges", state->view().num_edges()},
          {"weighted", state->view().is_weighted()},
          {"learner", setup.learner.row->name},
          {"strategy", setup.strategy.row->name},
          {"seed", setup.learner.execution.seed},
          {"classes", reading.classes().names()},
          {"labels", reading.fold().num_labelled()},
          {"version", reading.version()},
          {"annotators_per_node", setup.annotators_per_node},
          {"readonly", is_readonly},
          {"checksum", state->checksum()}};
}

Json node_view(const GraphState& state, NodeId node, std::size_t most_neighbors) {
  const Json reasons = reasons_of(state, node);
  const GraphView& graph = state.view();
  const std::vector<EdgeIndex> arcs = heaviest_arcs(graph, node, most_neighbors);
  const Reading reading = state.read();
  const Prediction answer = reading.predict(node);
  const std::optional<LabelFold::Told> told = reading.fold().standing(node);
  Json neighbors = Json::array();
  for (const EdgeIndex arc : arcs) {
    Json neighbor = brief(reading, graph.neighbors[arc]);
    neighbor["weight"] = graph.signed_weight(arc);
    neighbors.push_back(std::move(neighbor));
  }
  return {{"id", state.names().name(node)},
          {"name", display_of(state, node)},
          {"label", known_label(reading, node)},
          {"labelled_by", told ? Json(reading.persons()[told->who]) : Json(nullptr)},
          {"version", reading.fold().version(node)},
          {"prediction",
           {{"label", or_null(reading.class_name(answer.label))},
            {"confidence", answer.confidence},
            {"reached", answer.reached},
            {"scores", scores_of(reading, node)},
            {"lag", reading.model.lag}}},
          {"reasons", reasons},
          {"degree", graph.degree(node)},
          {"neighbors", std::move(neighbors)},
          {"neighbors_left_out", graph.degree(node) - arcs.size()}};
}

Json neighborhood_view(const GraphState& state, NodeId center, std::size_t most_nodes) {
  const GraphView& graph = state.view();
  std::vector<NodeId> shown{center};
  std::unordered_map<NodeId, std::size_t> place{{center, 0}};
  std::vector<std::size_t> distance{0};
  for (std::size_t i = 0; i < shown.size() && shown.size() < most_nodes; ++i)
    for (const EdgeIndex arc : heaviest_arcs(graph, shown[i], most_nodes)) {
      if (shown.size() >= most_nodes) break;
      if (!place.try_emplace(graph.neighbors[arc], shown.size()).second) continue;
      shown.push_back(graph.neighbors[arc]);
      distance.push_back(distance[i] + 1);
    }
  Json edges = Json::array();
  // Of a hub it is quicker to look for every shown node in its row than to walk along it.
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::span<const NodeId> row = graph.neighbors_of(shown[i]);
    for (std::size_t j = i + 1; j < shown.size(); ++j) {
      const auto found = std::ranges::lower_bound(row, shown[j]);
      if (found == row.end() || *found != shown[j]) continue;
      const EdgeIndex arc = graph.offsets[shown[i]] + static_cast<EdgeIndex>(found - row.begin());
      edges.push_back({{"source", i}, {"target", j}, {"weight", graph.signed_weight(arc)}});
    }
  }
  Json nodes = Json::array();
  const Reading reading = state.read();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    Json node = brief(reading, shown[i]);
    node["distance"] = distance[i];
    node["degree"] = graph.degree(shown[i]);
    nodes.push_back(std::move(node));
  }
  const auto direct = static_cast<EdgeIndex>(std::ranges::count(distance, std::size_t{1}));
  return {{"center", state.names().name(center)},
          {"nodes", std::move(nodes)},
          {"edges", std::move(edges)},
          {"left_out", graph.degree(center) - direct}};
}

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

/// 0: begins with it, 1: holds it, 2: neither; capitals count as small letters.
int match(std::string_view text, std::string_view wanted) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  const auto found = std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same);
  return found == text.begin() && wanted.size() <= text.size() ? 0 : found != text.end() ? 1 : 2;
}

}  // namespace

Json search_view(const GraphState& state, const std::string& text, std::size_t limit) {
  constexpr NodeId kMostLookedAt = 4'000'000;
  std::array<std::vector<NodeId>, 2> found;
  const NodeId exact = text.empty() ? kNoNode : state.names().find(text).value_or(kNoNode);
  NodeNames::Digits digits;
  const NodeId end = std::min(state.view().num_nodes(), kMostLookedAt);
  for (NodeId node = 0; node < end && !text.empty() && found[0].size() <= limit; ++node) {
    int kind = match(state.names().view(node, digits), text);
    if (kind != 0 && !state.display(node).empty()) kind = std::min(kind, match(state.display(node), text));
    if (kind < 2 && node != exact && found[static_cast<std::size_t>(kind)].size() <= limit)
      found[static_cast<std::size_t>(kind)].push_back(node);
  }
  std::vector<NodeId> all;
  if (exact != kNoNode) all.push_back(exact);
  for (const auto& nodes : found) all.insert(all.end(), nodes.begin(), nodes.end());
  Json list = Json::array();
  const Reading reading = state.read();
  for (std::size_t i = 0; i < std::min(limit, all.size()); ++i)
    list.push_back({{"id", state.names().name(all[i])},
                    {"name", display_of(state, all[i])},
                    {"label", known_label(reading, all[i])}});
  return {{"nodes", std::move(list)}, {"more", all.size() > limit}};
}

namespace {

/// Per class: how many nodes have it, and of how many it is predicted (of small graphs).
Json class_counts(const GraphState& state) {
  const NodeId n = state.view().num_nodes();
  const bool counts_all = n <= kMostCounted;
  std::vector<std::uint64_t> predicted;
  for_some_nodes(counts_all ? n : 0, state, [&](const Reading& reading, NodeId node) {
    const Label label = reading.fold().label(node) == kNoLabel ? reading.predict(node).label : kNoLabel;
    if (label == kNoLabel) return;
    if (label >= predicted.size()) predicted.resize(std::size_t{label} + 1);
    ++predicted[label];
  });
  Json classes = Json::array();
  const Reading reading = state.read();
  predicted.resize(std::max(predicted.size(), reading.classes().size()));
  for (Label label = 0; label < reading.classes().size(); ++label)
    classes.push_back({{"label", reading.classes().name(label)},
                       {"count", reading.fold().num_labelled(label)},
                       {"predicted", counts_all ? Json(predicted[label]) : Json(nullptr)}});
  return classes;
}

Json disagreements(const Reading& reading) {
  Json list = Json::array();
  for (const NodeId node : reading.fold().shared_nodes()) {
    if (!reading.fold().is_disputed(node)) continue;
    if (list.size() == kMostDisagreements) break;
    Json labels = Json::array();
    for (const LabelFold::Told& one : reading.fold().by_person(node))
      labels.push_back(
          {{"who", reading.persons()[one.who]}, {"label", or_null(reading.class_name(one.label))}});
    list.push_back({{"node", reading.state.names().name(node)}, {"labels", std::move(labels)}});
  }
  return list;
}

}  // namespace

Json progress_view(const ServedGraph& graph) {
  const std::shared_ptr<GraphState> state = graph.state();
  const Json classes = class_counts(*state);
  const Reading reading = state->read();
  Json curve = Json::array(), annotators = Json::array();
  for (const ErrorCurve::Point& point : reading.curve().points(kMostPoints))
    curve.push_back({{"seq", point.seq},
                     {"labels", point.labels},
                     {"error", point.error},
                     {"low", point.low},
                     {"high", point.high}});
  for (std::uint32_t who = 0; who < reading.persons().size(); ++who)
    annotators.push_back({{"who", reading.persons()[who]},
                          {"labels", reading.labels_by_person()[who]},
                          {"skips", reading.fold().num_skips(who)}});
  const ErrorCurve::Stop stop = reading.curve().stop();
  return {{"version", reading.version()},
          {"labels", reading.fold().num_labelled()},
          {"classes", classes},
          {"curve", std::move(curve)},
          {"stop", {{"hint", stop.hint}, {"text", stop.text}}},
          {"annotators", std::move(annotators)},
          {"disagreements", disagreements(reading)},
          {"kappa", or_null(agreement(reading.fold()))}};
}

Json history_view(const ServedGraph& graph, std::uint64_t before, std::size_t limit) {
  Json events = Json::array();
  for (const Event& event : graph.store().before(before, limit)) events.push_back(event_json(event));
  return {{"events", std::move(events)}};
}

Json prediction_view(const Reading& reading, const std::string& name) {
  const std::optional<NodeId> node = reading.state.names().find(name);
  if (!node) return {{"id", name}, {"error", "no such node"}};
  const Prediction answer = reading.predict(*node);
  return {{"id", name},
          {"label", or_null(reading.class_name(answer.label))},
          {"confidence", answer.confidence},
          {"reached", answer.reached},
          {"known", reading.fold().label(*node) != kNoLabel}};
}

std::string labels_as_tsv(const GraphState& state) {
  // Readers of such a file number classes as they come, and ties and last bits depend on that: one node of
  // each class comes first, so that the other verbs answer as the server does.
  std::vector<std::string> first_of_class;
  std::string others;
  for_some_nodes(state.view().num_nodes(), state, [&](const Reading& reading, NodeId node) {
    const Label label = reading.fold().label(node);
    if (label == kNoLabel) return;
    if (label >= first_of_class.size()) first_of_class.resize(std::size_t{label} + 1);
    std::string& text = first_of_class[label].empty() ? first_of_class[label] : others;
    text += state.names().name(node) + "\t" + reading.classes().name(label) + "\n";
  });
  std::string text = "node\tlabel\n";
  for (const std::string& line : first_of_class) text += line;
  return text + others;
}

std::string labels_as_ndjson(const ServedGraph& graph) {
  constexpr std::size_t kMostAtOnce = 1000;
  const std::shared_ptr<GraphState> state = graph.state();
  std::string text;
  for (std::uint64_t seq = 0;;) {
    const std::vector<Event> events = graph.store().after(seq, kMostAtOnce);
    const Reading reading = state->read();
    for (const Event& event : events) {
      seq = event.seq;
      const std::optional<NodeId> node = state->names().find(event.node);
      const auto standing = node ? reading.fold().standing(*node) : std::nullopt;
      if (!standing || standing->seq != seq) continue;
      text += dump({{"node", event.node},
                    {"label", or_null(event.label)},
                    {"who", event.who},
                    {"at", time_text(event.at)},
                    {"seq", seq}}) +
              "\n";
    }
    if (events.size() < kMostAtOnce) return text;
  }
}

}  // namespace copse::server
