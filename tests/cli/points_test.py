# SPDX-License-Identifier: Apache-2.0
"""`copse graph build`, and every other verb straight from points."""
import json
import math

import harness

# Two groups of points on a line, 0 ... 5 and 100 ... 105.
VALUES = [float(i) for i in range(6)] + [100.0 + i for i in range(6)]
CSV = "id,x,y\n" + "".join(f"p{i},{v},0\n" for i, v in enumerate(VALUES))


class Points(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("points.csv", CSV)
        (self.dir / "points.npy").write_bytes(harness.npy([[v, 0.0] for v in VALUES]))
        self.write("point_labels.tsv", "0\tleft\n11\tright\n")

    def edges(self, *arguments):
        out, _ = self.run_copse("graph", "build", *arguments)
        return {tuple(line.split("\t")[:2]): float((line.split("\t") + ["1"])[2]) for line in out.splitlines()}

    def test_the_default_graph_is_ten_nearest_by_local_weights(self):
        _, talk = self.run_copse("graph", "build", "points.npy", "-o", "graph.copse")
        self.assertIn("12 points of 2 columns", talk)
        self.assertIn("10 nearest by euclidean distance, union", talk)
        self.assertIn("neighbours exact", talk)
        self.assertIn("written to graph.copse", talk)
        facts = {row["key"]: row["value"] for row in self.table("graph", "info", "graph.copse")}
        self.assertEqual(facts["num_nodes"], "12")
        self.assertEqual(facts["is_weighted"], "true")

    def test_k_weights_and_names(self):
        edges = self.edges("points.csv", "--k", "1", "--weights", "gaussian", "--scale", "2")
        self.assertIn(("p0", "p1"), edges)
        self.assertNotIn(("p5", "p6"), edges)
        self.assertAlmostEqual(edges["p0", "p1"], math.exp(-0.25), places=6)
        edges = self.edges("points.csv", "--k", "1", "--weights", "heat", "--scale", "2")
        self.assertAlmostEqual(edges["p0", "p1"], math.exp(-0.5), places=6)

    def test_connect_joins_and_says_so(self):
        out, talk = self.run_copse("graph", "build", "points.csv", "--k", "2", "--weights", "none")
        self.assertIn("2 components (--connect joins them", talk)
        out, talk = self.run_copse("graph", "build", "points.csv", "--k", "2", "--weights", "none", "--connect")
        self.assertIn("p5\tp6\n", out)
        self.assertIn("1 edge added to join the components", talk)

    def test_epsilon_and_complete(self):
        self.assertEqual(len(self.edges("points.csv", "--epsilon", "1", "--weights", "none")), 10)
        self.assertEqual(len(self.edges("points.csv", "--complete", "--weights", "none")), 66)
        self.run_copse("graph", "build", "points.csv", "--complete", "--epsilon", "1", code=2)

    def test_trees_of_all_pairs_without_their_graph(self):
        for kind in ("mst", "spt"):
            edges = self.edges("points.csv", "--similarity-tree", kind, "--scale", "3")
            self.assertEqual(len(edges), 11, kind)
        edges = self.edges("points.csv", "--similarity-tree", "mst", "--scale", "3")
        self.assertAlmostEqual(edges["p0", "p1"], math.exp(-1 / 9), places=6)
        self.assertIn(("p5", "p6"), edges)
        rows = self.table("tree", "points.npy", "--kind", "mst", "--similarity-tree", "mst", "--similarity-scale", "30")
        self.assertEqual(len(rows), 12)
        self.assertEqual({(row["node"], row["parent"]) for row in rows if row["node"] == "6"}, {("6", "5")})
        answers = self.table("predict", "points.npy", "--labels", "point_labels.tsv", "--similarity-tree", "mst", "--similarity-scale", "30", "--learner", "graph_perceptron")
        self.assertEqual([row["label"] for row in answers if row["node"] in ("1", "5")], ["left", "left"])
        self.assertEqual([row["label"] for row in answers if row["node"] in ("6", "10")], ["right", "right"])
        talk = self.run_copse("graph", "build", "points.csv", "--similarity-tree", "mst", code=2)[1]
        self.assertIn("needs the width of its weights", talk)
        talk = self.run_copse("graph", "build", "points.csv", "--similarity-tree", "star", "--scale", "1", code=2)[1]
        self.assertIn("one of mst, spt", talk)
        self.write("edges.tsv", "a\tb\n")
        talk = self.run_copse("tree", "edges.tsv", "--similarity-tree", "mst", code=2)[1]
        self.assertIn("holds a graph", talk)

    def test_underflow_is_told(self):
        out, talk = self.run_copse("graph", "build", "points.csv", "--complete", "--weights", "gaussian", "--scale", "0.1")
        self.assertIn("weights are divided by e^-100", talk)
        self.assertIn("too light even so", talk)
        self.assertEqual(len(out.splitlines()), 66)
        self.assertNotIn("\t0\n", out)

    def test_approximate_search_prints_its_recall(self):
        lines = [f"{i % 17 + i / 7919},{i % 13 + i / 104729},{i % 7 + i / 1299709}\n" for i in range(10000)]
        self.write("many.csv", "".join(lines))
        _, talk = self.run_copse("graph", "build", "many.csv", "--k", "3", "--method", "approximate", "-o", "g.tsv")
        self.assertRegex(talk, r"approximate: recall [01]\.\d{4} of the 3 nearest, give or take 0\.\d{4}, on 600 random points")
        self.assertRegex(talk, r"\d+ random trees? with leaves of \d+ points, [\d.e+-]+ % of all pairs compared")
        one = (self.dir / "g.tsv").read_text()
        self.run_copse("graph", "build", "many.csv", "--k", "3", "--method", "approximate", "--threads", "1", "-o", "g1.tsv")
        self.assertEqual(one, (self.dir / "g1.tsv").read_text())

    def test_approximate_search_says_where_it_is_exact(self):
        _, talk = self.run_copse("graph", "build", "points.csv", "--k", "2", "--method", "approximate")
        self.assertIn("neighbours exact, which is no dearer here than approximate ones", talk)
        _, talk = self.run_copse("graph", "build", "points.csv", "--k", "2", "--method", "approximate", "--metric", "inner", "--weights", "none")
        self.assertIn("neighbours exact: approximate ones are of distances", talk)

    def test_recall_is_a_share(self):
        _, talk = self.run_copse("graph", "build", "points.csv", "--k", "2", "--method", "approximate", "--recall", "1.5", code=2)
        self.assertIn("recall: the share of neighbours to find is above 0 and at most 1", talk)

    def test_predict_straight_from_points_says_that_it_builds_a_graph(self):
        out, talk = self.run_copse("predict", "points.npy", "--labels", "point_labels.tsv")
        self.assertIn("points.npy holds points, not a graph: building one of them first", talk)
        self.assertIn("10 nearest", talk)
        rows = {line.split("\t")[0]: line.split("\t")[1] for line in out.splitlines()[1:]}
        self.assertEqual(rows["2"], "left")
        self.assertEqual(rows["9"], "right")

    def test_svmlight_is_read_and_its_targets_are_not(self):
        self.write("points.svm", "".join(f"{i} 1:{v + 1}\n" for i, v in enumerate(VALUES)))
        out, _ = self.run_copse("predict", "points.svm", "--labels", "point_labels.tsv")
        self.assertEqual(len(out.splitlines()), 13)

    def test_points_may_come_through_a_pipe(self):
        out, _ = self.run_copse("graph", "build", "-", "--k", "1", "--weights", "none", stdin=CSV)
        self.assertIn("p0\tp1\n", out)

    def test_info_tells_of_the_labels_and_of_the_expected_tree_cut(self):
        self.run_copse("graph", "build", "points.npy", "--k", "2", "--connect", "-o", "graph.copse")
        self.write("all.tsv", "".join(f"{i}\t{'a' if i < 6 else 'b'}\n" for i in range(12)))
        document = json.loads(self.run_copse("graph", "info", "graph.copse", "--labels", "all.tsv", "--json")[0])
        facts = {row["key"]: row["value"] for row in document["rows"]}
        self.assertEqual(facts["cut_size"], 1)
        self.assertEqual(facts["expected_tree_cut"], 1, "the joining edge is a bridge: in every tree")
        self.assertEqual(facts["expected_tree_cut_error"], 0)
        self.assertEqual(facts["expected_tree_cut_trees"], 31, "it weighs 1e-30: too wide a range for a matrix")
        small = {row["key"]: row["value"] for row in self.table("graph", "info", "graph.tsv", "--labels", "labels.tsv")}
        self.assertEqual(small["expected_tree_cut_trees"], "0", "not sampled")
        self.assertEqual(facts["class a"], 6)
        without = self.run_copse("graph", "info", "graph.copse", "--labels", "all.tsv", "--num-trees", "0")[0]
        self.assertNotIn("expected_tree_cut", without)

    def test_a_large_labelling_is_judged_by_random_trees_and_says_so(self):
        self.run_copse("graph", "generate", "grid", "--rows", "60", "--columns", "60", "-o", "grid.copse")
        self.write("chess.tsv", "".join(f"{i}\t{(i // 60 + i % 60) % 2}\n" for i in range(3600)))
        facts = {row["key"]: row["value"] for row in self.table("graph", "info", "grid.copse", "--labels", "chess.tsv", "--num-trees", "7")}
        self.assertEqual((facts["expected_tree_cut_trees"], facts["expected_tree_cut"]), ("7", "3599"))

    def test_a_row_without_direction_is_told_by_its_file(self):
        self.write("zero.csv", "1,2\n0,0\n3,1\n")
        _, err = self.run_copse("graph", "build", "zero.csv", "--k", "1", "--metric", "cosine", code=2)
        self.assertIn("zero.csv: row 1 is all zeros", err)

    def test_wrong_options_are_told_and_nothing_is_written(self):
        for arguments, what in [
            (["--k", "12"], "12 neighbours are asked for, and a point has only 11 others"),
            (["--k", "0"], "0 neighbours make no graph"),
            (["--metric", "taxi"], '"taxi" is not one of euclidean|cosine|inner'),
            (["--metric", "inner"], "an inner product is no distance"),
            (["--weights", "similarity"], "a euclidean distance is no similarity"),
            (["--scale", "-1", "--weights", "gaussian"], "the scale of weights is a positive number"),
            (["--scale", "2"], "only gaussian and heat weights have a scale"),
            (["--epsilon", "0"], "the radius of a neighbourhood is a positive number"),
        ]:
            with self.subTest(arguments):
                _, talk = self.run_copse("graph", "build", "points.csv", *arguments, "-o", "out.tsv", code=2)
                self.assertIn(what, talk)
                self.assertFalse((self.dir / "out.tsv").exists())

    def test_fewer_than_eleven_points_take_all_the_others_by_default(self):
        self.write("few.csv", "1,2\n3,4\n5,6\n")
        _, talk = self.run_copse("graph", "build", "few.csv")
        self.assertIn("2 nearest", talk)


if __name__ == "__main__":
    harness.main()
