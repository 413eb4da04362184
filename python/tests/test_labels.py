# SPDX-License-Identifier: Apache-2.0
"""Labels as people have them, and what means unknown: no answer that is wrong in silence."""
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import LEARNERS, random_graph, some_labels

import copse
import copse._labels

pandas = pytest.importorskip("pandas")
A, Y = random_graph(80, 200, 1), some_labels(80, 3, 0.3, 1)
FRIENDS = copse.example_graph()


@pytest.fixture(autouse=True)
def nothing_was_said():
    copse._labels._said.clear()


def silent(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


# -- by index ------------------------------------------------------------------------------------------------------


def test_a_series_is_read_by_its_index():
    y = pandas.Series({"eve": "blue", "ann": "red"})
    want = copse.WTA().fit(FRIENDS, {"ann": "red", "eve": "blue"})
    for labels in (y, y[::-1], y.astype("category"), y.astype("string"), y.reindex(FRIENDS.nodes[::-1])):
        assert (copse.WTA().fit(FRIENDS, labels).predict() == want.predict()).all()
    numbered = pandas.Series(Y).sample(frac=1, random_state=1)
    votes = copse.WTA().fit(A, Y).predict_proba()  # between equal votes the order in which classes come decides
    assert (copse.WTA().fit(A, numbered).predict_proba() == votes).all()
    some = pandas.Series(Y)[Y >= 0].sample(frac=1, random_state=2).astype("Int64")
    assert (copse.WTA().fit(A, some).predict_proba() == votes).all()
    frame = pandas.DataFrame({"class": ["red", "blue"]}, index=["ann", "eve"])
    assert (copse.WTA().fit(FRIENDS, frame["class"]).predict() == want.predict()).all()
    assert (copse.WTA().fit(FRIENDS, frame).predict() == want.predict()).all()
    table = pandas.DataFrame({"node": ["eve", "ann", "bob"], "label": ["blue", "red", None], "since": [1, 2, 3]})
    assert (copse.WTA().fit(FRIENDS, table).predict() == want.predict()).all()


def test_an_index_that_names_other_things_is_refused():
    with pytest.raises(ValueError, match=r"(?s)the index of y: the graph has no node 0; 6 of 6 labels.*y.to_numpy\(\)"):
        copse.WTA().fit(FRIENDS, pandas.Series(["red", "red", "red", "blue", "blue", "blue"]))
    with pytest.raises(ValueError, match="no node 'ann'"):
        copse.WTA().fit(A, pandas.Series({"ann": 1}))
    with pytest.warns(copse.GraphWarning, match="1 labels are of nodes that the graph does not have, as 'zoe'"):
        est = copse.WTA().fit(FRIENDS, pandas.Series({"ann": "red", "zoe": "green", "eve": "blue"}))
    assert set(est.predict()) == {"red", "blue"}
    twice = pandas.Series(["red", "blue", "red"], index=["ann", "eve", "ann"])
    assert set(copse.WTA().fit(FRIENDS, twice).predict()) == {"red", "blue"}
    with pytest.raises(ValueError, match="node 'ann' has two labels, '(red|blue)' and '(red|blue)'"):
        copse.WTA().fit(FRIENDS, pandas.Series(["red", "blue"], index=["ann", "ann"]))


def test_points_and_labels_with_other_rows_are_refused():
    X = pandas.DataFrame(np.random.default_rng(1).normal(size=(12, 2)), columns=["a", "b"])
    y = pandas.Series(np.arange(12) % 2)
    assert (copse.WTA().fit(X, y).predict() == y).all()
    assert (copse.WTA().fit(X.to_numpy(), y.sample(frac=1, random_state=1)).predict() == y.sample(frac=1, random_state=1).to_numpy()).all()
    with pytest.raises(ValueError, match="its index is not that of X"):
        copse.WTA().fit(X, y[::-1])


def test_series_of_polars_and_pyarrow_are_in_the_order_of_the_nodes():
    want = copse.WTA().fit(A, Y).predict()
    words = ["ant", "bee", "cat"]
    text = [words[c] if c >= 0 else None for c in Y]
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for y in (polars.Series(Y), polars.Series([c if c >= 0 else None for c in Y.tolist()]), pyarrow.array(Y), pyarrow.chunked_array([Y[:9], Y[9:]])):
        assert (copse.WTA().fit(A, y).predict() == want).all()
    for y in (polars.Series(text), polars.DataFrame({"label": text})["label"], polars.Series(text, dtype=polars.Categorical), pyarrow.array(text)):
        assert copse.WTA().fit(A, y).predict().tolist() == [words[c] for c in want]
    table = polars.DataFrame({"id": FRIENDS.nodes[::-1], "class": ["blue", None, None, None, None, "red"]})
    assert copse.WTA().fit(FRIENDS, table).predict().tolist() == ["red"] * 3 + ["blue"] * 3


# -- unknown -------------------------------------------------------------------------------------------------------


def test_plus_and_minus_one_are_two_classes():
    truth = np.where(np.arange(80) < 40, 1, -1)
    some = {int(i): int(truth[i]) for i in range(0, 80, 9)}
    assert silent(lambda: copse.WTA().fit(A, some)).classes_.tolist() == [-1, 1]
    assert copse.WTA().fit(A, {i: float(c) for i, c in some.items()}).classes_.tolist() == [-1, 1]
    halves = np.full(80, np.nan)
    halves[list(some)] = list(some.values())
    with pytest.warns(copse.GraphWarning, match="1 and -1 are read as two classes\n  give unlabeled=-1"):
        est = copse.WTA().fit(A, halves)
    assert est.classes_.tolist() == [-1, 1] and (est.predict() == copse.WTA().fit(A, some).predict()).all()
    assert silent(lambda: copse.WTA().fit(A, halves)) is not None  # said once
    online = copse.WTA().start(A)
    online.learn_one(0, -1)
    online.learn_one(1, 1)
    online.learn_many([2, 3], [1, -1])
    assert online.classes_.tolist() == [-1, 1] and online.play([0, 1], [-1, 1]).tolist() == [-1, 1]


def test_minus_one_beside_numbers_from_zero_is_unknown_and_that_is_said():
    with pytest.warns(copse.GraphWarning, match=r"-1 is read as unknown.*\n.*unlabeled=\(\)"):
        est = copse.WTA().fit(A, Y)
    assert est.classes_.tolist() == [0, 1, 2]
    silent(lambda: copse.WTA().fit(A, Y))
    copse._labels._said.clear()
    assert silent(lambda: copse.WTA().fit(A, Y, unlabeled=-1)).classes_.tolist() == [0, 1, 2]
    assert silent(lambda: copse.WTA().fit(A, Y, unlabeled=())).classes_.tolist() == [-1, 0, 1, 2]
    assert silent(lambda: copse.WTA().fit(A, Y, unlabeled=[-1, 2])).classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="means unknown"):
        est.learn_one(5, -1)
    with pytest.raises(ValueError, match="one means unknown"):
        est.learn_many([5, 6], [1, -1])
    est = copse.WTA().fit(A, Y, unlabeled=())
    est.learn_one(5, -1)
    assert est.predict([5]).tolist() == [-1]


