#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ready.py STAGESIM: steps that vary, in the job's order and with workers that run what is ready first, against a
Monte Carlo simulation of its own: mean, p50 and p95 within what the numbers of draws leave open. Without noise both are
the iteration where the order leaves nothing ready behind."""
import csv
import io
import json
import pathlib
import random
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool import Checker, binary_argument, run, summary, write_scenario

check = Checker()
STAGESIM = binary_argument()
TIMES = {"F": [1, 1.4, 0.8], "B": [2, 1.5, 2.2], "W": [0.8, 0.7, 0.9]}  # seconds of a worker's share; B whole
MESSAGE = 0.3
LOW, HIGH = 0.4, 1.9  # factors of computations and of messages, each drawn for itself
DRAWS, STEPS = 600, 2000
# schedule, micro-batches, whether a worker always has the first that is ready in its order
JOBS = [("1f1b", 6, True), ("zb-h1", 6, False), ("interleaved", 6, False)]


def order_of(name, batches):
    """Each worker's [(kind, stage, micro-batch)], and the worker of each stage."""
    text = run(STAGESIM, "schedule", name, "--workers", "3", "--micro-batches", str(batches), "--format", "csv").stdout
    orders, place = [[], [], []], {}
    for row in csv.DictReader(io.StringIO(text)):
        orders[int(row["worker"])].append((row["kind"], int(row["stage"]), int(row["micro_batch"])))
        place[int(row["stage"])] = int(row["worker"])
    return orders, place


def durations(orders, place, source):
    """Of each operation, and of each message that leaves one."""
    chunks, split = len(place) / 3, any(kind == "W" for kind, _, _ in orders[0])
    of, sent = {}, {}
    for worker, order in enumerate(orders):
        for key in order:
            kind, stage, _ = key
            # A list has a value for each worker's share: cut in the order of stages.
            first, last = stage / chunks, (stage + 1) / chunks
            values = [TIMES[kind][i] - (TIMES["W"][i] if split and kind == "B" else 0) for i in range(3)]
            share = sum(values[i] * max(0, min(last, i + 1) - max(first, i)) for i in range(3))
            of[key] = share * (source.uniform(LOW, HIGH) if source else 1)
            sent[key] = MESSAGE * (source.uniform(LOW, HIGH) if source else 1)
    return of, sent


def inputs_of(key, stages):
    kind, stage, batch = key
    if kind == "F":
        return [("F", stage - 1, batch)] if stage else []
    if kind == "W":
        return [("B", stage, batch)]
    return [("F", stage, batch)] + ([("B", stage + 1, batch)] if stage + 1 < stages else [])


def hold_of(key, split):
    return 1 if key[0] == "F" else -1 if (key[0] == "W") == split else 0


def pick(todo, held, limit, there, split):
    """The first operation whose inputs are there, and that leaves those before it their room."""
    most = held
    for key in todo:
        if there(key) and (hold_of(key, split) <= 0 or most < limit):
            return key
        held += hold_of(key, split)
        most = max(most, held)
    return None


