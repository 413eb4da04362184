#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the same edge list with copse, pandas, polars, igraph and NetworKit, in turns, each time in a process of its own.

    python3 bench/reading.py PROGRAM [--edges 5000000] [--repeats 5] [--threads 1] [--directory DIR]

Integer ids and string ids, two columns, tabs. Prints the least processor seconds (of all threads) and megabytes per processor second. What is
not installed is left out. Before anything is timed, all readers must have found the same nodes, the same edges and the same degrees.
pandas and polars leave two columns; the others a graph, which is more work: ids are numbered, rows sorted, duplicates looked for.
"""
import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np


def write_lists(directory, num_edges):
    """Distinct pairs u < v of num_edges / 8 nodes, in random order; every node has an edge."""
    rng, num_nodes = np.random.default_rng(1), max(num_edges // 8, 4)
    pairs = np.sort(rng.integers(0, num_nodes, (num_edges * 21 // 20, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    path = np.arange(num_nodes - 1)
    pairs = np.unique(np.concatenate([pairs, np.stack([path, path + 1], 1)]), axis=0)
    pairs = rng.permutation(pairs)
    files = {"integers": directory / "integers.tsv", "strings": directory / "strings.tsv"}
    for kind, text in (("integers", "%d\t%d\n"), ("strings", "user-%07x\tuser-%07x\n")):
        with open(files[kind], "w") as out:
            for begin in range(0, len(pairs), 1 << 16):
                block = pairs[begin : begin + (1 << 16)]
                out.write(text * len(block) % tuple(block.ravel().tolist()))
        pathlib.Path(f"{files[kind]}.first").write_text(text % (0, 1))
    return files


# -- what a child does: read(path, kind, threads) gives the graph, degrees(it) is what all must agree on ---------------------------------


def read_copse(path, kind, threads):
    import copse

    return copse.read_graph(path, threads=threads)


def read_pandas(path, kind, threads):
    import pandas

    return pandas.read_csv(path, sep="\t", header=None, engine="c")


def read_polars(path, kind, threads):
    import polars

    return polars.read_csv(path, separator="\t", has_header=False)


def read_igraph(path, kind, threads):
    import igraph

    return igraph.Graph.Read_Edgelist(path, directed=False) if kind == "integers" else igraph.Graph.Read_Ncol(path, names=True, weights=False, directed=False)


def read_networkit(path, kind, threads):
    import networkit

    networkit.setNumberOfThreads(threads)
    reader = networkit.graphio.EdgeListReader("\t", 0, continuous=kind == "integers", directed=False)
    return reader.read(path)


READERS = {"copse": read_copse, "pandas": read_pandas, "polars": read_polars, "igraph": read_igraph, "networkit": read_networkit}


def degrees(name, graph):
    if name == "copse":
        return np.diff(graph.to_scipy().indptr)
    if name == "igraph":
        return np.array(graph.degree())
    if name == "networkit":
        return np.array([graph.degree(node) for node in graph.iterNodes()])
    columns = [graph.iloc[:, i].to_numpy() if name == "pandas" else graph.to_series(i).to_numpy() for i in range(2)]
    return np.unique(np.concatenate(columns), return_counts=True)[1]


def child(name, path, kind, threads, judge):
    importlib.import_module(name)  # not a part of reading
    READERS[name](path + ".first", kind, threads)  # warmed up
    begin = time.process_time()
    graph = READERS[name](path, kind, threads)
    seconds = time.process_time() - begin
    answer = zlib.crc32(np.sort(degrees(name, graph)).astype(np.int64).tobytes()) if judge else 0
    print(seconds, answer)


def run(command, **environment):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env={**os.environ, **environment}).stdout


def program_seconds(program, path, threads):
    before = os.times()
    run([program, "graph", "convert", path, str(path) + ".copse", "--threads", str(threads), "--quiet"])
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--directory", type=pathlib.Path)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, path, kind, judge = options.child
        return child(name, path, kind, options.threads, judge == "judge")
    with tempfile.TemporaryDirectory(dir=options.directory) as scratch:
        compare(options, pathlib.Path(scratch))


def compare(options, scratch):
    names = [name for name in READERS if importlib.util.find_spec(name)]
    for kind, path in write_lists(scratch, options.edges).items():
        size = path.stat().st_size / 1e6

        def ask(name, judge, path=path, kind=kind):
            command = [sys.executable, __file__, options.program, "--threads", str(options.threads), "--child", name, str(path), kind, judge]
            seconds, answer = run(command, POLARS_MAX_THREADS=str(options.threads), OMP_NUM_THREADS=str(options.threads)).split()
            return float(seconds), int(answer)

        answers = {name: ask(name, "judge")[1] for name in names}
        run([options.program, "graph", "convert", path, scratch / "again.copse", "--quiet"])
        (scratch / "again.copse.first").write_bytes((scratch / "again.copse").read_bytes())
        answers["copse graph convert"] = ask("copse", "judge", scratch / "again.copse")[1]
        if len(set(answers.values())) != 1:
            sys.exit(f"the readers do not agree on {kind}: {answers}")
        least = {}
        for _ in range(options.repeats):
            for name in names:
                least[name] = min(least.get(name, np.inf), ask(name, "no")[0])
            least["copse graph convert"] = min(least.get("copse graph convert", np.inf), program_seconds(options.program, path, options.threads))
        print(f"{kind}: {size:.1f} MB, all agree; least of {options.repeats} runs, {options.threads} thread(s)")
        for name, seconds in least.items():
            print(f"  {name:20} {seconds:8.3f} s  {size / seconds:8.1f} MB/s")


if __name__ == "__main__":
    main()
