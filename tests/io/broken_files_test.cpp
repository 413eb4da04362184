// SPDX-License-Identifier: Apache-2.0
//
// Every way in which a file may be wrong, with the whole text of what copse says about it: where, what,
// and what to do. LAGraph keeps its mangled matrices for the same reason.

#include <gtest/gtest.h>

#include <set>

#include "copse/graph/build.hpp"
#include "copse/io/read.hpp"
#include "copse/io/read_labels.hpp"
#include "copse/support/error.hpp"
#include "oracle/temporary_directory.hpp"

namespace copse {
namespace {

using oracle::TemporaryDirectory;

const std::string kDirectory = COPSE_TEST_DATA "/broken/";

constexpr const char* kAnEdge =
    "an edge is a line \"u v\" or \"u v weight\"; lines that begin with # or % are comments";
constexpr const char* kBanner =
    "the first line must be like \"%%MatrixMarket matrix coordinate real symmetric\"";
constexpr const char* kColumns =
    "an edge is a line \"u v\" or \"u v weight\", separated by tab, comma, semicolon or spaces, all lines "
    "alike";
constexpr const char* kCopyAgain = "the file is cut short or damaged: copy or write it again";
constexpr const char* kIndices = "indices count from 1; check the size line too";
constexpr const char* kLimit = "a graph may have up to 4,294,967,295 nodes";
constexpr const char* kMetisHeader =
    "the first line is \"nodes edges [fmt [ncon]]\", for example \"4 5 001\"";
constexpr const char* kNeighbours =
    "neighbours count from 1; check fmt in the first line too: it says what else stands here";
constexpr const char* kPositiveEntry =
    "weights are similarities (> 0); leave the entry out to mean \"no edge\"";
constexpr const char* kPositiveLine =
    "weights are similarities (> 0); leave the line out to mean \"no edge\"";
constexpr const char* kSignedEntry =
    "weights are similarities (> 0); leave the entry out to mean \"no edge\", or read negative edges with "
    "--signed";
constexpr const char* kSignedLine =
    "weights are similarities (> 0); leave the line out to mean \"no edge\", or read negative edges with "
    "--signed";
constexpr const char* kSaveAgain =
    "write it with scipy.sparse.save_npz(file, A.tocsr()) on a little-endian machine";
constexpr const char* kSizeLine = "after the comments comes \"rows columns entries\"";
constexpr const char* kUnpack = "copy or download it again; gzip -t, zstd -t, xz -t or bzip2 -t will tell";

struct BrokenFile {
  std::string file, line, problem,
      remedy;  // `line` follows the file's name; a problem may end in * for any detail
};

const BrokenFile kBrokenFiles[] = {
    {"array.mtx", ":1", "the matrix is dense (\"array\")",
     "write it as \"coordinate\": one line per entry that is not zero"},
    {"array_version.npz", "(data.npy)", "has format version 9, which is not known", kSaveAgain},
    {"bad_fmt.graph", ":1", "\"2 1 002\" is not a METIS header", kMetisHeader},
    {"bad_header.graph", ":1", "\"3\" is not a METIS header", kMetisHeader},
    {"bad_ncon.graph", ":1", "\"0\" weights a node make no sense", kMetisHeader},
    {"bad_node_weight.graph", ":3", "\"x\" is not a size or weight of a node",
     "by the header each line begins with the sizes and weights of its node, whole numbers: 1"},
    {"bad_number.tsv", ":3", "weight \"0.5x\" is not a positive number", kPositiveLine},
    {"bad_size.mtx", ":2", "\"3 3\" is not a size line", kSizeLine},
    {"big_endian.npz", "(indices.npy)", "is big-endian (\">i4\")", kSaveAgain},
    {"bsr.npz", "(format.npy)", "format \"bsr\" is not csr, csc or coo", kSaveAgain},
    {"complex.mtx", ":1", "the entries are complex",
     "weights are similarities (> 0): write their size as \"real\""},
    {"complex.npz", "(data.npy)", "has type \"<c16\", not numbers", kSaveAgain},
    {"coo_many_rows.npz", "", "4,294,967,294 rows are more than the entries (3) can need",
     "check the shape, or leave out nodes that have no edge"},
    {"coo_uneven.npz", "(row.npy)", "has 3 values, col has 2", kSaveAgain},
    {"cut_header.npz", "(data.npy)", "ends in its header", kSaveAgain},
    {"cut_short.npz", "", "is not a readable zip archive*", kCopyAgain},
    {"cut_short.tsv.bz2", "", "the compressed file is cut short or damaged*", kUnpack},
    {"cut_short.tsv.gz", "", "the compressed file is cut short or damaged*", kUnpack},
    {"cut_short.tsv.xz", "", "the compressed file is cut short or damaged*", kUnpack},
    {"cut_short.tsv.zst", "", "the compressed file is cut short or damaged*", kUnpack},
    {"data_too_short.npz", "(data.npy)", "has 5 values for 6 indices", kSaveAgain},
    {"edge_count.graph", "", "has 3 edges, the header says 4",
     "an edge counts once in the header and stands in both rows"},
    {"empty.graph", "", "has no METIS header", "the first line is \"nodes edges [fmt [ncon]]\""},
    {"empty.mtx", "", "is empty", "give a Matrix Market file, or another --format"},
    {"empty.npz", "", "is empty", kSaveAgain},
    {"empty.tsv", "", "this file holds no edge", kAnEdge},
    {"extra_lines.graph", "", "has 3 lines of neighbours, the header says 2 nodes",
     "each node has its line, an empty one where it has no neighbour"},
    {"extra_value.mtx", ":4", "\"3 1 1 1\" is not an entry", "expected \"row column value\""},
    {"field.mtx", ":1", "field \"boolean\" is not known", "use real, integer or pattern"},
    {"flipped.tsv.gz", "", "the compressed file is cut short or damaged*", kUnpack},
    {"float_indices.npz", "(indices.npy)", "has type \"<f8\", not int32 or int64", kSaveAgain},
    {"fortran_order.npz", "(data.npy)", "is in Fortran order", kSaveAgain},
    {"four_columns.tsv", ":2", "found 4 columns where the lines before have 3, separated by tabs", kColumns},
    {"half_floats.npz", "(data.npy)", "has type \"<f2\", which copse does not read",
     "save the matrix as A.astype(\"float32\")"},
    {"hermitian.mtx", ":1", "the matrix is hermitian",
     "an undirected graph has a symmetric matrix of weights > 0: use symmetric or general"},
    {"huge_weight.npz", "", "the entry in row 1, column 0 is 1e+60, too large to be stored (32 bits)",
     "divide all weights by a constant: only their ratios matter"},
    {"huge_weight.tsv", ":2", "weight \"1e99\" is too large to be stored (32 bits)",
     "divide all weights by a constant: only their ratios matter"},
    {"index_beyond.mtx", ":4", "index \"4\" is not between 1 and 3", kIndices},
    {"index_beyond.npz", "", "entry 3 has index 3 in a matrix of 3 rows", kSaveAgain},
    {"index_word.mtx", ":3", "index \"one\" is not between 1 and 3", kIndices},
    {"index_zero.mtx", ":7", "index \"0\" is not between 1 and 3", kIndices},
    {"indptr_beyond.npz", "(indptr.npy)", "value 3 is out of order", kSaveAgain},
    {"indptr_goes_back.npz", "(indptr.npy)", "value 2 is out of order", kSaveAgain},
    {"infinite_weight.npz", "", "the entry in row 0, column 1 is inf, not a positive number", kPositiveEntry},
    {"infinite_weight.tsv", ":2", "weight \"inf\" is not a positive number", kPositiveLine},
    {"labels_conflict.tsv", ":3", "node \"a\" is labelled \"blue\", but line 1 says \"red\"",
     "keep one of the two, or use --multi-label where a node may have several labels"},
    {"labels_unknown.tsv", "",
     "3 of 4 labelled nodes are not in the graph: the ids are of another kind (here \"x\", in the graph "
     "\"a\")",
     "write the same ids in both files; a node that no edge mentions must be given by --nodes"},
    {"layout.mtx", ":1", "layout \"sparse\" is not known", kBanner},
    {"listed_twice.tsv", "", "nodes \"a\" and \"b\" are joined by more than one edge of the list",
     "remove the duplicates, or choose how to merge them: sum, max or min"},
    {"many_empty_rows.mtx", ":2", "4,294,967,294 rows are more than the entries (1) can need",
     "check the size line, or leave out nodes that have no edge"},
    {"missing_lines.graph", "", "has 2 lines of neighbours, the header says 4,000,000,000 nodes",
     "each node has its line, an empty one where it has no neighbour"},
    {"missing_weight.tsv", ":2", "found 2 columns where the lines before have 3, separated by tabs",
     kColumns},
    {"nan_weight.mtx", ":3", "weight \"NaN\" is not a positive number", kPositiveLine},
    {"nan_weight.npz", "", "the entry in row 2, column 1 is nan, not a positive number", kPositiveEntry},
    {"nan_weight.tsv", ":2", "weight \"nan\" is not a positive number", kPositiveLine},
    {"negative_index.npz", "", "entry 2 has index -1 in a matrix of 3 rows", kSaveAgain},
    {"negative_weight.graph", ":2", "weight \"-5\" is not a positive number", kSignedLine},
    {"negative_weight.mtx", ":4", "weight \"-2\" is not a positive number", kSignedLine},
    {"negative_weight.npz", "", "the entry in row 1, column 2 is -3, not a positive number", kSignedEntry},
    {"negative_weight.tsv", ":2", "weight \"-0.5\" is not a positive number", kSignedLine},
    {"neighbor_beyond.graph", ":6", "neighbour \"4\" is not between 1 and 3", kNeighbours},
    {"neighbor_word.graph", ":2", "neighbour \"x\" is not between 1 and 3", kNeighbours},
    {"neighbor_zero.graph", ":3", "neighbour \"0\" is not between 1 and 3", kNeighbours},
    {"no_banner.mtx", ":1", "is not a Matrix Market file", kBanner},
    {"no_descr.npz", "(data.npy)", "the array's header has no \"descr\"", kSaveAgain},
    {"no_format.npz", "", "has no array \"format\"", kSaveAgain},
    {"no_indices.npz", "", "has no array \"indices\"", kSaveAgain},
    {"no_shape_tuple.npz", "(data.npy)", "has a shape that is no tuple", kSaveAgain},
    {"no_size.mtx", "", "ends before the size line", kSizeLine},
    {"no_value.mtx", ":4", "\"3 1\" is not an entry", "expected \"row column value\""},
    {"no_weight.graph", ":3", "the last neighbour has no weight",
     "by the header each neighbour is followed by a weight"},
    {"noise.tsv", "", "this is not text: it holds a NUL byte",
     "copse reads edge lists (UTF-8) and the formats that docs/formats.md lists"},
    {"not_an_array.npz", "(data.npy)", "is not a NumPy array", kSaveAgain},
    {"object_array.npz", "(data.npy)", "has type \"|O\" (Python objects), not numbers", kSaveAgain},
    {"one_column.tsv", ":2", "found 1 column where the lines before have 3, separated by tabs", kColumns},
    {"one_way.graph", "", "node 1 lists 3, but node 3 does not list 1",
     "a METIS file holds each edge in both rows; for a directed list write an edge list"},
    {"only_comments.graph", "", "has no METIS header", "the first line is \"nodes edges [fmt [ncon]]\""},
    {"only_comments.tsv", "", "this file holds no edge", kAnEdge},
    {"pattern_value.mtx", ":4", "\"3 1 5\" is not an entry",
     "expected \"row column\": the banner says pattern"},
    {"records.npz", "(data.npy)", "holds records, not numbers", kSaveAgain},
    {"rectangular.mtx", ":3", "the matrix is 3 by 4, not square",
     "a graph has as many rows as columns; for rows and columns of two kinds write an edge list with two "
     "kinds of ids"},
    {"rectangular.npz", "", "the matrix is 3 by 4, not square",
     "a graph has as many rows as columns; for rows and columns of two kinds save [[None, B], [B.T, None]]"},
    {"short_indptr.npz", "(indptr.npy)", "has 3 values, the shape asks for 4", kSaveAgain},
    {"short_member.npz", "(data.npy)", "says 6 values of 8 bytes, has 40 bytes", kSaveAgain},
    {"skew.mtx", ":1", "the matrix is skew-symmetric",
     "an undirected graph has a symmetric matrix of weights > 0: use symmetric or general"},
    {"symmetry.mtx", ":1", "symmetry \"lower\" is not known", "use symmetric or general"},
    {"text.copse", "", "is not a .copse file", "make one with copse graph convert, or give another --format"},
    {"text.npz", "", "is not a readable zip archive*", kCopyAgain},
    {"three_sizes.npz", "(shape.npy)", "has 3 sizes, not 2", kSaveAgain},
    {"tiny_weight.npz", "", "the entry in row 0, column 2 is 1e-60, too small to be stored (32 bits)",
     "multiply all weights by a constant: only their ratios matter"},
    {"tiny_weight.tsv", ":2", "weight \"1e-99\" is too small to be stored (32 bits)",
     "multiply all weights by a constant: only their ratios matter"},
    {"too_few.mtx", "", "has 2 entries, the size line says 3",
     "the file is cut short or its size line wrong: copy or write it again"},
    {"too_many.mtx", ":7", "one entry more than the 2 of the size line",
     "correct the number of entries, or remove what does not belong here"},
    {"too_many_nodes.graph", ":1", "8,589,934,592 nodes are more than copse can number", kLimit},
    {"too_many_rows.mtx", ":2", "8,589,934,592 rows are more than copse can number", kLimit},
    {"too_many_rows.npz", "", "8,589,934,592 rows are more than copse can number", kLimit},
    {"two_dimensions.npz", "(data.npy)", "has more than one dimension", kSaveAgain},
    {"two_weights.graph", "", "node 1 lists 3, but node 3 does not list 1 with the same weight",
     "a METIS file holds each edge in both rows; for a directed list write an edge list"},
    {"vector.mtx", ":1", "holds a \"vector\", not a matrix", kBanner},
};

// The nodes a, b and c.
NodeNames three_names() {
  static const std::uint64_t kEnds[] = {1, 2, 3};
  static const std::string kText = "abc";
  return NodeNames::strings(kEnds, kText, nullptr);
}

void read_any(const std::string& file, int threads) {
  ReadOptions options;
  if (file == "listed_twice.tsv") options.duplicates = Duplicates::error;
  Execution execution;
  execution.threads = threads;
  if (file.starts_with("labels_")) {
    read_labels(kDirectory + file, three_names());
  } else {
    read_graph(kDirectory + file, options, execution);
  }
}

TEST(BrokenFiles, each_says_where_what_and_what_to_do) {
  for (const BrokenFile& broken : kBrokenFiles) {
    SCOPED_TRACE(broken.file);
    for (const int threads : {1, 2}) {
      try {
        read_any(broken.file, threads);
        ADD_FAILURE() << "was read as if nothing were wrong";
      } catch (const InputError& error) {
        EXPECT_EQ(error.where(), kDirectory + broken.file + broken.line);
        if (broken.problem.ends_with('*')) {
          EXPECT_TRUE(error.problem().starts_with(broken.problem.substr(0, broken.problem.size() - 1)))
              << error.problem();
        } else {
          EXPECT_EQ(error.problem(), broken.problem);
        }
        EXPECT_EQ(error.remedy(), broken.remedy);
      }
    }
  }
}

TEST(BrokenFiles, no_file_in_the_directory_is_left_out) {
  std::set<std::string> expected, present;
  for (const BrokenFile& broken : kBrokenFiles) expected.insert(broken.file);
  for (const auto& entry : std::filesystem::directory_iterator(kDirectory))
    present.insert(entry.path().filename().string());
  EXPECT_EQ(present, expected);
}

std::string error_of_reading(const std::string& path) {
  try {
    read_graph(path, {}, {});
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(BrokenFiles, a_missing_file_and_a_directory_are_told_apart) {
  const TemporaryDirectory directory;
  EXPECT_EQ(error_of_reading(directory.file("missing.tsv")),
            directory.file("missing.tsv") +
                ": there is no such file\n  check the name; \"-\" reads standard input");
  EXPECT_EQ(error_of_reading(directory.path()),
            directory.path() + ": this is a directory, not a file\n  name a file in it");
}

TEST(BrokenFiles, a_weight_of_zero_is_no_error_but_counted) {
  const TemporaryDirectory directory;
  oracle::put(directory.file("zero.tsv"), "a\tb\t1\nb\tc\t0\n");
  ReadReport report;
  const NamedGraph graph = read_graph(directory.file("zero.tsv"), {}, {}, &report);
  EXPECT_EQ(graph.graph.view().num_edges(), 1u);
  EXPECT_EQ(report.build.num_zero_weights, 1u);
}

TEST(BrokenFiles, more_nodes_than_can_be_numbered_are_refused_before_anything_is_allocated) {
  for (const std::uint64_t num_nodes : {std::uint64_t{1} << 32, std::uint64_t{1} << 63}) {
    try {
      build_graph({}, num_nodes, {}, {}, "edges");
      FAIL() << "no error";
    } catch (const InputError& error) {
      EXPECT_NE(error.problem().find("nodes are more than copse can number"), std::string::npos)
          << error.what();
    }
  }
}

TEST(BrokenFiles, reading_makes_no_files) {
  const TemporaryDirectory directory;
  std::filesystem::copy(kDirectory, directory.path());
  const std::vector<std::string> before = directory.listing();
  for (const std::string& name : before) error_of_reading(directory.file(name));
  EXPECT_EQ(directory.listing().size(), before.size());
}

}  // namespace
}  // namespace copse
