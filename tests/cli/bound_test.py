# SPDX-License-Identifier: Apache-2.0
"""copse bound, and the adversary of copse graph generate: on graphs whose cuts are known, and on bad input."""
import json

from harness import Case, main


class Bound(Case):
    def test_a_component_may_lack_the_class_that_was_named_first(self):
        self.write("parts.tsv", "a\tb\nc\td\nc\te\n")
        self.write("part_labels.tsv", "a\tblue\nd\tgreen\ne\tgreen\n")
        rows = self.table("bound", "parts.tsv", "--labels", "part_labels.tsv")
        self.assertTrue(all(float(row["value"]) >= float(row["mistakes"] or 0) for row in rows if row["value"] and "at most" in row["kind"]), rows)

    def test_a_row_a_bound_with_the_mistakes_beside_it(self):
        rows = self.table("bound", "graph.tsv", "--labels", "labels.tsv")
        self.assertEqual(list(rows[0]), ["bound", "source", "kind", "value", "learner", "mistakes", "worst", "made_of"])
        names = [row["bound"] for row in rows]
        for name in ("no method", "line", "tree", "graph", "perceptron, diameter", "projection", "pounce"):
            self.assertIn(name, names)
        for row in rows:
            if row["worst"] and row["value"] and row["kind"] == "at most":
                self.assertLessEqual(float(row["worst"]), float(row["value"]) + 1e-9, row)

    def test_facts_of_two_triangles_and_a_bridge(self):
        parsed = json.loads(self.run_copse("bound", "graph.tsv", "--labels", "labels.tsv", "--json", "--orders", "0")[0])
        facts = parsed["facts"]
        self.assertEqual((facts["num_nodes"], facts["num_labelled"], facts["num_classes"], facts["cut_size"]), (6, 4, 2, 1))
        self.assertAlmostEqual(facts["cut_weight"], 0.01, places=6)
        self.assertAlmostEqual(facts["expected_tree_cut"], 1, places=5)  # the bridge is in every tree
        self.assertAlmostEqual(facts["resistance_diameter"][1], 100 + 4 / 3, places=3)
        self.assertEqual(facts["balance"], 0)
        self.assertTrue(all(row["mistakes"] is None for row in parsed["rows"]))
        self.assertTrue(any("The graph tells" in sentence for sentence in parsed["verdict"]))

    def test_says_which_component_and_in_words_how_predictable(self):
        _, err = self.run_copse("bound", "graph.tsv", "--labels", "labels.tsv")
        self.assertIn("of 2 components", err)
        self.assertIn("random spanning tree", err)

    def test_a_path_has_the_bound_of_halving(self):
        self.write("path.tsv", "".join(f"{u}\t{u + 1}\n" for u in range(15)))
        self.write("cut.tsv", "".join(f"{u}\t{'left' if u < 5 else 'right'}\n" for u in range(16)))
        (row,) = [row for row in self.table("bound", "path.tsv", "--labels", "cut.tsv") if row["bound"] == "halving"]
        self.assertEqual(float(row["value"]), 2 + 4)  # log2 16
        self.assertLessEqual(float(row["worst"]), 6)

    def test_other_learners_play_as_well(self):
        rows = self.table("bound", "graph.tsv", "--labels", "labels.tsv", "--learner", "majority_vote,wta:num_trees=3")
        self.assertEqual([row["learner"] for row in rows[-2:]], ["majority_vote", "wta:num_trees=3"])
        self.assertTrue(all(row["mistakes"] for row in rows[-2:]))

    def test_three_classes(self):
        self.write("three.tsv", "a\tred\nb\tred\nc\tgreen\nd\tblue\ne\tblue\nf\tgreen\n")
        rows = self.table("bound", "graph.tsv", "--labels", "three.tsv")
        for row in rows:
            if row["worst"] and row["value"] and row["kind"] == "at most":
                self.assertLessEqual(float(row["worst"]), float(row["value"]) + 1e-9, row)

    def test_covering_numbers_and_what_questions_leave(self):
        out, err = self.run_copse("bound", "graph.tsv", "--labels", "labels.tsv", "--rho", "0,2,1000", "--active", "act_st", "--budget", "2", "--json")
        parsed = json.loads(out)
        # Four labelled nodes, two in each triangle: one set for all, one a triangle, one a node.
        self.assertEqual([entry["sets"] for entry in parsed["facts"]["covering_numbers"]], [4, 2, 1])
        self.assertIn("N(2) <= 2", err)
        (row,) = [row for row in parsed["rows"] if "theorem 5.1" in row["source"]]
        self.assertLessEqual(row["worst"], row["value"])
        self.assertIn("Z_A", row["made_of"])

    def test_the_answer_does_not_depend_on_the_threads(self):
        one = self.run_copse("bound", "graph.tsv", "--labels", "labels.tsv", "--threads", "1")[0]
        self.assertEqual(self.run_copse("bound", "graph.tsv", "--labels", "labels.tsv", "--threads", "3")[0], one)


