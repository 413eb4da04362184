// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/served_graph.hpp"

// What GET requests show of a graph, as JSON.

namespace copse::server {

/// The node of that id; HttpError 404.
NodeId node_named(const GraphState& state, const std::string& name);

Json graph_view(const ServedGraph& graph, bool is_readonly);
Json node_view(const GraphState& state, NodeId node, std::size_t most_neighbors);
/// The nodes around one, breadth first, heavier edges first.
Json neighborhood_view(const GraphState& state, NodeId center, std::size_t most_nodes);
Json search_view(const GraphState& state, const std::string& text, std::size_t limit);
Json progress_view(const ServedGraph& graph);
Json history_view(const ServedGraph& graph, std::uint64_t before, std::size_t limit);
/// One entry per id: a prediction, or what is wrong.
Json prediction_view(const GraphState::Reading& reading, const std::string& name);
// All labels that stand: by node, and by when they were told.
std::string labels_as_tsv(const GraphState& state);
std::string labels_as_ndjson(const ServedGraph& graph);

}  // namespace copse::server
