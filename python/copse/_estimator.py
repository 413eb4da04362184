# SPDX-License-Identifier: Apache-2.0
"""What all learners have in common in Python: scikit-learn's conventions over the library's registry."""
import copy
from typing import NamedTuple

import numpy as np
import scipy.sparse

from . import _core
from ._graph import GraphWarning, as_graph
from ._hints import Hints, take_class_sizes, take_prior, take_soft_rows, weigh_labels
from ._labels import JUST_ABOVE_HALF, NO_LABEL, Classes, codes_of, encode, encode_array, has_index, is_unknown, soft_rows
from ._points import Nearest, checked, graph_of, is_points
from ._settings import html_table, num_threads, option_text, real_numbers, settings, warn, with_other_names
from ._state import State


class Reason(NamedTuple):
    """A labelled node that took part in an answer."""

    node: object
    label: object
    share: float  # of the vote (or of the weight) it carried
    resistance: float  # to the node asked about


class Explanation(NamedTuple):
    """Why a node is predicted as it is; a labelled node is explained as if it were not."""

    node: object
    label: object
    confidence: float
    reached: bool
    votes: dict
    reasons: list


class NotFittedError(ValueError, AttributeError):
    """An estimator was asked before it was given a graph."""


class GraphClassifier:
    """Base of all learners; its subclasses are made from the library's registry."""

    _learner = None
    _options = ()
    _depends_on_order = False
    _estimator_type = "classifier"

    # -- parameters, as scikit-learn has them ---------------------------------------------------------------

    @classmethod
    def _parameters(cls):
        return [option["name"] for option in cls._options] + ["neighbors", "seed", "threads", "progress"]

    def get_params(self, deep=True):
        """The parameters, by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params):
        """Changes parameters; they count from the next fit()."""
        known = self._parameters()
        for name, value in with_other_names(params).items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
            setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = {option["name"]: option["default"] for option in self._options}
        defaults.update(neighbors=None, seed=_core.default_seed, threads=None, progress=None)
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if not (v is defaults[k] or v == defaults[k])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self):
        facts = self.get_params()
        if self.__sklearn_is_fitted__():
            state = self._fitted
            labelled = int((state.codes != NO_LABEL).sum())
            facts.update(fitted=f"{state.graph!r}, {labelled:,} labels", classes_=", ".join(map(str, self.classes_[:20])))
        return html_table(type(self).__name__, facts)

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(sparse=False),  # but for a square one, which is a graph
        )

    def __getstate__(self):
        return {**self.__dict__, "progress": None}  # a bar or a function of this process does not travel

    def __sklearn_is_fitted__(self):
        return "_state" in self.__dict__

    def __sklearn_clone__(self):
        return type(self)(**{name: copy.deepcopy(value) for name, value in self.get_params().items()})

    def _option_texts(self):
        """The options as the registry reads them."""
        return {option["name"]: option_text(getattr(self, option["name"])) for option in self._options}

    # -- batch -------------------------------------------------------------------------------------------------

    def fit(self, X, y, unlabeled=None, *, sample_weight=None, prior=None, prior_weight=0.2, class_sizes=None):
        """Predicts every node's label from the labels that are known.

        Parameters
        ----------
        X : graph or points
            What :class:`copse.Graph` takes is a graph: a scipy sparse square matrix, a table or arrays of edges, a networkx,
            igraph or NetworKit graph, the path of a file. Any other array or table (num_points, num_columns), and with
            ``neighbors`` a sparse matrix that is not square, holds points: they are joined to their nearest by
            :func:`copse.neighbors_graph` with the arguments in ``neighbors`` (a number is k).
        y : labels
            An array, list or polars Series: one a node, in the order of ``graph_.nodes``. A dictionary from node to label, or a
            pandas Series, whose index names the nodes. A file of rows ``node<TAB>label``. For several classes per node: sets, or
            a matrix of 0 and 1 with a column per class. Soft labels: an array of probabilities, a row per node and a column per
            class; what a row leaves to 1 is the share of the node's neighbours in its answer.
        unlabeled : value or list of values, optional
            What means unknown, beside None, NaN, NA and "". By default -1, where all other classes are whole numbers from 0 and
            not 1 alone; ``()`` for nothing.
        sample_weight : array, optional
            How sure each node's label is, relative to the surest, which is certain; 0 means that it does not count.
        prior : array or pandas DataFrame, optional
            What another model thinks: a row of probabilities per node, a column per class in the order of ``classes_``, or as the
            index and the columns name them. Rows of labelled nodes are not looked at.
        prior_weight : float
            What the prior weighs at a node, its neighbours together being 1.
        class_sizes : "uniform", dict or array, optional
            What each class has of the nodes, by class or in the order of ``classes_``: answers will have these sizes.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None\n  start(X) begins without labels")
        state = self._hinted(X, y, unlabeled, sample_weight, prior, prior_weight, class_sizes)
        if not (state.codes != NO_LABEL).any() and (state.hints is None or not state.hints.nodes.size):
            raise ValueError("labels: no node has a label\n  -1, None, NaN and \"\" mean unknown; start(X) begins without labels")
        if len(state.classes) == 1 and not state.graph.is_signed:
            ranks = self._learner in ("auto", "label_propagation") and state.hints is None
            warn(
                f"labels: {state.classes.names[0]!r} is the only class that is known, so it is the answer for every node\n  to rank nodes, "
                + ("sort by decision_function(); labels of another class would tell more" if ranks else "give"
                " some of another class as well (a random sample of the others will do) and sort by decision_function()"),
                GraphWarning,
            )
        state.answers()
        self._adopt(state)
        return self

    def _hinted(self, X, y, unlabeled, sample_weight, prior, prior_weight, class_sizes):
        """The state of :meth:`_prepared`, with what is known beside certain labels."""
        soft = None if has_index(y) else soft_rows(y)
        state = self._prepared(X, y, unlabeled=unlabeled) if soft is None else self._prepared(X, {}, unlabeled=unlabeled)
        if soft is None and sample_weight is None and prior is None and class_sizes is None:
            return state
        if state.classes.is_multi:
            raise ValueError("hints: nodes have several classes here\n  sample_weight, prior and class_sizes are for one class per node")
        state.hints = Hints(prior_weight)
        if soft is not None:
            take_soft_rows(state, *soft)
        if sample_weight is not None:
            weigh_labels(state, sample_weight)
        if prior is not None:
            take_prior(state, prior)
        if class_sizes is not None:
            take_class_sizes(state, class_sizes)
        if state.hints.is_empty():
            state.hints = None
        return state

    def partial_fit(self, X, y=None, classes=(), unlabeled=None):
        """The first call takes a graph, as :meth:`start`, and the labels known so far; later ones take nodes and their labels,
        as :meth:`learn_many`, or the labels of the same graph again, of which those that are known are learned."""
        if not self.__sklearn_is_fitted__():
            self.start(X, () if classes is None else classes)
            state = self._fitted
        else:
            state = self._fitted
            points = self._as_points(X)
            if points is not None and not state.nearest.holds(points):
                raise ValueError("X: points cannot be added to a graph\n  fit() all of them; labels of points that were fitted are told by their rows")
            if points is None and self._as_nodes(X) is not None:
                self.learn_many(X, y)
                return self
        codes, found = (None, None) if y is None else encode(y, state.graph, unlabeled)
        if codes is not None and (codes != NO_LABEL).any():
            nodes = np.flatnonzero(codes != NO_LABEL)
            self._tell_places(nodes.astype(np.uint32), [found.names[code] for code in codes[nodes]], lambda o, p, c: o.reveal_many(p, c))
        return self

    def start(self, X, classes=()):
        """Takes a graph without labels: for :meth:`learn_one`. Classes may be named in advance."""
        state = self._prepared(X, {}, Classes(classes))
        state.online()
        self._adopt(state)
        return self

    def _told(self, X, y, unlabeled=None):
        """Knows the labels, and predicts nothing yet."""
        self._adopt(self._prepared(X, y, unlabeled=unlabeled))
        return self

    def _prepared(self, X, y, classes=None, unlabeled=None):
        """The state of a graph (or of points) and labels; nothing of the estimator has changed yet."""
        options = self._option_texts()
        _core.learner_bytes(self._learner, 1, 0, False, 1, options, 1)  # reads them all: wrong ones are told at once
        run = (self.seed, self.threads, self.progress)
        settings(*run)
        if not is_points(X, y, self.neighbors):
            graph = as_graph(X, threads=self.threads)
            codes, found = encode(y, graph, unlabeled)
            return State(graph, codes, classes or found, self._learner, options, run, self._depends_on_order, unlabeled)
        names = _feature_names(X)
        _check_rows(X, y)
        X = checked(X, type(self).__name__)
        told = None if isinstance(y, dict) else encode_array(y, X.shape[0], unlabeled)  # wrong labels, too, before the work
        graph = graph_of(X, self.neighbors, self.seed, self.threads, None)
        codes, found = told or encode(y, graph, unlabeled)
        state = State(graph, codes, classes or found, self._learner, options, run, self._depends_on_order, unlabeled)
        state.nearest, state.features = Nearest(X, self.neighbors), (X.shape[1], names)
        return state

    def _adopt(self, state):
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if state.features is not None:
            self.n_features_in_, names = state.features
            if names is not None:
                self.feature_names_in_ = names
        self._state = state
        self.classes_ = state.classes.sorted

    @property
    def _fitted(self):
        state = self.__dict__.get("_state")
        if state is None:
            raise _not_fitted(self)
        return state

    @property
    def graph_(self):
        """The graph that was fitted."""
        return self._fitted.graph

    @property
    def reached_(self):
        """By node: whether some label reaches it. Where none does, the answer is the most frequent class."""
        return self._fitted.answers()[2]

    @property
    def confidence_(self):
        """By node: the score of the label that is predicted, from 0 to 1."""
        state = self._fitted
        if state.classes.is_multi:  # the least of those that are predicted
            scores = self._node_scores(None)
            return np.where(state.classes.answers(scores, state.thresholds()), scores, 1).min(1)
        return state.answers()[1]

    @property
    def notes_(self):
        """What a user should know of the run: trees completed by keys, solves that stopped short, ..."""
        return self._fitted.notes

    @property
    def interrupted_(self):
        """Whether a progress callable stopped the run: the answers are those of the trees so far."""
        return self._fitted.is_partial

    @property
    def transduction_(self):
        """The label of every node: ``predict()``, by scikit-learn's name."""
        return self.predict()

    @property
    def label_distributions_(self):
        """The scores of every node: ``predict_proba()``, by scikit-learn's name."""
        return self.predict_proba()

    def predict(self, X=None):
        """The label of every node; of some, where `X` is a list or a mask of nodes; of points, where points were fitted."""
        state = self._fitted
        points = self._as_points(X)
        if points is not None:
            return state.classes.decide(self._point_scores(points))
        nodes = self._as_nodes(X)
        if state.classes.is_multi:
            return state.classes.decide(self._node_scores(nodes), state.thresholds())
        return state.classes.decode(state.answers(nodes)[0])

    def predict_proba(self, X=None):
        """The same as scores, one column per class in the order of ``classes_``; rows sum to 1."""
        return self._scores(X)

    def decision_function(self, X=None):
        """Scores to rank by: of any size, neither clipped nor divided by their sum where the learner has such. Of two classes the
        second of ``classes_`` minus the first, otherwise one column per class."""
        scores = self._scores(X, is_raw=True)
        if self._fitted.classes.is_multi or scores.shape[1] > 2:
            return scores
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores[:, 0]

    def _scores(self, X, is_raw=False):
        points = self._as_points(X)
        return self._node_scores(self._as_nodes(X), is_raw) if points is None else self._point_scores(points)

    def _node_scores(self, nodes, is_raw=False):
        state = self._fitted
        if nodes is None:
            nodes = np.arange(state.num_nodes, dtype=np.uint32)
        return state.scores(nodes, is_raw)

    def fit_predict(self, X, y, unlabeled=None, **hints):
        """``fit(X, y).predict()``"""
        return self.fit(X, y, unlabeled, **hints).predict()

    def score(self, X=None, y=None, sample_weight=None):
        """The share of right answers. Of a graph only nodes count whose label `y` knows and fit() was not given."""
        state = self._fitted
        if y is None:
            raise ValueError("score: which labels are right?\n  call score(X, y), or score(y=y) for the graph that was fitted")
        points = self._as_points(X)
        if sample_weight is not None:
            sample_weight = real_numbers(sample_weight, "sample_weight")
            count = state.graph.num_nodes if points is None else points.shape[0]
            if sample_weight.shape != (count,):
                raise ValueError(f"sample_weight: {sample_weight.size:,} for {count:,} nodes or points\n  give one for each")
        if points is not None:
            right = _equal(self.predict(points), np.asarray(y))
            return float(np.average(right, weights=sample_weight))
        truth, classes = encode(y, state.graph, state.unlabeled)
        if classes.is_multi != state.classes.is_multi:
            raise ValueError("score: y has labels of another form than fit() was given")
        counts = (truth != NO_LABEL) & (state.codes[: truth.size] == NO_LABEL)
        nodes = self._as_nodes(X)
        if nodes is not None:
            only = np.zeros(counts.size, bool)
            only[nodes] = True
            counts &= only
        if not counts.any():
            raise ValueError("score: no node is left whose label is known to y and was not given to fit()")
        predicted = self.predict(counts)
        if classes.is_multi:
            names = [classes.names[code] for code in truth[counts]]
            if state.classes.is_matrix:
                predicted = [frozenset(self.classes_[row > 0].tolist()) for row in predicted]
            right = np.array([a == b for a, b in zip(predicted, names)])
        else:
            right = predicted == classes.decode(truth[counts])
        return float(np.average(right, weights=None if sample_weight is None else sample_weight[counts]))

    def _as_points(self, X):
        """`X` where it is points to answer by their neighbours, else None."""
        state = self._fitted
        if state.nearest is None or X is None or not hasattr(X, "__array__") and not isinstance(X, (list, tuple)) and not scipy.sparse.issparse(X):
            return None
        if scipy.sparse.issparse(X) and X.shape[0] == X.shape[1] != self.n_features_in_:
            return None  # the graph
        names = _feature_names(X)
        if not scipy.sparse.issparse(X):
            X = np.asarray(X)
            if X.ndim == 1 and X.dtype.kind in "iub":
                return None  # a list or a mask of nodes
        _check_names(self, names)
        X = checked(X, type(self).__name__)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.")
        return X

    def _point_scores(self, X):
        state = self._fitted
        return state.nearest.scores(X, self._node_scores(None), num_threads(self.threads))

    def _as_nodes(self, X):
        """Places of the nodes that `X` lists; None for all: X is None, or the graph again."""
        if X is None:
            return None
        graph = self._fitted.graph
        if X is graph:
            return None
        if scipy.sparse.issparse(X) or hasattr(X, "num_nodes") or hasattr(X, "adjacency"):
            count = X.shape[0] if scipy.sparse.issparse(X) else len(X)
            if count != graph.num_nodes:
                raise ValueError(f"X: a graph of {count:,} nodes, fitted was one of {graph.num_nodes:,}\n  fit it, or leave X out")
            return None
        if isinstance(X, str) or np.ndim(X) != 1:
            raise ValueError("X: not a list of nodes\n  leave X out for all nodes of the graph")
        return graph.indices(X)

    # -- online ------------------------------------------------------------------------------------------------

    def predict_one(self, node):
        """The label of a node by what is known now; None while nothing is."""
        state = self._fitted
        if state.classes.is_multi:
            return self.predict_many([node])[0]
        code = state.online().predict(state.index(node))[0]
        return state.classes.names[code] if code < len(state.classes) else None

    def predict_many(self, nodes):
        """:meth:`predict_one` for a list of nodes: an array, None where nothing is known."""
        state = self._fitted
        places = state.indices(nodes)
        if state.classes.is_multi:
            return state.classes.decide(state.classes.shown(state.online().scores_many(places, len(state.classes), False)))
        return state.classes.decode(state.online().predict_many(places)[0])

    def predict_proba_one(self, node):
        """Class to score, for a node, by what is known now."""
        state = self._fitted
        if state.classes.is_multi:
            return dict(zip(self.classes_.tolist(), self._node_scores(np.array([state.index(node)], np.uint32))[0].tolist()))
        return dict(zip(state.classes.names, state.online().scores(state.index(node), len(state.classes))))

    def learn_one(self, node, label):
        """Learns a label; the next answer uses it. A node that has one gets it replaced."""
        state = self._fitted
        if is_unknown(label, state.classes.names, state.unlabeled):
            raise ValueError(f"label: {label!r} means unknown\n  unlearn_one(node) takes a label back")
        place, online = state.index(node), state.online()
        known = len(state.classes)
        code = state.classes.index(label)
        with state.all_or_nothing(known):
            online.reveal(place, code)
        state.changed(place, code)
        if len(state.classes) > known:
            self.classes_ = state.classes.sorted

    def unlearn_one(self, node):
        """Takes a label back, as if it had never been told."""
        state = self._fitted
        place = state.index(node)
        online = state.online()
        with state.all_or_nothing(len(state.classes)):
            online.retract(place)
        state.changed(place, NO_LABEL)

    def add_node(self, node):
        """A node that is new to the graph, without edges yet. See :meth:`add_edge`."""
        state = self._fitted
        try:
            place = state.index(node)
        except ValueError:
            place = None
        if place is not None:
            raise ValueError(f"node: {node!r} is in the graph already\n  add its edges")
        state.new_nodes[node] = state.change_graph("add_node")
        state.codes = np.append(state.codes, np.array([NO_LABEL], state.codes.dtype))

    def add_edge(self, u, v, weight=1.0):
        """An edge comes, or gets another weight: for ``tree="random_key"``.

        From then on the answers are those of an estimator fitted to the graph as it is now, bit for bit; ``graph_`` stays the
        graph of ``fit``. The trees that change are laid out anew when next something is asked, so add many edges before asking.
        """
        state = self._fitted
        state.change_graph("add_edge", state.index(u), state.index(v), float(weight))

    def remove_edge(self, u, v):
        """An edge goes. See :meth:`add_edge`."""
        state = self._fitted
        state.change_graph("remove_edge", state.index(u), state.index(v))

    def learn_many(self, nodes, labels):
        """:meth:`learn_one` for a list of nodes."""
        self._tell(nodes, labels, lambda online, places, codes: online.reveal_many(places, codes))

    def play(self, nodes, labels, *, repeats=False):
        """The online game: predicts each node, then learns its label. Returns what was predicted.

        A node that comes again is answered with the label it was told; with `repeats`, learners that correct themselves by
        mistakes guess it anew, as in the papers' games with label noise.
        """
        predicted = self._tell(nodes, labels, lambda online, places, codes: online.play(places, codes, repeats))
        return self._fitted.classes.decode(predicted)

    def _tell(self, nodes, labels, tell):
        return self._tell_places(self._fitted.indices(nodes), labels, tell)

    def _tell_places(self, places, labels, tell):
        state = self._fitted
        if len(labels) != len(places):
            raise ValueError(f"labels: {len(labels):,} for {len(places):,} nodes\n  give one a node")
        online = state.online()
        with state.all_or_nothing(len(state.classes)):
            codes = codes_of(labels, state.classes, state.unlabeled)
            result = tell(online, places, codes)
        state.changed(places, codes)
        self.classes_ = state.classes.sorted
        return result

    def explain(self, node):
        """Why: the labelled nodes that decided, their share of the vote and their resistance. See :class:`Explanation`."""
        state = self._fitted
        place = state.index(node)
        is_given = state.codes[place] != NO_LABEL
        online = state._replayed(without=place) if is_given else state.online()
        code, confidence, reached = online.predict(place)
        names, nodes = state.classes.names, state.nodes
        reasons = [Reason(nodes[n], names[c], share, r) for n, c, share, r in online.explain(place)]
        scores = online.scores(place, len(names))
        label, votes = None if code == NO_LABEL else names[code], zip(names, scores)
        if state.classes.is_multi and label is not None:
            scores = state.classes.shown(np.array([scores])) if is_given else state.scores(np.array([place], np.uint32))
            yes = state.classes.answers(scores, JUST_ABOVE_HALF if is_given else state.thresholds())[0]
            members = state.classes.sorted
            label, confidence, votes = frozenset(members[yes].tolist()), float(scores[0, yes].min()), zip(members.tolist(), scores[0].tolist())
        votes = dict(sorted(((n, s) for n, s in votes if s > 0), key=lambda vote: -vote[1]))
        return Explanation(node, label, confidence, reached, votes, reasons)


def _not_fitted(estimator):
    text = f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with a graph and labels first."
    try:
        from sklearn.exceptions import NotFittedError as Theirs

        return Theirs(text)
    except ImportError:
        return NotFittedError(text)


def _equal(a, b):
    return (a == b).all(1) if a.ndim == 2 else a == b


def _check_rows(X, y):
    """Where rows of both have names, they must be the same: neither order is then the wrong one."""
    if has_index(X) and has_index(y) and not (len(X) == len(y) and (X.index == y.index).all()):
        raise ValueError("y: its index is not that of X\n  y.reindex(X.index) puts it into the order of X; y.to_numpy() takes it as it is")


def _feature_names(X):
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    columns = np.asarray(columns, object)
    return columns if len(columns) and all(isinstance(c, str) for c in columns) else None


def _check_names(estimator, names):
    fitted = getattr(estimator, "feature_names_in_", None)
    if names is None or fitted is None:
        return
    if list(names) != list(fitted):
        raise ValueError("The feature names should match those that were passed during fit.\n  give the same columns in the same order")
