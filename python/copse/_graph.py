# SPDX-License-Identifier: Apache-2.0
"""Graphs, made of what others have, and their files."""
import collections
import os

import numpy as np
import scipy.sparse

from . import _core
from ._inputs import (
    SOURCES,
    TARGETS,
    checked_weights,
    column_names,
    edges_of,
    edges_of_igraph,
    edges_of_networkit,
    edges_of_table,
    ends,
    from_networkx,
    from_sparse,
    is_igraph,
    is_networkit,
    is_networkx,
    is_table,
    number,
    whole,
    whole_numbers,
)
from ._settings import html_table, num_threads, path_text, require_memory, settings, warn, whole_number, word

BYTES_PER_NODE = 8  # of a graph without edges


class GraphWarning(UserWarning):
    """Something of the input was left out or merged on the way to a graph."""


class Graph:
    """An undirected weighted graph, ready for every learner and tool.

    Parameters
    ----------
    A : scipy sparse matrix or array, table, arrays or list of edges, networkx, igraph or NetworKit graph, path of a file, or Graph
        A table (pandas, polars, pyarrow, DuckDB, anything with ``__arrow_c_stream__``) has a row per edge; a tuple holds arrays
        ``(source, target)`` or ``(source, target, weight)``; a list holds such tuples; an array of whole numbers is an
        ``edge_index`` (2 by the number of edges) or has a row per edge. Or a square matrix of similarities (weights > 0), of which the graph takes a copy: 8 bytes per entry and per node.
        Weights count as the float32 nearest to them, whatever they are stored as. A CSR (or CSC) matrix that is symmetric,
        with sorted rows, without diagonal and duplicates, is a graph as it stands. Any other matrix is read as a list of
        edges: one triangle is enough, the diagonal is dropped, entries for a pair that differ are merged.
    duplicates : {"sum", "max", "min", "error"}
        What becomes of a pair of nodes that is listed more than once (but for once in each direction, equally).
    source, target : str, optional
        Columns of a table that hold the ends of the edges; found by name (source, src, from, sender, u; target, dst, to,
        receiver, v) where they are not given. Nodes are the ids that occur: numbers in their order, text as it comes.
    weight : str or False, optional
        Column of a table that holds the weights, found by name as well (weight, w, amount, value, score), or edge attribute of a
        networkx or igraph graph ("weight"; edges without it count 1). False: no weights.
    signed : bool
        Weights below 0 are negative edges, between nodes of different classes (docs/signed.md). Otherwise an error.
    copy : bool
        With False a matrix that is a graph as it stands is used where it lies: ``indices`` of int32, ``data`` of float32, an
        int64 ``indptr``. Arrays of other types are converted into the graph's own. :attr:`is_view` tells whether any was
        used; then the arrays become read-only for good, and the graph keeps them alive. They were checked once: whoever writes to that memory nevertheless, through a view
        made before or in a mapped file, can end the interpreter.
    threads : int, optional
        All processors by default.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, copse
    >>> A = sp.csr_array(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]], dtype=np.float32))
    >>> g = copse.Graph(A)
    >>> g
    <copse.Graph: 3 nodes, 3 edges, weighted>
    >>> g.is_view, copse.Graph(A, copy=False).is_view
    (False, True)
    """

    __slots__ = ("_core", "_ids", "_index", "is_view", "report", "__weakref__")

    def __init__(self, A, *, source=None, target=None, weight=None, duplicates="sum", signed=False, copy=True, threads=None):
        word(duplicates, "duplicates")
        signed = bool(signed)
        if (source is not None or target is not None) and not is_table(A):
            raise ValueError(f"source: {type(A).__name__} has no columns to name\n  source= and target= are for tables")
        if isinstance(A, Graph):
            self._set(A._core, A.report, A.is_view, A._ids)
        elif isinstance(A, (str, os.PathLike)):
            core, report = _core.read_graph(path_text(A), "automatic", duplicates, "", signed, [], settings(threads=threads))
            self._set(core, report)
        elif scipy.sparse.issparse(A):
            self._set(*from_sparse(A, duplicates, signed, copy, settings(threads=threads)))
        elif is_networkx(A):
            self._set(*from_networkx(A, weight, duplicates, signed, settings(threads=threads)))
        elif is_table(A):
            core, report, ids, used = edges_of_table(A, source, target, weight, duplicates, signed, settings(threads=threads))
            self._set(core, report, False, ids)
            _warn_of_unweighted(A, used, weight)
        elif is_igraph(A) or is_networkit(A):
            count, ids, u, v, weights = (edges_of_igraph if is_igraph(A) else edges_of_networkit)(A, weight)
            made = Graph.from_edges(u, v, weights, num_nodes=count, duplicates=duplicates, signed=signed, threads=threads)
            self._set(made._core, made.report, False, ids)
            return
        else:
            edges = edges_of(A)
            if edges is None:
                raise ValueError(
                    f"graph: cannot be made of {type(A).__name__}\n  give a scipy sparse matrix, a table or arrays of edges, a networkx, igraph or"
                    " NetworKit graph, a path, or points to copse.neighbors_graph"
                )
            made = Graph.from_edges(*edges, duplicates=duplicates, signed=signed, threads=threads)
            self._set(made._core, made.report, False, made._ids)
            return
        _warn_of(self.report)

    def _set(self, core, report=None, is_view=False, ids=None):
        self._core, self.report, self.is_view, self._ids, self._index = core, report or {}, is_view, ids, None

    @classmethod
    def _of(cls, core, report=None, is_view=False, ids=None):
        graph = cls.__new__(cls)
        graph._set(core, report, is_view, ids)
        return graph

    @classmethod
    def from_edges(cls, u, v, weight=None, *, num_nodes=None, duplicates="sum", signed=False, threads=None):
        """The graph of a list of edges ``u[i] - v[i]``.

        Ends are whole numbers 0, 1, 2, ... (then ``num_nodes`` may add nodes without edges) or ids of any kind, which
        are numbered in order of first appearance.

        >>> copse.Graph.from_edges(["a", "b"], ["b", "c"], [1.0, 0.5]).nodes
        ['a', 'b', 'c']
        """
        u, v = ends(u), ends(v)
        word(duplicates, "duplicates")
        signed = bool(signed)
        if u.ndim != 1 or u.shape != v.shape:
            raise ValueError("edges: u and v are not two lists of the same length\n  give one entry per edge in each")
        ids = None
        if u.dtype.kind in "iu" and v.dtype.kind in "iu":
            low, high = (min(u.min(), v.min()), max(u.max(), v.max())) if u.size else (0, -1)
            num_nodes = int(high) + 1 if num_nodes is None else whole_number(num_nodes, "num_nodes")
            if low < 0 or high >= num_nodes:
                raise ValueError(f"edges: {low if low < 0 else high} is not a node\n  nodes are numbered from 0 to {num_nodes - 1}")
        elif num_nodes is not None:
            raise ValueError(f"num_nodes: {num_nodes!r}, but the ends are ids of any kind\n  number the nodes from 0, or leave it out")
        else:
            ids, (u, v) = number(u, v)
            num_nodes = len(ids)
        require_memory("graph", BYTES_PER_NODE * num_nodes, "number the nodes from 0 without gaps, or give ids as text")
        if weight is not None:
            weight = checked_weights(weight, u.size, signed)
        core, report = _core.graph_from_edges(
            np.ascontiguousarray(u, np.uint32), np.ascontiguousarray(v, np.uint32), weight, num_nodes, duplicates, signed, settings(threads=threads)
        )
        graph = cls._of(core, report, ids=ids)
        _warn_of(report)
        return graph

    @property
    def num_nodes(self):
        return self._core.num_nodes

    @property
    def num_edges(self):
        return self._core.num_edges

    @property
    def is_weighted(self):
        """Whether edges have weights; otherwise each is 1."""
        return self._core.is_weighted

    @property
    def is_signed(self):
        """Whether some edges are negative."""
        return self._core.is_signed

    @property
    def nodes(self):
        """The ids of the nodes, in the order of every array that copse returns: a range, or a list."""
        if self._ids is not None:
            return self._ids
        first = self._core.first_number
        if first is not None:
            return range(first, first + self.num_nodes)
        self._ids = self._core.node_names()
        return self._ids

    def index(self, node):
        """The place of a node in :attr:`nodes`; ValueError if there is none."""
        first = self._core.first_number if self._ids is None else None
        if first is not None:
            number = whole(node)
            if number is not None and 0 <= number - first < self.num_nodes:
                return number - first
        elif self._ids is None and isinstance(node, str):
            place = self._core.find(node)
            if place is not None:
                return place
        else:
            if self._index is None:
                self._index = {name: i for i, name in enumerate(self.nodes)}
            try:
                return self._index[node]
            except (KeyError, TypeError):
                pass
        raise ValueError(f"node: the graph has no node {node!r}\n  {self._known()}")

    def indices(self, nodes):
        """The places of many nodes, as a uint32 array. A mask of all nodes, True for those that are meant, will do."""
        first = self._core.first_number if self._ids is None else None
        if hasattr(nodes, "iloc") and hasattr(nodes, "index") and str(getattr(nodes, "dtype", "")) in ("bool", "boolean"):
            nodes = nodes.index[nodes.to_numpy(dtype=bool, na_value=False)]  # a mask of pandas: the nodes that its index names
        array = np.asarray(nodes)
        if array.dtype.kind == "b" and array.size:
            if array.shape != (self.num_nodes,):
                raise ValueError(f"node: a mask of shape {array.shape} for {self.num_nodes:,} nodes\n  a mask has an entry per node; or list the nodes")
            return np.flatnonzero(array).astype(np.uint32)
        if first is not None and array.dtype.kind in "iu":
            places = array.astype(np.int64) - first
            wrong = (places < 0) | (places >= self.num_nodes)
            if wrong.any():
                raise ValueError(f"node: the graph has no node {array[wrong].ravel()[0]}\n  {self._known()}")
            return np.ascontiguousarray(places.ravel(), np.uint32)
        return np.fromiter((self.index(node) for node in nodes), np.uint32)

    def find(self, nodes):
        """The places of a list of nodes, as an int64 array; -1 where the graph has no such node."""
        first = self._core.first_number if self._ids is None else None
        array = whole_numbers(nodes) if first is not None and not any(isinstance(node, tuple) for node in nodes) else None
        if array is not None and array.ndim == 1 and array.dtype.kind in "iu":
            places = array.astype(np.int64) - first
            return np.where((places >= 0) & (places < self.num_nodes), places, -1)
        return np.fromiter((self._find(node) for node in nodes), np.int64, len(nodes))

    def _find(self, node):
        try:
            return self.index(node)
        except ValueError:
            return -1

    def _known(self):
        if not self.num_nodes:
            return "it has none"
        return f"its nodes are {self.nodes[0]!r} ... {self.nodes[-1]!r}"

    def to_scipy(self):
        """The adjacency matrix as a ``scipy.sparse.csr_array``; indices and weights are read-only views of the graph.
        Copied are weights of a signed graph, and indices of 2^31 entries or more, which SciPy wants in 64 bits."""
        indptr, indices, data = _core.Graph.arrays(self._core)
        if data is None:
            data = np.ones(indices.size, np.float32)
        if max(self.num_nodes, indices.size) <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        else:
            indices = indices.view(np.uint32).astype(np.int64)
        matrix = scipy.sparse.csr_array((self.num_nodes, self.num_nodes), dtype=data.dtype)
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr  # the constructor would choose types, and copy
        return matrix

    def to_networkx(self):
        """A ``networkx.Graph`` with the graph's ids, and attribute ``weight`` where it has weights."""
        import networkx

        out = networkx.Graph()
        nodes = self.nodes
        out.add_nodes_from(nodes)
        upper = scipy.sparse.triu(self.to_scipy(), format="coo")
        rows, columns, weights = upper.row.tolist(), upper.col.tolist(), upper.data.tolist()
        if self.is_weighted or self.is_signed:
            out.add_weighted_edges_from((nodes[u], nodes[v], w) for u, v, w in zip(rows, columns, weights))
        else:
            out.add_edges_from((nodes[u], nodes[v]) for u, v in zip(rows, columns))
        return out

    def components(self, *, threads=None):
        """The number of its connected component for every node, components numbered by their first node."""
        return self._core.components(num_threads(threads)).astype(np.int64)

    def info(self, *, threads=None):
        """Sizes, degrees, weights, components: a dictionary, as ``copse graph info`` prints it."""
        return self._core.statistics(num_threads(threads))

    def __len__(self):
        return self.num_nodes

    def __getitem__(self, rows):
        raise TypeError(
            "graph: it has no rows to take some of: a part of its nodes is another graph\n  copse.cross_validate(graph, y, learners) hides"
            " labels in turn, and keeps the graph whole"
        )

    def _repr_html_(self):
        facts = {"nodes": f"{self.num_nodes:,}", "edges": f"{self.num_edges:,}", "weights": "yes" if self.is_weighted else "no"}
        if self.is_signed:
            facts["signs"] = "yes"
        return html_table("copse.Graph", facts)

    def __repr__(self):
        def count(number, thing):
            return f"{number:,} {thing}" + ("" if number == 1 else "s")

        weighted = (", weighted" if self.is_weighted else "") + (", signed" if self.is_signed else "")
        return f"<copse.Graph: {count(self.num_nodes, 'node')}, {count(self.num_edges, 'edge')}{weighted}>"

    def __eq__(self, other):
        if not isinstance(other, Graph):
            return NotImplemented
        return self._core.same_edges(other._core) and list(self.nodes) == list(other.nodes)

    __hash__ = None

    def __reduce__(self):
        names = self._core.first_number
        if names is None:
            names = self._core.node_names()
        return _rebuild, (*_core.Graph.arrays(self._core), names, self._ids)


