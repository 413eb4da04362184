// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "copse/graph/types.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// Takes the signs off the weights of arcs and returns them as GraphView::negative; empty if none is below 0.
/// Weights that then are all 1 are given up: a graph of signs alone has none.
Buffer<std::uint64_t> take_signs(Buffer<Weight>& weights, int threads);

}  // namespace copse
