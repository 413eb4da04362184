// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace copse {

/// A value that is made when first asked for, once, whichever trial asks: copies share it. Make it on one
/// thread: a parallel loop in there could pick up another trial that waits for the same value.
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

}  // namespace copse
