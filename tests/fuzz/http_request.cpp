// SPDX-License-Identifier: Apache-2.0
// The request handling of `copse serve` without a socket: a method, an address and a body of any bytes.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "copse/graph/build.hpp"
#include "server/service.hpp"

namespace {

using namespace copse;

server::Service& service() {
  static const std::unique_ptr<server::Service> made = [] {
    const std::string directory =
        (std::filesystem::temp_directory_path() / ("copse_fuzz_" + server::random_hex(8))).string();
    std::filesystem::create_directories(directory);
    static const std::string to_remove = directory;
    std::atexit([] { std::filesystem::remove_all(to_remove); });
    server::GraphSetup setup;
    setup.learner = {&learner_row("wta"), {}, {}};
    setup.strategy = {&query_row("random"), {}, {}};
    NamedGraph graph{graph_from_pairs(8, {{0, 1}, {1, 2}, {2, 3}, {5, 6}}), NodeNames::numbered(8)};
    auto service = std::make_unique<server::Service>(server::ServiceOptions{directory, {}, 0});
    service->add(std::make_shared<server::ServedGraph>(
        "graph", directory + "/graph.sqlite", server::GraphInput{std::move(graph), {}}, setup, false, [] {}));
    return service;
  }();
  return *made;
}

}  // namespace

// The first byte chooses the route, the rest fills its parameter, its query and its body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const server::Route& route = server::routes()[data[0] % server::routes().size()];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t line = std::min(text.find('\n'), text.size());
  server::Request request;
  request.method = route.method;
  request.target = route.path.substr(0, route.path.find('{')) + text.substr(0, line);
  if (route.path.ends_with("/label")) request.target += "/label";
  request.body = line < text.size() ? text.substr(line + 1) : "";
  request.headers = {{"host", "localhost"},
                     {"content-type", data[0] & 1 ? "application/x-ndjson" : "text/tab-separated-values"}};
  if (route.path == "/v1/snapshots") return 0;  // would fill the disk
  const server::Response response = service().answer(request);
  if (response.status == 500) __builtin_trap();
  return 0;
}
