// SPDX-License-Identifier: Apache-2.0
#include "laplacian/tall_matrix.hpp"

#include <algorithm>
#include <vector>

#include "copse/support/parallel.hpp"
#include "support/simd.hpp"

namespace copse {
namespace {

constexpr std::size_t kRowsOfChunk = 32;     // rows that stay in the first cache
constexpr std::size_t kRowsOfTile = 4;       // rows of a result in registers at a time, by a panel of columns
constexpr std::size_t kTallBlock = 1 << 10;  // rows of a task

/// A panel of columns of kRowsOfTile rows of a result, all in registers.
template <std::size_t register_bytes>
struct ProductTile {
  using Lanes = Register<float, register_bytes>;
  static constexpr std::size_t kLanes = register_bytes / sizeof(float), kParts = TallMatrix::kPanel / kLanes;

  /// sums[i][.] = sum over t < depth of a[i a_stride + t a_step] b[t b_stride + .]
  [[gnu::always_inline]] static void multiply(const float* a, std::size_t a_stride, std::size_t a_step,
                                              const float* b, std::size_t b_stride, std::size_t depth,
                                              float* out, std::size_t out_stride) {
    Lanes sums[kRowsOfTile][2];
    for (std::size_t part = 0; part < kParts; part += 2) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < kRowsOfTile; ++i) sums[i][0] = sums[i][1] = Lanes{};
      for (std::size_t t = 0; t < depth; ++t) {
        Lanes left, right;
        load_lanes(b + t * b_stride + part * kLanes, left);
        load_lanes(b + t * b_stride + (part + 1) * kLanes, right);
#pragma GCC unroll 4
        for (std::size_t i = 0; i < kRowsOfTile; ++i) {
          const float x = a[i * a_stride + t * a_step];
          sums[i][0] += x * left;
          sums[i][1] += x * right;
        }
      }
#pragma GCC unroll 4
      for (std::size_t i = 0; i < kRowsOfTile; ++i) {
        store_lanes(sums[i][0], out + i * out_stride + part * kLanes);
        store_lanes(sums[i][1], out + i * out_stride + (part + 1) * kLanes);
      }
    }
  }
};

/// out += a' b over kRowsOfChunk rows, on and above the diagonal.
struct ChunkOfSymmetricProduct {
  template <std::size_t register_bytes>
  [[gnu::always_inline]] void operator()(const float* a, const float* b, std::size_t columns,
                                         double* out) const {
    float tile[kRowsOfTile * TallMatrix::kPanel];
    for (std::size_t j = 0; j < columns; j += TallMatrix::kPanel)
      for (std::size_t i = 0; i < j + TallMatrix::kPanel; i += kRowsOfTile) {
        ProductTile<register_bytes>::multiply(a + i, 1, columns, b + j, columns, kRowsOfChunk, tile,
                                              TallMatrix::kPanel);
        for (std::size_t r = 0; r < kRowsOfTile; ++r)
          for (std::size_t c = 0; c < TallMatrix::kPanel; ++c)
            out[(i + r) * columns + j + c] += static_cast<double>(tile[r * TallMatrix::kPanel + c]);
      }
  }
};

/// out = a factor for kRowsOfChunk rows.
struct ChunkOfProduct {
  template <std::size_t register_bytes>
  [[gnu::always_inline]] void operator()(const float* a, const float* factor, std::size_t columns,
                                         bool is_upper, float* out) const {
    for (std::size_t j = 0; j < columns; j += TallMatrix::kPanel)
      for (std::size_t i = 0; i < kRowsOfChunk; i += kRowsOfTile)
        ProductTile<register_bytes>::multiply(a + i * columns, columns, 1, factor + j, columns,
                                              is_upper ? j + TallMatrix::kPanel : columns,
                                              out + i * columns + j, columns);
  }
};

struct AddScaledRow {
  template <std::size_t register_bytes>
  [[gnu::always_inline]] void operator()(float* to, const float* from, std::size_t columns,
                                         float factor) const {
    for (std::size_t c = 0; c < columns; ++c) to[c] += factor * from[c];
  }
};

/// The rows of some nodes of S A S `from`.
struct AdjacencyRows {
  static constexpr EdgeIndex kAhead = 4;  // arcs whose other ends are fetched early