@pytest.mark.parametrize("others", [[-2, 3], ["a", "b"], [0.0, -3.0], [True, False]], ids=str)
def test_minus_one_beside_anything_else_is_a_class(others):
    y = {0: -1, 1: others[0], 2: others[1]}
    assert len(silent(lambda: copse.WTA().fit(A, y)).classes_) == 3


def test_other_values_may_mean_unknown():
    y = np.array(["?"] * 80, object)
    y[:4] = ["red", "blue", None, np.nan]
    assert copse.WTA().fit(A, y, unlabeled="?").classes_.tolist() == ["blue", "red"]
    assert copse.WTA().fit(A, y.astype(str)[:].tolist(), unlabeled=["?", "None", "nan"]).classes_.tolist() == ["blue", "red"]
    zeros = np.zeros(80, int)
    zeros[:2] = [-1, 1]  # the papers' third value
    assert copse.WTA().fit(A, zeros, unlabeled=0).classes_.tolist() == [-1, 1]
    with pytest.raises(ValueError, match="no node has a label"):
        copse.WTA().fit(A, np.zeros(80, int), unlabeled=0)


def test_a_nan_among_words_is_no_word():
    y = ["red", float("nan"), "blue", None, "", pandas.NA] + [None] * 74
    assert copse.WTA().fit(A, y).classes_.tolist() == ["blue", "red"]
    assert copse.WTA().fit(A, [1, "1"] + [None] * 78).classes_.tolist() == [1, "1"]


