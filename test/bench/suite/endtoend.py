# SPDX-License-Identifier: Apache-2.0
"""End to end: pitlane-load at both ends of pitlaned, then of dpdk-testpmd on the same ports, in turn.

Both are bounded by the ports, not by the forwarder: their ratio is what says something.
"""
import contextlib
import os

from . import build, children, load, machine, network, pitlaned, progress, rounds, testpmd

PART = "e2e"
ROUNDS = 5
BUDGET = 220  # seconds
START_SECONDS = 60  # at most, until a forwarder forwards
TRIAL, DURATION = 1.5, 2.0
QUICK_TRIAL, QUICK_DURATION = 0.2, 0.3
FAILED_MAX = 1  # runs on a path
FORWARDERS = ("pitlane", "testpmd")


class Path:
    """A kind of port: devices of the forwarder and of the load, which meet."""

    def __init__(self, name, folder, prefix):
        self.name, self.folder, self.prefix = name, folder, prefix
        self.failed = 0  # runs
        macs = network.MACS
        self.ends = [f"link=ether,mac={macs['c0']},to={macs['f0']}", f"link=ether,mac={macs['p0']},to={macs['f1']}"]

    def vdev(self, side, n):
        """Arguments of DPDK's device n of a side, "load" or "forward"."""
        raise NotImplementedError

    def within(self, side, argv):
        """The command, in the side's namespace."""
        return argv

    def port(self, n):
        """Keys of pitlaned's port n."""
        return f'device = "{self.vdev("forward", n)}"; bare = false;'

    def conf(self):
        faces = "\n".join(f'    {name}: {{ port = "{port}"; remote = "ether://[{network.MACS[mac]}]"; }};'
                          for name, port, mac in (("consumer", "left", "c0"), ("producer", "right", "p0")))
        text = f"port: {{\n    left: {{ {self.port(0)} }};\n    right: {{ {self.port(1)} }};\n}};\nface: {{\n{faces}\n}};\n"
        # As testpmd is run: one CPU that never sleeps, and no hugepages.
        alike = f"workers: {{ count = 1; lcores = [ {testpmd.cpus()[0]} ]; busy-poll = true; }};\n" \
                "memory: { hugepages = \"no\"; };\n"
        return pitlaned.write(self.folder, self.name, alike + text + pitlaned.routes(load.FLOWS, ["producer"]))


class Memif(Path):
    """Shared memory between processes."""

    def vdev(self, side, n):
        role = "server" if side == "forward" else "client"
        mac = network.MACS[(("f0", "f1") if side == "forward" else ("c0", "p0"))[n]]
        return f"net_memif{n},role={role},id=0,socket={self.folder}/memif{n}.sock,socket-abstract=no,mac={mac}"


class AfXdp(Path):
    """AF_XDP sockets on veth pairs."""

    def __init__(self, name, folder, prefix, namespaces):
        super().__init__(name, folder, prefix)
        self.namespace = dict(zip(("load", "forward"), namespaces))

    def netdev(self, side, n):
        return (("f0", "f1") if side == "forward" else ("c0", "p0"))[n]

    def vdev(self, side, n):
        return f"net_af_xdp{n},iface={self.netdev(side, n)}"

    def within(self, side, argv):
        return network.inside(self.namespace[side], argv)

    def port(self, n):
        return f'netdev = "{self.netdev("forward", n)}";'


def forwarder(path, who, options):
    """The forwarder, as a context within which it forwards."""
    log = os.path.join(path.folder, f"{who}.log")
    if who == "pitlane":
        argv = [os.path.join(options.build, "pitlaned"), "-c", path.conf()]
        return children.background(path.within("forward", argv), log, " ready", START_SECONDS)
    argv = testpmd.command([path.vdev("forward", n) for n in (0, 1)], options.prefix + "t")
    return children.background(path.within("forward", argv), log, testpmd.READY, START_SECONDS)


def take(result, name, who, report):
    def add(what, unit, sample, better="lower"):
        beside = {"testpmd": (name, f"testpmd, {what}")} if who == "pitlane" else {}
        result.add(PART, name, f"{who}, {what}", unit, sample, better=better, best=sample, **beside)

    add("exchanges", "M/s", report["search"]["saturated_pps"] / 1e6, "higher")
    for p in load.PERCENTILES:
        add(f"latency {p} at half of its rate", "us", report["latency_us"][p])
    result.add(PART, name, f"{who}, loss at half of its rate", "ratio", report["loss_ratio"])


def run_path(result, options, path, turn, count):
    trial, duration = (QUICK_TRIAL, QUICK_DURATION) if options.quick else (TRIAL, DURATION)
    for who in FORWARDERS:
        if who == "testpmd" and not testpmd.there():
            continue
        progress.show(f"e2e, round {turn + 1} of {count}: {who} on {path.name}")
        try:
            measure(result, options, path, who, trial, duration)
        except children.Failed as error:
            # One is lost, as when a link came up too late; more have a cause that is to be found.
            result.skip(f"e2e: {who} on {path.name}, round {turn + 1}", str(error).splitlines()[0])
            path.failed += 1
            if options.quick or path.failed > FAILED_MAX:
                raise


def measure(result, options, path, who, trial, duration):
    with forwarder(path, who, options):
        argv = load.command(options.build, [path.vdev("load", n) for n in (0, 1)], path.ends, options.prefix + "l", trial,
                            duration)
        take(result, path.name, who, load.run(path.within("load", argv), path.folder))


def run(result, options, folder):
    absent = build.missing(options.build, "pitlaned", "test/load/pitlane-load")
    if absent:
        result.skip(PART, f"not built: {absent}")
        return
    if not testpmd.there():
        result.skip("e2e: testpmd", "dpdk-testpmd is not installed (package dpdk-dev)")
    if len(os.sched_getaffinity(0)) < 2:
        result.skip(PART, "needs two CPUs, one for the load and one for the forwarder")
        return
    with contextlib.ExitStack() as stack:
        paths = []
        if options.only in "e2e memif":
            paths.append(Memif("memif", folder, options.prefix))
        if options.only in "e2e af_xdp":
            if machine.is_root():
                names = stack.enter_context(network.namespaces(options.prefix))
                paths.append(AfXdp("af_xdp", folder, options.prefix, names))
            else:
                result.skip("e2e: af_xdp", "needs root for network namespaces")
        for turn, count in rounds.rounds(result, options, PART, ROUNDS, BUDGET):
            for path in paths:
                run_path(result, options, path, turn, count)
