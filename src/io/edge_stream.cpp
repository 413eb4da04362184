// SPDX-License-Identifier: Apache-2.0
#include "copse/io/edge_stream.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/both_ways.hpp"
#include "io/formats.hpp"

namespace copse {
namespace {

constexpr std::size_t kSpoolBlock = std::size_t{1} << 20;  // edges

[[noreturn]] void spool_failed(const std::string& directory, const std::string& what) {
  throw InputError(directory, what, "name another place for the edges with --spool DIRECTORY");
}

/// Columns of edges in a file without a name, a block after the other; the last one waits in memory.
class BlockFile {
 public:
  struct Block {
    std::vector<NodeId> u, v;
    std::vector<Weight> weight;
    std::size_t size() const { return u.size(); }
  };

  BlockFile(const std::string& directory, bool has_weights, std::size_t block_size = kSpoolBlock)
      : directory_(directory), has_weights_(has_weights), block_size_(block_size) {
    fd_ = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd_ < 0) {  // a file system without such files
      std::string name = directory + "/copse-edges-XXXXXX";
      fd_ = ::mkostemp(name.data(), O_CLOEXEC);
      if (fd_ < 0) spool_failed(directory, std::string("edges cannot be put there: ") + std::strerror(errno));
      ::unlink(name.c_str());
    }
  }
  BlockFile(BlockFile&& other) noexcept
      : directory_(std::move(other.directory_)),
        has_weights_(other.has_weights_),
        block_size_(other.block_size_),
        fd_(std::exchange(other.fd_, -1)),
        num_written_(other.num_written_),
        pending_(std::move(other.pending_)) {}
  BlockFile& operator=(BlockFile&&) = delete;
  ~BlockFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  std::size_t edge_bytes() const { return has_weights_ ? 12 : 8; }
  std::uint64_t size() const { return num_written_ + pending_.size(); }
  std::uint64_t num_blocks() const { return num_written_ / block_size_ + (pending_.u.empty() ? 0 : 1); }

  void append(NodeId u, NodeId v, Weight weight) {
    pending_.u.push_back(u);
    pending_.v.push_back(v);
    if (has_weights_) pending_.weight.push_back(weight);
    if (pending_.size() < block_size_) return;
    check_room(block_size_ * edge_bytes());
    put(num_written_ / block_size_, pending_);
    num_written_ += block_size_;
    pending_ = {};
  }

  void get(std::uint64_t number, Block& block) const {
    if (number == num_written_ / block_size_) {
      block = pending_;
      return;
    }
    for_each_column(number, block, [&](void* data, std::size_t bytes, std::uint64_t at) {
      return ::pread(fd_, data, bytes, static_cast<off_t>(at));
    });
  }
  void put(std::uint64_t number, Block& block) {
    if (number == num_written_ / block_size_ && &block != &pending_) {
      pending_ = block;
      return;
    }
    for_each_column(number, block, [&](void* data, std::size_t bytes, std::uint64_t at) {
      return ::pwrite(fd_, data, bytes, static_cast<off_t>(at));
    });
  }

  /// A full disk is told of before it is full: others write there as well.
  void check_room(std::uint64_t bytes) const {
    constexpr std::uint64_t kReserve = std::uint64_t{64} << 20;
    struct statvfs disk {};
    if (::fstatvfs(fd_, &disk) != 0) return;
    const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    if (free < bytes + kReserve)
      spool_failed(directory_, "the edges take " + with_commas(bytes) + " bytes more there, and " +
                                   with_commas(free) + " are free");
  }

 private:
  template <class Move>
  void for_each_column(std::uint64_t number, Block& block, const Move& move) const {
    block.u.resize(block_size_);
    block.v.resize(block_size_);
    if (has_weights_) block.weight.resize(block_size_);
    std::uint64_t at = number * block_size_ * edge_bytes();
    const auto column = [&](auto& values) {
      auto* data = reinterpret_cast<char*>(values.data());
      for (std::size_t left = values.size() * sizeof(values[0]); left > 0;) {
        const ssize_t done = move(data, left, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0)
          spool_failed(directory_, std::string("the edges cannot be written or read there: ") +
                                       std::strerror(done < 0 ? errno : EIO));
        data += done;
        at += static_cast<std::uint64_t>(done);
        left -= static_cast<std::size_t>(done);
      }
    };
    column(block.u);
    column(block.v);
    if (has_weights_) column(block.weight);
  }

  std::string directory_;
  bool has_weights_;
  std::size_t block_size_;
  int fd_ = -1;
  std::uint64_t num_written_ = 0;  // a multiple of block_size_
  Block pending_;
};

/// Takes the edges that a reader meets, as they are listed.
class SpooledEdges final : public EdgeCollector {
 public:
  SpooledEdges(const std::string& directory, bool has_weights, std::uint64_t expected_edges)
      : directory_(directory), has_weights_(has_weights), file_(directory, has_weights) {
    file_.check_room(expected_edges * file_.edge_bytes());
  }

