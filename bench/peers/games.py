# SPDX-License-Identifier: Apache-2.0
"""Two games on the largest component of a set. Active: which nodes to ask about, one random label of each class to begin with;
all strategies are judged by the same learner on what they did not ask. Online: every label is guessed, then told, in random orders.
"""

import itertools
import os
import subprocess
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
COVERAGE_COLUMNS = ["set", "regime", "split", "method", "asked", "status", "covered", "classes"]
ONLINE_COLUMNS = ["set", "order", "method", "status", "accuracy", "seconds", "mb"]
GRAPHLEARNING = {"graphlearning_uncertainty": gl.unc_sampling, "graphlearning_vopt": gl.var_opt, "graphlearning_sigma_opt": gl.sigma_opt,
                 "graphlearning_model_change": gl.model_change, "graphlearning_model_change_vopt": gl.model_change_var_opt}
FASTONL = {"fastonl_k1": 1, "fastonl_k2": 2}
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

    def converse(self, strategy, data, start, most):
        """(error, seconds, nodes) of `copse online`, which is asked for the next node and told its label."""
        y, asked = data.truth.argmax(axis=1), list(start)
        with tempfile.TemporaryDirectory() as folder:
            labels = Path(folder, "labels.tsv")
            data.write_labels(labels, start)
            command = [self.options.copse, "online", self.cache / f"{data.name}.npz", "--labels", labels, "--learner", "majority_vote",
                       "--query-strategy", strategy, "--threads", "1", "-q"]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:

                def say(line):
                    child.stdin.write(line + "\n")
                    child.stdin.flush()
                    return child.stdout.readline().split("\t")

                child.stdout.readline()
                while len(asked) < most:
                    asked.append(int(say("\t\tnext")[0]))
                    say(f"{asked[-1]}\t{data.classes[y[asked[-1]]]}")
                child.stdin.close()
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
        return "" if child.returncode == 0 else f"exit code {child.returncode}", usage.ru_utime + usage.ru_stime, np.array(asked)

    def ask_copse(self, strategy, data, start, most):
        """(error, seconds, nodes): one by one where every node has a label, else in batches, which may leave nodes out."""
        if len(data.labelled) == len(data.truth):
            return self.converse(strategy, data, start, most)
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

    def coverage(self):
        """How often the classes that `predict --coverage` names hold the truth, and how many they are."""
        for name, regime, split, method, asked in itertools.product(*(getattr(self.options, key) for key in ("sets", "regimes")),
                                                                    range(self.options.splits), self.options.methods, self.options.asked):
            if (name, regime, str(split), method, str(asked)) in self.done:
                continue
            data = read_set(self.options.data, name, self.cache)
            train = data.split(regime, split)
            test = np.setdiff1d(data.labelled, train)
            with tempfile.TemporaryDirectory() as folder:
                labels, answers = Path(folder, "labels.tsv"), Path(folder, "answers.tsv")
                data.write_labels(labels, train)
                command = [self.options.copse, "predict", self.cache / f"{name}.npz", "--labels", labels, "--coverage", asked, "--only-predicted"]
                error, *_ = self.launch(command + [*copse_arguments(method), "--threads", 1, "-q", "-o", answers], self.options.limit)
                sets = {int(row["node"]): row["set"].split(",") for row in read_table(answers)}
            truth = data.truth.argmax(axis=1)
            covered = [data.classes[truth[node]] in sets[node] for node in test] if not error else [np.nan]
            count = [len(sets[node]) for node in test] if not error else [np.nan]
            self.keep(name, regime, split, method, asked, error or "ok", f"{np.mean(covered):.4f}", f"{np.mean(count):.2f}")

    def fastonl(self, data, nodes, kernel):
        from .fastonl import play

        truth = data.truth.argmax(axis=1)
        play(data.graph, truth, len(data.classes), nodes[:1], kernel)  # compiled before the clock runs
        return forked(lambda: play(data.graph, truth, len(data.classes), nodes, kernel), self.options.limit)

    def online(self):
        for data in self.sets():
            for order, method in itertools.product(range(self.options.orders), self.options.methods):
                if (data.name, str(order), method) in self.done:
                    continue
                nodes = np.random.RandomState(order).permutation(data.labelled)
                if method in FASTONL:
                    error, seconds, mb, accuracy = self.fastonl(data, nodes, FASTONL[method])
                    self.keep(data.name, order, method, error or "ok", f"{np.nan if error else accuracy:.4f}", f"{seconds:.3f}", f"{mb:.0f}")
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    told, answers = Path(folder, "told.tsv"), Path(folder, "answers.tsv")
                    data.write_labels(told, nodes)
                    command = [self.options.copse, "online", self.cache / f"{data.name}.npz", *copse_arguments(method), "--threads", 1, "-q", "-o", answers]
                    error, seconds, mb = self.launch(command, self.options.limit, told)
                    accuracy = np.nan if error else 1 - int(read_table(answers)[-1]["mistakes"]) / len(nodes)
                self.keep(data.name, order, method, error or "ok", f"{accuracy:.4f}", f"{seconds:.3f}", f"{mb:.0f}")
