# SPDX-License-Identifier: Apache-2.0
"""copse beside its peers. From the root of the repository, with the environment of `make bench-peers`:

    python -m bench.peers split cora 5% 0 --labels l.tsv --hidden h.tsv --graph g.npz   one split as files: what is told, what is hidden
    python -m bench.peers run --sets cora,usps --regimes 5/class,5% --splits 3 --methods copse:wta,spectral_lr
    python -m bench.peers run --methods copse:auto@mine --copse build/rel/copse   @... names a build; its rows stand beside the others
    python -m bench.peers active --sets cora --starts 2    python -m bench.peers online --sets cora --orders 2
    python -m bench.peers coverage --sets cora             do the sets of classes of predict --coverage hold the truth?
    python -m bench.peers summary -o build/peers-report    tables.md and figures from the table of `run`

A rerun skips the rows that the table has; delete rows to have them made again.
"""

import argparse
import os
import sys

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

from .measure import Launcher  # noqa: E402  before what is large


def commas(text):
    return text.split(",")


def parse():
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--data", default="../shared/data", help="folder of the sets")
    shared.add_argument("--cache", default="build/peers-cache", help="folder for graphs and embeddings")
    split = verbs.add_parser("split", parents=[shared], help="write one split as files")
    split.add_argument("set")
    split.add_argument("regime", help="N/class or N%%")
    split.add_argument("number", type=int)
    for name, what in (("labels", "the labels that are told"), ("hidden", "the labels that are hidden"), ("graph", "the graph, .npz")):
        split.add_argument(f"--{name}", help=f"file for {what}")
    run = verbs.add_parser("run", parents=[shared], help="run methods on splits")
    active = verbs.add_parser("active", parents=[shared], help="which nodes to ask about: accuracy after 20 ... 200 labels")
    online = verbs.add_parser("online", parents=[shared], help="guess every label, then be told it")
    coverage = verbs.add_parser("coverage", parents=[shared], help="how often the sets of classes of predict --coverage hold the truth")
    for verb, table in ((run, "peers"), (active, "peers-active"), (online, "peers-online"), (coverage, "peers-coverage")):
        verb.add_argument("--copse", default="build/copse", help="the program")
        verb.add_argument("--table", default=f"build/{table}.tsv", help="rows go here")
        verb.add_argument("--limit", type=int, default=600, help="processor seconds of one fit, embedding or game [600]")
    run.add_argument("--sets", type=commas, help="names, comma-separated (default: all that are labelled)")
    run.add_argument("--regimes", type=commas, help="default: 1, 5, 20 per class, 5, 10, 25, 50 %%")
    run.add_argument("--splits", type=int, default=5)
    run.add_argument("--methods", type=commas, default=["all"], help="names, or copse, cheap, peers, all [all]")
    run.add_argument("--quick", action="store_true", help="three small sets, 2 splits, cheap methods")
    active.add_argument("--sets", type=commas, default=commas("cora,pubmed,usps,optdigits,fb100_amherst41,lastfm_asia"))
    active.add_argument("--strategies", type=commas, help="copse:NAME or graphlearning_NAME (default: all)")
    active.add_argument("--starts", type=int, default=5)
    active.add_argument("--counts", type=lambda text: [int(c) for c in text.split(",")], default=[20, 50, 100, 200], help="labels after which to look")
    active.add_argument("--batch", type=int, default=5, help="questions of copse per call where some nodes have no label, and are not to be asked about [5]; else one by one")
    active.add_argument("--learner", default="label_propagation", help="copse's learner that judges all strategies")
    online.add_argument("--sets", type=commas, default=commas("cora,citeseer,polblogs,pubmed"))
    online.add_argument("--methods", type=commas, default=commas("copse:online_pool,copse:wta,fastonl_k1,fastonl_k2"))
    online.add_argument("--orders", type=int, default=10)
    coverage.add_argument("--sets", type=commas, required=True)
    coverage.add_argument("--regimes", type=commas, default=commas("5%,10%,25%,50%"))
    coverage.add_argument("--splits", type=int, default=3)
    coverage.add_argument("--methods", type=commas, default=["copse:auto"])
    coverage.add_argument("--asked", type=commas, default=["0.9"], help="how often sets are to hold the truth [0.9]")
    summary = verbs.add_parser("summary", help="tables and figures")
    for name, verb in (("table", "run"), ("active", "active"), ("online", "online")):
        summary.add_argument(f"--{name}", default="build/peers.tsv" if verb == "run" else f"build/peers-{verb}.tsv", type=commas, help=f"tables of `{verb}`")
    summary.add_argument("--focus", help="a method to compare with the best peer of each set (default: the best of copse's)")
    summary.add_argument("-o", "--output", default="build/peers-report", help="folder")
    return parser.parse_args()


def write_split(options):
    import shutil
    from pathlib import Path

    import numpy as np

    from .data import read_set

    data = read_set(options.data, options.set, Path(options.cache))
    train = data.split(options.regime, options.number)
    if options.labels:
        data.write_labels(options.labels, train)
    if options.hidden:
        data.write_labels(options.hidden, np.setdiff1d(data.labelled, train))
    if options.graph:
        shutil.copy(Path(options.cache) / f"{options.set}.npz", options.graph)
    print(f"{options.set} {options.regime} {options.number}: {len(train)} nodes told, {len(data.labelled) - len(train)} hidden")


def run(options, launch):
    from .data import REGIMES, set_sizes
    from .methods import CHEAP, PEERS
    from .run import COPSE, Runner

    if options.quick:
        options.sets = options.sets or ["cora", "polblogs", "email_eu_core"]
        options.regimes = options.regimes or ["5/class", "25%"]
        options.splits, options.methods = 2, ["copse", "cheap"] if options.methods == ["all"] else options.methods
    groups = {"copse": [f"copse:{name}" for name in COPSE], "cheap": CHEAP, "peers": PEERS}
    groups["all"] = groups["copse"] + PEERS
    options.methods = [name for method in options.methods for name in groups.get(method, [method])]
    unknown = [m for m in options.methods if not m.startswith("copse:") and m not in PEERS]
    if unknown:
        sys.exit(f"unknown methods {', '.join(unknown)}; known: {', '.join([*groups, *groups['all']])}, copse:NAME:key=value")
    options.regimes = options.regimes or REGIMES
    if any(m.startswith("copse:") for m in options.methods) and not os.access(options.copse, os.X_OK):
        sys.exit(f"{options.copse} is no program; `make build` makes one, --copse names another")
    sizes = set_sizes(options.data)
    runner = Runner(options, launch)
    for name in options.sets or sorted(sizes, key=sizes.get):
        runner.run_set(name)


def main():
    launch = Launcher()
    options = parse()
    if options.verb == "split":
        write_split(options)
    elif options.verb == "run":
        run(options, launch)
    elif options.verb in ("active", "online", "coverage"):
        from .games import ACTIVE_COLUMNS, COVERAGE_COLUMNS, ONLINE_COLUMNS, STRATEGIES, Games

        if options.verb == "active":
            options.strategies = options.strategies or STRATEGIES
            Games(options, launch, ACTIVE_COLUMNS, 3).active()
        elif options.verb == "coverage":
            Games(options, launch, COVERAGE_COLUMNS, 5).coverage()
        else:
            Games(options, launch, ONLINE_COLUMNS, 3).online()
    else:
        from .summary import summarize

        summarize(options)


main()
