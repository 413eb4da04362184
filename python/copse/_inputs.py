# SPDX-License-Identifier: Apache-2.0
"""Edges as other libraries hold them: tables, SciPy, networkx, igraph, NetworKit, arrays, lists."""
import contextlib

import numpy as np

from . import _core
from ._settings import real_numbers

SOURCES = ("source", "src", "from", "sender", "u")
TARGETS = ("target", "dst", "to", "receiver", "v")
WEIGHTS = ("weight", "w", "amount", "value", "score")


# -- tables: pandas, polars, pyarrow, DuckDB, whatever has __arrow_c_stream__ -------------------------------------


def is_table(A):
    return hasattr(A, "__arrow_c_stream__") or _is_pandas(A)


def _is_pandas(A):
    return hasattr(A, "iloc") and hasattr(A, "columns")


def column_names(A):
    """The names of the columns; None where only reading the table would tell."""
    if hasattr(A, "column_names"):  # pyarrow, whose columns are arrays
        return list(A.column_names)
    names = getattr(A, "columns", None)
    return None if names is None else [str(name) for name in names]


def names_edges(A):
    """Whether the columns of a table are called like those of a list of edges."""
    names = {name.strip().lower() for name in (column_names(A) or ())} if is_table(A) else set()
    return bool(names & set(SOURCES)) and bool(names & set(TARGETS))


def edges_of_table(A, source, target, weight, duplicates, signed, run):
    """(core, report, ids, the column of the weights or None) of a table of edges; rows are read where they lie."""
    columns, arrow = column_names(A), None
    if columns is None:
        arrow = _arrow(A)
        columns = arrow.columns
    chosen = [_column(columns, given, known, name) for given, known, name in ((source, SOURCES, "source"), (target, TARGETS, "target"))]
    if chosen[0] == chosen[1]:
        raise ValueError(f"target: {chosen[1]!r} is the column of the sources, too\n  source= and target= name two columns")
    weight = _weight_column(columns, chosen, weight)
    chosen += [] if weight is None else [weight]
    if _is_pandas(A):  # others hand out all columns at no cost
        A = A.iloc[:, [columns.index(name) for name in chosen]]
        columns = chosen
        try:
            arrow = _arrow(A)
        except ImportError:  # pandas hands its columns out through pyarrow, which may not be there
            return *_edges_of_columns([A.iloc[:, i] for i in range(len(chosen))], chosen, duplicates, signed, run), weight
        except Exception as error:  # words and numbers in one column, for one
            raise ValueError(f"table: {error}\n  every column holds values of one kind") from error
    arrow = arrow or _arrow(A)
    places = [arrow.columns.index(name) for name in chosen]
    _check_kinds(chosen, [arrow.kind(place) for place in places])
    core, report, integers = arrow.graph(*places[:2], places[2] if weight is not None else None, duplicates, signed, run)
    return core, report, None if integers is None else integers.tolist(), weight


def _arrow(A):
    return _core.ArrowTable(A.__arrow_c_stream__())


def _column(columns, given, known, argument):
    shown = ", ".join(repr(name) for name in columns)
    if given is not None:
        if columns.count(str(given)) != 1:
            raise ValueError(f"{argument}: the table has {'no' if str(given) not in columns else 'more than one'} column {given!r}\n  its columns are {shown}")
        return str(given)
    found = [name for name in columns if name.strip().lower() in known]
    if len(found) != 1:
        what = f"columns {', '.join(map(repr, found))} could all be it" if found else f"none of the columns {shown} is called {', '.join(known[:-1])} or {known[-1]}"
        raise ValueError(f"{argument}: {what}\n  name the columns: source=, target= and, where edges have weights, weight=")
    return found[0]


def _weight_column(columns, ends, given):
    if given is False:
        return None
    left = [name for name in columns if name not in ends]
    if given is None and not any(name.strip().lower() in WEIGHTS for name in left):
        return None
    return _column(left, given, WEIGHTS, "weight")


def _check_kinds(names, kinds):
    for name, kind in zip(names[:2], kinds):
        if kind not in ("integer", "text"):
            raise ValueError(
                f"table: column {name!r} holds {_shown(kind)}, not ids\n  ids are whole numbers or text; numbers beside missing values"
                ' become fractions: df.dropna(subset=[...]).astype({"' + name + '": "int64"})'
            )
    if kinds[0] != kinds[1]:
        raise ValueError(f"table: column {names[0]!r} holds {_shown(kinds[0])}, {names[1]!r} {_shown(kinds[1])}\n  ids of both ends are of one kind: .astype(str)")
    if kinds[2:] and kinds[2] not in ("integer", "real", "boolean"):
        raise ValueError(f"weight: column {names[2]!r} holds {_shown(kinds[2])}, not numbers\n  weight=False reads the edges without weights")


