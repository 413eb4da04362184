# SPDX-License-Identifier: Apache-2.0
"""The papers' families of graphs, a function each, made from the library's rows.

>>> graph, labels = copse.generators.grid()
>>> graph.num_nodes > 0
True
"""
import inspect

from . import _core
from ._graph import Graph
from ._labels import Classes
from ._settings import real_number, settings, word


def generate(name, *, seed=None, threads=None, progress=None, **parameters):
    """A graph of that family, and its labels where the family has them (else None): a pure function of the seed."""
    values = [(key, real_number(value, key)) for key, value in parameters.items()]
    core, codes, names = _core.generate(word(name, "name"), values, settings(seed, threads, progress))
    return Graph._of(core), Classes(names).decode(codes) if names else None


def _family(row):
    defaults = {p["name"]: p["default"] for p in row["parameters"]}

    def family(*, seed=None, threads=None, **parameters):
        return generate(row["name"], seed=seed, threads=threads, **parameters)

    keyword = inspect.Parameter.KEYWORD_ONLY
    named = [inspect.Parameter(key, keyword, default=value) for key, value in {**defaults, "seed": None, "threads": None}.items()]
    lines = [f"{row['description']}.", "", "Returns the graph and its labels (None where the family has none).", "", "Parameters", "----------"]
    for p in row["parameters"]:
        lines += [f"{p['name']} : {'int' if p['is_whole'] else 'float'}, default {p['default']}", f"    {p['help']}"]
    family.__name__ = family.__qualname__ = row["name"]
    family.__module__ = __name__
    family.__doc__ = "\n    ".join(lines)
    family.__signature__ = inspect.Signature(named)
    return family


ROWS = _core.generators()
globals().update({row["name"]: _family(row) for row in ROWS})
__all__ = ["generate", *(row["name"] for row in ROWS)]
