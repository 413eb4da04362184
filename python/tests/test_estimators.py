# SPDX-License-Identifier: Apache-2.0
"""The contract that every learner of the registry keeps in Python, whichever they are."""
import inspect
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import LEARNERS, random_graph, some_labels
from hypothesis import given, settings
from hypothesis import strategies as st

import copse

A, Y = random_graph(80, 200, 1), some_labels(80, 3, 0.3, 1)


def learner(name, **options):
    return copse.learner(name, **options)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_a_class_with_the_registrys_options(name):
    row = next(row for row in copse.learners() if row["name"] == name)
    cls = type(learner(name))
    assert getattr(copse, cls.__name__) is cls
    parameters = inspect.signature(cls).parameters
    assert [o["name"] for o in row["options"]] == list(parameters)[: len(row["options"])]
    for option in row["options"]:
        assert option["help"] in cls.__doc__ and option["name"] in cls().get_params()
    assert row["paper"] in cls.__doc__


@pytest.mark.parametrize("name", LEARNERS)
def test_answers_have_the_right_shape_and_given_labels_stay(name):
    est = learner(name).fit(A, Y)
    assert est.predict().shape == (80,) and est.predict().dtype.kind == "i"
    assert est.classes_.tolist() == [0, 1, 2]
    assert (est.predict()[Y >= 0] == Y[Y >= 0]).all()
    proba = est.predict_proba()
    assert proba.shape == (80, 3) and np.allclose(proba.sum(1), 1) and (proba >= 0).all()
    best = proba.max(1)
    assert (proba[np.arange(80), est.predict()] == best).all()
    assert np.allclose(best, est.confidence_)
    assert est.reached_.dtype == bool
    assert (est.predict([3, 5]) == est.predict()[[3, 5]]).all()
    assert (est.predict_proba([3, 5]) == proba[[3, 5]]).all()
    assert (learner(name).fit_predict(A, Y) == est.predict()).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(name):
    one, four = (learner(name, seed=7, threads=t).fit(A, Y) for t in (1, 4))
    assert (one.predict_proba() == four.predict_proba()).all()
    assert (one.predict() == four.predict()).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_seeds_and_options_may_be_numpys_or_left_to_the_library(name):
    est = learner(name, seed=np.int64(1), threads=np.int32(1)).fit(A, Y)
    same = learner(name, seed=None).fit(A, Y)
    assert (est.predict_proba() == same.predict_proba()).all()
    assert [est.predict_one(i) for i in range(9)] == [same.predict_one(i) for i in range(9)]


@pytest.mark.parametrize("name", LEARNERS)
def test_fitted_estimators_pickle(name):
    est = learner(name).fit(A, Y)
    again = pickle.loads(pickle.dumps(est))
    assert (again.predict() == est.predict()).all() and (again.predict_proba() == est.predict_proba()).all()
    assert again.get_params() == est.get_params() and again.graph_ == est.graph_
    assert again.predict_one(4) == est.predict_one(4)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_label_told_online_counts_in_batch_as_well(name):
    est = learner(name).fit(A, Y)
    hidden = int(np.flatnonzero(Y < 0)[0])
    est.learn_one(hidden, 9)
    assert est.classes_.tolist() == [0, 1, 2, 9] and est.predict()[hidden] == 9
    assert est.predict_proba().shape == (80, 4)
    again = pickle.loads(pickle.dumps(est))
    assert (again.predict_proba() == est.predict_proba()).all()


