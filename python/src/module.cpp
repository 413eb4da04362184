// SPDX-License-Identifier: Apache-2.0
//
// copse._core: the library as Python sees it, thin. Names, conversions and documentation that users meet are
// in python/copse; what takes time runs here, without the interpreter's lock.

#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "copse/support/parallel.hpp"

namespace copse::python {

void bind_settings(nb::module_& m) {
  nb::class_<Settings>(m, "Settings")
      .def(
          "__init__",
          [](Settings* self, std::uint64_t seed, int threads, const nb::object& progress) {
            if (threads < 1)
              throw UsageError{"threads", std::to_string(threads) + " is not a number of threads",
                               "give 1 or more, or None for all processors"};
            new (self) Settings{seed, threads, progress};
          },
          nb::arg("seed"), nb::arg("threads"), nb::arg("progress").none());
  m.attr("default_seed") = Execution{}.seed;
  m.def("available_threads", available_threads);
  m.def("after_fork_in_child", after_fork_in_child);
}

}  // namespace copse::python

NB_MODULE(_core, m) {
  using namespace copse::python;
  m.attr("__version__") = COPSE_VERSION;
  // The library's text, as it stands, in exceptions that `except ValueError` catches.
  nb::exception<copse::InputError>(m, "InputError", PyExc_ValueError);
  nb::exception<copse::UsageError>(m, "UsageError", PyExc_ValueError);
  nb::exception<copse::Cancelled>(m, "Cancelled", PyExc_RuntimeError);
  bind_settings(m);
  bind_graph(m);
  bind_points(m);
  bind_registry(m);
  bind_learners(m);
  bind_query(m);
  bind_trees(m);
  bind_kernels(m);
  bind_forests(m);
}
