// SPDX-License-Identifier: Apache-2.0
//
// The .copse file: the arrays of a graph as they lie in memory, so that opening one is mapping it.
//
// All numbers are in the byte order of the machine that wrote the file, which the mark at byte 12 tells;
// a reader of the other order refuses. The header has 192 bytes:
//
//   byte  type    content
//      0  8 x u8  magic 89 63 6f 70 73 65 0d 0a ("\x89copse\r\n")
//      8  u32     format version: 1, 2 for a graph with signs, or 3 for one with its embedding
//     12  u32     byte order mark 0x01020304
//     16  4 x u8  bytes of an offset (8), a node number (4), a weight (4); then 0
//     20  u32     flags: 1 has weights, 2 the nodes are called by consecutive numbers; in version 2 also 4,
//                 has signs; no others
//     24  u64     number of nodes n, at most 2^32 - 1
//     32  u64     number of arcs a, twice the number of edges
//     40  u64     the number that node 0 is called by (with flag 2, else 0); node i is this plus i
//     48  u64     length of the file
//     56  u64     0
//     64  5 x (u64 position, u64 length, u64 checksum), lengths in bytes, one for each section:
//           0 offsets    n + 1 u64: row u of the graph is neighbors[offsets[u], offsets[u + 1])
//           1 neighbors  a u32, ascending in each row, no loops, each edge in both rows
//           2 weights    a f32, finite and > 0, equal in both rows; length 0 without flag 1
//           3 name ends  n u64: node i is called text[ends[i - 1], ends[i]), from 0 for i = 0
//           4 name text  bytes, without tab, line feed, carriage return and zero
//         the last two have length 0 with flag 2
//    184  u64     checksum of bytes 0 to 183: their XXH3-64, seed 0
//
// In version 2 the header goes on to byte 255, for one more section, the last of the file:
//
//    192  (u64 position, u64 length, u64 checksum)
//           5 signs      one bit per arc in u64, the lowest first: 1 for a negative edge, equal in both rows;
//                        0 behind the last arc
//    216  4 x u64 0
//    248  u64     checksum of bytes 192 to 247
//
// In version 3 that section is the embedding, and the words behind it say what it was made with:
//
//    192  (u64 position, u64 length, u64 checksum)
//           5 embedding  d f64 eigenvalues, then n x d f32 rows, finite
//    216  u64     seed
//    224  u32, u32  dimension d, power
//    232  u64     oversample
//    240  f64     tau
//    248  u64     checksum of bytes 192 to 247
//
// A graph without either is written as version 1, which every copse reads.
//
// Sections follow in this order, each at the next multiple of 64 (zeros in between); the file ends with
// the last one. The checksum of a section is XXH3-64 over the list (u64) of the XXH3-64s of its blocks of
// 4 MiB, the last one shorter; of an empty section, over nothing: blocks can be checked side by side.
//
// A file is checked as a whole when it is opened: checksums for damage, and then every promise that
// algorithms rely on, because a checksum does not tell who wrote the file. Both in one scan of the arcs, at
// the speed of memory; that each edge stands in both rows is checked by sums over both directions under a key
// that is drawn anew each time (graph/check_rows.hpp).

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "graph/check_rows.hpp"
#include "io/formats.hpp"
#include "support/atomic_file.hpp"
#include "support/wide_checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace copse {
namespace {

constexpr std::uint32_t kVersion = 1, kSignedVersion = 2, kEmbeddedVersion = 3;
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::uint32_t kWeighted = 1, kNumbered = 2, kSigned = 4;
constexpr std::size_t kAlignment = 64;
constexpr std::uint32_t kMostEmbedded = 4096;
constexpr std::size_t kBlockBytes = std::size_t{4} << 20;
constexpr int kNumSections = 5, kMostSections = 6, kNeighbors = 1, kWeights = 2;
constexpr const char* kSectionNames[kMostSections] = {"offsets",   "neighbors", "weights",
                                                      "name ends", "name text", "signs or embedding"};
constexpr char kConvertAgain[] = "the file is damaged: copy it again, or convert it again from its source";
constexpr char kNotOurs[] = "the file was not written by copse: convert it again with copse graph convert";

struct Section {
  std::uint64_t position = 0, length = 0, checksum = 0;
};

struct FileHeader {
  char magic[8] = {};
  std::uint32_t version = kVersion;
  std::uint32_t byte_order = kByteOrder;
  std::uint8_t type_sizes[4] = {sizeof(EdgeIndex), sizeof(NodeId), sizeof(Weight), 0};
  std::uint32_t flags = 0;
  std::uint64_t num_nodes = 0, num_arcs = 0, first_number = 0, file_size = 0, zero = 0;
  Section sections[kNumSections];
  std::uint64_t checksum = 0;
};
static_assert(sizeof(FileHeader) == 192 && offsetof(FileHeader, sections) == 64 &&
              offsetof(FileHeader, checksum) == 184);
static_assert(sizeof(FileHeader) % kAlignment == 0);

// What versions 2 and 3 add; in version 2 nothing is said of an embedding.
struct ExtraHeader {
  Section section;
  std::uint64_t seed = 0;
  std::uint32_t dimension = 0, power = 0;
  std::uint64_t oversample = 0;
  double tau = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(ExtraHeader) == kAlignment && offsetof(ExtraHeader, checksum) == 56);

// Both of a file, and its sections in order.
struct Headers {
  FileHeader main;
  ExtraHeader extra;

