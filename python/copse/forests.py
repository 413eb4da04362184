# SPDX-License-Identifier: Apache-2.0
"""Committees of random-key forests from edges that are in many places: the stages, as functions of NumPy arrays.

Every edge has a random key per tree, a hash of (seed, tree, edge), and a tree is the minimum spanning forest of its keys; so
the forest of all edges is that of the forests of their parts. The stages are pure: the same forests, bit for bit, from any
cutting of the edges, on one machine or on many, and the same answers as ``copse.WTA(tree="random_key")`` in memory.

===================  ==========================================================================================
``weight_bins``      map over edges with weights, summed; then ``key_bound`` once
``small_key_edges``  scan 1, map over edges: the candidates of up to 32 trees at once
``spanning_edges``   per tree, over all its candidates (and over any part of them before, to send fewer): edges of
                     the forest in the order of their keys, and the component of every node
``Crossing``         scan 2, map over edges, with the components of a group of trees: what joins two of them.
                     ``spanning_edges(..., component=...)`` makes the rest of each forest from it
``tree_votes``       per tree, from the edges of both scans: the label and the nearness that it gives to every node
``decide_votes``     per node, from the votes of all trees: label, confidence, reached
===================  ==========================================================================================

Nodes are 0 ... num_nodes - 1. Columns of ids are integers of any width (64 bits without a copy), weights float32 or None.
A pair that is listed several times counts once, with its largest weight; sum them first, or number them in ``occurrence``.

>>> import numpy as np
>>> from copse import forests
>>> u, v = np.array([0, 1, 2, 3, 0]), np.array([1, 2, 3, 0, 2])
>>> bound = forests.key_bound(4, 5, per_node=0.5)
>>> tree, a, b, _, _ = forests.small_key_edges(u, v, num_nodes=4, num_trees=1, bound=bound, seed=3)
>>> first = forests.spanning_edges(a, b, num_nodes=4, tree=0, seed=3)
>>> crossing = forests.Crossing(first.component[None, :])
>>> tree, a, b, _, _ = crossing.edges(u, v)
>>> rest = forests.spanning_edges(a, b, num_nodes=4, tree=0, seed=3, component=first.component)
>>> len(first.u) + len(rest.u)
3
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core

UNLABELLED = 65535
"""The label of a node without one."""
MOST_TREES_AT_ONCE = 32


class KeptEdges(NamedTuple):
    """Edges by tree. ``weight`` and ``occurrence`` are None where the edges had none."""

    tree: NDArray[np.uint32]
    u: NDArray[np.uint32]
    v: NDArray[np.uint32]
    weight: NDArray[np.float32] | None
    occurrence: NDArray[np.uint32] | None


class ForestEdges(NamedTuple):
    """Edges of one forest, smallest key first; ``component[u]`` is the smallest node of the component of u."""

    u: NDArray[np.uint32]
    v: NDArray[np.uint32]
    weight: NDArray[np.float32] | None
    occurrence: NDArray[np.uint32] | None
    component: NDArray[np.uint32]


class Answers(NamedTuple):
    label: NDArray[np.uint16]
    confidence: NDArray[np.float64]
    reached: NDArray[np.bool_]


def _ids(column: Any, name: str) -> NDArray[np.uint64]:
    array = np.asarray(column)
    if array.dtype.kind not in "iu":
        raise _core.UsageError(f"{name}: a column of {array.dtype} is not one of node numbers\n  give integers from 0, without missing values")
    if array.dtype.kind == "i":
        array = array.astype(np.int64, copy=False)
    return np.ascontiguousarray(array).astype(np.int64 if array.dtype.kind == "i" else np.uint64, copy=False).view(np.uint64)


def _floats(column: Any) -> NDArray[np.float32] | None:
    return None if column is None else np.ascontiguousarray(column, dtype=np.float32)


def _small(column: Any, dtype: Any) -> NDArray[Any] | None:
    return None if column is None else np.ascontiguousarray(column, dtype=dtype)


def _edges(u: Any, v: Any, weight: Any, occurrence: Any) -> tuple[Any, ...]:
    return _ids(u, "u"), _ids(v, "v"), _floats(weight), _small(occurrence, np.uint32)


def weight_bins(weight: Any) -> NDArray[np.uint64]:
    """How many weights there are of each size. Bins of parts add up to those of the whole."""
    return _core.weight_bins(_floats(weight))


def key_bound(num_nodes: int, num_edges: int, bins: Any = None, *, per_node: float = _core.candidates_per_node) -> float:
    """The bound for scan 1: about ``per_node`` edges per node and tree have smaller keys. Infinite where that is all of them, and
    there is no scan 2 then. ``bins`` is None for edges without weights. No result depends on it."""
    return _core.key_bound(num_nodes, num_edges, _small(bins, np.uint64), per_node)


def small_key_edges(u: Any, v: Any, weight: Any = None, *, num_nodes: int, num_trees: int, bound: float, seed: int, first_tree: int = 0,
                    occurrence: Any = None) -> KeptEdges:  # fmt: skip
    """Scan 1: for trees first_tree, first_tree + 1, ... (at most 32) the edges whose keys are at most ``bound``."""
    return KeptEdges(*_core.small_key_edges(*_edges(u, v, weight, occurrence), num_nodes, seed, first_tree, num_trees, bound))


def spanning_edges(u: Any, v: Any, weight: Any = None, *, num_nodes: int, tree: int, seed: int, component: Any = None,
                   occurrence: Any = None) -> ForestEdges:  # fmt: skip
    """The minimum spanning forest of these edges by their keys in that tree, between the components of an earlier call if given."""
    return ForestEdges(*_core.spanning_edges(*_edges(u, v, weight, occurrence), num_nodes, seed, tree, _small(component, np.uint32)))


class Crossing:
    """Scan 2. ``components`` has a row per tree, of which the first is tree number ``first_tree``, and a column per node. A bit per
    node and tree is added to those of the components: make one per worker, not one per batch."""

    def __init__(self, components: Any, first_tree: int = 0):
        self._core = _core.Crossing(np.ascontiguousarray(components, dtype=np.uint32), first_tree)

    def edges(self, u: Any, v: Any, weight: Any = None, *, occurrence: Any = None) -> KeptEdges:
        """The edges whose ends lie in two components of a tree, for every tree."""
        return KeptEdges(*self._core.edges(*_edges(u, v, weight, occurrence)))


def tree_votes(u: Any, v: Any, weight: Any = None, *, tree: int, seed: int, labels: Any, num_classes: int, learner: str = "wta",
               weight_range: tuple[float, float] = (1, 1), occurrence: Any = None) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:  # fmt: skip
    """What one tree says of every node: a label, and how near it is (0: no label reaches the node). The edges are those of the forest from
    both scans, in any order; ``labels`` has an entry per node, ``UNLABELLED`` where unknown; ``weight_range`` is the smallest and the
    largest weight of all edges of the graph."""
    low, high = weight_range
    return _core.tree_votes(*_edges(u, v, weight, occurrence), seed, tree, _small(labels, np.uint16), num_classes, learner, low, high)


def decide_votes(labels: Any, nearness: Any, class_counts: Any) -> Answers:
    """The answers for some nodes: rows of ``labels`` and ``nearness`` are nodes, columns the trees, in any order. ``class_counts`` is how many
    nodes of the whole graph are labelled with each class: it decides ties, and answers where no label reaches."""
    label, confidence, reached = _core.decide_votes(_small(labels, np.uint16), _small(nearness, np.uint16), _small(class_counts, np.uint64))
    return Answers(label, confidence, reached.astype(bool))
