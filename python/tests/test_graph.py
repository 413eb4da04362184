# SPDX-License-Identifier: Apache-2.0
import gc
import pathlib
import pickle
import subprocess
import sys
import warnings
import weakref

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

import copse


def shares(a, b):
    return np.shares_memory(a, b)


@pytest.mark.parametrize("indptr", [np.int32, np.int64])
@pytest.mark.parametrize("indices", [np.int32, np.int64])
@pytest.mark.parametrize("data", [np.float32, np.float64, np.int64, np.uint8])
def test_every_type_of_csr_gives_the_same_graph(indptr, indices, data):
    A = random_graph(50, 120, 1)
    A.data = np.maximum(1, (A.data * 3).round()).astype(np.float32)
    A = (A + A.T) / 2
    A.data = A.data.round().astype(np.float32)
    A.sort_indices()
    B = A.copy()
    B.indptr, B.indices, B.data = A.indptr.astype(indptr), A.indices.astype(indices), A.data.astype(data)
    for copy in (True, False):
        g = copse.Graph(B, copy=copy)
        assert g.is_view == (not copy and (indptr is np.int64 or indices is np.int32 or data is np.float32)) and g == copse.Graph(A)
        assert (g.to_scipy() != A).nnz == 0


def typed(A, indices, data, indptr=np.int64):
    """A with arrays of these types, whatever SciPy would choose."""
    A = A.copy()
    A.indptr, A.indices, A.data = A.indptr.astype(indptr), A.indices.astype(indices), A.data.astype(data)
    return A


WIDTHS = [(indices, data) for indices in (np.int32, np.int64) for data in (np.float32, np.float64)]


@pytest.mark.parametrize("indptr", [np.int32, np.int64])
@pytest.mark.parametrize("indices, data", WIDTHS)
def test_a_canonical_matrix_is_copied_only_where_it_is_narrowed_if_asked(indptr, indices, data):
    A = typed(random_graph(50, 120, 2), indices, data, indptr)
    g = copse.Graph(A, copy=False)
    own = copse._core.Graph.arrays(g._core)
    assert shares(own[1], A.indices) == (indices is np.int32) and shares(own[2], A.data) == (data is np.float32)
    assert shares(own[0], A.indptr) == (indptr is np.int64)
    out = g.to_scipy()
    assert shares(out.indices, own[1]) and shares(out.data, own[2])
    assert (out.indices.dtype, out.data.dtype) == (np.int32, np.float32) and (out != A).nnz == 0


@pytest.mark.parametrize("indices, data", WIDTHS)
def test_the_graph_keeps_the_arrays_alive(indices, data):
    A = typed(random_graph(200, 500, 3), indices, data)
    gone = weakref.ref(A.data), weakref.ref(A.indices)
    g = copse.Graph(A, copy=False)
    del A
    gc.collect()
    assert gone[0]() is not None and gone[1]() is not None
    assert g == copse.Graph(random_graph(200, 500, 3))
    del g
    gc.collect()
    assert gone[0]() is None and gone[1]() is None


WRITE_LATER = """
import numpy as np
import copse
from conftest import random_graph, some_labels

def shared():
    "A matrix whose arrays are views of others, and ways to write to its memory."
    A = random_graph(60, 150, 3).astype(np.float64)
    base = {name: np.concatenate([getattr(A, name)] * 2) for name in ("indptr", "indices", "data")}
    A.indptr, A.indices, A.data = (base[name][: getattr(A, name).size] for name in base)
    return A, base

def spoil(A, base):
    for name, value in (("indices", 2**31 - 1), ("indptr", -5), ("data", np.nan)):
        for array in (getattr(A, name), base[name]):
            try:
                array[:] = value
            except ValueError as error:
                assert "read-only" in str(error), error

def answers(learner, A, y, base=None, **how):
    graph = copse.Graph(A, **how)
    est, started = copse.learner(learner, threads=1).fit(graph, y), copse.learner(learner, threads=1).start(graph)
    if base:
        spoil(A, base)
    seen = [est.predict().tolist(), est.predict_proba().tolist()]
    for asked in (est, started):
        for node in (7, 8, 9):
            asked.learn_one(node, node % 2)
            seen.append(asked.predict_one(node + 20))
        seen.append(asked.explain(30))
    seen.append([tree.parent.tolist() for tree in copse.random_spanning_trees(graph, 3)])
    seen.append(copse.effective_resistance(graph, 3, 4))
    return repr(seen)

y = some_labels(60, 2, 0.2, 3)
for row in copse.learners():
    learner = row["name"]
    want = answers(learner, shared()[0], y)
    for how in ({}, {"copy": False}):
        A, base = shared()
        assert answers(learner, A, y, base, **how) == want, (learner, how)
    A = random_graph(60, 150, 3)
    est = copse.learner(learner, threads=1).fit(A, y)
    A.eliminate_zeros(), A.resize(9, 9), A.sort_indices()
    est.learn_one(5, 1), est.predict_one(50), est.explain(40)
print("alive")
"""


