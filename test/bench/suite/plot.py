# SPDX-License-Identifier: Apache-2.0
"""Pictures of a result, drawn by gnuplot: one SVG each, with machine and commit on it."""
import re
import shutil
import statistics
import tempfile

from . import children

GNUPLOT = "gnuplot"
SIZE = (900, 560)
# Colours that remain apart for those who see fewer of them.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
PIPELINE = re.compile(r"comps=4,live=(\d+),payload=100,cs=64(?:,part=(\w+))?$")
TABLE_SIZES = {"1k": 1 << 10, "64k": 1 << 16, "1M": 1 << 20, "16M": 1 << 24}
PEER_EXCHANGE_NS = {1 << 10: 1185, 1 << 16: 1829, 1 << 20: 2337}  # NDN-DPDK, one core, this class of machine


def median(row):
    return statistics.median(row["samples"])


def micro(document, bench):
    return [row for row in document["cases"] if row["part"] == "micro" and row["bench"] == bench and row["samples"]]


def pipeline(document):
    """Nanoseconds of an exchange by number of pending Interests: {live: {"" or part: ns}}."""
    found = {}
    for row in micro(document, "pipeline"):
        match = PIPELINE.match(row["case"])
        if match:
            found.setdefault(int(match.group(1)), {})[match.group(2) or ""] = median(row)
    return dict(sorted(found.items()))


def table(document):
    """Nanoseconds of PIT insert, match and erase by number of entries."""
    found = {}
    for row in micro(document, "table"):
        match = re.match(r"(\w+) live, 4 comps: insert\+match\+erase, batches of 64$", row["case"])
        if match and match.group(1) in TABLE_SIZES:
            found[TABLE_SIZES[match.group(1)]] = median(row)
    return dict(sorted(found.items()))


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def short(n):
    return f"{n >> 20} M" if n >= 1 << 20 else f"{n >> 10} k" if n >= 1 << 10 else str(n)


def footer(document):
    machine = document["machine"]
    text = f"{machine['cpu']}, {machine['cpus']} CPUs, commit {document['commit']}, {document['date'][:10]}"
    return text + (": QUICK RUN, NO FIGURES" if document["quick"] else "")


class Picture:
    """A gnuplot script with its data in it."""

    def __init__(self, document, title, x, y):
        self.blocks, self.settings, self.curves = [], [], []
        self.settings = [
            f"set title {quoted(title)}", f"set xlabel {quoted(x)}", f"set ylabel {quoted(y)}",
            f"set label 9 {quoted(footer(document))} at screen 0.01, screen 0.02 left font ',10' "
            "textcolor '#555555'",
            "set bmargin 5.5", "set rmargin 3", "set tmargin 3", "set grid ytics linecolor '#dddddd' linetype 1",
            "set border 3", "set tics nomirror", "set key top left reverse Left", "set yrange [0:*]",
        ]

    def set(self, *lines):
        self.settings += [f"set {line}" for line in lines]

    def block(self, rows):
        """Data lines. @return the name to plot them by"""
        name = f"$d{len(self.blocks)}"
        lines = [" ".join(f'"{cell}"' if isinstance(cell, str) else f"{cell:.9g}" for cell in row) for row in rows]
        self.blocks.append("\n".join([f"{name} << EOD", *lines, "EOD"]))
        return name

    def line(self, rows, title, number, dash=1, style="linespoints"):
        name, colour = self.block(rows), COLOURS[number % len(COLOURS)]
        self.curves.append(f"{name} using 1:2 with {style} title {quoted(title)} linecolor rgb '{colour}' "
                           f"linewidth 2 dashtype {dash}" + (f" pointtype {5 + 2 * number}" if style != "lines" else ""))

    def script(self, path, terminal="svg"):
        size = f"{SIZE[0]},{SIZE[1]}"
        head = [f"set terminal {terminal} noenhanced size {size} font 'DejaVu Sans,13' background rgb 'white'",
                f"set output {quoted(path)}", "set encoding utf8"]
        return "\n".join(head + self.blocks + self.settings + ["plot " + ", \\\n  ".join(self.curves), ""])


def rate_by_live(document):
    exchanges, entries = pipeline(document), table(document)
    exchanges = {live: parts[""] for live, parts in exchanges.items() if "" in parts}
    if len(exchanges) < 2:
        return None
    picture = Picture(document, "Rate against pending Interests, one core, no NIC", "pending Interests",
                      "million a second")
    picture.line([(n, 1e3 / ns) for n, ns in exchanges.items()], "exchanges through the pipeline", 0)
    if len(entries) > 1:
        picture.line([(n, 1e3 / ns) for n, ns in entries.items()], "PIT alone: insert, match, erase", 1)
    picture.line([(n, 1e3 / ns) for n, ns in PEER_EXCHANGE_NS.items()], "exchanges through NDN-DPDK, measured before", 2,
                 2)
    sizes = sorted({*exchanges, *entries, *PEER_EXCHANGE_NS})
    top = 1e3 / min([*exchanges.values(), *entries.values()])
    picture.set("logscale x 2", f"xrange [{sizes[0] / 2}:{sizes[-1] * 2}]", f"yrange [0:{1.4 * top:.3g}]",
                "xtics (" + ", ".join(f"{quoted(short(n))} {n}" for n in sizes) + ")")
    return picture


