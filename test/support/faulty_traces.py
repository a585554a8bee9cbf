#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faulty_traces.py STAGESIM DIRECTORY: traces of a job with one known fault each, for tests of what explains traces.

A small pipeline is simulated once (DIRECTORY/scenario.yaml, whose transfers never share a link). Its operations are
replayed here with a fault: a duration, a gap or an order is another one, everything else waits for the same as before.
DIRECTORY/FAULT/operations.csv has the faulty run in the form of `stagesim run --trace csv`, and
DIRECTORY/FAULT/rank-R.json.gz in that of PyTorch's profiler: kernels on streams, launches on the host, NCCL's kernels
that wait for each other, waits between streams, a step. `plain` is the run without a fault. DIRECTORY/truth.json
says of each what it is, where, and what it costs: the replayed time of a step with it less that without."""
import copy
import csv
import gzip
import json
import pathlib
import subprocess
import sys

STAGES, REPLICAS, MICRO_BATCHES = 4, 2, 8
LAYERS = 4  # of a stage; the first stage has an embedding, the last one a head, of the time of no layer
FORWARD, BACKWARD, OPTIMIZER = 0.012, 0.024, 0.006
SHARES = {"layernorm": 0.05, "gemm": 0.6, "attention": 0.25, "elementwise": 0.1}  # of a layer's time, by kernel
LATENCY, LAUNCH, AHEAD = 5e-6, 6e-6, 5e-6  # seconds: a link's, of a launch, from a launch to its kernel at least

SCENARIO = f"""platform: links.xml
workload: stages
stages:
  forward: {FORWARD * 1e3}ms
  backward: {BACKWARD * 1e3}ms
  optimizer: {OPTIMIZER * 1e3}ms
  message: 16MB
  gradient: 100MB
  activation: 200MB
  parameters: 100MB
