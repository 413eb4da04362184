# SPDX-License-Identifier: Apache-2.0
"""Edges as people have them: tables of four libraries, arrays, lists, other graph libraries. networkx and NumPy judge."""
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_graph

import copse

pandas = pytest.importorskip("pandas")


def weighted_pairs(graph):
    """{(u, v): weight} by the graph's ids, whichever way round."""
    A, nodes = sp.triu(graph.to_scipy()).tocoo(), graph.nodes
    return {frozenset((nodes[i], nodes[j])): round(float(w), 5) for i, j, w in zip(A.row, A.col, A.data)}


def oracle(u, v, w=None):
    """The same, by a loop."""
    out = {}
    for i, (a, b) in enumerate(zip(u, v)):
        if a != b:
            out[frozenset((a, b))] = out.get(frozenset((a, b)), 0) + (1.0 if w is None else float(np.float32(w[i])))
    return {pair: round(weight, 5) for pair, weight in out.items()}


def libraries():
    yield "pandas", pandas.DataFrame
    for name, make in (
        ("polars", lambda m: m.DataFrame),
        ("pyarrow", lambda m: m.table),
        ("duckdb", lambda m: lambda columns: m.from_df(pandas.DataFrame(columns))),
    ):
        try:
            yield name, make(__import__(name))
        except ImportError:
            pass


LIBRARIES = dict(libraries())
KINDS = {
    "dense": lambda rng: rng.integers(0, 30, (2, 90)),
    "from one": lambda rng: rng.integers(1, 20, (2, 90)),
    "with gaps": lambda rng: rng.integers(0, 30, (2, 90)) * 7 + 3,
    "far apart": lambda rng: rng.choice(10**15, 25)[rng.integers(0, 25, (2, 90))],
    "below zero": lambda rng: rng.integers(-20, 20, (2, 90)),
    "small": lambda rng: rng.integers(0, 30, (2, 90)).astype(np.int8),
    "unsigned": lambda rng: rng.integers(0, 30, (2, 90)).astype(np.uint32),
    "text": lambda rng: np.array([f"node {'x' * (i % 17)} {i}" for i in range(30)], object)[rng.integers(0, 30, (2, 90))],
}


@pytest.mark.filterwarnings("ignore::copse.GraphWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_are_the_graphs_that_their_rows_say(library, kind):
    rng = np.random.default_rng(3)
    u, v = KINDS[kind](rng)
    w = rng.uniform(0.5, 2, u.size)
    table = LIBRARIES[library]({"src": u, "to": v, "amount": w, "day": ["monday"] * u.size})
    graph = copse.Graph(table)
    assert weighted_pairs(graph) == pytest.approx(oracle(u.tolist(), v.tolist(), w), rel=1e-5)
    seen = list(dict.fromkeys(np.stack([u, v], 1).ravel().tolist()))
    assert list(graph.nodes) == (seen if kind == "text" else sorted(seen))
    assert all(graph.nodes[graph.index(node)] == node for node in graph.nodes)
    plain = copse.Graph(LIBRARIES[library]({"a": u, "b": v, "amount": w}), source="a", target="b", weight=False)
    assert weighted_pairs(plain) == oracle(u.tolist(), v.tolist())  # pairs that are listed twice add


def test_a_table_gives_the_answers_of_its_arrays():
    A = random_graph(60, 150, 5)
    coo = sp.triu(A).tocoo()
    table = pandas.DataFrame({"source": coo.row, "target": coo.col, "weight": coo.data})
    y = {0: "a", 5: "b", 30: "a"}
    want = copse.WTA().fit(A, y).predict_proba()
    assert (copse.WTA().fit(table, y).predict_proba() == want).all()
    assert (copse.WTA().fit((coo.row, coo.col, coo.data), y).predict_proba() == want).all()
    assert copse.Graph(list(zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist()))) == copse.Graph(A)


