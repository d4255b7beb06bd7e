# SPDX-License-Identifier: Apache-2.0
"""The tables of test/bench/SCALING.md, from the costs of a result: what workers and ports need, and carry.

Every number of a table follows from Costs and the formulas here; SCALING.md says what they mean, and which are measured.
"""
import math
from dataclasses import dataclass, field

from . import plot

WORKERS = (1, 2, 4, 8, 16, 32, 64)
PORTS_GBPS = (10, 25, 40, 100, 200, 400)
WIRE = 24  # octets on the link beside a frame: preamble, FCS, gap
PAYLOADS = {100: (82, 218), 1000: (82, 1126), 8000: (82, 8126)}  # octets of the frames of Interest and Data
ENTRY = 227  # octets of memory for a pending Interest


@dataclass
class Costs:
    """Nanoseconds, but for lines."""
    exchange: dict = field(default_factory=lambda: {1 << 10: 107, 1 << 16: 122, 1 << 20: 135, 1 << 24: 258})
    parse: float = 24  # of one packet
    io: float = 10.5  # of one packet, for receiving and sending it: testpmd on net_null
    hand: float = 123  # to give one packet to another worker, in bursts
    hand_burst: int = 32  # the burst that was measured with
    line: float = 70  # for a cache line from one core to another
    lines: dict = field(default_factory=dict)  # pending: cache lines that come from beyond the second-level cache


def of_document(document):
    """The costs of a result, where it has them; the others are those of SCALING.md."""
    costs = Costs()
    for live, parts in plot.pipeline(document).items():
        if "" in parts:
            costs.exchange[live] = parts[""]
        if "parse" in parts and live == 1 << 20:
            costs.parse = parts["parse"] / 2
    ns, count = plot.workers(document)
    alone = ns.get(f"one of {count} workers alone")
    handed = [ns.get(f"wrong worker, {side}") for side in ("its side of the hand-over", "the owner's side")]
    if alone and all(handed):
        # Both packets of an exchange cross, and are parsed twice.
        costs.hand = max((sum(handed) - alone) / 2 - costs.parse, 0)
    for row in document["cases"]:
        if row["bench"] == "testpmd" and row["samples"]:
            costs.io = plot.median(row)
    return costs


def own(costs, live):
    """An exchange in one worker, ports included."""
    return costs.exchange[live] + 2 * costs.io


def hand_over(costs, workers):
    """A packet that came to the wrong worker: given away, and parsed again. The burst to each other worker shrinks."""
    burst = max(1, min(costs.hand_burst, 64 / workers))
    rings = 2 * costs.line * (1 / burst - 1 / costs.hand_burst)
    return costs.parse + costs.hand + rings


def spread(costs, live, workers):
    """An exchange when packets come to any worker: all but one in `workers` are handed over, Interest and Data."""
    if workers == 1:
        return own(costs, live)
    return own(costs, live) + 2 * (workers - 1) / workers * hand_over(costs, workers)


def rate(ns, workers=1):
    """Million exchanges a second."""
    return workers * 1e3 / ns


def port_rate(gbps, payload):
    """Million exchanges a second that fill one direction of a port: the one that Data goes."""
    return gbps * 1e3 / 8 / (PAYLOADS[payload][1] + WIRE)


def workers_for(need, cost):
    """Fewest workers that carry `need` million exchanges a second, when cost(n) is what n of them take for one."""
    for n in range(1, max(WORKERS) + 1):
        if rate(cost(n), n) >= need:
            return str(n)
    return f"> {max(WORKERS)}"


def markdown(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"


def port_table(costs, live):
    rows = []
    for gbps in PORTS_GBPS:
        row = [f"{gbps} Gb/s"]
        for payload in PAYLOADS:
            need = port_rate(gbps, payload)
            steered = workers_for(need, lambda n: own(costs, live))
            spread_out = workers_for(need, lambda n: spread(costs, live, n))
            row += [f"{need:.2f}", f"{2 * need:.1f}", f"{steered} / {spread_out}"]
        rows.append(row)
    head = ["port"]
    for payload in PAYLOADS:
        head += [f"{payload} B: M exch/s", "Mpps", "workers"]
    return markdown(head, rows)


def worker_table(costs, live):
    rows = []
    for n in WORKERS:
        steered, handed = rate(own(costs, live), n), rate(spread(costs, live, n), n)
        gbps = [steered * (PAYLOADS[p][1] + WIRE) * 8 / 1e3 for p in (100, 1000)]
        rows.append([n, f"{steered:.1f}", f"{handed:.1f}", f"{100 * handed / steered:.0f} %", f"{gbps[0]:.0f}",
                     f"{gbps[1]:.0f}", f"{n * (n - 1)}"])
    return markdown(["workers", "steered, M exch/s", "spread, M exch/s", "of it", "Gb/s of Data, 100 B", "1000 B", "rings"],
                    rows)


def memory_table(costs):
    rows = []
    for live, lines in sorted(costs.lines.items()):
        table = live * ENTRY
        octets = lines * 64
        each = rate(own(costs, live))
        rows.append([plot.short(live), f"{table / 2**20:.1f} MiB" if table >= 2**20 else f"{table / 2**10:.0f} KiB",
                     f"{lines:.1f}", f"{octets:.0f} B", f"{each * octets / 1e3:.1f}", f"{64 * each * octets / 1e3:.0f}"])
    return markdown(["pending", "their memory", "lines from beyond L2", "octets", "GB/s of a worker", "of 64"], rows)


def pending_table():
    rows = []
    for gbps in PORTS_GBPS:
        for_rtt = []
        for ms in (10, 50, 200):
            count = port_rate(gbps, 1000) * 1e3 * ms
            for_rtt += [f"{count / 1e6:.2f} M" if count >= 1e6 else f"{count / 1e3:.0f} k", f"{count * ENTRY / 1e6:.0f} MB"]
        rows.append([f"{gbps} Gb/s", *for_rtt])
    return markdown(["port, 1000 B", "10 ms", "", "50 ms", "", "200 ms", ""], rows)


def lines_of(costs, live=1 << 20):
    """All tables, as Markdown."""
    yield f"Ports, {plot.short(live)} pending, workers steered / spread:"
    yield ""
    yield from port_table(costs, live)
    yield ""
    yield f"Workers, {plot.short(live)} pending:"
    yield ""
    yield from worker_table(costs, live)
    yield ""
    yield "Pending Interests of a full port:"
    yield ""
    yield from pending_table()
    if costs.lines:
        yield ""
        yield "Memory:"
        yield ""
        yield from memory_table(costs)


# Of callgrind with the caches of a core, see SCALING.md.
MEASURED_LINES = {1 << 10: 0.4, 1 << 16: 4.9, 1 << 20: 5.5}


def main_lines(document=None):
    costs = Costs() if document is None else of_document(document)
    costs.lines = dict(MEASURED_LINES)
    return lines_of(costs)
