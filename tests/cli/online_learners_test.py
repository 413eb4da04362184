# SPDX-License-Identifier: Apache-2.0
"""Learners that are corrected by their mistakes, from the command line."""
from harness import Case, main

LEARNERS = ["graph_perceptron", "projection", "one_projection", "cyclic_projection", "min_norm_interpolation", "pounce",
            "nearest_neighbor"]
LINES = "a\tred\ne\tblue\nb\nd\n"


class OnlineLearners(Case):
    def test_each_plays_the_online_game_by_its_name(self):
        for learner in LEARNERS:
            with self.subTest(learner):
                rows = self.table("online", "graph.tsv", "--learner", learner, stdin=LINES)
                self.assertEqual([row["predicted"] for row in rows], ["", "red", "red", "blue"])
                self.assertEqual(rows[-1]["mistakes"], "2")

    def test_each_of_them_can_learn_on_trees(self):
        for learner in ("graph_perceptron", "one_projection", "cyclic_projection", "pounce"):
            with self.subTest(learner):
                how = ["--learner", learner, "--on", "tree", "--num-trees", "3", "--tree", "mst"]
                rows = self.table("predict", "graph.tsv", "--labels", "labels.tsv", *how)
                found = {row["node"]: row for row in rows}
                self.assertEqual((found["c"]["label"], found["d"]["label"]), ("red", "blue"))
                self.assertEqual(found["g"]["status"], "unreached")

    def test_a_label_can_be_taken_back(self):
        for learner in LEARNERS:
            with self.subTest(learner):
                rows = self.table("online", "graph.tsv", "--learner", learner, stdin="a\tred\ne\tblue\na\t\nc\n")
                self.assertEqual(rows[-1]["predicted"], "blue")

    def test_a_node_may_come_again_with_another_label(self):
        for learner in LEARNERS:
            with self.subTest(learner):
                rows = self.table("online", "graph.tsv", "--learner", learner, stdin="a\tred\na\tblue\na\n")
                self.assertEqual(rows[-1]["predicted"], "blue")

    def test_the_bias_is_a_number_or_a_word_and_nothing_else(self):
        for good in ("2", "1/n2", "resistance_diameter"):
            self.run_copse("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", "graph_perceptron", "--bias", good)
        error = self.run_copse("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", "graph_perceptron", "--bias", "0", code=2)[1]
        self.assertIn('graph_perceptron option bias: "0" is out of range', error)
        self.assertIn("1/n2 or resistance_diameter", error)

    def test_an_explanation_speaks_of_trees_only_where_there_are_some(self):
        arguments = ["explain", "graph.tsv", "c", "--labels", "labels.tsv", "--learner", "graph_perceptron"]
        self.assertNotIn("trees", self.run_copse(*arguments)[1].replace("--num-trees", ""))
        self.assertIn("of 3 trees", self.run_copse(*arguments, "--on", "tree", "--num-trees", "3")[1])

    def test_the_list_says_whose_answers_depend_on_the_order(self):
        self.assertIn("depend on the order", self.run_copse("learners", "pounce")[1])
        self.assertNotIn("depend on the order", self.run_copse("learners", "min_norm_interpolation")[1])


if __name__ == "__main__":
    main()
