# SPDX-License-Identifier: Apache-2.0
"""Labels as users have them, to and from the numbers of the library."""
import contextlib
import os
from collections.abc import Mapping

import numpy as np
import scipy.sparse

from . import _core
from ._graph import GraphWarning
from ._settings import path_text, warn

NO_LABEL = _core.no_label
JUST_ABOVE_HALF = 0.5 + 1e-12  # sums of scores have rounding errors, and an exact half is a tie, which is no


class Classes:
    """The classes in order of first appearance, which is what the library counts by (as the command line does), and
    sorted, which is what scikit-learn shows."""

    is_multi = False

    def __init__(self, names=()):
        self.names = [plain(name) for name in names]
        self._index = {name: i for i, name in enumerate(self.names)}
        self._sorted = None

    def __len__(self):
        return len(self.names)

    def index(self, name):
        """The number of a class, a new one if need be."""
        name = plain(name)
        try:
            place = self._index.get(name)
        except TypeError:
            raise ValueError(f"label: {name!r} cannot be a class\n  classes are words or whole numbers; for several per node give sets to fit()") from None
        if place is None:
            if len(self.names) >= _core.max_classes:
                raise ValueError(f"labels: more than {_core.max_classes:,} classes")
            place = self._index[name] = len(self.names)
            self.names.append(name)
            self._sorted = None
        return place

    def forget(self, count):
        """Keeps the first `count` classes: those after them were never told."""
        for name in self.names[count:]:
            del self._index[name]
        del self.names[count:]
        self._sorted = None

    def _sort(self):
        if self._sorted is None:
            names = as_array(self.names)
            try:
                order = np.argsort(names, kind="stable")
            except TypeError:  # words and numbers together have no order
                order = np.array(sorted(range(len(self)), key=lambda i: (type(self.names[i]).__name__, self.names[i])))
            self._sorted = names[order], order.astype(np.intp), names
        return self._sorted

    @property
    def sorted(self):
        """The classes as ``classes_`` shows them."""
        return self._sort()[0]

    @property
    def columns(self):
        """Where each class of ``sorted`` stands among the library's columns."""
        return self._sort()[1]

    def shown(self, scores):
        """The library's columns of scores as users see them."""
        return scores[:, self.columns]

    def fit(self, learner, graph, codes, hints, options, run):
        """A batch run with these labels."""
        return _core.fit(learner, graph._core, codes, [], len(self), hints, options, run)

    def fit_scores(self, fit, nodes, is_raw, run):
        """The scores of a batch run, as shown."""
        return fit.scores(nodes, len(self), is_raw, run)[:, self.columns]

    def decide(self, scores):
        """The answers of rows of scores, as shown."""
        return self.sorted[np.argmax(scores, axis=1)]

    def decode(self, codes):
        """The classes behind an array of numbers; None where there is none, or where it has no name yet: the other
        class of a signed graph."""
        names = self._sort()[2]
        none = codes >= len(names)  # NO_LABEL is larger than any
        if not none.any():
            return names[codes]
        out = np.full(codes.shape, None, object)
        out[~none] = names[codes[~none]]
        return out


