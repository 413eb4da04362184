# SPDX-License-Identifier: Apache-2.0
"""Bad disks, lack of memory, kills and power cuts (shim.cpp) at every call by which a file is written: the old output is
there or the new one is, whole; errors are told; and what a killed run has left the next one removes.

Usage: faults_test.py COPSE SHIM"""
import errno
import itertools
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
SHIM = os.path.abspath(sys.argv.pop(2))
from harness import COPSE, Case, main  # noqa: E402

PREDICT = ["predict", "graph.tsv", "--labels", "labels.tsv", "-o", "out.tsv"]
CONVERT = ["graph", "convert", "graph.tsv", "out.copse"]
# Its answers are written while it runs: so many questions come in several blocks.
ONLINE = ["online", "graph.tsv", "--labels", "labels.tsv", "--learner", "majority_vote", "-o", "out.tsv"]
QUESTIONS = b"c\nd\n" * 15_000
# Every verb that writes a file as a whole, its last word (`online` and `reproduce` have tests of their own).
VERBS = [
    PREDICT, PREDICT[:-1] + ["out.tsv.gz"], PREDICT[:-1] + ["out.tsv.xz"], CONVERT, ["graph", "convert", "graph.tsv", "out.tsv.zst"],
    ["graph", "convert", "numbers.tsv", "out.mtx"],
    ["graph", "generate", "grid", "--rows", "9", "--columns", "9", "-o", "out.tsv"],
    ["graph", "generate", "block_model", "--nodes", "50", "-o", "other.tsv", "--labels-out", "out.tsv"],
    ["graph", "build", "points.csv", "--k", "2", "-o", "out.tsv"],
    ["graph", "info", "graph.tsv", "-o", "out.tsv"], ["tree", "graph.tsv", "-o", "out.tsv"],
    ["explain", "graph.tsv", "c", "--labels", "labels.tsv", "-o", "out.tsv"], ["resistance", "graph.tsv", "a", "e", "-o", "out.tsv"],
    ["bound", "graph.tsv", "--labels", "labels.tsv", "-o", "out.tsv"],
    ["query", "graph.tsv", "--labels", "labels.tsv", "-o", "out.tsv"],
    ["evaluate", "graph.tsv", "--labels", "labels.tsv", "--train", "0.5", "--splits", "2", "-o", "out.tsv"],
    ["learners", "-o", "out.tsv"], ["completion", "bash", "-o", "out.tsv"],
]
OLD = b"what was there before\n"
REPRODUCE = ["reproduce", "digits-tree", "--quick", "-o", "out"]


def without_seconds(table):
    """What runs of one command have in common: the last column of an evaluation is how long it took, and so is the last row
    of a trial. A row without its end stays as it is."""
    if table.startswith(b"learner\toptions\ttrain"):
        return re.sub(rb"\t[^\t\n]*\n", b"\n", table)
    return re.sub(rb"\tseconds\t0\t[^\t\n]*\n", b"\tseconds\n", table)