def _shown(kind):
    known = {"integer": "whole numbers", "real": "fractions", "boolean": "truth values", "text": "text", "n": "nothing"}
    if kind in known:
        return known[kind]
    times = {"t": "times", "d": "decimals", "+": "lists", "z": "bytes", "Z": "bytes"}
    return times.get(kind[0], f"values of Arrow type {kind!r}")


def _edges_of_columns(columns, names, duplicates, signed, run):
    kinds = {"i": "integer", "u": "integer", "f": "real", "b": "boolean", "O": "text", "T": "text", "U": "text", "M": "t"}
    arrays = [column.to_numpy() for column in columns]
    for name, column in zip(names, columns):
        if column.isna().any():
            raise ValueError(f"table: row {int(np.argmax(column.isna().to_numpy()))}: column {name!r} has no value\n  leave such rows out, as df.dropna(subset=[...]) does")
    _check_kinds(names, [kinds.get(array.dtype.kind, "n") for array in arrays])
    u, v = arrays[:2]
    if u.dtype.kind in "iu":
        ids, places = np.unique(np.concatenate([u, v]), return_inverse=True)
        ids, u, v = ids.tolist(), *places.astype(np.uint32).reshape(2, -1)
    else:
        ids, (u, v) = number(u, v)
    weight = checked_weights(arrays[2], u.size, signed) if len(arrays) > 2 else None
    core, report = _core.graph_from_edges(u, v, weight, len(ids), duplicates, signed, run)
    return core, report, None if ids == list(range(len(ids))) else ids


# -- arrays and lists ---------------------------------------------------------------------------------------------


def is_edges(A):
    """Whether `A` is surely a list of edges: a tuple of two or three arrays, or a list of tuples that begin with two ids of
    any kind but numbers."""
    if isinstance(A, tuple) and len(A) in (2, 3):
        return all(np.ndim(column) == 1 and not isinstance(column, (tuple, str)) for column in A)
    return isinstance(A, list) and bool(A) and all(isinstance(row, tuple) and len(row) in (2, 3) for row in A) and any(isinstance(end, str) for end in A[0][:2])


def is_edge_index(A):
    """An array of two rows and many columns of whole numbers, as PyTorch Geometric has it."""
    return getattr(A, "ndim", 0) == 2 and A.shape[0] == 2 and A.shape[1] > 3 and hasattr(A, "dtype") and "int" in str(A.dtype)


def edges_of(A):
    """The columns (source, target[, weight]) of arrays, tensors and lists; None where `A` is none of these."""
    if isinstance(A, tuple) and len(A) in (2, 3) and all(np.ndim(column) == 1 and not isinstance(column, tuple) for column in A):
        return A
    if isinstance(A, (list, tuple)):
        return _columns_of_rows(list(A))
    array = _array(A)
    if array is None or array.ndim != 2:
        return None
    rows, columns = array.shape
    if rows == columns or (rows == 2 and columns in (2, 3)):
        raise ValueError(
            f"graph: an array of {rows:,} by {columns:,} can be read in more than one way\n  give copse.Graph.from_edges(source, target), or"
            " scipy.sparse.csr_array(A) for an adjacency matrix"
        )
    if rows == 2 and array.dtype.kind in "iu":
        return array[0], array[1]
    if columns == 2 and array.dtype.kind in "iuUO":
        return array[:, 0], array[:, 1]
    if columns == 3 and array.dtype.kind in "iuf":
        ends = array[:, :2]
        if array.dtype.kind == "f":
            if not (ends == np.floor(ends)).all():
                raise ValueError("edges: the first two columns are not whole numbers\n  rows are (source, target, weight)")
            ends = ends.astype(np.int64)
        return ends[:, 0], ends[:, 1], array[:, 2]
    return None


def _columns_of_rows(rows):
    lengths = {len(row) for row in rows if isinstance(row, (tuple, list))}
    if not rows or len(lengths) != 1 or not lengths <= {2, 3} or not all(isinstance(row, (tuple, list)) for row in rows):
        raise ValueError("edges: not a list of (source, target) or (source, target, weight)\n  all of one length")
    return tuple(list(column) for column in zip(*rows))


