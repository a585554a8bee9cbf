#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""replays.py STAGESIM: traces for other simulators. Chakra's, read by a decoder of this file's own, hold the operations
of operations.csv with what they wait for; GOAL's, run by a LogGP simulator of this file's own on a platform of such
links, ends when stagesim's ranks do. Several jobs have ranks and groups of their own; what is too large is refused."""
import csv
import heapq
import json
import pathlib
import re
import struct
import sys
import tempfile
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "test/support"))
import tool
from protobuf import fields

LATENCY, GAP = 10000, 1  # ns, ns per byte: two links of 5 us and 1 GB/s

SCENARIO = """platform: links.xml
workload: stages
stages:
  forward: [10ms, 12ms]
  backward: [20ms, 24ms]
  optimizer: 3ms
  message: 4MB
  gradient: 40MB
  activation: 100MB
  parameters: 40MB
parallel: {data: 2, pipeline: 2}
batch: {micro_batches: 4}
schedule: 1f1b
engine: analytic
"""
METADATA, LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = range(1, 8)


def platform(count):
    """Hosts that have a link of 1 GB/s each in both directions."""
    lines = ["<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
             '<platform version="4.1"><zone id="all" routing="Full">']
    for i in range(count):
        lines.append(f'<host id="gpu-{i}" speed="1Tf"/>')
    for i in range(count):
        for way in ("out", "in"):
            lines.append(f'<link id="{way}-{i}" bandwidth="1GBps" latency="5us"/>')
    for i in range(count):
        for k in range(count):
            if i != k:
                lines.append(f'<route src="gpu-{i}" dst="gpu-{k}" symmetrical="NO"><link_ctn id="out-{i}"/>'
                             f'<link_ctn id="in-{k}"/></route>')
    return "\n".join(lines) + "</zone></platform>\n"


# ---- Chakra ----

def messages(data):
    """Each behind its length."""
    at = 0
    while at < len(data):
        size = shift = 0
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield data[at:at + size]
        at += size
    assert at == len(data), "the file ends early"


def attribute(data):
    parts = dict(fields(data))
    name = parts.pop(1).decode()
    (number, value), = parts.items()
    return name, {3: lambda: struct.unpack("<d", value)[0], 9: lambda: value, 27: lambda: bool(value),
                  29: lambda: value.decode()}[number]()


def node(data):
    found = {"id": 0, "type": 0, "deps": [], "start": 0, "duration": 0, "inputs": ""}
    for number, value in fields(data):
        if number == 10:
            name, value = attribute(value)
            found[name] = value
        elif number == 5:
            found["deps"] = list(unpacked(value))
        elif number == 8:
            found["inputs"] = dict(fields(value))[1].decode()
        else:
            found[{1: "id", 2: "name", 3: "type", 6: "start", 7: "duration"}[number]] = value
    return found


