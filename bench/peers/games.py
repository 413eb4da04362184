# SPDX-License-Identifier: Apache-2.0
"""Two games on the largest component of a set. Active: which nodes to ask about, one random label of each class to begin with;
all strategies are judged by the same learner on what they did not ask. Online: every label is guessed, then told, in random orders.

A stated gap: FastONL (Zhou, Sun & Babanezhad, ICML 2023), the online peer, is not here; its update has to be written from the paper.
"""

import itertools
import sys
import tempfile
from pathlib import Path

import graphlearning
import numpy as np
from graphlearning import active_learning as gl

from .data import largest_component, read_set
from .measure import forked
from .run import Runner, copse_arguments, read_table

ACTIVE_COLUMNS = ["set", "start", "strategy", "labels", "status", "accuracy", "seconds"]
ONLINE_COLUMNS = ["set", "order", "method", "status", "accuracy", "seconds", "mb"]
GRAPHLEARNING = {"graphlearning_uncertainty": gl.unc_sampling, "graphlearning_vopt": gl.var_opt, "graphlearning_sigma_opt": gl.sigma_opt,
                 "graphlearning_model_change": gl.model_change, "graphlearning_model_change_vopt": gl.model_change_var_opt}
STRATEGIES = [*(f"copse:{s}" for s in ("act_st", "act_mu", "disagreement", "cover", "random")), *GRAPHLEARNING]


def ask_graphlearning(strategy, data, start, most):
    """The nodes that GraphLearning asks for one by one, with its Laplace learner and, as its manual has it, 50 eigenvectors."""
    y = data.truth.argmax(axis=1)
    model = graphlearning.ssl.laplace(data.graph)
    needs = {}
    if strategy != "graphlearning_uncertainty":
        values, vectors = model.graph.eigen_decomp(normalization="normalized", k=50)
        needs = {"C": np.diag(1 / (values + 1e-11)), "V": vectors}
    learner = gl.active_learner(model, GRAPHLEARNING[strategy], start, y[start], **needs)
    open_nodes = np.setdiff1d(data.labelled, start)
    while len(learner.labeled_ind) < most and len(open_nodes):
        node = learner.select_queries(candidate_ind=open_nodes)
        learner.update(node, y[node])
        open_nodes = np.setdiff1d(open_nodes, node)
    return learner.labeled_ind


class Games(Runner):
    def sets(self):
        for name in self.options.sets:
            try:
                data = read_set(self.options.data, name, self.cache)
            except ValueError as reason:
                print(f"skipped {name}: {reason}", file=sys.stderr)
                continue
            if data.is_multi_label:
                print(f"skipped {name}: several labels per node", file=sys.stderr)
                continue
            yield largest_component(data, self.cache)

    def ask_copse(self, strategy, data, start, most):
        """(error, seconds, nodes): batches, since the program keeps no state between calls."""
        asked, total, error = list(start), 0, ""
        with tempfile.TemporaryDirectory() as folder:
            labels, candidates, answers = (Path(folder, name) for name in ("labels.tsv", "candidates.txt", "answers.tsv"))
            while len(asked) < most and not error:
                data.write_labels(labels, asked)
                candidates.write_text("".join(f"{node}\n" for node in np.setdiff1d(data.labelled, asked)))
                count = min(self.options.batch, most - len(asked))
                command = [self.options.copse, "query", self.cache / f"{data.name}.npz", "--labels", labels, "--strategy", strategy, "-k", count,
                           "--candidates", candidates, "--threads", 1, "-q", "-o", answers]
                error, seconds, _ = self.launch(command, self.options.limit)
                total += seconds
                asked += [int(row["node"]) for row in read_table(answers)]
        return error, total, np.array(asked)

    def ask(self, strategy, data, start, most):
        if strategy.startswith("copse:"):
            return self.ask_copse(strategy.removeprefix("copse:").split("@")[0], data, start, most)
        error, seconds, _, asked = forked(lambda: ask_graphlearning(strategy, data, start, most), self.options.limit)
        return error, seconds, asked

    def active(self):
        for data in self.sets():
            most = min(max(self.options.counts), len(data.labelled) - 1)
            for start, strategy in itertools.product(range(self.options.starts), self.options.strategies):
                if (data.name, str(start), strategy) in self.done:
                    continue
                error, seconds, asked = self.ask(strategy, data, data.split("1/class", start), most)
                for count in self.options.counts:
                    status, accuracy, *_ = [error, "nan"] if error else self.judge(data, np.sort(asked[:count]), f"copse:{self.options.learner}")
                    self.keep(data.name, start, strategy, count, status, accuracy, f"{seconds:.3f}")

    def online(self):
        for data in self.sets():
            for order, method in itertools.product(range(self.options.orders), self.options.methods):
                if (data.name, str(order), method) in self.done:
                    continue
                nodes = np.random.RandomState(order).permutation(data.labelled)
                with tempfile.TemporaryDirectory() as folder:
                    told, answers = Path(folder, "told.tsv"), Path(folder, "answers.tsv")
                    data.write_labels(told, nodes)
                    command = [self.options.copse, "online", self.cache / f"{data.name}.npz", *copse_arguments(method), "--threads", 1, "-q", "-o", answers]
                    error, seconds, mb = self.launch(command, self.options.limit, told)
                    accuracy = np.nan if error else 1 - int(read_table(answers)[-1]["mistakes"]) / len(nodes)
                self.keep(data.name, order, method, error or "ok", f"{accuracy:.4f}", f"{seconds:.3f}", f"{mb:.0f}")
