// SPDX-License-Identifier: Apache-2.0
#include "csr_graph.hpp"

#include <algorithm>
#include <cmath>

#include "copse/support/parallel.hpp"
#include "io/numbers.hpp"

namespace copse::python {
namespace {

constexpr char kWhere[] = "matrix";
constexpr std::uint64_t kEntriesPerBlock = std::uint64_t{1} << 20;
constexpr char kMakeAgain[] = "make it again with scipy.sparse.csr_array(A)";

bool is_type(const AnyVectorIn& array, nb::dlpack::dtype type) { return array.dtype() == type; }

/// Calls body(pointer to the values) by the type of the array's values; false where it is none of Types.
template <class... Types, class Body>
bool with_type(const AnyVectorIn& array, Body&& body) {
  return (
      (is_type(array, nb::dtype<Types>()) ? (body(static_cast<const Types*>(array.data())), true) : false) ||
      ...);
}

// The arrays as a GraphView has them, and what had to be allocated for that.
struct Taken {
  Buffer<EdgeIndex> offsets;
  Buffer<NodeId> neighbors;
  Buffer<Weight> weights;
  GraphView view;
  bool is_view = false;  // some array is the matrix's own
};

std::uint64_t row_of(std::span<const EdgeIndex> offsets, std::uint64_t entry) {
  return static_cast<std::uint64_t>(std::upper_bound(offsets.begin(), offsets.end(), entry) -
                                    offsets.begin()) -
         1;
}

void take_offsets(const AnyVectorIn& indptr, bool in_place, Taken& out) {
  if (indptr.size() == 0) throw InputError{kWhere, "indptr is empty", kMakeAgain};
  if (indptr.size() - 1 > kMaxNodes)
    throw InputError{kWhere, with_commas(indptr.size() - 1) + " rows are more than copse can number",
                     "a graph may have up to " + with_commas(kMaxNodes) + " nodes"};
  // A negative number becomes huge, and fails.
  const bool known =
      with_type<std::int64_t, std::uint64_t, std::int32_t, std::uint32_t>(indptr, [&](const auto* values) {
        if (sizeof *values == sizeof(EdgeIndex) && in_place) {
          out.view.offsets = {reinterpret_cast<const EdgeIndex*>(values), indptr.size()};
          out.is_view = true;
          return;
        }
        out.offsets = Buffer<EdgeIndex>(indptr.size());
        std::copy_n(values, indptr.size(), out.offsets.begin());
        out.view.offsets = std::as_const(out.offsets).span();
      });
  if (!known) throw InputError{kWhere, "indptr holds neither int32 nor int64", kMakeAgain};
}

void check_offsets(std::span<const EdgeIndex> offsets, std::uint64_t num_indices) {
  if (offsets[0] != 0) throw InputError{kWhere, "indptr does not begin with 0", kMakeAgain};
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1] || offsets[i] > num_indices)
      throw InputError{kWhere, "indptr[" + std::to_string(i) + "] is out of order", kMakeAgain};
  }
}

[[noreturn]] void bad_index(std::uint64_t row, std::int64_t column, std::uint64_t num_nodes) {
  throw InputError{kWhere,
                   "row " + std::to_string(row) + " has column " + std::to_string(column) +
                       " in a matrix of " + with_commas(num_nodes) + " columns",
                   kMakeAgain};
}

// SciPy's wide arrays end here: behind this file a graph has 32-bit nodes and weights. What does not fit
// becomes kNoNode, which is nobody's neighbour, or no number; whoever reads it then asks the matrix again.
void read_columns(const AnyVectorIn& indices, std::size_t begin, std::size_t end, NodeId* out) {
  const bool known =
      with_type<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(indices, [&](const auto* values) {
        std::transform(values + begin, values + end, out, [](auto value) {
          const auto column = static_cast<std::uint64_t>(value);  // a negative number becomes huge
          return column < kNoNode ? static_cast<NodeId>(column) : kNoNode;
        });
      });
  if (!known) throw InputError{kWhere, "indices holds neither int32 nor int64", kMakeAgain};
}

std::int64_t column_at(const AnyVectorIn& indices, std::uint64_t entry) {
  std::int64_t column = 0;
  with_type<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
      indices, [&](const auto* values) { column = static_cast<std::int64_t>(values[entry]); });
  return column;
}

template <class Body>
bool with_data(const AnyVectorIn& data, Body&& body) {
  if (data.dtype() == nb::dtype<bool>()) {
    body(static_cast<const std::uint8_t*>(data.data()));
    return true;
  }
  return with_type<float, double, std::int64_t, std::int32_t, std::uint64_t, std::uint32_t, std::int16_t,
                   std::uint16_t, std::int8_t, std::uint8_t>(data, body);
}

void read_weights(const AnyVectorIn& data, std::size_t begin, std::size_t end, bool is_signed, Weight* out) {
  const bool known = with_data(data, [&](const auto* values) {
    std::transform(values + begin, values + end, out,
                   [&](auto value) { return weight_of_entry(static_cast<double>(value), is_signed); });
  });
  if (!known)
    throw InputError{kWhere, "its data are of a type that copse does not read", "use A.astype(\"float32\")"};
}

double value_at(const AnyVectorIn& data, std::uint64_t entry) {
  double value = 0;
  with_data(data, [&](const auto* values) { value = static_cast<double>(values[entry]); });
  return value;
}

// Where edges are, not how strong they are: no weights, unless a False must be told apart.
bool has_weights(const AnyVectorIn& data, std::uint64_t num_entries) {
  if (!data.is_valid()) return false;
  if (data.dtype() != nb::dtype<bool>()) return true;
  const auto* values = static_cast<const std::uint8_t*>(data.data());
  return std::find(values, values + num_entries, std::uint8_t{0}) != values + num_entries;
}

