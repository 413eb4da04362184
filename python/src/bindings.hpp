// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "copse/support/error.hpp"
#include "copse/support/options.hpp"
#include "run.hpp"

namespace copse::python {

/// The value of that name; UsageError lists the known ones.
template <class Choices>
auto chosen(const Choices& choices, const std::string& where, const std::string& text,
            const char* what = "a choice") {
  std::string known;
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw UsageError{where, quoted(text) + " is not " + what, "choose one of " + known};
}

/// A row of a registry, of learners or of strategies, as Python reads it.
nb::dict row_dict(const std::string& name, const std::string& idea, const std::string& cost,
                  const std::string& paper, const std::vector<OptionInfo>& options);

// One function a file of bindings; module.cpp calls them.
void bind_settings(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_points(nb::module_& m);
void bind_registry(nb::module_& m);
void bind_learners(nb::module_& m);
void bind_query(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_forests(nb::module_& m);

}  // namespace copse::python
