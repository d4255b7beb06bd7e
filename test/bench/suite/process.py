# SPDX-License-Identifier: Apache-2.0
"""Whole processes, timed by hyperfine: start to ready, replay of a capture, check of a large configuration."""
import hashlib
import json
import os
import shutil

from . import build, children, machine, pitlaned, progress, rounds

PART = "process"
ROUNDS = 3
BUDGET = 150  # seconds
RUNS = 4  # of a command in each round
ROUTES = 10000
EXCHANGES = 1000000
QUICK_EXCHANGES = 2000
FLOWS = 1000  # prefixes of the replay
UNTIL_READY = os.path.join(machine.ROOT, "test", "bench", "until_ready.sh")


class Command:
    """A command that hyperfine runs; what is to be done before each run and after the last."""

    def __init__(self, case, argv, prepare=None, cleanup=None):
        self.case, self.argv, self.prepare, self.cleanup = case, argv, prepare, cleanup


def quoted(argv):
    """hyperfine takes commands as text, and splits it like a shell."""
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in argv)


def time(folder, command, runs, warm_up):
    """Seconds of each run, of which hyperfine makes two at least."""
    out = os.path.join(folder, "hyperfine.json")
    argv = ["hyperfine", "--shell=none", "--style=none", "--warmup", str(warm_up), "--runs", str(runs), "--export-json",
            out]
    for option, words in (("--prepare", command.prepare), ("--cleanup", command.cleanup)):
        if words is not None:
            argv += [option, quoted(words)]
    children.run(argv + [quoted(command.argv)], timeout=600)
    with open(out) as f:
        return json.load(f)["results"][0]["times"]


def write_conf(folder, name, routes):
    """Two ports of shared memory that need no other process and no rights, and routes over them."""
    ports = "\n".join(f'    p{i}: {{ device = "net_memif{i},role=server,id={i},socket={folder}/{name}.sock,'
                      'socket-abstract=no"; };' for i in (0, 1))
    faces = "\n".join(f'    f{i}: {{ port = "p{i}"; remote = "bare"; }};' for i in (0, 1))
    text = f"port: {{\n{ports}\n}};\nface: {{\n{faces}\n}};\n"
    return pitlaned.write(folder, name, text + pitlaned.routes(routes, ["f0", "f1"]))


def start_commands(folder, program):
    stop = [UNTIL_READY, "stop", folder]
    for routes, words in ((1, "1 route"), (ROUTES, f"{ROUTES} routes")):
        conf = write_conf(folder, f"start{routes}", routes)
        yield Command(f"start to ready, {words}", [UNTIL_READY, "start", folder, program, "-c", conf], stop, stop)


class Replay:
    """A capture of exchanges, read, forwarded and written. Every run has to write the same octets."""

    MACS = {"left": "02:00:00:00:00:01", "right": "02:00:00:00:01:01"}  # those that mkpcap sends to
    PEERS = {"left": "02:00:00:00:00:02", "right": "02:00:00:00:01:02"}

    def __init__(self, folder, options):
        self.exchanges = QUICK_EXCHANGES if options.quick else EXCHANGES
        self.capture, self.out = (os.path.join(folder, name) for name in ("in.pcap", "out.pcap"))
        self.mkpcap = os.path.join(options.build, "test", "load", "mkpcap")
        faces = "".join(f'    {name}: {{ port = "{name}"; remote = "ether://[{mac}]"; }};\n'
                        for name, mac in self.PEERS.items())
        ports = "".join(f'    {name}: {{ device = "net_null{n}"; }};\n' for n, name in enumerate(self.MACS))
        conf = pitlaned.write(folder, "replay", f"port: {{\n{ports}}};\nface: {{\n{faces}}};\n" +
                              pitlaned.routes(FLOWS, ["right"]))
        macs = [word for name, mac in self.MACS.items() for word in ("--replay-mac", f"{name}={mac}")]
        self.argv = [os.path.join(options.build, "pitlaned"), "-c", conf, "--replay", self.capture, "--out", self.out,
                     *macs]

    def make(self):
        children.run([self.mkpcap, "exchange", "-n", str(self.exchanges), "--flows", str(FLOWS), "-o", self.capture],
                     timeout=300)

    def check(self, folder):
        """All are answered. @return digest of the octets that come out"""
        path = os.path.join(folder, "replay.json")
        children.run(self.argv + ["--replay-stats", path], timeout=300)
        with open(path) as f:
            satisfied = json.load(f)["worker"]["satisfied"]
        if satisfied != self.exchanges:
            raise children.Failed(f"replay: {satisfied} of {self.exchanges} Interests satisfied")
        return self.digest()

    def digest(self):
        with open(self.out, "rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest()

    def command(self):
        return Command(f"replay of {self.exchanges} exchanges", self.argv)


def commands(folder, options, replay):
    program = os.path.join(options.build, "pitlaned")
    yield from start_commands(folder, program)
    if replay is not None:
        yield replay.command()
    yield Command(f"config check, {ROUTES} routes", [program, "-t", "-c", write_conf(folder, "check", ROUTES)])


def measure(result, options, folder, todo):
    try:
        for turn, count in rounds.rounds(result, options, PART, ROUNDS, BUDGET):
            for command in todo:
                progress.show(f"process, round {turn + 1} of {count}: {command.case}")
                runs, warm_up = (2, 0) if options.quick else (RUNS, 1)
                for seconds in time(folder, command, runs, warm_up):
                    result.add(PART, "pitlaned", command.case, "s", seconds, best=seconds)
    finally:
        children.run([UNTIL_READY, "stop", folder])


def run(result, options, folder):
    if shutil.which("hyperfine") is None:
        result.skip(PART, "hyperfine is not installed")
        return
    absent = build.missing(options.build, "pitlaned", "test/load/mkpcap")
    if absent:
        result.skip(PART, f"not built: {absent}")
        return
    replay, digest = None, None
    if options.only in "process replay":
        progress.show("process: a capture for the replay")
        replay = Replay(folder, options)
        replay.make()
        digest = replay.check(folder)
    measure(result, options, folder, [c for c in commands(folder, options, replay) if options.only in f"process {c.case}"])
    if replay is not None and replay.digest() != digest:
        raise children.Failed("replay: runs of the same capture differ in what they write")
