# SPDX-License-Identifier: Apache-2.0
"""Whoever passes the wheel on passes on the libraries in it: each has its licence beside it."""
import importlib.metadata
import pathlib
import re

import copse

PACKAGE = pathlib.Path(copse.__file__).parent
LICENSES = PACKAGE / "licenses"
COMPILED_IN = {"eigen", "xxhash", "nanobind", "robin_map", "libarchive"}


def check(name):
    path = LICENSES / f"{name}.txt"
    assert path.is_file(), f"copse carries {name} and no licence of it (python/licenses.cmake)"
    text = path.read_text(encoding="utf-8", errors="replace")
    assert re.search("copyright", text, re.I) and len(text) > 400, f"{path.name} is no licence"
    return text


def test_every_library_beside_the_extension_has_its_licence():
    libraries = sorted(path.name for path in (PACKAGE / "lib").iterdir())
    assert any(name.startswith("libtbb.so") for name in libraries)
    for name in libraries:
        check(name)


def test_what_is_compiled_in_has_its_licence():
    for name in COMPILED_IN:
        check(name)


def test_licences_that_others_refer_to_are_there():
    for path in LICENSES.glob("*.txt"):
        for name in re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", check(path.stem)):
            assert (LICENSES / "common" / name).is_file(), (path.name, name)


def test_no_licence_without_its_library():
    known = {path.name for path in (PACKAGE / "lib").iterdir()} | COMPILED_IN
    assert {path.stem for path in LICENSES.glob("*.txt")} <= known


def test_the_wheel_lists_them_and_its_own():
    files = {str(path) for path in importlib.metadata.files("copse-graph")}
    assert any(name.startswith("copse/licenses/libtbb.so") for name in files)
    assert any(re.fullmatch(r"copse_graph-[^/]*\.dist-info/licenses/LICENSE", name) for name in files)