def _rebuild(indptr, indices, data, names, ids):
    core, report, _ = _core.graph_from_csr(indptr, indices, data, None, "sum", True, settings())
    core = core.named(names) if isinstance(names, list) else core.numbered_from(names)
    return Graph._of(core, report, ids=ids)


def _warn_of_unweighted(A, used, given):
    """A table with more columns than ends, and none of them taken for the weight."""
    if used is not None or given is False:
        return
    columns = column_names(A) or ()
    left = [name for name in columns if name.strip().lower() not in SOURCES + TARGETS]
    if left and len(columns) > 2:
        warn(
            f"graph: no column is taken for the weight (there are {', '.join(map(repr, left[:5]))})\n  weight= names one, weight=False says that there is none",
            GraphWarning,
        )


def _warn_of(report):
    if not report:
        return
    said = []
    if report["num_self_loops"]:
        said.append(f"{report['num_self_loops']:,} self-loops (the diagonal) dropped")
    if report["num_zero_weights"]:
        said.append(f"{report['num_zero_weights']:,} edges of weight 0 dropped")
    if report["num_cancelled"]:
        said.append(f"{report['num_cancelled']:,} pairs of nodes whose listings add to 0 dropped")
    if report["num_merged"] and not report["listed_both_ways"]:
        said.append(f"{report['num_merged']:,} listings merged into another of the same pair of nodes: the matrix is not symmetric")
    if said:
        warn("graph: " + "; ".join(said), GraphWarning)


