# SPDX-License-Identifier: Apache-2.0
"""The stages of a committee on parts of the edges, against the learner that has them all in memory."""
import doctest

import numpy as np
import pytest

import copse
from copse import forests

TREES, SEED, NODES = 9, 5, 400


def edges_of(weighted, seed=1):
    random = np.random.default_rng(seed)
    u, v = random.integers(0, NODES, (2, 3000))
    keep = u < v
    u, v = np.unique(np.stack([u[keep], v[keep]]), axis=1)
    weight = random.uniform(0.1, 8, len(u)).astype(np.float32) if weighted else None
    return u.astype(np.int64), v.astype(np.int64), weight


def parts_of(u, v, weight, count, seed):
    """Any number of parts, in any order, each edge in any direction."""
    order = np.random.default_rng(seed).permutation(len(u))
    for part in np.array_split(order, count):
        a, b = u[part], v[part]
        yield (b, a, None if weight is None else weight[part]) if seed % 2 else (a, b, None if weight is None else weight[part])


def concatenate(kept, tree):
    rows = [(k.u[k.tree == tree], k.v[k.tree == tree], None if k.weight is None else k.weight[k.tree == tree]) for k in kept]
    return [None if rows[0][i] is None else np.concatenate([row[i] for row in rows]) for i in range(3)]


def committee(u, v, weight, labels, classes, learner, parts):
    bins = None if weight is None else sum(forests.weight_bins(w) for _, _, w in parts_of(u, v, weight, parts, 0))
    bound = forests.key_bound(NODES, len(u), bins, per_node=1.0)
    scan = [forests.small_key_edges(*p, num_nodes=NODES, num_trees=TREES, bound=bound, seed=SEED) for p in parts_of(u, v, weight, parts, 1)]
    first = [forests.spanning_edges(*concatenate(scan, t), num_nodes=NODES, tree=t, seed=SEED) for t in range(TREES)]
    crossing = forests.Crossing(np.stack([f.component for f in first]))
    scan = [crossing.edges(*p) for p in parts_of(u, v, weight, parts, 2)]
    votes = []
    for t, forest in enumerate(first):
        rest = forests.spanning_edges(*concatenate(scan, t), num_nodes=NODES, tree=t, seed=SEED, component=forest.component)
        columns = [None if a is None else np.concatenate([b, a]) for a, b in zip(forest[:3], rest[:3])]  # in any order
        span = (1, 1) if weight is None else (weight.min(), weight.max())
        votes.append(forests.tree_votes(*columns, tree=t, seed=SEED, labels=labels, num_classes=classes, learner=learner, weight_range=span))
    counts = np.bincount(labels[labels != forests.UNLABELLED], minlength=classes)
    return forests.decide_votes(np.stack([l for l, _ in votes], axis=1), np.stack([n for _, n in votes], axis=1), counts)


@pytest.mark.parametrize("learner", ["wta", "tree_cut"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parts", [1, 7, 64])
def test_the_stages_give_the_answers_of_the_learner_in_memory(learner, weighted, parts):
    u, v, weight = edges_of(weighted)
    labels = np.full(NODES, forests.UNLABELLED, dtype=np.uint16)
    labels[::13] = np.arange(len(labels[::13])) % 3
    answers = committee(u, v, weight, labels, 3, learner, parts)
    graph = copse.Graph.from_edges(u, v, weight=weight, num_nodes=NODES)
    known = {int(i): f"c{labels[i]}" for i in np.flatnonzero(labels != forests.UNLABELLED)}
    model = copse.learner(learner, tree="random_key", num_trees=TREES, seed=SEED).fit(graph, known)
    unlabelled = labels == forests.UNLABELLED
    assert list(model.predict()[unlabelled]) == [f"c{k}" for k in answers.label[unlabelled]]
    assert np.array_equal(model.confidence_[unlabelled], answers.confidence[unlabelled])
    assert np.array_equal(model.reached_[unlabelled], answers.reached[unlabelled])


def test_bad_columns_say_what_to_do():
    ok = dict(num_nodes=3, num_trees=1, bound=1.0, seed=1)
    for u, weight, text in [
        ([0.5], None, "give integers"),
        ([-1], None, "node -1 is not one of 0 ... 2"),
        ([3], None, "node 3 is not one of 0 ... 2"),
        ([2**40], None, "number the nodes"),
        ([0], [-1.0], "is not a positive number"),
        ([0], [np.nan], "is not a positive number"),
        ([0, 1], None, "differ in length"),
        ([0], [1.0, 2.0], "differ in length"),
    ]:
        with pytest.raises(ValueError, match=text):
            forests.small_key_edges(u, [1], weight, **ok)
    with pytest.raises(ValueError, match="1 to 32"):
        forests.small_key_edges([0], [1], num_nodes=2, num_trees=33, bound=1.0, seed=1)
    with pytest.raises(ValueError, match="smallest node"):
        forests.spanning_edges([0], [1], num_nodes=3, tree=0, seed=1, component=[0, 1, 1][::-1])
    with pytest.raises(ValueError, match="one for each of the 3 nodes"):
        forests.spanning_edges([0], [1], num_nodes=3, tree=0, seed=1, component=[0])
    with pytest.raises(ValueError, match="cycles"):
        forests.tree_votes([0, 1, 2], [1, 2, 0], tree=0, seed=1, labels=[0, 1, 65535], num_classes=2)
    with pytest.raises(ValueError, match="choose wta or tree_cut"):
        forests.tree_votes([0], [1], tree=0, seed=1, labels=[0, 1], num_classes=2, learner="auto")
    with pytest.raises(ValueError, match="not below num_classes"):
        forests.tree_votes([0], [1], tree=0, seed=1, labels=[0, 2], num_classes=2)
    with pytest.raises(ValueError, match="no class"):
        forests.decide_votes([[2]], [[1]], [1, 1])


def test_the_example_runs():
    assert doctest.testmod(forests).failed == 0
