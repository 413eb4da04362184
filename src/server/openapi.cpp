// SPDX-License-Identifier: Apache-2.0
#include "server/service.hpp"

namespace copse::server {

namespace {

Json parameter(const std::string& name, const std::string& in, bool is_required) {
  return {{"name", name}, {"in", in}, {"required", is_required}, {"schema", {{"type", "string"}}}};
}

Json operation(const Route& route) {
  Json parameters = Json::array();
  for (std::size_t at = route.path.find('{'); at != std::string::npos; at = route.path.find('{', at + 1))
    parameters.push_back(
        parameter(route.path.substr(at + 1, route.path.find('}', at) - at - 1), "path", true));
  for (const std::string& name : route.query) parameters.push_back(parameter(name, "query", false));
  if (route.role == Role::label) parameters.push_back(parameter("Idempotency-Key", "header", false));
  const Json problem = {
      {"description", "what is wrong, where, and what to do"},
      {"content", {{"application/problem+json", {{"schema", {{"$ref", "#/components/schemas/Problem"}}}}}}}};
  Json operation = {
      {"summary", route.summary},
      {"parameters", std::move(parameters)},
      {"responses",
       {{"200", {{"description", route.summary}, {"content", {{route.answer, Json::object()}}}}},
        {"default", problem}}},
      {"x-copse-role", role_name(route.role)}};
  if (!route.body.empty()) operation["requestBody"] = {{"content", {{route.body, Json::object()}}}};
  operation["security"] =
      route.role == Role::nobody ? Json::array() : Json::array({{{"token", Json::array()}}});
  return operation;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c | 0x20);
  return text;
}

}  // namespace

Json openapi_document() {
  Json paths = Json::object();
  for (const Route& route : routes()) paths[route.path][lower_case(route.method)] = operation(route);
  const Json text = {{"type", "string"}};
  return {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "copse serve"}, {"version", "1"}, {"description", "docs/serve.md describes every field."}}},
      {"paths", std::move(paths)},
      {"components",
       {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}},
        {"schemas",
         {{"Problem",
           {{"type", "object"},
            {"properties",
             {{"type", text},
              {"title", text},
              {"status", {{"type", "integer"}}},
              {"detail", text},
              {"instance", text}}}}}}}}}};
}

}  // namespace copse::server