parallel: {{pipeline: {STAGES}, data: {REPLICAS}}}
batch: {{micro_batches: {MICRO_BATCHES}}}
schedule: 1f1b
engine: analytic
"""


def platform(count):
    """Every pair of hosts has a link of its own in each direction."""
    lines = ["<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
             '<platform version="4.1"><zone id="all" routing="Full">']
    pairs = [(i, k) for i in range(count) for k in range(count) if i != k]
    lines += [f'<host id="gpu-{i}" speed="1Tf"/>' for i in range(count)]
    lines += [f'<link id="l-{i}-{k}" bandwidth="20GBps" latency="5us"/>' for i, k in pairs]
    lines += [f'<route src="gpu-{i}" dst="gpu-{k}" symmetrical="NO"><link_ctn id="l-{i}-{k}"/></route>' for i,
              k in pairs]
    return "\n".join(lines) + "</zone></platform>\n"


# ---- the run, and its replay ----

class Operation:
    """A row of operations.csv. `seconds` of a message or collective is what moving its data takes; `gap` is what the
    host lets pass before it, `pause` a stop within it, `layers` factors on the layers of a computation."""

    def __init__(self, row):
        self.row, self.rank, self.id, self.stream = row, int(row["rank"]), int(row["id"]), row["stream"]
        self.kind, self.type = row["kind"], row["stream"].split(":")[0]
        self.stage = int(row["stage"]) if row["stage"] else None
        self.micro_batch = int(row["micro_batch"]) if row["micro_batch"] else None
        self.waits = [int(wait) for wait in row["waits_for"].split()]
        self.seconds = float(row["end_s"]) - float(row["data_start_s"])
        self.gap, self.pause, self.again, self.layers = 0.0, 0.0, 0.0, [1.0] * LAYERS
        self.start = self.data = self.end = None


class Job:
    """Operations by (rank, id), and the order of each stream."""

    def __init__(self, path):
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            self.columns = reader.fieldnames
            rows = [Operation(row) for row in reader]
        self.operations = {(one.rank, one.id): one for one in rows}
        self.ranks = sorted({one.rank for one in rows})
        self.streams = {}
        for one in sorted(rows, key=lambda one: (one.rank, one.id)):
            self.streams.setdefault((one.rank, one.stream), []).append(one)
        self.link()

    def link(self):
        """The other end of every message, the members of every collective."""
        self.partner, self.members, ends = {}, {}, {}
        for (rank, stream), order in self.streams.items():
            for number, one in enumerate(order):
                if one.type in ("send", "receive"):
                    pair = (rank, int(one.row["peer"])) if one.type == "send" else (int(one.row["peer"]), rank)
                    ends.setdefault((pair, one.kind, number), []).append(one)
                elif one.type == "collective":
                    self.members.setdefault((one.row["group"], number), []).append(one)
                    self.partner[one.rank, one.id] = (one.row["group"], number)
        for both in ends.values():
            assert len(both) == 2, "a message without its other end"
            for one, other in (both, both[::-1]):
                self.partner[one.rank, one.id] = other

    def choose(self, *kinds, **more):
        return [one for one in self.operations.values() if one.kind in kinds and
                all(getattr(one, name) == value for name, value in more.items())]

    # A stream's operation is posted when the one before has ended and what it waits for has; data of a message move
    # when its sender has posted it, those of a collective when all members have.

    def replay(self):
        for one in self.operations.values():
            one.start = one.data = one.end = None
        done = {key: 0 for key in self.streams}
        left = True
        while left:
            left = False
            for key, order in self.streams.items():
                while done[key] < len(order) and self.advance(order, done[key]):
                    done[key] += 1
                    left = True
        assert all(done[key] == len(order) for key, order in self.streams.items()), "the order is a dead-lock"
        return self.step()

    def advance(self, order, number):
        one = order[number]
        before = order[number - 1].end if number else 0.0
        ends = [before] + [self.operations[one.rank, wait].end for wait in one.waits]
        if any(end is None for end in ends):
            return False
        one.start = max(ends) + one.gap
        if one.type == "collective":
            members = self.members[self.partner[one.rank, one.id]]
            if any(self.posted(member) is None for member in members):
                return False
            one.data = max(self.posted(member) for member in members)
        elif one.type == "receive":
            sender = self.partner[one.rank, one.id]
            if sender.end is None:
                return False
            one.data, one.end = max(sender.data, one.start), max(sender.end, one.start)
            return True
        else:
            one.data = one.start
        one.end = one.data + self.duration(one)
        return True

    def posted(self, one):
        order = self.streams[one.rank, one.stream]
        number = order.index(one)
        ends = [order[number - 1].end if number else 0.0] + [self.operations[one.rank, wait].end for wait in one.waits]
        return None if any(end is None for end in ends) else max(ends) + one.gap

    @staticmethod
    def duration(one):
        return one.seconds * sum(one.layers) / LAYERS + one.pause + one.again

    def step(self):
        """Seconds of a step."""
        return max(one.end for one in self.operations.values())

    def write_csv(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [name for name in self.columns if name != "alone_s"], lineterminator="\n",
                                    extrasaction="ignore")
            writer.writeheader()
            for one in sorted(self.operations.values(), key=lambda one: (one.start, one.rank, one.id)):
                writer.writerow({**one.row, "start_s": repr(one.start), "data_start_s": repr(one.data),
                                 "end_s": repr(one.end)})


# ---- faults: each changes a job, and says where it is ----

def slow_gpu(job):
    for one in job.choose("F", "B", "optimizer", rank=5):
        one.seconds *= 1.25
    return {"rank": 5, "factor": 1.25}


def slow_link(job):
    for one in job.choose("activation", "gradient"):
        if {one.rank, int(one.row["peer"])} == {1, 2}:
            one.seconds = LATENCY + (one.seconds - LATENCY) * 8
    return {"ranks": [1, 2], "factor": 8}


def host_gap(job):
    """The host of a rank prepares every forward for 4 ms while its GPU has nothing to do."""
    for one in job.choose("F", rank=3):
        one.gap = 0.004
    return {"rank": 3, "seconds": 0.004}


def uneven_micro_batches(job):
    """Sequences of unequal lengths: as much work in all."""
    factors = [1, 1.9, 1, 1, 0.4, 1, 0.7, 1]
    for one in job.choose("F", "B"):
        if one.rank // STAGES == 0:
            one.seconds *= factors[one.micro_batch]
    return {"replica": 0, "factors": factors}


def garbage_collection(job):
    """Python stops on two ranks, each time in another computation."""
    for rank, micro_batch in ((2, 5), (6, 3)):
        one, = job.choose("B", rank=rank, micro_batch=micro_batch)
        one.pause = 0.06
    return {"seconds": 0.06, "ranks": [2, 6]}


def slow_layer(job):
    """A layer of the second stage takes twice as long on all its ranks."""
    for one in job.choose("F", "B", stage=1):
        one.layers[2] = 2.0
    return {"stage": 1, "layer": 2, "factor": 2}


def wrong_schedule(job):
    """No stage has more than three micro-batches in flight: the first one has four in 1F1B."""
    for (rank, stream), order in job.streams.items():
        if stream != "compute":
            continue
        forwards, backwards = ([one for one in order if one.kind == kind] for kind in "FB")
        ahead = min(2, STAGES - 1 - forwards[0].stage)
        renewed = forwards[:ahead]
        for forward, backward in zip(forwards[ahead:], backwards):
            renewed += [forward, backward]
        renewed += backwards[len(forwards) - ahead:] + [one for one in order if one.kind not in "FB"]
        order[:] = renewed
    return {"in_flight": 3}


def recomputation(job):
    """Backwards begin with their forward once more."""
    forward = {(one.rank, one.micro_batch): one.seconds for one in job.choose("F")}
    for one in job.choose("B"):
        one.again = forward[one.rank, one.micro_batch]
    return {}


def other_job(job):
    """Somebody else's traffic: from the fifth micro-batch on all transfers take three times as long."""
    for one in job.operations.values():
        if one.type == "collective" or (one.type in ("send", "receive") and one.micro_batch >= 4):
            one.seconds = LATENCY + (one.seconds - LATENCY) * 3
    return {"first_micro_batch": 4, "factor": 3}


