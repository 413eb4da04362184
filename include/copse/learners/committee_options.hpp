// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/options.hpp"
#include "copse/trees/sample.hpp"

namespace copse {

template <class Options>
Field tree_choice(TreeKind Options::*member, const char* help) {
  return choice("tree", member, help,
                {{"rst", TreeKind::rst},
                 {"nwrst", TreeKind::nwrst},
                 {"dfst", TreeKind::dfst},
                 {"mst", TreeKind::mst},
                 {"spt", TreeKind::spt},
                 {"random_key", TreeKind::random_key},
                 {"bfst", TreeKind::bfst}});
}

/// What learners that let spanning trees vote have in common.
struct CommitteeOptions {
  TreeKind tree = TreeKind::rst;
  int num_trees = 31;  // odd, so that two classes never tie
  bool weighted = true;

  static Fields fields() {
    return {tree_choice(&CommitteeOptions::tree, "kind of spanning tree"),
            field("num_trees", &CommitteeOptions::num_trees,
                  "trees in the committee: more is better and slower", between(1, 65535)),
            field("weighted", &CommitteeOptions::weighted,
                  "measure by weight and resistance in the tree; false takes every edge as 1")};
  }
};

}  // namespace copse
