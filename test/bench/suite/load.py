# SPDX-License-Identifier: Apache-2.0
"""pitlane-load, the consumer and producer at both ends of a forwarder."""
import json
import os

from . import children, testpmd

FLOWS = 1000  # prefixes of two components
WINDOW = 256
SHARE = 0.5  # of the saturated rate, at which latency is measured
PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99")


def program(build):
    return os.path.join(build, "test", "load", "pitlane-load")


def command(build, vdevs, ends, prefix, trial, duration):
    """ends: options of consumer and producer behind their port numbers."""
    _, cpu = testpmd.cpus()  # the forwarder has the other one
    devices = [word for vdev in vdevs for word in ("--vdev", vdev)]
    return [program(build), "--lcores", f"0@{cpu}", "--no-huge", "-m", "512", "--no-pci", "--no-telemetry", "--no-shconf",
            "--iova-mode=va", "--file-prefix", prefix, *devices, "--", "--consumer", f"0,{ends[0]}", "--producer",
            f"1,{ends[1]}", "--flows", str(FLOWS), "--window", str(WINDOW), "--saturate", str(SHARE), "--trial", str(trial),
            "--duration", str(duration), "--warm-up", "0.2", "--quiet"]


def run(argv, folder):
    """The report. Loss is no fault here; what came wrong is."""
    path = os.path.join(folder, "load.json")
    if os.path.exists(path):
        os.unlink(path)
    _, error = children.run(argv + ["--json", path], timeout=120, good=(0, 1))
    try:
        with open(path) as f:
            report = json.load(f)
    except (OSError, json.JSONDecodeError):
        raise children.Failed(f"pitlane-load wrote no report\n{error[-2000:]}") from None
    if not report["ok"]:
        raise children.Failed(f"pitlane-load: {'; '.join(report['faults'])}")
    return report
