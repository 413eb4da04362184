// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

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

}  // namespace copse::server
