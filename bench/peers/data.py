# SPDX-License-Identifier: Apache-2.0
"""The sets of a data folder and their splits, the same for every method.

A regime is `N/class` (N labels of every class, of a small class at most half of its nodes) or `N%` (that share of the labelled
nodes, drawn without looking at classes). A split is a pure function of (set, regime, number): NumPy's frozen legacy stream.
"""

import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp

REGIMES = ["1/class", "5/class", "20/class", "5%", "10%", "25%", "50%"]


@dataclass
class LabelledGraph:
    """A set: its graph as a CSR matrix of weights, its classes, and truth[i, c] = node i is of class c."""

    name: str
    graph: sp.csr_matrix
    classes: list
    truth: np.ndarray

    @cached_property
    def labelled(self):
        return np.flatnonzero(self.truth.any(axis=1))

    @cached_property
    def is_multi_label(self):
        return bool((self.truth.sum(axis=1) > 1).any())

    def split(self, regime, number):
        """The labelled nodes that a method is told, in ascending order; the other labelled nodes are its test."""
        stream = np.random.RandomState(zlib.crc32(f"{self.name} {regime} {number}".encode()))
        nodes = stream.permutation(self.labelled)
        if regime.endswith("%"):
            return np.sort(nodes[: max(2, round(len(nodes) * float(regime[:-1]) / 100))])
        count = int(regime.removesuffix("/class"))
        if self.is_multi_label:
            raise ValueError(f"{self.name}: nodes have several labels; use regimes in %")
        of_class = [nodes[self.truth[nodes, c]] for c in range(len(self.classes))]
        return np.sort(np.concatenate([members[: min(count, max(1, len(members) // 2))] for members in of_class]))

    def write_labels(self, path, nodes):
        rows = (f"{node}\t{self.classes[c]}\n" for node in nodes for c in np.flatnonzero(self.truth[node]))
        Path(path).write_text("".join(rows))


def read_bytes(folder, name):
    """The content of folder/name or of folder/name.zst; None where neither is."""
    if (folder / name).exists():
        return (folder / name).read_bytes()
    if (folder / f"{name}.zst").exists():
        import zstandard

        return zstandard.ZstdDecompressor().decompressobj().decompress((folder / f"{name}.zst").read_bytes())
    return None


def neighbor_graph(points, k=10):
    """The union of the k nearest neighbours of every row, unweighted."""
    from sklearn.neighbors import NearestNeighbors

    graph = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(points).kneighbors_graph()
    return graph.maximum(graph.T).tocsr()


def read_graph(folder, num_nodes, cache):
    path = cache / f"{folder.name}.npz"
    if path.exists():
        return sp.load_npz(path)
    edges, points = read_bytes(folder, "edges.tsv"), read_bytes(folder, "points.npy")
    if edges is not None:
        rows = np.loadtxt(edges.decode().splitlines(), ndmin=2)
        u, v = rows[:, 0].astype(int), rows[:, 1].astype(int)
        w = rows[:, 2] if rows.shape[1] > 2 else np.ones(len(rows))
        graph = sp.csr_matrix((w, (u, v)), shape=(num_nodes, num_nodes))
        graph = (graph + graph.T).tocsr()
    elif points is not None:
        import io

        graph = neighbor_graph(np.load(io.BytesIO(points)))
    else:
        raise ValueError("no edges.tsv and no points.npy")
    cache.mkdir(parents=True, exist_ok=True)
    sp.save_npz(path, graph, compressed=False)  # copse reads it, too
    return graph


def read_set(data, name, cache):
    """The set of a folder of `data`; ValueError with the reason where it cannot be used."""
    folder = Path(data) / name
    text = read_bytes(folder, "labels.tsv")
    if not text:
        raise ValueError("no labels.tsv")
    rows = [line.split("\t") for line in text.decode().splitlines()]
    classes = sorted({label for _, label in rows})
    number = {label: c for c, label in enumerate(classes)}
    graph = read_graph(folder, set_sizes(data)[name], cache)
    truth = np.zeros((graph.shape[0], len(classes)), dtype=bool)
    for node, label in rows:
        truth[int(node), number[label]] = True
    return LabelledGraph(name, graph, classes, truth)


def largest_component(data, cache):
    """The same set without the nodes outside its largest component; its graph is kept as NAME.largest.npz."""
    _, component = sp.csgraph.connected_components(data.graph)
    nodes = np.flatnonzero(component == np.bincount(component).argmax())
    truth = data.truth[nodes]
    present = np.flatnonzero(truth.any(axis=0))
    part = LabelledGraph(f"{data.name}.largest", data.graph[nodes][:, nodes].tocsr(), [data.classes[c] for c in present], truth[:, present])
    sp.save_npz(cache / f"{part.name}.npz", part.graph, compressed=False)
    return part


def set_sizes(data):
    """Nodes of every set that index.tsv lists."""
    rows = (Path(data) / "index.tsv").read_text().splitlines()[1:]
    return {row.split("\t")[0]: int(row.split("\t")[1]) for row in rows}
