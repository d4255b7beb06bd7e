#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an application may do to the Unix socket of a forwarder. usage: misuse.py PATH WHAT"""
import os
import resource
import select
import socket
import struct
import sys
import time

PATH = sys.argv[1]


def dial():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect(PATH)
    return s


def tlv(kind, value):
    head = bytes([kind])
    size = len(value)
    return head + (bytes([size]) if size < 253 else b"\xfd" + struct.pack(">H", size)) + value


def interest(sequence, prefix=(b"A", b"ping")):
    name = b"".join(tlv(8, c) for c in (*prefix, b"misuse%d" % os.getpid(), b"%d" % sequence))
    return tlv(5, tlv(7, name) + tlv(10, struct.pack(">I", sequence & 0xFFFFFFFF)) + tlv(12, b"\x0f\xa0"))


def closed(s, seconds):
    """The peer closes within so many seconds; what it still sends is read."""
    end = time.time() + seconds
    while time.time() < end:
        if select.select([s], [], [], 0.1)[0]:
            try:
                if not s.recv(65536):
                    return True
            except ConnectionError:
                return True
    return False


def stalled():
    """Asks and asks, and never reads what is answered: it goes after the time-out, not before."""
    s = dial()
    s.setblocking(False)
    begin = time.time()
    sequence = 0
    while time.time() - begin < 20:
        try:
            s.send(b"".join(interest(sequence + i, (b"B", b"ping")) for i in range(20)))
            sequence += 20
            time.sleep(0.01)
        except BlockingIOError:
            time.sleep(0.01)
        except (BrokenPipeError, ConnectionError):
            print(f"# closed after {time.time() - begin:.1f} s and {sequence} Interests")
            return time.time() - begin > 0.9
    return False


def octets():
    """One octet now and then of a packet that will not end."""
    s = dial()
    begin = time.time()
    try:
        for octet in interest(1) * 10:
            s.send(bytes([octet]) if time.time() - begin > 0.1 else b"\x05\xc8"[:1])
            time.sleep(0.3)
            if select.select([s], [], [], 0)[0] and not s.recv(1):
                return time.time() - begin > 0.9
    except (BrokenPipeError, ConnectionError):
        return time.time() - begin > 0.9
    return False


def half():
    """Half a packet and silence; half a packet and the end; a packet that is too long."""
    silent, gone, long = dial(), dial(), dial()
    silent.send(interest(1)[:20])
    gone.send(interest(1)[:20])
    gone.shutdown(socket.SHUT_WR)
    long.send(b"\x06\xfd\x22\x61" + b"x" * 8801)
    return closed(long, 1) and closed(gone, 1) and closed(silent, 5)


def connects():
    """Ten thousand connections, one after another and some at once."""
    kept = []
    for i in range(10000):
        s = dial()
        kept.append(s)
        if len(kept) == 100:
            for k in kept:
                k.close()
            kept = []
    return True


def thousand():
    """A thousand applications at once, each with an Interest that is answered."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    sockets = [dial() for _ in range(1000)]
    for i, s in enumerate(sockets):
        s.send(interest(i))
    for i, s in enumerate(sockets):
        s.settimeout(10)
        got = s.recv(9000)
        if b"misuse%d" % os.getpid() not in got:
            print(f"# application {i} got {got[:40]!r}")
            return False
    return True


if not {f.__name__: f for f in (stalled, octets, half, connects, thousand)}[sys.argv[2]]():
    print(f"# {sys.argv[2]}: not as it should be")
    sys.exit(1)
