// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "copse/graph/build.hpp"
#include "copse/graph/names.hpp"

// Apache Arrow's C data and stream interfaces: structs that any table of Python hands out by
// __arrow_c_stream__, laid out as its specification says.
extern "C" {
struct ArrowSchema {
  const char *format, *name, *metadata;
  std::int64_t flags, n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace copse::python {

namespace nb = nanobind;

/// A table of edges that comes in batches of rows: each is read where it lies, and let go.
class ArrowTable {
 public:
  struct Edges {
    std::vector<EdgeChunk> chunks;
    NodeNames names;
    std::vector<std::int64_t> integers;  // by node, where ids are numbers that are not consecutive
  };

  explicit ArrowTable(nb::object capsule);
  ~ArrowTable();
  ArrowTable(const ArrowTable&) = delete;
  ArrowTable& operator=(const ArrowTable&) = delete;

  std::vector<std::string> columns() const;
  /// The kind of a column: "integer", "real", "text", or Arrow's own name for another.
  std::string kind(std::size_t column) const;
  /// Reads all rows, once. Nodes are the ids that occur: integers in their order, text in the order of first
  /// appearance. Runs without the interpreter's lock.
  Edges edges(std::size_t source, std::size_t target, std::optional<std::size_t> weight, bool is_signed,
              const Execution& execution);

 private:
  nb::object capsule_;
  ArrowArrayStream* stream_;
  ArrowSchema schema_{};
  bool is_read_ = false;
};

}  // namespace copse::python
