// SPDX-License-Identifier: Apache-2.0
#include "server/http.hpp"

#include <charconv>

namespace copse::server {

namespace {

Response problem(int status, const std::string& where, const std::string& what, const std::string& remedy) {
  Response response = json_response({{"type", "about:blank"},
                                     {"title", what},
                                     {"status", status},
                                     {"detail", what + "; " + remedy},
                                     {"instance", where}},
                                    status);
  response.type = "application/problem+json";
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string decoded(std::string_view text, bool plus_is_space) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      plain += ' ';
    } else if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0)
        throw HttpError(400, "request", "the address has a percent sign without two hexadecimal digits",
                        "write a percent sign itself as %25");
      plain += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

template <class Body>
void for_each_piece(std::string_view text, char separator, Body&& body) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    body(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

std::string Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

Response json_response(const Json& json, int status) {
  return {status, "application/json", dump(json), {}, {}, {}};
}

Response problem_response(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const HttpError& e) {
    return problem(e.status(), e.where(), e.problem(), e.remedy());
  } catch (const StoreError& e) {
    return problem(507, e.where(), e.problem(), e.remedy());
  } catch (const Error& e) {
    return problem(400, e.where(), e.problem(), e.remedy());
  } catch (const std::exception& e) {
    return problem(500, "server", std::string("this should not happen: ") + e.what(),
                   "please report it with the request");
  }
}

Target parse_target(std::string_view target) {
  Target parsed;
  const std::size_t mark = std::min(target.find('?'), target.size());
  std::string_view path = target.substr(0, mark);
  if (path.starts_with('/')) path.remove_prefix(1);
  for_each_piece(path, '/', [&](std::string_view piece) { parsed.path.push_back(decoded(piece, false)); });
  if (mark == target.size()) return parsed;
  for_each_piece(target.substr(mark + 1), '&', [&](std::string_view piece) {
    const std::size_t equals = std::min(piece.find('='), piece.size());
    const std::string_view value = equals == piece.size() ? std::string_view() : piece.substr(equals + 1);
    if (!piece.empty()) parsed.query[decoded(piece.substr(0, equals), true)] = decoded(value, true);
  });
  return parsed;
}

std::uint64_t number_in(const std::map<std::string, std::string>& query, const std::string& name,
                        std::uint64_t otherwise, std::uint64_t low, std::uint64_t high) {
  const auto found = query.find(name);
  if (found == query.end()) return otherwise;
  std::uint64_t value = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high)
    throw HttpError(
        400, "query parameter " + name,
        copse::quoted(text) + " is no number from " + with_commas(low) + " to " + with_commas(high),
        "leave it out for " + std::to_string(otherwise));
  return value;
}

Json object_in(const Request& request) {
  Json json = Json::parse(request.body.empty() ? "{}" : request.body, nullptr, false);
  if (!json.is_object())
    throw HttpError(400, "body", "is not a JSON object",
                    "send an object, and Content-Type: application/json");
  return json;
}

std::string string_in(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string())
    throw HttpError(400, "body", "has no text " + copse::quoted(name), "send {\"" + name + "\": \"...\"}");
  return *found;
}

}  // namespace copse::server
