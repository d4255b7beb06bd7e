# SPDX-License-Identifier: Apache-2.0
"""QUIC transfers: client by server by path, as a matrix."""
import json
import os
import shutil
import statistics

from . import build, children, machine, progress, rounds

PART = "quic"
ROUNDS = 5
BUDGET = 270  # seconds
OCTETS = 134217728
QUICK_OCTETS = 1 << 20
SCRIPT = os.path.join(machine.ROOT, "test", "bench", "quic_transfers.sh")
NAMES = {"ours": "test pair", "ngtcp2": "ngtcp2 (Debian)"}
PATHS = {"direct": "direct", "cid": "by connection ID", "tuple": "by 4-tuple"}


def case(client, server, path):
    return f"{client} to {server}, {PATHS[path]}"


def take(result, lines):
    for text in lines.splitlines():
        row = json.loads(text)
        result.add(PART, "transfer", case(row["client"], row["server"], row["path"]), "s", row["seconds"],
                   best=row["seconds"])


def ratios(result):
    """Each round's time through pitlane as a part of the same round's direct one."""
    for client in NAMES:
        for server in NAMES:
            direct = result.find(PART, "transfer", case(client, server, "direct"))
            for path in ("cid", "tuple"):
                through = result.find(PART, "transfer", case(client, server, path))
                if direct is None or through is None:
                    continue
                for x, y in zip(through["samples"], direct["samples"]):
                    result.add(PART, "ratio", f"{case(client, server, path)} / direct", "times", x / y)


def cell(result, client, server, path):
    row = result.find(PART, "transfer", case(client, server, path))
    if row is None:
        return ["—"] * 4
    samples = row["samples"]
    words = [f"{f(samples):.2f}" for f in (statistics.mean, min, max)]
    if path == "direct":
        return words + ["1"]
    ratio = result.find(PART, "ratio", f"{case(client, server, path)} / direct")
    return words + [f"{statistics.median(ratio['samples']):.3f}"]


def markdown(result, octets):
    lines = [f"Uploads of {octets} octets: seconds, and the median of the ratios to the direct path of the same round.",
             "", "| client | server | path | mean | min | max | relative |", "|---|---|---|---|---|---|---|"]
    for client, client_name in NAMES.items():
        for server, server_name in NAMES.items():
            for path, path_name in PATHS.items():
                words = " | ".join(cell(result, client, server, path))
                lines.append(f"| {client_name} | {server_name} | {path_name} | {words} |")
    lines += ["", "— : the connection IDs of gtlsserver are random, and lead to no server; or the program is not installed."]
    return "\n".join(lines)


def run(result, options, folder):
    if options.only not in "quic transfer":
        return
    absent = build.missing(options.build, "pitlaned", "pitlane", "test/quic/quic_server", "test/quic/quic_client")
    if not machine.is_root():
        result.skip(PART, "needs root for network namespaces")
    elif absent:
        result.skip(PART, f"not built: {absent}")
    else:
        transfers(result, options)


def transfers(result, options):
    if shutil.which("gtlsserver") is None or shutil.which("gtlsclient") is None:
        result.skip("quic: ngtcp2", "gtlsclient or gtlsserver is not installed (packages ngtcp2-client, ngtcp2-server)")
    octets = QUICK_OCTETS if options.quick else OCTETS
    for turn, count in rounds.rounds(result, options, PART, ROUNDS, BUDGET):
        progress.show(f"quic, round {turn + 1} of {count}: transfers of {octets} octets")
        out, _ = children.run([SCRIPT, str(octets)], timeout=600, env={**os.environ, "BUILD": options.build})
        take(result, out)
    ratios(result)
    result.tables["quic"] = markdown(result, octets)
