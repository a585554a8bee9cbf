#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""newer.py STAGESIM: schedules of 2024 to 2026. Orders are those of their authors' programs, times and stashes their
closed forms; h-1f1b follows the speed of each link of a platform; v-adaptive is never above V-Min and V-Half within
their memory, and takes no longer with more of it."""
import csv
import io
import json
import math
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, binary_argument, summary, write_mesh, write_scenario

check = Checker()
STAGESIM = binary_argument()
# schedule, workers, micro-batches, options, worker, order: & is a block with the slot before, @ a stage, ' chunk 1
ORDERS = [
    ("bitpipe", 4, 8, "", 0,
     "F0@0 F1@0 F2@3 F2@4 F3@3 F3@4 F0@7 B0@7 F1@7 B1@7 B2@4 B2@3 B3@4 B3@3 B0@0 F4@0 B1@0 F5@0 F6@3 F6@4 F7@3 F7@4 "
     "F4@7 B4@7 F5@7 B5@7 B6@4 B6@3 B7@4 B7@3 B4@0 B5@0"),
    ("bitpipe", 4, 8, "", 1,
     "F0@1 F2@2 F1@1 F3@2 F2@5 F0@6 F3@5 F1@6 B0@6 B2@5 B1@6 B3@5 B2@2 B0@1 B3@2 B1@1 F4@1 F6@2 F5@1 F7@2 F6@5 F4@6 "
     "F7@5 F5@6 B4@6 B6@5 B5@6 B7@5 B6@2 B4@1 B7@2 B5@1"),
    ("combined-1f1b", 4, 8, "", 0,
     "F0 F1 F2 F3 F0' F1' F2' F3' F4 F5 F6 F7 &B0' F4' &B1' F5' &B2' F6' &B3' F7' &B0 B1 B2 B3 B4' B5' B6' B7' B4 B5 "
     "B6 B7"),
    ("combined-1f1b", 4, 8, "", 3,
     "F0 F1 F2 F3 F0' F1' &B0' F2' &B1' F3' &B2' F4 &B3' F5 &B0 F6 &B1 F7 &B2 F4' &B3 F5' &B4' F6' &B5' F7' &B6' B7' "
     "B4 B5 B6 B7"),
    ("vocab-1f1b", 4, 6, "", 0,
     "F0 F1 F2 F3 S0 F4 T0 S1 T1 S2 T2 S3 B0 F5 T3 S4 B1 T4 S5 B2 B3 B4 B5 T5"),
    ("vocab-1f1b", 4, 6, "", 2, "F0 F1 S0 F2 T0 S1 B0 T1 S2 F3 B1 T2 S3 F4 B2 T3 S4 F5 B3 T4 S5 B4 B5 T5"),
    ("vocab-1f1b", 4, 6, "barriers=2", 1,
     "F0 F1 F2 S0 F3 T0 S1 F4 T1 S2 T2 S3 B0 T3 S4 F5 B1 T4 S5 B2 T5 B3 B4 B5"),
    ("dynapipe", 4, 8, "", 0, "F0 F1 F2 F3 F4 F5 F6 B0 F7 B1 B2 B3 B4 B5 B6 B7"),
    ("dynapipe", 4, 8, "memory=3", 1, "F0 F1 F2 B0 B1 B2 F3 F4 F5 B3 B4 B5 F6 F7 B6 B7"),
]


def schedule(name, workers, batches, form, options="", times=(1, 2, 1), latency=0):
    command = [STAGESIM, "schedule", name, "--workers", str(workers), "--micro-batches", str(batches), "--format", form]
    command += ["--forward", str(times[0]), "--backward", str(times[1]), "--weight", str(times[2])]
    command += ["--latency", str(latency)]
    command += [part for option in options.split() for part in ("--option", option)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def figures(*arguments, **keywords):
    """The makespan and each worker's most stashes."""
    name, workers, batches, *rest = arguments
    data = json.loads(schedule(name, workers, batches, "json", *rest, **keywords))
    return data["time"]["makespan_s"], [worker["peak_in_flight"] for worker in data["workers"]]


