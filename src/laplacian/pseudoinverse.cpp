// SPDX-License-Identifier: Apache-2.0
#include "copse/laplacian/pseudoinverse.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <stdexcept>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/support/error.hpp"

namespace copse {
namespace {

/// L^+ of one component. With one node grounded L is positive definite; its inverse X, 0 at that node, is a
/// pseudoinverse of another gauge, and taking the means off its rows and columns gives the one that is meant.
Eigen::MatrixXd of_component(const GraphView& graph, const std::vector<NodeId>& nodes,
                             const std::vector<NodeId>& place) {
  const auto n = static_cast<Eigen::Index>(nodes.size());
  Eigen::MatrixXd laplacian = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const NodeId u = nodes[static_cast<std::size_t>(i)];
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      laplacian(i, place[graph.neighbors[arc]]) -= graph.weight(arc);
      laplacian(i, i) += graph.weight(arc);
    }
  }
  Eigen::Index ground = 0;  // of the largest degree: the fewest digits are lost
  laplacian.diagonal().maxCoeff(&ground);
  laplacian.row(ground).setZero();
  laplacian.col(ground).setZero();
  laplacian(ground, ground) = 1;
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(n, n);
  Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(laplacian).solveInPlace(inverse);
  inverse(ground, ground) = 0;
  inverse.rowwise() -= inverse.colwise().mean().eval();
  inverse.colwise() -= inverse.rowwise().mean().eval();
  return inverse;
}

}  // namespace

std::vector<double> dense_pseudoinverse(const GraphView& graph, NodeId max_nodes) {
  if (graph.is_signed())
    throw UsageError{"graph", "has negative edges, and this Laplacian knows none",
                     "take double_cover(graph), or graph.magnitudes() if signs are not meant"};
  const std::size_t n = graph.num_nodes();
  if (n > max_nodes)
    throw UsageError("dense pseudoinverse",
                     "a graph of " + with_commas(n) + " nodes needs " +
                         with_commas(8 * std::uint64_t{n} * n) + " bytes, and the limit is " +
                         with_commas(max_nodes) + " nodes",
                     "ask for the columns or entries that are needed, or allow more nodes");
  std::vector<double> result(n * n);
  const Components components = connected_components(graph);
  std::vector<std::vector<NodeId>> members(components.count());
  std::vector<NodeId> place(n);
  for (NodeId u = 0; u < n; ++u) {
    auto& nodes = members[components.of_node[u]];
    place[u] = static_cast<NodeId>(nodes.size());
    nodes.push_back(u);
  }
  for (const auto& nodes : members) {
    if (nodes.size() == 1) continue;
    const Eigen::MatrixXd part = of_component(graph, nodes, place);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (std::size_t j = 0; j < nodes.size(); ++j) {
        const auto a = static_cast<Eigen::Index>(i), b = static_cast<Eigen::Index>(j);
        result[nodes[i] * n + nodes[j]] = (part(a, b) + part(b, a)) / 2;  // symmetric to the last bit
      }
  }
  return result;
}

SolveReport pseudoinverse_columns(LaplacianSolver& solver, std::span<const NodeId> nodes,
                                  std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  const std::size_t columns = nodes.size();
  if (columns == 0) return {.converged = true};
  for (std::size_t i = 0; i < columns; ++i) {
    if (std::size_t{nodes[i]} * columns + i >= out.size())
      throw std::logic_error("pseudoinverse_columns: the result is too small for node " +
                             std::to_string(nodes[i]));
    out[std::size_t{nodes[i]} * columns + i] = 1;
  }
  return solver.solve(out, out, columns);
}

}  // namespace copse
