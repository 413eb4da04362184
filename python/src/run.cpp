// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <nanobind/stl/string.h>
#include <pthread.h>

#include <csignal>
#include <thread>

namespace copse::python {

namespace {

constexpr std::chrono::milliseconds kLook{50};  // how often signals are looked for: well within half a second

thread_local SignalPoll* current_poll = nullptr;

std::atomic<bool> pool_has_threads{false}, lost_pool{false};

// Signals are for the interpreter's own threads: a read of ours must not fail with EINTR. Threads that the
// pool makes from here inherit this.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

std::exception_ptr take_python_error() {
  try {
    throw nb::python_error();
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

int usable_threads(int threads) {
  if (threads <= 1 || lost_pool.load()) return 1;
  pool_has_threads.store(true);
  return threads;
}

void after_fork_in_child() {
  if (pool_has_threads.load()) lost_pool.store(true);
}

void Watch::report(std::string_view stage, std::uint64_t done, std::uint64_t total) {
  const std::unique_lock lock(news_mutex_, std::try_to_lock);
  if (!lock) return;  // another thread has news as fresh
  news_.stage = stage;
  news_.done = done;
  news_.total = total;
  news_.is_new = true;
}

bool Watch::cancelled() const {
  if (cancelled_.load(std::memory_order_relaxed)) return true;
  return current_poll != nullptr && current_poll->interrupted();
}

bool Watch::tell(const nb::object& progress) {
  News news;
  {
    const std::scoped_lock lock(news_mutex_);
    news = news_;
    news_.is_new = false;
  }
  if (!news.is_new) return true;
  const nb::object answer = progress(news.stage, news.done, news.total);
  return !answer.is(nb::bool_(false));
}

void Watch::listen(const nb::object& progress, std::exception_ptr& raised) {
  const bool wants_news = progress.is_valid() && !progress.is_none();
  std::unique_lock lock(done_mutex_);
  while (!done_changed_.wait_for(lock, kLook, [&] { return done_; })) {
    if (cancelled_.load()) continue;  // has been told; whatever happens now, the work must end first
    lock.unlock();
    {
      const nb::gil_scoped_acquire acquire;
      try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (wants_news && !tell(progress)) cancelled_.store(true);
      } catch (...) {
        raised = std::current_exception();
        cancelled_.store(true);
      }
    }
    lock.lock();
  }
}

void Watch::run(const nb::object& progress, const std::function<void()>& work) {
  std::exception_ptr failed, raised;
  cancelled_.store(false);
  done_ = false;
  {
    const nb::gil_scoped_release release;
    std::thread worker([&] {
      block_signals();
      try {
        work();
      } catch (...) {
        failed = std::current_exception();
      }
      const std::scoped_lock lock(done_mutex_);
      done_ = true;
      done_changed_.notify_one();
    });
    listen(progress, raised);
    worker.join();
  }
  cancelled_.store(false);  // short calls do not come by here
  if (raised) std::rethrow_exception(raised);
  if (failed) std::rethrow_exception(failed);
  if (progress.is_valid() && !progress.is_none()) tell(progress);  // the last word, often "all done"
}

SignalPoll::SignalPoll() : next_look_(std::chrono::steady_clock::now() + kLook), outer_(current_poll) {
  current_poll = this;
}

SignalPoll::~SignalPoll() { current_poll = outer_; }

bool SignalPoll::interrupted() {
  if (raised_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return false;
  next_look_ = now + kLook;
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) raised_ = take_python_error();
  return static_cast<bool>(raised_);
}

}  // namespace copse::python
