// SPDX-License-Identifier: Apache-2.0
//
// What meets at a point is a product of two small matrices, whose rows are gathered once. Rounds go by
// batches of fixed size: all points of a batch propose pairs by the thresholds at its start, then the
// proposals to each range of points are taken in their order. So nothing depends on the number of threads.

#include "points/neighbor_descent.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "points/products.hpp"
#include "support/simd.hpp"

namespace copse {
namespace {

constexpr std::uint64_t kMostRounds = 16;
constexpr double kFewChanges = 0.001;  // of all entries: the last round
constexpr std::size_t kBlock = 64, kBlocks = 16, kRanges = 16;
constexpr std::size_t kPointsAtOnce = 1024;

struct Widen {
  template <std::size_t register_bytes>
  [[gnu::always_inline]] void operator()(const std::uint16_t* from, std::size_t count, float* to) const {
    for (std::size_t t = 0; t < count; ++t) to[t] = std::bit_cast<float>(std::uint32_t{from[t]} << 16);
  }
};

// To the nearest, ties to even.
std::uint16_t upper_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace

// Those who meet each other, then those whom they meet as well.
struct NeighborDescent::Meeting {
  std::vector<NodeId> ids;
  std::size_t num_meeting = 0;
  std::vector<float> rows, norms, thresholds, products;
  std::vector<std::uint32_t> hits;
};

struct NeighborDescent::Block {
  Meeting meeting;
  std::vector<Offer> offers[kRanges];
  std::uint64_t num_compared = 0;
};

NeighborDescent::NeighborDescent(const DenseKeys& keys, const NeighborForest& forest,
                                 const Execution& execution)
    : execution_(execution),
      stride_((keys.stride() + kSumsOfRows - 1) / kSumsOfRows * kSumsOfRows),
      points_(forest.order()),
      positions_(points_.size()) {
  for (NodeId at = 0; at < points_.size(); ++at) positions_[points_[at]] = at;
  take_rows(keys);
  widen(forest.size());
  parallel_blocks(execution_, points_.size(), kPointsAtOnce,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (auto at = static_cast<NodeId>(begin); at < end; ++at) {
                      const auto ids = forest.ids_of(points_[at]);
                      const auto near_keys = forest.keys_of(points_[at]);
                      for (std::size_t p = 0; p < ids.size(); ++p)
                        offer({at, positions_[ids[p]], near_keys[p]});
                    }
                  });
}

std::uint64_t NeighborDescent::bytes(std::uint64_t num_points, std::uint64_t num_columns, std::size_t size) {
  const std::uint64_t row = DenseKeys::stride_of(num_columns) * sizeof(std::uint16_t) + sizeof(float);
  const std::uint64_t list = size * (sizeof(float) + sizeof(NodeId) + sizeof(State));
  const std::uint64_t in_rounds = size * sizeof(NodeId) + 3 * sizeof(EdgeIndex);
  return num_points * (row + list + sizeof(float) + 2 * sizeof(NodeId) + in_rounds);
}

void NeighborDescent::widen(std::size_t size) {
  const std::size_t num_points = points_.size(), before = size_;
  Buffer<float> keys(num_points * size);
  Buffer<NodeId> near(num_points * size);
  thresholds_ = Buffer<float>(num_points);
  std::fill(keys.begin(), keys.end(), std::numeric_limits<float>::infinity());
  std::fill(near.begin(), near.end(), kNoNode);
  std::fill(thresholds_.begin(), thresholds_.end(), std::numeric_limits<float>::infinity());
  std::swap(keys, near_keys_);
  std::swap(near, near_);
  states_ = Buffer<State>(num_points * size);
  size_ = size;
  parallel_blocks(execution_, num_points, kPointsAtOnce,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t at = begin; at < end; ++at)
                      for (std::size_t p = at * before; p < (at + 1) * before; ++p)
                        if (near[p] != kNoNode) offer({static_cast<NodeId>(at), near[p], keys[p]});
                  });
}

