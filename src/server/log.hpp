// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/event.hpp"

namespace copse::server {

/// A line of JSON on standard error: when, how grave ("info", "error"), what, and facts. Never tokens, bodies
/// or labels.
void log_line(const char* level, const std::string& what, Json facts = Json::object());

}  // namespace copse::server
