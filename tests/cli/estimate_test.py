# SPDX-License-Identifier: Apache-2.0
"""`copse estimate` beside what a run really takes: the largest resident set that the system has seen."""
import os
import random
import subprocess

from harness import COPSE, Case, main

NODES, EDGES = 250_000, 2_000_000
LEARNER = ["--learner", "wta", "--threads", "2", "--num-trees", "5"]


class Estimate(Case):
    def make(self, weighted):
        """A graph of random ends, without names and without duplicates that would give it weights."""
        family = ["random", "--nodes", str(NODES), "--edges", str(EDGES)]
        self.run_copse("graph", "generate", *family, "--contrast", "4" if weighted else "1", "-o", "large.tsv")
        self.run_copse("graph", "convert", "large.tsv", "large.copse")
        dice = random.Random(1)
        self.write("large_labels.tsv", "".join(f"{u}\t{dice.choice('ab')}\n" for u in range(0, NODES, 20)))

    def peak(self, graph):
        command = [COPSE, "predict", graph, "--labels", "large_labels.tsv", *LEARNER, "-q", "-o", "out.tsv"]
        process = subprocess.Popen(command, cwd=self.dir)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return 1024 * usage.ru_maxrss

    def estimated(self, graph):
        rows = self.table("estimate", graph, *LEARNER)
        return next(int(row["value"]) for row in rows if row["key"] == "peak_bytes")

    def check(self, weighted):
        self.make(weighted)
        for graph in ["large.tsv", "large.copse"]:
            with self.subTest(graph=graph, weighted=weighted):
                estimated, measured = self.estimated(graph), self.peak(graph)
                self.assertLess(abs(estimated - measured), 0.15 * measured, f"{estimated} estimated, {measured} measured")

    def test_the_peak_is_within_15_percent_without_weights(self):
        self.check(False)

    def test_the_peak_is_within_15_percent_with_weights(self):
        self.check(True)


if __name__ == "__main__":
    main()
