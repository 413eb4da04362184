# SPDX-License-Identifier: Apache-2.0
"""Committees of random-key trees on Apache Spark: an Estimator and a Model of Spark ML on tables of edges, with copse's library in the
executors. Edges never come to the driver. docs/spark.md tells how to set up a cluster, and what memory it takes.

>>> from copse.spark import ForestClassifier
>>> model = ForestClassifier(numTrees=31).fit(edges, labels)          # edges: src, dst; labels: id, label   # doctest: +SKIP
>>> model.transform(nodes).show()                                     # id, prediction, confidence, reached  # doctest: +SKIP

How it is done: copse.forests names the stages. Columns of a tree travel in blocks, a row of binary values each: a shuffle of edges row by
row would take longer than all the rest. Every number that decides anything is a hash of the edge, so neither partitions nor
lost executors change a bit of the result.
"""
import contextlib
import functools
import tempfile
import threading
import uuid

import numpy as np

try:
    import pyarrow as pa
    from pyspark import keyword_only
    from pyspark.ml import Estimator, Model
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.util import DefaultParamsReadable, DefaultParamsReader, DefaultParamsWritable, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F
    from pyspark.sql import types as T
    from pyspark.sql.pandas.types import to_arrow_type
except ImportError as error:
    raise ImportError(f"copse.spark: {error}\n  pip install 'copse-graph[spark]' here and in the executors") from error

from . import _evaluate, forests
from . import _spark_stages as stages

MAX_NODES = 2**32 - 2
MAX_TREES = 10_000


def _error(where, what, remedy):
    return ValueError(f"{where}: {what}\n  {remedy}")


def _require(frame, where, **columns):
    for option, name in columns.items():
        if name not in frame.columns:
            raise _error(where, f'there is no column "{name}"', f"the columns are {', '.join(frame.columns)}; say which one it is with {option}=")


class _Work:
    """Where a fit runs: the session, a directory for what is too large for memory, and who is told of progress."""

    def __init__(self, frame, directory, progress):
        self.spark, self.progress = frame.sparkSession, progress
        if not isinstance(self.spark, SparkSession):
            raise _error("edges", "are of a Spark Connect session, which has no broadcasts", "connect to the cluster itself: SparkSession.builder.master(...)")
        self.context = self.spark.sparkContext
        self.directory = f"{directory or self._shared_directory()}/copse-{uuid.uuid4().hex}"
        self.done = self.context.accumulator(0)

    def _shared_directory(self):
        checkpoints = self.context._jsc.sc().getCheckpointDir()
        if checkpoints.isDefined():
            return checkpoints.get()
        if not self.context.master.startswith("local"):
            raise _error("checkpointDir", "is not set, and forests are kept in files that all executors read", "set it to a directory of HDFS, S3, ...: checkpointDir= or spark.sparkContext.setCheckpointDir()")
        return tempfile.gettempdir()

    @contextlib.contextmanager
    def stage(self, name, total=0):
        """Names the jobs for Spark's page, and tells how many edges have been looked at."""
        ended, begin = threading.Event(), self.done.value

        def tell():
            while not ended.wait(1):
                self.progress(name, min(self.done.value - begin, total), total)

        # Rows are edges, or blocks of a few KiB. A limit in bytes makes Spark add up the size of the batch after every row,
        # which took a third of the JVM's time; Spark 3.5 has none.
        wanted = {"spark.sql.execution.arrow.maxRecordsPerBatch": 1 << 13, "spark.sql.execution.arrow.maxBytesPerBatch": 2**31 - 1}
        wanted = {key: value for key, value in wanted.items() if self.spark.conf.isModifiable(key)}
        before = {key: self.spark.conf.get(key) for key in wanted}
        for key, value in wanted.items():
            self.spark.conf.set(key, value)
        self.context.setJobDescription(f"copse: {name}")
        teller = threading.Thread(target=tell, daemon=True)
        if self.progress:
            self.progress(name, 0, total)
            if total:
                teller.start()
        try:
            yield
            if self.progress:
                self.progress(name, total, total)
        finally:
            ended.set()
            self.context.setJobDescription(None)
            for key, value in before.items():
                self.spark.conf.set(key, value)

    def written(self, frame, name):
        """The table, from the files it has been written to: what follows must not compute it again."""
        path = f"{self.directory}/{name}"
        frame.write.option("maxRecordsPerFile", 1 << 22).parquet(path)
        return self.spark.read.parquet(path)

    def written_blocks(self, frame, name):
        path = f"{self.directory}/{name}"
        frame.write.option("maxRecordsPerFile", 1 << 14).option("parquet.enable.dictionary", "false").option("compression", "none").parquet(path)
        return self.spark.read.schema(stages.FOREST_SCHEMA).parquet(path)


