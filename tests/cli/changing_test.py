# SPDX-License-Identifier: Apache-2.0
"""`copse online` while edges come and go, and labels are forgotten."""
from harness import Case, main

COMMON = ("--tree", "random_key", "--digits", "exact", "--quiet")


class Changing(Case):
    def rows(self, lines, *options, graph="graph.tsv", code=0):
        rows = self.run_copse("online", graph, *COMMON, *options, stdin="".join(line + "\n" for line in lines), code=code)[0].splitlines()
        return [row.split("\t") for row in rows[1:]]

    def test_answers_are_those_of_the_graph_as_it_is(self):
        edges = ["a\tb\t1", "b\tc\t1", "c\ta\t1", "c\td\t0.01", "d\te\t1", "e\tf\t1", "g\th\t1", "x\tf\t2", "a\tg\t0.25"]
        self.write("after.tsv", "".join(edge + "\n" for edge in edges))
        changes = ["+\tf\tx\t3", "-\tf\td", "+\ta\tg\t0.25", "+\tx\tf\t2", "+\tb\th\t9", "-\th\tb"]
        for learner in ("wta", "tree_cut"):
            with self.subTest(learner):
                options = ("--learner", learner, "--labels", "labels.tsv")
                changed = self.rows([*changes, *"abcdefghx"], *options)
                self.assertEqual([row[5] for row in changed[:6]], ["added", "removed", "added", "added", "added", "removed"])
                self.assertEqual(changed[6:], self.rows("abcdefghx", *options, graph="after.tsv"))

    def test_a_journal_keeps_edges_as_well(self):
        lines = ["+\tg\ta\t2", "new\tred", "+\tnew\te\t1", "new\tred", "-\tg\th"]
        self.rows(lines, "--labels", "labels.tsv", "--journal", "journal", code=2)  # the node is not there yet
        self.assertEqual((self.dir / "journal").read_text().splitlines(), [lines[0], *lines[2:]])
        asked = ["new", "g", "h", "d"]
        again = self.rows(asked, "--labels", "labels.tsv", "--journal", "journal")
        whole = self.rows(lines + asked, "--labels", "labels.tsv", code=2)[len(lines):]
        self.assertEqual([row[:3] for row in again], [row[:3] for row in whole])

    def test_lines_that_cannot_be_change_nothing(self):
        bad = ["-\tg\ta", "+\ta\ta", "+\tq\tr\tx", "+\tq\tr\t-1", "+\tq\tr\t0", "+\tq\tr\tinf", "+\tq\tr\tnan", "-\tnone\ta", "+\t\ta", "+\ta\tb\tc\td",
               "-\ta\tb\tc", "+\t\t", "q", "r"]
        rows = self.rows(bad + ["h"], "--labels", "labels.tsv", code=2)
        self.assertEqual([row[5] for row in rows], ["error"] * len(bad) + ["unreached"])
        for options in (("--learner", "label_propagation"), ("--learner", "wta", "--tree", "rst")):
            stderr = self.run_copse("online", "graph.tsv", *options, stdin="+\ta\te\t1\n", code=2)[1]
            self.assertIn("graph: cannot change", stderr)
            self.assertIn("random_key", stderr)
        self.write("plain.tsv", "a\tb\nb\tc\n")
        self.assertEqual([row[5] for row in self.rows(["+\ta\tc\t2", "+\ta\tc\t1", "+\tc\td"], graph="plain.tsv", code=2)], ["error", "added", "added"])

    def test_a_node_may_be_called_plus(self):
        self.write("plus.tsv", "+\t-\t1\n-\tc\t1\n")
        rows = self.rows(["+\tred", "-", "-\t", "+"], graph="plus.tsv")
        self.assertEqual([row[1] for row in rows[1:]], ["red", "red", "red"])

    def test_half_of_the_labels_are_left_after_the_half_life(self):
        nodes = [f"n{i}" for i in range(2000)]
        self.write("path.tsv", "".join(f"{u}\t{v}\t1\n" for u, v in zip(nodes, nodes[1:])))
        told = [f"{node}\tred" for node in nodes[:1500]]
        rows = self.rows(told + nodes[:1500], "--half-life", "500", "--num-trees", "1", graph="path.tsv")[1500:]
        given = [row[5] == "given" for row in rows]
        for age in (500, 1000, 1500):  # a label told so long ago counts with probability 2^(-age/500)
            window = given[1500 - age : 1500 - age + 100]
            self.assertAlmostEqual(sum(window) / 100, 2 ** -((age - 50) / 500), delta=0.1)
        for bad in ("0", "-1", "x"):
            self.run_copse("online", "graph.tsv", "--half-life", bad, code=2)


if __name__ == "__main__":
    main()
