# SPDX-License-Identifier: Apache-2.0
"""copse predicts the labels of a graph's nodes from the few that are known, online, at the speed of reading the graph.

>>> import copse
>>> learner = copse.WTA(num_trees=101).fit(copse.example_graph(), {"ann": "red", "eve": "blue"})
>>> dict(zip(learner.graph_.nodes, learner.predict().tolist()))
{'ann': 'red', 'bob': 'red', 'cid': 'red', 'dora': 'blue', 'eve': 'blue', 'fay': 'blue'}
"""
from . import generators
from ._client import Client, ServerError
from ._core import Cancelled, InputError, UsageError, __version__
from ._estimator import Explanation, GraphClassifier, Reason
from ._evaluate import Table, cross_validate, evaluate
from ._graph import Graph, GraphWarning, example_graph, read_graph, write_graph
from ._points import neighbors_graph
from ._query import Query, bounds, query, strategies
from ._registry import CLASSES as _CLASSES
from ._registry import learner, learners
from ._tools import (
    SpanningTree,
    TreeKernel,
    effective_resistance,
    explain,
    laplacian_pinv_diagonal,
    laplacian_solve,
    minimum_spanning_tree,
    random_spanning_tree,
    random_spanning_trees,
    resistance_diameter,
    tree_kernel,
)

globals().update({cls.__name__: cls for cls in _CLASSES.values()})
for _error in (InputError, UsageError, Cancelled):
    _error.__module__ = "copse"
