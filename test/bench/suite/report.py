# SPDX-License-Identifier: Apache-2.0
"""The table of a run: target, measured, ratio to the peer, ratio to testpmd."""
from . import result as results

TITLES = {"micro": "micro benches: one core, no NIC", "e2e": "end to end, by pitlane-load",
          "process": "whole processes", "quic": "QUIC transfers of 128 MiB"}
HEADER = f"{'bench':10} {'case':58} {'measured':>9} {'best':>9} {'unit':5} {'target':>7} {'of it':>6} {'aim':>7} " \
         f"{'peer':>7} {'faster':>7} {'testpmd':>7}"


def number(x):
    if x is None:
        return ""
    return f"{x:.0f}" if abs(x) >= 1000 else f"{x:.4g}" if abs(x) < 10 else f"{x:.1f}"


def ratio(x, digits=2, unit=""):
    return "" if x is None else f"{x:.{digits}f}{unit}"


def met(row):
    """Is the target reached? None: there is none."""
    if row["target"] is None:
        return None
    value = results.median(row)
    return value <= row["target"] if row["better"] == "lower" else value >= row["target"]


def speed_of(row, other):
    """How many times as fast as a figure of another in the same unit."""
    if other is None or results.best(row) == 0:
        return None
    return other / results.best(row) if row["better"] == "lower" else results.best(row) / other


def share_of_testpmd(row, find):
    """Our speed as a part of testpmd's in the same run: 1 is as fast. None: was not measured beside it."""
    if row["testpmd"] is None:
        return None
    other = find(row["part"], *row["testpmd"])
    if other is None:
        return None
    own, its = results.median(row), results.median(other) * row["testpmd_factor"]
    return its / own if row["better"] == "lower" else own / its


def line(row, find):
    target = row["target"]
    of_it = None if target is None else results.median(row) / target
    return f"{row['bench']:10} {row['case']:58.58} {number(results.median(row)):>9} {number(results.best(row)):>9} " \
           f"{row['unit']:5} {number(target):>7} {ratio(of_it):>6} {number(row['goal']):>7} {number(row['peer']):>7} " \
           f"{ratio(speed_of(row, row['peer']), 1, 'x'):>7} {ratio(share_of_testpmd(row, find)):>7}".rstrip()


def worth_a_line(row):
    """Of the many micro benches those that are measured against something; all are in the file."""
    return row["part"] != "micro" or any(row[key] is not None for key in ("target", "peer", "testpmd"))


def lines(result, everything=False):
    head, machine = result.head, result.head["machine"]
    yield f"{machine['cpu']}, {machine['cpus']} CPUs, {machine['memory_gib']} GiB, commit {head['commit']}, " \
          f"{head['date']}, load {machine['load']}"
    if result.calibration_ns:
        yield f"calibration {min(result.calibration_ns):.3f}..{max(result.calibration_ns):.3f} ns: a wide range is a " \
              "busy machine"
    if head["quick"]:
        yield "quick: a smoke test, the numbers are no figures"
    part = None
    rows = [row for row in result.rows() if everything or worth_a_line(row)]
    for row in rows:
        if row["part"] != part:
            part = row["part"]
            yield ""
            yield TITLES[part]
            yield HEADER
        yield line(row, result.find)
    for table in result.tables.values():
        yield ""
        yield table.rstrip("\n")
    yield ""
    if len(rows) < len(result.rows()):
        yield f"{len(result.rows()) - len(rows)} more micro benches are in the file, and shown with --all"
    for text in result.skipped:
        yield f"skipped: {text}"
    targets = [met(row) for row in result.rows() if row["target"] is not None]
    yield f"{targets.count(True)} targets met, {targets.count(False)} missed"


LEGEND = """\
measured: median of the rounds; best: the lowest 10th percentile of a round, or the best round; of it: measured / target;
aim: the end goal; peer: the fastest other measured on this class of machine (NDN-DPDK on one core, for QUIC ngtcp2,
picotls, Katran and SwiftQUIC, end to end ndnd); faster: how many times the best is faster than the peer; testpmd: speed
as a part of that of dpdk-testpmd macswap on the same ports in the same run."""
