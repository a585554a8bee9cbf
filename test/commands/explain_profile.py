#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain_profile.py STAGESIM: profiles that are made here, of which each part is known, on one and two ranks; clocks
that differ; real profiles, whose parts add up; and profiles in which something is missing."""
import gzip
import json
import os
import pathlib
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

STAGESIM = tool.binary_argument()
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "test/validation/traces"
check = tool.Checker()
STEP = 100000  # us


def event(category, name, start, length, tid, **arguments):
    device = category in ("kernel", "gpu_memcpy")
    return {"ph": "X", "cat": category, "name": name, "pid": 0 if device else 77, "tid": tid, "ts": start,
            "dur": length, "args": arguments}


class Rank:
    """A profile of one rank: two steps, in each a batch is loaded for 10 ms, a kernel computes 30 ms, the host waits
    for the device and then for nothing, an all-reduce begins at `late` ms, a copy runs."""

    def __init__(self, rank, late=0, clock=0):
        self.events, self.correlation = [], 0
        self.clock = 1711964646000000 + clock
        for step in range(2):
            self.step(step, late)
        self.info = {"backend": "nccl", "rank": rank, "world_size": 2}

    def add(self, category, name, start, length, tid, **arguments):
        self.events.append(event(category, name, self.clock + start, length, tid, **arguments))

    def launch(self, category, name, launched, start, length, stream, **arguments):
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", launched, 5, 77, correlation=self.correlation)
        self.add(category, name, start, length, stream, stream=stream, device=0, correlation=self.correlation,
                 **arguments)

    def step(self, step, late):
        at = step * STEP
        self.add("user_annotation", f"ProfilerStep#{step + 3}", at, STEP, 77)
        self.add("cpu_op", "enumerate(DataLoader)#_SingleProcess.__next__", at, 10000, 77)
        self.launch("kernel", "gemm", at + 11000, at + 12000, 30000, 7)
        self.launch("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 20000, at + 50000 + late, 20000 - late,
                    20, **{"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000,
                           "Group size": 2, "dtype": "Float", "Process Group Name": "0",
                           "Process Group Ranks": "[0, 1]"})
        self.launch("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", at + 71000, at + 72000, 3000, 7, bytes=4000)
        self.add("cuda_runtime", "cudaDeviceSynchronize", at + 75000, 4000, 77)
        self.launch("kernel", "AdamBackward", at + 80000, at + 80000, 20000, 7)

    def write(self, name, **more):
        pathlib.Path(name).write_text(json.dumps({"schemaVersion": 1, "distributedInfo": self.info,
                                                  "traceEvents": self.events, **more}))
        return name


def explain(*arguments, expect=0):
    result = tool.run(STAGESIM, "explain", *arguments, "-o", "why", "--quiet", expect=expect)
    if expect:
        return result.stderr
    found = json.loads(pathlib.Path("why/explain.json").read_text())
    for where in [found] + [{"parts": rank["parts"], "measured_s": rank["step_s"]} for rank in found["ranks"]]:
        check.near(sum(where["parts"].values()), where["measured_s"], f"{arguments}: parts", 1e-9)
    page = pathlib.Path("why/explain.html").read_text()
    check.that('<figure class="tl">' in page and "</html>" in page, f"{arguments}: the page")
    return found


def expect_parts(found, text, **parts):
    for name, value in found["parts"].items():
        wanted = parts.get(name.replace("-", "_"), 0) * 1e-3
        check.near(value, wanted, f"{text}: {name}", 1e-9)


ALONE = {"computation": 50, "copies": 3, "data_loading": 10, "synchronisation": 4, "communication": 20,
         "launch": 2, "between": 8, "host": 3}


def check_one():
    found = explain(Rank(0).write("one.json"))
    expect_parts(found, "one rank", **ALONE)
    check.near(found["measured_s"], 0.1, "one rank: step")
    check.that(any("no other member" in note for note in found["notes"]), f"one rank: {found['notes']}")


def check_two():
    """Rank 1 comes 5 ms later: rank 0 waits for it, and says so in the verdict's table."""
    found = explain(Rank(0).write("r0.json"), Rank(1, late=5000).write("r1.json"))
    first, second = found["ranks"]
    expect_parts(first, "rank 0 waits", **{**ALONE, "communication": 15, "waiting": 5})
    expect_parts(second, "rank 1 is late", **{**ALONE, "communication": 15, "between": 13})
    check.near(second["late_s"], 0.005, "rank 1 is late by")
    check.that(found["collectives_met"] == 2, f"two ranks: {found['collectives_met']}")


