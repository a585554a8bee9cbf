#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_values.py STAGESIM PLATFORMS: schedules give the times, the stashes and the orders that were computed for them
elsewhere, from their authors' implementations or in exact fractions, and the same orders whatever the unit of time.
All times are whole numbers or halves and quarters of them, so that every sum is exact and compared with ==."""
import csv
import io
import json
import subprocess
import pathlib
import re
import sys
import tempfile
from fractions import Fraction

BINARY, PLATFORMS = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
faults = 0


def expect(good, what):
    global faults
    if not good:
        print(what)
        faults += 1


def command(name, workers, batches, times, latency, options, form, scale, block=None, attention=0):
    forward, backward, weight = (repr(float(time * scale)) for time in (times[0], times[1] + times[2], times[2]))
    words = [BINARY, "schedule", name, "--workers", str(workers), "--micro-batches", str(batches), "--format", form]
    words += ["--forward", forward, "--backward", backward, "--weight", weight]
    words += ["--latency", repr(float(latency * scale))]
    words += ["--attention", repr(float(attention))]
    if block is not None:
        words += ["--block", str(block)]
    for option in options.split():
        words += ["--option", option]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def figures(name, workers, batches, times=(1, 1, 1), latency=0, options="", scale=1, block=None,
            attention=0):
    """Makespan, and the largest number of micro-batches in flight of each worker."""
    data = json.loads(command(name, workers, batches, times, latency, options, "json", scale, block,
                              attention))
    return data["time"]["makespan_s"], [worker["peak_in_flight"] for worker in data["workers"]]


def slots(name, workers, batches, times=(1, 1, 1), latency=0, options="", scale=1):
    rows = list(csv.DictReader(io.StringIO(command(name, workers, batches, times, latency, options, "csv", scale))))
    return [[row for row in rows if row["worker"] == str(worker)] for worker in range(workers)]


def word(rows, workers, style):
    """The order of a worker: chunks of a placement in loops or a V as primes, of waves as @stage."""
    def of(row):
        stage = int(row["stage"])
        chunk = {"prime": "'" * (stage // workers), "at": f"@{stage}" if stage >= workers else "",
                 "pipeline": f"@{row.get('pipeline') or 0}"}[style]
        return row["kind"] + row["micro_batch"] + chunk

    return " ".join(of(row) for row in rows)


def span(rows):
    return float(rows[-1]["end"]) - float(rows[0]["start"])


def same_in_any_unit(name, workers, batches, times, latency, options):
    def words(scale):
        orders = slots(name, workers, batches, times, latency, options, scale)
        return [[(row["kind"], row["stage"], row["micro_batch"], row.get("index")) for row in rows] for rows in orders]

    one = words(1)
    for scale in (Fraction(3), Fraction(1, 10), Fraction(1, 1000000)):
        expect(words(scale) == one,
               f"{name} {workers} {batches} {times} {options}: another order at {scale} of the times")


def check_times(rows):
    for name, workers, batches, times, options, expected in rows:
        found = figures(name, workers, batches, times, 0, options)[0]
        expect(found == expected, f"{name} {workers} {batches} {times} {options}: {found}, expected {expected}")


def check_orders(rows):
    for name, workers, batches, options, worker, style, expected in rows:
        found = word(slots(name, workers, batches, (1, 1, 1), 0, options)[worker], workers, style)
        expect(found.startswith(expected), f"{name} {options} worker {worker}: {found}, expected {expected}")


def simulate(text, platform="ideal-8.xml"):
    """The summary of a scenario on the analytic engine."""
    with tempfile.TemporaryDirectory() as folder:
        scenario, out = pathlib.Path(folder, "scenario.yaml"), pathlib.Path(folder, "out")
        path = platform if ":" in platform else PLATFORMS / platform
        scenario.write_text(f"platform: {path}\n{text}")
        done = subprocess.run([BINARY, "run", scenario, "--engine", "analytic", "--quiet", "-o", out],
                              capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise SystemExit(f"{text}: {done.stderr}")
        return json.loads((out / "summary.json").read_text())


# ---- schedules that are variants of others ----

def one_copy_in_the_middle():
    """Of three workers under gems the second holds one stage, in both directions, and the others two."""
    summary = simulate("workload: stages\nstages: {forward: 1s, backward: 2s, activation: 10B, parameters: 100B,"
                       " gradient: 1000B, optimizer_state: 10000B}\nparallel: {pipeline: 3}\n"
                       "batch: {micro_batches: 4}\n"
                       "schedule: gems\n")
    bytes_held = [worker["peak_bytes"] for worker in summary["workers"]]
    expect(bytes_held == [22210, 11110, 22210], f"gems on three workers holds {bytes_held}")


def variants():
    one_two = (1, 1, 1)
    chimera = {4: {1: 12, 2: 12, 3: 16, 5: 25, 6: 25, 7: 30, 10: 39}, 8: {4: 28, 10: 53, 12: 57}}
    check_times([("chimera", workers, batches, one_two, "", time) for workers, row in chimera.items()
                 for batches, time in row.items()])
    check_times([("gems", 3, 4, one_two, "", 30), ("gems", 5, 6, one_two, "", 70)])
    check_times([("gpipe", 4, 8, one_two, "backwards=lifo", 33), ("hanayo", 8, 16, one_two, "order=rounds waves=2", 55),
                 ("hanayo", 4, 2, one_two, "order=rounds waves=2", 17.25)])
    check_orders([
        ("chimera", 4, 6, "", 0, "pipeline", "F0@0 F1@0 F2@1 B2@1 F3@1 B3@1 B0@0 F4@0 B1@0 F5@1 B5@1 B4@0"),
        ("gpipe", 2, 3, "backwards=lifo", 0, "prime", "F0 F1 F2 B2 B1 B0"),
        ("hanayo", 4, 4, "waves=1 order=rounds", 0, "at",
         "F0 F1 F2 F3 F0@7 B0@7 F1@7 B1@7 F2@7 B2@7 F3@7 B3@7 B0 B1 B2 B3"),
    ])
    for workers in range(2, 9):
        for waves in (1, 2, 4):
            for batches in (workers, workers + 1, 2 * workers, 3 * workers):
                options = f"order=rounds waves={waves}"
                # In units of 1 / (2 W) of a share, so that all is whole.
                time, peaks = figures("hanayo", workers, batches, (2 * waves, 2 * waves, 2 * waves), 0, options)
                expected = batches * 6 * waves + (workers - 1) * 4
                expect(time == expected, f"hanayo rounds {workers} {batches} {waves}: {time}, expected {expected}")
                stashes = [batches - Fraction(workers - 1 - worker, 2 * waves) for worker in range(workers)]
                expect(peaks == [float(stash) for stash in stashes], f"hanayo rounds {workers} {batches}: {peaks}")


# ---- 1F1B-V ----

def v_of_whole_backwards():
    for workers, bubble, peak in ((2, 4, 4), (3, 8, 6), (4, 15, 6), (6, 22, 10), (8, 33, 12)):
        for batches in (2 * workers, 2 * workers + 1, 5 * workers):
            time, peaks = figures("1f1b-v", workers, batches, (2, 2, 2))
            expect(time == 6 * batches + bubble, f"1f1b-v {workers} {batches}: {time}, a bubble of {bubble}")
            expect(max(peaks) * 2 == peak, f"1f1b-v {workers} {batches}: {peaks}, expected {peak}")
    check_orders([
        ("1f1b-v", 2, 4, "", 0, "prime", "F0 F1 F2 F0' B0' F1' B1' F3 B0 F2' B2' B1 F3' B3' B2 B3"),
        ("1f1b-v", 2, 4, "", 1, "prime", "F0 F0' F1 F1' B0' B0 F2 F2' B1' B1 F3 F3' B2' B2 B3' B3"),
    ])


# ---- group-interleaved ----

def groups():
    for workers, batches, rows in ((4, 8, {1: (4.5, 7), 2: (4, 6), 3: (3.5, 7), 4: (3, 8)}),
                                   (8, 16, {4: (9, 12), 5: (11.5, 13), 8: (7, 16)})):
        for group, (bubble, peak) in rows.items():
            # With whole backwards of interleaved 1F1B the bubble would be 4.5 and 10.5, the stash 11 and 23.
            time, peaks = figures("group-interleaved", workers, batches, (1, 1, 1), 0, f"group={group}")
            expect(time == 3 * batches + bubble, f"group-interleaved {workers} {batches} {group}: {time}")
            expect(peaks[0] * 2 == peak, f"group-interleaved {workers} {batches} {group}: {peaks}, expected {peak}")
    check_orders([("group-interleaved", 4, 8, "group=2", 0, "prime",
                   "F0 F1 F0' F1' F2 F3 B0' W0' F2' B1' W1' F3' B0 W0 F4 B1 W1 F5")])
    for times in ((1, 1, 1), (10, 3, 2), (1, 9, 1)):
        same_in_any_unit("group-interleaved", 8, 12, times, 0, "group=3")


# ---- interleaved-zb ----

def interleaved_zero_bubble():
    """Orders from PyTorch's ScheduleInterleavedZeroBubble."""
    check_orders([
        ("interleaved-zb", 4, 8, "", 0, "prime",
         "F0 F1 F2 F3 F0' F1' F2' F3' B0' W0' F4 B1' W1' F5 B2' W2' F6 B3' W3' F7 B0 W0 F4' B1 W1 F5' B2 W2 F6' B3 W3 "
         "F7' B4' W4' B5' W5' B6' W6' B7' W7' B4 W4 B5 W5 B6 W6 B7 W7"),
        ("interleaved-zb", 4, 8, "", 3, "prime",
         "F0 F1 F2 F3 F0' B0' F1' B1' F2' B2' F3' B3' W0' F4 B0 W1' F5 B1 W2' F6 B2 W3' F7 B3 W0 F4' B4' W1 F5' B5' W2 "
         "F6' B6' W3 F7' B7' W4' B4 W5' B5 W6' B6 W7' B7 W4 W5 W6 W7"),
    ])


