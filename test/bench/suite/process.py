# SPDX-License-Identifier: Apache-2.0
"""Whole processes, timed by hyperfine: start to ready, replay of a capture, check of a large configuration."""
import json
import os
import shutil

from . import build, children, machine, progress

PART = "process"
ROUNDS = 3
RUNS = 4  # of a command in each round
ROUTES = 10000
EXCHANGES = 1000000
QUICK_EXCHANGES = 2000
UNTIL_READY = os.path.join(machine.ROOT, "test", "bench", "until_ready.sh")


class Command:
    """A command that hyperfine runs; what is to be done before each run and after the last."""

    def __init__(self, case, argv, prepare=None, cleanup=None):
        self.case, self.argv, self.prepare, self.cleanup = case, argv, prepare, cleanup


def quoted(argv):
    """hyperfine takes commands as text, and splits it like a shell."""
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in argv)


def time(folder, command, runs):
    """Seconds of each run."""
    out = os.path.join(folder, "hyperfine.json")
    argv = ["hyperfine", "--shell=none", "--style=none", "--warmup", "1", "--runs", str(max(runs, 2)),
            "--export-json", out]
    for option, words in (("--prepare", command.prepare), ("--cleanup", command.cleanup)):
        if words is not None:
            argv += [option, quoted(words)]
    children.run(argv + [quoted(command.argv)], timeout=600)
    with open(out) as f:
        return json.load(f)["results"][0]["times"]


def write_conf(folder, name, routes):
    """Two ports of shared memory that need no other process and no rights, and routes over them."""
    path = os.path.join(folder, name)
    run = os.path.join(folder, "run")
    os.makedirs(run, exist_ok=True)
    ports = "\n".join(f'    p{i}: {{ device = "net_memif{i},role=server,id={i},socket={run}/{name}.sock,'
                      'socket-abstract=no"; };' for i in (0, 1))
    table = ",\n".join(f'    {{ prefix = "/ndnbench/flow{n:04}"; face = "f{n % 2}"; }}' for n in range(routes))
    with open(path, "w") as f:
        f.write(f"""\
daemon: {{ runtime-dir = "{run}"; file-prefix = "bench{os.getpid()}{name}"; }};
unix: {{ path = "{run}/{name}-nfd.sock"; }};
tcp: {{ listen = false; }};
udp: {{ listen = false; multicast = false; }};
websocket: {{ listen = false; }};
pit: {{ capacity = "64k"; }};
cs: {{ capacity = 1024; }};
fib: {{ capacity = "64k"; }};
port: {{
{ports}
}};
face: {{
    f0: {{ port = "p0"; remote = "bare"; }};
    f1: {{ port = "p1"; remote = "bare"; }};
}};
route = (
{table}
);
""")
    os.chmod(path, 0o600)
    return path


def start_commands(folder, pitlaned):
    stop = [UNTIL_READY, "stop", folder]
    for routes, words in ((1, "1 route"), (ROUTES, f"{ROUTES} routes")):
        conf = write_conf(folder, f"start{routes}.conf", routes)
        yield Command(f"start to ready, {words}", [UNTIL_READY, "start", folder, pitlaned, "-c", conf], stop, stop)


def commands(folder, options):
    pitlaned = os.path.join(options.build, "pitlaned")
    yield from start_commands(folder, pitlaned)
    conf = write_conf(folder, "check.conf", ROUTES)
    yield Command(f"config check, {ROUTES} routes", [pitlaned, "-t", "-c", conf])


def run(result, options, folder):
    if shutil.which("hyperfine") is None:
        result.skip(PART, "hyperfine is not installed")
        return
    absent = build.missing(options.build, "pitlaned")
    if absent:
        result.skip(PART, f"{absent} is not built")
        return
    todo = [c for c in commands(folder, options) if options.only in f"process {c.case}"]
    rounds = options.rounds_or(ROUNDS)
    try:
        for turn in range(rounds):
            for command in todo:
                progress.show(f"process, round {turn + 1} of {rounds}: {command.case}")
                for seconds in time(folder, command, 1 if options.quick else RUNS):
                    result.add(PART, "pitlaned", command.case, "s", seconds, best=seconds)
    finally:
        children.run([UNTIL_READY, "stop", folder])
