# SPDX-License-Identifier: Apache-2.0
"""One class per learner, made from the library's registry: names, options, defaults and descriptions live there."""
import inspect

from . import _core
from ._estimator import GraphClassifier
from ._settings import with_other_names

_ACRONYMS = {"wta": "WTA"}
_RUN_HELP = {
    "neighbors": ("int, dict or None", "for points: k, or the arguments of copse.neighbors_graph"),
    "seed": ("int", "the same seed gives the same answers, on any number of threads; random_state is another name for it"),
    "threads": ("int or None", "all processors by default; n_jobs is another name for it"),
    "progress": ("callable, True or None", "called as (stage, done, total) by the calling thread, may return False to stop; True draws a bar"),
}
_EXAMPLE = """
    >>> import copse
    >>> learner = copse.{name}().fit(copse.example_graph(), {{"ann": "red", "eve": "blue"}})
    >>> len(learner.predict())
    6
    >>> print(learner.predict_one("ann"))
    red
"""


def class_name(learner):
    return _ACRONYMS.get(learner) or "".join(part.capitalize() for part in learner.split("_"))


def parsed_default(option):
    text = option["default"]
    if option["type"] == "bool":
        return text == "true"
    return int(text) if option["type"] == "int" else float(text) if option["type"] == "number" else text


def type_text(option):
    if option["type"] in ("int", "bool"):
        return option["type"]
    if option["type"] == "number":
        return "float"
    return "{" + ", ".join(f'"{choice}"' for choice in option["type"].split("|")) + "}"


def _doc(row):
    lines = [f"{row['idea'][0].upper()}{row['idea'][1:]}.", "", f"{row['paper']}. Cost: {row['cost']}."]
    if row["depends_on_order"]:
        lines += ["What it learns depends on the order of the labels."]
    lines += [f"docs/learners/{row['name']}.md tells when to choose it.", "", "Parameters", "----------"]
    for option in row["options"]:
        lines += [f"{option['name']} : {type_text(option)}, default {parsed_default(option)!r}"]
        lines += [f"    {option['help']}" + (f" ({option['range']})" if option["range"] else "")]
    for name, (kind, text) in _RUN_HELP.items():
        lines += [f"{name} : {kind}", f"    {text}"]
    lines += ["", "Examples", "--------"]
    return "\n    ".join(lines) + _EXAMPLE.format(name=class_name(row["name"]))


def make_class(row):
    options = [{**option, "default": parsed_default(option)} for option in row["options"]]
    defaults = {option["name"]: option["default"] for option in options}
    defaults.update(neighbors=None, seed=_core.default_seed, threads=None, progress=None)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [inspect.Parameter(name, keyword, default=value) for name, value in defaults.items()]

    def __init__(self, **given):
        given = with_other_names(given)
        for name in given:
            if name not in defaults:
                raise TypeError(f"{type(self).__name__} has no option {name!r}\n  its options are {', '.join(defaults)}")
        for name, value in defaults.items():
            setattr(self, name, given.get(name, value))

    name = class_name(row["name"])
    __init__.__signature__ = inspect.Signature(parameters)
    __init__.__qualname__ = f"{name}.__init__"
    body = {
        "__init__": __init__,
        "__doc__": _doc(row),
        "__module__": "copse",
        "_learner": row["name"],
        "_options": options,
        "_depends_on_order": row["depends_on_order"],
    }
    return type(name, (GraphClassifier,), body)


CLASSES = {row["name"]: make_class(row) for row in _core.learners()}


def learners():
    """The registry: name, idea, cost, paper and options of every learner.

    >>> [row["name"] for row in copse.learners()][:2]
    ['auto', 'wta']
    """
    return _core.learners()


def learner(name, **options):
    """The learner of that name: ``copse.learner("wta", num_trees=101)`` is ``copse.WTA(num_trees=101)``."""
    if name not in CLASSES:
        raise ValueError(f'learner: "{name}" is not known\n  the learners are {", ".join(CLASSES)}')
    return CLASSES[name](**options)
