// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCholesky>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "bench.hpp"
#include "copse/graph/graph.hpp"

#ifdef BENCH_WITH_CHOLMOD
#include <suitesparse/cholmod.h>
#endif
#ifdef BENCH_WITH_HYPRE
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#endif

// Other people's solvers of L x = b, behind one face. All but Eigen's conjugate gradients get the system with
// the last node grounded: a singular matrix is not what they are made for. x comes back column by column.

namespace bench {

using copse::EdgeIndex;
using copse::GraphView;
using copse::NodeId;
using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
using Columns = std::vector<std::vector<double>>;

/// What a rival needs to know, and what it gives back.
struct Problem {
  const GraphView& graph;
  const Columns& b;
  double residual;  // ||r|| / ||b|| to reach, for those that iterate
};
struct Timing {
  double factor = 0, solve = 0;
  std::string skipped;  // why, if it was
};

/// Rows and columns of the first `size` nodes; the lower triangle only, or both.
inline SparseMatrix matrix(const GraphView& graph, NodeId size, bool lower) {
  std::vector<Eigen::Triplet<double, int>> entries;
  for (NodeId u = 0; u < size; ++u) {
    entries.emplace_back(u, u, copse::weighted_degree(graph, u));
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      const NodeId v = graph.neighbors[arc];
      if (v < size && (!lower || v < u)) entries.emplace_back(u, v, -double{graph.weight(arc)});
    }
  }
  SparseMatrix result(size, size);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

inline Timing eigen_cholesky(const Problem& problem, Columns& x) {
  Timing timing;
  const auto size = problem.graph.num_nodes() - 1;
  const SparseMatrix lower = matrix(problem.graph, size, true);
  Eigen::SimplicialLLT<SparseMatrix, Eigen::Lower> factor;
  timing.factor = cpu_seconds([&] { factor.compute(lower); });
  check(factor.info() == Eigen::Success, "Eigen's factorization");
  timing.solve = cpu_seconds([&] {
    for (std::size_t c = 0; c < x.size(); ++c) {
      Eigen::Map<Eigen::VectorXd>(x[c].data(), size) =
          factor.solve(Eigen::Map<const Eigen::VectorXd>(problem.b[c].data(), size));
    }
  });
  return timing;
}

inline Timing eigen_conjugate_gradients(const Problem& problem, Columns& x) {
  Timing timing;
  const NodeId n = problem.graph.num_nodes();
  const SparseMatrix full = matrix(problem.graph, n, false);
  Eigen::ConjugateGradient<SparseMatrix, Eigen::Lower | Eigen::Upper> solver;
  timing.factor = cpu_seconds([&] { solver.compute(full); });
  solver.setTolerance(problem.residual);
  solver.setMaxIterations(100'000);
  timing.solve = cpu_seconds([&] {
    for (std::size_t c = 0; c < x.size(); ++c) {
      Eigen::Map<Eigen::VectorXd>(x[c].data(), n) =
          solver.solve(Eigen::Map<const Eigen::VectorXd>(problem.b[c].data(), n));
    }
  });
  return timing;
}

#ifdef BENCH_WITH_CHOLMOD
inline Timing cholmod(const Problem& problem, Columns& x) {
  Timing timing;
  const auto size = static_cast<std::size_t>(problem.graph.num_nodes() - 1);
  SparseMatrix lower = matrix(problem.graph, static_cast<NodeId>(size), true);
  cholmod_common common;
  cholmod_start(&common);
  common.print = 0;
  cholmod_sparse a{};
  a.nrow = a.ncol = size;
  a.nzmax = static_cast<std::size_t>(lower.nonZeros());
  a.p = lower.outerIndexPtr();
  a.i = lower.innerIndexPtr();
  a.x = lower.valuePtr();
  a.stype = -1;
  a.itype = CHOLMOD_INT;
  a.xtype = CHOLMOD_REAL;
  a.dtype = CHOLMOD_DOUBLE;
  a.sorted = a.packed = 1;
  cholmod_factor* factor = nullptr;
  timing.factor = cpu_seconds([&] {
    factor = cholmod_analyze(&a, &common);
    if (common.fl < 3e11 && common.lnz < 8e8) cholmod_factorize(&a, factor, &common);
  });
  if (common.fl >= 3e11 || common.lnz >= 8e8) {
    char text[80];
    std::snprintf(text, sizeof text, "%.0e operations to factor", common.fl);
    return {.skipped = text};
  }
  cholmod_dense* b = cholmod_zeros(size, x.size(), CHOLMOD_REAL, &common);
  for (std::size_t c = 0; c < x.size(); ++c)
    std::copy_n(problem.b[c].begin(), size, static_cast<double*>(b->x) + c * size);
  cholmod_dense* solved = nullptr;
  timing.solve = cpu_seconds([&] { solved = cholmod_solve(CHOLMOD_A, factor, b, &common); });
  for (std::size_t c = 0; c < x.size(); ++c)
    std::copy_n(static_cast<double*>(solved->x) + c * size, size, x[c].begin());
  return timing;  // the process ends here: nothing is freed
}
#endif

#ifdef BENCH_WITH_HYPRE
inline Timing boomer_amg(const Problem& problem, Columns& x) {
  Timing timing;
  MPI_Init(nullptr, nullptr);
  HYPRE_Init();
  const auto size = static_cast<HYPRE_Int>(problem.graph.num_nodes() - 1);
  const Eigen::SparseMatrix<double, Eigen::RowMajor, int> full =
      matrix(problem.graph, static_cast<NodeId>(size), false);
  HYPRE_IJMatrix ij;
  HYPRE_IJMatrixCreate(MPI_COMM_SELF, 0, size - 1, 0, size - 1, &ij);
  HYPRE_IJMatrixSetObjectType(ij, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(ij);
  for (HYPRE_Int row = 0; row < size; ++row) {
    HYPRE_Int count = full.outerIndexPtr()[row + 1] - full.outerIndexPtr()[row];
    HYPRE_IJMatrixSetValues(ij, 1, &count, &row, full.innerIndexPtr() + full.outerIndexPtr()[row],
                            full.valuePtr() + full.outerIndexPtr()[row]);
  }
  HYPRE_IJMatrixAssemble(ij);
  HYPRE_ParCSRMatrix a;
  HYPRE_IJMatrixGetObject(ij, reinterpret_cast<void**>(&a));
  const auto make_vector = [&](HYPRE_IJVector& vector) {
    HYPRE_IJVectorCreate(MPI_COMM_SELF, 0, size - 1, &vector);
    HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(vector);
    HYPRE_IJVectorAssemble(vector);
    HYPRE_ParVector object;
    HYPRE_IJVectorGetObject(vector, reinterpret_cast<void**>(&object));
    return object;
  };
  HYPRE_IJVector ij_b, ij_x;
  const HYPRE_ParVector b = make_vector(ij_b), solved = make_vector(ij_x);

  // As its manual advises for conjugate gradients; its defaults are HMIS coarsening, extended+i
  // interpolation.
  HYPRE_Solver amg, cg;
  HYPRE_BoomerAMGCreate(&amg);
  HYPRE_BoomerAMGSetPrintLevel(amg, 0);
  HYPRE_BoomerAMGSetTol(amg, 0);
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  HYPRE_BoomerAMGSetRelaxType(amg, 6);
  HYPRE_ParCSRPCGCreate(MPI_COMM_SELF, &cg);
  HYPRE_PCGSetMaxIter(cg, 2000);
  HYPRE_PCGSetTol(cg, problem.residual);
  HYPRE_PCGSetTwoNorm(cg, 1);
  HYPRE_PCGSetPrintLevel(cg, 0);
  HYPRE_ParCSRPCGSetPrecond(cg, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, amg);
  timing.factor = cpu_seconds([&] { HYPRE_ParCSRPCGSetup(cg, a, b, solved); });
  std::vector<HYPRE_Int> rows(static_cast<std::size_t>(size));
  for (HYPRE_Int row = 0; row < size; ++row) rows[static_cast<std::size_t>(row)] = row;
  for (std::size_t c = 0; c < x.size(); ++c) {
    HYPRE_IJVectorSetValues(ij_b, size, rows.data(), problem.b[c].data());
    HYPRE_ParVectorSetConstantValues(solved, 0);
    timing.solve += cpu_seconds([&] { HYPRE_ParCSRPCGSolve(cg, a, b, solved); });
    HYPRE_IJVectorGetValues(ij_x, size, rows.data(), x[c].data());
  }
  return timing;  // the process ends here: nothing is freed
}
#endif

}  // namespace bench
