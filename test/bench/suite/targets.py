# SPDX-License-Identifier: Apache-2.0
"""What the cases are measured against: targets, end goals, and peers measured on this class of machine."""

# (part, bench, case): (target, end goal, peer), in the case's unit; None where there is none. Peers are the best 10th
# percentile: NDN-DPDK on one core; for QUIC ngtcp2, picotls, Katran and SwiftQUIC; end to end ndnd.
TARGETS = {
    ("micro", "parse", "interest 4 parse+hash"): (20, 20, 241),
    ("micro", "table", "1k live, 4 comps: insert+match+erase, batches of 64"): (40, 40, 463),
    ("micro", "table", "64k live, 4 comps: insert+match+erase, batches of 64"): (80, 80, 840),
    ("micro", "table", "1M live, 4 comps: insert+match+erase, batches of 64"): (120, 120, 1229),
    ("micro", "wheel", "poll, nothing due, 1 of 16384 slots used"): (2, 2, None),
    ("micro", "wheel", "re-arm at 1M"): (80, 80, None),
    ("micro", "cs", "hit staged 1k"): (100, 100, 227),
    ("micro", "cs", "hit staged 64k"): (100, 100, 659),
    ("micro", "cs", "hit staged 1M"): (100, 100, 1072),
    ("micro", "quic", "header short"): (2.5, 2.5, 5.1),
    ("micro", "quic", "header initial"): (4, 4, 7.4),
    ("micro", "quic", "cid plaintext 3+4"): (3, 3, 78),
    ("micro", "quic", "cid four-pass 3+4"): (10, 10, 86),
    ("micro", "quic", "cid four-pass 3+4, burst"): (8, 8, 86),
    ("micro", "quic", "cid four-pass 8+10"): (10, 10, 86),
    ("micro", "quic", "cid four-pass 8+10, burst"): (8, 8, 86),
    ("micro", "quic", "packet four-pass 3+4"): (45, 45, 91),
    ("micro", "quic", "packet mix 90/4/5/1"): (None, None, 91),
    ("micro", "quic", "packet by hash"): (None, None, 123),
    ("micro", "quic", "retry answer"): (None, None, 1700),
    ("micro", "quic", "retry token check"): (None, None, 1330),
    # 45 and 243 million cycles of a 2.3 GHz time stamp counter for ten million frames.
    ("micro", "quic", "frame u8 u16 u32 u64 u8"): (1.95, 1.95, 10.5),
    ("micro", "pipeline", "comps=4,live=1024,payload=100,cs=64"): (120, 60, 1185),
    ("micro", "pipeline", "comps=4,live=65536,payload=100,cs=64"): (180, 90, 1829),
    ("micro", "pipeline", "comps=4,live=1048576,payload=100,cs=64"): (230, 120, 2337),
    ("micro", "pipeline", "comps=8,live=1024,payload=100,cs=64"): (None, None, 1489),
    # Parts of the cost of the same with 1 k pending, and of twice the rate of one worker.
    ("micro", "ratio", "pipeline, 16M live / 1k live"): (2.2, 2.2, None),
    ("micro", "ratio", "pipeline, two workers / one worker"): (1.9, 1.9, None),
    ("e2e", "af_xdp", "pitlane, exchanges"): (None, None, 0.027),
    ("quic", "ratio", "ours to ours, by connection ID / direct"): (1.10, 1.10, None),
}


def apply(result):
    """Enter the targets into the cases of a result."""
    for (part, bench, case), (target, goal, peer) in TARGETS.items():
        found = result.find(part, bench, case)
        if found is not None:
            found.update(target=target, goal=goal, peer=peer)
