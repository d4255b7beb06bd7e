#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/bench itself, on results that are made up: no network, no build, no root."""
import argparse
import io
import itertools
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stdout

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from suite import (children, compare, micro, plot, quic, report, result, rounds, run, scaling, stats, targets,  # noqa: E402
                   testpmd)


def document(cases, calibration=1.0, quick=False, cpu="Test CPU"):
    """A result with cases {(part, bench, case): samples} or {...: (samples, better)}."""
    rows = []
    for (part, bench, case), samples in cases.items():
        samples, better = samples if isinstance(samples, tuple) else (samples, "lower")
        rows.append({"part": part, "bench": bench, "case": case, "unit": "ns", "better": better, "samples": samples,
                     "target": None, "goal": None, "peer": None, "testpmd": None, "testpmd_factor": 1})
    return {"version": result.VERSION, "date": "2026-01-02T03:04:05", "commit": "abc1234", "quick": quick,
            "machine": {"cpu": cpu, "cpus": 2, "memory_gib": 24, "free_hugepages": 0, "kernel": "6", "load": 0.1},
            "calibration_ns": [calibration], "skipped": [], "tables": {}, "cases": rows}


def noisy(median, spread, n=5, seed=1):
    generator = random.Random(seed)
    return [median * (1 + generator.uniform(-spread, spread)) for _ in range(n)]


KEY = ("micro", "pipeline", "exchange")


