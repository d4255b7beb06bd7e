# SPDX-License-Identifier: Apache-2.0
"""What a figure belongs to: the machine and the commit."""
import os
import platform
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def cpu():
    try:
        with open("/proc/cpuinfo") as f:
            return next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def meminfo(key):
    """A line of /proc/meminfo as a number, in kB or pages; 0 when there is none."""
    try:
        with open("/proc/meminfo") as f:
            found = re.search(rf"^{key}: +(\d+)", f.read(), re.MULTILINE)
    except OSError:
        found = None
    return int(found.group(1)) if found else 0


def free_memory():
    """Octets that a program may take now."""
    return meminfo("MemAvailable") * 1024


def describe():
    return {"cpu": cpu(), "cpus": len(os.sched_getaffinity(0)), "memory_gib": round(meminfo("MemTotal") / 2**20, 1),
            "free_hugepages": meminfo("HugePages_Free"), "kernel": platform.release(),
            "load": round(os.getloadavg()[0], 2)}


def is_root():
    return os.geteuid() == 0
