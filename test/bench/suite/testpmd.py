# SPDX-License-Identifier: Apache-2.0
"""dpdk-testpmd in MAC swap mode: what the ports give to a program that hardly looks at a packet."""
import os
import re
import shutil
import statistics
import time

from . import children

PROGRAM = "dpdk-testpmd"
NULL_SECONDS = 3
READY = "start packet forwarding"


def there():
    return shutil.which(PROGRAM) is not None


def cpus():
    """The CPU that forwards, the last as in the benches and pitlaned, and the one of its main thread."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[-1], allowed[0]


def command(vdevs, prefix):
    """MAC swap between two ports. Statistics come once a second; it ends at SIGTERM."""
    forward, main = cpus()
    devices = [word for vdev in vdevs for word in ("--vdev", vdev)]
    return [PROGRAM, "--no-huge", "-m", "512", "--no-pci", "--no-telemetry", "--no-shconf", "--iova-mode=va",
            "--file-prefix", prefix, "--lcores", f"0@{main},1@{forward}", "--main-lcore", "0", *devices, "--",
            "--auto-start", "--stats-period", "1", "--forward-mode=macswap", "--nb-cores=1", "--total-num-mbufs=32768"]


def rates(log):
    """Packets received a second by all ports, one for each period but the first, which has the start in it."""
    found = [int(n) for n in re.findall(r"Rx-pps: +(\d+)", log)]
    periods = [a + b for a, b in zip(found[::2], found[1::2])]
    return [n for n in periods if n > 0][1:]


def null_ns(folder, prefix):
    """Nanoseconds for one packet from a port that makes them out of nothing to one that forgets them."""
    log = os.path.join(folder, "testpmd-null.log")
    with children.background(command(["net_null0", "net_null1"], prefix), log, READY, 30) as child:
        deadline = time.monotonic() + NULL_SECONDS + 10
        while len(rates(children.read(log))) < NULL_SECONDS - 1:
            if child.poll() is not None or time.monotonic() > deadline:
                raise children.Failed(f"{PROGRAM}: no rates\n{children.read(log)[-2000:]}")
            time.sleep(0.1)
    return 1e9 / statistics.median(rates(children.read(log)))
