// SPDX-License-Identifier: Apache-2.0
#include "arrow.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "copse/support/error.hpp"
#include "copse/support/execution.hpp"
#include "copse/support/parallel.hpp"
#include "graph/hash_index.hpp"
#include "graph/integer_ids.hpp"
#include "io/intern.hpp"
#include "io/numbers.hpp"

namespace copse::python {
namespace {

constexpr char kTable[] = "table";

enum class Kind { integer, real, boolean, text, other };

Kind kind_of(const ArrowSchema& schema) {
  if (schema.dictionary != nullptr) {
    const Kind of_values = kind_of(*schema.dictionary);
    return of_values == Kind::text ? Kind::text : Kind::other;
  }
  const std::string_view format = schema.format;
  if (format == "b") return Kind::boolean;
  if (format == "f" || format == "g") return Kind::real;
  if (format == "u" || format == "U" || format == "vu") return Kind::text;
  return format.size() == 1 && std::strchr("cCsSiIlL", format[0]) != nullptr ? Kind::integer : Kind::other;
}

[[noreturn]] void refuse_more_nodes() {
  throw InputError{kTable, "there are more than " + with_commas(kMaxNodes) + " nodes", "that is the limit"};
}

bool bit(const void* bits, std::int64_t place) {
  return (static_cast<const std::uint8_t*>(bits)[place / 8] >> place % 8 & 1) != 0;
}

/// Calls body(pointer to the first row) by the type of the values.
template <class Body>
void with_numbers(const ArrowSchema& schema, const ArrowArray& array, std::int64_t first, Body&& body) {
  const auto at = [&](auto type) { return static_cast<const decltype(type)*>(array.buffers[1]) + first; };
  switch (schema.format[0]) {
    case 'c':
      return body(at(std::int8_t{}));
    case 'C':
      return body(at(std::uint8_t{}));
    case 's':
      return body(at(std::int16_t{}));
    case 'S':
      return body(at(std::uint16_t{}));
    case 'i':
      return body(at(std::int32_t{}));
    case 'I':
      return body(at(std::uint32_t{}));
    case 'l':
      return body(at(std::int64_t{}));
    case 'L':
      return body(at(std::uint64_t{}));
    case 'f':
      return body(at(float{}));
    case 'g':
      return body(at(double{}));
    default:
      break;
  }
}

/// A column of a batch. Rows are those of the batch, whose own offset counts for its columns as well.
struct Column {
  const ArrowSchema& schema;
  const ArrowArray& array;
  std::int64_t first;        // of the array's rows
  std::uint64_t row_before;  // rows of the table before this batch

  Column(const ArrowSchema& table, const ArrowArray& batch, std::size_t column, std::uint64_t rows)
      : schema(*table.children[column]),
        array(*batch.children[column]),
        first(batch.offset + array.offset),
        row_before(rows) {}

  bool is_missing(std::int64_t row) const {
    return array.null_count != 0 && array.n_buffers > 0 && array.buffers[0] != nullptr &&
           !bit(array.buffers[0], first + row);
  }
  std::string where(std::int64_t row) const {
    return std::string(kTable) + ": row " + std::to_string(row_before + static_cast<std::uint64_t>(row));
  }
  void require(std::int64_t row) const {
    if (is_missing(row)) refuse_missing(row);
  }
  [[noreturn]] void refuse_missing(std::int64_t row) const {
    throw InputError{where(row), "column " + quoted(schema.name) + " has no value",
                     "leave such rows out, as df.dropna(subset=[...]) does"};
  }
};

std::string_view text_at(const ArrowSchema& schema, const ArrowArray& array, std::int64_t place) {
  const std::string_view format = schema.format;
  const auto between = [&](auto type) {
    const auto* ends = static_cast<const decltype(type)*>(array.buffers[1]) + place;
    return std::string_view(static_cast<const char*>(array.buffers[2]) + ends[0],
                            static_cast<std::size_t>(ends[1] - ends[0]));
  };
  if (format == "u") return between(std::int32_t{});
  if (format == "U") return between(std::int64_t{});
  // A view: its length, then up to 12 bytes, or else 4 of them, the number of a buffer and the place there.
  const char* view = static_cast<const char*>(array.buffers[1]) + 16 * place;
  std::int32_t length = 0, buffer = 0, offset = 0;
  std::memcpy(&length, view, 4);
  if (length <= 12) return {view + 4, static_cast<std::size_t>(length)};
  std::memcpy(&buffer, view + 8, 4);
  std::memcpy(&offset, view + 12, 4);
  return {static_cast<const char*>(array.buffers[2 + buffer]) + offset, static_cast<std::size_t>(length)};
}

/// Texts to nodes, in order of first appearance.
class TextIds {
 public:
  void read(const Column& source, const Column& target, EdgeChunk& chunk) {
    End u(*this, source), v(*this, target);
    // Hashes are known some rows ahead, so that their places in the table are there when they are looked at.
    constexpr std::size_t kRows = 64;
    for (std::size_t begin = 0; begin < chunk.u.size(); begin += kRows) {
      const std::size_t end = std::min(begin + kRows, chunk.u.size());
      u.look_ahead(begin, end);
      v.look_ahead(begin, end);
      for (std::size_t i = begin; i < end; ++i) {
        chunk.u[i] = u(i, i - begin);
        chunk.v[i] = v(i, i - begin);
      }
    }
  }
  NodeNames take_names() { return interner_.take_names(); }