# ---- pipe-offload ----

def offloads():
    """Peaks, in stashes of a chunk, before and after; orders from the authors' implementation in exact fractions, with
    E where it ends a send and L where it takes room for a receive."""
    for workers, batches, transfer, after in ((4, 16, 250, (4, 3, 3, 3)), (4, 16, 500, (4, 4, 4, 4)),
                                              (8, 32, 250, (8, 7, 6, 5, 4, 3, 3, 3))):
        still, peaks = figures("group-interleaved", workers, batches, options=f"group={workers}")
        expect([2 * peak for peak in peaks] == [2 * workers - i for i in range(workers)], f"before: {peaks}")
        moving, peaks = figures("pipe-offload", workers, batches, options=f"group={workers} transfer={transfer}")
        expect(tuple(2 * peak for peak in peaks) == after, f"pipe-offload {workers} {batches} {transfer}: {peaks}")
        expect(moving == still, f"pipe-offload {workers} {batches} {transfer}: {moving} is not {still}")
    refused = subprocess.run([BINARY, *"schedule pipe-offload --workers 8 --micro-batches 32 --option group=8 --option "
                              "offload=2".split()], capture_output=True, text=True)
    expect(refused.returncode == 1 and "cannot bring the stash of micro-batch 0 in stage 11 back in time: 2 chunks move"
           in refused.stderr, refused.stderr)
    check_orders([
        ("pipe-offload", 4, 16, "group=4 transfer=250", 0, "prime",
         "F0 F1 E0 F2 E1 F3 E2 F0' E3 F1' F2' F3' B0' W0' F4 B1' E4 W1' F5 B2' E5 W2' F6 B3' L0 W3' E6 F7 B0 L1 W0 E7 "
         "F4' B1 L2 W1 F5' B2 L3 W2 F6' B3 W3 F7' B4' W4' F8 B5' W5' E8 F9"),
        ("pipe-offload", 4, 16, "group=4 transfer=250", 3, "prime",
         "F0 F1 F2 E0 F3 E1 F0' E2 E3 B0' W0' F1' B1' W1' F2' B2' W2' F3' B3' L0 W3' F4 B0 E4 L1 W0 F5 B1 E5 L2 W1"),
        ("pipe-offload", 4, 8, "group=1 transfer=250", 0, "prime",
         "F0 E0 F1 E1 F0' F2 E2 F1' F3 B0' E3 W0' F2' F4 L0 B1' E4 W1' F3' B0 W0 F5 L1 B2' E5 W2' F4' B1 W1 F6 L2 B3' "
         "E6 W3' F5' B2 W2 F7 L3 B4' E7 W4' F6' B3 W3 L4 B5' W5' F7' B4 W4 L5 B6' W6' B5 W5 L6 B7' W7' B6 W6 L7 B7 W7"),
        ("pipe-offload", 4, 8, "group=1 transfer=250", 3, "prime",
         "F0 E0 F1 E1 F0' B0' W0' F2 E2 F1' B1' L0 W1' F3 B0 E3 W0 F2' B2' L1 W2' F4 B1 E4 W1 F3' B3' L2 W3' F5 B2 E5 "
         "W2 F4' B4' L3 W4' F6 B3 E6 W3 F5' B5' L4 W5' F7 B4 E7 W4 F6' B6' L5 W6' B5 W5 F7' B7' L6 W7' B6 W6 L7 B7 W7"),
    ])
    text = command("pipe-offload", 4, 16, (1, 1, 1), 0, "group=4 transfer=250", "csv", 1)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "s.csv")
        file.write_text(text)
        again = subprocess.run([BINARY, "schedule", file, "--format", "csv"], capture_output=True, text=True).stdout
    expect(again == text and text.count(",E,") == text.count(",L,") == 64, "a file of pipe-offload changes when read")
    for times in ((1, 1, 1), (10, 3, 2), (1, 9, 1)):
        same_in_any_unit("pipe-offload", 8, 12, times, 0, "group=6")


