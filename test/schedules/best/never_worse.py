#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""never_worse.py STAGESIM: on random jobs, with the room that a published schedule takes, `best` of the same placement
takes no longer, and its bound is no later."""
import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool import Checker, binary_argument, run

NAMES = {(1, "loop"): ["gpipe", "1f1b", "eager-1f1b", "zb-h1", "zb-h2", "zb-auto"],
         (2, "loop"): ["interleaved", "group-interleaved", "breadth-first"],
         (2, "wave"): ["zb-v", "v-half", "v-min", "1f1b-v", "zb-v-greedy", "dualpipe-v", "stp"],
         (4, "wave"): ["hanayo"]}
check = Checker()


def times_of(stagesim, folder, name, arguments, *options):
    done = run(stagesim, "schedule", name, *arguments, *[f"--option={option}" for option in options], "--format",
               "json", "-o", "x.json", cwd=folder, expect=None)
    return json.loads((folder / "x.json").read_text()) if done.returncode == 0 else None


def compare(stagesim, folder, source, chunks, placement):
    workers = source.randint(2, 4)
    batches = source.choice([workers, 2 * workers, 3 * workers])
    weight = [source.randint(1, 4) for _ in range(workers)]
    lists = [[source.randint(1, 6) for _ in weight], [w + source.randint(1, 6) for w in weight], weight]
    job = ["--workers", str(workers), "--micro-batches", str(batches), "--latency", str(source.choice([0, 1]))]
    for word, values in zip(("--forward", "--backward", "--weight"), lists):
        job += [word, ",".join(map(str, values))]
    for name in NAMES[chunks, placement]:
        other = times_of(stagesim, folder, name, job)
        if not other or other["schedule"]["stages"] != chunks * workers:
            continue
        room = max(worker["peak_in_flight"] for worker in other["workers"])
        best = times_of(stagesim, folder, "best", job, "effort=5000", f"chunks={chunks}", f"placement={placement}",
                        f"memory={-int(-room // 1)}")
        time = best["time"]
        check.that(time["makespan_s"] <= other["time"]["makespan_s"] * (1 + 1e-9), (name, job, room, time))
        check.that(time["bound_s"] <= time["makespan_s"] * (1 + 1e-9), (name, job, time))


def main():
    stagesim, source = binary_argument(), random.Random(5)
    with tempfile.TemporaryDirectory() as name:
        for _ in range(4):
            for chunks, placement in NAMES:
                compare(stagesim, pathlib.Path(name), source, chunks, placement)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