 private:
  struct Text {
    std::string_view text;
    std::uint64_t hash = 0;
  };

  /// One end of the edges of a batch. The entries of a dictionary are looked up once each.
  class End {
   public:
    End(TextIds& ids, const Column& column) : ids_(ids), column_(column) {
      if (column.schema.dictionary == nullptr) return;
      known_.assign(static_cast<std::size_t>(column.array.dictionary->length), kNoNode);
      places_.resize(static_cast<std::size_t>(column.array.length));
      with_numbers(column.schema, column.array, column.first, [&](const auto* values) {
        for (std::size_t i = 0; i < places_.size(); ++i) places_[i] = static_cast<std::int64_t>(values[i]);
      });
    }

    void look_ahead(std::size_t begin, std::size_t end) {
      if (!is_plain()) return;
      ahead_.resize(end - begin);
      for (std::size_t i = begin; i < end; ++i) {
        const auto row = static_cast<std::int64_t>(i);
        column_.require(row);
        const std::string_view text = text_at(column_.schema, column_.array, column_.first + row);
        ahead_[i - begin] = {text, hash_text(text)};
        ids_.interner_.prefetch(ahead_[i - begin].hash);
      }
    }

    NodeId operator()(std::size_t row, std::size_t ahead) {
      return is_plain() ? ids_.intern(ahead_[ahead], column_, row) : node_of_entry(row);
    }

   private:
    bool is_plain() const { return column_.schema.dictionary == nullptr; }

    NodeId node_of_entry(std::size_t i) {
      const auto row = static_cast<std::int64_t>(i);
      column_.require(row);
      const std::int64_t place = places_[i];
      if (place < 0 || place >= static_cast<std::int64_t>(known_.size())) column_.refuse_missing(row);
      NodeId& node = known_[static_cast<std::size_t>(place)];
      if (node != kNoNode) return node;
      const ArrowArray& values = *column_.array.dictionary;
      const std::int64_t at = values.offset + place;
      if (values.null_count != 0 && values.buffers[0] != nullptr && !bit(values.buffers[0], at))
        column_.refuse_missing(row);
      const std::string_view text = text_at(*column_.schema.dictionary, values, at);
      return node = ids_.intern({text, hash_text(text)}, column_, i);
    }

    TextIds& ids_;
    const Column& column_;
    std::vector<Text> ahead_;
    std::vector<NodeId> known_;
    std::vector<std::int64_t> places_;
  };

  NodeId intern(const Text& id, const Column& column, std::size_t row) {
    const std::uint64_t before = interner_.size();
    const NodeId node = interner_.intern(id.text, id.hash);
    if (node == kNoNode) refuse_more_nodes();
    if (interner_.size() > before) {
      if (id.text.empty()) column.refuse_missing(static_cast<std::int64_t>(row));
      check_name(id.text, column.where(static_cast<std::int64_t>(row)));
    }
    return node;
  }

  Interner interner_;
};

/// Integers to nodes, in their order. They are kept as they are while they fit into 32 bits, which costs
/// nothing, and looked up by hashing from the first that does not.
class IntegerIds {
 public:
  void read(const Column& source, const Column& target, EdgeChunk& chunk, std::vector<EdgeChunk>& before) {
    if (!is_hashed_ && !(copy(source, chunk.u) && copy(target, chunk.v))) hash_all(before);
    if (!is_hashed_) return;
    hash(source, chunk.u);
    hash(target, chunk.v);
  }

  void finish(std::vector<EdgeChunk>& chunks, const Execution& execution, ArrowTable::Edges& out) {
    if (!is_hashed_ && lie_thinly(chunks)) hash_all(chunks);
    if (is_hashed_)
      sort_hashed(chunks, execution, out);
    else
      number(chunks, execution, out);
  }

