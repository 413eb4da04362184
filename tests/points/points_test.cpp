// SPDX-License-Identifier: Apache-2.0
#include "copse/points/points.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "copse/support/error.hpp"
#include "oracle/neighbors.hpp"
#include "oracle/temporary_directory.hpp"

namespace copse {
namespace {

using oracle::Rows;
using oracle::TemporaryDirectory;
using oracle::to_rows;

const std::string kPointFiles = COPSE_TEST_DATA "/points/";
// What every file of NumPy's in that directory holds.
const Rows kSampleRows{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 12}};

NamedPoints read_rows(const std::string& path, PointsReadOptions options = {}, int threads = 2,
                      PointsReadReport* report = nullptr) {
  Execution execution;
  execution.threads = threads;
  return read_points(path, options, execution, report);
}

NamedPoints read_text(const std::string& name, const std::string& text, PointsReadOptions options = {}) {
  const TemporaryDirectory directory;
  oracle::put(directory.file(name), text);
  return read_rows(directory.file(name), options);
}

std::vector<std::string> names_of(const NamedPoints& points) {
  std::vector<std::string> names;
  for (NodeId i = 0; i < points.names.size(); ++i) names.push_back(points.names.name(i));
  return names;
}

TEST(NpyPoints, of_every_type_and_order_are_what_numpy_saved) {
  for (const std::string type : {"float32", "float64", "float16", "uint8", "int8", "uint16", "int16",
                                 "uint32", "int32", "uint64", "int64"}) {
    for (const std::string order : {"", "_fortran"}) {
      SCOPED_TRACE(type + order);
      const NamedPoints points = read_rows(kPointFiles + type + order + ".npy");
      EXPECT_EQ(to_rows(points.points), kSampleRows);
      EXPECT_EQ(names_of(points), (std::vector<std::string>{"0", "1", "2", "3"}));
    }
  }
  EXPECT_EQ(to_rows(read_rows(kPointFiles + "bool.npy").points),
            (Rows{{1, 0, 1}, {0, 1, 0}, {1, 0, 1}, {0, 1, 1}}));
}

TEST(NpyPoints, of_all_format_versions_and_compressed_are_the_same) {
  for (const std::string name : {"version_2.npy", "version_3.npy", "float32.npy.gz"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(to_rows(read_rows(kPointFiles + name).points), kSampleRows);
  }
}

TEST(NpyPoints, of_32_bit_floats_in_a_plain_file_are_used_where_they_lie) {
  PointsReadReport report;
  const NamedPoints mapped = read_rows(kPointFiles + "float32.npy", {}, 1, &report);
  EXPECT_TRUE(report.is_mapped);
  EXPECT_EQ(report.format, PointsFormat::npy);
  read_rows(kPointFiles + "float64.npy", {}, 1, &report);
  EXPECT_FALSE(report.is_mapped);
}

TEST(NpyPoints, in_fortran_order_are_turned_right_also_beyond_one_block) {
  // 700 x 1000 of 64-bit integers, column by column: several blocks of rows and ragged tiles.
  constexpr std::size_t kRows = 700, kWide = 1003;
  std::string text = "{'descr': '<i8', 'fortran_order': True, 'shape': (700, 1003), }";
  text.resize(117, ' ');
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + text + "\n";
  for (std::size_t c = 0; c < kWide; ++c)
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto value = static_cast<std::int64_t>(r * 10000 + c);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  const NamedPoints points = read_text("points.npy", bytes);
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t c = 0; c < kWide; ++c)
      ASSERT_EQ(points.points.view().row(r)[c], static_cast<float>(r * 10000 + c));
}

TEST(NpyPoints, of_half_precision_keep_signs_subnormals_and_large_numbers) {
  std::string text = "{'descr': '<f2', 'fortran_order': False, 'shape': (5, 1), }";
  text.resize(117, ' ');
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + text + "\n";
  for (const unsigned half : {0x0001U, 0x83FFU, 0x3555U, 0x7BFFU, 0xC000U}) {
    bytes += static_cast<char>(half & 255);
    bytes += static_cast<char>(half >> 8);
  }
  const Rows rows = to_rows(read_text("points.npy", bytes).points);
  EXPECT_EQ(rows, (Rows{{0x1p-24F}, {-0x3FFp-24F}, {0x1.554p-2F}, {65504}, {-2}}));
}

TEST(TablePoints, with_any_separator_are_the_same) {
  for (const std::string text :
       {"1,2.5,-3\n4,5e-1,+6\n", "1\t2.5\t-3\n4\t5e-1\t+6\n", "1;2.5;-3\n4;5e-1;+6\n",
        "1 2.5  -3\n 4 5e-1 +6 \n", "1, 2.5 ,-3\r\n4,5e-1,+6\r\n",
        "\xEF\xBB\xBF# comment\n\n1,2.5,-3\n# more\n4,\"5e-1\",+6"}) {
    SCOPED_TRACE(text);
    const NamedPoints points = read_text("points.csv", text);
    EXPECT_EQ(to_rows(points.points), (Rows{{1, 2.5, -3}, {4, 0.5, 6}}));
    EXPECT_EQ(names_of(points), (std::vector<std::string>{"0", "1"}));
  }
}

TEST(TablePoints, a_header_and_ids_are_known_when_they_show) {
  struct Case {
    std::string text;
    std::vector<std::string> names;
  };
  const std::vector<std::string> numbered{"0", "1"}, named{"a", "b"}, numbers{"7", "9"};
  for (const auto& [text, names] :
       {Case{"x,y\n1,2\n3,4\n", numbered}, Case{"a,1,2\nb,3,4\n", named},
        Case{"id,x,y\na,1,2\nb,3,4\n", named}, Case{"node_id,x,y\n7,1,2\n9,3,4\n", numbers},
        Case{"id,0,1\n7,1,2\n9,3,4\n", numbers}, Case{",0,1\n7,1,2\n9,3,4\n", numbers},  // pandas
        Case{"word,x,y\na,1,2\nb,3,4\n", named}, Case{"\"id\",\"x\",\"y\"\n\"a\",1,2\n\"b\",3,4\n", named}}) {
    SCOPED_TRACE(text);
    const NamedPoints points = read_text("points.csv", text);
    EXPECT_EQ(to_rows(points.points), (Rows{{1, 2}, {3, 4}}));
    EXPECT_EQ(names_of(points), names);
  }
}

TEST(TablePoints, what_the_first_column_is_can_be_said) {
  PointsReadOptions options;
  options.ids = IdColumn::first;
  EXPECT_EQ(names_of(read_text("p.csv", "7,1\n9,3\n", options)), (std::vector<std::string>{"7", "9"}));
  EXPECT_EQ(names_of(read_text("p.csv", "\"a, b\",1\nc,3\n", options)),
            (std::vector<std::string>{"a, b", "c"}));
  options.ids = IdColumn::none;
  EXPECT_EQ(to_rows(read_text("p.csv", "id,x\n7,1\n9,3\n", options).points), (Rows{{7, 1}, {9, 3}}));
  options.ids = IdColumn::first;
  EXPECT_THROW(read_text("p.svm", "1 0:1\n", options), UsageError);
}

TEST(TablePoints, of_one_column_may_have_a_header) {
  EXPECT_EQ(to_rows(read_text("p.csv", "x\n1\n2\n").points), (Rows{{1}, {2}}));
  EXPECT_EQ(to_rows(read_text("p.csv", "1\n2\n").points), (Rows{{1}, {2}}));
}

TEST(TablePoints, numbers_too_small_for_32_bits_are_zero) {
  EXPECT_EQ(to_rows(read_text("p.csv", "1,1e-60\n2,1e-400\n").points), (Rows{{1, 0}, {2, 0}}));
}

TEST(TablePoints, of_many_pieces_are_in_order_on_any_number_of_threads) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "p" + std::to_string(i) + "," + std::to_string(i) + ",0.25\n";
  ASSERT_GT(text.size(), std::size_t{4} << 20) << "several pieces";
  const TemporaryDirectory directory;
  oracle::put(directory.file("p.csv"), text);
  for (const int threads : {1, 3}) {
    const NamedPoints points = read_rows(directory.file("p.csv"), {}, threads);
    ASSERT_EQ(points.points.view().num_points, 300'000u);
    for (NodeId i = 0; i < 300'000; i += 997) {
      EXPECT_EQ(points.points.view().row(i)[0], static_cast<float>(i));
      EXPECT_EQ(points.names.name(i), "p" + std::to_string(i));
    }
  }
  oracle::put(directory.file("p.csv"), text + "q,1\n");
  try {
    read_rows(directory.file("p.csv"), {}, 3);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.where(), directory.file("p.csv") + ":300001");
  }
}

