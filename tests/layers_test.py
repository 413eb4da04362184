# SPDX-License-Identifier: Apache-2.0
"""Layers look down only: reads the #include lines of the library and fails where one points up. And copse.hpp, which is the
whole public library, leaves no header out, and CONTRIBUTING.md shows the layers that there are."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ["support", "graph", "io", "points", "trees", "laplacian", "learners", "queries", "evaluation", "papers", "server"]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](?:copse/)?(\w+)/')

wrong, seen = [], 0
for top in ("include/copse", "src"):
    for path in sorted((ROOT / top).rglob("*.[ch]pp")):
        layer = path.relative_to(ROOT / top).parts[0]
        if layer not in LAYERS:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match.group(1) in LAYERS:
                seen += 1
                if LAYERS.index(match.group(1)) > LAYERS.index(layer):
                    wrong.append(f"{path.relative_to(ROOT)}:{number}: {layer} includes {match.group(1)}")
whole = (ROOT / "include/copse/copse.hpp").read_text()
for path in sorted((ROOT / "include").rglob("*.hpp")):
    name = path.relative_to(ROOT / "include").as_posix()
    if name != "copse/copse.hpp" and f'#include "{name}"' not in whole:
        wrong.append(f"copse.hpp does not include {name}")
arrow = " ← ".join(LAYERS)
if arrow not in (ROOT / "CONTRIBUTING.md").read_text():
    wrong.append(f"CONTRIBUTING.md does not show the layers as {arrow}")
print("\n".join(wrong) or f"{seen} includes, all downwards")
sys.exit(1 if wrong or not seen else 0)
