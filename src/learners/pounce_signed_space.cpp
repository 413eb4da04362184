// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "copse/graph/signs.hpp"
#include "learners/pounce_column_space.hpp"

// Pounce with the pseudoinverse G of the signed Laplacian (Herbster 2008 states it for those). An example is
// stored with its mirror image: told y at s, it also says that -v_s is of the other class. A node i is near
// to the one of the two that |v_i -+ v_s|^2 = G_ii + G_ss -+ 2 G_is says; in a balanced component only one of
// them is there.

namespace copse {
namespace {

class PounceSignedSpace final : public PounceColumnSpace {
 public:
  PounceSignedSpace(const GraphView& graph, const Components& components, const PounceOptions& options,
                    const Execution& execution)
      : PounceColumnSpace(components.of_node, options, execution),
        cover_(double_cover(graph, execution.threads)),
        balance_(sign_balance(graph, components)) {}

  bool is_signed() const override { return true; }

  double resistance(NodeId node, std::uint32_t number) const override {
    const NodeId other = examples_[example_of(number)].node;
    if (other == node) return 0;
    std::vector<double> x(num_nodes());
    const std::lock_guard lock(mutex_);
    solve(node, other, sign_of(number), x);
    return std::max(x[node] - sign_of(number) * x[other], least_resistance(node));
  }

 private:
  /// On the cover, with the mirror images taken off.
  void solve(NodeId t, NodeId s, double sign, std::span<double> x) const override {
    const std::size_t n = num_nodes();
    std::vector<double> both(2 * n);
    both[t] = 1;
    if (s != kNoNode) both[s] = -sign;
    for (std::size_t i = 0; i < n; ++i) both[n + i] = -both[i];
    solve_on(cover_, both);
    std::copy_n(both.begin(), n, x.begin());
  }

  double least_resistance(NodeId node) const override { return 1 / weighted_degree(cover_, node); }

  std::uint32_t nearest_of(NodeId node, const std::vector<std::uint32_t>& examples) const override {
    if (has_columns()) return nearest_by(node, examples, [&](std::uint32_t e) { return columns_[e][node]; });
    return remembered(node, [&] {
      std::vector<double> column(num_nodes());
      solve(node, kNoNode, 0, column);
      return nearest_by(node, examples, [&](std::uint32_t e) { return column[examples_[e].node]; });
    });
  }

  /// entry(e) is G between the node and example e. Of several as near the oldest.
  template <class Entry>
  std::uint32_t nearest_by(NodeId node, const std::vector<std::uint32_t>& examples, Entry&& entry) const {
    const bool is_balanced = balance_.is_balanced[component_[node]] != 0;
    const auto for_each_image = [&](auto&& body) {
      for (const std::uint32_t e : examples) {
        const double g = entry(e);
        const bool is_other_side = balance_.side[node] != balance_.side[examples_[e].node];
        for (const std::uint32_t image : {2 * e, 2 * e + 1})
          if (!is_balanced || (image % 2 != 0) == is_other_side)
            body(image, examples_[e].diagonal - 2 * sign_of(image) * g);
      }
    };
    double least = std::numeric_limits<double>::infinity();
    for_each_image([&](std::uint32_t, double distance) { least = std::min(least, distance); });
    std::uint32_t found = kNone;
    for_each_image([&](std::uint32_t image, double distance) {
      if (found == kNone && distance <= least + margin()) found = image;
    });
    return found == kNone ? 2 * examples.front() : found;  // where no distance is a number
  }

  Graph cover_;
  SignBalance balance_;
};

}  // namespace

std::unique_ptr<PounceSpace> pounce_signed_space(const GraphView& graph, const PounceOptions& options,
                                                 const Execution& execution) {
  return std::make_unique<PounceSignedSpace>(graph, connected_components(graph, execution), options,
                                             execution);
}

}  // namespace copse
