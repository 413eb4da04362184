// SPDX-License-Identifier: Apache-2.0
//
// The index is faiss's (Malkov & Yashunin 2020), driven by hand: faiss inserts points from all OpenMP threads
// at once, and its result then depends on who came first. Here one thread inserts them in one random order,
// with random levels from a stream of ours, and distances are summed in an order that every processor shares.
// The search, the longer part, runs on all threads; a point starts from itself, where its neighbours are.

#include "graph/hnsw_neighbors.hpp"

#ifdef COPSE_WITH_FAISS

#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/DistanceComputer.h>
#include <faiss/impl/HNSW.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "graph/rank_candidates.hpp"
#include "graph/scan_keys.hpp"

namespace copse {
namespace {

constexpr std::size_t kQueriesPerBlock = 256;
constexpr std::uint64_t kRoundsBetweenReports = 64;

class KeyComputer final : public faiss::DistanceComputer {
 public:
  KeyComputer(const DenseKeys& keys, Metric metric)
      : keys_(keys), compare_(metric == Metric::inner ? minus_product : squared_distance) {}
  void set_query(const float* query) override { query_ = query; }
  float operator()(idx_t i) override {
    return compare_(query_, keys_.row(static_cast<NodeId>(i)), keys_.stride());
  }
  float symmetric_dis(idx_t i, idx_t j) override {
    return compare_(keys_.row(static_cast<NodeId>(i)), keys_.row(static_cast<NodeId>(j)), keys_.stride());
  }

 private:
  const DenseKeys& keys_;
  float (*compare_)(const float*, const float*, std::size_t);
  const float* query_ = nullptr;
};

// Level of a point: geometric, as the paper has it, from the stream of this point.
int random_level(const faiss::HNSW& index, std::uint64_t seed, NodeId point) {
  double left = Stream(seed, Purpose::neighbor_levels, point).uniform();
  for (std::size_t level = 0; level < index.assign_probas.size(); ++level) {
    if (left < index.assign_probas[level]) return static_cast<int>(level);
    left -= index.assign_probas[level];
  }
  return static_cast<int>(index.assign_probas.size()) - 1;
}

// Highest level first, as faiss does it, and shuffled within a level: files are often sorted by class.
std::vector<NodeId> insertion_order(const std::vector<int>& levels, std::uint64_t seed) {
  std::vector<NodeId> order(levels.size());
  std::iota(order.begin(), order.end(), NodeId{0});
  Stream stream(seed, Purpose::neighbor_order, 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[stream.below(i)]);
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return levels[a] > levels[b]; });
  return order;
}

struct Locks {
  explicit Locks(std::size_t size) : locks(size) {
    for (omp_lock_t& lock : locks) omp_init_lock(&lock);
  }
  ~Locks() {
    for (omp_lock_t& lock : locks) omp_destroy_lock(&lock);
  }
  std::vector<omp_lock_t> locks;
};

void build_index(faiss::HNSW& index, const DenseKeys& keys, Metric metric, const Execution& execution) {
  const std::size_t num_points = keys.num_points();
  index.levels.resize(num_points);
  for (NodeId i = 0; i < num_points; ++i)
    index.levels[i] = random_level(index, execution.seed, i) + 1;  // faiss counts layers
  const std::vector<NodeId> order = insertion_order(index.levels, execution.seed);
  index.prepare_level_tab(num_points, true);
  KeyComputer computer(keys, metric);
  faiss::VisitedTable visited(static_cast<int>(num_points));
  Locks locks(num_points);
  for (std::size_t i = 0; i < num_points; ++i) {
    if (i % kRoundsBetweenReports == 0) {
      execution.throw_if_cancelled();
      execution.report("index", i, num_points);
    }
    const NodeId point = order[i];
    computer.set_query(keys.row(point));
    index.add_with_locks(computer, index.levels[point] - 1, static_cast<int>(point), locks.locks, visited);
  }
}

}  // namespace

Neighbors hnsw_neighbors(const PairDiscrepancy& exact, const DenseKeys& keys, const NeighborOptions& options,
                         const Execution& execution, std::vector<NodeId>& short_rows) {
  const std::size_t num_points = keys.num_points();
  const std::uint32_t k = options.k;
  faiss::HNSW index(static_cast<int>(options.num_links));
  index.efConstruction = static_cast<int>(options.build_breadth);
  const std::size_t wanted = std::min<std::size_t>(num_candidates(k) + 1, num_points);  // with itself
  index.efSearch = static_cast<int>(std::max<std::size_t>(options.search_breadth, wanted));
  build_index(index, keys, options.metric, execution);

  Neighbors result{num_points, k, Buffer<NodeId>(num_points * k), Buffer<double>(num_points * k)};
  std::vector<std::vector<NodeId>> short_of_block((num_points + kQueriesPerBlock - 1) / kQueriesPerBlock);
  std::atomic<std::uint64_t> done{0};
  parallel_blocks(execution.threads, num_points, kQueriesPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t block) {
                    KeyComputer computer(keys, options.metric);
                    faiss::VisitedTable visited(static_cast<int>(num_points));
                    std::vector<faiss::Index::idx_t> found(wanted);
                    std::vector<float> found_keys(wanted);
                    std::vector<NodeId> ids;
                    std::vector<double> discrepancies;
                    std::vector<RankedPoint> ranked;
                    faiss::HNSWStats stats;
                    for (std::size_t i = begin; i < end; ++i) {
                      if (i % kRoundsBetweenReports == 0) execution.throw_if_cancelled();
                      const auto point = static_cast<int>(i);
                      computer.set_query(keys.row(static_cast<NodeId>(i)));
                      const float own = computer(point);
                      faiss::maxheap_heapify(wanted, found_keys.data(), found.data());
                      index.search_level_0(computer, static_cast<int>(wanted), found.data(),
                                           found_keys.data(), 1, &point, &own, 1, stats, visited);
                      visited.advance();
                      ids.clear();
                      for (const auto id : found)
                        if (id >= 0 && id != point) ids.push_back(static_cast<NodeId>(id));
                      if (ids.size() < k) {
                        short_of_block[block].push_back(static_cast<NodeId>(i));
                        continue;
                      }
                      discrepancies.resize(ids.size());
                      exact.of(static_cast<NodeId>(i), ids, discrepancies.data());
                      ranked.clear();
                      for (std::size_t p = 0; p < ids.size(); ++p)
                        ranked.push_back({discrepancies[p], ids[p]});
                      std::sort(ranked.begin(), ranked.end());
                      for (std::size_t p = 0; p < k; ++p) {
                        result.ids[i * k + p] = ranked[p].id;
                        result.discrepancies[i * k + p] = ranked[p].discrepancy;
                      }
                    }
                    execution.report("neighbours", done += end - begin, num_points);
                  });
  for (const auto& rows : short_of_block) short_rows.insert(short_rows.end(), rows.begin(), rows.end());
  return result;
}

}  // namespace copse

#endif  // COPSE_WITH_FAISS
