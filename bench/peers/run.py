# SPDX-License-Identifier: Apache-2.0
"""Every method on every split: a row of a tidy table each, kept as soon as it is known, so that a run that is stopped goes on where it was."""

import csv
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from . import methods
from .data import read_set
from .measure import forked

COLUMNS = ["set", "regime", "split", "method", "status", "accuracy", "macro_f1", "log_loss", "calibration_error", "seconds", "mb"]
COPSE = ["auto", "wta", "label_propagation", "poisson", "kernel_ridge", "tree_cut", "majority_vote", "nearest_neighbor"]


def copse_arguments(method):
    """copse:NAME, copse:NAME:key=value,... and either with @ANYTHING behind it, which tells two builds apart."""
    name, _, options = method.removeprefix("copse:").split("@")[0].partition(":")
    pairs = [option.split("=") for option in options.split(",") if option]
    return ["--learner", name, *(word for key, value in pairs for word in (f"--{key.replace('_', '-')}", value))]


def read_scores(path, data, scores):
    """The table of `copse predict --scores` into scores[node, class]; the label that it prints gets the largest."""
    with open(path) as file:
        header = next(file).rstrip("\n").split("\t")
        columns = [data.classes.index(name) for name in header[4:]]
        for line in file:
            node, label, _, _, *values = line.rstrip("\n").split("\t")
            row = scores[int(node)]
            row[columns] = values
            if not data.is_multi_label and label:
                row[data.classes.index(label)] = row.max() + 1e-9  # a tie is the program's to break


def normalized(scores, prior):
    """Rows that sum to 1: scores below 0 are shifted (GraphLearning's are differences), a row of zeros is the prior."""
    scores = scores - np.minimum(scores.min(axis=1, keepdims=True), 0)
    total = scores.sum(axis=1, keepdims=True)
    return np.where(total > 0, scores / np.where(total > 0, total, 1), prior)


def f1(found, truth):
    """(micro, macro) F1 of 0/1 matrices; classes that are nowhere in the test do not count."""
    hits, both = (found & truth).sum(axis=0), found.sum(axis=0) + truth.sum(axis=0)
    present = truth.any(axis=0)
    return 2 * hits.sum() / both.sum(), (2 * hits[present] / both[present]).mean()


def metrics(scores, truth, prior, num_bins=15):
    """Accuracy, macro F1, log loss, expected calibration error. Several labels per node: as many best classes as it truly has,
    micro F1 in place of accuracy, and no probabilities."""
    count = truth.sum(axis=1)
    tied = scores + 1e-9 * prior  # equal scores: the more frequent class
    rank = np.argsort(np.argsort(-tied, axis=1, kind="stable"), axis=1)
    micro, macro = f1(rank < count[:, None], truth)
    if count.max() > 1:
        return micro, macro, np.nan, np.nan
    chance = normalized(scores, prior)
    top, right = chance.max(axis=1), (rank == 0)[truth]
    bins = np.minimum((top * num_bins).astype(int), num_bins - 1)
    gaps = np.bincount(bins, weights=right - top, minlength=num_bins)
    return micro, macro, -np.log(np.clip(chance[truth], 1e-6, 1)).mean(), abs(gaps).sum() / len(top)


class Runner:
    """Runs methods and keeps rows; the first `num_keys` columns name a row."""

    def __init__(self, options, launch, columns=COLUMNS, num_keys=4):
        self.options, self.launch, self.columns = options, launch, columns
        self.cache, self.table = Path(options.cache), Path(options.table)
        self.done = {tuple(row[c] for c in columns[:num_keys]) for row in read_table(self.table)}

    def keep(self, *row):
        """Appends a row to the table, so that it stays even if the machine stops."""
        self.table.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.table.exists() or self.table.stat().st_size == 0
        with open(self.table, "a") as file:
            for line in [self.columns, row][not is_new:]:
                file.write("\t".join(map(str, line)) + "\n")
            file.flush()
            os.fsync(file.fileno())
        print(*row, sep="\t", flush=True)

    def embedding(self, data, method):
        """(error, seconds, MB, rows) of an embedding, made once and kept: it does not see labels."""
        path = self.cache / f"{data.name}.{method}.npz"
        if not path.exists():
            make = methods.EMBEDDINGS[method]
            error, seconds, mb, x = forked(lambda: make(data.graph).astype(np.float32), self.options.limit)
            np.savez(path, error=error, seconds=seconds, mb=mb, x=np.zeros(0) if x is None else x)
        kept = np.load(path)
        return str(kept["error"]), float(kept["seconds"]), float(kept["mb"]), kept["x"].astype(float)

    def peer(self, data, train, method, test):
        error, seconds, mb, x = self.embedding(data, method) if method in methods.EMBEDDINGS else ("", 0, 0, None)
        if error:
            return error, seconds, mb, None

        def answer():
            return methods.predict(method, data.graph, train, data.truth[train], x)[test]

        error, more, peak, scores = forked(answer, self.options.limit)
        return error, seconds + more, max(mb, peak), scores

    def copse(self, data, train, method, test):
        with tempfile.TemporaryDirectory() as folder:
            labels, answers = Path(folder, "labels.tsv"), Path(folder, "answers.tsv")
            data.write_labels(labels, train)
            command = [self.options.copse, "predict", self.cache / f"{data.name}.npz", "--labels", labels, "--scores", "--only-predicted"]
            command += [*copse_arguments(method), "--threads", 1, "-q", "-o", answers]
            error, seconds, mb = self.launch(command + ["--multi-label"] * data.is_multi_label, self.options.limit)
            scores = np.zeros(data.truth.shape)
            if not error:
                read_scores(answers, data, scores)
        return error, seconds, mb, scores[test]

    def judge(self, data, train, method):
        """[status, accuracy, ..., seconds, MB] of a method that is told the labels of `train`."""
        test, prior = np.setdiff1d(data.labelled, train), data.truth[train].mean(axis=0)
        run = self.copse if method.startswith("copse:") else self.peer
        error, seconds, mb, scores = run(data, train, method, test)
        values = [np.nan] * 4 if error else metrics(scores, data.truth[test], prior)
        return [error or "ok", *(f"{v:.4f}" for v in values), f"{seconds:.3f}", f"{mb:.0f}"]

    def run_set(self, name):
        wanted = [(name, regime, str(split), method) for regime in self.options.regimes for split in range(self.options.splits)
                  for method in self.options.methods]
        wanted = [key for key in wanted if key not in self.done]
        if not wanted:
            return
        try:
            data = read_set(self.options.data, name, self.cache)
        except ValueError as reason:
            print(f"skipped {name}: {reason}", file=sys.stderr)
            return
        for _, regime, split, method in wanted:
            if data.is_multi_label and (regime.endswith("/class") or method in methods.METHODS):
                continue  # labels are not counted per class; these methods know one label per node
            self.keep(name, regime, split, method, *self.judge(data, data.split(regime, int(split)), method))


def read_table(path):
    if not Path(path).exists():
        return []
    with open(path) as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
