# SPDX-License-Identifier: Apache-2.0
"""Soft labels, weights of labels, priors and class sizes."""
import pickle

import numpy as np
import pytest

import copse

A, TRUTH = copse.generators.block_model(nodes=300, classes=2, degree_inside=5, degree_outside=1, seed=3)
Y = np.array([str(label) for label in TRUTH], object)
GIVEN = np.where(np.arange(300) % 10 == 0, Y, None)
NAMES = sorted(set(Y))


def right(est):
    hidden = np.arange(300) % 10 != 0
    return (est.predict()[hidden] == Y[hidden]).mean()


def prior(accuracy=0.75):
    says = np.where(np.random.default_rng(1).random(300) < accuracy, Y == NAMES[1], Y != NAMES[1])
    return np.column_stack([~says, says]) * 0.3 + 0.35


def test_a_prior_helps_and_its_form_does_not_matter():
    plain, with_prior = copse.LabelPropagation().fit(A, GIVEN), copse.LabelPropagation().fit(A, GIVEN, prior=prior())
    assert right(with_prior) > right(plain)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(prior()[:, ::-1], index=A.nodes, columns=NAMES[::-1]).sample(frac=1, random_state=1)
    assert (copse.LabelPropagation().fit(A, GIVEN, prior=frame).predict_proba() == with_prior.predict_proba()).all()
    assert (pickle.loads(pickle.dumps(with_prior)).predict_proba() == with_prior.predict_proba()).all()


def test_equal_weights_change_nothing_and_small_ones_take_back():
    plain = copse.Auto().fit(A, GIVEN)
    same = copse.Auto().fit(A, GIVEN, sample_weight=np.full(300, 7.0))
    assert (plain.predict_proba() == same.predict_proba()).all()
    weight = np.ones(300)
    weight[:100] = 0
    assert (copse.WTA().fit(A, GIVEN, sample_weight=weight).predict() == copse.WTA().fit(A, np.where(np.arange(300) < 100, None, GIVEN)).predict()).all()
    weight[:100] = 0.4
    est = copse.LabelPropagation(shift="none").fit(A, GIVEN, sample_weight=weight)
    assert 0 < est.predict_proba()[0].max() < 1  # not certain any more
    assert est.predict_proba()[100].max() == 1


def test_soft_labels_are_rows_of_probabilities():
    rows = np.zeros((300, 2))
    rows[::10] = np.where((Y[::10] == NAMES[1])[:, None], [0.1, 0.8], [0.8, 0.1])
    rows[10] = np.nan
    rows[20] = [1, 0]
    est = copse.Auto().fit(A, rows)
    assert est.classes_.tolist() == [0, 1]
    assert est.predict()[20] == 0
    assert (est.predict() == (Y == NAMES[1])).mean() > 0.7
    with pytest.raises(ValueError, match=r"(?s)fit\(\) only.*fit\(\) again"):
        est.learn_one(3, 1)
    with pytest.raises(ValueError, match=r"(?s)fit\(\) only.*fit\(\) again"):
        est.explain(3)


def test_answers_have_the_class_sizes_that_are_told():
    for sizes, share in [("uniform", 0.5), ({NAMES[0]: 3, NAMES[1]: 1}, 0.25), ([3, 1], 0.25)]:
        est = copse.Poisson().fit(A, GIVEN, class_sizes=sizes)
        assert abs((est.predict() == NAMES[1]).mean() - share) < 0.05


def test_one_class_ranks_nodes():
    some = np.where((Y == NAMES[0]) & (np.arange(300) % 10 == 0), Y, None)
    with pytest.warns(UserWarning, match=r"(?s)is the only class.*to rank nodes, sort by decision_function"):
        est = copse.Auto().fit(A, some)
    rank, hidden = est.decision_function(), some == None  # noqa: E711
    best = np.argsort(-rank[hidden])[:50]
    assert (Y[hidden][best] == NAMES[0]).mean() > 0.7 and len(set(rank)) > 200


def test_hostile_hints_are_refused():
    rows = np.full((300, 2), 0.5)
    for y, hints, text in [
        (GIVEN, {"prior": np.ones((299, 2))}, r"shape \(299, 2\)\n.*\(300, 2\)"),
        (GIVEN, {"prior": np.ones((300, 3))}, "column per class"),
        (GIVEN, {"prior": -np.ones((300, 2))}, "numbers >= 0"),
        (GIVEN, {"prior": np.full((300, 2), np.nan)}, "numbers >= 0"),
        (GIVEN, {"prior": prior(), "prior_weight": 0}, "above 0"),
        (GIVEN, {"sample_weight": np.ones(3)}, "3 for 300"),
        (GIVEN, {"sample_weight": -np.ones(300)}, "numbers >= 0"),
        (GIVEN, {"sample_weight": np.zeros(300)}, "no label counts"),
        (GIVEN, {"class_sizes": {"x": 1}}, "not one for each"),
        (GIVEN, {"class_sizes": [1, 2, 3]}, "3 for 2 classes"),
        (GIVEN, {"class_sizes": [0, 0]}, "not all 0"),
        (GIVEN, {"class_sizes": "even"}, "real numbers"),
        (rows[:9], {}, "9 rows for 300"),
        (np.eye(2, dtype=int)[(Y == NAMES[1]).astype(int)], {"class_sizes": "uniform"}, "several classes"),
    ]:
        with pytest.raises(ValueError, match=text):
            copse.LabelPropagation().fit(A, y, **hints)
    with pytest.raises(ValueError, match="cannot use it"):
        copse.Embedding().fit(A, GIVEN, prior=prior())
    with pytest.raises(ValueError, match="takes no hints"):
        copse.Pounce().fit(A, GIVEN, class_sizes="uniform")
