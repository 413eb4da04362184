# SPDX-License-Identifier: Apache-2.0
"""What `make docs` adds to the pages: tables of the registries, the list of versions, the look at links (docs/copse_site.py)."""
import importlib.util
import re
import subprocess

import pytest
from conftest import ROOT

import copse
from copse.generators import ROWS


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("copse_site", ROOT / "docs" / "copse_site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name, rows", [("learners", copse.learners()), ("strategies", copse.strategies()), ("generators", ROWS)])
def test_a_table_names_every_row_with_its_options(site, name, rows):
    page = [(ROOT / "docs" / "reference" / f"{name}.md").read_text()]
    site.fill_in(None, name, page)
    for row, text in zip(rows, page[0].split("\n## ")[1:], strict=True):
        assert text.startswith(f"`{row['name']}`")
        assert all(f"| `{option['name']}` |" in text for option in row.get("options", row.get("parameters")))


def test_the_table_of_formats_is_the_program_s(site, program):
    shown = subprocess.run([program, "graph", "info", "--help"], capture_output=True, text=True, check=True).stdout
    known = re.search(r"--format automatic\|(\S+)", shown)[1].split("|")
    assert re.findall(r"^\| `(\w+)` \|", site.formats(), re.MULTILINE) == known


def test_the_newest_version_comes_first(site, tmp_path):
    for version in ("0.9.1", "0.10.0", "0.2.0"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").touch()
    site.list_versions(tmp_path)
    assert (tmp_path / "versions.js").read_text() == 'const versions = ["0.10.0", "0.9.1", "0.2.0"];\n'
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text()


def test_links_to_missing_files_and_anchors_are_found(site, tmp_path):
    (tmp_path / "a.html").write_text('<a id="here" href="b.html#there">b</a><a href="#here"></a><a href="https://example.org">c</a><img src="d%20e.png">')
    (tmp_path / "b.html").write_text('<a href="a.html#here">a</a><a href="a.html#gone">g</a><script src="x.js"></script>')
    (tmp_path / "d e.png").touch()
    assert list(site.dead_links(tmp_path)) == ["a.html: b.html#there", "b.html: a.html#gone", "b.html: x.js"]