def alone(code):
    """What a process of its own prints: code that used to end it."""
    done = subprocess.run([sys.executable, "-c", code], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout, done.stderr


def test_writing_to_the_matrix_after_fit_neither_crashes_nor_changes_answers():
    assert alone(WRITE_LATER)[0] == "alive\n"


def test_matrices_in_use_at_the_end_are_given_back():
    """nanobind tells on stderr what was never freed."""
    for made in ("Graph(A)", "Graph(A, copy=False)", "WTA().fit(A, {0: 'a', 5: 'b'})"):
        assert alone(f"import copse; A = copse.generators.grid(rows=5, columns=5, contrast=2)[0].to_scipy(); kept = copse.{made}") == ("", "")


def test_arrays_that_are_shared_are_frozen_with_what_they_are_views_of():
    A = random_graph(20, 40, 3)
    base = np.concatenate([A.indices, A.indices])
    A.indices = base[: A.nnz]
    copse.Graph(A)
    A.indices[0] = A.indices[0]
    copse.Graph(sp.triu(A).tocsr(), copy=False)  # no graph as it stands, so that it is not shared
    assert copse.Graph(A, copy=False).is_view
    for array in (A.indptr, A.indices, A.data, base):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_answers_do_not_depend_on_the_types_of_the_arrays(tmp_path):
    A = random_graph(80, 300, 13)
    wide = A.astype(np.float64)
    # What rounding to a float takes away, from either end another bit.
    wide.data *= 1 + 1e-9 * np.random.default_rng(1).uniform(-1, 1, A.nnz)
    y = np.where(np.arange(80) % 5 == 0, np.arange(80) % 2, -1)
    seen = []
    for indices, data in WIDTHS:
        B = typed(A if data is np.float32 else wide, indices, data)
        copse.write_graph(tmp_path / "g.copse", B)
        again = pickle.loads(pickle.dumps(copse.Graph(B)))
        copied, B = copse.Graph(B), copse.Graph(B, copy=False)
        assert B.is_view and again == copied == B == copse.Graph(A)
        assert B.info()["num_bytes"] == 81 * 8 + A.nnz * 8 and copied.info() == B.info()
        seen.append((
            (tmp_path / "g.copse").read_bytes(), B.info(), copse.random_spanning_tree(B, seed=4).parent.tolist(), copse.effective_resistance(B, 1, 2),
            *(learner(seed=3).fit(B, y).predict_proba().tobytes() for learner in (copse.WTA, copse.TreeCut, copse.LabelPropagation, copse.MajorityVote)),
        ))  # fmt: skip
    assert all(row == seen[0] for row in seen)


@pytest.mark.parametrize("indices, data", WIDTHS)
def test_a_matrix_that_is_no_graph_yet_is_rebuilt_from_any_types(indices, data):
    A = random_graph(40, 100, 14)
    upper = typed(sp.triu(A).tocsr(), indices, data)
    g = copse.Graph(upper)
    assert not g.is_view and g == copse.Graph(A)
    upper.indices[5] = -3
    with pytest.raises(ValueError, match="column -3 in a matrix of 40 columns"):
        copse.Graph(upper)
    upper.indices[5], upper.data[5] = 39, np.nan
    with pytest.raises(ValueError, match="column 39 is nan"):
        copse.Graph(upper)


def test_one_triangle_unsorted_rows_and_other_formats_are_the_same_graph():
    A = random_graph(40, 100, 4)
    want = copse.Graph(A)
    assert copse.Graph(sp.triu(A).tocsr()) == want
    assert copse.Graph(A.tocoo()) == want
    assert copse.Graph(A.tocsc()) == want and copse.Graph(A.tocsc(), copy=False).is_view
    shuffled = A.copy()
    for i in range(40):
        row = slice(A.indptr[i], A.indptr[i + 1])
        shuffled.indices[row], shuffled.data[row] = A.indices[row][::-1].copy(), A.data[row][::-1].copy()
    shuffled.has_sorted_indices = False
    assert copse.Graph(shuffled) == want


def test_entries_that_stand_there_twice_are_their_sum_to_scipy_and_to_us():
    A = random_graph(20, 40, 12)
    twice = sp.csr_array((np.repeat(A.data / 2, 2), np.repeat(A.indices, 2), A.indptr * 2), shape=A.shape)
    g = copse.Graph(twice)
    assert g == copse.Graph(A) and twice.nnz == 2 * A.nnz
    assert copse.Graph(twice.tocoo()) == g
    assert copse.Graph(twice, duplicates="max").to_scipy().data.sum() == pytest.approx(A.data.sum() / 2)
    assert copse.Graph(twice.tocoo(), duplicates="max") == copse.Graph(twice, duplicates="max")


def test_boolean_matrices_have_no_weights():
    A = random_graph(30, 60, 5)
    g = copse.Graph(A.astype(bool))
    assert not g.is_weighted and g.num_edges == A.nnz // 2
    assert (g.to_scipy().data == 1).all()


def test_loops_and_asymmetric_entries_are_told():
    A = sp.csr_array(np.array([[1, 2, 0], [3, 0, 1], [0, 1, 0]], np.float32))
    with pytest.warns(copse.GraphWarning, match="1 self-loops.*merged"):
        g = copse.Graph(A)
    assert g.to_scipy().toarray()[0, 1] == 5
    with pytest.warns(copse.GraphWarning):
        assert copse.Graph(A, duplicates="max").to_scipy().toarray()[0, 1] == 3
    with pytest.raises(ValueError, match="nodes 0 and 1 are joined by more than one edge"):
        copse.Graph(A, duplicates="error")


@pytest.mark.parametrize(
    "entry, text",
    [
        (-1.0, "row 0, column 1 is -1, not a positive number"),
        (np.nan, "row 0, column 1 is nan"),
        (np.inf, "row 0, column 1 is inf"),
        (1e300, "too large to be stored"),
        (1e-300, "too small to be stored"),
    ],
)
def test_weights_that_cannot_be_are_named(entry, text):
    A = sp.csr_array(np.array([[0, entry], [entry, 0]]))
    with pytest.raises(copse.InputError, match=text):
        copse.Graph(A)


def test_broken_matrices_are_refused():
    A = random_graph(10, 20, 6)
    bad = A.copy()
    bad.indices[3] = 10
    with pytest.raises(ValueError, match="column 10 in a matrix of 10 columns"):
        copse.Graph(bad)
    bad.indices[3] = -1
    with pytest.raises(ValueError, match="column -1"):
        copse.Graph(bad)
    bad.indices = bad.indices.astype(np.int64)
    bad.indices[3] = 2**32  # would be 0 if it were cut to 32 bits
    with pytest.raises(ValueError, match="column 4294967296"):
        copse.Graph(bad)
    bad = A.copy()
    bad.indptr[2] = bad.indptr[3] + 1
    with pytest.raises(ValueError, match="out of order"):
        copse.Graph(bad)
    bad = A.copy()
    bad.data = bad.data[:5]
    with pytest.raises(ValueError, match="data has 5 values"):
        copse.Graph(bad)
    with pytest.raises(ValueError, match="3 by 4, not square"):
        copse.Graph(sp.csr_array((3, 4)))
    with pytest.raises(ValueError, match="complex"):
        copse.Graph(sp.csr_array(np.eye(3) * 1j))
    with pytest.raises(ValueError, match="can be read in more than one way"):
        copse.Graph(np.eye(3))
    with pytest.raises(ValueError, match="cannot be made of"):
        copse.Graph(np.eye(3)[0])


def test_extra_room_behind_the_arrays_is_not_read():
    A = random_graph(10, 20, 7)
    B = A.copy()
    B.indices, B.data = np.append(A.indices, [99, 99]).astype(np.int32), np.append(A.data, [-1, -1]).astype(np.float32)
    assert copse.Graph(B) == copse.Graph(A)


def test_empty_graphs():
    assert copse.Graph(sp.csr_array((0, 0), dtype=np.float32)).num_nodes == 0
    g = copse.Graph(sp.csr_array((3, 3), dtype=np.float32))
    assert g.num_nodes == 3 and g.num_edges == 0


def test_networkx_there_and_back():
    G = nx.karate_club_graph()
    g = copse.Graph(G)
    assert g.is_weighted and list(g.nodes) == list(G.nodes)
    back = g.to_networkx()
    assert {frozenset(e) for e in back.edges} == {frozenset(e) for e in G.edges}
    assert all(back[u][v]["weight"] == G[u][v]["weight"] for u, v in G.edges)
    named = nx.Graph([("x", (1, 2)), ((1, 2), 7)])
    g = copse.Graph(named)
    assert g.nodes == ["x", (1, 2), 7] and g.index((1, 2)) == 1 and not g.is_weighted


def test_edges_of_any_ids():
    g = copse.Graph.from_edges([3], [0], num_nodes=5)
    assert g.num_nodes == 5 and g.num_edges == 1
    g = copse.Graph.from_edges(["b", "a"], ["a", "c"], [1, 2])
    assert g.nodes == ["b", "a", "c"] and g.to_scipy().toarray()[1, 2] == 2
    with pytest.raises(ValueError, match="weight 1 is -2"):
        copse.Graph.from_edges([0, 1], [1, 2], [1, -2])
    with pytest.raises(ValueError, match="7 is not a node"):
        copse.Graph.from_edges([0], [7], num_nodes=3)


def test_files_and_their_ids(friends, tmp_path):
    g = copse.read_graph(friends / "friends.txt")
    assert g.index("dora") == 3 and g.indices(["fay", "ann"]).tolist() == [5, 0]
    with pytest.raises(ValueError, match="no node 'zoe'"):
        g.index("zoe")
    for name in ("g.copse", "g.tsv", "g.tsv.gz"):
        copse.write_graph(tmp_path / name, g)
        assert copse.read_graph(tmp_path / name) == g
    with pytest.raises(copse.InputError, match="broken.tsv:2"):
        (tmp_path / "broken.tsv").write_text("a b 1\nb c -1\n")
        copse.read_graph(tmp_path / "broken.tsv")
    with pytest.raises(ValueError):
        copse.read_graph(tmp_path / "is-not-there.tsv")


def test_networkx_ids_survive_a_file(tmp_path):
    g = copse.Graph(nx.Graph([("x", "y"), ("y", "z")]))
    copse.write_graph(tmp_path / "g.copse", g)
    assert copse.read_graph(tmp_path / "g.copse").nodes == ["x", "y", "z"]


@pytest.mark.parametrize("make", [lambda d: copse.Graph(random_graph(20, 40, 8)), lambda d: copse.read_graph(d / "friends.txt"), lambda d: copse.Graph(nx.Graph([("x", (1, 2))]))])
def test_graphs_pickle(make, friends):
    g = make(friends)
    again = pickle.loads(pickle.dumps(g))
    assert again == g and list(again.nodes) == list(g.nodes)
    assert again.index(g.nodes[1]) == 1


def test_facts_and_components():
    A = sp.block_diag([random_graph(5, 8, 9), random_graph(4, 5, 9)], format="csr")
    g = copse.Graph(A)
    assert g.info()["num_components"] == 2 and g.components().tolist() == [0] * 5 + [1] * 4
    assert g.info()["num_edges"] == g.num_edges == A.nnz // 2


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32), st.sampled_from(["sum", "max", "min"]))
def test_any_matrix_becomes_the_graph_that_a_slow_loop_makes(n, seed, duplicates):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, n)) < 0.4, rng.integers(1, 4, (n, n)), 0).astype(float)
    if seed % 2:
        dense = np.triu(dense, 1) + np.triu(dense, 1).T
    symmetric = (dense == dense.T).all()
    want = np.zeros((n, n))
    merge = {"sum": lambda a, b: a + b, "max": max, "min": min}[duplicates]
    for i in range(n):
        for j in range(i):
            a, b = dense[i, j], dense[j, i]
            want[i, j] = want[j, i] = a if symmetric else merge(a, b) if a and b else a + b
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", copse.GraphWarning)
        # Loops aside, a symmetric matrix lists each edge both ways and is the graph itself.
        np.fill_diagonal(dense, 0)
        got = copse.Graph(sp.csr_array(dense), duplicates=duplicates).to_scipy().toarray()
    assert (got == (dense if (dense == dense.T).all() else want)).all()


