# SPDX-License-Identifier: Apache-2.0
"""copse resistance, on graphs whose resistances are known: triangles of unit edges, a bridge of 100."""
import json

from harness import Case, main

THIRD = 2 / 3  # between two corners of a triangle


class Pairs(Case):
    def test_two_nodes(self):
        (row,) = self.table("resistance", "graph.tsv", "a", "d")
        self.assertEqual(list(row), ["u", "v", "resistance", "error"])
        self.assertEqual((row["u"], row["v"]), ("a", "d"))
        self.assertAlmostEqual(float(row["resistance"]), 100 + THIRD, places=3)
        self.assertLess(float(row["error"]), 1e-6 * 101)

    def test_components_are_infinitely_far_apart_and_a_node_is_at_itself(self):
        self.assertEqual(self.table("resistance", "graph.tsv", "a", "g")[0]["resistance"], "inf")
        self.assertEqual(self.table("resistance", "graph.tsv", "a", "a")[0]["resistance"], "0")
        parsed = json.loads(self.run_copse("resistance", "graph.tsv", "a", "g", "--json")[0])
        self.assertIsNone(parsed["rows"][0]["resistance"])

    def test_a_file_of_pairs_or_standard_input(self):
        text = "# corners\na\tb\n\na\td\r\ng\th\na\th\n"
        self.write("pairs.tsv", text)
        want = [("a", "b", THIRD), ("a", "d", 100 + THIRD), ("g", "h", 1), ("a", "h", float("inf"))]
        for rows in (self.table("resistance", "graph.tsv", "--pairs", "pairs.tsv"), self.table("resistance", "graph.tsv", "--pairs", "-", stdin=text)):
            self.assertEqual([(row["u"], row["v"]) for row in rows], [pair[:2] for pair in want])
            for row, pair in zip(rows, want):
                if pair[2] < 1000:
                    self.assertAlmostEqual(float(row["resistance"]) / pair[2], 1, places=5)
                else:
                    self.assertEqual(row["resistance"], "inf")

    def test_projection_is_right_within_the_error_it_states(self):
        self.write("pairs.tsv", "a\tb\na\td\nc\td\ne\tf\n")
        want = [THIRD, 100 + THIRD, 100, THIRD]
        for row, truth in zip(self.table("resistance", "graph.tsv", "--pairs", "pairs.tsv", "--method", "projection", "--error", "0.2"), want):
            self.assertLessEqual(abs(float(row["resistance"]) - truth), float(row["error"]))
            self.assertLessEqual(float(row["error"]), 0.26 * float(row["resistance"]))

    def test_json_holds_options_rows_and_notes(self):
        parsed = json.loads(self.run_copse("resistance", "graph.tsv", "a", "b", "--json")[0])
        self.assertEqual((parsed["options"]["verb"], parsed["options"]["method"]), ("resistance", "exact"))
        self.assertAlmostEqual(parsed["rows"][0]["resistance"], THIRD, places=5)
        self.assertEqual(parsed["notes"], [])

    def test_the_answer_does_not_depend_on_the_threads(self):
        for arguments in (("a", "d"), ("--diagonal", "--method", "trees"), ("--diagonal", "--method", "projection"), ("--diameter",)):
            one = self.run_copse("resistance", "graph.tsv", *arguments, "--threads", "1")[0]
            self.assertEqual(self.run_copse("resistance", "graph.tsv", *arguments, "--threads", "3")[0], one)


