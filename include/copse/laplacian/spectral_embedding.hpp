// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/execution.hpp"
#include "copse/support/options.hpp"

namespace copse {

struct SpectralOptions {
  int dimension = 0;
  int power = 8;
  int oversample = 10;
  double tau = 1;

  static Fields fields() {
    using Self = SpectralOptions;
    return {
        field("dimension", &Self::dimension,
              "eigenvectors, that is numbers per node; 0: 128, or 64 above 2,000,000 nodes",
              between(0, 4096)),
        field("power", &Self::power, "steps of the subspace iteration: 4 are enough for dense graphs",
              between(1, 1000)),
        field("oversample", &Self::oversample, "vectors more than wanted, for precision", between(0, 1024)),
        field("tau", &Self::tau,
              "added to every degree, in mean degrees: keeps nodes of small degree from vectors of "
              "their own",
              between(0.0, 1e6))};
  }
};

/// A point for every node: rows of U diag(w) divided by their lengths, for the eigenvalues w of
/// M = (D + tau I)^-1/2 A (D + tau I)^-1/2 that are largest in size and their eigenvectors U. Both ends of
/// the spectrum count, so that nodes of unlike neighbours are told apart as well. A row of zeros where a node
/// has no part in these vectors, one without edges for example.
struct SpectralEmbedding {
  NodeId num_nodes = 0;
  std::size_t dimension = 0;        // what was asked for, or the number of nodes if that is less
  Buffer<float> rows;               // node by node
  std::vector<double> eigenvalues;  // largest in size first

  std::span<const float> row(NodeId node) const {
    return rows.span().subspan(std::size_t{node} * dimension, dimension);
  }
};

/// The embedding by subspace iteration with M^2 (Halko, Martinsson & Tropp 2011) from a random start that is
/// the same for every seed: it is a function of the graph and the options. O(power (m d + n d^2)) time; the
/// regularizer is that of Amini, Chen, Bickel & Levina 2013. UsageError where the graph is signed.
SpectralEmbedding spectral_embedding(const GraphView& graph, const SpectralOptions& options,
                                     const Execution& execution);

/// To every row the mean of its neighbours' rows is added, both of length 1, with the other sign in columns
/// of eigenvalues below 0, where neighbours are unlike; and the sum is made of length 1 again. What a node of
/// few edges has in the leading vectors is little and uncertain: its neighbours know more of its place. O(m
/// d).
void mix_in_neighbors(const GraphView& graph, SpectralEmbedding& embedding, const Execution& execution);

/// The same graph, with its embedding beside it (GraphView::embedding).
Graph keep_embedding(const Graph& graph, const SpectralOptions& options, const Execution& execution);
/// Whether the graph has this very embedding beside it, which spectral_embedding() then returns.
bool has_embedding(const GraphView& graph, const SpectralOptions& options);

/// Most bytes that takes at a time, and those of the result.
std::uint64_t spectral_embedding_bytes(std::uint64_t num_nodes, const SpectralOptions& options);
std::uint64_t bytes_of_embedding(std::uint64_t num_nodes, const SpectralOptions& options);

}  // namespace copse