  bool is_signed() const { return main.version == kSignedVersion; }
  bool is_embedded() const { return main.version == kEmbeddedVersion; }
  bool has_extra() const { return is_signed() || is_embedded(); }
  int num_sections() const { return has_extra() ? kMostSections : kNumSections; }
  std::uint64_t size() const { return sizeof main + (has_extra() ? sizeof extra : 0); }
  const Section& section(int i) const { return i < kNumSections ? main.sections[i] : extra.section; }
  Section& section(int i) { return i < kNumSections ? main.sections[i] : extra.section; }
};

std::uint64_t aligned(std::uint64_t position) {
  return (position + kAlignment - 1) / kAlignment * kAlignment;
}

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

using BlockChecksums = std::vector<std::uint64_t>;

BlockChecksums blocks_of(std::string_view bytes) {
  return BlockChecksums((bytes.size() + kBlockBytes - 1) / kBlockBytes);
}

std::uint64_t checksum_of(const BlockChecksums& blocks) {
  return XXH3_64bits(blocks.data(), blocks.size() * sizeof(std::uint64_t));
}

std::uint64_t section_checksum(std::string_view bytes, const Execution& execution) {
  BlockChecksums blocks = blocks_of(bytes);
  parallel_blocks(execution, bytes.size(), kBlockBytes,
                  [&](std::size_t begin, std::size_t end, std::size_t block) {
                    blocks[block] = XXH3_64bits(bytes.data() + begin, end - begin);
                  });
  return checksum_of(blocks);
}

std::uint64_t header_checksum(const FileHeader& header) {
  return XXH3_64bits(&header, offsetof(FileHeader, checksum));
}
std::uint64_t header_checksum(const ExtraHeader& header) {
  return XXH3_64bits(&header, offsetof(ExtraHeader, checksum));
}

// Everything about the header that needs no look at the sections. From here on they lie inside the file,
// are aligned and have the lengths that the numbers of nodes and arcs ask for.
void check_header(const Headers& headers, std::uint64_t file_size, const std::string& name) {
  const FileHeader& header = headers.main;
  if (header.byte_order != kByteOrder) {
    const bool is_swapped = header.byte_order == __builtin_bswap32(kByteOrder);
    throw InputError{
        name, is_swapped ? "was written on a machine with the other byte order" : "has a damaged header",
        is_swapped ? "convert it again on this machine" : kConvertAgain};
  }
  if (header.version < kVersion || header.version > kEmbeddedVersion) {
    throw InputError{name,
                     "has format version " + std::to_string(header.version) + ", this copse reads versions " +
                         std::to_string(kVersion) + " to " + std::to_string(kEmbeddedVersion),
                     header.version > kEmbeddedVersion
                         ? "written by a newer copse: upgrade, or convert it again with this one"
                         : "written by an older copse: convert it again with this one"};
  }
  if (header.checksum != header_checksum(header) ||
      (headers.has_extra() && headers.extra.checksum != header_checksum(headers.extra)))
    throw InputError{name, "the header does not match its checksum", kConvertAgain};
  const std::uint8_t sizes[4] = {sizeof(EdgeIndex), sizeof(NodeId), sizeof(Weight), 0};
  if (std::memcmp(header.type_sizes, sizes, sizeof sizes) != 0) {
    throw InputError{name, "holds numbers of other sizes than this copse uses",
                     "convert it again with this copse"};
  }
  if (header.file_size != file_size) {
    throw InputError{
        name, "has " + with_commas(file_size) + " bytes, its header says " + with_commas(header.file_size),
        file_size < header.file_size
            ? "the file is cut short: copy it again, or convert it again from its source"
            : "something was added behind the end: copy it again, or convert it again from its source"};
  }
  const bool is_weighted = (header.flags & kWeighted) != 0, is_numbered = (header.flags & kNumbered) != 0;
  const auto wrong = [&](const std::string& what) {
    return InputError{name, "the header makes no sense: " + what, kNotOurs};
  };
  const std::uint32_t version_flags = headers.is_signed() ? kSigned : 0;
  if ((header.flags & ~(kWeighted | kNumbered)) != version_flags || header.zero != 0)
    throw wrong("unknown flags");
  const ExtraHeader& extra = headers.extra;
  if (!headers.is_embedded() && (extra.seed != 0 || extra.dimension != 0 || extra.power != 0 ||
                                 extra.oversample != 0 || std::bit_cast<std::uint64_t>(extra.tau) != 0))
    throw wrong("the header of the signs");
  if (headers.is_embedded() && (extra.dimension > kMostEmbedded || extra.dimension > header.num_nodes ||
                                extra.oversample > kMostEmbedded || !std::isfinite(extra.tau)))
    throw wrong("the header of the embedding");
  // Below these no product or sum that follows can overflow.
  if (header.num_nodes > kMaxNodes || header.num_arcs > file_size)
    throw wrong("more nodes or arcs than there can be");
  if (header.first_number > std::uint64_t{1} << 63 || (!is_numbered && header.first_number != 0))
    throw wrong("the first number");
  const std::uint64_t lengths[kMostSections] = {
      (header.num_nodes + 1) * sizeof(EdgeIndex),
      header.num_arcs * sizeof(NodeId),
      is_weighted ? header.num_arcs * sizeof(Weight) : 0,
      is_numbered ? 0 : header.num_nodes * sizeof(std::uint64_t),
      is_numbered ? 0 : header.sections[4].length,
      headers.is_embedded() ? extra.dimension * (sizeof(double) + header.num_nodes * sizeof(float))
                            : num_sign_words(header.num_arcs) * sizeof(std::uint64_t)};
  std::uint64_t position = headers.size();
  for (int i = 0; i < headers.num_sections(); ++i) {
    const Section& section = headers.section(i);
    position = aligned(position);
    if (section.position != position || section.length != lengths[i] || section.length > file_size ||
        position + section.length > file_size) {
      throw wrong(std::string("the section of the ") + kSectionNames[i]);
    }
    position += section.length;
  }
  if (position != file_size) throw wrong("the length of the file");
}

// No checksum covers the gaps between the sections; zeros they must be, so that no byte can change unseen.
void check_gaps(const Headers& headers, std::span<const char> bytes, const std::string& name) {
  std::uint64_t position = headers.size();
  for (int i = 0; i < headers.num_sections(); ++i) {
    const Section& section = headers.section(i);
    for (; position < section.position; ++position) {
      if (bytes[position] != 0) throw InputError{name, "has bytes between its sections", kConvertAgain};
    }
    position = section.position + section.length;
  }
}

// The first block, in order, where something is wrong says what.
template <class Check>
void check_blocks(int threads, std::uint64_t count, std::size_t block_size, const std::string& name,
                  const Check& check) {
  std::vector<std::string> problems((count + block_size - 1) / block_size);
  parallel_blocks(threads, count, block_size, [&](std::size_t begin, std::size_t end, std::size_t block) {
    problems[block] = check(begin, end);
  });
  for (const std::string& problem : problems) {
    if (!problem.empty()) throw InputError{name, problem, kNotOurs};
  }
}

void check_offsets(const GraphView& graph, const std::string& name, int threads) {
  if (graph.offsets.front() != 0 || graph.offsets.back() != graph.num_arcs()) {
    throw InputError{name, "the rows do not cover the arcs", kNotOurs};
  }
  check_blocks(threads, graph.num_nodes(), std::size_t{1} << 18, name,
               [&](std::size_t begin, std::size_t end) -> std::string {
                 for (std::size_t u = begin; u < end; ++u) {
                   if (graph.offsets[u] > graph.offsets[u + 1])
                     return "the row of node " + std::to_string(u) + " ends before it begins";
                 }
                 return {};
               });
}

InputError wrong_checksum(const std::string& name, int section) {
  return {name, std::string("the ") + kSectionNames[section] + " do not match their checksum", kConvertAgain};
}

// What is wrong with a row in which something is.
std::string row_problem(const GraphView& graph, NodeId u) {
  const auto row = graph.neighbors_of(u);
  const std::string node = std::to_string(u);
  if (row.back() >= graph.num_nodes() || std::ranges::adjacent_find(row, std::greater_equal{}) != row.end())
    return "the neighbours of node " + node + " are not in ascending order or no nodes";
  if (std::ranges::binary_search(row, u)) return "node " + node + " is its own neighbour";
  return "a weight of node " + node + " is not finite and > 0";
}

// Pages, whole ones, that these bytes are in.
void advise(std::string_view bytes, int advice) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t into_page = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;
  madvise(const_cast<char*>(bytes.data()) - into_page, bytes.size() + into_page, advice);
}

