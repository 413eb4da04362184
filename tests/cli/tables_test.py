# SPDX-License-Identifier: Apache-2.0
"""Tables as other programs write them: read as they are meant, with a word about it, or refused with the remedy."""
from harness import Case, main

# What is in the file, and what copse must say of it.
REFUSED = {
    "ids of two spaces of Neo4j": (":START_ID(Person),:END_ID(Movie)\n1,1\n", ["edges.csv:1", "two id spaces", "--columns source=:START_ID(Person),target=:END_ID(Movie)"]),
    "a column for the index, as pandas writes it": (",src,dst\n0,1,2\n1,2,3\n", ["edges.csv:1", "index=False", "--columns source=src,target=dst"]),
    "names of rows, as R writes them": ('"source" "target"\n"1" "a" "b"\n', ["edges.csv:1", "row.names = FALSE"]),
    "a third column that may be the weight": ("source,target,timestamp\na,b,5\n", ["timestamp", "weight=timestamp", "--columns source=source,target=target;"]),
    "two columns that may be the weight": ("source,target,weight,score\na,b,5,6\n", ['"weight" and "score" may both be the weight', "--columns source=source"]),
    "a date for a weight": ("a,b,2020-01-31\nb,c,2020-02-01\n", ['"2020-01-31" is a date', "--columns source=1,target=2"]),
    "seconds for a weight": ("1 2 1577836800\n2 3 1577836900\n", ["looks like times", "--columns source=1,target=2,weight=3"]),
    "a hexadecimal weight in the first line": ("a b 0x10\nb c 2\n", ["edges.csv:1", '"0x10" is neither a weight']),
    "a decimal comma in the first line": ("a\tb\t1,5\nb\tc\t2\n", ["edges.csv:1", '"1,5" is neither a weight', "decimal point"]),
    "decimal commas, as Excel writes them": ("\ufeffSender;Receiver;Amount\r\nann;bob;1,5\r\n", ["edges.csv:2", '"1,5" is not a positive number', "decimal points, as in 1.5"]),
    "commas and semicolons": ("a;b;1,5\nb;c;2,5\n", ["--delimiter comma", "--delimiter semicolon"]),
    "an unknown name for a weight": ("gene_x,gene_y,foo\na,b,2\n", ['"foo" is neither', "weight=foo"]),
    "words above numbers": ("customer,merchant\n1,2\n2,3\n", ["may be names of columns or an edge", "--columns source=customer,target=merchant", "--no-header"]),
    "a name for one end only": ("source,thing\na,b\n", ["may be names of columns", "--no-header"]),
    "a header whose names are nodes": ("u v\nu w\nw v\n", ["edges.csv:1", '"u" is also a node', "--no-header"]),
    "four columns without names": ("a,b,1,2\n", ["found 4 columns", "--columns source=a"]),
    "a quote that is not closed": ('a,b\nb,"c\n', ["edges.csv:2", "quote", "line ends"]),
    "text behind a quote": ('a,b\nb,"c"d\n', ["edges.csv:2", "quote"]),
    "an empty id in quotes": ('a,b\nb,""\n', ["edges.csv:2", "second node has an empty id"]),
}

# What is in the file, the edges, and what copse says of its columns.
READ = {
    "Excel's first line that names the delimiter": ("\ufeffsep=;\r\nSender;Receiver;Amount\r\nann;bob;3\r\nbob;cid;0.5\r\n", ["ann\tbob\t3", "bob\tcid\t0.5"], "columns Sender -> Receiver, weight Amount"),
    "Excel where the comma is for decimals": ("\ufeffSender;Receiver;Amount\r\nann;bob;3\r\nbob;\"cid; jr\";0.5\r\n", ["ann\tbob\t3", "bob\tcid; jr\t0.5"], "columns Sender -> Receiver, weight Amount"),
    "pandas without its index": ("src,dst,weight\n1,2,0.5\n", ["1\t2\t0.5"], "columns src -> dst, weight weight"),
    "two columns": ("sender,receiver\na,b\nb,c\n", ["a\tb", "b\tc"], "columns sender -> receiver"),
    "quotes": ('"a, x","b ""y"""\n', ['a, x\tb "y"'], None),
    "a quote first in an id": ('"""a",b\n', ['"""a"\tb'], None),
    "Gephi": ("Source,Target,Type,Id,Label,timeset,Weight\na,b,Undirected,0,,,1.5\n", ["a\tb\t1.5"], "weight Weight; not used: Type, Id, Label, timeset"),
    "Neo4j with types": (":START_ID,amount:float,:END_ID,:TYPE\na,2,b,PAID\n", ["a\tb\t2"], "columns :START_ID -> :END_ID, weight amount:float; not used: :TYPE"),
    "Neo4j": (":START_ID(Person),:END_ID(Person),:TYPE\na,b,KNOWS\n", ["a\tb"], "columns :START_ID(Person) -> :END_ID(Person); not used: :TYPE"),
    "other order": ("weight,to,from\n2,b,a\n", ["a\tb\t2"], "columns from -> to, weight weight"),
    "STRING": ("protein1 protein2 combined_score\np q 490\n", ["p\tq\t490"], "weight combined_score"),
}


