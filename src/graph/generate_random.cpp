// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "copse/support/buffer.hpp"
#include "graph/generate_parts.hpp"

// Random graphs of no particular paper, for trials at any size.

namespace copse {
namespace {

constexpr double kMostEdges = 1e11;

std::uint64_t num_pairs(std::uint64_t n) { return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n; }

// A random order of the nodes as a table: the map itself costs more than a read from memory.
Buffer<NodeId> shuffled_nodes(std::uint64_t n, std::uint32_t index, const Execution& execution) {
  const Permutation permutation(n, execution.seed, index);
  Buffer<NodeId> nodes(n);
  parallel_blocks(execution.threads, n, std::size_t{1} << 16,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t i = begin; i < end; ++i) nodes[i] = static_cast<NodeId>(permutation(i));
                  });
  return nodes;
}

GeneratedGraph make_random(const std::vector<double>& values, const Execution& execution) {
  const auto n = static_cast<std::uint64_t>(values[0]), m = static_cast<std::uint64_t>(values[1]);
  if (m > num_pairs(n)) {
    refuse("random", "edges", with_commas(m) + " edges do not fit between " + with_commas(n) + " nodes",
           "at most nodes (nodes - 1) / 2 = " + with_commas(num_pairs(n)));
  }
  const Permutation pairs(num_pairs(n), execution.seed, 0);
  auto chunks =
      make_chunks(m, execution, [&](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
        for (std::uint64_t i = begin; i < end; ++i) {
          const EdgeEnds pair = pair_at(pairs(i));
          add_edge(chunk, pair.u, pair.v);
        }
      });
  add_weights(chunks, values[2], execution);
  return finish(std::move(chunks), n, execution);
}

// Rings through all nodes in random orders, two degrees each, and a random matching for an odd degree.
GeneratedGraph make_regular(const std::vector<double>& values, const Execution& execution) {
  const auto n = static_cast<std::uint64_t>(values[0]), degree = static_cast<std::uint64_t>(values[1]);
  if (degree >= n) {
    refuse("regular", "degree", std::to_string(degree) + " is not below nodes = " + with_commas(n),
           "a node has at most nodes - 1 neighbours");
  }
  std::vector<EdgeChunk> chunks;
  for (std::uint32_t ring = 0; ring < (degree + 1) / 2; ++ring) {
    const Permutation order(n, execution.seed, ring);
    const std::uint64_t step =
        2 * ring + 1 < degree ? 1 : 2;  // every node to the next; only pairs at the end
    const std::uint64_t count = step == 1 ? n : n / 2;
    append(chunks, make_chunks(count, execution,
                               [&](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
                                 for (std::uint64_t i = begin; i < end; ++i)
                                   add_edge(chunk, order(step * i), order((step * i + 1) % n));
                               }));
  }
  add_weights(chunks, values[2], execution);
  return finish(std::move(chunks), n, execution);
}

std::uint64_t threshold(double share) { return static_cast<std::uint64_t>(share * 0x1p32); }

GeneratedGraph make_rmat(const std::vector<double>& values, const Execution& execution) {
  const auto scale = static_cast<int>(values[0]);
  const std::uint64_t n = std::uint64_t{1} << scale;
  const auto m = static_cast<std::uint64_t>(std::llround(values[1] * static_cast<double>(n)));
  const double a = values[2], b = values[3], c = values[4];
  if (a + b + c > 1 + 1e-9) {  // 0.57 + 0.19 + 0.24 is not 1 in binary
    refuse("rmat", "a, b, c", "they sum to more than 1",
           "a, b, c and what is left to 1 are the shares of the quarters");
  }
  // Chakrabarti, Zhan & Faloutsos, SDM 2004: one bit of both ends at a time, by the quarter of the
  // adjacency matrix that a random number points to. The names are shuffled, as in Graph 500, because
  // otherwise a node's degree could be read from its number.
  const Buffer<NodeId> names = shuffled_nodes(n, 0, execution);
  const std::uint64_t to_a = threshold(a), to_b = threshold(a + b), to_c = threshold(a + b + c);
  auto chunks =
      make_chunks(m, execution, [&](std::size_t begin, std::size_t end, std::size_t block, EdgeChunk& chunk) {
        Stream stream{execution.seed, Purpose::generator, block};
        chunk.u.resize(end - begin);
        chunk.v.resize(end - begin);
        for (std::size_t i = 0; i < end - begin; ++i) {
          std::uint32_t u = 0, v = 0;
          for (int level = 0; level < scale; ++level) {
            const std::uint32_t random = stream.next32();
            u = u << 1 | static_cast<std::uint32_t>(random >= to_b);
            // The second half in the quarters b and d: an odd number of thresholds is passed. No branch.
            v = v << 1 | static_cast<std::uint32_t>((random >= to_a) ^ (random >= to_b) ^ (random >= to_c));
          }
          chunk.u[i] = names[u];
          chunk.v[i] = names[v];
        }
      });
  add_weights(chunks, values[5], execution);
  return finish(std::move(chunks), n, execution);
}

