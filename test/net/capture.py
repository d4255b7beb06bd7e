# SPDX-License-Identifier: Apache-2.0
"""Frames and capture files for replay.py: NDN, UDP, ARP and QUIC frames made by hand, pcap and pcapng written and
read."""
import ipaddress
import struct

MAGIC_US, MAGIC_NS = 0xa1b2c3d4, 0xa1b23c4d
START = 1_700_000_000 * 10**9
WEST, EAST, SHM = '02:00:00:00:00:01', '02:00:00:00:00:02', '02:00:00:00:00:03'


def mac(text):
    return bytes.fromhex(text.replace(':', ''))


# ---- NDN ----

def tlv(kind, value):
    head = b'' if kind < 253 else b'\xfd'
    size = len(value)
    length = bytes([size]) if size < 253 else b'\xfd' + struct.pack('>H', size)
    return head + (bytes([kind]) if kind < 253 else struct.pack('>H', kind)) + length + value


def nni(number):
    for code, size in (('>B', 1), ('>H', 2), ('>I', 4)):
        if number < 1 << 8 * size:
            return struct.pack(code, number)
    return struct.pack('>Q', number)


def name(uri):
    return tlv(7, b''.join(tlv(8, component.encode()) for component in uri.strip('/').split('/')))


def wrap(packet, token):
    return tlv(100, tlv(98, token) + tlv(80, packet)) if token else packet


def interest(uri, nonce=1, lifetime=4000, token=None, prefix=False):
    fields = name(uri) + (tlv(33, b'') if prefix else b'') + tlv(10, struct.pack('>I', nonce)) + tlv(12, nni(lifetime))
    return wrap(tlv(5, fields), token)


def data(uri, content=b'content', token=None):
    signature = tlv(22, tlv(27, b'\0')) + tlv(23, bytes(32))
    return wrap(tlv(6, name(uri) + tlv(20, tlv(25, nni(10000))) + tlv(21, content) + signature), token)


def items(octets):
    """The TLVs of a value."""
    out, at = [], 0
    while at < len(octets):
        numbers = []
        for _ in range(2):
            first, at = octets[at], at + 1
            size = {253: 2, 254: 4, 255: 8}.get(first, 0)
            numbers.append(int.from_bytes(octets[at:at + size], 'big') if size else first)
            at += size
        out.append((numbers[0], octets[at:at + numbers[1]]))
        at += numbers[1]
    return out


def packet(octets):
    """Of an NDN packet: kind, name as URI, PIT token, Nack reason. Padding is left alone."""
    token = reason = None
    kind, value = items(octets[:1 + (1 if octets[1] < 253 else 3) +
                               (octets[1] if octets[1] < 253 else int.from_bytes(octets[2:4], 'big'))])[0]
    if kind == 100:
        fields = dict(items(value))
        token = fields.get(98)
        if 800 in fields:
            inside = dict(items(fields[800]))
            reason = int.from_bytes(inside[801], 'big') if 801 in inside else 0
        kind, value = items(fields[80])[0]
    uri = '/' + '/'.join(v.decode('latin-1') for _, v in items(dict(items(value))[7]))
    return {'kind': {5: 'Interest', 6: 'Data'}[kind], 'name': uri, 'token': token, 'nack': reason}


# ---- frames ----

def ether(dst, src, payload, kind=0x8624):
    return mac(dst) + mac(src) + struct.pack('>H', kind) + payload