# ---- zb-v-greedy ----

def greedy_v():
    rows = [(4, 8, (1, 1, 1), 0, 0), (4, 8, (10, 12, 8), 0, 16), (4, 12, (2, 3, 1), 0, 11),
            (4, 12, (1, 1, 1), Fraction(1, 4), 3.5), (4, 4, (1, 1, 1), 0, 3), (8, 16, (1, 1, 1), 0, 0),
            (8, 24, (10, 12, 8), 0, 48)]
    for workers, batches, times, latency, expected in rows:
        # The times are those of a chunk, half a share.
        share = tuple(2 * time for time in times)
        orders = slots("zb-v-greedy", workers, batches, share, latency)
        idle = max(span(order) for order in orders) - 2 * batches * sum(times)
        expect(idle == expected, f"zb-v-greedy {workers} {batches} {times}: a gap of {idle}, expected {expected}")
        same_in_any_unit("zb-v-greedy", workers, batches, share, latency, "")
    peaks = figures("zb-v-greedy", 4, 8, (2, 2, 2))[1]
    expect(max(peaks) == 4, f"zb-v-greedy stashes {peaks}")
    check_orders([("zb-v-greedy", 2, 3, "", 0, "prime",
                   "F0 F1 F2 F0' B0' W0' F1' B1' W1' B0 W0 F2' B2' B1 W2' B2 W1 W2")])


