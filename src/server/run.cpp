// SPDX-License-Identifier: Apache-2.0
#include "server/run.hpp"

#include "server/changes.hpp"
#include "server/http_server.hpp"

namespace copse::server {

namespace {

/// Labels of a file, as events like any others.
void tell_first_labels(ServedGraph& graph, const Labels& labels) {
  graph.store_alone([&](GraphState& state, const EventStore&) {
    Prepared prepared;
    for (NodeId node = 0; node < labels.of_node.size(); ++node) {
      if (labels.of_node[node] == kNoLabel) continue;
      Event event;
      event.node = state.names().name(node);
      event.id = "--labels\n" + event.node;
      event.at = now_milliseconds();
      event.who = "--labels";
      event.label = labels.classes.name(labels.of_node[node]);
      prepared.events.push_back(std::move(event));
    }
    return prepared;
  });
}

Json facts_of(const ServedGraph& graph) {
  const auto state = graph.state();
  const GraphState::Reading reading = state->read();
  return {{"graph", graph.name()},
          {"nodes", state->view().num_nodes()},
          {"labels", reading.fold().num_labelled()},
          {"events", reading.version()},
          {"ignored_events", state->num_ignored()}};
}

void reload_all(Service& service, const ServeOptions& options) {
  try {
    service.reload_tokens();
    for (std::size_t i = 0; i < options.sources.size(); ++i) {
      service.graphs()[i]->reload(options.sources[i].read(), options.setup, options.may_rebase);
      log_line("info", "reloaded", facts_of(*service.graphs()[i]));
    }
  } catch (const std::exception& error) {
    log_line("error", "not reloaded: what was served before still is", {{"error", error.what()}});
  }
}

}  // namespace

void serve(const ServeOptions& options) {
  make_directory(options.service.data);
  Service service(options.service);
  HttpServer server(service, options.address, options.port, options.num_threads);
  for (const ServeOptions::Source& source : options.sources) {
    const std::string database = options.service.data + "/" + source.name + ".sqlite";
    auto graph = std::make_shared<ServedGraph>(source.name, database, source.read(), options.setup,
                                               options.may_rebase, [&server] { server.tell_news(); });
    if (source.first_labels && graph->store().last_seq() == 0) {
      const auto state = graph->state();
      tell_first_labels(*graph, source.first_labels(state->named_graph()));
    }
    log_line("info", "serving", facts_of(*graph));
    service.add(std::move(graph));
  }
  const bool is_v6 = options.address.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + options.address + "]" : options.address;
  options.on_listening("http://" + host + ":" + std::to_string(server.port()) + "/");
  server.run([&] { reload_all(service, options); });
  service.close_graphs();  // while there is a server to tell
  log_line("info", "ended");
}

}  // namespace copse::server
