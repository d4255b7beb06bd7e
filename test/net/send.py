#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Send a frame N times: send.py INTERFACE DST SRC N KIND HEX [KEY=VALUE...]

KIND is ndn (Ethernet, EtherType 0x8624) or udp (IPv4 from 10.0.1.2:6363 to 10.0.1.1:6363). HEX is the payload. Keys
change one header field: src=MAC, dst=MAC, ttl=N, sport=N, dport=N, udplen=+N, iplen=+N, csum=N (UDP), ipcsum=N,
ipsrc=A, ipdst=A, frag=N, ihl=N, vlan=N.
"""
import socket
import struct
import sys


def mac(text):
    return bytes(int(part, 16) for part in text.split(":"))


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def main():
    interface, dst, src, times, kind, payload = sys.argv[1:7]
    keys = dict(arg.split("=", 1) for arg in sys.argv[7:])
    payload = bytes.fromhex(payload) if payload != "-" else b""
    ether = 0x8624
    if kind == "udp":
        ether = 0x0800
        ip_src = socket.inet_aton(keys.get("ipsrc", "10.0.1.2"))
        ip_dst = socket.inet_aton(keys.get("ipdst", "10.0.1.1"))
        length = 8 + len(payload)
        pseudo = ip_src + ip_dst + struct.pack("!BBH", 0, 17, length)
        ports = struct.pack("!HH", int(keys.get("sport", 6363)), int(keys.get("dport", 6363)))
        udp_length = struct.pack("!H", length + int(keys.get("udplen", 0)))
        csum = checksum(pseudo + ports + udp_length + b"\0\0" + payload) or 0xFFFF
        csum = int(keys.get("csum", csum))
        udp = ports + udp_length + struct.pack("!H", csum) + payload
        head = struct.pack("!BBHHHBBH", 0x40 | int(keys.get("ihl", 5)), 0, 20 + length + int(keys.get("iplen", 0)), 1,
                           int(keys.get("frag", 0)), int(keys.get("ttl", 64)), 17, 0) + ip_src + ip_dst
        ip_csum = int(keys.get("ipcsum", checksum(head)))
        payload = head[:10] + struct.pack("!H", ip_csum) + head[12:] + udp
    tag = struct.pack("!HH", 0x8100, int(keys["vlan"])) if "vlan" in keys else b""
    frame = mac(keys.get("dst", dst)) + mac(keys.get("src", src)) + tag + struct.pack("!H", ether) + payload
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((interface, 0))
        for _ in range(int(times)):
            s.send(frame)


main()
