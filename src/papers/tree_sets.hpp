// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>

#include "copse/graph/labels.hpp"
#include "copse/trees/sample.hpp"
#include "papers/experiment.hpp"
#include "trees/similarity_forest.hpp"

/// The weighted graphs of Cesa-Bianchi, Gentile, Vitale & Zappella 2013, section 7, or what stands for them.
namespace copse {

struct TreeSet {
  Graph graph;
  MultiLabels labels;            // every class is a yes/no question
  std::optional<Labels> single;  // the same, where every labelled node has exactly one
};

/// A set by name, its graph and the trees of it: each made once, when first needed, by whichever trial.
class SharedSet {
 public:
  SharedSet(std::string name, std::string text, std::uint64_t seed, std::function<TreeSet()> make);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }  // what it is, for people
  const TreeSet& operator()() const { return set_(); }
  /// Tree number `instance` of that kind, as a graph of its own. The minimum tree, and the shortest-path
  /// tree of least diameter, are always the first.
  const Graph& tree(TreeKind kind, std::size_t instance) const;

 private:
  std::string name_, text_;
  Lazy<TreeSet> set_;
  std::map<TreeKind, std::vector<Lazy<Graph>>> trees_;
};

inline constexpr std::size_t kMostInstances = 10;  // trees of a kind, as in the paper

/// How many different trees of that kind an experiment may use.
std::size_t num_instances(TreeKind kind, std::size_t wanted);

/// The sets of setup.data, or graphs of the digits that copse carries. InputError where the directory has
/// none of the sets.
std::vector<SharedSet> tree_sets(const ExperimentSetup& setup, const Execution& execution);

/// What --data may hold, for --list and the docs.
extern const char* const kTreeSetFiles;

}  // namespace copse