def cost_by_stage(document):
    rows = [(short(live), parts["parse"], parts[""] - parts["parse"] - parts["tx"], parts["tx"])
            for live, parts in pipeline(document).items() if {"", "parse", "tx"} <= parts.keys()]
    if not rows:
        return None
    picture = Picture(document, "Cost of an exchange by stage, one core, no NIC", "pending Interests",
                      "ns for an Interest and its Data")
    top = max(sum(row[1:]) for row in rows)
    picture.set("style data histograms", "style histogram rowstacked", "style fill solid 0.9 border rgb 'white'",
                "boxwidth 0.6", "key top left invert", f"yrange [0:{1.4 * top:.3g}]", "xtics scale 0")
    name = picture.block(rows)
    titles = ["parse and hash names", "PIT, CS, FIB, strategy, headers", "send"]
    for i, title in enumerate(titles):
        picture.curves.append(f"{name} using {i + 2}:xtic(1) title {quoted(title)} linecolor rgb '{COLOURS[i]}'")
    totals = picture.block([(i, sum(row[1:])) for i, row in enumerate(rows)])
    picture.curves.append(f"{totals} using 1:2:(sprintf('%.0f', $2)) with labels offset 0,0.7 notitle")
    return picture


PERCENTILE = re.compile(r"(pitlane|testpmd), latency p([\d.]+) at")


def latency(document):
    curves = {}
    for row in document["cases"]:
        match = PERCENTILE.match(row["case"]) if row["part"] == "e2e" and row["samples"] else None
        if match:
            label = f"{match.group(1)}, {row['bench']}"
            curves.setdefault(label, []).append((1 / (1 - float(match.group(2)) / 100), median(row)))
    curves = {label: sorted(points) for label, points in curves.items() if len(points) > 1}
    if not curves:
        return None
    picture = Picture(document, "Round trip of Interest and Data at half of the saturated rate", "percentile",
                      "microseconds")
    for number, (label, points) in enumerate(curves.items()):
        picture.line(points, label, number, 1 if label.startswith("pitlane") else 2)
    last = max(points[-1][0] for points in curves.values())
    ticks = [(p, 1 / (1 - p / 100)) for p in (50, 90, 99, 99.9, 99.99, 99.999) if 1 / (1 - p / 100) <= last * 1.1]
    picture.set("logscale x", "logscale y", "format y '%.0f'", "yrange [*:*]", f"xrange [1.6:{last * 1.6:.4g}]", "mytics 10",
                "xtics (" + ", ".join(f"'{p:g} %%' {x:.9g}" for p, x in ticks) + ")")
    return picture


def workers(document):
    """The cases with several workers: {what: ns}, and how many they are."""
    found, count = {}, 0
    for row in micro(document, "pipeline"):
        match = re.match(r"comps=4,live=1024,payload=100,cs=64,(.*worker.*)$", row["case"])
        if match:
            found[match.group(1)] = median(row)
            several = re.match(r"(\d+) workers at once", match.group(1))
            count = int(several.group(1)) if several else count
    return found, count


def scaling(document):
    ns, count = workers(document)
    alone, both = ns.get(f"one of {count} workers alone"), ns.get(f"{count} workers at once")
    if not alone or not both:
        return None
    one = 1e3 / alone
    picture = Picture(document, "Scaling by workers, no NIC", "workers", "million exchanges a second")
    picture.line([(1, one), (count, count * 1e3 / both)], "packets sourced inside each worker", 0)
    handed = [ns.get(f"wrong worker, {side}") for side in ("its side of the hand-over", "the owner's side")]
    if all(handed):
        # Each worker gives away what is the other's, and does what it is given.
        picture.line([(1, one), (count, count * 1e3 / sum(handed))], "all packets arrive at the wrong worker", 1)
    picture.line([(1, one), (count, count * one)], f"{count} times one worker", 2, 3, "lines")
    picture.set("xtics 1", f"xrange [0.7:{count + 0.3}]", f"yrange [0:{1.4 * count * max(one, 1e3 / both):.3g}]")
    return picture


PICTURES = {"rate-by-live": rate_by_live, "cost-by-stage": cost_by_stage, "latency": latency, "workers": scaling}


def draw(document, stem):
    """Draw what the document has the cases for, as STEM-NAME.svg. @return (paths, sentences about what is not drawn)"""
    if shutil.which(GNUPLOT) is None:
        return [], ["gnuplot is not installed (package gnuplot-nox)"]
    paths, why_not = [], []
    for name, make in PICTURES.items():
        picture = make(document)
        if picture is None:
            why_not.append(f"{name}: its cases were not measured")
            continue
        path = f"{stem}-{name}.svg"
        with tempfile.NamedTemporaryFile("w", prefix="pitlane-bench-", suffix=".gnuplot") as script:
            script.write(picture.script(path))
            script.flush()
            children.run([GNUPLOT, script.name], timeout=60)
        paths.append(path)
    return paths, why_not
