# SPDX-License-Identifier: Apache-2.0
"""Every verb, end to end, on graphs small enough to know the answer."""
import json
import statistics
import subprocess
import time

from harness import COPSE, Case, main


class Predict(Case):
    def test_a_set_of_classes_holds_the_only_class(self):
        self.write("one.tsv", "a\tred\n")
        rows = self.table("predict", "graph.tsv", "--labels", "one.tsv", "--coverage", "0.9")
        self.assertEqual({row["set"] for row in rows}, {"red"})

    def test_every_node_gets_a_row_in_the_order_of_the_graph(self):
        rows = self.table("predict", "graph.tsv", "--labels", "labels.tsv")
        self.assertEqual([row["node"] for row in rows], list("abcdefgh"))
        self.assertEqual(list(rows[0]), ["node", "label", "confidence", "status"])
        self.assertEqual([row["status"] for row in rows], ["given", "given", "predicted", "predicted", "given", "given", "unreached", "unreached"])

    def test_given_labels_stay_and_neighbours_decide(self):
        rows = {row["node"]: row for row in self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--num-trees", "101")}
        self.assertEqual([rows[node]["label"] for node in "abcdef"], ["red"] * 3 + ["blue"] * 3)
        self.assertEqual(rows["a"]["confidence"], "1")

    def test_scores_are_a_column_a_class_and_sum_to_one(self):
        for row in self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--scores"):
            self.assertAlmostEqual(float(row["red"]) + float(row["blue"]), 1, places=5)

    def test_only_predicted_leaves_the_given_rows_out(self):
        rows = self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--only-predicted")
        self.assertEqual([row["node"] for row in rows], list("cdgh"))

    def test_where_only_one_class_is_known_nodes_are_ranked_and_that_is_said(self):
        self.write("frauds.tsv", "a\tfraud\nb\tfraud\n")
        out, err = self.run_copse("predict", "graph.tsv", "--labels", "frauds.tsv", "--class", "fraud", "--sort")
        self.assertIn("one class only: confidence ranks nodes", err)
        rows = [line.split("\t") for line in out.splitlines()[1:]]
        self.assertEqual(rows[0][0], "c")  # a neighbour of both
        self.assertTrue(all(float(row[2]) < 1 for row in rows), rows)

    def test_several_labels_a_node(self):
        self.write("many.tsv", "a\tred\na\tround\nb\tred\nb\tround\ne\tblue\nf\tblue\n")
        rows = {row["node"]: row for row in self.table("predict", "graph.tsv", "--labels", "many.tsv", "--multi-label")}
        self.assertEqual(rows["c"]["label"], "red,round")
        self.assertEqual(rows["d"]["label"], "blue")
        parsed = json.loads(self.run_copse("predict", "graph.tsv", "--labels", "many.tsv", "--multi-label", "--json", "--scores")[0])
        self.assertEqual(parsed["rows"][2]["label"], ["red", "round"])
        self.assertEqual(set(parsed["rows"][2]["scores"]), {"red", "round", "blue"})

    def test_of_several_labels_a_node_one_class_is_ranked_by(self):
        self.write("many.tsv", "a\tred\na\tround\nb\tred\ne\tblue\ne\tround\nf\tblue\n")
        command = ("predict", "graph.tsv", "--labels", "many.tsv", "--multi-label")
        scores = {row["node"]: float(row["red"]) for row in self.table(*command, "--scores", "raw", "--only-predicted")}
        rows = self.table(*command, "--class", "red", "--top", "2")
        self.assertEqual([row["node"] for row in rows], sorted(scores, key=lambda node: -scores[node])[:2])
        long = self.table(*command, "--scores", "long")
        self.assertEqual([row["class"] for row in long[:3]], ["red", "round", "blue"])
        self.fails(*command, "--sort", says=["--multi-label", "--class NAME"])
        self.fails(*command, "--class", "green", says=["label of no node"])

    def test_thresholds_of_several_labels_are_chosen_by_labels_left_out(self):
        # Every node has "common"; "rare" has one in three around each of its nodes, so that it never has half of the score.
        rows, edges = [], []
        for i in range(80):
            edges += [f"n{i}\tn{j}\n" for j in range(i + 1, 80) if i // 20 == j // 20]
            if i % 20 < 18:
                rows.append(f"n{i}\tcommon\n" + (f"n{i}\trare\n" if i < 20 and i % 3 == 0 else ""))
        self.write("cliques.tsv", "".join(edges))
        self.write("many.tsv", "".join(rows))
        command = ("predict", "cliques.tsv", "--labels", "many.tsv", "--multi-label", "--learner", "majority_vote", "--only-predicted")
        half = {row["node"]: row["label"] for row in self.table(*command, "--thresholds", "half")}
        self.assertEqual((half["n18"], half["n38"]), ("common", "common"))
        chosen = {row["node"]: row["label"] for row in self.table(*command)}
        self.assertEqual((chosen["n18"], chosen["n38"]), ("common,rare", "common"))
        parsed = json.loads(self.run_copse(*command, "--json")[0])
        self.assertLess(parsed["thresholds"]["rare"], 0.5)
        judge = ("evaluate", "cliques.tsv", "--labels", "many.tsv", "--multi-label", "--learners", "majority_vote", "--train", "0.8", "--splits", "5")
        worst, best = (sum(float(row["macro_f1"]) for row in self.table(*judge, "--thresholds", rule)) for rule in ("half", "f1"))
        self.assertGreater(best, worst)
        self.fails(*command, "--thresholds", "some", says="--thresholds")

    def test_half_the_votes_for_a_label_are_a_tie_and_a_tie_is_no(self):
        self.write("path.tsv", "a\tc\nb\tc\n")
        self.write("ends.tsv", "a\tred\nb\tblue\n")
        rows = self.table("predict", "path.tsv", "--labels", "ends.tsv", "--multi-label", "--learner", "majority_vote", "--only-predicted")
        self.assertEqual([row["label"] for row in rows], ["red"])  # one has to be said

    def test_every_learner_of_the_registry_answers_by_name(self):
        for name in [row["name"] for row in self.table("learners")]:
            rows = {row["node"]: row for row in self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", name)}
            self.assertEqual((rows["c"]["label"], rows["d"]["label"]), ("red", "blue"), name)
            self.assertEqual([rows[node]["status"] for node in "acg"], ["given", "predicted", "unreached"], name)

    def test_a_collapsed_harmonic_function_is_told(self):
        self.run_copse("graph", "generate", "block_model", "--nodes", "5000", "--classes", "3", "--labels-out", "truth.tsv", "-o", "blocks.tsv")
        truth = {}
        for line in (self.dir / "truth.tsv").read_text().splitlines():
            node, label = line.split("\t")
            truth.setdefault(label, node)
        self.write("few.tsv", "".join(f"{node}\t{label}\n" for label, node in truth.items()))
        out, err = self.run_copse("predict", "blocks.tsv", "--labels", "few.tsv", "--learner", "label_propagation", "--shift", "none")
        self.assertIn("nearly constant", err)
        self.assertIn("poisson", err)

    def test_another_learner_by_name(self):
        rows = {row["node"]: row for row in self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", "majority_vote")}
        self.assertEqual((rows["c"]["label"], rows["d"]["label"]), ("red", "blue"))

    def test_json_holds_options_rows_and_notes(self):
        parsed = json.loads(self.run_copse("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", "wta", "--json", "--seed", "7", "--num-trees", "9")[0])
        self.assertEqual((parsed["options"]["seed"], parsed["options"]["num_trees"], parsed["options"]["tree"]), (7, 9, "rst"))
        self.assertEqual(len(parsed["rows"]), 8)
        self.assertEqual(parsed["rows"][0], {"node": "a", "label": "red", "confidence": 1, "status": "given"})
        self.assertEqual(parsed["notes"], [])


class Online(Case):
    LINES = "a\na\tred\nb\tred\nf\tblue\ne\tblue\ne\t\n"

    def test_one_answer_a_line_and_mistakes_are_counted(self):
        rows = self.table("online", "graph.tsv", stdin=self.LINES)
        self.assertEqual(list(rows[0]), ["node", "predicted", "confidence", "label", "mistakes", "status"])
        self.assertEqual([row["status"] for row in rows], ["unreached", "unreached", "predicted", "predicted", "predicted", "retracted"])
        self.assertEqual([row["node"] for row in rows], ["a", "a", "b", "f", "e", "e"])
        self.assertEqual(rows[0]["predicted"], "")  # nothing is known yet
        self.assertEqual([row["mistakes"] for row in rows], ["0", "1", "1", "2", "2", "2"])
        self.assertEqual((rows[5]["predicted"], rows[5]["label"]), ("blue", ""))  # taken back, then asked

    def test_the_summary_is_talk(self):
        self.assertIn("4 trials, 2 mistakes (50.00 %)", self.run_copse("online", "graph.tsv", stdin=self.LINES)[1])

    def test_known_labels_are_corrected_not_guessed(self):
        rows = self.table("online", "graph.tsv", "--labels", "labels.tsv", stdin="a\tblue\na\n")
        self.assertEqual([(row["predicted"], row["mistakes"]) for row in rows], [("red", "0"), ("blue", "0")])

    def test_a_node_that_comes_again_can_count_as_a_trial(self):
        lines = "a\tred\nf\tblue\na\tblue\na\tblue\na\n"
        for learner, guesses in [("graph_perceptron", ["", "red", "red"]), ("wta", ["", "red", "red"])]:
            rows = self.table("online", "graph.tsv", "--learner", learner, "--repeats", "count", stdin=lines)
            self.assertEqual([row["predicted"] for row in rows][:3], guesses, learner)
            self.assertEqual(rows[2]["mistakes"], "3", learner)
            self.assertEqual([row["status"] for row in rows][2:], ["predicted", "predicted", "given"], learner)
            self.assertIn("4 trials", self.run_copse("online", "graph.tsv", "--learner", learner, "--repeats", "count", stdin=lines)[1])
        self.assertIn("2 trials", self.run_copse("online", "graph.tsv", stdin=lines)[1])
        self.run_copse("online", "graph.tsv", "--repeats", "twice", stdin="a\n", code=2)

    def test_an_unknown_node_is_told_with_its_line_and_the_rest_goes_on(self):
        out, err = self.run_copse("online", "graph.tsv", "--labels", "labels.tsv", stdin="a\nzz\tred\nb\n", code=2)
        self.assertIn('standard input:2: the graph has no node "zz"', err)
        self.assertEqual([line.split("\t")[:2] for line in out.splitlines()[1:]], [["a", "red"], ["zz", ""], ["b", "red"]])

    def test_every_line_gets_an_answer_also_an_empty_one(self):
        out, err = self.run_copse("online", "graph.tsv", "--labels", "labels.tsv", stdin="a\n\n\r\na\tb\tc\nb\n", code=2)
        self.assertIn("standard input:2: the line is empty", err)
        self.assertEqual([line.split("\t")[:2] for line in out.splitlines()[1:]], [["a", "red"], ["", ""], ["", ""], ["a", ""], ["b", "red"]])
        self.assertEqual({len(line.split("\t")) for line in out.splitlines()}, {6})
        self.assertEqual([line.split("\t")[5] for line in out.splitlines()[1:]], ["given", "error", "error", "error", "given"])

    def test_a_node_that_no_label_reaches_says_so(self):
        rows = self.table("online", "graph.tsv", "--labels", "labels.tsv", stdin="c\ng\n")
        self.assertEqual([row["status"] for row in rows], ["predicted", "unreached"])

    def test_a_log_with_corrections_can_be_given_back_as_labels(self):
        self.run_copse("online", "graph.tsv", "-o", "log.tsv", stdin="a\tred\na\tblue\n\ne\tred\nf\tblue\nf\t\nzz\tred\nc\n", code=2)
        rows = self.table("predict", "graph.tsv", "--labels", "log.tsv")
        self.assertEqual({row["node"]: row["label"] for row in rows if row["status"] == "given"}, {"a": "blue", "e": "red"})

    def test_one_class_too_many_is_left_out_and_the_session_goes_on(self):
        lines = "".join(f"a\tclass {i}\n" for i in range(65536)) + "b\n"
        _, err = self.run_copse("online", "graph.tsv", "--learner", "majority_vote", "-o", "out.tsv", stdin=lines, code=2)
        self.assertIn('standard input:65536: "class 65535" is one class too many', err)
        rows = (self.dir / "out.tsv").read_text().splitlines()
        self.assertEqual(len(rows), 1 + 65537)
        self.assertEqual(rows[-1].split("\t")[:2], ["b", "class 65534"])

    def test_a_killed_session_keeps_what_was_answered(self):
        self.write("out.tsv", "old\n")
        with subprocess.Popen([COPSE, "online", "graph.tsv", "--labels", "labels.tsv", "-o", "out.tsv"], stdin=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, cwd=self.dir) as talk:
            talk.stdin.write("a\ne\n")
            talk.stdin.flush()
            deadline = time.time() + 60
            while (self.dir / "out.tsv").read_text().count("\n") < 3 and time.time() < deadline:
                time.sleep(0.05)
            talk.kill()
        rows = [line.split("\t")[:2] for line in (self.dir / "out.tsv").read_text().splitlines()]
        self.assertEqual(rows, [["node", "predicted"], ["a", "red"], ["e", "blue"]])
        self.assertEqual(self.leftovers(), ["out.tsv"])

    def test_a_session_that_never_began_keeps_the_old_file(self):
        self.write("out.tsv", "old\n")
        self.run_copse("online", "nowhere.tsv", "-o", "out.tsv", code=2)
        self.assertEqual((self.dir / "out.tsv").read_text(), "old\n")

    def test_json_is_an_object_a_line(self):
        out, _ = self.run_copse("online", "graph.tsv", "--json", stdin=self.LINES)
        self.assertEqual([json.loads(line)["node"] for line in out.splitlines()], ["a", "a", "b", "f", "e", "e"])


class Evaluate(Case):
    def test_a_row_for_every_learner_share_and_split(self):
        out, err = self.run_copse("evaluate", "graph.tsv", "--labels", "labels.tsv", "--learners", "wta:num_trees=3,majority_vote",
                                  "--train", "0.25,0.5", "--splits", "2")
        rows = [line.split("\t") for line in out.splitlines()]
        self.assertEqual(rows[0], ["learner", "options", "train", "split", "error", "macro_f1", "seconds"])
        self.assertEqual([row[:4] for row in rows[1:4]], [["wta", "num_trees=3", "0.25", "0"], ["wta", "num_trees=3", "0.25", "1"],
                                                          ["wta", "num_trees=3", "0.5", "0"]])
        self.assertEqual(len(rows), 1 + 2 * 2 * 2)
        self.assertIn("mean ± standard deviation", err)

    def test_given_sets_of_labels(self):
        self.write("sets.tsv", "one\ta e\ntwo\tb f\nthree\ta b e\n")
        rows = self.table("evaluate", "graph.tsv", "--labels", "labels.tsv", "--learners", "majority_vote", "--sets", "sets.tsv")
        self.assertEqual([(row["train"], row["split"]) for row in rows], [("2 labels", "0"), ("2 labels", "1"), ("3 labels", "0")])
        self.assertEqual({row["error"] for row in rows}, {"0"})

    def test_hidden_labels_of_classes_that_no_given_one_has_are_counted(self):
        self.write("sets.tsv", "one\ta\n")
        out, err = self.run_copse("evaluate", "graph.tsv", "--labels", "labels.tsv", "--learners", "majority_vote,wta", "--sets", "sets.tsv")
        self.assertEqual(err.count("with 1 label given, 2 of 3 hidden ones (first split) are of classes that no given one has"), 1)

    def test_bad_sets_of_labels_are_told_by_line(self):
        for text, says in (("one\ta e\ntwo\tx\n", 'sets.tsv:2: node "x" is not in the graph'), ("one\tc\n", 'node "c" has no label'),
                           ("one\n", "no node after the name"), ("", "holds no set")):
            self.write("sets.tsv", text)
            out, err = self.run_copse("evaluate", "graph.tsv", "--labels", "labels.tsv", "--sets", "sets.tsv", code=2)
            self.assertIn(says, err)
        out, err = self.run_copse("evaluate", "graph.tsv", "--labels", "labels.tsv", "--sets", "sets.tsv", "--per-class", "1", code=2)
        self.assertIn("--sets", err)

    def test_tables_of_the_classes(self):
        how = ("evaluate", "graph.tsv", "--labels", "labels.tsv", "--train", "0.5", "--splits", "2", "--learners", "majority_vote")
        out, err = self.run_copse(*how, "--metrics", "per_class,confusion")
        self.assertIn("rows the truth, columns the answers", err)
        self.assertEqual(out.splitlines()[0].split("\t")[-1], "seconds")
        parsed = json.loads(self.run_copse(*how, "--metrics", "per_class,confusion,precision_at_10", "--json")[0])
        table, = parsed["confusion"]
        self.assertEqual(table["classes"], ["red", "blue"])
        self.assertEqual([sum(row) for row in table["rows_are_truth"]], [row["nodes"] for row in parsed["per_class"]])
        for c, row in enumerate(parsed["per_class"]):
            answered = sum(counts[c] for counts in table["rows_are_truth"])
            self.assertEqual(row["precision"], table["rows_are_truth"][c][c] / answered if answered else 0)
        self.fails(*how, "--metrics", "confusion", "--multi-label", says="per_class")
        self.fails(*how, "--metrics", "per_class", "--online", says="random splits")
        rows = json.loads(self.run_copse(*how, "--metrics", "per_class", "--multi-label", "--json")[0])["per_class"]
        self.assertEqual([row["class"] for row in rows], ["red", "blue"])

    def test_evaluate_metrics_are_further_columns(self):
        how = ("evaluate", "graph.tsv", "--labels", "labels.tsv", "--splits", "1", "--train", "0.5")
        row, = self.table(*how, "--learners", "majority_vote", "--metrics", "accuracy,error,log_loss")
        self.assertAlmostEqual(float(row["accuracy"]) + float(row["error"]), 1)
        self.assertGreaterEqual(float(row["log_loss"]), 0)
        out, err = self.run_copse(*how, "--metrics", "f2", code=2)
        self.assertIn("balanced_accuracy", err)
        out, err = self.run_copse(*how, "--metrics", "auroc", "--online", code=2)
        self.assertIn("leave --online", err)

    def test_a_flag_goes_to_the_learners_that_have_it(self):
        rows = self.table("evaluate", "graph.tsv", "--labels", "labels.tsv", "--learners", "wta,majority_vote", "--num-trees", "5",
                          "--splits", "1", "--train", "0.5")
        self.assertEqual([(row["learner"], row["options"]) for row in rows], [("wta", "num_trees=5"), ("majority_vote", "")])

    def test_the_online_game(self):
        rows = self.table("evaluate", "graph.tsv", "--labels", "labels.tsv", "--learners", "wta", "--online", "--orders", "3")
        self.assertEqual(list(rows[0]), ["learner", "options", "order", "trials", "mistakes", "error", "seconds"])
        for row in rows:
            self.assertEqual(row["trials"], "4")
            self.assertGreaterEqual(int(row["mistakes"]), 2)  # two classes: the first of each cannot be known
            self.assertAlmostEqual(float(row["error"]), int(row["mistakes"]) / 4)

    def test_labels_outside_the_largest_component_can_be_left_out(self):
        self.write("labels.tsv", "a\tred\nb\tred\ne\tblue\nf\tblue\ng\tred\nh\tblue\n")
        rows = self.table("evaluate", "graph.tsv", "--labels", "labels.tsv", "--learners", "wta", "--online", "--orders", "1", "--largest-component")
        self.assertEqual(rows[0]["trials"], "4")

    def test_a_stratified_split_gives_a_label_of_every_class(self):
        how = ("evaluate", "graph.tsv", "--labels", "labels.tsv", "--train", "0.5", "--learners", "wta:num_trees=101")
        self.assertEqual({row["error"] for row in self.table(*how, "--stratified")}, {"0"})
        self.assertNotEqual({row["error"] for row in self.table(*how)}, {"0"})

    def test_every_split_has_trees_of_its_own(self):
        self.run_copse("graph", "generate", "block_model", "--nodes", "200", "-o", "blocks.tsv", "--labels-out", "truth.tsv")
        nodes = [line.split("\t")[0] for line in (self.dir / "truth.tsv").read_text().splitlines()[1::20]]
        self.write("sets.tsv", "".join(f"set{i}\t{' '.join(nodes)}\n" for i in range(6)))
        rows = self.table("evaluate", "blocks.tsv", "--labels", "truth.tsv", "--sets", "sets.tsv", "--learners", "wta:num_trees=1")
        self.assertGreater(len({row["error"] for row in rows}), 1)

    def test_the_spread_is_that_of_a_sample(self):
        out, err = self.run_copse("evaluate", "graph.tsv", "--labels", "labels.tsv", "--train", "0.5", "--learners", "wta:num_trees=101")
        errors = [float(line.split("\t")[4]) for line in out.splitlines()[1:]]
        self.assertGreater(statistics.stdev(errors), 0)
        self.assertIn(f"{statistics.mean(errors):.4f} ± {statistics.stdev(errors):.4f}", err)

    def test_one_label_of_each_class(self):
        rows = self.table("evaluate", "graph.tsv", "--labels", "labels.tsv", "--per-class", "1", "--splits", "2", "--learners", "wta:num_trees=101")
        self.assertEqual([row["error"] for row in rows], ["0", "0"])

    def test_several_labels_a_node(self):
        self.write("many.tsv", "a\tred\na\tround\nb\tred\nb\tround\ne\tblue\nf\tblue\n")
        parsed = json.loads(self.run_copse("evaluate", "graph.tsv", "--labels", "many.tsv", "--multi-label", "--train", "0.5", "--splits", "2", "--json")[0])
        self.assertEqual(len(parsed["rows"]), 4)
        self.assertEqual(parsed["options"]["learners"][0]["num_trees"], 31)


class SeveralLabels(Case):
    """--multi-label where it is not predict or evaluate."""

    def setUp(self):
        super().setUp()
        self.write("many.tsv", "a\tred\na\tround\nb\tround\nb\tred\ne\tblue\nf\tblue\n")
        self.given = ("--labels", "many.tsv", "--multi-label")

    def test_questions_take_a_set_for_a_class(self):
        self.write("sets.tsv", "a\tred,round\nb\tred,round\ne\tblue\nf\tblue\n")
        for strategy in ("auto", "act_st", "uncertainty", "disagreement", "cover"):
            with self.subTest(strategy):
                more = ("-k", "2", "--strategy", strategy)
                self.assertEqual(self.table("query", "graph.tsv", *self.given, *more), self.table("query", "graph.tsv", "--labels", "sets.tsv", *more))

    def test_reasons_have_sets_and_votes_are_by_class(self):
        out, err = self.run_copse("explain", "graph.tsv", "c", *self.given)
        self.assertIn('c is predicted "red,round"', err)
        self.assertIn("a\tred,round\t", out)
        parsed = json.loads(self.run_copse("explain", "graph.tsv", "c", *self.given, "--json")[0])
        self.assertEqual((parsed["predicted"], parsed["rows"][0]["label"]), (["red", "round"], ["red", "round"]))
        self.assertEqual(set(parsed["votes"]), {"red", "round", "blue"})
        predicted = {row["node"]: row["label"] for row in self.table("predict", "graph.tsv", *self.given)}
        self.assertEqual(predicted["c"], "red,round")

    def test_facts(self):
        facts = {row["key"]: row["value"] for row in self.table("graph", "info", "graph.tsv", *self.given)}
        self.assertEqual([facts[key] for key in ("num_labelled", "num_classes", "num_sets", "class red", "class round", "class blue")], ["4", "3", "2", "2", "2", "2"])
        self.fails("graph", "info", "graph.tsv", "--labels", "many.tsv", says="--multi-label")

    def test_online_tells_and_answers_lists(self):
        typed = "c\nd\tblue,red\nd\nc\t,\nc\tround,red\nh\tred,green,red\n"
        out, err = self.run_copse("online", "graph.tsv", *self.given, "--journal", "journal", stdin=typed, code=2)
        rows = [line.split("\t") for line in out.splitlines()[1:]]
        self.assertEqual([(row[1], row[3], row[4]) for row in rows[:5]],
                         [("red,round", "", "0"), ("blue", "red,blue", "1"), ("red,blue", "", "1"), ("", "", "1"), ("red,round", "red,round", "1")])
        self.assertEqual(rows[5][3], "red,green")
        self.assertIn('"," names no label', err)
        out, _ = self.run_copse("online", "graph.tsv", *self.given, "--journal", "journal", stdin="h\n")
        self.assertIn("h\tred,green\t1", out)
        self.run_copse("online", "graph.tsv", "--multi-label", "-o", "log.tsv", stdin="a\tred\na\tblue,red\nb\tred\nb\t\ne\tgreen\n")
        rows = self.table("predict", "graph.tsv", "--labels", "log.tsv", "--multi-label")
        self.assertEqual({row["node"]: row["label"] for row in rows if row["status"] == "given"}, {"a": "red,blue", "e": "green"})

    def test_a_comma_in_a_label_is_told(self):
        self.write("many.tsv", 'a\t"red, dark"\nb\tblue\n')
        for command in (("query", "graph.tsv"), ("online", "graph.tsv"), ("graph", "info", "graph.tsv")):
            self.fails(*command, *self.given, says=["holds a comma"])

    def test_games_and_sets_of_given_labels(self):
        rows = self.table("evaluate", "graph.tsv", *self.given, "--online", "--orders", "2", "--learners", "wta")
        self.assertEqual([row["trials"] for row in rows], ["4", "4"])
        self.write("sets.txt", "first\ta e\n")
        self.assertEqual(len(self.table("evaluate", "graph.tsv", *self.given, "--sets", "sets.txt", "--learners", "wta")), 1)


class Explain(Case):
    def test_the_labelled_nodes_that_decided(self):
        out, err = self.run_copse("explain", "graph.tsv", "c", "--labels", "labels.tsv")
        rows = [line.split("\t") for line in out.splitlines()]
        self.assertEqual(rows[0], ["node", "label", "share", "resistance"])
        self.assertLessEqual({row[0] for row in rows[1:]}, set("abef"))
        self.assertAlmostEqual(sum(float(row[2]) for row in rows[1:]), 1, places=4)
        self.assertRegex(err, r'c is predicted "red" \(score 0\.\d+\)')

    def test_it_speaks_of_the_answer_that_predict_gives(self):
        self.run_copse("graph", "generate", "block_model", "--nodes", "60", "-o", "blocks.tsv", "--labels-out", "truth.tsv")
        self.write("some.tsv", "".join((self.dir / "truth.tsv").read_text().splitlines(keepends=True)[::2]))
        how = ("--labels", "some.tsv", "--learner", "graph_perceptron", "--json", "--digits", "exact")  # minds the order of labels
        rows = [row for row in json.loads(self.run_copse("predict", "blocks.tsv", *how)[0])["rows"] if row["status"] == "predicted"]
        for row in rows[::6]:
            told = json.loads(self.run_copse("explain", "blocks.tsv", row["node"], *how)[0])
            self.assertEqual((told["predicted"], told["confidence"]), (row["label"], row["confidence"]))

    def test_votes_are_told_as_trees_and_as_scores_where_there_are_none(self):
        _, err = self.run_copse("explain", "graph.tsv", "c", "--labels", "labels.tsv", "--learner", "wta", "--num-trees", "9")
        self.assertRegex(err, r"votes: red \d of 9 trees")
        _, err = self.run_copse("explain", "graph.tsv", "c", "--labels", "labels.tsv", "--learner", "majority_vote")
        self.assertIn("votes: red score 1", err)
        _, err = self.run_copse("explain", "graph.tsv", "c", "--labels", "labels.tsv", "--learner", "wta", "--tree", "bfst")
        self.assertIn("votes: red 1 of 1 tree", err)
        _, err = self.run_copse("explain", "graph.tsv", "c", "--labels", "labels.tsv", "--learner", "kernel_ridge")
        self.assertIn("votes: red score", err)

    def test_a_committee_that_would_not_fit_is_refused_before_it_starts(self):
        self.run_copse("graph", "generate", "path", "--nodes", "2000000", "-o", "long.copse")
        for verb in (["online", "long.copse"], ["explain", "long.copse", "5", "--labels", "few.tsv", "--learner", "wta"]):
            self.write("few.tsv", "1\tred\n")
            _, err = self.run_copse(*verb, "--num-trees", "65535", code=2)
            self.assertRegex(err, r"wta: needs about .* beside the graph, and .* are free")
            self.assertIn("lower --num-trees", err)

    def test_a_labelled_node_is_explained_without_its_label(self):
        self.write("labels.tsv", "a\tred\nf\tblue\n")
        out, err = self.run_copse("explain", "graph.tsv", "a", "--labels", "labels.tsv", "--learner", "wta")
        self.assertIn('a is labelled "red"; without its own label:', err)
        self.assertIn('a is predicted "blue" (31 of 31 trees)', err)
        self.assertEqual(out.splitlines()[1].split("\t")[:3], ["f", "blue", "1"])

    def test_json_has_the_votes(self):
        parsed = json.loads(self.run_copse("explain", "graph.tsv", "d", "--labels", "labels.tsv", "--json")[0])
        self.assertEqual(parsed["predicted"], "blue")
        self.assertAlmostEqual(sum(parsed["votes"].values()), 1)


class GraphVerbs(Case):
    def test_info_counts(self):
        facts = {row["key"]: row["value"] for row in self.table("graph", "info", "graph.tsv", "--labels", "labels.tsv")}
        self.assertEqual([facts[key] for key in ("num_nodes", "num_edges", "num_components", "largest_component", "num_labelled", "class red")],
                         ["8", "8", "2", "6", "4", "2"])

    def test_convert_there_and_back(self):
        want = self.run_copse("graph", "convert", "graph.tsv", "-")[0]
        for name in ("graph.copse", "other.tsv", "other.tsv.gz", "other.tsv.zst"):
            self.run_copse("graph", "convert", "graph.tsv", name)
            self.assertEqual(self.run_copse("graph", "convert", name, "-")[0], want, name)

    def test_a_deep_check_compares_edges_and_names_one_by_one(self):
        self.write("g.tsv", "ant\tbee\nbee\tcat\n")
        self.run_copse("graph", "convert", "g.tsv", "g.copse")
        self.assertEqual(self.run_copse("graph", "check", "g.copse")[0], "checked\tcount\nnames_all_different\t3\nedges_in_both_rows\t2\n")
        self.assertEqual(self.run_copse("graph", "check", "graph.tsv")[0].splitlines()[0], "checked\tcount")
        # Nodes that a diagonal hangs at "ant" are called as one that is there already.
        self.write("twins.tsv", "ant\tant~1\n")
        self.write("terms.tsv", "ant\t2\n")
        self.run_copse("graph", "convert", "twins.tsv", "twins.copse", "--signed", "--diagonal", "terms.tsv")
        self.fails("graph", "check", "twins.copse", says=("twins.copse", 'node 2 is called "ant~1", as node 1 is'))

    def test_convert_keeps_the_embedding_where_asked(self):
        self.run_copse("graph", "generate", "block_model", "--nodes", "300", "--classes", "3", "-o", "g.tsv", "--labels-out", "y.tsv")
        labels = (self.dir / "y.tsv").read_text().splitlines()[::9]
        self.write("some.tsv", "\n".join(labels) + "\n")
        self.run_copse("graph", "convert", "g.tsv", "plain.copse")
        err = self.run_copse("graph", "convert", "plain.copse", "kept.copse", "--embedding")[1]
        size = {name: (self.dir / name).stat().st_size for name in ("plain.copse", "kept.copse")}
        self.assertGreater(size["kept.copse"], size["plain.copse"] + 4 * 128 * 300, err)
        for learner in ("embedding", "auto"):
            want, got = (self.run_copse("predict", name, "--labels", "some.tsv", "--learner", learner) for name in size)
            self.assertEqual(got[0], want[0])
            self.assertNotIn("kept with the graph", got[1])
        _, err = self.run_copse("predict", "kept.copse", "--labels", "some.tsv", "--learner", "embedding", "--dimension", "9")
        self.assertIn("the embedding kept with the graph has another dimension or option and was not used", err)
        self.fails("graph", "convert", "g.tsv", "other.tsv", "--embedding", says=("--embedding", "is kept in .copse files"))

    def test_numbered_nodes_as_matrix_market(self):
        self.run_copse("graph", "generate", "cycle", "--nodes", "9", "-o", "cycle.mtx")
        facts = {row["key"]: row["value"] for row in self.table("graph", "info", "cycle.mtx")}
        self.assertEqual((facts["num_nodes"], facts["num_edges"]), ("9", "9"))

    def test_generate_makes_a_graph_and_labels_that_predict_reads(self):
        self.run_copse("graph", "generate", "barbell", "--clique", "5", "-o", "barbell.tsv", "--labels-out", "truth.tsv")
        rows = self.table("predict", "barbell.tsv", "--labels", "truth.tsv")
        self.assertEqual([row["status"] for row in rows], ["given"] * 10)

    def test_the_parameters_of_another_family_are_refused(self):
        _, err = self.run_copse("graph", "generate", "barbell", "--rows", "5", code=2)
        self.assertIn("there is no option --rows", err)


class Tree(Case):
    def test_a_tree_spans_every_component(self):
        rows = self.table("tree", "graph.tsv", "--kind", "rst", "--num-trees", "3")
        for tree in "012":
            parents = {row["node"]: row["parent"] for row in rows if row["tree"] == tree}
            self.assertEqual(sorted(parents), list("abcdefgh"))
            self.assertEqual(sum(node == parent for node, parent in parents.items()), 2)
            for node in parents:  # every walk upwards ends at a root
                for _ in range(9):
                    node = parents[node]
                self.assertEqual(parents[node], node)

    def test_every_kind_runs_and_says_how_the_tree_was_made(self):
        for kind in ("rst", "nwrst", "random_key", "mst", "spt", "dfst", "bfst"):
            self.assertIn("1 tree made by path", self.run_copse("tree", "graph.tsv", "--kind", kind)[1])


class Estimate(Case):
    def test_bytes_of_a_graph_that_is_not_there(self):
        facts = {row["key"]: row["value"] for row in self.table("estimate", "--num-nodes", "1e6", "--num-edges", "1e6", "--with-weights")}
        self.assertEqual(int(facts["graph_bytes"]), 8 * 1000001 + 16 * 10**6)
        self.assertGreaterEqual(int(facts["peak_bytes"]), int(facts["graph_bytes"]) + int(facts["learner_bytes"]))

    def test_what_cannot_fit_is_answered_with_no(self):
        _, err = self.run_copse("estimate", "--num-nodes", "4e9", "--num-edges", "1e15", code=1)
        self.assertIn("it does not fit", err)


class Learners(Case):
    def test_the_registry_as_a_table(self):
        names = [row["name"] for row in self.table("learners")]
        self.assertLessEqual({"wta", "majority_vote"}, set(names))
        for name in names:
            self.table("learners", name)

    def test_options_with_defaults(self):
        options = {row["option"]: row for row in self.table("learners", "wta")}
        self.assertEqual(options["num_trees"]["default"], "31")


if __name__ == "__main__":
    main()
