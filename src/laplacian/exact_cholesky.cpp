// SPDX-License-Identifier: Apache-2.0
#include "laplacian/exact_cholesky.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "laplacian/dense_front.hpp"
#include "support/unless_cancelled.hpp"

namespace copse {

namespace {

/// The columns of the factor in the order of elimination, in supernodes: neighbours in that order with nearly
/// the same rows below them, which are stored as one dense panel.
struct Supernodes {
  std::vector<NodeId> node_of;             // by column
  std::vector<NodeId> column_of;           // by node; kNoNode where x is known
  std::vector<NodeId> first;               // first column of every supernode; one more for the end
  std::vector<NodeId> parent;              // the supernode of the first row below; kNoNode at a root
  std::vector<NodeId> num_rows;            // below the supernode's own
  std::vector<std::uint64_t> panel_begin;  // one more for the end

  NodeId count() const { return static_cast<NodeId>(parent.size()); }
  NodeId width(NodeId s) const { return first[s + 1] - first[s]; }
};

/// Every free node but the first of each singular component, which is grounded.
std::vector<NodeId> unknown_nodes(const LaplacianSystem& system) {
  std::vector<NodeId> result;
  std::vector<char> has_ground(system.sizes.size());
  for (NodeId u = 0; u < system.num_nodes(); ++u) {
    if (system.is_fixed(u)) continue;
    const NodeId component = system.singular[u];
    if (component != kNoNode && !has_ground[component])
      has_ground[component] = 1;
    else
      result.push_back(u);
  }
  return result;
}

std::vector<NodeId> inverse(const std::vector<NodeId>& node_of, NodeId num_nodes) {
  std::vector<NodeId> column_of(num_nodes, kNoNode);
  for (std::size_t i = 0; i < node_of.size(); ++i) column_of[node_of[i]] = static_cast<NodeId>(i);
  return column_of;
}

/// The pattern of the rows of some nodes, from which nodes of at most two neighbours are taken out, the two
/// being joined: what minimum degree would begin with, without its bookkeeping.
class ShrinkingPattern {
 public:
  ShrinkingPattern(const GraphView& graph, const std::vector<NodeId>& nodes)
      : begin_(nodes.size()), degree_(nodes.size()), is_gone_(nodes.size()) {
    const std::vector<NodeId> number = inverse(nodes, graph.num_nodes());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      begin_[i] = neighbors_.size();
      for (const NodeId v : graph.neighbors_of(nodes[i])) {
        if (number[v] != kNoNode) neighbors_.push_back(number[v]);
      }
      degree_[i] = static_cast<NodeId>(neighbors_.size() - begin_[i]);
    }
  }

  /// In the order in which they go.
  std::vector<NodeId> take_out_small() {
    std::vector<NodeId> order, small;
    for (NodeId u = 0; u < degree_.size(); ++u) small.push_back(u);
    while (!small.empty()) {
      const NodeId u = small.back();
      small.pop_back();
      if (is_gone_[u] || !is_easy(u)) continue;
      is_gone_[u] = 1;
      order.push_back(u);
      const std::span<NodeId> ends = neighbors_of(u);
      const bool is_link = ends.size() == 2 && !find(ends[0], ends[1]);
      for (const NodeId end : ends) {
        if (is_link)
          *find(end, u) = ends[0] + ends[1] - end;
        else
          *find(end, u) = neighbors_of(end).back(), --degree_[end];
        small.push_back(end);
      }
    }
    return order;
  }

  NodeId size() const { return static_cast<NodeId>(degree_.size()); }
  bool is_gone(NodeId u) const { return is_gone_[u] != 0; }
  std::span<NodeId> neighbors_of(NodeId u) { return {neighbors_.data() + begin_[u], degree_[u]}; }

 private:
  /// Long rows are not searched again and again.
  bool is_easy(NodeId u) {
    constexpr NodeId kShort = 64;
    if (degree_[u] > 2) return false;
    return std::ranges::all_of(neighbors_of(u), [&](NodeId v) { return degree_[v] <= kShort; });
  }
  NodeId* find(NodeId u, NodeId wanted) {
    const std::span<NodeId> row = neighbors_of(u);
    const auto at = std::ranges::find(row, wanted);
    return at == row.end() ? nullptr : &*at;
  }

