# SPDX-License-Identifier: Apache-2.0
"""Tools against SciPy and networkx, which share no code with them."""
import networkx as nx
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from conftest import ROOT, random_graph, some_labels
from scipy.sparse.csgraph import laplacian, minimum_spanning_tree

import copse


def pinv(A):
    return scipy.linalg.pinvh(laplacian(A.toarray().astype(float)))


@pytest.mark.parametrize("seed", range(5))
def test_resistances_are_those_of_the_dense_pseudoinverse(seed):
    A = random_graph(30, 60, seed)
    P = pinv(A)
    d = np.diag(P)
    want = d[:, None] + d[None] - 2 * P
    pairs = np.array([(i, j) for i in range(30) for j in range(i)])
    value, error = copse.effective_resistance(A, pairs, return_error=True)
    assert np.allclose(value, want[pairs[:, 0], pairs[:, 1]], rtol=1e-6) and (error >= 0).all()
    assert np.isclose(copse.effective_resistance(A, 3, 4), want[3, 4])
    assert np.allclose(copse.effective_resistance(A, 3, [4, 5]), want[3, [4, 5]])
    assert np.allclose(copse.laplacian_pinv_diagonal(A), d)
    rough = copse.effective_resistance(A, pairs, method="projection", error=0.3)
    assert (np.abs(rough / want[pairs[:, 0], pairs[:, 1]] - 1) < 0.5).all()
    value, error = copse.laplacian_pinv_diagonal(A, method="trees", error=0.1, return_error=True)
    assert (np.abs(value - d) <= error + 1e-9).all()
    low, high = copse.resistance_diameter(A)
    assert np.isclose(low, want.max()) and np.isclose(high, want.max())


def test_resistance_between_components_is_infinite():
    A = sp.block_diag([random_graph(4, 5, 1), random_graph(4, 5, 1)], format="csr")
    assert copse.effective_resistance(A, 0, 7) == np.inf


@pytest.mark.parametrize("method", ["auto", "jacobi", "approximate_cholesky", "exact"])
def test_solves_are_products_with_the_pseudoinverse(method):
    A = random_graph(40, 90, 2)
    b = np.random.default_rng(2).normal(size=(40, 3))
    x, report = copse.laplacian_solve(A, b, method=method, tolerance=1e-12, return_report=True)
    assert np.allclose(x, pinv(A) @ b, atol=1e-7) and report["converged"]
    assert np.allclose(copse.laplacian_solve(A, b[:, 0], tolerance=1e-12), x[:, 0], atol=1e-7)
    L = laplacian(A.toarray().astype(float))
    x = copse.laplacian_solve(A, b[:, 0], grounded=[0, 5], tolerance=1e-12)
    x, report = copse.laplacian_solve(A, b, method=method, measure="relative_residual", tolerance=1e-3, return_report=True)
    b -= b.mean(axis=0)
    assert (np.linalg.norm(b - L @ x, axis=0) <= 1e-3 * np.linalg.norm(b, axis=0)).all() and report["relative_residual"] <= 1e-3
    x = copse.laplacian_solve(A, b[:, 0], grounded=[0, 5], tolerance=1e-12)
    free = np.setdiff1d(np.arange(40), [0, 5])
    assert x[0] == x[5] == 0 and np.allclose(x[free], np.linalg.solve(L[np.ix_(free, free)], b[free, 0]))


def test_graphs_without_nodes_or_edges_have_empty_answers():
    nothing = copse.Graph(sp.csr_array((0, 0), dtype=np.float32))
    assert copse.laplacian_solve(nothing, np.zeros(0)).size == copse.laplacian_pinv_diagonal(nothing).size == 0
    assert copse.random_spanning_tree(nothing).num_nodes == 0
    alone = copse.Graph(sp.csr_array((3, 3), dtype=np.float32))
    assert copse.laplacian_solve(alone, [1.0, 2, 3]).tolist() == [0, 0, 0]
    assert len(copse.random_spanning_tree(alone).roots) == 3
    assert copse.WTA().fit(alone, ["a", None, None]).reached_.tolist() == [True, False, False]
    for row in copse.learners():
        copse.learner(row["name"]).start(nothing)


