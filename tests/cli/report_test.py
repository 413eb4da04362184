# SPDX-License-Identifier: Apache-2.0
"""copse report: one page that needs nothing else."""
import html.parser
import re

import harness


class Page(html.parser.HTMLParser):
    """Text by heading, and whether all that was opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.cells = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "line"):
            self.open.append(tag)
        for name, value in attributes:
            assert name not in ("src", "href"), f"the page needs {value}"

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings.append(data)
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


class Report(harness.Case):
    def page(self, *flags):
        self.run_copse("report", "graph.tsv", "--labels", "labels.tsv", "-o", "r.html", *flags)
        text = (self.dir / "r.html").read_text()
        page = Page(text)
        self.assertEqual(page.open, [])
        return page, text

    def test_a_small_graph(self):
        page, text = self.page()
        self.assertIn("graph.tsv: 4 of 8 nodes labelled", page.headings)
        self.assertIn("Most uncertain: worth a label", page.headings)
        self.assertIn("Confusion: truth in rows, answers in columns", page.headings)
        self.assertIn("No learning curve: ", text)  # too few labels, and it says so
        self.assertIn("<dt>no label reaches</dt><dd>2 nodes</dd>", text)
        self.assertGreaterEqual(text.count("<circle"), 3)

    def test_labels_that_contradict_are_shown_with_the_figures_of_audit(self):
        self.write("labels.tsv", "a\tred\nb\tred\nc\tblue\nd\tblue\ne\tblue\nf\tblue\n")
        page, _ = self.page()
        audited = self.table("audit", "graph.tsv", "--labels", "labels.tsv")
        self.assertIn("Suspicious labels: contradicted by what is around them", page.headings)
        self.assertIn(audited[0]["node"], page.cells)

    def test_enough_labels_for_a_curve_and_the_node_that_is_asked_for(self):
        self.run_copse("graph", "generate", "block_model", "--nodes", "200", "-o", "graph.tsv", "--labels-out", "labels.tsv")
        page, text = self.page("--node", "7", "--top", "3")
        self.assertIn("Around 7", page.headings)
        self.assertIn("Would more labels pay?", text)

    def test_names_cannot_break_the_page(self):
        self.write("graph.tsv", "<b>\t</script>\n</script>\tx&y\nx&y\t<b>\nx&y\tz\n")
        self.write("labels.tsv", "<b>\t<script>\n</script>\t</td>\n")
        _, text = self.page()
        self.assertNotIn("<b>", text)
        self.assertIn("&lt;b&gt;", text)
        self.assertIn("&lt;script&gt;", text)

    def test_names_that_are_not_utf8(self):
        (self.dir / "graph.tsv").write_bytes(b"a\xff\tb\nb\tc\nc\ta\xff\n")
        (self.dir / "labels.tsv").write_bytes(b"a\xff\tred\xfe\nb\tblue\n")
        page, _ = self.page("--node", "b")
        self.assertIn("red?", page.cells)

    def test_what_makes_no_sense(self):
        _, err = self.run_copse("report", "graph.tsv", "--labels", "labels.tsv", "--node", "nobody", "-o", "r.html", code=2)
        self.assertIn("nobody", err)
        _, err = self.run_copse("report", "graph.tsv", "--labels", "labels.tsv", "--learner", "nearest_neighbor", "-o", "r.html", code=2)
        self.assertIn("does not say what it would answer without a label", err)
        self.assertEqual(self.leftovers(), [])


if __name__ == "__main__":
    harness.main()
