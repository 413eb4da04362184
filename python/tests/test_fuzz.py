# SPDX-License-Identifier: Apache-2.0
"""Arguments nobody would write by hand, against the same call on plain arrays, or against a slow loop.

A second of each by default; COPSE_FUZZ_SECONDS=600 python -m pytest -s python/tests/test_fuzz.py for longer, COPSE_FUZZ_SEED=17 for one case again.
"""
import decimal
import fractions
import functools
import os
import pickle
import time
import warnings

import numpy as np
import pandas
import scipy.sparse as sp
from conftest import LEARNERS, random_graph, some_labels

import copse

SECONDS = float(os.environ.get("COPSE_FUZZ_SECONDS", "1"))
ONE = os.environ.get("COPSE_FUZZ_SEED")
REFUSALS = (ValueError, TypeError, KeyError)


def fuzz(test):
    """Runs test(rng) on seeds 0, 1, 2, ... until the time is over, and names the seed that fails."""

    def run():
        stop, seed = time.monotonic() + SECONDS, 0
        while seed < 25 or time.monotonic() < stop:
            number = int(ONE) if ONE else seed
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    test(np.random.default_rng(number))
                except Exception as error:
                    raise AssertionError(f"COPSE_FUZZ_SEED={number}: {type(error).__name__}: {error}") from error
            seed += 1
            if ONE:
                break
        print(f"\n{test.__name__}: {seed:,} executions")

    run.__name__, run.__doc__, run.once = test.__name__, test.__doc__, test
    return run


def pick(rng, choices):
    return choices[rng.integers(len(choices))]


def assert_told(error):
    """A refusal in words of ours or of NumPy, SciPy and Python; not the signature of a binding."""
    text = str(error)
    assert text.strip() and "incompatible function arguments" not in text and "std::" not in text, repr(text)


# -- the same values in other clothes ------------------------------------------------------------------------------


class Subclass(np.ndarray):
    pass


def strided(a):
    wide = np.zeros((*a.shape, 3), a.dtype)
    wide[..., 1] = a
    return wide[..., 1]


def backwards(a):
    return a[::-1].copy()[::-1]


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def unaligned(a):
    raw = np.zeros(a.nbytes + 1, np.uint8)
    raw[1:] = np.frombuffer(a.tobytes(), np.uint8)
    return raw[1:].view(a.dtype).reshape(a.shape)


def as_series(a):
    return pandas.Series(a, index=np.arange(a.size)[::-1]) if a.ndim == 1 else pandas.DataFrame(a)


CLOTHES = {
    "as it is": lambda a: a,
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "strided": strided,
    "backwards": backwards,
    "read-only": read_only,
    "unaligned": unaligned,
    "Fortran": np.asfortranarray,
    "subclass": lambda a: a.view(Subclass),
    "masked": np.ma.masked_array,
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "objects": lambda a: a.astype(object),
    "pandas": as_series,
    "memoryview": lambda a: memoryview(np.ascontiguousarray(a)),
}
WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


def dressed(rng, a, types=()):
    """The same numbers, of another type and in other clothes."""
    a = np.asarray(a)
    if types:
        a = a.astype(pick(rng, types))
    return pick(rng, list(CLOTHES.values()))(a)


def in_place(y):
    """A Series is read by its index; here its values are meant as they stand."""
    return y.set_axis(range(len(y))) if hasattr(y, "set_axis") else y


def result(call):
    try:
        return call()
    except REFUSALS as error:
        assert_told(error)
        return error


