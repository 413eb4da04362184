// SPDX-License-Identifier: Apache-2.0
//
// A point is in one leaf of a tree: leaves are worked on side by side, each writes the lists of its own
// points only, and nothing depends on the number of threads.

#include "points/neighbor_forest.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "points/products.hpp"

namespace copse {
namespace {

constexpr std::size_t kSketch = 32;     // numbers by which trees know a point, at most
constexpr std::size_t kLeastLeaf = 64;  // points
constexpr std::size_t kPointsPerTask = 1024, kLeavesPerTask = 4;
constexpr std::size_t kTileRows = 48, kTileColumns = 1024;  // a tile of products, in a core's own cache

// In one order on every processor, some sums side by side; `width` is a multiple of 8.
float sketch_product(const float* a, const float* b, std::size_t width) {
  constexpr std::size_t kSums = 8;
  float sums[kSums] = {};
  for (std::size_t t = 0; t < width; t += kSums)
    for (std::size_t s = 0; s < kSums; ++s) sums[s] += a[t + s] * b[t + s];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

// Of a leaf, side by side.
struct NeighborForest::Leaf {
  std::vector<float> rows, norms, thresholds, tile;
  std::vector<std::uint32_t> hits;
};

NeighborForest::NeighborForest(const DenseKeys& keys, std::size_t size, const Execution& execution)
    : keys_(keys),
      execution_(execution),
      size_(size),
      sketch_width_(std::min(keys.stride(), kSketch)),
      order_(keys.num_points()),
      near_keys_(keys.num_points() * size),
      near_(keys.num_points() * size),
      thresholds_(keys.num_points()) {
  std::fill(near_keys_.begin(), near_keys_.end(), std::numeric_limits<float>::infinity());
  std::fill(near_.begin(), near_.end(), kNoNode);
  std::fill(thresholds_.begin(), thresholds_.end(), std::numeric_limits<float>::infinity());
  while (keys.num_points() >> (most_depth_ + 1) > std::max(kLeastLeaf, size)) ++most_depth_;
  if (keys.stride() > kSketch) sketch_points();
}

std::uint64_t NeighborForest::bytes(std::uint64_t num_points, std::uint64_t num_columns, std::size_t size) {
  const std::uint64_t sketch = num_columns > kSketch ? kSketch * sizeof(float) : 0;
  const std::uint64_t list = size * (sizeof(float) + sizeof(NodeId)) + sizeof(float);
  return num_points * (sketch + list + sizeof(Projected) + sizeof(NodeId));
}

std::vector<NodeId> NeighborForest::of(NodeId point) const {
  std::vector<NodeId> ids;
  for (const NodeId id : ids_of(point))
    if (id != kNoNode) ids.push_back(id);
  return ids;
}

// Products with differences of random points: trees look at these few numbers instead of whole rows.
void NeighborForest::sketch_points() {
  const std::size_t num_points = keys_.num_points(), stride = keys_.stride();
  std::vector<float> lines(kSketch * stride);
  Stream stream(execution_.seed, Purpose::neighbor_cells, 0);
  for (std::size_t line = 0; line < kSketch; ++line) {
    const float *a = keys_.row(stream.below(num_points)), *b = keys_.row(stream.below(num_points));
    for (std::size_t t = 0; t < stride; ++t) lines[line * stride + t] = a[t] - b[t];
  }
  sketches_ = Buffer<float>(num_points * kSketch);
  parallel_blocks(execution_, num_points, kPointsPerTask,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    minus_two_products(keys_.row(begin), end - begin, lines.data(), kSketch, stride,
                                       sketches_.data() + begin * kSketch, kSketch);
                  });
}

const float* NeighborForest::sketch(NodeId point) const {
  return sketches_.empty() ? keys_.row(point) : sketches_.data() + std::size_t{point} * kSketch;
}

std::vector<std::size_t> NeighborForest::starts_at(unsigned depth) const {
  std::vector<std::size_t> starts{0, order_.size()};
  for (; depth > 0; --depth) {
    std::vector<std::size_t> halves{0};
    for (std::size_t part = 0; part + 1 < starts.size(); ++part) {
      halves.push_back(starts[part] + (starts[part + 1] - starts[part]) / 2);
      halves.push_back(starts[part + 1]);
    }
    starts = std::move(halves);
  }
  return starts;
}

void NeighborForest::grow(unsigned depth) {
  for (NodeId at = 0; at < order_.size(); ++at) order_[at].at = at;
  for (unsigned done = 0; done < depth; ++done) {
    const std::vector<std::size_t> starts = starts_at(done), halves = starts_at(done + 1);
    const std::size_t num_parts = starts.size() - 1;
    // By the order along the line through two of its points.
    std::vector<float> lines(num_parts * sketch_width_);
    for (std::size_t part = 0; part < num_parts; ++part) {
      const std::uint64_t begin = starts[part], count = starts[part + 1] - begin;
      Stream stream(execution_.seed, Purpose::neighbor_cells, num_trees_ << 40 | (num_parts + part));
      const float *a = sketch(order_[begin + stream.below(count)].at),
                  *b = sketch(order_[begin + stream.below(count)].at);
      for (std::size_t t = 0; t < sketch_width_; ++t) lines[part * sketch_width_ + t] = a[t] - b[t];
    }
    parallel_blocks(
        execution_, order_.size(), kPointsPerTask, [&](std::size_t begin, std::size_t end, std::size_t) {
          auto part = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), begin) -
                                               starts.begin()) -
                      1;
          for (std::size_t i = begin; i < end; ++i) {
            part += i == starts[part + 1];
            order_[i].value =
                sketch_product(sketch(order_[i].at), lines.data() + part * sketch_width_, sketch_width_);
          }
        });
    parallel_for(execution_, num_parts, [&](std::size_t part) {
      const auto at = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
      std::nth_element(at(starts[part]), at(halves[2 * part + 1]), at(starts[part + 1]));
    });
  }
  ++num_trees_;
}

