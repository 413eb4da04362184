// SPDX-License-Identifier: Apache-2.0
#include "graph/seen_ids.hpp"

#include <utility>

namespace copse {

std::uint64_t SeenIds::count() {
  ranks_ = Buffer<NodeId>(words_.size());
  std::uint64_t total = 0;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    ranks_[w] = static_cast<NodeId>(total);
    total += static_cast<std::uint64_t>(std::popcount(words_[w]));
  }
  constexpr std::size_t kWords = kGroup / 64;
  for (std::size_t w = 0; w < words_.size(); w += kWords) {
    const std::uint64_t before = ranks_[w], after = w + kWords < words_.size() ? ranks_[w + kWords] : total;
    missing_.push_back(after - before == kGroup ? static_cast<NodeId>(smallest_ + 64 * w - before) : kNoNode);
  }
  return total;
}

NodeNames SeenIds::names(std::uint64_t count, std::uint64_t base) const {
  auto ids = Buffer<NodeId>::for_overwrite(count);
  std::uint64_t node = 0;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
      ids[node++] = static_cast<NodeId>(smallest_ + 64 * w + static_cast<unsigned>(std::countr_zero(word)));
  }
  return NodeNames::integers(base, std::move(ids));
}

}  // namespace copse
