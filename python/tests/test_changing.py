# SPDX-License-Identifier: Apache-2.0
"""Edges that come and go under a committee of random keys."""
import pickle

import numpy as np
import pytest

import copse


def edges_of(rng, n, m):
    pairs = {tuple(sorted(map(int, rng.choice(n, 2, replace=False)))) for _ in range(m)}
    return {pair: float(np.float32(rng.uniform(0.1, 4))) for pair in pairs | {(n - 2, n - 1)}}


def graph_of(edges):
    u, v = zip(*edges)
    return copse.Graph.from_edges(list(u), list(v), list(edges.values()))


@pytest.mark.parametrize("make", [copse.WTA, copse.TreeCut])
def test_answers_are_those_of_the_graph_as_it_is(make):
    rng = np.random.default_rng(3)
    edges = edges_of(rng, 40, 90)
    labels = {0: "a", 7: "b", 12: "a", 33: "b"}
    learner = make(tree="random_key", num_trees=7, seed=5).fit(graph_of(edges), labels)
    learner.add_node(40)
    for _ in range(6):
        for pair in [list(edges)[i] for i in rng.choice(len(edges), 5, replace=False)]:
            learner.remove_edge(*pair)
            del edges[pair]
        for pair, weight in edges_of(rng, 41, 5).items():
            learner.add_edge(*pair, weight)
            edges[pair] = weight
        edges[39, 40] = 1.0
        learner.add_edge(40, 39)
        made = make(tree="random_key", num_trees=7, seed=5).fit(graph_of(edges), labels)
        assert list(learner.predict_many(range(41))) == list(made.predict())
        assert np.array_equal(learner.confidence_, made.confidence_)
        assert learner.explain(20).votes == made.explain(20).votes
        assert learner.explain(7).votes == made.explain(7).votes  # without its own label
    again = pickle.loads(pickle.dumps(learner))
    assert list(again.predict()) == list(learner.predict())
    learner.learn_one(40, "b")
    assert learner.predict_one(40) == "b"


def test_nodes_of_any_name_can_come():
    learner = copse.WTA(tree="random_key").fit(copse.Graph.from_edges(["x", "y"], ["y", "z"]), {"x": "red"})
    learner.add_node("new")
    assert not learner.reached_[-1]
    learner.add_edge("new", "z")
    assert learner.predict_one("new") == "red" and learner.reached_.all()
    assert [reason.node for reason in learner.explain("new").reasons] == ["x"]


def test_what_cannot_be_is_refused_and_changes_nothing():
    graph = copse.Graph.from_edges([0, 1], [1, 2])
    learner = copse.WTA(tree="random_key").fit(graph, {0: "red"})
    for change in (
        lambda: learner.add_node(2),
        lambda: learner.add_edge(0, 3),
        lambda: learner.add_edge(1, 1),
        lambda: learner.add_edge(0, 2, 0.5),
        lambda: learner.add_edge(0, 2, -1),
        lambda: learner.add_edge(0, 2, float("nan")),
        lambda: learner.remove_edge(0, 2),
    ):
        with pytest.raises(ValueError):
            change()
    assert list(learner.predict()) == ["red"] * 3
    for other in (copse.WTA(), copse.LabelPropagation()):
        with pytest.raises(ValueError, match="cannot change"):
            other.fit(graph, {0: "red"}).add_edge(0, 2)