def check_clocks():
    """A clock that is 3 s ahead is put right."""
    found = explain(Rank(0).write("r0.json"), Rank(1, late=5000, clock=3000000).write("r1.json"))
    check.near(found["ranks"][1]["clock_shift_s"], -3, "clock", 1e-9)
    expect_parts(found["ranks"][0], "another clock", **{**ALONE, "communication": 15, "waiting": 5})
    check.that(any("the clock of rank 1 is 3.000 s ahead of" in note for note in found["notes"]), f"{found['notes']}")


def with_groups(world, groups, told=False):
    """The mesh that explain finds for a rank 0 whose other collectives are (kernel, name, times, members), or those and
    what their group is called."""
    rank = Rank(0)
    rank.events = [event for event in rank.events if "nccl" not in event["name"]]
    rank.info = {"backend": "nccl", "rank": 0, "world_size": world}
    for kernel, collective, times, members, *what in groups:
        for i in range(times):
            rank.launch("kernel", f"ncclDevKernel_{kernel}", 50000 + 10 * i, 50100 + 10 * i, 5, 20,
                        **{"Collective name": collective, "In msg nelems": 10, "Out msg nelems": 10,
                           "Group size": len(members), "dtype": "Float",
                           "Process Group Name": f"{collective} {members} {what}",
                           "Process Group Description": what[0] if what else "undefined",
                           "Process Group Ranks": str(members)})
    found = explain(rank.write("groups.json"))["mesh"]
    check.that(all(axis["told"] == told for axis in found), f"who says what groups are for: {found}")
    return {axis["axis"]: axis["size"] for axis in found}


def check_meshes():
    """Groups without descriptions."""
    everyone = ("AllReduce_Sum_f32_RING_LL", "allreduce", 2, list(range(32)))
    tensor = ("AllReduce_Sum_bf16_RING_LL", "allreduce", 9, [0, 1])
    context = ("AllGather_RING_LL", "allgather", 4, [0, 2])
    data = ("ReduceScatter_Sum_f32_RING_LL", "reduce_scatter", 3, [0, 16])
    pipeline = ("SendRecv", "send", 5, [0, 4, 8, 12])
    expert = ("SendRecv", "all_to_allv", 4, [0, 16])
    cases = [("all", [everyone, tensor, context, data, pipeline, expert],
              {"tensor": 2, "context": 2, "expert": 2, "pipeline": 4, "data": 2}),
             ("replicas alone", [everyone], {"data": 32}),
             ("replicas and pipeline", [data, pipeline, everyone], {"data": 2, "pipeline": 4}),
             ("two kinds", [tensor, data], {"tensor": 2, "data": 2}),
             ("the inner group says least", [tensor[:2] + (1, [0, 1]), data], {}),
             ("messages among all", [data, pipeline[:3] + (list(range(32)),)], {"data": 2})]
    for name, groups, expected in cases:
        found = with_groups(32, groups)
        check.that(found == expected, f"groups, {name}: {found}")


def check_described():
    """Groups of PyTorch's hybrid sharding, and such along several axes."""
    def group(what, *members):
        return "AllGather_RING_LL", "allgather", 3, list(members), what
    shards, copies = group("mesh_dp_shard", 0, 2, 4, 6), group("mesh_dp_replicate", 0, 8)
    tensor = group("mesh_tp", 0, 1)
    cases = [("hybrid sharding", 16, [shards, copies, tensor], {"tensor": 2, "data": 8}),
             ("shards alone", 8, [shards, tensor], {"tensor": 2, "data": 4}),
             ("shards with contexts", 16, [group("mesh_dp_shard_cp", *range(0, 16, 2)), group("mesh_cp", 0, 2), tensor],
              {"tensor": 2, "context": 2, "data": 4}),
             ("all but one", 16, [group("DATA_PARALLEL_GROUP_WITH_CP", *range(0, 16, 2)),
                                  group("DATA_PARALLEL_GROUP", 0, 4, 8, 12),
                                  group("TENSOR_AND_CONTEXT_PARALLEL_GROUP", 0, 1, 2, 3)],
              {"tensor": 2, "context": 2, "data": 4}),
             ("nothing but a product", 8, [group("MODEL_PARALLEL_GROUP", 0, 1, 2, 3)], {})]
    for name, world, groups, expected in cases:
        found = with_groups(world, groups, True)
        check.that(found == expected, f"described groups, {name}: {found}")
    with_groups(16, [shards, copies, tensor], True)
    page = pathlib.Path("why/explain.html").read_text()
    check.that("Mesh: tensor 2, data 8 (2 copies of 4 shards)" in page, "the mesh on the page")


