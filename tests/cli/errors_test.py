# SPDX-License-Identifier: Apache-2.0
"""What goes wrong is said once, on stderr, with what to do about it, and exit code 2."""
import io
import os
import stat
import struct
import subprocess
import zipfile

from harness import COPSE, Case, main

PREDICT = ("predict", "graph.tsv", "--labels", "labels.tsv")


class Messages(Case):
    def fails(self, *arguments, says, **how):
        super().fails(*arguments, says=says, **how)
        self.assertEqual(self.leftovers(), [])

    def test_no_verb(self):
        self.fails(says=["which verb? One of predict, online", "copse --help"])

    def test_an_unknown_verb_suggests_the_nearest(self):
        self.fails("prdict", says=['there is no verb "prdict"', "did you mean predict?"])
        self.fails("graph", "inof", "graph.tsv", says=["copse graph: there is no verb", "did you mean info?"])

    def test_an_unknown_option_suggests_the_nearest_and_lists_the_learners(self):
        self.fails(*PREDICT, "--num-treees", "3", says=["there is no option --num-treees", "did you mean --num-trees?", "the options of auto are --num-trees"])
        self.fails("predict", "graph.tsv", "--lables", "labels.tsv", says="did you mean --labels?")

    def test_an_option_of_another_learner(self):
        self.fails(*PREDICT, "--learner", "majority_vote", "--num-trees", "3", says="there is no option --num-trees")

    def test_a_missing_option(self):
        self.fails("predict", "graph.tsv", says=["copse predict: --labels is required", "copse predict --help"])

    def test_an_unknown_learner_lists_the_known(self):
        self.fails(*PREDICT, "--learner", "wat", says=['"wat" is not known', "the learners are auto, wta, ", "majority_vote"])

    def test_a_value_out_of_range(self):
        self.fails(*PREDICT, "--num-trees", "0", says=["num_trees", "between 1 and"])
        self.fails(*PREDICT, "--learner", "wta", "--tree", "oak", says=["oak", "rst"])
        self.fails(*PREDICT, "--threads", "0", says="--threads")
        self.fails(*PREDICT, "--format", "visio", says="matrix_market")
        self.fails("tree", "graph.tsv", "--kind", "oak", says=["oak", "nwrst"])
        self.fails("evaluate", "graph.tsv", "--labels", "labels.tsv", "--train", "1.5", says='"1.5" is not a fraction')
        self.fails("evaluate", "graph.tsv", "--labels", "labels.tsv", "--learners", "wta:trees", says="is not name=value")
        self.fails("evaluate", "graph.tsv", "--labels", "labels.tsv", "--learners", "wta:trees=3", says="trees")

    def test_a_seed_is_not_negative(self):
        self.fails(*PREDICT, "--seed", "-1", says=["--seed", '"-1" is no whole number'])

    def test_a_format_that_copse_does_not_write(self):
        for name, ending in (("t.dot", ".dot"), ("t.adjlist.gz", ".adjlist"), ("t.npz", ".npz"), ("t.jsonl", ".jsonl"), ("t.graph", ".graph")):
            self.fails("graph", "convert", "graph.tsv", name, says=[f"does not write graphs as {ending}", ".tsv or .csv"])

    def test_a_file_that_is_not_there(self):
        self.fails("predict", "nowhere.tsv", "--labels", "labels.tsv", says="nowhere.tsv")
        self.fails("predict", "graph.tsv", "--labels", "nowhere.tsv", says="nowhere.tsv")

    def test_a_bad_weight_has_file_and_line(self):
        self.fails("graph", "info", "-", stdin="a\tb\t1\nb\tc\t-0.5\n", says=":2: ")

    def test_two_inputs_on_standard_input(self):
        self.fails("predict", "-", "--labels", "-", stdin="a\tb\n", says="two inputs")
        self.fails("online", "-", stdin="a\tb\n", says="two inputs")

    def test_no_labels_at_all(self):
        self.fails("predict", "graph.tsv", "--labels", "/dev/null", says="no node of the graph has a label")

    def test_a_node_that_is_not_there_names_the_near_ones(self):
        self.write("graph.tsv", "alpha\tbeta\nbeta\tgamma\n")
        self.write("labels.tsv", "alpha\tred\n")
        self.fails("explain", "graph.tsv", "gama", "--labels", "labels.tsv", says=['no node "gama"', "did you mean gamma?"])

    def test_options_that_make_no_sense_together(self):
        self.fails("evaluate", "graph.tsv", "--labels", "labels.tsv", "--online", "--stratified", says="--online")
        self.fails("evaluate", "graph.tsv", "--labels", "labels.tsv", "--multi-label", "--per-class", "2", says="--multi-label")

    def test_errors_are_said_even_when_quiet(self):
        self.fails("predict", "nowhere.tsv", "--labels", "labels.tsv", "--quiet", says="nowhere.tsv")


