#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""storage.py STAGESIM: samples that come from storage hosts, against closed forms. On the star platform of layers.py
every host has a link of 10 GB/s in each direction, and nothing else is narrow."""
import pathlib
import sys
import tempfile

from layers import RATE, SPEED, expect, faults, near, run

SAMPLE = 400e6
DISK = 20e9


def feed(folder, *sets, flops=1e10, hosts=1, workers=4, engine="simgrid", micro_batches=1, samples=1, iterations=10):
    """The summary of a job of one layer whose computing takes 2 flops / SPEED for a sample, and what a micro-batch
    computes."""
    layer = [{"name": "a", "flops": flops, "parameters": 100, "inputs": f"{int(SAMPLE)}B", "outputs": 1}]
    found = run(folder, layer, f"storage.hosts={hosts}", f"iterations={iterations}", *sets, data=workers,
                engine=engine, batch=f"{{micro: {samples}, micro_batches: {micro_batches}}}")
    return found, 2 * flops / SPEED * samples


def pace(folder, expected, what, *sets, **keywords):
    found, compute = feed(folder, *sets, **keywords)
    near(found["time"]["iteration_s"], max(expected, compute * keywords.get("micro_batches", 1)), what, 1e-5)
    return found


def check_disk(folder):
    """Slow disks: all workers' samples one after the other, in both engines."""
    for engine in ("simgrid", "analytic"):
        for workers, hosts, samples in ((1, 1, 1), (4, 1, 1), (4, 2, 1), (3, 1, 2), (6, 4, 1)):
            disk = 2e9
            found = pace(folder, workers * samples * SAMPLE / hosts / disk,
                         f"disks of {hosts} hosts, {workers} workers, {samples} samples, {engine}",
                         f"storage.bandwidth={disk / 1e9}GBps", workers=workers, hosts=hosts, samples=samples,
                         engine=engine)
            near(found["communication"]["sent_bytes"], workers * samples * SAMPLE, "bytes of samples", 1e-4)
            near(sum(found["bubble"]["causes"].values()), found["bubble"]["ratio"], "sum of causes", 1e-9)
            busy = 2e10 / SPEED * samples / found["time"]["iteration_s"]
            near(found["bubble"]["ratio"], 1 - busy, "idle time, storage hosts left out", 1e-5)
            expect(found["bubble"]["causes"]["input"] > 0.3, f"no waiting for samples: {found['bubble']}")
            if workers == 1:
                expect(found["limits"]["by"] == "input", f"limited by {found['limits']}")


def check_links(folder):
    """Fast disks: the hosts' links, which only SimGrid's engine shares out."""
    for workers, hosts in ((4, 1), (8, 1), (8, 2), (6, 3)):
        found = pace(folder, workers * SAMPLE / hosts / RATE, f"links of {hosts} hosts, {workers} workers",
                     workers=workers, hosts=hosts)
        links = {link["name"]: link["bytes"] for link in found["links"]}
        near(links[f"up-{workers}"], workers * SAMPLE / hosts, "bytes out of a storage host", 1e-4)
    for workers in (1, 4):
        pace(folder, SAMPLE / RATE, f"{workers} workers, links without contention", workers=workers, engine="analytic")


def check_reads(folder):
    """Small reads: places a second, not bytes."""
    for engine in ("simgrid", "analytic"):
        for reads, samples, hosts in ((10, 1, 1), (25, 2, 1), (10, 4, 2)):
            pace(folder, max(4 * samples / hosts / reads, 4 * samples * SAMPLE / hosts / DISK),
                 f"{reads} reads a second, {samples} samples, {hosts} hosts, {engine}", f"storage.reads={reads}",
                 f"storage.bandwidth={DISK / 1e9}GBps", samples=samples, hosts=hosts, engine=engine)


def check_caches(folder):
    """What the hosts' memories hold is not read; what a worker's own memory holds is not even asked for."""
    disk, dataset = 2e9, 100 * SAMPLE
    sets = [f"storage.bandwidth={disk / 1e9}GBps", f"storage.dataset={int(dataset)}B"]
    for hosts in (1, 2):
        for share in (0, 0.25, 0.5):
            cache = f"storage.cache={int(share * dataset / hosts)}B"
            read = (1 - share) * 4 * SAMPLE / hosts / disk
            pace(folder, read, f"{share} of the data set in memories of {hosts} hosts", *sets, cache, hosts=hosts)
    whole = pace(folder, 4 * SAMPLE / RATE, "all of the data set in memory", *sets, f"storage.cache={int(dataset)}B")
    near(whole["communication"]["sent_bytes"], 4 * SAMPLE, "bytes from memory", 1e-4)
    for share in (0.25, 0.5):
        local = f"storage.local_cache={int(share * dataset)}B"
        found = pace(folder, (1 - share) * 4 * SAMPLE / disk, f"{share} of the data set at the worker", *sets, local)
        near(found["communication"]["sent_bytes"], (1 - share) * 4 * SAMPLE, "bytes with a local cache", 1e-4)
    found = pace(folder, 0, "all of the data set at the worker", *sets, f"storage.local_cache={int(dataset)}B")
    expect(found["bubble"]["causes"]["input"] == 0, "a worker waits for what it has")


def check_prefetch(folder):
    """Without prefetching a worker waits for its samples in full; with it as long as computing is faster."""
    disk = 2e9
    sets = [f"storage.bandwidth={disk / 1e9}GBps"]
    read = SAMPLE / disk + SAMPLE / RATE
    for engine in ("simgrid", "analytic"):
        for micro_batches in (1, 3):
            found, compute = feed(folder, *sets, "storage.prefetch=0", workers=1, engine=engine, flops=1e11,
                                  micro_batches=micro_batches)
            near(found["time"]["iteration_s"], micro_batches * (compute + read),
                 f"no prefetching, {micro_batches} micro-batches, {engine}", 1e-5)
            waiting = found["workers"][0]["causes"]["input"]
            near(waiting, read / (compute + read), "share of waiting without prefetching", 1e-5)
            for flops in (1e10, 3e11):  # 20 and 600 ms of computing, 240 ms of reading and sending
                for depth in (1, 2, 5):
                    compute = 2 * flops / SPEED
                    # Two micro-batches or more are on their way: the disks are always busy.
                    slow = max(compute, SAMPLE / disk)
                    found, _ = feed(folder, *sets, f"storage.prefetch={depth}", workers=1, engine=engine, flops=flops,
                                    micro_batches=micro_batches)
                    near(found["time"]["iteration_s"], micro_batches * slow,
                         f"prefetching {depth}, {flops} flop, {micro_batches} micro-batches, {engine}", 1e-5)
                    if compute > read:
                        expect(found["workers"][0]["causes"]["input"] < 1e-9, "waiting although reading is hidden")
    before, _ = feed(folder, *sets, "storage.prefetch=0", workers=1)
    after, _ = feed(folder, *sets, "storage.prefetch=3", workers=1)
    near(after["workers"][0]["peak_bytes"] - before["workers"][0]["peak_bytes"], 3 * SAMPLE, "memory of prefetching")


def check_together(folder):
    """With parameter servers the storage hosts are behind these."""
    found, _ = feed(folder, "layers.servers=2", "storage.bandwidth=2GBps")
    near(found["time"]["iteration_s"], 4 * SAMPLE / 2e9, "storage and servers", 1e-4)
    links = {link["name"]: link["bytes"] for link in found["links"]}
    near(links["up-6"], 4 * SAMPLE, "bytes out of the storage host behind four workers and two servers", 1e-4)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_disk, check_links, check_reads, check_caches, check_prefetch, check_together):
            check(folder)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