def test_read_only_and_mapped_arrays_are_used_where_they_lie(tmp_path):
    A = random_graph(50, 100, 1)
    np.save(tmp_path / "data.npy", A.data)
    np.save(tmp_path / "indices.npy", A.indices)
    data, indices = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("data", "indices"))
    g = copse.Graph(sp.csr_array((data, indices, A.indptr), shape=A.shape, copy=False), copy=False)
    assert g.is_view and g == copse.Graph(A)
    A.data = A.data.astype(">f4")
    assert copse.Graph(A) == g


def test_what_is_no_node_is_not_taken_for_one():
    g = copse.Graph(random_graph(10, 20, 3))
    kernel = copse.random_spanning_tree(g).kernel()
    for node in (1.5, -0.5, True, np.bool_(True), float("inf"), float("nan"), np.ma.masked, 10, 2**32, 2**64, "1.0", None, [1]):
        with pytest.raises(ValueError, match="the graph has no node"):
            g.index(node)
    assert g.index(1.0) == g.index(np.int8(1)) == g.index("1") == 1
    assert g.indices([True] * 10).size == 10 and g.indices(np.arange(10) > 5).tolist() == [6, 7, 8, 9]
    for nodes in ([True] * 9, np.arange(11) > 5, np.ones((10, 1), bool), [0.5, 1.0], np.array([2**32]), np.array([2**64 - 1], np.uint64), [-1]):
        with pytest.raises(ValueError, match="node: "):
            g.indices(nodes)
    for nodes in (2**32, 2**40, [True], 1.0, -1, [2**64]):
        with pytest.raises(ValueError, match="node: a place"):
            kernel.resistance(nodes, 0)
    with pytest.raises(ValueError, match="num_nodes: 5, but the ends are ids"):
        copse.Graph.from_edges(["a"], ["b"], num_nodes=5)
    with pytest.raises(ValueError, match="labels: an array of 2 dimensions"):
        copse.WTA().start(g).learn_many([0], np.zeros((1, 5)))
    with pytest.raises(ValueError, match="complex128 are not real numbers"):
        copse.laplacian_solve(g, np.ones(10) * 1j)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr("copse._settings.available_memory", lambda: 2**30)
    with pytest.raises(MemoryError, match="draw fewer at a time"):
        copse.random_spanning_trees(copse.example_graph(), 2**40)
    with pytest.raises(MemoryError, match="without gaps"):
        copse.Graph.from_edges([0], [2**32 - 3])


def test_indices_that_scipy_would_follow_into_the_void_are_refused():
    A = random_graph(10, 20, 3)
    coo, points = A.tocoo(), sp.vstack([A, A], format="csr")
    coo.row[3] = 10**9
    points.indices[3] = 10**9
    for call in (lambda: copse.Graph(coo), lambda: copse.neighbors_graph(points, 2), lambda: copse.WTA(neighbors=2).fit(points, [0, 1] * 10)):
        with pytest.raises(ValueError, match="do not fit together"):
            call()