class LabelSets(Classes):
    """Several classes per node: the library numbers the distinct sets that occur, and answers classes; online, a class has the sum
    of the scores of the sets that hold it. Answers are sets, or rows of 0 and 1 where labels came as a matrix."""

    is_multi = True

    def __init__(self, members):
        super().__init__()
        self.is_matrix = members is not None
        self.members = list(members or ())

    def index(self, name):
        if self.is_matrix and not isinstance(name, (set, frozenset)):
            row = np.asarray(name)
            if row.shape != (len(self.members),) or not np.isin(row, (0, 1)).all():
                raise ValueError(f"label: {name!r} is neither a set nor a row of {len(self.members):,} times 0 or 1")
            name = {self.members[i] for i in np.flatnonzero(row)}
        if not isinstance(name, (set, frozenset)) or not name:
            raise ValueError(f"label: {name!r} is not a set of classes\n  nodes have several classes here: give a set")
        name = frozenset(plain(member) for member in name)
        new = [member for member in name if member not in self.members]
        if new and self.is_matrix:
            raise ValueError(f"label: {new[0]!r} is not a class\n  the classes are {', '.join(map(repr, self.members))}")
        self.members += sorted(new, key=lambda member: (type(member).__name__, member))
        return super().index(name)

    def _member_order(self):
        return list(range(len(self.members))) if self.is_matrix else Classes(self.members).columns.tolist()

    @property
    def sorted(self):
        return as_array([self.members[i] for i in self._member_order()])

    def shown(self, scores):
        holds = np.array([[self.members[i] in name for i in self._member_order()] for name in self.names], np.float64)
        return scores[:, : len(self.names)] @ holds.reshape(len(self.names), len(self.members))

    def fit(self, learner, graph, codes, hints, options, run):
        place = {member: i for i, member in enumerate(self.members)}
        sets = [sorted(place[member] for member in name) for name in self.names]
        return _core.fit(learner, graph._core, codes, sets, len(self.members), hints, options, run)

    def fit_scores(self, fit, nodes, is_raw, run):
        return fit.scores(nodes, len(self.members), is_raw, run)[:, self._member_order()]

    def thresholds(self, fit, run):
        """Above which score each class of ``sorted`` is the answer, chosen by what labelled nodes would be answered without their label."""
        return fit.thresholds(run)[self._member_order()]

    def answers(self, scores, thresholds=JUST_ABOVE_HALF):
        """By row and class: above the threshold, or else the best."""
        yes = scores > thresholds
        none = ~yes.any(1) & (scores.max(1, initial=0) > 0)
        yes[none, np.argmax(scores[none], axis=1)] = True
        return yes

    def decide(self, scores, thresholds=JUST_ABOVE_HALF):
        yes = self.answers(scores, thresholds)
        if self.is_matrix:
            return yes.astype(np.int64)
        out = np.empty(len(yes), object)
        out[:] = [frozenset(self.sorted[row].tolist()) for row in yes]
        return out


def plain(value):
    """Python's own value of a NumPy scalar, so that 1 and np.int64(1) are one class."""
    return value.item() if isinstance(value, np.generic) else value


def as_array(names):
    """The names as an array of their own type; of Python objects where types are mixed."""
    kinds = {type(name) for name in names}
    if len(kinds) == 1 and kinds <= {bool, int, float, str}:
        array = np.array(names)
        if array.dtype.kind in "biufU":  # whole numbers beyond 64 bits stay objects
            return array
    array = np.empty(len(names), object)
    array[:] = names
    return array