def simulate(orders, place, of, sent, ready):
    """Second by second of what happens: an event is an end, or a message that has come."""
    split = any(kind == "W" for kind, _, _ in orders[0])
    limits = []
    for order in orders:
        held = peak = 0
        for key in order:
            held += hold_of(key, split)
            peak = max(peak, held)
        limits.append(peak)
    todo, free, held = [list(order) for order in orders], [0.0] * 3, [0] * 3
    done, came, way, now = {}, {}, {}, 0.0

    def there_at(key, time):
        worker = place[key[1]]
        for other in inputs_of(key, len(place)):
            times = done if place[other[1]] == worker else came
            if other not in times or times[other] > time:
                return False
        return True

    events = [0.0]
    while any(todo):
        now = min(events)
        events = [time for time in events if time > now]
        # Messages leave in the order in which their operations have ended.
        for key in sorted((key for key in done if done[key] <= now and key not in came), key=lambda key: done[key]):
            kind, stage, _ = key
            after = stage + 1 if kind == "F" else stage - 1
            came[key] = done[key]
            if kind != "W" and 0 <= after < len(place) and place[after] != place[stage]:
                link = place[stage], place[after], kind
                came[key] = way[link] = max(done[key], way.get(link, 0)) + sent[key]
                events.append(came[key])
        for worker in range(3):
            if free[worker] > now or not todo[worker]:
                continue
            held_now = held[worker] + sum(1 for key, end in done.items() if place[key[1]] == worker
                                          and hold_of(key, split) < 0 and end > now)
            if ready:
                key = pick(todo[worker], held_now, limits[worker], lambda key: there_at(key, now), split)
            else:
                key = todo[worker][0] if there_at(todo[worker][0], now) else None
            if key is None:
                continue
            todo[worker].remove(key)
            held[worker] += hold_of(key, split)
            done[key] = free[worker] = now + of[key]
            events.append(done[key])
    return max(done.values())


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def write_job(folder, name, batches, gigabytes):
    lists = ", ".join(f"{word}: [{', '.join(f'{value}s' for value in TIMES[kind])}]"
                      for word, kind in (("forward", "F"), ("backward", "B"), ("weight", "W")))
    write_scenario(folder / "job.yaml", "dgx-a100:1", name, 3, batches,
                   stages=f"{lists}, message: {gigabytes}GB", more="engine: analytic\n")


def message_of(folder):
    """Gigabytes that take MESSAGE: one micro-batch sends four messages one after the other."""
    write_job(folder, "gpipe", 1, 100)
    data = summary(STAGESIM, "job.yaml", "one", cwd=folder)
    return 100 * MESSAGE / ((data["time"]["iteration_s"] - sum(TIMES["F"]) - sum(TIMES["B"])) / 4)


def job(folder, name, batches, greedy):
    orders, place = order_of(name, batches)
    write_job(folder, name, batches, message_of(folder))
    even = summary(STAGESIM, "job.yaml", "even", "--set", "tails={device: 1, steps: 100}", "--quantiles", cwd=folder)
    static = simulate(orders, place, *durations(orders, place, None), False)
    check.that(abs(even["step"]["even_s"] / static - 1) < 2e-3, f"{name}: {even['step']['even_s']}, here {static}")
    first = even["step"]["changes"]["first_ready"]["mean_s"]
    here = simulate(orders, place, *durations(orders, place, None), True)
    check.that(abs(first / here - 1) < 2e-3, f"{name} first ready: {first}, here {here}")
    if greedy:
        check.that(abs(first / even["step"]["even_s"] - 1) < 1e-9, f"{name}: first ready {first}, in order {even}")
    draws = f"{{uniform: [{LOW}, {HIGH}]}}"
    figures = summary(STAGESIM, "job.yaml", "noise", "--set", f"tails={{operation: {draws}, message: {draws}, steps: "
                      f"{STEPS}}}", "--quantiles", cwd=folder)["step"]
    source = random.Random(7)
    drawn = [durations(orders, place, source) for _ in range(DRAWS)]
    in_order = [simulate(orders, place, *one, False) for one in drawn]
    by_ready = [simulate(orders, place, *one, True) for one in drawn]
    for key, expected, tolerance in (("mean", statistics.fmean(in_order), 0.01),
                                     ("p50", quantile(in_order, 0.5), 0.015),
                                     ("p95", quantile(in_order, 0.95), 0.03)):
        found = figures[f"{key}_s"]
        check.that(abs(found / expected - 1) < tolerance, f"{name}: {key} {found}, drawn here {expected}")
    # Changes are compared over 400 steps.
    first = figures["changes"]["first_ready"]
    for key, found, expected, tolerance in (("mean", first["mean_s"], statistics.fmean(by_ready), 0.015),
                                            ("p95", first["p95_s"], quantile(by_ready, 0.95), 0.035)):
        check.that(abs(found / expected - 1) < tolerance, f"{name} first ready: {key} {found}, drawn here {expected}")


with tempfile.TemporaryDirectory() as scratch:
    for each in JOBS:
        job(pathlib.Path(scratch), *each)
sys.exit(check.done())
