# SPDX-License-Identifier: Apache-2.0
"""Ids and labels: what comes in is refused or comes out again, in every table and file."""
import json
import random
import subprocess

from harness import COPSE, Case, main

PIECES = ["a", "b", "1", "007", " ", "#", "%", '"', "'", ",", ";", "\\", "u", "v", "node", "label", "é", "日", "​", ":", "nan", "\t", "\r", "=", "\x7f", "\x1b[0m"]


def run(directory, *arguments):
    """Bytes in, bytes out: text mode would make line ends of carriage returns."""
    done = subprocess.run([COPSE, *arguments, "--quiet"], cwd=directory, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


class Names(Case):
    def put(self, name, rows, separator="\t"):
        (self.dir / name).write_bytes(b"".join(separator.join(row).encode() + b"\n" for row in rows))

    def test_any_ids_and_labels_are_refused_or_come_out_again(self):
        draw = random.Random(1)
        num_kept = 0
        for _ in range(40):
            words = {"".join(draw.choices(PIECES, k=draw.randint(1, 2))) for _ in range(8)}
            ids, labels = [list(part) for part in (sorted(words)[:4], sorted(words)[4:])]
            if len(ids) < 4 or len(labels) < 2:
                continue
            # As another program would write it, which knows nothing of copse's rules.
            self.put("g.tsv", [("first", "second")] + [(ids[i], ids[i + 1], "1")[:2] for i in range(3)])
            self.put("l.tsv", [("node", "label"), (ids[0], labels[0]), (ids[3], labels[1])])
            code, out, err = run(self.dir, "predict", "g.tsv", "--labels", "l.tsv")
            with self.subTest(ids=ids, labels=labels):
                self.assertIn(code, (0, 2), err)
                if code == 2:
                    self.assertRegex(err, r"^\S+: .+\n  .+")
                    continue
                rows = [row.split(b"\t") for row in out.split(b"\n")[:-1]]
                self.assertEqual({len(row) for row in rows}, {4})
                got = {row[0].decode(): row[1].decode() for row in rows[1:]}
                # At the end of a line a carriage return is part of the line end.
                self.assertTrue(set(got) <= {id.removesuffix("\r") for id in ids} | {"first", "second"}, got)
                self.assertTrue(set(got.values()) <= {label.removesuffix("\r").strip(" ") for label in labels}, got)
                code, out, err = run(self.dir, "predict", "g.tsv", "--labels", "l.tsv", "--json")
                self.assertEqual(code, 0, err)
                self.assertEqual({row["node"]: row["label"] for row in json.loads(out)["rows"]}, got)
                for name in ("h.tsv", "h.copse"):
                    code, _, err = run(self.dir, "graph", "convert", "g.tsv", name)
                    if code == 0:
                        again = run(self.dir, "predict", name, "--labels", "l.tsv")[1].split(b"\n")[1:-1]
                        self.assertEqual({row.split(b"\t")[0].decode() for row in again}, set(got))
                    else:
                        self.assertIn("which keeps any name", err)
                num_kept += 1
        self.assertGreater(num_kept, 10)

    def test_a_tab_inside_an_id_or_a_label_is_told_with_its_line(self):
        self.write("g.csv", "a,b\na\tx,c\n")
        self.assertIn('g.csv:2: "a\\x09x" holds a tab', self.run_copse("graph", "info", "g.csv", code=2)[1])
        self.write("l.tsv", "a\tred\nb\tred\t0.9\n")
        self.assertIn("l.tsv:2: found 3 columns where the lines before have 2", self.run_copse("predict", "graph.tsv", "--labels", "l.tsv", code=2)[1])
        self.write("l.tsv", 'a\tred\nb\t"red\t0.9"\n')
        self.assertIn('l.tsv:2: "red\\x090.9" holds a tab', self.run_copse("predict", "graph.tsv", "--labels", "l.tsv", code=2)[1])
        self.write("n.tsv", "z\ry\n")
        self.assertIn('n.tsv:1: "z\\x0dy" holds', self.run_copse("graph", "info", "graph.tsv", "--nodes", "n.tsv", code=2)[1])

    def test_the_header_of_labels_is_no_node_when_the_file_also_gives_the_nodes(self):
        self.write("g.tsv", "a\tb\n")
        for header in ("Node\tLabel", "ID\tClass", "node\tlabel"):
            self.write("l.tsv", header + "\na\tred\nz\tblue\n")
            out, _ = self.run_copse("predict", "g.tsv", "--labels", "l.tsv", "--nodes", "l.tsv")
            self.assertEqual([row.split("\t")[0] for row in out.split("\n")[1:-1]], ["a", "b", "z"])

    def test_json_refuses_what_is_not_utf_8_instead_of_changing_it(self):
        (self.dir / "g.tsv").write_bytes(b"\xff\tb\n\xfe\tb\n")
        self.write("l.tsv", "b\tred\n")
        code, out, err = run(self.dir, "predict", "g.tsv", "--labels", "l.tsv", "--json", "-o", "out.json")
        self.assertEqual((code, (self.dir / "out.json").exists()), (2, False), out)
        self.assertIn("is not UTF-8, as all text in JSON is\n  leave --json out", err)
        self.assertEqual(run(self.dir, "predict", "g.tsv", "--labels", "l.tsv")[1].count(b"\xff"), 1)

    def test_a_label_with_a_comma_is_refused_in_a_list(self):
        self.write("l.tsv", "a\tred,wine\na\tblue\nb\tblue\n")
        command = ("predict", "graph.tsv", "--labels", "l.tsv", "--multi-label")
        self.assertIn('the label "red,wine" holds a comma', self.run_copse(*command, code=2)[1])
        self.run_copse(*command, "--json")


if __name__ == "__main__":
    main()
