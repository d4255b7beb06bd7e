#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays of captures made by hand, whose outcome is judged frame by frame.
usage: replay.py PITLANED FOLDER
       replay.py --make FILE      the capture that is committed, replay.pcapng; what becomes of it is in replay.sha256
Prints what went wrong; exit 0: nothing did."""
import concurrent.futures
import hashlib
import itertools
import json
import os
import struct
import subprocess
import sys
import time

from capture import (EAST, MAGIC_US, SHM, START, WEST, arp, block, data, ether, interest, mac, name, nni, packet, pcap,
                     pcapng, quic_short, read, tlv, udp)

pitlaned, folder = sys.argv[1:3]
here = os.path.dirname(os.path.abspath(__file__))
MS = 10**6
CONSUMER, OTHER, PRODUCER, SERVER1, SERVER2 = ('02:00:00:00:01:%02x' % i for i in (1, 2, 3, 4, 5))
bad = 0

SMALL = '''
daemon: { log-level = "warning"; };
pit: { capacity = 4096; dead-nonce-capacity = 4096; };
cs: { capacity = 256; };
lp: { budget = "1m"; messages = 64; };
'''
PORTS = '''
port: {
    west: { netdev = "eth1"; };
    east: { netdev = "eth2"; address4 = "192.0.2.1/24"; address6 = "2001:db8::1/64"; };
};
'''
FACES = '''
face: {
    consumer: { port = "west"; remote = "ether://[02:00:00:00:01:01]"; };
    other: { port = "west"; remote = "ether://[02:00:00:00:01:02]"; };
    producer: { port = "east"; remote = "ether://[02:00:00:00:01:03]"; };
};
route = ( { prefix = "/a"; face = "producer"; } );
'''
PLAIN = SMALL + PORTS + FACES


def check(what, ok, seen=''):
    global bad
    if not ok:
        bad += 1
        print('not so:', what, seen)


def write(name, octets):
    path = os.path.join(folder, name)
    with open(path, 'wb') as f:
        f.write(octets if isinstance(octets, bytes) else octets.encode())
    return path


numbers = itertools.count()


def start(conf, capture, *options, suffix='.pcap'):
    """@return process, file that it writes; its counters are in another, with .json behind"""
    stem = 'replay%d' % next(numbers)
    out = os.path.join(folder, stem + suffix)
    process = subprocess.Popen([pitlaned, '-c', write(stem + '.conf', conf), '--replay', write(stem + '.in', capture),
                                '--out', out, '--replay-stats', out + '.json', *options],
                               stderr=subprocess.PIPE, text=True)
    return process, out


def replay(conf, capture, *options, suffix='.pcap'):
    """@return frames sent, counters, what was logged"""
    process, out = start(conf, capture, *options, suffix=suffix)
    log = process.communicate(timeout=100)[1]
    check('exit 0', process.returncode == 0, log)
    with open(out + '.json') as f:
        stats = json.load(f)
    check('every frame is accounted for', stats['worker']['error'] == 0, stats['worker'])
    return read(out), stats, log


def ndn(frame):
    """(source MAC, destination MAC, packet) of a sent NDN frame"""
    return frame[1][6:12], frame[1][:6], packet(frame[1][14:])


def ask(uri, src=CONSUMER, **fields):
    return ether(WEST, src, interest(uri, **fields))


def answer(uri, **fields):
    return ether(EAST, PRODUCER, data(uri, **fields))


def timed(*frames, step=MS):
    return [(START + i * step, frame) for i, frame in enumerate(frames)]


# ---- NDN ----

def exchange():
    frames, stats, _ = replay(PLAIN, pcap(timed(ask('/a/1', token=b'12345678'), answer('/a/1'))))
    check('two frames', len(frames) == 2, frames)
    source, to, out = ndn(frames[0])
    check('the Interest goes to the producer', (source, to) == (mac(EAST), mac(PRODUCER)) and out['kind'] == 'Interest')
    check('with a token of ours', len(out['token']) == 8 and out['token'] != b'12345678')
    source, to, out = ndn(frames[1])
    check('the Data comes back with the token', (source, to) == (mac(WEST), mac(CONSUMER)) and
          out == {'kind': 'Data', 'name': '/a/1', 'token': b'12345678', 'nack': None}, out)
    check('times are those of what caused it', [f[0] for f in frames] == [START, START + MS], frames)
    check('counters', (stats['worker']['satisfied'], stats['capture']['frames'], stats['tables']['pit']) == (1, 2, 0))
    # The producer may echo our token: it is the same each time.
    token = ndn(frames[0])[2]['token']
    _, stats, _ = replay(PLAIN, pcap(timed(ask('/a/1', token=b'12345678'), answer('/a/1', token=token))))
    check('found by token', stats['worker']['token_hits'] == 1, stats['worker'])


def store():
    frames, stats, _ = replay(PLAIN, pcap(timed(ask('/a/1'), answer('/a/1'), ask('/a/1', OTHER, nonce=2))))
    check('the second comes from the Content Store', len(frames) == 3 and ndn(frames[2])[1] == mac(OTHER), frames)
    check('one hit', stats['tables']['cs_hits'] == 1 and stats['drops']['cs_hit'] == 1, stats['tables'])


def aggregation():
    frames, stats, _ = replay(PLAIN, pcap(timed(ask('/a/1'), ask('/a/1', OTHER, nonce=2), answer('/a/1'))))
    kinds = [(ndn(f)[1], ndn(f)[2]['kind']) for f in frames]
    check('one Interest, two Data', kinds[0] == (mac(PRODUCER), 'Interest') and
          sorted(kinds[1:]) == [(mac(CONSUMER), 'Data'), (mac(OTHER), 'Data')], kinds)
    check('aggregated', stats['drops']['aggregated'] == 1)


def no_route():
    frames, stats, _ = replay(PLAIN, pcap(timed(ask('/b/1', token=b'12345678'))))
    check('a Nack', len(frames) == 1 and ndn(frames[0])[2] == {'kind': 'Interest', 'name': '/b/1', 'nack': 150,
                                                              'token': b'12345678'}, frames)
    check('no_route', stats['drops']['no_route'] == 1)


def expiry():
    capture = pcap(timed(ask('/a/1', lifetime=1500)))
    _, stats, _ = replay(PLAIN, capture)
    check('it expires', stats['worker']['unsatisfied'] == 1 and stats['tables']['pit'] == 0, stats['worker'])
    check('when it is time', 1500 * MS <= stats['worker']['duration_ns'] < 1600 * MS, stats['worker'])
    _, stats, _ = replay(PLAIN, capture, '--replay-tail', '1000')
    check('the tail is shorter', stats['worker']['unsatisfied'] == 0 and stats['tables']['pit'] == 1, stats['worker'])
    _, stats, _ = replay(PLAIN, pcap([(START, ask('/a/1', lifetime=1500)), (START + 2000 * MS, answer('/a/1'))]))
    check('Data comes too late', stats['drops']['unsolicited_data'] == 1, stats['drops'])


def reliability():
    conf = SMALL + PORTS + FACES.replace('remote = "ether://[02:00:00:00:01:03]"',
                                         'remote = "ether://[02:00:00:00:01:03]"; reliability = true')
    frames, stats, _ = replay(conf, pcap(timed(ask('/a/1'))))
    times = [f[0] - START for f in frames]
    check('sent again as time goes on', stats['worker']['lp_retransmitted'] == len(frames) - 1 > 0 and
          times == sorted(times) and times[0] == 0 and times[1] >= MS, times)


def fragments():
    conf = PLAIN.replace('west: { netdev = "eth1"; }', 'west: { netdev = "eth1"; mtu = 600; }')
    frames, stats, _ = replay(conf, pcap(timed(ask('/a/1'), answer('/a/1', content=bytes(1200)))))
    check('in fragments to a small MTU', len(frames) == 4 and all(len(f[1]) <= 614 for f in frames), frames)
    pieces = [frame[1].replace(mac(CONSUMER) + mac(WEST), mac(EAST) + mac(PRODUCER)) for frame in frames[1:]]
    back, stats, _ = replay(PLAIN, pcap(timed(ask('/a/1'), *pieces)))
    check('and put together', len(back) == 2 and ndn(back[1])[2]['name'] == '/a/1', back)
    _, stats, _ = replay(PLAIN, pcap(timed(ask('/a/1'), *pieces[1:])))
    check('a fragment is waited for, then not any more', stats['drops']['lp_reass_timeout'] == 2 and
          stats['worker']['held'] == 0, stats['drops'])


# ---- ports and neighbours ----

def neighbours():
    conf = SMALL + PORTS + FACES.replace('ether://[02:00:00:00:01:03]', 'udp4://192.0.2.7:6363')
    reply = udp(EAST, PRODUCER, '192.0.2.7', '192.0.2.1', 6363, 6363, data('/a/1'))
    frames, stats, _ = replay(conf, pcap(timed(ask('/a/1'), reply)))
    check('learnt from what comes later', len(frames) == 2 and frames[0][1][:6] == mac(PRODUCER), frames)
    frames, _, _ = replay(conf, pcap(timed(ask('/a/1'), arp(SERVER1, '192.0.2.7', '192.0.2.1'))))
    check('learnt from ARP', len(frames) == 1 and frames[0][1][:6] == mac(SERVER1), frames)
    frames, stats, _ = replay(conf, pcap(timed(ask('/a/1'), frames[0][1])))
    check('learnt from what was sent', len(frames) == 1 and stats['capture']['own'] == 1, stats['capture'])
    behind = conf.replace('"udp4://192.0.2.7:6363"', '"udp4://10.9.9.9:6363"; next-hop = "192.0.2.254"')
    frames, _, _ = replay(behind, pcap(timed(ask('/a/1'), arp(SERVER2, '192.0.2.254', '192.0.2.1'))))
    check('the next hop', len(frames) == 1 and frames[0][1][:6] == mac(SERVER2), frames)
    frames, stats, log = replay(conf, pcap(timed(ask('/a/1'))))
    check('unknown', frames == [] or ndn(frames[0])[2]['nack'], frames)
    check('which is told', 'face producer: no frame tells' in log, log)
    frames, _, _ = replay(conf.replace('udp4://192.0.2.7', 'udp6://[2001:db8::7]'), pcap(timed(
        ask('/a/1'), udp(EAST, PRODUCER, '2001:db8::7', '2001:db8::1', 6363, 6363, data('/a/1')))))
    check('the same with IPv6', len(frames) == 2 and frames[0][1][:6] == mac(PRODUCER), frames)


def ingress():
    frames = timed(ask('/a/1'), answer('/a/1'), ask('/a/2', nonce=2))
    of = lambda *interfaces: [(*frame, i) for frame, i in zip(frames, interfaces)]
    usual = replay(PLAIN, pcap(frames))[0]
    for what, capture in {
            'big-endian': pcap(frames, order='>'),
            'microseconds': pcap(frames, magic=MAGIC_US),
            'pcapng': pcapng(of(0, 0, 0)),
            'pcapng, big-endian, microseconds': pcapng(of(0, 0, 0), order='>', resolution=6),
            'interfaces by name of the port': pcapng(of(1, 0, 1), ('east', 'west')),
            'interfaces by netdev': pcapng(of(1, 0, 1), ('eth2', 'eth1')),
            'interfaces by number': pcapng(of(0, 1, 0), ('', '')),
    }.items():
        check(what, replay(PLAIN, capture)[0] == usual)
    _, stats, _ = replay(PLAIN, pcapng(of(1, 0, 1), ('', '')))
    check('not by MAC when there are interfaces', stats['drops']['l2_unmatched'] == 3, stats['drops'])
    named = replay(PLAIN, pcap(frames), suffix='.pcapng')[0]
    check('each on its interface', [f[:2] for f in named] == [f[:2] for f in usual] and
          [f[2] for f in named] == ['east', 'west', 'east'], named)
    moved = [(t, f.replace(mac(WEST), mac('02:12:34:56:78:9a'))) for t, f in frames]
    back, stats, _ = replay(PLAIN, pcap(moved), '--replay-mac', 'west=02:12:34:56:78:9a')
    check('with another MAC address', len(back) == 3 and stats['ports'][0]['mac'] == '02:12:34:56:78:9A', stats)
    _, stats, _ = replay(PLAIN, pcap(moved))
    check('which is nobody without', stats['capture']['no_port'] == 2, stats['capture'])


def groups():
    conf = SMALL + PORTS + FACES.replace('"ether://[02:00:00:00:01:02]"', '"ether://[01:00:5e:00:17:aa]"')
    group = '01:00:5e:00:17:aa'
    frames, stats, _ = replay(conf, pcap(timed(ether(group, SERVER1, interest('/a/1')), answer('/a/1'))))
    check('the port with a face to the group', len(frames) == 2 and frames[1][1][:12] == mac(group) + mac(WEST), frames)
    both = conf.replace('"ether://[02:00:00:00:01:03]"', '"ether://[01:00:5e:00:17:aa]"')
    _, stats, _ = replay(both, pcap(timed(ether(group, SERVER1, interest('/a/1')))))
    check('two ports have one', stats['capture']['no_port'] == 1, stats['capture'])
    _, stats, _ = replay(both, pcap(timed(ether(group, CONSUMER, interest('/a/1')))))
    check('the source decides', stats['ports'][0]['received'] == 1, stats['ports'])


def on_demand():
    conf = SMALL + PORTS.replace('"192.0.2.1/24";', '"192.0.2.1/24"; udp-on-demand = 4;') + FACES.replace(
        '"producer"; } );', '"consumer"; } );')
    capture = timed(udp(EAST, OTHER, '192.0.2.9', '192.0.2.1', 5000, 6363, interest('/a/1')),
                    ether(WEST, CONSUMER, data('/a/1')))
    frames, stats, _ = replay(conf, pcap(capture))
    check('a face for an unknown peer', len(frames) == 2 and frames[1][1][:6] == mac(OTHER) and
          stats['drops']['unknown_peer'] == 1, stats['drops'])
    check('at once', [f[0] for f in frames] == [START, START + MS], frames)


def management():
    conf = SMALL + '''
port: { west: { netdev = "eth1"; }; east: { netdev = "eth2"; };
        shm: { device = "net_memif0,role=server,id=0,socket=/nowhere,socket-abstract=no"; bare = true; }; };
face: { app: { port = "shm"; remote = "bare"; scope = "local"; }; };
'''
    query = ether(SHM, OTHER, interest('/localhost/nfd/status/general', prefix=True))
    frames, stats, _ = replay(conf, pcap(timed(query)))
    check('a bare packet in an Ethernet frame', len(frames) == 1 and frames[0][1][:12] == bytes(6) + mac(SHM), frames)
    check('the status', ndn(frames[0])[2]['name'].startswith('/localhost/nfd/status/general/'), frames)
    again, _, _ = replay(conf, pcap(timed(query)))
    check('the same each time', again == frames)


def learning():
    conf = SMALL + PORTS + FACES.replace('route = ( { prefix = "/a"; face = "producer"; } );',
                                         'strategy = ( { prefix = "/"; strategy = "self-learning"; } );')
    period = tlv(6, tlv(7, tlv(8, b's') + tlv(32, b'PA') + tlv(54, nni(1)) + tlv(50, nni(0))) + tlv(20, tlv(24, nni(5))) +
                 tlv(21, tlv(109, nni(3600000))) + tlv(22, tlv(27, b'\0')) + tlv(23, bytes(32)))
    announced = ether(EAST, PRODUCER, tlv(100, tlv(848, period) + tlv(80, data('/s/1'))))
    frames, _, _ = replay(conf, pcap(timed(ask('/s/1'), announced, ask('/s/2', nonce=2))))
    to = [(ndn(f)[2]['name'], ndn(f)[1]) for f in frames if ndn(f)[2]['kind'] == 'Interest']
    check('first to all, then where the announcement came from', sorted(to) == sorted(
        [('/s/1', mac(OTHER)), ('/s/1', mac(PRODUCER)), ('/s/2', mac(PRODUCER))]), to)


# ---- QUIC ----

def quic():
    conf = SMALL + PORTS + '''
quic: { web: { vip = [ "203.0.113.10:443" ]; }; };
quic-config = ( { service = "web"; id = 0; server-id-length = 2; nonce-length = 5; } );
quic-server: {
    one: { service = "web"; id = "0001"; address = "192.0.2.11"; port = "east"; mac = "02:00:00:00:01:04"; };
    two: { service = "web"; id = "0002"; address = "192.0.2.12"; };
    three: { service = "web"; id = "0003"; address = "192.0.2.13"; };
};
'''

    def to(server, flow=0):
        cid = bytes([7]) + struct.pack('>H', server) + bytes([flow] * 5)
        return udp(WEST, CONSUMER, '198.51.100.1', '203.0.113.10', 4000 + flow, 443, quic_short(cid))
    frames, stats, _ = replay(conf, pcap(timed(to(1), to(2), to(2, 9), to(1, 9), to(3),
                                               arp(SERVER2, '192.0.2.12', '192.0.2.1'))))
    check('to the servers by connection ID', [f[1][:12] for f in frames] == [
        mac(s) + mac(EAST) for s in (SERVER1, SERVER2, SERVER2, SERVER1)], frames)
    check('one has no neighbour', stats['drops']['quic_no_neighbour'] == 1, stats['drops'])
    check('counted', [s['packets'] for s in stats['quic_servers']][:2] == [2, 2], stats['quic_servers'])
    # Without a connection ID that is known the 4-tuple decides, by a hash with a random key: fixed here.
    initials = pcap([(START + i * MS, udp(WEST, CONSUMER, '198.51.100.%d' % i, '203.0.113.10', 4000, 443,
                                          quic_short(b'\xe7' + bytes(20)))) for i in range(1, 200)])
    one, stats, _ = replay(conf, initials)
    check('spread', len({f[1][:6] for f in one}) == 1 and len(one) == 199, stats['quic_servers'])
    check('the same each time', one == replay(conf, initials)[0])


# ---- bytes and time ----

def mixture():
    """A little of everything, for conf/examples/replay.conf."""
    near, far, at, out = '02:00:00:00:02:07', '02:00:00:00:02:08', [START], []

    def add(frame, interface, step=MS // 3):
        out.append((at[0], frame, interface))
        at[0] += step

    def produced(uri, host, mac_address):
        add(udp(EAST, mac_address, host, '192.0.2.1', 6363, 6363, data(uri, content=uri.encode() * 20)), 1)
    for mac_address, host in ((near, '192.0.2.7'), (far, '192.0.2.8'), (SERVER1, '192.0.2.11'), (SERVER2, '192.0.2.12')):
        add(arp(mac_address, host, '192.0.2.1'), 1)
    for i in range(12):
        uris = ['/a/%d/%d' % (i, k) for k in range(3)] + ['/b/%d' % i, '/c/%d' % i]
        for k, uri in enumerate(uris):
            add(ask(uri, nonce=100 * i + k, token=struct.pack('>I', i * 16 + k), lifetime=800), 0, 1000)
        add(ether('01:00:5e:00:17:aa', SERVER1, interest(uris[0], nonce=5000 + i)), 0)
        # Without a Nonce: one is put in.
        add(ether(WEST, CONSUMER, tlv(5, name('/a/n%d' % i))), 0)
        produced(uris[0], '192.0.2.7', near)
        if i % 2:
            produced(uris[1], '192.0.2.7', near)
        produced(uris[3], '192.0.2.8', far)
        add(ask(uris[0], nonce=9000 + i), 0)
        cid = bytes([7]) + struct.pack('>H', 1 + i % 2) + bytes([i] * 5)
        add(udp(WEST, CONSUMER, '198.51.100.%d' % i, '203.0.113.10', 4000, 443, quic_short(cid)), 0)
        add(udp(WEST, CONSUMER, '198.51.100.%d' % i, '203.0.113.10', 5000, 443, quic_short(b'\xe7' + bytes(20))), 0)
        initial = b'\xc0\x1a\x2a\x3a\x4a\x08' + bytes([i] * 8) + b'\x04abcd'
        if i % 4 == 0:
            add(udp(WEST, CONSUMER, '198.51.100.%d' % i, '203.0.113.10', 6000, 443,
                    initial + bytes(1200 - len(initial))), 0)
        at[0] += 200 * MS
    return pcapng(out, ('west', 'east'))


def determinism():
    capture = open(os.path.join(here, 'replay.pcapng'), 'rb').read()
    check('the capture is what --make makes', capture == mixture())
    conf = open(os.path.join(here, '../../conf/examples/replay.conf')).read()
    running = [start(conf, capture, *options) for options in ((), (), ('--replay-portable',))]
    for process, _ in running:
        log = process.communicate(timeout=100)[1]
        check('all at once', process.returncode == 0, log)
    outs, stats = ([open(out + more, 'rb').read() for _, out in running] for more in ('', '.json'))
    check('the same octets', len(set(outs)) == 1 and len(set(stats)) == 1)
    want = open(os.path.join(here, 'replay.sha256')).read().split()[0]
    seen = hashlib.sha256(outs[0]).hexdigest()
    check('the octets that were committed', seen == want, seen)


def times():
    late = [(START + 5 * MS, ask('/a/1')), (START, answer('/a/1'))]
    frames, stats, _ = replay(PLAIN, pcap(late))
    check('time does not go back', stats['capture']['late'] == 1 and frames[1][0] == START + 5 * MS, frames)
    before = time.monotonic()
    far = [(0, ask('/a/1'), 0), (2**64 - 1, ask('/a/2', nonce=2), 0), (5, ask('/a/3', nonce=3), 0)]
    frames, stats, _ = replay(PLAIN, pcapng(far))
    check('a century passes at once', stats['worker']['unsatisfied'] == 3 and time.monotonic() - before < 60, stats)
    near = [(START + i, ask('/a/%d' % i, nonce=i)) for i in range(100)]
    check('bursts', replay(PLAIN, pcap(near))[1]['capture']['bursts'] == 4)
    check('no bursts', replay(PLAIN, pcap(near), '--replay-burst', '0')[1]['capture']['bursts'] == 100)
    _, stats, _ = replay(PLAIN, pcap(timed(ask('/a/1')), wire=1))
    check('a frame that was cut is left out', stats['capture']['cut'] == 1 and stats['worker']['rx_frames'] == 0)


def hostile():
    good = timed(ask('/a/1'), answer('/a/1'))
    plain, ng = pcap(good), pcapng([(*f, 0) for f in good])
    second = 24 + 16 + len(good[0][1])
    header, description = 28, 20 + 8 + 4
    put = lambda octets, at, number: octets[:at] + struct.pack('<I', number) + octets[at + 4:]
    cases = {
        'nothing': (b'', 0, 'it is no capture'),
        'a word': (b'abcd', 0, 'neither pcap nor pcapng'),
        'half a header': (plain[:20], 0, 'ends within its header'),
        'wrong magic': (b'\x34' + plain[1:], 0, 'neither pcap nor pcapng'),
        'version': (plain[:4] + b'\3' + plain[5:], 0, 'version 3.4'),
        'link type': (pcap(good, link=113), 0, 'link type 113: only Ethernet'),
        'half a record header': (plain[:second + 7], second, 'within the header of a record'),
        'half a frame': (plain[:-1], second, 'of which the file has %d' % (len(good[1][1]) - 1)),
        'huge frame': (put(plain, second + 8, 2**32 - 1), second, 'a frame of 4294967295 octets'),
        'huge block': (put(ng, header + 4, 2**32 - 4), header, 'a block of 4294967292 octets, of which'),
        'odd block': (put(ng, header + 4, 33), header, 'a block of 33 octets'),
        'small block': (put(ng, header + 4, 8), header, 'a block of 8 octets'),
        'block with another end': (put(ng, header + description - 4, 12), header, 'whose end says 12'),
        'half a block': (ng[:header + 9], header, 'ends within a block'),
        'byte order': (put(ng, 8, 0x11223344), 0, 'byte-order magic 44332211'),
        'no interface': (pcapng([(*f, 1) for f in good]), header + description, 'interface 1, of which nothing'),
        'frame in a small block': (put(ng, header + description + 20, 5000), header + description, 'do not fit'),
        'option': (put(ng, header + 16, 9 | 200 << 16), header, 'an option of 200 octets'),
        'link type of pcapng': (pcapng([(*f, 0) for f in good], link=101), header + description, 'link type 101'),
        'packet block of 12 octets': (ng[:header + description] + block(6, b''), header + description, 'packet block'),
    }
    for what, (capture, offset, text) in cases.items():
        process, out = start(PLAIN, capture)
        log = process.communicate(timeout=100)[1]
        check(what + ' is refused', process.returncode == 1 and 'offset %d: ' % offset in log and text in log,
              '%d %s' % (process.returncode, log))
        if what == 'half a frame':
            check('what came before is there', len(read(out)) == 1)
    unknown = ng[:header + description] + block(0xbad, bytes(2 * 1024 * 1024)) + ng[header + description:]
    check('unknown blocks are passed over', len(replay(PLAIN, unknown)[0]) == 2)
    simple = ng[:header + description] + block(3, struct.pack('<I', len(good[0][1])) + good[0][1])
    check('a frame without a time', len(replay(PLAIN, simple)[0]) == 1)
    short = timed(b'', b'\0', mac(WEST) + mac(OTHER), mac(WEST) + mac(CONSUMER) + b'\x86\x24', bytes(262144))
    _, stats, _ = replay(PLAIN, pcap(short))
    check('frames that are none', stats['worker']['tx_frames'] == 0 and stats['capture']['frames'] == 5, stats)


def refused():
    def run(*args):
        done = subprocess.run([pitlaned, *args], capture_output=True, text=True, timeout=100)
        return done.returncode, done.stderr
    conf, capture = write('plain.conf', PLAIN), write('good.pcap', pcap(timed(ask('/a/1'))))
    none = write('none.conf', SMALL)
    for what, (args, status, text) in {
            'no ports': (('-c', none, '--replay', capture), 1, 'has no ports'),
            'no file': (('-c', conf, '--replay', folder + '/missing'), 1, 'missing: No such file'),
            'a folder': (('-c', conf, '--replay', folder), 1, 'is not a file'),
            'a place that cannot be written': (('-c', conf, '--replay', capture, '--out', folder), 1, 'cannot write'),
            'a full device': (('-c', conf, '--replay', capture, '--out', '/dev/full'), 1, 'cannot write /dev/full'),
            'counters that cannot be written': (('-c', conf, '--replay', capture, '--replay-stats', folder), 1,
                                                'cannot write'),
            'an unknown port': (('-c', conf, '--replay', capture, '--replay-mac', 'x=02:00:00:00:00:01'), 1,
                                'there is no port x'),
            'a group as MAC': (('-c', conf, '--replay', capture, '--replay-mac', 'west=03:00:00:00:00:01'), 2, 'as in'),
            'no MAC': (('-c', conf, '--replay', capture, '--replay-mac', 'west'), 2, 'as in'),
            'no number': (('-c', conf, '--replay', capture, '--replay-tail', '-1'), 2, 'a number from 0'),
            'no capture': (('-c', conf, '--out', capture), 2, 'usage'),
            'check and replay': (('-c', conf, '-t', '--replay', capture), 2, 'usage'),
    }.items():
        status_seen, log = run(*args)
        check(what, status_seen == status and text in log, '%d %s' % (status_seen, log))
    status, log = run('-c', conf, '--replay', capture)
    check('counters as text', status == 0 and '1  Interests received' in log, log)


if pitlaned == '--make':
    with open(folder, 'wb') as file:
        file.write(mixture())
    sys.exit(0)
cases = (exchange, store, aggregation, no_route, expiry, reliability, fragments, neighbours, ingress, groups, on_demand,
         management, learning, quic, determinism, times, hostile, refused)
# Most of a replay of a few frames is waiting for DPDK to start.
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for case, done in [(case, pool.submit(case)) for case in cases]:
        print('#', case.__name__, flush=True)
        done.result()
sys.exit(1 if bad else 0)