  std::vector<std::size_t> begin_;
  std::vector<NodeId> neighbors_, degree_;
  std::vector<char> is_gone_;
};

/// The first of the nodes that have the same neighbours and each other, by node: they fill alike and may go
/// together, as one. By sums of random numbers: nodes that look the same and are not would only fill more.
std::vector<NodeId> first_of_alike(ShrinkingPattern& pattern) {
  std::vector<std::uint64_t> sum(pattern.size());
  std::vector<NodeId> first(pattern.size());
  const auto random = [](std::uint64_t u) {
    u = (u + 1) * 0x9E3779B97F4A7C15;
    return (u ^ u >> 32) * 0xD6E8FEB86659FD93;
  };
  for (NodeId u = 0; u < pattern.size(); ++u) {
    sum[u] = random(u);
    if (pattern.is_gone(u)) continue;
    for (const NodeId v : pattern.neighbors_of(u)) sum[u] += random(v);
  }
  for (NodeId u = 0; u < pattern.size(); ++u) {
    first[u] = u;
    if (pattern.is_gone(u)) continue;
    for (const NodeId v : pattern.neighbors_of(u))
      if (sum[v] == sum[u]) first[u] = std::min(first[u], v);
  }
  return first;
}

/// What is left by approximate minimum degree (Amestoy, Davis & Duff 1996), which fills little, as Eigen has
/// it. Where most nodes have others alike, as in cliques, of one node for all of those.
std::vector<NodeId> approximate_minimum_degree(ShrinkingPattern& pattern, const Execution& execution) {
  using Pattern = Eigen::SparseMatrix<signed char, Eigen::ColMajor, int>;
  std::vector<NodeId> first = first_of_alike(pattern), next(pattern.size(), kNoNode);
  NodeId num_left = 0, num_first = 0;
  for (NodeId u = 0; u < pattern.size(); ++u) {
    if (pattern.is_gone(u)) continue;
    ++num_left;
    num_first += first[u] == u ? 1 : 0;
  }
  if (num_first > num_left / 2)
    for (NodeId u = 0; u < pattern.size(); ++u) first[u] = u;
  std::vector<NodeId> left, number(pattern.size(), kNoNode);
  Eigen::Index num_entries = 0;
  for (NodeId u = 0; u < pattern.size(); ++u) {
    if (pattern.is_gone(u)) continue;
    if (first[u] != u) {
      next[u] = std::exchange(next[first[u]], u);
      continue;
    }
    number[u] = static_cast<NodeId>(left.size());
    left.push_back(u);
    num_entries += static_cast<Eigen::Index>(pattern.neighbors_of(u).size()) + 1;
  }
  const auto size = static_cast<Eigen::Index>(left.size());
  auto matrix = std::make_unique<Pattern>(size, size);  // Eigen's matrices are copied where others are moved
  matrix->reserve(num_entries);
  for (Eigen::Index i = 0; i < size; ++i) {
    matrix->startVec(i);
    matrix->insertBackByOuterInnerUnordered(i, i);
    for (const NodeId v : pattern.neighbors_of(left[static_cast<std::size_t>(i)]))
      if (number[v] != kNoNode) matrix->insertBackByOuterInnerUnordered(i, number[v]);
  }
  matrix->finalize();
  const auto order = unless_cancelled(execution, [matrix = std::move(matrix)] {
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> result;
    if (matrix->rows() > 0) Eigen::internal::minimum_degree_ordering(*matrix, result);
    return result;
  });
  std::vector<NodeId> result;
  for (Eigen::Index i = 0; i < size; ++i)
    for (NodeId u = left[static_cast<std::size_t>(order.indices()[i])]; u != kNoNode; u = next[u])
      result.push_back(u);
  return result;
}

/// An order in which they fill little.
std::vector<NodeId> fill_reducing_order(const LaplacianSystem& system, const std::vector<NodeId>& nodes) {
  ShrinkingPattern pattern(system.graph, nodes);
  std::vector<NodeId> order = pattern.take_out_small();
  for (const NodeId u : approximate_minimum_degree(pattern, system.execution)) order.push_back(u);
  for (NodeId& u : order) u = nodes[u];
  return order;
}

/// parent[i]: the first row below the diagonal of column i, kNoNode at a root (Liu 1986).
std::vector<NodeId> elimination_tree(const GraphView& graph, const std::vector<NodeId>& node_of) {
  const std::vector<NodeId> column_of = inverse(node_of, graph.num_nodes());
  std::vector<NodeId> parent(node_of.size(), kNoNode), ancestor(node_of.size(), kNoNode);
  for (NodeId column = 0; column < node_of.size(); ++column) {
    for (const NodeId v : graph.neighbors_of(node_of[column])) {
      for (NodeId i = column_of[v]; i < column;) {
        const NodeId next = ancestor[i];
        ancestor[i] = column;  // the way is shorter from now on
        if (next == kNoNode) parent[i] = column;
        if (next == kNoNode || next == column) break;
        i = next;
      }
    }
  }
  return parent;
}

/// The columns in an order in which every subtree is consecutive and children come before parents.
std::vector<NodeId> postorder(const std::vector<NodeId>& parent) {
  const auto size = static_cast<NodeId>(parent.size());
  std::vector<NodeId> child(size, kNoNode), sibling(size, kNoNode), result, path;
  for (NodeId i = size; i-- > 0;) {
    if (parent[i] == kNoNode) continue;
    sibling[i] = child[parent[i]];
    child[parent[i]] = i;
  }
  for (NodeId root = 0; root < size; ++root) {
    if (parent[root] != kNoNode) continue;
    path.push_back(root);
    while (!path.empty()) {
      const NodeId column = path.back(), next = child[column];
      if (next != kNoNode) {
        child[column] = sibling[next];
        path.push_back(next);
      } else {
        path.pop_back();
        result.push_back(column);
      }
    }
  }
  return result;
}

/// Entries of every column below its diagonal: row i has them on the ways up the tree from its entries in L
/// to i. Nothing when there are more than `most` in all.
std::optional<std::vector<NodeId>> column_counts(const GraphView& graph, const Supernodes& parts,
                                                 const std::vector<NodeId>& parent, std::uint64_t most) {
  std::vector<NodeId> count(parent.size()), mark(parent.size());
  std::uint64_t total = 0;
  for (NodeId row = 0; row < parent.size(); ++row) {
    mark[row] = row;
    for (const NodeId v : graph.neighbors_of(parts.node_of[row])) {
      if (parts.column_of[v] > row) continue;
      for (NodeId j = parts.column_of[v]; mark[j] != row; j = parent[j]) {
        mark[j] = row;
        ++count[j];
        ++total;
      }
    }
    if (total > most) return std::nullopt;
  }
  return count;
}

/// Whether so many columns with so many rows below them may be one panel: a few zeros are worth fewer and
/// larger panels (as CHOLMOD has it: Chen, Davis, Hager & Rajamanickam 2008).
bool is_dense_enough(std::uint64_t columns, std::uint64_t rows, std::uint64_t nonzeros) {
  const auto stored = static_cast<double>(columns * rows + columns * (columns + 1) / 2);
  const double allowed = columns <= 4 ? 0.5 : columns <= 16 ? 0.3 : columns <= 48 ? 0.1 : 0.05;
  return stored - static_cast<double>(nonzeros) <= allowed * stored;
}

void group_columns(Supernodes& parts, const std::vector<NodeId>& parent, const std::vector<NodeId>& count) {
  std::vector<NodeId> supernode_of(parent.size());
  std::uint64_t nonzeros = 0;
  for (NodeId j = 0; j < parent.size(); ++j) {
    const bool is_child = j > 0 && parent[j - 1] == j;
    const bool goes_on =
        is_child && (count[j] + 1 == count[j - 1] ||
                     is_dense_enough(j + 1 - parts.first.back(), count[j], nonzeros + count[j] + 1));
    if (!goes_on) parts.first.push_back(j), parts.num_rows.push_back(0), nonzeros = 0;
    nonzeros += count[j] + 1;
    parts.num_rows.back() = count[j];
    supernode_of[j] = static_cast<NodeId>(parts.first.size() - 1);
  }
  parts.first.push_back(static_cast<NodeId>(parent.size()));
  parts.panel_begin.push_back(0);
  for (NodeId s = 0; s + 1 < parts.first.size(); ++s) {
    const NodeId above = parent[parts.first[s + 1] - 1];
    parts.parent.push_back(above == kNoNode ? kNoNode : supernode_of[above]);
    const std::uint64_t width = parts.width(s);
    parts.panel_begin.push_back(parts.panel_begin.back() + width * (width + parts.num_rows[s]));
  }
}

double num_operations(const Supernodes& parts) {
  double operations = 0;
  for (NodeId s = 0; s < parts.count(); ++s) {
    const double p = parts.width(s), m = p + parts.num_rows[s];
    operations += p * m * m - p * p * m + p * p * p / 3;  // about sum of (m - k)^2
  }
  return operations;
}

/// Nothing when the factor would pass the limits.
std::optional<Supernodes> analyze(const LaplacianSystem& system, const ExactLimits& limits) {
  Supernodes parts;
  // Eigen takes 1.2 times the entries and 2 per column in ints, and 9 per column in one array.
  if (1.3 * static_cast<double>(system.num_arcs) + 10.0 * system.num_free > std::numeric_limits<int>::max())
    return std::nullopt;
  const std::vector<NodeId> order = fill_reducing_order(system, unknown_nodes(system));
  const std::vector<NodeId> tree = elimination_tree(system.graph, order), post = postorder(tree);
  std::vector<NodeId> place(post.size()), parent(post.size(), kNoNode);
  for (std::size_t i = 0; i < post.size(); ++i) {
    parts.node_of.push_back(order[post[i]]);
    place[post[i]] = static_cast<NodeId>(i);
  }
  for (std::size_t i = 0; i < post.size(); ++i) {
    if (tree[post[i]] != kNoNode) parent[i] = place[tree[post[i]]];
  }
  parts.column_of = inverse(parts.node_of, system.num_nodes());
  const auto count = column_counts(system.graph, parts, parent, limits.bytes / sizeof(double));
  if (!count) return std::nullopt;
  group_columns(parts, parent, *count);
  // What waits on the stack while the factor is made is about a third of it.
  const bool is_small = parts.panel_begin.back() <= limits.bytes / 11;
  if (!is_small || num_operations(parts) > limits.operations) return std::nullopt;
  return parts;
}

/// L, panel by panel; solving is one pass forward and one back. Every sum adds its terms one by one, in the
/// same order for any number of columns.
class SupernodalFactor final : public Preconditioner {
 public:
  explicit SupernodalFactor(Supernodes supernodes)
      : parts_(std::move(supernodes)),
        panels_(parts_.panel_begin.back()),
        inverse_diagonal_(parts_.node_of.size()),
        row_begin_(1) {}