// As they lie where the types are the graph's own and the matrix is lent, copied otherwise: nobody else can
// write to a copy, and what is checked there stays true.
void take_arcs(const CsrArrays& arrays, std::uint64_t num_entries, bool in_place, bool is_signed, int threads,
               Taken& out) {
  const bool is_weighted = has_weights(arrays.data, num_entries);
  read_columns(arrays.indices, 0, 0, nullptr);  // a type that is not known is told for an empty matrix too
  if (is_weighted) read_weights(arrays.data, 0, 0, is_signed, nullptr);
  const bool lends_columns =
      in_place && with_type<std::int32_t, std::uint32_t>(arrays.indices, [&](const auto* values) {
        out.view.neighbors = {reinterpret_cast<const NodeId*>(values), num_entries};
      });
  const bool lends_weights =
      in_place && is_weighted && with_type<float>(arrays.data, [&](const auto* values) {
        out.view.weights = {values, num_entries};
      });
  out.is_view = out.is_view || lends_columns || lends_weights;
  if (!lends_columns) {
    out.neighbors = Buffer<NodeId>(num_entries);
    out.view.neighbors = std::as_const(out.neighbors).span();
  }
  if (is_weighted && !lends_weights) {
    out.weights = Buffer<Weight>(num_entries);
    out.view.weights = std::as_const(out.weights).span();
  }
  parallel_blocks(threads, num_entries, kEntriesPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    if (!lends_columns)
                      read_columns(arrays.indices, begin, end, out.neighbors.data() + begin);
                    if (!out.weights.empty())
                      read_weights(arrays.data, begin, end, is_signed, out.weights.data() + begin);
                  });
}

bool keeps_promises(const GraphView& view, int threads) {
  try {
    check_graph(view, kWhere, threads);
    return true;
  } catch (const InputError&) {
    return false;  // what is wrong for good is told by whoever reads the matrix as a list
  }
}

// Entry by entry, with row and column of the first that is no edge.
std::vector<EdgeChunk> list_of(const CsrArrays& arrays, std::span<const EdgeIndex> offsets, bool is_weighted,
                               bool is_signed, int threads) {
  const std::uint64_t num_nodes = offsets.size() - 1, num_entries = offsets.back();
  std::vector<EdgeChunk> chunks((num_entries + kEntriesPerBlock - 1) / kEntriesPerBlock);
  std::vector<std::uint64_t> bad(chunks.size(), num_entries);
  parallel_blocks(
      threads, num_entries, kEntriesPerBlock, [&](std::size_t begin, std::size_t end, std::size_t block) {
        EdgeChunk& chunk = chunks[block];
        chunk.v.resize(end - begin);
        chunk.u.resize(end - begin);
        chunk.weight.resize(is_weighted ? end - begin : 0);
        read_columns(arrays.indices, begin, end, chunk.v.data());
        if (is_weighted) read_weights(arrays.data, begin, end, is_signed, chunk.weight.data());
        std::uint64_t row = row_of(offsets, begin);
        for (std::size_t i = begin; i < end; ++i) {
          while (offsets[row + 1] <= i) ++row;
          chunk.u[i - begin] = static_cast<NodeId>(row);
          const bool fits =
              chunk.v[i - begin] < num_nodes && !(is_weighted && std::isnan(chunk.weight[i - begin]));
          if (!fits) bad[block] = std::min<std::uint64_t>(bad[block], i);
        }
      });
  for (const std::uint64_t entry : bad) {
    if (entry == num_entries) continue;
    const std::uint64_t row = row_of(offsets, entry);
    const std::int64_t column = column_at(arrays.indices, entry);
    if (static_cast<std::uint64_t>(column) >= num_nodes) bad_index(row, column, num_nodes);
    throw bad_entry(kWhere, row, column, value_at(arrays.data, entry), is_signed, "signed=True");
  }
  return chunks;
}

}  // namespace

CsrGraph graph_of_csr(const CsrArrays& arrays, std::shared_ptr<const void> owner, const BuildOptions& options,
                      const Execution& execution) {
  const bool in_place = owner != nullptr;
  auto taken = std::make_shared<Taken>();
  take_offsets(arrays.indptr, in_place, *taken);
  check_offsets(taken->view.offsets, arrays.indices.size());
  const std::uint64_t num_entries = taken->view.offsets.back();
  if (arrays.data.is_valid() && arrays.data.size() < num_entries)
    throw InputError{kWhere,
                     "data has " + with_commas(arrays.data.size()) + " values for " +
                         with_commas(num_entries) + " indices",
                     kMakeAgain};
  take_arcs(arrays, num_entries, in_place, options.is_signed, execution.threads, *taken);
  execution.throw_if_cancelled();

  CsrGraph result;
  if (keeps_promises(taken->view, execution.threads)) {
    const GraphView view = taken->view;
    result.is_view = taken->is_view;
    using Both = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
    result.graph = Graph(view, std::make_shared<Both>(std::move(owner), std::move(taken)));
    result.report.num_listed = view.num_arcs();
    result.report.listed_both_ways = true;
    return result;
  }
  const bool is_weighted = taken->view.is_weighted();
  const NodeId num_nodes = taken->view.num_nodes();
  taken->neighbors = {};
  taken->weights = {};
  std::vector<EdgeChunk> chunks =
      list_of(arrays, taken->view.offsets, is_weighted, options.is_signed, execution.threads);
  taken.reset();
  result.graph = build_graph(std::move(chunks), num_nodes, options, execution, kWhere, &result.report);
  return result;
}

}  // namespace copse::python