@pytest.mark.skipif("polars" not in LIBRARIES, reason="polars is not there")
@pytest.mark.filterwarnings("ignore::copse.GraphWarning")
def test_chunks_slices_categories_and_views_of_text_are_read_as_they_are():
    import polars

    names = [f"a name of more than twelve bytes, number {i}" if i % 2 else f"n{i}" for i in range(9)]
    rng = np.random.default_rng(1)
    u, v = (np.array(names, object)[rng.integers(0, 9, 50)] for _ in range(2))
    frame = polars.DataFrame({"u": u.tolist(), "v": v.tolist()})
    pieces = polars.concat([frame[:20], frame[20:]], rechunk=False)
    for table in (pieces, frame.with_columns(polars.all().cast(polars.Categorical)), pandas.DataFrame({"u": u, "v": v}).astype("category")):
        assert weighted_pairs(copse.Graph(table)) == oracle(u, v)
    assert weighted_pairs(copse.Graph(frame[7:31])) == oracle(u[7:31], v[7:31])
    try:
        import pyarrow
    except ImportError:
        return
    arrow = pyarrow.table({"u": u.tolist(), "v": v.tolist()})
    assert weighted_pairs(copse.Graph(arrow.slice(7, 24))) == oracle(u[7:31], v[7:31])
    assert weighted_pairs(copse.Graph(arrow.to_reader(max_chunksize=7))) == oracle(u, v)  # read once, batch by batch


def test_a_second_batch_may_change_the_kind_of_integer_ids():
    pyarrow = pytest.importorskip("pyarrow")
    u, v = list(range(10)) + [2**40, 5], list(range(1, 11)) + [3, 2**40 + 1]
    table = pyarrow.table({"u": u, "v": v}).to_reader(max_chunksize=5)
    graph = copse.Graph(table)
    assert weighted_pairs(graph) == oracle(u, v) and graph.nodes == sorted(set(u + v))


def test_pandas_without_pyarrow_is_read_by_its_columns(monkeypatch):
    def missing(self, *_):
        raise ImportError("no pyarrow")

    monkeypatch.setattr(pandas.DataFrame, "__arrow_c_stream__", missing, raising=False)
    rng = np.random.default_rng(2)
    for kind in ("dense", "with gaps", "below zero", "text"):
        u, v = KINDS[kind](rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph = copse.Graph(pandas.DataFrame({"from": u, "to": v, "w": np.ones(90)}))
        assert weighted_pairs(graph) == oracle(u.tolist(), v.tolist())
    with pytest.raises(ValueError, match="row 1: column 'v' has no value"):
        copse.Graph(pandas.DataFrame({"u": ["a", "b"], "v": ["c", None]}))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "columns, arguments, text",
    [
        ({"a": [1], "b": [2]}, {}, "source: none of the columns 'a', 'b' is called source"),
        ({"u": [1], "from": [2], "v": [3]}, {}, "source: columns 'u', 'from' could all be it\n  name the columns: source="),
        ({"u": [1], "v": [2], "amount": [1.0], "score": [2.0]}, {}, "weight: columns 'amount', 'score' could all be it"),
        ({"u": [1], "v": [2]}, {"source": "w"}, "source: the table has no column 'w'\n  its columns are 'u', 'v'"),
        ({"u": [1], "v": [2]}, {"source": "u", "target": "u"}, "is the column of the sources, too"),
        ({"u": [1.5], "v": [2.0]}, {}, "column 'u' holds fractions, not ids"),
        ({"u": [1], "v": ["b"]}, {}, "ids of both ends are of one kind"),
        ({"u": [1], "v": [2], "weight": ["much"]}, {}, "column 'weight' holds text, not numbers"),
        ({"u": [1, 2], "v": [2, 3], "weight": [1.0, -2.0]}, {}, "row 1: weight -2.*signed=True"),
        ({"u": [1, 2], "v": [2, 3], "weight": [1.0, float("inf")]}, {}, "row 1: weight inf"),
        ({"u": ["a", "b"], "v": ["b", None]}, {}, "row 1: column .v. has no value"),
        ({"u": ["a", "b"], "v": ["b", ""]}, {}, "row 1: column .v. has no value"),
        ({"u": ["a", "b"], "v": ["b", "c\td"]}, {}, "row 1"),
        ({"u": [1, 1], "v": [2, 2]}, {"duplicates": "error"}, "1 and 2"),
    ],
)
def test_tables_that_cannot_be_are_refused(library, columns, arguments, text):
    with pytest.raises(ValueError, match="(?s)" + text), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copse.Graph(LIBRARIES[library](columns), **arguments)


