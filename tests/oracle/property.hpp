// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace copse::oracle {

/// rc::check with a fixed seed, so that a failure comes back; RC_PARAMS in the environment overrides it.
template <class Body>
bool holds(const std::string& property, Body&& body) {
  setenv("RC_PARAMS", "seed=20060613", 0);
  return rc::check(property, std::forward<Body>(body));
}

}  // namespace copse::oracle