def _array(A):
    if isinstance(A, np.ndarray):
        return A
    if hasattr(A, "__dlpack__"):
        with contextlib.suppress(Exception):  # on another device, or of a type that NumPy does not have
            return np.from_dlpack(A)
    if hasattr(A, "__array__"):
        try:
            return np.asarray(A)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"edges: {type(A).__name__} cannot be read as an array: {error}\n  move it to the CPU first: A.cpu()") from error
    return None


# -- igraph, NetworKit --------------------------------------------------------------------------------------------


def is_igraph(A):
    return hasattr(A, "get_edgelist") and hasattr(A, "vs") and hasattr(A, "es")


def is_networkit(A):
    return hasattr(A, "iterEdgesWeights") and hasattr(A, "upperNodeIdBound")


def edges_of_igraph(A, weight):
    """(number of nodes, ids or None, source, target, weights or None)"""
    ends = np.array(A.get_edgelist(), np.uint32).reshape(-1, 2)
    name = "weight" if weight is None else weight
    if weight not in (None, False) and name not in A.es.attributes():
        raise ValueError(f"weight: the edges have no attribute {name!r}\n  theirs are {', '.join(A.es.attributes()) or 'none'}")
    weights = A.es[name] if weight is not False and name in A.es.attributes() else None
    ids = A.vs["name"] if "name" in A.vs.attributes() else None
    if ids is not None and len(set(ids)) < len(ids):
        raise ValueError("graph: two vertices have the same name\n  give vs['name'] that differ, or none at all")
    return A.vcount(), ids, ends[:, 0], ends[:, 1], weights


def edges_of_networkit(A, weight):
    nodes = list(A.iterNodes())
    ids = None if nodes == list(range(len(nodes))) else nodes
    rows = np.array(list(A.iterEdgesWeights()), np.float64).reshape(-1, 3)
    ends = rows[:, :2].astype(np.int64)
    if ids is not None:
        ends = np.searchsorted(nodes, ends)
    weights = rows[:, 2] if A.isWeighted() and weight is not False else None
    return len(nodes), ids, ends[:, 0], ends[:, 1], weights


# -- SciPy, networkx, and lists of ends and weights -----------------------------------------------------------------


def ends(values):
    """One end of every edge. A missing one is an error: NaN would be a node of its own wherever it stands."""
    array = whole_numbers(id_array(values))
    missing = np.isnan(array) if array.dtype.kind == "f" else np.array([_is_nothing(end) for end in array.ravel()], bool) if array.dtype == object else np.zeros(1, bool)
    if missing.any():
        raise ValueError(f"edges: edge {int(np.argmax(missing))} has no node at one end ({array.ravel()[np.argmax(missing)]})\n  leave such edges out")
    if array.dtype.kind not in "iufUObSTmM":
        raise ValueError(f"edges: {array.dtype} are no ids of nodes\n  ids are whole numbers or text")
    return array


def id_array(values):
    """An array of ids; a list of several types is kept as it is, where NumPy would make text of numbers."""
    if hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
        values = values.to_numpy()
    if isinstance(values, (list, tuple)) and len({type(value) for value in values}) > 1:
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return values


def _is_nothing(end):
    return end is None or type(end).__name__ in ("NAType", "NaTType") or isinstance(end, (float, np.floating)) and end != end


def whole_numbers(values):
    """An array; of numbers where its objects are all whole numbers of 64 bits."""
    array = np.asarray(values)
    if array.dtype == object and all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in array.flat):
        with contextlib.suppress(OverflowError):
            return array.astype(np.int64)
    return array


def whole(value):
    """The whole number that a value is or, as text, says; None where it is none, as True, 1.5, infinity and a masked value."""
    try:
        number = int(value)
    except (TypeError, ValueError, ArithmeticError, np.ma.MaskError):
        return None
    return number if isinstance(value, str) or (number == value and not isinstance(value, (bool, np.bool_))) else None


def with_sound_indices(A, where):
    """A matrix of the same arrays, once its indices are known to point into it: SciPy's own routines trust them, and crash."""
    try:
        if A.format == "coo":
            return type(A)((_native(A.data), (A.row, A.col)), shape=A.shape)
        if A.format in ("csr", "csc", "bsr"):
            A = type(A)((_native(A.data), A.indices, A.indptr), shape=A.shape)
            A.check_format(full_check=True)
        return A
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"{where}: the arrays of the sparse matrix do not fit together: {error}\n  make it again from its entries") from error