class Diagonal(Case):
    def exact(self):
        rows = self.table("resistance", "graph.tsv", "--diagonal")
        self.assertEqual(list(rows[0]), ["node", "diagonal", "error"])
        self.assertEqual([row["node"] for row in rows], list("abcdefgh"))
        return [float(row["diagonal"]) for row in rows]

    def test_exactly(self):
        values = self.exact()
        self.assertAlmostEqual(values[6], 0.25, places=6)  # one edge: 1/4 at both ends
        self.assertAlmostEqual(values[0], values[1], places=5)
        # Two triangles and a bridge of 100: its part is 100 (3/6)^2, everywhere.
        self.assertGreater(values[2], 25)
        self.assertLess(values[0], 25 + 1)

    def test_by_trees_and_by_projection_within_the_errors(self):
        truth = self.exact()
        for method in ("trees", "projection"):
            rows = self.table("resistance", "graph.tsv", "--diagonal", "--method", method, "--error", "0.1")
            for row, value in zip(rows, truth):
                self.assertLessEqual(abs(float(row["diagonal"]) - value), float(row["error"]) + 1e-3)
        self.assertIn("confidence 0.95", self.run_copse("resistance", "graph.tsv", "--diagonal", "--method", "trees")[1])

    def test_says_when_the_error_was_not_reached(self):
        _, err = self.run_copse("resistance", "graph.tsv", "--diagonal", "--method", "trees", "--error", "0.001", "--max-trees", "10")
        self.assertIn("--max-trees 10 stopped it", err)


class Diameter(Case):
    def test_of_a_small_graph_is_exact_with_a_pair(self):
        (row,) = self.table("resistance", "graph.tsv", "--diameter")
        self.assertEqual(list(row), ["lower", "upper", "u", "v"])
        self.assertEqual(row["lower"], row["upper"])
        self.assertAlmostEqual(float(row["lower"]), 100 + 2 * THIRD, places=3)
        self.assertLessEqual({row["u"], row["v"]}, set("abef"))

    def test_with_trees_is_an_interval_around_it(self):
        (row,) = self.table("resistance", "graph.tsv", "--diameter", "--method", "trees")
        self.assertLessEqual(float(row["lower"]), 101.334)
        self.assertGreaterEqual(float(row["upper"]), 101.333)

    def test_of_a_larger_graph_is_an_interval(self):
        self.run_copse("graph", "generate", "grid", "--rows", "50", "--columns", "50", "-o", "grid.tsv")
        (row,) = self.table("resistance", "grid.tsv", "--diameter")
        self.assertLess(float(row["lower"]), float(row["upper"]))
        self.assertAlmostEqual(float(row["lower"]), 5.13, delta=0.5)  # corners of a grid: about 2/pi ln(n) + 0.3
        self.assertGreaterEqual(float(row["upper"]), 98)


class Errors(Case):
    def fails(self, *arguments, says, **how):
        super().fails("resistance", *arguments, says=says, **how)

    def test_an_unknown_node_is_named_and_near_ones_suggested(self):
        self.fails("graph.tsv", "a", "z", says='V: the graph has no node "z"')
        self.write("pairs.tsv", "a\tb\na\tzz\n")
        self.fails("graph.tsv", "--pairs", "pairs.tsv", says=['pairs.tsv:2: the graph has no node "zz"'])

    def test_a_line_that_is_no_pair(self):
        self.write("pairs.tsv", "a\tb\na b\n")
        self.fails("graph.tsv", "--pairs", "pairs.tsv", says=["pairs.tsv:2", "is not two ids", "u<TAB>v"])
        self.write("pairs.tsv", "a\tb\tc\n")
        self.fails("graph.tsv", "--pairs", "pairs.tsv", says="pairs.tsv:1")

    def test_nothing_or_several_things_asked(self):
        self.fails("graph.tsv", says="which resistances?")
        self.fails("graph.tsv", "a", says="which resistances?")
        self.fails("graph.tsv", "a", "b", "--diagonal", says="several things")
        self.fails("-", "--pairs", "-", stdin="a\tb\n", says="two inputs")

    def test_methods_and_errors_out_of_range(self):
        self.fails("graph.tsv", "a", "b", "--method", "magic", says=["magic", "projection"])
        self.fails("graph.tsv", "a", "b", "--method", "trees", says="use exact")
        self.fails("graph.tsv", "a", "b", "--error", "0", says="--error")
        self.fails("graph.tsv", "--diagonal", "--confidence", "1", says="--confidence")
        self.fails("graph.tsv", "--diagonal", "--method", "projection", "--error", "0.001", says="million solves")

    def test_an_exact_diameter_that_would_not_fit_says_its_bytes(self):
        self.run_copse("graph", "generate", "path", "--nodes", "20000", "-o", "path.tsv")
        self.fails("path.tsv", "--diameter", "--method", "exact", says=["20,000 nodes", "GiB"])


if __name__ == "__main__":
    main()
