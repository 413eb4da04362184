// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "copse/graph/components.hpp"
#include "copse/laplacian/pseudoinverse.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/laplacian/tree_kernel.hpp"
#include "copse/trees/sample.hpp"
#include "queries/margin_query.hpp"
#include "queries/query_row.hpp"

namespace copse {
namespace {

struct ActStOptions {
  enum class Components { weighted, plain };
  Components components = Components::weighted;
  int refine = 16;
  int num_projections = 64;

  static Fields fields() {
    return {
        choice("components", &ActStOptions::components,
               "weighted counts a component by its nodes; plain is the paper's criterion, which takes the "
               "smallest components first",
               {{"weighted", Components::weighted}, {"plain", Components::plain}}),
        field("refine", &ActStOptions::refine,
              "front-runners whose K_ii is solved for where it is only estimated; 0 trusts the estimates",
              between(0, 4096)),
        field("num_projections", &ActStOptions::num_projections,
              "solves that estimate all K_ii on large graphs: more is truer", between(1, 4096))};
  }
};

/// Projections kept at a time while the diagonal is estimated: 4 bytes per node each.
constexpr int kProjectionsAtOnce = 16;

/// Largest graph whose diagonal comes from the dense matrix: a second or so.
constexpr NodeId kDenseDiagonal = 1500;

/// Criterion 15 of Herbster, Pontil & Wainer 2005: the largest progress that is certain whatever the label
/// turns out to be, (min(|g_i|, 1) - 1)^2 / K_ii. Central nodes (small K_ii) far from any label first.
class ActSt final : public MarginQuery {
 public:
  using Options = ActStOptions;
  static constexpr bool kTakesSigns = true;

  ActSt(const GraphView& graph, const Options& options, const Execution& execution)
      : MarginQuery(graph, execution), options_(options) {
    components_ = connected_components(graph, execution);
    find_diagonal();
    weigh_components();
  }

  static std::uint64_t bytes(const ProblemSize& size, const Options&) {
    // The diagonal with its errors while it is estimated, components, columns of eight front-runners.
    return size.num_nodes * (8 + 4 + 1 + 4 * kProjectionsAtOnce + 64) +
           margin_bytes(size.num_nodes, size.num_arcs, size.num_classes);
  }

 private:
  std::vector<std::string> remarks() const override {
    std::vector<std::string> all = MarginQuery::remarks();
    if (!is_exact_.empty())
      all.push_back("K_ii is estimated from " + std::to_string(options_.num_projections) +
                    " projections, and solved for at front-runners");
    return all;
  }

  double score(const ProjectionHypothesis& margins, NodeId node) const override {
    const double diagonal = diagonal_[node];
    return diagonal > 0 ? margins.least_progress(node) / diagonal * share_[components_.of_node[node]] : 0;
  }

  /// K_ii is only a ranking weight, so estimates do; but of very many estimates the lowest are too low. The
  /// front-runners are solved for, eight at a time, until the winner is one of them, or `refine` are known:
  /// then the best of those that are.
  Query best(const ProjectionHypothesis& margins, std::span<const char> open) override {
    Query top = highest(margins, open);
    if (is_exact_.empty() || options_.refine == 0) return top;
    std::vector<char> waiting;
    for (int refined = 0; is_exact_[top.node] == 0 && refined < options_.refine;) {
      waiting.assign(open.begin(), open.end());
      std::vector<NodeId> front;
      while (front.size() < 8 && refined < options_.refine) {
        const Query next = highest(margins, waiting);
        if (next.node == kNoNode) break;
        waiting[next.node] = 0;
        if (is_exact_[next.node] != 0) continue;
        front.push_back(next.node);
        ++refined;
      }
      solve_diagonal(front);
      top = highest(margins, open);
    }
    if (is_exact_[top.node] != 0) return top;
    for (std::size_t u = 0; u < waiting.size(); ++u) waiting[u] = open[u] != 0 && is_exact_[u] != 0 ? 1 : 0;
    return highest(margins, waiting);
  }

  /// What was solved for is kept, to save the solve, but every choice starts from the estimates again: a
  /// question must not change the answer to the next.
  void begin_choice() override {
    for (const auto& [node, known] : known_) {
      diagonal_[node] = known.estimate;
      is_exact_[node] = 0;
    }
  }

