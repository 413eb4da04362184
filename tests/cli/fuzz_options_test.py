# SPDX-License-Identifier: Apache-2.0
"""Random command lines over small graphs, right and wrong ones: every verb with every option its help names.

    FUZZ_SECONDS=600 FUZZ_SEED=7 python3 tests/cli/fuzz_options_test.py build/asan/copse

Whatever the line: the program ends by itself with 0, 1, 2 or 3; an error says where, what and what to do; an output file
is whole or untouched; two threads answer as one, and a .copse file as the list of edges that it was made from.
"""
import functools
import json
import re
import shlex
import subprocess

from harness import COPSE, Case, Fuzzing, main

# Positional arguments of a verb, by the kind of value they take; options come from the help.
VERBS = {"predict": ["GRAPH"], "online": ["GRAPH"], "query": ["GRAPH"], "evaluate": ["GRAPH"], "explain": ["GRAPH", "ID"], "graph info": ["GRAPH"],
         "graph build": ["POINTS"], "graph convert": ["GRAPH", "OUT"], "graph generate": ["FAMILY"], "tree": ["GRAPH"],
         "resistance": ["GRAPH", "ID", "ID"], "bound": ["GRAPH"], "estimate": ["GRAPH"], "learners": ["LEARNER"], "completion": ["SHELL"], "reproduce": ["WORD"]}
