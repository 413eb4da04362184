# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks, and its tools around our estimators."""
import numpy as np
import pytest
from conftest import LEARNERS
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import copse

# What does not apply, and why; docs/python.md shows this list.
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "a point of weight 0 has no label, but stays in the graph: without it other points are neighbours",
    "check_sample_weights_not_overwritten": "learners that are corrected by their mistakes take labels one by one, and no weights but 0 and one other",
}


@pytest.mark.filterwarnings("ignore:Estimator .* does not inherit")  # scikit-learn is not needed to use copse
@pytest.mark.parametrize("name", LEARNERS)
def test_check_estimator(name):
    few = {"num_trees": 3} if "num_trees" in copse.learner(name).get_params() else {}
    takes_weights = name not in ("graph_perceptron", "projection", "one_projection", "cyclic_projection", "min_norm_interpolation", "pounce", "halving", "online_pool")
    expected = {check: why for check, why in EXPECTED.items() if "overwritten" not in check or not takes_weights}
    results = check_estimator(copse.learner(name, threads=1, **few), expected_failed_checks=expected, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not failed, "\n".join(f"{check}: {why!r}" for check, why in failed.items())
    assert {r["check_name"] for r in results if r["status"] == "xfail"} <= set(expected)
    assert sum(r["status"] == "passed" for r in results) > 40


def blobs():
    return make_blobs(120, 4, centers=3, cluster_std=1.0, random_state=1)


def test_pipelines_searches_and_cross_validation():
    X, y = blobs()
    pipeline = make_pipeline(StandardScaler(), copse.WTA())
    assert pipeline.fit(X, y).score(X, y) == 1
    assert cross_val_score(copse.LabelPropagation(), X, y).mean() > 0.9
    search = GridSearchCV(copse.WTA(), {"num_trees": [1, 11], "neighbors": [3, 8]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9 and search.best_params_["neighbors"] in (3, 8)


@pytest.mark.parametrize("name", LEARNERS)
def test_clones_have_the_parameters_and_nothing_else(name):
    X, y = blobs()
    estimator = copse.learner(name, seed=9, neighbors={"k": 4}).fit(X, y)
    again = clone(estimator)
    assert again.get_params() == estimator.get_params() and is_classifier(again)
    assert not hasattr(again, "classes_")
    assert repr(again) == f"{type(again).__name__}(neighbors={{'k': 4}}, seed=9)"


def test_columns_of_a_table_must_be_the_same():
    pandas = pytest.importorskip("pandas")
    X, y = blobs()
    frame = pandas.DataFrame(X, columns=list("abcd"))
    estimator = copse.WTA().fit(frame, pandas.Series(y))
    assert estimator.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.predict(frame[list("dcba")])


def test_semi_supervised_labels_are_read_as_scikit_learn_reads_them():
    X, y = blobs()
    some = np.where(np.arange(120) % 10 == 0, y, -1)
    assert (copse.LabelPropagation().fit(X, some).predict() == y).mean() > 0.95
