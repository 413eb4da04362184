#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""k-nearest-neighbour graphs: copse beside faiss called directly, scikit-learn's kneighbors_graph and pynndescent.

    python3 bench/points.py COPSE POINTS.npy [--k 10] [--threads 1] [--rivals copse,faiss,sklearn] [--method exact]
    python3 bench/points.py COPSE POINTS.npy --method approximate --parts build/bench/bench/point_graph
    python3 bench/points.py COPSE mnist.npy,clustered:1000000x128 --method approximate --rivals copse,pynndescent15,pynndescent20
    python3 bench/points.py COPSE random:100000x32,random:200000x32 --extrapolate 1000000

Several sets, comma-separated, are run one after the other; --extrapolate N then tells, from the last two (approximate: by the exponent between them; exact: by n^2), what N
points would take, where running them would take hours.

--method approximate is copse's descent beside faiss's HNSW (the index that faiss advises for such sizes) and pynndescent, whose
n_neighbors stands behind its name.
--parts PROGRAM also runs point_graph, which
tells what weights, symmetrization, reading and writing add to the search.

Needs NumPy and the rivals (Debian: python3-faiss, python3-sklearn). Every contestant runs in a process of its own, on
the same number of threads; what counts is its processor time: for copse all of the program (reading, neighbours, weights,
symmetrization, writing), for the rivals the search alone, without loading and without making a graph of it. The
neighbours of up to 1,000 random points, in a rival's answer or in the graph that copse wrote, are compared by distance with a
search in double precision; beside that stands what copse says itself. An exact graph that lacks a neighbour, or has an edge
that neither end asked for, is an error and no time.
"""
import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np

LINKS, BUILD, SEARCH = 24, 64, 64  # M, efConstruction and efSearch of faiss's HNSW


def load(path):
    return np.ascontiguousarray(np.load(path), dtype=np.float32)


def true_distances(x, rows, k):
    """Squared distance to the k-th nearest other point of each row, in double."""
    found = []
    for row in rows:
        d = ((x.astype(np.float64) - x[row].astype(np.float64)) ** 2).sum(axis=1) if len(x) < 20000 else sum(
            ((x[:, c:c + 64].astype(np.float64) - x[row, c:c + 64]) ** 2).sum(axis=1) for c in range(0, x.shape[1], 64))
        d[row] = np.inf
        found.append(np.partition(d, k - 1)[k - 1])
    return np.array(found)


def recall(x, rows, neighbors, kth):
    """Share of the neighbours that are as near as the true k-th (with a rounding error's worth of room)."""
    good = total = 0
    for row, ids, far in zip(rows, neighbors, kth):
        d = ((x[ids].astype(np.float64) - x[row].astype(np.float64)) ** 2).sum(axis=1)
        good += int((d <= far * (1 + 1e-6)).sum())
        total += len(ids)
    return good / total


def run_faiss(arguments):
    import time
    import faiss
    faiss.omp_set_num_threads(arguments.threads)
    x = load(arguments.points)
    begin = time.process_time()
    if arguments.method == "exact":
        index = faiss.IndexFlatL2(x.shape[1])
    else:
        index = faiss.IndexHNSWFlat(x.shape[1], LINKS)
        index.hnsw.efConstruction, index.hnsw.efSearch = BUILD, SEARCH
    index.add(x)
    built = time.process_time()
    _, ids = index.search(x[:arguments.queries], arguments.k + 1)
    seconds = built - begin + (time.process_time() - built) * len(x) / min(len(x), arguments.queries)
    return x, ids, seconds


def run_sklearn(arguments):
    import time
    from threadpoolctl import threadpool_limits
    from sklearn.neighbors import NearestNeighbors
    x = load(arguments.points)
    with threadpool_limits(arguments.threads):
        begin = time.process_time()
        # kneighbors_graph is this search and a CSR matrix around its answer; brute force is what it takes itself
        # above 15 columns, and below it a tree.
        search = NearestNeighbors(n_neighbors=arguments.k).fit(x)
        queries = x[:arguments.queries]
        ids = search.kneighbors(queries, n_neighbors=arguments.k + 1, return_distance=False)
        seconds = (time.process_time() - begin) * len(x) / len(queries)
    return x, ids, seconds


def run_pynndescent(arguments):
    """`pynndescent20`: lists of 20, of which the first k are taken. Compiled before the clock starts."""
    import time
    import numba
    from pynndescent import NNDescent
    numba.set_num_threads(arguments.threads)
    x = load(arguments.points)
    size = int(arguments.child.removeprefix("pynndescent") or arguments.k + 1)
    NNDescent(x[:2000], n_neighbors=size, random_state=1).neighbor_graph
    begin = time.process_time()
    ids, _ = NNDescent(x, n_neighbors=size, random_state=1, n_jobs=arguments.threads).neighbor_graph
    return x, ids, time.process_time() - begin


def rival(arguments):
    run = run_pynndescent if arguments.child.startswith("pynndescent") else {"faiss": run_faiss, "sklearn": run_sklearn}[arguments.child]
    x, ids, seconds = run(arguments)
    rows = np.load(arguments.sample)["rows"]
    kth = np.load(arguments.sample)["kth"]
    inside = rows < len(ids)
    neighbors = [[i for i in ids[row] if i != row][:arguments.k] for row in rows[inside]]
    print(json.dumps({"seconds": seconds, "recall": recall(x, rows[inside], neighbors, kth[inside])}))


def read_rows(path, rows):
    """The neighbours of some nodes in a .copse file (docs/formats.md)."""
    header = np.fromfile(path, np.uint64, 24)
    num_nodes, num_arcs, offsets_at, neighbors_at = (int(header[i]) for i in (3, 4, 8, 11))
    offsets = np.memmap(path, np.uint64, "r", offsets_at, num_nodes + 1)
    neighbors = np.memmap(path, np.uint32, "r", neighbors_at, num_arcs)
    return [np.array(neighbors[int(offsets[row]):int(offsets[row + 1])]) for row in rows]


def check_graph(x, sample, path, k, is_exact):
    """Share of the true neighbours that the graph has. A row also holds those whose neighbour the point is: if the graph
    is exact, for some of them their own k-th nearest is looked for."""
    found = 0
    one_sided = []
    for row, ids, far in zip(sample["rows"], read_rows(path, sample["rows"]), sample["kth"]):
        d = ((x[ids].astype(np.float64) - x[row].astype(np.float64)) ** 2).sum(axis=1)
        is_near = d <= far * (1 + 1e-6)
        found += min(k, int(is_near.sum()))
        one_sided += list(zip(ids[~is_near], d[~is_near]))
    share = found / (k * len(sample["rows"]))
    if is_exact:
        if share < 1:
            sys.exit(f"the graph of copse lacks neighbours: recall {share:.6f}")
        looked_at = [one_sided[i] for i in np.random.default_rng(3).permutation(len(one_sided))[:100]]
        kth = true_distances(x, [i for i, _ in looked_at], k)
        if any(d > far * (1 + 1e-6) for (_, d), far in zip(looked_at, kth)):
            sys.exit("the graph of copse has an edge that neither end asked for")
    return share


def run_copse(arguments, directory, x, sample):
    graph = directory / "graph.copse"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([arguments.copse, "graph", "build", arguments.points, "--k", str(arguments.k), "--method",
                           arguments.method, "--threads", str(arguments.threads), "-o", str(graph)],
                          check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    share = check_graph(x, sample, graph, arguments.k, arguments.method == "exact")
    said = [line.strip() for line in done.stderr.splitlines() if "recall" in line or "exact" in line]
    return seconds, f"recall {share:.4f}; {said[0] if said else '?'}"


def run_parts(arguments, directory):
    return subprocess.run([arguments.parts, "--points", arguments.points, "--k", str(arguments.k), "--method", arguments.method,
                           "--output", str(directory / "parts.copse")], check=True, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("copse")
    parser.add_argument("points")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--method", default="exact", choices=["exact", "approximate"])
    parser.add_argument("--rivals", default="copse,faiss,sklearn")
    parser.add_argument("--queries", type=int, default=1 << 62,
                        help="rivals answer only the first N points; their search time is scaled up")
    parser.add_argument("--parts", metavar="PROGRAM", help="point_graph: tells the parts of copse's time")
    parser.add_argument("--extrapolate", type=int, metavar="N", help="what N points would take")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--sample", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return rival(arguments)

    with tempfile.TemporaryDirectory(prefix="copse-bench-") as directory:
        taken = {}
        for points in arguments.points.split(","):
            num_points, seconds = compare(argparse.Namespace(**{**vars(arguments), "points": points}), pathlib.Path(directory))
            for name, value in seconds.items():
                taken.setdefault(name, []).append((num_points, value))
        if arguments.extrapolate:
            extrapolate(taken, arguments.extrapolate, arguments.method == "exact")


def extrapolate(taken, num_points, is_exact):
    print(f"{num_points} points, extrapolated")
    first = None
    for name, runs in taken.items():
        if len(runs) < 2:
            continue
        (n0, t0), (n1, t1) = runs[-2:]
        measured = math.log(t1 / t0) / math.log(n1 / n0)
        exponent = 2 if is_exact else measured  # all pairs; what is measured is that and the noise of the machine
        seconds = t1 * (num_points / n1) ** exponent
        first = first or seconds
        print(f"{name:10} {seconds:9.0f} cpu s  {seconds / first:6.2f} x {next(iter(taken))}     by n to the {exponent:.2f} (here {measured:.2f})")


def compare(arguments, directory):
    """Prints a line a contestant; returns the number of points, and seconds by contestant."""
    if arguments.points.startswith("random:"):
        n, d = map(int, arguments.points.split(":")[1].split("x"))
        arguments.points = str(directory / "points.npy")
        np.save(arguments.points, np.random.default_rng(1).random((n, d), dtype=np.float32))
    if arguments.points.startswith("clustered:"):  # a thousand normal clouds
        n, d = map(int, arguments.points.split(":")[1].split("x"))
        arguments.points = str(directory / "points.npy")
        random = np.random.default_rng(1)
        centres = random.random((1000, d), dtype=np.float32)
        np.save(arguments.points, centres[random.integers(0, 1000, n)] + 0.1 * random.standard_normal((n, d), dtype=np.float32))
    x = load(arguments.points)
    most = min(len(x), arguments.queries)
    rows = np.sort(np.random.default_rng(2).choice(most, min(1000 if x.size < 10**7 else 100, most), replace=False))
    sample = directory / "sample.npz"
    np.savez(sample, rows=rows, kth=true_distances(x, rows, arguments.k))
    print(f"{len(x)} x {x.shape[1]}, k = {arguments.k}, {arguments.method}, {arguments.threads} thread(s)")
    environment = dict(os.environ, OMP_NUM_THREADS=str(arguments.threads), OPENBLAS_NUM_THREADS=str(arguments.threads))
    first, taken = None, {}
    for name in arguments.rivals.split(","):
        if name == "copse":
            seconds, said = run_copse(arguments, directory, x, np.load(sample))
            first = seconds
            if arguments.parts:
                print(f"{'parts':10} {run_parts(arguments, directory)}")
        else:
            done = subprocess.run([sys.executable, __file__, *sys.argv[1:2], arguments.points, "--k", str(arguments.k),
                                   "--threads", str(arguments.threads), "--method", arguments.method, "--queries",
                                   str(arguments.queries), "--child", name, "--sample", str(sample)],
                                  check=True, capture_output=True, text=True, env=environment)
            answer = json.loads(done.stdout)
            seconds, said = answer["seconds"], f"recall {answer['recall']:.4f}"
        taken[name] = seconds
        ratio = f"{seconds / first:6.2f} x copse" if first else ""
        print(f"{name:10} {seconds:9.2f} cpu s  {ratio:16}  {said}", flush=True)
    return len(x), taken


if __name__ == "__main__":
    main()
