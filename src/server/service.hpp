// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/http.hpp"
#include "server/served_graph.hpp"
#include "server/tokens.hpp"

namespace copse::server {

/// Counts of requests and how long they took, as Prometheus reads them.
class Metrics {
 public:
  void add(const std::string& route, int status, double seconds);
  std::string text() const;
  std::atomic<std::uint64_t> num_connections = 0, num_streams = 0;

 private:
  static constexpr std::array<double, 9> kBounds{0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};
  struct Times {
    std::array<std::uint64_t, kBounds.size() + 1> counts{};
    double sum = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::map<std::string, Times> times_;
};

struct ServiceOptions {
  std::string data;                // directory of tokens and snapshots
  std::vector<std::string> hosts;  // names by which browsers may call us (Host), beside those of this machine
  double rate = 1000;              // requests per second and token, 0 for no limit
  std::vector<std::string> origins = {};  // whose pages may call us (CORS), beside our own
  bool is_readonly = false;               // nothing is stored
};

/// A request on its way: what its route, its token and its graph turned out to be.
struct Call {
  const Request& request;
  class Service& service;
  std::shared_ptr<ServedGraph> graph;
  std::map<std::string, std::string> query;
  std::vector<std::string> parameters;  // of the path, decoded, in order
  std::string who;
  std::shared_ptr<const Request> owner;  // of `request`
};

/// One row per route. The router, the check of roles, the OpenAPI document and the tests read these.
struct Route {
  std::string method, path;  // "/v1/nodes/{id}/label"
  Role role;                 // nobody: open to all
  std::string summary;
  std::function<void(const Call&, const Reply&)> run;
  std::string body = {};                    // media type that it takes, "" for none
  std::string answer = "application/json";  // media type of the answer
  std::vector<std::string> query = {};      // names
  // Bodies shorter than this are answered without waiting (predictions: by a learner that only looks them
  // up), in the thread that reads sockets: to another thread and back costs more than a small answer.
  std::size_t quick_bytes = 0;
  bool is_change = false;  // stores something
};
const std::vector<Route>& routes();
/// The document that describes them, OpenAPI 3.1.
Json openapi_document();

/// Turns requests into answers, without sockets: any number of threads may call.
class Service {
 public:
  explicit Service(ServiceOptions options);

  void add(std::shared_ptr<ServedGraph> graph) { graphs_.push_back(std::move(graph)); }
  const std::vector<std::shared_ptr<ServedGraph>>& graphs() const { return graphs_; }
  void close_graphs() { graphs_.clear(); }  // what waits is stored
  /// Reads the tokens again.
  void reload_tokens();
  /// Others than this machine can call: from here on nobody may without a token. UsageError if there is none.
  void require_tokens(const std::string& where, const std::string& why);

  /// Answers once, now or later, perhaps in another thread. Never throws. What may wait is given to `later`.
  using Later = std::function<void(std::function<void()> work)>;
  void handle(std::shared_ptr<const Request> request, const Reply& reply, const Later& later);
  /// The same, waiting for the answer: for tests and fuzzers.
  Response answer(const Request& request);

  const ServiceOptions& options() const { return options_; }
  Metrics& metrics() { return metrics_; }

 private:
  bool is_listed_origin(const Request& request) const;
  void check_origin(const Request& request) const;
  /// Who calls; HttpError 401 or 403.
  std::string authorize(const Request& request, const Route& route);
  void check_rate(const std::string& who);
  /// The route of a request whose caller may take it.
  Call resolve(std::shared_ptr<const Request> request, const Route*& route);
  using Clock = std::chrono::steady_clock;
  void finish(Response response, const Request& request, const Route* route, Clock::time_point start,
              const Reply& reply);

  ServiceOptions options_;
  std::vector<std::shared_ptr<ServedGraph>> graphs_;
  Metrics metrics_;
  mutable std::mutex mutex_;  // of all below
  Tokens tokens_;
  bool needs_token_ = false;
  struct Bucket {
    double tokens;
    Clock::time_point at;
  };
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace copse::server
