# SPDX-License-Identifier: Apache-2.0
"""Jobs whose iterations may differ in length, and these lengths again from operations.csv."""
import csv

import tool


def random_job(source):
    tensor, pipeline = source.choice([1, 2, 4]), source.choice([1, 2])
    return (f"platform: {{preset: dgx-h100, nodes: 2, pod: 1, oversubscription: {source.choice([1, 4])}}}\n"
            "workload: transformer\n"
            "model: {layers: 8, hidden: 4096, heads: 32, sequence: 2048, vocabulary: 32000, ffn: 11008}\n"
            f"parallel: {{tensor: {tensor}, pipeline: {pipeline}, data: {16 // tensor // pipeline}}}\n"
            f"batch: {{micro: 1, micro_batches: {pipeline * source.choice([1, 2])}}}\n"
            f"transformer: {{zero: {source.choice([0, 1, 2, 3])}}}\nschedule: {source.choice(['1f1b', 'gpipe'])}\n"
            "compute: {precision: bf16}\n")


# Two hosts whose speeds change, and a job on them; write_changing writes both files that the platform takes.
CHANGING = (tool.HEAD + '<zone id="z" routing="Full">\n'
            + "".join(f'<host id="gpu-{i}" speed="1Gf" speed_file="speed-{i}.txt"/>\n' for i in range(2))
            + '<link id="l" bandwidth="1GBps" latency="1us"/>\n'
            '<route src="gpu-0" dst="gpu-1"><link_ctn id="l"/></route></zone></platform>\n')
STAGES = ("platform: changing.xml\nworkload: stages\nstages: {forward: 10ms, backward: 20ms, message: 1MB}\n"
          "parallel: {pipeline: 2}\nbatch: {micro_batches: 4}\nschedule: 1f1b\n")


def write_changing(folder, speeds):
    (folder / "changing.xml").write_text(CHANGING)
    for i in range(2):
        (folder / f"speed-{i}.txt").write_text(speeds)


def lengths_of(operations, first):
    """Of the iterations from `first` on; where one begins before the other has ended the time between ends, of all but
    the first, which fills, and the last, which has no follower."""
    rows = list(csv.DictReader(operations.open()))
    count = 1 + max(int(row["iteration"]) for row in rows)
    own = [[row for row in rows if row["iteration"] == str(i)] for i in range(count)]
    starts = [min(float(row["data_start_s"]) for row in part) for part in own]
    ends = [max(float(row["end_s"]) for row in part) for part in own]
    if any(starts[i] < ends[i - 1] - 1e-9 * (ends[i] - starts[i]) for i in range(1, count)):
        return [ends[i] - ends[i - 1] for i in range(1, count - 1)]
    return [ends[i] - starts[i] for i in range(first, count)]
