# SPDX-License-Identifier: Apache-2.0
"""How calls run: seed, threads and progress, and whether they fit into memory."""
import html
import operator
import os
import sys
import warnings

import numpy as np

from . import _core

ALWAYS_FREE = 64 << 20  # bytes for which nobody asks the system

os.register_at_fork(after_in_child=_core.after_fork_in_child)


def warn(text, category):
    """A warning that points at the line outside of this package from which it was called, however deep the caller is."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def settings(seed=None, threads=None, progress=None):
    """The three arguments that every long call takes, checked; None stands for the library's default."""
    seed = _core.default_seed if seed is None else whole_number(seed, "seed", 0, 2**64 - 1)
    return _core.Settings(seed, num_threads(threads), progress_callable(progress))


def num_threads(threads):
    if threads is None:
        return _core.available_threads()
    try:
        return min(whole_number(threads, "threads", 1), 1 << 16)
    except ValueError:
        raise ValueError(f"threads: {threads!r} is not a number of threads\n  give 1 or more, or None for all processors") from None


def with_other_names(given):
    """The arguments with scikit-learn's ``random_state`` and ``n_jobs`` by their names here."""
    given = dict(given)
    for other, name, convert in (("random_state", "seed", _seed_of), ("n_jobs", "threads", _threads_of)):
        if other in given:
            if given.get(name) is not None:
                raise TypeError(f"{other}: {name} is given as well, and means the same\n  give one of them")
            given[name] = convert(given.pop(other))
    return given


def _seed_of(random_state):
    """A generator is asked for a number; None is the default seed: answers can always be had again."""
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31))
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    return _core.default_seed if random_state is None else random_state


def _threads_of(n_jobs):
    if n_jobs is None or n_jobs == -1:
        return None
    return max(1, _core.available_threads() + 1 + n_jobs) if isinstance(n_jobs, int) and n_jobs < 0 else n_jobs


def whole_number(value, where, low=0, high=2**63 - 1):
    """An argument that counts something."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{where}: {value!r} is not a whole number") from None
    if not low <= number <= high:
        raise ValueError(f"{where}: {number} is out of range\n  it must be between {low} and {high}")
    return number


def real_number(value, where):
    """An argument that measures something; the library says which values it takes."""
    try:
        return float(value)
    except (TypeError, ValueError, ArithmeticError, np.ma.MaskError):
        raise ValueError(f"{where}: {value!r} is not a number") from None


def real_numbers(values, where):
    """An array of numbers, as doubles."""
    array = np.asarray(values)
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{where}: {array.dtype} are not real numbers\n  use astype('float64')")
    try:
        return np.asarray(array, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: not an array of numbers: {error}") from error


def word(value, where):
    """An argument that is one of some names; the library knows which."""
    if not isinstance(value, str):
        raise ValueError(f"{where}: {value!r} is not a name\n  give one in quotes")
    return value


def progress_callable(progress):
    if progress is None or progress is False:
        return None
    if progress is True:
        return Bar()
    if not callable(progress):
        raise ValueError(f"progress: {progress!r} cannot be called\n  give a function (stage, done, total), True or None")
    return progress


def path_text(path):
    """The name of a file as the library takes it."""
    text = os.fsdecode(path)
    if not text or "\0" in text:
        raise ValueError(f"path: {text!r} is no name of a file")
    return text


def option_text(value):
    """The value of an option as the library's registries read it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


class Bar:
    """What ``progress=True`` means: tqdm's bar where tqdm is installed, otherwise a line on stderr."""

    def __init__(self):
        self._stage = self._bar = None

    def __call__(self, stage, done, total):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            sys.stderr.write(f"\r{stage} {done:,} of {total:,}" + ("\n" if done >= total else ""))
            return
        if stage != self._stage or done < self._bar.n:
            if self._bar is not None:
                self._bar.close()
            self._stage, self._bar = stage, tqdm(total=total or None, desc=stage, leave=False)
        self._bar.update(done - self._bar.n)
        if total and done >= total:
            self._bar.close()


def available_memory():
    """Bytes that are free, swap included; 0 where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("MemAvailable:", "SwapFree:")))
    except OSError:
        return 0


def bytes_text(count):
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count:.3g} {unit}" if unit != "bytes" else f"{count} bytes"
        count /= 1024


def require_memory(owner, needed, remedy):
    """MemoryError, with the number of bytes, before a run that would not fit."""
    free = available_memory() if needed > ALWAYS_FREE else 0
    if free and needed > free:
        raise MemoryError(f"{owner}: needs about {bytes_text(needed)}, and {bytes_text(free)} are free\n  {remedy}")


def html_table(title, rows):
    """What notebooks show of an object: its name and a row for each of its facts."""
    cells = "".join(f"<tr><th style='text-align:left'>{html.escape(str(k))}</th><td style='text-align:left'>{html.escape(str(v))}</td></tr>" for k, v in rows.items())
    return f"<table><caption style='text-align:left'><b>{html.escape(title)}</b></caption>{cells}</table>"