  template <std::size_t register_bytes>
  [[gnu::always_inline]] void operator()(const GraphView* graph, const double* scale, const float* from,
                                         std::size_t columns, std::size_t begin, std::size_t end,
                                         float* to) const {
    const EdgeIndex last = graph->num_arcs() - 1;
    for (std::size_t u = begin; u < end; ++u) {
      float* const row = to + u * columns;
      for (std::size_t c = 0; c < columns; ++c) row[c] = 0;
      for (EdgeIndex arc = graph->offsets[u]; arc < graph->offsets[u + 1]; ++arc) {
        const char* const ahead =
            reinterpret_cast<const char*>(from + graph->neighbors[std::min(arc + kAhead, last)] * columns);
        for (std::size_t line = 0; line < columns * sizeof(float); line += 64)
          __builtin_prefetch(ahead + line);
        const NodeId v = graph->neighbors[arc];
        const auto factor = static_cast<float>(scale[u] * scale[v] * static_cast<double>(graph->weight(arc)));
        AddScaledRow{}.template operator()<register_bytes>(row, from + v * columns, columns, factor);
      }
    }
  }
};

/// body(rows) for kRowsOfChunk rows at a time from `begin`, with zeros behind the last one of the matrix.
template <class Body>
void for_each_chunk(const TallMatrix& matrix, std::size_t begin, std::size_t end, std::vector<float>& scratch,
                    Body&& body) {
  const std::size_t columns = matrix.num_columns();
  for (std::size_t first = begin; first < end; first += kRowsOfChunk) {
    if (end - first >= kRowsOfChunk) {
      body(first, matrix.row(first));
      continue;
    }
    scratch.assign(kRowsOfChunk * columns, 0);
    std::copy_n(matrix.row(first), (end - first) * columns, scratch.begin());
    body(first, scratch.data());
  }
}

}  // namespace

void TallMatrix::multiply(const Eigen::MatrixXd& factor, bool is_upper, const Execution& execution) {
  std::vector<float> table(num_columns_ * num_columns_);
  for (std::size_t i = 0; i < num_columns_; ++i)
    for (std::size_t j = 0; j < num_columns_; ++j)
      table[i * num_columns_ + j] =
          static_cast<float>(factor(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
  parallel_blocks(execution, num_rows_, kTallBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<float> scratch, out(kRowsOfChunk * num_columns_);
    for_each_chunk(*this, begin, end, scratch, [&](std::size_t first, const float* rows) {
      run_kernel(ChunkOfProduct{}, rows, table.data(), num_columns_, is_upper, out.data());
      std::copy_n(out.data(), std::min(kRowsOfChunk, end - first) * num_columns_, row(first));
    });
  });
}

Buffer<float> TallMatrix::take_columns(std::size_t count) && {
  for (std::size_t i = 0; i < num_rows_; ++i)
    std::copy_n(row(i), count, values_.data() + i * count);  // never ahead of what is read
  values_.shrink(num_rows_ * count);
  return std::move(values_);
}

Eigen::MatrixXd symmetric_product(const TallMatrix& a, const TallMatrix& b, const Execution& execution) {
  constexpr std::size_t kMostBlocks = 64;  // each has a matrix of its own
  const std::size_t columns = a.num_columns(), chunks = (a.num_rows() + kRowsOfChunk - 1) / kRowsOfChunk;
  const std::size_t block = std::max<std::size_t>(kTallBlock, (chunks / kMostBlocks + 1) * kRowsOfChunk);
  const std::vector<double> sums = deterministic_reduce(
      execution, a.num_rows(), std::vector<double>(columns * columns),
      [&](std::size_t begin, std::size_t end) {
        std::vector<double> sum(columns * columns);
        std::vector<float> of_a, of_b;
        for_each_chunk(a, begin, end, of_a, [&](std::size_t first, const float* rows) {
          for_each_chunk(b, first, std::min(first + kRowsOfChunk, end), of_b,
                         [&](std::size_t, const float* others) {
                           run_kernel(ChunkOfSymmetricProduct{}, rows, others, columns, sum.data());
                         });
        });
        return sum;
      },
      [](std::vector<double> total, const std::vector<double>& part) {
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += part[i];
        return total;
      },
      block);
  const auto size = static_cast<Eigen::Index>(columns);
  // Row by row here, column by column there: what is above the diagonal there is below it here.
  Eigen::MatrixXd product = Eigen::Map<const Eigen::MatrixXd>(sums.data(), size, size);
  product.triangularView<Eigen::StrictlyUpper>() = product.transpose();
  return product;
}

void multiply_adjacency(const GraphView& graph, std::span<const double> scale, const TallMatrix& from,
                        TallMatrix& to, const Execution& execution) {
  parallel_blocks(execution, from.num_rows(), kTallBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    run_kernel(AdjacencyRows{}, &graph, scale.data(), from.row(0), from.num_columns(), begin,
                               end, to.row(0));
                  });
}

}  // namespace copse