# ---- stp ----

def braids():
    """Chunks of (1, 1, 1), then with collectives of a half in each forward and input gradient that blocks hide: block
    times are given without."""
    for workers, batches, expected in ((4, 12, 75), (8, 24, 151), (2, 5, 31), (3, 8, 50)):
        time, peaks = figures("stp", workers, batches, (2, 2, 2))
        expect(time == expected == 6 * batches + workers - 1, f"stp {workers} {batches}: {time}, expected {expected}")
        if workers in (2, 4):
            expect([2 * peak for peak in peaks] == {2: [7, 7], 4: [13, 13, 14, 15]}[workers], f"stp peaks {peaks}")
    time = figures("stp", 4, 12, (3, 3, 2), block=6)[0]
    expect(time == 88, f"stp with collectives: {time}, expected 88")
    word_of_0 = ("F0 F1 F2 F0' F3 F1' B0' F4 W0' F2' B1' F5 B0 F3' B2' B1 F4' B3' B2 F5' B4' B3 B5' B4 W3' W4' B5")
    order = slots("stp", 2, 6)[0]
    expect(word(order, 2, "prime") == word_of_0, f"stp: {word(order, 2, 'prime')}")
    joined = " ".join(row["kind"] + row["micro_batch"] for row in order if row["braided"])
    expect(joined == "B0 W0 B1 B0 B2 B3 B4", f"stp braids {joined}")


