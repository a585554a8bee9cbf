#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""closed_forms.py STAGESIM: what the literature gives in closed form, through the binary and its summary.json.

Iteration times and stashed micro-batches on a full mesh without latency; what a latency c of every message adds.
Forward 1 s, backward 2 s. GPipe, 1F1B: (N + D - 1) (t_F + t_B). Chimera (arXiv 2107.06925): figures 3 and 7(b) and its
direct concatenation. """
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

# schedule, D, N, iteration time, each worker's largest number of stashed micro-batches
IDEAL = [*[("gpipe", d, n, (n + d - 1) * 3, [n] * d) for d, n in [(2, 1), (4, 4), (4, 8), (8, 8), (8, 32)]],
         *
         [("1f1b", d, n, (n + d - 1) * 3, [min(n, d - w) for w in range(d)]) for d,
          n in [(2, 1), (4, 4), (4, 8), (8, 3), (8, 32)]], ("chimera", 4, 4, 16, [3, 4, 4, 3]),
         ("chimera", 4, 8, 30, None), ("chimera", 8, 8, 36, None), ("chimera", 8, 32, 126, None),]

# Seconds that a latency of c adds, in units of c.
LATENCY = [
    ("gpipe", lambda d, n: 2 * (d - 1)),
    ("eager-1f1b", lambda d, n: 2 * (d - 1)),
    ("1f1b", lambda d, n: 2 * (d - 1) * n // d + 2 * (d - 2)),
    ("gems", lambda d, n: (n + 1) * (d - 1)),
    ("chimera", lambda d, n: n // d * (2 * d - 4) + d - 1),
]


def without_latency(check, binary, folder):
    tool.write_mesh(folder / "ideal.xml", 8)
    for schedule, d, n, seconds, stashed in IDEAL:
        tool.write_scenario(folder / "ideal.yaml", "ideal.xml", schedule, d, n)
        for engine in ("simgrid", "analytic"):
            what = f"{schedule} D={d} N={n} {engine}"
            found = tool.summary(binary, folder / "ideal.yaml", folder / "out", "--engine", engine)
            check.near(found["time"]["iteration_s"], seconds, what)
            check.near(found["bubble"]["ratio"], 1 - 3 * n / seconds, f"bubble of {what}")
            check.near(sum(found["bubble"]["causes"].values()), found["bubble"]["ratio"], f"causes of {what}")
            peaks = [worker["peak_in_flight"] for worker in found["workers"]]
            if stashed:
                check.that(peaks == stashed, f"in flight of {what}: {peaks}, expected {stashed}")
            else: # [D/2 + 1, D]
                check.that(max(peaks) == d and min(peaks) == d // 2 + 1, f"in flight of {what}: {peaks}")


def with_latency(check, binary, folder):
    latency = 0.015625 # a power of two, so that sums are exact
    tool.write_mesh(folder / "latency.xml", 8, latency=f"{latency}s")
    for schedule, added in LATENCY:
        for d, n in [(4, 4), (4, 8), (8, 8), (8, 16)]:
            seconds = []
            for platform in ("ideal", "latency"):
                tool.write_scenario(folder / "latency.yaml", f"{platform}.xml", schedule, d, n)
                seconds.append(tool.summary(binary, folder / "latency.yaml", folder / "out")["time"]["iteration_s"])
            check.near((seconds[1] - seconds[0]) / latency, added(d, n), f"latencies exposed by {schedule} D={d} N={n}")


def blocking(check, binary, folder):
    """Where a worker computes on only when its message has arrived, a forward and its message are one, and so are a
    backward and its
    message: GPipe takes (N + D - 1) (t_F + t_B) + 2 (N + D - 2) c. So does 1F1B from three workers on, but that the
    second forward's
    message is there when the last worker has done its first backward; two workers exchange both ways at once, N + 1
    times."""
    for schedule in ("gpipe", "1f1b"):
        for d, n in [(2, 4), (2, 8), (3, 3), (3, 8), (4, 8), (5, 7), (8, 8), (8, 16)]:
            added = 2 * (n + d - 2) if schedule == "gpipe" else n + 1 if d == 2 else 2 * (n + d - 2) - 1
            tool.write_scenario(folder / "blocking.yaml", "latency.xml", schedule, d, n)
            for engine in ("simgrid", "analytic"):
                found = tool.summary(binary, folder / "blocking.yaml", folder / "out", "--engine", engine, "--set",
                                     "communication.messages=blocking")
                what = f"blocking messages of {schedule} D={d} N={n} {engine}"
                check.near(found["time"]["iteration_s"], (n + d - 1) * 3 + added * 0.015625, what)
                if schedule == "gpipe":
                    check.near(found["communication"]["overlapped_s"], 0, f"nothing hidden by {what}")


def updates(check, binary, folder):
    """What asynchronous training waits for. Two replicas all-reduce a gradient of G bytes at 1 GB/s in G / 1 GB/s.
    PipeDream updates
    after every micro-batch, and the next forward takes those weights: each of 8 waits for the synchronisation and the
    step. 2BW
    updates once per iteration of 8 x 3 s and uses weights that are one update old: a synchronisation that is shorter
    than an
    iteration is hidden, unless a step on the compute stream waits for it; a longer one sets the pace, together with the
    forward that awaits
    it and the backward behind that, the last one of the next iteration."""
    tool.write_mesh(folder / "updates.xml", 4, bandwidth="1GBps")
    for schedule, gradient, optimizer, seconds in [("pipedream", 2, 0, 8 * 5), ("pipedream", 2, 0.5, 8 * 5.5),
                                                   ("pipedream-2bw", 2, 0, 24), ("pipedream-2bw", 2, 0.5, 26.5),
                                                   ("pipedream-2bw", 40, 0, 43)]:
        tool.write_scenario(folder / "updates.yaml", "updates.xml", schedule, 2, 8, data=2,
                            stages=f"forward: 1s, backward: 2s, gradient: {gradient}GB, optimizer: {optimizer}s")
        for engine in ("simgrid", "analytic"):
            found = tool.summary(binary, folder / "updates.yaml", folder / "out", "--engine", engine)
            steps = 8 if schedule == "pipedream" else 1
            what = f"{schedule}, {gradient} GB, step of {optimizer} s, {engine}"
            check.near(found["time"]["iteration_s"], seconds, what)
            check.near(found["bubble"]["ratio"], 1 - (24 + steps * optimizer) / seconds, f"bubble of {what}")


def main():
    check = tool.Checker()
    with tempfile.TemporaryDirectory() as temporary:
        without_latency(check, tool.binary_argument(), pathlib.Path(temporary))
        with_latency(check, tool.binary_argument(), pathlib.Path(temporary))
        blocking(check, tool.binary_argument(), pathlib.Path(temporary))
        updates(check, tool.binary_argument(), pathlib.Path(temporary))
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