class EdgeTables(Case):
    def convert(self, text, *flags, code=0):
        (self.dir / "edges.csv").write_bytes(text.encode())
        return self.run_copse("graph", "convert", "edges.csv", "-", *flags, code=code)

    def test_what_could_be_read_in_two_ways_is_refused_with_the_remedy(self):
        for what, (text, says) in REFUSED.items():
            with self.subTest(what):
                out, err = self.convert(text, code=2)
                self.assertEqual(out, "")
                for part in says:
                    self.assertIn(part, err)

    def test_utf_16_is_told_with_the_remedy(self):
        for encoding in ("utf-16-le", "utf-16-be"):
            (self.dir / "edges.csv").write_bytes("\ufeffsource,target\na,b\n".encode(encoding))
            for command in (("graph", "info", "edges.csv"), ("predict", "graph.tsv", "--labels", "edges.csv")):
                self.fails(*command, says=["text in UTF-16", "iconv -f UTF-16 -t UTF-8 'edges.csv'"])

    def test_what_is_clear_is_read_and_said(self):
        for what, (text, edges, says) in READ.items():
            with self.subTest(what):
                out, err = self.convert(text)
                self.assertEqual(out.splitlines(), edges)
                if says:
                    self.assertIn("edges.csv: columns ", err)
                    self.assertIn(says, err)
                else:
                    self.assertNotIn("columns", err)

    def test_the_remedies_work(self):
        for text, flags, edges in (
                (",src,dst\n0,1,2\n", ["--columns", "source=src,target=dst"], ["1\t2"]),
                ("source,target,timestamp\na,b,5\n", ["--columns", "source=source,target=target"], ["a\tb"]),
                ("source,target,timestamp\na,b,5\n", ["--columns", "weight=timestamp"], ["a\tb\t5"]),
                ("source,target,weight\na,b,5\n", ["--columns", "weight="], ["a\tb"]),
                ("a,b,2020-01-31\n", ["--columns", "source=1,target=2"], ["a\tb"]),
                ("gene_x,gene_y,foo\na,b,2\n", ["--columns", "source=gene_x,target=gene_y,weight=foo"], ["a\tb\t2"]),
                ("customer,merchant\n1,2\n", ["--columns", "source=customer,target=merchant"], ["1\t2"]),
                ("u v\nu w\n", ["--no-header"], ["u\tv", "u\tw"]),
                ("u v\nu w\n", ["--columns", "source=u,target=v"], ["u\tw"]),
                ("a;b,c\n", ["--delimiter", "semicolon"], ["a\tb,c"]),
                ("a;b,c\n", ["--delimiter", ","], ["a;b\tc"]),
                ("a|b|2\n", ["--delimiter", "bar"], ["a\tb\t2"]),
                ("a,b,7,2\n", ["--columns", "source=1,target=2,weight=4"], ["a\tb\t2"])):
            with self.subTest(text=text, flags=flags):
                self.assertEqual(sorted(line for line in self.convert(text, *flags)[0].splitlines() if not line.startswith("source")), edges)

    def test_what_makes_no_sense_is_told(self):
        for flags, says in ((["--columns", "source=x"], 'no column "x"'), (["--columns", "source=7,target=1"], "from 1 to 2"), (["--columns", "node=a"], "--node-column"),
                            (["--columns", "source=1,target=1"], "two things"), (["--columns", "source=1"], "which column is the target"), (["--delimiter", "x"], "tab|comma"),
                            (["--columns", "source=1,source=2"], "twice")):
            self.assertIn(says, self.convert("a\tb\n", *flags, code=2)[1])
        self.run_copse("graph", "convert", "graph.tsv", "g.copse")
        self.assertIn("edge lists only", self.run_copse("graph", "info", "g.copse", "--no-header", code=2)[1])

    def test_a_written_list_whose_first_edge_looks_like_a_header_gets_one(self):
        self.write("odd.tsv", "from\tto\n1\t2\n")
        out, _ = self.run_copse("graph", "convert", "odd.tsv", "-", "--no-header")
        self.assertEqual(out, "source\ttarget\nfrom\tto\n1\t2\n")
        self.write("back.tsv", out)
        self.assertIn("4 nodes, 2 edges", self.run_copse("graph", "info", "back.tsv")[1])


