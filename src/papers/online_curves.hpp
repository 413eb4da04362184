// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/graph.hpp"
#include "papers/experiment.hpp"

/// What the two experiments of Herbster, Pontil & Wainer 2005, section 6, have in common.
namespace copse {

/// A graph with one of two labels at every node.
struct OnlineTask {
  Graph graph;
  std::vector<Label> labels;
};

struct OnlinePlan {
  std::vector<Lazy<OnlineTask>> draws;
  std::size_t num_permutations = 20;
  std::vector<std::size_t> places;  // trials from which on mistakes are counted, ascending
};

/// The five methods, and two that learn from every label and not from mistakes only: they tell what asking
/// saves from what learning more saves.
std::vector<std::string> online_methods();
std::vector<std::string> paper_online_methods();  // the five

/// Factors draw, method, permutation; the measure "future_error" at trial t is the number of mistakes in the
/// trials from t on; "larger_class", with 1-proj, the nodes of the more frequent label.
std::vector<Trial> online_trials(const OnlinePlan& plan, const Execution& execution);

/// Mistakes by the runs of `method` from trial `at` on, and their mean.
std::vector<double> future_error(const Results& results, const std::string& method, double at);
double mean_future_error(const Results& results, const std::string& method, double at);

/// The statement that `better` makes fewer mistakes than `worse` from `at` on.
Finding fewer_mistakes(const Results& results, const std::string& statement, const std::string& better,
                       const std::string& worse, double at);
/// The statement that two methods err as often, within a tenth.
Finding as_many_mistakes(const Results& results, const std::string& statement, const std::string& a,
                         const std::string& b, double at);

/// `at` if the runs have it, else the largest place below.
double nearest_place(const Results& results, double at);

ReportTable online_table(const Results& results);
Chart online_chart(const Results& results, const std::string& title, const std::vector<std::string>& methods);

}  // namespace copse
