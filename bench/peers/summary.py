# SPDX-License-Identifier: Apache-2.0
"""Tables (Markdown) and figures (PNG, SVG) of the rows that `run` made: accuracies in %, means over splits first, then over sets."""

from collections import defaultdict
from pathlib import Path

import matplotlib
import numpy as np

from .data import REGIMES
from .run import COLUMNS, read_table

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

VALUES = COLUMNS[5:]
TIE = 0.5  # points of accuracy


class Means:
    """mean[regime][set][method] = {column: mean over splits}, of methods that answered every split that was tried."""

    def __init__(self, rows):
        runs = defaultdict(list)
        for row in rows:
            runs[row["regime"], row["set"], row["method"]].append(row)
        self.failed = sorted({(method, row["status"]) for (_, _, method), group in runs.items() for row in group if row["status"] != "ok"})
        self.mean = defaultdict(lambda: defaultdict(dict))
        for (regime, name, method), group in runs.items():
            if all(row["status"] == "ok" for row in group):
                values = {c: np.mean([float(row[c]) for row in group]) for c in VALUES}
                values |= {c: 100 * values[c] for c in ("accuracy", "macro_f1", "calibration_error")}
                self.mean[regime][name][method] = values
        self.all_regimes = [r for r in REGIMES if r in self.mean] + sorted(set(self.mean) - set(REGIMES))
        self.regimes = [r for r in self.all_regimes if self.of(r)[0]]  # of sets with one label per node

    def is_multi_label(self, name):
        return all(np.isnan(m["log_loss"]) for r in self.all_regimes for m in self.mean[r].get(name, {}).values())

    def of(self, regime):
        """Single-label sets of a regime that all common methods answered, and these methods: those that answered four sets of five."""
        sets = {name: methods for name, methods in self.mean[regime].items() if not self.is_multi_label(name)}
        count = defaultdict(int)
        for methods in sets.values():
            for method in methods:
                count[method] += 1
        common = [method for method in count if count[method] >= 0.8 * len(sets)]
        return {name: methods for name, methods in sets.items() if all(m in methods for m in common)}, common


def read_tables(paths):
    return [row for path in paths for row in read_table(path)]


def is_ours(method):
    return method.startswith("copse:")


def table(header, rows, right=1):
    """A Markdown table; the first `right` columns are text."""
    line = lambda cells: "| " + " | ".join(str(c) for c in cells) + " |"
    return "\n".join([line(header), line(["---"] * right + ["---:"] * (len(header) - right)), *map(line, rows)]) + "\n"


def mean_table(sets, methods):
    """Means over sets, mean rank (1 is best; ties share), wins/ties/losses against the best peer of each set."""
    accuracy = np.array([[sets[s][m]["accuracy"] for m in methods] for s in sets])
    rank = (accuracy[:, None, :] > accuracy[:, :, None] + 1e-9).sum(axis=2) + ((abs(accuracy[:, None, :] - accuracy[:, :, None]) <= 1e-9).sum(axis=2) + 1) / 2
    best_peer = np.array([[max(sets[s][m]["accuracy"] for m in methods if m != method and not is_ours(m)) for method in methods] for s in sets])
    gap = accuracy - best_peer
    rows = []
    for i, method in enumerate(methods):
        mean = {c: np.mean([sets[s][method][c] for s in sets]) for c in VALUES}
        wins = f"{(gap[:, i] > TIE).sum()}/{(abs(gap[:, i]) <= TIE).sum()}/{(gap[:, i] < -TIE).sum()}"
        rows.append([method, f"{mean['accuracy']:.1f}", f"{mean['macro_f1']:.1f}", f"{rank[:, i].mean():.1f}", wins, f"{gap[:, i].min():.1f}",
                     f"{mean['log_loss']:.2f}", f"{mean['calibration_error']:.1f}", f"{mean['seconds']:.2f}", f"{max(sets[s][method]['mb'] for s in sets):.0f}"])
    rows.sort(key=lambda row: -float(row[1]))
    return table(["method", "accuracy", "macro F1", "mean rank", "win/tie/loss", "worst", "log loss", "calibration error", "seconds", "peak MB"], rows)


def best(methods, values):
    """(name, accuracy) of the best of some methods on a set."""
    return max(((m, values[m]["accuracy"]) for m in methods if m in values), key=lambda pair: pair[1], default=("-", np.nan))


def mean_accuracies(means):
    """{method: {regime: mean accuracy over sets}}"""
    cells = defaultdict(dict)
    for regime in means.regimes:
        sets, methods = means.of(regime)
        for method in methods:
            cells[method][regime] = np.mean([sets[s][method]["accuracy"] for s in sets])
    return cells


def overview(means, focus):
    """Mean accuracy of every method in every regime, and of the best of copse and of the peers if they were known for each set."""
    cells = mean_accuracies(means)
    ours, peers = (lambda m: is_ours(m) and m != focus), (lambda m: not is_ours(m))
    for name, group in (("*best learner of copse, by hindsight*", ours), ("*best peer, by hindsight*", peers)):
        for regime in means.regimes:
            sets, methods = means.of(regime)
            cells[name][regime] = np.mean([best(filter(group, methods), sets[s])[1] for s in sets])
    rows = sorted(cells.items(), key=lambda pair: -np.nanmean(list(pair[1].values())))
    rows = [[name, *(f"{row[r]:.1f}" if r in row else "" for r in means.regimes)] for name, row in rows]
    counts = ", ".join(f"{regime} {len(means.of(regime)[0])}" for regime in means.regimes)
    return [f"### Mean accuracy (sets: {counts})\n", table(["method", *means.regimes], rows)]


