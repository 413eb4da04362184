// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "copse/graph/label_fold.hpp"

namespace copse::server {

using Json = nlohmann::ordered_json;

/// A row of the event table: names, not indices, so that a graph whose nodes are reordered still fits.
struct Event {
  std::uint64_t seq = 0;
  std::string id;       // of the request (idempotency key): unique
  std::int64_t at = 0;  // milliseconds since 1970, by the wall clock; the order is that of seq
  std::string who;
  LabelEvent::Kind kind = LabelEvent::Kind::label;
  std::string node;
  std::optional<std::string> label;      // told; of a retract: what stands afterwards; of a skip: its reason
  std::optional<std::string> predicted;  // before it was told
  std::optional<double> confidence;
  std::uint64_t model_version = 0;  // the labels that the prediction knew
  std::uint64_t target = 0;         // of a retract: the event that is taken back, 0 for all of the node
};

inline constexpr const char* kReasonNobody = "nobody";
inline constexpr const char* kReasonLater = "later";

const char* kind_name(LabelEvent::Kind kind);
LabelEvent::Kind kind_of(const std::string& name);
/// 2026-01-31T12:00:00.123Z
std::string time_text(std::int64_t milliseconds);
std::int64_t now_milliseconds();
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
/// As history and the stream of events show it.
Json event_json(const Event& event);
/// Text that is not UTF-8 (ids may be any bytes) becomes U+FFFD there.
std::string dump(const Json& json);
/// A line of JSON on standard error: when, how grave ("info", "error"), what, and facts. Never tokens, bodies
/// or labels.
void log_line(const char* level, const std::string& what, Json facts = Json::object());

}  // namespace copse::server
