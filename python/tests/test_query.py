# SPDX-License-Identifier: Apache-2.0
"""Which nodes to ask about, and what the theorems promise."""
import json
import subprocess

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_graph, some_labels

import copse

A, Y = random_graph(100, 250, 41), some_labels(100, 2, 0.1, 41)
STRATEGIES = [row["name"] for row in copse.strategies()]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_queries_are_different_nodes_without_a_label(strategy):
    asked = copse.query(A, Y, strategy=strategy, k=12)
    nodes = [q.node for q in asked]
    assert len(set(nodes)) == 12 and all(Y[n] < 0 for n in nodes)
    assert copse.query(A, Y, strategy=strategy, k=12, threads=1) == asked
    assert [q.node for q in copse.query(A, Y, strategy=strategy, k=5)] == nodes[:5]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_queries_need_no_label_and_keep_to_the_candidates(strategy):
    assert len(copse.query(A, strategy=strategy, k=3)) == 3
    some = [3, 5, 70]
    hidden = [n for n in some if Y[n] < 0]
    assert {q.node for q in copse.query(A, Y, strategy=strategy, k=10, candidates=some)} == set(hidden)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_queries_are_the_programs(program, tmp_path, strategy):
    sp.save_npz(tmp_path / "g.npz", sp.csr_matrix(A))
    (tmp_path / "y.tsv").write_text("".join(f"{i}\t{Y[i]}\n" for i in np.flatnonzero(Y >= 0)))
    command = [program, "query", tmp_path / "g.npz", "--labels", tmp_path / "y.tsv", "--strategy", strategy, "-k", "6", "--seed", "2", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["rows"]
    asked = copse.query(A, Y, strategy=strategy, k=6, seed=2)
    assert [(int(r["node"]), r["score"]) for r in rows] == [(q.node, float(f"{q.score:.6g}")) for q in asked]


def test_ids_are_the_graphs_own(friends):
    asked = copse.query(friends / "friends.txt", friends / "known.txt", k=2)
    assert {q.node for q in asked} <= {"bob", "cid", "dora", "fay"}


def test_wrong_questions_are_told():
    with pytest.raises(ValueError, match="strategies are"):
        copse.query(A, Y, strategy="ask_mother")
    with pytest.raises(ValueError, match="at least 1"):
        copse.query(A, Y, k=0)
    with pytest.raises(ValueError, match="no option"):
        copse.query(A, Y, strategy="random", courage=3)
    with pytest.raises(ValueError, match="no node 100"):
        copse.query(A, Y, candidates=[100])


def test_bounds_hold_in_a_game():
    G = nx.karate_club_graph()
    truth = [G.nodes[n]["club"] for n in G]
    report = copse.bounds(G, truth)
    facts = report["facts"]
    cut = [(u, v) for u, v in G.edges if truth[u] != truth[v]]
    assert facts["cut_size"] == len(cut) and np.isclose(facts["cut_weight"], sum(G[u][v]["weight"] for u, v in cut))
    assert report["bounds"] and report["verdict"]
    mistakes = (copse.learner("one_projection").start(G).play(list(G), truth) != np.array(truth)).sum()
    certain = [b["value"] for b in report["bounds"] if "projection" in b["learner"] and not b["is_lower"] and not b["in_expectation"]]
    assert certain and mistakes <= min(certain) + 1


def test_bounds_of_nothing_are_refused():
    with pytest.raises(ValueError, match="no node has a label"):
        copse.bounds(A, {})
    with pytest.raises(ValueError, match="connected"):
        copse.bounds(sp.block_diag([A, A], format="csr"), np.append(Y, Y))
