// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <shared_mutex>

namespace copse::server {

/// A shared lock under which a writer waits for the readers that are there, not for those that come after it:
/// std::shared_mutex alone lets a stream of readers keep a writer waiting for ever.
class TurnLock {
 public:
  void lock() {
    turn_.lock();
    mutex_.lock();
    turn_.unlock();
  }
  void unlock() { mutex_.unlock(); }
  void lock_shared() {
    const std::lock_guard turn(turn_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::mutex turn_;
  std::shared_mutex mutex_;
};

}  // namespace copse::server
