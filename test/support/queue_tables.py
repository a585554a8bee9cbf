# SPDX-License-Identifier: Apache-2.0
"""What a queue writes, as the tests of queues read it, and a job that they queue."""
import csv

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
