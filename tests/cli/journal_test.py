# SPDX-License-Identifier: Apache-2.0
"""`copse online --journal`: a session that was killed goes on where it was."""
import json
import subprocess

from harness import COPSE, Case, main


class Journal(Case):
    def test_a_killed_session_loses_nothing_that_was_answered(self):
        for learner in ("wta", "graph_perceptron"):
            with self.subTest(learner):
                common = ("online", "graph.tsv", "--learner", learner, "--digits", "exact", "--quiet")
                (self.dir / "journal").unlink(missing_ok=True)
                lines = ["a\tred", "e\tblue", "a\tblue", "b\tred", "b\t", "c\tred"]
                session = subprocess.Popen([COPSE, *common, "--journal", "journal"], cwd=self.dir, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           text=True)
                session.stdout.readline()
                for line in lines:
                    session.stdin.write(line + "\n")
                    session.stdin.flush()
                    session.stdout.readline()
                session.kill()
                session.wait()
                session.stdin.close()
                session.stdout.close()
                self.assertEqual((self.dir / "journal").read_text().splitlines(), lines)
                with open(self.dir / "journal", "a") as file:
                    file.write("d\tre")  # a line that the machine did not finish
                asked = "".join(node + "\n" for node in "abcdefgh")
                again = self.run_copse(*common, "--journal", "journal", stdin=asked)[0].splitlines()[1:]
                whole = self.run_copse(*common, stdin="".join(line + "\n" for line in lines) + asked)[0].splitlines()[-8:]
                self.assertEqual([row.split("\t")[:3] for row in again], [row.split("\t")[:3] for row in whole])
                self.assertEqual((self.dir / "journal").read_text().splitlines(), lines)

    def test_labels_given_are_corrected_by_the_journal(self):
        self.write("journal", "a\tgreen\nb\t\n")
        rows = self.run_copse("online", "graph.tsv", "--labels", "labels.tsv", "--journal", "journal", "--quiet", stdin="a\nb\n")[0].splitlines()
        self.assertEqual(rows[1].split("\t")[:2], ["a", "green"])
        self.assertNotIn("given", rows[2])

    def test_a_journal_of_another_graph_is_refused(self):
        self.write("journal", "a\tred\nzzz\tred\n")
        self.assertIn("journal:2: is not node<TAB>label", self.run_copse("online", "graph.tsv", "--journal", "journal", code=2)[1])
        self.assertIn("--journal", self.run_copse("online", "graph.tsv", "--journal", "none/journal", code=2)[1])


class Verbs(Case):
    def session(self, *lines, code=0, as_json=True):
        common = ("online", "graph.tsv", "--labels", "labels.tsv", "--learner", "wta", *(["--json"] if as_json else []))
        out, errors = self.run_copse(*common, stdin="".join(line + "\n" for line in lines), code=code)
        return [json.loads(line) if as_json else line for line in out.splitlines()], errors

    def test_scores_reasons_and_the_next_question_one_reply_each(self):
        replies, _ = self.session("c\t\tscores", "c\t\texplain", "\t\tnext", "c", "c\tred", "d\tblue", "g\tred", "\t\tnext", "h\tred", "\t\tnext")
        self.assertEqual(len(replies), 10)
        self.assertEqual((replies[0]["node"], replies[0]["status"]), ("c", "scores"))
        self.assertGreater(replies[0]["scores"]["red"], 0.5)
        self.assertAlmostEqual(sum(replies[0]["scores"].values()), 1, places=5)
        self.assertEqual(replies[1]["status"], "explain")
        reasons = replies[1]["explain"]
        self.assertLessEqual(set(reasons), set("abef"))
        self.assertAlmostEqual(sum(reasons.values()), 1, places=5)
        self.assertAlmostEqual(reasons.get("a", 0) + reasons.get("b", 0), replies[0]["scores"]["red"], places=5)
        self.assertEqual(replies[2]["status"], "next")
        self.assertIn(replies[2]["node"], "cdgh")
        self.assertEqual((replies[7]["node"], replies[7]["status"]), ("h", "next"))  # the only one without a label
        self.assertEqual((replies[9]["node"], replies[9]["status"]), (None, "none"))

    def test_what_is_no_verb_or_does_not_fit_into_a_table_is_an_error_of_its_line(self):
        replies, errors = self.session("c\t\tsing", "c\t\t", "zzz\t\tscores", "c\t\tscores", code=2)
        self.assertEqual([reply["status"] for reply in replies], ["error", "error", "error", "scores"])
        self.assertIn("scores, explain, next", errors)
        rows, errors = self.session("c\t\tscores", "\t\tnext", code=2, as_json=False)
        self.assertTrue(rows[1].endswith("error") and rows[2].endswith("next"))
        self.assertIn("--json", errors)


if __name__ == "__main__":
    main()
