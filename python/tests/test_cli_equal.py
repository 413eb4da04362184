# SPDX-License-Identifier: Apache-2.0
"""Python and the command line are two faces of one library: the same seed gives the same answers, to the last bit
(`--digits exact`)."""
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


def rows_of(program, *arguments):
    """The rows of a table with exact numbers, as TSV and as JSON say them, which is the same."""
    lines = run(program, *arguments, "--digits", "exact", "--quiet").splitlines()
    names = lines[0].split("\t")
    table = [dict(zip(names, line.split("\t"))) for line in lines[1:]]
    rows = json.loads(run(program, *arguments, "--digits", "exact", "--quiet", "--json"))["rows"]
    assert len(table) == len(rows)
    for texts, row in zip(table, rows):
        row.update(row.pop("scores", {}))
        assert {name: type(row[name])(text) for name, text in texts.items()} == row
    return rows


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
    about = ("predict", directory / "g.npz", "--labels", directory / "labels.tsv", "--learner", name, "--seed", 5, "--scores")
    rows = {int(row["node"]): row for row in rows_of(program, *about)}
    for labels in (y, directory / "labels.tsv", {i: y[i] for i in range(120) if y[i]}):
        est = copse.learner(name, seed=5).fit(A, labels)
        proba, answers = est.predict_proba(), est.predict()
        for node in range(120):
            row = rows[node]
            assert row["label"] == answers[node] and (row["status"] == "unreached") == (not est.reached_[node])
            assert row["confidence"] == est.confidence_[node]
            assert [row[c] for c in est.classes_] == proba[node].tolist()


def test_every_learner_of_the_registry_is_compared(program):
    assert LEARNERS == [row["name"] for row in json.loads(run(program, "learners", "--json"))["rows"]]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_game_is_the_programs(program, files, name):
    directory, A, y = files
    told = [node for node in np.random.default_rng(3).permutation(120).tolist() if y[node]]
    lines = "".join(f"{node}\t{y[node]}\n" for node in told) + "".join(f"{node}\n" for node in range(0, 120, 7))
    done = subprocess.run([program, "online", directory / "g.npz", "--learner", name, "--seed", "5", "--digits", "exact", "--json"],
                          input=lines, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    est = copse.learner(name, seed=5).start(A)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        node = int(row["node"])
        assert row["predicted"] == est.predict_one(node)
        assert row["confidence"] == max(est.predict_proba_one(node).values(), default=0)
        if row["label"] is not None:
            est.learn_one(node, row["label"])


@pytest.mark.parametrize("strategy", [row["name"] for row in copse.strategies()])
def test_queries_are_the_programs(program, files, strategy):
    directory, A, y = files
    for known, labels in ((("--labels", directory / "labels.tsv"), y), ((), None)):
        rows = rows_of(program, "query", directory / "g.npz", *known, "--strategy", strategy, "-k", 12, "--seed", 9)
        assert [(int(row["node"]), row["score"]) for row in rows] == [tuple(q) for q in copse.query(A, labels, strategy=strategy, k=12, seed=9)]


def test_trees_are_the_programs(program, files):
    directory, A, _ = files
    for kind in copse._core.tree_kinds:
        lines = run(program, "tree", directory / "g.npz", "--kind", kind, "--seed", 3, "--num-trees", 2, "--digits", "exact").splitlines()[1:]
        trees = copse.random_spanning_trees(A, 2, kind=kind, seed=3)
        for line in lines:
            index, node, parent, weight = line.split("\t")
            assert trees[int(index)].parent[int(node)] == int(parent) and trees[int(index)].weight[int(node)] == float(weight or 0)


def test_resistances_are_the_programs(program, files):
    directory, A, _ = files
    row = rows_of(program, "resistance", directory / "g.npz", 3, 77)[0]
    assert (row["resistance"], row["error"]) == copse.effective_resistance(A, 3, 77, return_error=True)
    rows = rows_of(program, "resistance", directory / "g.npz", "--diagonal")
    assert [row["diagonal"] for row in rows] == copse.laplacian_pinv_diagonal(A).tolist()


def test_explanations_are_the_programs(program, files):
    directory, A, y = files
    node = int(np.flatnonzero(y == "")[0])
    out = json.loads(run(program, "explain", directory / "g.npz", node, "--labels", directory / "labels.tsv", "--json", "--digits", "exact"))
    why = copse.explain(A, y, node)
    assert (out["predicted"], out["confidence"]) == (why.label, why.confidence)
    assert [(int(r["node"]), r["label"], r["share"]) for r in out["rows"]] == [(r.node, r.label, r.share) for r in why.reasons]


def test_bounds_are_the_programs(program, files):
    directory, A, y = files
    out = json.loads(run(program, "bound", directory / "g.npz", "--labels", directory / "labels.tsv", "--json", "--digits", "exact", "--seed", 2))
    report = copse.bounds(A, y, seed=2)
    facts = {name: list(value) if isinstance(value, tuple) else value for name, value in report["facts"].items()}
    shared = set(out["facts"]) - {"covering_numbers"}  # which are asked for by --rho
    assert len(shared) > 10 and shared <= set(facts)
    for name in shared:
        assert out["facts"][name] == facts[name], name
    values = {row["bound"]: row["value"] for row in out["rows"]}
    for bound in report["bounds"]:
        assert values[bound["name"]] == bound["value"], bound


def test_generated_graphs_are_the_programs(program, tmp_path):
    run(program, "graph", "generate", "grid", "--rows", 7, "--columns", 5, "--contrast", 10, "--seed", 4, "-o", tmp_path / "grid.copse")
    assert copse.read_graph(tmp_path / "grid.copse") == copse.generators.grid(rows=7, columns=5, contrast=10, seed=4)[0]


def test_neighbours_are_the_programs(program, tmp_path):
    X = np.random.default_rng(1).normal(size=(200, 6)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    run(program, "graph", "build", tmp_path / "x.npy", "--k", 7, "-o", tmp_path / "x.copse")
    assert copse.read_graph(tmp_path / "x.copse") == copse.neighbors_graph(X, 7)
