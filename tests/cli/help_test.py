# SPDX-License-Identifier: Apache-2.0
"""Help is true: its examples run, and completion knows what help knows."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from harness import COPSE, Case, main, npy

VERBS = [(), ("predict",), ("online",), ("query",), ("label",), ("serve",), ("evaluate",), ("explain",), ("audit",), ("report",), ("graph",), ("graph", "info"), ("graph", "build"),
         ("graph", "check"), ("graph", "convert"), ("graph", "generate"), ("tree",), ("resistance",), ("bound",), ("reproduce",), ("estimate",), ("learners",), ("completion",)]


class Help(Case):
    def test_every_example_of_every_verb_runs(self):
        program = self.dir / "bin"
        program.mkdir()
        (program / "copse").symlink_to(COPSE)
        points = [(i % 7 + 1.0, i % 5 + 1.0) for i in range(30)]
        self.write("points.csv", "".join(f"{x},{y}\n" for x, y in points))
        (self.dir / "points.npy").write_bytes(npy(points))
        environment = dict(os.environ, PATH=f"{program}:{os.environ['PATH']}")
        for verb in VERBS:
            out, err = self.run_copse(*verb, "--help")
            self.assertEqual(err, "")
            examples = re.findall(r"^  ((?:cat |printf ).*copse .*|copse .*)$", out.split("Examples:")[-1], re.M)
            self.assertTrue(examples or verb == ("graph",), f"no example of {verb}")
            if verb == ("serve",):
                continue  # it does not end; serve_test.py runs it
            for example in examples:
                done = subprocess.run(["bash", "-o", "pipefail", "-c", example], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=self.dir, env=environment)
                self.assertEqual(done.returncode, 0, f"{example}\n{done.stderr}")

    def test_help_and_version_as_words(self):
        self.assertEqual(self.run_copse("help", "graph", "info")[0], self.run_copse("graph", "info", "--help")[0])
        self.assertEqual(self.run_copse("help")[0], self.run_copse("--help")[0])
        self.assertEqual(self.run_copse("version")[0], self.run_copse("--version")[0])

    def test_every_verb_is_listed(self):
        out, _ = self.run_copse("--help")
        for verb in VERBS:
            if len(verb) == 1:
                self.assertRegex(out, rf"\n  {verb[0]} ")

    def test_a_list_of_verbs_has_a_line_each_and_families_fit_a_screen(self):
        for verb in [(), ("graph",)]:
            count = sum(len(other) == len(verb) + 1 and other[:len(verb)] == verb for other in VERBS)
            listed = self.run_copse(*verb, "--help")[0].split("Subcommands:\n")[1].split("\n\n")[0]
            self.assertEqual(len(listed.splitlines()), count, listed)
        families = self.run_copse("graph", "generate", "--help")[0].split("Families:\n")[1].split("\n\n")[0]
        self.assertLessEqual(max(map(len, families.splitlines())), 100)

    def test_the_options_of_the_learner_that_is_chosen(self):
        self.assertIn("--num-trees N", self.run_copse("predict", "--help")[0])
        self.assertNotIn("--num-trees N", self.run_copse("predict", "--learner", "majority_vote", "--help")[0])
        self.assertIn("`copse learners`", self.run_copse("predict", "--help")[0])

    def test_the_parameters_of_the_family_that_is_chosen(self):
        self.assertIn("--rows", self.run_copse("graph", "generate", "grid", "--help")[0])

    def test_manual_pages_and_completions_are_made_of_the_help(self):
        tool = pathlib.Path(__file__).resolve().parents[2] / "tools/make_pages"
        subprocess.run([sys.executable, tool, COPSE, self.dir / "pages"], check=True)
        for verb in VERBS:
            page = (self.dir / "pages/man1" / ("-".join(("copse",) + verb) + ".1")).read_text()
            self.assertRegex(page, r'^\.TH "COPSE')
            for option in re.findall(r"^  (--[a-z-]+)", self.run_copse(*verb, "--help")[0], re.M):
                self.assertIn(option.replace("-", "\\-"), page)
        self.assertIn("copse\\-graph\\-info", (self.dir / "pages/man1/copse.1").read_text())
        for shell, name in (("bash", "copse.bash"), ("zsh", "_copse"), ("fish", "copse.fish")):
            self.assertEqual((self.dir / "pages" / name).read_text(), self.run_copse("completion", shell)[0])
        if shutil.which("groff"):
            for page in (self.dir / "pages/man1").iterdir():
                done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    def test_version(self):
        self.assertRegex(self.run_copse("--version")[0], r"^copse \d+\.\d+\.\d+\n$")


class Completion(Case):
    def complete(self, *words):
        script = ('source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _copse; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, COPSE, *words], capture_output=True, text=True, cwd=self.dir)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_verbs_options_values_and_files(self):
        self.assertEqual(self.complete("copse", "pre"), ["predict"])
        self.assertEqual(sorted(self.complete("copse", "graph", "")), ["build", "check", "convert", "generate", "info"])
        self.assertIn("--num-trees", self.complete("copse", "predict", "--nu"))
        self.assertEqual(self.complete("copse", "predict", "--tree", "nw"), ["nwrst"])
        self.assertEqual(self.complete("copse", "predict", "--learner", "maj"), ["majority_vote"])
        self.assertEqual(self.complete("copse", "predict", "gr"), ["graph.tsv"])
        self.assertIn("--rows", self.complete("copse", "graph", "generate", "--r"))

    def test_every_option_in_help_is_completed(self):
        for verb in VERBS:
            out, _ = self.run_copse(*verb, "--help")
            flags = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", out, re.M)) - {"--version"}
            self.assertLessEqual(flags, set(self.complete("copse", *verb, "--")), verb)

    def test_scripts_for_other_shells(self):
        self.assertIn("#compdef copse", self.run_copse("completion", "zsh")[0])
        self.assertIn("complete -c copse", self.run_copse("completion", "fish")[0])
        self.assertIn("one of bash, zsh, fish", self.run_copse("completion", "tcsh", code=2)[1])


if __name__ == "__main__":
    main()
