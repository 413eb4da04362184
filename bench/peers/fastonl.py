# SPDX-License-Identifier: Apache-2.0
"""FastONL (Zhou, Sun & Babanezhad, ICML 2023), written from its formulas: every node is guessed, then its class is told.

With K the Laplacian L (kernel 1) or D^-1/2 L D^-1/2 (kernel 2) and M = (K/(2 lambda) + I/(2n))^-1, the guess at node s is

    psi = -(sum over told i of M_si grad_i) / sqrt(A + 2T),   A = sum_ij M_ij <grad_i, grad_j>,   T >= the sum of M_jj over the others,
    q = max(psi - level, 0), which adds up to 1,   S = {c : q_c > 0},

and the surrogate loss of Rakhlin & Sridharan (AISTATS 2017), which is 1 - q_y where the class y is in S, has the gradient

    grad_s = 1_S/|S| - e_y   where y is in S,   (e_best - e_y) / (1 + 1/|S|)   where it is not.

A column of M is 2 lambda (K + lambda/n I)^-1 e_s, found by local pushes: a node whose residual is above eps times its diagonal gives it
to its neighbours, first come, first served. T takes M_jj for its bound 2n. The answer is the largest psi; drawing it by q, as the bound
of the paper wants, errs more.
"""

import numpy as np
from numba import njit


@njit
def push(indptr, indices, weights, diagonal, source, value, eps, x, residual, waits, queue, touched):
    """x = value (diag(diagonal) - A)^-1 e_source up to residuals of eps * diagonal; returns how many nodes `touched` lists."""
    head, size, count = 0, 1, 1
    queue[0] = touched[0] = source
    residual[source], waits[source] = value, True
    while size:
        u = queue[head]
        head, size, waits[u] = (head + 1) % len(queue), size - 1, False
        share = residual[u] / diagonal[u]
        residual[u] = 0
        x[u] += share
        for arc in range(indptr[u], indptr[u + 1]):
            v = indices[arc]
            if residual[v] == 0 and x[v] == 0:
                touched[count] = v
                count += 1
            residual[v] += share * weights[arc]
            if not waits[v] and residual[v] > eps * diagonal[v]:
                queue[(head + size) % len(queue)] = v
                size, waits[v] = size + 1, True
    return count


class Columns:
    """(nodes, values) of the columns of M."""

    def __init__(self, graph, kernel, ratio, eps):
        degree = np.asarray(graph.sum(axis=1)).ravel()
        n = len(degree)
        # (D^-1/2 L D^-1/2 + ratio I)^-1 = D^1/2 (L + ratio D)^-1 D^1/2
        self.root = np.sqrt(degree) if kernel == 2 else np.ones(n)
        self.parts = graph.indptr, graph.indices, graph.data.astype(float), degree + ratio * self.root**2
        self.scale, self.eps = 2 * ratio * n, eps
        self.work = np.zeros(n), np.zeros(n), np.zeros(n, bool), np.zeros(n, np.int64), np.zeros(n, np.int64)

    def __call__(self, node):
        x, residual, *_, touched = self.work
        nodes = touched[: push(*self.parts, node, self.root[node], self.eps, *self.work)].copy()
        values = self.scale * self.root[nodes] * x[nodes]
        x[nodes] = residual[nodes] = 0
        return nodes, values


def in_water(psi):
    """Which classes are above the level at which sum max(psi - level, 0) is 1."""
    high = np.sort(psi)[::-1]
    levels = (np.cumsum(high) - 1) / np.arange(1, len(psi) + 1)
    return psi > levels[np.flatnonzero(high > levels)[-1]]


def play(graph, truth, num_classes, order, kernel, ratio=0.5, eps=1e-5):
    """The share of right answers; ratio is lambda / n."""
    n = graph.shape[0]
    columns, gradients = Columns(graph.tocsr(), kernel, ratio, eps), np.zeros((n, num_classes))
    square, right = 0.0, 0
    for t, node in enumerate(order):
        nodes, column = columns(node)
        score = column @ gradients[nodes]
        psi = -score / np.sqrt(max(square, 0) + 4 * n * (n - t))
        right += psi.argmax() == truth[node]
        inside = in_water(psi)
        step = inside / inside.sum() if inside[truth[node]] else np.eye(num_classes)[psi.argmax()]
        step[truth[node]] -= 1
        if not inside[truth[node]]:
            step /= 1 + 1 / inside.sum()
        gradients[node] = step
        square += 2 * score @ step + column[nodes == node][0] * step @ step
    return right / len(order)
