# SPDX-License-Identifier: Apache-2.0
"""Spanning trees, resistances and Laplacians: the library's parts for use by themselves."""
import numpy as np
import scipy.sparse

from . import _core
from ._graph import as_graph
from ._inputs import whole_numbers
from ._registry import CLASSES
from ._settings import num_threads, real_number, real_numbers, require_memory, settings, whole_number, word

NO_NODE = 2**32 - 1
BYTES_PER_NODE, BYTES_PER_TREE = 24, 1000  # of a tree, in the library and as arrays


class SpanningTree:
    """A rooted spanning tree (of a disconnected graph: a forest, one tree a component).

    Attributes
    ----------
    parent : int32 array
        By node, its parent; a root is its own.
    weight : float32 array
        By node, the weight of the edge to its parent; 0 at a root.
    order : int32 array
        The nodes with parents before children.
    nodes : sequence
        The ids of the nodes.
    path : str
        How it was made: ``direct``, ``blocks`` (the same law), or ``completed_by_keys`` (not quite the law).
    """

    def __init__(self, core, nodes):
        self._core, self.nodes = core, nodes
        self.parent, self.weight, self.order = core.arrays()
        self.path = core.path

    @property
    def num_nodes(self):
        return self.parent.size

    @property
    def roots(self):
        """The roots, a component each."""
        return np.flatnonzero(self.parent == np.arange(self.parent.size))

    @property
    def edges(self):
        """An array (num_edges, 2) of child and parent."""
        child = np.flatnonzero(self.parent != np.arange(self.parent.size))
        return np.column_stack([child, self.parent[child]])

    def to_scipy(self):
        """The tree as a symmetric ``scipy.sparse.csr_array``."""
        child, parent = self.edges.T
        weight = self.weight[child]
        rows, columns = np.concatenate([child, parent]), np.concatenate([parent, child])
        shape = (self.num_nodes, self.num_nodes)
        return scipy.sparse.csr_array((np.concatenate([weight, weight]), (rows, columns)), shape=shape)

    def line(self):
        """The tree laid out on a line (Cesa-Bianchi et al. 2013, section 4): nodes in order, the weight between each and
        the one before (0 where a tree begins), and the places where trees begin."""
        return self._core.line()

    def kernel(self):
        """The pseudoinverse of its Laplacian, without the matrix: see :func:`tree_kernel`."""
        return TreeKernel(_core.tree_kernel(self._core))

    def __repr__(self):
        return f"<copse.SpanningTree: {self.num_nodes:,} nodes, {self.roots.size:,} root{'' if self.roots.size == 1 else 's'}>"


class TreeKernel:
    """L^+ of a tree: entries and resistances in O(1), products in O(n), never the matrix (Rojas Galeano & Herbster)."""

    def __init__(self, core):
        self._core = core

    @property
    def num_nodes(self):
        return self._core.num_nodes

    def diagonal(self):
        """L^+_ii by node."""
        return self._core.diagonal()

    def entry(self, u, v):
        """L^+_uv, for numbers or arrays of node numbers."""
        return _elementwise(self._core.entries, u, v)

    def resistance(self, u, v):
        """Effective resistance, the length of the path in 1/weight; infinite between trees."""
        return _elementwise(self._core.resistances, u, v)

    def gram(self, rows, columns=None, *, threads=None):
        """The entries between `rows` and `columns` (the same by default), as a matrix."""
        rows = _node_array(rows)
        columns = rows if columns is None else _node_array(columns)
        return self._core.gram(rows, columns, num_threads(threads))

    def multiply(self, x):
        """L^+ x, for a vector or a matrix of columns."""
        x = real_numbers(x, "x")
        if x.ndim not in (1, 2):
            raise ValueError(f"x: {x.ndim} dimensions\n  give a vector, or a matrix of columns")
        y = self._core.multiply(np.ascontiguousarray(x[:, None] if x.ndim == 1 else x))
        return y.reshape(x.shape)


def _node_array(nodes):
    nodes = whole_numbers(nodes)
    if nodes.size and (nodes.dtype.kind not in "iu" or nodes.min() < 0 or nodes.max() >= NO_NODE):
        raise ValueError("node: a place among the nodes is a whole number from 0\n  graph.indices(ids) finds those of ids")
    return np.array(nodes.ravel(), np.uint32)  # a copy: it is checked, and then trusted


