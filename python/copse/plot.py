# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs, accuracy and confidence, with matplotlib (``pip install copse-graph[plot]``).

Every function draws into ``ax`` (a new one by default) and returns it.
"""
import numpy as np

from ._graph import as_graph
from ._labels import is_missing, or_none
from ._tools import SpanningTree, random_spanning_tree

_MOST_EDGES = 20000  # more would be one grey patch, drawn slowly


def _axes(ax):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("copse.plot needs matplotlib: pip install copse-graph[plot]") from error
    return pyplot.subplots()[1]


def spectral_layout(A):
    """Places of the nodes in the plane: the two smoothest vectors on the graph, by solves; good up to about 10^6 edges."""
    from ._tools import laplacian_solve

    graph = as_graph(A)
    basis = np.random.default_rng(1).normal(size=(graph.num_nodes, 4))
    for _ in range(4):  # inverse iteration: what survives varies least along edges
        basis = np.linalg.qr(laplacian_solve(graph, basis, tolerance=1e-4))[0]
    adjacency = graph.to_scipy()
    degree = np.asarray(adjacency.sum(1)).ravel()
    small = basis.T @ (degree[:, None] * basis - adjacency @ basis)
    _, turn = np.linalg.eigh((small + small.T) / 2)
    return (basis @ turn)[:, :2]


def _legend(ax, colors):
    """The colours of the classes, full: not as faint as the first node of each happens to be."""
    for name, color in colors.items():
        ax.scatter([], [], color=color, label=name)
    if colors:
        ax.legend(fontsize="small")


def label_map(A, labels, layout=None, *, confidence=None, ax=None, node_size=20):
    """The graph on a layout, nodes coloured by label; fainter where ``confidence`` is low, grey where unknown.

    ``layout`` is an array (num_nodes, 2), by default :func:`spectral_layout`.
    """
    from matplotlib.collections import LineCollection

    graph, ax = as_graph(A), _axes(ax)
    layout = np.asarray(spectral_layout(graph) if layout is None else layout, float)
    labels = or_none(labels)
    if layout.shape != (graph.num_nodes, 2) or len(labels) != graph.num_nodes:
        raise ValueError(f"label_map: the graph has {graph.num_nodes} nodes\n  give a place and a label for each")
    edges = graph.to_scipy().tocoo()
    upper = np.flatnonzero(edges.row < edges.col)
    if upper.size > _MOST_EDGES:
        upper = np.random.default_rng(1).choice(upper, _MOST_EDGES, replace=False)
    ax.add_collection(LineCollection(layout[np.column_stack([edges.row[upper], edges.col[upper]])], colors="0.8", linewidths=0.5, zorder=1))
    alpha = np.ones(len(labels)) if confidence is None else np.clip(np.asarray(confidence, float), 0.15, 1)
    classes = sorted({label for label in labels if not is_missing(label)}, key=lambda c: (str(type(c)), c))
    colors = {}
    for number, name in enumerate([*classes, None]):
        of = [i for i, label in enumerate(labels) if (is_missing(label) if name is None else label == name)]
        if of:
            color = colors["unknown" if name is None else str(name)] = "0.6" if name is None else f"C{number % 10}"
            ax.scatter(*layout[of].T, s=node_size, color=color, alpha=alpha[of], zorder=2)
    _legend(ax, colors)
    ax.set_axis_off()
    return ax


def accuracy_curve(learners, A, y, shares=(0.01, 0.02, 0.05, 0.1, 0.2), *, repeats=5, seed=1, ax=None):
    """Accuracy on hidden labels against the share of labels given, mean and spread over random splits.

    ``learners`` is an estimator, a list of them, or a dictionary from name to estimator.
    """
    ax = _axes(ax)
    if not isinstance(learners, dict):
        learners = {repr(one): one for one in (learners if isinstance(learners, (list, tuple)) else [learners])}
    graph, y = as_graph(A), np.array(or_none(y), object)
    known = np.array([i for i, label in enumerate(y) if not is_missing(label)])
    for name, learner in learners.items():
        scores = np.empty((len(shares), repeats))
        for row, share in enumerate(shares):
            for repeat in range(repeats):
                rng = np.random.default_rng([seed, row, repeat])
                given = rng.choice(known, min(max(1, round(share * len(known))), len(known) - 1), replace=False)
                some = np.full(len(y), None, object)
                some[given] = y[given]
                fitted = type(learner)(**learner.get_params()).fit(graph, some)
                scores[row, repeat] = fitted.score(y=y)
        mean, spread = scores.mean(1), scores.std(1)
        (line,) = ax.plot(shares, mean, marker="o", label=name)
        ax.fill_between(shares, mean - spread, mean + spread, alpha=0.2, color=line.get_color(), linewidth=0)
    ax.set(xscale="log", xlabel="share of labels given", ylabel="accuracy on the others")
    ax.set_xticks(shares, [f"{100 * share:g} %" for share in shares])
    ax.set_xticks([], minor=True)
    ax.legend(fontsize="small")
    return ax


def reliability(confidence, is_right, *, bins=10, ax=None):
    """How often answers of each confidence are right: on the diagonal, confidence is a probability."""
    confidence, is_right = np.asarray(confidence, float), np.asarray(is_right, float)
    if confidence.shape != is_right.shape or confidence.ndim != 1 or not confidence.size:
        raise ValueError("reliability: give one confidence and one right-or-wrong an answer")
    ax = _axes(ax)
    place = np.clip((confidence * bins).astype(int), 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    used = counts > 0
    mean, right = (np.bincount(place, values, bins)[used] / counts[used] for values in (confidence, is_right))
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    ax.plot(mean, right, marker="o")
    for x, y, count in zip(mean, right, counts[used]):
        ax.annotate(f"{count:,}", (x, y), textcoords="offset points", xytext=(4, -10), fontsize="x-small", color="0.4")
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share of right answers")
    return ax


def line(tree, labels=None, *, ax=None):
    """The line of a small tree: nodes in order, gaps of the resistance between them, coloured by label.

    ``tree`` is a SpanningTree, or a graph of which one is drawn.
    """
    tree = tree if isinstance(tree, SpanningTree) else random_spanning_tree(tree)
    ax = _axes(ax)
    nodes, weights, _ = tree.line()
    with np.errstate(divide="ignore"):
        gaps = np.where(weights > 0, 1 / weights, 0)
    gaps[weights == 0] = gaps.max(initial=1)  # between trees: no resistance joins them
    place = np.cumsum(gaps) - (gaps[0] if len(gaps) else 0)
    for i in range(1, len(nodes)):
        if weights[i] > 0:
            ax.plot(place[i - 1 : i + 1], [0, 0], color="0.7", zorder=1)
    labels = [None] * len(nodes) if labels is None else or_none(labels)
    of_node = [labels[n] for n in nodes]
    classes = sorted({c for c in of_node if not is_missing(c)}, key=lambda c: (str(type(c)), c))
    colors = ["0.8" if is_missing(c) else f"C{classes.index(c) % 10}" for c in of_node]
    ax.scatter(place, np.zeros(len(nodes)), c=colors, s=60, zorder=2)
    _legend(ax, {str(name): f"C{number % 10}" for number, name in enumerate(classes)})
    for x, node in zip(place, nodes):
        ax.annotate(str(tree.nodes[node]), (x, 0), textcoords="offset points", xytext=(0, 8), rotation=60, fontsize="small")
    ax.set(xlabel="resistance along the line", yticks=[])
    return ax
