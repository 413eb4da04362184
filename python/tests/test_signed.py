# SPDX-License-Identifier: Apache-2.0
"""Graphs with negative edges."""
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import copse


def two_camps():
    """Friends inside, foes between; nodes 0, 1, 2 against 3, 4, 5."""
    A = np.zeros((6, 6), np.float32)
    for u, v, w in [(0, 1, 1), (1, 2, 2), (3, 4, 1), (4, 5, 1), (0, 3, -1), (1, 4, -1), (2, 5, -2)]:
        A[u, v] = A[v, u] = w
    return sp.csr_array(A)


def test_signs_are_read_only_when_told_and_come_back():
    A = two_camps()
    with pytest.raises(ValueError, match="signed=True"):
        copse.Graph(A)
    graph = copse.Graph(A, signed=True)
    assert graph.is_signed and "signed" in repr(graph)
    assert (graph.to_scipy() != A).nnz == 0
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert graph.info()["num_negative"] == 3 and graph.info()["num_balanced_components"] == 1
    assert not copse.Graph(abs(A), signed=True).is_signed


def test_edges_and_files_too(tmp_path):
    graph = copse.Graph.from_edges(["a", "b"], ["b", "c"], [1.0, -0.5], signed=True)
    assert graph.is_signed
    with pytest.raises(ValueError, match="signed=True"):
        copse.Graph.from_edges(["a"], ["b"], [-1.0])
    with pytest.raises(ValueError, match="not a number"):
        copse.Graph.from_edges(["a"], ["b"], [float("nan")], signed=True)
    for name in ["g.tsv", "g.copse"]:
        copse.write_graph(tmp_path / name, graph)
        assert copse.read_graph(tmp_path / name, signed=True) == graph


@pytest.mark.parametrize("name", ["WTA", "TreeCut", "LabelPropagation", "KernelRidge", "GraphPerceptron", "Pounce"])
def test_learners_follow_signs(name):
    graph = copse.Graph(two_camps(), signed=True)
    learner = getattr(copse, name)().fit(graph, {0: "x", 3: "y"})
    assert list(learner.predict()) == ["x", "x", "x", "y", "y", "y"]


def test_two_classes_only():
    graph = copse.Graph(two_camps(), signed=True)
    with pytest.raises(ValueError, match="two classes"):
        copse.WTA().fit(graph, {0: "x", 3: "y", 4: "z"}).predict()
    learner = copse.WTA().start(graph)
    learner.learn_one(0, "x")
    assert learner.predict_one(1) == "x"
    assert learner.predict_one(3) is None  # the other class has no name yet
    learner.learn_one(3, "y")
    assert learner.predict_one(4) == "y"