def test_bad_questions_are_refused():
    A = random_graph(10, 20, 3)
    with pytest.raises(ValueError, match="has 9 rows"):
        copse.laplacian_solve(A, np.zeros(9))
    with pytest.raises(ValueError, match="finite"):
        copse.laplacian_solve(A, np.full(10, np.nan))
    with pytest.raises(ValueError, match="choose one of automatic"):
        copse.laplacian_solve(A, np.zeros(10), method="magic")
    with pytest.raises(ValueError, match="measure"):
        copse.laplacian_solve(A, np.zeros(10), measure="magic")
    with pytest.raises(ValueError, match="no node 10"):
        copse.effective_resistance(A, 0, 10)
    with pytest.raises(ValueError, match="not two nodes a row"):
        copse.effective_resistance(A, [1, 2, 3])
    with pytest.raises(ValueError, match="not a kind of tree"):
        copse.random_spanning_tree(A, kind="oak")
    with pytest.raises(ValueError, match="not known"):
        copse.laplacian_pinv_diagonal(A, method="magic")


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_tree_is_scipys_of_the_resistances(seed):
    A = random_graph(50, 150, seed)
    R = A.copy()
    R.data = 1 / A.data.astype(float)
    want = minimum_spanning_tree(sp.csr_matrix(R))
    tree = copse.minimum_spanning_tree(A)
    got = {tuple(sorted(edge)) for edge in tree.edges.tolist()}
    assert got == {tuple(sorted(edge)) for edge in np.argwhere(want.toarray() > 0).tolist()}
    assert (tree.to_scipy() != tree.to_scipy().T).nnz == 0 and tree.to_scipy().nnz == 98


@pytest.mark.parametrize("kind", copse._core.tree_kinds)
def test_trees_span_and_come_parents_first(kind):
    A = sp.block_diag([random_graph(30, 80, 1), random_graph(10, 20, 2)], format="csr")
    for tree in copse.random_spanning_trees(A, 4, kind=kind, seed=3):
        G = nx.Graph(tree.edges.tolist())
        assert nx.is_forest(G) and len(tree.edges) == 38 and len(tree.roots) == 2
        place = np.argsort(tree.order)
        child = tree.edges[:, 0]
        assert (place[tree.parent[child]] < place[child]).all()
        assert all(np.isclose(tree.weight[c], A[c, p]) for c, p in tree.edges)


def test_trees_are_numbered_and_do_not_depend_on_threads():
    A = random_graph(200, 600, 4)
    one = copse.random_spanning_trees(A, 6, seed=9, threads=1)
    many = copse.random_spanning_trees(A, 6, seed=9, threads=4)
    assert all((a.parent == b.parent).all() for a, b in zip(one, many))
    assert (copse.random_spanning_tree(A, seed=9, index=4).parent == one[4].parent).all()
    assert copse.random_spanning_trees(A, 0) == []


def test_an_edge_is_in_a_random_tree_with_probability_weight_times_resistance():
    A = random_graph(8, 16, 5)
    count = np.zeros((8, 8))
    trees = copse.random_spanning_trees(A, 4000, seed=1)
    for tree in trees:
        count[tree.edges[:, 0], tree.edges[:, 1]] += 1
    count = (count + count.T) / len(trees)
    P = pinv(A)
    want = A.toarray() * (np.diag(P)[:, None] + np.diag(P)[None] - 2 * P)
    assert np.abs(count - want).max() < 5 * np.sqrt(0.25 / 4000)


def test_the_kernel_of_a_tree_is_the_pseudoinverse_of_its_laplacian():
    tree = copse.random_spanning_tree(random_graph(40, 90, 6), seed=2)
    P = pinv(tree.to_scipy())
    kernel = copse.tree_kernel(tree)
    assert np.allclose(kernel.diagonal(), np.diag(P)) and np.allclose(kernel.gram(np.arange(40)), P)
    assert np.allclose(kernel.gram([3, 1], [7]), P[np.ix_([3, 1], [7])])
    x = np.random.default_rng(1).normal(size=(40, 2))
    assert np.allclose(kernel.multiply(x), P @ x) and np.allclose(kernel.multiply(x[:, 0]), P @ x[:, 0])
    assert np.isclose(kernel.resistance(3, 9), P[3, 3] + P[9, 9] - 2 * P[3, 9])
    assert np.allclose(kernel.entry([1, 2], 3), P[[1, 2], 3])
    with pytest.raises(ValueError, match="40 is not a node"):
        kernel.resistance(0, 40)
    with pytest.raises(ValueError, match="whole number from 0"):
        kernel.resistance(0, -1)