def _lost(what, found, expected):
    return RuntimeError(f"{what}: {found:,} were read back of {expected:,} that were written\n  files of checkpointDir are missing or old: keep it on storage that outlives executors, and fit again")


def _slots(work, num_trees):
    """A number for each tree by which Spark's hash gives every tree a partition of its own."""
    rows = work.spark.range(0, 100 * num_trees, 1, 1).selectExpr("int(id) slot", f"pmod(hash(int(id)), {num_trees}) place").collect()
    places = {row.place: row.slot for row in reversed(rows)}
    return [places.get(tree, tree) for tree in range(num_trees)]


class _Edges:
    """Edges that are checked and numbered: columns u, v (and weight); what the stages must know of them."""

    def __init__(self, work, frame, source, target, weight, num_nodes, duplicates):
        _require(frame, "edges", srcCol=source, dstCol=target, **({"weightCol": weight} if weight else {}))
        kinds = {frame.schema[name].dataType for name in (source, target)}
        if len(kinds) > 1 or not isinstance(next(iter(kinds)), (T.IntegralType, T.StringType)):
            raise _error("edges", f'"{source}" and "{target}" are {" and ".join(sorted(kind.simpleString() for kind in kinds))}', "give both as whole numbers, or both as text")
        if weight and not isinstance(frame.schema[weight].dataType, T.NumericType):
            raise _error("edges", f'"{weight}" is {frame.schema[weight].dataType.simpleString()}', "weights are numbers")
        self.kind, self.is_weighted, self.ids = next(iter(kinds)), bool(weight), None
        frame = frame.select(F.col(source).alias("u"), F.col(target).alias("v"), *([F.col(weight).cast("float").alias("weight")] if weight else []))
        with work.stage("looking at the edges"):
            self._check(frame, source, target, weight, num_nodes)
        self.frame = frame.withColumns({"u": F.col("u").cast("long"), "v": F.col("v").cast("long")})
        if not self.is_dense:
            with work.stage("numbering the nodes"):
                self._number(work, frame)
        if duplicates == "sum":
            with work.stage("adding up repeated edges"):
                self._add_up(work)
        self.bins = None
        if self.is_weighted:
            with work.stage("counting weights"):
                self._count_weights()

    def _check(self, frame, source, target, weight, num_nodes):
        is_bad = (~(F.col("weight") >= 0) | F.isnan("weight") | (F.col("weight") == float("inf")) | F.col("weight").isNull()) if weight else F.lit(False)
        wanted = [*(F.count_if(F.col(name).isNull()) for name in "uv"), F.count("*"), F.count_if(is_bad)]
        is_whole = isinstance(self.kind, T.IntegralType)
        if is_whole:
            wanted += [F.min(F.least("u", "v")), F.max(F.greatest("u", "v"))]
            wanted += [F.lit(None)] if num_nodes else [F.greatest(F.approx_count_distinct("u"), F.approx_count_distinct("v"))]
        no_u, no_v, self.num_edges, bad, *rest = frame.agg(*(column.alias(f"c{i}") for i, column in enumerate(wanted))).first()
        for name, count in ((source, no_u), (target, no_v)):
            if count:
                raise _error("edges", f'{count:,} of {self.num_edges:,} rows have no "{name}"', f'leave them out: edges.dropna(subset=["{source}", "{target}"])')
        if bad:
            example = frame.where(is_bad).first()
            raise _error("edges", f'{bad:,} of {self.num_edges:,} weights are no positive numbers, as {example.weight} of the edge {example.u} {example.v}', 'weights are similarities (> 0, finite); leave the row out to mean "no edge"')
        if not self.num_edges:
            raise _error("edges", "there are none", "give at least one row")
        low, high, distinct = rest if is_whole else (None, None, None)
        if num_nodes:
            if not is_whole or low < 0 or high >= num_nodes:
                raise _error("numNodes", f"is {num_nodes:,}, and the ends of edges are " + (f"{low:,} to {high:,}" if is_whole else "text"), "it says that ids are 0 ... numNodes - 1; leave it out to have nodes numbered")
            self.is_dense, self.num_nodes = True, num_nodes
        else:
            self.is_dense = is_whole and low >= 0 and high < 2 * distinct + 1024
            self.num_nodes = high + 1 if self.is_dense else None
        if self.is_dense and self.num_nodes > MAX_NODES:
            raise _too_many(self.num_nodes)

    def _number(self, work, frame):
        """Nodes are numbered in the order of their ids, which no partitioning changes; the table is kept."""
        ids = frame.select(F.col("u").alias("id")).union(frame.select(F.col("v").alias("id"))).distinct().sort("id")
        ids = work.written(ids.withColumn("place", F.monotonically_increasing_id()), "sorted_ids")
        part, place = F.shiftright("place", 33), F.col("place").bitwiseAND(F.lit((1 << 33) - 1))
        sizes = {row.part: row["count"] for row in ids.groupBy(part.alias("part")).count().collect()}
        self.num_nodes = sum(sizes.values())
        if self.num_nodes > MAX_NODES:
            raise _too_many(self.num_nodes)
        parts = sorted(sizes)
        begins = work.spark.createDataFrame([(p, int(b)) for p, b in zip(parts, np.cumsum([0] + [sizes[p] for p in parts]))], "part long, begin long")
        ids = ids.withColumn("part", part).join(F.broadcast(begins), "part").select("id", (F.col("begin") + place).alias("node"))
        self.ids = work.written(ids, "ids")
        count, high = self.ids.agg(F.count("*"), F.max("node")).first()
        if count != self.num_nodes or high != count - 1:
            raise _lost("ids of nodes", count, self.num_nodes)
        edges = frame
        for end in "uv":
            edges = edges.join(self.ids.withColumnsRenamed({"id": end, "node": f"{end}_node"}), end)
        weight = ["weight"] if self.is_weighted else []
        self.frame = work.written(edges.select(F.col("u_node").alias("u"), F.col("v_node").alias("v"), *weight), "edges")
        if (count := self.frame.count()) != self.num_edges:
            raise _lost("numbered edges", count, self.num_edges)

    def _add_up(self, work):
        """Sums from the smallest weight on, so that they have the same last bit however rows are partitioned."""
        ends = self.frame.select(F.least("u", "v").alias("u"), F.greatest("u", "v").alias("v"), F.col("weight") if self.is_weighted else F.lit(1).cast("float").alias("weight"))
        total = F.aggregate(F.array_sort(F.collect_list("weight")), F.lit(0.0), lambda a, b: a + b).cast("float")
        self.frame = work.written(ends.groupBy("u", "v").agg(total.alias("weight")), "summed_edges")
        self.num_edges, self.is_weighted = self.frame.count(), True

    def _count_weights(self):
        """Weights by size, eight sizes for each power of two: what the bound on keys is computed from."""
        weights = self.frame.where("u != v and weight > 0")
        rows = weights.groupBy(F.floor(F.log2("weight") * 8).alias("size")).agg(F.count("*"), F.min("weight"), F.max("weight")).collect()
        self.bins, self.lowest, self.highest = np.zeros_like(forests.weight_bins([])), np.inf, 0.0
        for _, count, low, high in rows:
            self.bins += forests.weight_bins([low]) * np.uint64(count)
            self.lowest, self.highest = min(self.lowest, low), max(self.highest, high)

    def bound(self):
        return forests.key_bound(self.num_nodes, self.num_edges, self.bins)


