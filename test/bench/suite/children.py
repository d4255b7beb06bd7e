# SPDX-License-Identifier: Apache-2.0
"""Programs that the suite runs: none outlives it, however it ends.

Each is the first of a session of its own, so that Ctrl-C comes to the suite alone, which ends what it started, in order,
by process id.
"""
import contextlib
import os
import signal
import subprocess
import time

TERM_SECONDS = 15
UNWIND = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Failed(Exception):
    """A program did not do what it was to do; the text says which and what it wrote."""


def on_signals():
    """SIGINT, even where a shell had it ignored, SIGTERM and SIGHUP unwind, so that all is ended and removed."""
    def stop(number, frame):
        # One is enough: what is being removed goes on being removed.
        for other in UNWIND:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt
    for number in UNWIND:
        signal.signal(number, stop)


def end(child):
    """SIGTERM to the program and to those it started, SIGKILL when it does not end. @return its exit code"""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(TERM_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if child.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    return child.returncode


def run(argv, timeout=600, good=(0,), **options):
    """Run a program to its end. @return (stdout, stderr)"""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True, **options) as child:
        try:
            out, error = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end(child)
            raise Failed(f"{' '.join(argv)}: not done after {timeout} s") from None
        except BaseException:
            end(child)
            raise
    if child.returncode not in good:
        raise Failed(f"{' '.join(argv)}: exit {child.returncode}\n{error[-2000:]}{out[-2000:]}")
    return out, error


@contextlib.contextmanager
def background(argv, log, ready=None, seconds=20, **options):
    """A program that runs meanwhile, its output in the file log; ready: text in it that says it has started."""
    with open(log, "w") as file:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
                                 **options)
    try:
        deadline = time.monotonic() + seconds
        while ready is not None and ready not in read(log):
            if child.poll() is not None:
                raise Failed(f"{' '.join(argv)}: exit {child.returncode}\n{read(log)[-2000:]}")
            if time.monotonic() > deadline:
                raise Failed(f"{' '.join(argv)}: no \"{ready}\" after {seconds} s\n{read(log)[-2000:]}")
            time.sleep(0.05)
        yield child
    finally:
        end(child)


def read(path):
    with open(path, errors="replace") as f:
        return f.read()