def unpacked(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def read_rank(path):
    """The nodes by id, and the groups that the rank is in."""
    first, *rest = messages(path.read_bytes())
    assert dict(fields(first))[1] == b"1.0.0", "version"
    about = dict(attribute(value) for number, value in fields(first) if number == 2)
    nodes = {}
    for data in rest:
        found = node(data)
        assert found["id"] not in nodes and all(dep in nodes for dep in found["deps"]), "a node comes too early"
        nodes[found["id"]] = found
    return nodes, {group["pg_name"]: group["ranks"] for group in json.loads(about["process_groups"])}


def check_nodes(check, nodes, rows, rank, counts):
    """Every operation has its node, with its times and what it waits for."""
    streams = {}
    own = defaultdict(list)
    for found in nodes.values():
        if "operation" in found:
            own[found["operation"]].append(found)
    check.that(sorted(own) == sorted(int(row["id"]) for row in rows), f"rank {rank}: other operations")
    for row in sorted(rows, key=lambda row: int(row["id"])):
        found = own[int(row["id"])][-1]
        for ours, theirs in (("start_s", "start_s"), ("data_start_s", "data_start_s"), ("end_s", "end_s")):
            check.that(found[ours] == float(row[theirs]), f"rank {rank}, {row['id']}: {ours}")
        begin = float(row["data_start_s" if row["stream"].startswith("receive") else "start_s"])
        marks = row["stream"].startswith("receive") and found["type"] == COMPUTE  # where a copy has arrived
        seconds = 0 if marks else float(row["end_s"]) - begin
        check.that(abs(found["start"] - 1e6 * begin) <= 0.51 and abs(found["duration"] - 1e6 * seconds) <= 1,
                   f"rank {rank}: microseconds")
        waits = {int(wait) for wait in row["waits_for"].split()} | streams.get(row["stream"], set())
        streams[row["stream"]] = {int(row["id"])}
        deps = [nodes[dep] for dep in own[int(row["id"])][0]["deps"]]
        awaited = {dep.get("operation") for dep in deps}
        more = {dep["type"] for dep in deps if dep.get("operation") not in waits}
        check.that(waits <= awaited and (more <= {STORE, LOAD} if marks else not more),
                   f"rank {rank}, {row['id']}: waits for {awaited}")
        counts[found["type"]] += 1
        check_kind(check, found, row, rank)


def check_kind(check, found, row, rank):
    kind = row["stream"].split(":")[0]
    expected = {"compute": (COMPUTE,), "delay": (COMPUTE,), "send": (SEND, STORE, LOAD),
                "receive": (RECEIVE, COMPUTE), "collective": (COLLECTIVE, RECEIVE)}[kind]
    check.that(found["type"] in expected, f"{kind} is of type {found['type']}")
    on_cpu = kind == "delay" or (found["type"] == COMPUTE and kind != "compute")
    check.that(found["is_cpu_op"] == on_cpu, f"{kind}: is_cpu_op")
    if kind in ("send", "receive") and "comm_size" in found:
        pair = (rank, int(row["peer"])) if kind == "send" else (int(row["peer"]), rank)
        check.that((found["comm_src"], found["comm_dst"]) == pair, f"{kind}: from and to")
        check.that(found["comm_size"] == round(float(row["bytes"])), f"{kind}: {found['comm_size']} bytes")
    if kind == "compute" and float(row["flops"]) > 0:
        check.near(found["num_ops"], float(row["flops"]), "num_ops", 1e-9)


def matched(ranks):
    """Sends and receives of a pair and tag are as many, with the same sizes in the same order."""
    ends = defaultdict(lambda: ([], []))
    for nodes in ranks.values():
        for found in sorted(nodes.values(), key=lambda found: (found.get("stream", 0), found.get("operation", 0))):
            if found["type"] in (SEND, RECEIVE):
                key = found["comm_src"], found["comm_dst"], found["comm_tag"]
                ends[key][found["type"] == RECEIVE].append(found["comm_size"])
    return ends


def check_chakra(check, out):
    with open(out / "operations.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    groups = json.loads((out / "chakra/groups.json").read_text())
    by_rank, counts, ranks = defaultdict(list), defaultdict(int), {}
    for row in rows:
        by_rank[int(row["rank"])].append(row)
    for rank, own in by_rank.items():
        nodes, named = read_rank(out / f"chakra/rank.{rank}.et")
        ranks[rank] = nodes
        check_nodes(check, nodes, own, rank, counts)
        check.that(all(groups[name] == named[name] and rank in named[name] for name in named), "groups")
        for found in nodes.values():
            if found["type"] == COLLECTIVE:
                check.that(found["pg_name"] in named, "a collective of no group")
    check.that(len(list((out / "chakra").iterdir())) == len(by_rank) + 1, "a file for each rank")
    ends = matched(ranks)
    check.that(all(sent == received for sent, received in ends.values()), "messages do not match")
    return counts


# ---- GOAL ----

def read_goal(path):
    """Per rank {label: [kind, size, peer, tag, cpu, [labels that it waits for]]}."""
    lines = path.read_text().split("\n")
    ranks, own = {}, None
    item = re.compile(r"(\w+): (?:calc (\d+)|(send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)) cpu (\d+)$")
    assert re.fullmatch(r"num_ranks \d+", lines[0])
    for line in lines[1:]:
        words = line.split()
        if line.startswith("rank "):
            own = ranks[int(words[1])] = {}
        elif " requires " in line:
            assert words[2] in own, "a label that comes later"
            own[words[0]][5].append(words[2])
        elif line and line != "}":
            label, calc, kind, size, peer, tag, cpu = item.match(line).groups()
            assert label not in own and int(cpu) < 256
            own[label] = [kind or "calc", int(calc or size), int(peer or -1), int(tag or 0), int(cpu), []]
    assert len(ranks) == int(lines[0].split()[1])
    return ranks


class Goal:
    """LogGP with o = g = 0: a send leaves when the rank's interface is free, and is there a latency and its bytes
    later; a computation waits for its cpu."""

    def __init__(self, ranks):
        self.ranks, self.ends = ranks, defaultdict(dict)
        self.free, self.cpu = defaultdict(int), defaultdict(int)
        self.arrived, self.awaited = defaultdict(list), defaultdict(list)
        self.missing, self.later, self.queue, self.count = {}, defaultdict(list), [], 0
        for rank, items in ranks.items():
            for label, item in items.items():
                waits = set(item[5])
                self.missing[rank, label] = len(waits)
                for wait in waits:
                    self.later[rank, wait].append(label)
                if not waits:
                    self.push(0, rank, label)

    def push(self, time, rank, label):
        self.count += 1
        heapq.heappush(self.queue, (time, self.count, rank, label))

    def finish(self, rank, label, time):
        self.ends[rank][label] = time
        for later in self.later[rank, label]:
            self.missing[rank, later] -= 1
            if not self.missing[rank, later]:
                self.push(max(self.ends[rank][wait] for wait in self.ranks[rank][later][5]), rank, later)

    def start(self, time, rank, label):
        kind, size, peer, tag, cpu, _ = self.ranks[rank][label]
        if kind == "calc":
            begin = max(time, self.cpu[rank, cpu])
            self.cpu[rank, cpu] = begin + size
            self.finish(rank, label, begin + size)
        elif kind == "send":
            begin = max(time, self.free[rank])
            self.free[rank] = begin + size * GAP
            self.finish(rank, label, begin)
            self.meet((rank, peer, tag), self.arrived, (begin + LATENCY + size * GAP, size))
        else:
            self.meet((peer, rank, tag), self.awaited, (time, label, rank, size))

    def meet(self, key, side, one):
        side[key].append(one)
        while self.arrived[key] and self.awaited[key]:
            arrival, sent = self.arrived[key].pop(0)
            posted, label, rank, size = self.awaited[key].pop(0)
            assert sent == size, "a message of another size"
            self.finish(rank, label, max(arrival, posted))

    def run(self):
        while self.queue:
            time, _, rank, label = heapq.heappop(self.queue)
            self.start(time, rank, label)
        assert not any(self.arrived.values()) and not any(self.awaited.values()), "messages without their other end"
        assert all(len(self.ends[rank]) == len(items) for rank, items in self.ranks.items()), "items that never start"
        return {rank: max(ends.values()) for rank, ends in self.ends.items()}


def last_computations(out):
    """When each rank's last computation or collective ends, in ns; sends of GOAL end when they leave."""
    with open(out / "operations.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ends = defaultdict(float)
    for row in rows:
        if not row["stream"].startswith("send"):
            ends[int(row["rank"])] = max(ends[int(row["rank"])], 1e9 * float(row["end_s"]))
    return ends


def run(binary, folder, *more):
    scenario = folder / "s.yaml"
    scenario.write_text(SCENARIO)
    tool.run(binary, "run", scenario, "-o", folder / "out", "--trace", "chakra,goal,csv", "--quiet", "--set",
             "output.replicas=all", *more)
    return folder / "out"


def check_goal(check, binary, folder):
    """Where nothing shares a link, the last of each rank ends when ours does."""
    plain = ("--set", "stages.forward=10ms", "--set", "stages.backward=20ms")
    for more in (("parallel.data=1", "parallel.pipeline=4"), ("parallel.data=4", "parallel.pipeline=1"),
                 ("parallel.data=1", "parallel.pipeline=4", "schedule=gpipe"),
                 ("parallel.data=3", "parallel.pipeline=1", "communication.all_reduce=double-tree")):
        out = run(binary, folder, *plain, *(word for one in more for word in ("--set", one)))
        ours, theirs = last_computations(out), Goal(read_goal(out / "timeline.goal")).run()
        for rank, end in ours.items() if "tree" not in more[-1] else ():  # whose members go on one by one
            check.near(theirs[rank], end, f"{more}: rank {rank}", 1e-2 if "data=1" in more[0] else 1e-6)
        check.near(max(theirs.values()), max(ours.values()), f"{more}", 1e-6)


def check_jobs(check, binary, folder):
    """Ranks and groups of the second job behind those of the first; it begins later."""
    (folder / "s.yaml").write_text(SCENARIO)
    (folder / "jobs.yaml").write_text("platform: links.xml\nengine: analytic\njobs:\n"
                                      "  a: {scenario: s.yaml, iterations: 1, placement: [gpu-0, gpu-1, gpu-2, "
                                      "gpu-3]}\n"
                                      "  b: {scenario: s.yaml, iterations: 1, start: 0.5s, "
                                      "placement: [gpu-4, gpu-5, gpu-6, gpu-7]}\n")
    tool.run(binary, "run", folder / "jobs.yaml", "-o", folder / "both", "--trace", "chakra,goal", "--quiet")
    out = folder / "both"
    groups = json.loads((out / "chakra/groups.json").read_text())
    members = sorted(rank for ranks in groups.values() for rank in ranks)
    check.that(members == list(range(8)), f"groups {groups}")
    nodes, _ = read_rank(out / "chakra/rank.5.et")
    second = next(iter(nodes.values()))
    check.that(second["duration"] == 500000 and second["is_cpu_op"], "the second job begins half a second later")
    check.that(all(found["deps"] for found in nodes.values() if found is not second),
               "something does not wait for the start")
    ends = Goal(read_goal(out / "timeline.goal")).run()
    check.near(ends[5] - ends[1], 0.5e9, "the second job in GOAL", 1e-9)


def check_refused(check, binary, folder):
    """Sizes have bounds; nothing is written."""
    scenario = folder / "large.yaml"
    for trace, nodes, data, more, says in (
            ("chakra", "dgx-h100:640", 2560, "iterations=1",
             "a trace for Chakra has a file for every rank, at most 4096; the job has 5120 ranks"),
            ("chakra", "dgx-h100:128", 512, "iterations=300",
             "a trace for Chakra has a node for every operation of every rank, at most 4194304; the job has"),
            ("goal", "ideal:256", 128, "iterations=200",
             "a trace in GOAL has every computation, send and receive of every rank, at most 16777216; the job has")):
        scenario.write_text(SCENARIO.replace("links.xml", nodes).replace("data: 2", f"data: {data}"))
        result = tool.run(binary, "run", scenario, "-o", folder / "large", "--trace", trace, "--quiet", "--set",
                          "communication.all_reduce=ring", "--set", more, expect=1)
        check.that(says in result.stderr, f"{trace}: {result.stderr}")
        check.that("--trace" in result.stderr, f"no place: {result.stderr}")
        check.that(not (folder / "large").exists(), "something was written")


def check_copies(check, binary, folder):
    """Stashes that go to the host's memory and come back; and what the formats cannot hold is said."""
    out = run(binary, folder, "--set", "schedule=pipe-offload", "--set", "platform=dgx-h100:1", "--set",
              "parallel.data=1", "--set", "parallel.pipeline=4", "--set", "stages.forward=10ms", "--set",
              "stages.backward=20ms")
    counts = check_chakra(check, out)
    check.that(counts[STORE] == counts[LOAD] > 0, f"copies: {dict(counts)}")
    Goal(read_goal(out / "timeline.goal")).run()
    for scenario, trace, says in (("storage", "goal", "GOAL knows no memory of hosts and no storage"),
                                  ("dlrm", "chakra", "Chakra has one size for an all-to-all"),
                                  ("demo", "chakra,goal", None)):
        result = tool.run(binary, "run", ROOT / f"scenarios/{scenario}.yaml", "--engine", "analytic", "-o",
                          folder / "said", "--trace", trace)
        check.that(says in result.stderr if says else "note: " not in result.stderr, f"{scenario}: {result.stderr}")


def main(binary):
    check = tool.Checker()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "links.xml").write_text(platform(8))
        counts = check_chakra(check, run(binary, folder, "--set", "iterations=2"))
        check.that(all(counts[kind] for kind in (COMPUTE, SEND, RECEIVE, COLLECTIVE)), f"kinds {dict(counts)}")
        check_goal(check, binary, folder)
        check_jobs(check, binary, folder)
        check_copies(check, binary, folder)
        check_refused(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
