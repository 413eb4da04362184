# SPDX-License-Identifier: Apache-2.0
"""What copse.spark runs in the executors: generators over Arrow batches. Apart from it because workers import this module, and should
not wait for Spark's own.

Columns of a tree travel in blocks, a row of binary values each."""
import itertools
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.compute

from . import forests

BLOCK = 1 << 11  # entries of a binary value: 8 KiB, so that as many rows as there are edges in a batch are no burden
NODES = 1 << 12  # nodes of a block of votes
GATHER = 1 << 17  # edges that one call of the library looks at
EDGES_SCHEMA = "slot int, tree int, u binary, v binary, weight binary"
FOREST_SCHEMA = "tree int, edges long, part int, u binary, v binary, weight binary, component binary"
VOTES_SCHEMA = "block int, tree int, label binary, nearness binary"
TOTALS = -1  # "tree" of the rows that say what a scan has seen


def _bytes(column):
    return None if column is None else column.tobytes()


def _rows(schema, rows):
    names = [field.split()[0] for field in schema.split(", ")]
    kinds = {"int": pa.int32(), "long": pa.int64(), "binary": pa.binary()}
    fields = [pa.field(name, kinds[field.split()[1]]) for name, field in zip(names, schema.split(", "))]
    return pa.RecordBatch.from_arrays([pa.array([row.get(f.name) for row in rows], f.type) for f in fields], schema=pa.schema(fields))


def _in_batches(schema, rows):
    """A batch of one row would cost more than the row."""
    rows = iter(rows)
    while some := list(itertools.islice(rows, 512)):
        yield _rows(schema, some)


def _gathered(batches):
    """(u, v, weight or None) of so many edges at a time that calls cost nothing beside their work."""
    held, count = [], 0

    def take():
        columns = [np.concatenate([batch.column(i).to_numpy(zero_copy_only=False) for batch in held]) for i in range(held[0].num_columns)]
        return columns[0].view(np.uint64), columns[1].view(np.uint64), columns[2] if len(columns) > 2 else None

    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= GATHER:
            yield take()
            held, count = [], 0
    if count:
        yield take()


def _of_trees(columns):
    """(tree, its part of the columns) of edges that come tree by tree."""
    tree, *columns = columns
    ends = np.flatnonzero(np.diff(tree)) + 1
    for begin, end in zip([0, *ends], [*ends, tree.size]):
        if begin != end:
            yield int(tree[begin]), [None if column is None else column[begin:end] for column in columns]


def scan(batches, keep, slots, told):
    """Blocks of the edges that `keep` keeps, and what was seen: how many, and a sum by which another scan sees that they changed."""
    kept, size, seen, total = {}, 0, 0, np.uint64(0)

    def blocks():
        for t, parts in kept.items():
            u, v, weight = (None if column[0] is None else np.concatenate(column) for column in zip(*parts))
            for at in range(0, u.size, BLOCK):
                cut = slice(at, at + BLOCK)
                block = {"u": _bytes(u[cut]), "v": _bytes(v[cut]), "weight": None if weight is None else _bytes(weight[cut])}
                yield {"slot": slots[t], "tree": t, **block}

    for u, v, weight in _gathered(batches):
        seen += u.size
        with np.errstate(over="ignore"):
            total += u.sum() * np.uint64(3) + v.sum()
        for columns in keep(u, v, weight):
            for t, part in _of_trees(columns[:4]):
                kept.setdefault(t, []).append(part)
            size += columns[0].size
        if size >= 8 * len(slots) * BLOCK:
            yield from _in_batches(EDGES_SCHEMA, blocks())
            kept, size = {}, 0
        told.add(int(u.size))
    yield from _in_batches(EDGES_SCHEMA, blocks())
    yield _rows(EDGES_SCHEMA, [{"slot": slots[0], "tree": TOTALS, "u": np.array([seen, total], np.uint64).tobytes()}])


def small_keys(num_nodes, seed, num_trees, bound):
    def keep(u, v, weight):
        for first in range(0, num_trees, forests.MOST_TREES_AT_ONCE):
            yield forests.small_key_edges(u, v, weight, num_nodes=num_nodes, num_trees=min(forests.MOST_TREES_AT_ONCE, num_trees - first), bound=bound, seed=seed, first_tree=first)

    return keep


_latest = (None, None)  # a worker serves many partitions of a scan: which nodes are outside the giants is found once


def _outside_giants(number, components, first):
    global _latest
    if _latest[0] != number:
        _latest = None, None  # room for the next one
        _latest = number, forests.Crossing(components.value, first)
    return _latest[1]


