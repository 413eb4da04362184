# SPDX-License-Identifier: Apache-2.0
"""bench/peers on sets of a few nodes: the same splits for all, rows that stay, tables at the end."""
import csv
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = ROOT / "build" / "peers" / "bin" / "python"
COPSE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "copse"
ORACLE = """
import numpy as np
from sklearn.metrics import accuracy_score, f1_score, log_loss
from bench.peers.run import metrics
rng = np.random.RandomState(1)
truth = np.eye(3, dtype=bool)[rng.randint(3, size=200)]
scores = rng.dirichlet([1, 1, 1], size=200)
y, found = truth.argmax(axis=1), scores.argmax(axis=1)
gap = 0
for low in np.arange(15) / 15:
    inside = (scores.max(axis=1) >= low) & (scores.max(axis=1) < low + 1 / 15)
    if inside.any():
        gap += inside.mean() * abs((y == found)[inside].mean() - scores.max(axis=1)[inside].mean())
expected = accuracy_score(y, found), f1_score(y, found, average="macro"), log_loss(y, scores), gap
np.testing.assert_allclose(metrics(scores, truth, truth.mean(axis=0)), expected, rtol=1e-9)
"""


@unittest.skipUnless(PYTHON.exists(), "no environment of peers; `make bench-peers` makes build/peers")
class Peers(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)
        self.make_set("blocks", 60, lambda node: [node % 2])
        self.make_set("both", 60, lambda node: [node % 2, 2 + node % 3])
        (self.dir / "bare").mkdir()
        (self.dir / "bare" / "edges.tsv").write_text("0\t1\n")
        (self.dir / "index.tsv").write_text("name\tnodes\nblocks\t62\nboth\t62\nbare\t2\n")

    def make_set(self, name, num_nodes, labels_of):
        """Two blocks by parity, 8 edges a node inside and few between, and two nodes apart."""
        rng = random.Random(name)
        edges = {(u, v) for u in range(num_nodes) for v in range(u) if rng.random() < (0.3 if (u - v) % 2 == 0 else 0.02)}
        (self.dir / name).mkdir()
        (self.dir / name / "edges.tsv").write_text("".join(f"{v}\t{u}\n" for u, v in sorted(edges)))
        (self.dir / name / "labels.tsv").write_text("".join(f"{u}\tc{c}\n" for u in range(num_nodes + 2) for c in labels_of(u)))

    def call(self, verb, *arguments, code=0):
        places = [] if verb == "summary" else ["--data", self.dir, "--cache", self.dir / "cache"]
        if verb != "split":
            places += ["--table", self.dir / f"{verb.replace('summary', 'run')}.tsv"]
        if verb in ("run", "active", "online"):
            places += ["--copse", COPSE]
        done = subprocess.run([PYTHON, "-m", "bench.peers", verb, *arguments, *places], cwd=ROOT, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def rows(self, verb):
        with open(self.dir / f"{verb}.tsv") as file:
            return list(csv.DictReader(file, delimiter="\t"))

    def test_a_split_tells_some_labels_and_hides_the_others(self):
        told, hidden = self.dir / "told.tsv", self.dir / "hidden.tsv"
        self.call("split", "blocks", "5/class", "0", "--labels", told, "--hidden", hidden, "--graph", self.dir / "g.npz")
        first = told.read_text()
        self.assertEqual(sorted(line.split("\t")[1] for line in first.splitlines()), ["c0"] * 5 + ["c1"] * 5)
        whole = (self.dir / "blocks" / "labels.tsv").read_text()
        self.assertEqual(sorted((first + hidden.read_text()).splitlines()), sorted(whole.splitlines()))
        self.call("split", "blocks", "5/class", "0", "--labels", told)
        self.assertEqual(told.read_text(), first)
        self.call("split", "blocks", "5/class", "1", "--labels", told)
        self.assertNotEqual(told.read_text(), first)
        subprocess.run([COPSE, "predict", self.dir / "g.npz", "--labels", told, "-q"], check=True, capture_output=True)

    def test_metrics_are_those_of_scikit_learn(self):
        subprocess.run([PYTHON, "-c", ORACLE], cwd=ROOT, check=True, timeout=300)

    def test_rows_stay_and_a_rerun_makes_only_what_is_missing(self):
        methods = "copse:wta:num_trees=5@old,copse:label_propagation,cheap,networkx_harmonic"
        run = ["--regimes", "5/class,25%", "--splits", "2", "--methods", methods, "--limit", "60"]
        done = self.call("run", *run)
        self.assertIn("skipped bare: no labels.tsv", done.stderr)
        rows = self.rows("run")
        blocks = [row for row in rows if row["set"] == "blocks"]
        self.assertEqual(len(blocks), 2 * 2 * 13)
        self.assertEqual({row["regime"] for row in rows if row["set"] == "both"}, {"25%"})
        for row in blocks:
            self.assertEqual(row["status"], "ok", row)
            if row["regime"] == "25%" and "propagation" not in row["method"]:
                self.assertGreater(float(row["accuracy"]), 0.7, row)
        self.assertEqual(self.call("run", *run).stdout, "")
        self.assertEqual(self.rows("run"), rows)
        self.call("summary", "-o", self.dir / "report", "--focus", "copse:label_propagation")
        tables = (self.dir / "report" / "tables.md").read_text()
        for text in ("### 5/class: means over 1 sets", "| copse:wta:num_trees=5@old |", "win/tie/loss", "micro F1"):
            self.assertIn(text, tables)
        self.assertTrue((self.dir / "report" / "sets.svg").exists())

    def test_an_unknown_method_and_a_failing_one_are_said(self):
        self.assertIn("unknown methods nonsense; known: copse", self.call("run", "--methods", "nonsense", code=1).stderr)
        self.call("run", "--sets", "blocks", "--regimes", "5%", "--splits", "1", "--methods", "copse:nonsense")
        self.assertIn("nonsense", self.rows("run")[0]["status"])

    def test_games_leave_a_row_per_look_and_per_order(self):
        self.call("active", "--sets", "blocks,both", "--starts", "1", "--counts", "5,10")
        self.assertEqual(len(self.rows("active")), 10 * 2)
        self.call("online", "--sets", "blocks", "--orders", "2")
        self.assertTrue(all(float(row["accuracy"]) > 0.7 for row in self.rows("online")))


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is skipped
