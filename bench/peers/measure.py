# SPDX-License-Identifier: Apache-2.0
"""Runs a thing on its own and says what it cost. Imports nothing large: a child begins with its parent's memory."""

import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import time


def _limit(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def _reason(status, limit, error=""):
    """Why a child with this status of wait4 has no answer; "" where it has one."""
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXCPU:
        return f"over {limit} s"
    return one_line(error or f"exit code {code}") if code else ""


def _run_program(arguments, limit, stdin):
    limited = {"preexec_fn": lambda: _limit(limit), "stderr": subprocess.PIPE}
    with open(stdin) as lines, subprocess.Popen(arguments, stdin=lines, **limited) as child:
        error = child.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return _reason(status, limit, error), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def one_line(text):
    return " ".join(text.split())[:200]


class Launcher:
    """Starts programs from a small process that is forked before this one grows: the kernel counts a child's peak from its parent's size."""

    def __init__(self):
        self.pool = multiprocessing.get_context("fork").Pool(1)

    def __call__(self, arguments, limit, stdin=os.devnull):
        """(error or "", processor seconds, peak MB) of a program."""
        return self.pool.apply(_run_program, ([str(a) for a in arguments], limit, stdin))


def forked(function, limit):
    """(error or "", processor seconds, peak MB over the start, result) of function(), called in a fork of this process."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        error, result, begin = "", None, time.process_time()
        try:
            _limit(limit)
            start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            result = function()
        except BaseException as caught:  # GraphLearning leaves by sys.exit
            error = one_line(f"{type(caught).__name__}: {caught}")
        seconds = time.process_time() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start
        with os.fdopen(write, "wb") as pipe:
            pickle.dump((error, seconds, peak / 1024, result), pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read()
    _, status, usage = os.wait4(pid, 0)
    return pickle.loads(answer) if answer else (_reason(status, limit), usage.ru_utime + usage.ru_stime, 0, None)
