// SPDX-License-Identifier: Apache-2.0
#include "server/service.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio.hpp>
#include <csignal>
#include <filesystem>
#include <thread>

#include "copse/graph/build.hpp"
#include "server/http_server.hpp"

namespace copse::server {
namespace {

constexpr NodeId kNumNodes = 200;

GraphInput a_path() {
  std::vector<Edge> edges;
  for (NodeId node = 0; node + 1 < kNumNodes; ++node) edges.push_back({node, node + 1});
  return {{graph_from_pairs(kNumNodes, edges), NodeNames::numbered(kNumNodes)}, {}};
}

GraphSetup setup_of(const std::string& learner) {
  GraphSetup setup;
  setup.learner = {&learner_row(learner), {}, {}};
  setup.strategy = {&query_row("random"), {}, {}};
  return setup;
}

class ServiceTest : public testing::Test {
 protected:
  ServiceTest()
      : directory_((std::filesystem::temp_directory_path() / ("copse_service_" + random_hex(8))).string()) {
    std::filesystem::create_directories(directory_);
  }
  ~ServiceTest() override {
    service_.reset();
    std::filesystem::remove_all(directory_);
  }
  Service& serve(const GraphSetup& setup) {
    service_.reset();
    service_ = std::make_unique<Service>(ServiceOptions{directory_, {}, 0});
    service_->add(
        std::make_shared<ServedGraph>("graph", directory_ + "/graph.sqlite", a_path(), setup, false, [] {}));
    return *service_;
  }
  void start_anew() {
    service_.reset();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  static Request request(const std::string& method, const std::string& target, const std::string& body = "",
                         const std::string& who = "ann") {
    return {method, target, {{"host", "localhost"}, {"x-copse-annotator", who}}, body};
  }
  Json ask(const std::string& method, const std::string& target, const std::string& body = "",
           const std::string& who = "ann") {
    const Response response = service_->answer(request(method, target, body, who));
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }
  std::string directory_;
  std::unique_ptr<Service> service_;
};

TEST_F(ServiceTest, a_restart_gives_the_same_answers_as_before) {
  for (const std::string learner : {"wta", "graph_perceptron"}) {
    SCOPED_TRACE(learner);
    serve(setup_of(learner));
    for (int i = 0; i < 20; ++i)
      ask("PUT", "/v1/nodes/" + std::to_string(i * 37 % 200) + "/label",
          i % 3 == 0 ? R"({"label": "a"})" : R"({"label": "b"})");
    ask("POST", "/v1/undo");
    ask("DELETE", "/v1/nodes/37/label");
    const Json before = ask("GET", "/v1/nodes/50?neighbors=300");
    const Json progress = ask("GET", "/v1/progress");
    serve(setup_of(learner));
    EXPECT_EQ(ask("GET", "/v1/nodes/50?neighbors=300"), before);
    EXPECT_EQ(ask("GET", "/v1/progress"), progress);
    start_anew();
  }
}

TEST_F(ServiceTest, many_threads_ask_tell_and_reload_at_once) {
  for (const std::string learner :
       {"wta", "label_propagation"}) {  // one that learns at once, one that solves beside
    SCOPED_TRACE(learner);
    serve(setup_of(learner));
    std::atomic<int> num_told = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const std::string who = "person" + std::to_string(t);
        for (int i = 0; i < 15; ++i) {
          const std::string node = std::to_string((t * 50 + i) % 200);
          if (service_->answer(request("PUT", "/v1/nodes/" + node + "/label", R"({"label": "x"})", who))
                  .status == 200)
            ++num_told;
          ask("GET", "/v1/nodes/" + node, "", who);
          ask("POST", "/v1/predict", R"({"nodes": ["1", "2", "199"]})", who);
          ask("POST", "/v1/queue/next", "{}", who);
          if (i % 5 == 4) ask("GET", "/v1/progress", "", who);
          if (i % 5 == 3) service_->answer(request("GET", "/v1/labels", "", who));
        }
      });
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) service_->graphs()[0]->reload(a_path(), setup_of(learner), false);
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(num_told, 60);
    EXPECT_EQ(ask("GET", "/v1/graph")["version"], 60);
    EXPECT_EQ(ask("GET", "/v1/graph")["labels"], 60);
    start_anew();
  }
}