// Lets the system map the pages that these bytes begin and end in, and those around: what is asked for ahead
// of its time comes only from pages that are mapped.
void map_around(std::string_view bytes) {
  for (const char* at : {&bytes.front(), &bytes.back()})
    static_cast<void>(*static_cast<const volatile char*>(at));
}

// The checksum of a block, as far as it has been read.
class BlockChecksum {
 public:
  BlockChecksum() { XXH3_64bits_reset(&state_); }
  void add(std::string_view bytes) {
    if (!update_checksum_widely(&state_, bytes)) XXH3_64bits_update(&state_, bytes.data(), bytes.size());
  }
  std::uint64_t value() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

// Checksums and promises of neighbours and weights in one pass: a piece is looked at while it is in a core's
// own cache, into which the check before has asked for it.
void check_arcs(const GraphView& graph, const Headers& headers, const std::string& name,
                const Execution& execution) {
  constexpr std::size_t kArcBytes = 4, kPiece = RowChecker::kArcsAhead;
  static_assert(sizeof(NodeId) == kArcBytes && sizeof(Weight) == kArcBytes);
  const std::string_view sections[] = {bytes_of(graph.neighbors), bytes_of(graph.weights)};
  BlockChecksums checksums[] = {blocks_of(sections[0]), blocks_of(sections[1])};
  const RowChecker rows(graph);
  std::vector<RowChecker::Part> parts(checksums[0].size());
  parallel_blocks(execution, graph.num_arcs(), kBlockBytes / kArcBytes,
                  [&](std::size_t begin, std::size_t end, std::size_t block) {
                    BlockChecksum of_block[2];
                    for (; begin < end; begin += kPiece) {
                      const std::size_t size = std::min(kPiece, end - begin);
                      for (const int i : {0, 1}) {
                        if (sections[i].empty()) continue;
                        of_block[i].add(sections[i].substr(kArcBytes * begin, kArcBytes * size));
                        const std::size_t next = std::min(begin + kPiece, graph.num_arcs() - 1);
                        map_around(sections[i].substr(kArcBytes * next, kArcBytes * kPiece));
                      }
                      rows.check(begin, begin + size, parts[block]);
                    }
                    for (const int i : {0, 1})
                      if (!sections[i].empty()) checksums[i][block] = of_block[i].value();
                  });
  for (const int i : {0, 1})
    if (checksum_of(checksums[i]) != headers.section(kNeighbors + i).checksum)
      throw wrong_checksum(name, kNeighbors + i);
  const RowCheck check = RowChecker::sum(parts);
  if (check.bad_row != kNoNode) throw InputError{name, row_problem(graph, check.bad_row), kNotOurs};
  if (!check.is_symmetric)
    throw InputError{name,
                     std::string("an edge stands in one row only, or with two weights") +
                         (graph.is_signed() ? " or signs" : ""),
                     kNotOurs};
  if (const unsigned used = graph.num_arcs() % 64;
      graph.is_signed() && used != 0 && graph.negative.back() >> used != 0)
    throw InputError{name, "there are signs behind the last arc", kNotOurs};
}

void check_names(std::span<const std::uint64_t> ends, std::string_view text, const std::string& name,
                 int threads) {
  if ((ends.empty() ? 0 : ends.back()) != text.size())
    throw InputError{name, "the names do not cover their text", kNotOurs};
  check_blocks(threads, ends.size(), std::size_t{1} << 18, name,
               [&](std::size_t begin, std::size_t end) -> std::string {
                 for (std::size_t i = std::max<std::size_t>(begin, 1); i < end; ++i) {
                   if (ends[i - 1] > ends[i])
                     return "the name of node " + std::to_string(i) + " ends before it begins";
                 }
                 return {};
               });
  for (const char forbidden : {'\t', '\n', '\r', '\0'}) {
    if (std::memchr(text.data(), forbidden, text.size()) != nullptr && !text.empty()) {
      throw InputError{name, "a node's name holds a tab, a line end or a zero byte", kNotOurs};
    }
  }
}

/// A mapped file, and what it says of the embedding in it.
struct FileWithEmbedding {
  std::shared_ptr<const void> file;
  KeptEmbedding embedding;
};

void check_embedding(const KeptEmbedding& embedding, const std::string& name, int threads) {
  const auto are_finite = [](auto values) {
    return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
  };
  check_blocks(
      threads, embedding.rows().size(), std::size_t{1} << 20, name, [&](std::size_t begin, std::size_t end) {
        return are_finite(embedding.rows().subspan(begin, end - begin)) && are_finite(embedding.eigenvalues())
                   ? std::string()
                   : "the embedding holds what is no number";
      });
}

}  // namespace

