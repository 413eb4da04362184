# SPDX-License-Identifier: Apache-2.0
"""--digits: how many digits numbers have, in every verb that prints a table; `exact` loses no bit."""
import json

from harness import Case, main

RESISTANCE = ("resistance", "graph.tsv", "a", "b")
EXACT = 0.5 / 0.75  # two paths side by side, of resistance 1 and 2: 2/3
VERBS = {
    "predict": ("graph.tsv", "--labels", "labels.tsv"),
    "online": ("graph.tsv",),
    "query": ("graph.tsv", "--labels", "labels.tsv"),
    "evaluate": ("graph.tsv", "--labels", "labels.tsv", "--train", "0.5"),
    "explain": ("graph.tsv", "c", "--labels", "labels.tsv"),
    "graph info": ("graph.tsv",),
    "tree": ("graph.tsv",),
    "resistance": ("graph.tsv", "a", "b"),
    "bound": ("connected.tsv", "--labels", "labels.tsv"),
    "estimate": ("graph.tsv",),
    "learners": (),
}


class Digits(Case):
    def setUp(self):
        super().setUp()
        self.write("connected.tsv", "a\tb\t1\nb\tc\t1\nc\ta\t1\nc\td\t0.01\nd\te\t1\ne\tf\t1\nf\td\t1\n")

    def printed(self, *how):
        text = self.table(*RESISTANCE, *how)[0]["resistance"]
        row = json.loads(self.run_copse(*RESISTANCE, "--json", *how)[0], parse_float=str)["rows"][0]
        self.assertEqual(row["resistance"], text)
        return text

    def test_six_are_printed_unless_asked_otherwise(self):
        self.assertEqual(self.printed(), "0.666667")
        self.assertEqual(self.printed("--digits", "6"), "0.666667")

    def test_as_many_as_asked(self):
        self.assertEqual(self.printed("--digits", "1"), "0.7")
        self.assertEqual(self.printed("--digits", "12"), "0.666666666667")

    def test_exact_is_the_number_that_seventeen_digits_say_in_fewer_where_fewer_do(self):
        value = float(self.printed("--digits", "17"))
        self.assertAlmostEqual(value, EXACT, places=12)
        self.assertEqual(self.printed("--digits", "exact"), repr(value))
        self.write("half.tsv", "a\tb\t2\n")
        self.assertEqual(self.table("resistance", "half.tsv", "a", "b", "--digits", "exact")[0]["resistance"], "0.5")

    def test_scores_of_classes_follow(self):
        about = ("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", "label_propagation", "--scores", "--digits", "exact")
        table = {row["node"]: row for row in self.table(*about)}
        rows = {row["node"]: row for row in json.loads(self.run_copse(*about, "--json")[0])["rows"]}
        for node in table:
            self.assertEqual({name: float(table[node][name]) for name in ("red", "blue")}, rows[node]["scores"])
        self.assertNotEqual(table["c"]["red"], f"{float(table['c']['red']):.6g}")
        self.assertEqual(rows["c"]["confidence"], rows["c"]["scores"]["red"])

    def test_online_follows(self):
        lines = self.run_copse("online", "graph.tsv", "--labels", "labels.tsv", "--learner", "label_propagation", "--digits", "exact", stdin="c\n")[0]
        batch = {row["node"]: row for row in self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", "label_propagation", "--digits", "exact")}
        self.assertEqual(lines.splitlines()[1].split("\t")[2], batch["c"]["confidence"])

    def test_every_verb_that_prints_a_table_has_it(self):
        for verb, arguments in VERBS.items():
            help_text, _ = self.run_copse(*verb.split(), "--help")
            self.assertIn("--digits N", help_text, verb)
            self.run_copse(*verb.split(), *arguments, "--digits", "exact")
            self.run_copse(*verb.split(), *arguments, "--digits", "3", "--json")

    def test_what_is_no_number_of_digits(self):
        for text in ["0", "18", "-1", "six", "", "3.5", "99999999999999999999"]:
            out, err = self.run_copse(*RESISTANCE, "--digits=" + text, code=2)
            self.assertEqual(out, "")
            self.assertIn("1 to 17, or exact" if text else "--digits", err)


if __name__ == "__main__":
    main()
