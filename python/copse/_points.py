# SPDX-License-Identifier: Apache-2.0
"""Points: their graph; where one is expected, checked as scikit-learn does; new ones answered by the nearest known ones."""
import os

import numpy as np
import scipy.sparse

from . import _core
from ._graph import Graph, GraphWarning
from ._inputs import is_edge_index, is_edges, names_edges, with_sound_indices
from ._labels import has_index
from ._settings import available_memory, path_text, real_numbers, settings, warn


def is_points(X, y=None, neighbors=None):
    """Whether `X` is a table of points, a row each, and no graph. What could be either is an error."""
    if scipy.sparse.issparse(X):
        if X.ndim == 2 and X.shape[0] == X.shape[1]:
            return False
        if neighbors is None:
            shape = " by ".join(f"{n:,}" for n in X.shape)
            raise ValueError(
                f"X: a sparse matrix that is not square ({shape}) is no graph\n  rows of an adjacency matrix, as cross_val_score cuts them: give"
                " the whole to copse.cross_validate(graph, y, learners); points: neighbors=10 says so; two kinds of nodes:"
                " scipy.sparse.block_array([[None, B], [B.T, None]])"
            )
        return True
    if is_edges(X) or is_edge_index(X) and not (np.ndim(y) == 1 and len(y) == 2):
        return False
    if names_edges(X):
        if _may_be_points(X, y):
            raise ValueError("X: a table of edges, or of points?\n  give copse.Graph(X) for edges, X.to_numpy() for points")
        return False
    if isinstance(X, list) and X and all(isinstance(row, tuple) and len(row) in (2, 3) for row in X):
        raise ValueError("X: a list of tuples of numbers, edges or points?\n  give copse.Graph(X) for edges, numpy.array(X) for points")
    return hasattr(X, "__array__") or isinstance(X, (list, tuple))


def _may_be_points(X, y):
    """A label for every row, and columns called u and v or so."""
    return not isinstance(y, (dict, str)) and hasattr(y, "__len__") and len(y) == len(X) and hasattr(X, "shape") and not has_index(y)


def checked(X, owner):
    """`X` as an array of two dimensions of finite numbers; the words of the errors are scikit-learn's."""
    if scipy.sparse.issparse(X):
        X = with_sound_indices(X, "points").tocsr()
        values = X.data
    else:
        X = np.asarray(X)
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if X.dtype.kind in "OSU":
            try:
                X = X.astype(np.float64)
            except (TypeError, ValueError) as error:
                if isinstance(error, TypeError):
                    raise TypeError(f"argument must be a string or a number: {error}") from error
                raise ValueError(f"points: cannot be read as numbers: {error}") from error
        values = X
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: one row per point.")
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if X.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required by {owner}.")
    if X.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    _warn_of_adjacency(X, values)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        what = "NaN" if np.isnan(values).any() else "infinity"
        raise ValueError(f"Input X contains {what}.")
    return X


def _warn_of_adjacency(X, values):
    """A dense array is points, always; one that is symmetric with an empty diagonal was hardly meant so."""
    if values is not X or not 3 <= X.shape[0] == X.shape[1] <= 5000 or X.diagonal().any() or not X.any():
        return
    if (X == X.T).all():
        warn(
            "points: this symmetric array looks like an adjacency matrix, but arrays are points, a row each\n  give"
            " scipy.sparse.csr_array(A) if it is a graph",
            GraphWarning,
        )


def graph_of(X, neighbors, seed, threads, progress):
    """The neighbours' graph of points; `neighbors` is k, or the arguments of neighbors_graph."""
    options = {"k": neighbors} if neighbors is None or not isinstance(neighbors, dict) else dict(neighbors)
    if X.shape[0] == 1:
        return Graph(scipy.sparse.csr_array((1, 1), dtype=np.float32))
    return neighbors_graph(X, seed=seed, threads=threads, progress=progress, **options)