class RepeatedPairs(Case):
    def test_pairs_without_weights_count_once_and_it_is_said(self):
        self.write("pairs.tsv", "a\tb\nb\tc\na\tb\n")
        out, err = self.run_copse("graph", "convert", "pairs.tsv", "-")
        self.assertEqual(out, "a\tb\nb\tc\n")
        self.assertIn("1 listing repeats a pair that is there already and counted once; --duplicates sum", err)
        out, err = self.run_copse("graph", "convert", "pairs.tsv", "-", "--duplicates", "sum")
        self.assertEqual(out, "a\tb\t2\nb\tc\t1\n")

    def test_csv_is_written_with_commas(self):
        self.write("pairs.tsv", 'a, x\t"""b"\t2\n')
        self.run_copse("graph", "convert", "pairs.tsv", "out.csv")
        self.assertEqual((self.dir / "out.csv").read_text(), '"a, x","""b",2\n')
        self.assertEqual(self.run_copse("graph", "convert", "out.csv", "-")[0], 'a, x\t"""b"\t2\n')


class LabelTables(Case):
    def predict(self, text, *flags, code=0):
        (self.dir / "l.csv").write_bytes(text.encode())
        return self.run_copse("predict", "graph.tsv", "--labels", "l.csv", *flags, code=code)

    def given(self, text, *flags):
        rows = [line.split("\t") for line in self.predict(text, *flags)[0].splitlines()[1:]]
        return {row[0]: row[1] for row in rows if row[3] == "given"}

    def test_headers_name_the_columns(self):
        want = {"a": "1", "e": "0"}
        for text, says in (("account,is_fraud,since\na,1,2020\ne,0,2021\n", "columns account, label is_fraud; not used: since"),
                           ("\ufeffaccount;is_fraud\r\na;1\r\ne;0\r\n", "columns account, label is_fraud"),
                           ("class,id\n1,a\n0,e\n", "columns id, label class"),
                           ("thing,label\na,1\ne,0\n", "columns thing, label label"),
                           ('"node","label"\n"a","1"\n"e","0"\n', "columns node, label label")):
            with self.subTest(text):
                self.assertEqual(self.given(text), want)
                self.assertIn("l.csv: " + says, self.predict(text)[1])

    def test_an_unclear_column_is_refused_and_can_be_told(self):
        text = "account,risk,since\na,1,2020\ne,0,2021\n"
        err = self.predict(text, code=2)[1]
        self.assertIn("which is the label is not clear", err)
        self.assertIn("--label-column risk", err)
        self.assertEqual(self.given(text, "--label-column", "risk"), {"a": "1", "e": "0"})
        self.assertEqual(self.given(text, "--label-column", "3"), {"a": "2020", "e": "2021"})
        self.assertEqual(self.given("1,a,x\n0,e,x\n", "--node-column", "2", "--label-column", "1"), {"a": "1", "e": "0"})
        self.assertIn("not clear", self.predict("a,1,2020\n", code=2)[1])
        self.assertIn('no column "zz"', self.predict(text, "--label-column", "zz", code=2)[1])

    def test_a_label_with_a_comma_stands_in_quotes(self):
        self.assertEqual(self.given('a,"red, dark"\ne,blue\n'), {"a": "red, dark", "e": "blue"})
        self.assertIn("found 3 columns", self.predict("a,red\ne,blue,dark\n", code=2)[1])

    def test_predictions_are_not_taken_for_labels_in_silence(self):
        out, _ = self.run_copse("predict", "graph.tsv", "--labels", "labels.tsv")
        self.assertIn("predictions of copse", self.predict(out, code=2)[1])
        self.assertEqual(len(self.given(out, "--label-column", "label")), 8)

    def test_nodes_candidates_and_pairs_may_have_headers(self):
        self.write("n.csv", "id,label\nz,red\n")
        self.assertIn("9 nodes", self.run_copse("graph", "info", "graph.tsv", "--nodes", "n.csv")[1])
        self.write("n.txt", "node\nz\n")
        self.assertIn("9 nodes", self.run_copse("graph", "info", "graph.tsv", "--nodes", "n.txt")[1])
        self.write("pool.tsv", "node\td\nd\tx\n")
        self.assertEqual([row["node"] for row in self.table("query", "graph.tsv", "--labels", "labels.tsv", "--candidates", "pool.tsv")], ["d"])
        self.write("pairs.csv", 'source,target\n"a",b\n')
        self.assertEqual([row["v"] for row in self.table("resistance", "graph.tsv", "--pairs", "pairs.csv")], ["b"])


if __name__ == "__main__":
    main()