TENSOR = """workload: transformer
model: megatron-7.5b
parallel: {tensor: 8, pipeline: 4}
batch: {micro: 1, micro_batches: 16}
transformer: {layers_per_stage: [4, 5, 5, 4, 5, 5, 5, 3]}
"""


def braids_hide_collectives():
    """Of the collectives of tensor parallelism, which zb-v exposes, only those outside of braids are left."""
    layers, alone, all_layers = (4, 5, 5, 4, 5, 5, 5, 3), 0, 0
    for rows in slots("stp", 4, 16):
        for row, after in zip(rows, rows[1:] + [{"braided": ""}]):
            if row["kind"] != "W":
                all_layers += layers[int(row["stage"])]
                alone += 0 if row["braided"] or after["braided"] else layers[int(row["stage"])]
    exposed = [simulate(f"{TENSOR}schedule: {name}\n", "dgx-a100:4")["communication"]["exposed_s"]
               for name in ("stp", "zb-v")]
    expect(0 <= exposed[0] / exposed[1] - alone / all_layers < 0.05,
           f"stp exposes {exposed[0]} s, zb-v {exposed[1]} s; {alone} of {all_layers} layers are outside of braids")


# ---- slices ----

def slices():
    """1F1B would take 33; with equal slices, of which the later have more attention, and with balanced ones."""
    for attention, expected in ((0, 26.25), (Fraction(1, 4), 1959 / 64), (Fraction(1, 2), 34.96875)):
        time, peaks = figures("seq1f1b", 4, 8, attention=attention)
        expect(time == expected, f"seq1f1b attention {attention}: {time}, expected {expected}")
        expect(peaks == [1.75, 1.5, 1.25, 1], f"seq1f1b stashes {peaks}")
        balanced = figures("seq1f1b", 4, 8, attention=attention, options="lengths=balanced")[0]
        expect(abs(balanced - 26.25) < 1e-12 * 26.25, f"seq1f1b balanced: {balanced}, expected 26.25")
    for workers, batches, count in ((2, 5, 8), (4, 8, 2), (8, 16, 16), (6, 3, 4)):
        time = figures("seq1f1b", workers, batches, options=f"slices={count}")[0]
        expect(time == 3 * batches + (workers - 1) * 3 / count, f"seq1f1b {workers} {batches} {count}: {time}")
        count *= workers // 2
        time, peaks = figures("slimpipe", workers, batches, options=f"slices={count}", attention=0.5)
        expect(abs(time - 3 * batches - (workers - 1) * 3 / count) < 1e-12 * time,
               f"slimpipe {workers} {count}: {time}")
        expected = [min((count + 2 * (workers - 1 - worker)) / count, batches) for worker in range(workers)]
        expect(max(abs(a - b) for a, b in zip(peaks, expected)) < 1e-12, f"slimpipe {workers} {count}: {peaks}")
    time = figures("slimpipe", 4, 8, options="slices=4 exchange=off", attention=0.5)[0]
    expect(time == 24 + 3.09375, f"slimpipe without exchange {time}, expected 27.09375")
    same = [[(row["kind"], row["micro_batch"]) for row in rows] for rows in slots("seq1f1b", 4, 8, options="slices=1")]
    plain = [[(row["kind"], row["micro_batch"]) for row in rows] for rows in slots("1f1b", 4, 8)]
    expect(same == plain, "seq1f1b with one slice is not 1f1b")
    rows = [" ".join(f"{row['kind']}{row['micro_batch']}.{row['slice']}" for row in rows)
            for rows in slots("seq1f1b", 2, 2, options="slices=2")]
    expect(rows == ["F0.0 F0.1 F1.0 B0.1 F1.1 B0.0 B1.1 B1.0", "F0.0 F0.1 B0.1 F1.0 B0.0 F1.1 B1.1 B1.0"], f"{rows}")


