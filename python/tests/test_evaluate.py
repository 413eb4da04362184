# SPDX-License-Identifier: Apache-2.0
"""copse.evaluate and copse.cross_validate: the program's figures, scikit-learn's metrics."""
import json
import subprocess

import numpy as np
import pytest
from conftest import random_graph
from sklearn import metrics as theirs

import copse

A = random_graph(120, 300, 4)
RNG = np.random.default_rng(7)
Y = (np.arange(120) // 40 + (RNG.random(120) < 0.2)) % 3
METRICS = ["error", "accuracy", "macro_f1", "micro_f1", "balanced_accuracy", "auroc", "auprc", "precision_at_10", "log_loss", "brier", "calibration_error"]


def test_the_figures_are_the_programs(program, tmp_path):
    copse.write_graph(tmp_path / "g.tsv", copse.Graph(A))
    (tmp_path / "y.tsv").write_text("".join(f"{i}\tc{c}\n" for i, c in enumerate(Y)))
    command = [program, "evaluate", tmp_path / "g.tsv", "--labels", tmp_path / "y.tsv", "--learners", "wta,label_propagation", "--train", "0.1,0.4", "--splits", "3", "--json", "--quiet"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["rows"]
    graph = copse.read_graph(tmp_path / "g.tsv")
    table = copse.evaluate(graph, {str(i): f"c{c}" for i, c in enumerate(Y)}, ["wta", "label_propagation"], train=[0.1, 0.4], splits=3)
    assert len(rows) == len(table) == 12
    for want, got in zip(rows, table):
        assert want["learner"] == got["learner"] and float(want["train"]) == got["train"] and want["split"] == got["split"]
        assert got["error"] == pytest.approx(want["error"], rel=1e-5) and got["macro_f1"] == pytest.approx(want["macro_f1"], rel=1e-5)


@pytest.mark.parametrize("num_classes", [2, 3])
def test_metrics_are_those_of_scikit_learn(num_classes):
    y, captured = Y % num_classes, []

    def keep(truth, predicted):
        captured.append((truth, predicted))
        return 0.0

    row = copse.evaluate(A, y, "label_propagation", train=0.3, splits=1, metrics=[*METRICS, keep], seed=3)[0]
    truth, predicted = captured[0]
    assert row["num_test"] == len(truth) and row["num_train"] + row["num_test"] == 120
    # The same split by hand, for the scores.
    hidden = copse._core.split(y.astype(np.uint16), 0.3, False, 3, 0)[1]
    given = y.copy()
    given[hidden] = -1
    # Classes are counted in order of first appearance, which is the same here.
    est = copse.LabelPropagation(seed=3).fit(A, given)
    scores = est.predict_proba(hidden)
    assert (est.predict(hidden) == predicted).all() and (y[hidden] == truth).all()
    one_hot = np.eye(num_classes)[truth]
    assert row["error"] == pytest.approx(1 - theirs.accuracy_score(truth, predicted)) == 1 - row["accuracy"]
    assert row["macro_f1"] == pytest.approx(theirs.f1_score(truth, predicted, average="macro"))
    assert row["micro_f1"] == pytest.approx(theirs.f1_score(truth, predicted, average="micro"))
    assert row["balanced_accuracy"] == pytest.approx(theirs.balanced_accuracy_score(truth, predicted))
    assert row["log_loss"] == pytest.approx(theirs.log_loss(truth, np.clip(scores, 1e-15, 1)), rel=1e-6)
    assert row["brier"] == pytest.approx(((scores - one_hot) ** 2).sum(1).mean())
    columns = [1] if num_classes == 2 else range(num_classes)
    assert row["auroc"] == pytest.approx(np.mean([theirs.roc_auc_score(one_hot[:, c], scores[:, c]) for c in columns]))
    assert row["auprc"] == pytest.approx(np.mean([theirs.average_precision_score(one_hot[:, c], scores[:, c]) for c in columns]))
    assert row["precision_at_10"] == pytest.approx(np.mean([one_hot[np.argsort(-scores[:, c], kind="stable")[:10], c].mean() for c in columns]))
    sure, right = scores.max(1), truth == predicted
    bins = np.minimum((sure * 10).astype(int), 9)
    slow = sum((bins == b).mean() * abs(sure[bins == b].mean() - right[bins == b].mean()) for b in set(bins))
    assert row["calibration_error"] == pytest.approx(slow)


def test_several_classes_per_node_are_yes_and_no_questions(program, tmp_path):
    truth = (RNG.random((120, 3)) < 0.5).astype(int)
    truth[truth.sum(1) == 0, 0] = 1
    row = copse.evaluate(A, truth, "majority_vote", train=0.3, splits=1, metrics=METRICS, seed=3)[0]
    assert 0 <= row["error"] <= 1 and 0 <= row["auroc"] <= 1 and np.isfinite(row["log_loss"])
    copse.write_graph(tmp_path / "g.tsv", copse.Graph(A))
    (tmp_path / "y.tsv").write_text("".join(f"{i}\tc{c}\n" for i, row in enumerate(truth) for c in np.flatnonzero(row)))
    command = [program, "evaluate", tmp_path / "g.tsv", "--labels", tmp_path / "y.tsv", "--learners", "majority_vote", "--train", "0.3", "--splits", "1", "--multi-label", "--seed", "3", "--json", "--quiet"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    want = json.loads(done.stdout)["rows"][0]
    sets = [{f"c{c}" for c in np.flatnonzero(row)} for row in truth]
    got = copse.evaluate(A, sets, "majority_vote", train=0.3, splits=1, metrics=["error", "macro_f1"], seed=3)[0]
    assert got["error"] == pytest.approx(want["error"], rel=1e-5) and got["macro_f1"] == pytest.approx(want["macro_f1"], rel=1e-5)


def test_cross_validation_hides_every_label_once_and_all_classes_alike():
    y = Y.copy()
    y[::7] = -1
    seen = []

    def keep(truth, predicted):
        seen.append(np.bincount(truth, minlength=3))
        return float(len(truth))

    table = copse.cross_validate(A, y, {"mine": copse.WTA(num_trees=3), "other": "majority_vote"}, ["accuracy", keep], folds=4, unlabeled=-1)
    assert len(table) == 8 and {row["learner"] for row in table} == {"mine", "other"}
    counts = np.array(seen[:4])
    assert counts.sum() == (y >= 0).sum() and (counts.max(0) - counts.min(0) <= 1).all()
    again = copse.cross_validate(A, y, {"mine": copse.WTA(num_trees=3)}, ["accuracy"], folds=4, unlabeled=-1, n_jobs=1)
    assert [row["accuracy"] for row in again] == [row["accuracy"] for row in table[:4]]


def test_the_table_is_a_list_that_shows_itself():
    table = copse.evaluate(A, Y, ["majority_vote", copse.WTA(num_trees=3)], train=[0.2, 3], splits=2, stratified=True)
    assert len(table) == 8 and {row["learner"] for row in table} == {"majority_vote", "WTA(num_trees=3)"}
    assert [row["num_train"] for row in table if row["train"] == 3] == [9] * 4
    means = table.summary()
    assert len(means) == 4 and means[0]["error"] == pytest.approx(np.mean([row["error"] for row in table[:2]]))
    assert means[0]["splits"] == 2 and "error_std" in means[0]
    assert "majority_vote" in repr(table) and "<table>" in table._repr_html_() and "no rows" in repr(copse.Table())
    pandas = pytest.importorskip("pandas")
    assert table.to_pandas().equals(pandas.DataFrame(table)) and len(table.to_pandas()) == 8


def test_progress_is_told_and_may_stop():
    told = []

    def tell(*news):
        told.append(news)
        return len(told) < 3

    assert len(copse.evaluate(A, Y, ["majority_vote", "wta"], splits=4, progress=tell)) == 2
    assert told[0] == ("evaluating majority_vote", 0, 8)


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"learners": "nobody"}, "learners: 'nobody' is not known"),
        ({"learners": []}, "none is named"),
        ({"metrics": "beauty"}, "metrics: 'beauty' is not known\n.*macro_f1"),
        ({"train": 1.5}, "0|1"),
        ({"train": 0}, "train"),
        ({"splits": 0}, "splits"),
        ({"y": [1] + [None] * 119}, "fewer than two"),
        ({"y": np.ones(120)}, "only class"),
        ({"y": np.ones(7)}, "7 for 120"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        copse.evaluate(A, **{"y": Y, **arguments})
    with pytest.raises(TypeError, match="sede: no such argument"):
        copse.evaluate(A, Y, sede=1)
    with pytest.raises(ValueError, match="folds"):
        copse.cross_validate(A, {0: "a", 1: "b"}, folds=5)
