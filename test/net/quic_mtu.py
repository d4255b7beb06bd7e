#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does this host learn the size of the path to a virtual address from "too big"? Sends Initial packets that do not fit,
not to be fragmented; the kernel then refuses to send them, and tells the size that it learned.
usage: quic_mtu.py PORT ADDRESS SIZE...   exit 0: the path's size is one of SIZEs"""
import errno
import os
import socket
import sys
import time

port, address, sizes = int(sys.argv[1]), sys.argv[2], [int(size) for size in sys.argv[3:]]
v6 = ':' in address
# From linux/in.h and linux/in6.h: (level, ..._MTU_DISCOVER, ..._MTU), and ..._PMTUDISC_DO.
level, discover, mtu = (socket.IPPROTO_IPV6, 23, 24) if v6 else (socket.IPPROTO_IP, 10, 14)
DO = 2
s = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(level, discover, DO)
s.connect((address, port))
size = 1500 - (48 if v6 else 28)
initial = bytes.fromhex('c00000000108') + os.urandom(8) + b'\0\0\x45\0'
initial += os.urandom(size - len(initial))
deadline = time.monotonic() + 5
refused = False
while not refused and time.monotonic() < deadline:
    try:
        s.send(initial)
        time.sleep(0.05)
    except OSError as error:
        if error.errno != errno.EMSGSIZE:
            raise
        refused = True
learned = s.getsockopt(level, mtu)
print('#', address, 'path MTU', learned)
sys.exit(0 if refused and learned in sizes else 1)
