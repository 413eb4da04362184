// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

// The bytes of three files that tools/fetch_charts gets; COPSE_CHARTS comes from CMakeLists.txt.
asm(".section .rodata\n"
    "copse_vega: .incbin \"" COPSE_CHARTS
    "/vega.js\"\n"
    "copse_vega_lite: .incbin \"" COPSE_CHARTS
    "/vega-lite.js\"\n"
    "copse_vega_embed: .incbin \"" COPSE_CHARTS
    "/vega-embed.js\"\n"
    "copse_vega_end: .byte 0\n"
    ".previous\n");
extern "C" const char copse_vega[], copse_vega_lite[], copse_vega_embed[], copse_vega_end[];

namespace copse::cli {

std::array<std::string_view, 3> chart_scripts() {  // of report.hpp
  const auto between = [](const char* begin, const char* end) {
    return std::string_view{begin, static_cast<std::size_t>(end - begin)};
  };
  return {between(copse_vega, copse_vega_lite), between(copse_vega_lite, copse_vega_embed),
          between(copse_vega_embed, copse_vega_end)};
}

}  // namespace copse::cli