class Nearest:
    """Scores of new points: the mean over their k nearest known points, weighted by exp(-d^2 / s^2) with s the
    distance of the farthest of these. A known point answers for itself."""

    def __init__(self, X, neighbors):
        options = neighbors if isinstance(neighbors, dict) else {"k": neighbors}
        self._k = min(options.get("k") or 10, X.shape[0])
        self._unit = options.get("metric") == "cosine"
        self._points = self._shaped(X)
        self._tree = None

    def _shaped(self, X):
        X = np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, np.float64)
        if self._unit:
            X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), np.finfo(float).tiny)
        return X

    def holds(self, X):
        """Whether these are the known points, in their order."""
        return X.shape[0] == self._points.shape[0] and bool((self._shaped(X) == self._points).all())

    def scores(self, X, scores, threads):
        if self._tree is None:
            from scipy.spatial import cKDTree

            self._tree = cKDTree(self._points)
        distance, nearest = self._tree.query(self._shaped(X), self._k, workers=threads)
        distance, nearest = distance.reshape(X.shape[0], -1), nearest.reshape(X.shape[0], -1)
        too_far = ~np.isfinite(distance).all(1)
        if too_far.any():
            raise ValueError(f"points: row {np.argmax(too_far)} is farther from the known points than a number can say\n  divide all columns by a constant")
        scale = distance[:, -1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.exp(-((distance / scale) ** 2))
        same = distance == 0
        weight = np.where(same.any(1, keepdims=True), same, weight)
        weight = weight / weight.sum(1, keepdims=True)
        return np.einsum("ik,ikc->ic", weight, scores[nearest])


def neighbors_graph(
    X,
    k=None,
    *,
    metric=None,
    weights=None,
    symmetrize=None,
    radius=None,
    complete=False,
    scale=None,
    connect=False,
    method=None,
    recall=None,
    tree=None,
    seed=None,
    threads=None,
    progress=None,
):
    """The similarity graph of points: each with its k nearest, all within a radius, or all pairs.

    What is None is the library's choice; docs/points.md describes every option.

    Parameters
    ----------
    X : array (num_points, num_columns), scipy sparse matrix, or path of a file of points
        Values become 32-bit floats; a C-contiguous float32 array is used where it lies.
    k : int, optional
        Each point with its k nearest (10).
    metric : {"euclidean", "cosine", "inner"}
    weights : {"local", "none", "gaussian", "heat", "similarity"}
    symmetrize : {"union", "mutual"}
        An edge if one of the two, or if both, have the other among their k nearest.
    radius, complete : float, bool
        Instead of k: pairs within a distance, or all pairs.
    tree : {"mst", "spt"}, optional
        Instead of k: the minimum or shortest-path tree (from the first point) of all pairs under exp(-d^2 / scale^2), in O(n) memory.
    scale : float, optional
        Of gaussian and heat weights; chosen from the points by default.
    connect : bool
        Adds the shortest edges that join the components.
    method : {"auto", "exact", "approximate"}
        How neighbours are found.
    recall : float, optional
        The share of the true neighbours that ``approximate`` is to find.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.3], [5.0], [5.2]])
    >>> copse.neighbors_graph(X, 1)
    <copse.Graph: 5 nodes, 3 edges, weighted>
    """
    choices = _core.NeighborChoices()
    given = {
        "k": k, "metric": metric, "weights": weights, "symmetrize": symmetrize, "radius": radius, "scale": scale,
        "method": method, "recall": recall, "tree": tree,
    }  # fmt: skip
    for name, value in given.items():
        try:
            setattr(choices, name, value)
        except (TypeError, RuntimeError):
            raise ValueError(f"{name}: {value!r} is not a value it can take") from None
    choices.complete, choices.connect, choices.max_bytes = bool(complete), bool(connect), available_memory()
    run = settings(seed, threads, progress)
    if isinstance(X, (str, os.PathLike)):
        core, report = _core.neighbors_of_file(path_text(X), choices, run)
    elif scipy.sparse.issparse(X):
        X = with_sound_indices(X, "points").tocsr()
        if not X.has_canonical_format or (X.data == 0).any():
            X = X.copy()
            X.sum_duplicates()
            X.eliminate_zeros()
        core, report = _core.neighbors_of_sparse(
            X.indptr.astype(np.uint64), np.ascontiguousarray(X.indices, np.uint32), np.ascontiguousarray(X.data, np.float32), X.shape[1], choices, run
        )
    else:
        X = np.asarray(X)
        if X.dtype == object:
            X = real_numbers(X, "points")
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise ValueError(f"points: {X.ndim} dimensions of {X.dtype}, not a table of numbers\n  give an array of one row per point")
        core, report = _core.neighbors_of_dense(np.ascontiguousarray(X, np.float32), choices, run)
    return Graph._of(core, report)