// Nodes by place: the first `num_larger` classes have size + 1 places, the others `size`.
struct Classes {
  std::uint64_t count, size, num_larger;
  std::uint64_t places_of_larger() const { return num_larger * (size + 1); }
  std::uint64_t of_place(std::uint64_t place) const {
    return place < places_of_larger() ? place / (size + 1) : num_larger + (place - places_of_larger()) / size;
  }
  std::uint64_t num_pairs_inside() const {
    return num_larger * num_pairs(size + 1) + (count - num_larger) * num_pairs(size);
  }
  EdgeEnds pair_inside(std::uint64_t i) const {
    const std::uint64_t pairs_of_larger = num_larger * num_pairs(size + 1);
    const bool is_larger = i < pairs_of_larger;
    const std::uint64_t pairs_of_one = num_pairs(is_larger ? size + 1 : size);
    const std::uint64_t j = is_larger ? i : i - pairs_of_larger;
    const std::uint64_t first =
        is_larger ? j / pairs_of_one * (size + 1) : places_of_larger() + j / pairs_of_one * size;
    const EdgeEnds pair = pair_at(j % pairs_of_one);
    return {first + pair.u, first + pair.v};
  }
};

std::uint64_t num_edges_of_degree(const char* parameter, std::uint64_t n, double degree, std::uint64_t most) {
  const auto m = static_cast<std::uint64_t>(std::llround(static_cast<double>(n) * degree / 2));
  if (m > most) {
    refuse("block_model", parameter,
           "a mean degree of " + std::to_string(degree) + " needs more pairs than there are",
           "at most " + std::to_string(2 * static_cast<double>(most) / static_cast<double>(n)));
  }
  return m;
}

GeneratedGraph make_block_model(const std::vector<double>& values, const Execution& execution) {
  const auto n = static_cast<std::uint64_t>(values[0]), num_classes = static_cast<std::uint64_t>(values[1]);
  if (num_classes > n) {
    refuse("block_model", "classes", with_commas(num_classes) + " classes of " + with_commas(n) + " nodes",
           "each class needs a node");
  }
  const Classes classes{num_classes, n / num_classes, n % num_classes};
  const std::uint64_t pairs_inside = classes.num_pairs_inside(), pairs_outside = num_pairs(n) - pairs_inside;
  const std::uint64_t m_inside = num_edges_of_degree("degree_inside", n, values[2], pairs_inside);
  const std::uint64_t m_outside = num_edges_of_degree("degree_outside", n, values[3], pairs_outside);
  const Buffer<NodeId> names = shuffled_nodes(n, 0, execution);

  const Permutation inside(std::max<std::uint64_t>(pairs_inside, 1), execution.seed, 1);
  auto chunks = make_chunks(m_inside, execution,
                            [&](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
                              for (std::uint64_t i = begin; i < end; ++i) {
                                const EdgeEnds pair = classes.pair_inside(inside(i));
                                add_edge(chunk, names[pair.u], names[pair.v]);
                              }
                            });
  // Of pairs drawn from all, those between classes are kept: their number is right on average.
  const auto draws = m_outside == 0
                         ? 0
                         : static_cast<std::uint64_t>(std::llround(
                               static_cast<double>(m_outside) *
                               (static_cast<double>(num_pairs(n)) / static_cast<double>(pairs_outside))));
  const Permutation all(std::max<std::uint64_t>(num_pairs(n), 1), execution.seed, 2);
  auto between = make_chunks(std::min(draws, num_pairs(n)), execution,
                             [&](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
                               for (std::uint64_t i = begin; i < end; ++i) {
                                 const EdgeEnds pair = pair_at(all(i));
                                 if (classes.of_place(pair.u) != classes.of_place(pair.v))
                                   add_edge(chunk, names[pair.u], names[pair.v]);
                               }
                             });
  if (values[4] != 1 || values[5] != 1) {
    for (EdgeChunk& chunk : chunks) chunk.weight.assign(chunk.u.size(), static_cast<Weight>(values[4]));
    for (EdgeChunk& chunk : between) chunk.weight.assign(chunk.u.size(), static_cast<Weight>(values[5]));
  }
  append(chunks, std::move(between));

  std::vector<std::string> class_names;
  for (std::uint64_t c = 0; c < num_classes; ++c) class_names.push_back(std::to_string(c));
  std::vector<Label> labels(n);
  parallel_blocks(execution.threads, n, std::size_t{1} << 16,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t place = begin; place < end; ++place)
                      labels[names[place]] = static_cast<Label>(classes.of_place(place));
                  });
  return finish(
      std::move(chunks), n, class_names, [&](std::uint64_t u) { return labels[u]; }, execution);
}

