#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kfac.py STAGESIM: the second-order optimizer of the workload layers against counts from the networks' shapes. On the
star platform of layers.py a computation takes its flops over the speed, and a ring what its bytes take."""
import pathlib
import sys
import tempfile

from layers import RATE, SPEED, expect, faults, near, rows_of, run

FACTORS = {"resnet-50": (54, 153851562, 76967027)}  # layers, numbers of their factors, those that are sent
RING = ("communication.all_reduce=ring", "communication.all_gather=ring")
ALWAYS = ("kfac.factors_every=1", "kfac.inverse_every=1")


def shapes(name):
    """(a, c, outputs of a channel) of each layer with factors."""
    found = []
    for row in rows_of(name):
        if row["kind"] not in ("convolution", "dense"):
            continue
        outputs, positions = int(row["outputs"]), int(row.get("height", 1)) * int(row.get("width", 1))
        channels, inner = outputs // positions, int(row["flops"]) // 2 // outputs
        bias = int(row["parameters"]) == (inner + 1) * channels
        found.append((inner + bias, channels, positions))
    return found


def job(folder, name, *sets, data=1, **keywords):
    return run(folder, [], *RING, *sets, model=name, data=data, **keywords)


def check_counts(folder):
    """Numbers that are kept and sent, exactly."""
    for name, (count, numbers, packed) in FACTORS.items():
        layers = shapes(name)
        expect(len(layers) == count, f"{name}: {len(layers)} layers with factors")
        expect(sum(a * a + c * c for a, c, _ in layers) == numbers, f"{name}: numbers of factors")
        expect(sum(a * (a + 1) // 2 + c * (c + 1) // 2 for a, c, _ in layers) == packed, f"{name}: packed numbers")
        plain, kfac = (job(folder, name, *sets, data=2) for sets in
                       ((), ("layers.optimizer=kfac", "kfac.distributed=false", *ALWAYS)))
        sent = kfac["communication"]["sent_bytes"] - plain["communication"]["sent_bytes"]
        expect(abs(sent - 2 * 4 * packed) < 0.01, f"{name}: {sent} bytes of factors sent")
        kept = kfac["workers"][0]["peak_bytes"] - plain["workers"][0]["peak_bytes"]
        expect(round(kept) == 2 * 4 * numbers, f"{name}: {kept} bytes of factors and inverses")
        gathered = job(folder, name, "layers.optimizer=kfac", *ALWAYS, data=2)
        more = gathered["communication"]["sent_bytes"] - kfac["communication"]["sent_bytes"]
        expect(round(more) == 4 * packed, f"{name}: {more} bytes of inverses gathered by two ranks")


def flops(name, samples, work=1):
    layers = shapes(name)
    return (sum(2 * samples * p * (a * a + c * c) for a, c, p in layers), [work * (a**3 + c**3) for a, c, _ in layers],
            sum(2 * (a * a * c + a * c * c) for a, c, _ in layers))


def check_times(folder):
    """One rank: counts over the speed, those of factors and inverses every so many iterations."""
    for name in ("resnet-50", "vgg-11", "lenet-5"):
        base = job(folder, name, batch="{micro: 4, micro_batches: 3}")["time"]["iteration_s"]
        for factors, inverse, eigen in ((1, 1, False), (2, 4, False), (1, 3, True)):
            sets = ["layers.optimizer=kfac", f"kfac.factors_every={factors}", f"kfac.inverse_every={inverse}",
                    f"iterations={2 * inverse}"] + ["kfac.inverse=eigen"] * eigen
            found = job(folder, name, *sets, batch="{micro: 4, micro_batches: 3}")["time"]["iteration_s"]
            own, cubes, precondition = flops(name, 4 * 3, 9 if eigen else 1)
            near((found - base) * SPEED, own / factors + sum(cubes) / inverse + precondition,
                 f"{name}, factors every {factors}, inverses every {inverse}", 1e-6)
    own, cubes, precondition = flops("resnet-50", 1)
    expect((own, sum(cubes), precondition) == (50160129666, 452798667340, 156157878480), "ResNet-50's flops")


def check_distributed(folder):
    """Each layer to the rank that has least, the largest first; the busiest sets the pace. A ring moves the rest."""
    name, data = "lenet-5", 3
    _, cubes, _ = flops(name, 1)
    load = [0.0] * data
    for cube in sorted(cubes, reverse=True):
        load[load.index(min(load))] += cube
    packed = sum(4 * (a * (a + 1) / 2 + c * (c + 1) / 2) for a, c, _ in shapes(name))
    sets = ["layers.optimizer=kfac", *ALWAYS, "communication.overlap=false", "layers.bucket=1GB"]
    for storage in ((), ("storage.hosts=1", "storage.dataset=1GB", "storage.local_cache=1GB", "iterations=3")):
        whole, shared = (job(folder, name, *sets, *storage, f"kfac.distributed={flag}", data=data)
                         for flag in ("false", "true"))
        gather = (data - 1) / data * packed / RATE
        found = shared["time"]["iteration_s"] - whole["time"]["iteration_s"]
        near(found, (max(load) - sum(cubes)) / SPEED + gather, f"inverses by layer, {storage}", 1e-6)
        busy = sorted(worker["busy_s"] for worker in shared["workers"])[-data:] if storage else []
        if storage:
            near(busy[-1] - busy[0], (max(load) - min(load)) / SPEED, "imbalance of inverses", 1e-6)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_counts, check_times, check_distributed):
            check(folder)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