def bad_clock(job):
    """A rank's times are off; nothing takes longer."""
    return {"rank": 6, "seconds": 0.0137}


FAULTS = {"slow-gpu": slow_gpu, "slow-link": slow_link, "host-gap": host_gap,
          "uneven-micro-batches": uneven_micro_batches, "garbage-collection": garbage_collection,
          "slow-layer": slow_layer, "wrong-schedule": wrong_schedule, "recomputation": recomputation,
          "other-job": other_job, "bad-clock": bad_clock}


# ---- PyTorch's form ----

class Profile:
    """Events of a rank. Times are seconds; `shift` is what its clock is off."""

    def __init__(self, job, rank, shift):
        self.job, self.rank, self.shift = job, rank, shift
        self.events, self.kernels, self.correlation = [], [], 100
        self.streams = {"compute": 7}

    def event(self, name, category, begin, seconds, pid, tid, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                            "ts": round(1e6 * (begin + self.shift + 1) + 1.7e15, 3), "dur": round(1e6 * seconds, 3),
                            "args": args})

    def stream(self, one):
        return self.streams.setdefault(one.stream, 7 + 4 * len(self.streams))

    def layers_of(self, one, seconds, what, backwards=False):
        """(name, seconds, shape) of the kernels of a forward or a backward."""
        order = range(LAYERS - 1, -1, -1) if backwards else range(LAYERS)
        total = sum(one.layers)
        for layer in order:
            for name, share in reversed(SHARES.items()) if backwards else SHARES.items():
                yield f"{name}_{what}", seconds * one.layers[layer] / total * share, [[4, 2048], [layer + 1, 4096]]

    def computation(self, one):
        """Kernels follow each other; a pause is a gap in front of a kernel in the middle."""
        parts = [("multi_tensor_adam", one.seconds, [[100000000]])]
        if one.kind == "F":
            parts = list(self.layers_of(one, one.seconds * sum(one.layers) / LAYERS, "forward"))
        elif one.kind == "B":
            parts = list(self.layers_of(one, one.again, "forward")) if one.again else []
            parts += self.layers_of(one, one.seconds * sum(one.layers) / LAYERS, "backward", True)
        time = one.start
        for number, (name, seconds, shape) in enumerate(parts):
            late = one.gap if number == 0 else one.pause if number == len(parts) // 2 else 0
            time += late if number else 0
            self.kernels.append({"one": one, "name": name, "begin": time, "seconds": seconds, "late": late > 0,
                                 "shape": shape, "first": number == 0, "gc": late > 0 and number > 0,
                                 "pause": late})
            time += seconds

    def communication(self, one):
        """NCCL's kernels run from when they are posted: they wait for the others themselves."""
        names = {"send": "ncclDevKernel_SendRecv", "receive": "ncclDevKernel_SendRecv",
                 "collective": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"}
        begin = one.start if one.type != "receive" else min(max(one.start, self.before(one)), one.data)
        self.kernels.append({"one": one, "name": names[one.type], "begin": begin, "seconds": one.end - begin,
                             "late": False, "first": True, "gc": False, "pause": 0})

    def before(self, one):
        """A receive is posted when the computation in front of the one that needs it begins."""
        order = self.job.streams[one.rank, "compute"]
        for number, computation in enumerate(order):
            if one.id in computation.waits:
                return order[number - 1].start if number else 0.0
        return one.start

    def arguments(self, one):
        if one.type == "collective":
            ranks = sorted(member.rank for member in self.job.members[self.job.partner[one.rank, one.id]])
            name, description = f"dp{one.row['group']}", "DATA_PARALLEL_GROUP"
            found = {"Collective name": "allreduce"}
        else:
            ranks = sorted((one.rank, int(one.row["peer"])))
            name, description = f"pp{self.rank // STAGES}", "PIPELINE_MODEL_PARALLEL_GROUP"
            found = {"Collective name": "send" if one.type == "send" else "recv",
                     ("Dst Rank" if one.type == "send" else "Src Rank"): int(one.row["peer"])}
            ranks = list(range(self.rank // STAGES * STAGES, (self.rank // STAGES + 1) * STAGES))
        elements = round(float(self.size(one)) / 2)
        return {**found, "dtype": "BFloat16", "In msg nelems": elements, "Out msg nelems": elements,
                "Group size": len(ranks), "Process Group Name": name, "Process Group Description": description,
                "Process Group Ranks": str(ranks)}

    def size(self, one):
        return 100e6 if one.type == "collective" else one.row["bytes"]

    def launches(self):
        """The host runs ahead as far as it can, but where it is late."""
        self.kernels.sort(key=lambda kernel: (kernel["begin"], kernel["one"].stream != "compute"))
        latest = [kernel["begin"] - AHEAD for kernel in self.kernels]
        for i in range(len(latest) - 2, -1, -1):
            latest[i] = min(latest[i], latest[i + 1] - LAUNCH)
        time = latest[0] if latest else 0
        for kernel, limit in zip(self.kernels, latest):
            time = limit if kernel["late"] else min(time, limit)
            kernel["launch"] = time
            time += LAUNCH

    def waits(self, kernel):
        """What of other streams the kernel waits for: a record behind the last kernel there, a wait in front."""
        one = kernel["one"]
        others = [self.job.operations[one.rank, wait] for wait in one.waits]
        if not kernel["first"]:
            return
        for other in others:
            if self.stream(other) == self.stream(one):
                continue
            record = self.number()
            self.event("cudaEventRecord", "cuda_runtime", kernel["launch"] - 2e-6, 5e-7, self.rank, 1,
                       correlation=record)
            wait = self.number()
            self.event("cudaStreamWaitEvent", "cuda_runtime", kernel["launch"] - 1e-6, 5e-7, self.rank, 1,
                       correlation=wait)
            self.event("Stream Wait Event", "cuda_sync", kernel["launch"] - 1e-6, 0, 0, self.stream(one),
                       stream=self.stream(one), device=0, correlation=wait, wait_on_stream=self.stream(other),
                       wait_on_cuda_event_record_corr_id=record, wait_on_cuda_event_id=record)

    def number(self):
        self.correlation += 1
        return self.correlation

    def put_kernels(self):
        for kernel in self.kernels:
            one, correlation = kernel["one"], self.number()
            self.waits(kernel)
            shape = {"Input Dims": kernel["shape"]} if "shape" in kernel else {}
            operator = kernel["name"].split("_")[0] if shape else "record_param_comms"
            extra = {} if shape else self.arguments(one)
            self.event(f"aten::{operator}" if shape else operator, "cpu_op", kernel["launch"] - 2.5e-6,
                       LAUNCH - 1e-6, self.rank, 1, **{"External id": correlation}, **shape, **extra)
            self.event("cudaLaunchKernel", "cuda_runtime", kernel["launch"], 2e-6, self.rank, 1,
                       correlation=correlation, **{"External id": correlation})
            self.event(kernel["name"], "kernel", kernel["begin"], kernel["seconds"], 0, self.stream(one), device=0,
                       context=1, stream=self.stream(one), correlation=correlation, **{"External id": correlation},
                       **extra)
            if kernel["gc"]:
                self.event("Python GC", "python_gc", kernel["launch"] - kernel["pause"], kernel["pause"] - 3e-6,
                           self.rank, 1)

    def step(self):
        begin, end = -0.004, max(one.end for one in self.job.operations.values())
        self.event("ProfilerStep#3", "user_annotation", begin, end - begin, self.rank, 1)

    def write(self, path):
        for one in self.job.operations.values():
            if one.rank == self.rank and one.type == "compute":
                self.computation(one)
            elif one.rank == self.rank:
                self.communication(one)
        self.launches()
        self.put_kernels()
        self.step()
        self.events.sort(key=lambda event: event["ts"])
        trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
                 "distributedInfo": {"backend": "nccl", "rank": self.rank, "world_size": len(self.job.ranks)},
                 "traceEvents": self.events}
        with open(path, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, 0) as file:
            file.write(json.dumps(trace, separators=(",", ":")).encode())


# ---- all of them ----

def make(binary, directory):
    """Writes all traces; returns what truth.json says."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "links.xml").write_text(platform(STAGES * REPLICAS))
    (directory / "scenario.yaml").write_text(SCENARIO)
    subprocess.run([binary, "run", str(directory / "scenario.yaml"), "-o", str(directory / "run"), "--trace", "csv",
                    "--quiet", "--set", "output.replicas=all", "--set", "fold=off"], check=True,
                   stdout=subprocess.DEVNULL)
    with open(directory / "run/summary.json", encoding="utf-8") as file:
        simulated = json.load(file)["time"]["makespan_s"]
    job = Job(directory / "run/operations.csv")
    plain = job.replay()
    assert abs(plain - simulated) < 1e-9 * simulated, f"the replay takes {plain}, the simulation {simulated}"
    truth = {"plain": {"step_s": plain, "cost_s": 0.0}}
    write(job, directory / "plain")
    for name, fault in FAULTS.items():
        faulty = copy.deepcopy(job)
        where = fault(faulty)
        step = faulty.replay()
        truth[name] = {"step_s": step, "cost_s": step - plain, **where}
        write(faulty, directory / name, where if name == "bad-clock" else None)
    (directory / "truth.json").write_text(json.dumps(truth, indent=2) + "\n")
    return truth


def write(job, directory, clock=None):
    directory.mkdir(exist_ok=True)
    if not clock:
        job.write_csv(directory / "operations.csv")
    for rank in job.ranks:
        shift = clock["seconds"] if clock and clock["rank"] == rank else 0.0
        Profile(job, rank, shift).write(directory / f"rank-{rank}.json.gz")


if __name__ == "__main__":
    for fault_name, values in make(sys.argv[1], sys.argv[2]).items():
        print(f"{fault_name:24} {values['step_s']:.6f} s a step, {1e3 * values['cost_s']:+.3f} ms")
