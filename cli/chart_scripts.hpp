// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace copse::cli {

/// Vega, Vega-Lite and Vega-Embed, as they go into a report; empty in a program built without a network.
std::array<std::string_view, 3> chart_scripts();

}  // namespace copse::cli
