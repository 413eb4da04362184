#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes data/debian from a Debian package index: who depends on whom, labelled by archive section.

    tools/make_debian_graph.py Packages data/debian

Nodes are the binary packages. Two are joined if one names the other in Depends, Pre-Depends or
Recommends; alternatives (a | b) are all joined, versions and architectures are ignored, names that are
no package of the index (virtual ones) and packages without an edge are left out. The index is the file `Packages` of an archive's
dists/RELEASE/main/binary-ARCH, unpacked. Writes edges.tsv.zst (needs the zstd program) and labels.tsv.gz.
"""
import gzip
import pathlib
import re
import subprocess
import sys

FIELDS = ("Depends", "Pre-Depends", "Recommends")
NAME = re.compile(r"^[a-z0-9][a-z0-9+.\-]*")


def stanzas(lines):
    """The index as one dictionary a package; continuation lines belong to fields we do not read."""
    package = {}
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if package:
                yield package
            package = {}
        elif not line[0].isspace():
            key, _, value = line.partition(":")
            package[key] = value.strip()
    if package:
        yield package


def text(rows):
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as index:
        packages = {p["Package"]: p for p in stanzas(index)}
    edges = set()
    for name, package in packages.items():
        for field in FIELDS:
            for alternative in re.split(r"[,|]", package.get(field, "")):
                match = NAME.match(alternative.strip())
                if match and match.group() in packages and match.group() != name:
                    edges.add(tuple(sorted((name, match.group()))))
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["zstd", "-q", "-19", "-f", "-o", str(out / "edges.tsv.zst")], input=text(sorted(edges)), check=True)
    labels = sorted((n, packages[n].get("Section", "unknown").split("/")[-1]) for n in {n for edge in edges for n in edge})
    (out / "labels.tsv.gz").write_bytes(gzip.compress(text(labels), 9, mtime=0))
    print(f"{len(packages)} packages, {len(edges)} edges")


if __name__ == "__main__":
    main()
