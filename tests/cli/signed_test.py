# SPDX-License-Identifier: Apache-2.0
"""Graphs with negative edges, from the command line."""
from harness import Case, main

# Two camps, friends inside and foes between; one edge is wrong. And a pair far away.
GRAPH = "a\tb\t1\nb\tc\t2\na\td\t-1\nb\te\t-1\nd\te\t1\ne\tf\t1\nc\tf\t-2\nc\td\t0.1\ng\th\t-1\n"
LABELS = "a\tred\nd\tblue\n"
SIGNED = ("signed.tsv", "--signed")


class Signed(Case):
    def setUp(self):
        super().setUp()
        self.write("signed.tsv", GRAPH)
        self.write("camps.tsv", LABELS)

    def test_every_learner_follows_signs(self):
        wanted = {"a": "red", "b": "red", "c": "red", "d": "blue", "e": "blue", "f": "blue"}
        for row in self.table("learners"):
            learner = row["name"]
            with self.subTest(learner):
                arguments = ("predict", *SIGNED, "--labels", "camps.tsv", "--learner", learner)
                if learner in ("embedding", "auto", "online_pool"):
                    self.fails(*arguments, says=[f"{learner}: the graph has negative edges, which it cannot use", "learners that can are wta,"])
                    continue
                answers = {r["node"]: r for r in self.table(*arguments)}
                for node, label in wanted.items():
                    # The one labelled neighbour of c is across the edge that is wrong.
                    if answers[node]["status"] != "unreached" and (learner, node) != ("majority_vote", "c"):
                        self.assertEqual(answers[node]["label"], label, node)
                self.assertEqual(answers["g"]["status"], "unreached")

    def test_the_default_is_wta_where_there_are_signs(self):
        def nodes(*more):
            return self.run_copse("predict", *SIGNED, "--labels", "camps.tsv", *more)[0]
        self.assertEqual(nodes(), nodes("--learner", "wta"))

    def test_without_the_flag_a_negative_weight_is_an_error_that_names_it(self):
        self.fails("predict", "signed.tsv", "--labels", "camps.tsv", says=['signed.tsv:3: weight "-1" is not a positive number', "--signed"])

    def test_a_weight_that_is_no_number_is_an_error_with_signs_too(self):
        for weight in ["nan", "-nan", "-inf", "--1", "-x", ""]:
            self.write("bad.tsv", f"a\tb\t-1\nb\tc\t{weight}\n")
            self.fails("graph", "info", "bad.tsv", "--signed", says=["bad.tsv:2: "])

    def test_three_classes_or_one_are_refused(self):
        self.write("three.tsv", "a\tred\nd\tblue\nf\tgreen\n")
        self.fails("predict", *SIGNED, "--labels", "three.tsv", says=["3 classes", "two classes"])
        self.fails("predict", *SIGNED, "--labels", "three.tsv", "--multi-label", says=["3 classes"])
        self.write("one.tsv", "a\tred\n")
        self.fails("predict", *SIGNED, "--labels", "one.tsv", says=["one class only", "needs a name"])
        self.fails("explain", *SIGNED, "--labels", "one.tsv", "b", says=["one class only"])

    def test_online_knows_the_other_class_before_it_has_a_name(self):
        rows = self.table("online", *SIGNED, stdin="a\tred\nd\nb\nd\tblue\ne\n")
        self.assertEqual([row["predicted"] for row in rows], ["", "not red", "red", "not red", "blue"])
        self.assertEqual(rows[-1]["mistakes"], "1")

    def test_online_a_third_class_is_left_out_and_told(self):
        out, err = self.run_copse("online", *SIGNED, stdin="a\tred\nd\tblue\nf\tgreen\ne\n", code=2)
        self.assertIn('standard input:3: "green" is a third class', err)
        self.assertEqual(out.splitlines()[-1].split("\t")[:2], ["e", "blue"])

    def test_info_tells_balance(self):
        facts = {row["key"]: row["value"] for row in self.table("graph", "info", *SIGNED, "--labels", "camps.tsv")}
        self.assertEqual(facts["num_negative"], "4")
        self.assertEqual(facts["num_balanced_components"], "1")
        self.assertEqual(facts["num_frustrated"], "1")
        self.assertEqual(facts["cut_size"], "0")

    def test_convert_keeps_signs_and_a_copse_file_needs_no_flag(self):
        self.run_copse("graph", "convert", *SIGNED, "signed.copse")
        self.run_copse("graph", "convert", "signed.copse", "back.tsv")
        edges = {tuple(sorted(line.split("\t")[:2])): line.split("\t")[2] for line in (self.dir / "back.tsv").read_text().splitlines()}
        self.assertEqual(edges, {tuple(sorted(line.split("\t")[:2])): line.split("\t")[2] for line in GRAPH.splitlines()})
        first = self.table("predict", *SIGNED, "--labels", "camps.tsv")
        self.assertEqual(self.table("predict", "signed.copse", "--labels", "camps.tsv"), first)

    def test_a_tree_shows_signs(self):
        rows = self.table("tree", *SIGNED)
        self.assertTrue(any(float(row["weight"]) < 0 for row in rows))

    def test_listings_that_cancel_are_told_and_both_signs_refused_by_max(self):
        self.write("twice.tsv", "a\tb\t1\nb\ta\t-1\nb\tc\t-2\n")
        self.assertIn("1 pair whose listings add to 0", self.run_copse("graph", "info", "twice.tsv", "--signed")[1])
        self.fails("graph", "info", "twice.tsv", "--signed", "--duplicates", "max", says=['"a" and "b"', "a positive and by a negative edge"])

    def test_resistances_are_those_of_the_signed_laplacian(self):
        self.write("pair.tsv", "a\tb\t2\nb\tc\t-2\na\tc\t2\n")
        # G = [[4, -2, -2], [-2, 4, 2], [-2, 2, 4]]; its inverse has 3/8 on the diagonal and 1/8 between a and b.
        rows = self.table("resistance", "pair.tsv", "--signed", "--diagonal")
        for row in rows:
            self.assertAlmostEqual(float(row["diagonal"]), 0.375, places=6)
        row = self.table("resistance", "pair.tsv", "--signed", "a", "b")[0]
        self.assertAlmostEqual(float(row["resistance"]), 0.375 + 0.375 - 2 * 0.125, places=6)
        self.fails("resistance", *SIGNED, "--diameter", "--method", "trees", says=["with negative edges are exact"])

    def test_the_diameter_is_the_largest_resistance_of_a_pair(self):
        nodes = [row["node"] for row in self.table("resistance", *SIGNED, "--diagonal")]
        self.write("pairs.tsv", "".join(f"{u}\t{v}\n" for u in nodes for v in nodes if u < v))
        pairs = self.table("resistance", *SIGNED, "--pairs", "pairs.tsv")
        largest = max(float(row["resistance"]) for row in pairs if row["resistance"] not in ("", "inf"))
        (found,) = self.table("resistance", *SIGNED, "--diameter")
        self.assertAlmostEqual(float(found["lower"]), largest, places=4)
        self.assertEqual(found["lower"], found["upper"])
        self.write("long.tsv", "".join(f"{i}\t{i + 1}\t{-1 if i % 2 else 1}\n" for i in range(3000)))
        self.fails("resistance", "long.tsv", "--signed", "--diameter", says=["a solve for each of", "--pairs"])

    def test_bounds_of_signed_graphs(self):
        rows = self.table("bound", *SIGNED, "--labels", "camps.tsv", "--orders", "1")
        self.assertEqual([row["bound"] for row in rows], ["perceptron, norms", "projection", "cyclic projection"])
        for row in rows:
            self.assertLessEqual(float(row["worst"]), float(row["value"]))
        self.write("balanced.tsv", "a\tb\t1\nb\tc\t-1\nc\td\t1\n")
        self.write("two.tsv", "a\tred\nb\tred\nd\tblue\n")
        signed = self.table("bound", "balanced.tsv", "--signed", "--labels", "two.tsv")
        # Seen from one side all labels agree: nothing is cut.
        self.assertEqual({row["bound"]: row["value"] for row in signed}["tree"], "1")

    def test_diagonal_terms_are_an_input(self):
        self.write("terms.tsv", "a\t2\nd\t0\n")
        _, talk = self.run_copse("graph", "convert", *SIGNED, "with.tsv", "--diagonal", "terms.tsv")
        self.assertIn("2 further nodes", talk)
        rows = {row["node"]: float(row["diagonal"]) for row in self.table("resistance", "with.tsv", "--signed", "--diagonal")}
        plain = {row["node"]: float(row["diagonal"]) for row in self.table("resistance", *SIGNED, "--diagonal")}
        self.assertIn("a~1", rows)
        # Sherman and Morrison: K_aa / (1 + c K_aa).
        self.assertAlmostEqual(rows["a"], plain["a"] / (1 + 2 * plain["a"]), places=6)
        self.write("terms.tsv", "a\t-2\n")
        self.fails("graph", "convert", *SIGNED, "-", "--diagonal", "terms.tsv", says=["is no term of a diagonal", "node<TAB>number"])

    def test_all_strategies_take_signs(self):
        for strategy in ["act_st", "act_mu", "disagreement", "cover", "random"]:
            self.assertEqual(len(self.table("query", *SIGNED, "--labels", "camps.tsv", "-k", "2", "--strategy", strategy)), 2)

    def test_the_generator_makes_what_signs_alone_can_tell(self):
        self.run_copse("graph", "generate", "signed_blocks", "--nodes", "400", "--degree", "16", "-o", "g.tsv", "--labels-out", "l.tsv")
        rows = self.table("evaluate", "g.tsv", "--signed", "--labels", "l.tsv", "--learners", "label_propagation", "--train", "0.1", "--splits", "2")
        for row in rows:
            self.assertLess(float(row["error"]), 0.2)

    def test_explain_shows_labels_as_they_were_told(self):
        rows = self.table("explain", *SIGNED, "--labels", "camps.tsv", "b")
        for row in rows:
            self.assertEqual(row["label"], {"a": "red", "d": "blue"}[row["node"]])


if __name__ == "__main__":
    main()
