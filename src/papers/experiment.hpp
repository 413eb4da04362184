// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "copse/support/execution.hpp"
#include "papers/report.hpp"

namespace copse {

/// What an experiment runs on.
struct ExperimentSetup {
  std::string data;    // directory of the papers' data sets; empty: what copse carries itself
  bool quick = false;  // fewer repeats and smaller sizes for the same questions: a minute at most
};

/// One figure of a trial: the tidy table has a row for each.
struct Measurement {
  std::string measure;  // "mistakes", "future_error", ...
  double at = 0;        // the trial, size or label count it belongs to; 0 where there is one figure
  double value = 0;
};

/// A part of an experiment that can be run alone, in any order, on one thread: a pure function of the seed
/// and the factors.
struct Trial {
  std::vector<std::string> factors;  // a value for each of the experiment's factors; no two trials agree
  std::function<std::vector<Measurement>(const Execution&)> run;
};

/// Processor time of this thread, the only one of a trial: on a busy machine the clock on the wall tells more
/// of the other programs than of this one.
double thread_seconds();

/// What several trials share: made when first asked for, once, whichever trial asks; copies share it. Make it
/// on one thread: a parallel loop in there could pick up another trial that waits for the same value.
template <class T>
class Lazy {
 public:
  explicit Lazy(std::function<T()> make) : state_(std::make_shared<State>()) {
    state_->make = std::move(make);
  }
  const T& operator()() const {
    std::call_once(state_->once, [this] { state_->value.emplace(state_->make()); });
    return *state_->value;
  }

 private:
  struct State {
    std::once_flag once;
    std::function<T()> make;
    std::optional<T> value;
  };
  std::shared_ptr<State> state_;
};

/// Everything measured so far, and the questions that reports ask of it.
class Results {
 public:
  /// `factor` = `value`, all of them.
  using Where = std::vector<std::pair<std::string_view, std::string_view>>;

  explicit Results(std::vector<std::string> factors) : factors_(std::move(factors)) {}
  void add(const std::vector<std::string>& factors, const Measurement& measurement);

  /// Values of a factor in order of appearance, among the runs of `where`.
  std::vector<std::string> levels(std::string_view factor, const Where& where = {}) const;
  /// `at` values of a measure, ascending.
  std::vector<double> places(std::string_view measure, const Where& where = {}) const;
  /// Every run's value, in the order they were added.
  std::vector<double> values(std::string_view measure, const Where& where = {}, double at = 0) const;
  double mean(std::string_view measure, const Where& where = {}, double at = 0) const;
  /// Means along `at`; with `band`, low and high are one standard error away.
  ChartSeries series(std::string name, std::string_view measure, const Where& where, bool band = true) const;
  /// Means, in percent, along the values of `factor`, which are numbers; x is `unit` times those.
  ChartSeries percent_series(std::string name, std::string_view measure, std::string_view factor,
                             const Where& where, double unit = 1) const;

 private:
  struct Row {
    std::vector<std::string> factors;
    Measurement measurement;
  };
  std::vector<const Row*> rows(std::string_view measure, const Where& where) const;

  std::vector<std::string> factors_;
  std::vector<Row> rows_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_measure_;
};

/// All trials, in the order of the table. Data that several share is Lazy.
using PlanTrials = std::vector<Trial>(const ExperimentSetup& setup, const Execution& execution);
using WriteReport = Report(const ExperimentSetup& setup, const Results& results);

/// One row per experiment: `copse reproduce --list`, docs and tests read these.
struct ExperimentRow {
  std::string name;      // as users type it
  std::string question;  // one line
  std::string paper;     // and where in it
  std::string data;      // what it takes from --data, and what it uses without
  std::vector<std::string> factors;
  PlanTrials* plan;
  WriteReport* report;
};

const std::vector<ExperimentRow>& experiment_rows();

/// The row of that name; UsageError lists the known ones.
const ExperimentRow& experiment_row(const std::string& name);

struct ExperimentRun {
  Results results;
  std::size_t num_trials = 0, num_resumed = 0;  // resumed: taken from an earlier, interrupted run
  bool interrupted = false;                     // what is done is kept: the same call goes on
  double seconds = 0;                           // of all trials, summed, those resumed as well
};

/// Runs what is not yet in `path`, the tidy table (factors, measure, at, value; a comment line first that
/// tells experiment, setup and seed), to which every trial is added as it ends. At the end the table is
/// written anew in the order of the plan. A table of another experiment, setup or seed is an InputError.
ExperimentRun run_experiment(const ExperimentRow& row, const ExperimentSetup& setup, const std::string& path,
                             const Execution& execution);

}  // namespace copse
