# SPDX-License-Identifier: Apache-2.0
"""copse.spark beside a stream on one machine, from the same Parquet files in the same run.

    python bench/spark.py --edges 1e7 --nodes 1e6 --trees 31 --threads 2

The stream is the stages of copse.forests by threads of one process. Nothing is printed that the two disagree about. Bytes shuffled are
Spark's own count (its REST interface). Beside seconds by the clock stand those of processors, which other work on the machine changes
less; of Spark, those of the JVM and of Python, whose workers run copse.
"""
import argparse
import concurrent.futures
import json
import os
import sys
import tempfile
import time
import urllib.request

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from copse import forests

FILE = 1 << 22  # edges


def generate(directory, num_edges, num_nodes, seed):
    """A graph of hubs: ends are drawn with density falling as x^-0.4, which gives degrees a heavy tail."""
    os.makedirs(directory)
    for part, begin in enumerate(range(0, num_edges, FILE)):
        random = np.random.default_rng([seed, part])
        ends = (num_nodes * random.random((2, min(FILE, num_edges - begin))) ** 1.7).astype(np.int64)
        pa.parquet.write_table(pa.table({"src": ends[0], "dst": ends[1]}), f"{directory}/{part:05d}.parquet", row_group_size=1 << 20)


def blocks(directory):
    for name in sorted(os.listdir(directory)):
        file = pa.parquet.ParquetFile(f"{directory}/{name}")
        for group in range(file.num_row_groups):
            yield f"{directory}/{name}", group


def read(block):
    table = pa.parquet.ParquetFile(block[0], memory_map=True).read_row_group(block[1])
    return table["src"].to_numpy(), table["dst"].to_numpy()


def stream(directory, num_edges, num_nodes, num_trees, seed, labels, num_classes, threads):
    bound = forests.key_bound(num_nodes, num_edges)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:

        def gather(keep):
            """Kept edges by tree; blocks go to threads a few at a time."""
            kept, parts = [([], []) for _ in range(num_trees)], list(blocks(directory))
            for begin in range(0, len(parts), 2 * threads):
                for edges in pool.map(keep, parts[begin : begin + 2 * threads]):
                    places = np.searchsorted(edges.tree, np.arange(num_trees + 1))
                    for t in range(num_trees):
                        kept[t][0].append(edges.u[places[t] : places[t + 1]])
                        kept[t][1].append(edges.v[places[t] : places[t + 1]])
            return kept

        def span(t, kept, component=None):
            u, v = (np.concatenate(column) for column in kept[t])
            kept[t] = None
            return forests.spanning_edges(u, v, num_nodes=num_nodes, tree=t, seed=seed, component=component)

        kept = gather(lambda b: forests.small_key_edges(*read(b), num_nodes=num_nodes, num_trees=num_trees, bound=bound, seed=seed))
        first = list(pool.map(lambda t: span(t, kept), range(num_trees)))
        crossing = forests.Crossing(np.stack([f.component for f in first]))
        kept = gather(lambda b: crossing.edges(*read(b)))

        def vote(t):
            rest = span(t, kept, first[t].component)
            u, v = np.concatenate([first[t].u, rest.u]), np.concatenate([first[t].v, rest.v])
            return forests.tree_votes(u, v, tree=t, seed=seed, labels=labels, num_classes=num_classes)

        votes = list(pool.map(vote, range(num_trees)))
    counts = np.bincount(labels[labels != forests.UNLABELLED], minlength=num_classes)
    return forests.decide_votes(np.stack([v[0] for v in votes], 1), np.stack([v[1] for v in votes], 1), counts)


def processor_seconds():
    """By program, of this process and all below it: java, python."""
    seconds, above = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except (FileNotFoundError, ProcessLookupError):
            continue
        fields = rest.split()
        above[int(pid)] = int(fields[1])
        seconds[int(pid)] = "java" if name == "java" else "python", sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    totals = {"java": 0.0, "python": 0.0}
    for pid, (name, taken) in seconds.items():
        while pid != os.getpid() and pid in above:
            pid = above[pid]
        if pid == os.getpid():
            totals[name] += taken
    return np.array([totals["java"], totals["python"]])