def is_missing(value):
    """None, NaN, pandas' NA and the empty string mean: no label, whatever else does."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return value == ""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _is_minus_one(value):
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and value == -1


def _counts_from_zero(classes):
    """Whether -1 beside these classes means unknown: they are whole numbers from 0. Beside 1 alone it is the other class, as
    in the papers."""
    classes = [plain(name) for name in classes]
    whole = all(isinstance(c, (int, float)) and not isinstance(c, bool) and c >= 0 and c == np.floor(c) for c in classes)
    return whole and any(c != 1 for c in classes)


def is_unknown(label, classes, unlabeled=None):
    """Whether a label that is told by itself means unknown, beside the classes so far."""
    if is_missing(label):
        return True
    if unlabeled is not None:
        return any(_same(label, value) for value in _as_list(unlabeled))
    return _is_minus_one(label) and _counts_from_zero(name for name in classes if name != -1)


def _as_list(unlabeled):
    return list(unlabeled) if isinstance(unlabeled, (list, tuple, set, frozenset, np.ndarray)) else [unlabeled]


def _same(label, value):
    try:
        return isinstance(label, str) == isinstance(value, str) and bool(label == value)
    except (TypeError, ValueError):
        return False


def label_array(labels):
    """Labels as an array, every value as it is: NumPy alone would make "nan" of a NaN among words, and "1" of a 1."""
    if hasattr(labels, "to_pylist"):  # pyarrow
        labels = labels.to_pylist()
    elif hasattr(labels, "null_count") and hasattr(labels, "to_list"):  # polars; to_numpy would make fractions of numbers beside nulls
        labels = labels.to_list() if labels.null_count() else labels.to_numpy()
    elif hasattr(labels, "iloc"):
        labels = labels.to_numpy()
    if isinstance(labels, np.ndarray) or not isinstance(labels, (list, tuple)):
        return np.asarray(labels)
    if len({type(label) for label in labels}) <= 1 and not isinstance(next(iter(labels), 0), (set, frozenset)):
        try:
            return np.asarray(labels)
        except ValueError as error:  # rows of several lengths
            raise ValueError(f"labels: not one for each node: {error}\n  for several classes per node give sets, or a matrix of 0 and 1") from error
    array = np.empty(len(labels), object)
    array[:] = labels
    return array


def codes_of(labels, classes, unlabeled=None):
    """The numbers of labels that are all known, new classes in order of first appearance."""
    labels = label_array(labels)
    if classes.is_multi:
        return np.fromiter((classes.index(label) for label in labels), np.uint16, len(labels))
    if labels.ndim != 1:
        raise ValueError(f"labels: an array of {labels.ndim} dimensions\n  give a list, one for each node")
    given = _given(labels)
    if unlabeled is not None:
        given &= ~_are(labels, _as_list(unlabeled))
    elif (minus := _are(labels, [-1])).any():
        given &= ~minus | (not _counts_from_zero((set(classes.names) | set(_distinct(labels[given]))) - {-1}))
    if not given.all():
        raise ValueError("labels: one means unknown\n  leave such nodes out")
    return _numbered(labels, classes)


def _numbered(labels, classes):
    """The numbers of labels, each of which is a class."""
    if labels.dtype.kind not in "biufU":
        return np.fromiter((classes.index(label) for label in labels), np.uint16, len(labels))
    names, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    codes = np.empty(len(names), np.uint16)
    for place in np.argsort(first):
        codes[place] = classes.index(names[place])
    return codes[inverse]


def encode(y, graph, unlabeled=None):
    """(codes, Classes): the number of the class of every node, NO_LABEL where it has none."""
    if isinstance(y, (str, os.PathLike)):
        codes, names, num_unknown, examples = graph._core.read_labels(path_text(y))
        if num_unknown:
            warn(f"labels: {num_unknown:,} rows name no node of the graph, as {', '.join(examples)}", GraphWarning)
        return codes, Classes(names)
    if isinstance(y, Mapping):
        return _encode_pairs(list(y), list(y.values()), graph, unlabeled, "labels")
    if _is_frame(y):
        columns = [str(name).strip().lower() for name in y.columns]
        nodes, labels = ([i for i, name in enumerate(columns) if name in known] for known in (NODE_COLUMNS, LABEL_COLUMNS))
        if len(nodes) == len(labels) == 1:
            node, label = (y[y.columns[place]] for place in nodes + labels)
            return _encode_pairs(label_array(node).tolist(), label_array(label), graph, unlabeled, "labels")
        y = y[y.columns[0]] if len(columns) == 1 else y
    if has_index(y):
        rows = y.to_numpy() if y.ndim == 2 else y
        return _encode_pairs(y.index.tolist(), rows, graph, unlabeled, "labels: the index of y", getattr(y, "columns", None))
    return encode_array(y, graph.num_nodes, unlabeled)


NODE_COLUMNS = ("node", "id")
LABEL_COLUMNS = ("label", "class")


def has_index(y):
    """A pandas Series or DataFrame, whose labels belong to the nodes that its index names."""
    return hasattr(y, "iloc") and hasattr(y, "index") and hasattr(y, "to_numpy")


def _is_frame(y):
    return hasattr(y, "columns") and hasattr(y, "shape") and not isinstance(y, np.ndarray)


def _encode_pairs(nodes, labels, graph, unlabeled, where, columns=None):
    """Labels of the nodes that are named beside them; nodes that the graph does not have are counted, as the program does."""
    told, classes = encode_array(labels, len(nodes), unlabeled, columns, is_complete=False)
    known = told != NO_LABEL
    nodes, told = [nodes[i] for i in np.flatnonzero(known)], told[known]
    places = graph.find(nodes)
    absent = np.flatnonzero(places < 0)
    if absent.size:
        first = nodes[absent[0]]
        text = f"{where}: the graph has no node {first!r}"
        if 2 * absent.size > len(nodes):
            raise ValueError(
                f"{text}; {absent.size:,} of {len(nodes):,} labels are of nodes that it does not have\n  {graph._known()}; labels in the"
                " order of graph.nodes are given as an array (y.to_numpy())"
            )
        some = ", ".join(repr(nodes[i]) for i in absent[:3])
        warn(f"{where}: {absent.size:,} labels are of nodes that the graph does not have, as {some}", GraphWarning)
        told, places = told[places >= 0], places[places >= 0]
    codes = np.full(graph.num_nodes, NO_LABEL, np.uint16)
    codes[places] = told
    differs = codes[places] != told
    if differs.any():
        place = int(places[np.argmax(differs)])
        one, other = (classes.names[code] for code in (told[np.argmax(differs)], codes[place]))
        raise ValueError(
            f"{where}: node {graph.nodes[place]!r} has two labels, {one!r} and {other!r}\n  give it one; for several classes per node give"
            " sets, or a matrix of 0 and 1"
        )
    return codes, classes


def encode_array(y, count, unlabeled=None, columns=None, is_complete=True):
    """Labels one by one; `is_complete`: one for every node there is."""
    if hasattr(y, "ndim") and y.ndim == 2 and y.shape[1] == 1:
        warn("A column-vector y was passed when a 1d array was expected.", _conversion_warning())
        y = np.asarray(y).ravel()
    mask = np.ma.getmaskarray(y) if isinstance(y, np.ma.MaskedArray) else None
    several = _encode_several(y, count, columns)
    if several is not None:
        return several
    y = label_array(y)
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    _check_count(y.size, count)
    known = _known(y, unlabeled, is_complete)
    if mask is not None:
        known &= ~mask
    codes = np.full(count, NO_LABEL, np.uint16)
    values = y[known]
    if y.dtype.kind == "f" and (values != np.floor(values)).any():
        raise ValueError("Unknown label type: continuous values\n  labels are classes: words or whole numbers")
    classes = Classes()
    codes[known] = _numbered(values, classes)
    return codes, classes


def _check_count(size, count):
    if size != count:
        raise ValueError(f"labels: {size:,} for {count:,} nodes: inconsistent numbers of samples\n  give one a node: -1, None or NaN for unknown")


def _encode_several(y, count, columns):
    """Several classes per node: a matrix of 0 and 1 (a column per class), or sets; None where `y` is neither."""
    if isinstance(y, (list, tuple)) or isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1:
        is_set = [isinstance(label, (set, frozenset)) for label in y]
        if not any(is_set):
            return None
        wrong = [label for label, good in zip(y, is_set) if not good and not is_missing(label)]
        if wrong:
            raise ValueError(f"labels: {wrong[0]!r} is not a set, others are\n  give a set of classes per node, None for unknown")
        _check_count(len(y), count)
        classes = LabelSets(None)
        return np.fromiter((classes.index(label) if good and label else NO_LABEL for label, good in zip(y, is_set)), np.uint16, count), classes
    if columns is None:
        columns = getattr(y, "columns", None)
    matrix = y.toarray() if scipy.sparse.issparse(y) else np.asarray(y) if getattr(y, "ndim", 1) == 2 else None
    if matrix is None or matrix.ndim != 2:
        return None
    if matrix.dtype == object:
        with contextlib.suppress(TypeError, ValueError):
            matrix = matrix.astype(np.float64)
    if matrix.dtype.kind not in "biuf":
        return None
    _check_count(matrix.shape[0], count)
    unknown = np.isnan(matrix).any(1) if matrix.dtype.kind == "f" else np.zeros(count, bool)
    if not np.isin(matrix[~unknown], (0, 1)).all():
        rows = matrix[~unknown]
        if rows.dtype.kind == "f" and ((rows >= 0) & (rows <= 1)).all() and np.isin(rows.sum(1).round(6), (0, 1)).all():
            raise ValueError(
                "labels: rows of probabilities (soft labels) are not learned from\n  give the most likely class, Y.argmax(1), and None"
                " where it is not sure; a matrix of 0 and 1 says several classes per node"
            )
        return None
    classes = LabelSets([plain(name) for name in columns] if columns is not None else list(range(matrix.shape[1])))
    rows, of_node = np.unique(matrix[~unknown].astype(bool), axis=0, return_inverse=True)
    of_row = [classes.index({classes.members[i] for i in np.flatnonzero(row)}) if row.any() else NO_LABEL for row in rows]
    codes = np.full(count, NO_LABEL, np.uint16)
    codes[~unknown] = np.array(of_row, np.uint16)[of_node.ravel()]
    return codes, classes


def soft_rows(y):
    """(matrix, names): rows of probabilities, a column per class, NaN taken for 0; None where `y` is anything else."""
    if getattr(y, "ndim", 1) != 2 or scipy.sparse.issparse(y):
        return None
    columns = getattr(y, "columns", None)
    matrix = np.asarray(y)
    if matrix.dtype.kind != "f" or matrix.shape[1] < 2:
        return None
    rows = np.nan_to_num(matrix, nan=0.0)
    if np.isin(rows, (0, 1)).all() or not ((rows >= 0) & (rows <= 1)).all() or (rows.sum(1) > 1 + 1e-6).any():
        return None
    return rows, list(range(rows.shape[1])) if columns is None else [plain(name) for name in columns]


def _known(y, unlabeled, is_complete):
    """By place: whether there is a label. What -1 was taken for is said once."""
    known = _given(y)
    if unlabeled is not None:
        return known & ~_are(y, _as_list(unlabeled))
    minus = _are(y, [-1])
    if not minus.any():
        return known
    others = _distinct(y[known & ~minus])
    if others and not _counts_from_zero(others):
        if is_complete and all(_same(other, 1) for other in others):
            say_once("labels: 1 and -1 are read as two classes\n  give unlabeled=-1 where -1 means unknown")
        return known
    if others:
        say_once(
            "labels: -1 is read as unknown, because the other classes are whole numbers from 0\n  unlabeled=-1 says so, and"
            " unlabeled=() makes it a class"
        )
    return known & ~minus


def or_none(labels):
    """Labels in a list, None where one means unknown."""
    labels = label_array(labels)
    return [plain(label) if known else None for label, known in zip(labels, _known(labels, None, False))]


_said = set()


def say_once(text):
    """A warning, the first time in this process only."""
    if text not in _said:
        _said.add(text)
        warn(text, GraphWarning)


def _distinct(values):
    if values.dtype.kind != "O":
        return np.unique(values).tolist()
    return list({plain(value): None for value in values if getattr(value, "__hash__", None) is not None})


def _are(y, values):
    """By place: whether it is one of the values."""
    out = np.zeros(y.shape, bool)
    for value in values:
        if y.dtype.kind == "O":
            out |= np.fromiter((_same(label, value) and isinstance(label, bool) == isinstance(value, bool) for label in y), bool, y.size)
        elif isinstance(value, str) == (y.dtype.kind == "U") and (y.dtype.kind == "b") == isinstance(value, (bool, np.bool_)):
            out |= y == value
    return out


def _given(y):
    """By place: whether there is anything at all."""
    if y.dtype.kind in "biu":
        return np.ones(y.size, bool)
    if y.dtype.kind == "f":
        if np.isinf(y).any():
            raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
        return ~np.isnan(y)
    if y.dtype.kind == "U":
        return y != ""
    if y.dtype.kind == "O":
        return np.fromiter((not is_missing(value) for value in y), bool, y.size)
    raise ValueError(f"Unknown label type: {y.dtype}\n  labels are words or whole numbers")


def _conversion_warning():
    try:
        from sklearn.exceptions import DataConversionWarning

        return DataConversionWarning
    except ImportError:
        return UserWarning
