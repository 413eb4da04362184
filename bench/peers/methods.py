# SPDX-License-Identifier: Apache-2.0
"""The peers: method(graph, train, labels) -> scores, one row per node and one column per class.

`labels` has a 0/1 row for each node of `train`. Methods of METHODS see single labels as numbers 0..k-1 of the classes that occur.
An embedding is made once per set, without labels (EMBEDDINGS); logistic regression on its rows is the method, and the cost of both is counted.
"""

import warnings

import graphlearning
import networkx
import numpy as np
import scipy.sparse as sp
from scipy.special import iv
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading
from sklearn.utils.extmath import randomized_svd
from sknetwork.classification import DiffusionClassifier, PageRankClassifier, Propagation

for kind in (ConvergenceWarning, RuntimeWarning, FutureWarning, UserWarning):
    warnings.filterwarnings("ignore", category=kind)


def with_gaps(graph, train, y):
    labels = np.full(graph.shape[0], -1)
    labels[train] = y
    return labels


def sknetwork(make):
    return lambda graph, train, y: make().fit(graph, with_gaps(graph, train, y)).predict_proba()


def sklearn(make):
    """scikit-learn takes points; a kernel that ignores them and answers with the matrix makes it take a graph."""

    def method(graph, train, y):
        numbers = np.arange(graph.shape[0], dtype=float)[:, None]
        return make(kernel=lambda *_: graph).fit(numbers, with_gaps(graph, train, y)).label_distributions_

    return method


def graph_learning(make):
    """GraphLearning expects a connected graph: fitted in every component that has labels of two classes; with one class, it is that."""

    def method(graph, train, y):
        scores = np.zeros((graph.shape[0], y.max() + 1))
        _, component = sp.csgraph.connected_components(graph)
        for number in np.unique(component[train]):
            nodes, inside = np.flatnonzero(component == number), component[train] == number
            classes, codes = np.unique(y[inside], return_inverse=True)
            found = make(graph[nodes][:, nodes]).fit(np.searchsorted(nodes, train[inside]), codes) if len(classes) > 1 else 1
            scores[np.ix_(nodes, classes)] = found
        return scores

    return method


def networkx_classifier(function):
    def method(graph, train, y):
        nx = networkx.from_scipy_sparse_array(graph)
        for node, label in zip(train, y):
            nx.nodes[node]["label"] = label
        return np.eye(y.max() + 1)[function(nx)]

    return method


METHODS = {
    "sknetwork_propagation": sknetwork(Propagation),
    "sknetwork_diffusion": sknetwork(DiffusionClassifier),
    "sknetwork_pagerank": sknetwork(PageRankClassifier),
    "sklearn_label_spreading": sklearn(LabelSpreading),
    "sklearn_label_propagation": sklearn(LabelPropagation),
    "graphlearning_laplace": graph_learning(graphlearning.ssl.laplace),
    "graphlearning_laplace_shifted": graph_learning(lambda graph: graphlearning.ssl.laplace(graph, mean_shift=True)),
    "graphlearning_poisson": graph_learning(graphlearning.ssl.poisson),
    "networkx_harmonic": networkx_classifier(networkx.algorithms.node_classification.harmonic_function),
    "networkx_consistency": networkx_classifier(networkx.algorithms.node_classification.local_and_global_consistency),
}


def unit_rows(x):
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return np.divide(x, length, out=np.zeros_like(x), where=length > 1e-12)


def spectral(graph, dimension=128, rounds=8, seed=1):
    """The eigenvectors of largest |eigenvalue| of (D + t I)^-1/2 A (D + t I)^-1/2, t the mean degree (Amini et al. 2013), times these."""
    degree = np.asarray(graph.sum(axis=1)).ravel()
    scale = sp.diags(1 / np.sqrt(degree + degree.mean()))
    matrix = (scale @ graph @ scale).tocsr()
    columns = min(dimension + 10, graph.shape[0])
    q = np.random.RandomState(seed).standard_normal((graph.shape[0], columns))
    for _ in range(rounds):
        q, _ = np.linalg.qr(matrix @ (matrix @ q))
    values, vectors = np.linalg.eigh(q.T @ (matrix @ q))
    largest = np.argsort(-abs(values))[:dimension]
    return unit_rows(q @ vectors[:, largest] * values[largest])