def slices_in_chunks():
    """Slices of equal time through v chunks: the bubble is 1/v of that of one chunk. In groups of one slice a worker
    the warm-up is (v-1) D + 2(D-1-w) + n-1."""
    for name, workers, batches, count, chunks in (("seq1f1b", 4, 8, 4, 2), ("seq1f1b", 4, 8, 2, 2),
                                                  ("seq1f1b", 4, 8, 8, 2), ("seq1f1b", 3, 8, 2, 3),
                                                  ("slimpipe", 4, 8, 4, 2), ("slimpipe", 4, 8, 8, 2),
                                                  ("slimpipe", 8, 4, 8, 4)):
        options, attention = f"slices={count} chunks={chunks}", 0.5 if name == "slimpipe" else 0
        time, peaks = figures(name, workers, batches, options=options, attention=attention)
        expect(abs(time - 3 * batches - (workers - 1) * 3 / count / chunks) < 1e-12 * time,
               f"{name} {workers} {batches} {options}: {time}")
        group = -(-workers // count) * count
        warm = [(chunks - 1) * group + 2 * (workers - 1 - worker) + count - 1 for worker in range(workers)]
        found = ["".join(row["kind"] for row in rows).index("B") - 1
                 for rows in slots(name, workers, batches, options=options)]
        expect(found == warm, f"{name} {workers} {batches} {options}: {found} forwards ahead, expected {warm}")
        expected = [(ahead + 1) / count / chunks for ahead in warm]
        expect(max(abs(a - b) for a, b in zip(peaks, expected)) < 1e-12, f"{name} {workers} {options}: {peaks}")
    done = subprocess.run([BINARY, "schedule", "seq1f1b", "--workers", "8", "--micro-batches", "6", "--option",
                           "slices=2", "--option", "chunks=2"], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 1 and "needs a multiple of 4 micro-batches on 8 workers, not 6" in done.stderr,
           f"seq1f1b in chunks with too few micro-batches: {done}")
    whole = [[(row["kind"], row["stage"], row["micro_batch"]) for row in rows]
             for rows in slots("seq1f1b", 4, 8, options="slices=1 chunks=2")]
    plain = [[(row["kind"], row["stage"], row["micro_batch"]) for row in rows]
             for rows in slots("interleaved", 4, 8, options="chunks=2")]
    expect(whole == plain, "seq1f1b in chunks with one slice is not interleaved")


def slices_simulated():
    """Through the whole program: the times above, and bytes of stashes with keys and values that stay."""
    summary = simulate("workload: stages\nstages: {forward: 1s, backward: 2s, activation: 64B, keys_values: 16B,"
                       " attention: 0.5}\nparallel: {pipeline: 4}\nbatch: {micro_batches: 8}\nschedule: seq1f1b\n")
    expect(abs(summary["time"]["iteration_s"] - 34.96875) < 1e-9, f"seq1f1b takes {summary['time']}")
    for worker, rows in enumerate(slots("seq1f1b", 4, 8)):
        held = peak = 0
        for row in rows:
            first = row["slice"] == "0"
            # Of 16 bytes of a slice's stash 4 are keys and values, which the first slice's backward gives back for all.
            held += 16 if row["kind"] == "F" else -16 - 12 if first else -12
            peak = max(peak, held)
        expect(held == 0 and summary["workers"][worker]["peak_bytes"] == peak,
               f"worker {worker} holds {summary['workers'][worker]['peak_bytes']} bytes, expected {peak}")


LONG = """workload: transformer
model: megatron-7.5b
parallel: {tensor: 8, pipeline: 4}
batch: {micro: 1, micro_batches: 8}
"""


def slices_in_chunks_simulated():
    """Through the whole program: the times above."""
    one, two = (simulate("workload: stages\nstages: {forward: 1s, backward: 2s, activation: 64B, keys_values: 16B}\n"
                         f"parallel: {{pipeline: 4}}\nbatch: {{micro_batches: 8}}\nschedule: {schedule}\n")
                for schedule in ("{name: seq1f1b}", "{name: seq1f1b, chunks: 2}"))
    expect(abs(one["time"]["iteration_s"] - 26.25) < 1e-9 and abs(two["time"]["iteration_s"] - 25.125) < 1e-9,
           f"seq1f1b in 1 and 2 chunks takes {one['time']}, {two['time']}")


def slices_of_a_transformer():
    """Of a long sequence later slices have more attention: equal ones lose what balanced ones win; nothing is lost of
    what is computed and sent."""
    found = {}
    for schedule in ("1f1b", "{name: seq1f1b}", "{name: seq1f1b, lengths: balanced}", "{name: slimpipe, slices: 4}"):
        text = f"{LONG}schedule: {schedule}\n".replace("model: megatron-7.5b", "model: {layers: 36, "
                                                       "hidden: 4096, heads: 32, sequence: 32768, vocabulary: 51200}")
        found[schedule] = simulate(text, "dgx-a100:4")
    times = {name: summary["time"]["iteration_s"] for name, summary in found.items()}
    plain, equal, balanced, slim = times.values()
    expect(balanced < equal and balanced < plain and abs(slim / balanced - 1) < 0.02, f"times {times}")
    sent = [summary["communication"]["sent_bytes"] for summary in found.values()]
    busy = [sum(worker["busy_s"] for worker in summary["workers"]) for summary in found.values()]
    expect(max(sent) - min(sent) < 1e-6 * max(sent), f"bytes sent {sent}")
    expect(max(busy) - min(busy) < 1e-9 * max(busy), f"seconds computed {busy}")


def slices_of_much_attention():
    """Where attention takes most of the time, the first slice has little of the backward: it is not less than the
    gradients of its weights."""
    text = ("workload: transformer\n"
            "model: {layers: 28, hidden: 512, heads: 16, sequence: 1024, vocabulary: 32000, tied: false}\n"
            "parallel: {data: 8}\nbatch: {micro: 4, micro_batches: 2}\ncompute: {precision: bf16}\n"
            "transformer: {attention: standard, zero: 2, granularity: stage}\n"
            "schedule: {name: seq1f1b, recompute: selective, lengths: average}\n")
    plain = simulate(text.replace("{name: seq1f1b, recompute: selective, lengths: average}",
                                  "{name: 1f1b, recompute: selective}"), "dgx-a100:1")
    sliced = simulate(text, "dgx-a100:1")
    flops = [summary["throughput"]["hfu"] * summary["time"]["iteration_s"] for summary in (plain, sliced)]
    expect(abs(flops[1] / flops[0] - 1) < 1e-9, f"flop of all slices and of whole micro-batches: {flops}")


# ---- recomputation ----

def recomputation():
    """1F1B takes 33 and 69; every forward again when its gradient has come, while it is on its way, and without the
    last worker's."""
    for workers, batches, times in ((4, 8, (44, 41, 39)), (8, 16, (92, 85, 83))):
        variants = ("overlap=off redundant=keep", "redundant=keep", "")
        found = tuple(figures("mario", workers, batches, options=variant)[0] for variant in variants)
        expect(found == times, f"mario {workers} {batches}: {found}, expected {times}")
        expect(times[0] == (batches + workers - 1) * 4, "every forward again: (N + D - 1)(S + t_F)")
    for workers, batches in ((4, 8), (6, 7), (8, 16), (8, 3)):
        plain, stashes = figures("1f1b", workers, batches)
        last = None
        for memory in range(1, workers + 1):
            time, peaks = figures("adapipe", workers, batches, options=f"memory={memory} units=12")
            expect(max(peaks) <= memory + 1e-9, f"adapipe {workers} {batches}: {peaks} stashes in room for {memory}")
            expect(last is None or time <= last, f"adapipe {workers} {batches}: {memory} take {time}, one less {last}")
            last = time
        expect((last, peaks) == (plain, stashes),
               f"adapipe {workers} {batches} with room for all: {last}, 1f1b {plain}")


def recomputation_simulated():
    """Times and bytes through the whole program: a checkpoint is as large as a message."""
    sizes = ("workload: stages\nstages: {forward: 1s, backward: 2s, activation: 64B, message: 16B}\n"
             "parallel: {pipeline: 4}\nbatch: {micro_batches: 8}\nschedule: ")
    for schedule, words, time in (("{name: mario, redundant: keep}", "redundant=keep", 41), ("mario", "", 39),
                                  ("{name: mario, overlap: off, redundant: keep}", "overlap=off redundant=keep", 44),
                                  ("{name: adapipe, memory: 3, units: 4}", "memory=3 units=4", None)):
        summary = simulate(f"{sizes}{schedule}\n", "mesh-8.xml")
        expect(time is None or abs(summary["time"]["iteration_s"] - time) < 1e-3, f"{schedule}: {summary['time']}")
        for worker, rows in enumerate(slots("mario" if "mario" in schedule else "adapipe", 4, 8, options=words)):
            share = max([float(row.get("share") or 1) for row in rows if row["kind"] == "R"], default=0)
            held = peak = 0
            for row in rows:
                held += {"F": 64 - share * 48, "R": share * 48, "B": -64}[row["kind"]]
                peak = max(peak, held)
            found = summary["workers"][worker]["peak_bytes"]
            expect(held == 0 and found == peak, f"{schedule}: worker {worker} holds {found} bytes, expected {peak}")


ROOM = """workload: transformer
model: megatron-7.5b
parallel: {tensor: 8, pipeline: 4}
batch: {micro: 1, micro_batches: 16}
transformer: {balance: auto}
"""


def layers_of_what_is_computed_again():
    """Stages that compute much again get fewer layers, and the iteration is shorter than with those of 1F1B; without
    anything to compute again they are 1F1B's."""
    def layers(schedule, more=""):
        summary = simulate(f"{ROOM}{more}schedule: {schedule}\n", "dgx-a100:4")
        counts = [stage.count("t") for stage in plain_layout(summary["scenario"]["pipeline_layout"]).split("|")]
        return counts, summary["time"]["iteration_s"]

    def plain_layout(text):
        for group in (r"\(([^)]*)\)\*(\d+)", r"(.)\*(\d+)"):
            text = re.sub(group, lambda match: match.group(1) * int(match.group(2)), text.replace(",", ""))
        return text

    even, _ = layers("1f1b")
    expect(layers("{name: adapipe, memory: 4}")[0] == even, "adapipe with room for all has other layers than 1f1b")
    moved, time = layers("{name: adapipe, memory: 1}")
    text = ROOM.replace("balance: auto", f"layers_per_stage: {even}")
    before = simulate(f"{text}schedule: {{name: adapipe, memory: 1}}\n", "dgx-a100:4")["time"]["iteration_s"]
    expect(sum(moved) == sum(even) and moved[0] < even[0] and moved[3] > even[3], f"layers {moved}, of 1f1b {even}")
    expect(time < 0.99 * before, f"moved layers take {time}, those of 1f1b {before}")


for check in (recomputation, recomputation_simulated, slices, slices_in_chunks, slices_simulated,
              slices_in_chunks_simulated, slices_of_a_transformer, slices_of_much_attention,
              layers_of_what_is_computed_again, braids, braids_hide_collectives, variants, one_copy_in_the_middle,
              v_of_whole_backwards, groups, interleaved_zero_bubble, offloads, greedy_v):
    check()
print(f"{faults} faults")
sys.exit(1 if faults else 0)
