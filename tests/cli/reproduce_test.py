# SPDX-License-Identifier: Apache-2.0
"""copse reproduce: every experiment, quickly, from a directory with nothing in it; its reports; interrupted and bad runs."""
import html.parser
import json
import os
import re
import signal
import subprocess
import time

from harness import COPSE, Case, main


class Page(html.parser.HTMLParser):
    """Collects what a report shows, and everything that would need a network."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.words, self.scripts, self.inside = [], [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.inside = tag
        self.links += [value for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        (self.scripts if self.inside == "script" else self.words).append(data)


class Reproduce(Case):
    def test_the_list_names_question_paper_and_data(self):
        rows = json.loads(self.run_copse("reproduce", "--list", "--json")[0])
        self.assertEqual([row["name"] for row in rows], [
            "digits-online", "hierarchical-online", "digits-tree", "spanning-trees", "perceptron-bounds", "pounce-clusters",
            "lower-bound", "weights-matter"])
        text = self.run_copse("reproduce", "--list")[0]
        for row in rows:
            self.assertTrue(row["question"].endswith("?"), row)
            self.assertIn(row["name"], text)
            self.assertTrue(row["paper"] and row["data"], row)

    def test_every_experiment_runs_quickly_and_leaves_a_report_that_opens_offline(self):
        for row in json.loads(self.run_copse("reproduce", "--list", "--json")[0]):
            name = row["name"]
            with self.subTest(name):
                report = json.loads(self.run_copse("reproduce", name, "--quick", "-o", "out", "--json")[0])
                self.assertEqual(report["experiment"], name)
                self.assertTrue(report["findings"] and report["tables"] and report["charts"] and report["agreement"])
                for finding in report["findings"]:
                    self.assertIn(finding["verdict"], ("confirmed", "contradicted", "mixed"))
                    self.assertRegex(finding["evidence"], r"\d")
                for table in report["tables"]:
                    for cells in table["rows"]:
                        self.assertEqual(len(cells), len(table["columns"]), table["title"])
                        self.assertNotIn("nan", cells)
                self.check_page(name, report)
                self.check_runs(name)
                markdown = (self.dir / "out" / f"{name}.md").read_text()
                self.assertTrue(markdown.startswith("# " + report["title"]))

    def check_page(self, name, report):
        text = (self.dir / "out" / f"{name}.html").read_text()
        page = Page(text)
        self.assertEqual(page.links, [], "a report needs nothing from outside")
        words = "".join(page.words)
        self.assertIn(report["agreement"], words)
        for finding in report["findings"]:
            self.assertIn(finding["statement"], words)
        self.assertEqual(page.tags.count("div"), 0 if "built without charts" in words else len(report["charts"]))

    def check_runs(self, name):
        first, header, *rows = (self.dir / "out" / f"{name}.tsv").read_text().splitlines()
        self.assertEqual(first, f"# copse reproduce {name} --quick --seed 1")
        self.assertEqual(header.split("\t")[-3:], ["measure", "at", "value"])
        for row in rows:
            self.assertEqual(row.count("\t"), header.count("\t"), row)
            float(row.split("\t")[-1])

    def test_a_second_run_takes_the_first_ones_results(self):
        first = self.run_copse("reproduce", "pounce-clusters", "--quick", "-o", "out")[0]
        before = (self.dir / "out" / "pounce-clusters.tsv").read_bytes()
        again, err = self.run_copse("reproduce", "pounce-clusters", "--quick", "-o", "out")
        self.assertEqual(first, again)
        self.assertRegex(err, r"(\d+) of \1 runs were there already")
        self.assertEqual((self.dir / "out" / "pounce-clusters.tsv").read_bytes(), before)

    def test_ctrl_c_keeps_what_was_run_and_the_same_command_goes_on(self):
        table = self.dir / "out" / "lower-bound.tsv"
        process = subprocess.Popen([COPSE, "reproduce", "lower-bound", "-o", "out"], cwd=self.dir, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while not (table.exists() and table.read_text().count("seconds") >= 3) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 3, err)
        self.assertEqual(out, "")
        self.assertIn("goes on from there", err)
        self.assertFalse((self.dir / "out" / "lower-bound.html").exists())
        self.assertGreaterEqual(table.read_text().count("seconds"), 3)

    def test_another_seed_does_not_mix_with_the_first(self):
        self.run_copse("reproduce", "pounce-clusters", "--quick", "-o", "out")
        _, err = self.run_copse("reproduce", "pounce-clusters", "--quick", "-o", "out", "--seed", "2", code=2)
        self.assertIn("pounce-clusters.tsv:1: this table is of another run", err)
        self.assertIn("-o", err)

    def test_bad_calls_say_what_to_do(self):
        self.assertIn("--list shows", self.run_copse("reproduce", code=2)[1])
        self.assertIn("digits-online", self.run_copse("reproduce", "digits", code=2)[1])
        self.assertIn("is not a directory", self.run_copse("reproduce", "digits-online", "--data", "graph.tsv", code=2)[1])
        self.write("taken", "a file")
        self.assertIn("cannot be made a directory", self.run_copse("reproduce", "digits-online", "-o", "taken", code=2)[1])
        os.mkdir(self.dir / "empty")
        _, err = self.run_copse("reproduce", "digits-online", "--quick", "--data", "empty", "-o", "out", code=2)
        self.assertRegex(err, re.escape(os.path.join("empty", "usps", "points.npy")) + ".*no such file")
        self.assertIn("docs/reproduce.md", err)


if __name__ == "__main__":
    main()
