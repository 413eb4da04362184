# SPDX-License-Identifier: Apache-2.0
"""copse.spark on real Spark, against the learner that has all edges in memory."""
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse.csgraph

import copse

pytest.importorskip("pyspark", reason="copse.spark: pip install pyspark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("copse.spark: needs Java (openjdk-17-jre-headless)", allow_module_level=True)

import pyarrow as pa  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

from copse.spark import ForestClassifier, ForestModel, evaluate  # noqa: E402

TREES, SEED, NODES = 5, 5, 3000
SETTINGS = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3", "spark.driver.memory": "1g", "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1", "spark.ui.showConsoleProgress": "false", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN", "spark.sql.adaptive.enabled": "false"}  # fmt: skip
os.environ["PYSPARK_PYTHON"] = sys.executable


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    builder = SparkSession.builder.master("local[2]").appName("test_spark")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.config("spark.local.dir", str(tmp_path_factory.mktemp("spark"))).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.sparkContext.setCheckpointDir(str(tmp_path_factory.mktemp("checkpoints")))
    yield session
    session.stop()


def edges_of(weighted, seed=1):
    """More edges than two per node, so that there is a second scan; some nodes have none."""
    random = np.random.default_rng(seed)
    u, v = (NODES * random.random((2, 30000)) ** 1.7).astype(np.int64)
    keep = u < v
    u, v = np.unique(np.stack([u[keep], v[keep]]), axis=1)
    return u, v, random.uniform(0.1, 8, len(u)).astype(np.float32) if weighted else None


LABELS = {int(node): f"class {node % 3}" for node in range(0, NODES, 17)}


def frames(spark, u, v, weight, partitions=3, name=int):
    import pandas

    columns = {"src": [name(x) for x in u], "dst": [name(x) for x in v]}
    if weight is not None:
        columns["weight"] = weight
    edges = spark.createDataFrame(pandas.DataFrame(columns)).repartition(partitions)
    labels = spark.createDataFrame([(name(node), label) for node, label in LABELS.items()], ["id", "label"])
    return edges, labels


def answers(model, spark, nodes=range(NODES), name=int):
    rows = model.transform(spark.createDataFrame([(name(node), int(node)) for node in nodes], ["id", "node"])).orderBy("node").collect()
    return [row.prediction for row in rows], [row.confidence for row in rows], [row.reached for row in rows]


def in_memory(u, v, weight, learner="wta", labels=LABELS):
    graph = copse.Graph.from_edges(u, v, weight, num_nodes=NODES)
    model = copse.learner(learner, tree="random_key", num_trees=TREES, seed=SEED, threads=1).fit(graph, labels)
    return list(model.predict()), list(model.confidence_), list(model.reached_)


def classifier(**options):
    return ForestClassifier(**{"numTrees": TREES, "seed": SEED, "numNodes": NODES, **options})


