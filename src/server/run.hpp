// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "copse/graph/labels.hpp"
#include "server/graph_state.hpp"
#include "server/service.hpp"

namespace copse::server {

struct ServeOptions {
  struct Source {
    std::string name;
    std::function<GraphInput()> read;
    std::function<Labels(const NamedGraph&)> first_labels;  // told when there is no event yet; may be empty
  };
  std::vector<Source> sources;
  GraphSetup setup;
  ServiceOptions service;
  std::string address = "127.0.0.1";
  std::uint16_t port = 8470;
  int num_threads = 4;
  bool may_rebase = false;
  std::function<void(const std::string& url)> on_listening;
};

/// Serves until it is told to end. Everything that is wrong with the options or the data is thrown before.
void serve(const ServeOptions& options);

}  // namespace copse::server