def test_missing_numbers_and_dates_in_tables_are_refused():
    frame = pandas.DataFrame({"u": pandas.array([1, None, 3], "Int64"), "v": [1, 2, 3]})
    with pytest.raises(ValueError, match="row 1: column .u. has no value\n.*dropna"):
        copse.Graph(frame)
    dated = pandas.DataFrame({"u": [1], "v": [2], "weight": pandas.to_datetime(["2020-01-01"])})
    with pytest.raises(ValueError, match="holds times, not numbers"):
        copse.Graph(dated)
    with pytest.raises(ValueError, match="row 0: column .weight. has no value"):
        copse.Graph(pandas.DataFrame({"u": [1], "v": [2], "weight": [np.nan]}))
    with pytest.warns(copse.GraphWarning, match="no column is taken for the weight .there are 'timestamp'"):
        copse.Graph(pandas.DataFrame({"u": [1], "v": [2], "timestamp": [17]}))
    with pytest.raises(ValueError, match="has no columns to name"):
        copse.Graph(sp.eye_array(3), source="u")


def test_arrays_lists_and_tensors_of_edges():
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 20, (2, 40))
    w = rng.uniform(1, 2, 40).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = copse.Graph.from_edges(*ends)
        assert copse.Graph(ends) == copse.Graph(ends.T) == copse.Graph(list(map(tuple, ends.T.tolist()))) == copse.Graph(tuple(ends)) == want
        weighted = copse.Graph.from_edges(*ends, w)
        assert copse.Graph((*ends, w)) == copse.Graph(np.column_stack([*ends, w])) == weighted
        assert copse.Graph([("a", "b"), ("b", "c")]).nodes == ["a", "b", "c"]

        class Tensor:  # as PyTorch has it, but for PyTorch
            ndim, dtype, shape = 2, "torch.int64", ends.shape

            def __dlpack__(self, **_):
                return np.ascontiguousarray(ends).__dlpack__()

            def __dlpack_device__(self):
                return (1, 0)

        assert copse.Graph(Tensor()) == want
        assert copse.WTA().fit(ends, {0: "a", 5: "b"}).graph_ == want
        assert copse.WTA().fit([("a", "b"), ("b", "c")], {"a": 1, "c": 2}).graph_.nodes == ["a", "b", "c"]
    for unclear in (np.zeros((2, 2), int), np.zeros((2, 3), int), np.eye(4)):
        with pytest.raises(ValueError, match="more than one way"):
            copse.Graph(unclear)
    with pytest.raises(ValueError, match="edges or points"):
        copse.WTA().fit([(0, 1), (1, 2)], [0, 1])
    with pytest.raises(ValueError, match="of edges, or of points"):
        copse.WTA().fit(pandas.DataFrame({"u": [0, 1, 2], "v": [1, 2, 0]}), [0, 1, -1])
    for wrong in ([], [(1,)], [(1, 2), (1, 2, 3)], [1, 2]):
        with pytest.raises(ValueError, match="not a list of"):
            copse.Graph(wrong)
    with pytest.raises(ValueError, match="first two columns are not whole"):
        copse.Graph(np.full((5, 3), 0.5))


