// SPDX-License-Identifier: Apache-2.0
#include "server/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>

namespace copse::server {

namespace {

/// Whether the path has the form of the route; its parameters are then in `parameters`.
bool matches(const std::vector<std::string>& wanted, const std::vector<std::string>& path,
             std::vector<std::string>& parameters) {
  if (wanted.size() != path.size()) return false;
  parameters.clear();
  for (std::size_t i = 0; i < path.size(); ++i)
    if (wanted[i].starts_with('{'))
      parameters.push_back(path[i]);
    else if (wanted[i] != path[i])
      return false;
  return true;
}

const std::vector<std::vector<std::string>>& route_paths() {
  static const std::vector<std::vector<std::string>> paths = [] {
    std::vector<std::vector<std::string>> all;
    for (const Route& route : routes()) all.push_back(parse_target(route.path).path);
    return all;
  }();
  return paths;
}

/// The route of a method and a path. HttpError 404, or 405 if only the method is wrong.
const Route& find_route(const std::string& method, const std::vector<std::string>& path,
                        std::vector<std::string>& parameters) {
  std::string allowed;
  for (std::size_t i = 0; i < routes().size(); ++i) {
    if (!matches(route_paths()[i], path, parameters)) continue;
    const Route& route = routes()[i];
    if (route.method == method || (method == "HEAD" && route.method == "GET")) return route;
    allowed += (allowed.empty() ? "" : ", ") + route.method;
  }
  if (!allowed.empty())
    throw HttpError(405, "request", copse::quoted(method) + " does not go with this address",
                    "use " + allowed);
  throw HttpError(404, "request", "there is nothing at this address",
                  "GET /v1/openapi.json lists all addresses");
}

/// /v1/graphs/NAME/... means /v1/... of that graph.
std::string take_graph_name(std::vector<std::string>& path) {
  if (path.size() < 4 || path[0] != "v1" || path[1] != "graphs") return "";
  std::string name = path[2];
  path.erase(path.begin() + 1, path.begin() + 3);
  return name;
}

/// CORS: the browser may show this answer to a page of that origin.
void allow_origin(Response& response, const std::string& origin) {
  const std::pair<std::string, std::string> headers[] = {
      {"Access-Control-Allow-Origin", origin},
      {"Access-Control-Allow-Methods", "GET, POST, PUT, DELETE"},
      {"Access-Control-Allow-Headers",
       "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Copse-Annotator"},
      {"Access-Control-Expose-Headers", "ETag, Retry-After"},
      {"Access-Control-Max-Age", "600"},
      {"Vary", "Origin"}};
  response.headers.insert(response.headers.end(), std::begin(headers), std::end(headers));
}

std::string without_port(std::string host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string::npos && host.find(']', colon) == std::string::npos) host.resize(colon);
  std::ranges::transform(host, host.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return host;
}

}  // namespace

Service::Service(ServiceOptions options) : options_(std::move(options)), tokens_(options_.data) {
  if (!options_.hosts.empty()) require_tokens("--host", "others can call the server by that name");
}

void Service::reload_tokens() {
  Tokens fresh(options_.data);
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(fresh);
}

void Service::require_tokens(const std::string& where, const std::string& why) {
  const std::lock_guard lock(mutex_);
  needs_token_ = true;
  if (tokens_.entries().empty())
    throw UsageError(where, why + ", and there is no token",
                     "make one first: copse serve token add NAME label --data DIR");
}

bool Service::is_listed_origin(const Request& request) const {
  return std::ranges::find(options_.origins, request.header("origin")) != options_.origins.end();
}

// A name that an attacker's server resolves to this machine (DNS rebinding) is not ours; a page of another
// origin may not change anything, not even where no token is asked for.
void Service::check_origin(const Request& request) const {
  const std::string host = without_port(request.header("host"));
  const bool is_ours = host == "localhost" || host == "127.0.0.1" || host == "[::1]" ||
                       std::ranges::find(options_.hosts, host) != options_.hosts.end();
  if (!is_ours)
    throw HttpError(421, "Host", copse::quoted(request.header("host")) + " is not a name of this server",
                    "call it by its address, or start it with --host " + (host.empty() ? "NAME" : host));
  if (is_listed_origin(request)) return;
  const std::string origin = request.header("origin");
  const std::size_t scheme = origin.find("://");
  const bool is_foreign =
      !origin.empty() && (scheme == std::string::npos || origin.substr(scheme + 3) != request.header("host"));
  if (is_foreign || request.header("sec-fetch-site") == "cross-site")
    throw HttpError(403, "Origin", "pages of other sites may not call this server",
                    "open its own page, or start it with --origin " + (origin.empty() ? "URL" : origin));
}

std::string Service::authorize(const Request& request, const Route& route) {
  std::string name = request.header("x-copse-annotator");
  if (name.empty()) name = "anonymous";
  if (name.size() > 256)
    throw HttpError(400, "X-Copse-Annotator", "is longer than 256 bytes", "use a shorter name");
  if (route.role == Role::nobody) return name;
  const std::lock_guard lock(mutex_);
  if (tokens_.entries().empty() && !needs_token_) return name;
  const std::string token = token_in(request.header("authorization"));
  if (token.empty())
    throw HttpError(401, "Authorization", "this server asks for a token", "send Authorization: Bearer TOKEN");
  const std::optional<Tokens::Entry> entry = tokens_.find(token);
  if (!entry)
    throw HttpError(401, "Authorization", "the token is not known",
                    "ask for one: copse serve token add NAME ROLE");
  if (entry->role < route.role)
    throw HttpError(
        403, "Authorization",
        std::string("the token is for ") + role_name(entry->role) + ", this needs " + role_name(route.role),
        "ask for a token of that role");
  return entry->name;
}

void Service::check_rate(const std::string& who) {
  const std::lock_guard lock(mutex_);
  if (options_.rate <= 0 || tokens_.entries().empty()) return;
  const Clock::time_point now = Clock::now();
  const double most = std::max(1.0, 2 * options_.rate);
  Bucket& bucket = buckets_.try_emplace(who, Bucket{most, now}).first->second;
  bucket.tokens =
      std::min(most, bucket.tokens + options_.rate * std::chrono::duration<double>(now - bucket.at).count());
  bucket.at = now;
  if (bucket.tokens < 1)
    throw HttpError(429, "request", copse::quoted(who) + " sends more than --rate allows",
                    "wait for the seconds of Retry-After");
  bucket.tokens -= 1;
}

Call Service::resolve(std::shared_ptr<const Request> request, const Route*& route) {
  Target target = parse_target(request->target);
  const std::string graph_name = take_graph_name(target.path);
  Call call{*request, *this, nullptr, std::move(target.query), {}, "", request};
  route = &find_route(request->method, target.path, call.parameters);
  // A path cannot carry the ids "." and "..": clients take them for steps.
  if (const auto id = call.query.find("id"); id != call.query.end() && !call.parameters.empty())
    call.parameters[0] = id->second;
  call.who = authorize(*request, *route);
  check_rate(call.who);
  if (route->is_change && options_.is_readonly)
    throw HttpError(403, "server", "it was started with --readonly: labels can be seen, not told",
                    "ask whoever runs it");
  for (const std::shared_ptr<ServedGraph>& graph : graphs_)
    if (!call.graph && (graph_name.empty() || graph->name() == graph_name)) call.graph = graph;
  if (!call.graph && route->role != Role::nobody)
    throw HttpError(graphs_.empty() ? 503 : 404, "graph " + copse::quoted(graph_name),
                    graphs_.empty() ? "is being read" : "is not served here",
                    graphs_.empty() ? "wait until /readyz says so" : "GET /v1/graphs lists those that are");
  return call;
}

void Service::finish(Response response, const Request& request, const Route* route, Clock::time_point start,
                     const Reply& reply) {
  const std::string path = route == nullptr ? "none" : route->path;
  metrics_.add(path, response.status, std::chrono::duration<double>(Clock::now() - start).count());
  if (response.status >= 500 && response.status != 503)
    log_line("error", "not answered", {{"route", path}, {"status", response.status}, {"why", response.body}});
  if (is_listed_origin(request)) allow_origin(response, request.header("origin"));
  reply(std::move(response));
}

void Service::handle(std::shared_ptr<const Request> request, const Reply& reply, const Later& later) {
  const Route* route = nullptr;
  const Clock::time_point start = Clock::now();
  try {
    check_origin(*request);
    if (request->method == "OPTIONS" && is_listed_origin(*request))
      return finish({204, "", "", {}, {}, {}}, *request, route, start, reply);
    const Call call = resolve(request, route);
    // A change is answered by the writer, when this has returned.
    const Reply finished = [=, this](Response response) {
      finish(std::move(response), *request, route, start, reply);
    };
    const auto run = [=] {
      try {
        route->run(call, finished);
      } catch (...) {
        finished(problem_response(std::current_exception()));
      }
    };
    const bool is_quick = request->body.size() < route->quick_bytes &&
                          (route->role == Role::nobody || call.graph->state()->answers_at_once());
    if (is_quick)
      run();
    else
      later(run);
  } catch (...) {
    finish(problem_response(std::current_exception()), *request, route, start, reply);
  }
}

Response Service::answer(const Request& request) {
  std::promise<Response> answered;
  handle(
      std::make_shared<const Request>(request),
      [&](Response response) { answered.set_value(std::move(response)); },
      [](const std::function<void()>& work) { work(); });
  return answered.get_future().get();
}

void Metrics::add(const std::string& route, int status, double seconds) {
  const auto bucket = std::ranges::lower_bound(kBounds, seconds) - kBounds.begin();
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  ++times_[route].counts[static_cast<std::size_t>(bucket)];
  times_[route].sum += seconds;
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string text = "# TYPE copse_requests_total counter\n";
  for (const auto& [key, count] : requests_)
    text +=
        fmt::format("copse_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  text += "# TYPE copse_request_seconds histogram\n";
  for (const auto& [route, times] : times_) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < times.counts.size(); ++i) {
      total += times.counts[i];
      text += fmt::format("copse_request_seconds_bucket{{route=\"{}\",le=\"{}\"}} {}\n", route,
                          i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf", total);
    }
    text += fmt::format(
        "copse_request_seconds_sum{{route=\"{0}\"}} {1:.6g}\ncopse_request_seconds_count{{route=\"{0}\"}} "
        "{2}\n",
        route, times.sum, total);
  }
  return text + fmt::format(
                    "# TYPE copse_connections gauge\ncopse_connections {}\n"
                    "# TYPE copse_event_streams gauge\ncopse_event_streams {}\n",
                    num_connections.load(), num_streams.load());
}

}  // namespace copse::server