def crossing(components, first):
    number = uuid.uuid4().hex

    def keep(u, v, weight):
        yield _outside_giants(number, components, first).edges(u, v, weight)

    return keep


def _groups(batches, name):
    """(value, its rows) by a column. A partition is all there before the first: it is one tree, or a few blocks of nodes."""
    groups = {}
    for batch in batches:
        for row in batch.to_pylist():
            groups.setdefault(row[name], []).append(row)
    while groups:
        yield groups.popitem()


def joined(rows, name, dtype):
    return np.concatenate([np.frombuffer(row[name], dtype) for row in rows])


def _columns(rows, is_weighted):
    return joined(rows, "u", np.uint32), joined(rows, "v", np.uint32), joined(rows, "weight", np.float32) if is_weighted else None


def spanning_forests(batches, num_nodes, seed, is_weighted, has_components):
    """The spanning forest of the edges of each tree, and which component a node is in."""

    def rows_of(tree, rows):
        if tree == TOTALS:
            with np.errstate(over="ignore"):
                yield {"tree": tree, "u": sum(np.frombuffer(row["u"], np.uint64) for row in rows).tobytes()}
            return
        u, v, weight, _, component = forests.spanning_edges(*_columns(rows, is_weighted), num_nodes=num_nodes, tree=tree, seed=seed)
        about = {"tree": tree, "edges": u.size}
        for at in range(0, max(u.size, 1), BLOCK):
            cut = slice(at, at + BLOCK)
            block = {"u": u[cut].tobytes(), "v": v[cut].tobytes(), "weight": weight[cut].tobytes() if is_weighted else None}
            yield {**about, "part": at // BLOCK, **block}
        for at in range(0, num_nodes if has_components else 0, BLOCK):
            yield {**about, "part": at // BLOCK, "component": component[at : at + BLOCK].tobytes()}

    for tree, rows in _groups(batches, "tree"):
        yield from _in_batches(FOREST_SCHEMA, rows_of(tree, rows))


def votes(batches, about, labels):
    """What each tree says of every node."""
    nodes, codes = labels.value
    visible = np.full(about["num_nodes"], forests.UNLABELLED, np.uint16)
    visible[nodes] = codes
    for tree, rows in _groups(batches, "tree"):
        label, nearness = forests.tree_votes(*_columns(rows, about["is_weighted"]), tree=tree, labels=visible, **about["rule"])
        cuts = (slice(at, at + NODES) for at in range(0, visible.size, NODES))
        yield from _in_batches(VOTES_SCHEMA, ({"block": block, "tree": tree, "label": label[cut].tobytes(), "nearness": nearness[cut].tobytes()} for block, cut in enumerate(cuts)))


def answers(batches, about, labels, classes, counts):
    """The committee's answers, by blocks of nodes; those of nodes that have a label are their label."""
    given, codes = labels.value
    for block, rows in _groups(batches, "block"):
        if len(rows) != about["num_trees"]:
            raise RuntimeError(f"votes: {len(rows)} of {about['num_trees']} trees have voted for block {block}")
        ballots = [np.stack([np.frombuffer(row[name], np.uint16) for row in rows], 1) for name in ("label", "nearness")]
        label, confidence, reached = forests.decide_votes(*ballots, counts)
        nodes = np.arange(block * NODES, block * NODES + label.size)
        here = slice(*np.searchsorted(given, [nodes[0], nodes[-1] + 1]))
        label[given[here] - nodes[0]], confidence[given[here] - nodes[0]], reached[given[here] - nodes[0]] = codes[here], 1, 1
        columns = [pa.array(nodes, pa.int64()), classes.take(pa.array(label)), pa.array(confidence), pa.array(reached)]
        yield pa.RecordBatch.from_arrays(columns, ["node", "prediction", "confidence", "reached"])


def label_codes(batches, classes):
    for batch in batches:
        codes = pa.compute.index_in(batch.column(1), value_set=classes)
        yield _rows("nodes binary, codes binary", [{"nodes": batch.column(0).to_numpy().tobytes(), "codes": codes.to_numpy().astype(np.uint16).tobytes()}])


def unpacked(batches):
    for batch in batches:
        for row in batch.to_pylist():
            u, v = (np.frombuffer(row[name], np.uint32).astype(np.int64) for name in "uv")
            weight = np.ones(u.size, np.float32) if row["weight"] is None else np.frombuffer(row["weight"], np.float32)
            yield pa.RecordBatch.from_arrays([pa.array(np.full(u.size, row["tree"], np.int32)), pa.array(u), pa.array(v), pa.array(weight)], ["tree", "u", "v", "weight"])
