#!/usr/bin/env python3
"""The report's own arithmetic and order; nothing is measured."""

import os
import sys
import tempfile
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import parts  # noqa: E402
import plots  # noqa: E402
import render  # noqa: E402
import report  # noqa: E402

from servers import bed  # noqa: E402


def run(part, server, number, **figures):
    return {"part": part, "server": server, "round": number, "figures": figures,
            "commands": ["vedette bench " + part], "load_before": 0.5}


def data(*runs):
    about = {key: {"name": key.title(), "version": "1", "settings": ["as it is"]}
             for key in ("vedette", "zabbix-7.0")}
    return {"quick": False, "runs": list(runs), "servers": about, "machine": {
        "model": "Model", "cores": 2, "memory_gib": 4, "kernel": "6", "system": "Debian",
        "disk": "ext4 on vda"}}


class Report(unittest.TestCase):
    def test_numbers_have_three_digits_that_say_something(self):
        for x, expected in [(0, "0"), (0.7939, "0.794"), (12.34, "12.3"), (99.95, "100"),
                            (1_234_567, "1,230,000"), (45_000, "45,000"), (0.00002, "0.0000")]:
            self.assertEqual(plots.number(x), expected)

    def test_servers_take_turns(self):
        found = {key: types.SimpleNamespace(key=key) for key in ("zabbix-7.0", "vedette")}
        options = types.SimpleNamespace(parts=["values", "estate"], quick=False, rounds=None)
        steps = [(part, number, server.key) for part, number, server in report.plan(options, found)]
        self.assertEqual(steps[:4], [("values", 0, "zabbix-7.0"), ("values", 0, "vedette"),
                                     ("values", 1, "zabbix-7.0"), ("values", 1, "vedette")])
        self.assertEqual(len(steps), 3 * 2 + 2)

    def test_the_first_row_is_what_many_senders_make(self):
        """45,000 items in random order, 250 values a request, sent to all servers in turn."""
        name, (part, rounds, names) = next(iter(parts.PARTS.items()))
        self.assertEqual((name, render.LOADS[0], render.goals()[0][0]),
                         ("mixed", "mixed", render.WORK["mixed"]))
        self.assertEqual((rounds, names), (3, parts.ALL))
        given = []

        def answer(_, words, trapper):
            given.append(words)
            return "", {"results": {}, "trapper": trapper}

        bench, parts.bench = parts.bench, answer
        try:
            part(types.SimpleNamespace(up=lambda load: None), quick=False)
        finally:
            parts.bench = bench
        words = given[0]
        hosts, items, batch = (int(words[words.index(word) + 1])
                               for word in ("--hosts", "--items", "--batch"))
        self.assertEqual((words[0], hosts * items, batch), ("trapper", 45_000, 250))
        self.assertIn("--random", words)
        self.assertIn("--verify", words)

    def test_rows_of_other_machines_are_named(self):
        early, late = "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"
        first = dict(run("values", "vedette", 0), at=early, model="Other")
        second = dict(run("values", "zabbix-7.0", 0), at=late, model="Model")
        words = render.when(render.Figures(data(first, second)))
        self.assertIn("On another machine (Other): values of Vedette.", words)
        self.assertNotIn("different runs", words)
        words = render.when(render.Figures(data(dict(first, model="Model"), second)))
        self.assertIn("From different runs, so small differences mean nothing: values.", words)
        self.assertNotIn("another machine", words)

    def test_a_run_goes_on_where_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in", "results.json")
            first = report.Results(path, quick=False, fresh=False)
            first.add(run("values", "vedette", 0, kept_per_s=1))
            first.add(dict(run("values", "vedette", 1), error="it broke"))
            again = report.Results(path, quick=False, fresh=False)
            for number, expected in [(0, True), (1, False), (2, False)]:
                self.assertEqual(again.has("values", "vedette", number), expected)
            # What is measured again takes the place of what failed.
            again.add(run("values", "vedette", 1, kept_per_s=2))
            self.assertEqual(len(again.data["runs"]), 2)
            self.assertFalse(report.Results(path, False, fresh=True).data["runs"])
            self.assertFalse(report.Results(path, quick=True, fresh=False).data["runs"])

    def test_the_page_holds_medians_ratios_and_what_was_missed(self):
        runs = [run("values", "vedette", n, kept_per_s=rate, kept_cpu_s_per_million=cpu)
                for n, (rate, cpu) in enumerate([(1e6, 0.9), (9e5, 0.5), (8e5, 0.8)])]
        runs += [run("values", "zabbix-7.0", 0, kept_per_s=1e5, kept_cpu_s_per_million=12)]
        runs += [dict(run("slow", "zabbix-7.0", 0), error="no agents")]
        with tempfile.TemporaryDirectory() as folder:
            drawn = []
            picture, render.picture = render.picture, drawn.append
            try:
                render.write(data(*runs), folder)
            finally:
                render.picture = picture
            with open(os.path.join(folder, "benchmarks.md")) as f:
                page = f.read()
            with open(os.path.join(folder, "benchmarks", "cpu.svg")) as f:
                drawing = f.read()
        self.assertIn("| 12 | 0.8 | **15** |", page)
        self.assertIn("900,000/s, 0.8 CPU s", page)
        self.assertIn("a second: 900,000 instead of at least 1,000,000", page)
        self.assertIn("slow of Zabbix-7.0, round 1, failed: no agents", page)
        self.assertIn("0.9; 0.5; 0.8", page)
        self.assertNotIn("CPU s per million: 0.8 instead", page)
        self.assertEqual([os.path.basename(path) for path in drawn], ["cpu", "rate", "estate"])
        for expected in ("<svg", "0.8 s", "12 s", "not measured"):
            self.assertIn(expected, drawing)


if __name__ == "__main__":
    bed.main()