def set_rows(means, regime, focus):
    """[set, ours, its accuracy, best peer, its accuracy, difference] of every single-label set, the worst difference first."""
    rows = []
    for name, values in means.mean[regime].items():
        if means.is_multi_label(name):
            continue
        ours, peer = best([focus] if focus else filter(is_ours, values), values), best([m for m in values if not is_ours(m)], values)
        rows.append([name, *ours, *peer, ours[1] - peer[1]])
    return sorted((row for row in rows if not np.isnan(row[5])), key=lambda row: row[5])


def multi_label_table(means):
    rows = [[name, regime, method, f"{v['accuracy']:.1f}", f"{v['macro_f1']:.1f}", f"{v['seconds']:.2f}"]
            for regime in means.all_regimes for name in sorted(means.mean[regime]) if means.is_multi_label(name)
            for method, v in sorted(means.mean[regime][name].items(), key=lambda pair: -pair[1]["accuracy"])]
    return table(["set", "regime", "method", "micro F1", "macro F1", "seconds"], rows, 3) if rows else ""


def game_table(paths, title, key, columns):
    """Means over starts or orders of a game's accuracies: a row per `key`, a column per value of `columns`, and the mean of a row."""
    cells = defaultdict(lambda: defaultdict(list))
    for row in read_tables(paths):
        cells[row[key]]["; ".join(row[c] for c in columns)].append(100 * float(row["accuracy"]))
    heads = list(dict.fromkeys(head for row in cells.values() for head in row))
    rows = [[name, *(np.mean(row.get(head, np.nan)) for head in heads)] for name, row in cells.items()]
    rows = sorted(([*row, np.mean(row[1:])] for row in rows), key=lambda row: -np.nan_to_num(row[-1]))
    rows = [[row[0], *(f"{value:.1f}" for value in row[1:])] for row in rows]
    return [f"### {title}\n", table([key, *heads, "mean"], rows)] if rows else []


def draw(figure, output, name):
    for ending in ("png", "svg"):
        figure.savefig(Path(output) / f"{name}.{ending}", dpi=120, bbox_inches="tight")
    plt.close(figure)


def draw_means(means, output):
    """A line per method, a mark per regime: mean accuracy over the sets of that regime."""
    points = mean_accuracies(means)
    order = sorted(points, key=lambda method: np.mean(list(points[method].values())))
    figure, axis = plt.subplots(figsize=(7, 1 + 0.22 * len(order)))
    for i, regime in enumerate(means.regimes):
        known = [y for y, method in enumerate(order) if regime in points[method]]
        axis.plot([points[order[y]][regime] for y in known], known, "o", ms=4, color=plt.cm.viridis(i / len(means.regimes)), label=regime)
    axis.set_yticks(range(len(order)), order, fontsize=7)
    for tick, method in zip(axis.get_yticklabels(), order):
        tick.set_color("tab:green" if is_ours(method) else "black")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7, loc="lower right")
    axis.set_xlabel("accuracy, mean over sets (%)")
    draw(figure, output, "means")


def draw_sets(means, focus, output):
    gaps = {regime: {row[0]: row[5] for row in set_rows(means, regime, focus)} for regime in means.regimes}
    names = sorted({name for row in gaps.values() for name in row}, key=lambda n: np.nanmean([g.get(n, np.nan) for g in gaps.values()]))
    figure, axis = plt.subplots(figsize=(2 + 0.7 * len(means.regimes), 1 + 0.25 * len(names)))
    cells = np.array([[gaps[r].get(n, np.nan) for r in means.regimes] for n in names])
    axis.imshow(cells, cmap="PiYG", vmin=-10, vmax=10, aspect="auto")
    for (i, j), value in np.ndenumerate(cells):
        axis.text(j, i, "" if np.isnan(value) else f"{value:+.1f}", ha="center", va="center", fontsize=7)
    axis.set_xticks(range(len(means.regimes)), means.regimes)
    axis.set_yticks(range(len(names)), names, fontsize=7)
    axis.set_title(f"{focus or 'best of copse'} - best peer, points", fontsize=9)
    draw(figure, output, "sets")


def summarize(options):
    means = Means(read_tables(options.table))
    output = Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    parts = overview(means, options.focus)
    for regime in means.regimes:
        sets, methods = means.of(regime)
        if all(map(is_ours, methods)):
            continue
        parts += [f"### {regime}: means over {len(sets)} sets\n", mean_table(sets, methods)]
        parts += [f"Sets: {', '.join(sorted(sets))}.\n"]
        rows = [[a, m.removeprefix('copse:'), f"{x:.1f}", p, f"{y:.1f}", f"{d:+.1f}"] for a, m, x, p, y, d in set_rows(means, regime, options.focus)]
        parts += [table(["set", options.focus or "best of copse", "accuracy", "best peer", "accuracy", "difference"], rows, 2)]
    if multi := multi_label_table(means):
        parts += ["### Sets with several labels per node\n", multi]
    parts += game_table(options.active, "Asking: accuracy after so many labels", "strategy", ["set", "labels"])
    parts += game_table(options.online, "Online: share of right guesses", "method", ["set"])
    if means.failed:
        parts += ["### Not answered\n", table(["method", "why"], means.failed, 2)]
    (output / "tables.md").write_text("\n".join(parts))
    draw_means(means, output)
    draw_sets(means, options.focus, output)
    print(f"{output}/tables.md, means.png, sets.png (and .svg)")