def prone(graph, dimension=128, order=10, mu=0.2, theta=0.5, seed=1):
    """ProNE (Zhang et al., IJCAI 2019): factors of log(p_ij / q_j) where positive, smoothed by a band pass of the Laplacian."""
    n = graph.shape[0]
    dimension = min(dimension, n - 1)
    degree = np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1e-12)
    walk = (sp.diags(1 / degree) @ graph).tocoo()
    popularity = np.asarray(walk.sum(axis=0)).ravel() ** 0.75
    popularity /= popularity.sum()
    gain = np.maximum(np.log(walk.data) - np.log(popularity[walk.col]), 0)
    u, s, _ = randomized_svd(sp.csr_matrix((gain, (walk.row, walk.col)), shape=(n, n)), dimension, random_state=seed)
    x = unit_rows(u * np.sqrt(s))
    with_loops = graph + sp.identity(n)
    shifted = (1 - mu) * sp.identity(n) - sp.diags(1 / (degree + 1)) @ with_loops
    filtered = lambda y: 0.5 * (shifted @ (shifted @ y)) - y  # the Gaussian band pass is a series in T_i of this
    before, last = x, filtered(x)
    total = iv(0, theta) * before - 2 * iv(1, theta) * last
    for i in range(2, order):
        before, last = last, 2 * filtered(last) - before
        total += (-1) ** i * 2 * iv(i, theta) * last
    u, s, _ = np.linalg.svd(with_loops @ (x - total), full_matrices=False)
    return unit_rows(u * np.sqrt(s))


def node2vec(graph, dimension=128, seed=1):
    """node2vec with p = q = 1 (DeepWalk's walks) by pecanpy: ten walks of 80 steps per node, window 10."""
    from pecanpy.pecanpy import PreCompFirstOrder

    walker = PreCompFirstOrder(p=1, q=1, workers=1, random_state=seed)
    nodes = np.flatnonzero(np.diff(graph.indptr))  # a walk needs an edge
    part = graph[nodes][:, nodes].tocsr()
    walker.set_node_ids([str(i) for i in range(len(nodes))])
    walker.indptr, walker.indices = part.indptr.astype(np.uint32), part.indices.astype(np.uint32)
    walker.data = part.data.astype(np.float32)
    walker.preprocess_transition_probs()
    x = np.zeros((graph.shape[0], dimension))
    x[nodes] = walker.embed(dim=dimension, num_walks=10, walk_length=80, window_size=10, epochs=1)
    return unit_rows(x)


EMBEDDINGS = {"spectral_lr": spectral, "prone_lr": prone, "node2vec_lr": node2vec}
CHEAP = [m for m in [*METHODS, *EMBEDDINGS] if not m.startswith(("networkx", "node2vec"))]
PEERS = [*METHODS, *EMBEDDINGS]


def regress(x, train, labels):
    """Logistic regression on the rows of x."""
    model = LogisticRegression(C=10, max_iter=300)
    if (labels.sum(axis=1) > 1).any():
        return OneVsRestClassifier(model).fit(x[train], labels).predict_proba(x)
    y = labels.argmax(axis=1)
    return model.fit(x[train], y).predict_proba(x)


def predict(method, graph, train, labels, embedding=None):
    """Scores of all classes, whichever of them occur in `labels`."""
    scores = np.zeros((graph.shape[0], labels.shape[1]))
    occur = np.flatnonzero(labels.any(axis=0))
    labels = labels[:, occur]
    if len(occur) == 1:
        scores[:, occur] = 1
    elif embedding is not None:
        scores[:, occur] = regress(embedding, train, labels)
    else:
        found = METHODS[method](graph, train, labels.argmax(axis=1))
        scores[:, occur] = np.nan_to_num(found.toarray() if sp.issparse(found) else found)
    return scores