  void solve_diagonal(const std::vector<NodeId>& nodes) {
    std::vector<NodeId> fresh;
    for (const NodeId node : nodes)
      if (!known_.contains(node)) fresh.push_back(node);
    if (graph().is_signed()) {
      for (const NodeId node : fresh) known_[node] = {diagonal_[node], column(node)[node]};
    } else if (!fresh.empty()) {
      std::vector<double> columns(std::size_t{graph().num_nodes()} * fresh.size());
      pseudoinverse_columns(laplacian().solver(), fresh, columns);
      for (std::size_t i = 0; i < fresh.size(); ++i)
        known_[fresh[i]] = {diagonal_[fresh[i]], columns[fresh[i] * fresh.size() + i]};
    }
    for (const NodeId node : nodes) {
      diagonal_[node] = known_[node].exact;
      is_exact_[node] = 1;
    }
  }

  void find_diagonal() {
    const NodeId n = graph().num_nodes();
    if (graph().num_edges() + components_.count() == n) {  // a forest
      const TreeKernel kernel(TreeSampler(graph(), TreeKind::bfst, execution()).tree(0));
      diagonal_.resize(n);
      for (NodeId u = 0; u < n; ++u) diagonal_[u] = kernel.diagonal(u);
    } else if (n <= kDenseDiagonal && graph().is_signed()) {
      for (NodeId u = 0; u < n; ++u) diagonal_.push_back(column(u)[u]);
    } else if (n <= kDenseDiagonal) {
      diagonal_ = exact_diagonal(graph(), 1e-6, {}, execution(), kDenseDiagonal).value;
    } else {
      project_diagonal();
      is_exact_.assign(n, 0);
    }
  }

  /// By random projection, whose error is a share of K_ii itself: trees would estimate all K_ii to the same
  /// absolute error, and the small ones, which win, the worst.
  void project_diagonal() {
    const NodeId n = graph().num_nodes();
    diagonal_.assign(n, 0);
    const int wanted = options_.num_projections;
    // Between a node of a signed graph and its mirror image lies twice its K_ii; a balanced component has a
    // double cover of two parts, each as if it had no signs.
    const Graph cover = graph().is_signed() ? double_cover(graph(), execution().threads) : Graph();
    const GraphView& solved = graph().is_signed() ? cover.view() : graph();
    const auto diagonal_of = [&](const ResistanceSketch& sketch, NodeId u) {
      const double across =
          graph().is_signed() ? sketch.resistance(u, n + u) / 2 : std::numeric_limits<double>::infinity();
      return std::isinf(across) ? sketch.diagonal(u) : across;
    };
    for (int done = 0; done < wanted; done += kProjectionsAtOnce) {
      const int count = std::min(kProjectionsAtOnce, wanted - done);
      Execution other = execution();
      other.seed += static_cast<std::uint64_t>(done) << 32;  // other signs for every part
      const ResistanceSketch part(solved, count, {.tolerance = 1e-4}, other);
      for (NodeId u = 0; u < n; ++u) diagonal_[u] += diagonal_of(part, u) * count / wanted;
    }
    // K_ii d_i >= (1 - 1/n)^2 (Cauchy-Schwarz): no estimate may fall below.
    for (NodeId u = 0; u < n; ++u) {
      if (graph().degree(u) == 0) continue;
      const double most = 1 - 1.0 / components_.sizes[components_.of_node[u]];
      diagonal_[u] = std::max(diagonal_[u], most * most / weighted_degree(graph(), u));
    }
  }

  /// K_ii is small in a small component merely because it is small, and the plain criterion would ask about
  /// all of them first. Theorem 5.1 turns progress into mistakes at the rate of the mean K_ii, and a
  /// component cannot cost more mistakes than it has nodes: so components are weighed by both, relative to
  /// the largest. On a connected graph nothing changes.
  void weigh_components() {
    const std::size_t count = components_.count();
    share_.assign(count, 1);
    if (options_.components == Options::Components::plain || count < 2) return;
    std::vector<double> sum(count);
    for (NodeId u = 0; u < graph().num_nodes(); ++u) sum[components_.of_node[u]] += diagonal_[u];
    const double largest = sum[components_.largest()];
    for (std::size_t c = 0; c < count; ++c) share_[c] = largest > 0 ? sum[c] / largest : 1;
  }

  Options options_;
  Components components_;
  std::vector<double> diagonal_;
  std::vector<char> is_exact_;  // empty: all of them
  std::vector<double> share_;   // by component
  struct Known {
    double estimate, exact;
  };
  std::map<NodeId, Known> known_;  // solved for
};

}  // namespace

QueryRow act_st_row() {
  return make_query_row<ActSt>("act_st", "most certain progress: central nodes far from any label",
                               "64 Laplacian solves once; then a solve per label, and one more a node of a "
                               "batch",
                               "Herbster, Pontil & Wainer 2005, criterion 15");
}

}  // namespace copse
