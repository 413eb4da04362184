# SPDX-License-Identifier: Apache-2.0
"""What the tests of the program share: a directory of their own with a small graph, and a way to run copse in it."""
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time
import unittest

COPSE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "copse"

# What a sanitizer finds must not look like an answer: by default it ends a program with 1, as "no" does.
for sanitizer in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    os.environ.setdefault(sanitizer, "abort_on_error=1:print_stacktrace=1")

# Two triangles joined by a weak edge, so that no tree can doubt which side a node is on, and a component
# that no label reaches.
GRAPH = "a\tb\t1\nb\tc\t1\nc\ta\t1\nc\td\t0.01\nd\te\t1\ne\tf\t1\nf\td\t1\ng\th\t1\n"
LABELS = "a\tred\nb\tred\ne\tblue\nf\tblue\n"


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)
        self.write("graph.tsv", GRAPH)
        self.write("labels.tsv", LABELS)

    def write(self, name, text):
        (self.dir / name).write_text(text)

    def run_copse(self, *arguments, stdin="", code=0):
        """Runs copse and checks its exit code; returns (stdout, stderr)."""
        done = subprocess.run([COPSE, *arguments], input=stdin, capture_output=True, text=True, cwd=self.dir, timeout=300)
        self.assertEqual(done.returncode, code, f"copse {' '.join(arguments)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout, done.stderr

    def fails(self, *arguments, says, **how):
        """Exit code 2, nothing on stdout, and on stderr every text of `says`."""
        out, err = self.run_copse(*arguments, code=2, **how)
        self.assertEqual(out, "")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, err)

    def table(self, *arguments, **how):
        """The TSV that copse prints, as a list of dictionaries."""
        lines = self.run_copse(*arguments, **how)[0].splitlines()
        header = lines[0].split("\t")
        for line in lines:
            self.assertEqual(len(line.split("\t")), len(header), line)
        return [dict(zip(header, line.split("\t"))) for line in lines[1:]]

    def leftovers(self):
        """Files that copse left in the directory besides the inputs."""
        return sorted({path.name for path in self.dir.iterdir()} - {"graph.tsv", "labels.tsv"})


class Fuzzing:
    """FUZZ_SECONDS of rounds, drawn from FUZZ_SEED; says how many runs of the program they were."""

    def rounds(self):
        self.seed, self.count = int(os.environ.get("FUZZ_SEED", 1)), 0
        self.random = random.Random(self.seed)
        end, number = time.monotonic() + float(os.environ.get("FUZZ_SECONDS", 3)), 0
        while time.monotonic() < end or number == 0:
            yield number
            number += 1
        print(f"{type(self).__name__}: {number} rounds, {self.count} runs, seed {self.seed}", file=sys.stderr)


def npy(rows):
    """The bytes of a NumPy file of 32-bit floats."""
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    header = text.encode() + b" " * (-(11 + len(text)) % 64) + b"\n"
    body = b"".join(struct.pack("<f", value) for row in rows for value in row)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def main():
    unittest.main()
