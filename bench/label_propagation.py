#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""label_propagation and poisson beside SciPy's conjugate gradients on the same systems, and beside what people take
for label propagation: scikit-network's diffusion (where it is installed) and 30 sweeps over the graph.

  bench/label_propagation.py build/bench/bench/label_propagation [--nodes N] [--labels N] [--repeats N]

Processor seconds of one thread each. SciPy's solver gets the Laplacian ready-made, the same preconditioner (the diagonal)
and a relative residual of 1e-8, one column after the other, as its interface has it; the time of copse is that
of the whole fit. Its ratio is not reported unless the answers agree; the others have their accuracy beside them.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, cg

AGREE = 0.999  # of the nodes: the others sit between two classes, and tolerances decide


def solve(matrix, right):
    """All columns; returns the solution, processor seconds and iterations."""
    inverse = 1 / matrix.diagonal()
    jacobi = LinearOperator(matrix.shape, matvec=lambda x: inverse * x, dtype=float)
    solution, iterations = numpy.empty_like(right), [0]

    def count(_):
        iterations[0] += 1

    begin = time.thread_time()
    for column in range(right.shape[1]):
        try:
            x, info = cg(matrix, right[:, column], rtol=1e-8, M=jacobi, callback=count)
        except TypeError:  # before SciPy 1.12
            x, info = cg(matrix, right[:, column], tol=1e-8, M=jacobi, callback=count)
        assert info == 0, "SciPy did not converge"
        solution[:, column] = x
    return solution, time.thread_time() - begin, iterations[0]


def report(name, ours, theirs, iterations, agreement):
    if agreement < AGREE:
        sys.exit(f"{name}: answers agree on {agreement:.4f} of the nodes only, not timed")
    print(f"{name:<18} copse {ours:8.3f} s   scipy cg {theirs:8.3f} s ({iterations} iterations)   ratio {theirs / ours:6.2f}   agree {agreement:.5f}")


def sweep(adjacency, one_hot, labelled, count=30):
    """Scores after so many sweeps, each the mean of the neighbours, labels kept."""
    share = scipy.sparse.diags(1 / numpy.maximum(numpy.asarray(adjacency.sum(axis=1)).ravel(), 1e-30)) @ adjacency
    scores = one_hot.copy()
    for _ in range(count):
        scores = share @ scores
        scores[labelled] = one_hot[labelled]
    return scores.argmax(axis=1)


def diffuse(adjacency, given, labelled):
    from sknetwork.classification import DiffusionClassifier
    return DiffusionClassifier().fit_predict(adjacency, {node: int(given[node]) for node in numpy.flatnonzero(labelled)})


def compare_sweeps(name, body, truth, hidden):
    begin = time.thread_time()
    try:
        answers = body()
    except ImportError:
        return print(f"{name:<18} is not installed")
    print(f"{name:<18} {time.thread_time() - begin:8.3f} s   accuracy {numpy.mean(answers[hidden] == truth[hidden]):.4f}")


def main():
    program, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        printed = subprocess.run([program, *arguments, "--out", directory], check=True, capture_output=True, text=True).stdout
        print(printed)
        rows = [line.split() for line in printed.splitlines()[1:] if not line.startswith(" ")]
        seconds = {row[0] + row[1].strip("-"): float(row[-2]) for row in rows}
        load = lambda name, kind: numpy.fromfile(pathlib.Path(directory) / name, kind)
        offsets, neighbors = load("offsets.u64", "u8").astype("i8"), load("neighbors.u32", "u4").astype("i4")
        weights, given = load("weights.f32", "f4").astype(float), load("given.u16", "u2")
        truth = load("truth.u16", "u2")
        answers = {name: load(f"{name}.u16", "u2") for name in seconds}

    n, classes = len(offsets) - 1, 5
    adjacency = scipy.sparse.csr_matrix((weights, neighbors, offsets), shape=(n, n))
    laplacian = (scipy.sparse.diags(numpy.asarray(adjacency.sum(axis=1)).ravel()) - adjacency).tocsr()
    labelled = given != numpy.iinfo("u2").max
    _, component = scipy.sparse.csgraph.connected_components(adjacency, directed=False)
    # Both are right only where a label reaches; the largest component is nearly everything.
    largest = component == numpy.bincount(component).argmax()
    one_hot = numpy.zeros((n, classes))
    one_hot[labelled, given[labelled]] = 1

    free = numpy.flatnonzero(~labelled & largest)
    inside = laplacian[free][:, free]
    right = -laplacian[free] @ one_hot
    u, spent, iterations = solve(inside, right[:, :-1])
    u = numpy.column_stack([u, 1 - u.sum(axis=1)])
    report("label_propagation", seconds["label_propagationshift=none"], spent, iterations,
           numpy.mean(u.argmax(axis=1) == answers["label_propagationshift=none"][free]))

    every = numpy.flatnonzero(largest)
    source = one_hot[every] - labelled[every][:, None] * one_hot[every][labelled[every]].mean(axis=0)
    u, spent, iterations = solve(laplacian[every][:, every], source)
    hidden = ~labelled[every]
    report("poisson", seconds["poisson"], spent, iterations,
           numpy.mean(u.argmax(axis=1)[hidden] == answers["poisson"][every][hidden]))

    compare_sweeps("sknetwork diffusion", lambda: diffuse(adjacency, given, labelled), truth, ~labelled)
    compare_sweeps("30 sweeps", lambda: sweep(adjacency, one_hot, labelled), truth, ~labelled)


if __name__ == "__main__":
    main()
