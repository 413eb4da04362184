#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes python/copse/*.pyi from the installed package: classes and options come from the library's registry.

    tools/make_stubs.py          after a learner, an option or a function was added

A test compares the files with what this makes.
"""
import inspect
import pathlib

import copse
from copse._estimator import GraphClassifier
from copse._registry import CLASSES

HEADER = '''# SPDX-License-Identifier: Apache-2.0
# Made by tools/make_stubs.py: do not edit.
'''
GRAPH, NODES = "GraphLike", "Sequence[Any] | NDArray[Any]"
RUN = {"seed": "int | None", "threads": "int | None", "progress": "Progress"}
BY_NAME = {
    **RUN,
    "A": GRAPH, "X": "Any", "y": "Labels", "node": "Any", "nodes": NODES, "label": "Any", "labels": NODES, "u": "Any", "v": "Any",
    "classes": "Sequence[Any]", "copy": "bool", "deep": "bool", "params": "Any", "options": "Any", "parameters": "float", "sample_weight": "Any",
    "duplicates": 'Literal["sum", "max", "min", "error"]', "weight": "Any", "num_nodes": "int | None", "path": "str | PathLike[str]",
    "format": "str", "num_trees": "int", "kind": "str", "first": "int", "index": "int", "method": "str | None", "measure": "str", "error": "float | None",
    "confidence": "float | None", "max_trees": "int | None", "return_error": "bool", "return_report": "bool", "b": "Any",
    "grounded": f"{NODES} | None", "tolerance": "float | None", "max_iterations": "int | None", "rows": NODES, "columns": "Any",
    "x": "Any", "k": "int | None", "metric": "str | None", "weights": "str | None", "symmetrize": "str | None", "radius": "float | None",
    "complete": "bool", "embedding": "bool", "scale": "float | None", "connect": "bool", "recall": "float | None", "name": "str", "learner": "str", "strategy": "str | None", "candidates": f"{NODES} | None", "signed": "bool",
    "source": "str | None", "target": "str | None", "unlabeled": "Any", "prior": "Any", "prior_weight": "float", "class_sizes": "Any", "hints": "Any", "learners": "Any", "train": "float | int | Sequence[float | int]", "splits": "int",
    "metrics": "Any", "stratified": "bool", "folds": "int", "run": "Any", "repeats": "bool", "tree": "str | None",
}  # fmt: skip
RETURNS = {
    "fit": "Self", "start": "Self", "set_params": "Self", "get_params": "dict[str, Any]", "predict": "NDArray[Any]",
    "predict_proba": "NDArray[np.float64]", "fit_predict": "NDArray[Any]", "score": "float", "predict_one": "Any",
    "predict_proba_one": "dict[Any, float]", "learn_one": "None", "unlearn_one": "None", "add_node": "None", "add_edge": "None", "remove_edge": "None", "learn_many": "None", "predict_many": "NDArray[Any]", "partial_fit": "Self", "decision_function": "NDArray[np.float64]",
    "transduction_": "NDArray[Any]", "label_distributions_": "NDArray[np.float64]", "find": "NDArray[np.int64]",
    "evaluate": "Table", "cross_validate": "Table", "summary": "Table", "play": "NDArray[Any]",
    "explain": "Explanation", "graph_": "Graph", "reached_": "NDArray[np.bool_]", "confidence_": "NDArray[np.float64]",
    "notes_": "list[str]", "interrupted_": "bool", "from_edges": "Graph", "num_nodes": "int", "num_edges": "int", "is_weighted": "bool", "is_signed": "bool",
    "nodes": "Sequence[Any]", "index": "int", "indices": "NDArray[np.uint32]", "to_scipy": "Any", "to_networkx": "Any",
    "components": "NDArray[np.int64]", "info": "dict[str, Any]", "roots": "NDArray[np.int64]", "edges": "NDArray[np.int64]",
    "line": "tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32]]", "kernel": "TreeKernel", "diagonal": "NDArray[np.float64]",
    "entry": "Any", "resistance": "Any", "gram": "NDArray[np.float64]", "multiply": "NDArray[np.float64]", "learners": "list[dict[str, Any]]",
    "learner": "GraphClassifier", "neighbors_graph": "Graph", "example_graph": "Graph", "read_graph": "Graph", "write_graph": "None",
    "random_spanning_tree": "SpanningTree", "random_spanning_trees": "list[SpanningTree]", "minimum_spanning_tree": "SpanningTree",
    "tree_kernel": "TreeKernel", "resistance_diameter": "tuple[float, float]", "query": "list[Query]", "strategies": "list[dict[str, Any]]", "bounds": "dict[str, Any]",
}  # fmt: skip
ATTRIBUTES = {
    "Graph": {"is_view": "bool", "report": "dict[str, Any]"},
    "SpanningTree": {"parent": "NDArray[np.int32]", "weight": "NDArray[np.float32]", "order": "NDArray[np.int32]", "nodes": "Sequence[Any]", "path": "str"},
    "GraphClassifier": {"classes_": "NDArray[Any]"},
    "Explanation": {"node": "Any", "label": "Any", "confidence": "float", "reached": "bool", "votes": "dict[Any, float]", "reasons": "list[Reason]"},
    "Query": {"node": "Any", "score": "float"},
    "Reason": {"node": "Any", "label": "Any", "share": "float", "resistance": "float"},
}
PREAMBLE = '''from os import PathLike
from typing import Any, Callable, Literal, Mapping, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from . import generators as generators
from ._client import Client as Client
from ._client import ServerError as ServerError

GraphLike = Any  # what copse.Graph takes
Labels = Any  # an array, list, dictionary, Series, table, sets, matrix of 0 and 1, or path
Progress = Callable[[str, int, int], Any] | bool | None

__version__: str
'''


def parameter_text(parameter, types):
    prefix = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
    kind = types.get(parameter.name, "Any")
    if parameter.default is None and kind not in ("Any", "Progress") and "None" not in kind:
        kind += " | None"
    text = prefix + parameter.name + ("" if parameter.name == "self" or parameter.name == "cls" else f": {kind}")
    return text + ("" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}")


def signature_text(call, types=BY_NAME):
    parts, starred = [], False
    for parameter in inspect.signature(call).parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        parts.append(parameter_text(parameter, types))
    return ", ".join(parts)


def function_text(name, call, indent="", types=BY_NAME):
    returns = RETURNS.get(name, "Any")
    return f"{indent}def {name}({signature_text(call, types)}) -> {returns}: ...\n"


def option_types(options):
    names = {"int": "int", "bool": "bool", "number": "float"}
    types = {o["name"]: names.get(o["type"]) or "Literal[" + ", ".join(f'"{c}"' for c in o["type"].split("|")) + "]" for o in options}
    return {**types, "neighbors": "int | dict[str, Any] | None", "seed": "int", "threads": "int | None", "progress": "Progress"}


def class_text(cls):
    name = cls.__name__
    attributes = ATTRIBUTES.get(name, {})
    if issubclass(cls, tuple):
        return f"class {name}(NamedTuple):\n" + "".join(f"    {key}: {kind}\n" for key, kind in attributes.items())
    if issubclass(cls, (Exception, Warning)):
        return f"class {name}({cls.__base__.__name__}): ...\n"
    if cls.__base__ is GraphClassifier:
        return f"class {name}(GraphClassifier):\n    def __init__({signature_text(cls.__init__, option_types(cls._options))}, random_state: Any = ..., n_jobs: int | None = ...) -> None: ...\n"
    base = "(list[dict[str, Any]])" if issubclass(cls, list) else ""
    text = f"class {name}{base}:\n" + "".join(f"    {key}: {kind}\n" for key, kind in attributes.items())
    if name == "Graph":
        text += f"    def __init__({signature_text(cls.__init__)}) -> None: ...\n    def __len__(self) -> int: ...\n"
    for key, member in vars(cls).items():
        if key.startswith("_"):
            continue
        if isinstance(member, property):
            text += f"    @property\n    def {key}(self) -> {RETURNS.get(key, 'Any')}: ...\n"
        elif isinstance(member, classmethod):
            text += "    @classmethod\n" + function_text(key, member.__func__, "    ")
        elif inspect.isfunction(member):
            text += function_text(key, member, "    ")
    return text


def stubs():
    """File name to text."""
    parts = []
    for name in sorted(vars(copse)):
        thing = getattr(copse, name)
        if name.startswith("_") or inspect.ismodule(thing) or not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        if thing.__module__ == "copse._client":  # typed where it stands
            continue
        parts.append(class_text(thing) if inspect.isclass(thing) else function_text(name, thing))
    families = []
    for row in copse.generators.ROWS:
        types = {p["name"]: "int" if p["is_whole"] else "float" for p in row["parameters"]}
        text = function_text(row["name"], getattr(copse.generators, row["name"]), types={**RUN, **types})
        families.append(text.replace("-> Any", "-> tuple[Graph, NDArray[Any] | None]"))
    families.append(function_text("generate", copse.generators.generate).replace("-> Any", "-> tuple[Graph, NDArray[Any] | None]"))
    generators = "from typing import Any, Callable\n\nfrom numpy.typing import NDArray\n\nfrom . import Graph\n\n"
    generators += "Progress = Callable[[str, int, int], Any] | bool | None\n\nROWS: list[dict[str, Any]]\n\n"
    assert len(CLASSES) <= len(parts)
    return {"__init__.pyi": HEADER + PREAMBLE + "\n" + "\n".join(parts), "generators.pyi": HEADER + generators + "".join(families)}


if __name__ == "__main__":
    for file, content in stubs().items():
        (pathlib.Path(__file__).resolve().parents[1] / "python" / "copse" / file).write_text(content, encoding="utf-8")
