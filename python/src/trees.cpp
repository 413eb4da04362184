// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "copse/io/read.hpp"
#include "copse/laplacian/tree_kernel.hpp"
#include "copse/support/parallel.hpp"
#include "copse/trees/line.hpp"
#include "copse/trees/sample.hpp"

namespace copse::python {
namespace {

constexpr std::pair<const char*, TreeKind> kKinds[] = {
    {"rst", TreeKind::rst},  {"nwrst", TreeKind::nwrst}, {"random_key", TreeKind::random_key},
    {"mst", TreeKind::mst},  {"spt", TreeKind::spt},     {"dfst", TreeKind::dfst},
    {"bfst", TreeKind::bfst}};

/// A tree and how it was made.
struct Tree {
  SpanningForest forest;
  TreeReport report;
};

std::vector<std::shared_ptr<Tree>> sample(const NamedGraph& graph, const std::string& kind,
                                          std::uint64_t first, std::uint64_t count,
                                          const Settings& settings) {
  const TreeKind tree_kind = chosen(kKinds, "kind", kind, "a kind of tree");
  return run(
      settings,
      [&](const Execution& execution) {
        std::vector<std::shared_ptr<Tree>> trees(count);
        // Trees side by side, each by one thread; one alone gets all of them.
        Execution inner = execution;
        if (count > 1) inner.threads = 1;
        const TreeSampler sampler(graph.graph, tree_kind, inner);
        std::atomic<std::uint64_t> done{0};
        parallel_for(count > 1 ? execution.threads : 1, count, [&](std::size_t i) {
          execution.throw_if_cancelled();
          trees[i] = std::make_shared<Tree>();
          trees[i]->forest = sampler.tree(first + i, &trees[i]->report);
          execution.report("trees", ++done, count);
        });
        return trees;
      },
      size_of(graph.graph));
}

/// By node: the parent (a root is its own), the weight of the edge to it (0 at a root), and the nodes with
/// parents first.
nb::tuple tree_arrays(const Tree& tree) {
  const SpanningForest& forest = tree.forest;
  const NodeId n = forest.num_nodes();
  std::vector<std::int32_t> order(n), parent(n);
  std::vector<float> weight(n);
  for (NodeId rank = 0; rank < n; ++rank) {
    const NodeId node = forest.node[rank];
    order[rank] = static_cast<std::int32_t>(node);
    parent[node] = static_cast<std::int32_t>(forest.node[forest.parent[rank]]);
    weight[node] = forest.is_root(rank) ? 0.0F : forest.edge_weight(rank);
  }
  return nb::make_tuple(give(std::move(parent)), give(std::move(weight)), give(std::move(order)));
}

SpanningForest copy_of(const SpanningForest& forest) {
  SpanningForest copy{Buffer<NodeId>(forest.node.size()), Buffer<NodeId>(forest.parent.size()),
                      Buffer<Weight>(forest.weight.size())};
  std::copy(forest.node.begin(), forest.node.end(), copy.node.begin());
  std::copy(forest.parent.begin(), forest.parent.end(), copy.parent.begin());
  std::copy(forest.weight.begin(), forest.weight.end(), copy.weight.begin());
  return copy;
}

/// The nodes along the line, the weight between each and the one before, and where trees begin.
nb::tuple line_of(const Tree& tree) {
  const Line line = run_here([&] { return linearize(copy_of(tree.forest)); });
  std::vector<std::int32_t> nodes(line.node.begin(), line.node.end());
  std::vector<float> weights(line.num_nodes(), 1.0F);
  std::copy(line.weight.begin(), line.weight.end(), weights.begin());
  for (const NodeId start : line.starts) weights[start] = 0;
  return nb::make_tuple(give(std::move(nodes)), give(std::move(weights)),
                        give(std::vector<std::int32_t>(line.starts.begin(), line.starts.end())));
}

nb::ndarray<nb::numpy, double> gram(const TreeKernel& kernel, const VectorIn<NodeId>& rows,
                                    const VectorIn<NodeId>& columns, int threads) {
  check_nodes(span_of(rows), kernel.num_nodes());
  check_nodes(span_of(columns), kernel.num_nodes());
  std::vector<double> entries(rows.size() * columns.size());
  run_here([&] { kernel.gram(span_of(rows), span_of(columns), entries, usable_threads(threads)); });
  return give<double>(std::move(entries), {rows.size(), columns.size()});
}

nb::ndarray<nb::numpy, double> multiply(const TreeKernel& kernel, const MatrixIn<double>& x) {
  check_rows("x", x.shape(0), kernel.num_nodes());
  std::vector<double> y(x.size());
  run_here([&] { kernel.multiply({x.data(), x.size()}, y, x.shape(1)); });
  return give<double>(std::move(y), {x.shape(0), x.shape(1)});
}

template <double (TreeKernel::*entry)(NodeId, NodeId) const>
nb::ndarray<nb::numpy, double> of_pairs(const TreeKernel& kernel, const VectorIn<NodeId>& a,
                                        const VectorIn<NodeId>& b) {
  check_nodes(span_of(a), kernel.num_nodes());
  check_nodes(span_of(b), kernel.num_nodes());
  if (a.size() != b.size()) throw UsageError{"pairs", "the two arrays differ in length", ""};
  std::vector<double> values(a.size());
  run_here([&] {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = (kernel.*entry)(a.data()[i], b.data()[i]);
  });
  return give(std::move(values));
}

}  // namespace

void bind_trees(nb::module_& m) {
  nb::class_<Tree>(m, "Tree")
      .def("arrays", tree_arrays)
      .def("line", line_of)
      .def_prop_ro("path", [](const Tree& t) { return std::string(to_string(t.report.path)); });
  m.def("spanning_trees", sample);
  nb::list kinds;
  for (const auto& [name, kind] : kKinds) kinds.append(name);
  m.attr("tree_kinds") = nb::tuple(kinds);

  nb::class_<TreeKernel>(m, "TreeKernel")
      .def_prop_ro("num_nodes", &TreeKernel::num_nodes)
      .def("diagonal",
           [](const TreeKernel& k) {
             std::vector<double> diagonal(k.num_nodes());
             for (NodeId i = 0; i < k.num_nodes(); ++i) diagonal[i] = k.diagonal(i);
             return give(std::move(diagonal));
           })
      .def("entries", of_pairs<&TreeKernel::entry>)
      .def("resistances", of_pairs<&TreeKernel::resistance>)
      .def("gram", gram)
      .def("multiply", multiply);
  m.def("tree_kernel",
        [](const Tree& tree) { return run_here([&] { return std::make_unique<TreeKernel>(tree.forest); }); });
}

}  // namespace copse::python