  const Supernodes& supernodes() const { return parts_; }
  std::span<const NodeId> rows_of(NodeId s) const {
    return std::span(rows_).subspan(row_begin_[s], parts_.num_rows[s]);
  }
  /// Column by column, the pivots' rows first.
  double* panel(NodeId s) { return panels_.data() + parts_.panel_begin[s]; }
  /// Of the next supernode.
  void add_rows(const std::vector<NodeId>& rows) {
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    row_begin_.push_back(rows_.size());
  }
  void invert_diagonal(NodeId s) {
    const std::size_t width = parts_.width(s), stride = width + parts_.num_rows[s];
    for (std::size_t k = 0; k < width; ++k)
      inverse_diagonal_[parts_.first[s] + k] = 1 / panel(s)[k * (stride + 1)];
  }

  ColumnValues apply(double* z, int width) const override {
    ColumnValues dot{};
    with_width(width, [&](auto w) {
      const std::size_t n = parts_.node_of.size();
      Buffer<double> x(n * w()), below(std::size_t{most_rows()} * w());
      for (std::size_t i = 0; i < n; ++i)
        std::copy_n(z + std::size_t{parts_.node_of[i]} * w(), w(), &x[i * w()]);
      dot = run_row_kernel<w()>(Sweeps<w()>{}, this, x.data(), below.data());
      std::fill_n(z, parts_.column_of.size() * w(), 0.0);
      for (std::size_t i = 0; i < n; ++i)
        std::copy_n(&x[i * w()], w(), z + std::size_t{parts_.node_of[i]} * w());
    });
    return dot;
  }

