// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "server/service.hpp"

namespace copse::server {

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

}  // namespace copse::server
