# SPDX-License-Identifier: Apache-2.0
"""copse query: which nodes to label next, and what it says about bad input."""
import json

from harness import Case, main, npy

STRATEGIES = ["auto", "act_st", "act_mu", "disagreement", "uncertainty", "vopt", "cover", "random"]


class Query(Case):
    def test_asks_about_unlabelled_nodes_only_in_order_of_the_score(self):
        for strategy in STRATEGIES:
            rows = self.table("query", "graph.tsv", "--labels", "labels.tsv", "--strategy", strategy, "-k", "3")
            self.assertEqual(list(rows[0]), ["node", "score"])
            self.assertEqual(len({row["node"] for row in rows}), 3)
            self.assertLessEqual({row["node"] for row in rows}, set("cdgh"))

    def test_needs_no_labels(self):
        for strategy in STRATEGIES:
            self.assertEqual(len(self.table("query", "graph.tsv", "--strategy", strategy, "-k", "2")), 2)

    def test_the_unlabelled_middle_first(self):
        # Two triangles, one of them labelled: the other is what is not known.
        self.write("labels.tsv", "a\tred\nb\tred\nc\tred\n")
        (row,) = self.table("query", "graph.tsv", "-k", "1")
        self.assertIn(row["node"], "abcdef")
        (row,) = self.table("query", "graph.tsv", "--labels", "labels.tsv", "-k", "1", "--strategy", "cover")
        self.assertIn(row["node"], "def")

    def test_a_batch_does_not_repeat_itself(self):
        rows = self.table("query", "graph.tsv", "-k", "2", "--strategy", "cover")
        self.assertEqual({"abc".count(row["node"]) for row in rows}, {0, 1})

    def test_fewer_are_left_than_asked_for_and_none_is_exit_code_1(self):
        out, err = self.run_copse("query", "graph.tsv", "--labels", "labels.tsv", "-k", "100")
        self.assertEqual(len(out.splitlines()), 5)
        self.assertIn("no more are without a label", err)
        self.write("all.tsv", "".join(f"{node}\tx\n" for node in "abcdefgh"))
        out, err = self.run_copse("query", "graph.tsv", "--labels", "all.tsv", code=1)
        self.assertEqual(out, "node\tscore\n")
        self.assertIn("has a label", err)

    def test_candidates(self):
        self.write("pool.tsv", "# who can be asked\nd\tsome text\n\ng\r\n")
        rows = self.table("query", "graph.tsv", "--labels", "labels.tsv", "--candidates", "pool.tsv")
        self.assertEqual({row["node"] for row in rows}, {"d", "g"})
        _, err = self.run_copse("query", "graph.tsv", "--candidates", "labels.tsv", "--candidates", "nothing.tsv", code=2)
        self.assertTrue(err)
        self.write("pool.tsv", "d\nzebra\n")
        _, err = self.run_copse("query", "graph.tsv", "--candidates", "pool.tsv", code=2)
        self.assertIn("pool.tsv:2", err)
        self.assertIn("zebra", err)

    def test_json(self):
        parsed = json.loads(self.run_copse("query", "graph.tsv", "--labels", "labels.tsv", "--json", "-k", "2")[0])
        self.assertEqual((parsed["options"]["verb"], parsed["options"]["strategy"], parsed["options"]["k"]), ("query", "auto", 2))
        self.assertEqual(parsed["options"]["dimension"], 64)
        self.assertEqual(list(parsed["rows"][0]), ["node", "score"])

    def test_the_same_seed_the_same_answer_on_any_number_of_threads(self):
        for strategy in STRATEGIES:
            one = self.run_copse("query", "graph.tsv", "--strategy", strategy, "--threads", "1", "--seed", "5")[0]
            self.assertEqual(self.run_copse("query", "graph.tsv", "--strategy", strategy, "--threads", "3", "--seed", "5")[0], one)
        seeds = {self.run_copse("query", "graph.tsv", "--strategy", "random", "--seed", str(seed))[0] for seed in range(5)}
        self.assertGreater(len(seeds), 1)

    def test_points_work_as_for_other_verbs(self):
        (self.dir / "points.npy").write_bytes(npy([(i % 7 + 1.0, i % 5 + 1.0) for i in range(30)]))
        self.assertEqual(len(self.table("query", "points.npy", "-k", "3")), 3)

    def test_options_of_the_strategy_are_flags(self):
        self.assertIn("--goal", self.run_copse("query", "--strategy", "cover", "--help")[0])
        self.assertNotIn("--goal", self.run_copse("query", "--strategy", "random", "--help")[0])
        self.run_copse("query", "graph.tsv", "--strategy", "cover", "--goal", "hops")


class Curve(Case):
    def test_says_whether_more_labels_pay(self):
        self.run_copse("graph", "generate", "grid", "--rows", "12", "--columns", "12", "-o", "grid.tsv")
        self.write("half.tsv", "".join(f"{u}\t{'left' if u % 12 < 6 else 'right'}\n" for u in range(0, 144, 3)))
        out, err = self.run_copse("query", "grid.tsv", "--labels", "half.tsv", "--curve", "--json", "-k", "4")
        curve = json.loads(out)["curve"]
        self.assertEqual([point["expected"] for point in curve["points"]].count(False), 4)
        self.assertRegex(curve["hint"], "^(stop|go on): ")
        for point in curve["points"]:
            self.assertTrue(0 <= point["error"] <= 1)
        self.assertIn(curve["hint"], err)

    def test_needs_labels(self):
        self.assertIn("--labels", self.run_copse("query", "graph.tsv", "--curve", code=2)[1])
        out, err = self.run_copse("query", "graph.tsv", "--labels", "labels.tsv", "--curve", "-k", "2")
        self.assertEqual(len(out.splitlines()), 3)  # the rows stand
        self.assertIn("no curve: ", err)
        self.assertIn("16", err)


class Errors(Case):
    def expect(self, *arguments, says):
        out, err = self.run_copse("query", *arguments, code=2)
        self.assertEqual(out, "")
        for word in says:
            self.assertIn(word, err)

    def test_bad_usage(self):
        self.expect("graph.tsv", "--strategy", "act_ts", says=["act_ts", "act_st", "cover"])
        self.expect("graph.tsv", "-k", "0", says=["-k"])
        self.expect("graph.tsv", "-k", "-3", says=["-k", "-3"])
        self.expect("graph.tsv", "-k", "many", says=["--count"])
        self.expect("graph.tsv", "--strategy", "cover", "--goal", "near", says=["near", "mean|farthest|hops"])
        self.expect("graph.tsv", "--strategy", "act_st", "--refine", "-1", says=["refine", "between 0 and 4096"])
        self.expect("graph.tsv", "--refine", "1", says=["--refine", "the options of auto are --dimension"])
        self.expect("graph.tsv", "--goal", "hops", says=["--goal"])
        self.expect("graph.tsv", "--labels", "labels.tsv", "--curve", "--learner", "wat", says=["wat", "wta"])
        self.expect("-", "--labels", "-", says=["standard input"])

    def test_bad_files(self):
        self.expect("nothing.tsv", says=["nothing.tsv"])
        self.expect("graph.tsv", "--labels", "nothing.tsv", says=["nothing.tsv"])
        self.write("empty.tsv", "")
        self.expect("graph.tsv", "--labels", "empty.tsv", says=["no node of the graph has a label"])
        self.write("broken.tsv", "a\tb\t-1\n")
        self.expect("broken.tsv", says=["broken.tsv:1"])
        self.assertEqual([name for name in self.leftovers() if name not in ("empty.tsv", "broken.tsv")], [])


if __name__ == "__main__":
    main()