@pytest.mark.parametrize("end", [float("nan"), None, pandas.NA, np.float32("nan")], ids=str)
def test_an_edge_without_a_node_at_one_end_is_refused(end):
    for u in ([1, end, 2], ["a", end, "b"], np.array([1, end, 2], object)):
        with pytest.raises(ValueError, match="edge 1 has no node at one end"):
            copse.Graph.from_edges(u, [3, 4, 5])


def test_lists_of_words_and_numbers_keep_their_types():
    assert copse.Graph.from_edges([1, "1"], ["a", "b"]).nodes == [1, "a", "1", "b"]


def test_graphs_of_igraph():
    igraph = pytest.importorskip("igraph")
    G = igraph.Graph([(0, 1), (1, 2), (3, 1)])
    assert copse.Graph(G) == copse.Graph.from_edges([0, 1, 3], [1, 2, 1])
    G.vs["name"], G.es["weight"], G.es["other"] = ["a", "b", "c", "d"], [1.0, 2.0, 3.0], [7, 7, 7]
    assert weighted_pairs(copse.Graph(G)) == oracle("abd", "bcb", [1, 2, 3])
    assert weighted_pairs(copse.Graph(G, weight="other")) == oracle("abd", "bcb", [7, 7, 7])
    assert not copse.Graph(G, weight=False).is_weighted
    assert copse.LabelPropagation().fit(G, {"a": 0, "c": 1}).graph_.nodes == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="no attribute 'none'"):
        copse.Graph(G, weight="none")
    G.vs["name"] = ["a"] * 4
    with pytest.raises(ValueError, match="same name"):
        copse.Graph(G)


def test_graphs_of_networkit():
    networkit = pytest.importorskip("networkit")
    G = networkit.Graph(5, weighted=True)
    for u, v, w in ((0, 1, 0.5), (1, 2, 2.0), (2, 4, 3.0)):
        G.addEdge(u, v, w)
    assert weighted_pairs(copse.Graph(G)) == oracle([0, 1, 2], [1, 2, 4], [0.5, 2, 3])
    assert copse.Graph(G).num_nodes == 5 and not copse.Graph(G, weight=False).is_weighted
    G.removeNode(3)
    assert copse.Graph(G).nodes == [0, 1, 2, 4]


def test_networkx_weights_may_be_left_out():
    G = nx.Graph()
    G.add_edge("a", "b", weight=2.0, strength=5.0)
    assert copse.Graph(G).to_scipy().max() == 2 and copse.Graph(G, weight="strength").to_scipy().max() == 5
    assert not copse.Graph(G, weight=False).is_weighted


def test_rows_of_an_adjacency_matrix_are_refused_with_the_remedy():
    A = random_graph(40, 90, 1)
    y = np.arange(40) % 2
    for rows in (slice(0, 1), slice(0, 30)):
        with pytest.raises(ValueError, match="copse.cross_validate"):
            copse.WTA().fit(A[rows], y[rows])
    from sklearn.model_selection import cross_val_score

    with pytest.raises(ValueError, match="copse.cross_validate"):
        cross_val_score(copse.WTA(), A, y)
    with pytest.raises(TypeError, match="copse.cross_validate"):
        cross_val_score(copse.WTA(), copse.Graph(A), y)
    points = sp.csr_array(np.random.default_rng(1).normal(size=(40, 3)))
    assert copse.WTA(neighbors=5).fit(points, y).predict(points).shape == (40,)


def test_names_that_no_line_could_hold_are_not_written(tmp_path):
    for name in ("a\tb", "a\nb", "a\0b"):
        with pytest.raises(ValueError, match="tab|line end|zero"):
            copse.write_graph(tmp_path / "g.tsv", copse.Graph.from_edges([name], ["c"]))
        assert not (tmp_path / "g.tsv").exists()


def test_html_for_notebooks():
    assert "6" in copse.example_graph()._repr_html_() and "<table>" in copse.example_graph()._repr_html_()
