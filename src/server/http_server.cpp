// SPDX-License-Identifier: Apache-2.0
#include "server/http_server.hpp"

#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <set>

#include <sys/resource.h>

#include "server/changes.hpp"

namespace copse::server {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::beast::error_code;
using Seconds = std::chrono::seconds;

namespace {

constexpr std::uint64_t kMostBodyBytes = 1 << 20, kMostConnections = 4096;
constexpr std::uint32_t kMostHeaderBytes = 16 << 10;
// Between requests; for the header of one; for its body; for the client to take the answer.
constexpr Seconds kIdle{75}, kForHeader{5}, kForBody{30}, kForAnswer{30}, kPing{15}, kLastMoments{10};
// Before the next client is let in where no file was left for one; between news, told to thousands one by
// one.
constexpr std::chrono::milliseconds kPause{50}, kBetweenNews{50};

constexpr std::pair<const char*, const char*> kSafety[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

Request to_request(http::request<http::string_body>&& from) {
  Request request;
  request.method = std::string(from.method_string());
  request.target = std::string(from.target());
  for (const auto& field : from) {
    std::string name(field.name_string());
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    request.headers.insert_or_assign(std::move(name), std::string(field.value()));
  }
  request.body = std::move(from.body());
  return request;
}

// Every client is one, and the usual limit is 1,024.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

struct HttpServer::State {
  State(Service& service_, int num_threads)
      : service(service_), pool(static_cast<std::size_t>(num_threads)) {}

  Service& service;
  std::set<Connection*> connections;  // of the I/O thread, like all up to `io`
  std::size_t num_working = 0;        // requests that are not answered yet
  bool is_ending = false;
  std::atomic<bool> has_news = false;
  asio::io_context io{1};  // before all that uses it, and after what connections look at when they go with it
  tcp::acceptor acceptor{io};
  asio::signal_set end{io}, hangup{io};
  asio::steady_timer last_moments{io}, pause{io}, news{io};
  asio::steady_timer::time_point told = {};
  asio::thread_pool pool;
};

/// One client: requests one after the other, or the stream of events. All members belong to the I/O thread;
/// `timer_` closes whoever takes too long.
class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(State& state, tcp::socket socket)
      : state_(&state), socket_(std::move(socket)), timer_(state_->io) {
    state_->connections.insert(this);
    state_->service.metrics().num_connections = state_->connections.size();
  }
  ~Connection() {
    state_->connections.erase(this);
    state_->service.metrics().num_connections = state_->connections.size();
    if (graph_) --state_->service.metrics().num_streams;
  }

  void wait_for_request() {
    if (state_->is_ending) return close();
    if (buffer_.size() > 0) return read_header();
    limit(kIdle);
    is_idle_ = true;
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
      self->is_idle_ = false;
      if (!error) self->read_header();
    });
  }

  void tell_news() {
    if (graph_ && !is_writing_) write_news();
  }
  void end() {  // between requests, or never to end by itself
    if (is_idle_ || graph_) drop();
  }
  void drop() {
    close();
    keep_.reset();
  }