def test_only_one_class_is_a_ranking_task_and_that_is_said():
    for y in ({3: "fraud"}, ["fraud"] + [None] * 79, np.where(np.arange(80) < 3, 0, -1)):
        with pytest.warns(UserWarning, match=r"(?s)is the only class that is known.*to rank nodes, give some of another class"):
            copse.WTA().fit(A, y)


def test_hostile_labels_are_refused():
    for y, text in [
        (np.zeros(80, complex), "Unknown label type"),
        ([[1], [1, 2]] + [None] * 78, "cannot be a class"),
        ([{1, 2}, 3] + [None] * 78, "3 is not a set"),
        (2 * np.random.default_rng(1).dirichlet([1, 1, 1], 80), "1d array"),
        (np.full((80, 3), 7), "1d array"),
        (np.zeros((79, 3), int), "79 for 80"),
    ]:
        with pytest.raises(ValueError, match=text):
            copse.WTA().fit(A, y)


# -- which nodes ---------------------------------------------------------------------------------------------------


def test_a_mask_selects_nodes():
    est = copse.WTA().fit(A, Y)
    mask = np.arange(80) % 3 == 0
    want = est.predict()[mask]
    for form in (mask, mask.tolist(), pandas.Series(mask), pandas.Series(mask, dtype="boolean")):
        assert (est.predict(form) == want).all()
    assert (est.predict_proba(mask) == est.predict_proba()[mask]).all()
    assert est.predict(np.zeros(80, bool)).size == 0
    for wrong in (mask[:-1], [True, False], np.ones((80, 2), bool)):
        with pytest.raises(ValueError):
            est.predict(wrong)
    named = copse.WTA().fit(FRIENDS, {"ann": "red", "eve": "blue"})
    assert named.predict(pandas.Series({"fay": True, "ann": True, "bob": False})).tolist() == ["blue", "red"]


def test_fractions_are_no_nodes():
    est = copse.WTA().fit(A, Y)
    for call in (lambda: est.predict([6.9]), lambda: est.learn_one(6.7, 1), lambda: est.predict_one(6.7), lambda: est.learn_many([6.7], [1]), lambda: est.predict_many([0.5])):
        with pytest.raises(ValueError, match="the graph has no node"):
            call()
    assert est.predict([6.0]) == est.predict([6])
    for wrong in (6, "6"):
        with pytest.raises(ValueError, match="not a list of nodes"):
            est.predict(wrong)


@pytest.mark.parametrize("name", LEARNERS)
def test_many_answers_in_one_call_are_those_to_each(name):
    est = copse.learner(name).start(A)
    assert est.predict_many([3, 4]).tolist() == [None, None]
    nodes = np.flatnonzero(Y >= 0)
    est.learn_many(nodes, Y[nodes])
    assert est.predict_many(range(80)).tolist() == [est.predict_one(i) for i in range(80)]


def test_answers_for_some_nodes_cost_what_these_cost(monkeypatch):
    est = copse.WTA().fit(A, Y)
    est.learn_one(int(np.flatnonzero(Y < 0)[0]), 1)
    asked = []
    online = est._state.online()

    class Counting:
        def __getattr__(self, name):
            return getattr(online, name)

        def predict_many(self, nodes):
            asked.append(len(nodes))
            return online.predict_many(nodes)

    est._state._online = Counting()
    some = est.predict([1, 2, 3])
    assert asked == [3] and (some == est.predict()[1:4]).all() and asked == [3, 80]


# -- scikit-learn's habits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_scores_to_rank_by(name):
    est = copse.learner(name).fit(A, Y)
    scores = est.decision_function()
    assert scores.shape == (80, 3) and np.isfinite(scores).all()
    assert (est.decision_function([3, 5]) == scores[[3, 5]]).all()
    two = copse.learner(name).fit(A, np.where(Y == 2, 1, Y))
    one = two.decision_function()
    free = two.reached_ & (np.abs(one) > 1e-9) & (Y == -1)  # a given label is no matter of scores
    assert one.shape == (80,) and ((one > 0) == (two.predict() == 1))[free].all()
    assert two.decision_function(np.arange(80) < 4).shape == (4,)