TEST(SvmlightPoints, may_have_targets_comments_and_any_order_of_columns) {
  const Rows rows{{0, 1, 0, 2.5}, {0, 0, 0, 0}, {7, 0, -1, 0}};
  for (const std::string text : {"1 1:1 3:2.5\n-1\n+1 2:-1 0:7\n", "1:1 3:2.5 # note\n0:0\n0:7 2:-1\n",
                                 "# head\n3.5 qid:2 1:1 2:0 3:2.5\n1 #none\n1 0:7\t2:-1 \n\n"}) {
    SCOPED_TRACE(text);
    const NamedPoints points = read_text("points.svm", text);
    EXPECT_TRUE(points.points.view().is_sparse());
    EXPECT_EQ(to_rows(points.points), rows);
  }
}

TEST(SvmlightPoints, an_empty_line_between_pieces_is_told_too) {
  // Just at the end of the first piece: the points behind it would get wrong numbers.
  std::string text;
  while (text.size() < (std::size_t{1} << 20)) text += "1 0:1 2:3\n";
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  try {
    read_text("points.svm", text + "\n" + text);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(error.where().find(":" + std::to_string(lines + 1)), std::string::npos) << error.what();
  }
}

TEST(Points, a_file_of_points_is_known_from_one_of_a_graph) {
  EXPECT_TRUE(is_points_file(kPointFiles + "float32.npy"));
  EXPECT_TRUE(is_points_file(kPointFiles + "float32.npy.gz"));
  EXPECT_TRUE(is_points_file("anything.svm.zst"));
  EXPECT_FALSE(is_points_file("-"));
  EXPECT_FALSE(is_points_file("no such file"));
  EXPECT_FALSE(is_points_file(COPSE_TEST_DATA "/npz/csr.npz"));
}

