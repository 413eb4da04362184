// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "copse/io/read.hpp"
#include "copse/trees/sample.hpp"

namespace copse {
namespace {

TEST(TreeSampler, completes_no_tree_of_a_real_graph_by_keys) {
  if (!std::filesystem::exists(COPSE_SHARED_DATA)) GTEST_SKIP() << "needs the shared data sets";
  int num_graphs = 0;
  for (const auto& directory : std::filesystem::directory_iterator(COPSE_SHARED_DATA)) {
    for (const char* file : {"/edges.tsv", "/edges.tsv.zst"}) {
      const std::string path = directory.path().string() + file;
      if (!std::filesystem::exists(path)) continue;
      SCOPED_TRACE(path);
      const NamedGraph read = read_graph(path, {}, {});
      ++num_graphs;
      for (const TreeKind kind : {TreeKind::rst, TreeKind::nwrst}) {
        const TreeSampler sampler(read.graph, kind, {});
        for (std::uint64_t i = 0; i < 3; ++i) {
          TreeReport report;
          check_forest(read.graph, sampler.tree(i, &report));
          EXPECT_NE(report.path, TreePath::completed_by_keys);
        }
      }
    }
  }
  EXPECT_GT(num_graphs, 30);
}

}  // namespace
}  // namespace copse