class Faults(Case):
    def setUp(self):
        super().setUp()
        self.write("numbers.tsv", "1\t2\n2\t3\n1\t3\n")
        self.write("points.csv", "0,0\n0,1\n1,0\n5,5\n5,6\n6,5\n")
        self.inputs = {path.name for path in self.dir.iterdir()}

    def run_with(self, fault, command):
        """(exit code, stderr, whether the fault was met)"""
        fired = self.dir.parent / (self.dir.name + ".fired")
        fired.unlink(missing_ok=True)
        env = dict(os.environ, LD_PRELOAD=SHIM, COPSE_FAULT=fault, COPSE_FAULT_FIRED=str(fired))
        done = subprocess.run([COPSE, *command, "--quiet"], cwd=self.dir, env=env, input=QUESTIONS if command == ONLINE else b"",
                              capture_output=True, timeout=300)
        was_met = fired.exists()
        fired.unlink(missing_ok=True)
        return done.returncode, done.stderr.decode(errors="replace"), was_met

    def written(self, command):
        """What the command writes when nothing happens; the directory is clean after it."""
        out = self.dir / command[-1]
        out.unlink(missing_ok=True)
        self.assertEqual(self.run_with("none 1 none", command)[:2], (0, ""))
        new = without_seconds(out.read_bytes())
        self.clean_up()
        return new

    def others(self):
        return {path.name for path in self.dir.iterdir()} - self.inputs

    def clean_up(self):
        for name in self.others():
            (self.dir / name).unlink()

    def each_call(self, call, what, command):
        """The command with the first such call struck, with the second, ... until there is none; out holds OLD before each."""
        out = self.dir / command[-1]
        for k in range(1, 100):
            out.write_bytes(OLD)
            code, err, was_met = self.run_with(f"{call} {k} {what}", command)
            if not was_met:
                self.assertEqual(code, 0, err)
                self.assertGreater(k, 1, "the fault was never met")
                self.clean_up()
                return
            with self.subTest(command=command, call=call, k=k, what=what):
                yield code, err, without_seconds(out.read_bytes())
            self.clean_up()
        self.fail("more calls than a small output can need")

    def test_a_write_that_fails_is_told_and_leaves_the_old_file_alone(self):
        for command in VERBS:
            new = self.written(command)
            for code, err, got in self.each_call("write", errno.ENOSPC, command):
                self.assertEqual(code, 2, err)
                self.assertIn("No space left on device", err)
                self.assertIn(got, (OLD, new) if "--labels-out" in command else (OLD,))  # the first of two may be written
                self.assertLessEqual(self.others(), {"other.tsv", command[-1]})

    def test_every_call_that_can_fail_is_told(self):
        for command in (PREDICT, CONVERT):
            new = self.written(command)
            for call in ("read", "open", "write", "fsync", "close", "rename"):
                for number in (errno.EIO, errno.EDQUOT):
                    for code, err, got in self.each_call(call, number, command):
                        self.assertEqual(code, 2, err)
                        self.assertIn(os.strerror(number), err)
                        # After the rename only the directory is left to sync.
                        self.assertIn(got, (OLD, new) if call == "fsync" else (OLD,))
                        self.assertEqual(self.others(), {command[-1]})

    def test_what_is_interrupted_goes_on_and_so_do_short_writes(self):
        for command in (PREDICT, CONVERT, PREDICT[:-1] + ["out.tsv.gz"]):
            new = self.written(command)
            for call, what in (("read", errno.EINTR), ("write", "short"), ("write", errno.EINTR), ("fsync", errno.EINTR),
                               ("close", errno.EINTR)):
                for code, err, got in self.each_call(call, what, command):
                    self.assertEqual((code, got), (0, new), err)

    def test_a_killed_run_leaves_the_old_output_or_the_new_and_the_next_run_removes_the_rest(self):
        for command in VERBS:
            new = self.written(command)
            for code, _, got in self.each_call("any", "kill", command):
                self.assertEqual(code, -9)
                self.assertIn(got, (OLD, new))
                self.assertEqual(self.run_with("none 1 none", command)[:2], (0, ""))
                self.assertEqual(without_seconds((self.dir / command[-1]).read_bytes()), new)
                self.assertLessEqual(self.others(), {"other.tsv", command[-1]})

    def test_a_session_that_is_killed_or_fails_keeps_whole_rows_of_what_was_answered(self):
        new = self.written(ONLINE)
        for what in ("kill", "old", "new", errno.ENOSPC):
            seen = set()
            for code, err, got in self.each_call("any", what, ONLINE):
                self.assertEqual(code, 2 if what == errno.ENOSPC else -9, err)
                if got != OLD:
                    self.assertTrue(new.startswith(got) and got.endswith(b"\n"), got[-100:])
                seen.add(got)
                if what == errno.ENOSPC:
                    self.assertIn("No space left on device", err)
                    self.assertRegex(err, "nothing was left behind" if got == OLD else "what was written before is there|: is written")
                    self.assertEqual(self.others(), {"out.tsv"})
            self.assertGreater(len(seen), 1 if what in ("old", "new") else 2)

    def test_a_session_on_a_full_disk_leaves_no_half_row(self):
        new = self.written(ONLINE)
        limit = len(new) // 2
        done = subprocess.run([COPSE, *ONLINE, "--quiet"], cwd=self.dir, input=QUESTIONS, capture_output=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"out.tsv: cannot write: File too large", done.stderr)
        got = (self.dir / "out.tsv").read_bytes()
        self.assertTrue(new.startswith(got) and got.endswith(b"\n"), got[-100:])

    def reproduced(self):
        """By suffix: what the experiment has written, as far as it is there."""
        files = {suffix: self.dir / "out" / f"digits-tree.{suffix}" for suffix in ("tsv", "html", "md")}
        return {suffix: path.read_bytes() for suffix, path in files.items() if path.exists()}

    def put_back(self, files):
        for suffix, data in files.items():
            (self.dir / "out" / f"digits-tree.{suffix}").write_bytes(data)

    def test_an_experiment_that_is_killed_leaves_reports_old_or_new_and_no_run_is_lost(self):
        self.run_copse(*REPRODUCE)
        new = self.reproduced()
        seen = set()
        for k in range(1, 100):
            self.put_back({**new, "html": OLD, "md": OLD})
            code, err, was_met = self.run_with(f"any {k} kill", REPRODUCE)
            if not was_met:
                self.assertEqual(code, 0, err)
                break
            with self.subTest(k=k):
                got = self.reproduced()
                self.assertEqual((code, got["tsv"]), (-9, new["tsv"]))
                self.assertIn(got["html"], (OLD, new["html"]))
                self.assertIn(got["md"], (OLD, new["md"]))
                seen.add((got["html"], got["md"]))
        self.assertEqual(len(seen), 3)
        self.assertEqual(self.reproduced(), new)
        self.assertEqual(len(list((self.dir / "out").iterdir())), 3)

    def test_an_experiment_that_is_killed_at_any_time_goes_on_from_there(self):
        start = time.monotonic()
        self.run_copse(*REPRODUCE)
        takes = time.monotonic() - start
        new = without_seconds(self.reproduced()["tsv"])
        rows = set(new.splitlines(keepends=True))
        (self.dir / "out" / "digits-tree.tsv").unlink()
        draw = random.Random(1)
        for _ in range(8):
            with subprocess.Popen([COPSE, *REPRODUCE, "--quiet"], cwd=self.dir, stdout=subprocess.DEVNULL) as run:
                time.sleep(draw.uniform(0, takes / 4))
                run.kill()
            got = without_seconds(self.reproduced().get("tsv", b"")).splitlines(keepends=True)
            self.assertLessEqual({line for line in got if line.endswith(b"\n")}, rows)
        self.run_copse(*REPRODUCE)
        self.assertEqual(without_seconds(self.reproduced()["tsv"]), new)
        self.assertEqual(len(list((self.dir / "out").iterdir())), 3)

    def test_an_experiment_on_a_full_disk_goes_on_when_there_is_room(self):
        self.run_copse(*REPRODUCE)
        new = without_seconds(self.reproduced()["tsv"])
        (self.dir / "out" / "digits-tree.tsv").unlink()
        limit = len(new) // 2
        done = subprocess.run([COPSE, *REPRODUCE, "--quiet"], cwd=self.dir, capture_output=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"digits-tree.tsv: cannot be written", done.stderr)
        self.assertRegex(self.run_copse(*REPRODUCE)[1], r"digits-tree: [1-9]\d* of \d+ runs were there already")
        self.assertEqual(without_seconds(self.reproduced()["tsv"]), new)

    def test_a_kill_at_any_time_leaves_the_old_output_or_the_new(self):
        draw = random.Random(1)
        self.run_copse("graph", "generate", "grid", "--rows", "150", "--columns", "150", "-o", "grid.tsv")
        self.inputs.add("grid.tsv")
        command = ["tree", "grid.tsv", "--num-trees", "3", "-o", "out.tsv"]
        new = self.written(command)
        out = self.dir / "out.tsv"
        for _ in range(12):
            out.write_bytes(OLD)
            with subprocess.Popen([COPSE, *command, "--quiet"], cwd=self.dir) as run:
                time.sleep(draw.uniform(0, 0.12))
                run.kill()
            self.assertIn(out.read_bytes(), (OLD, new))
        self.run_copse(*command, "--quiet")
        self.assertEqual(self.others(), {"out.tsv"})

    def test_streamed_trees_are_kept_or_not_whatever_happens(self):
        """--resume: struck at each call by which the file or the output is written, the next run gives the same answers."""
        draw = random.Random(1)
        self.write("many.tsv", "".join(f"{draw.randrange(3000)}\t{draw.randrange(3000)}\n" for _ in range(15_000)))
        self.write("few.tsv", "".join(f"{node}\t{'ab'[node % 2]}\n" for node in range(0, 3000, 7)))
        self.inputs |= {"many.tsv", "few.tsv"}
        command = ["predict", "many.tsv", "--labels", "few.tsv", "--memory", "10M", "--threads", "1", "--num-trees", "7", "--resume", "run.state",
                   "-o", "out.tsv"]
        new = self.written(command)
        for what in ("kill", "old", "new", errno.ENOSPC):
            for k in range(1, 200):
                code, err, was_met = self.run_with(f"any {k} {what}", command)
                if not was_met:
                    break
                with self.subTest(k=k, what=what):
                    self.assertEqual(code, 2 if what == errno.ENOSPC else -9, err)
                    self.assertEqual(self.run_with("none 1 none", command)[:2], (0, ""))
                    self.assertEqual((self.dir / "out.tsv").read_bytes(), new)
                    self.assertEqual(self.others(), {"out.tsv"})
                self.clean_up()
            self.assertGreater(k, 5)
            self.clean_up()

    def test_a_run_that_is_stopped_at_once_leaves_nothing(self):
        self.run_copse("graph", "generate", "grid", "--rows", "100", "--columns", "100", "-o", "grid.tsv")
        self.write("few.tsv", "0\tred\n9999\tblue\n")
        before = self.others()
        with subprocess.Popen([COPSE, "predict", "grid.tsv", "--labels", "few.tsv", "--num-trees", "65535", "-o", "out.tsv", "--quiet"],
                              cwd=self.dir) as run:
            while self.others() == before:  # the output is begun before the work
                self.assertIsNone(run.poll())
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            run.send_signal(signal.SIGTERM)
            self.assertEqual(run.wait(60), 3)
        self.assertEqual(self.others(), before)

    def test_a_file_that_may_not_grow_is_told_like_a_full_disk(self):
        command = [COPSE, "graph", "generate", "grid", "--rows", "99", "--columns", "99", "-o", "out.tsv", "--quiet"]
        done = subprocess.run(command, cwd=self.dir, capture_output=True, text=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual((done.returncode, self.others()), (2, set()), done.stderr)
        self.assertIn("out.tsv: cannot write: File too large", done.stderr)

    def test_a_power_cut_leaves_the_old_output_or_the_new(self):
        for command in (PREDICT, CONVERT, PREDICT[:-1] + ["out.tsv.gz"]):
            new = self.written(command)
            for what in ("old", "new"):
                for code, _, got in self.each_call("any", what, command):
                    self.assertEqual(code, -9)
                    self.assertIn(got, (OLD, new))

    def test_what_a_run_says_it_has_written_outlasts_a_power_cut(self):
        for command in (PREDICT, CONVERT, PREDICT[:-1] + ["out.tsv.gz"], ONLINE):
            new = self.written(command)
            for what in ("old", "new"):
                for before in (OLD, None):
                    with self.subTest(command=command, what=what, before=before):
                        if before is not None:
                            (self.dir / command[-1]).write_bytes(before)
                        code, err, _ = self.run_with(f"any 0 {what}", command)
                        self.assertEqual(code, 0, err)
                        self.assertEqual((self.dir / command[-1]).read_bytes(), new)
                    self.clean_up()

    def test_without_memory_a_run_says_so(self):
        draw = random.Random(1)
        # When oneTBB cannot start a thread it throws where nobody can catch it, and the terminate handler tells of it.
        commands = PREDICT, CONVERT, ["resistance", "graph.tsv", "a", "e", "--json", "-o", "out.tsv"]
        for command, threads in itertools.product(commands, "14"):
            command = [*command[:2], "--threads", threads, *command[2:]]
            new = self.written(command)
            out = self.dir / command[-1]
            most = 1
            while self.run_with(f"alloc {most} {errno.ENOMEM}", command)[2]:
                most *= 2
            self.clean_up()
            for k in sorted(draw.sample(range(1, most), 20)):
                # One that fails, or all from there on: then there is none for the message either.
                what = draw.choice((errno.ENOMEM, "all"))
                with self.subTest(command=command, k=k, what=what):
                    out.write_bytes(OLD)
                    code, err, was_met = self.run_with(f"alloc {k} {what}", command)
                    if code == 0:  # not met, or it could do without
                        self.assertEqual(out.read_bytes(), new)
                    else:
                        self.assertTrue(was_met)
                        self.assertEqual(code, 2, err)
                        self.assertIn("memory", err)
                        self.assertIn(out.read_bytes(), (OLD, new))  # it may end on the last note, behind the output
                    self.assertEqual(self.others(), {command[-1]})


if __name__ == "__main__":
    main()