TEST(Points, from_a_caller_are_checked_at_the_door) {
  const Rows rows{{1, 2}, {3, 4}};
  EXPECT_NO_THROW(check_points(oracle::to_points(rows), "x"));
  PointsView view = oracle::to_points(rows).view();
  std::vector<float> values{1, 2, 3, std::nanf("")};
  view.values = values;
  try {
    check_points(view, "x", 2);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problem(), "row 1, column 1 is nan");
  }
  values.pop_back();
  view.values = values;
  EXPECT_THROW(check_points(view, "x"), InputError);
  const std::vector<EdgeIndex> offsets{0, 1, 3};
  const std::vector<std::uint32_t> good{0, 0, 1}, unsorted{0, 1, 0}, beyond{0, 0, 2};
  view.offsets = offsets;
  view.columns = good;
  EXPECT_NO_THROW(check_points(view, "x"));
  view.columns = unsorted;
  EXPECT_THROW(check_points(view, "x"), InputError);
  view.columns = beyond;
  EXPECT_THROW(check_points(view, "x"), InputError);
  const std::vector<EdgeIndex> backwards{0, 4, 3};
  view.columns = good;
  view.offsets = backwards;
  EXPECT_THROW(check_points(view, "x"), InputError);
}

}  // namespace
}  // namespace copse
