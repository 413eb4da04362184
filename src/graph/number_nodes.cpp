// SPDX-License-Identifier: Apache-2.0
#include "graph/number_nodes.hpp"

#include <atomic>
#include <bit>
#include <charconv>

#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"

namespace copse {
namespace {

// A bit an id is worth it while the bits take no more memory than the edges themselves.
constexpr std::uint64_t kBitsPerEdge = 64, kBitsAtLeast = std::uint64_t{1} << 20;

class SeenIds {
 public:
  SeenIds(NodeId smallest, std::uint64_t range) : smallest_(smallest), words_((range + 63) / 64) {}

  void mark(NodeId id) {
    const NodeId bit = id - smallest_;
    std::atomic_ref<std::uint64_t> word(words_[bit / 64]);
    const std::uint64_t flag = std::uint64_t{1} << bit % 64;
    // Almost every id was seen before: a read is far cheaper than a locked write.
    if ((word.load(std::memory_order_relaxed) & flag) == 0) word.fetch_or(flag, std::memory_order_relaxed);
  }

  std::uint64_t count() {
    ranks_ = Buffer<NodeId>(words_.size());
    std::uint64_t total = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      ranks_[w] = static_cast<NodeId>(total);
      total += static_cast<std::uint64_t>(std::popcount(words_[w]));
    }
    return total;
  }

  NodeId rank(NodeId id) const {
    const NodeId bit = id - smallest_;
    // Where ids are nearly dense almost every word is full: no bits to count.
    if (words_[bit / 64] == ~std::uint64_t{0}) return ranks_[bit / 64] + bit % 64;
    const std::uint64_t below = words_[bit / 64] & ((std::uint64_t{1} << bit % 64) - 1);
    return ranks_[bit / 64] + static_cast<NodeId>(std::popcount(below));
  }

  NodeNames names(std::uint64_t count, std::uint64_t base) const {
    struct Owned {
      Buffer<std::uint64_t> ends;
      std::vector<char> text;
    };
    const auto owned = std::make_shared<Owned>();
    owned->ends = Buffer<std::uint64_t>(count);
    std::uint64_t node = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        char digits[20];
        const std::uint64_t id = base + smallest_ + 64 * w + static_cast<unsigned>(std::countr_zero(word));
        char* const end = std::to_chars(digits, digits + sizeof digits, id).ptr;
        owned->text.insert(owned->text.end(), &digits[0], end);
        owned->ends[node++] = owned->text.size();
      }
    }
    return NodeNames::strings(owned->ends.span(), owned->text, owned);
  }

 private:
  NodeId smallest_;
  Buffer<std::uint64_t> words_;
  Buffer<NodeId> ranks_;  // ids seen before each word
};

}  // namespace

std::optional<NodeNames> number_nodes(IntegerEdges& edges, int threads) {
  if (edges.smallest > edges.largest) return NodeNames::numbered(0);
  const std::uint64_t range = std::uint64_t{edges.largest} - edges.smallest + 1;
  std::uint64_t num_edges = edges.more_ids.size();
  for (const EdgeChunk& chunk : edges.chunks) num_edges += chunk.u.size();
  if (range > kBitsAtLeast && range / kBitsPerEdge > num_edges) return std::nullopt;

  SeenIds seen(edges.smallest, range);
  parallel_for(threads, edges.chunks.size(), [&](std::size_t c) {
    for (const NodeId id : edges.chunks[c].u) seen.mark(id);
    for (const NodeId id : edges.chunks[c].v) seen.mark(id);
  });
  for (const NodeId id : edges.more_ids) seen.mark(id);
  const std::uint64_t count = seen.count();
  const bool is_run = count == range;
  if (is_run && edges.smallest == 0) return NodeNames::numbered(count, edges.base);

  parallel_for(threads, edges.chunks.size(), [&](std::size_t c) {
    for (std::vector<NodeId>* ids : {&edges.chunks[c].u, &edges.chunks[c].v})
      for (NodeId& id : *ids) id = is_run ? id - edges.smallest : seen.rank(id);
  });
  return is_run ? NodeNames::numbered(count, edges.base + edges.smallest) : seen.names(count, edges.base);
}

}  // namespace copse
