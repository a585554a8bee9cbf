# SPDX-License-Identifier: Apache-2.0
"""What a queue writes, as the tests of queues read it, and a job that they queue."""
import csv
import json

from tool import run

MODEL = """workload: transformer
model: megatron-1.7b
parallel: {tensor: 8}
batch: {micro: 1, micro_batches: 4}
schedule: 1f1b
platform: dgx-h100:1
"""


def rows_of(path):
    """Of a table with commas, each as a map from columns to texts."""
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def nodes_of(text):
    """The numbers of the nodes in a list such as "0-3 7"."""
    nodes = []
    for part in text.split():
        first, _, last = part.partition("-")
        nodes += range(int(first), int(last or first) + 1)
    return nodes


class Run:
    """What a run of a scenario in the folder wrote; planned failures are those named firmware."""

    def __init__(self, stagesim, folder, file, *arguments):
        out = folder / "out"
        run(stagesim, "run", file, "-o", out, "--quiet", "--trace", "csv,paje", *arguments, cwd=folder)
        self.jobs, self.spans = rows_of(out / "jobs.csv"), rows_of(out / "spans.csv")
        self.failures = []
        if (out / "failures.csv").exists():
            self.failures = [failure_of(row) for row in rows_of(out / "failures.csv")]
        self.summary = json.loads((out / "summary.json").read_text())
        self.paje = (out / "timeline.paje").read_text()

    def seconds(self):
        return [float(row["end_s"]) - float(row["start_s"]) for row in self.jobs]


def failure_of(row):
    repairs = [float(text) for text in row["repair_s"].split()]
    return (float(row["time_s"]), nodes_of(row["nodes"]), row["what"] == "firmware", float(row["detection_s"]),
            float(row["replacement_s"]), float(row["restart_s"]), repairs or None)
