# SPDX-License-Identifier: Apache-2.0
"""Two network namespaces joined by two veth pairs: the load's end with c0 and p0, the forwarder's with f0 and f1."""
import contextlib

from . import children

MACS = {"c0": "02:00:00:00:01:02", "f0": "02:00:00:00:01:01", "p0": "02:00:00:00:02:02", "f1": "02:00:00:00:02:01"}


def ip(*words):
    children.run(["ip", *words], timeout=30)


def inside(namespace, argv):
    return ["ip", "netns", "exec", namespace, *argv]


def make_pair(load, forward, a, b):
    ip("link", "add", a, "netns", load, "address", MACS[a], "type", "veth", "peer", "name", b, "netns", forward, "address",
       MACS[b])
    for namespace, name in ((load, a), (forward, b)):
        # The kernel has nothing to say on these links: no addresses, no router solicitations.
        children.run(inside(namespace, ["sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1"]), timeout=30)
        ip("-n", namespace, "link", "set", name, "up")


@contextlib.contextmanager
def namespaces(prefix):
    """Names of the two namespaces, which are there within the block."""
    load, forward = f"{prefix}-l", f"{prefix}-f"
    made = []
    try:
        for namespace in (load, forward):
            made.append(namespace)
            ip("netns", "add", namespace)
            ip("-n", namespace, "link", "set", "lo", "up")
        make_pair(load, forward, "c0", "f0")
        make_pair(load, forward, "p0", "f1")
        yield load, forward
    finally:
        for namespace in made:
            with contextlib.suppress(children.Failed):
                ip("netns", "del", namespace)