  void add(std::span<const EdgeColumns> pieces, NodeId, const Execution& execution) override {
    for (const EdgeColumns& piece : pieces) {
      execution.throw_if_cancelled();
      for (std::size_t i = 0; i < piece.size; ++i)
        file_.append(piece.u[i], piece.v[i], has_weights_ ? piece.weight[i] : Weight{1});
    }
  }
  void mark_ids(SeenIds& seen, const Execution& execution) const override {
    for_each_block(execution, [&](const BlockFile::Block& block) {
      for (const NodeId u : block.u) seen.mark(u);
      for (const NodeId v : block.v) seen.mark(v);
    });
  }
  void number_now(const SeenIds& seen, std::uint64_t) override {
    renumber([&](NodeId id) { return seen.rank(id); });
  }
  /// In the order of the list, which is that of the file.
  bool renumber(const std::function<NodeId(NodeId)>& number_of) override {
    BlockFile::Block block;
    for (std::uint64_t number = 0; number < file_.num_blocks(); ++number) {
      file_.get(number, block);
      for (std::size_t i = 0; i < block.size(); ++i) {
        block.u[i] = number_of(block.u[i]);
        block.v[i] = number_of(block.v[i]);
      }
      file_.put(number, block);
    }
    return true;
  }

  Graph build(std::uint64_t num_nodes, const SeenIds* seen, const BuildOptions& options,
              const Execution& execution, const std::string& where, BuildReport& report) override {
    const std::unique_ptr<EdgeCollector> buckets = EdgeCollector::make(has_weights_, file_.size());
    const std::uint64_t ids = seen == nullptr ? num_nodes : seen->end();
    for_each_block(execution, [&](const BlockFile::Block& block) {
      const EdgeColumns columns{block.u.data(), block.v.data(), block.weight.data(), block.size()};
      buckets->add({&columns, 1}, static_cast<NodeId>(ids == 0 ? 0 : ids - 1), execution);
    });
    return buckets->build(num_nodes, seen, options, execution, where, report);
  }

