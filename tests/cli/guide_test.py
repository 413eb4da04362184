# SPDX-License-Identifier: Apache-2.0
"""Every command of docs/guide.md runs, on files that its recipes speak of."""
import pathlib
import re
import shutil
import subprocess
import os

from harness import COPSE, GRAPH, LABELS, Case, main

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "guide.md"


def commands():
    """One a line; a line that ends with a backslash goes on."""
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        yield from block.replace("\\\n", " ").splitlines()


class Guide(Case):
    def setUp(self):
        super().setUp()
        self.write("distances.tsv", "a\tb\t2\nb\tc\t0.5\n")
        self.write("first.tsv", LABELS.splitlines()[0] + "\n")
        self.write("many.tsv", LABELS + "a\tgreen\nb\tgreen\nf\tgreen\n")
        for name, tool, text in [("graph.tsv.zst", "zstd", GRAPH), ("part-1.zst", "zstd", GRAPH), ("graph.tsv.gz", "gzip", GRAPH),
                                 ("labels.tsv.gz", "gzip", LABELS)]:
            (self.dir / name).write_bytes(subprocess.run([tool, "-c"], input=text.encode(), capture_output=True, check=True).stdout)
        program = self.dir / "bin"
        program.mkdir()
        (program / "copse").symlink_to(COPSE)
        self.environment = dict(os.environ, PATH=f"{program}:{os.environ['PATH']}")

    def test_every_command_of_the_guide_runs(self):
        found = list(commands())
        self.assertGreater(len(found), 12)
        for command in found:
            if "jq " in command and shutil.which("jq") is None:
                continue
            with self.subTest(command):
                done = subprocess.run(["bash", "-o", "pipefail", "-c", command], input="a\nc\tred\nc\t\n", capture_output=True, text=True,
                                      cwd=self.dir, env=self.environment, timeout=300)
                # That something would not fit is an answer, on whatever machine this runs.
                allowed = {0, 1} if command.startswith("copse estimate") else {0}
                self.assertIn(done.returncode, allowed, done.stderr[-2000:])


if __name__ == "__main__":
    main()
