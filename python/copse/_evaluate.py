# SPDX-License-Identifier: Apache-2.0
"""How well learners do on a graph: labels are hidden, the graph stays whole, and only what was hidden is scored."""
import time
from functools import partial

import numpy as np

from . import _core
from ._estimator import GraphClassifier
from ._graph import as_graph
from ._labels import NO_LABEL, encode
from ._registry import CLASSES, learner
from ._settings import html_table, progress_callable, real_number, settings, whole_number, with_other_names


class Table(list):
    """Rows of results: a list of dictionaries, which ``pandas.DataFrame(table)`` takes as well."""

    def to_pandas(self):
        """A ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(list(self))

    def summary(self):
        """Means over the splits, with standard deviations (``error_std``), of each learner and share of labels."""
        groups = {}
        for row in self:
            groups.setdefault((row["learner"], row.get("train")), []).append(row)
        out = Table()
        for (name, train), rows in groups.items():
            summed = {"learner": name, **({} if train is None else {"train": train}), "splits": len(rows)}
            for metric in [key for key in rows[0] if key not in ("learner", "train", "split", "num_train", "num_test")]:
                values = np.array([row[metric] for row in rows], np.float64)
                summed[metric], summed[metric + "_std"] = float(values.mean()), float(values.std(ddof=1)) if len(rows) > 1 else 0.0
            out.append(summed)
        return out

    def _text(self):
        return [[f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()] for row in self]

    def __repr__(self):
        if not self:
            return "<copse.Table: no rows>"
        cells = [list(self[0]), *self._text()]
        widths = [max(map(len, column)) for column in zip(*cells)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells)

    def _repr_html_(self):
        return html_table("copse.Table", {"": ", ".join(self[0]) if self else "no rows", **{i: ", ".join(row) for i, row in enumerate(self._text())}})


# -- metrics: of the hidden nodes, truth and answers as numbers of classes, scores one column per class -----------------


def _counts(truth, predicted, num_classes):
    """True positives, false positives and false negatives by class; NO_LABEL is no answer."""
    right = truth == predicted
    count = lambda values: np.bincount(values[values < num_classes], minlength=num_classes)  # noqa: E731
    return count(truth[right]), count(predicted[~right]), count(truth[~right])


def _f1(positive, wrong, missed):
    whole = 2 * positive + wrong + missed
    return np.where(whole > 0, 2 * positive / np.maximum(whole, 1), 0.0), whole > 0


def _curve(truth, scores):
    """(true, false positives) above each distinct score, of one class."""
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), scores.size - 1)
    positive = np.cumsum(truth[order])[ends]
    return positive, ends + 1 - positive


def _auroc_of(truth, scores):
    positive, negative = (np.concatenate([[0], side]) for side in _curve(truth, scores))
    return float(np.sum(np.diff(negative) * (positive[1:] + positive[:-1]) / 2) / (positive[-1] * negative[-1]))


def _auprc_of(truth, scores):
    positive, negative = _curve(truth, scores)
    return float(np.sum(np.diff(positive, prepend=0) * positive / (positive + negative)) / positive[-1])


def _precision_at(k):
    """The share of the class among the k best; of nodes with equal scores that share."""

    def precision(truth, scores):
        positive, negative = _curve(truth, scores)
        ends = positive + negative
        return float(np.interp(min(k, ends[-1]), np.append(0, ends), np.append(0, positive)) / min(k, ends[-1]))

    return precision


def _one_against_rest(curve):
    """The mean over classes that some hidden nodes have and some have not; of two classes, of the second alone."""

    def metric(hidden):
        columns = range(1, 2) if hidden.is_binary else range(hidden.truth.shape[1])
        values = [curve(t, s) for t, s in ((hidden.truth[:, c], hidden.scores[:, c]) for c in columns) if 0 < t.sum() < t.size]
        return float(np.mean(values)) if values else float("nan")

    return metric


class _Hidden:
    """The hidden nodes of a split. `truth` and `yes` say by node and class; `codes` and `answers` are single classes."""

    def __init__(self, truth, scores, codes=None, answers=None, yes=None):
        self.truth, self.scores, self.codes, self.answers = truth, scores, codes, answers
        self.is_binary = codes is not None and truth.shape[1] == 2
        if codes is not None:
            self.counts = _counts(codes, answers, truth.shape[1])
        else:
            self.wrong = yes != truth
            self.counts = (yes & truth).sum(0), (yes & ~truth).sum(0), (~yes & truth).sum(0)

    def error(self):
        return float(np.mean(self.wrong) if self.codes is None else np.mean(self.codes != self.answers))

    def macro_f1(self):
        f1, occurs = _f1(*self.counts)
        return float(f1[occurs].mean()) if occurs.any() else 0.0

    def balanced_accuracy(self):
        positive, _, missed = self.counts
        there = positive + missed > 0
        return float((positive[there] / (positive + missed)[there]).mean())

    def log_loss(self):
        likely = np.where(self.truth, self.scores, (1 - self.scores) if self.codes is None else 1)
        return float(-np.log(np.clip(likely, 1e-15, 1)).sum() / (self.truth.size if self.codes is None else len(self.truth)))

    def brier(self):
        return float(((self.scores - self.truth) ** 2).sum(1).mean())

    def calibration_error(self):
        """The mean distance between confidence and the share of right answers, over ten bins of confidence."""
        if self.codes is None:
            sure, right = np.maximum(self.scores, 1 - self.scores).ravel(), ((self.scores > 0.5) == self.truth).ravel()
        else:
            sure, right = self.scores.max(1), self.codes == self.answers
        place = np.minimum((sure * 10).astype(int), 9)
        return float(sum(abs((sure[place == b] - right[place == b]).sum()) for b in range(10)) / sure.size)


METRICS = {
    "error": _Hidden.error,
    "accuracy": lambda hidden: 1 - hidden.error(),
    "macro_f1": _Hidden.macro_f1,
    "micro_f1": lambda hidden: float(_f1(*(np.sum(side) for side in hidden.counts))[0]),
    "balanced_accuracy": _Hidden.balanced_accuracy,
    "auroc": _one_against_rest(_auroc_of),
    "auprc": _one_against_rest(_auprc_of),
    "precision_at_10": _one_against_rest(_precision_at(10)),
    "precision_at_100": _one_against_rest(_precision_at(100)),
    "log_loss": _Hidden.log_loss,
    "brier": _Hidden.brier,
    "calibration_error": _Hidden.calibration_error,
}


# -- the runs -----------------------------------------------------------------------------------------------------------


def _contestants(learners):
    """[(name, estimator)] of names, estimators, or a dictionary from name to either."""
    if isinstance(learners, (str, GraphClassifier)):
        learners = [learners]
    named = list(learners.items()) if isinstance(learners, dict) else [(None, one) for one in learners]
    out = []
    for name, one in named:
        if not isinstance(one, GraphClassifier):
            if not isinstance(one, str) or one not in CLASSES:
                raise ValueError(f"learners: {one!r} is not known\n  give names ({', '.join(CLASSES)}) or learners, as copse.WTA(num_trees=11)")
            one = learner(one)
        default = one._learner if repr(one) == repr(type(one)()) else repr(one)
        out.append((default if name is None else str(name), one))
    if not out:
        raise ValueError("learners: none is named")
    return out


def _chosen_metrics(metrics):
    metrics = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics)
    for metric in metrics:
        if not callable(metric) and metric not in METRICS:
            raise ValueError(f"metrics: {metric!r} is not known\n  give some of {', '.join(METRICS)}, or a function (truth, predicted)")
    return metrics


def _score(estimator, graph, codes, classes, train, test, metrics, seed, threads):
    visible = np.full_like(codes, NO_LABEL)
    visible[train] = codes[train]
    begin = time.perf_counter()
    run = settings(seed, threads, None)
    fit = classes.fit(estimator._learner, graph, visible, _core.Hints(), estimator._option_texts(), run)
    answers, scores = fit.take_answers()[0][test], classes.fit_scores(fit, test, False, run)
    seconds = time.perf_counter() - begin
    if classes.is_multi:
        yes = classes.answers(scores, classes.thresholds(fit, run))
        hidden = _Hidden(classes.shown(np.eye(len(classes))[codes[test]]) > 0, scores, yes=yes)
        truth, predicted = hidden.truth, yes.astype(np.int64)
    else:
        place = np.append(np.argsort(classes.columns), NO_LABEL).astype(np.int64)
        true, answered = place[codes[test]], place[np.minimum(answers, len(classes))]
        hidden = _Hidden(np.eye(len(classes), dtype=bool)[true], scores, true, answered)
        truth, predicted = classes.decode(codes[test]), classes.decode(answers)
    values = {}
    for metric in metrics:
        name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
        values[name] = METRICS[metric](hidden) if isinstance(metric, str) else metric(truth, predicted)
    return {"num_train": len(train), "num_test": len(test), **values, "seconds": seconds}


def _score_job(graph, codes, classes, metrics, threads, one, about, train, test, seed):
    return {**about, **_score(one, graph, codes, classes, train, test, metrics, seed, threads)}


def run_rounds(graph, y, learners, metrics, rounds, unlabeled, run, run_all=None):
    """The rows of all learners and rounds; `run_all(jobs, score)` gives the rows score(*job) of all jobs from somewhere else."""
    run = with_other_names(run)
    unknown = set(run) - {"seed", "threads", "progress"}
    if unknown:
        raise TypeError(f"{min(unknown)}: no such argument\n  seed=, threads= and progress= say how to run")
    seed, threads, tell = run.get("seed"), run.get("threads"), progress_callable(run.get("progress"))
    seed = _core.default_seed if seed is None else whole_number(seed, "seed", 0, 2**63)
    contestants, metrics = _contestants(learners), _chosen_metrics(metrics)
    graph = as_graph(graph, threads=threads)
    codes, classes = encode(y, graph, unlabeled)
    if (codes != NO_LABEL).sum() < 2:
        raise ValueError("labels: fewer than two nodes have one\n  some are given to the learners, the others are hidden")
    if len(classes) < 2:
        raise ValueError(f"labels: {classes.names[0]!r} is the only class, and every answer would be right\n  give nodes of another class as well")
    splits = list(rounds(codes, seed))
    jobs = [(one, {"learner": name, **about}, train, test, seed + index) for name, one in contestants for about, index, train, test in splits]
    score = partial(_score_job, graph, codes, classes, metrics, threads)
    if run_all is not None:
        return Table(run_all(jobs, score))
    table = Table()
    for number, job in enumerate(jobs):
        if tell is not None and tell(f"evaluating {job[1]['learner']}", number, len(jobs)) is False:
            break
        table.append(score(*job))
    return table


def random_rounds(train, splits, stratified):
    shares = list(train) if isinstance(train, (list, tuple, np.ndarray)) else [train]
    splits = whole_number(splits, "splits", 1)

    def rounds(codes, seed):
        for share in shares:
            for index in range(splits):
                if isinstance(share, (int, np.integer)) and not isinstance(share, bool):
                    given, hidden = _core.split_per_class(codes, whole_number(share, "train", 1), seed, index)
                else:
                    given, hidden = _core.split(codes, real_number(share, "train"), bool(stratified), seed, index)
                yield {"train": share, "split": index}, index, given, hidden

    return rounds


def evaluate(A, y, learners=("wta", "majority_vote"), train=0.1, splits=10, metrics=("error", "macro_f1"), *, stratified=False, unlabeled=None, **run):
    """Hides labels at random, again and again, and scores the answers for the hidden ones; what ``copse evaluate`` does, with the
    same splits and the same figures.

    Parameters
    ----------
    A, y : graph and labels
        As for ``fit``; sets or a matrix of 0 and 1 for several classes per node, each of which is then a yes/no question.
    learners : names, learners, or a dictionary from name to either
        ``["wta", copse.LabelPropagation()]``
    train : float or int, or a list of them
        The share of the labels that is given to the learners; a whole number: that many of each class.
    splits : int
        How often, for each of `train`.
    metrics : names, or functions (truth, predicted)
        error, accuracy, macro_f1, micro_f1, balanced_accuracy, auroc, auprc, precision_at_10, precision_at_100, log_loss, brier, calibration_error.
    stratified : bool
        The same share of every class.
    **run
        ``seed``, ``threads``, ``progress``.

    Returns
    -------
    Table
        A list of dictionaries, one for each learner, share and split; ``.summary()`` has the means, ``.to_pandas()`` a DataFrame.

    Examples
    --------
    >>> grid, y = copse.generators.grid(rows=10, columns=10), np.arange(100) // 50
    >>> table = copse.evaluate(grid[0], y, ["wta", "majority_vote"], train=0.2, splits=3)
    >>> len(table), sorted(table[0])
    (6, ['error', 'learner', 'macro_f1', 'num_test', 'num_train', 'seconds', 'split', 'train'])
    """
    return run_rounds(A, y, learners, metrics, random_rounds(train, splits, stratified), unlabeled, run)


def cross_validate(A, y, learners=("wta", "majority_vote"), metrics=("error", "macro_f1"), *, folds=5, unlabeled=None, **run):
    """Cross-validation on a graph: the labelled nodes are dealt into folds, class by class, and the labels of each fold are hidden
    in turn while the graph stays whole. What ``cross_val_score`` is to points.

    Arguments and rows are those of :func:`evaluate`.

    >>> grid, y = copse.generators.grid(rows=10, columns=10), np.arange(100) // 50
    >>> [row["num_test"] for row in copse.cross_validate(grid[0], y, "wta", folds=4)]
    [25, 25, 25, 25]
    """
    folds = whole_number(folds, "folds", 2)

    def rounds(codes, seed):
        order = _core.fit_order(codes, seed)
        if folds > order.size:
            raise ValueError(f"folds: {folds} of {order.size} labelled nodes\n  each fold needs one")
        order = order[np.argsort(codes[order], kind="stable")]
        fold = np.arange(order.size) % folds
        for index in range(folds):
            yield {"split": index}, index, np.sort(order[fold != index]), np.sort(order[fold == index])

    return run_rounds(A, y, learners, metrics, rounds, unlabeled, run)