@pytest.mark.parametrize("partitions, weighted, learner, at_once", [(1, False, "wta", 5), (7, True, "wta", 2), (64, False, "tree_cut", 5)])
def test_answers_are_those_of_one_machine_for_any_partitions(spark, partitions, weighted, learner, at_once):
    u, v, weight = edges_of(weighted)
    edges, labels = frames(spark, u, v, weight, partitions)
    told = []
    options = {"weightCol": "weight"} if weighted else {}
    model = classifier(learner=learner, maxBroadcastBytes=4 * NODES * at_once, **options).fit(edges, labels, progress=lambda *row: told.append(row))
    assert answers(model, spark) == in_memory(u, v, weight, learner)
    scans = 1 + -(-TREES // at_once)
    assert {name for name, _, _ in told} >= {*(f"scan {scan} of {scans}" for scan in range(1, scans + 1)), "votes"}
    assert [row for row in told if row[0] == f"scan 2 of {scans}"][-1][1:] == (len(u), len(u))


def test_names_are_numbered_in_their_order(spark):
    u, v, _ = edges_of(False)
    used = np.unique(np.concatenate([u, v]))
    name = "node {:05d}".format
    edges, _ = frames(spark, u, v, None, name=name)
    known = {node: label for node, label in LABELS.items() if node in set(used.tolist())}
    labels = spark.createDataFrame([(name(node), label) for node, label in known.items()] + [(name(int(used[1])), None)], "id string, label string")
    model = ForestClassifier(numTrees=TREES, seed=SEED).fit(edges, labels)
    graph = copse.Graph.from_edges(np.searchsorted(used, u), np.searchsorted(used, v), num_nodes=len(used))
    twin = copse.WTA(tree="random_key", num_trees=TREES, seed=SEED).fit(graph, {int(np.searchsorted(used, node)): label for node, label in known.items()})
    assert answers(model, spark, used, name) == (list(twin.predict()), list(twin.confidence_), list(twin.reached_))
    assert model.forests.count() == TREES * (len(used) - scipy.sparse.csgraph.connected_components(graph.to_scipy())[0])
    assert set(model.forests.select("src").limit(5).toPandas()["src"].str[:5]) == {"node "}
    stranger = answers(model, spark, [10**6], name)
    assert stranger == (["class 0"], stranger[1], [False]), "a node without edges: as one that no label reaches"


def test_repeated_edges_add_up_on_request(spark):
    u, v, weight = edges_of(True)
    twice = [np.concatenate([a, b]) for a, b in ((u, v), (v, u), (weight, weight))]
    edges, labels = frames(spark, *twice)
    model = classifier(weightCol="weight", duplicates="sum").fit(edges, labels)
    assert answers(model, spark) == in_memory(u, v, 2 * weight)


def test_a_saved_model_gives_the_same_answers_and_learns_other_labels(spark, tmp_path):
    u, v, weight = edges_of(True)
    edges, labels = frames(spark, u, v, weight)
    model = classifier(weightCol="weight", checkpointDir=str(tmp_path / "work")).fit(edges, labels)
    expected = in_memory(u, v, weight)
    model.write().save(str(tmp_path / "model"))
    model.deleteFiles()
    loaded = ForestModel.load(str(tmp_path / "model"))
    assert answers(loaded, spark) == expected
    assert loaded.getNumTrees() == TREES and loaded.classes == ["class 0", "class 2", "class 1"]
    others = {node: node % 2 for node in range(5, NODES, 31)}
    relabelled = loaded.withLabels(spark.createDataFrame(list(others.items()), "id long, label int"))
    assert answers(relabelled, spark) == in_memory(u, v, weight, labels=others)
    estimator = classifier(weightCol="weight")
    estimator.save(str(tmp_path / "estimator"))
    assert ForestClassifier.load(str(tmp_path / "estimator")).getSeed() == SEED
    os.remove(glob.glob(str(tmp_path / "model/forests/part-*.parquet"))[0])
    with pytest.raises(RuntimeError, match="were read back of"):
        ForestModel.load(str(tmp_path / "model"))


GOOD = [(0, 1, 1.0), (1, 2, 2.0)]


@pytest.mark.parametrize(
    "rows, known, options, text",
    [
        ([(0, None, 1.0), *GOOD], [(0, "a")], {}, '1 of 3 rows have no "dst".*leave them out'),
        ([(0, 1, -0.5), *GOOD], [(0, "a")], {"weightCol": "weight"}, "1 of 3 weights are no positive numbers, as -0.5 of the edge 0 1"),
        ([(0, 1, float("nan")), *GOOD], [(0, "a")], {"weightCol": "weight"}, "no positive numbers, as nan"),
        ([(0, 1, None), *GOOD], [(0, "a")], {"weightCol": "weight"}, "no positive numbers, as None"),
        (GOOD, [(0, "a")], {"srcCol": "from"}, 'edges: there is no column "from".*src, dst, weight.*srcCol='),
        (GOOD, [(0, "a")], {"labelCol": "class"}, 'labels: there is no column "class".*labelCol='),
        (GOOD, [(0, "a"), (7, "b")], {}, '1 of 2 are of nodes that no edge has, as "id" 7'),
        (GOOD, [(0, "a"), (0, "b")], {}, "node 0 has two, a and b"),
        (GOOD, [(0, None)], {}, "no node has one"),
        (GOOD, [(0, "a")], {"numNodes": 2}, "is 2, and the ends of edges are 0 to 2"),
        (GOOD, [(0, "a")], {"numNodes": 2**33}, "8,589,934,592 nodes are more than 4,294,967,294"),
        (GOOD, [(0, "a")], {"numTrees": 0}, "numTrees: 0 is not one of 1 ... 10,000"),
        (GOOD, [(0, "a")], {"learner": "auto"}, "choose wta or tree_cut"),
        ([], [(0, "a")], {}, "edges: there are none"),
    ],
)
def test_bad_tables_say_what_to_do(spark, rows, known, options, text):
    edges = spark.createDataFrame(rows, "src long, dst long, weight double")
    with pytest.raises(ValueError, match="(?s)" + text):
        ForestClassifier(**{"numTrees": 1, **options}).fit(edges, spark.createDataFrame(known, "id long, label string"))


def test_bad_calls_say_what_to_do(spark):
    edges = spark.createDataFrame(GOOD, "src long, dst long, weight double")
    labels = spark.createDataFrame([(0, "a")], "id long, label string")
    with pytest.raises(ValueError, match="call fit\\(edges, labels\\)"):
        ForestClassifier().fit(edges)
    with pytest.raises(ValueError, match="give both as whole numbers"):
        ForestClassifier().fit(edges.withColumn("src", F.col("src").cast("string")), labels)
    model = ForestClassifier(numTrees=1).fit(edges, labels)
    with pytest.raises(ValueError, match='there is a column "prediction" already'):
        model.transform(labels.withColumn("prediction", F.lit(1)))


def test_edges_that_change_between_scans_are_refused(spark):
    u, v, _ = edges_of(False)
    edges, labels = frames(spark, u, v, None)

    def shaken(batches):
        for batch in batches:
            yield pa.RecordBatch.from_arrays([batch.column(0), pa.array(np.random.default_rng().integers(0, NODES, batch.num_rows))], ["src", "dst"])

    shaky = edges.mapInArrow(shaken, edges.schema)
    with pytest.raises(RuntimeError, match="not the same at every reading"):
        classifier().fit(shaky, labels)


def test_evaluation_has_the_figures_of_one_machine(spark):
    graph, y = copse.generators.grid(rows=12, columns=12)[0], np.arange(144) // 72
    arguments = dict(learners=["wta", copse.LabelPropagation()], train=[0.1, 5], splits=2, seed=3)
    plain = [{key: value for key, value in row.items() if key != "seconds"} for row in copse.evaluate(graph, y, **arguments)]
    assert [{key: value for key, value in row.items() if key != "seconds"} for row in evaluate(spark, graph, y, **arguments)] == plain


CLUSTER = """
    import os, signal, sys
    sys.path.insert(0, {tests!r})
    from test_spark import *

    def kill_once(batches):
        # The first task that comes here kills its executor: the worker's parent is Python's daemon, whose parent that is.
        for batch in batches:
            try:
                os.close(os.open({marker!r}, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                yield batch
                continue
            daemon = os.getppid()
            stat = open(f"/proc/{{daemon}}/stat").read()
            os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)

    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.executor.extraJavaOptions", SETTINGS["spark.driver.extraJavaOptions"])
    spark = builder.config("spark.executor.memory", "512m").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    u, v, weight = edges_of(True)
    edges, labels = frames(spark, u, v, weight, 4)
    edges.write.parquet({work!r} + "/edges")
    edges = spark.read.parquet({work!r} + "/edges").mapInArrow(kill_once, edges.schema)
    model = classifier(weightCol="weight", checkpointDir={work!r} + "/checkpoints").fit(edges, labels)
    assert os.path.exists({marker!r}), "no executor was killed"
    assert answers(model, spark) == in_memory(u, v, weight)
    print("equal")
    spark.stop()
"""


def test_answers_are_the_same_when_an_executor_is_killed(tmp_path):
    work = {"tests": str(pathlib.Path(__file__).parent), "work": str(tmp_path), "marker": str(tmp_path / "killed")}
    script = textwrap.dedent(CLUSTER).format(**work)
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0 and "equal" in run.stdout, run.stdout + run.stderr
