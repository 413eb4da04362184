// SPDX-License-Identifier: Apache-2.0
#include "csr_graph.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "copse/support/parallel.hpp"

namespace copse::python {
namespace {

constexpr char kWhere[] = "matrix";
constexpr std::uint64_t kEntriesPerBlock = std::uint64_t{1} << 20;
constexpr char kMakeAgain[] = "make it again with scipy.sparse.csr_array(A)";

std::string number_text(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

bool is_type(const AnyVectorIn& array, nb::dlpack::dtype type) { return array.dtype() == type; }

/// Calls body(pointer to the values) by the type of the array's values; false where it is none of Types.
template <class... Types, class Body>
bool with_type(const AnyVectorIn& array, Body&& body) {
  return (
      (is_type(array, nb::dtype<Types>()) ? (body(static_cast<const Types*>(array.data())), true) : false) ||
      ...);
}

// The arrays as a GraphView reads them, and what had to be allocated for that.
struct Taken {
  Buffer<EdgeIndex> offsets;
  Buffer<NodeId> neighbors;
  Buffer<Weight> weights;
  GraphView view;
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

/// Writes convert(i) of every entry; the first entry (in order) that convert refuses is returned.
template <class To, class Convert>
std::optional<std::uint64_t> convert_all(std::uint64_t count, Buffer<To>& out, int threads,
                                         Convert&& convert) {
  out = Buffer<To>(count);
  return deterministic_reduce(
      threads, count, std::optional<std::uint64_t>{},
      [&](std::size_t begin, std::size_t end) -> std::optional<std::uint64_t> {
        for (std::size_t i = begin; i < end; ++i)
          if (!convert(i, out[i])) return i;
        return std::nullopt;
      },
      [](const auto& a, const auto& b) { return a ? a : b; }, kEntriesPerBlock);
}

// Where they lie; whoever reads them checks them.
void take_neighbors(const AnyVectorIn& indices, std::uint64_t num_entries, Taken& out) {
  const bool known =
      with_type<std::int32_t, std::uint32_t>(indices,
                                             [&](const auto* values) {
                                               out.view.neighbors = std::span(
                                                   reinterpret_cast<const NodeId*>(values), num_entries);
                                             }) ||
      with_type<std::int64_t, std::uint64_t>(indices, [&](const auto* values) {
        out.view.neighbors =
            NeighborArray(std::span(reinterpret_cast<const std::int64_t*>(values), num_entries));
      });
  if (!known) throw InputError{kWhere, "indices holds neither int32 nor int64", kMakeAgain};
}

// As the user wrote it: a negative int32 is one.
std::int64_t column_of(const GraphView& view, std::uint64_t entry) {
  return view.neighbors.is_wide() ? view.neighbors.stored(entry)
                                  : static_cast<std::int32_t>(view.neighbors[entry]);
}

[[noreturn]] void bad_weight(const GraphView& view, std::uint64_t entry, double value, bool is_signed) {
  const std::string where = "the entry in row " + std::to_string(row_of(view.offsets, entry)) + ", column " +
                            std::to_string(column_of(view, entry));
  if (std::isnan(value) || std::isinf(value) || (value < 0 && !is_signed))
    throw InputError{kWhere,
                     where + " is " + number_text(value) +
                         (is_signed ? ", not a finite number" : ", not a positive number"),
                     std::string("weights are similarities (> 0); leave the entry out to mean \"no edge\"") +
                         (value < 0 && !is_signed ? ", or read negative edges with signed=True" : "")};
  const bool is_large = std::fabs(value) > 1;
  throw InputError{
      kWhere,
      where + " is " + number_text(value) + ", too " + (is_large ? "large" : "small") +
          " to be stored (32 bits)",
      std::string(is_large ? "divide" : "multiply") + " all weights by a constant: only their ratios matter"};
}

// The nearest float; what would round to infinity or to 0 is refused.
bool narrow_weight(double value, bool is_signed, Weight& out) {
  if (!(is_signed || value >= 0) || !(std::fabs(value) <= std::numeric_limits<Weight>::max())) return false;
  out = static_cast<Weight>(value);
  return out != 0 || value == 0;
}

void take_weights(const AnyVectorIn& data, std::uint64_t num_entries, bool is_signed, int threads,
                  Taken& out) {
  if (!data.is_valid()) return;
  const auto convert = [&](const auto* values) {
    const auto bad = convert_all(num_entries, out.weights, threads, [&](std::uint64_t i, Weight& to) {
      return narrow_weight(static_cast<double>(values[i]), is_signed, to);
    });
    if (bad) bad_weight(out.view, *bad, static_cast<double>(values[*bad]), is_signed);
    out.view.weights = std::as_const(out.weights).span();
  };
  const bool known =
      with_type<float, double>(
          data,
          [&](const auto* values) { out.view.weights = WeightArray(std::span(values, num_entries)); }) ||
      with_type<std::int64_t, std::int32_t, std::uint64_t, std::uint32_t, std::int16_t, std::uint16_t,
                std::int8_t, std::uint8_t>(data, convert);
  if (known) return;
  if (data.dtype() == nb::dtype<bool>()) {
    // Where edges are, not how strong they are: no weights, unless a False must be told apart.
    const auto* values = static_cast<const std::uint8_t*>(data.data());
    if (std::find(values, values + num_entries, std::uint8_t{0}) != values + num_entries) convert(values);
    return;
  }
  throw InputError{kWhere, "its data are of a type that copse does not read", "use A.astype(\"float32\")"};
}

bool keeps_promises(const GraphView& view, int threads) {
  try {
    check_graph(view, kWhere, threads);
    return true;
  } catch (const InputError&) {
    return false;  // what is wrong for good is told by whoever reads the matrix as a list
  }
}

/// As the library stores it; kNoNode, which is nobody's neighbor, for what does not fit.
NodeId narrow_node(std::int64_t stored) {
  return static_cast<std::uint64_t>(stored) < kNoNode ? static_cast<NodeId>(stored) : kNoNode;
}

// Nobody else can write to a copy: what is checked there stays true. A value that does not fit becomes one
// that the check refuses.
void copy_arcs(bool is_signed, int threads, Taken& out) {
  const GraphView& view = out.view;
  convert_all(view.num_arcs(), out.neighbors, threads, [&](std::uint64_t i, NodeId& to) {
    to = narrow_node(view.neighbors.stored(i));
    return true;
  });
  out.view.neighbors = std::as_const(out.neighbors).span();
  if (!view.is_weighted() || !out.weights.empty()) return;
  convert_all(view.num_arcs(), out.weights, threads, [&](std::uint64_t i, Weight& to) {
    if (!narrow_weight(view.weights.stored(i), is_signed, to)) to = std::numeric_limits<Weight>::quiet_NaN();
    return true;
  });
  out.view.weights = std::as_const(out.weights).span();
}

std::vector<EdgeChunk> list_of(const GraphView& view, bool is_signed, int threads) {
  std::vector<EdgeChunk> chunks((view.num_arcs() + kEntriesPerBlock - 1) / kEntriesPerBlock);
  std::vector<std::uint64_t> bad(chunks.size(), view.num_arcs());
  parallel_blocks(
      threads, view.num_arcs(), kEntriesPerBlock, [&](std::size_t begin, std::size_t end, std::size_t block) {
        EdgeChunk& chunk = chunks[block];
        chunk.v.resize(end - begin);
        chunk.u.resize(end - begin);
        chunk.weight.resize(view.is_weighted() ? end - begin : 0);
        std::uint64_t row = row_of(view.offsets, begin);
        for (std::size_t i = begin; i < end; ++i) {
          while (view.offsets[row + 1] <= i) ++row;
          chunk.u[i - begin] = static_cast<NodeId>(row);
          chunk.v[i - begin] = narrow_node(view.neighbors.stored(i));
          const bool fits = chunk.v[i - begin] < view.num_nodes() &&
                            (!view.is_weighted() ||
                             narrow_weight(view.weights.stored(i), is_signed, chunk.weight[i - begin]));
          if (!fits) bad[block] = std::min<std::uint64_t>(bad[block], i);
        }
      });
  for (const std::uint64_t entry : bad) {
    if (entry == view.num_arcs()) continue;
    if (narrow_node(view.neighbors.stored(entry)) >= view.num_nodes())
      bad_index(row_of(view.offsets, entry), column_of(view, entry), view.num_nodes());
    bad_weight(view, entry, view.weights.stored(entry), is_signed);
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
  take_neighbors(arrays.indices, num_entries, *taken);
  take_weights(arrays.data, num_entries, options.is_signed, execution.threads, *taken);
  execution.throw_if_cancelled();

  const GraphView given = taken->view;
  if (!in_place) copy_arcs(options.is_signed, execution.threads, *taken);
  CsrGraph result;
  if (keeps_promises(taken->view, execution.threads)) {
    const GraphView view = taken->view;
    using Both = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
    result.graph = Graph(view, std::make_shared<Both>(std::move(owner), std::move(taken)));
    result.report.num_listed = view.num_arcs();
    result.report.listed_both_ways = true;
    result.is_view = in_place;
    return result;
  }
  taken->neighbors = {};
  std::vector<EdgeChunk> chunks = list_of(given, options.is_signed, execution.threads);
  taken.reset();
  result.graph =
      build_graph(std::move(chunks), given.num_nodes(), options, execution, kWhere, &result.report);
  return result;
}

}  // namespace copse::python
