# SPDX-License-Identifier: Apache-2.0
"""Little memory: a run succeeds, or says so and ends with 2. It never hangs, and never dies of a signal."""
import resource
import subprocess
import unittest

from harness import COPSE, Case, main
from hardening_test import IS_SANITIZED

RUNS = (("graph", "generate", "block_model", "--nodes", "20000", "-o", "big.copse"), ("graph", "info", "grid.tsv"),
        ("predict", "grid.tsv", "--labels", "few.tsv", "-o", "out.tsv"), ("tree", "grid.tsv", "-o", "out.tsv"),
        ("predict", "grid.tsv", "--labels", "few.tsv", "--learner", "label_propagation", "-o", "out.tsv"),
        ("graph", "build", "points.csv", "-o", "points.tsv"))


@unittest.skipIf(IS_SANITIZED, "the address sanitizer reserves terabytes")
class LittleMemory(Case):
    def setUp(self):
        super().setUp()
        self.run_copse("graph", "generate", "grid", "--rows", "100", "--columns", "100", "-o", "grid.tsv")
        self.write("few.tsv", "0\tred\n9999\tblue\n")
        self.write("points.csv", "".join(f"{i % 97},{i % 89},{i % 83}\n" for i in range(5000)))
        self.inputs = self.leftovers()

    def run_within(self, kilobytes, arguments):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1024 * kilobytes, 1024 * kilobytes))
        return subprocess.run([COPSE, *arguments, "--threads", "4"], capture_output=True, text=True, cwd=self.dir, timeout=120, preexec_fn=limit)

    def test_is_an_error_or_enough(self):
        least = next(k for k in range(40_000, 400_000, 5_000) if self.run_within(k, ("tree", "graph.tsv", "-q")).returncode == 0)
        codes = set()
        for kilobytes in range(least - 10_000, least + 60_001, 10_000):
            for arguments in RUNS:
                with self.subTest(kilobytes=kilobytes, arguments=arguments):
                    done = self.run_within(kilobytes, arguments)
                    if done.returncode == 127:  # the loader had no room for the libraries
                        continue
                    codes.add(done.returncode)
                    self.assertIn(done.returncode, (0, 2), done.stderr)
                    if done.returncode == 2:
                        self.assertRegex(done.stderr, "out of memory\n  |needs .* of memory|Cannot allocate memory")
                        self.assertEqual([name for name in self.leftovers() if name not in (*self.inputs, "big.copse", "out.tsv", "points.tsv")], [])
        self.assertEqual(codes, {0, 2})


if __name__ == "__main__":
    main()