class Statistics(unittest.TestCase):
    def test_rank_sum_counts_are_those_of_all_orders(self):
        for n, m in ((1, 1), (3, 3), (4, 2), (5, 4)):
            counts = [0] * (n * m + 1)
            for chosen in itertools.combinations(range(n + m), n):
                counts[sum(chosen) - n * (n - 1) // 2] += 1
            self.assertEqual(counts, stats.rank_sum_counts(n, m))

    def test_three_samples_are_too_few_and_four_are_enough(self):
        self.assertEqual(stats.shift([1, 2, 3], [11, 12, 13]), (10, None, None))
        self.assertEqual(stats.shift([1, 2, 3, 4], [11, 12, 13, 14]), (10, 7, 13))

    def test_interval_has_the_true_shift_as_often_as_it_says(self):
        generator = random.Random(7)
        hits = 0
        for _ in range(1000):
            a = [generator.gauss(100, 5) for _ in range(6)]
            b = [generator.gauss(103, 5) for _ in range(6)]
            _, low, high = stats.shift(a, b)
            hits += low <= 3 <= high
        self.assertGreater(hits, 930)
        self.assertLess(hits, 985)

    def test_one_wild_sample_moves_the_change_little(self):
        a, b = [100, 101, 102, 103, 104], [110, 111, 112, 113, 1000]
        change, low, high = stats.change(a, b)
        self.assertAlmostEqual(change, 0.1, delta=0.02)
        self.assertGreater(low, 0)

    def test_change_of_ratios_is_the_same_both_ways(self):
        a, b = noisy(50, 0.1, seed=3), noisy(70, 0.1, seed=4)
        there, back = stats.change(a, b)[0], stats.change(b, a)[0]
        self.assertAlmostEqual((1 + there) * (1 + back), 1)


class Compare(unittest.TestCase):
    def words(self, before, after, better="lower"):
        return compare.compare(document({KEY: (before, better)}), document({KEY: (after, better)}))[0]["words"]

    def test_the_same_work_is_within_noise(self):
        self.assertEqual(self.words(noisy(140, 0.05, seed=1), noisy(140, 0.05, seed=2)), "within noise")

    def test_a_tenth_slower_is_worse_and_a_tenth_faster_is_better(self):
        base = noisy(140, 0.01, seed=1)
        self.assertEqual(self.words(base, noisy(154, 0.01, seed=2)), "worse")
        self.assertEqual(self.words(base, noisy(126, 0.01, seed=2)), "better")

    def test_a_rate_that_rises_is_better(self):
        base = noisy(5, 0.01, seed=1)
        self.assertEqual(self.words(base, noisy(6, 0.01, seed=2), "higher"), "better")
        self.assertEqual(self.words(base, noisy(4, 0.01, seed=2), "higher"), "worse")

    def test_a_tenth_is_noise_when_samples_spread_more(self):
        self.assertEqual(self.words([100, 130, 160, 120, 145], [110, 143, 176, 132, 159]), "within noise")

    def test_few_samples_are_said_to_be_few(self):
        self.assertEqual(self.words([100, 101, 102], [200, 201, 202]), "too few samples")

    def test_the_lines_have_change_interval_and_words(self):
        a, b = document({KEY: [100, 101, 102, 103, 104]}), document({KEY: [110, 111, 112, 113, 114]})
        text = "\n".join(compare.lines(a, b))
        row = next(line for line in text.splitlines() if "exchange" in line)
        self.assertRegex(row, r"\+9\.8 % +\+[678]\.\d % \.\. \+1[123]\.\d % +worse$")
        self.assertIn("0 better, 1 worse, 0 within noise, 0 too few samples", text)

    def test_another_state_of_the_machine_is_told(self):
        a, b = document({KEY: noisy(100, 0.01)}, 1.0), document({KEY: noisy(160, 0.01)}, 1.6)
        self.assertIn("slower in B: +60.0 %", "\n".join(compare.lines(a, b)))
        self.assertNotIn("The machine itself", "\n".join(compare.lines(a, a)))

    def test_cases_of_one_side_are_named(self):
        other = ("micro", "cs", "hit")
        text = "\n".join(compare.lines(document({KEY: [1, 2, 3, 4], other: [1, 2, 3, 4]}), document({KEY: [1, 2, 3, 4]})))
        self.assertIn("only in A: micro cs hit", text)

    def test_worst_is_what_the_interval_is_sure_of(self):
        rows = compare.compare(document({KEY: [100, 101, 102, 103]}), document({KEY: [120, 121, 122, 123]}))
        self.assertAlmostEqual(compare.worst(rows), rows[0]["low"])
        self.assertEqual(compare.worst(compare.compare(document({KEY: [2, 3, 4, 5]}), document({KEY: [2, 3, 4, 5]}))), 0)

    def test_the_command_compares_files_and_fails_above_a_bound(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, samples in (("a", [100, 101, 102, 103, 104]), ("b", [120, 121, 122, 123, 124])):
                paths.append(os.path.join(folder, name + ".json"))
                with open(paths[-1], "w") as f:
                    json.dump(document({KEY: samples}), f)
            out = io.StringIO()
            with redirect_stdout(out):
                self.assertEqual(run.main(["--compare", *paths], ""), 0)
                self.assertEqual(run.main(["--compare", *paths, "--fail-above", "10"], ""), 1)
                self.assertEqual(run.main(["--compare", *paths, "--fail-above", "30"], ""), 0)
                self.assertEqual(run.main(["--compare", *reversed(paths), "--fail-above", "10"], ""), 0)
            self.assertIn("worse", out.getvalue())


class Results(unittest.TestCase):
    def test_samples_are_kept_and_come_back(self):
        found = result.Result()
        for sample, best in ((3.0, 2.5), (1.0, 0.5), (2.0, 1.5)):
            found.add("micro", "pipeline", "exchange", "ns", sample, best=best)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "new", "r.json")
            found.save(path)
            row = result.load(path)["cases"][0]
        self.assertEqual(row["samples"], [3.0, 1.0, 2.0])
        self.assertEqual(result.median(row), 2.0)
        self.assertEqual(result.best(row), 0.5)

    def test_other_files_are_refused_with_a_sentence(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            f.write('{"rows": []}')
            f.flush()
            with self.assertRaisesRegex(ValueError, "no result of this version"):
                result.load(f.name)
        with self.assertRaisesRegex(ValueError, "No such file"):
            result.load("/nowhere/at/all.json")


class Micro(unittest.TestCase):
    def test_ratios_are_of_the_same_round(self):
        found = result.Result()
        for alone, both in ((150, 155), (240, 250)):
            cases = [{"name": f"comps=4,live=1024,payload=100,cs=64,{what}", "ns_median": ns, "ns_p10": ns, "chunks": 9}
                     for what, ns in (("one of 2 workers alone", alone), ("2 workers at once", both))]
            cases.append({"name": "chunk of rounds, harness included", "ns_median": 1, "ns_p10": 1, "chunks": 9})
            micro.take(found, micro.Program("pipeline"), {"calibration_ns": 1.0, "cases": cases})
        self.assertEqual(len(found.rows()), 2)
        micro.ratios(found)
        targets.apply(found)
        row = found.find("micro", "ratio", "pipeline, two workers / one worker")
        self.assertEqual([round(x, 3) for x in row["samples"]], [1.935, 1.92])
        self.assertTrue(report.met(row))
        self.assertIsNone(found.find("micro", "ratio", "pipeline, 16M live / 1k live"))


class Rounds(unittest.TestCase):
    def turns(self, budget, **options):
        found = result.Result()
        options = argparse.Namespace(**{"rounds": None, "quick": False, **options})
        turns = 0
        for turn, count in rounds.rounds(found, options, "micro", 5, budget):
            self.assertEqual(turn, turns)
            turns += 1
            time.sleep(0.02)
        return turns, found.skipped

    def test_all_rounds_when_there_is_time(self):
        self.assertEqual(self.turns(100), (5, []))

    def test_those_that_do_not_fit_are_told(self):
        turns, skipped = self.turns(0.05)
        self.assertIn(turns, (1, 2))
        self.assertEqual(skipped, [f"micro: {5 - turns} of 5 rounds: they do not fit into 0.05 s"])

    def test_what_was_asked_for_is_done(self):
        self.assertEqual(self.turns(0, rounds=3), (3, []))
        self.assertEqual(self.turns(0, quick=True), (1, []))


class Scaling(unittest.TestCase):
    costs = scaling.Costs()

    def test_one_worker_has_nothing_to_hand_over(self):
        self.assertEqual(scaling.own(self.costs, 1 << 20), 135 + 2 * 10.5)
        self.assertEqual(scaling.spread(self.costs, 1 << 20, 1), scaling.own(self.costs, 1 << 20))

    def test_bursts_to_other_workers_shrink(self):
        self.assertEqual(scaling.hand_over(self.costs, 2), 24 + 123)
        self.assertAlmostEqual(scaling.hand_over(self.costs, 64), 24 + 123 + 140 * (1 - 1 / 32))

    def test_a_port_is_full_of_data(self):
        self.assertAlmostEqual(scaling.port_rate(10, 100), 10e3 / 8 / 242)
        self.assertEqual(scaling.workers_for(10, lambda n: 200), "2")
        self.assertEqual(scaling.workers_for(1000, lambda n: 200), "> 64")

    def test_the_costs_of_a_result_take_the_place_of_ours(self):
        cases = {("micro", "pipeline", "comps=4,live=1048576,payload=100,cs=64"): [200],
                 ("micro", "pipeline", "comps=4,live=1048576,payload=100,cs=64,part=parse"): [60],
                 ("micro", "pipeline", "comps=4,live=1024,payload=100,cs=64,one of 2 workers alone"): [150],
                 ("micro", "pipeline", "comps=4,live=1024,payload=100,cs=64,2 workers at once"): [155],
                 ("micro", "pipeline", "comps=4,live=1024,payload=100,cs=64,wrong worker, its side of the hand-over"): [90],
                 ("micro", "pipeline", "comps=4,live=1024,payload=100,cs=64,wrong worker, the owner's side"): [170],
                 ("micro", "testpmd", "macswap"): [12]}
        costs = scaling.of_document(document(cases))
        self.assertEqual((costs.exchange[1 << 20], costs.exchange[1 << 10], costs.parse, costs.io), (200, 107, 30, 12))
        self.assertEqual(costs.hand, (90 + 170 - 150) / 2 - 30)

    def test_the_page_has_the_tables_as_they_are_computed(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "SCALING.md")) as f:
            page = f.read().splitlines()
        for line in scaling.main_lines():
            if line.startswith("|"):
                self.assertIn(line, page)


class Report(unittest.TestCase):
    def setUp(self):
        self.found = result.Result()
        for sample in (150, 140, 160):
            self.found.add("micro", "pipeline", "comps=4,live=1024,payload=100,cs=64", "ns", sample, best=sample - 10,
                           testpmd=("testpmd", "macswap"), testpmd_factor=2)
            self.found.add("micro", "testpmd", "macswap", "ns", 15)
            self.found.add("micro", "pipeline", "part=tx", "ns", 1.5)
        targets.apply(self.found)

    def row(self, case, everything=False):
        lines = [line for line in report.lines(self.found, everything) if f" {case} " in line]
        return lines[0].split() if lines else None

    def test_a_row_has_target_peer_and_testpmd(self):
        row = self.row("comps=4,live=1024,payload=100,cs=64")
        self.assertEqual(row[2:], ["150.0", "130.0", "ns", "120.0", "1.25", "60.0", "1185", "9.1x", "0.20"])

    def test_rows_without_any_of_them_are_shown_when_asked_for(self):
        self.assertIsNone(self.row("part=tx"))
        self.assertIsNotNone(self.row("part=tx", True))

    def test_targets_are_counted(self):
        self.assertIn("0 targets met, 1 missed", "\n".join(report.lines(self.found)))

    def test_a_rate_is_a_part_of_the_rate_of_testpmd(self):
        self.found.add("e2e", "memif", "pitlane", "M/s", 2.0, better="higher", testpmd=("memif", "testpmd"))
        self.found.add("e2e", "memif", "testpmd", "M/s", 8.0, better="higher")
        row = self.found.find("e2e", "memif", "pitlane")
        self.assertEqual(report.share_of_testpmd(row, self.found.find), 0.25)


class Testpmd(unittest.TestCase):
    def test_rates_are_sums_of_both_ports_without_the_first_period(self):
        log = ""
        for port0, port1 in ((0, 0), (10, 10), (30, 31), (40, 42)):
            log += f"  Rx-pps:   {port0}   Rx-bps: 0\n  Tx-pps: 7  Tx-bps: 0\n  Rx-pps:  {port1}  Rx-bps: 0\n"
        self.assertEqual(testpmd.rates(log), [61, 82])


class Children(unittest.TestCase):
    def test_a_program_that_fails_says_what_it_wrote(self):
        with self.assertRaisesRegex(children.Failed, "exit 3\nsorry"):
            children.run(["sh", "-c", "echo sorry >&2; exit 3"])

    def test_a_program_that_hangs_is_ended_with_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            pid = os.path.join(folder, "pid")
            with self.assertRaisesRegex(children.Failed, "not done after"):
                children.run(["sh", "-c", f"sleep 100 & echo $! >{pid}; wait"], timeout=0.5)
            with open(pid) as f:
                number = int(f.read())
            # What is left of it, if anything, is a dead entry that waits for its parent.
            state = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True).stdout
            self.assertIn(state.strip()[:1], ("", "Z"))

    def test_one_in_the_background_is_ready_by_its_own_word(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            with children.background(["sh", "-c", "sleep 0.2; echo ready; sleep 100"], log, "ready") as child:
                self.assertIsNone(child.poll())
            self.assertIsNotNone(child.poll())
            with self.assertRaisesRegex(children.Failed, "exit 0"):
                with children.background(["true"], log, "ready"):
                    pass


class UntilReady(unittest.TestCase):
    def test_it_ends_at_the_word_and_the_program_when_told(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "until_ready.sh")
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                before = time.monotonic()
                children.run([script, "start", folder, "sh", "-c", "sleep 0.3; echo now ready; exec sleep 100"], timeout=20)
                self.assertGreaterEqual(time.monotonic() - before, 0.3)
                with open(os.path.join(folder, "pid")) as f:
                    number = int(f.read())
                os.kill(number, 0)
                children.run([script, "stop", folder], timeout=20)
                with self.assertRaises(ProcessLookupError):
                    os.kill(number, 0)
            with self.assertRaisesRegex(children.Failed, "sorry"):
                children.run([script, "start", folder, "sh", "-c", "echo sorry; exit 1"], timeout=20)


class Quic(unittest.TestCase):
    def setUp(self):
        self.found = result.Result()
        for direct, cid in ((1.0, 1.1), (2.0, 1.9), (1.5, 1.65)):
            quic.take(self.found, "\n".join(json.dumps({"client": "ours", "server": "ours", "path": path, "seconds": s})
                                            for path, s in (("direct", direct), ("cid", cid))))
        quic.ratios(self.found)

    def test_relative_is_of_the_same_round(self):
        row = self.found.find("quic", "ratio", "ours to ours, by connection ID / direct")
        self.assertEqual([round(x, 2) for x in row["samples"]], [1.1, 0.95, 1.1])
        targets.apply(self.found)
        self.assertTrue(report.met(row))

    def test_the_matrix_has_every_cell_and_dashes_where_nothing_is(self):
        table = quic.markdown(self.found, quic.OCTETS)
        self.assertIn("| test pair | test pair | by connection ID | 1.55 | 1.10 | 1.90 | 1.100 |", table)
        self.assertIn("| test pair | test pair | direct | 1.50 | 1.00 | 2.00 | 1 |", table)
        self.assertIn("| ngtcp2 (Debian) | ngtcp2 (Debian) | by connection ID | — | — | — | — |", table)
        self.assertEqual(table.count("\n| "), 1 + 2 * 2 * 3)


@unittest.skipIf(shutil.which("gnuplot") is None, "no gnuplot")
class Pictures(unittest.TestCase):
    def cases(self):
        cases = {}
        for live, ns in ((1024, 140), (65536, 158), (1048576, 164), (16777216, 180)):
            for part, share in (("", 1), (",part=interest", 0.5), (",part=data", 0.5), (",part=parse", 0.3), (",part=tx", 0.01)):
                cases["micro", "pipeline", f"comps=4,live={live},payload=100,cs=64{part}"] = noisy(ns * share, 0.01)
        for live, ns in (("1k", 40), ("64k", 60), ("1M", 80), ("16M", 130)):
            cases["micro", "table", f"{live} live, 4 comps: insert+match+erase, batches of 64"] = noisy(ns, 0.01)
        for what, ns in (("one of 2 workers alone", 150), ("2 workers at once", 155),
                         ("wrong worker, its side of the hand-over", 100), ("wrong worker, the owner's side", 170)):
            cases["micro", "pipeline", f"comps=4,live=1024,payload=100,cs=64,{what}"] = noisy(ns, 0.01)
        for who, scale in (("pitlane", 1), ("testpmd", 0.8)):
            for bench, base in (("memif", 20), ("af_xdp", 90)):
                for p in (50, 90, 99, 99.9, 99.99):
                    us = base * scale * (1 + 0.3 * math.log10(1 / (1 - p / 100)))
                    cases["e2e", bench, f"{who}, latency p{p:g} at half rate"] = noisy(us, 0.01)
        return cases

    def test_all_are_drawn_with_machine_and_commit(self):
        with tempfile.TemporaryDirectory() as folder:
            paths, why_not = plot.draw(document(self.cases(), cpu="Test CPU of O'Hara"), os.path.join(folder, "r"))
            self.assertEqual(why_not, [])
            self.assertEqual(len(paths), len(plot.PICTURES))
            for path in paths:
                with open(path) as f:
                    svg = f.read()
                self.assertIn("commit abc1234", svg)
                self.assertIn("Test CPU of O", svg)
                self.assertNotIn("QUICK", svg)
                # Curves or boxes, and not only axes.
                self.assertGreater(sum(svg.count(f'rgb({c})') for c in ("  0, 114, 178", "213,  94,   0", " 0, 158, 115")), 1)

    def test_a_smoke_run_says_so_on_the_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            paths, _ = plot.draw(document(self.cases(), quick=True), os.path.join(folder, "r"))
            with open(paths[0]) as f:
                self.assertIn("QUICK RUN", f.read())

    def test_what_was_not_measured_is_not_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            paths, why_not = plot.draw(document({KEY: [1, 2, 3]}), os.path.join(folder, "r"))
            self.assertEqual(paths, [])
            self.assertEqual(len(why_not), len(plot.PICTURES))
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
