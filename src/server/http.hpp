// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "copse/support/error.hpp"
#include "server/event_store.hpp"

namespace copse::server {

/// A request without its socket.
struct Request {
  std::string method;
  std::string target;                          // as sent: path and query, percent-encoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string header(const std::string& name) const;  // "" if there is none
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // The body is the stream of this graph's events after that one.
  std::optional<std::uint64_t> stream_after = {};
  std::shared_ptr<class ServedGraph> graph = {};
};
using Reply = std::function<void(Response)>;

/// An error with a status of its own; others are 400 (the request), 507 (the disk) or 500 (we).
class HttpError : public Error {
 public:
  HttpError(int status, const std::string& where, const std::string& what, const std::string& remedy)
      : Error(where, what, remedy), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

Response json_response(const Json& json, int status = 200);
/// RFC 9457: where, what and remedy of the exception.
Response problem_response(std::exception_ptr error);

/// The path in pieces, and the query. HttpError where percent signs do not make sense.
struct Target {
  std::vector<std::string> path;
  std::map<std::string, std::string> query;
};
Target parse_target(std::string_view target);

/// The number in that part of the query, between `low` and `high`.
std::uint64_t number_in(const std::map<std::string, std::string>& query, const std::string& name,
                        std::uint64_t otherwise, std::uint64_t low, std::uint64_t high);

/// The body as a JSON object; HttpError says where it goes wrong.
Json object_in(const Request& request);
/// A member that must be a string (or may be absent).
std::string string_in(const Json& object, const std::string& name);

}  // namespace copse::server