/// What comes back on a connection of its own, until `end` is in it or the server closes.
std::string over_socket(std::uint16_t port, const std::string& method, const std::string& path,
                        const std::string& body, const std::string& end) {
  namespace asio = boost::asio;
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  socket.connect({asio::ip::address_v4::loopback(), port});
  asio::write(socket,
              asio::buffer(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
  std::string answer;
  boost::system::error_code error;
  asio::read_until(socket, asio::dynamic_buffer(answer), end, error);
  return answer;
}

// The thread of the sockets answers predictions itself, the pool other questions, the writer labels; all of
// them while the graph is replaced and a listener is told.
TEST_F(ServiceTest, many_threads_ask_and_tell_over_sockets_while_the_graph_is_reloaded) {
  service_ = std::make_unique<Service>(ServiceOptions{directory_, {}, 0});
  HttpServer server(*service_, "127.0.0.1", 0, 2);
  service_->add(std::make_shared<ServedGraph>("graph", directory_ + "/graph.sqlite", a_path(),
                                              setup_of("wta"), false, [&] { server.tell_news(); }));
  const std::uint16_t port = server.port();
  std::atomic<int> num_reloads = 0;
  std::thread serving([&] {
    server.run([&] {
      service_->graphs()[0]->reload(a_path(), setup_of("wta"), false);
      ++num_reloads;
    });
  });
  EXPECT_NE(over_socket(port, "GET", "/healthz", "", "ok").find("200 OK"), std::string::npos);
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    EXPECT_NE(over_socket(port, "GET", "/v1/events", "", "id: 45\n").find("id: 44\n"), std::string::npos);
  });
  while (service_->metrics().num_streams == 0) std::this_thread::yield();
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 15; ++i) {
        const std::string node = std::to_string(t * 50 + i);
        const auto answers = [&](const std::string& method, const std::string& path,
                                 const std::string& body) {
          EXPECT_NE(over_socket(port, method, path, body, "}").find("200 OK"), std::string::npos) << path;
        };
        answers("PUT", "/v1/nodes/" + node + "/label", R"({"label": "x"})");
        answers("POST", "/v1/predict", R"({"nodes": ["1", "2", "199"]})");
        answers("POST", "/v1/queue/next", "{}");
        if (i % 5 == 0) std::raise(SIGHUP);
      }
    });
  for (std::thread& thread : threads) thread.join();
  while (num_reloads == 0) std::this_thread::yield();
  EXPECT_EQ(ask("GET", "/v1/graph")["labels"], 45);
  std::raise(SIGTERM);
  serving.join();
  service_->close_graphs();  // while there is a server to tell
}

TEST_F(ServiceTest, paths_and_queries_are_decoded_once) {
  const Target target = parse_target("/v1/nodes/a%2Fb%2520?q=x+y%26&empty&n=1");
  EXPECT_EQ(target.path, (std::vector<std::string>{"v1", "nodes", "a/b%20"}));
  EXPECT_EQ(target.query.at("q"), "x y&");
  EXPECT_EQ(target.query.at("empty"), "");
  EXPECT_THROW(parse_target("/%2"), HttpError);
  EXPECT_THROW(parse_target("/%zz"), HttpError);
}

TEST_F(ServiceTest, every_route_says_what_it_answers) {
  for (const Route& route : routes()) {
    EXPECT_FALSE(route.summary.empty()) << route.path;
    EXPECT_TRUE(openapi_document()["paths"].contains(route.path)) << route.path;
    EXPECT_TRUE(route.method == "GET" || route.role != Role::nobody) << route.path;
  }
}

}  // namespace
}  // namespace copse::server
