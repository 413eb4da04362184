# SPDX-License-Identifier: Apache-2.0
"""CONTRIBUTING.md's recipes, followed to the letter in a copy of the tree: new files are written, lines of diffs are put
behind the lines that they name or in the place of those that go, the program is built and asked for what is new.

    recipes_test.py BUILD_DIRECTORY    of the suite, from which the copy takes its settings
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = pathlib.Path(sys.argv.pop(1)).resolve() / "recipes"
BLOCK = re.compile(r"^```(cpp|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def copy_tree():
    """What git knows of, and what is not committed yet; files that did not change keep their time, so that ninja builds
    what is new only."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.split("\n")
    for old in [path for room in ("src", "include", "cli") for path in (COPY / room).rglob("*.?pp")]:
        if old.relative_to(COPY).as_posix() not in names:
            old.unlink()
    for name in names:
        source, target = ROOT / name, COPY / name
        if not name or not source.is_file() or name.startswith(("tests/data", "data/", "docs/")):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or source.read_bytes() != target.read_bytes():
            shutil.copy(source, target)


def replace(name, old, new):
    """The old lines, which stand in the file once, become the new ones."""
    path = COPY / name
    text = path.read_text()
    assert text.count(old) == 1, f"{name}: these lines stand there {text.count(old)} times:\n{old}"
    path.write_text(text.replace(old, new))


def follow(kind, text):
    if kind == "cpp":
        name, body = text.split("\n", 1)
        path = COPY / name.removeprefix("// ")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("// SPDX-License-Identifier: Apache-2.0\n" + body)
        return
    for part in re.split(r"^--- ", text, flags=re.MULTILINE)[1:]:
        name, body = part.split("\n", 1)
        old, new = "", ""
        for line in body.splitlines(keepends=True) + [" "]:
            if not line.startswith("+") and new != old and not line.startswith("-"):
                replace(name, old, new)
                old, new = "", ""
            old += line[1:] if line[0] in " -" else ""
            new += line[1:] if line[0] in " +" else ""


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        copy_tree()
        for name in ("data", "docs"):
            if not (COPY / name).exists():
                (COPY / name).symlink_to(ROOT / name)
        for kind, text in BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text()):
            follow(kind, text)
        (COPY / "build").mkdir(exist_ok=True)
        if (ROOT / "build/charts").is_dir() and not (COPY / "build/charts").exists():
            (COPY / "build/charts").symlink_to(ROOT / "build/charts")
        for command in (["cmake", "--preset", "suite", "-DCOPSE_DEVELOPER=OFF", "-DCOPSE_SERVER=OFF"],
                        ["cmake", "--build", "--preset", "suite", "--target", "copse_program"]):
            done = subprocess.run(command, cwd=COPY, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.dir = pathlib.Path(directory.name)
        (cls.dir / "graph.tsv").write_text("a\tb\nb\tc\nb\td\n")
        (cls.dir / "labels.tsv").write_text("a\tred\nc\tblue\nd\tblue\n")
        (cls.dir / "nodes.txt").write_text("e\n")

    def copse(self, *arguments):
        done = subprocess.run([COPY / "build/suite/copse", *arguments], cwd=self.dir, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_learner(self):
        self.assertIn("smoothing", self.copse("learners", "most_frequent"))
        answers = self.copse("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", "most_frequent", "--smoothing", "2")
        self.assertIn("b\tblue\t0.571429", answers)  # 2 + 2 of 3 + 4

    def test_a_strategy(self):
        self.assertEqual(self.copse("query", "graph.tsv", "--strategy", "degree", "-k", "1"), "node\tscore\nb\t3\n")

    def test_a_format(self):
        (self.dir / "graph.tgf").write_text("1 ann\n2\n3\n#\n1 2\n2 3 knows\n")
        self.assertEqual(self.copse("graph", "convert", "graph.tgf", "-"), "1\t2\n2\t3\n")

    def test_an_experiment(self):
        self.assertIn("How sure", self.copse("reproduce", "paths", "--quick", "-o", "out"))
        self.assertIn("| 200 |", (self.dir / "out/paths.md").read_text())

    def test_a_verb(self):
        self.assertEqual(self.copse("isolated", "graph.tsv", "--nodes", "nodes.txt"), "node\ne\n")


if __name__ == "__main__":
    unittest.main()