@pytest.mark.parametrize("name", [row["name"] for row in copse.learners() if not row["depends_on_order"]])
def test_batch_and_online_agree_bit_for_bit_in_any_order(name):
    batch = learner(name).fit(A, Y)
    online = learner(name).start(A)
    nodes = np.random.default_rng(3).permutation(np.flatnonzero(Y >= 0))
    # Classes are counted in order of first appearance: the same in both.
    first = [int(np.flatnonzero(Y == c)[0]) for c in dict.fromkeys(Y[Y >= 0].tolist())]
    for node in [*first, *nodes.tolist()]:
        online.learn_one(node, Y[node])
    assert (online.predict_proba() == batch.predict_proba()).all()
    assert (online.predict() == batch.predict()).all()
    assert [online.predict_one(i) for i in range(80)] == batch.predict().tolist()
    taken = int(nodes[0])
    less = Y.copy()
    less[taken] = -1
    if (less == Y[taken]).any():
        online.unlearn_one(taken)
        assert (online.predict_proba() == learner(name).fit(A, less).predict_proba()).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_answers_to_many_are_those_to_each(name):
    est = learner(name).start(A)
    nodes = np.flatnonzero(Y >= 0)
    est.learn_many(nodes, Y[nodes])
    assert [est.predict_one(i) for i in range(80)] == est.predict().tolist()
    for i in (0, 40, 79):
        want = dict(zip(est.classes_.tolist(), est.predict_proba([i])[0]))
        assert est.predict_proba_one(i) == want


@pytest.mark.parametrize("name", LEARNERS)
def test_the_game_is_predict_then_learn(name):
    order = np.random.default_rng(5).permutation(80)[:30]
    truth = np.arange(80) % 2
    fast, slow = learner(name).start(A, [0, 1]), learner(name).start(A, [0, 1])
    predicted = fast.play(order, truth[order])
    for node, got in zip(order.tolist(), predicted.tolist()):
        assert slow.predict_one(node) == got
        slow.learn_one(node, truth[node])


@pytest.mark.parametrize("name", LEARNERS)
def test_unreached_nodes_are_told_and_get_the_prior(name):
    B = sp.block_diag([A, random_graph(5, 6, 2)], format="csr")
    y = np.append(Y, [-1] * 5)
    est = learner(name).fit(B, y)
    assert not est.reached_[-5:].any()
    counts = np.bincount(Y[Y >= 0])
    assert (est.predict()[-5:] == np.argmax(counts)).all()
    assert np.allclose(est.predict_proba()[-1], counts / counts.sum())


@pytest.mark.parametrize("name", LEARNERS)
def test_explanations_name_labelled_nodes(name):
    est = learner(name).fit(A, Y)
    hidden = int(np.flatnonzero((Y < 0) & est.reached_)[0])
    why = est.explain(hidden)
    assert why.label == est.predict_one(hidden) and why.confidence == est.confidence_[hidden]
    assert all(Y[r.node] == r.label for r in why.reasons)
    given = int(np.flatnonzero(Y >= 0)[0])
    assert given not in [r.node for r in est.explain(given).reasons]
    assert est.predict_one(given) == Y[given]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_node_told_twice_in_one_call_has_its_last_label(name):
    est, one = learner(name).start(A), learner(name).start(A)
    nodes, labels = [3, 7, 3, 9, 7], ["b", "a", "a", "c", "b"]
    est.learn_many(nodes, labels)
    for node, label in zip(nodes, labels):
        one.learn_one(node, label)
    assert est.predict([3, 7, 9]).tolist() == ["a", "b", "c"]
    assert (est.predict_proba() == one.predict_proba()).all()
    again = pickle.loads(pickle.dumps(est))
    assert (again.predict_proba() == est.predict_proba()).all()
    with pytest.raises(ValueError, match="one means unknown"):
        est.learn_many([1], [None])
    with pytest.raises(ValueError, match="2 for 1 nodes"):
        est.learn_many([1], ["a", "b"])


# -- labels ---------------------------------------------------------------------------------------------------


def forms_of_labels():
    words = np.array(["ant", "bee", "cat"], object)
    some = Y >= 0
    text = np.where(some, words[Y], None)
    yield "objects with None", text
    yield "strings with empty ones", np.where(some, words[Y], "").astype(str)
    yield "objects with NaN", np.where(some, words[Y], np.nan)
    yield "a dictionary", {int(i): words[Y[i]] for i in np.flatnonzero(some)}
    yield "a list", text.tolist()