def _too_many(count):
    return _error("edges", f"{count:,} nodes are more than {MAX_NODES:,}", "leave out nodes without edges, or take a part of the graph")


class _Builder:
    """The forests of some edges."""

    def __init__(self, work, edges, num_trees, seed, broadcast_bytes):
        self.work, self.edges, self.num_trees, self.seed = work, edges, num_trees, seed
        self.at_once = int(max(1, min(32, num_trees, broadcast_bytes // (4 * edges.num_nodes))))
        self.slots, self.seen = _slots(work, num_trees), None

    def run(self):
        bound = self.edges.bound()
        scans = 1 if bound == float("inf") else 1 + -(-self.num_trees // self.at_once)
        with self.work.stage(f"scan 1 of {scans}", self.edges.num_edges):
            kept = self._scanned(stages.small_keys(self.edges.num_nodes, self.seed, self.num_trees, bound))
            first = self._written(kept, range(self.num_trees), "scan_1", scans > 1)
        if scans == 1:
            return _checked_forests(first.where("u is not null and tree >= 0"), self.num_trees)
        parts = []
        for scan, begin in enumerate(range(0, self.num_trees, self.at_once), 2):
            trees = range(begin, min(begin + self.at_once, self.num_trees))
            with self.work.stage(f"scan {scan} of {scans}", self.edges.num_edges):
                components = self.work.context.broadcast(self._components(first, trees))
                before = first.where((F.col("tree") >= begin) & (F.col("tree") < trees.stop) & F.col("u").isNotNull())
                slot = F.element_at(F.array(*map(F.lit, self.slots)), F.col("tree") + 1).alias("slot")
                kept = self._scanned(stages.crossing(components, begin)).union(before.select(slot, "tree", "u", "v", "weight"))
                parts.append(self._written(kept, trees, f"scan_{scan}", False).where("u is not null and tree >= 0"))
                components.destroy()
        return _checked_forests(functools.reduce(lambda a, b: a.union(b), parts), self.num_trees)

    def _scanned(self, keep):
        slots, done = self.slots, self.work.done
        columns = ["u", "v"] + (["weight"] if self.edges.is_weighted else [])
        return self.edges.frame.select(*columns).mapInArrow(lambda batches: stages.scan(batches, keep, slots, done), stages.EDGES_SCHEMA)

    def _written(self, kept, trees, name, has_components):
        """One task for each tree; a tree that nothing was kept for is there as well, with an empty block."""
        num_nodes, seed, is_weighted = self.edges.num_nodes, self.seed, self.edges.is_weighted
        nothing = [(self.slots[tree], tree, b"", b"", b"" if is_weighted else None) for tree in trees]
        kept = kept.union(self.work.spark.createDataFrame(nothing, stages.EDGES_SCHEMA)).repartition(self.num_trees, "slot")
        trees = kept.mapInArrow(lambda batches: stages.spanning_forests(batches, num_nodes, seed, is_weighted, has_components), stages.FOREST_SCHEMA)
        trees = self.work.written_blocks(trees, name)
        seen = [np.frombuffer(row.u, np.uint64).tolist() for row in trees.where(F.col("tree") == stages.TOTALS).select("u").collect()]
        if len(seen) != 1:
            raise _lost("totals of a scan", len(seen), 1)
        self.seen = self.seen or seen[0]
        if self.seen != seen[0] or seen[0][0] != self.edges.num_edges:
            raise RuntimeError("edges: they are not the same at every reading\n  write them to a table first (edges.write.parquet(...)), or checkpoint() them: samples and random columns are drawn anew each time")
        return trees

    def _components(self, first, trees):
        components = np.empty((len(trees), self.edges.num_nodes), np.uint32)
        count = 0
        chosen = first.where((F.col("tree") >= trees.start) & (F.col("tree") < trees.stop) & F.col("component").isNotNull())
        for row in chosen.select("tree", "part", "component").toLocalIterator():
            block = np.frombuffer(row.component, np.uint32)
            components[row.tree - trees.start, row.part * stages.BLOCK : row.part * stages.BLOCK + block.size] = block
            count += block.size
        if count != components.size:
            raise _lost("components of nodes", count, components.size)
        return components


def _checked_forests(blocks, num_trees):
    """Every forest of a graph has the same number of edges, and each says how many it was written with."""
    blocks = blocks.select("tree", "edges", "part", "u", "v", "weight")
    rows = blocks.groupBy("tree").agg((F.sum(F.length("u")) / 4).cast("long").alias("found"), F.max("edges").alias("edges")).collect()
    if len(rows) != num_trees:
        raise _lost("forests", len(rows), num_trees)
    expected = max(row.edges for row in rows)
    for row in rows:
        if row.found != expected or row.edges != expected:
            raise _lost(f"edges of tree {row.tree}", row.found, expected)
    return blocks


class _Labels:
    """Labels that are checked: classes in the order of their first node, as the library counts them, and codes of labelled nodes."""

    def __init__(self, work, frame, node, label, ids, num_nodes):
        _require(frame, "labels", nodeCol=node, labelCol=label)
        self.kind = frame.schema[label].dataType
        if not isinstance(self.kind, (T.StringType, T.IntegralType, T.DoubleType, T.BooleanType)):
            raise _error("labels", f'"{label}" is {self.kind.simpleString()}', "classes are text, whole numbers, double or boolean")
        frame = frame.select(F.col(node).alias("id"), F.col(label).alias("label")).where("label is not null")
        with work.stage("looking at the labels"):
            known = self._with_nodes(frame, ids, num_nodes).cache()
            try:
                self._check(known, node)
                self._encode(work, known)
            finally:
                known.unpersist()

    @staticmethod
    def _with_nodes(frame, ids, num_nodes):
        if ids is not None:
            return frame.join(ids, "id", "left")
        node = F.expr("try_cast(id as bigint)")
        return frame.withColumn("node", F.when((node >= 0) & (node < num_nodes), node))

    @staticmethod
    def _check(known, node):
        unknown, total = known.agg(F.count_if(F.col("node").isNull()), F.count("*")).first()
        if not total:
            raise _error("labels", "no node has one", "give at least one row whose label is not null")
        if unknown:
            example = known.where("node is null").first().id
            raise _error("labels", f'{unknown:,} of {total:,} are of nodes that no edge has, as "{node}" {example}', "leave them out, or give numNodes= where ids are 0 ... numNodes - 1")
        twice = known.groupBy("id").agg(F.min("label").alias("one"), F.max("label").alias("other")).where("one != other").first()
        if twice:
            raise _error("labels", f"node {twice.id} has two, {twice.one} and {twice.other}", "give it one")

    def _encode(self, work, known):
        known = known.dropDuplicates(["node"])
        rows = known.groupBy("label").agg(F.min("node").alias("first"), F.count("*").alias("count")).collect()
        if len(rows) >= forests.UNLABELLED:
            raise _error("labels", f"{len(rows):,} classes are more than {forests.UNLABELLED - 1:,}", "join small classes")
        rows.sort(key=lambda row: row["first"])
        self.classes, self.counts = [row.label for row in rows], [row["count"] for row in rows]
        values = pa.array(self.classes, to_arrow_type(self.kind))
        blocks = known.select("node", "label").mapInArrow(lambda batches: stages.label_codes(batches, values), "nodes binary, codes binary")
        blocks = [row.asDict() for row in blocks.toLocalIterator()]
        nodes, codes = stages.joined(blocks, "nodes", np.int64), stages.joined(blocks, "codes", np.uint16)
        order = np.argsort(nodes)
        self.nodes, self.codes = nodes[order], codes[order]


def _voted(work, blocks, ids, about, labels):
    """The committee's answers for every node, written and counted: columns id, prediction, confidence, reached."""
    given = work.context.broadcast((labels.nodes, labels.codes))
    slots, classes, counts = _slots(work, about["num_trees"]), pa.array(labels.classes, to_arrow_type(labels.kind)), labels.counts
    slot = F.element_at(F.array(*map(F.lit, slots)), F.col("tree") + 1).alias("slot")
    with work.stage("votes"):
        trees = blocks.select(slot, "tree", "u", "v", "weight").repartition(len(slots), "slot")
        votes = trees.mapInArrow(lambda batches: stages.votes(batches, about, given), stages.VOTES_SCHEMA)
        votes = votes.repartition(min(1 + about["num_nodes"] // (128 * stages.NODES), 10_000), "block")
        schema = f"node long, prediction {labels.kind.simpleString()}, confidence double, reached boolean"
        answers = votes.mapInArrow(lambda batches: stages.answers(batches, about, given, classes, counts), schema)
        answers = answers.withColumnRenamed("node", "id") if ids is None else answers.join(ids, "node").drop("node")
        answers = work.written(answers, f"answers-{uuid.uuid4().hex[:8]}")
        if (count := answers.count()) != about["num_nodes"]:
            raise _lost("answers", count, about["num_nodes"])
    given.destroy()
    return answers


class _ForestParams(Params):
    """What estimator and model share."""

    _rows = [
        ("numTrees", "trees in the committee", TypeConverters.toInt, 31),
        ("learner", "how trees vote: wta or tree_cut", TypeConverters.toString, "wta"),
        ("srcCol", "column of edges: one end", TypeConverters.toString, "src"),
        ("dstCol", "column of edges: the other end", TypeConverters.toString, "dst"),
        ("weightCol", "column of edges: weight, a similarity; None: all are 1", TypeConverters.identity, None),
        ("nodeCol", "column of labels and nodes: the node", TypeConverters.toString, "id"),
        ("labelCol", "column of labels: the class; null: unknown", TypeConverters.toString, "label"),
        ("predictionCol", "column of answers: the class", TypeConverters.toString, "prediction"),
        ("confidenceCol", "column of answers: the share of trees that say so", TypeConverters.toString, "confidence"),
        ("reachedCol", "column of answers: whether a label reaches the node; else the answer is the most frequent class", TypeConverters.toString, "reached"),
        ("seed", "the same seed gives the same answers, however edges are partitioned", TypeConverters.toInt, 1),
        ("numNodes", "ids are 0 ... numNodes - 1; None: found out, and nodes are numbered where need be", TypeConverters.identity, None),
        ("duplicates", "rows of the same pair: max (the largest weight counts) or sum (shuffles the edges once)", TypeConverters.toString, "max"),
        ("checkpointDir", "directory that all executors reach; None: Spark's own, or a temporary one of this machine", TypeConverters.identity, None),
        ("maxBroadcastBytes", "4 bytes per node and tree are broadcast for as many trees at once as fit", TypeConverters.toInt, 1 << 30),
    ]
    for _name, _doc, _convert, _ in _rows:
        locals()[_name] = Param(Params._dummy(), _name, _doc, _convert)
    del _name, _doc, _convert

    def __init__(self):
        super().__init__()
        self._setDefault(**{name: default for name, _, _, default in self._rows})

    def _value(self, name):
        return self.getOrDefault(name)


def _with_accessors(cls):
    """getNumTrees(), setNumTrees(...) and so on, as Spark ML has them."""
    for name, doc, _, _ in _ForestParams._rows:
        upper = name[0].upper() + name[1:]
        for prefix, method in (("get", lambda self, name=name: self.getOrDefault(name)), ("set", lambda self, value, name=name: self._set(**{name: value}))):
            method.__name__, method.__doc__ = prefix + upper, doc
            setattr(cls, prefix + upper, method)
    return cls


@_with_accessors
class ForestClassifier(Estimator, _ForestParams, DefaultParamsReadable, DefaultParamsWritable):
    """Predicts the labels of a graph's nodes by a committee of random-key spanning forests: ``copse.WTA(tree="random_key")`` for edges that
    no single machine holds, with the same answers bit for bit. Its options are Params; ``explainParams()`` lists them."""

    @keyword_only
    def __init__(self, *, numTrees=31, learner="wta", srcCol="src", dstCol="dst", weightCol=None, nodeCol="id", labelCol="label", predictionCol="prediction",
                 confidenceCol="confidence", reachedCol="reached", seed=1, numNodes=None, duplicates="max", checkpointDir=None, maxBroadcastBytes=1 << 30):  # fmt: skip
        super().__init__()
        self._set(**{name: value for name, value in self._input_kwargs.items() if value is not None})

    def fit(self, edges, labels=None, params=None, progress=None):
        """The model of these edges and labels.

        Parameters
        ----------
        edges : DataFrame
            Columns srcCol and dstCol, and weightCol if that is set. It is read two times or more, and must be the same every time.
        labels : DataFrame
            Columns nodeCol and labelCol: the few labels that are known. They are gathered in the driver, 10 bytes each.
        params : dict, optional
            Params of this call alone.
        progress : callable, optional
            Called as (stage, edges done, edges in all).
        """
        if params:
            return self.copy(params).fit(edges, labels, progress=progress)
        if labels is None:
            raise _error("fit", "there are no labels", "call fit(edges, labels): edges have a source and a target, labels a node and its class")
        for name, known in (("learner", ("wta", "tree_cut")), ("duplicates", ("max", "sum"))):
            if self._value(name) not in known:
                raise _error(name, f'"{self._value(name)}" is not known', f"choose {' or '.join(known)}")
        if not 1 <= self._value("numTrees") <= MAX_TREES:
            raise _error("numTrees", f"{self._value('numTrees'):,} is not one of 1 ... {MAX_TREES:,}", "31 is a good number")
        work = _Work(edges, self._value("checkpointDir"), progress)
        _require(labels, "labels", nodeCol=self._value("nodeCol"), labelCol=self._value("labelCol"))
        edges = _Edges(work, edges, *(self._value(name) for name in ("srcCol", "dstCol", "weightCol", "numNodes", "duplicates")))
        known = _Labels(work, labels, self._value("nodeCol"), self._value("labelCol"), edges.ids, edges.num_nodes)
        about = {"num_nodes": edges.num_nodes, "num_edges": edges.num_edges, "is_weighted": edges.is_weighted, "id_type": edges.kind.simpleString(), "has_ids": edges.ids is not None}
        about["weight_range"] = [edges.lowest, edges.highest] if edges.is_weighted else [1, 1]
        blocks = _Builder(work, edges, self._value("numTrees"), self._value("seed"), self._value("maxBroadcastBytes")).run()
        return self._copyValues(ForestModel())._hold(work, about, blocks, edges.ids)._vote(work, known)

    def _fit(self, dataset):
        return self.fit(dataset)


@_with_accessors
class ForestModel(Model, _ForestParams, MLReadable, MLWritable):
    """A committee that has voted. ``transform(nodes)`` adds its answers; ``withLabels(labels)`` lets the same forests vote on other labels."""

    def _hold(self, work, about, blocks, ids):
        self._directory, self._about, self._blocks, self._ids = work.directory, about, blocks, ids
        return self

    def _vote(self, work, labels):
        learner = {"learner": self._value("learner"), "seed": self._value("seed"), "num_classes": len(labels.classes), "weight_range": self._about["weight_range"]}
        about = {**self._about, "num_trees": self._value("numTrees"), "rule": learner}
        self._answers = _voted(work, self._blocks, self._ids, about, labels)
        label, confidence, _ = (column[0].item() for column in forests.decide_votes([[0]], [[0]], labels.counts))
        self._about = {**self._about, "classes": labels.classes, "class_counts": labels.counts, "label_type": labels.kind.simpleString(), "unreached": [label, confidence]}
        return self

    @property
    def classes(self):
        """The classes, in the order of their first node."""
        return list(self._about["classes"])

    @property
    def forests(self):
        """The forests: columns tree, src, dst, weight (named as those of the edges)."""
        frame = self._blocks.select("tree", "u", "v", "weight").mapInArrow(stages.unpacked, "tree int, u long, v long, weight float")
        if self._ids is not None:
            for end in "uv":
                frame = frame.join(self._ids.withColumnsRenamed({"node": end, "id": f"{end}_id"}), end).drop(end).withColumnRenamed(f"{end}_id", end)
        return frame.select("tree", F.col("u").alias(self._value("srcCol")), F.col("v").alias(self._value("dstCol")), F.col("weight").alias(self._value("weightCol") or "weight"))

    def withLabels(self, labels, progress=None):
        """The model of the same forests and other labels: no scan of the edges."""
        work = _Work(labels, self._value("checkpointDir"), progress)
        work.directory = self._directory
        known = _Labels(work, labels, self._value("nodeCol"), self._value("labelCol"), self._ids, self._about["num_nodes"])
        return self._copyValues(ForestModel())._hold(work, self._about, self._blocks, self._ids)._vote(work, known)

    def _transform(self, nodes):
        node, columns = self._value("nodeCol"), [self._value(name) for name in ("predictionCol", "confidenceCol", "reachedCol")]
        _require(nodes, "nodes", nodeCol=node)
        taken = [name for name in columns if name in nodes.columns]
        if taken:
            raise _error("nodes", f'there is a column "{taken[0]}" already', "drop it, or name the answers with predictionCol=, confidenceCol=, reachedCol=")
        label, confidence = self._about["unreached"]
        answers = self._answers.select(F.col("id").alias("__copse_id"), *(F.col(name).alias(f"__copse_{name}") for name in ("prediction", "confidence", "reached")))
        found = nodes.join(answers, F.col(node).cast(self._about["id_type"]) == F.col("__copse_id"), "left")
        defaults = F.lit(self._about["classes"][label]).cast(self._about["label_type"]), F.lit(confidence), F.lit(False)
        shown = [F.coalesce(F.col(f"__copse_{name}"), default).alias(column) for name, default, column in zip(("prediction", "confidence", "reached"), defaults, columns)]
        return found.select(*(nodes[name] for name in nodes.columns), *shown)

    def deleteFiles(self):
        """Deletes what fit() has written to checkpointDir; the model, if it was not saved and loaded, is of no use then."""
        context = SparkSession.active().sparkContext
        path = context._jvm.org.apache.hadoop.fs.Path(self._directory)
        path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)

    def write(self):
        return _ForestWriter(self)

    @classmethod
    def read(cls):
        return _ForestReader(cls)


class _ForestWriter(MLWriter):
    def __init__(self, model):
        super().__init__()
        self._model = model

    def saveImpl(self, path):
        model = self._model
        DefaultParamsWriter.saveMetadata(model, path, self.sparkSession.sparkContext, extraMetadata={"copse": model._about})
        model._blocks.write.option("maxRecordsPerFile", 1 << 14).option("parquet.enable.dictionary", "false").parquet(f"{path}/forests")
        model._answers.write.parquet(f"{path}/answers")
        if model._ids is not None:
            model._ids.write.parquet(f"{path}/ids")


class _ForestReader(MLReader):
    def __init__(self, cls):
        super().__init__()
        self._cls = cls

    def load(self, path):
        spark = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, spark.sparkContext)
        model = self._cls()
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        model._about, model._directory = metadata["copse"], path
        model._blocks = _checked_forests(spark.read.parquet(f"{path}/forests"), model._value("numTrees"))
        model._answers = spark.read.parquet(f"{path}/answers")
        model._ids = spark.read.parquet(f"{path}/ids") if metadata["copse"]["has_ids"] else None
        for name, frame in (("answers", model._answers), ("ids", model._ids)):
            if frame is not None and (count := frame.count()) != model._about["num_nodes"]:
                raise _lost(name, count, model._about["num_nodes"])
        return model


def evaluate(spark, A, y, learners=("wta", "majority_vote"), train=0.1, splits=10, metrics=("error", "macro_f1"), *, stratified=False, unlabeled=None, seed=None, threads=1):
    """``copse.evaluate`` with one task for each learner, share and split, on a graph that fits into an executor: it is broadcast. The
    same rows and figures; `threads` is per task (spark.task.cpus)."""
    context = spark.sparkContext

    def run_all(jobs, score):
        shared = context.broadcast((jobs, score))
        try:
            return context.parallelize(range(len(jobs)), len(jobs)).map(lambda i: shared.value[1](*shared.value[0][i])).collect()
        finally:
            shared.destroy()

    rounds = _evaluate.random_rounds(train, splits, stratified)
    return _evaluate.run_rounds(A, y, learners, metrics, rounds, unlabeled, {"seed": seed, "threads": threads}, run_all)