 private:
  void close() {
    error_code ignored;
    timer_.cancel();
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

  void limit(Seconds time) {
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this()](error_code error) {
      if (const auto self = weak.lock(); self && !error) self->close();
    });
  }

  void read_header() {
    limit(kForHeader);
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(kMostBodyBytes);
    http::async_read_header(socket_, buffer_, *parser_,
                            [self = shared_from_this()](error_code error, std::size_t) {
                              if (error) return self->refuse(error);
                              if (self->parser_->get()[http::field::expect] == "100-continue")
                                return self->ask_for_body();
                              self->read_body();
                            });
  }

  void ask_for_body() {
    out_ = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(socket_, asio::buffer(out_),
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (!error) self->read_body();
                      });
  }

  void read_body() {
    limit(kForBody);
    http::async_read(socket_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->refuse(error);
      self->answer();
    });
  }

  // Half a request, or one that is too long, or none at all.
  void refuse(error_code error) {
    if (error == http::error::end_of_stream ||
        error.category() != http::make_error_code(http::error::bad_value).category())
      return close();
    const int status = error == http::error::body_limit     ? 413
                       : error == http::error::header_limit ? 431
                                                            : 400;
    keep_alive_ = is_head_ = false;
    was_refused_ = true;
    ++state_->num_working;
    write(problem_response(std::make_exception_ptr(
        HttpError(status, "request", "cannot be read: " + error.message(),
                  "headers may have 16 KiB, bodies 1 MiB; send more labels in several requests"))));
  }

  void answer() {
    timer_.cancel();  // computing has no limit of its own
    keep_alive_ = parser_->get().keep_alive();
    is_head_ = parser_->get().method() == http::verb::head;
    ++state_->num_working;
    const Reply reply = [self = shared_from_this()](Response response) {
      asio::dispatch(self->state_->io, [self, response = std::move(response)]() mutable {
        if (response.stream_after && !self->is_head_)
          self->start_stream(std::move(response));
        else
          self->write(std::move(response));
      });
    };
    state_->service.handle(
        std::make_shared<const Request>(to_request(parser_->release())), reply,
        [state = state_](std::function<void()> work) { asio::post(state->pool, std::move(work)); });
  }

  void write(Response from) {
    auto response = std::make_shared<http::response<http::string_body>>();
    response->result(static_cast<unsigned>(from.status));
    response->version(11);
    if (from.status != 204) response->set(http::field::content_type, from.type);
    for (const auto& [name, value] : kSafety) response->set(name, value);
    response->set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : from.headers) response->set(name, value);
    response->keep_alive(keep_alive_ && !state_->is_ending);
    response->body() = std::move(from.body);
    if (from.status != 204) response->content_length(response->body().size());
    if (is_head_) response->body().clear();
    limit(kForAnswer);
    http::async_write(socket_, *response,
                      [self = shared_from_this(), response](error_code error, std::size_t) {
                        self->finish_working();
                        if (!error && self->was_refused_) return self->drain();
                        if (error || !response->keep_alive()) return self->close();
                        self->wait_for_request();
                      });
  }

  // Whoever still sends would lose the answer if we closed now.
  void drain() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    limit(kForHeader);
    discard();
  }
  void discard() {
    out_.resize(1 << 16);
    socket_.async_read_some(asio::buffer(out_), [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->close();
      self->discard();
    });
  }

  void finish_working() {
    if (--state_->num_working == 0 && state_->is_ending) state_->io.stop();
  }

  // --- the stream of events ---

  void start_stream(Response response) {
    finish_working();
    graph_ = std::move(response.graph);
    told_ = *response.stream_after;
    ++state_->service.metrics().num_streams;
    std::string head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: "
        "close\r\n";
    const auto add = [&](const std::string& name, const std::string& value) {
      head += name + ": " + value + "\r\n";
    };
    for (const auto& [name, value] : kSafety) add(name, value);
    for (const auto& [name, value] : response.headers) add(name, value);
    write_text(head + "\r\nretry: 2000\n\n");
    ping_later();
    // Whatever comes from there is nothing but the end.
    socket_.async_wait(tcp::socket::wait_read, [weak = weak_from_this()](error_code) {
      if (const auto self = weak.lock()) self->drop();
    });
    keep_ = shared_from_this();
  }

  void write_text(std::string text) {
    is_writing_ = true;
    out_ = std::move(text);
    asio::async_write(socket_, asio::buffer(out_),
                      [self = shared_from_this()](error_code error, std::size_t) {
                        self->is_writing_ = false;
                        if (error) return self->drop();
                        self->write_news();
                      });
  }

  // Nothing waits for a slow client but its place in the log.
  void write_news() {
    const ServedGraph::News news = graph_->news_after(told_, false);
    if (!news.is_complete) return fetch_news();
    std::string text = news.text;
    told_ = news.seq;
    add_model_news(text);
    if (!text.empty()) write_text(std::move(text));
  }

  void add_model_news(std::string& text) {
    const Model::Snapshot model = graph_->state()->model_news();
    if (!model.learner || model.version == told_model_) return;
    told_model_ = model.version;
    text += "event: model\ndata: " + dump({{"version", model.version}, {"lag", model.lag}}) + "\n\n";
  }

  void fetch_news() {
    is_writing_ = true;
    asio::post(state_->pool, [self = shared_from_this()] {
      ServedGraph::News news = self->graph_->news_after(self->told_, true);
      asio::post(self->state_->io, [self, news = std::move(news)] {
        self->told_ = news.seq;
        self->write_text(news.text);
      });
    });
  }

  void ping_later() {
    timer_.expires_after(kPing);
    timer_.async_wait([weak = weak_from_this()](error_code error) {
      const auto self = weak.lock();
      if (!self || error) return;
      if (self->is_writing_) return self->drop();  // the client has taken nothing for so long
      self->write_text(": ping\n\n");
      self->ping_later();
    });
  }

  State* state_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::string out_;
  bool keep_alive_ = false, is_head_ = false, is_idle_ = false, is_writing_ = false, was_refused_ = false;
  std::shared_ptr<ServedGraph> graph_;  // of the stream
  std::shared_ptr<Connection> keep_;    // a stream waits for news, not for a socket
  std::uint64_t told_ = 0, told_model_ = ~std::uint64_t{0};
};

