# SPDX-License-Identifier: Apache-2.0
import networkx as nx
import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import copse  # noqa: E402
import copse.plot  # noqa: E402
from conftest import random_graph, some_labels  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


def test_a_map_has_a_point_a_node_and_a_line_an_edge():
    G = nx.karate_club_graph()
    est = copse.LabelPropagation().fit(G, {0: "hi", 33: "officer"})
    ax = copse.plot.label_map(G, est.predict(), confidence=est.confidence_)
    points, lines = [c for c in ax.collections if hasattr(c, "get_offsets") and len(c.get_offsets()) > 0 and c.get_zorder() == 2], ax.collections[0]
    assert sum(len(c.get_offsets()) for c in points) == 34 and len(lines.get_segments()) == G.number_of_edges()
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["hi", "officer"]
    with pytest.raises(ValueError, match="34 nodes"):
        copse.plot.label_map(G, [1, 2])


def test_the_layout_keeps_neighbours_together():
    layout = copse.plot.spectral_layout(copse.generators.grid(rows=12, columns=10)[0])
    edges = copse.generators.grid(rows=12, columns=10)[0].to_scipy().tocoo()
    near = np.linalg.norm(layout[edges.row] - layout[edges.col], axis=1).mean()
    rng = np.random.default_rng(1)
    far = np.linalg.norm(layout[rng.permutation(120)] - layout, axis=1).mean()
    assert near < far / 3


def test_curves_reliability_and_lines_are_drawn():
    A, y = random_graph(60, 150, 1), some_labels(60, 2, 1.1, 1)
    ax = copse.plot.accuracy_curve([copse.MajorityVote(), copse.WTA(num_trees=3)], A, y, shares=(0.1, 0.5), repeats=2)
    assert len(ax.lines) == 2 and (0 <= ax.lines[0].get_ydata()).all()
    assert [t.get_text() for t in ax.get_xticklabels()] == ["10 %", "50 %"] and not ax.get_xticks(minor=True).size
    ax = copse.plot.reliability([0.95, 0.92, 0.15], [True, False, False])
    assert ax.lines[1].get_xydata().round(3).tolist() == [[0.15, 0.0], [0.935, 0.5]]
    with pytest.raises(ValueError):
        copse.plot.reliability([0.5], [])
    ax = copse.plot.line(copse.random_spanning_tree(A), y)
    assert len(ax.collections[0].get_offsets()) == 60
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["0", "1"]
    assert copse.plot.line(copse.random_spanning_tree(A), ax=matplotlib.pyplot.figure().gca()).get_legend() is None


def test_unknown_labels_are_grey_and_minus_one_may_be_a_class():
    A = random_graph(6, 8, 1)
    texts = lambda labels: [t.get_text() for t in copse.plot.label_map(A, labels, ax=matplotlib.pyplot.figure().gca()).get_legend().get_texts()]  # noqa: E731
    assert texts([0, 1, -1, 2, -1, 0]) == ["0", "1", "2", "unknown"]
    assert texts([1, -1, None, 1, -1, np.nan]) == ["-1", "1", "unknown"]
