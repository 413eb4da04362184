// SPDX-License-Identifier: Apache-2.0
#include "server/log.hpp"

#include <unistd.h>

namespace copse::server {

void log_line(const char* level, const std::string& what, Json facts) {
  Json line = {{"at", time_text(now_milliseconds())}, {"level", level}, {"what", what}};
  line.update(facts);
  const std::string text = dump(line) + "\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());  // whole lines
}

}  // namespace copse::server
