# SPDX-License-Identifier: Apache-2.0
"""predict with soft labels, a prior and class sizes."""
import sys
import unittest

from harness import Case


class Hints(Case):
    def label_of(self, node, *arguments):
        return {row["node"]: row for row in self.table("predict", "graph.tsv", *arguments)}[node]

    def test_a_prior_decides_where_no_label_reaches(self):
        self.write("prior.tsv", "node\tclass\tprobability\ng\tblue\t0.9\ng\tred\t0.1\nh\tblue\t0.6\nh\tred\t0.4\na\tblue\t1\nc\tred\t0.9\nc\tblue\t0.1\n")
        row = self.label_of("g", "--labels", "labels.tsv", "--prior", "prior.tsv", "--learner", "label_propagation")
        self.assertEqual((row["label"], row["status"]), ("blue", "predicted"))
        self.assertEqual(self.label_of("a", "--labels", "labels.tsv", "--prior", "prior.tsv")["label"], "red")  # given

    def test_copse_reads_its_own_scores_as_a_prior(self):
        self.run_copse("predict", "graph.tsv", "--labels", "labels.tsv", "--scores", "long", "-o", "prior.tsv")
        self.assertEqual(self.label_of("c", "--labels", "labels.tsv", "--prior", "prior.tsv")["label"], "red")

    def test_soft_labels_with_and_without_certain_ones(self):
        self.write("soft.tsv", "c\tblue\t0.9\nc\tred\t0.05\n")
        self.assertEqual(self.label_of("c", "--labels", "labels.tsv", "--soft-labels", "soft.tsv", "--learner", "majority_vote")["label"], "blue")
        self.write("soft.tsv", "a\tred\t0.9\nf\tblue\t0.9\n")
        for learner in ("auto", "wta", "label_propagation", "embedding", "poisson"):
            row = self.label_of("b", "--soft-labels", "soft.tsv", "--learner", learner)
            self.assertEqual((row["label"], row["status"]), ("red", "predicted"), learner)

    def test_class_sizes_by_name_or_uniform(self):
        self.write("sizes.csv", "class,size\nred,1\nblue,5\n")
        rows = self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--class-sizes", "sizes.csv")
        self.assertEqual({row["node"]: row["label"] for row in rows if row["node"] in "abcd"}, {"a": "red", "b": "red", "c": "blue", "d": "blue"})
        self.run_copse("predict", "graph.tsv", "--labels", "labels.tsv", "--class-sizes", "uniform", "--learner", "poisson")

    def test_hostile_hints_are_told_by_line(self):
        for option, text, says in [
            ("--prior", "a\tred\n", "hint.tsv:1: found 2 columns"),
            ("--prior", "a\tred\t1\nb\tred\tx\n", 'hint.tsv:2: "x" is no number >= 0'),
            ("--prior", "a\tred\t1\nb\tred\t-1\n", 'hint.tsv:2: "-1" is no number >= 0'),
            ("--prior", "a\tred\tinf\n", "is no number >= 0"),
            ("--prior", "a\tred\t1\na\tred\t0.5\n", 'node "a" has class "red" twice'),
            ("--prior", "x\tred\t1\n", "most rows name no node"),
            ("--prior", "", "no rows"),
            ("--soft-labels", "c\tred\t0.7\nc\tblue\t0.7\n", "at most 1 in all"),
            ("--soft-labels", "a\tred\t0.7\n", "certain label as well"),
            ("--class-sizes", "red\t1\n", 'class "blue" has no size'),
            ("--class-sizes", "red\t1\nred\t1\n", "has two sizes"),
            ("--class-sizes", "green\t1\n", '"green" is the label of no node'),
            ("--class-sizes", "red\t0\nblue\t0\n", "not all 0"),
        ]:
            self.write("hint.tsv", text)
            with self.subTest(text):
                self.assertIn(says, self.run_copse("predict", "graph.tsv", "--labels", "labels.tsv", option, "hint.tsv", code=2)[1])
        self.write("hint.tsv", "c\tred\t1\n")
        for learner in ("poisson", "embedding", "graph_perceptron"):
            arguments = ["predict", "graph.tsv", "--labels", "labels.tsv", "--prior", "hint.tsv", "--learner", learner]
            self.assertRegex(self.run_copse(*arguments, code=2)[1], "cannot use it|takes no hints")
        for more in (["--multi-label"], ["--prior-weight", "0"], ["--prior-weight", "x"]):
            self.run_copse("predict", "graph.tsv", "--labels", "labels.tsv", "--prior", "hint.tsv", *more, code=2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
