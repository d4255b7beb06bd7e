#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hand-built QUIC packets to a virtual address, whose answers by the forwarder are judged octet by octet.
usage: quic_edge.py versions ADDRESS PORT          Version Negotiation, of a service that offers versions 1 and 2
       quic_edge.py retry ADDRESS PORT SERVER-ID.. Retry, of a service with plaintext connection IDs of configuration 0
       quic_edge.py pass ADDRESS PORT              Initials of versions 1 and 2 that get no answer here
       quic_edge.py tamper IN OUT                  change the last octet of each frame of a capture file
Prints what went wrong; exit 0: nothing did."""
import random
import socket
import struct
import sys

V1, V2, UNKNOWN = 0x00000001, 0x6b3343cf, 0x1a2a3a4a
INITIAL = {V1: 0xc0, V2: 0xd0}
RETRY = {V1: 0xf0, V2: 0xc0}
octets = random.Random(1).randbytes
bad = 0


def check(what, ok):
    global bad
    if not ok:
        bad += 1
        print('not so:', what)


class Client:
    def __init__(self, address, port):
        family = socket.AF_INET6 if ':' in address else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.connect((address, int(port)))

    def ask(self, packet, wait=10):
        """The one answer, or None."""
        self.socket.settimeout(wait)
        self.socket.send(packet)
        try:
            answer = self.socket.recv(65535)
        except socket.timeout:
            return None
        self.socket.settimeout(0.1)
        try:
            self.socket.recv(65535)
            check('one answer only', False)
        except socket.timeout:
            pass
        return answer

    def silent(self, what, packet):
        check(what + ' gets no answer', self.ask(packet, 0.3) is None)


def cid(value):
    return bytes([len(value)]) + value


def long_header(first, version, dcid, scid):
    return bytes([first]) + struct.pack('>I', version) + cid(dcid) + cid(scid)


def initial(version, dcid, scid, size=1200, token=b''):
    head = long_header(INITIAL[version], version, dcid, scid) + varint(len(token)) + token
    rest = size - len(head) - 2
    return head + struct.pack('>H', 0x4000 | rest) + octets(rest)


def varint(value):
    return bytes([value]) if value < 64 else struct.pack('>H', 0x4000 | value)


def parse(packet):
    """First octet, version, DCID, SCID, rest (RFC 8999)."""
    version = struct.unpack('>I', packet[1:5])[0]
    at = 6 + packet[5]
    end = at + 1 + packet[at]
    return packet[0], version, packet[6:at], packet[at + 1:end], packet[end:]


def negotiated(name, client, dcid, scid, size=1200, first=0xc0):
    packet = long_header(first, UNKNOWN, dcid, scid)
    answer = client.ask(packet + octets(size - len(packet)))
    check(name + ' is answered', answer is not None)
    if answer is None:
        return
    byte, version, to, source, rest = parse(answer)
    check(name + ': long header with fixed bit', byte & 0xc0 == 0xc0)
    check(name + ': version 0', version == 0)
    check(name + ': connection IDs change places', to == scid and source == dcid)
    offered = struct.unpack('>%dI' % (len(rest) // 4), rest)
    check(name + ': whole versions', len(rest) % 4 == 0)
    grease = [v for v in offered if v & 0x0f0f0f0f == 0x0a0a0a0a]
    check(name + ': versions', sorted(v for v in offered if v not in grease) == [V1, V2])
    check(name + ': not the version that was asked', UNKNOWN not in offered)


def versions(client):
    negotiated('initial of an unknown version', client, octets(8), octets(5))
    negotiated('without fixed bit', client, octets(20), octets(0), first=0x80)
    negotiated('connection IDs of no version', client, octets(255), octets(255), size=1400)
    negotiated('empty connection IDs', client, b'', b'')
    negotiated('any type', client, octets(8), octets(8), first=0xff)
    client.silent('datagram below 1200 octets',
                  long_header(0xc0, UNKNOWN, octets(8), octets(8)) + octets(1199 - 23))
    client.silent('Version Negotiation', long_header(0xc0, 0, octets(8), octets(8)) + octets(1200 - 23))
    client.silent('truncated connection ID', bytes([0xc0]) + struct.pack('>I', UNKNOWN) + b'\xff' + octets(100))


def retry(client, ids):
    for version in V1, V2:
        for dcid, scid in (octets(8), octets(8)), (octets(20), b''), (octets(18), octets(20)):
            answer = client.ask(initial(version, dcid, scid))
            name = 'Initial of version %#x' % version
            check(name + ' is answered', answer is not None)
            if answer is None:
                continue
            byte, got, to, source, rest = parse(answer)
            check(name + ': type Retry', byte & 0xf0 == RETRY[version])
            check(name + ': same version', got == version)
            check(name + ': to the client', to == scid)
            check(name + ': connection ID names a server', any(source[1:1 + len(i)] == i for i in ids))
            check(name + ': configuration 0', source[0] >> 5 == 0)
            check(name + ': another connection ID', source != dcid)
            token = rest[:-16]
            check(name + ': token', len(token) > 0 and token[0] & 0x80 == 0)
            changed = bytes([token[0]]) + bytes([token[1] ^ 1]) + token[2:]
            client.silent('Initial with a changed token', initial(version, source, scid, token=changed))
    client.silent('small Initial', initial(V1, octets(8), octets(8), size=1199))


def tamper(source, target):
    data = open(source, 'rb').read()
    out, at = data[:24], 24
    while at < len(data):
        length = struct.unpack('<I', data[at + 8:at + 12])[0]
        frame = data[at + 16:at + 16 + length]
        out += data[at:at + 16] + frame[:-1] + bytes([frame[-1] ^ 1])
        at += 16 + length
    open(target, 'wb').write(out)


what, args = sys.argv[1], sys.argv[2:]
if what == 'versions':
    versions(Client(*args))
elif what == 'retry':
    retry(Client(*args[:2]), [bytes.fromhex(i) for i in args[2:]])
elif what == 'pass':
    for v in V1, V2:
        # Servers without this version, or who cannot decrypt, may say so: that is their affair.
        Client(*args).ask(initial(v, octets(8), octets(8)), 0.3)
elif what == 'tamper':
    tamper(*args)
else:
    sys.exit(__doc__)
sys.exit(1 if bad else 0)
