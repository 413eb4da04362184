// SPDX-License-Identifier: Apache-2.0
#include "server/metrics.hpp"

#include <algorithm>
#include <sstream>

namespace copse::server {

void Metrics::add(const std::string& route, int status, double seconds) {
  const auto bucket = std::ranges::lower_bound(kBounds, seconds) - kBounds.begin();
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  ++times_[route].counts[static_cast<std::size_t>(bucket)];
  times_[route].sum += seconds;
}

std::string Metrics::text() const {
  std::ostringstream out;
  const std::lock_guard lock(mutex_);
  out << "# TYPE copse_requests_total counter\n";
  for (const auto& [key, count] : requests_)
    out << "copse_requests_total{route=\"" << key.first << "\",status=\"" << key.second << "\"} " << count
        << "\n";
  out << "# TYPE copse_request_seconds histogram\n";
  for (const auto& [route, times] : times_) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < times.counts.size(); ++i) {
      total += times.counts[i];
      out << "copse_request_seconds_bucket{route=\"" << route << "\",le=\"";
      if (i < kBounds.size())
        out << kBounds[i];
      else
        out << "+Inf";
      out << "\"} " << total << "\n";
    }
    out << "copse_request_seconds_sum{route=\"" << route << "\"} " << times.sum << "\n";
    out << "copse_request_seconds_count{route=\"" << route << "\"} " << total << "\n";
  }
  out << "# TYPE copse_connections gauge\ncopse_connections " << num_connections << "\n";
  out << "# TYPE copse_event_streams gauge\ncopse_event_streams " << num_streams << "\n";
  return out.str();
}

}  // namespace copse::server
