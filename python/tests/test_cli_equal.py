# SPDX-License-Identifier: Apache-2.0
"""Python and the command line are two faces of one library: the same seed gives the same answers, to the last digit that
the program prints (it prints six)."""
import json
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import LEARNERS, random_graph, some_labels

import copse


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed(values):
    return [float(f"{value:.6g}") for value in np.atleast_1d(values)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("cli")
    A, y = random_graph(120, 300, 21), some_labels(120, 3, 0.2, 21)
    sp.save_npz(directory / "g.npz", sp.csr_matrix(A))
    names = np.array(["red", "green", "blue"])
    with open(directory / "labels.tsv", "w", encoding="utf-8") as out:
        for node in np.flatnonzero(y >= 0):
            out.write(f"{node}\t{names[y[node]]}\n")
    return directory, A, np.where(y >= 0, names[y], "")


@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_are_the_programs(program, files, name):
    directory, A, y = files
    out = json.loads(run(program, "predict", directory / "g.npz", "--labels", directory / "labels.tsv", "--learner", name, "--seed", 5, "--scores", "--json"))
    rows = {int(row["node"]): row for row in out["rows"]}
    for labels in (y, directory / "labels.tsv", {i: y[i] for i in range(120) if y[i]}):
        est = copse.learner(name, seed=5).fit(A, labels)
        proba = est.predict_proba()
        for node in range(120):
            row = rows[node]
            assert row["label"] == est.predict()[node] and (row["status"] == "unreached") == (not est.reached_[node])
            assert [row["confidence"]] == printed(est.confidence_[node])
            assert [row["scores"][c] for c in est.classes_] == printed(proba[node])


def test_trees_are_the_programs(program, files):
    directory, A, _ = files
    for kind in copse._core.tree_kinds:
        lines = run(program, "tree", directory / "g.npz", "--kind", kind, "--seed", 3, "--num-trees", 2).splitlines()[1:]
        trees = copse.random_spanning_trees(A, 2, kind=kind, seed=3)
        for line in lines:
            index, node, parent, _ = line.split("\t")
            assert trees[int(index)].parent[int(node)] == int(parent)


def test_resistances_are_the_programs(program, files):
    directory, A, _ = files
    out = json.loads(run(program, "resistance", directory / "g.npz", 3, 77, "--json"))
    value, error = copse.effective_resistance(A, 3, 77, return_error=True)
    assert [out["rows"][0]["resistance"], out["rows"][0]["error"]] == printed([value, error])
    out = json.loads(run(program, "resistance", directory / "g.npz", "--diagonal", "--json"))
    assert [row["diagonal"] for row in out["rows"]] == printed(copse.laplacian_pinv_diagonal(A))


def test_explanations_are_the_programs(program, files):
    directory, A, y = files
    node = int(np.flatnonzero(y == "")[0])
    out = json.loads(run(program, "explain", directory / "g.npz", node, "--labels", directory / "labels.tsv", "--json"))
    why = copse.explain(A, y, node)
    assert out["predicted"] == why.label and printed(out["confidence"]) == printed(why.confidence)
    assert [(int(r["node"]), r["label"]) for r in out["rows"]] == [(r.node, r.label) for r in why.reasons]
    assert [r["share"] for r in out["rows"]] == printed([r.share for r in why.reasons])


def test_generated_graphs_are_the_programs(program, tmp_path):
    run(program, "graph", "generate", "grid", "--rows", 7, "--columns", 5, "--contrast", 10, "--seed", 4, "-o", tmp_path / "grid.copse")
    assert copse.read_graph(tmp_path / "grid.copse") == copse.generators.grid(rows=7, columns=5, contrast=10, seed=4)[0]


def test_neighbours_are_the_programs(program, tmp_path):
    X = np.random.default_rng(1).normal(size=(200, 6)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    run(program, "graph", "build", tmp_path / "x.npy", "--k", 7, "-o", tmp_path / "x.copse")
    assert copse.read_graph(tmp_path / "x.copse") == copse.neighbors_graph(X, 7)