def check_missing():
    rank = Rank(0)
    rank.events = [event for event in rank.events if event["cat"] != "cuda_runtime"]
    found = explain(rank.write("bare.json"))
    expect_parts(found, "no launches", computation=50, copies=3, communication=20, unknown=27)
    check.that(any("8 of 8 operations of the device have no launch" in note for note in found["notes"]),
               f"no launches: {found['notes']}")
    rank = Rank(0)
    rank.events = [event for event in rank.events if not event["name"].endswith("Backward")]
    found = explain(rank.write("forward.json"))
    check.that(any("inference" in note for note in found["notes"]), f"inference: {found['notes']}")
    rank = Rank(0)
    rank.events = [event for event in rank.events if "ProfilerStep" not in event["name"]]
    found = explain(rank.write("steps.json"))
    check.that(any("no ProfilerStep" in note for note in found["notes"]), f"no steps: {found['notes']}")
    check.near(found["measured_s"], 0.188, "no steps: from the first kernel to the last")


NSIGHT = """
create table StringIds (id integer primary key, value text);
create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer, streamId integer,
    correlationId integer, globalPid integer, shortName integer, demangledName integer);
create table CUPTI_ACTIVITY_KIND_MEMCPY (start integer, end integer, deviceId integer, streamId integer,
    correlationId integer, globalPid integer, bytes integer, copyKind integer);
create table CUPTI_ACTIVITY_KIND_RUNTIME (start integer, end integer, globalTid integer, correlationId integer,
    nameId integer);
create table NVTX_EVENTS (start integer, end integer, text text, textId integer, globalTid integer);
"""


def write_nsight(name, events, process=77 << 24):
    """The same profile as Nsight Systems' export has it, by its documentation."""
    pathlib.Path(name).unlink(missing_ok=True)
    database = sqlite3.connect(name)
    database.executescript(NSIGHT)
    texts = {text: number for number, text in enumerate(sorted({event["name"] for event in events}), 10)}
    database.executemany("insert into StringIds values (?, ?)", ((number, text) for text, number in texts.items()))
    for event in events:
        start, args, text = event["ts"] * 1000, event["args"], texts[event["name"]]
        end = start + event["dur"] * 1000
        if event["cat"] == "kernel":
            row = (start, end, 0, args["stream"], args["correlation"], process, text, text)
            database.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values (?, ?, ?, ?, ?, ?, ?, ?)", row)
        elif event["cat"] == "gpu_memcpy":
            row = (start, end, 0, args["stream"], args["correlation"], process, args["bytes"], 2)
            database.execute("insert into CUPTI_ACTIVITY_KIND_MEMCPY values (?, ?, ?, ?, ?, ?, ?, ?)", row)
        elif event["cat"] == "cuda_runtime":
            row = (start, end, process + 77, args.get("correlation"), text)
            database.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?, ?, ?, ?, ?)", row)
        else:
            own = event["name"].replace("ProfilerStep#", "step ")
            row = (start, end, own if own != event["name"] else None, text, process + 77)
            database.execute("insert into NVTX_EVENTS values (?, ?, ?, ?, ?)", row)
    database.commit()
    database.close()
    return name