def _elementwise(call, u, v):
    u, v = np.broadcast_arrays(u, v)
    values = call(_node_array(u), _node_array(v)).reshape(u.shape)
    return float(values) if values.ndim == 0 else values


def random_spanning_trees(A, num_trees, *, kind="rst", first=0, seed=None, threads=None, progress=None):
    """`num_trees` independent spanning trees, the same for the same seed on any number of threads.

    ``kind`` is "rst" (P(T) proportional to the product of its weights), "nwrst" (uniform), "random_key", "mst", "spt",
    "dfst" or "bfst". Trees are numbered: ``first`` begins later in the same sequence.

    >>> trees = copse.random_spanning_trees(copse.example_graph(), 3)
    >>> [len(tree.edges) for tree in trees]
    [5, 5, 5]
    """
    graph = as_graph(A, threads=threads)
    word(kind, "kind")
    num_trees, first = whole_number(num_trees, "num_trees"), whole_number(first, "first")
    require_memory("spanning trees", num_trees * (BYTES_PER_NODE * graph.num_nodes + BYTES_PER_TREE), "draw fewer at a time; first= goes on in the same sequence")
    trees = _core.spanning_trees(graph._core, kind, first, num_trees, settings(seed, threads, progress))
    return [SpanningTree(tree, graph.nodes) for tree in trees]


def random_spanning_tree(A, *, kind="rst", index=0, seed=None, threads=None, progress=None):
    """One spanning tree, number `index` of its seed: see :func:`random_spanning_trees`."""
    return random_spanning_trees(A, 1, kind=kind, first=index, seed=seed, threads=threads, progress=progress)[0]


def minimum_spanning_tree(A, *, seed=None, threads=None):
    """The spanning tree of least resistance, that is of largest weight: weights are similarities.

    SciPy's minimum_spanning_tree of 1/A. Unweighted graphs break ties at random, by seed.
    """
    return random_spanning_tree(A, kind="mst", seed=seed, threads=threads)


def tree_kernel(A, *, kind="rst", index=0, seed=None, threads=None):
    """The kernel of a spanning tree of `A`, or of a SpanningTree: see :class:`TreeKernel`.

    >>> kernel = copse.tree_kernel(copse.random_spanning_tree(copse.example_graph(), kind="mst"))
    >>> round(kernel.resistance(0, 2), 3)
    0.833
    """
    tree = A if isinstance(A, SpanningTree) else random_spanning_tree(A, kind=kind, index=index, seed=seed, threads=threads)
    return tree.kernel()


def _pairs(graph, u, v):
    if v is None:
        pairs = np.asarray(u)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError("pairs: not two nodes a row\n  give effective_resistance(A, u, v), or an array of pairs")
        u, v = pairs[:, 0], pairs[:, 1]
    is_one = np.ndim(u) == 0 and np.ndim(v) == 0
    u, v = np.broadcast_arrays(np.atleast_1d(u), np.atleast_1d(v))
    pairs = np.column_stack([graph.indices(u.tolist() if u.dtype.kind not in "iu" else u), graph.indices(v.tolist() if v.dtype.kind not in "iu" else v)])
    return np.ascontiguousarray(pairs, np.uint32), is_one


def _errors(error, confidence):
    error = None if error is None else real_number(error, "error")
    return error, _core.default_confidence if confidence is None else real_number(confidence, "confidence")


def effective_resistance(
    A, u, v=None, *, method="exact", error=None, confidence=None, return_error=False, seed=None, threads=None, progress=None
):
    """Effective resistances between nodes: the graph as a network of conductors, each edge of its weight.

    Parameters
    ----------
    u, v : nodes or lists of nodes; or `u` alone an array of pairs (k, 2)
    method : {"exact", "projection"}
        By solves, right to a relative ``error`` (1e-6) for certain; or all at once by random projection, right to a
        relative ``error`` (0.3) with ``confidence``.
    return_error : bool
        Also returns how far each may be off.

    Examples
    --------
    >>> round(copse.effective_resistance(copse.example_graph(), "ann", "dora"), 3)
    10.455
    """
    graph = as_graph(A, threads=threads)
    pairs, is_one = _pairs(graph, u, v)
    run = settings(seed, threads, progress)
    word(method, "method")
    error, confidence = _errors(error, confidence)
    if method == "exact":
        value, off, _ = _core.exact_resistances(graph._core, pairs, 1e-6 if error is None else error, run)
    elif method == "projection":
        value, off, _ = _core.projected_resistances(graph._core, pairs, 0.3 if error is None else error, confidence, run)
    else:
        raise ValueError(f'method: "{method}" is not known\n  one of exact, projection')
    if is_one:
        value, off = float(value[0]), float(off[0])
    return (value, off) if return_error else value