class Adversary(Case):
    def test_labels_come_with_the_coins_first_and_cut_less_than_them(self):
        _, err = self.run_copse("graph", "generate", "grid", "--rows", "6", "--columns", "6", "--adversary", "10", "-o", "g.tsv", "--labels-out", "l.tsv")
        self.assertIn("adversary", err)
        self.assertEqual(len((self.dir / "l.tsv").read_text().splitlines()), 36)
        facts = json.loads(self.run_copse("bound", "g.tsv", "--labels", "l.tsv", "--orders", "0", "--json")[0])["facts"]
        self.assertLess(facts["expected_tree_cut"], 10)

    def test_the_seed_turns_the_coins(self):
        labels = set()
        for seed in "123":
            self.run_copse("graph", "generate", "path", "--nodes", "20", "--adversary", "20", "--seed", seed, "-o", "g.tsv", "--labels-out", "l.tsv")
            labels.add((self.dir / "l.tsv").read_text())
        self.assertGreater(len(labels), 1)

    def test_bad_budgets(self):
        for budget, says in (("-1", "--adversary"), ("21", "20 nodes"), ("x", "--adversary")):
            _, err = self.run_copse("graph", "generate", "path", "--nodes", "20", "--adversary", budget, "-o", "g.tsv", "--labels-out", "l.tsv", code=2)
            self.assertIn(says, err)
        _, err = self.run_copse("graph", "generate", "path", "--adversary", "5", "-o", "g.tsv", code=2)
        self.assertIn("--labels-out", err)
        self.assertEqual(self.leftovers(), [])


class Active(Case):
    def test_evaluate_asks_first_and_plays_through_the_rest(self):
        rows = self.table("evaluate", "graph.tsv", "--labels", "labels.tsv", "--active", "act_st", "--budget", "0,2", "--orders", "2", "--learners", "wta")
        self.assertEqual([(row["budget"], row["trials"]) for row in rows], [("0", "4")] * 2 + [("2", "2")] * 2)
        self.assertEqual({row["strategy"] for row in rows}, {"act_st"})

    def test_bad_usage(self):
        for arguments, says in ((["--active", "act_ts"], "act_ts"), (["--active", "act_st", "--budget", "-1"], "--budget"),
                                (["--active", "act_st", "--budget", "x"], "--budget"), (["--active", "act_st", "--online"], "--online"),
                                (["--active", "act_st", "--batch", "0"], "--batch")):
            self.assertIn(says, self.run_copse("evaluate", "graph.tsv", "--labels", "labels.tsv", *arguments, code=2)[1])


class Errors(Case):
    def expect(self, *arguments, says):
        out, err = self.run_copse("bound", *arguments, code=2)
        self.assertEqual(out, "")
        for word in says:
            self.assertIn(word, err)

    def test_bad_input(self):
        self.expect("graph.tsv", says=["--labels"])
        self.expect("nothing.tsv", "--labels", "labels.tsv", says=["nothing.tsv"])
        self.write("one.tsv", "a\tred\n")
        self.expect("graph.tsv", "--labels", "one.tsv", says=["two labels"])
        self.write("empty.tsv", "")
        self.expect("graph.tsv", "--labels", "empty.tsv", says=["no node"])
        self.expect("graph.tsv", "--labels", "labels.tsv", "--learner", "wat", says=["wat"])
        self.expect("graph.tsv", "--labels", "labels.tsv", "--learner", "wta:num_trees=0", says=["num_trees"])
        self.expect("graph.tsv", "--labels", "labels.tsv", "--orders", "-1", says=["--orders"])
        self.expect("graph.tsv", "--labels", "labels.tsv", "--trials", "0", says=["--trials"])
        self.expect("graph.tsv", "--labels", "labels.tsv", "--num-trees", "0", says=["--num-trees"])
        self.expect("graph.tsv", "--labels", "labels.tsv", "--rho", "near", says=["--rho", "near"])
        self.expect("graph.tsv", "--labels", "labels.tsv", "--rho", "-1", says=["--rho"])
        self.expect("graph.tsv", "--labels", "labels.tsv", "--active", "act_st", "--budget", "0", says=["--budget"])
        self.expect("graph.tsv", "--labels", "labels.tsv", "--active", "nobody", says=["nobody", "act_st"])


if __name__ == "__main__":
    main()