@pytest.mark.parametrize("form", list(forms_of_labels()), ids=lambda form: form[0])
def test_labels_come_in_many_forms(form):
    want = copse.WTA().fit(A, Y)
    got = copse.WTA().fit(A, form[1])
    assert got.classes_.tolist() == ["ant", "bee", "cat"]
    assert (np.array([0, 1, 2])[np.searchsorted(got.classes_.astype(str), got.predict().astype(str))] == want.predict()).all()
    assert (got.predict_proba() == want.predict_proba()).all()


def test_numbers_come_in_many_types():
    want = copse.WTA().fit(A, Y).predict()
    floats = np.where(Y < 0, np.nan, Y)
    masked = np.ma.masked_array(np.abs(Y), Y < 0)
    for y in (Y.astype(np.int8), Y.astype(np.int64), floats, masked, Y.tolist()):
        assert (copse.WTA().fit(A, y).predict() == want).all()
    assert copse.WTA().fit(A, floats).predict().dtype.kind == "f"
    truth = Y % 2 == 0
    assert copse.WTA().fit(A, truth).classes_.tolist() == [False, True]


@pytest.mark.parametrize(
    "y, text",
    [
        (np.full(80, -1), "no node has a label"),
        (np.zeros(79, int), "79 for 80 nodes"),
        (np.full((80, 2), 2), "1d array"),
        (np.linspace(0, 1, 80), "Unknown label type"),
        ({0: "a", 98: "b", 99: "b"}, "no node 98; 2 of 3 labels"),
        (np.full(80, np.inf), "infinity"),
        (np.zeros(80, "M8[s]"), "Unknown label type"),
        (None, "requires y"),
    ],
)
def test_labels_that_cannot_be_are_refused(y, text):
    with pytest.raises(ValueError, match=text):
        copse.WTA().fit(A, y)


def test_mixed_labels_and_one_class():
    est = copse.WTA().fit(A, {0: "x", 1: 7, 2: (1, 2)})
    assert set(est.predict()) <= {"x", 7, (1, 2)} and len(est.classes_) == 3
    one = copse.WTA().fit(A, {5: "only"})
    assert (one.predict() == "only").all() and (one.predict_proba() == 1).all()


def test_too_many_classes_are_refused():
    B = sp.csr_array((70000, 70000), dtype=np.float32)
    with pytest.raises(ValueError, match="classes"):
        copse.WTA().fit(B, np.arange(70000))


# -- graphs ---------------------------------------------------------------------------------------------------


def test_graphs_come_in_many_forms(friends):
    known = {"ann": "red", "eve": "blue"}
    want = copse.WTA().fit(friends / "friends.txt", friends / "known.txt")
    g = copse.read_graph(friends / "friends.txt")
    for graph in (g, g.to_networkx(), str(friends / "friends.txt")):
        assert (copse.WTA().fit(graph, known).predict_proba() == want.predict_proba()).all()
    assert want.predict(["dora", "bob"]).tolist() == ["blue", "red"]
    assert want.predict(g).tolist() == want.predict().tolist()
    with pytest.raises(ValueError, match="no node 'zoe'"):
        want.predict(["zoe"])


def test_a_graph_of_another_size_is_refused_at_predict():
    est = copse.WTA().fit(A, Y)
    assert (est.predict(A) == est.predict()).all()
    with pytest.raises(ValueError, match="a graph of 5 nodes, fitted was one of 80"):
        est.predict(random_graph(5, 6, 1))
    with pytest.raises(ValueError, match="not a list of nodes"):
        est.predict(np.zeros((2, 2)))


def test_score_counts_hidden_labels_only():
    G = nx.karate_club_graph()
    clubs = [G.nodes[n]["club"] for n in G]
    est = copse.LabelPropagation().fit(G, {0: clubs[0], 33: clubs[33]})
    hidden = [n for n in G if n not in (0, 33)]
    right = np.mean([est.predict()[n] == clubs[n] for n in hidden])
    assert est.score(G, clubs) == right == est.score(y=clubs)
    assert est.score([1, 2], clubs) == np.mean([est.predict()[n] == clubs[n] for n in (1, 2)])
    with pytest.raises(ValueError, match="no node is left"):
        est.score(G, {0: clubs[0]})


