# SPDX-License-Identifier: Apache-2.0
"""Labels as users have them, to and from the numbers of the library."""
import os
import warnings
from collections.abc import Mapping

import numpy as np

from . import _core
from ._graph import GraphWarning
from ._settings import path_text

NO_LABEL = _core.no_label


class Classes:
    """The classes in order of first appearance, which is what the library counts by (as the command line does), and
    sorted, which is what scikit-learn shows."""

    def __init__(self, names=()):
        self.names = [plain(name) for name in names]
        self._index = {name: i for i, name in enumerate(self.names)}
        self._sorted = None

    def __len__(self):
        return len(self.names)

    def index(self, name):
        """The number of a class, a new one if need be."""
        name = plain(name)
        place = self._index.get(name)
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
    """None, NaN, pandas' NA, the empty string and -1 mean: no label."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return value == ""
    try:
        return bool(value != value) or (not isinstance(value, (bool, np.bool_)) and bool(value == -1))
    except (TypeError, ValueError):
        return False


def codes_of(labels, classes):
    """The numbers of labels that are all known, new classes in order of first appearance."""
    labels = np.asarray(labels) if isinstance(labels, np.ndarray) else as_array([plain(label) for label in labels])
    if labels.ndim != 1:
        raise ValueError(f"labels: an array of {labels.ndim} dimensions\n  give a list, one for each node")
    if not _known(labels).all():
        raise ValueError("labels: one means unknown\n  leave such nodes out")
    if labels.dtype.kind not in "biufU":
        return np.fromiter((classes.index(label) for label in labels), np.uint16, len(labels))
    names, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    codes = np.empty(len(names), np.uint16)
    for place in np.argsort(first):
        codes[place] = classes.index(names[place])
    return codes[inverse]


def encode(y, graph):
    """(codes, Classes): the number of the class of every node, NO_LABEL where it has none."""
    if isinstance(y, (str, os.PathLike)):
        codes, names, num_unknown, examples = graph._core.read_labels(path_text(y))
        if num_unknown:
            warnings.warn(f"labels: {num_unknown:,} rows name no node of the graph, as {', '.join(examples)}", GraphWarning, stacklevel=4)
        return codes, Classes(names)
    if isinstance(y, Mapping):
        return _encode_dict(y, graph)
    return encode_array(y, graph.num_nodes)


def _encode_dict(y, graph):
    codes, classes = np.full(graph.num_nodes, NO_LABEL, np.uint16), Classes()
    for node, label in y.items():
        place = graph.index(node)
        if not is_missing(label):
            codes[place] = classes.index(label)
    return codes, classes


def encode_array(y, count):
    if hasattr(y, "ndim") and y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected.", _conversion_warning(), stacklevel=5)
        y = np.asarray(y).ravel()
    mask = np.ma.getmaskarray(y) if isinstance(y, np.ma.MaskedArray) else None
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if y.size != count:
        raise ValueError(f"labels: {y.size:,} for {count:,} nodes: inconsistent numbers of samples\n  give one a node: -1, None or NaN for unknown")
    known = _known(y)
    if mask is not None:
        known &= ~mask
    codes = np.full(count, NO_LABEL, np.uint16)
    values = y[known]
    if y.dtype.kind == "f" and (values != np.floor(values)).any():
        raise ValueError("Unknown label type: continuous values\n  labels are classes: words or whole numbers")
    if values.dtype.kind in "biufU":
        names, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        if len(names) > _core.max_classes:
            raise ValueError(f"labels: more than {_core.max_classes:,} classes")
        order = np.argsort(first)
        rank = np.empty(len(names), np.uint16)
        rank[order] = np.arange(len(names), dtype=np.uint16)
        codes[known] = rank[inverse]
        return codes, Classes(names[order].tolist())
    classes = Classes()
    codes[known] = np.fromiter((classes.index(value) for value in values), np.uint16, len(values))
    return codes, classes


def _known(y):
    if y.dtype.kind == "b" or y.dtype.kind == "u":
        return np.ones(y.size, bool)
    if y.dtype.kind == "i":
        return y != -1
    if y.dtype.kind == "f":
        if np.isinf(y).any():
            raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
        return ~(np.isnan(y) | (y == -1))
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