def _native(array):
    """The array itself where it is contiguous and in this machine's byte order."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


def _freeze(array):
    """Nobody writes to the array, nor through those that it is a view of."""
    while isinstance(array, np.ndarray):
        array.flags.writeable = False
        array = array.base


def from_sparse(A, duplicates, signed, copy, run):
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        shape = " by ".join(f"{n:,}" for n in A.shape)
        raise ValueError(
            f"matrix: it is {shape}, not square\n  a graph has as many rows as columns; for two kinds of nodes give"
            " scipy.sparse.block_array([[None, B], [B.T, None]]), for points copse.neighbors_graph(X)"
        )
    if A.dtype.kind not in "biuf":
        raise ValueError(f"matrix: its data are of type {A.dtype}, not real numbers\n  use A.astype('float32')")
    if A.format not in ("csr", "csc"):
        A = with_sound_indices(A, "matrix")
    if A.format == "coo" and duplicates != "sum":
        core, report = _core.graph_from_edges(
            np.ascontiguousarray(A.row, np.uint32), np.ascontiguousarray(A.col, np.uint32), checked_weights(A.data, A.nnz, signed), A.shape[0], duplicates, signed, run
        )
        return core, report, False
    if A.format not in ("csr", "csc"):  # a column of a symmetric matrix is read like a row
        A = A.tocsr()
    data = A.data
    if data.dtype.kind == "f" and data.dtype.itemsize not in (4, 8):
        data = data.astype(np.float32 if data.dtype.itemsize < 4 else np.float64)
    arrays = _native(A.indptr), _native(A.indices), _native(data)
    core, report, is_view = _core.graph_from_csr(*arrays, None if copy else arrays, duplicates, signed, run)
    if is_view:
        for array in (A.indptr, A.indices, A.data):
            _freeze(array)
    if not is_view and duplicates == "sum" and report["num_merged"] and not A.has_canonical_format:
        # To SciPy an entry that stands there twice is their sum. It trusts its arrays, so they had to be checked before.
        A = A.copy()
        A.sum_duplicates()
        return from_sparse(A, duplicates, signed, copy, run)
    return core, report, is_view


def is_networkx(A):
    return hasattr(A, "adjacency") and hasattr(A, "is_multigraph") and hasattr(A, "edges")


def from_networkx(A, weight, duplicates, signed, run):
    weight = "weight" if weight is None else weight
    ids = list(A.nodes)
    index = {node: i for i, node in enumerate(ids)}
    edges = [(a, b, None) for a, b in A.edges()] if weight is False else list(A.edges(data=weight))
    u = np.fromiter((index[a] for a, _, _ in edges), np.uint32, len(edges))
    v = np.fromiter((index[b] for _, b, _ in edges), np.uint32, len(edges))
    weights = None
    if any(w is not None for _, _, w in edges):
        weights = checked_weights([1.0 if w is None else w for _, _, w in edges], len(edges), signed)
    core, report = _core.graph_from_edges(u, v, weights, len(ids), duplicates, signed, run)
    return core, report, False, None if ids == list(range(len(ids))) else ids


def checked_weights(weight, count, signed):
    weight = real_numbers(weight, "edges")
    if weight.shape != (count,):
        raise ValueError(f"edges: {weight.size:,} weights for {count:,} edges\n  give one an edge")
    with np.errstate(over="ignore", under="ignore"):
        narrow = weight.astype(np.float32)
    wrong = ~(((weight >= 0) | signed) & np.isfinite(narrow) & ((narrow != 0) | (weight == 0)))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            f"edges: weight {place} is {weight[place]}, not a {'' if signed else 'positive '}number that fits into 32 bits\n"
            "  weights are similarities (> 0); leave the edge out to mean \"no edge\""
            + (", or read negative edges with signed=True" if weight[place] < 0 and not signed else "")
        )
    return narrow


def number(u, v):
    index = {}
    pairs = np.empty((2, u.size), np.uint32)
    for i, (a, b) in enumerate(zip(u.tolist(), v.tolist())):
        pairs[0, i] = index.setdefault(a, len(index))
        pairs[1, i] = index.setdefault(b, len(index))
    return list(index), pairs
