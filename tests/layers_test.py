# SPDX-License-Identifier: Apache-2.0
"""Layers look down only: reads the #include lines of the library and fails where one points up."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ["support", "graph", "trees", "kernels", "learners", "evaluation", "experiments"]
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
print("\n".join(wrong) or f"{seen} includes, all downwards")
sys.exit(1 if wrong or not seen else 0)