/// Two classes on a random graph that knows nothing of them: only the signs of its edges do, positive inside
/// a class and negative between the two, and some of them are wrong. Magnitudes alone are worth nothing here.
GeneratedGraph make_signed_blocks(const std::vector<double>& values, const Execution& execution) {
  const auto n = static_cast<std::uint64_t>(values[0]);
  const double degree = values[1], noise = values[2];
  const std::uint64_t num_pairs = n * (n - 1) / 2;
  const auto m = static_cast<std::uint64_t>(std::llround(static_cast<double>(n) * degree / 2));
  if (m > num_pairs)
    refuse("signed_blocks", "degree",
           "a mean degree of " + std::to_string(degree) + " needs more pairs than there are",
           "at most " + std::to_string(n - 1));
  const Permutation places(n, execution.seed, 0), pairs(num_pairs, execution.seed, 1);
  const auto class_of = [&](std::uint64_t u) { return static_cast<Label>(places(u) >= (n + 1) / 2); };
  auto chunks =
      make_chunks(m, execution, [&](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
        for (std::uint64_t i = begin; i < end; ++i) {
          const EdgeEnds pair = pair_at(pairs(i));
          add_edge(chunk, pair.u, pair.v);
          Stream stream{execution.seed, Purpose::generator, pair.v << 32 | pair.u};
          const bool is_wrong = stream.uniform() < noise;
          chunk.weight.push_back((class_of(pair.u) == class_of(pair.v)) != is_wrong ? Weight{1} : Weight{-1});
        }
      });
  return finish(std::move(chunks), n, two_sides(), class_of, execution, true);
}

}  // namespace

std::vector<GeneratorRow> random_generators() {
  return {
      {"random",
       "Erdos-Renyi G(n, m): `edges` different pairs, each as likely as any other",
       {{"nodes", 1000, "nodes", 2, kMostGeneratedNodes},
        {"edges", 5000, "edges", 0, kMostEdges},
        contrast_parameter()},
       make_random},
      {"regular",
       "random and connected (from degree 2 on), every node of the given degree or, rarely, a little less",
       {{"nodes", 1000, "nodes", 3, kMostGeneratedNodes},
        {"degree", 6, "neighbours of a node", 1, 100'000},
        contrast_parameter()},
       make_regular},
      {"rmat",
       "R-MAT (Chakrabarti, Zhan & Faloutsos 2004) with the shares of Graph 500: few nodes with very many "
       "edges, "
       "2^scale nodes of which some have none; pairs drawn twice are one edge",
       {{"scale", 16, "2^scale nodes", 1, 31},
        {"edge_factor", 16, "edges drawn for each node", 0, 10'000, false},
        {"a", 0.57, "share of the quarter with both ends in the first half", 0, 1, false},
        {"b", 0.19, "share of the quarter first half to second", 0, 1, false},
        {"c", 0.19, "share of the quarter second half to first", 0, 1, false},
        contrast_parameter()},
       make_rmat},
      {"block_model",
       "classes of equal size (stochastic block model): edges inside a class and between classes, by mean "
       "degree; the "
       "labels are the classes",
       {{"nodes", 10'000, "nodes", 2, kMostGeneratedNodes},
        {"classes", 2, "classes", 1, 65'534},
        {"degree_inside", 8, "mean number of neighbours of the own class", 0, 1e6, false},
        {"degree_outside", 2, "mean number of neighbours of other classes", 0, 1e6, false},
        {"weight_inside", 1, "weight of the edges inside a class", 1e-30, 1e30, false},
        {"weight_outside", 1, "weight of the edges between classes", 1e-30, 1e30, false}},
       make_block_model},
      {"signed_blocks",
       "two classes on a random graph, edges positive inside a class and negative between the two, some with "
       "the wrong sign; the labels are the classes",
       {{"nodes", 10'000, "nodes", 2, kMostGeneratedNodes},
        {"degree", 8, "mean number of neighbours", 0, 1e6, false},
        {"noise", 0.1, "share of the edges whose sign is wrong", 0, 1, false}},
       make_signed_blocks},
  };
}

}  // namespace copse
