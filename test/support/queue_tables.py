# SPDX-License-Identifier: Apache-2.0
"""What a queue writes, as the tests of queues read it."""
import csv


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