std::vector<NodeId> NeighborForest::order() const {
  std::vector<NodeId> points;
  points.reserve(order_.size());
  for (const Projected& one : order_) points.push_back(one.at);
  return points;
}

std::vector<NodeId> NeighborForest::positions() const {
  std::vector<NodeId> positions(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) positions[order_[i].at] = static_cast<NodeId>(i);
  return positions;
}

unsigned NeighborForest::depth_together(NodeId a, NodeId b) const {
  std::size_t begin = 0, end = order_.size();
  unsigned depth = 0;
  for (; depth < most_depth_; ++depth) {
    const std::size_t half = begin + (end - begin) / 2;
    if ((a < half) != (b < half)) break;
    (a < half ? end : begin) = half;
  }
  return depth;
}

void NeighborForest::meet(unsigned depth) {
  const std::vector<std::size_t> starts = starts_at(depth);
  parallel_blocks(execution_, starts.size() - 1, kLeavesPerTask,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    Leaf leaf;
                    for (std::size_t l = begin; l < end; ++l)
                      meet(std::span(order_).subspan(starts[l], starts[l + 1] - starts[l]), leaf);
                  });
  for (std::size_t l = 0; l + 1 < starts.size(); ++l) {
    const std::uint64_t count = starts[l + 1] - starts[l];
    num_compared_ += count * (count - 1) / 2;
  }
}

void NeighborForest::meet(std::span<const Projected> members, Leaf& leaf) {
  const std::size_t count = members.size(), stride = keys_.stride();
  leaf.rows.resize(count * stride);
  leaf.norms.resize(count);
  leaf.thresholds.resize(count);
  leaf.tile.resize(kTileRows * kTileColumns);
  leaf.hits.resize(kTileColumns);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(keys_.row(members[i].at), stride, leaf.rows.data() + i * stride);
    leaf.norms[i] = keys_.norms()[members[i].at];
    leaf.thresholds[i] = thresholds_[members[i].at];
  }
  const auto tell = [&](std::size_t to, std::size_t other, float key) {
    if (!(key < leaf.thresholds[to])) return;
    offer(members[to].at, members[other].at, key);
    leaf.thresholds[to] = thresholds_[members[to].at];
  };
  for (std::size_t first = 0; first < count; first += kTileRows) {
    const std::size_t num_rows = std::min(kTileRows, count - first);
    for (std::size_t column = first; column < count; column += kTileColumns) {
      const std::size_t end = std::min(column + kTileColumns, count);
      minus_two_products(leaf.rows.data() + first * stride, num_rows, leaf.rows.data() + column * stride,
                         end - column, stride, leaf.tile.data(), kTileColumns);
      for (std::size_t i = first; i < first + num_rows; ++i) {
        const std::size_t from = std::max(column, i + 1);
        if (from >= end) continue;
        const KeyRow row{leaf.tile.data() + (i - first) * kTileColumns + (from - column),
                         leaf.norms.data() + from, leaf.norms[i], leaf.thresholds[i],
                         leaf.thresholds.data() + from};
        const std::size_t found = scan_keys(row, end - from, leaf.hits.data());
        for (std::size_t h = 0; h < found; ++h) {
          const std::size_t other = from + leaf.hits[h];
          const float key = row.key(leaf.hits[h]);
          tell(i, other, key);
          tell(other, i, key);
        }
      }
    }
  }
}

// To a list that it is near enough for.
void NeighborForest::offer(NodeId to, NodeId id, float key) {
  float* const keys = near_keys_.data() + to * size_;
  NodeId* const ids = near_.data() + to * size_;
  bool is_there = false;
  for (std::size_t p = 0; p < size_; ++p) is_there |= ids[p] == id;
  if (is_there) return;
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size_; child = 2 * hole + 1) {
    child += child + 1 < size_ && keys[child + 1] > keys[child];
    if (keys[child] <= key) break;
    keys[hole] = keys[child];
    ids[hole] = ids[child];
    hole = child;
  }
  keys[hole] = key;
  ids[hole] = id;
  thresholds_[to] = keys[0];
}

}  // namespace copse
