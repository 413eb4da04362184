// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "papers/experiment.hpp"
#include "support/atomic_file.hpp"
#include "support/byte_source.hpp"

namespace copse {
namespace {

using Block = std::vector<Measurement>;  // of one trial; complete when its last measure is "seconds"
constexpr std::string_view kLast = "seconds";

std::string joined(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) text += field + '\t';
  return text;
}

std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string block_text(const std::vector<std::string>& factors, const Block& block) {
  std::string text;
  for (const Measurement& row : block)
    text += joined(factors) + row.measure + '\t' + number_text(row.at) + '\t' + number_text(row.value) + '\n';
  return text;
}

/// What must agree for an interrupted run to be taken up.
std::string first_line(const ExperimentRow& row, const ExperimentSetup& setup, std::uint64_t seed) {
  return "# copse reproduce " + row.name + (setup.quick ? " --quick" : "") +
         (setup.data.empty() ? "" : " --data " + setup.data) + " --seed " + std::to_string(seed);
}

std::string header_line(const ExperimentRow& row) { return joined(row.factors) + "measure\tat\tvalue"; }

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (std::size_t end; (end = line.find(separator)) != line.npos; line.remove_prefix(end + 1))
    fields.push_back(line.substr(0, end));
  fields.push_back(line);
  return fields;
}

double parse(std::string_view text, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError{where, quoted(text) + " is not a number", "remove the file to run the experiment anew"};
  return value;
}

/// The complete blocks of an earlier run; a last line that was cut off belongs to none.
std::map<std::string, Block> read_blocks(const std::string& path, const ExperimentRow& row,
                                         const std::string& first) {
  std::map<std::string, Block> blocks;
  if (!std::filesystem::exists(path)) return blocks;
  ByteSource source = ByteSource::open(path);
  const std::span<const char> bytes = source.rest();
  std::string_view text{bytes.data(), bytes.size()};
  text = text.substr(0, text.rfind('\n') + 1);
  std::uint64_t number = 0;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    const std::string_view line = text.substr(0, end);
    const std::string where = at(path, ++number);
    if (number <= 2) {
      if (line != (number == 1 ? first : header_line(row)))
        throw InputError{where, "this table is of another run: " + quoted(line),
                         "write to another directory with -o, or remove the file"};
      continue;
    }
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() != row.factors.size() + 3)
      throw InputError{where,
                       std::to_string(fields.size()) + " columns where the header has " +
                           std::to_string(row.factors.size() + 3),
                       "remove the file to run the experiment anew"};
    std::vector<std::string> factors(fields.begin(), fields.end() - 3);
    Block& block = blocks[joined(factors)];
    if (!block.empty() && block.back().measure == kLast)
      throw InputError{where, "this run is in the table twice", "remove the file to run the experiment anew"};
    const std::size_t n = fields.size();
    block.push_back({std::string(fields[n - 3]), parse(fields[n - 2], where), parse(fields[n - 1], where)});
  }
  std::erase_if(blocks, [](const auto& entry) { return entry.second.back().measure != kLast; });
  return blocks;
}

/// Hears the caller's wish to stop and shows nothing: the run as a whole has the bar.
class HearOnly final : public Progress {
 public:
  explicit HearOnly(const Execution& outer) : outer_(outer) {}
  void report(std::string_view, std::uint64_t, std::uint64_t) override {}
  bool cancelled() const override { return outer_.cancelled(); }

 private:
  const Execution& outer_;
};

/// Nothing where the caller asked to stop: what a trial then returns may be half of it.
std::optional<Block> run_trial(const Trial& trial, const Execution& execution) {
  if (execution.cancelled()) return std::nullopt;
  const double start = thread_seconds();
  Block block;
  try {
    block = trial.run(execution);
  } catch (const Cancelled&) {
    return std::nullopt;
  }
  if (execution.cancelled()) return std::nullopt;
  block.push_back({std::string(kLast), 0, thread_seconds() - start});
  return block;
}

void write_table(const std::string& path, const std::string& head, const std::vector<Trial>& plan,
                 const std::map<std::string, Block>& blocks) {
  AtomicFile file(path);
  file.write(head);
  for (const Trial& trial : plan)
    if (const auto block = blocks.find(joined(trial.factors)); block != blocks.end())
      file.write(block_text(trial.factors, block->second));
  file.commit();
}

}  // namespace

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

ExperimentRun run_experiment(const ExperimentRow& row, const ExperimentSetup& setup, const std::string& path,
                             const Execution& execution) {
  const std::vector<Trial> plan = row.plan(setup, execution);
  const std::string first = first_line(row, setup, execution.seed);
  std::map<std::string, Block> blocks = read_blocks(path, row, first);
  std::vector<const Trial*> open;
  for (const Trial& trial : plan)
    if (!blocks.contains(joined(trial.factors))) open.push_back(&trial);

  ExperimentRun run{Results(row.factors), plan.size(), plan.size() - open.size()};
  if (blocks.size() != run.num_resumed)
    throw InputError{path, "has runs that this experiment does not make",
                     "it is of another version of copse: remove the file, or write elsewhere with -o"};
  const std::string head = first + '\n' + header_line(row) + '\n';
  write_table(path, head, plan, blocks);

  std::ofstream journal(path, std::ios::app);  // each piece is out before the next
  const auto append = [&](const std::string& text) {
    if (!(journal << text << std::flush))
      throw InputError{path, "cannot be written", "check the directory, the permissions and the space left"};
  };
  append("");
  HearOnly ear(execution);
  const Execution inner{execution.seed, 1, &ear};
  std::mutex mutex;
  std::size_t done = run.num_resumed;
  execution.report(row.name, done, plan.size());
  parallel_for(execution.threads, open.size(), [&](std::size_t i) {
    std::optional<Block> block = run_trial(*open[i], inner);
    const std::lock_guard lock(mutex);
    if (!block) {
      run.interrupted = true;
      return;
    }
    append(block_text(open[i]->factors, *block));
    blocks[joined(open[i]->factors)] = std::move(*block);
    execution.report(row.name, ++done, plan.size());
  });

  write_table(path, head, plan, blocks);
  for (const Trial& trial : plan) {
    const auto block = blocks.find(joined(trial.factors));
    if (block == blocks.end()) continue;
    for (const Measurement& measurement : block->second) run.results.add(trial.factors, measurement);
    run.seconds += block->second.back().value;
  }
  return run;
}

}  // namespace copse
