# SPDX-License-Identifier: Apache-2.0
"""What fit() leaves: a graph, its labels, and who answers for them."""
import contextlib

import numpy as np

from . import _core
from ._labels import JUST_ABOVE_HALF, NO_LABEL
from ._settings import num_threads, require_memory, settings


class State:
    """What fit() leaves: the graph, the labels, and the answers for them. The library's own objects can be made
    again from the rest, bit for bit, so they do not travel when an estimator is pickled."""

    def __init__(self, graph, codes, classes, learner, options, run, in_order, unlabeled=None):
        self.graph, self.codes, self.classes, self.unlabeled = graph, codes, classes, unlabeled
        self.learner, self.options, self.run = learner, options, run
        self.nearest = self.features = None  # of points
        self.hints = None
        self.first_codes = codes.copy() if in_order else None
        self.changes = []  # of the graph since fit(): methods of the online learner, and what they were given
        self.new_nodes = {}
        self.history = []  # what was told after fit(), for a learner that minds the order
        self.is_partial = False
        self.notes = []
        self._fit = self._online = self._answers = self._scores = self._thresholds = None

    def __getstate__(self):
        if self.is_partial and self._scores is None:  # a committee that was stopped cannot be had again
            self._scores = self._all_scores()
        seed, threads, _ = self.run
        return {**self.__dict__, "_fit": None, "_online": None, "run": (seed, threads, None)}

    def settings(self):
        return settings(*self.run)

    @property
    def num_nodes(self):
        return self.graph.num_nodes + len(self.new_nodes)

    @property
    def nodes(self):
        return [*self.graph.nodes, *self.new_nodes] if self.new_nodes else self.graph.nodes

    def index(self, node):
        place = self.new_nodes.get(node) if self.new_nodes else None
        return self.graph.index(node) if place is None else place

    def indices(self, nodes):
        if not self.new_nodes:
            return self.graph.indices(nodes)
        return np.array([self.index(node) for node in nodes], np.uint32)

    def change_graph(self, method, *arguments):
        """The online learner's own method; what it refuses changes nothing."""
        result = getattr(self.online(), method)(*arguments)
        self.changes.append((method, arguments))
        self._fit = self._answers = self._scores = self._thresholds = None
        self.is_partial = False
        return result

    def fit(self):
        if self._fit is None:
            graph, options = self.graph, self.options
            needed = _core.learner_bytes(
                self.learner, graph.num_nodes, 2 * graph.num_edges, graph.is_weighted, len(self.classes), options, num_threads(self.run[1])
            )
            require_memory(self.learner, needed, "threads=1 works on one tree at a time")
            hints = _core.Hints() if self.hints is None else self.hints.core()
            self._fit = self.classes.fit(self.learner, graph, self.codes, hints, options, self.settings())
        return self._fit

    def online(self):
        if self._online is None:
            graph, options = self.graph, self.options
            needed = _core.learner_online_bytes(
                self.learner, graph.num_nodes, 2 * graph.num_edges, graph.is_weighted, options, num_threads(self.run[1])
            )
            require_memory(self.learner, needed, "online every tree stays in memory: lower num_trees")
            self._online = self._replayed()
        return self._online

    def _replayed(self, without=None):
        if self.hints is not None:
            raise ValueError("hints: soft labels, weights, priors and class sizes are learned by fit() only\n  fit() again with what is known now")
        online = _core.online(self.learner, self.graph._core, self.options, self.settings())
        for method, arguments in self.changes:
            getattr(online, method)(*arguments)
        codes = self.codes if self.first_codes is None else self.first_codes
        if without is not None:
            codes = codes.copy()
            codes[without] = NO_LABEL
        online.reveal_all(codes)
        for node, code in self.history:
            if node != without:
                online.retract(node) if code == NO_LABEL else online.reveal(node, code)
        return online

    def asks_online(self):
        """Whether the online learner knows what no batch run does, or knows it already."""
        if self.hints is not None:
            return False
        return bool(self.changes) or bool(self.history) or self._fit is None and self._online is not None or not (self.codes != NO_LABEL).any()

    def answers(self, nodes=None):
        """Label, confidence and whether reached, by node; of some nodes only at the cost of these."""
        if nodes is not None and self._answers is None and self.asks_online():
            return self.online().predict_many(nodes)
        answers = self._all_answers()
        return answers if nodes is None else tuple(column[nodes] for column in answers)

    def _all_answers(self):
        if self._answers is None:
            if self.asks_online():
                self._answers = self.online().predict_many(np.arange(self.num_nodes, dtype=np.uint32))
            else:
                fit = self.fit()
                self._answers = fit.take_answers()
                self.is_partial, self.notes = fit.interrupted, list(fit.notes)
                if self.is_partial:
                    self.notes.insert(0, f"interrupted after {fit.units_done} of {fit.units_asked} trees")
        return self._answers

    def _all_scores(self):
        return self.scores(np.arange(self.num_nodes, dtype=np.uint32))

    def scores(self, nodes, is_raw=False):
        """One row per node, one column per class as users see them; `is_raw`: to rank by, of any size."""
        if self._scores is not None and not is_raw:
            return self._scores[nodes]
        if self.asks_online():
            return self.classes.shown(self.online().scores_many(nodes, len(self.classes), is_raw))
        return self.classes.fit_scores(self.fit(), nodes, is_raw, self.settings())

    def thresholds(self):
        """Of several classes per node; one half for labels that were told after fit(), as the program answers online."""
        if self.asks_online():
            return JUST_ABOVE_HALF
        if self._thresholds is None:
            self._thresholds = self.classes.thresholds(self.fit(), self.settings())
        return self._thresholds

    @contextlib.contextmanager
    def all_or_nothing(self, num_classes):
        """Interrupted half way, the online learner is made again from what was known before."""
        try:
            yield
        except BaseException:
            self._online = None
            self.classes.forget(num_classes)
            raise

    def changed(self, nodes, codes):
        """One node and its number, or arrays of them, in the order in which they were told."""
        self.codes[nodes] = codes
        if self.first_codes is not None:
            self.history.extend(zip(np.atleast_1d(nodes).tolist(), np.atleast_1d(codes).tolist()))
        if self._fit is not None or self._answers is not None:
            self._fit = self._answers = self._scores = self._thresholds = None
            self.is_partial = False
