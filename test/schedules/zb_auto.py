#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""zb_auto.py STAGESIM: the heuristic of Zero Bubble gives the spans and the orders that its authors' implementation
gives; where all workers step together it is never above zb-h1."""
import csv
import io
import random
import subprocess
import sys

# workers, micro-batches, times (forward, input gradient, weight gradient), latency, memory, largest span of a worker
SPANS = [
    (4, 8, (1, 1, 1), 0, "1p", 27),
    (4, 8, (1, 1, 1), 0, "2p", 24),
    (4, 8, (2, 2, 1), 0, "1p", 49),
    (4, 6, (2, 3, 1), 0, "1p", 48),
    (4, 6, (2, 3, 1), 0, "2p", 46),
    (4, 8, (1, 1, 1), 0.25, "1p", 30),
    (4, 8, (10, 12, 9), 1, "1p", 299),
    (4, 8, (10, 12, 9), 1, "2p", 262),
    (8, 24, (2, 2, 1), 0, "1p", 141),
    (8, 24, (2, 2, 1), 0, "2p", 125),
]
WORDS = {
    ("1p", 0): "FFFFBWFBWFBWFBWFBWBWBWBW",
    ("1p", 1): "FFFBFBWFBWFBWFBWFBWBWBWW",
    ("1p", 2): "FFBFBFBWFBWFBWFBWFBWBWWW",
    ("1p", 3): "FBFBFBFBWFBWFBWFBWFBWWWW",
    ("2p", 0): "FFFFFFFBFWBWBWBWBWBWBWBW",
}


# Orders within other limits, also one for each worker, from the authors' implementation: workers, micro-batches, times,
# latency, limit.
LIMITED = [
    (4, 6, (7, 6, 9), 0, "2.5",
     ["FFBFWBFWBFWBFWBWBW", "FBFWBFWBFWBFWBFWBW", "FBWFBWFBWFBWFBWFBW", "FBWFBWFBWFBWFBWFBW"]),
    (4, 6, (7, 6, 9), 0, "[7/2, 3, 2, 1.5]",
     ["FFFBFWBFWBFWBWBWBW", "FFBFWBFWBFWBFWBWBW", "FBFWBFWBFWBFWBFWBW", "FBWFBWFBWFBWFBWFBW"]),
    (3, 5, (4, 5, 6), 0, "[4.5, 2, 1.5]", ["FFFFBFWBWBWBWBW", "FFBWFBWFBWFBWBW", "FBFBWFBWFBWFBWW"]),
]


def slots(binary, workers, batches, times, latency, memory, scale=1):
    forward, backward, weight = (time * scale for time in times)
    command = [binary, "schedule", "zb-auto", "--workers", str(workers), "--micro-batches", str(batches), "--format",
               "csv"]
    command += ["--forward", repr(forward), "--backward", repr(backward + weight), "--weight", repr(weight)]
    command += ["--latency", repr(latency * scale), "--option", f"memory={memory}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def word(rows, worker):
    return "".join(row["kind"] for row in rows if row["worker"] == str(worker))


def span(rows, workers):
    def of(worker):
        own = [row for row in rows if row["worker"] == str(worker)]
        return max(float(row["end"]) for row in own) - min(float(row["start"]) for row in own)

    return max(of(worker) for worker in range(workers))


def within_limits(binary):
    """The faults: orders that the implementation gives; and no worker is ever above its limit, whatever it is."""
    faults = 0
    for workers, batches, times, latency, memory, expected in LIMITED:
        rows = slots(binary, workers, batches, times, latency, memory)
        found = [word(rows, worker) for worker in range(workers)]
        if found != expected:
            print(f"memory {memory}: {found}, expected {expected}")
            faults += 1
    source = random.Random(3)
    for _ in range(30):
        workers, batches = source.randint(1, 6), source.randint(1, 12)
        halves = [source.randint(2, 2 * workers + 2) for _ in range(workers)]
        times = tuple(source.randint(1, 9) for _ in range(3))
        rows = slots(binary, workers, batches, times, 0, "[" + ", ".join(str(half / 2) for half in halves) + "]")
        for worker, limit in enumerate(halves):
            held = 0
            for kind in word(rows, worker):
                held += {"F": 2, "B": -1, "W": -1}[kind]
                faults += held > limit
                if held > limit:
                    print(f"{workers} workers, {batches} micro-batches, {times}: worker {worker} is above {limit / 2}")
    return faults


def makespan(binary, name, workers, batches, times, latency, *options):
    forward, backward, weight = times
    command = [binary, "schedule", name, "--workers", str(workers), "--micro-batches", str(batches), "--format", "csv"]
    command += ["--forward", ",".join(map(str, forward)), "--weight", ",".join(map(str, weight))]
    command += ["--backward", ",".join(str(b + w) for b, w in zip(backward, weight)), "--latency", str(latency)]
    command += [part for option in options for part in ("--option", option)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return max(float(row["end"]) for row in csv.DictReader(io.StringIO(done.stdout)))


def steps_together(binary):
    """The faults of random pipelines."""
    source, faults = random.Random(7), 0
    for _ in range(40):
        workers = source.randint(2, 8)
        batches, latency = source.randint(workers, 3 * workers), source.choice((0, 0, 1, 2))
        times = [[source.randint(4, 12) for _ in range(workers)] for _ in range(3)]
        auto = makespan(binary, "zb-auto", workers, batches, times, latency, "optimizer=blocking")
        other = makespan(binary, "zb-h1", workers, batches, times, latency)
        if auto > other:
            print(f"{workers} workers, {batches} micro-batches, {times}, {latency}: {auto}, zb-h1 {other}")
            faults += 1
    return faults


def main():
    binary = sys.argv[1]
    faults = steps_together(binary) + within_limits(binary)
    for workers, batches, times, latency, memory, expected in SPANS:
        rows = slots(binary, workers, batches, times, latency, memory)
        found = span(rows, workers)
        if abs(found - expected) > 1e-9 * expected:
            print(f"{workers} workers, {batches} micro-batches, {times}, {memory}: span {found}, expected {expected}")
            faults += 1
        for scale in (3, 0.1, 1e-6):
            other = slots(binary, workers, batches, times, latency, memory, scale)
            if [word(other, w) for w in range(workers)] != [word(rows, w) for w in range(workers)]:
                print(f"{times} times {scale}: another order")
                faults += 1
    for (memory, worker), expected in WORDS.items():
        found = word(slots(binary, 4, 8, (1, 1, 1), 0, memory), worker)
        if found != expected:
            print(f"memory {memory}, worker {worker}: {found}, expected {expected}")
            faults += 1
    print(f"{len(SPANS)} spans in four units, {len(WORDS)} orders, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
