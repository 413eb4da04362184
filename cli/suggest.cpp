// SPDX-License-Identifier: Apache-2.0
#include "suggest.hpp"

#include <algorithm>
#include <utility>

namespace copse::cli {

namespace {

// About one slip in three characters: more, and the suggestion is noise.
std::size_t tolerance(std::string_view word) { return std::max<std::size_t>(1, word.size() / 3); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = tolerance(word) + 1;
  for (const std::string& candidate : candidates) {
    const bool is_beginning = word.size() > 1 && candidate.starts_with(word);
    const std::size_t distance = is_beginning ? 0 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::vector<std::string> nearest_names(std::string_view name, const NodeNames& names, std::size_t limit) {
  if (names.is_numbered()) return {};  // every number is near another: the range says more
  const auto lower = [](std::string_view text) {
    std::string copy(text);
    for (char& c : copy)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return copy;
  };
  const std::string wanted = lower(name);
  const std::size_t allowed = std::min<std::size_t>(tolerance(name), 3);
  std::vector<std::pair<std::size_t, std::string>> found;
  NodeNames::Digits digits;
  for (std::uint64_t node = 0; node < names.size(); ++node) {
    const std::string_view other = names.view(static_cast<NodeId>(node), digits);
    if (other.size() > wanted.size() + allowed || other.size() + allowed < wanted.size()) continue;
    const std::size_t distance = edit_distance(wanted, lower(other));
    if (distance <= allowed) found.emplace_back(distance, std::string(other));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> result;
  for (std::size_t i = 0; i < found.size() && i < limit; ++i) result.push_back(found[i].second);
  return result;
}

}  // namespace copse::cli