def test_the_line_of_a_tree_visits_every_node_once():
    tree = copse.random_spanning_tree(random_graph(40, 90, 7))
    nodes, weights, starts = tree.line()
    assert sorted(nodes) == list(range(40)) and starts.tolist() == [0]
    assert weights[0] == 0 and (weights[1:] > 0).all()


@pytest.mark.parametrize("row", copse.generators.ROWS, ids=lambda row: row["name"])
def test_every_family_is_a_function(row):
    family = getattr(copse.generators, row["name"])
    assert row["description"] in family.__doc__
    small = {p["name"]: min(p["default"], 12) for p in row["parameters"] if p["is_whole"] and p["low"] <= 12 <= p["high"] and p["name"] not in ("degree", "k")}
    try:
        graph, labels = family(seed=1, **small)
    except ValueError:  # twelve of everything does not fit together; the defaults must
        graph, labels = family(seed=1)
    assert graph.num_nodes > 0 and (labels is None or len(labels) == graph.num_nodes)


def test_wrong_parameters_of_a_family_are_told():
    with pytest.raises(ValueError, match="no parameter|parameters"):
        copse.generators.grid(width=3)
    with pytest.raises(ValueError):
        copse.generators.grid(rows=-3)
    with pytest.raises(ValueError, match="not known|families"):
        copse.generators.generate("jungle")


# -- learners against others ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_label_propagation_is_networkx_harmonic_function(seed):
    A = random_graph(40, 90, seed)
    y = some_labels(40, 2, 0.2, seed)
    G = nx.from_scipy_sparse_array(A)
    for node in np.flatnonzero(y >= 0):
        G.nodes[int(node)]["label"] = int(y[node])
    want = nx.node_classification.harmonic_function(G, max_iter=3000)
    options = {o["name"] for o in copse.LabelPropagation._options}
    plain = {"shift": "none"} if "shift" in options else {}
    got = copse.LabelPropagation(**plain, tolerance=1e-12).fit(A, y)
    scores = harmonic(A, y)
    clear = np.abs(scores[:, 0] - 0.5) > 1e-6
    assert np.allclose(got.predict_proba(), scores, atol=1e-6)
    assert (got.predict()[clear] == np.array(want)[clear]).all()


def harmonic(A, y):
    """The harmonic function by a dense solve: what scikit-learn's LabelPropagation clamped to its labels tends to."""
    L = laplacian(A.toarray().astype(float))
    known = np.flatnonzero(y >= 0)
    free = np.flatnonzero(y < 0)
    F = np.zeros((len(y), y.max() + 1))
    F[known, y[known]] = 1
    F[free] = np.linalg.solve(L[np.ix_(free, free)], -L[np.ix_(free, known)] @ F[known])
    return F


def test_label_propagation_is_scikit_learns_on_the_same_graph():
    from sklearn.semi_supervised import LabelPropagation

    A = random_graph(40, 120, 11)
    y = some_labels(40, 3, 0.3, 11)
    theirs = LabelPropagation(kernel=lambda X, Z: A.toarray().astype(float), max_iter=200000, tol=1e-12).fit(np.zeros((40, 1)), y)
    ours = copse.LabelPropagation(tolerance=1e-12).fit(A, y)
    assert np.allclose(ours.predict_proba(), theirs.label_distributions_, atol=1e-5)
    assert (ours.predict() == theirs.transduction_).all()


def test_real_data_if_it_is_there():
    edges, labels = ROOT / "data" / "debian" / "edges.tsv.zst", ROOT / "data" / "debian" / "labels.tsv.gz"
    if not edges.exists():
        pytest.skip("data/debian is not here")
    est = copse.WTA(num_trees=5).fit(edges, labels)
    assert est.graph_.num_nodes > 50000 and est.predict_one("bash") == "shells"