def orders():
    for name, workers, batches, options, worker, expected in ORDERS:
        text, before = "", None
        for row in csv.DictReader(io.StringIO(schedule(name, workers, batches, "csv", options))):
            if row["worker"] != str(worker):
                continue
            stage = int(row["stage"])
            place = f"@{stage}" if name == "bitpipe" else "'" * (stage // workers)
            text += f" {'&' if row['index'] == before else ''}{row['kind']}{row['micro_batch']}{place}"
            before = row["index"]
        check.that(text[1:] == expected, f"{name}, worker {worker}: {text}")


def bitpipe():
    """Half of Chimera's bubble, at its stashes; the paper's D = 4, N = 4 takes 14."""
    for workers, units, times in ((4, 1, (1, 2, 1)), (4, 3, (1, 1, 0.5)), (6, 2, (1, 2, 1)), (8, 1, (0.7, 3, 1)),
                                  (8, 3, (1, 2, 1))):
        time, peaks = figures("bitpipe", workers, units * workers, times=times)
        other, _ = figures("chimera", workers, units * workers, times=times)
        ideal = units * workers * (times[0] + times[1])
        bubble = (workers / 2 - 1) * (units * times[1] - (units - 1) * times[0])
        check.near(time, ideal + bubble, f"bitpipe {workers} {units} {times}")
        check.near(2 * bubble, other - ideal, f"chimera {workers} {units} {times}")
        outer = [workers - (workers / 2 - 1 - min(w, workers - 1 - w)) / 2 for w in range(workers)]
        check.that(peaks == outer, f"bitpipe {workers}: {peaks}, expected {outer}")


def combined():
    """Interleaved's time where a block takes the sum, and one chunk's stash more."""
    for workers, batches, chunks, times in ((4, 8, 2, (1, 2, 1)), (2, 6, 3, (1, 1, 0.5)), (6, 12, 2, (0.7, 3, 1)),
                                            (8, 16, 3, (1, 2, 1))):
        time, peaks = figures("combined-1f1b", workers, batches, f"chunks={chunks}", times=times)
        expected = (batches + (workers - 1) / chunks) * (times[0] + times[1])
        check.near(time, expected, f"combined-1f1b {workers} {chunks}")
        _, other = figures("interleaved", workers, batches, f"chunks={chunks}", times=times)
        more = [min(batches, peak + 1 / chunks) for peak in other]
        check.that(all(abs(a - b) < 1e-9 for a, b in zip(peaks, more)), f"combined-1f1b: {peaks}, expected {more}")


def links():
    """Every message is hidden but those of the first forward and the last backward."""
    for workers, batches, latency in ((4, 16, 0), (4, 16, 0.25), (4, 32, 1.5), (4, 32, 2), (8, 64, 4)):
        time, peaks = figures("h-1f1b", workers, batches, latency=latency)
        check.near(time, (batches + workers - 1) * 3 + 2 * (workers - 1) * latency, f"h-1f1b {workers} {latency}")
        each = 1 + math.ceil(2 * latency / 3)
        expected = [min(batches, (workers - 1 - worker) * each + 1) for worker in range(workers)]
        check.that(peaks == expected, f"h-1f1b {workers} {latency}: {peaks}, expected {expected}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_mesh(folder / "mesh.xml", 4)
        slow = (folder / "mesh.xml").read_text()
        for link in ("l-1-2", "l-2-1"):
            place = f'id="{link}" bandwidth="1PBps" latency='
            slow = slow.replace(f'{place}"0s"', f'{place}"4s"')
        (folder / "mesh.xml").write_text(slow)
        write_scenario(folder / "job.yaml", "mesh.xml", "h-1f1b", 4, 24, more="engine: analytic\n"
                       "communication: {messages: pipelined}\n", stages="forward: 1s, backward: 2s, message: 1B")
        run = summary(STAGESIM, "job.yaml", "out", cwd=folder)
        peaks = [worker["peak_in_flight"] for worker in run["workers"]]
        check.that(peaks == [7, 6, 2, 1], f"h-1f1b over a slow link: {peaks}")  # ceil(8 / 3) more across it
        check.near(run["time"]["iteration_s"], 27 * 3 + 2 * 4, "h-1f1b over a slow link", 1e-6)


def cycles():
    """As eager 1F1B with any number of stashes; never above a limit; one stash is one micro-batch after the other."""
    for workers, batches in ((2, 4), (4, 12), (6, 7)):
        time, peaks = figures("dynapipe", workers, batches)
        check.near(time, (batches + workers - 1) * 3, f"dynapipe {workers} {batches}")
        eager = [min(batches, 2 * (workers - 1 - worker) + 1) for worker in range(workers)]
        check.that(peaks == eager, f"dynapipe {workers} {batches}: {peaks}, expected {eager}")
        for limit in range(1, workers + 1):
            time, peaks = figures("dynapipe", workers, batches, f"memory={limit}")
            check.that(max(peaks) <= limit, f"dynapipe {workers} {batches} within {limit}: {peaks}")
            if limit == 1:
                check.near(time, batches * 3 * workers, f"dynapipe {workers} {batches} within 1")
    _, peaks = figures("dynapipe", 4, 12, "memory=[4,3,1,1]")
    check.that(all(peak <= limit for peak, limit in zip(peaks, (4, 3, 1, 1))), f"dynapipe with limits of each: {peaks}")


def slices():
    """The published share of a micro-batch's stash, (v max(D, n) + min(D, n) - 1) / (v n), and the bubble of a slice of
    a chunk for each worker."""
    for workers, batches, count, chunks in ((2, 4, 2, 1), (4, 4, 4, 2), (4, 8, 2, 2), (4, 8, 8, 1), (8, 8, 4, 3),
                                            (8, 16, 8, 2)):
        for times in ((1, 2, 1), (2, 3.5, 1.5)):
            time, peaks = figures("mepipe", workers, batches, f"slices={count} chunks={chunks}", times=times)
            bubble = (workers - 1) * (times[0] + times[1] - 2 * times[2]) / count / chunks
            check.near(time, batches * (times[0] + times[1]) + bubble, f"mepipe {workers} {count} {chunks} {times}")
            expected = (chunks * max(workers, count) + min(workers, count) - 1) / chunks / count
            check.near(max(peaks), expected, f"mepipe {workers} {count} {chunks}")


def blocks():
    for workers, batches in ((4, 12), (6, 12), (5, 10)):
        before = math.inf
        for half in range(2 * ((workers + 4) // 3), 2 * workers + 1):
            time, peaks = figures("v-adaptive", workers, batches, f"memory={half / 2}")
            check.that(max(peaks) <= half / 2, f"v-adaptive {workers} within {half / 2}: {peaks}")
            check.that(time <= before, f"v-adaptive {workers} within {half / 2}: {time}, with less {before}")
            before = time
            for name, memory in (("v-min", (workers + 4) // 3), ("v-half", (workers + 2) // 2)):
                if half == 2 * memory:
                    other, _ = figures(name, workers, batches)
                    check.that(time <= other, f"v-adaptive {workers} within {memory}: {time}, {name} {other}")


def vocabulary():
    """1F1B's bubble and one or two stashes more, however long the output layer takes; on an engine, too, where the
    collectives take no time. The last stage of a transformer has the layer."""
    for workers, batches, output, times in ((4, 8, 25, (1, 2, 1)), (8, 16, 100, (1, 2, 1)), (8, 9, 50, (1, 1, 0.5)),
                                            (5, 3, 10, (2, 5, 1)), (1, 2, 30, (1, 2, 1))):
        expected = (batches + workers - 1) * (times[0] + times[1]) + 3 * batches * output / 100 * times[0]
        for barriers in (1, 2):
            options = f"barriers={barriers} output={output}"
            time, peaks = figures("vocab-1f1b", workers, batches, options, times=times)
            check.near(time, expected, f"vocab-1f1b {workers} {batches} {options} {times}")
            most = [min(batches, workers - worker + barriers) for worker in range(workers)]
            check.that(peaks == most, f"vocab-1f1b {workers} {batches} {options}: {peaks}, expected {most}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_mesh(folder / "mesh.xml", 4)
        for engine in ("analytic", "simgrid"):
            for barriers in (1, 2):
                write_scenario(folder / "job.yaml", "mesh.xml", f"{{name: vocab-1f1b, barriers: {barriers}}}", 4, 8,
                               more=f"engine: {engine}\n", stages="forward: 1s, backward: 2s")
                run = summary(STAGESIM, "job.yaml", f"out-{engine}-{barriers}", cwd=folder)
                check.near(run["time"]["iteration_s"], 39, f"vocab-1f1b on {engine}", 1e-3)
                peaks = [worker["peak_in_flight"] for worker in run["workers"]]
                check.that(peaks == [4 - worker + barriers for worker in range(4)], f"vocab-1f1b on {engine}: {peaks}")
        csv_text = schedule("vocab-1f1b", 4, 8, "csv", "barriers=2")
        (folder / "mine.csv").write_text(csv_text)
        again = subprocess.run([STAGESIM, "schedule", "mine.csv", "--format", "csv"], cwd=folder, check=True,
                               capture_output=True, text=True, timeout=60).stdout
        check.that(again == csv_text, "vocab-1f1b read back differs")


for part in (orders, bitpipe, combined, links, cycles, slices, blocks, vocabulary):
    part()
sys.exit(check.done())
