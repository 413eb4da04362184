# SPDX-License-Identifier: Apache-2.0
"""Pipes, terminals, threads and Ctrl-C."""
import bz2
import gzip
import lzma
import os
import pty
import re
import select
import signal
import subprocess
import time

from harness import COPSE, GRAPH, Case, main

PREDICT = ("predict", "graph.tsv", "--labels", "labels.tsv")


class Streams(Case):
    def test_results_go_to_stdout_and_talk_to_stderr(self):
        out, err = self.run_copse(*PREDICT)
        self.assertTrue(out.startswith("node\tlabel\t"))
        self.assertIn("graph.tsv: 8 nodes, 8 edges", err)
        self.assertIn("seed 1", err)

    def test_quiet_says_nothing(self):
        out, err = self.run_copse(*PREDICT, "--quiet")
        self.assertEqual(err, "")
        self.assertEqual(out, self.run_copse(*PREDICT)[0])

    def test_no_bar_without_a_terminal(self):
        _, err = self.run_copse("evaluate", "graph.tsv", "--labels", "labels.tsv", "--train", "0.5", "--num-trees", "2001", "--splits", "40")
        self.assertNotIn("\r", err)
        self.assertNotIn("\033", err)

    def test_the_graph_or_the_labels_from_a_pipe(self):
        want = self.run_copse(*PREDICT)[0]
        self.assertEqual(self.run_copse("predict", "-", "--labels", "labels.tsv", stdin=GRAPH)[0], want)
        labels = (self.dir / "labels.tsv").read_text()
        self.assertEqual(self.run_copse("predict", "graph.tsv", "--labels", "-", stdin=labels)[0], want)

    def test_standard_input_begins_where_another_program_stopped(self):
        self.write("two.tsv", "read\tbefore\n" + GRAPH)
        with open(self.dir / "two.tsv", "rb") as both:
            os.lseek(both.fileno(), len("read\tbefore\n"), os.SEEK_SET)
            done = subprocess.run([COPSE, "predict", "-", "--labels", "labels.tsv"], stdin=both, capture_output=True, text=True, cwd=self.dir)
        self.assertEqual(done.stdout, self.run_copse(*PREDICT)[0], done.stderr)

    def test_compressed_files_are_known_by_their_bytes(self):
        want = self.run_copse(*PREDICT)[0]
        for name, packed in (("g.gz", gzip.compress(GRAPH.encode())), ("g.bz2", bz2.compress(GRAPH.encode())), ("odd_name", lzma.compress(GRAPH.encode()))):
            (self.dir / name).write_bytes(packed)
            self.assertEqual(self.run_copse("predict", name, "--labels", "labels.tsv")[0], want, name)

    def test_output_is_compressed_by_its_name(self):
        self.run_copse(*PREDICT, "-o", "out.tsv.gz")
        self.assertEqual(gzip.decompress((self.dir / "out.tsv.gz").read_bytes()).decode(), self.run_copse(*PREDICT)[0])

    def test_a_reader_that_leaves_early_is_no_error_worth_a_word(self):
        self.run_copse("graph", "generate", "grid", "--rows", "300", "--columns", "300", "-o", "grid.tsv")
        for command in ('"$0" tree grid.tsv --quiet | head -n 2', '"$0" graph convert grid.tsv - --quiet | head -n 2'):
            done = subprocess.run(["bash", "-c", command, COPSE], capture_output=True, text=True, cwd=self.dir)
            self.assertEqual((len(done.stdout.splitlines()), done.stderr), (2, ""))

    def test_online_answers_before_the_next_question(self):
        with subprocess.Popen([COPSE, "online", "graph.tsv", "--labels", "labels.tsv", "--quiet"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, bufsize=1, cwd=self.dir) as talk:
            self.assertEqual(talk.stdout.readline().split("\t")[0], "node")
            for node, label in (("a", "red"), ("e", "blue")):
                talk.stdin.write(node + "\n")
                talk.stdin.flush()
                self.assertEqual(talk.stdout.readline().split("\t")[:2], [node, label])
            talk.stdin.close()
            self.assertEqual(talk.wait(60), 0)


class Terminals(Case):
    def on_terminal(self, *arguments, **environment):
        """What a terminal on stdout and stderr sees."""
        terminal, side = pty.openpty()
        with subprocess.Popen([COPSE, *arguments], stdout=side, stderr=side, cwd=self.dir, env=dict(os.environ, **environment)) as run:
            os.close(side)
            shown = b""
            while True:
                try:
                    block = os.read(terminal, 4096)
                except OSError:  # the other side is closed
                    break
                if not block:
                    break
                shown += block
            run.wait(60)
        os.close(terminal)
        return shown.decode().replace("\r\n", "\n")

    def test_learners_fit_eighty_columns(self):
        shown = self.on_terminal("learners", NO_COLOR="1")
        self.assertLessEqual(max(map(len, shown.splitlines())), 80)
        self.assertIn("\nlabel_propagation\n    ", shown)

    def test_colours_are_for_terminals_that_want_them(self):
        self.assertIn("\033[1m", self.on_terminal("learners", NO_COLOR=""))
        self.assertIn("\033[1mnowhere.tsv", self.on_terminal("graph", "info", "nowhere.tsv", NO_COLOR=""))
        self.assertNotIn("\033[1m", self.on_terminal("graph", "info", "nowhere.tsv", NO_COLOR="1"))
        self.assertNotIn("\033", self.run_copse("learners")[0])


    def test_the_bar_moves_within_a_split(self):
        self.run_copse("graph", "generate", "block_model", "--nodes", "20000", "-o", "big.tsv", "--labels-out", "truth.tsv")
        shown = self.on_terminal("evaluate", "big.tsv", "--labels", "truth.tsv", "--learners", "wta:num_trees=3001", "--splits", "1", "-o", "out.tsv")
        steps = [int(percent) for percent in re.findall(r"evaluating wta \[.*?(\d+)%", shown)]
        self.assertTrue(set(steps) - {0, 100}, shown)
        self.assertEqual(steps, sorted(steps))


class FilesThatChange(Case):
    def test_a_graph_that_is_cut_short_while_online_uses_it_is_an_error(self):
        self.run_copse("graph", "convert", "graph.tsv", "graph.copse")
        with subprocess.Popen([COPSE, "online", "graph.copse", "--labels", "labels.tsv", "-o", "out.tsv"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir) as talk:
            while "labels.tsv" not in talk.stderr.readline():  # both are read
                pass
            os.truncate(self.dir / "graph.copse", 0)
            _, err = talk.communicate("a\n", timeout=60)
        self.assertEqual(talk.returncode, 2, err)
        self.assertIn("graph.copse: the file was cut short, or its disk failed, while it was in use\n  run again with the whole file", err)
        self.assertFalse([name for name in self.leftovers() if name.endswith(".tmp")])


class Threads(Case):
    def test_one_thread_equals_two_byte_for_byte(self):
        self.run_copse("graph", "generate", "block_model", "--nodes", "2000", "-o", "big.tsv", "--labels-out", "truth.tsv")
        truth = (self.dir / "truth.tsv").read_text().splitlines(keepends=True)
        self.write("some.tsv", "".join(truth[::10]))
        for arguments in (("predict", "big.tsv", "--labels", "some.tsv", "--scores"), ("predict", "big.tsv", "--labels", "some.tsv", "--json"),
                          ("tree", "big.tsv", "--num-trees", "3"), ("explain", "big.tsv", "5", "--labels", "some.tsv")):
            outputs = [self.run_copse(*arguments, "--threads", threads)[0] for threads in ("1", "2", "3")]
            self.assertEqual(outputs[0], outputs[1])
            self.assertEqual(outputs[0], outputs[2])

    def test_the_seed_matters(self):
        self.assertNotEqual(self.run_copse("tree", "graph.tsv", "--seed", "1", "--num-trees", "9")[0],
                            self.run_copse("tree", "graph.tsv", "--seed", "2", "--num-trees", "9")[0])


class Waiting(Case):
    """While a pipe is waited for, the first interrupt is heard."""

    def interrupt(self, *arguments, send=b"", how=signal.SIGINT):
        with subprocess.Popen([COPSE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.dir) as run:
            run.stdin.write(send)
            run.stdin.flush()
            time.sleep(0.5)
            self.assertIsNone(run.poll(), "it waits")
            run.send_signal(how)
            try:
                self.assertEqual(run.wait(30), 3)
            finally:
                run.kill()
            self.assertIn(b"interrupted before there was a result", run.stderr.read())
        self.assertEqual([name for name in self.leftovers() if name != "pipe"], [])

    def test_for_the_first_byte(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            self.interrupt("graph", "info", "-", how=how)

    def test_for_the_next_byte(self):
        self.interrupt("graph", "info", "-", send=GRAPH.encode())
        self.interrupt("predict", "graph.tsv", "--labels", "-", "-o", "out.tsv", send=b"a\tred\n")
        packed = gzip.compress(GRAPH.encode() * 1000)
        self.interrupt("graph", "info", "-", send=packed[:len(packed) // 2])

    def test_for_somebody_to_open_the_other_end(self):
        os.mkfifo(self.dir / "pipe")
        self.interrupt("predict", "pipe", "--labels", "labels.tsv", "-o", "out.tsv")
        self.interrupt("predict", "graph.tsv", "--labels", "pipe")
        self.interrupt("predict", "graph.tsv", "--labels", "labels.tsv", "-o", "pipe")
        self.interrupt("graph", "info", "graph.tsv", "--nodes", "pipe")
        self.interrupt("query", "graph.tsv", "--candidates", "pipe")
        self.interrupt("resistance", "graph.tsv", "--pairs", "pipe")

    def test_a_named_pipe_is_read_to_its_end(self):
        os.mkfifo(self.dir / "pipe")
        with subprocess.Popen([COPSE, *PREDICT[:1], "pipe", *PREDICT[2:]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=self.dir) as run:
            time.sleep(0.3)
            with open(self.dir / "pipe", "w") as pipe:
                for line in GRAPH.splitlines(keepends=True):
                    pipe.write(line)
                    pipe.flush()
                    time.sleep(0.05)
            self.assertEqual(run.stdout.read(), self.run_copse(*PREDICT)[0])
            self.assertEqual(run.wait(60), 0)


class ClosedDescriptors(Case):
    """Started by something that closed 0, 1 or 2: no file of ours may get the number."""

    def closed(self, redirections, *arguments, code=0):
        done = subprocess.run(["bash", "-c", f'"$0" "$@" {redirections}', COPSE, *arguments], capture_output=True, text=True, cwd=self.dir, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def test_notes_do_not_go_into_the_result(self):
        want = self.run_copse(*PREDICT)[0]
        self.run_copse("graph", "convert", "graph.tsv", "want.copse")
        for redirections in ("2>&-", "<&- 2>&-", "<&- >&- 2>&-"):
            self.closed(redirections, *PREDICT, "-o", "out.tsv")
            self.assertEqual((self.dir / "out.tsv").read_text(), want, redirections)
            self.closed(redirections, "graph", "convert", "graph.tsv", "g.copse")
            self.assertEqual((self.dir / "g.copse").read_bytes(), (self.dir / "want.copse").read_bytes())

    def test_a_graph_is_no_stream_of_questions(self):
        self.run_copse("graph", "convert", "graph.tsv", "g.copse")
        for graph in ("graph.tsv", "g.copse"):
            out, _ = self.closed("<&-", "online", graph)
            self.assertEqual(out.splitlines(), ["node\tpredicted\tconfidence\tlabel\tmistakes\tstatus"])

    def test_a_result_for_a_closed_standard_output_is_an_error(self):
        for arguments in (PREDICT, ("graph", "info", "graph.tsv"), ("graph", "convert", "graph.tsv", "-"), ("online", "graph.tsv"), ("learners",), ("--help",), ("--version",)):
            self.assertIn("standard output", self.closed(">&-", *arguments, code=2)[1], arguments)
        self.closed(">&-", *PREDICT, "-o", "out.tsv")


class LongRuns(Case):
    """A run that would take minutes, stopped or watched."""

    def setUp(self):
        super().setUp()
        self.run_copse("graph", "generate", "grid", "--rows", "100", "--columns", "100", "-o", "grid.tsv")
        self.write("few.tsv", "0\tred\n9999\tblue\n")
        self.long = [COPSE, "predict", "grid.tsv", "--labels", "few.tsv", "--learner", "wta", "--num-trees", "65535"]

    def test_the_first_interrupt_leaves_the_committee_so_far(self):
        with subprocess.Popen([*self.long, "-o", "out.tsv"], stderr=subprocess.PIPE, text=True, cwd=self.dir) as run:
            run.stderr.readline()
            run.stderr.readline()  # graph and labels are read
            time.sleep(1)
            run.send_signal(signal.SIGINT)
            _, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 3, err)
        self.assertRegex(err, r"interrupted after \d+ of 65535 trees")
        rows = (self.dir / "out.tsv").read_text().splitlines()
        self.assertEqual(len(rows), 10001)
        self.assertTrue(all(row.split("\t")[1] in ("red", "blue") for row in rows[1:]))

    def test_the_second_interrupt_ends_at_once(self):
        # Writing to a pipe that nobody reads is work that cannot be finished.
        with subprocess.Popen([COPSE, "tree", "grid.tsv"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.dir) as run:
            run.stdout.read(1)
            time.sleep(0.5)
            run.send_signal(signal.SIGINT)
            time.sleep(0.5)
            self.assertIsNone(run.poll())
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(30), 3)

    def test_online_ends_at_the_first_interrupt_with_its_summary(self):
        with subprocess.Popen([COPSE, "online", "graph.tsv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, cwd=self.dir) as run:
            run.stdout.readline()
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(30), 3)
            self.assertIn("0 trials", run.stderr.read())

    def test_an_evaluation_keeps_the_rows_so_far(self):
        with subprocess.Popen([COPSE, "evaluate", "graph.tsv", "--labels", "labels.tsv", "--train", "0.5", "--splits", "100000000"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir) as run:
            lines = [run.stdout.readline() for _ in range(3)]
            run.send_signal(signal.SIGTERM)
            out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 3, err)
        self.assertEqual(lines[1].split("\t")[0], "auto")
        self.assertTrue(all(len(row.split("\t")) == 7 for row in out.splitlines()))
        self.assertIn("interrupted", err)

    def test_a_terminal_shows_a_bar_and_it_is_gone_at_the_end(self):
        shown = self.watch(self.long)
        self.assertRegex(shown, r"\rtrees \[#*\.+\] +\d+%")
        self.assertIn("\r\033[K", shown.split("%")[-1])

    def test_quiet_shows_no_bar_on_a_terminal(self):
        self.assertNotIn("%", self.watch([*self.long, "--quiet"]))

    def watch(self, command):
        """What a terminal on stderr sees of two seconds of a run that is then interrupted."""
        terminal, side = pty.openpty()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=side, cwd=self.dir) as run:
            os.close(side)
            shown, start, interrupted = b"", time.time(), False
            while True:
                if not interrupted and time.time() - start > 2:
                    interrupted = True
                    run.send_signal(signal.SIGINT)
                if not select.select([terminal], [], [], 0.1)[0]:
                    if run.poll() is not None:
                        break
                    continue
                try:
                    block = os.read(terminal, 4096)
                except OSError:  # the other side is closed
                    break
                shown += block
            self.assertEqual(run.wait(60), 3)
        os.close(terminal)
        return shown.decode()


if __name__ == "__main__":
    main()
