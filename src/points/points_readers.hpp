// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/points/points.hpp"
#include "support/byte_source.hpp"

// One reader per format of points; read_points() picks one and checks the values.

namespace copse {

NamedPoints read_npy_points(ByteSource& source, const Execution& execution, PointsReadReport& report);
NamedPoints read_table_points(ByteSource& source, IdColumn ids, const Execution& execution);
NamedPoints read_svmlight_points(ByteSource& source, const Execution& execution);

}  // namespace copse
