// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/graph/signs.hpp"
#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"

namespace copse {
namespace {

std::uint32_t bits_of(std::uint32_t value) { return value; }
// Positive floats sort like their bits.
std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// The value of that rank among value(0 ... count - 1), found byte by byte: exact, and no copy of an array
// that may have 10^8 entries.
template <class Value>
double value_of_rank(int threads, std::size_t count, std::uint64_t rank, const Value& value) {
  using Counts = std::array<std::uint64_t, 256>;
  std::uint32_t found = 0, is_found = 0;  // the upper bytes of the value, and a mask of these
  for (int shift = 24; shift >= 0; shift -= 8) {
    const Counts counts = deterministic_reduce(
        threads, count, Counts{},
        [&](std::size_t begin, std::size_t end) {
          Counts partial{};
          for (std::size_t i = begin; i < end; ++i)
            if (const std::uint32_t bits = bits_of(value(i)); (bits & is_found) == found)
              ++partial[bits >> shift & 0xFF];
          return partial;
        },
        [](Counts sum, const Counts& more) {
          for (std::size_t byte = 0; byte < sum.size(); ++byte) sum[byte] += more[byte];
          return sum;
        });
    std::uint32_t byte = 0;
    while (rank >= counts[byte]) rank -= counts[byte++];
    found |= byte << shift;
    is_found |= std::uint32_t{0xFF} << shift;
  }
  return std::bit_cast<decltype(value(0))>(found);
}

// Mean of the two middle values, or twice the middle one; count > 0.
template <class Value>
double median(int threads, std::size_t count, const Value& value) {
  const double low = value_of_rank(threads, count, (count - 1) / 2, value);
  return count % 2 == 1 ? low : (low + value_of_rank(threads, count, count / 2, value)) / 2;
}

struct DegreeSummary {
  EdgeIndex min = std::numeric_limits<EdgeIndex>::max(), max = 0;
  std::uint64_t num_isolated = 0;
};

struct WeightSummary {
  double min = std::numeric_limits<double>::infinity(), max = 0, sum = 0;
};

void add_degrees(const GraphView& graph, int threads, GraphStatistics& facts) {
  const auto summary = deterministic_reduce(
      threads, graph.num_nodes(), DegreeSummary{},
      [&](std::size_t begin, std::size_t end) {
        DegreeSummary partial;
        for (auto u = static_cast<NodeId>(begin); u < end; ++u) {
          partial.min = std::min(partial.min, graph.degree(u));
          partial.max = std::max(partial.max, graph.degree(u));
          partial.num_isolated += graph.degree(u) == 0;
        }
        return partial;
      },
      [](const DegreeSummary& a, const DegreeSummary& b) {
        return DegreeSummary{std::min(a.min, b.min), std::max(a.max, b.max), a.num_isolated + b.num_isolated};
      });
  facts.min_degree = summary.min;
  facts.max_degree = summary.max;
  facts.num_isolated = summary.num_isolated;
  facts.mean_degree = static_cast<double>(graph.num_arcs()) / graph.num_nodes();
  facts.median_degree = median(threads, graph.num_nodes(), [&](std::size_t u) {
    return static_cast<std::uint32_t>(
        graph.degree(static_cast<NodeId>(u)));  // no duplicates: below num_nodes
  });
}

// Over arcs, where every edge stands twice: that moves neither the extremes nor the median.
void add_weights(const GraphView& graph, int threads, GraphStatistics& facts) {
  if (!graph.is_weighted()) {
    facts.min_weight = facts.median_weight = facts.max_weight = facts.weight_range = 1;
    facts.total_weight = static_cast<double>(graph.num_edges());
    return;
  }
  const auto summary = deterministic_reduce(
      threads, graph.num_arcs(), WeightSummary{},
      [&](std::size_t begin, std::size_t end) {
        WeightSummary partial;
        for (const Weight weight : graph.weights.subspan(begin, end - begin)) {
          partial.min = std::min<double>(partial.min, weight);
          partial.max = std::max<double>(partial.max, weight);
          partial.sum += weight;
        }
        return partial;
      },
      [](const WeightSummary& a, const WeightSummary& b) {
        return WeightSummary{std::min(a.min, b.min), std::max(a.max, b.max), a.sum + b.sum};
      });
  facts.min_weight = summary.min;
  facts.max_weight = summary.max;
  facts.total_weight = summary.sum / 2;
  facts.weight_range = summary.max / summary.min;
  facts.median_weight =
      median(threads, graph.num_arcs(), [&](std::size_t arc) { return graph.weights[arc]; });
}

void add_signs(const GraphView& graph, const Components& components, GraphStatistics& facts) {
  facts.is_signed = true;
  for (const std::uint64_t word : graph.negative)
    facts.num_negative += static_cast<std::uint64_t>(std::popcount(word));
  facts.num_negative /= 2;
  const SignBalance balance = sign_balance(graph, components);
  facts.num_frustrated = balance.num_frustrated;
  facts.num_balanced_components =
      static_cast<std::uint64_t>(std::count(balance.is_balanced.begin(), balance.is_balanced.end(), 1));
}

std::optional<double> share_of_agreement(double cut, double judged) {
  if (judged == 0) return std::nullopt;
  return 1 - cut / judged;
}

}  // namespace

GraphStatistics graph_statistics(const GraphView& graph, int threads) {
  GraphStatistics facts;
  facts.num_nodes = graph.num_nodes();
  facts.num_edges = graph.num_edges();
  facts.is_weighted = graph.is_weighted();
  facts.num_bytes = graph.offsets.size_bytes() + graph.neighbors.size_bytes() + graph.weights.size_bytes() +
                    graph.negative.size_bytes();
  if (graph.num_nodes() == 0) return facts;
  const Components components = connected_components(graph, threads);
  facts.num_components = components.count();
  facts.largest_component = components.sizes[components.largest()];
  add_degrees(graph, threads, facts);
  if (graph.num_arcs() > 0) add_weights(graph, threads, facts);
  if (graph.is_signed()) add_signs(graph, components, facts);
  return facts;
}

std::optional<double> LabelStatistics::homophily() const {
  return share_of_agreement(static_cast<double>(cut_size), static_cast<double>(num_judged_edges));
}
std::optional<double> LabelStatistics::weighted_homophily() const {
  return share_of_agreement(cut_weight, judged_weight);
}

LabelStatistics label_statistics(const GraphView& graph, std::span<const Label> labels, int threads) {
  if (labels.size() != graph.num_nodes()) {
    throw UsageError{"label_statistics",
                     "there are " + with_commas(labels.size()) + " labels for " +
                         with_commas(graph.num_nodes()) + " nodes",
                     "give one label per node, kNoLabel where it is unknown"};
  }
  LabelStatistics facts;
  for (const Label label : labels) {
    if (label == kNoLabel) continue;
    ++facts.num_labelled;
    if (label >= facts.class_counts.size()) facts.class_counts.resize(std::size_t{label} + 1);
    ++facts.class_counts[label];
  }
  const bool is_signed = graph.is_signed();
  struct Cut {
    std::uint64_t judged = 0, cut = 0;
    double judged_weight = 0, cut_weight = 0;
  };
  const Cut total = deterministic_reduce(
      threads, graph.num_nodes(), Cut{},
      [&](std::size_t begin, std::size_t end) {
        Cut partial;
        for (auto u = static_cast<NodeId>(begin); u < end; ++u) {
          if (labels[u] == kNoLabel) continue;
          for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
            const NodeId v = graph.neighbors[arc];
            if (v < u || labels[v] == kNoLabel) continue;
            ++partial.judged;
            partial.judged_weight += graph.weight(arc);
            if ((labels[u] == labels[v]) != (is_signed && graph.is_negative(arc))) continue;
            ++partial.cut;
            partial.cut_weight += graph.weight(arc);
          }
        }
        return partial;
      },
      [](const Cut& a, const Cut& b) {
        return Cut{a.judged + b.judged, a.cut + b.cut, a.judged_weight + b.judged_weight,
                   a.cut_weight + b.cut_weight};
      },
      std::size_t{1} << 12);
  facts.num_judged_edges = total.judged;
  facts.judged_weight = total.judged_weight;
  facts.cut_size = total.cut;
  facts.cut_weight = total.cut_weight;
  return facts;
}

}  // namespace copse