void NeighborDescent::take_rows(const DenseKeys& keys) {
  rows_ = Buffer<std::uint16_t>(points_.size() * stride_);
  norms_ = Buffer<float>(points_.size());
  parallel_blocks(execution_, points_.size(), kPointsAtOnce,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t at = begin; at < end; ++at) {
                      const float* from = keys.row(points_[at]);
                      double norm = 0;
                      for (std::size_t t = 0; t < keys.stride(); ++t) {
                        const std::uint16_t half = rows_[at * stride_ + t] = upper_half(from[t]);
                        const auto value = double{std::bit_cast<float>(std::uint32_t{half} << 16)};
                        norm += value * value;
                      }
                      norms_[at] = static_cast<float>(norm);
                    }
                  });
}

std::vector<NodeId> NeighborDescent::of(NodeId point) const {
  std::vector<NodeId> ids;
  const std::size_t first = positions_[point] * size_;
  for (std::size_t p = first; p < first + size_; ++p)
    if (near_[p] != kNoNode) ids.push_back(points_[near_[p]]);
  return ids;
}

bool NeighborDescent::offer(const Offer& offer) {
  if (!(offer.key < thresholds_[offer.to])) return false;
  float* const keys = near_keys_.data() + offer.to * size_;
  NodeId* const ids = near_.data() + offer.to * size_;
  State* const states = states_.data() + offer.to * size_;
  bool is_there = false;
  for (std::size_t p = 0; p < size_; ++p) is_there |= ids[p] == offer.id;
  if (is_there) return false;
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size_; child = 2 * hole + 1) {
    child += child + 1 < size_ && keys[child + 1] > keys[child];
    if (keys[child] <= offer.key) break;
    keys[hole] = keys[child];
    ids[hole] = ids[child];
    states[hole] = states[child];
    hole = child;
  }
  keys[hole] = offer.key;
  ids[hole] = offer.id;
  states[hole] = State::fresh;
  thresholds_[offer.to] = keys[0];
  return true;
}

// take(offer) for every pair that is of use to one of the two. Returns how many pairs were compared.
template <class Take>
std::uint64_t NeighborDescent::meet(Meeting& meeting, const Take& take) const {
  const std::size_t count = meeting.ids.size(), num_meeting = meeting.num_meeting;
  const std::size_t room = (count + kBlockOfRows - 1) / kBlockOfRows * kBlockOfRows;
  meeting.rows.resize(room * stride_);
  meeting.norms.resize(count);
  meeting.thresholds.resize(count);
  meeting.products.resize(room * room);
  meeting.hits.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    run_kernel(Widen{}, rows_.data() + meeting.ids[i] * stride_, stride_, meeting.rows.data() + i * stride_);
    meeting.norms[i] = norms_[meeting.ids[i]];
    meeting.thresholds[i] = thresholds_[meeting.ids[i]];
  }
  row_products(meeting.rows.data(), num_meeting, count, stride_, meeting.products.data(), room);
  for (std::size_t i = 0; i < num_meeting; ++i) {
    const std::size_t from = i + 1;
    const KeyRow row{meeting.products.data() + i * room + from, meeting.norms.data() + from, meeting.norms[i],
                     meeting.thresholds[i], meeting.thresholds.data() + from};
    const std::size_t found = scan_keys(row, count - from, meeting.hits.data());
    for (std::size_t h = 0; h < found; ++h) {
      const NodeId a = meeting.ids[i], b = meeting.ids[from + meeting.hits[h]];
      const float key = row.key(meeting.hits[h]);
      if (a == b) continue;
      if (key < meeting.thresholds[i]) take(Offer{a, b, key});
      if (key < meeting.thresholds[from + meeting.hits[h]]) take(Offer{b, a, key});
    }
  }
  return num_meeting * (2 * count - num_meeting - 1) / 2;
}

