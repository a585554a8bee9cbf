#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gathers.py STAGESIM: with zero: 3 the weights of a stage are gathered only after they were updated. In random jobs of
several iterations no rank begins to gather a stage's weights for an iteration before it has updated its shard in the
iteration before, nor before the newest update that comes before the forward in its order; and no gather ends before
each member of its group has updated its shard. pipedream-2bw, which uses old weights, gathers those of one iteration
earlier."""
import csv
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

JOBS, ON_SIMGRID = 60, 6  # every so many jobs also on the other engine
SYNCHRONOUS = ["1f1b", "gpipe", "breadth-first", "interleaved", "zb-h1", "zb-h2", "zb-v", "stp"]
ASYNCHRONOUS = ["pipedream", "pipedream-2bw"]


def draw(dice, number):
    """The schedule of a random job, and its scenario."""
    name = dice.choice(SYNCHRONOUS + ASYNCHRONOUS)
    pipeline = dice.choice([2, 4]) if name not in ("1f1b", "gpipe") else dice.choice([1, 2, 4])
    data = dice.choice([2, 4])
    tensor = dice.choice([1, 2]) if data * pipeline < 16 else 1
    keys = {"zero": 3, "prefetch": dice.choice([0, 1, 2, 5]), "gather_pieces": dice.choice([1, 1, 3]),
            "reshard": dice.choice(["true", "false"]), "granularity": dice.choice(["stage", "layer"])}
    if data == 4 and dice.random() < 0.4:
        keys["shard_ranks"] = 2
    experts = "shard_ranks" not in keys and dice.random() < 0.3
    if experts and tensor > 1:
        keys["sequence_parallel"] = "true"
    text = ", ".join(f"{key}: {value}" for key, value in keys.items())
    return name, f"""name: gathers-{number}
platform: {{preset: dgx-a100, nodes: 2}}
workload: transformer
model: {{layers: {2 * pipeline * dice.choice([1, 2])}, hidden: {dice.choice([512, 2048])}, heads: 16, sequence: 512,
        vocabulary: 8192{", experts: 8, top_k: 2" if experts else ""}}}
parallel: {{data: {data}, tensor: {tensor}, pipeline: {pipeline}{", expert: 2" if experts and data == 4 else ""}}}
batch: {{micro_batches: {pipeline * (3 if name == "stp" else dice.choice([1, 2, 3]))}, micro: 1}}
transformer: {{{text}}}
communication: {{overlap: {dice.choice(["true", "true", "false"])}}}
schedule: {name}
iterations: {dice.choice([2, 3]) + 2 * (name == "pipedream-2bw")}
fold: off
"""


def read(path):
    with open(path) as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for column in ("rank", "id", "iteration"):
            row[column] = int(row[column])
        for column in ("start_s", "end_s"):
            row[column] = float(row[column])
    return rows


class Updates:
    """When each rank has updated its shard of a stage: by iteration, and in the order of its computing."""

    def __init__(self, rows):
        self.last, self.ordered, self.forwards = {}, {}, {}
        for row in rows:
            if row["kind"] == "optimizer" and row["stage"]:
                key = row["rank"], row["stage"]
                self.ordered.setdefault(key, []).append((row["id"], row["end_s"]))
                self.last[key + (row["iteration"],)] = max(row["end_s"], self.last.get(key + (row["iteration"],), 0))
            elif row["stream"] == "compute" and row["kind"] == "F":
                key = row["rank"], row["stage"], row["iteration"], row["micro_batch"]
                self.forwards[key] = min(row["id"], self.forwards.get(key, row["id"]))

    def ends_before(self, gather):
        """Ends of the updates that come in the rank's order before the forward that the gather's weights are of."""
        key = gather["rank"], gather["stage"]
        # With pipedream a backward gathers the weights of its forward, which later updates have left behind.
        forward = self.forwards.get(key + (gather["iteration"], gather["micro_batch"]), -1)
        return [end for update, end in self.ordered[key] if update < forward]

    def is_stale(self, gather):
        """Whether the rank gathers weights during an update that comes before the forward in its order."""
        return gather["start_s"] < max(self.ends_before(gather), default=0)

    def before(self, gather, name):
        """The end of the update that the rank's gather waits for; 0 where there is none before it."""
        key, iteration = (gather["rank"], gather["stage"]), gather["iteration"]
        ends = [0.0]
        if name != "pipedream":
            ends.append(self.last.get(key + (iteration - (2 if name == "pipedream-2bw" else 1),), 0))
        if name != "pipedream-2bw":
            ends += self.ends_before(gather)
        return max(ends)


def inspect(check, rows, name, what):
    """Returns how many gathers wait for an update, and how many are of old weights."""
    updates, members, count = Updates(rows), {}, 0
    gathers = [row for row in rows if row["kind"] == "parameter-gather"]
    first = {}
    for row in sorted(gathers, key=lambda row: row["id"]):
        first.setdefault((row["rank"], row["stream"]), row["id"])
        number = row["id"] - first[row["rank"], row["stream"]]
        members.setdefault((row["group"], row["stage"], number), []).append(row)
    early = late = 0
    for group in members.values():
        ends = [updates.before(row, name) for row in group]
        early += sum(row["start_s"] < end for row, end in zip(group, ends))
        late += sum(row["end_s"] < max(ends) for row in group)
        count += sum(end > 0 for end in ends)
    check.that(not early, f"{what}: {early} of {count} gathers begin before the update of the rank's own shard")
    check.that(not late, f"{what}: {late} of {count} gathers end before a member has updated its shard")
    return count, sum(map(updates.is_stale, gathers))


def main():
    check, binary, dice = tool.Checker(), tool.binary_argument(), random.Random(3)
    met, stale = set(), 0
    with tempfile.TemporaryDirectory() as folder:
        path, out = pathlib.Path(folder) / "s.yaml", pathlib.Path(folder) / "out"
        for name, text, number in tool.sampled([(*draw(dice, number), number) for number in range(JOBS)], least=25):
            path.write_text(text)
            for engine in ["analytic"] + (["simgrid"] if number % ON_SIMGRID == 0 else []):
                tool.run(binary, "run", path, "--engine", engine, "-o", out, "--trace", "csv", "--quiet", cwd=folder)
                count, old = inspect(check, read(out / "operations.csv"), name, f"{text}{engine}")
                check.that(count > 0, f"{text}{engine}: no gather waits for an update")
                stale += old if name == "pipedream-2bw" else 0
            met.add(name)
    check.that(met == set(SYNCHRONOUS + ASYNCHRONOUS), f"schedules: {met}")
    check.that(stale > 0, "pipedream-2bw gathers no old weights")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
