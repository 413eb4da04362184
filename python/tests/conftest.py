# SPDX-License-Identifier: Apache-2.0
"""What tests share: small graphs, the friends of the README, the program, and the switch for slow tests."""
import os
import pathlib
import shutil

import numpy as np
import pytest
import scipy.sparse as sp

import copse

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRIENDS = "ann bob 3\nbob cid 2\ncid ann 1\ncid dora 0.1\ndora eve 4\neve fay 3\nfay dora 1\n"
KNOWN = "ann red\neve blue\n"
LEARNERS = [row["name"] for row in copse.learners()]


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run tests that take long or much memory")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))


@pytest.fixture
def friends(tmp_path):
    (tmp_path / "friends.txt").write_text(FRIENDS)
    (tmp_path / "known.txt").write_text(KNOWN)
    return tmp_path


@pytest.fixture(scope="session")
def program():
    """The command line, if it was built: COPSE_PROGRAM, or where make leaves it."""
    for path in (os.environ.get("COPSE_PROGRAM"), ROOT / "build" / "copse", ROOT / "build" / "release" / "copse", shutil.which("copse")):
        if path and pathlib.Path(path).is_file():
            return str(path)
    pytest.skip("the copse program is not built: make build, or set COPSE_PROGRAM")


def random_graph(num_nodes, num_edges, seed, dtype=np.float32):
    """A connected weighted graph as a canonical CSR matrix: a random tree and random edges."""
    rng = np.random.default_rng(seed)
    child = np.arange(1, num_nodes)
    parent = (rng.random(num_nodes - 1) * child).astype(np.int64)
    more = rng.integers(0, num_nodes, (2, max(0, num_edges - num_nodes + 1)))
    u, v = np.concatenate([child, more[0]]), np.concatenate([parent, more[1]])
    u, v = u[u != v], v[u != v]
    low, high = np.minimum(u, v), np.maximum(u, v)
    low, high = np.unique(np.stack([low, high]), axis=1)
    weight = rng.uniform(0.1, 3, low.size).astype(np.float32)
    rows, columns = np.concatenate([low, high]), np.concatenate([high, low])
    A = sp.csr_array((np.concatenate([weight, weight]).astype(dtype), (rows.astype(np.int32), columns.astype(np.int32))), shape=(num_nodes, num_nodes))
    A.sort_indices()
    return A


def some_labels(num_nodes, num_classes, share, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, num_classes, num_nodes)
    y[rng.random(num_nodes) > share] = -1
    y[:num_classes] = np.arange(num_classes)
    return y