def shuffled_bytes(context):
    with urllib.request.urlopen(f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages") as answer:
        return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("edges", 1e7), ("nodes", 1e6), ("trees", 31), ("threads", 2), ("seed", 1)):
        parser.add_argument(f"--{name}", type=lambda text: int(float(text)), default=int(default))
    parser.add_argument("--directory", help="where the edges are kept; a temporary directory without it")
    parser.add_argument("--memory", default="4g", help="of the JVM")
    args = parser.parse_args()
    scratch = tempfile.TemporaryDirectory(dir=args.directory)
    directory = f"{scratch.name}/edges"
    generate(directory, args.edges, args.nodes, args.seed)
    known = np.random.default_rng(args.seed).choice(args.nodes, args.nodes // 100, replace=False)
    labels = np.full(args.nodes, forests.UNLABELLED, np.uint16)
    labels[known] = known * 4 // args.nodes

    from pyspark.sql import SparkSession

    from copse.spark import ForestClassifier

    builder = SparkSession.builder.master(f"local[{args.threads}]").config("spark.driver.memory", args.memory).config("spark.local.dir", scratch.name)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    codes = labels.astype(np.int64)
    told = spark.createDataFrame([(int(node), int(codes[node])) for node in known], "id long, label int")
    told.write.parquet(f"{scratch.name}/labels")
    stages = {}

    def now():
        return np.array([time.perf_counter(), *processor_seconds()])

    def progress(name, done, total):
        if done in (0, total):
            stages.setdefault(name, [now(), 0])[1] = now()

    before = shuffled_bytes(spark.sparkContext)
    begin = now()
    classifier = ForestClassifier(numTrees=args.trees, seed=args.seed, numNodes=args.nodes, checkpointDir=f"{scratch.name}/work")
    model = classifier.fit(spark.read.parquet(directory), spark.read.parquet(f"{scratch.name}/labels"), progress=progress)
    on_spark = now() - begin
    shuffled = shuffled_bytes(spark.sparkContext) - before
    answers = model._answers.orderBy("id").toPandas()
    spark.stop()

    begin = now()
    alone = stream(directory, args.edges, args.nodes, args.trees, args.seed, labels, 4, args.threads)
    in_stream = now() - begin
    unlabelled = labels == forests.UNLABELLED
    # Spark's answers are classes by value, the stream's by number: here they are the same, but for the order of first nodes.
    same = np.array_equal(answers["confidence"].to_numpy()[unlabelled], alone.confidence[unlabelled]) and np.array_equal(answers["prediction"].to_numpy()[unlabelled], alone.label[unlabelled])
    if not same:
        sys.exit("the two disagree")
    print(f"edges {args.edges:,}, nodes {args.nodes:,}, trees {args.trees}, threads {args.threads}, seed {args.seed}; answers agree: yes")
    print(f"{'':24} {'seconds':>9} {'of processors':>14} {'JVM':>8} {'Python':>8}")
    rows = [*((f"  {name}", end - start) for name, (start, end) in stages.items()), ("spark", on_spark), ("stream", in_stream)]
    for name, (clock, java, python) in rows:
        print(f"{name:24} {clock:9.1f} {java + python:14.1f} {java:8.1f} {python:8.1f}")
    print(f"spark / stream: {on_spark[0] / in_stream[0]:.2f} by the clock, {on_spark[1:].sum() / in_stream[1:].sum():.2f} by processor time")
    print(f"shuffled: {shuffled / args.edges:.1f} bytes per edge, {shuffled / args.nodes / args.trees:.1f} per node and tree")


if __name__ == "__main__":
    main()