  std::uint64_t entries() const override { return panels_.size(); }

 private:
  template <int width>
  struct Sweeps {
    template <std::size_t register_bytes>
    [[gnu::always_inline]] ColumnValues operator()(const SupernodalFactor* factor, double* x,
                                                   double* below) const {
      BlockRow<double, width, register_bytes> dot;
      const NodeId count = factor->parts_.count();
      for (NodeId s = 0; s < count; ++s) factor->forward(s, x, below, dot);
      for (NodeId s = count; s-- > 0;) factor->backward<BlockRow<double, width, register_bytes>>(s, x, below);
      ColumnValues result{};
      dot.store(result.data());
      return result;
    }
  };

  NodeId most_rows() const {
    return parts_.num_rows.empty() ? 0 : *std::max_element(parts_.num_rows.begin(), parts_.num_rows.end());
  }

  /// x = L^-1 x; adds |x|^2, which is r . M^-1 r, to `dot`.
  template <class Row>
  [[gnu::always_inline]] void forward(NodeId s, double* x, double* __restrict below, Row& dot) const {
    constexpr std::size_t width = Row::kWidth;
    const std::size_t pivots = parts_.width(s), rows = parts_.num_rows[s];
    const double* __restrict column = panels_.data() + parts_.panel_begin[s];
    double* own = x + std::size_t{parts_.first[s]} * width;
    std::fill_n(below, rows * width, 0.0);
    for (std::size_t k = 0; k < pivots; ++k, column += pivots + rows) {
      Row value(own + k * width);
      value.scale(inverse_diagonal_[parts_.first[s] + k]);
      value.store(own + k * width);
      dot.add_product(value, value);
      for (std::size_t i = k + 1; i < pivots; ++i) value.subtract_multiple_from(own + i * width, column[i]);
      for (std::size_t i = 0; i < rows; ++i)
        value.subtract_multiple_from(below + i * width, column[pivots + i]);
    }
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t c = 0; c < width; ++c) x[rows_[row_begin_[s] + i] * width + c] += below[i * width + c];
  }

