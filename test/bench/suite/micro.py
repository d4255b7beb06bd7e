# SPDX-License-Identifier: Apache-2.0
"""The micro benches: programs of build/test/bench that measure work in one process, without a NIC.

Every program runs once in each round, one after the other, so that a slow minute of the machine slows all of them alike.
"""
import json
import os

from . import children, machine, progress, rounds, testpmd

PART = "micro"
ROUNDS = 5
LARGE_ROUNDS = (1, 4)  # few, since most of their time goes into filling tables; and not first, if time is short
BUDGET = 340  # seconds
TESTPMD = ("testpmd", "macswap, net_null, a packet")
TESTPMD_ROUNDS = 3

# Octets of memory that a case with 16 M pending Interests takes: measured, and a tenth more.
LARGE_TABLE = 4.6e9
LARGE_PIPELINE = 5.4e9


class Program:
    """One run of a bench: of which the figures of all its cases come."""

    def __init__(self, bench, *args, memory=0, min_cpus=1, rename=None):
        self.bench = bench
        self.args = list(args)
        self.memory = memory
        self.min_cpus = min_cpus
        self.rename = rename

    def __str__(self):
        return " ".join([self.bench] + self.args)


def pipeline(live, *more, **keys):
    return Program("pipeline", "--comps", "4", "--live", str(live), "--payload", "100", *more, **keys)


PROGRAMS = [Program(name) for name in ("parse", "table", "wheel", "cs", "fib", "quic")] + [
    pipeline(1024),
    pipeline(65536),
    pipeline(1048576),
    Program("pipeline", "--comps", "8", "--live", "1024", "--payload", "100"),
    Program("pipeline", "--comps", "4", "--live", "1024", "--payload", "1000"),
    pipeline(1024, "--cs", "0"),
    pipeline(1024, "--cs", "32768"),
    pipeline(1024, "--workers", "2", min_cpus=2),
]

LARGE = [
    Program("table", "--comps", "4", "--live", "16777216", memory=LARGE_TABLE, rename=("chosen live", "16M live")),
    pipeline(16777216, memory=LARGE_PIPELINE),
]


def path(build, bench):
    return os.path.join(build, "test", "bench", "bench_" + bench)


def take(result, program, document):
    result.calibration_ns.append(document["calibration_ns"])
    for case in document["cases"]:
        name = case["name"]
        if name.startswith("chunk of rounds") or not case["chunks"]:
            continue
        if program.rename:
            name = name.replace(*program.rename)
        # An exchange is two packets.
        whole = program.bench == "pipeline" and "part=" not in name and "worker" not in name
        beside = {"testpmd": TESTPMD, "testpmd_factor": 2} if whole else {}
        result.add(PART, program.bench, name, "ns", case["ns_median"], best=case["ns_p10"], **beside)


def run_once(result, build, program, quick):
    command = [path(build, program.bench), "--json"] + program.args + (["--quick"] if quick else [])
    out, _ = children.run(command, timeout=900)
    take(result, program, json.loads(out))


def fits(result, program):
    """Is there the memory and are there the CPUs for it? If not, say so."""
    free = machine.free_memory()
    cpus = len(os.sched_getaffinity(0))
    if program.memory > free:
        result.skip(f"micro: {program}", f"takes {program.memory / 2**30:.1f} GiB, {free / 2**30:.1f} GiB are free")
    elif program.min_cpus > cpus:
        result.skip(f"micro: {program}", f"takes {program.min_cpus} CPUs, there are {cpus}")
    else:
        return True
    return False


def ratio(result, name, above, below, factor=1, better="lower"):
    """A case of the ratios of two others, round by round, as far as both went."""
    a, b = (result.find(PART, "pipeline", f"comps=4,{case}") for case in (above, below))
    if a is not None and b is not None:
        for x, y in zip(a["samples"], b["samples"]):
            result.add(PART, "ratio", name, "times", factor * x / y, better=better, best=factor * x / y)


def ratios(result):
    ratio(result, "pipeline, 16M live / 1k live", "live=16777216,payload=100,cs=64", "live=1024,payload=100,cs=64")
    # Each of the two takes so long for an exchange: together they do twice as many.
    ratio(result, "pipeline, two workers / one worker", "live=1024,payload=100,cs=64,one of 2 workers alone",
          "live=1024,payload=100,cs=64,2 workers at once", 2, "higher")


def run(result, options, folder):
    programs = [p for p in PROGRAMS if options.only in str(p) and fits(result, p)]
    large = [p for p in LARGE if options.only in str(p) and not options.quick and fits(result, p)]
    beside = options.only in "testpmd pipeline" and not options.quick
    if beside and not testpmd.there():
        result.skip("micro: testpmd", "dpdk-testpmd is not installed (package dpdk-dev)")
        beside = False
    for turn, count in rounds.rounds(result, options, PART, ROUNDS, BUDGET):
        if beside and turn < TESTPMD_ROUNDS:
            progress.show(f"micro, round {turn + 1} of {count}: testpmd")
            result.add(PART, *TESTPMD, "ns", testpmd.null_ns(folder, options.prefix))
        for program in programs + (large if turn in LARGE_ROUNDS else []):
            progress.show(f"micro, round {turn + 1} of {count}: {program}")
            run_once(result, options.build, program, options.quick)
    ratios(result)
