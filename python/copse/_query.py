# SPDX-License-Identifier: Apache-2.0
"""Which nodes to label next, and how many mistakes the theorems allow."""
from typing import NamedTuple

import numpy as np

from . import _core
from ._graph import as_graph
from ._labels import NO_LABEL, encode
from ._settings import num_threads, option_text, require_memory, settings, whole_number, word


class Query(NamedTuple):
    """A node to ask about; a larger score is more urgent, what it measures is the strategy's."""

    node: object
    score: float


def strategies():
    """The registry of query strategies: name, idea, cost, paper and options.

    >>> "cover" in [row["name"] for row in copse.strategies()]
    True
    """
    return _core.strategies()


def query(A, y=None, *, strategy=None, k=10, candidates=None, unlabeled=None, seed=None, threads=None, progress=None, **options):
    """The k nodes to label next, the most useful first; fewer only where fewer are left without a label.

    Parameters
    ----------
    A : graph
        As for ``fit``.
    y : labels, optional
        What is known already, as for ``fit`` (with ``unlabeled``); None for nothing.
    strategy : str, optional
        One of :func:`strategies`; the first of them by default, as on the command line.
    candidates : list of nodes, optional
        Ask about no others.
    **options
        Of the strategy.

    Examples
    --------
    >>> [q.node for q in copse.query(copse.example_graph(), {"ann": "red"}, strategy="cover", k=2)][:1] != ["ann"]
    True
    """
    graph = as_graph(A, threads=threads)
    codes, classes = encode({} if y is None else y, graph, unlabeled)
    strategy = _core.strategies()[0]["name"] if strategy is None else word(strategy, "strategy")
    if not hasattr(k, "__index__") or np.ndim(k) or not k >= 1:
        raise ValueError(f"k: {k!r} nodes are no question\n  ask for at least 1")
    excluded = np.zeros(graph.num_nodes, bool)
    if candidates is not None:
        excluded[:] = True
        excluded[graph.indices(candidates)] = False
    texts = {name: option_text(value) for name, value in options.items()}
    needed = _core.query_bytes(strategy, graph.num_nodes, 2 * graph.num_edges, graph.is_weighted, max(2, len(classes)), texts, num_threads(threads))
    require_memory(strategy, needed, "choose another strategy; copse.strategies() tells what each costs")
    nodes, scores, _ = _core.query(strategy, graph._core, codes, excluded, min(whole_number(k, "k", 1, 2**64), graph.num_nodes), texts, settings(seed, threads, progress))
    return [Query(graph.nodes[node], score) for node, score in zip(nodes.tolist(), scores.tolist())]


def bounds(A, y, *, num_trees=None, unlabeled=None, seed=None, threads=None, progress=None):
    """What the theorems say of a labelling: cuts, diameters, and the most mistakes each learner can make online.

    A dictionary: ``facts`` (figures of the labelling), ``bounds`` (a dictionary each: name, source, learner, value, ...),
    ``verdict`` and ``notes`` (sentences). The graph must be connected. docs/bounds.md has the theorems.
    """
    graph = as_graph(A, threads=threads)
    codes, _ = encode(y, graph, unlabeled)
    if not (codes != NO_LABEL).any():
        raise ValueError("labels: no node has a label")
    return _core.mistake_bounds(graph._core, codes, 0 if num_trees is None else whole_number(num_trees, "num_trees", 1, 2**31 - 1), settings(seed, threads, progress))