  /// What the list is like, once its nodes are numbered.
  void look(const Execution& execution, BuildReport& report) {
    BothWays both_ways;
    std::uint64_t up = 0, down = 0;
    for_each_block(execution, [&](const BlockFile::Block& block) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        const Weight weight = has_weights_ ? block.weight[i] : Weight{1};
        if (block.u[i] == block.v[i]) {
          ++report.num_self_loops;
        } else if (weight == 0) {
          ++report.num_zero_weights;
        } else {
          ++(block.u[i] < block.v[i] ? up : down);
          both_ways.add(block.u[i], block.v[i], std::bit_cast<std::uint32_t>(weight));
        }
      }
    });
    report.num_listed = file_.size();
    report.listed_both_ways = is_symmetric_ = up == down && up != 0 && both_ways.agree();
    num_edges_ = is_symmetric_ ? up : up + down;
  }

  std::uint64_t num_edges() const { return num_edges_; }
  bool has_weights() const { return has_weights_; }

  void scan(const Execution& execution, const std::string& stage, const EdgeStream::TakeEdges& body) const {
    BlockFile::Block kept;
    std::uint64_t done = 0;
    for_each_block(execution, [&](const BlockFile::Block& block) {
      if (is_symmetric_) {
        kept = {};
        for (std::size_t i = 0; i < block.size(); ++i) {
          if (block.u[i] > block.v[i]) continue;
          kept.u.push_back(block.u[i]);
          kept.v.push_back(block.v[i]);
          if (has_weights_) kept.weight.push_back(block.weight[i]);
        }
      }
      const BlockFile::Block& edges = is_symmetric_ ? kept : block;
      body(edges.u, edges.v, edges.weight);
      execution.report(stage, done += block.size(), file_.size());
    });
  }

  void merge(Duplicates duplicates, std::uint64_t num_nodes, const Execution& execution,
             const std::string& where) {
    std::vector<BlockFile> buckets = scattered(num_nodes, execution);
    BlockFile merged(directory_, has_weights_);
    std::uint64_t num_repeated = 0;
    for (BlockFile& bucket : buckets) {
      execution.throw_if_cancelled();
      num_repeated += merge_bucket(bucket, duplicates, where, merged);
      BlockFile done = std::move(bucket);
    }
    // As in memory: lists of both directions with repeated pairs add both of them.
    const bool doubles = is_symmetric_ && num_repeated != 0 && duplicates == Duplicates::sum;
    file_.~BlockFile();
    new (&file_) BlockFile(std::move(merged));
    num_edges_ = file_.size();
    is_symmetric_ = false;
    if (doubles) double_weights();
  }

 private:
  void for_each_block(const Execution& execution,
                      const std::function<void(const BlockFile::Block&)>& body) const {
    BlockFile::Block block;
    for (std::uint64_t number = 0; number < file_.num_blocks(); ++number) {
      execution.throw_if_cancelled();
      file_.get(number, block);
      body(block);
    }
  }

  /// Edges by ranges of their smaller ends, some million each.
  std::vector<BlockFile> scattered(std::uint64_t num_nodes, const Execution& execution) const {
    constexpr std::size_t kRanges = 4096, kMostBuckets = 256, kEdgesPerBucket = std::size_t{1} << 22;
    const std::uint64_t width = num_nodes / kRanges + 1;
    std::vector<std::uint64_t> counts(kRanges);
    scan(execution, "sort",
         [&](std::span<const NodeId> u, std::span<const NodeId> v, std::span<const Weight>) {
           for (std::size_t i = 0; i < u.size(); ++i) ++counts[std::min(u[i], v[i]) / width];
         });
    const std::uint64_t most = std::max<std::uint64_t>(kEdgesPerBucket, num_edges_ / (kMostBuckets / 2));
    std::vector<std::size_t> bucket_of(kRanges);
    std::size_t bucket = 0;
    std::uint64_t inside = 0;
    for (std::size_t range = 0; range < kRanges; ++range) {
      if (inside != 0 && inside + counts[range] > most) ++bucket, inside = 0;
      inside += counts[range];
      bucket_of[range] = bucket;
    }
    file_.check_room(num_edges_ * file_.edge_bytes());
    std::vector<BlockFile> buckets;
    for (std::size_t b = 0; b <= bucket; ++b)
      buckets.emplace_back(directory_, has_weights_, std::size_t{1} << 14);
    scan(execution, "sort",
         [&](std::span<const NodeId> u, std::span<const NodeId> v, std::span<const Weight> weight) {
           for (std::size_t i = 0; i < u.size(); ++i) {
             const auto [low, high] = std::minmax({u[i], v[i]});
             if (low != high && (weight.empty() || weight[i] != 0))
               buckets[bucket_of[low / width]].append(low, high, weight.empty() ? Weight{1} : weight[i]);
           }
         });
    return buckets;
  }

  static std::uint64_t merge_bucket(const BlockFile& bucket, Duplicates duplicates, const std::string& where,
                                    BlockFile& merged) {
    std::vector<std::tuple<NodeId, NodeId, Weight>> edges;
    edges.reserve(bucket.size());
    BlockFile::Block block;
    for (std::uint64_t number = 0; number < bucket.num_blocks(); ++number) {
      bucket.get(number, block);
      for (std::size_t i = 0; i < block.size(); ++i)
        edges.emplace_back(block.u[i], block.v[i], block.weight.empty() ? Weight{1} : block.weight[i]);
    }
    std::sort(edges.begin(), edges.end());
    std::uint64_t num_repeated = 0;
    for (std::size_t i = 0, end = 0; i < edges.size(); i = end) {
      const auto [u, v, lightest] = edges[i];
      double sum = 0;
      for (; end < edges.size() && std::get<0>(edges[end]) == u && std::get<1>(edges[end]) == v; ++end)
        sum += std::get<2>(edges[end]);
      num_repeated += end - i - 1;
      if (duplicates == Duplicates::error && end - i > 1)
        throw PairError{where, u, v, "are joined by more than one edge of the list",
                        "remove the duplicates, or choose how to merge them: sum, max or min"};
      if (sum > static_cast<double>(std::numeric_limits<Weight>::max()))
        throw PairError{where, u, v, "are joined by weights whose sum is too large for a number of 32 bits",
                        "divide all weights by a constant, or merge duplicates by max or min"};
      merged.append(u, v,
                    duplicates == Duplicates::min   ? lightest
                    : duplicates == Duplicates::max ? std::get<2>(edges[end - 1])
                                                    : static_cast<Weight>(sum));
    }
    return num_repeated;
  }

  void double_weights() {
    BlockFile::Block block;
    for (std::uint64_t number = 0; number < file_.num_blocks(); ++number) {
      file_.get(number, block);
      for (Weight& weight : block.weight) weight *= 2;
      file_.put(number, block);
    }
  }

  std::string directory_;
  bool has_weights_, is_symmetric_ = false;
  BlockFile file_;
  std::uint64_t num_edges_ = 0;
};

}  // namespace

struct EdgeStream::State {
  std::string where;
  ReadOptions options;
  std::unique_ptr<SpooledEdges> spool;  // nothing for a graph that is mapped
  NamedGraph graph;                     // of a spool its names only
  bool is_merged = false;

