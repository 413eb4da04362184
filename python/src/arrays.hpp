// SPDX-License-Identifier: Apache-2.0
#pragma once

// NumPy arrays in and out. Arrays that come in are used in place; those that go out own what they show.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/support/error.hpp"

namespace copse::python {

namespace nb = nanobind;

/// A vector of numbers of one type, in place.
template <class T>
using VectorIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
/// A matrix of numbers of one type, row by row, in place.
template <class T>
using MatrixIn = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
/// A vector of numbers of any type: whoever takes it looks at dtype().
using AnyVectorIn = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const VectorIn<T>& array) {
  return {array.data(), array.size()};
}

/// The container (a vector, a Buffer) as a NumPy array of this shape, without a copy.
template <class T, class Container>
nb::ndarray<nb::numpy, T> give(Container&& values, const std::vector<std::size_t>& shape) {
  using Plain = std::decay_t<Container>;
  auto* owned = new Plain(std::forward<Container>(values));
  const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Plain*>(p); });
  return nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner);
}

template <class T>
nb::ndarray<nb::numpy, T> give(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return give<T>(std::move(values), {size});
}

/// Node numbers from Python are checked at the door: inner loops trust them.
inline void check_nodes(std::span<const NodeId> nodes, NodeId num_nodes) {
  for (const NodeId node : nodes) {
    if (node >= num_nodes)
      throw UsageError{"node", std::to_string(node) + " is not a node",
                       "the graph has " + with_commas(num_nodes) + " nodes, numbered from 0"};
  }
}

inline void check_count(std::uint64_t num_labels, std::uint64_t num_nodes) {
  if (num_labels != num_nodes)
    throw UsageError{"labels", with_commas(num_labels) + " labels for " + with_commas(num_nodes) + " nodes",
                     "give one label per node"};
}

/// A matrix of a row per node.
inline void check_rows(const char* what, std::uint64_t num_rows, NodeId num_nodes) {
  if (num_rows != num_nodes)
    throw UsageError{what, "has " + with_commas(num_rows) + " rows",
                     "give one for each of the " + with_commas(num_nodes) + " nodes"};
}

}  // namespace copse::python