def same(a, b):
    """Equal to the bit, whatever holds it."""
    if isinstance(a, Exception) or isinstance(b, Exception):
        return type(a) is type(b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if sp.issparse(a):
        return same(a.toarray(), b.toarray())
    return pickle.dumps(np.asarray(a).tolist()) == pickle.dumps(np.asarray(b).tolist())


@fuzz
def test_the_same_values_in_other_clothes_give_the_same_answer(rng):
    n = int(rng.integers(2, 24))
    A = random_graph(n, 2 * n, int(rng.integers(1000)))
    graph = copse.Graph(A)
    y = some_labels(n, min(n, 3), 0.5, int(rng.integers(1000)))
    nodes = rng.integers(0, n, int(rng.integers(0, 9)))
    b, X = rng.normal(size=n), np.round(rng.normal(size=(n, 3)), 2)
    u, v = rng.integers(0, n, (2, 5))
    weights = np.round(rng.uniform(0.5, 2, 5), 1)
    learner = copse.learner(pick(rng, [name for name in LEARNERS if name != "halving"]), threads=1)
    estimator = learner.fit(graph, y)
    kernel = copse.random_spanning_tree(graph).kernel()
    edges = lambda u, v, w: copse.Graph.from_edges(u, v, w, num_nodes=n).to_scipy()  # noqa: E731
    calls = [
        (lambda y: copse.learner(learner._learner, threads=1).fit(graph, in_place(y)).predict_proba(), [(y, WHOLE[:4])]),
        (lambda nodes: graph.indices(nodes), [(nodes, WHOLE)]),
        (lambda nodes: estimator.predict(nodes), [(nodes, WHOLE)]),
        (lambda nodes: estimator.predict_proba(nodes), [(nodes, WHOLE)]),
        (lambda u, v: copse.effective_resistance(graph, u, v), [(u, WHOLE), (v, WHOLE)]),
        (lambda pairs: copse.effective_resistance(graph, pairs), [(np.stack([u, v], 1), WHOLE)]),
        (lambda b: copse.laplacian_solve(graph, b), [(b, ())]),
        (lambda b, g: copse.laplacian_solve(graph, b, grounded=g), [(b, ()), (u, WHOLE)]),
        (lambda x: kernel.multiply(x), [(b, ())]),
        (lambda u, v: kernel.resistance(u, v), [(u, WHOLE), (v, WHOLE)]),
        (lambda u, v: kernel.gram(u, v), [(u, WHOLE), (v, WHOLE)]),
        (lambda X: copse.neighbors_graph(X, 1).to_scipy(), [(X, (np.float32, np.float64))]),
        (lambda nodes: copse.query(graph, y, strategy="cover", k=2, candidates=nodes), [(nodes, WHOLE)]),
        (edges, [(u, WHOLE), (v, WHOLE), (weights, (np.float32, np.float64))]),
        (lambda nodes, y: copse.learner(learner._learner, threads=1).start(graph).play(nodes, y), [(nodes, WHOLE), (np.arange(nodes.size) % 2, WHOLE)]),
    ]  # fmt: skip
    call, arguments = pick(rng, calls)
    want = result(lambda: call(*(a for a, _ in arguments)))
    given = [dressed(rng, a, types) for a, types in arguments]
    got = result(lambda: call(*given))
    assert same(want, got), (given, want, got)


# -- matrices, by a slow loop --------------------------------------------------------------------------------------


def reference(entries, n, duplicates, is_symmetric):
    """The weights that a list of (row, column, weight) stands for; `merge` joins what differs by direction."""
    merge = {"sum": lambda a, b: a + b, "max": max, "min": min}[duplicates]
    seen = {}
    for i, j, w in entries:
        if i != j and w != 0:
            seen[i, j] = seen[i, j] + w if (i, j) in seen else w  # to SciPy duplicates are their sum
    want = np.zeros((n, n))
    for (i, j), w in seen.items():
        back = seen.get((j, i))
        want[i, j] = want[j, i] = w if back is None or is_symmetric else merge(w, back)
    return want


@fuzz
def test_any_matrix_of_any_format_and_type_becomes_the_graph_of_a_slow_loop(rng):
    n = int(rng.integers(0, 9))
    count = int(rng.integers(0, 3 * n + 1)) if n else 0
    rows, columns = rng.integers(0, max(n, 1), (2, count))
    weights = rng.integers(0, 5, count)
    if rng.random() < 0.5:
        rows, columns, weights = np.concatenate([rows, columns]), np.concatenate([columns, rows]), np.concatenate([weights, weights])
    order = rng.permutation(rows.size)
    rows, columns, weights = rows[order], columns[order], weights[order]
    dtype = pick(rng, [np.float32, np.float64, np.float16, np.longdouble, ">f4", ">f8", np.int8, np.int64, np.uint16, ">i4"])
    A = sp.coo_array((weights.astype(float), (rows, columns)), shape=(n, n))
    summed = A.toarray()
    A = A.asformat(pick(rng, ["coo", "csr", "csc", "lil", "dok", "bsr", "dia"]) if n else "csr")
    if A.format in ("csr", "csc"):
        A.indices = dressed_array(rng, A.indices.astype(pick(rng, [np.int32, np.int64, ">i4", ">i8"])))
        A.indptr = dressed_array(rng, A.indptr.astype(pick(rng, [np.int32, np.int64, ">i8"])))
        A.data = dressed_array(rng, A.data.astype(dtype))
    duplicates = pick(rng, ["sum", "max", "min"])
    off = summed - np.diag(np.diag(summed))
    is_symmetric = (off == off.T).all()
    if A.format == "coo" and duplicates != "sum" and rows.size != len({*zip(rows.tolist(), columns.tolist())}):
        return  # a list with duplicates, each of which counts
    graph = copse.Graph(A, duplicates=duplicates, copy=bool(rng.integers(2)), threads=int(rng.integers(1, 3)))
    want = reference(list(zip(*np.nonzero(summed), summed[np.nonzero(summed)])), n, duplicates, is_symmetric)
    assert (graph.to_scipy().toarray() == want).all(), (A.format, duplicates, want, graph.to_scipy().toarray())
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph and same(again.to_scipy(), graph.to_scipy())


def dressed_array(rng, a):
    return pick(rng, [CLOTHES[name] for name in ("as it is", "strided", "backwards", "read-only", "unaligned", "subclass")])(a)


BAD_ENTRIES = {"indices": (-1, 10**6, 2**31 - 1, -(2**31)), "indptr": (-1, 10**6, 2**31 - 1), "data": (np.nan, np.inf, -1.0, 1e300, 1e-300)}


@fuzz
def test_broken_arrays_are_refused_wherever_a_matrix_is_taken(rng):
    n = int(rng.integers(2, 12))
    A = random_graph(n, 2 * n, int(rng.integers(1000)), np.float64).asformat(pick(rng, ["csr", "csc", "coo", "bsr", "csr"]))
    names = [name for name in ("indptr", "indices", "data", "row", "col") if hasattr(A, name)]
    name = pick(rng, names)
    array = getattr(A, name)
    if rng.random() < 0.3 and A.format != "coo":
        setattr(A, name, array[: rng.integers(0, array.shape[0])])
    else:
        array.flat[rng.integers(array.size)] = pick(rng, BAD_ENTRIES.get(name, BAD_ENTRIES["indices"]))
    y = some_labels(n, 2, 0.5, 1)
    calls = [
        lambda: copse.Graph(A),
        lambda: copse.Graph(A, copy=False),
        lambda: copse.WTA(num_trees=1, threads=1).fit(A, y),
        lambda: copse.random_spanning_tree(A),
        lambda: copse.neighbors_graph(A, 1),
        lambda: copse.effective_resistance(A, 0, 1),
        lambda: copse.WTA(num_trees=1, neighbors=1).fit(sp.vstack([A, A], format="csr") if A.format == "coo" else wide(A), np.zeros(2 * n)),
        lambda: copse.WTA(num_trees=1, neighbors=1, threads=1).fit(np.eye(2 * n)[:, :n], np.arange(2 * n) % 2).predict(wide(A)),
    ]
    call = int(rng.integers(len(calls)))
    try:
        calls[call]()
    except REFUSALS as error:
        assert_told(error)
    else:
        # A point may lie anywhere, and what stands behind the last entry is not read.
        assert call >= 4 or name in ("indptr", "indices") and A.format in ("csr", "csc", "bsr"), (name, A)


def wide(A):
    """The arrays of A as those of a matrix that is not square: points."""
    out = sp.csr_array((A.shape[0] - 1, A.shape[1]))
    if hasattr(A, "indptr"):
        out.indptr, out.indices, out.data = A.indptr[:-1], A.indices, A.data.ravel()
    return out


# -- anything at all ------------------------------------------------------------------------------------------------

ODD = [
    0, 1, -1, 2, 3, 2**31, 2**32, 2**63, 2**64, -(2**63), 10**30, True, False, 0.0, 1.0, 1.5, -0.5, 1e300, float("nan"), float("inf"), 1j, "", "1", "a", "\0",
    b"a", None, (), [], {}, set(), object(), np.nan, np.float32(1), np.int8(1), np.uint64(2**63), np.bool_(True), np.datetime64("2020"), np.str_("x"), np.array(1),
    np.array([]), np.array([[]]), np.zeros((1, 5)), np.zeros((5, 1)), np.zeros((2, 2, 2)), np.zeros(0, int), np.ones(6, bool), np.arange(6), np.arange(6.0),
    np.array([0.5, 1.0]), np.array([np.nan, 1]), np.array(["a", "b"]), np.array([b"a"]), np.array([None, 1], object), np.array([[0, 1], [1, 2]]), np.array([-1, 0]),
    np.array([2**32, 1]), np.array([2**63], np.uint64), np.array([1 + 2j]), np.array(["2020"], "M8[D]"), np.array([(1, 2)], "i,i"), np.ma.masked_array([0, 1], [True, False]),
    np.ma.masked, decimal.Decimal(1), fractions.Fraction(1, 3), range(3), iter([1, 2]), "no/such/file", "no\0file", memoryview(b"abc"), lambda: 1,
    {0: "a", 1: "b"}, {"x": 1}, {0: None}, {0: [1]}, {0: np.nan}, [[0, 1]], [[]], [None], ["a"], [0, "a"], [0, 1.5], [True, False], ["a", None, -1, np.nan, 1, 2.0],
    sp.csr_array((6, 6)), sp.csr_array((1, 6)), sp.csr_array((0, 0)), sp.csr_array(np.ones((6, 6))), sp.coo_array(np.eye(6)), sp.csr_matrix((6, 1)), sp.csr_array(np.eye(6) * 1j),
    pandas.Series([0, 1, 2]), pandas.Series(["a", None, pandas.NA, "b", "c", "d"]), pandas.Series([1, None, 2, None, 1, 1], dtype="Int64"), pandas.Categorical(list("aabbcc")),
    pandas.DataFrame({"a": [0, 1]}), pandas.Series([True, False, True, False, True, False]), pandas.Index([0, 1]), pandas.NA, pandas.NaT, pandas.Timestamp(0), pandas.array([0, 1, None]),
]  # fmt: skip


@functools.lru_cache(None)
def surface():
    """Every public function and method on a graph of six nodes; each takes odd things by place and by name."""
    graph = copse.example_graph()
    numbered = copse.Graph(random_graph(6, 9, 1))
    y = ["red", None, None, "blue", None, None]
    tree = copse.random_spanning_tree(numbered)
    kernel = tree.kernel()
    points = copse.WTA(num_trees=3, neighbors=1, threads=1).fit(np.arange(6.0)[:, None], [0, -1, -1, 1, -1, -1])

    def on(make):
        return lambda *a, **k: make(copse.WTA(num_trees=3, threads=1).fit(pick(np.random.default_rng(len(a)), [graph, numbered]), y))(*a, **k)

    methods = ["predict", "predict_proba", "predict_one", "predict_proba_one", "learn_one", "unlearn_one", "learn_many", "play", "explain", "score", "fit", "start", "fit_predict"]
    calls = [
        (copse.Graph, ["A", "duplicates", "weight", "signed", "copy", "threads"]),
        (copse.Graph.from_edges, ["u", "v", "weight", "num_nodes", "duplicates", "signed"]),
        (lambda *a, **k: copse.Graph.from_edges([0, 1], [1, 2], *a, **k), ["weight", "num_nodes", "duplicates"]),
        (copse.neighbors_graph, ["X", "k", "metric", "weights", "symmetrize", "radius", "complete", "scale", "connect", "method", "recall", "num_links", "build_breadth", "search_breadth", "seed", "threads"]),
        (lambda *a, **k: copse.neighbors_graph(np.arange(12.0).reshape(6, 2), *a, **k), ["k", "metric", "weights", "radius", "scale", "method", "recall", "num_links", "seed", "threads"]),
        (copse.query, ["A", "y", "strategy", "k", "candidates", "seed"]),
        (lambda *a, **k: copse.query(numbered, *a, **k), ["y", "strategy", "k", "candidates", "seed", "threads", "progress", "num_trees"]),
        (lambda *a, **k: copse.bounds(numbered, *a, **k), ["y", "num_trees", "seed"]),
        (copse.random_spanning_trees, ["A", "num_trees", "kind", "first", "seed", "threads", "progress"]),
        (lambda *a, **k: copse.random_spanning_tree(numbered, **k), ["kind", "index", "seed", "threads", "progress"]),
        (lambda *a, **k: copse.effective_resistance(pick(np.random.default_rng(len(k)), [graph, numbered]), *a, **k), ["u", "v", "method", "error", "confidence", "return_error", "seed"]),
        (lambda *a, **k: copse.laplacian_pinv_diagonal(numbered, **k), ["method", "error", "confidence", "max_trees", "seed"]),
        (lambda *a, **k: copse.laplacian_solve(numbered, *a, **k), ["b", "grounded", "method", "measure", "tolerance", "max_iterations", "seed"]),
        (copse.resistance_diameter, ["A", "seed", "threads"]),
        (lambda *a, **k: copse.explain(graph, *a, **k), ["y", "node", "learner", "num_trees"]),
        (copse.learner, ["name", "num_trees"]),
        (lambda **k: copse.WTA(**k).fit(numbered, y).predict(), ["tree", "num_trees", "weighted", "neighbors", "seed", "threads", "progress"]),
        (lambda **k: copse.LabelPropagation(**k).fit(numbered, y).predict(), ["tolerance", "max_iterations", "seed", "threads"]),
        (lambda **k: copse.WTA(**k).fit(np.arange(12.0).reshape(6, 2), [0, 1, -1, -1, 1, 0]).predict([[1.0, 2.0]]), ["neighbors", "seed"]),
        (kernel.entry, ["u", "v"]), (kernel.resistance, ["u", "v"]), (kernel.gram, ["rows", "columns", "threads"]), (kernel.multiply, ["x"]),
        (graph.index, ["node"]), (numbered.index, ["node"]), (graph.indices, ["nodes"]), (numbered.indices, ["nodes"]), (graph.__eq__, ["other"]),
        (points.predict, ["X"]), (points.score, ["X", "y", "sample_weight"]), (points.learn_one, ["node", "label"]), (points.predict_one, ["node"]),
        (lambda *a, **k: copse.generators.grid(**k), ["rows", "columns", "contrast", "seed"]),
        (copse.generators.generate, ["name", "seed", "threads"]),
        (copse.read_graph, ["path", "format", "duplicates", "nodes", "signed"]),
    ]  # fmt: skip
    names = {"predict": ["X"], "predict_proba": ["X"], "predict_one": ["node"], "predict_proba_one": ["node"], "unlearn_one": ["node"], "explain": ["node"], "learn_one": ["node", "label"]}
    names.update(learn_many=["nodes", "labels"], play=["nodes", "labels"], score=["X", "y", "sample_weight"], fit=["X", "y"], fit_predict=["X", "y"], start=["X", "classes"])
    return calls + [(on(lambda est, method=method: getattr(est, method)), names[method]) for method in methods]


@fuzz
def test_whatever_is_given_there_is_an_answer_or_a_refusal(rng):
    call, names = pick(rng, surface())
    given = {name: pick(rng, ODD) for name in names if rng.random() < 0.5}
    for name in ("threads", "rows", "columns"):  # a grid of 2^31 nodes is an answer, but not one to wait for
        if isinstance(given.get(name), int) and given[name] > 3:
            del given[name]
    try:
        call(**given)
    except MemoryError:
        pass  # that many trees or nodes are refused before they are made
    except REFUSALS as error:
        assert_told(error)
