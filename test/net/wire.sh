#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is on the wire, seen by tcpdump and tshark: EtherType and addresses, UDP and IP checksums that tshark
# finds good, hop limit untouched when absent, PIT token replaced upstream and returned downstream, no NDNLPv2 fields
# where none are needed.
source "$(dirname "$0")/lib.sh"
make_namespaces
{
    xdp_ports
    cat <<CONF
face: {
  consumer: { port = "left"; remote = "ether://[$MAC_C0]"; };
  consumer4: { port = "left"; remote = "udp4://10.0.1.2:6363"; mac = "$MAC_C0"; };
  consumer6: { port = "left"; remote = "udp6://[fd00:1::2]:6363"; mac = "$MAC_C0"; };
  producer: { port = "right"; remote = "ether://[$MAC_P0]"; };
  producer4: { port = "right"; remote = "udp4://10.0.2.2:6363"; mac = "$MAC_P0"; };
};
route: ( { prefix = "/A"; face = "producer"; }, { prefix = "/B"; face = "producer4"; } );
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"
start_producer server /A --ether p0 --remote $MAC_F1 -s 50
start_producer server4 /B --local 10.0.2.2:6363 -s 50
start capture-c "$NS_C" tcpdump -U -n -i c0 -Q in -w "$tmp/c.pcap" 'ether proto 0x8624 or udp'
start capture-p "$NS_P" tcpdump -U -n -i p0 -Q in -w "$tmp/p.pcap" 'ether proto 0x8624 or udp'
wait_for 5 grep -q listening "$tmp/capture-c.log" || fail "tcpdump"
wait_for 5 grep -q listening "$tmp/capture-p.log" || fail "tcpdump"

ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 20 -i 5ms -s 50 -t 4
expect_no_loss 20
ping_from_consumer /B --udp 10.0.1.1 --local 10.0.1.2:6363 -c 20 -i 5ms -s 50
expect_no_loss 20
ping_from_consumer /A --udp '[fd00:1::1]:6363' --local '[fd00:1::2]:6363' -c 20 -i 5ms -s 50 -t 32
expect_no_loss 20
sleep 0.5
check_quiet
stop_daemon

fields() { # PCAP FILTER FIELD...
    local file=$1 filter=$2 args=()
    shift 2
    for field in "$@"; do args+=(-e "$field"); done
    tshark -r "$file" -Y "$filter" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields "${args[@]}" 2>/dev/null
}
count() { grep -c "$@" || true; }

say "Ethernet: addresses and EtherType"
[ "$(fields "$tmp/p.pcap" 'eth.type == 0x8624' eth.src eth.dst | sort -u)" = "$MAC_F1"$'\t'"$MAC_P0" ] || fail "addresses to the producer"
[ "$(fields "$tmp/p.pcap" 'eth.type == 0x8624' frame.number | wc -l)" = 40 ] || fail "Interests over Ethernet"

say "IP and UDP: checksums, addresses, no fragments"
for pair in "c.pcap 40" "p.pcap 20"; do
    read -r file want <<<"$pair"
    [ "$(fields "$tmp/$file" 'udp.port == 6363' frame.number | wc -l)" = "$want" ] || fail "$file: datagrams"
    [ "$(fields "$tmp/$file" 'udp.port == 6363 && udp.checksum.status == 1' frame.number | wc -l)" = "$want" ] || fail "$file: UDP checksums"
done
[ "$(fields "$tmp/p.pcap" 'ip' ip.checksum.status ip.src ip.dst ip.flags.mf | sort -u)" = $'1\t10.0.2.1\t10.0.2.2\t0' ] ||
    fail "IPv4 header: $(fields "$tmp/p.pcap" ip ip.checksum.status ip.src ip.dst ip.flags.mf | sort -u)"

say "NDN: LpPacket with our token upstream, the consumer's token downstream"
python3 - "$tmp/p.pcap" "$tmp/c.pcap" <<'EOP' || fail "octets on the wire"
import struct, sys

def frames(path):
    data = open(path, "rb").read()
    order = "<" if data[:4] == b"\xd4\xc3\xb2\xa1" else ">"
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack_from(order + "I", data, at + 8)[0]
        yield data[at + 16:at + 16 + length]
        at += 16 + length

def payload(frame):
    kind = struct.unpack_from("!H", frame, 12)[0]
    if kind == 0x8624:
        return frame[14:]
    return frame[14 + 20 + 8:] if kind == 0x0800 else frame[14 + 40 + 8:]

def number(data, at):
    first = data[at]
    if first < 253:
        return first, at + 1
    size = {253: 2, 254: 4, 255: 8}[first]
    return int.from_bytes(data[at + 1:at + 1 + size], "big"), at + 1 + size

def elements(data):
    at = 0
    while at < len(data):
        kind, at = number(data, at)
        length, at = number(data, at)
        assert at + length <= len(data), "element beyond its parent"
        yield kind, data[at:at + length]
        at += length

tokens = []
for frame in frames(sys.argv[1]):
    kind, value = next(elements(payload(frame)))
    assert kind == 100, f"Interest upstream is not an LpPacket but {kind}"
    fields = list(elements(value))
    assert [k for k, _ in fields] == [98, 80], f"fields {[k for k, _ in fields]}"
    tokens.append(fields[0][1])
    assert 1 <= len(fields[0][1]) <= 32
    interest = next(elements(fields[1][1]))
    assert interest[0] == 5
    assert 34 not in [k for k, _ in elements(interest[1])], "HopLimit was added"
assert len(tokens) == 60 and len(set(tokens)) == 60, f"{len(set(tokens))} different tokens in {len(tokens)} Interests"

shapes = {}
for frame in frames(sys.argv[2]):
    kind, value = next(elements(payload(frame)))
    if kind == 6:
        shape = ("bare",)
    else:
        assert kind == 100
        fields = list(elements(value))
        assert [k for k, _ in fields] == [98, 80], f"fields {[k for k, _ in fields]}"
        assert next(elements(fields[1][1]))[0] == 6
        shape = ("token", len(fields[0][1]))
    shapes[shape] = shapes.get(shape, 0) + 1
assert shapes == {("token", 4): 20, ("bare",): 20, ("token", 32): 20}, shapes
EOP
