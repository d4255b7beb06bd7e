#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad management commands over the Unix socket: what each must be answered, and what must be counted.

usage: management_rows.py SOCKET TELEMETRY

SOCKET is that of applications, TELEMETRY that of the telemetry library. Prints one line for each row and exits 1 when
any has another outcome.
"""
import hashlib
import json
import os
import socket
import sys
import time

from nfd_transcript import COMPONENT, CONTENT, DATA, FRAGMENT, INTEREST, LP, NAME, elements, take

NACK = 800
MALFORMED, REFUSED = "mgmt_malformed", "mgmt_unauthorized"


def tlv(kind, value):
    def number(n):
        return bytes([n]) if n < 253 else b"\xfd" + n.to_bytes(2, "big")
    return number(kind) + number(len(value)) + value


def nni(kind, n):
    size = 1 if n < 1 << 8 else 2 if n < 1 << 16 else 4 if n < 1 << 32 else 8
    return tlv(kind, n.to_bytes(size, "big"))


def name(uri):
    return b"".join(tlv(COMPONENT, c.encode()) for c in uri.split("/") if c)


def command(uri, parameters, raw=False):
    """An Interest with a digest as its signature; parameters as they are when raw."""
    octets = parameters if raw else tlv(104, parameters)
    components = name(uri) + tlv(COMPONENT, octets)
    info = tlv(27, b"\0") + tlv(38, os.urandom(8)) + tlv(40, int(time.time() * 1000).to_bytes(8, "big"))
    rest = tlv(36, b"") + tlv(44, info)
    rest += tlv(46, hashlib.sha256(components + rest).digest())
    digest = tlv(2, hashlib.sha256(rest).digest())
    return tlv(INTEREST, tlv(NAME, components + digest) + tlv(10, os.urandom(4)) + nni(12, 1000) + rest)


NFD = "/localhost/nfd/"
DEEP = tlv(NAME, name("/a" * 33))
A = tlv(NAME, name("/a"))
ROOT = tlv(NAME, b"")


def strategy(uri):
    return tlv(107, tlv(NAME, name(uri)))


ROWS = [
    # row, command, parameters, raw, answer (None: none), counter
    ("M01 cut", "rib/register", b"\x68\xff", True, None, MALFORMED),
    ("M01 wrong order", "rib/register", nni(106, 1) + nni(105, 1), False, None, MALFORMED),
    ("M02 missing", "fib/add-nexthop", nni(106, 1), False, 400, None),
    ("M02 forbidden", "rib/register", A + tlv(114, b"udp4://1.2.3.4:6363"), False, 400, None),
    ("M13 not enabled", "/localhop/nfd/rib/register", A, False, "nack", None),
    ("M14 octet", "faces/create", tlv(114, b"udp4://999.1.1.1:1"), False, 400, None),
    ("M14 zero", "faces/create", tlv(114, b"udp4://1.2.3.4:6363\0"), False, 400, None),
    ("M15 scheme", "faces/create", tlv(114, b"udp4://224.0.23.170:56363"), False, 406, None),
    ("M17 large", "faces/create", tlv(114, b"udp4://192.0.2.1:6363") + nni(137, (1 << 64) - 1), False, (400, 406), None),
    ("M17 small", "faces/create", tlv(114, b"udp4://192.0.2.1:6363") + nni(137, 63), False, (400, 406), None),
    ("M18 unknown", "faces/update", nni(105, (1 << 64) - 1), False, 404, None),
    ("M19 deep", "fib/add-nexthop", DEEP, False, 414, None),
    ("M19 deep", "rib/register", DEEP, False, 414, None),
    ("M19 deep", "strategy-choice/set", DEEP + strategy("/localhost/nfd/strategy/multicast"), False, 414, None),
    ("M21 capacity", "cs/config", nni(131, (1 << 64) - 1), False, 200, None),
    ("M22 unknown", "strategy-choice/set", A + strategy("/localhost/nfd/strategy/nope"), False, 404, None),
    ("M22 root", "strategy-choice/unset", ROOT, False, 400, None),
    ("no such face", "fib/add-nexthop", A + nni(105, 9999), False, 410, None),
    ("no such verb", "rib/nosuchverb", A, False, None, "mgmt_ignored"),
]


def answer(octets):
    """Status code of an answer, or "nack"."""
    kind, value, _ = take(octets)
    if kind == LP:
        fields = elements(value)
        if any(k == NACK for k, _ in fields):
            return "nack"
        kind, value, _ = take(dict(fields)[FRAGMENT])
    assert kind == DATA, kind
    response = dict(elements(value))[CONTENT]
    return int.from_bytes(dict(elements(take(response)[1]))[102], "big")


def ask(forwarder, interest, seconds):
    forwarder.settimeout(seconds)
    forwarder.sendall(interest)
    got = b""
    try:
        while True:
            got += forwarder.recv(9000)
            try:
                return answer(got)
            except (IndexError, ValueError):
                continue  # the rest is still to come
    except socket.timeout:
        return None


def counters(telemetry):
    telemetry.send(b"/pitlane/management")
    return json.loads(telemetry.recv(16384))["/pitlane/management"]


def main():
    forwarder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    forwarder.connect(sys.argv[1])
    telemetry = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    telemetry.connect(sys.argv[2])
    telemetry.recv(16384)
    bad = 0
    for row, verb, parameters, raw, want, counter in ROWS:
        before = counters(telemetry)
        uri = verb if verb.startswith("/") else NFD + verb
        got = ask(forwarder, command(uri, parameters, raw), 0.5 if want is None else 5)
        after = counters(telemetry)
        grown = sorted(k for k in after if k.startswith("mgmt_") and after[k] != before[k])
        wrong = got not in want if isinstance(want, tuple) else got != want
        wrong = wrong or grown != ([counter] if counter else [])
        bad += wrong
        print("WRONG" if wrong else "ok", row, verb, "answer", got, "counted", *grown)
    print(len(ROWS), "commands,", bad, "wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
