# SPDX-License-Identifier: Apache-2.0
"""Graphs whose edges stay on disk: `predict --memory` answers as in memory, says what it does, and refuses what it cannot."""
import gzip
import os
import random
import subprocess
import time

from harness import COPSE, Case, main

NODES, SMALL, LARGE = 6000, "18M", "4G"  # auto takes more than SMALL in memory, and streamed trees less


class Streamed(Case):
    def setUp(self):
        super().setUp()
        picks = random.Random(1)
        self.edges = sorted({tuple(sorted((picks.randrange(NODES) + 5, picks.randrange(NODES) + 5))) for _ in range(30000)})
        self.weights = [picks.choice([0.25, 1, 3, 17.5]) for _ in self.edges]
        self.write("plain.tsv", "".join(f"{u}\t{v}\n" for u, v in self.edges))
        self.write("weighted.tsv", "".join(f"{u}\t{v}\t{w}\n" for (u, v), w in zip(self.edges, self.weights)))
        self.write("many.tsv", "".join(f"{u}\t{'abc'[u % 3]}\n" for u in range(5, NODES, 17)))

    def in_memory(self, graph, *more):
        return self.run_copse("predict", graph, "--labels", "many.tsv", "--tree", "random_key", *more)[0]

    def streamed(self, graph, *more, memory=SMALL, **options):
        out, err = self.run_copse("predict", graph, "--labels", "many.tsv", "--memory", memory, *more, **options)
        self.assertIn("its edges are streamed" if memory == SMALL else "it is read into memory", err)
        return out

    def test_answers_are_those_of_the_trees_in_memory(self):
        for graph in ("plain.tsv", "weighted.tsv"):
            expected = self.in_memory(graph, "--learner", "wta", "--scores")
            for threads in ("1", "2"):
                self.assertEqual(self.streamed(graph, "--scores", "--threads", threads), expected)

    def test_a_graph_that_fits_is_read_into_memory(self):
        for learner in ("wta", "tree_cut", "majority_vote"):
            expected = self.run_copse("predict", "weighted.tsv", "--labels", "many.tsv", "--learner", learner)[0]
            self.assertEqual(self.streamed("weighted.tsv", "--learner", learner, memory=LARGE), expected)

    def test_lists_of_repeated_pairs_and_of_both_directions_are_merged_as_in_memory(self):
        twice = [(u, v, w) for (u, v), w in zip(self.edges, self.weights)] * 2 + [(v, u, 2 * w) for (u, v), w in zip(self.edges[::3], self.weights)]
        random.Random(2).shuffle(twice)
        self.write("repeated.tsv", "".join(f"{u} {v} {w}\n" for u, v, w in twice))
        self.write("both.tsv", "".join(f"{u} {v} {w}\n{v} {u} {w}\n" for (u, v), w in zip(self.edges, self.weights)))
        self.write("repeated_both.tsv", (self.dir / "both.tsv").read_text() + f"{self.edges[0][0]} {self.edges[0][1]} 1\n{self.edges[0][1]} {self.edges[0][0]} 1\n")
        self.write("pairs.tsv", "".join(f"{u} {v}\n" for u, v, _ in twice))
        for graph in ("repeated.tsv", "both.tsv", "repeated_both.tsv", "pairs.tsv"):
            self.assertEqual(self.streamed(graph, "--scores"), self.in_memory(graph, "--learner", "wta", "--scores"), graph)
        for policy in ("max", "min"):
            self.assertEqual(self.streamed("repeated.tsv", "--duplicates", policy), self.in_memory("repeated.tsv", "--learner", "wta", "--duplicates", policy))
        _, err = self.run_copse("predict", "repeated.tsv", "--labels", "many.tsv", "--memory", SMALL, "--duplicates", "error", code=2)
        self.assertIn("are joined by more than one edge", err)
        _, err = self.run_copse("predict", "pairs.tsv", "--labels", "many.tsv", "--memory", SMALL, "--duplicates", "sum", code=2)
        self.assertIn("give a column of weights", err)

    def test_names_gaps_pipes_and_compressed_lists_are_read_as_ever(self):
        self.write("names.tsv", "".join(f"{u if i < 20000 else f'n{u}'}\t{v * 1000}\n" for i, (u, v) in enumerate(self.edges)))
        self.write("names_labels.tsv", "".join(f"{u}\t{'ab'[u % 2]}\n" for u in range(5, 2000, 3)))
        self.write("gaps_labels.tsv", "".join(f"{7 * u}\t{'ab'[u % 2]}\n" for u in range(5, 2000, 3)))
        (self.dir / "names.tsv.gz").write_bytes(gzip.compress((self.dir / "names.tsv").read_bytes()))
        self.write("gaps.tsv", "".join(f"{7 * u}\t{7 * v}\n" for u, v in self.edges))
        for graph, labels in (("names.tsv", "names_labels.tsv"), ("gaps.tsv", "gaps_labels.tsv")):
            expected = self.run_copse("predict", graph, "--labels", labels, "--learner", "wta", "--tree", "random_key")[0]
            paths = [graph, "-"] + ([f"{graph}.gz"] if graph == "names.tsv" else [])
            for path in paths:
                given = (self.dir / graph).read_bytes() if path == "-" else b""
                run = subprocess.run([COPSE, "predict", path, "--labels", labels, "--memory", SMALL], cwd=self.dir, input=given, capture_output=True)
                self.assertEqual((run.returncode, run.stdout.decode()), (0, expected), run.stderr.decode())

    def test_a_copse_file_is_streamed_from_where_it_is(self):
        self.run_copse("graph", "convert", "weighted.tsv", "weighted.copse")
        self.assertEqual(self.streamed("weighted.copse"), self.in_memory("weighted.tsv", "--learner", "wta"))

    def test_what_cannot_be_streamed_says_what_to_do(self):
        for more, text in [
            (["--learner", "label_propagation", "--memory", "9M"], "take wta or tree_cut"),
            (["--learner", "wta", "--tree", "rst", "--memory", "9M"], "leave it out for random_key"),
            (["--memory", "9M"], "edges may lie on disk, nodes may not"),
            (["--memory", SMALL, "--signed"], "a signed graph is not streamed"),
            (["--memory", SMALL, "--spool", "nowhere"], "name another place for the edges with --spool"),
            (["--memory", "lots"], "--memory"),
        ]:
            _, err = self.run_copse("predict", "weighted.tsv", "--labels", "many.tsv", *more, code=2)
            self.assertIn(text, err)
        self.write("small.graph", "3 2\n2\n1 3\n2\n")
        self.write("small_labels.tsv", "1\ta\n3\tb\n")
        _, err = self.run_copse("predict", "small.graph", "--labels", "small_labels.tsv", "--memory", SMALL, code=2)
        self.assertIn("only edge lists and .copse files are streamed", err)

    def test_nothing_is_left_in_the_directory(self):
        os.mkdir(self.dir / "spool")
        self.streamed("weighted.tsv", "--spool", "spool")
        self.assertEqual(os.listdir(self.dir / "spool"), [])

    RESUMED = ["predict", "weighted.tsv", "--labels", "many.tsv", "--memory", "11500k", "--threads", "1", "--resume", "run.state", "--scores", "-o", "out.tsv"]

    def test_a_run_that_is_killed_goes_on_where_it_was(self):
        expected = self.in_memory("weighted.tsv", "--learner", "wta", "--scores")
        inputs = set(os.listdir(self.dir)) | {"out.tsv"}
        draw, gone_on = random.Random(1), 0
        for _ in range(3):
            (self.dir / "out.tsv").unlink(missing_ok=True)
            for is_last in [False] * 5 + [True]:
                with subprocess.Popen([COPSE, *self.RESUMED], cwd=self.dir, stderr=subprocess.PIPE, text=True) as run:
                    while not is_last and run.poll() is None and not (self.dir / "run.state").exists():
                        time.sleep(0.002)  # however busy the machine is, there is something to go on from
                    try:
                        _, err = run.communicate(timeout=60 if is_last else draw.uniform(0, 0.1))
                    except subprocess.TimeoutExpired:
                        run.kill()
                        _, err = run.communicate()
                gone_on += "run.state: goes on after" in err
                if run.returncode == 0:
                    break
            self.assertEqual((run.returncode, (self.dir / "out.tsv").read_text()), (0, expected), err)
            self.assertEqual(set(os.listdir(self.dir)), inputs)
        self.assertGreater(gone_on, 0)

    def test_a_run_goes_on_only_with_what_it_had(self):
        with subprocess.Popen([COPSE, *self.RESUMED], cwd=self.dir, stderr=subprocess.DEVNULL) as run:
            while not (self.dir / "run.state").exists():
                self.assertIsNone(run.poll())
            run.kill()
        state = (self.dir / "run.state").read_bytes()
        for changed, text in [(["--seed", "2"], "its options, seed or version of copse were others"), (["--num-trees", "33"], "its options")]:
            _, err = self.run_copse(*self.RESUMED, *changed, code=2)
            self.assertIn(text, err)
        for name, text in (("weighted.tsv", "its edges were others"), ("many.tsv", "its labels were others")):
            lines = (self.dir / name).read_text()
            self.write(name, lines[lines.index("\n") + 1:])
            _, err = self.run_copse(*self.RESUMED, code=2)
            self.assertIn(text, err)
            self.write(name, lines)
        for damaged in (state[:-1], state[:5000] + bytes([state[5000] ^ 1]) + state[5001:], b"", b"someone's own file, which is kept"):
            (self.dir / "run.state").write_bytes(damaged)
            _, err = self.run_copse(*self.RESUMED, code=2)
            self.assertIn("run.state: is not what --resume writes, or damaged", err)
            self.assertEqual((self.dir / "run.state").read_bytes(), damaged)
        # Other memory and other threads are the same run.
        for more in (["--memory", "11M"], ["--memory", "14M", "--threads", "2"]):
            (self.dir / "run.state").write_bytes(state)
            _, err = self.run_copse(*self.RESUMED[:4], *self.RESUMED[8:], *more)
            self.assertIn("run.state: goes on after", err)
            self.assertEqual((self.dir / "out.tsv").read_text(), self.in_memory("weighted.tsv", "--learner", "wta", "--scores"))

    def test_resume_without_a_place_or_memory_is_told(self):
        for more, text in ((["--resume", "run.state"], "--memory"), (["--memory", "11500k", "--resume", "nowhere/run.state"], "name another file with --resume")):
            _, err = self.run_copse("predict", "weighted.tsv", "--labels", "many.tsv", *more, code=2)
            self.assertIn(text, err)

    def test_estimate_tells_what_streaming_takes(self):
        rows = {row["key"]: row["value"] for row in self.table("estimate", "--num-nodes", "1e8", "--num-edges", "1e9", "--memory", "8G")}
        self.assertLessEqual(int(rows["streamed_peak_bytes"]), 8 << 30)
        self.assertGreaterEqual(int(rows["streamed_trees_at_once"]), 1)
        _, err = self.run_copse("estimate", "--num-nodes", "1e9", "--num-edges", "1e10", "--memory", "1G", code=1)
        self.assertIn("it does not fit: 1.00 GiB are allowed", err)


if __name__ == "__main__":
    main()
