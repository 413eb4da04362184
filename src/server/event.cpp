// SPDX-License-Identifier: Apache-2.0
#include "server/event.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "copse/support/error.hpp"

namespace copse::server {

namespace {
constexpr std::array kKinds{"label", "retract", "skip", "note"};
}  // namespace

const char* kind_name(LabelEvent::Kind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

LabelEvent::Kind kind_of(const std::string& name) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (name == kKinds[i]) return static_cast<LabelEvent::Kind>(i);
  throw InputError("event table", "kind " + copse::quoted(name) + " is not known",
                   "this copse is older than the one that wrote the labels: use that one");
}

std::string time_text(std::int64_t milliseconds) {
  const std::int64_t part = ((milliseconds % 1000) + 1000) % 1000;  // a clock may stand before 1970
  const std::time_t seconds = (milliseconds - part) / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> day{}, text{};
  std::strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data(), text.size(), "%.20s.%03dZ", day.data(), static_cast<int>(part));
  return text.data();
}

std::int64_t now_milliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Json event_json(const Event& event) {
  return {{"seq", event.seq},
          {"id", event.id},
          {"at", time_text(event.at)},
          {"who", event.who},
          {"kind", kind_name(event.kind)},
          {"node", event.node},
          {"label", or_null(event.label)},
          {"predicted", or_null(event.predicted)},
          {"confidence", or_null(event.confidence)}};
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void log_line(const char* level, const std::string& what, Json facts) {
  Json line = {{"at", time_text(now_milliseconds())}, {"level", level}, {"what", what}};
  line.update(facts);
  const std::string text = dump(line) + "\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());  // whole lines
}

}  // namespace copse::server
