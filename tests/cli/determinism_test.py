# SPDX-License-Identifier: Apache-2.0
"""The same seed, the same bits: every learner, kind of tree, strategy and resistance, hashed on 1 to 8 threads, with
addresses that are the same every time and not, with registers of four doubles and without.

    determinism_test.py PROGRAM [SECOND]    SECOND was compiled by another compiler
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import COPSE, main

SECOND = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) else None
DATA = pathlib.Path(__file__).resolve().parents[2] / "data"

# As on a processor without AVX2: our own routines, the C library's exp and log, and BLAS.
NARROW = {
    "COPSE_NARROW_REGISTERS": "1",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL,-AVX_Fast_Unaligned_Load,-ERMS",
    "OPENBLAS_CORETYPE": "Nehalem",
}

# Large enough that threads share the work of one tree or solve, small enough for seconds.
GRAPHS = {
    "grid": ["grid", "--rows", "25", "--columns", "30", "--contrast", "10"],
    "blocks": ["block_model", "--nodes", "500", "--classes", "3", "--weight-outside", "0.3"],
    "skewed": ["rmat", "--scale", "9", "--edge-factor", "6", "--contrast", "1000"],
    "signed": ["signed_blocks", "--nodes", "300"],
    "path": ["path", "--nodes", "60", "--cut", "3"],
    "wide": ["grid", "--rows", "300", "--columns", "300", "--contrast", "3"],
}
ALL_LEARNERS = ("grid", "blocks", "skewed")


def run(program, arguments, directory, threads=None, wrapper=(), environment=(), stdin=""):
    """What is printed; talk is left out."""
    arguments = [*wrapper, program, *arguments, *([] if threads is None else ["--threads", str(threads)])]
    done = subprocess.run(arguments, input=stdin, cwd=directory, capture_output=True, text=True, timeout=300, env={**os.environ, **dict(environment)})
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def prepare(directory):
    """The inputs, made once: every variant reads the same files."""
    for name, family in GRAPHS.items():
        run(COPSE, ["graph", "generate", *family, "-o", f"{name}.tsv"], directory)
        ids = sorted({word for line in (directory / f"{name}.tsv").read_text().splitlines() if line[:1] not in "#%" for word in line.split("\t")[:2]}, key=int)
        classes = 2 if name == "signed" else 3
        # A label every fifth node, by an arithmetic that has nothing to do with the graph.
        (directory / f"{name}.labels").write_text("".join(f"{v}\tc{int(v) * 7919 // 13 % classes}\n" for v in ids[::5]))
        (directory / f"{name}.pairs").write_text("".join(f"{u}\t{v}\n" for u, v in zip(ids[:20], ids[-20:])))
        (directory / f"{name}.game").write_text("".join(f"{v}\tc{i * i % classes}\n{ids[-1 - i]}\n" for i, v in enumerate(ids[1:20])))


def cases(learners, strategies, kinds):
    """(name, arguments, file that is its standard input)"""
    exact = ["--digits", "exact", "-q"]
    for name, family in GRAPHS.items():
        yield f"generate {name}", ["graph", "generate", *family, "-q"], None
    for graph in ALL_LEARNERS:
        at = [f"{graph}.tsv", "--labels", f"{graph}.labels"]
        for learner in learners:
            if learner != "halving":  # for trees and small graphs
                yield f"predict {graph} {learner}", ["predict", *at, "--learner", learner, "--scores", *exact], None
        for strategy in strategies:
            yield f"query {graph} {strategy}", ["query", *at, "--strategy", strategy, *exact], None
        for kind in kinds:
            yield f"tree {graph} {kind}", ["tree", f"{graph}.tsv", "--kind", kind, "--num-trees", "3", *exact], None
        for method in ("exact", "projection"):
            yield f"resistance {graph} {method}", ["resistance", f"{graph}.tsv", "--pairs", f"{graph}.pairs", "--method", method, *exact], None
        for method in ("trees", "projection"):
            yield f"diagonal {graph} {method}", ["resistance", f"{graph}.tsv", "--diagonal", "--method", method, *exact], None
        yield f"diameter {graph}", ["resistance", f"{graph}.tsv", "--diameter", *exact], None
        yield f"info {graph}", ["graph", "info", f"{graph}.tsv", "-q"], None
    for learner in learners:
        yield f"online {learner}", ["online", "path.tsv", "--learner", learner, "--json", "-q"], "path.game"
        if learner in ("wta", "tree_cut", "label_propagation"):
            yield f"predict signed {learner}", ["predict", "signed.tsv", "--signed", "--labels", "signed.labels", "--learner", learner, "--scores", *exact], None
    yield "bound", ["bound", "path.tsv", "--labels", "path.labels", *exact], None
    for learner in ("wta", "tree_cut", "label_propagation", "nearest_neighbor"):
        few = ["--num-trees", "3"] if learner in ("wta", "tree_cut") else []
        yield f"predict wide {learner}", ["predict", "wide.tsv", "--labels", "wide.labels", "--learner", learner, "--scores", *few, *exact], None
    for kind in ("rst", "nwrst", "mst"):
        yield f"tree wide {kind}", ["tree", "wide.tsv", "--kind", kind, *exact], None
    for metric in ("euclidean", "cosine"):
        for weights in ("local", "gaussian"):
            yield f"points {metric} {weights}", ["graph", "build", str(DATA / "digits" / "digits.csv.gz"), "--metric", metric, "--weights", weights, "-q"], None
    packages = [str(DATA / "debian" / "edges.tsv.zst"), "--labels", str(DATA / "debian" / "labels.tsv.gz")]
    yield "predict packages wta", ["predict", *packages, "--num-trees", "2", "--scores", *exact], None
    yield "predict packages label_propagation", ["predict", *packages, "--learner", "label_propagation", "--scores", *exact], None


class Determinism(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.dir = pathlib.Path(directory.name)
        prepare(cls.dir)
        learners = [line.split("\t")[0] for line in run(COPSE, ["learners"], cls.dir).splitlines()[1:]]
        strategies = ("auto", "act_st", "act_mu", "disagreement", "uncertainty", "vopt", "cover", "random")
        kinds = ("rst", "nwrst", "random_key", "mst", "spt", "dfst", "bfst")
        cls.cases = list(cases(learners, strategies, kinds))
        cls.want = cls.hashes(COPSE, threads=1)

    @classmethod
    def hashes(cls, program, **how):
        out = {}
        for name, arguments, stdin in cls.cases:
            text = run(program, arguments, cls.dir, stdin=(cls.dir / stdin).read_text() if stdin else "", **how)
            out[name] = hashlib.sha256(text.encode()).hexdigest()[:16]
        return out

    def compare(self, program=COPSE, **how):
        got = self.hashes(program, **how)
        self.assertEqual([name for name in self.want if got[name] != self.want[name]], [])

    def test_the_cases_differ(self):
        """Else a hash of nothing would be compared."""
        self.assertGreater(len(set(self.want.values())), 0.9 * len(self.want))
        if os.environ.get("COPSE_PRINT_HASHES"):
            print(json.dumps(self.want, indent=1))

    def test_any_number_of_threads(self):
        for threads in (2, 8):
            with self.subTest(threads=threads):
                self.compare(threads=threads)

    def test_narrow_registers(self):
        self.compare(threads=2, environment=NARROW)

    def test_fixed_addresses(self):
        wrapper = ("setarch", "-R")
        if subprocess.run([*wrapper, "true"], capture_output=True).returncode != 0:
            self.skipTest("setarch -R is not permitted here")
        self.compare(threads=4, wrapper=wrapper)

    @unittest.skipUnless(SECOND, "give a second program")
    def test_another_compiler(self):
        self.compare(SECOND, threads=1)
        self.compare(SECOND, threads=2, environment=NARROW)


if __name__ == "__main__":
    main()