def example_graph():
    """Six friends in two circles that one weak edge joins: the graph of the README, for examples.

    >>> copse.example_graph()
    <copse.Graph: 6 nodes, 7 edges, weighted>
    """
    u = ["ann", "bob", "cid", "cid", "dora", "eve", "fay"]
    v = ["bob", "cid", "ann", "dora", "eve", "fay", "dora"]
    return Graph.from_edges(u, v, [3, 2, 1, 0.1, 4, 3, 1])


def as_graph(A, *, threads=None):
    """`A` as a Graph, whatever it is: see :class:`Graph`; a file of points becomes the graph of their neighbours."""
    if isinstance(A, Graph):
        return A
    if isinstance(A, (str, os.PathLike)) and path_text(A) != "-" and os.path.exists(A) and _core.is_points_file(path_text(A)):
        from ._points import neighbors_graph  # which needs graphs

        return neighbors_graph(A, threads=threads)
    return Graph(A, threads=threads)


def read_graph(path, *, format="automatic", duplicates="sum", nodes=None, signed=False, columns=None, threads=None, progress=None):
    """Reads a graph from a file: edge list, ``.copse``, GraphML, GEXF, GML, Pajek, JSON (node-link, lines), Matrix Market,
    METIS, SciPy ``.npz``, adjacency list or DIMACS, compressed or not.

    ``format`` is needed only where first bytes and name mislead; ``nodes`` is a file of ids that no edge may mention;
    with ``signed`` weights below 0 are negative edges. ``columns`` names columns or attributes, as in
    ``{"source": "from_account", "target": "to_account", "weight": "amount"}``; ``{"node": "label"}`` is what nodes of a
    GraphML, GEXF or JSON file are called by.
    See docs/formats.md.

    >>> copse.write_graph("friends.tsv", copse.example_graph())
    >>> copse.read_graph("friends.tsv").nodes
    ['ann', 'bob', 'cid', 'dora', 'eve', 'fay']
    """
    nodes = "" if nodes is None else path_text(nodes)
    word(format, "format"), word(duplicates, "duplicates")
    core, report = _core.read_graph(path_text(path), format, duplicates, nodes, bool(signed), [(str(k), str(v)) for k, v in (columns or {}).items()], settings(threads=threads, progress=progress))
    return Graph._of(core, report)


def write_graph(path, A, *, embedding=False, seed=None, threads=None):
    """Writes a graph; the extension decides the format: ``.copse`` (opens at once), ``.mtx``, ``.graphml``, ``.gexf``, ``.gml``,
    ``.net`` (Pajek), ``.json`` (node-link); ``.tsv``, ``.csv`` and the like are edge lists.
    With ``embedding`` a ``.copse`` file keeps the graph's spectral embedding (512 bytes per node), with which ``Embedding`` and
    ``Auto`` of the same seed then begin."""
    if embedding and not path_text(path).endswith(".copse"):
        raise ValueError("embedding: is kept in .copse files\n  call the file so, or leave it away")
    graph = as_graph(A, threads=threads)
    core = graph._core
    if graph._ids is not None and core.first_number is not None:
        names = [str(node) for node in graph._ids]
        if len(set(names)) < len(names):
            twice = collections.Counter(names).most_common(1)[0][0]
            raise ValueError(f"graph: two nodes are called {twice!r} when written\n  give ids that differ as text")
        core = core.named(names)
    _core.write_graph(path_text(path), core, bool(embedding), settings(seed, threads))
