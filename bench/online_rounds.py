# SPDX-License-Identifier: Apache-2.0
"""The perceptron and one_projection with a dense kernel in NumPy, on a game that online_rounds has dumped:

  online_rounds --nodes 2000 --learners graph_perceptron,one_projection --dump DIR
  online_rounds.py DIR

Prints mistakes (which must be those of copse) and rounds a second, with and without the kernel. Processor time, one thread."""
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np


def kernel(edges, n):
    """L^+ of the graph with weights divided by their mean."""
    laplacian = np.zeros((n, n))
    u, v, w = edges[:, 0].astype(int), edges[:, 1].astype(int), edges[:, 2] / edges[:, 2].mean()
    laplacian[u, v] = laplacian[v, u] = -w
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    return np.linalg.inv(laplacian + 1 / n) - 1 / n  # connected


def play(matrix, game, projects):
    """The paper's loop; a first round without an answer, or with a class not told yet, is a mistake as in copse."""
    g, mistakes, known = np.zeros(len(matrix)), 0, {}
    count = [0, 0]
    for node, label in game:
        f, y = g[node], 2 * label - 1
        if node in known:
            guess = known[node]
        elif count[0] + count[1] == 0:
            guess = None
        elif 0 in count:
            guess = int(count[1] > 0)
        else:
            guess = int(f > 0) if abs(f) > 1e-9 else int(count[1] > count[0])
        mistakes += guess != label
        if y * f <= 1e-9:
            g += ((y - f) / matrix[node, node] if projects else y) * matrix[node]
        if node in known:
            count[known[node]] -= 1
        count[label] += 1
        known[node] = label
    return mistakes


def main():
    edges = np.loadtxt(os.path.join(sys.argv[1], "edges.tsv"))
    game = np.loadtxt(os.path.join(sys.argv[1], "game.tsv"), dtype=int).tolist()
    n = int(edges[:, :2].max()) + 1
    start = time.process_time()
    matrix = kernel(edges, n)
    dense = time.process_time() - start
    print(f"{n} nodes, dense kernel {dense:.2f} s")
    for name, projects, shifted in (("graph_perceptron", False, matrix + 1), ("one_projection", True, matrix)):
        start = time.process_time()
        mistakes = play(shifted, game, projects)
        seconds = time.process_time() - start
        print(f"{name:20} mistakes {mistakes:5}  {len(game) / seconds:10.0f} rounds/s"
              f"  {len(game) / (seconds + dense):10.0f} with the kernel")


main()