OPTION = re.compile(r"^  (?:-\w,)?(--[\w-]+)(?: (?!\()(\S+))?( \(required\))?(?:  |$)", re.M)
LEARNERS = [line.split("\t")[0] for line in subprocess.run([COPSE, "learners"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]]
FAMILIES = {"path": "nodes", "cycle": "nodes", "star": "leaves", "wheel": "rim", "barbell": "clique", "regular": "nodes", "signed_blocks": "nodes"}
ODD = ["", "-1", "0", "1e400", "99999999999999999999", "nan", "x", "1.5", "\u00e9", "a\tb", "--", "a,b", ":", "wta:", "=", "1,2"]
RANDOM_FILES = 12  # command lines before other graphs are drawn


@functools.lru_cache(None)
def options_of(verb, *more):
    """[(flag, type or None, required)] as `copse VERB --help` has them."""
    text = subprocess.run([COPSE, *verb.split(), *more, "--help"], capture_output=True, text=True, timeout=60).stdout
    return [(flag, kind or None, bool(required)) for flag, kind, required in OPTION.findall(text) if flag not in ("--help", "--output")]


class Options(Fuzzing, Case):
    def draw_files(self):
        choose = self.random
        names = [f"n{i}" if choose.random() < 0.8 else str(i) for i in range(choose.randint(2, 9))]
        # Sizes that every learner must bear; what weights of 300 orders of magnitude do is for the tests of learners.
        edges = [(choose.choice(names), choose.choice(names), choose.choice(["", "1", "0.5", "2.25", "100"])) for _ in range(choose.randint(1, 16))]
        edges = [edge for edge in edges if edge[0] != edge[1]] or [(names[0], names[1], "1")]
        is_weighted = choose.random() < 0.7
        lines = ["\t".join([u, v] + ([weight or "1"] if is_weighted else [])) for u, v, weight in edges]
        self.names = sorted({name for edge in edges for name in edge[:2]})
        classes = ["red", "blue", "green"][:choose.randint(1, 3)]
        self.write("graph.tsv", "\n".join(lines) + "\n")
        self.write("labels.tsv", "".join(f"{name}\t{choose.choice(classes)}\n" for name in self.names if choose.random() < 0.6))
        self.write("nodes.tsv", "\n".join(self.names + ["lonely"]) + "\n")
        self.write("points.csv", "".join(",".join(str(choose.randint(-3, 3)) for _ in range(3)) + "\n" for _ in range(choose.randint(2, 20))))
        self.write("pairs.tsv", "".join(f"{choose.choice(self.names)}\t{choose.choice(self.names)}\n" for _ in range(3)))
        self.write("sets.tsv", "".join(f"s\t{choose.choice(self.names)}\n" for _ in range(3)))
        self.write("empty.tsv", "")
        (self.dir / "garbage").write_bytes(choose.randbytes(choose.randint(1, 300)))
        self.run_copse("graph", "convert", "graph.tsv", "graph.copse", "-q")
        self.write("graph.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 0.5\n")
        whole = (self.dir / "graph.copse").read_bytes()
        (self.dir / "cut.copse").write_bytes(whole[:choose.randrange(len(whole))])
        self.inputs = set(self.leftovers())

    def file(self, *good):
        if self.random.random() < 0.9:
            return self.random.choice(good)
        return self.random.choice(["missing.tsv", "empty.tsv", "garbage", "cut.copse", ".", "labels.tsv", "graph.copse", "nodes.tsv", "points.csv", "/dev/null"])

    def value(self, kind, flag=""):
        choose = self.random
        if choose.random() < 0.05:
            return choose.choice(ODD)
        if "|" in kind:
            return choose.choice(kind.split("|"))
        if kind in ("FILE", "DIR"):
            return {"--labels": self.file("labels.tsv"), "--pairs": self.file("pairs.tsv"), "--sets": self.file("sets.tsv"), "--labels-out": "labels-out.tsv",
                    "--nodes": self.file("nodes.tsv")}.get(flag, self.file("nodes.tsv", "labels.tsv"))
        kinds = {"GRAPH": lambda: self.file("graph.tsv", "graph.tsv", "graph.copse", "graph.mtx"), "POINTS": lambda: self.file("points.csv"),
                 "OUT": lambda: choose.choice(["-", "out.tsv", "out.copse", "out.mtx", "out.tsv.gz"]),
                 "ID": lambda: choose.choice(self.names), "NAME": lambda: choose.choice(LEARNERS), "LEARNER": lambda: choose.choice(LEARNERS),
                 "A,B,..": lambda: ",".join(choose.sample(LEARNERS, choose.randint(1, 2))), "SHELL": lambda: choose.choice(["bash", "zsh", "fish"]),
                 "FAMILY": lambda: choose.choice(list(FAMILIES)), "N": lambda: str(choose.randint(1, 5)), "M": lambda: str(choose.randint(1, 9)),
                 "K": lambda: str(choose.randint(1, 4)), "F,G,..": lambda: choose.choice(["0.5", "0.3,0.9", "1", "0"]), "N,M,..": lambda: choose.choice(["1", "0,2"]),
                 "X,Y,..": lambda: choose.choice(["0.5", "1,2"]), "WORD": lambda: "nothing"}
        return kinds.get(kind, lambda: choose.choice(["0.1", "0.5", "1", "2"]))()

    def command(self):
        choose = self.random
        verb = choose.choices(list(VERBS), [1 if verb in ("learners", "completion", "reproduce") else 5 for verb in VERBS])[0]
        more = ["--learner", choose.choice(LEARNERS)] if verb in ("predict", "online", "explain", "estimate") and choose.random() < 0.8 else []
        if verb == "query":
            more = ["--strategy", choose.choice(["auto", "act_st", "act_mu", "disagreement", "uncertainty", "vopt", "cover", "random"])]
        positionals = [self.value(kind) for kind in VERBS[verb]]
        if verb == "graph generate":  # its defaults are large
            more = [f"--{FAMILIES.get(positionals[0], 'nodes')}", str(choose.randint(1, 60))]
        if verb == "evaluate":
            more += ["--splits", "2", "--orders", "2"]
        if verb == "resistance" and choose.random() < 0.5:
            positionals = positionals[:1]
        if verb == "reproduce" and choose.random() < 0.5:
            positionals, more = [], ["--list"]
        known = options_of(verb, *positionals[:1] * (verb == "graph generate"), *more)
        chosen = [option for option in known if option[2] and choose.random() < 0.97]
        chosen += choose.sample(known, min(len(known), choose.choice([0, 1, 1, 2, 3])))
        line = [*verb.split(), *positionals, *more]
        for flag, kind, _ in dict.fromkeys(chosen):
            if flag not in line and flag not in ("--threads", "--quick"):
                line += [flag] if kind is None else [f"{flag}={self.value(kind, flag)}"] if choose.random() < 0.3 else [flag, self.value(kind, flag)]
        if choose.random() < 0.03:
            line.insert(choose.randint(0, len(line)), choose.choice(ODD))
        if verb not in ("graph convert", "reproduce") and choose.random() < 0.4:
            line += ["-o", choose.choice(["out.tsv"] * 5 + ["out.json", "out.gz", "missing/out.tsv"])]
        return line

    def run_line(self, line, threads=None):
        """Exit code, stdout and stderr of a line, and the bytes of the files it wrote, which are then gone."""
        before = {name: b"old\n" for name in ("out.tsv", "out.json", "out.copse", "out.gz")}
        for name, text in before.items():
            (self.dir / name).write_bytes(text)
        takes_threads = ["--threads", str(threads)] if threads and "--threads" in [option[0] for option in options_of(self.verb(line))] else []
        asks = "".join(self.random.choice(self.names) + self.random.choice(["", "\tred", "\t", "\tblue"]) + "\n" for _ in range(4)) if line[0] == "online" else ""
        done = subprocess.run([COPSE, *line, *takes_threads], input=asks.encode(), capture_output=True, cwd=self.dir, timeout=120)
        written = {name: (self.dir / name).read_bytes() for name in self.leftovers() if name not in self.inputs}
        for name in written:
            (self.dir / name).unlink()
        self.count += 1
        self.assertIn(done.returncode, (0, 1, 2, 3), done.stderr[-3000:])
        self.assertFalse([name for name in written if name.endswith(".tmp")], "a temporary file is left")
        if done.returncode == 2 and line[0] != "online":  # whose session goes on
            self.assertEqual({name: text for name, text in written.items() if name in before}, before, "a failed run leaves files alone")
        return done.returncode, done.stdout, done.stderr.decode(errors="replace"), {name: text for name, text in written.items() if before.get(name) != text}

    @staticmethod
    def verb(line):
        return " ".join(line[:2]) if line and line[0] == "graph" else line[0] if line else ""

    def check_error(self, line, out, err):
        self.assertNotIn("this should not happen", err)
        self.assertRegex(err, r"(?s)\S+: .*\S.*\n  \S", "where, what and what to do")
        if self.verb(line) not in ("online", "evaluate"):  # whose rows are sent as they come
            self.assertEqual(out, b"")

    def check_tables(self, line, out):
        text = out.decode(errors="replace")
        if "--json" in line and line[0] != "online":
            json.loads(text)
        elif line[0] in ("predict", "online", "query", "evaluate", "explain", "tree", "resistance", "estimate"):
            widths = {row.count("\t") for row in text.split("\n")[:-1]}
            self.assertLessEqual(len(widths), 1, text)

    def answer(self, line, threads):
        state = self.random.getstate()  # the same questions for `online`
        code, out, _, files = self.run_line(line, threads)
        self.random.setstate(state)
        scrub = lambda text: re.sub(rb"graph\.(tsv|copse)|\"threads\":\d+", b"", text)
        return code, scrub(out), {name: scrub(text) for name, text in files.items() if not name.endswith(".gz")}

    def test_any_line_ends_in_an_answer_or_in_an_error_worth_reading(self):
        for number in self.rounds():
            if number % RANDOM_FILES == 0:
                self.draw_files()
            line = self.command()
            with self.subTest(seed=self.seed, number=number, line=shlex.join(line)):
                code, out, err, files = self.run_line(line)
                if code == 2:
                    if self.verb(line) != "online" or "standard input" not in err:
                        self.check_error(line, out, err)
                    continue
                if "-o" not in line:
                    self.check_tables(line, out)
                timed = line[0] in ("evaluate", "estimate", "bound", "reproduce")  # prints seconds, or bytes of a number of threads
                if timed or self.random.random() < 0.5:
                    continue
                one = self.answer(line, 1)
                self.assertEqual(self.answer(line, 2), one, "two threads answer as one")
                about_text = ("--duplicates", "--format", "--nodes", "--columns", "--delimiter", "--no-header")
                if "graph.tsv" in line and not any(flag in " ".join(line) for flag in about_text):
                    self.assertEqual(self.answer([word if word != "graph.tsv" else "graph.copse" for word in line], 1), one, "a .copse file answers as its edges")


if __name__ == "__main__":
    main()