def test_neighbours_of_points():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    g = copse.neighbors_graph(X, 4)
    distance = ((X[:, None].astype(float) - X[None]) ** 2).sum(2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, :4]
    want = np.zeros((60, 60), bool)
    want[np.arange(60)[:, None], near] = True
    assert ((g.to_scipy().toarray() > 0) == (want | want.T)).all()
    assert copse.neighbors_graph(sp.csr_array(X), 4) == g
    assert not copse.neighbors_graph(X, 4, weights="none").is_weighted
    assert copse.neighbors_graph(X, 4, symmetrize="mutual").num_edges < g.num_edges
    with pytest.raises(ValueError, match="choose one of euclidean"):
        copse.neighbors_graph(X, metric="manhattan")
    with pytest.raises(ValueError, match="k: 'x'"):
        copse.neighbors_graph(X, "x")
    with pytest.raises(ValueError):
        copse.neighbors_graph(X, 60)
    assert copse.neighbors_graph(X, 4, method="approximate") == g, "exact, which is no dearer for 60 points"
    with pytest.raises(ValueError, match="recall: the share"):
        copse.neighbors_graph(X, 4, method="approximate", recall=1.5)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3|finite|nan"):
        copse.neighbors_graph(X)


def test_approximate_neighbours_are_nearly_the_exact_ones():
    X = np.random.default_rng(11).normal(size=(12000, 16)).astype(np.float32)
    exact = copse.neighbors_graph(X, 5, weights="none", method="exact").to_scipy()
    share = {}
    for recall in (None, 0.7):
        found = copse.neighbors_graph(X, 5, weights="none", method="approximate", recall=recall).to_scipy()
        share[recall] = found.multiply(exact).nnz / exact.nnz
    assert share[None] > 0.98
    assert 0.6 < share[0.7] < 1
