// SPDX-License-Identifier: Apache-2.0
//
// Every way in which a file of points may be wrong, with the whole text of what copse says about it.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "copse/points/points.hpp"
#include "copse/support/error.hpp"

namespace copse {
namespace {

struct Broken {
  const char* file;
  const char* problem;  // with where
  const char* remedy;
};

constexpr Broken kBroken[] = {
    {"archive.npz", "archive.npz: this is a zip of arrays (.npz), not one array",
     "save the points alone: numpy.save(\"points.npy\", x)"},
    {"bad_column.svm", "bad_column.svm:2: \"a:1\" does not begin with the number of a column",
     "a line is \"target column:value column:value ...\", the target may be left out"},
    {"bad_order.npy", "bad_order.npy: does not say whether it is in Fortran order",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"bad_shape.npy", "bad_shape.npy: has a shape that is no tuple",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"bad_value.svm", "bad_value.svm:2: \"1:x\" does not end in a number",
     "a line is \"target column:value column:value ...\", the target may be left out"},
    {"big_endian.npy", "big_endian.npy: is big-endian (type \">f4\")",
     "save it with numpy.save(file, x.astype(\"<f4\"))"},
    {"binary.csv", "binary.csv: this is not text: it holds a NUL byte",
     "points are .npy, a table of text (CSV, TSV) or svmlight"},
    {"blank.svm", "blank.svm:2: the line is empty, and points follow",
     "a point without values is written as its target alone, or as 0:0"},
    {"comment.svm", "comment.svm: there is no point in this file",
     "a line is \"target column:value column:value ...\", the target may be left out"},
    {"complex.npy", "complex.npy: has type \"<c8\", which copse does not read",
     "save it with numpy.save(file, x.astype(\"<f4\"))"},
    {"cut_header.npy", "cut_header.npy: ends in its header",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"cut_magic.npy", "cut_magic.npy: ends in its header",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"cut_values.npy", "cut_values.npy: the header says 4 x 3 values of 4 bytes, 43 bytes follow",
     "the file is cut short: write or copy it again"},
    {"cut_version.npy", "cut_version.npy: ends in its header",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"empty.csv", "empty.csv: there is no point in this file", "a line is the values of a point"},
    {"empty.npy", "empty.npy: is empty", "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"empty.svm", "empty.svm: there is no point in this file",
     "a line is \"target column:value column:value ...\", the target may be left out"},
    {"extra_values.npy", "extra_values.npy: the header says 4 x 3 values of 4 bytes, 56 bytes follow",
     "save one array a file with numpy.save"},
    {"header_only.csv", "header_only.csv: there are 0 points of 2 columns",
     "give a matrix with one row per point and at least one column"},
    {"huge_column.svm", "huge_column.svm:2: \"99999999999:1\" has a column beyond 32 bits",
     "a line is \"target column:value column:value ...\", the target may be left out"},
    {"huge_header.npy", "huge_header.npy: ends in its header",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"huge_shape.npy",
     "huge_shape.npy: the header says 4,294,967,296 x 4,294,967,296 values of 4 bytes, 48 bytes follow",
     "the file is cut short: write or copy it again"},
    {"id_empty.csv", "id_empty.csv:3: the point has an empty id", "give every point an id of its own"},
    {"id_twice.csv", "id_twice.csv:4: id \"a\" is also that of line 2", "give every point an id of its own"},
    {"ids_only.csv", "ids_only.csv:1: field 1 is \"a\", not a number",
     "if the first column holds ids, say so (--ids first)"},
    {"infinite.csv", "infinite.csv:2: field 2 is \"inf\", not a finite 32-bit number",
     "copse fills in nothing: put a number there or drop the point"},
    {"infinite.npy", "infinite.npy: row 2, column 1 is minus infinite",
     "copse fills in nothing: drop such rows, or put a number there (rows and columns count from 0)"},
    {"missing.csv", "missing.csv:2: field 2 is empty",
     "copse fills in nothing: put a number there or drop the point"},
    {"nan.csv", "nan.csv:2: field 2 is \"nan\", not a finite 32-bit number",
     "copse fills in nothing: put a number there or drop the point"},
    {"nan.npy", "nan.npy: row 2, column 1 is nan",
     "copse fills in nothing: drop such rows, or put a number there (rows and columns count from 0)"},
    {"nan.svm", "nan.svm:1: \"0:nan\" is not a finite 32-bit number",
     "a line is \"target column:value column:value ...\", the target may be left out"},
    {"negative_column.svm", "negative_column.svm:2: \"-1:1\" does not begin with the number of a column",
     "a line is \"target column:value column:value ...\", the target may be left out"},
    {"no_columns.npy", "no_columns.npy: there are 4 points of 0 columns",
     "give a matrix with one row per point and at least one column"},
    {"no_columns.svm", "no_columns.svm: there are 2 points of 0 columns",
     "give a matrix with one row per point and at least one column"},
    {"no_dimension.npy", "no_dimension.npy: the array has 0 dimensions, points need 2",
     "one row per point: numpy.save(file, x.reshape(len(x), -1))"},
    {"no_order.npy", "no_order.npy: the array's header has no \"fortran_order\"",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"no_rows.npy", "no_rows.npy: there are 0 points of 3 columns",
     "give a matrix with one row per point and at least one column"},
    {"no_shape.npy", "no_shape.npy: the array's header has no \"shape\"",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"not_numpy.npy", "not_numpy.npy: is not a NumPy array",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"nothing.csv", "nothing.csv: there is no point in this file", "a line is the values of a point"},
    {"objects.npy", "objects.npy: holds Python objects, not numbers (rows of different lengths?)",
     "save it with numpy.save(file, x.astype(\"<f4\"))"},
    {"objects_2d.npy", "objects_2d.npy: holds Python objects, not numbers (rows of different lengths?)",
     "save it with numpy.save(file, x.astype(\"<f4\"))"},
    {"one_dimension.npy", "one_dimension.npy: the array has 1 dimension, points need 2",
     "one column: numpy.save(file, x.reshape(-1, 1))"},
    {"ragged_long.csv", "ragged_long.csv:2: the line has 3 fields, line 1 has 2",
     "every point has the same number of values"},
    {"ragged_short.csv", "ragged_short.csv:2: the line has 2 fields, line 1 has 3",
     "every point has the same number of values"},
    {"records.npy", "records.npy: holds records, not numbers",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"text.npy", "text.npy: has type \"<U1\", which copse does not read",
     "save it with numpy.save(file, x.astype(\"<f4\"))"},
    {"three_dimensions.npy", "three_dimensions.npy: the array has 3 dimensions, points need 2",
     "one row per point: numpy.save(file, x.reshape(len(x), -1))"},
    {"too_large.csv", "too_large.csv:2: field 2 is \"1e60\", not a finite 32-bit number",
     "copse fills in nothing: put a number there or drop the point"},
    {"too_large.npy", "too_large.npy: row 1, column 1 is infinite",
     "copse fills in nothing: drop such rows, or put a number there (rows and columns count from 0)"},
    {"twice.svm", "twice.svm:1: column 0 is given twice", "give each column of a point once"},
    {"version_9.npy", "version_9.npy: has format version 9, which is not known",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
    {"word.csv", "word.csv:2: field 2 is \"five\", not a number",
     "values are numbers; leave columns of text out"},
    {"word.svm", "word.svm:1: \"word\" is not column:value",
     "a line is \"target column:value column:value ...\", the target may be left out"},
    {"word_first.csv", "word_first.csv:2: field 1 is \"four\", not a number",
     "if the first column holds ids, say so (--ids first)"},
    {"word_shape.npy", "word_shape.npy: has a shape that is no tuple of numbers",
     "write it again with numpy.save(file, x.astype(\"float32\"))"},
};

const std::string kBrokenPoints = COPSE_TEST_DATA "/points/broken/";

TEST(BrokenPoints, say_where_what_and_what_to_do) {
  for (const Broken& broken : kBroken) {
    SCOPED_TRACE(broken.file);
    for (const int threads : {1, 3}) {
      Execution execution;
      execution.threads = threads;
      try {
        read_points(kBrokenPoints + broken.file, {}, execution);
        ADD_FAILURE() << "was read";
      } catch (const InputError& error) {
        EXPECT_EQ(error.where() + ": " + error.problem(), kBrokenPoints + broken.problem);
        EXPECT_EQ(error.remedy(), broken.remedy);
      }
    }
  }
}

TEST(BrokenPoints, each_file_is_tested) {
  std::set<std::string> files, tested;
  for (const auto& entry : std::filesystem::directory_iterator(kBrokenPoints))
    files.insert(entry.path().filename().string());
  for (const Broken& broken : kBroken) tested.insert(broken.file);
  EXPECT_EQ(files, tested);
}

}  // namespace
}  // namespace copse
