# SPDX-License-Identifier: Apache-2.0
"""copse label: through a pipe, on a terminal, and when it is killed."""
import os
import pty
import select
import signal
import subprocess
import time
import unittest

import harness

LABELS = "mine.tsv"


class Label(harness.Case):
    def label(self, typed, *flags, code=0):
        _, err = self.run_copse("label", "graph.tsv", "--labels", LABELS, *flags, stdin=typed, code=code)
        return err

    def rows(self, name=LABELS):
        return (self.dir / name).read_text().splitlines()

    def test_answers_are_added_to_a_new_file_and_a_second_session_goes_on(self):
        err = self.label("red\nblue\n")
        self.assertIn("no class yet", err)
        self.assertIn('new class "blue"', err)
        self.assertIn("2 labels added to mine.tsv", err)
        first = self.rows()
        self.assertEqual(first[0], "node\tlabel")
        self.assertEqual([row.split("\t")[1] for row in first[1:]], ["red", "blue"])
        err = self.label("2\n/q\nred\n")  # by number; behind /q nothing counts
        self.assertIn("1 red, 2 blue", err)
        self.assertEqual(self.rows()[:3], first)
        self.assertEqual([row.split("\t")[1] for row in self.rows()], ["label", "red", "blue", "blue"])
        self.assertEqual(len({row.split("\t")[0] for row in self.rows()}), 4)

    def test_what_it_writes_are_labels_for_the_other_verbs(self):
        self.label("red\nblue\n")
        out, _ = self.run_copse("predict", "graph.tsv", "--labels", LABELS)
        self.assertEqual(len(out.splitlines()), 9)

    def test_skip_and_undo(self):
        err = self.label("\nred\n/u\n/u\n/u\nblue\n/x\n")
        self.assertIn("there is nothing to undo", err)
        self.assertIn('"/x" is no command', err)
        asked = [line.split("  ")[0] for line in err.splitlines() if "  next to " in line]
        self.assertNotEqual(asked[0], asked[1])  # the first was skipped
        self.assertEqual(asked[3], asked[1])  # the answer was taken back
        self.assertEqual(asked[4], asked[0])  # and the skip as well
        self.assertEqual(self.rows(), ["node\tlabel", f"{asked[0]}\tblue"])

    def test_every_node_in_the_end(self):
        err = self.label("a\nb\n" + "a\n" * 20, "--hint-every", "0")
        self.assertIn("every node has a label or was skipped", err)
        self.assertEqual(len(self.rows()), 9)

    def test_files_as_people_have_them(self):
        for text, delimiter in (("", "\t"), ("node,label\n", ","), ("# mine\n", "\t"), ("id;class\na;red", ";"), ("a red\n", " ")):
            with self.subTest(text):
                (self.dir / LABELS).write_text(text)
                self.label("no, no\n")
                written = (self.dir / LABELS).read_text()
                self.assertTrue(written.startswith(text))
                self.assertIn('"no, no"' if delimiter == "," else "no, no", written)
                self.label("red\n")  # reads back
                self.assertEqual(len(self.rows()[-1].split(delimiter)), 2)

    def test_files_that_cannot_grow_are_refused(self):
        (self.dir / LABELS).write_text("node\tlabel\tsince\na\tred\t2020\n")
        self.assertIn("found 3 columns", self.label("red\n", code=2))
        (self.dir / LABELS).write_text("label\tnode\nred\ta\n")
        self.assertIn("the label stands before the node", self.label("red\n", code=2))
        for name in ("mine.tsv.gz", "-"):
            _, err = self.run_copse("label", "graph.tsv", "--labels", name, stdin="", code=2)
            self.assertIn("put", err)

    def test_a_killed_session_keeps_what_was_answered(self):
        copse = subprocess.Popen([harness.COPSE, "label", "graph.tsv", "--labels", LABELS], cwd=self.dir, stdin=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
        copse.stdin.write(b"red\nblue\n")
        copse.stdin.flush()
        for _ in range(100):
            if (self.dir / LABELS).exists() and len(self.rows()) == 3:
                break
            time.sleep(0.1)
        copse.send_signal(signal.SIGKILL)
        copse.wait()
        copse.stdin.close()
        self.assertEqual([row.split("\t")[1] for row in self.rows()], ["label", "red", "blue"])

    def test_on_a_terminal(self):
        master, slave = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        copse = subprocess.Popen([harness.COPSE, "label", "graph.tsv", "--labels", LABELS], cwd=self.dir, stdin=slave, stdout=slave,
                                 stderr=slave, env={**environment, "TERM": "xterm"})
        os.close(slave)
        shown = b""

        def wait_for(text):
            nonlocal shown
            while text not in shown:
                self.assertTrue(select.select([master], [], [], 30)[0], shown)
                shown += os.read(master, 4096)

        wait_for(b"no class yet")
        os.write(master, b"red\n")
        wait_for(b"1 red")
        os.write(master, b"\x04")  # Ctrl-D
        wait_for(b"1 label added")
        self.assertIn(b"\x1b[1m", shown)
        self.assertEqual(copse.wait(30), 0)
        os.close(master)
        self.assertEqual(len(self.rows()), 2)


if __name__ == "__main__":
    harness.main()
