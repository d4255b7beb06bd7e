#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Relay frames between two interfaces with loss, duplication and reordering, from a seed. Stops at SIGTERM."""
import argparse
import random
import selectors
import signal
import socket
import sys

ETH_P_ALL = 3
PACKET_OUTGOING = 4


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--duplicate", type=float, default=0)
    parser.add_argument("--reorder", type=float, default=0)
    parser.add_argument("interfaces", nargs=2)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    count = {"relayed": 0, "lost": 0, "duplicated": 0, "reordered": 0}
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))

    sides = []
    for name in args.interfaces:
        side = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        side.bind((name, ETH_P_ALL))
        # Frames to any address pass.
        index = socket.if_nametoindex(name)
        request = index.to_bytes(4, sys.byteorder) + (1).to_bytes(2, sys.byteorder) + bytes(10)
        side.setsockopt(263, 1, request)  # SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_MR_PROMISC
        side.setblocking(False)
        sides.append(side)
    delayed = {0: [], 1: []}
    selector = selectors.DefaultSelector()
    for i, side in enumerate(sides):
        selector.register(side, selectors.EVENT_READ, i)
    print("ready", flush=True)

    def send(i, frame):
        try:
            sides[1 - i].send(frame)
        except OSError:
            count["lost"] += 1

    while not stop:
        events = selector.select(0.02)
        if not events:
            for i in (0, 1):
                while delayed[i]:
                    send(i, delayed[i].pop(0))
        for key, _ in events:
            i = key.data
            for _ in range(64):
                try:
                    frame, address = sides[i].recvfrom(65536)
                except BlockingIOError:
                    break
                if address[2] == PACKET_OUTGOING:
                    continue
                chance = rng.random()
                if chance < args.loss:
                    count["lost"] += 1
                    continue
                chance -= args.loss
                if chance < args.reorder:
                    count["reordered"] += 1
                    delayed[i].append(frame)
                    continue
                chance -= args.reorder
                send(i, frame)
                count["relayed"] += 1
                if chance < args.duplicate:
                    count["duplicated"] += 1
                    send(i, frame)
                if len(delayed[i]) > 2:
                    send(i, delayed[i].pop(0))
    print(" ".join(f"{k}={v}" for k, v in count.items()), flush=True)


main()