def laplacian_pinv_diagonal(
    A, *, method="auto", error=None, confidence=None, max_trees=None, return_error=False, seed=None, threads=None, progress=None
):
    """The diagonal of the pseudoinverse of the Laplacian, by node.

    ``method`` is "exact" (``error`` 1e-6, relative), "trees" (random spanning trees; ``error`` 0.1 of the mean),
    "projection" (``error`` 0.3, relative), or "auto": exact for small graphs, trees for large ones.
    """
    graph = as_graph(A, threads=threads)
    run = settings(seed, threads, progress)
    word(method, "method")
    error, confidence = _errors(error, confidence)
    max_trees = None if max_trees is None else whole_number(max_trees, "max_trees")
    if method == "auto":
        method = "exact" if graph.num_nodes <= _core.exact_diagonal_nodes else "trees"
    if method == "exact":
        value, off, _ = _core.exact_diagonal(graph._core, 1e-6 if error is None else error, run)
    elif method == "trees":
        value, off, _ = _core.tree_diagonal(graph._core, error, confidence, max_trees, run)
    elif method == "projection":
        value, off, _ = _core.projected_diagonal(graph._core, 0.3 if error is None else error, confidence, run)
    else:
        raise ValueError(f'method: "{method}" is not known\n  one of auto, exact, trees, projection')
    return (value, off) if return_error else value


def laplacian_solve(
    A, b, *, grounded=None, method="auto", measure="backward_error", tolerance=None, max_iterations=None, return_report=False, seed=None, threads=None, progress=None
):
    """Solves L x = b for the Laplacian L of a graph, for a vector or a matrix of columns `b`.

    Without grounded nodes the answer is the pseudoinverse's: x = L^+ b, component by component. With them x is 0 there
    and b counts at the other nodes only. `tolerance` (1e-8) is one of the backward error, which digits of x can be had for, or, with
    ``measure="relative_residual"``, of ||b - L x|| / ||b||, as other solvers have it. ``return_report`` adds a dictionary: how it went, and how exact it is.

    >>> x = copse.laplacian_solve(copse.example_graph(), [1, 0, 0, -1, 0, 0])
    >>> round(float(x[0] - x[3]), 3)
    10.455
    """
    graph = as_graph(A, threads=threads)
    b = real_numbers(b, "b")
    word(method, "method")
    word(measure, "measure")
    tolerance = None if tolerance is None else real_number(tolerance, "tolerance")
    max_iterations = None if max_iterations is None else whole_number(max_iterations, "max_iterations", high=2**31 - 1)
    if b.ndim not in (1, 2) or not np.isfinite(b).all():
        raise ValueError("b: not a vector or matrix of finite numbers")
    columns = np.ascontiguousarray(b[:, None] if b.ndim == 1 else b)
    nodes = np.empty(0, np.uint32) if grounded is None else graph.indices(grounded)
    x, report = _core.laplacian_solve(graph._core, columns, nodes, method, measure, tolerance, max_iterations, settings(seed, threads, progress))
    x = x.reshape(b.shape)
    return (x, report) if return_report else x


def resistance_diameter(A, *, seed=None, threads=None, progress=None):
    """(lower, upper): between these lies the largest effective resistance within a component; equal for small graphs."""
    return _core.resistance_diameter(as_graph(A, threads=threads)._core, settings(seed, threads, progress))


def explain(A, y, node, *, learner="auto", unlabeled=None, **options):
    """Why a node is predicted as it is: see :class:`copse.Explanation`.

    >>> why = copse.explain(copse.example_graph(), {"ann": "red", "eve": "blue"}, "dora")
    >>> why.label, why.reasons[0].node
    ('blue', 'eve')
    """
    if learner not in CLASSES:
        raise ValueError(f'learner: "{learner}" is not known\n  the learners are {", ".join(CLASSES)}')
    return CLASSES[learner](**options)._told(A, y, unlabeled).explain(node)
