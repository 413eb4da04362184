// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

/// Sockets: one thread reads and writes them all, a few others compute answers. Slow and half-open clients
/// cost a timer and a buffer, not a thread.
class HttpServer {
 public:
  /// Listens; port 0 takes a free one. UsageError where the address cannot be had.
  HttpServer(Service& service, const std::string& address, std::uint16_t port, int num_threads);
  ~HttpServer();

  std::uint16_t port() const;
  /// Serves until SIGTERM or Ctrl-C, answers what was asked by then, and returns. SIGHUP calls `reload` in a
  /// thread of its own.
  void run(std::function<void()> reload);
  /// There are events to tell; from any thread.
  void tell_news();

 private:
  struct State;
  class Connection;
  std::unique_ptr<State> state_;
};

/// Serves until it is told to end. Everything that is wrong with the options or the data is thrown before.
void serve(const ServeOptions& options);

}  // namespace copse::server