  Duplicates duplicates() const {
    return options.duplicates.value_or(spool->has_weights() ? Duplicates::sum : Duplicates::max);
  }
};

EdgeStream::EdgeStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
EdgeStream::EdgeStream(EdgeStream&&) noexcept = default;
EdgeStream::~EdgeStream() = default;

EdgeStream EdgeStream::read(const std::string& path, const ReadOptions& options, const std::string& directory,
                            const Execution& execution, ReadReport* report) {
  ReadReport own;
  if (report == nullptr) report = &own;
  *report = {};
  auto state = std::make_unique<State>();
  state->options = options;
  ByteSource source = ByteSource::open(path, execution);
  state->where = source.name();
  report->format = format_of(source, options.format);
  if (report->format == GraphFormat::copse) {
    state->graph = open_copse(source, execution);
    return EdgeStream(std::move(state));
  }
  if (report->format != GraphFormat::edge_list || options.is_signed)
    throw UsageError(state->where,
                     options.is_signed ? "a signed graph is not streamed"
                                       : "only edge lists and .copse files are streamed",
                     "leave --memory out to read it into memory");
  EdgeListCut cut;
  cut.collector = [&](bool has_weights, std::uint64_t expected_edges) -> std::unique_ptr<EdgeCollector> {
    return std::make_unique<SpooledEdges>(directory, has_weights, expected_edges);
  };
  ParsedEdges parsed = read_edge_list(source, options, execution, cut, EdgeListKeeps::buckets);
  state->spool.reset(static_cast<SpooledEdges*>(parsed.edges.release()));
  if (parsed.seen != nullptr) state->spool->number_now(*parsed.seen, parsed.num_nodes);
  state->graph.names = std::move(parsed.names);
  report->num_bytes = parsed.num_bytes;
  report->columns = parsed.columns;
  state->spool->look(execution, report->build);
  if (!state->spool->has_weights() && state->duplicates() != Duplicates::max)
    throw UsageError("--duplicates", "pairs of a streamed list without weights count once",
                     "leave it out, or give a column of weights");
  return EdgeStream(std::move(state));
}

const NodeNames& EdgeStream::names() const { return state_->graph.names; }
NodeId EdgeStream::num_nodes() const { return static_cast<NodeId>(state_->graph.names.size()); }
std::uint64_t EdgeStream::num_edges() const {
  return state_->spool ? state_->spool->num_edges() : GraphView(state_->graph.graph).num_edges();
}
bool EdgeStream::is_weighted() const {
  return state_->spool ? state_->spool->has_weights() : GraphView(state_->graph.graph).is_weighted();
}

bool EdgeStream::needs_merge() const {
  return state_->spool && !state_->is_merged && is_weighted() && state_->duplicates() != Duplicates::max;
}
void EdgeStream::merge(const Execution& execution) {
  if (!needs_merge()) return;
  try {
    state_->spool->merge(state_->duplicates(), num_nodes(), execution, state_->where);
  } catch (const PairError& error) {
    throw error.with_names(quoted(names().name(error.u)), quoted(names().name(error.v)));
  }
  state_->is_merged = true;
}

void EdgeStream::scan(const Execution& execution, const std::string& stage, const TakeEdges& body) const {
  if (state_->spool) return state_->spool->scan(execution, stage, body);
  const GraphView graph = state_->graph.graph;
  std::vector<NodeId> u, v;
  std::vector<Weight> weight;
  const auto hand_over = [&](std::uint64_t done) {
    execution.throw_if_cancelled();
    body(u, v, weight);
    u.clear(), v.clear(), weight.clear();
    execution.report(stage, done, graph.num_arcs());
  };
  for (NodeId row = 0; row < graph.num_nodes(); ++row) {
    for (EdgeIndex arc = graph.offsets[row]; arc < graph.offsets[row + 1]; ++arc) {
      if (graph.neighbors[arc] < row) continue;
      u.push_back(row);
      v.push_back(graph.neighbors[arc]);
      if (graph.is_weighted()) weight.push_back(graph.weights[arc]);
    }
    if (u.size() >= kSpoolBlock) hand_over(graph.offsets[row + 1]);
  }
  hand_over(graph.num_arcs());
}

NamedGraph EdgeStream::build(const Execution& execution, BuildReport* report) && {
  if (!state_->spool) return std::move(state_->graph);
  BuildReport own;
  if (report == nullptr) report = &own;
  *report = {};
  try {
    Graph graph = state_->spool->build(num_nodes(), nullptr, {state_->duplicates(), false}, execution,
                                       state_->where, *report);
    return {std::move(graph), std::move(state_->graph.names)};
  } catch (const PairError& error) {
    throw error.with_names(quoted(names().name(error.u)), quoted(names().name(error.v)));
  }
}

}  // namespace copse