def test_other_names_of_seed_and_threads():
    from sklearn.base import clone

    est = copse.WTA(random_state=7, n_jobs=1)
    assert (est.seed, est.threads) == (7, 1) and clone(est).get_params() == est.get_params()
    assert (est.fit(A, Y).predict_proba() == copse.WTA(seed=7).fit(A, Y).predict_proba()).all()
    assert copse.WTA(n_jobs=-1).threads is None and copse.WTA(n_jobs=-2).threads >= 1 and copse.WTA(n_jobs=None).threads is None
    assert est.set_params(random_state=9, n_jobs=2).seed == 9 and est.threads == 2
    assert copse.WTA(random_state=None).seed == copse.WTA().seed
    one, two = (copse.WTA(random_state=np.random.default_rng(5)) for _ in range(2))
    assert one.seed == two.seed and isinstance(copse.WTA(random_state=np.random.RandomState(1)).seed, int)
    with pytest.raises(TypeError, match="seed is given as well"):
        copse.WTA(seed=1, random_state=2)
    with pytest.raises(ValueError, match="threads"):
        copse.WTA(n_jobs="two").fit(A, Y)


def test_partial_fit_begins_and_goes_on():
    est = copse.WTA().partial_fit(A, Y)
    assert (est.predict_proba() == copse.WTA().fit(A, Y).predict_proba()).all()
    hidden = np.flatnonzero(Y < 0)[:3]
    est.partial_fit(hidden, [0, 1, 2])
    more = Y.copy()
    more[hidden] = [0, 1, 2]
    assert (est.predict() == copse.WTA().fit(A, more).predict()).all()
    other = copse.WTA().partial_fit(A, classes=[0, 1, 2]).partial_fit(A, more)
    assert (other.predict() == est.predict()).all()
    X = np.random.default_rng(1).normal(size=(30, 2))
    points = copse.WTA().partial_fit(X, np.where(np.arange(30) < 4, np.arange(30) % 2, -1), classes=[0, 1])
    points.partial_fit([9], [1])
    assert points.predict([9]).tolist() == [1]
    with pytest.raises(ValueError, match="points cannot be added"):
        points.partial_fit(X + 1, np.zeros(30))


def test_what_scikit_learn_calls_the_answers_and_html():
    est = copse.LabelPropagation().fit(A, Y)
    assert (est.transduction_ == est.predict()).all() and (est.label_distributions_ == est.predict_proba()).all()
    page = copse.WTA(num_trees=5).fit(FRIENDS, {"ann": "<b>", "eve": "blue"})._repr_html_()
    assert "WTA" in page and "num_trees" in page and "&lt;b&gt;" in page and "<b></td>" not in page
    assert "num_trees" in copse.WTA()._repr_html_()


# -- several classes per node --------------------------------------------------------------------------------------


def sets_of(matrix, names):
    return [{names[c] for c in np.flatnonzero(row)} or None for row in matrix]


@pytest.mark.parametrize("name", ["wta", "label_propagation", "majority_vote"])
def test_several_classes_per_node(name):
    rng = np.random.default_rng(2)
    truth = (rng.random((80, 3)) < 0.5).astype(int)
    truth[rng.random(80) < 0.6] = 0
    names = ["ant", "bee", "cat"]
    est = copse.learner(name).fit(A, truth)
    proba, told = est.predict_proba(), truth.any(1)
    assert proba.shape == (80, 3) and (proba <= 1 + 1e-9).all() and est.classes_.tolist() == [0, 1, 2]
    assert (est.predict()[told] == truth[told]).all() and np.allclose(proba[told], truth[told])
    yes = proba > est._fitted.thresholds()
    yes[np.arange(80), proba.argmax(1)] |= ~yes.any(1)
    assert (est.predict() == yes).all() and np.allclose(est.confidence_, np.where(yes, proba, 1).min(1))
    # The distinct sets as classes, added up by hand.
    as_one = np.array(["".join(map(str, row)) if row.any() else "" for row in truth])
    single = copse.learner(name).fit(A, as_one)
    holds = np.array([[int(c) for c in set_] for set_ in single.classes_])
    assert np.allclose(single.predict_proba() @ holds, proba)
    # Sets, sparse matrices and tables say the same.
    by_sets = copse.learner(name).fit(A, sets_of(truth, names))
    assert by_sets.classes_.tolist() == names and np.allclose(by_sets.predict_proba(), proba)
    assert [set(names[c] for c in np.flatnonzero(row)) for row in yes] == [set(s) for s in by_sets.predict()]
    assert np.allclose(copse.learner(name).fit(A, sp.csr_array(truth)).predict_proba(), proba)
    frame = pandas.DataFrame(truth, columns=names).sample(frac=1, random_state=1)
    by_frame = copse.learner(name).fit(A, frame)
    assert by_frame.classes_.tolist() == names and np.allclose(by_frame.predict_proba(), proba)
    assert np.allclose(copse.learner(name).fit(A, {i: s for i, s in enumerate(sets_of(truth, names)) if s}).predict_proba(), proba)


