# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

import pytest

import copse

IDS = ["a", "b c", "#d", "%", '"', "'", ",", "é", "日本", " ", "u", "v", "source", "target", "1", "007", "", "\\", "a\tb", "a\nb", "a\rb", "a\0b"]


@pytest.mark.parametrize("suffix", ["tsv", "copse", "tsv.gz"])
@pytest.mark.parametrize("name", IDS)
def test_an_id_is_refused_or_read_back(tmp_path, name, suffix):
    graph = copse.Graph.from_edges([name, "x", "y"], ["x", "y", name + "z"])
    path = tmp_path / f"g.{suffix}"
    if any(c in name for c in "\t\n\r\0"):
        with pytest.raises(ValueError, match="holds a tab, a line end or a zero byte"):
            copse.write_graph(path, graph)
        assert not path.exists()
        return
    if name == "" and "tsv" in suffix:
        with pytest.raises(ValueError, match="has an empty id"):
            copse.write_graph(path, graph)
        return
    copse.write_graph(path, graph)
    back = copse.read_graph(path)
    assert set(back.nodes) == set(graph.nodes)
    assert back.num_edges == graph.num_edges


def test_ids_that_are_the_same_as_text_are_not_written(tmp_path):
    import networkx as nx

    graph = copse.Graph(nx.Graph([(1, "1"), ("1", 2)]))
    with pytest.raises(ValueError, match="two nodes are called '1' when written\n  give ids"):
        copse.write_graph(tmp_path / "g.tsv", graph)


def test_a_file_that_is_cut_while_a_graph_uses_it_is_named_before_the_end(tmp_path):
    path = tmp_path / "g.copse"
    copse.write_graph(path, copse.generators.grid(rows=30, columns=30)[0])
    script = f"""
import copse, os
graph = copse.read_graph({str(path)!r})
os.truncate({str(path)!r}, 0)
copse.WTA().fit(graph, {{0: "a", 899: "b"}}).predict()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode != 0
    assert f"{path}: the file was cut short, or its disk failed, while it was in use\n  run again" in done.stderr
