#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checkpoints.py STAGESIM: layers.checkpoints against a computation of its own.

Of small networks drawn at random every way to cut them is tried; the cuts are those whose fullest segment has least.
The memory is followed operation by operation: a forward keeps its activations or, where it is computed again, what
crosses the cut behind it; the backward of a segment takes all of its activations, and each layer's are free when the
next backward begins. Time and HFU grow by the repeated forwards, MFU counts none of them."""
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
MICRO_BATCHES, SAMPLES, SPEED = 3, 2, 1e12
faults = []


def near(value, expected, what):
    if abs(value - expected) > 1e-9 * abs(expected):
        faults.append(f"{what}: {value!r}, not {expected!r}")


def run(folder, layers, checkpoints):
    rows = ", ".join("{" + ", ".join(f"{key}: {value}" for key, value in layer.items()) + "}" for layer in layers)
    (folder / "one.xml").write_text(
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
        f'<zone id="z" routing="Full"><host id="h" speed="{SPEED}f"/></zone></platform>')
    (folder / "job.yaml").write_text(f"""platform: one.xml
workload: layers
model: {{layers: [{rows}]}}
parallel: {{data: 1}}
batch: {{micro: {SAMPLES}, micro_batches: {MICRO_BATCHES}}}
layers: {{checkpoints: {checkpoints}, optimizer: sgd}}
compute: {{precision: fp32, efficiency: 1}}
""")
    subprocess.run([STAGESIM, "run", "job.yaml", "-o", "out", "--quiet"], cwd=folder, check=True, capture_output=True)
    return json.loads((folder / "out" / "summary.json").read_text())


def draw(rng, count):
    """Activations are powers of 2 with a random tail, so that hardly two ways to cut are alike."""
    return [{"name": f"l{i}", "kind": "dense", "flops": rng.randint(1, 9) * 1e9, "parameters": rng.randint(1, 50),
             "outputs": rng.randint(1, 1000), "activations": rng.randint(1000, 2000) * rng.choice([1, 4, 9]),
             "boundary": rng.randint(1, 500)} for i in range(count)]


def best_cuts(kept, checkpoints):
    """Ends of segments: of all ways with the least fullest segment one with the fewest, filled from the front."""
    count = len(kept)
    ways = [cuts + (count,) for n in range(min(checkpoints, count - 1) + 1)
            for cuts in itertools.combinations(range(2, count), n)]  # the first segment has two layers at least

    def fullest(ends):
        return max(sum(kept[a:b]) for a, b in zip((0,) + ends, ends))

    least = min(map(fullest, ways))
    good = [ends for ends in ways if fullest(ends) == least]
    fewest = min(map(len, good))
    return max(ends for ends in good if len(ends) == fewest)


def follow(kept, crossing, ends):
    """The most bytes of activations, of one micro-batch."""
    last = ends[-2] if len(ends) > 1 else 0
    held = most = 0
    for i in range(len(kept)):
        held += kept[i] if i >= last else crossing[i] if i + 1 in ends else 0
        most = max(most, held)
    starts = dict(zip(ends, (0,) + ends[:-1]))
    free_next = 0  # what the backward before has used last
    for i in reversed(range(len(kept))):
        change, free = -free_next, 0
        free_next = kept[i] if i < last else 0
        if i < last and i + 1 in ends:  # the segment's forward, and the cut behind it is used up
            change += sum(kept[starts[i + 1]:i + 1]) - crossing[i]
        if i >= last:
            free = kept[i]
        held += change
        most = max(most, held)
        held -= free
    near(held - free_next + 1, 1, "nothing is left")
    return most


def compare(folder, layers, checkpoints):
    summary = run(folder, layers, checkpoints)
    bytes_of = 4 * SAMPLES
    kept, crossing = ([layer[key] * bytes_of for layer in layers] for key in ("activations", "boundary"))
    ends = best_cuts(kept, checkpoints)
    what = f"{len(layers)} layers, {checkpoints} checkpoints, ends {ends}"
    near(summary["memory"]["parts"]["activations_bytes"], follow(kept, crossing, ends), what + ": activations")
    forward = [layer["flops"] * SAMPLES for layer in layers]
    model = 3 * sum(forward) - forward[0]  # the first layer has no gradient of its input
    again = sum(forward[:ends[-2]]) if len(ends) > 1 else 0
    near(summary["time"]["iteration_s"], MICRO_BATCHES * (model + again) / SPEED, what + ": time")
    near(summary["throughput"]["hfu"] / summary["throughput"]["mfu"], (model + again) / model, what + ": flops")


def main():
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as name:
        for count in (1, 2, 3, 5, 8):
            for checkpoints in (0, 1, 2, 3, 20):
                compare(pathlib.Path(name), draw(rng, count), checkpoints)
    print("\n".join(faults[:20]) or "all hold")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
