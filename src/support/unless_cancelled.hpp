// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "copse/support/execution.hpp"

namespace copse {

/// The answer of work(), for long work of others that cannot be asked to stop. It is done on a thread of its
/// own; if the call is cancelled meanwhile, Cancelled is thrown at once, and the thread ends by itself later.
/// So `work` must own whatever it touches.
template <class Work>
std::invoke_result_t<Work&> unless_cancelled(const Execution& execution, Work work) {
  if (execution.progress == nullptr) return work();
  constexpr std::chrono::milliseconds kLook{20};
  const auto task = std::make_shared<std::packaged_task<std::invoke_result_t<Work&>()>>(std::move(work));
  auto answer = task->get_future();
  try {
    std::thread([task] { (*task)(); }).detach();
  } catch (const std::system_error&) {  // no room for another thread: then it cannot be stopped
    (*task)();
  }
  while (answer.wait_for(kLook) != std::future_status::ready) execution.throw_if_cancelled();
  return answer.get();
}

}  // namespace copse
