# SPDX-License-Identifier: Apache-2.0
"""What the suite runs is built first, so that no figure is of an old program; nothing else is, which takes longer."""
import os

from . import children, machine, progress

BENCHES = [f"test/bench/bench_{name}" for name in ("parse", "table", "wheel", "cs", "fib", "quic", "pipeline")]
PROGRAMS = ["pitlaned", "pitlane"]
MORE = ["test/quic/quic_server", "test/quic/quic_client", "test/load/pitlane-load", "test/load/mkpcap"]


def known(folder):
    """Names of what ninja can make: some programs need libraries that this machine may lack."""
    out, _ = children.run(["ninja", "-C", folder, "-t", "targets", "all"])
    return {line.split(":", 1)[0] for line in out.splitlines()}


def build(folder):
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        if machine.is_root():
            progress.show("setup: packages")
            children.run([os.path.join(machine.ROOT, "scripts", "setup")], timeout=900)
        progress.show("build: meson")
        children.run(["meson", "setup", folder, machine.ROOT])
    progress.show("build: ninja")
    there = known(folder)
    targets = [target for target in BENCHES + PROGRAMS + MORE if target in there]
    children.run(["ninja", "-C", folder, *targets], timeout=1200)


def missing(folder, *programs):
    """Those that are not there, as words for a reader; "" when all are."""
    return ", ".join(p for p in programs if not os.access(os.path.join(folder, p), os.X_OK))