@pytest.mark.parametrize("options, text", [({"num_trees": 0}, "between 1 and 65535"), ({"tree": "oak"}, "choose one of rst"), ({"num_trees": "many"}, "not a whole number"), ({"seed": -1}, "seed"), ({"threads": 0}, "threads"), ({"progress": 3}, "progress")])
def test_wrong_options_are_told_by_fit(options, text):
    with pytest.raises(ValueError, match=text):
        copse.WTA(**options).fit(A, Y)


def test_unknown_options_are_told_at_once():
    with pytest.raises(TypeError, match="no option 'trees'.*\n.*num_trees"):
        copse.WTA(trees=3)
    with pytest.raises(ValueError, match="not known"):
        copse.learner("oracle")
    with pytest.raises(ValueError, match="Invalid parameter"):
        copse.WTA().set_params(trees=3)


def test_nothing_is_known_before_fit():
    for call in ("predict", "predict_proba", "reached_"):
        with pytest.raises(ValueError, match="not fitted"):
            value = getattr(copse.WTA(), call)
            value()
    est = copse.WTA().start(A)
    assert est.predict_one(3) is None and est.predict_proba_one(3) == {} and est.classes_.size == 0
    with pytest.raises(ValueError, match="means unknown"):
        est.learn_one(3, None)


def test_a_failed_fit_leaves_the_old_one_in_place():
    est = copse.WTA().fit(A, Y)
    before = est.predict()
    with pytest.raises(ValueError):
        est.fit(A, np.full(80, -1))
    assert (est.predict() == before).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 25), st.integers(0, 2**32), st.sampled_from(LEARNERS))
def test_any_small_graph_gives_sound_answers(n, seed, name):
    rng = np.random.default_rng(seed)
    B = sp.random(n, n, rng.uniform(0, 0.5), rng=rng, dtype=np.float32)
    B = sp.csr_array(sp.triu(B, 1))
    y = rng.integers(-1, 3, n)
    y[0] = 1
    est = learner(name).fit(B, y)
    proba = est.predict_proba()
    assert np.isfinite(proba).all() and np.allclose(proba.sum(1), 1)
    assert (est.predict()[y >= 0] == y[y >= 0]).all()


# -- points ---------------------------------------------------------------------------------------------------


def blobs(seed, count=60):
    rng = np.random.default_rng(seed)
    truth = np.arange(count) % 3
    return rng.normal(size=(count, 4)) + 6 * np.eye(4)[truth], truth


@pytest.mark.parametrize("name", LEARNERS)
def test_points_go_through_their_neighbours(name):
    X, truth = blobs(1)
    y = np.where(np.arange(60) < 12, truth, -1)
    est = learner(name, neighbors=6).fit(X, y)
    same = learner(name).fit(copse.neighbors_graph(X, 6), y)
    assert (est.predict() == same.predict()).all() and (est.predict_proba() == same.predict_proba()).all()
    assert np.allclose(est.predict_proba(X), est.predict_proba())
    new, new_truth = blobs(2)
    # New points fare about as well as those that were there.
    assert est.score(new, new_truth) == (est.predict(new) == new_truth).mean() >= (est.predict() == truth).mean() - 0.15
    assert (est.predict(new[3:5]) == est.predict(new)[3:5]).all()


def test_a_dense_adjacency_matrix_is_taken_as_points_with_a_warning():
    with pytest.warns(copse.GraphWarning, match="looks like an adjacency matrix"):
        copse.WTA().fit(A.toarray(), Y)


def test_arguments_of_the_neighbours_graph_pass_through():
    X, truth = blobs(3)
    est = copse.WTA(neighbors={"k": 5, "metric": "cosine", "weights": "none"}).fit(X, truth)
    assert est.graph_ == copse.neighbors_graph(X, 5, metric="cosine", weights="none")
    with pytest.raises(TypeError, match="kk"):
        copse.WTA(neighbors={"kk": 5}).fit(X, truth)
