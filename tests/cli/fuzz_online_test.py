# SPDX-License-Identifier: Apache-2.0
"""Random sessions of `copse online`: questions, labels, corrections, takings back, and lines that are none of these.

    FUZZ_SECONDS=600 FUZZ_SEED=7 python3 tests/cli/fuzz_online_test.py build/asan/copse

Every line gets its row, in order and of five fields; mistakes are counted as a plain reading of the rows counts them; and where
the answers do not depend on the order of labels, the last ones are those of `copse predict` for the labels that were left.
"""
import json
import re
import subprocess

from harness import COPSE, Case, Fuzzing, main

LINE_LENGTHS = [0, 1, 70, 5000, 70_000, 1_000_000]


def learners():
    """All of them, and whether the order in which labels are told matters."""
    rows = subprocess.run([COPSE, "learners", "-q"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    for name in [row.split("\t")[0] for row in rows]:
        facts = json.loads(subprocess.run([COPSE, "learners", name, "--json", "-q"], capture_output=True, text=True, check=True).stdout)
        yield name, facts["depends_on_order"]


class Online(Fuzzing, Case):
    def draw_graph(self):
        choose = self.random
        self.names = [f"n{i}" for i in range(choose.randint(2, 8))]
        edges = [(choose.choice(self.names), choose.choice(self.names), choose.choice(["1", "0.5", "3"])) for _ in range(choose.randint(2, 14))]
        edges = [edge for edge in edges if edge[0] != edge[1]] or [("n0", "n1", "1")]
        self.names = sorted({name for edge in edges for name in edge[:2]})
        self.write("graph.tsv", "".join("\t".join(edge) + "\n" for edge in edges))

    def draw_line(self):
        choose = self.random
        name, label = choose.choice(self.names).encode(), choose.choice([b"red", b"blue", b"green"])
        return choose.choices([name, name + b"\t" + label, name + b"\t", b"", b"nobody\tred", name + b"\tred\t", self.garbage()], [4, 10, 3, 1, 1, 1, 1])[0]

    def garbage(self):
        """Anything without a line end, which would be two lines."""
        length = self.random.choices(LINE_LENGTHS, [2, 4, 8, 4, 2, 1])[0]
        return re.sub(rb"[\n\r]", b"?", self.random.randbytes(length))

    def play(self, lines, *options):
        joined = b"".join(line + self.random.choice([b"\n", b"\r\n"]) for line in lines)
        if self.random.random() < 0.2 and lines[-1]:
            joined = joined.rstrip(b"\r\n")
        done = subprocess.run([COPSE, "online", "graph.tsv", *options], input=joined, capture_output=True, cwd=self.dir, timeout=120)
        self.count += 1
        self.assertIn(done.returncode, (0, 2), done.stderr[-3000:])
        rows = [row.split(b"\t") for row in done.stdout.split(b"\n")[1:-1]]
        return done.returncode, rows, done.stderr

    def check_rows(self, lines, rows):
        """A second reading of the lines; returns the labels that are left in the end."""
        self.assertEqual(len(rows), len(lines), "one row per line")
        known, mistakes, self.classes = {}, 0, []
        for line, row in zip(lines, rows):
            name, *told = line.split(b"\t")
            if name.decode(errors="replace") not in self.names or len(told) > 1:
                shown = b'"' + name.replace(b'"', b'""') + b'"' if name.startswith(b'"') else name
                self.assertEqual((row[0], row[1:4], row[-1]), (shown, [b""] * 3, b"error"))  # no prediction
            else:
                label = told[0] if told else b""
                self.assertEqual((len(row), row[0], row[3]), (6, name, label))
                self.assertIn(row[-1], (b"predicted", b"unreached", b"given", b"retracted"))
                mistakes += bool(label) and name not in known and row[1] != label
                if label:
                    known[name] = label
                    self.classes += [label] if label not in self.classes else []
                elif told:
                    known.pop(name, None)
            self.assertEqual(row[-2], str(mistakes).encode())
        return known

    def check_against_predict(self, known, rows, learner):
        # Classes in the order of the session: where a tree of a committee ties, the one that was named first gets its vote.
        in_order = sorted(known.items(), key=lambda item: self.classes.index(item[1]))
        self.write("labels.tsv", "".join(f"{name.decode()}\t{label.decode()}\n" for name, label in in_order))
        table = self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", learner, "--digits", "exact", "--scores", "-q")
        self.count += 1
        predicted = {row["node"].encode(): row for row in table}
        for row in rows:
            scores = sorted(float(score or 0) for score in list(predicted[row[0]].values())[4:])
            is_tie = len(scores) > 1 and scores[-1] - scores[-2] < 1e-6  # goes to the class that was named first
            if row[0] not in known and not is_tie:
                self.assertEqual(row[1].decode(), predicted[row[0]]["label"], row)

    def test_every_line_is_answered_and_the_last_answers_are_those_of_predict(self):
        known_learners = list(learners())
        for number in self.rounds():
            if number % 8 == 0:
                self.draw_graph()
            learner, depends_on_order = self.random.choice(known_learners)
            lines = [self.draw_line() for _ in range(self.random.randint(1, 30))]
            questions = [name.encode() for name in self.names]
            with self.subTest(seed=self.seed, number=number, learner=learner, lines=[line[:80] for line in lines]):
                code, rows, err = self.play(lines + questions, "--learner", learner)
                known = self.check_rows(lines + questions, rows)
                self.assertEqual(code == 2, b"could not be answered" in err)
                if known and not depends_on_order:
                    self.check_against_predict(known, rows[len(lines):], learner)


if __name__ == "__main__":
    main()
