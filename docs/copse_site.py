# SPDX-License-Identifier: Apache-2.0
"""What the site has beyond its pages: tables of the registries, the list of versions, and a look at every local link.

A page asks for a table by a line `<!-- registry: learners -->`. The texts are the package's own (`copse.learners()` and its like); the
formats have no binding and are read from their rows in src/io/formats.cpp.
"""
import functools
import html.parser
import json
import pathlib
import re
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def options(row):
    if not row["options"]:
        return "No options.\n"
    cells = ([f"`{o['name']}`", o["type"].replace("|", ", "), f"`{o['default']}`", o["range"], o["help"]] for o in row["options"])
    return table(["option", "type", "default", "range", "meaning"], cells)


def described(row, page):
    order = " What it learns depends on the order of the labels." if row.get("depends_on_order") else ""
    return f"## `{row['name']}`\n\n{row['idea'][0].upper()}{row['idea'][1:]}.{order} {page}\n\n- Cost: {row['cost']}\n- Paper: {row['paper']}\n\n{options(row)}\n"


def learners():
    import copse

    return "".join(described(row, f"[More](../learners/{row['name']}.md)") for row in copse.learners())


def strategies():
    import copse

    return "".join(described(row, "[More](../query.md)") for row in copse.strategies())


def generators():
    from copse.generators import ROWS

    text = ""
    for row in ROWS:
        cells = ([f"`{p['name']}`", f"`{p['default']:g}`", f"{p['low']:g} to {p['high']:g}", p["help"]] for p in row["parameters"])
        text += f"## `{row['name']}`\n\n{row['description'][0].upper()}{row['description'][1:]}.\n\n{table(['parameter', 'default', 'range', 'meaning'], cells)}\n"
    return text


def formats():
    source = (ROOT / "src" / "io" / "formats.cpp").read_text()
    columns = dict(re.findall(r'(k\w+) = "([a-z ]*)"', source))
    rows = re.findall(r'\{GraphFormat::(\w+),\s*"\w+",.*?"(\.[\w. ]+)",\s*(k\w+|""),\s*\w+,\s*(\w+)\}', source, re.DOTALL)
    if len(rows) != source.count("{GraphFormat::"):
        raise ValueError("src/io/formats.cpp: not every row of kRows was understood; see formats() in docs/copse_site.py")
    cells = ([f"`{name}`", endings, columns.get(roles, ""), "no" if writer == "nullptr" else "yes"] for name, endings, roles, writer in rows)
    return table(["format", "extensions", "`--columns` may name", "written"], cells)


REGISTRIES = {"learners": learners, "strategies": strategies, "generators": generators, "formats": formats}


def fill_in(app, docname, source):
    """Tables for their lines; of a link to a directory of the repository, which the site does not have, its text."""
    here = (ROOT / "docs" / docname).parent
    text = re.sub(r"<!-- registry: (\w+) -->", lambda found: REGISTRIES[found[1]](), source[0])
    source[0] = re.sub(r"\[([^\]]+)\]\(([^()#:]+)\)", lambda link: link[1] if (here / link[2]).is_dir() else link[0], text)


def by_number(version):
    return [int(part) if part.isdigit() else -1 for part in version.split(".")]


def list_versions(site):
    """Beside the directory of each version: an index that leads to the newest, and the list that every page reads."""
    versions = sorted((path.parent.name for path in site.glob("*/index.html")), key=by_number, reverse=True)
    (site / "versions.js").write_text(f"const versions = {json.dumps(versions)};\n")
    (site / "index.html").write_text(f'<!doctype html><meta charset="utf-8"><title>copse</title><meta http-equiv="refresh" content="0; url={versions[0]}/index.html">'
                                     f'<a href="{versions[0]}/index.html">copse {versions[0]}</a>\n')


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.add(values.get("id") or values.get("name"))
        self.targets.update(value for value in (values.get("href"), values.get("src")) if value)


@functools.cache
def links_of(path):
    return Links(path.read_text())


def dead_links(site):
    for page in sorted(site.rglob("*.html")):
        for target in sorted(links_of(page).targets):
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            path = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
            if not path.is_file() or (path.suffix == ".html" and parts.fragment and urllib.parse.unquote(parts.fragment) not in links_of(path).anchors):
                yield f"{page.relative_to(site)}: {target}"


def finish(app, problem):
    if problem is None and app.builder.format == "html":
        list_versions(app.outdir.parent)
        dead = list(dead_links(pathlib.Path(app.outdir)))
        if dead:
            raise ValueError("links that lead nowhere:\n  " + "\n  ".join(dead))


def setup(app):
    app.connect("source-read", fill_in)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
