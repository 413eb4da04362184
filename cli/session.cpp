// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>

#include "copse/support/parallel.hpp"
#include "support/atomic_file.hpp"
#include "support/byte_source.hpp"

namespace copse::cli {

namespace {

constexpr std::chrono::milliseconds kPatience{
    200};  // a run shorter than this shows no bar: it would only flicker
constexpr std::chrono::milliseconds kRedraw{100};

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // or the handler could not touch it

void write_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nowhere left to say it
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

extern "C" void on_interrupt(int) {
  if (interrupted.exchange(true)) {
    remove_unfinished_files();
    _exit(kInterrupted);
  }
  if (isatty(STDERR_FILENO) != 0) {
    constexpr std::string_view text = "\r\033[Kfinishing with what there is; once more to stop at once\n";
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  }
}

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(std::clamp(seconds, 0.0, 359999.0)));
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

void ProgressBar::enable(bool wanted) {
  enabled_ = wanted && isatty(STDERR_FILENO) != 0;
  next_draw_ = (Clock::now() + kPatience).time_since_epoch().count();
}

bool ProgressBar::cancelled() const { return was_interrupted(); }

void ProgressBar::report(std::string_view stage, std::uint64_t done, std::uint64_t total) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now.time_since_epoch().count() < next_draw_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;  // another thread is drawing
  if (stage != stage_) {
    stage_ = stage;
    stage_start_ = now;
  }
  next_draw_.store((now + kRedraw).time_since_epoch().count(), std::memory_order_relaxed);
  draw(done, total, now);
}

void ProgressBar::draw(std::uint64_t done, std::uint64_t total, Clock::time_point now) {
  std::string line = "\r" + stage_;
  if (total > 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    const int width = std::clamp(terminal_width() - static_cast<int>(stage_.size()) - 24, 8, 40);
    const auto filled = static_cast<std::size_t>(std::lround(share * width));
    const std::string dots(static_cast<std::size_t>(width) - filled, '.');
    line += fmt::format(" [{}{}] {:3.0f}%", std::string(filled, '#'), dots, 100 * share);
    const double elapsed = std::chrono::duration<double>(now - stage_start_).count();
    if (share > 0 && elapsed > 0.5) line += "  " + clock_text(elapsed * (1 - share) / share) + " left";
  } else {
    line += fmt::format(" {}", with_commas(done));
  }
  write_stderr(line + "\033[K");
  visible_ = true;
}

void ProgressBar::clear() {
  const std::scoped_lock lock(mutex_);
  if (visible_) write_stderr("\r\033[K");
  visible_ = false;
}

void StepsOfRun::begin(std::string stage, std::uint64_t step, std::uint64_t num_steps) {
  stage_ = std::move(stage);
  step_ = step;
  num_steps_ = num_steps;
  furthest_ = 0;
  report(stage_, 0, 1);
}

void StepsOfRun::report(std::string_view, std::uint64_t done, std::uint64_t total) {
  const std::uint64_t part = total == 0 ? 0 : std::min(done, total) * kParts / total;
  std::uint64_t furthest = furthest_.load();
  while (part > furthest && !furthest_.compare_exchange_weak(furthest, part)) {
  }
  bar_.report(stage_, step_ * kParts + std::max(part, furthest), num_steps_ * kParts);
}

Session::Session() : threads(available_threads()) {}

void Session::say_any(std::uint64_t count, std::string_view noun, std::string_view what) {
  if (count > 0) say("  {} {}", counted(count, noun), what);
}

void Session::complain(std::string_view line) {
  bar_.clear();
  const std::size_t end = std::min(line.find('\n'), line.size());  // the problem; a remedy may follow
  write_stderr(emphasized(std::string(line.substr(0, end)), STDERR_FILENO) + std::string(line.substr(end)) +
               "\n");
}

std::string emphasized(const std::string& text, int fd) {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool is_wanted = isatty(fd) != 0 && (no_color == nullptr || *no_color == '\0');
  return is_wanted ? "\033[1m" + text + "\033[0m" : text;
}

void open_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

void catch_interrupts() {
  struct sigaction action {};  // no SA_RESTART: opening a pipe that nobody reads must not go on
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE,
              SIG_IGN);  // a closed pipe is an error of write(), so that files written aside are removed
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow
  exit_when_a_file_in_use_is_cut(kBadInput);
}

bool was_interrupted() { return interrupted.load(std::memory_order_relaxed); }

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.3g} s", seconds);
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  return whole < 3600 ? fmt::format("{} min {:02} s", whole / 60, whole % 60)
                      : fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return value < 10 ? fmt::format("{:.2f} {}", value, units[unit])
                    : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural) {
  std::string text = with_commas(count) + " ";
  if (count == 1) return text.append(singular);
  return plural.empty() ? text.append(singular).append("s") : text.append(plural);
}

}  // namespace copse::cli