NamedGraph open_copse(ByteSource& source, const Execution& execution) {
  const std::string& name = source.name();
  std::span<const char> bytes = source.rest();
  std::shared_ptr<const void> owner = source.share();
  if (bytes.size() < sizeof(kCopseMagic) || std::memcmp(bytes.data(), kCopseMagic, sizeof kCopseMagic) != 0) {
    throw InputError{name, "is not a .copse file",
                     "make one with copse graph convert, or give another --format"};
  }
  if (bytes.size() < sizeof(FileHeader)) {
    throw InputError{name, "ends in its header",
                     "the file is cut short: copy it again, or convert it again from its source"};
  }
  Headers headers;
  const FileHeader& header = headers.main;
  std::memcpy(&headers.main, bytes.data(), sizeof headers.main);
  if (headers.has_extra() && bytes.size() >= headers.size())
    std::memcpy(&headers.extra, bytes.data() + sizeof headers.main, sizeof headers.extra);
  check_header(headers, bytes.size(), name);
  check_gaps(headers, bytes, name);
  // A mapped file is aligned; bytes that were decompressed or come from a caller may not be.
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) != 0) {
    auto copy = std::make_shared<Buffer<char>>(bytes.size());
    std::memcpy(copy->data(), bytes.data(), bytes.size());
    bytes = copy->span();
    owner = std::move(copy);
  }

  std::array<std::string_view, kMostSections> sections;
  for (int i = 0; i < headers.num_sections(); ++i) {
    const Section& section = headers.section(i);
    sections[i] = {bytes.data() + section.position, static_cast<std::size_t>(section.length)};
    if (i == kNeighbors || i == kWeights) continue;  // check_arcs
    if (section_checksum(sections[i], execution) != section.checksum) throw wrong_checksum(name, i);
  }
  const auto words = [&](int i) {
    return std::span(reinterpret_cast<const std::uint64_t*>(sections[i].data()), sections[i].size() / 8);
  };
  GraphView view{
      words(0), std::span(reinterpret_cast<const NodeId*>(sections[1].data()), header.num_arcs),
      std::span(reinterpret_cast<const Weight*>(sections[2].data()), sections[2].size() / sizeof(Weight)),
      headers.is_signed() ? words(5) : std::span<const std::uint64_t>{}};
  check_offsets(view, name, execution.threads);
  check_arcs(view, headers, name, execution);
  NodeNames names = NodeNames::numbered(header.num_nodes, header.first_number);
  if ((header.flags & kNumbered) == 0) {
    check_names(words(3), sections[4], name, execution.threads);
    names = NodeNames::strings(words(3), sections[4], owner);
  }
  if (headers.is_embedded()) {
    const ExtraHeader& made = headers.extra;
    auto kept =
        std::make_shared<FileWithEmbedding>(FileWithEmbedding{std::move(owner),
                                                              {made.seed,
                                                               made.dimension,
                                                               made.power,
                                                               static_cast<std::uint32_t>(made.oversample),
                                                               made.tau,
                                                               {sections[5].data(), sections[5].size()}}});
    check_embedding(kept->embedding, name, execution.threads);
    view.embedding = &kept->embedding;
    owner = std::move(kept);
  }
  // Mapped files were opened to be read once from front to back; a graph is used all over, again and again.
  advise({bytes.data(), bytes.size()}, MADV_NORMAL);
  return {Graph(view, std::move(owner)), std::move(names)};
}