 private:
  template <class Body>
  static void each_id(std::vector<EdgeChunk>& chunks, const Execution& execution, Body&& body) {
    parallel_for(execution.threads, 2 * chunks.size(), [&](std::size_t i) {
      for (NodeId& id : i % 2 == 0 ? chunks[i / 2].u : chunks[i / 2].v) body(id);
    });
  }

  // False where one does not fit.
  bool copy(const Column& column, std::vector<NodeId>& out) {
    NodeId smallest = smallest_, largest = largest_;
    bool fits = true;
    with_numbers(column.schema, column.array, column.first, [&](const auto* values) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        column.require(static_cast<std::int64_t>(i));
        const auto id = static_cast<std::uint64_t>(values[i]);  // a negative number becomes huge
        fits &= id < kNoNode;
        out[i] = static_cast<NodeId>(id);
        smallest = std::min(smallest, out[i]);
        largest = std::max(largest, out[i]);
      }
    });
    if (fits) std::tie(smallest_, largest_) = std::tie(smallest, largest);
    return fits;
  }

  NodeId intern(std::int64_t value) {
    const auto mix = [](std::int64_t v) {  // of splitmix64
      auto z = static_cast<std::uint64_t>(v) + 0x9e3779b97f4a7c15;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
      z = (z ^ z >> 27) * 0x94d049bb133111eb;
      return z ^ z >> 31;
    };
    const auto fresh = static_cast<NodeId>(values_.size());
    if (fresh == kNoNode) refuse_more_nodes();
    index_.make_room([&](NodeId node) { return mix(values_[node]); });
    const NodeId node =
        index_.find_or_add(mix(value), fresh, [&](NodeId other) { return values_[other] == value; });
    if (node == fresh) values_.push_back(value);
    return node;
  }

  void hash(const Column& column, std::vector<NodeId>& out) {
    with_numbers(column.schema, column.array, column.first, [&](const auto* values) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        column.require(static_cast<std::int64_t>(i));
        if (std::cmp_greater(static_cast<std::uint64_t>(values[i]),
                             std::numeric_limits<std::int64_t>::max()) &&
            values[i] > 0)
          throw InputError{
              column.where(static_cast<std::int64_t>(i)),
              "id " + std::to_string(static_cast<std::uint64_t>(values[i])) + " does not fit into 63 bits",
              "give ids as text"};
        out[i] = intern(static_cast<std::int64_t>(values[i]));
      }
    });
  }

  void hash_all(std::vector<EdgeChunk>& chunks) {
    each_id(chunks, {}, [&](NodeId& id) { id = intern(id); });
    is_hashed_ = true;
  }

  // Numbering takes one bit per id: worth it while the bits take no more memory than the edges themselves.
  bool lie_thinly(const std::vector<EdgeChunk>& chunks) const {
    std::uint64_t num_edges = 0;
    for (const EdgeChunk& chunk : chunks) num_edges += chunk.u.size();
    const std::uint64_t range = num_edges == 0 ? 0 : std::uint64_t{largest_} - smallest_ + 1;
    return range > (std::uint64_t{1} << 20) && range / 64 > num_edges;
  }

  void number(std::vector<EdgeChunk>& chunks, const Execution& execution, ArrowTable::Edges& out) {
    if (smallest_ > largest_) return;  // no edges
    SeenIds seen(smallest_, largest_);
    each_id(chunks, execution, [&](NodeId& id) { seen.mark(id); });
    const std::uint64_t count = seen.count();
    const bool is_run = count == seen.end() - smallest_;
    if (!is_run || smallest_ != 0) each_id(chunks, execution, [&](NodeId& id) { id = seen.rank(id); });
    if (is_run) {
      out.names = NodeNames::numbered(count, smallest_);
      return;
    }
    for (std::uint64_t id = smallest_; id < seen.end(); ++id)
      if (seen.has(static_cast<NodeId>(id))) out.integers.push_back(static_cast<std::int64_t>(id));
    out.names = seen.names(count, 0);
  }

  void sort_hashed(std::vector<EdgeChunk>& chunks, const Execution& execution, ArrowTable::Edges& out) {
    out.integers = values_;
    std::ranges::sort(out.integers);
    std::vector<NodeId> rank(values_.size());
    Interner text;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      rank[i] =
          static_cast<NodeId>(std::ranges::lower_bound(out.integers, values_[i]) - out.integers.begin());
      text.intern(std::to_string(out.integers[i]));
    }
    each_id(chunks, execution, [&](NodeId& id) { id = rank[id]; });
    out.names = text.take_names();
  }

  NodeId smallest_ = kNoNode, largest_ = 0;
  bool is_hashed_ = false;
  std::vector<std::int64_t> values_;  // by node, while hashed
  HashIndex index_;
};