def test_thresholds_of_several_classes_have_the_largest_f1_of_labels_left_out():
    rng = np.random.default_rng(4)
    truth = (rng.random((80, 3)) < (0.6, 0.3, 0.2)).astype(int)
    truth[rng.random(80) < 0.4] = 0
    thresholds = copse.MajorityVote().fit(A, truth)._fitted.thresholds()
    scores, told = [], np.flatnonzero(truth.any(1))
    for node in told:  # the slow way: fitted again without each
        without = truth.copy()
        without[node] = 0
        est = copse.MajorityVote().fit(A, without)
        scores.append(est.predict_proba([node])[0] if est.reached_[node] else np.full(3, np.nan))
    scores = np.array(scores)
    reached = ~np.isnan(scores[:, 0])
    for c in range(3):
        score, right = scores[reached, c], truth[told[reached], c] == 1
        f1 = [2 * (right & (score > t)).sum() / ((score > t).sum() + right.sum()) for t in [*np.linspace(0, 1, 1001), thresholds[c]]]
        assert f1[-1] == max(f1)


def test_several_classes_are_explained_and_asked_for():
    est = copse.WTA().fit(FRIENDS, {"ann": {"red", "tall"}, "eve": {"blue"}})
    why = est.explain("bob")
    assert why.label == {"red", "tall"} and set(why.votes) == {"red", "tall", "blue"} and why.reasons[0].label == {"red", "tall"}
    assert [q.node for q in copse.query(FRIENDS, {"ann": {"red", "tall"}, "eve": {"blue"}}, k=2)] == [
        q.node for q in copse.query(FRIENDS, {"ann": "redtall", "eve": "blue"}, k=2)]


def test_several_classes_online():
    est = copse.WTA().fit(FRIENDS, {"ann": {"red", "tall"}, "eve": {"blue"}})
    assert est.predict_one("bob") == {"red", "tall"} and set(est.predict_proba_one("bob")) == {"red", "tall", "blue"}
    est.learn_one("fay", {"blue", "small"})
    assert est.classes_.tolist() == ["blue", "red", "small", "tall"]
    assert est.predict(["fay"])[0] == {"blue", "small"} == est.predict_many(["fay"])[0]
    assert est.decision_function().shape == (6, 4)
    assert est.score(y={"bob": {"red", "tall"}, "dora": {"red"}}) == 0.5
    for wrong in ("red", set(), 3):
        with pytest.raises(ValueError, match="is not a set|means unknown"):
            est.learn_one("cid", wrong)
    matrix = copse.WTA().fit(FRIENDS, np.array([[1, 0], [0, 0], [0, 0], [0, 0], [0, 1], [0, 0]]))
    matrix.learn_one("fay", [1, 1])
    assert matrix.predict(["fay"]).tolist() == [[1, 1]]
    with pytest.raises(ValueError, match="neither a set nor a row"):
        matrix.learn_one("bob", [1, 1, 1])


def test_warnings_point_at_the_line_that_called():
    graph = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    calls = [
        lambda: copse.WTA().fit(graph, ["a", None, None]),
        lambda: copse.WTA().fit(graph, {0: "a", 1: "b", 7: "b"}),
        lambda: copse.WTA().fit_predict(graph, {0: "a", 1: "b", 7: "b"}),
        lambda: copse.Graph(sp.csr_array(np.array([[1, 2], [2, 0]]))),
    ]
    for call in calls:
        with pytest.warns(copse.GraphWarning) as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}