void write_copse(const std::string& path, const NamedGraph& graph, const Execution& execution) {
  const GraphView& view = graph.graph.view();
  const bool is_numbered = graph.names.is_numbered();
  const NodeNames names = graph.names.as_text();
  const KeptEmbedding* const kept = view.is_signed() ? nullptr : view.embedding;
  // A graph without nodes may have no offsets at all; the file always has the first one.
  static constexpr EdgeIndex kNoArcs = 0;
  const std::span<const EdgeIndex> offsets = view.offsets.empty() ? std::span(&kNoArcs, 1) : view.offsets;
  const std::array<std::string_view, kMostSections> sections = {
      bytes_of(offsets),      bytes_of(view.neighbors),
      bytes_of(view.weights), bytes_of(names.ends()),
      bytes_of(names.text()), kept != nullptr ? bytes_of(kept->bytes) : bytes_of(view.negative)};
  Headers headers;
  FileHeader& header = headers.main;
  if (view.is_signed()) header.version = kSignedVersion;
  if (kept != nullptr) {
    header.version = kEmbeddedVersion;
    headers.extra = {{}, kept->seed, kept->dimension, kept->power, kept->oversample, kept->tau, 0};
  }
  std::memcpy(header.magic, kCopseMagic, sizeof kCopseMagic);
  header.flags =
      (view.is_weighted() ? kWeighted : 0) | (is_numbered ? kNumbered : 0) | (view.is_signed() ? kSigned : 0);
  header.num_nodes = view.num_nodes();
  header.num_arcs = view.num_arcs();
  header.first_number = is_numbered ? graph.names.first_number() : 0;
  std::uint64_t position = headers.size();
  for (int i = 0; i < headers.num_sections(); ++i) {
    position = aligned(position);
    headers.section(i) = {position, sections[i].size(), section_checksum(sections[i], execution)};
    position += sections[i].size();
  }
  header.file_size = position;
  header.checksum = header_checksum(header);
  headers.extra.checksum = header_checksum(headers.extra);

  AtomicFile file(path);
  file.write(&header, sizeof header);
  if (headers.has_extra()) file.write(&headers.extra, sizeof headers.extra);
  position = headers.size();
  for (int i = 0; i < headers.num_sections(); ++i) {
    constexpr char kZeros[kAlignment] = {};
    file.write(kZeros, headers.section(i).position - position);
    write_in_pieces(file, sections[i], execution);
    position = headers.section(i).position + sections[i].size();
  }
  file.commit();
}

}  // namespace copse