void read_table_weights(const Column& column, bool is_signed, std::vector<Weight>& out) {
  const auto refuse = [&](std::size_t i, double value) {
    throw InputError{column.where(static_cast<std::int64_t>(i)),
                     "weight " + std::to_string(value) + " is not a " + (is_signed ? "" : "positive ") +
                         "number that fits into 32 bits",
                     std::string("weights are similarities (> 0); leave the edge out to mean \"no edge\"") +
                         (value < 0 && !is_signed ? ", or read negative edges with signed=True" : "")};
  };
  const auto take = [&](std::size_t i, double value) {
    column.require(static_cast<std::int64_t>(i));
    out[i] = weight_of_entry(value, is_signed);
    if (std::isnan(out[i])) refuse(i, value);
  };
  if (kind_of(column.schema) == Kind::boolean) {
    for (std::size_t i = 0; i < out.size(); ++i)
      take(i, bit(column.array.buffers[1], column.first + static_cast<std::int64_t>(i)) ? 1 : 0);
    return;
  }
  with_numbers(column.schema, column.array, column.first, [&](const auto* values) {
    for (std::size_t i = 0; i < out.size(); ++i) take(i, static_cast<double>(values[i]));
  });
}

/// The structs of a batch or of a schema, let go at the end.
template <class Struct>
struct Held {
  Struct value{};
  ~Held() {
    if (value.release != nullptr) value.release(&value);
  }
};

}  // namespace

ArrowTable::ArrowTable(nb::object capsule) : capsule_(std::move(capsule)) {
  stream_ = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule_.ptr(), "arrow_array_stream"));
  if (stream_ == nullptr) throw nb::python_error();
  if (stream_->release == nullptr)
    throw UsageError{kTable, "its rows were read already", "give the table again"};
  if (stream_->get_schema(stream_, &schema_) != 0)
    throw InputError{kTable, "it does not say what its columns are",
                     "give a pandas, polars, pyarrow or DuckDB table"};
  if (std::string_view(schema_.format) != "+s")
    throw InputError{kTable, "it is one column, not a table", "give a table of two columns or more"};
}

ArrowTable::~ArrowTable() {
  if (schema_.release != nullptr) schema_.release(&schema_);
}

std::vector<std::string> ArrowTable::columns() const {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < schema_.n_children; ++i)
    names.emplace_back(schema_.children[i]->name == nullptr ? "" : schema_.children[i]->name);
  return names;
}

std::string ArrowTable::kind(std::size_t column) const {
  constexpr const char* kNames[] = {"integer", "real", "boolean", "text", ""};
  const ArrowSchema& schema = *schema_.children[column];
  const Kind kind = kind_of(schema);
  return kind == Kind::other ? schema.format : kNames[static_cast<int>(kind)];
}

ArrowTable::Edges ArrowTable::edges(std::size_t source, std::size_t target, std::optional<std::size_t> weight,
                                    bool is_signed, const Execution& execution) {
  if (std::exchange(is_read_, true))
    throw UsageError{kTable, "its rows were read already", "give the table again"};
  const bool is_text = kind_of(*schema_.children[source]) == Kind::text;
  Edges out;
  TextIds texts;
  IntegerIds integers;
  std::uint64_t rows = 0;
  while (true) {
    execution.throw_if_cancelled();
    Held<ArrowArray> batch;
    if (stream_->get_next(stream_, &batch.value) != 0) {
      const char* why = stream_->get_last_error(stream_);
      throw InputError{kTable,
                       std::string("it cannot be read: ") + (why == nullptr ? "no reason given" : why),
                       "try it with the library it came from"};
    }
    if (batch.value.release == nullptr) break;
    const auto size = static_cast<std::size_t>(batch.value.length);
    EdgeChunk chunk;
    chunk.u.resize(size);
    chunk.v.resize(size);
    const Column u(schema_, batch.value, source, rows), v(schema_, batch.value, target, rows);
    if (is_text)
      texts.read(u, v, chunk);
    else
      integers.read(u, v, chunk, out.chunks);
    if (weight) {
      chunk.weight.resize(size);
      read_table_weights(Column(schema_, batch.value, *weight, rows), is_signed, chunk.weight);
    }
    out.chunks.push_back(std::move(chunk));
    rows += size;
    execution.report("read", rows, 0);
  }
  if (is_text)
    out.names = texts.take_names();
  else
    integers.finish(out.chunks, execution, out);
  return out;
}

}  // namespace copse::python