def check_nsight():
    rank = Rank(0)
    expect_parts(explain(write_nsight("one.sqlite", rank.events)), "Nsight", **ALONE)
    database = sqlite3.connect("one.sqlite")
    database.execute("update CUPTI_ACTIVITY_KIND_KERNEL set globalPid = 5 where streamId = 20")
    database.commit()
    database.close()
    check.that("kernels of several processes" in explain("one.sqlite", expect=1), "Nsight, several processes")
    whole = pathlib.Path(write_nsight("two.sqlite", rank.events)).read_bytes()
    pathlib.Path("cut.sqlite").write_bytes(whole[:len(whole) // 2])
    check.that("cut.sqlite: error: " in explain("cut.sqlite", expect=1), "Nsight, cut")
    database = sqlite3.connect("empty.sqlite")
    database.execute("create table other (a integer)")
    database.commit()
    database.close()
    check.that("no operation of a training" in explain("empty.sqlite", expect=1), "Nsight, another database")


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(number, value):
    """A field of a protocol buffer: a whole number, or a text or message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def write_chakra(name, events, starts=True, more=b""):
    """The same profile as execution traces of Chakra have it (et_def.proto); the host's part is left out. `more`: a
    field of the last node."""
    messages, types = [field(1, "1.0.1")], {"kernel": 4, "gpu_memcpy": 2}
    for number, event in enumerate(event for event in events if event["cat"] in types):
        kind = 7 if "nccl" in event["name"] else types[event["cat"]]
        attributes = field(10, field(1, "is_cpu_op") + field(27, 0))
        attributes += field(10, field(1, "stream") + field(9, event["args"]["stream"]))
        if kind == 7:
            attributes += field(10, field(1, "comm_size") + field(9, 4000))
        start = field(6, event["ts"]) if starts else b""
        messages.append(field(1, number) + field(2, event["name"]) + field(3, kind) + start +
                        field(7, event["dur"]) + attributes)
    messages[-1] += more
    pathlib.Path(name).write_bytes(b"".join(varint(len(message)) + message for message in messages))
    return name


def check_chakra():
    rank = Rank(0)
    found = explain(write_chakra("job.3.et", rank.events))
    check.near(found["measured_s"], 0.188, "Chakra: from the first kernel to the last")
    expect_parts(found, "Chakra", computation=100, copies=6, communication=40, unknown=42)
    check.that(found["ranks"][0]["rank"] == 3, f"Chakra: {found['ranks'][0]['rank']}")
    check.that("has a start_time_micros" in explain(write_chakra("none.0.et", rank.events, False), expect=1),
               "Chakra without starts")
    newer = explain(write_chakra("newer.3.et", rank.events, more=field(77, 1)))
    check.that(any("1 fields are not of the schema" in note and "1.0.1" in note for note in newer["notes"]),
               f"Chakra, a newer schema: {newer.get('notes')}")
    tool.run(STAGESIM, "run", ROOT / "scenarios/demo.yaml", "-o", "run", "--trace", "chakra", "--quiet")
    message = explain("run/chakra/rank.0.et", "job.3.et", expect=1)
    check.that("job.3.et: error: it is not of a run of stagesim, and files before it are all" in message, message)
    pathlib.Path("cut.0.et").write_bytes(pathlib.Path("job.3.et").read_bytes()[:200])
    check.that("cut.0.et: error: " in explain("cut.0.et", expect=1), "Chakra, cut")


def check_refusals():
    one = Rank(0).write("r0.json")
    check.that("it is of rank 0, as is r0.json" in explain(one, Rank(0).write("again.json"), expect=1), "twice")
    text = pathlib.Path(one).read_text()
    pathlib.Path("cut.json").write_text(text[:3000])
    check.that("it was cut" in explain("cut.json", expect=1), "cut")
    message = explain(str(ROOT / "scenarios/demo.yaml"), one, expect=1)
    check.that("the scenario has 32 ranks, the job of the trace 2" in message, f"scenario: {message}")
    mixed = json.loads(text)["traceEvents"] + json.loads(gzip.decompress(
        (TRACES / "timeline-ST.json.gz").read_bytes()))[:3]
    pathlib.Path("mixed.json").write_text(json.dumps(mixed))
    check.that("events of a profile and of a job's timeline" in explain("mixed.json", expect=1), "mixed")


def check_real():
    found = explain(str(TRACES / "resnet50-ddp-2xA100-rank0.json.gz"))
    check.near(found["measured_s"], (222.442191 + 219.726905 + 224.936243) / 3e3, "ResNet-50: step", 1e-9)
    check.near(3 * found["parts"]["computation"], 0.115655847, "ResNet-50: computation", 1e-5)
    found = explain(str(TRACES / "resnet-ddp-8xMI300X-rank0.json.gz"))
    check.that(found["world"] == 8 and found["parts"]["communication"] > 0.5 * found["measured_s"], "MI300X")
    explain(*(str(TRACES / f"dlrm-128gpu-rank{rank}.json.gz") for rank in range(2)))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_one()
        check_two()
        check_clocks()
        check_meshes()
        check_described()
        check_missing()
        check_nsight()
        check_chakra()
        check_refusals()
        check_real()
        os.chdir("/")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