class Outputs(Case):
    def test_a_full_disk_is_an_error(self):
        _, err = self.run_copse(*PREDICT, "-o", "/dev/full", code=2)
        self.assertIn("/dev/full", err)

    def test_a_full_disk_on_standard_output(self):
        with open("/dev/full", "w") as full:
            import subprocess
            from harness import COPSE
            done = subprocess.run([COPSE, *PREDICT], stdout=full, stderr=subprocess.PIPE, text=True, cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left", done.stderr)

    def test_a_place_that_cannot_be_written_is_told_before_the_work(self):
        _, err = self.run_copse(*PREDICT, "-o", "missing/out.tsv", code=2)
        self.assertIn("missing", err)
        self.assertNotIn("nodes", err)  # the graph was not even read

    def test_a_failed_run_keeps_the_old_file(self):
        self.write("out.tsv", "old\n")
        self.write("bad.tsv", "a\tred\na\tblue\n")
        self.run_copse("predict", "graph.tsv", "--labels", "bad.tsv", "-o", "out.tsv", code=2)
        self.assertEqual((self.dir / "out.tsv").read_text(), "old\n")
        self.assertEqual(self.leftovers(), ["bad.tsv", "out.tsv"])

    def test_a_file_is_written_as_a_whole(self):
        out, _ = self.run_copse(*PREDICT)
        self.assertEqual(self.run_copse(*PREDICT, "-o", "out.tsv")[0], "")
        self.assertEqual((self.dir / "out.tsv").read_text(), out)
        self.assertEqual(self.leftovers(), ["out.tsv"])
        self.assertTrue(stat.S_ISREG(os.stat(self.dir / "out.tsv").st_mode))


class LargeMembers(Case):
    def npz(self, extra):
        def npy(type_, values, shape=None):
            text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (type_, "()" if shape == () else "(%d,)" % len(values))
            return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text.encode() + b"\n" + b"".join(values)

        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
            for name, size in extra:
                with file.open(name, "w") as member:
                    for _ in range(size):
                        member.write(bytes(1 << 20))
            integers = lambda *values: [struct.pack("<i", value) for value in values]
            file.writestr("format.npy", npy("|S3", [b"csr"], ()))
            file.writestr("shape.npy", npy("<i4", integers(2, 2)))
            file.writestr("indptr.npy", npy("<i4", integers(0, 1, 2)))
            file.writestr("indices.npy", npy("<i4", integers(1, 0)))
            file.writestr("data.npy", npy("<f4", [struct.pack("<f", 1.0)] * 2))
        (self.dir / "m.npz").write_bytes(out.getvalue())

    def test_members_of_an_npz_that_nobody_needs_are_not_unpacked(self):
        self.npz([("row.npy", 120), ("notes.npy", 120)])
        run = subprocess.Popen([COPSE, "graph", "info", "m.npz"], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = run.stdout.read(), run.stderr.read()
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        run.stdout.close(), run.stderr.close()
        self.assertEqual(run.returncode, 0, err)
        self.assertIn("nodes", out)
        self.assertLess(usage.ru_maxrss, 120 << 10)  # KiB


if __name__ == "__main__":
    main()
