# SPDX-License-Identifier: Apache-2.0
"""The command line of scripts/bench."""
import argparse
import datetime
import os
import sys
import tempfile

from . import (build, children, compare, endtoend, machine, micro, plot, process, progress, quic, report, result, scaling,
               targets)

PARTS = {"micro": micro.run, "e2e": endtoend.run, "process": process.run, "quic": quic.run}


def arguments(argv, usage):
    parser = argparse.ArgumentParser(prog="scripts/bench", description=usage,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), metavar="LIST",
                        help=f"of {','.join(PARTS)}: what is measured (default: all)")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs whose name or options have this text")
    parser.add_argument("--rounds", type=int, default=None, metavar="N",
                        help="samples of each case (default 5; part e2e, process and quic have their own)")
    parser.add_argument("--quick", action="store_true", help="small tables, one round: a smoke test, no figures")
    parser.add_argument("--all", action="store_true", help="print every micro bench, not only those with a target or peer")
    parser.add_argument("--json", metavar="FILE", help="where to write the result (default: bench-results/DATE.json)")
    parser.add_argument("--build", default=os.path.join(machine.ROOT, "build"), metavar="DIR", help="build folder")
    parser.add_argument("--no-build", action="store_true", help="run the programs that are there")
    parser.add_argument("--compare", nargs=2, metavar=("A", "B"), help="say what changed from one result to another")
    parser.add_argument("--fail-above", type=float, metavar="PERCENT",
                        help="with --compare: exit with 1 when a case got worse by more, noise set aside")
    parser.add_argument("--plot", metavar="FILE", help="draw the pictures of a result again")
    parser.add_argument("--scaling", metavar="FILE", help="print the tables of test/bench/SCALING.md for a result")
    options = parser.parse_args(argv)
    options.parts = options.parts.split(",")
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part}: {', '.join(PARTS)}")
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds is at least 1")
    options.build = os.path.abspath(options.build)
    options.prefix = f"bench{os.getpid()}"  # of DPDK's files, and of namespaces
    return options


def free_path(quick):
    """The file of today's result; none that is there is written over."""
    folder = os.path.join(machine.ROOT, "bench-results")
    stem = ("quick-" if quick else "") + datetime.date.today().isoformat()
    for n in range(1, 1000):
        path = os.path.join(folder, f"{stem}{f'.{n}' if n > 1 else ''}.json")
        if not os.path.exists(path):
            return path
    raise children.Failed(f"{folder} is full")


def print_comparison(options):
    a, b = (result.load(path) for path in options.compare)
    for line in compare.lines(a, b):
        print(line)
    if options.fail_above is None:
        return 0
    return 1 if 100 * compare.worst(compare.compare(a, b)) > options.fail_above else 0


def draw(path, document):
    written, why_not = plot.draw(document, os.path.splitext(path)[0])
    for picture in written:
        print(f"picture: {os.path.relpath(picture)}")
    for why in why_not:
        print(f"no picture: {why}")


def measure(options):
    children.on_signals()
    if not options.no_build:
        build.build(options.build)
    found = result.Result(options.quick)
    if not machine.is_root():
        print("not root: what needs network namespaces is left out", file=sys.stderr)
    broken = 0
    with tempfile.TemporaryDirectory(prefix="pitlane-bench-") as folder:
        for part in options.parts:
            try:
                PARTS[part](found, options, folder)
            except children.Failed as error:
                broken += 1
                progress.clear()
                print(f"part {part} failed: {error}", file=sys.stderr)
                found.skip(part, str(error).splitlines()[0])
    progress.clear()
    targets.apply(found)
    for line in report.lines(found, options.all):
        print(line)
    print(report.LEGEND)
    path = options.json or free_path(options.quick)
    found.save(path)
    print(f"written to {os.path.relpath(path)}, {progress.elapsed()}")
    draw(path, found.document())
    return 1 if broken else 0


def main(argv, usage):
    options = arguments(argv, usage)
    try:
        if options.compare:
            return print_comparison(options)
        if options.scaling:
            for line in scaling.main_lines(result.load(options.scaling)):
                print(line)
            return 0
        if options.plot:
            draw(options.plot, result.load(options.plot))
            return 0
        return measure(options)
    except (ValueError, children.Failed) as error:
        progress.clear()
        print(f"scripts/bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        progress.clear()
        print("scripts/bench: stopped", file=sys.stderr)
        return 130
