# SPDX-License-Identifier: Apache-2.0
"""Files of networkx, igraph and pandas are read; theirs read what copse writes."""
import json

import networkx as nx
import numpy as np
import pytest

import copse

igraph = pytest.importorskip("igraph")
NAMES = ["ann", "b c", "é日", "<&>", "d'e", "f", "g"]


def graphs():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        for weighted in (True, False):
            for named in (True, False):
                graph = nx.Graph()
                graph.add_nodes_from(NAMES if named else range(7))
                ends = NAMES if named else list(range(7))
                for u, v in {tuple(sorted(rng.choice(6, 2, replace=False))) for _ in range(9)}:
                    attributes = {"weight": float(np.float32(rng.uniform(0.1, 9)))} if weighted else {}
                    graph.add_edge(ends[u], ends[v], **attributes)
                yield graph


def edges(graph):
    """By names as text; networkx or copse."""
    graph = graph if isinstance(graph, nx.Graph) else graph.to_networkx()
    return {frozenset(map(str, pair[:2])): float(np.float32(pair[2].get("weight", 1))) for pair in graph.edges(data=True)}


def node_link(graph, path):
    path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))


WRITERS = {"graphml": nx.write_graphml, "gexf": nx.write_gexf, "gml": nx.write_gml, "net": nx.write_pajek, "json": node_link}


@pytest.mark.parametrize("suffix", WRITERS)
def test_what_networkx_writes_is_read(tmp_path, suffix):
    path = tmp_path / f"g.{suffix}"
    for graph in graphs():
        if suffix == "net":  # has no way to write some names
            graph = nx.relabel_nodes(graph, {name: str(name).replace(" ", "_").replace("'", "_") for name in graph})
        WRITERS[suffix](graph, path)
        read = copse.read_graph(path)
        assert edges(read) == edges(graph)
        assert set(map(str, read.nodes)) == set(map(str, graph.nodes))


def test_adjacency_lists_of_networkx(tmp_path):
    graph = nx.karate_club_graph()
    nx.write_adjlist(graph, tmp_path / "g.adjlist")
    assert set(edges(copse.read_graph(tmp_path / "g.adjlist"))) == {frozenset(map(str, pair)) for pair in graph.edges}


READERS = {"graphml": nx.read_graphml, "gexf": nx.read_gexf, "gml": nx.read_gml, "net": nx.read_pajek,
           "json": lambda path: nx.node_link_graph(json.loads(path.read_text()), edges="links")}


@pytest.mark.parametrize("suffix", READERS)
def test_networkx_reads_what_copse_writes(tmp_path, suffix):
    path = tmp_path / f"g.{suffix}"
    for graph in graphs():
        copse.write_graph(path, copse.Graph(graph))
        assert "<" in path.read_text() or suffix not in ("graphml", "gexf")
        back = nx.Graph(READERS[suffix](path))
        assert set(map(str, back.nodes)) == set(map(str, graph.nodes))
        assert edges(back) == edges(graph)


@pytest.mark.parametrize("suffix", ["graphml", "gml", "net"])
def test_igraph_reads_and_is_read(tmp_path, suffix):
    path = tmp_path / f"g.{suffix}"
    graph = copse.generators.grid(rows=4, columns=5, contrast=3)[0]
    copse.write_graph(path, graph)
    back = igraph.Graph.Read(str(path), format="pajek" if suffix == "net" else suffix)
    assert (back.vcount(), back.ecount()) == (20, graph.num_edges)
    assert np.isclose(sum(back.es["weight"]), graph.to_scipy().sum() / 2)
    back.write(str(path), format="pajek" if suffix == "net" else suffix)
    again = copse.read_graph(path)
    assert (again.num_nodes, again.num_edges) == (20, graph.num_edges)
    assert np.isclose(again.to_scipy().sum(), graph.to_scipy().sum())


def test_tables_of_pandas_as_json(tmp_path):
    import pandas as pd

    table = pd.DataFrame({"sender": ["a", "b"], "receiver": ["b", "c"], "amount": [2.0, 0.5]})
    expected = {frozenset("ab"): 2.0, frozenset("bc"): 0.5}
    table.to_json(tmp_path / "g.jsonl", orient="records", lines=True)
    assert edges(copse.read_graph(tmp_path / "g.jsonl")) == expected
    table.to_json(tmp_path / "g.json", orient="records")
    assert edges(copse.read_graph(tmp_path / "g.json")) == expected
    table["count"] = [1, 2]
    table.to_json(tmp_path / "g.json", orient="records")
    with pytest.raises(ValueError, match="\"amount\" and \"count\" may both be the weight"):
        copse.read_graph(tmp_path / "g.json")
    assert edges(copse.read_graph(tmp_path / "g.json", columns={"weight": "amount"})) == expected


def test_files_of_tables_are_named(tmp_path):
    import pandas as pd

    table = pd.DataFrame({"source": ["a"], "target": ["b"]})
    table.to_parquet(tmp_path / "g.csv")
    with pytest.raises(ValueError, match="this is a Parquet file, not text\n.*read_parquet"):
        copse.read_graph(tmp_path / "g.csv")
    table.to_feather(tmp_path / "g.csv")
    with pytest.raises(ValueError, match="this is an Arrow .Feather. file, not text"):
        copse.read_graph(tmp_path / "g.csv")
    table.to_pickle(tmp_path / "g.csv")
    with pytest.raises(ValueError, match="this is a Python pickle"):
        copse.read_graph(tmp_path / "g.csv")
    import sqlite3

    (tmp_path / "g.csv").unlink()
    with sqlite3.connect(tmp_path / "g.csv") as database:
        database.execute("CREATE TABLE edges (source TEXT)")
    with pytest.raises(ValueError, match="this is an SQLite database"):
        copse.read_graph(tmp_path / "g.csv")
