#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""iterations.py STAGESIM: the shortest and the longest of several iterations, and T, again from operations.csv, for
random jobs on both engines; a run says where one is not like the next, and only there."""
import csv
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool


def random_job(source):
    tensor, pipeline = source.choice([1, 2, 4]), source.choice([1, 2])
    return (f"platform: {{preset: dgx-h100, nodes: 2, pod: 1, oversubscription: {source.choice([1, 4])}}}\n"
            "workload: transformer\n"
            "model: {layers: 8, hidden: 4096, heads: 32, sequence: 2048, vocabulary: 32000, ffn: 11008}\n"
            f"parallel: {{tensor: {tensor}, pipeline: {pipeline}, data: {16 // tensor // pipeline}}}\n"
            f"batch: {{micro: 1, micro_batches: {pipeline * source.choice([1, 2])}}}\n"
            f"transformer: {{zero: {source.choice([0, 1, 2, 3])}}}\nschedule: {source.choice(['1f1b', 'gpipe'])}\n"
            f"engine: {source.choice(['simgrid', 'analytic'])}\ncompute: {{precision: bf16}}\n"
            f"iterations: {source.choice([4, 5, 6])}\n")


# Hosts that become slower in the midst of the third iteration.
SLOWER = (tool.HEAD + '<zone id="z" routing="Full">\n'
          + "".join(f'<host id="gpu-{i}" speed="1Gf" speed_file="speed-{i}.txt"/>\n' for i in range(2))
          + '<link id="l" bandwidth="1GBps" latency="1us"/>\n'
          '<route src="gpu-0" dst="gpu-1"><link_ctn id="l"/></route></zone></platform>\n')
SLOWER_JOB = ("platform: slower.xml\nworkload: stages\nstages: {forward: 10ms, backward: 20ms, message: 1MB}\n"
              "parallel: {pipeline: 2}\nbatch: {micro_batches: 4}\nschedule: 1f1b\niterations: 5\n")


def lengths_of(rows):
    """Of the iterations that count: of all but the first, and where one begins before the other has ended the time
    between ends, and not the last."""
    count = 1 + max(int(row["iteration"]) for row in rows)
    own = [[row for row in rows if row["iteration"] == str(i)] for i in range(count)]
    starts = [min(float(row["data_start_s"]) for row in part) for part in own]
    ends = [max(float(row["end_s"]) for row in part) for part in own]
    if any(starts[i] < ends[i - 1] - 1e-9 * (ends[i] - starts[i]) for i in range(1, count)):
        return [ends[i] - ends[i - 1] for i in range(1, count - 1)]
    return [ends[i] - starts[i] for i in range(1, count)]


def main():
    stagesim, check, source, differ = tool.binary_argument(), tool.Checker(), random.Random(5), 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "slower.xml").write_text(SLOWER)
        for i in range(2):
            (folder / f"speed-{i}.txt").write_text("0 1.0\n0.4 0.5\n")
        for job in [SLOWER_JOB] + [random_job(source) for _ in range(16)]:
            (folder / "job.yaml").write_text(job)
            text = tool.run(stagesim, "run", "job.yaml", "-o", "out", "--trace", "csv", cwd=folder).stdout
            time = tool.json.loads((folder / "out/summary.json").read_text())["time"]
            lengths = lengths_of(list(csv.DictReader((folder / "out/operations.csv").open())))
            check.near(time["iteration_s"], sum(lengths) / len(lengths), f"{job} T")
            check.near(time["shortest_iteration_s"], min(lengths), f"{job} shortest")
            check.near(time["longest_iteration_s"], max(lengths), f"{job} longest")
            unlike = max(lengths) - min(lengths) > 1e-6 * time["iteration_s"]
            differ += unlike
            check.that(unlike == ("one is not like the next" in text), f"{job}{lengths}\n{text}")
    check.that(0 < differ < 17, f"{differ} of 17 jobs have iterations that differ")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