void NeighborDescent::run(const std::function<bool()>& is_enough) {
  for (std::uint64_t round = 0; round < kMostRounds; ++round) {
    execution_.report("neighbours", round, kMostRounds);
    if (static_cast<double>(run_round()) < kFewChanges * static_cast<double>(near_.size()) || is_enough())
      return;
  }
}

std::uint64_t NeighborDescent::run_round() {
  for (State& state : states_) state = state == State::fresh ? State::meeting : State::met;
  list_reversed();
  const std::size_t num_points = points_.size(), range_size = (num_points + kRanges - 1) / kRanges;
  std::vector<Block> blocks(kBlocks);
  std::vector<std::uint64_t> changes(kRanges);
  for (std::size_t first = 0; first < num_points; first += kBlock * kBlocks) {
    parallel_for(execution_, kBlocks, [&](std::size_t b) {
      Block& block = blocks[b];
      for (auto& offers : block.offers) offers.clear();
      const std::size_t begin = first + b * kBlock, end = std::min(begin + kBlock, num_points);
      for (std::size_t at = begin; at < end; ++at) {
        gather(static_cast<NodeId>(at), block.meeting);
        block.num_compared += meet(
            block.meeting, [&](const Offer& offer) { block.offers[offer.to / range_size].push_back(offer); });
      }
    });
    parallel_for(execution_, kRanges, [&](std::size_t range) {
      for (const Block& block : blocks)
        for (const Offer& given : block.offers[range]) changes[range] += offer(given);
    });
  }
  for (const Block& block : blocks) num_compared_ += block.num_compared;
  return std::accumulate(changes.begin(), changes.end(), std::uint64_t{0});
}

void NeighborDescent::list_reversed() {
  const std::size_t num_points = points_.size();
  reversed_starts_.assign(num_points + 1, 0);
  meeting_starts_.assign(num_points, 0);
  for (std::size_t p = 0; p < near_.size(); ++p) {
    if (near_[p] == kNoNode) continue;
    ++reversed_starts_[near_[p] + std::size_t{1}];
    meeting_starts_[near_[p]] += states_[p] == State::met;
  }
  std::partial_sum(reversed_starts_.begin(), reversed_starts_.end(), reversed_starts_.begin());
  for (std::size_t at = 0; at < num_points; ++at) meeting_starts_[at] += reversed_starts_[at];
  std::vector<EdgeIndex> met(reversed_starts_.begin(), reversed_starts_.end() - 1), meeting = meeting_starts_;
  reversed_.resize(reversed_starts_.back());
  for (std::size_t at = 0, p = 0; at < num_points; ++at)
    for (; p < (at + 1) * size_; ++p)
      if (near_[p] != kNoNode)
        reversed_[(states_[p] == State::met ? met : meeting)[near_[p]]++] = static_cast<NodeId>(at);
}

void NeighborDescent::gather(NodeId at, Meeting& meeting) const {
  std::vector<NodeId>& ids = meeting.ids;
  ids.clear();
  for (const State state : {State::meeting, State::met}) {
    const std::size_t begin = ids.size();
    for (std::size_t p = at * size_; p < (at + std::size_t{1}) * size_; ++p)
      if (near_[p] != kNoNode && states_[p] == state) ids.push_back(near_[p]);
    const EdgeIndex first = state == State::met ? reversed_starts_[at] : meeting_starts_[at];
    const EdgeIndex last = state == State::met ? meeting_starts_[at] : reversed_starts_[at + std::size_t{1}];
    // Of very many, some that are evenly spread.
    const EdgeIndex count = last - first, taken = std::min<EdgeIndex>(count, size_);
    for (EdgeIndex i = 0; i < taken; ++i)
      ids.push_back(reversed_[first + (i * count + at % count) / taken % count]);
    const auto own = ids.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(own, ids.end());
    ids.erase(std::unique(own, ids.end()), ids.end());
    if (state == State::meeting) meeting.num_meeting = ids.size();
  }
  if (meeting.num_meeting == 0) ids.clear();
}

}  // namespace copse
