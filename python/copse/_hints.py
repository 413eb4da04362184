# SPDX-License-Identifier: Apache-2.0
"""What is known beside certain labels: soft labels, weights of labels, a prior, class sizes. docs/hints.md."""
import numpy as np

from . import _core
from ._labels import NO_LABEL, Classes, has_index
from ._settings import real_numbers


class Hints:
    """As arrays, which can be pickled; `core()` is the library's."""

    def __init__(self, prior_weight):
        self.nodes, self.labels, self.weights = np.zeros(0, np.uint32), np.zeros(0, np.uint16), np.zeros(0)
        self.prior, self.class_sizes = np.zeros(0), np.zeros(0)
        self.prior_weight = float(prior_weight)

    def is_empty(self):
        return not (self.nodes.size or self.prior.size or self.class_sizes.size)

    def core(self):
        return _core.hints(self.nodes, self.labels, self.weights, self.prior, self.prior_weight, self.class_sizes)

    def add(self, nodes, labels, weights):
        self.nodes = np.concatenate([self.nodes, np.asarray(nodes, np.uint32)])
        self.labels = np.concatenate([self.labels, np.asarray(labels, np.uint16)])
        self.weights = np.concatenate([self.weights, np.asarray(weights, np.float64)])


def take_soft_rows(state, matrix, names):
    """Rows with a 1 are certain labels, the others soft ones."""
    if len(matrix) != state.graph.num_nodes:
        raise ValueError(f"labels: {len(matrix):,} rows for {state.graph.num_nodes:,} nodes\n  give one a node, of zeros where nothing is known")
    state.classes = Classes(names)
    certain = (matrix == 1).any(1)
    state.codes[certain] = matrix[certain].argmax(1)
    nodes, labels = np.nonzero(np.where(certain[:, None], 0, matrix))
    state.hints.add(nodes, labels, matrix[nodes, labels])


def weigh_labels(state, sample_weight):
    """The largest weight is certainty, 0 is no label."""
    weight = real_numbers(sample_weight, "sample_weight")
    if weight.shape != state.codes.shape:
        raise ValueError(f"sample_weight: {weight.size:,} for {state.codes.size:,} nodes\n  give one for each")
    labelled = state.codes != NO_LABEL
    if not (np.isfinite(weight[labelled]) & (weight[labelled] >= 0)).all():
        raise ValueError("sample_weight: weights of labelled nodes are numbers >= 0\n  0 means that the label does not count")
    soft = state.hints
    most = max(weight[labelled].max(initial=0), weight[soft.nodes].max(initial=0))
    if most == 0:
        raise ValueError("sample_weight: all weights are zero, so no label counts\n  give one of them a weight above 0")
    weight = weight / most
    soft.weights = soft.weights * weight[soft.nodes]
    if not (soft.weights >= 0).all():
        raise ValueError("sample_weight: weights of labelled nodes are numbers >= 0\n  0 means that the label does not count")
    counts = soft.weights > 0
    soft.nodes, soft.labels, soft.weights = soft.nodes[counts], soft.labels[counts], soft.weights[counts]
    less = np.flatnonzero(labelled & (weight < 1))
    some = less[weight[less] > 0]
    soft.add(some, state.codes[some], weight[some])
    state.codes[less] = NO_LABEL


def take_prior(state, prior):
    classes, count = state.classes, state.graph.num_nodes
    columns, rows = classes.columns, np.arange(count)
    if has_index(prior):
        names = list(prior.columns)
        unknown = [name for name in names if name not in classes.names]
        if unknown:
            raise ValueError(f"prior: {unknown[0]!r} is the label of no node\n  its columns are classes: {', '.join(map(str, classes.names))}")
        columns, rows = np.array([classes.names.index(name) for name in names], np.intp), state.graph.find(prior.index.tolist())
        if (np.asarray(rows) < 0).any():
            raise ValueError("prior: its index names nodes that the graph does not have\n  prior.to_numpy() takes rows in the order of graph.nodes")
    matrix = real_numbers(prior, "prior")
    if matrix.shape != (len(rows), len(columns)):
        raise ValueError(f"prior: an array of shape {matrix.shape}\n  give a row per node and a column per class, {(count, len(classes))}")
    if not (np.isfinite(matrix) & (matrix >= 0)).all():
        raise ValueError("prior: probabilities are numbers >= 0\n  a row of 0 says nothing about its node")
    wide = np.zeros((count, len(classes)))
    wide[np.ix_(rows, columns)] = matrix
    state.hints.prior = wide.ravel()


def take_class_sizes(state, sizes):
    classes = state.classes
    if isinstance(sizes, str) and sizes == "uniform":
        sizes = np.ones(len(classes))
    elif hasattr(sizes, "keys"):
        missing = [name for name in classes.names if name not in sizes]
        if missing or len(sizes) != len(classes):
            raise ValueError(f"class_sizes: not one for each of {', '.join(map(str, classes.names))}\n  or say \"uniform\"")
        sizes = [sizes[name] for name in classes.sorted.tolist()]
    sizes = real_numbers(sizes, "class_sizes")
    if sizes.shape != (len(classes),):
        raise ValueError(f"class_sizes: {sizes.size:,} for {len(classes):,} classes\n  give one for each of classes_, or \"uniform\"")
    state.hints.class_sizes = np.empty(len(classes))
    state.hints.class_sizes[classes.columns] = sizes