HttpServer::HttpServer(Service& service, const std::string& address, std::uint16_t port, int num_threads)
    : state_(std::make_unique<State>(service, num_threads)) {
  error_code error;
  const asio::ip::address ip = asio::ip::make_address(address, error);
  if (error)
    throw UsageError("--listen", copse::quoted(address) + " is no address",
                     "give digits, as 127.0.0.1:8470 or [::1]:8470");
  if (!ip.is_loopback()) service.require_tokens("--listen", address + " can be reached from other machines");
  allow_many_files();
  const tcp::endpoint endpoint(ip, port);
  tcp::acceptor& acceptor = state_->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    throw UsageError("--listen", address + ":" + std::to_string(port) + " cannot be had: " + error.message(),
                     "another program may use it; give another port, or 0 for any");
}

HttpServer::~HttpServer() {
  state_->io.stop();
  state_->pool.join();
}

std::uint16_t HttpServer::port() const { return state_->acceptor.local_endpoint().port(); }

void HttpServer::tell_news() {
  if (state_->has_news.exchange(true)) return;  // it will be seen
  asio::post(state_->io, [state = state_.get()] {
    state->news.expires_at(state->told + kBetweenNews);  // at once, if it was quiet before
    state->news.async_wait([state](error_code) {
      state->told = asio::steady_timer::clock_type::now();
      state->has_news = false;
      const std::set<Connection*> all = state->connections;
      for (Connection* one : all) one->tell_news();
    });
  });
}

void HttpServer::run(std::function<void()> reload) {
  State& state = *state_;
  const std::function<void()> accept = [&] {
    state.acceptor.async_accept([&](error_code error, tcp::socket socket) {
      if (state.is_ending) return;
      if (!error && state.connections.size() < kMostConnections) {
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        // The last reference may be that of a slow call on the pool; connections belong to this thread.
        const auto let_go = [&state](Connection* one) { asio::dispatch(state.io, [one] { delete one; }); };
        std::shared_ptr<Connection>(new Connection(state, std::move(socket)), let_go)->wait_for_request();
      }
      if (!error) return accept();
      // No file is left for another client: asking at once would only ask again.
      state.pause.expires_after(kPause);
      state.pause.async_wait([&](error_code) { accept(); });
    });
  };
  accept();
  // From here on; before, while graphs are read, Ctrl-C ends the program as in other verbs.
  for (const int signal : {SIGINT, SIGTERM}) state.end.add(signal);
  state.hangup.add(SIGHUP);
  state.end.async_wait([&](error_code error, int signal) {
    if (error) return;
    log_line("info", "ending", {{"signal", signal}, {"unanswered", state.num_working}});
    state.is_ending = true;
    state.acceptor.close();
    const std::set<Connection*> all = state.connections;
    for (Connection* one : all) one->end();
    state.last_moments.expires_after(kLastMoments);
    state.last_moments.async_wait([&](error_code) { state.io.stop(); });
    if (state.num_working == 0) state.io.stop();
  });
  std::function<void(error_code, int)> on_hangup = [&](error_code error, int) {
    if (error) return;
    asio::post(state.pool, reload);
    state.hangup.async_wait(on_hangup);
  };
  state.hangup.async_wait(on_hangup);
  state.io.run();
  state.pool.join();
  const std::set<Connection*> left = state.connections;
  for (Connection* one : left) one->drop();
  state.io.restart();
  state.io.poll();  // lets go of those that are closed, and of the graphs they stream
}

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