  /// x = L^-T x
  template <class Row>
  [[gnu::always_inline]] void backward(NodeId s, double* x, double* __restrict below) const {
    constexpr std::size_t width = Row::kWidth;
    const std::size_t pivots = parts_.width(s), rows = parts_.num_rows[s];
    double* own = x + std::size_t{parts_.first[s]} * width;
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(x + rows_[row_begin_[s] + i] * width, width, below + i * width);
    for (std::size_t k = pivots; k-- > 0;) {
      const double* column = panels_.data() + parts_.panel_begin[s] + k * (pivots + rows);
      Row sum(own + k * width);
      for (std::size_t i = k + 1; i < pivots; ++i) sum.subtract_multiple(own + i * width, column[i]);
      for (std::size_t i = 0; i < rows; ++i) sum.subtract_multiple(below + i * width, column[pivots + i]);
      sum.scale(inverse_diagonal_[parts_.first[s] + k]);
      sum.store(own + k * width);
    }
  }

  Supernodes parts_;
  Buffer<double> panels_;
  std::vector<double> inverse_diagonal_;
  std::vector<std::uint64_t> row_begin_;  // of every supernode in `rows_`
  std::vector<NodeId> rows_;              // columns whose rows lie below the supernode's own, ascending
};

/// From the leaves of the elimination tree to its roots (Duff & Reid 1983): the frontal matrix of a supernode
/// gets the entries of its columns and what its children have left, eliminates its columns and leaves the
/// rest to its parent. In postorder, what is left waits on a stack.
class Multifrontal {
 public:
  Multifrontal(const LaplacianSystem& system, SupernodalFactor& factor)
      : system_(system),
        factor_(factor),
        parts_(factor.supernodes()),
        place_(parts_.node_of.size()),
        mark_(parts_.node_of.size(), kNoNode) {}

