#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many rounds (ask, answer, tell) of an online learner a second does Python play, call by call and by arrays?

  build/bench/bench/online_rounds --nodes 1e6 --rounds 5e4 --learners wta --dump DIR
  bench/online_calls.py DIR [--learner wta] [--rounds N] [--batch 100]

The game is the one that the program has just played: its rounds a second are what to compare with. One thread,
processor seconds; every way of playing begins anew, and `play` and single calls must make the same guesses. Latencies
are of a round, or of a batch of them.
"""
import argparse
import pathlib
import sys
import time

import numpy

import copse


def game(directory):
    graph = copse.read_graph(str(directory / "edges.tsv"), threads=1)
    rounds = numpy.loadtxt(directory / "game.tsv", dtype=numpy.int64)
    return graph, rounds[:, 0], rounds[:, 1]


def started(graph, name):
    return copse.learner(name, threads=1).start(graph, classes=[0, 1])


def show(name, rounds, latencies):
    latencies = numpy.sort(latencies)
    worst = 1e3 * latencies[-1]
    print(f"{name:<34} {rounds / latencies.sum():>10,.0f} rounds/s   median {1e6 * numpy.median(latencies):8.1f} us"
          f"   99.9 % below {1e3 * latencies[len(latencies) * 999 // 1000]:7.3f} ms   worst {worst:7.3f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--learner", default="wta")
    parser.add_argument("--rounds", type=int, default=1 << 62)
    parser.add_argument("--batch", type=int, default=100)
    arguments = parser.parse_args()
    graph, nodes, labels = game(arguments.directory)
    nodes, labels = nodes[: arguments.rounds], labels[: arguments.rounds]

    learner = started(graph, arguments.learner)
    begin = time.process_time()
    played = learner.play(nodes, labels)
    show("play, all at once", len(nodes), numpy.array([time.process_time() - begin]))

    learner, latencies = started(graph, arguments.learner), []
    for at in range(0, len(nodes), arguments.batch):
        some = nodes[at : at + arguments.batch]
        begin = time.thread_time()
        learner.predict_many(some)
        learner.learn_many(some, labels[at : at + arguments.batch])
        latencies.append(time.thread_time() - begin)
    show(f"predict_many, learn_many, {arguments.batch} nodes", len(nodes), numpy.array(latencies))

    learner, latencies, guesses = started(graph, arguments.learner), [], []
    for node, label in zip(nodes.tolist(), labels.tolist()):
        begin = time.thread_time()
        guesses.append(learner.predict_one(node))
        learner.learn_one(node, label)
        latencies.append(time.thread_time() - begin)
    if any(a != b for a, b in zip(guesses, played)):
        sys.exit("play and single calls guess differently")
    show("predict_one, learn_one", len(nodes), numpy.array(latencies))


if __name__ == "__main__":
    main()
