# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows runs, and says what happens: docstrings, stubs, pages, the notebook."""
import ast
import doctest
import importlib.util
import inspect
import json
import pathlib
import re

import numpy as np
import pytest
from conftest import FRIENDS, KNOWN, ROOT

import copse
import copse.plot

PACKAGE = ROOT / "python" / "copse"
PAGES = ["README.md", "docs/python.md", "docs/coming-from.md"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "friends.txt").write_text(FRIENDS)
    (tmp_path / "known.txt").write_text(KNOWN)
    # The table of README's first example, made there by printf.
    table = "".join(re.findall(r"^printf '(.*)' >>? payments.csv$", (ROOT / "README.md").read_text(), re.MULTILINE))
    (tmp_path / "payments.csv").write_text(table.replace("\\n", "\n"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def documented():
    yield "copse", copse
    yield "copse.generators", copse.generators
    for name in dir(copse):
        thing = getattr(copse, name)
        if not name.startswith("_") and (inspect.isclass(thing) or inspect.isfunction(thing)):
            yield name, thing


@pytest.mark.parametrize("name, thing", list(documented()), ids=lambda value: value if isinstance(value, str) else "")
def test_examples_of_docstrings_run(name, thing, here):
    names = {"copse": copse, "np": np}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in doctest.DocTestFinder(recurse=inspect.isclass(thing)).find(thing, name, globs=names):
        runner.run(test)
    assert runner.summarize().failed == 0


def test_everything_public_is_documented():
    for name, thing in documented():
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and issubclass(thing, copse.GraphClassifier):
            for method in ("fit", "predict", "predict_proba", "learn_one", "explain"):
                assert inspect.getdoc(getattr(thing, method)), f"{name}.{method}"


def make_stubs():
    spec = importlib.util.spec_from_file_location("make_stubs", ROOT / "tools" / "make_stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stubs_are_those_that_the_script_makes():
    for path, text in make_stubs().stubs().items():
        ast.parse(text)
        assert (PACKAGE / path).read_text() == text, f"{path} is stale: run tools/make_stubs.py"


def python_blocks(page):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_programs_of_the_pages_run(page, here):
    import matplotlib

    matplotlib.use("Agg")
    blocks = python_blocks(page)
    assert blocks
    names = {}
    for text in blocks:
        if ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, names, page, page, 0)
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            names.update(test.globs)
            assert runner.summarize().failed == 0
        else:
            exec(compile(text, page, "exec"), names)


def test_the_page_lists_what_does_not_apply():
    from test_sklearn import EXPECTED

    text = (ROOT / "docs/python.md").read_text()
    assert all(check in text for check in EXPECTED)
    assert pathlib.Path(ROOT / "docs/notebooks/getting-started.ipynb").exists()


def printed(notebook):
    """What its cells print, without pictures and warnings."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.get("text") or output["data"]["text/plain"] for output in outputs if output.get("name") != "stderr" and "image/png" not in output.get("data", {})]


def test_the_notebook_shows_what_its_code_gives(here):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    path = ROOT / "docs" / "notebooks" / "getting-started.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    stored = printed(notebook)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(here)}}).execute()
    assert printed(notebook) == stored != [], f"run jupyter execute --inplace {path.relative_to(ROOT)}"


def test_the_fraud_notebook_shows_what_its_code_gives(here, capsys):
    """Its code cells run, without jupyter, and print what is stored with them."""
    import matplotlib

    matplotlib.use("Agg")
    path = ROOT / "docs" / "notebooks" / "fraud.ipynb"
    assert path.stat().st_size < 300_000
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    kinds = {kind for cell in cells for output in cell["outputs"] for kind in output.get("data", {})}
    assert {"image/png", "text/html"} <= kinds
    names = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), str(path), "exec"), names)
        stored = "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream" and output["name"] == "stdout")
        assert capsys.readouterr().out == stored
