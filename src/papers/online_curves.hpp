// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/graph.hpp"
#include "copse/learners/shared_columns.hpp"
#include "papers/experiment.hpp"

/// What the two experiments of Herbster, Pontil & Wainer 2005, section 6, have in common.
namespace copse {

/// A graph with one of two labels at every node.
struct OnlineTask {
  Graph graph;
  std::vector<Label> labels;
  std::shared_ptr<SharedColumns> columns;  // of the kernel, for all games on it
};

struct OnlinePlan {
  std::vector<Lazy<OnlineTask>> draws;
  std::size_t num_permutations = 20;
  std::vector<std::size_t> places;  // trials from which on mistakes are counted, ascending
};

/// The five methods, Act-st and Act-mu by the paper's footnote 2 (aggressive only while asking), and four
/// that learn from every label as its table 1 is printed: they tell what asking saves from what learning more
/// saves.
std::vector<std::string> online_methods();
std::vector<std::string> paper_online_methods();  // the five

/// Factors draw, method, permutation; the measure "future_error" at trial t is the number of mistakes in the
/// trials from t on; "larger_class", with 1-proj, the nodes of the more frequent label.
std::vector<Trial> online_trials(const OnlinePlan& plan, const Execution& execution);

/// Mistakes of `method` from trial `at` on: the means of the draws, and their mean. Draws are what differs
/// between one experiment and the next; permutations of one draw are not independent of each other.
std::vector<double> future_error(const Results& results, const std::string& method, double at);
double mean_future_error(const Results& results, const std::string& method, double at);

/// The statement that `better` makes fewer mistakes than `worse` from `at` on.
Finding fewer_mistakes(const Results& results, const std::string& statement, const std::string& better,
                       const std::string& worse, double at);
/// The statement that `a` and `b` are comparable where `weaker` is not, over some of the draws.
Finding comparable(const Results& results, const std::string& statement, const std::string& a,
                   const std::string& b, const std::string& weaker, const std::vector<std::string>& draws);

/// `at` if the runs have it, else the largest place below.
double nearest_place(const Results& results, double at);

ReportTable online_table(const Results& results);
Chart online_chart(const Results& results, const std::string& title, const std::vector<std::string>& methods);

}  // namespace copse
