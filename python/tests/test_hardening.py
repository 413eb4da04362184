# SPDX-License-Identifier: Apache-2.0
"""How the extension is linked: its libraries come from beside it, and a slip in a reader is hard to use."""
import re
import shutil
import subprocess

import pytest

from copse import _core


def readelf(flag):
    if not shutil.which("readelf"):
        pytest.skip("needs readelf")
    return subprocess.run(["readelf", "-W", flag, _core.__file__], capture_output=True, text=True, check=True).stdout


def test_libraries_come_from_beside_the_extension_only():
    assert re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", readelf("--dynamic")) == ["$ORIGIN/lib"]


def test_it_is_hardened():
    assert "GNU_RELRO" in readelf("--segments")
    assert re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", readelf("--dynamic"))
    assert re.search(r"GNU_STACK\s+(0x\w+\s+){5}RW ", readelf("--segments"))
    assert "__stack_chk_fail" in readelf("--dyn-syms")
    assert re.search(r"__(?!stack)\w+_chk\b", readelf("--dyn-syms"))