def checksum(octets):
    octets += b'\0' * (len(octets) % 2)
    total = sum(struct.unpack('>%dH' % (len(octets) // 2), octets))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def udp(dst_mac, src_mac, src, dst, sport, dport, payload):
    a, b = ipaddress.ip_address(src), ipaddress.ip_address(dst)
    size = 8 + len(payload)
    head = struct.pack('>HHH', sport, dport, size)
    if a.version == 4:
        pseudo = a.packed + b.packed + struct.pack('>HH', 17, size)
    else:
        pseudo = a.packed + b.packed + struct.pack('>II', size, 17)
    datagram = head + struct.pack('>H', checksum(pseudo + head + b'\0\0' + payload) or 0xffff) + payload
    if a.version == 6:
        return ether(dst_mac, src_mac, struct.pack('>IHBB', 6 << 28, size, 17, 64) + a.packed + b.packed + datagram,
                     0x86dd)
    ip = struct.pack('>BBHHHBBH', 0x45, 0, 20 + size, 0, 0x4000, 64, 17, 0) + a.packed + b.packed
    return ether(dst_mac, src_mac, ip[:10] + struct.pack('>H', checksum(ip)) + ip[12:] + datagram, 0x0800)


def arp(src_mac, src, dst):
    body = struct.pack('>HHBBH', 1, 0x0800, 6, 4, 1) + mac(src_mac) + ipaddress.ip_address(src).packed + bytes(6) + \
        ipaddress.ip_address(dst).packed
    return ether('ff:ff:ff:ff:ff:ff', src_mac, body, 0x0806)


def quic_short(cid, size=40):
    return b'\x43' + cid + bytes(i & 0xff for i in range(size))


# ---- files ----

def pcap(frames, magic=MAGIC_NS, order='<', link=1, wire=0):
    """Frames are (time in ns, octets)."""
    out = struct.pack(order + 'IHHIIII', magic, 2, 4, 0, 0, 65535, link)
    for time, octets in frames:
        fraction = time % 10**9 // (1 if magic == MAGIC_NS else 1000)
        out += struct.pack(order + 'IIII', time // 10**9, fraction, len(octets), len(octets) + wire) + octets
    return out


def block(kind, body, order='<'):
    body += b'\0' * (-len(body) % 4)
    return struct.pack(order + 'II', kind, len(body) + 12) + body + struct.pack(order + 'I', len(body) + 12)


def option(code, value, order='<'):
    return struct.pack(order + 'HH', code, len(value)) + value + b'\0' * (-len(value) % 4)


def pcapng(frames, interfaces=('',), order='<', resolution=9, link=1):
    """Frames are (time in ns, octets, interface)."""
    out = block(0x0a0d0d0a, struct.pack(order + 'IHHq', 0x1a2b3c4d, 1, 0, -1), order)
    for text in interfaces:
        options = (option(2, text.encode(), order) if text else b'') + option(9, bytes([resolution]), order) + \
            option(0, b'', order)
        out += block(1, struct.pack(order + 'HHI', link, 0, 0) + options, order)
    for time, octets, interface in frames:
        time //= 10**(9 - resolution)
        out += block(6, struct.pack(order + 'IIIII', interface, time >> 32, time & 0xffffffff, len(octets),
                                    len(octets)) + octets, order)
    return out


def read(path):
    """The frames of a file that pitlaned wrote, as (time in ns, octets, name of the interface)."""
    octets = open(path, 'rb').read()
    frames, names, at = [], [], 0
    if struct.unpack('<I', octets[:4])[0] == MAGIC_NS:
        assert octets[:24] == struct.pack('<IHHIIII', MAGIC_NS, 2, 4, 0, 0, 262144, 1)
        at = 24
        while at < len(octets):
            seconds, ns, size, wire = struct.unpack('<IIII', octets[at:at + 16])
            assert size == wire
            frames.append((seconds * 10**9 + ns, octets[at + 16:at + 16 + size], ''))
            at += 16 + size
        return frames
    while at < len(octets):
        kind, size = struct.unpack('<II', octets[at:at + 8])
        assert octets[at + size - 4:at + size] == octets[at + 4:at + 8]
        body = octets[at + 8:at + size - 4]
        if kind == 1:
            length = struct.unpack('<H', body[10:12])[0]
            assert body[8:10] == b'\2\0'
            names.append(body[12:12 + length].decode())
        elif kind == 6:
            interface, high, low, captured = struct.unpack('<IIII', body[:16])
            frames.append((high << 32 | low, body[20:20 + captured], names[interface]))
        at += size
    return frames