  /// False when a pivot is not positive and finite.
  bool run() {
    CancelCheck check(system_.execution);
    for (NodeId s = 0; s < parts_.count(); ++s) {
      if (s % 1024 == 0) system_.execution.report("factoring the Laplacian", s, parts_.count());
      check.step(std::uint64_t{parts_.width(s)} * (parts_.width(s) + parts_.num_rows[s]));
      find_rows(s);
      const std::size_t num_rows = parts_.num_rows[s], pivots = parts_.width(s);
      const DenseFront front{factor_.panel(s), pivots + num_rows, pivots, push(num_rows * num_rows)};
      add_columns(s, front);
      const std::size_t top = size_of_stack_ - num_rows * num_rows;
      std::size_t base = top;
      for (; has_child(s); waiting_.pop_back()) {
        const std::size_t count = parts_.num_rows[waiting_.back()];
        base -= count * count;
        add_child(waiting_.back(), &stack_[base], front);
      }
      if (!eliminate(front, packed_)) return false;
      factor_.invert_diagonal(s);
      if (base < top) std::copy_n(front.rest, num_rows * num_rows, &stack_[base]);
      size_of_stack_ -= top - base;
      waiting_.push_back(s);
    }
    return true;
  }

 private:
  bool has_child(NodeId s) const { return !waiting_.empty() && parts_.parent[waiting_.back()] == s; }

  /// Zeros on top of the stack.
  double* push(std::size_t count) {
    const std::size_t begin = size_of_stack_;
    size_of_stack_ += count;
    if (stack_.size() < size_of_stack_) stack_.resize(size_of_stack_);
    std::fill_n(stack_.begin() + static_cast<std::ptrdiff_t>(begin), count, 0.0);
    return stack_.data() + begin;
  }

  /// What the columns are joined to and what the children hand on; and where the front has its rows.
  void find_rows(NodeId s) {
    const NodeId begin = parts_.first[s], end = parts_.first[s + 1];
    std::vector<NodeId> rows;
    const auto add = [&](NodeId row) {
      if (row == kNoNode || row < end || mark_[row] == s) return;
      mark_[row] = s;
      rows.push_back(row);
    };
    for (NodeId column = begin; column < end; ++column)
      for (const NodeId v : system_.graph.neighbors_of(parts_.node_of[column])) add(parts_.column_of[v]);
    for (auto child = waiting_.rbegin(); child != waiting_.rend(); ++child) {
      if (parts_.parent[*child] != s) break;
      for (const NodeId row : factor_.rows_of(*child)) add(row);
    }
    std::sort(rows.begin(), rows.end());
    for (NodeId column = begin; column < end; ++column) place_[column] = column - begin;
    for (std::size_t i = 0; i < rows.size(); ++i) place_[rows[i]] = static_cast<NodeId>(end - begin + i);
    factor_.add_rows(rows);
  }

  void add_columns(NodeId s, const DenseFront& front) {
    const GraphView& graph = system_.graph;
    double* target = front.panel;
    for (NodeId column = parts_.first[s]; column < parts_.first[s + 1]; ++column, target += front.rows) {
      const NodeId u = parts_.node_of[column];
      target[place_[column]] = 1 / system_.inverse_degree[u];
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
        const NodeId row = parts_.column_of[graph.neighbors[arc]];
        if (row != kNoNode && row > column) target[place_[row]] = -double{graph.weight(arc)};
      }
    }
  }

  void add_child(NodeId child, const double* from, const DenseFront& front) {
    const std::span<const NodeId> rows = factor_.rows_of(child);
    const std::size_t rest = front.rows - front.pivots;
    for (std::size_t j = 0; j < rows.size(); ++j, from += rows.size()) {
      const std::size_t at = place_[rows[j]];
      double* target = at < front.pivots ? front.panel + at * front.rows
                                         : front.rest + (at - front.pivots) * rest - front.pivots;
      for (std::size_t i = j; i < rows.size(); ++i) target[place_[rows[i]]] += from[i];
    }
  }

  const LaplacianSystem& system_;
  SupernodalFactor& factor_;
  const Supernodes& parts_;
  std::vector<NodeId> place_;    // of a column in the front at hand
  std::vector<NodeId> mark_;     // the supernode that has got this row
  std::vector<NodeId> waiting_;  // supernodes whose rest is on the stack
  std::vector<double> stack_, packed_;
  std::size_t size_of_stack_ = 0;
};

}  // namespace

std::unique_ptr<Preconditioner> exact_cholesky(const LaplacianSystem& system, const ExactLimits& limits) {
  std::optional<Supernodes> parts = analyze(system, limits);
  if (!parts) return nullptr;
  auto factor = std::make_unique<SupernodalFactor>(std::move(*parts));
  if (!Multifrontal(system, *factor).run()) return nullptr;
  return factor;
}

}  // namespace copse
