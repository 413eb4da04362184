// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/graph/labels.hpp"
#include "copse/support/execution.hpp"
#include "copse/trees/diameter.hpp"

namespace copse {

// --- the right-hand sides, as they stand in the papers; docs/bounds.md has them side by side

/// Herbster & Pontil 2006, eqs. 5 and 15: 2 m + z/2 + sqrt(2 m z + z^2/4) with z the norm times the largest
/// kernel value and m the mistakes that the labelling compared with makes itself. z where m is 0.
double perceptron_bound(double z, double num_noise = 0);

/// Eq. 15: (4 cut + balance/b + 4 flips/c)(R + b + c), for the kernel L^+ + b 11' + c I and a labelling that
/// differs from the one to learn at `num_flips` nodes. Eq. 16 where there are none and b is 1.
double kernel_bound(double cut_weight, double balance, double num_flips, double resistance_diameter, double b,
                    double c);

/// The smallest of these over b and c, and where it is attained:
/// (2 sqrt(cut R) + sqrt(balance) + 2 sqrt(flips))^2, by Cauchy-Schwarz.
struct BestKernel {
  double z = 0, b = 0, c = 0;
};
BestKernel best_kernel(double cut_weight, double balance, double num_flips, double resistance_diameter);

/// Herbster, Pontil & Wainer 2005, theorems 3.2 and 5.1, before the game: mistakes M satisfy
/// sum over M of 1/K_ii <= norm - progress, so that there are at most as many as the largest K_ii among
/// `diagonal` (of the nodes that may come) allow. progress is Z_A, 0 without active trials.
std::uint64_t projection_bound(double squared_norm, std::span<const double> diagonal, double progress = 0);

/// Herbster 2008: min over the covers of (number of sets) + norm * (their diameter) + 1. covers[i] is the
/// diameter, in resistance, of i + 1 sets that hold all nodes which may come.
double pounce_bound(double squared_norm, std::span<const double> covers);

/// N(rho) of such covers: the fewest sets found of diameter rho at most; 0 where that many were not tried.
std::uint64_t covering_number(std::span<const double> covers, double rho);

/// Edges of a tree or line, and how a labelling cuts them.
struct CutEdges {
  double cut_size = 0, cut_weight = 0;
  std::vector<double> uncut_resistances;
  void add(double weight, bool is_cut) {
    if (is_cut)
      cut_size += 1, cut_weight += weight;
    else
      uncut_resistances.push_back(1 / weight);
  }
};
/// Cesa-Bianchi et al. 2013, line and tree, with the constants of docs/bounds.md, for the best set F of edges
/// set aside.
double line_bound(const CutEdges& edges);
double tree_bound(const CutEdges& edges);
/// The same where flipping some labels leaves a smaller cut: `smoothed` is min over y' of Phi_T(y') + flips,
/// and `smoothed_weight` that of the weights with the heaviest edges for the flips. tree_bound where they are
/// Phi and Phi^W.
double robust_tree_bound(const CutEdges& edges, double smoothed, double smoothed_weight);
/// Random spanning trees of a graph: 1 + 2 E[Phi] + 4 E[Phi] log2(1 + w E[R]), in expectation.
double random_tree_bound(double expected_cut, double expected_resistance, double largest_cut_weight);
double robust_random_tree_bound(double expected_cut, double smoothed, double expected_resistance,
                                double largest_cut_weight);

/// Herbster 2008: sets of diameter below the least distance between two nodes of different labels.
struct SeparatingCover {
  double separation = 0;                        // that distance, at most; 0 where all labels are the same
  std::uint64_t least_sets = 0, most_sets = 0;  // N°, the fewest sets: between these
  std::uint64_t least_components = 0, most_components = 0;  // C°, sets connected by steps below it: likewise
};
/// Of `labels.size()` points, their distances row by row. C° is exact, N° on trees
/// and up to 14 points.
SeparatingCover separating_cover(std::span<const double> distances, std::span<const Label> labels);

/// Labellings of two classes of a tree of n nodes that cut at most k edges: log2 of 2 sum C(n - 1, j), the
/// mistakes that halving can make after the first label, rounded down.
double halving_bound(std::uint64_t num_nodes, std::uint64_t max_cut);

// --- a labelling on a graph

/// What the bounds are made of, in the graph's own weights. (The perceptron's bounds scale them to mean 1, as
/// it does.)
struct LabellingFacts {
  std::uint64_t num_nodes = 0, num_edges = 0, num_labelled = 0, num_classes = 0;
  std::uint64_t cut_size = 0;           // Phi
  double cut_weight = 0;                // Phi^W
  double largest_cut_weight = 0;        // of a cut edge
  double expected_cut = 0;              // E[Phi_T]
  double expected_cut_error = 0;        // its standard error; 0 where exact
  double expected_resistance = 0;       // E[R_T], of the uncut edges of a random tree
  double shuffled_cut = 0;              // E[Phi_T] if the same labels were dealt at random
  double balance = 0;                   // beta_u, of the classes against the rest, the largest
  double squared_norm = 0;              // u' L u of the labels, +1 and -1: 4 Phi^W for two classes
  double energy = 0;                    // the smallest of a function that has the labels where known
  double interpolant_norm = 0;          // the smallest of one that also sums to 0; infinite: none does
  Interval resistance_diameter;         // R_G
  Interval geodesic_diameter;           // D_G
  double algebraic_connectivity = 0;    // lambda_2 of the Laplacian
  double largest_diagonal = 0;          // of L^+, over the labelled nodes
  bool is_exact = true;                 // no figure above is an estimate, but for intervals
  std::vector<double> cover_diameters;  // of 1, 2, ... sets that cover the labelled nodes
  SeparatingCover separating;           // of the labelled nodes, in resistance
  double connectivity_ratio = 0;        // largest to smallest effective resistance, at most
};

struct Bound {
  std::string name;
  std::string source;           // paper and number
  std::string learner;          // of the registry, with its options, of which it speaks: "one_projection"
  double value = 0;             // mistakes at the most; infinite where it says nothing
  bool is_lower = false;        // no method can promise fewer
  bool in_expectation = false;  // over random trees
  std::string made_of;          // the figures put in
};

struct BoundReport {
  LabellingFacts facts;
  std::vector<Bound> bounds;
  std::vector<double> diagonal;      // of L^+ at the labelled nodes, ascending by node: not below the truth
  std::vector<std::string> verdict;  // sentences for people
  std::vector<std::string> notes;
};

struct BoundOptions {
  int num_trees = 31;            // sampled, for the bounds of trees and where exact figures are too dear
  std::size_t max_cover = 1000;  // sets tried for Pounce
};

/// Every bound for a game on the labelled nodes of a connected graph, in whatever order they come; labels are
/// as of Labels::of_node. Nodes without a label are completed by the harmonic function where a theorem speaks
/// of all nodes: it then holds for that completion. More than two classes are one yes/no question each, and
/// their bounds add up: a wrong answer is wrong in at least one question. UsageError if the graph is not
/// connected (take its largest component) or fewer than two nodes are labelled.
BoundReport mistake_bounds(const GraphView& graph, std::span<const Label> labels, const BoundOptions& options,
                           const Execution& execution);

}  // namespace copse
