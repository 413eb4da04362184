# SPDX-License-Identifier: Apache-2.0
"""The front door stays true: runs every shell command of README.md and docs/getting-started.md, compiles and runs the
C++ program there, checks the table README shows and that links point to something, and runs the demo.

    readme_test.py PROGRAM [BUILD]    BUILD: the directory that `cmake --install` is called with

Without BUILD the C++ programs are not looked at. `make` itself is not called: it is what runs this test.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPSE = pathlib.Path(sys.argv[1]).resolve()
BUILD = [pathlib.Path(argument).resolve() for argument in sys.argv[2:]]
PAGES = ["README.md", "docs/getting-started.md"]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


class FrontDoor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A directory that looks like the repository after `make build`: build/copse, and copse on the path."""
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.dir = pathlib.Path(directory.name)
        (cls.dir / "build").mkdir()
        (cls.dir / "build" / "copse").symlink_to(COPSE)
        (cls.dir / "data").symlink_to(ROOT / "data")
        (cls.dir / "examples").mkdir()
        shutil.copy(ROOT / "examples" / "demo.sh", cls.dir / "examples")
        cls.environment = {**os.environ, "PATH": f"{cls.dir / 'build'}:{os.environ['PATH']}"}
        cls.outputs = {}

    def run_here(self, *command):
        done = subprocess.run(command, cwd=self.dir, env=self.environment, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return done.stdout

    def outputs_of(self, page):
        """What the commands of a page print, a block each; run once, in the order of the page."""
        if page not in self.outputs:
            commands = [c for c in blocks(page, "sh") if not c.startswith("make ")]
            self.assertTrue(commands, page)
            self.outputs[page] = [self.run_here("bash", "-euo", "pipefail", "-c", text) for text in commands]
        return self.outputs[page]

    def test_every_command_of_the_pages_runs_and_prints_something(self):
        for page in PAGES:
            with self.subTest(page):
                self.assertTrue(all(self.outputs_of(page)))

    def test_the_answers_that_the_readme_shows_are_those_of_the_program(self):
        shown = next(b for b in blocks("README.md", "") if b.startswith("node"))
        printed = next(o for o in self.outputs_of("README.md") if o.startswith("node\tlabel\tconfidence"))
        rows = [line.split() for line in printed.splitlines()]
        wanted = [line.split() for line in shown.splitlines()]
        self.assertEqual(rows[: len(wanted)], wanted)

    def install(self):
        """What `cmake --install` gives a C++ project: the library, its headers, find_package(copse)."""
        prefix = self.dir / "installed"
        for component in ("program", "library", "development"):
            self.run_here("cmake", "--install", BUILD[0], "--prefix", prefix, "--component", component)
        self.assertIn("copse", self.run_here(prefix / "bin" / "copse", "--version"))
        return prefix

    @unittest.skipUnless(BUILD, "no build directory was named")
    def test_the_program_of_the_pages_compiles_and_runs(self):
        prefix = self.install()
        page = "docs/getting-started.md"
        lines, program = blocks(page, "cmake")[0], blocks(page, "cpp")[0]
        self.assertIn("find_package(copse", lines)
        project = "cmake_minimum_required(VERSION 3.20)\nproject(mine CXX)\nadd_executable(my_program program.cpp)\n" + lines
        (self.dir / "CMakeLists.txt").write_text(project)
        (self.dir / "program.cpp").write_text(program)
        self.outputs_of(page)  # makes the files that the program reads
        self.run_here("cmake", "-S", ".", "-B", "mine", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        self.run_here("cmake", "--build", "mine")
        self.assertRegex(self.run_here("mine/my_program"), r"blue\s")
        directory = next(prefix.rglob("copse.pc")).parent
        flags = self.run_here("env", f"PKG_CONFIG_PATH={directory}", "pkg-config", "--cflags", "--libs", "copse").split()
        self.run_here("c++", "program.cpp", "-o", "without_cmake", *flags, f"-Wl,-rpath,{directory.parent}")
        self.assertRegex(self.run_here("./without_cmake"), r"blue\s")

    def test_the_table_of_learners_is_the_one_the_program_prints(self):
        rows = [line.split("\t") for line in self.run_here("copse", "learners", "--quiet").splitlines()[1:]]
        text = (ROOT / "docs/learners/README.md").read_text()
        for name, idea, cost, paper in rows:
            line = next((row for row in text.splitlines() if row.startswith(f"| [`{name}`]")), f"no row of {name}")
            self.assertTrue(line.endswith(f" | {idea} | {cost} | {paper} |"), line)

    def test_every_learner_has_a_page_that_names_all_its_options(self):
        for line in self.run_here("copse", "learners", "--quiet").splitlines()[1:]:
            name = line.split("\t")[0]
            page = (ROOT / "docs" / "learners" / f"{name}.md").read_text()
            for option in self.run_here("copse", "learners", name, "--quiet").splitlines()[1:]:
                self.assertIn(f"`{option.split(chr(9))[0]}`", page, name)

    def test_links_between_the_pages_lead_somewhere(self):
        pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
        for page in pages:
            prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
                self.assertTrue((page.parent / target).exists(), f"{page.relative_to(ROOT)} points to {target}")

    def test_what_the_pages_tell_a_contributor_to_run_and_to_write_is_there(self):
        targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        for page in ("README.md", "CONTRIBUTING.md"):
            named = set(re.findall(r"(?:`|^)make (\w+)", (ROOT / page).read_text(), re.MULTILINE))
            self.assertLessEqual(named, targets, page)
            self.assertIn("test", named, page)
        recipes = (ROOT / "CONTRIBUTING.md").read_text().split("## Recipes")[1]
        for path in re.findall(r"`((?:tests|docs|tools|cli|src)/[\w./]+)`", recipes):  # the code: recipes_test.py
            learner, of_io = path.replace("NAME", "majority_vote"), path.replace("NAME", "metis")
            self.assertTrue((ROOT / learner).exists() or (ROOT / of_io).exists(), path)

    def test_the_demo_fits_a_terminal_and_beats_both_baselines(self):
        output = self.run_here("bash", "examples/demo.sh", "build/copse")
        self.assertLessEqual(max(map(len, output.splitlines())), 80)
        sure = [float(line.split()[-2]) for line in output.splitlines() if "at least" in line]
        right = {line.strip()[:6]: float(line.split()[-2]) for line in output.splitlines() if line.endswith(" %")}
        self.assertGreater(right["copse,"], 45)
        self.assertGreater(right["copse,"], max(right["always"], right["majori"]))
        self.assertEqual(sure, sorted(sure))  # the surer, the better
        self.assertGreater(sure[-1], 85)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
