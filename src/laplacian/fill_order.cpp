// SPDX-License-Identifier: Apache-2.0
#include "laplacian/fill_order.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "support/unless_cancelled.hpp"

namespace copse {

namespace {

/// Takes out groups of at most two neighbours, joining the two.
class Stripper {
 public:
  explicit Stripper(const QuotientPattern& pattern)
      : pattern_(pattern),
        neighbors_(pattern.neighbors),
        degrees_(pattern.num_groups()),
        lengths_(pattern.num_groups()),
        is_gone_(pattern.num_groups()) {
    for (NodeId g = 0; g < pattern.num_groups(); ++g)
      degrees_[g] = lengths_[g] = static_cast<NodeId>(pattern.offsets[g + 1] - pattern.offsets[g]);
  }

  std::vector<NodeId> run() {
    for (NodeId g = 0; g < pattern_.num_groups(); ++g) enlist(g);
    for (;;) {
      // Leaves first, then those whose two neighbours are joined: neither leaves anything new behind.
      if (const NodeId leaf = next(leaves_); leaf != kNoNode) {
        take_out(leaf);
      } else if (const NodeId middle = next(pairs_); middle != kNoNode) {
        has_joined_neighbors(middle) ? take_out(middle) : links_.push_back(middle);
      } else if (const NodeId link = next(links_); link != kNoNode) {
        has_joined_neighbors(link) ? take_out(link) : bypass(link);
      } else {
        return std::move(order_);
      }
    }
  }

  bool is_gone(NodeId group) const { return is_gone_[group]; }

  /// Neighbours that are left of a group that is left.
  std::span<const NodeId> neighbors_of(NodeId group) {
    NodeId* list = neighbors_.data() + pattern_.offsets[group];
    if (lengths_[group] > degrees_[group]) {
      const NodeId* end =
          std::remove_if(list, list + lengths_[group], [&](NodeId other) { return is_gone_[other]; });
      lengths_[group] = static_cast<NodeId>(end - list);
    }
    return {list, lengths_[group]};
  }

 private:
  static constexpr NodeId kShort = 64;  // lists up to here are searched; others keep those gone for a while

  void enlist(NodeId group) {
    if (degrees_[group] <= 2) (degrees_[group] == 2 ? pairs_ : leaves_).push_back(group);
  }
  NodeId next(std::vector<NodeId>& list) {
    while (!list.empty()) {
      const NodeId group = list.back();
      list.pop_back();
      if (!is_gone_[group]) return group;
    }
    return kNoNode;
  }

  /// Whether they are, or there are fewer than two.
  bool has_joined_neighbors(NodeId group) {
    const auto list = neighbors_of(group);
    if (list.size() < 2) return true;
    const NodeId shorter = lengths_[list[0]] < lengths_[list[1]] ? 0 : 1;
    return lengths_[list[shorter]] <= kShort && find(list[shorter], list[1 - shorter]) != nullptr;
  }

  void take_out(NodeId group) {
    for (const NodeId other : neighbors_of(group)) {
      --degrees_[other];
      if (NodeId* at = lengths_[other] <= kShort ? find(other, group) : nullptr)
        *at = neighbors_[pattern_.offsets[other] + --lengths_[other]];
      enlist(other);
    }
    leave(group);
  }

  /// Joins its two neighbours. One with a long list is left where it is: searching that again and again would
  /// cost too much.
  void bypass(NodeId group) {
    const auto list = neighbors_of(group);
    if (lengths_[list[0]] > kShort || lengths_[list[1]] > kShort) return;
    *find(list[0], group) = list[1];
    *find(list[1], group) = list[0];
    leave(group);
  }

  void leave(NodeId group) {
    is_gone_[group] = 1;
    order_.push_back(group);
  }

  NodeId* find(NodeId group, NodeId wanted) {
    NodeId* list = neighbors_.data() + pattern_.offsets[group];
    NodeId* end = list + lengths_[group];
    NodeId* at = std::find(list, end, wanted);
    return at == end ? nullptr : at;
  }

  const QuotientPattern& pattern_;
  std::vector<NodeId> neighbors_, degrees_, lengths_;
  std::vector<char> is_gone_;
  std::vector<NodeId> leaves_, pairs_, links_, order_;
};

/// Eigen's, of the groups that are left. It wants both triangles and a diagonal, and no values.
std::vector<NodeId> minimum_degree(const std::vector<NodeId>& left, const std::vector<NodeId>& number,
                                   Stripper& stripper, std::size_t num_arcs, const Execution& execution) {
  using Pattern = Eigen::SparseMatrix<signed char, Eigen::ColMajor, int>;
  const auto size = static_cast<Eigen::Index>(left.size());
  auto matrix = std::make_unique<Pattern>(size, size);  // Eigen's matrices are copied where others are moved
  matrix->resizeNonZeros(static_cast<Eigen::Index>(num_arcs + left.size()));
  int* inner = matrix->innerIndexPtr();
  int* outer = matrix->outerIndexPtr();
  int at = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    outer[i] = at;
    inner[at++] = static_cast<int>(i);
    for (const NodeId other : stripper.neighbors_of(left[i])) inner[at++] = static_cast<int>(number[other]);
  }
  outer[left.size()] = at;
  matrix->resizeNonZeros(at);
  auto ordered = [matrix = std::move(matrix)] {
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
    Eigen::internal::minimum_degree_ordering(*matrix, permutation);
    return permutation;
  };
  constexpr std::size_t kQuick = 100'000;  // some hundredths of a second
  const auto permutation = left.size() < kQuick ? ordered() : unless_cancelled(execution, std::move(ordered));
  std::vector<NodeId> order;
  for (Eigen::Index i = 0; i < size; ++i)
    order.push_back(left[static_cast<std::size_t>(permutation.indices()[i])]);
  return order;
}

}  // namespace

std::vector<NodeId> fill_reducing_order(const QuotientPattern& pattern, const Execution& execution) {
  Stripper stripper(pattern);
  std::vector<NodeId> order = stripper.run();
  std::vector<NodeId> left, number(pattern.num_groups());
  std::size_t num_arcs = 0;
  for (NodeId g = 0; g < pattern.num_groups(); ++g) {
    if (stripper.is_gone(g)) continue;
    number[g] = static_cast<NodeId>(left.size());
    left.push_back(g);
    num_arcs += stripper.neighbors_of(g).size();
  }
  if (left.empty()) return order;
  // Eigen takes 1.2 times the entries and 2 per column in ints, and 9 per column in one array.
  constexpr double kMost = std::numeric_limits<int>::max();
  if (1.3 * static_cast<double>(num_arcs) + 10 * static_cast<double>(left.size()) > kMost) return {};
  const std::vector<NodeId> rest = minimum_degree(left, number, stripper, num_arcs, execution);
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

}  // namespace copse
