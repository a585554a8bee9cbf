#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""msccl.py STAGESIM: programs in MSCCL's XML. What stagesim writes is carried out here on numbers, in random orders of
thread blocks; what it reads takes as long as the algorithm that it says; broken programs are refused at their line."""
import functools
import json
import pathlib
import random
import re
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
import tool  # noqa: E402

STAGESIM = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
WORDS = {"allreduce": "all-reduce", "allgather": "all-gather", "reduce_scatter": "reduce-scatter",
         "alltoall": "all-to-all", "broadcast": "broadcast", "reduce": "reduce"}
SLOTS = 8
checker = tool.Checker()
check = checker.that
run = functools.partial(tool.run, STAGESIM)


def times(kind, platform, algorithm, size, *more):
    """Seconds of a collective."""
    out = run("collective", kind, "--platform", platform, "--algorithm", algorithm, "--sizes", f"{size}:{size}:2",
              "--format", "json", *more).stdout
    return json.loads(out)["rows"][0]["time_us"] if out else 0


# ---- an interpreter on numbers ----


class Rank:
    def __init__(self, gpu, coll, chunks, ranks, in_place):
        self.number = int(gpu.get("id"))
        part = chunks // ranks
        sizes = {"allgather": (part, chunks), "reduce_scatter": (chunks, part)}.get(coll, (chunks, chunks))
        self.input = [random.randrange(1 << 40) for _ in range(sizes[0])]
        self.memory = {"i": list(self.input), "o": [None] * sizes[1], "s": [None] * int(gpu.get("s_chunks"))}
        self.shift = {"i": 0, "o": 0, "s": 0}
        if in_place and coll == "allgather":
            self.memory["o"][self.number * part:(self.number + 1) * part] = self.input
            self.memory["i"], self.shift["i"] = self.memory["o"], self.number * part
        elif in_place:
            self.memory["o"] = self.memory["i"]
            self.shift["o"] = self.number * part if coll == "reduce_scatter" else 0
        self.output = lambda: self.memory["o"][self.shift["o"]:self.shift["o"] + sizes[1]]

    def get(self, buffer, offset):
        return self.memory[buffer][self.shift[buffer] + offset]

    def put(self, buffer, offset, value):
        self.memory[buffer][self.shift[buffer] + offset] = value


def perform(rank, block, step, queues):
    """False where it cannot go yet."""
    kind, count = step.get("type"), int(step.get("cnt"))
    take = (int(block.get("recv")), rank.number, block.get("chan"))
    give = (rank.number, int(block.get("send")), block.get("chan"))
    receives, sends = kind in ("r", "rcs", "rrs", "rrc", "rrcs"), kind in ("s", "rcs", "rrs", "rrcs")
    if receives and not queues.get(take) or sends and len(queues.get(give, ())) == SLOTS:
        return False
    values = queues[take].pop(0) if receives else [0] * count
    assert len(values) == count
    source, destination = (step.get("srcbuf"), int(step.get("srcoff"))), (step.get("dstbuf"), int(step.get("dstoff")))
    for i in range(count):
        if kind in ("s", "cpy", "re", "rrs", "rrc", "rrcs"):
            values[i] += rank.get(source[0], source[1] + i)
        if kind == "re":
            values[i] += rank.get(destination[0], destination[1] + i)
        if kind in ("cpy", "re", "r", "rcs", "rrc", "rrcs"):
            rank.put(destination[0], destination[1] + i, values[i])
    if sends:
        queues.setdefault(give, []).append(values)
    return True


def interpret(path, in_place):
    """Runs a program with its thread blocks in random order; the ranks, and whether all came to their end."""
    algo = xml.parse(path).getroot()
    coll, chunks, ranks = algo.get("coll"), int(algo.get("nchunksperloop")), int(algo.get("ngpus"))
    machines = [Rank(gpu, coll, chunks, ranks, in_place) for gpu in algo]
    blocks = [(rank, gpu, block) for rank, gpu in zip(machines, algo) for block in gpu]
    at, queues, alive = {id(block): 0 for _, _, block in blocks}, {}, True
    while alive:
        alive = False
        random.shuffle(blocks)
        for rank, gpu, block in blocks:
            for _ in range(random.randrange(1, 4)):
                place = at[id(block)]
                if place == len(block):
                    break
                step = block[place]
                waits = int(step.get("depid"))
                if waits >= 0 and at[id(gpu[waits])] <= int(step.get("deps")):
                    break
                if not perform(rank, block, step, queues):
                    break
                at[id(block)] += 1
                alive = True
    done = all(at[id(block)] == len(block) for _, _, block in blocks) and not any(queues.values())
    return coll, chunks, machines, done


def is_right(coll, chunks, machines):
    ranks = len(machines)
    part = chunks // ranks
    sums = [sum(machine.input[c] for machine in machines) for c in range(len(machines[0].input))]
    for r, machine in enumerate(machines):
        wanted = {"allreduce": sums, "reduce_scatter": sums[r * part:(r + 1) * part],
                  "allgather": [value for other in machines for value in other.input],
                  "alltoall": [value for other in machines for value in other.input[r * part:(r + 1) * part]],
                  "broadcast": machines[0].input, "reduce": sums if r == 0 else machine.output()}[coll]
        if machine.output() != wanted:
            return False
    return True


def check_numbers(path, what):
    algo = xml.parse(path).getroot()
    for in_place in [1] * int(algo.get("inplace")) + [0] * (1 - int(algo.get("inplace"))):
        for _ in range(3):
            coll, chunks, machines, done = interpret(path, in_place)
            check(done, f"{what}: does not come to its end")
            check(is_right(coll, chunks, machines), f"{what}: wrong result")


# ---- what stagesim writes and reads ----


def star(path, hosts):
    """Private ports of 10 GB/s and 1 us to a switch; no protocols."""
    names = [f"gpu-{i}" for i in range(hosts)]
    text = "".join(f'<host id="{n}" speed="1Gf"/><link id="{n}-port" bandwidth="10GBps" latency="1us" '
                   'sharing_policy="SPLITDUPLEX"/>' for n in names)
    text += "".join(f'<route src="{a}" dst="{b}"><link_ctn id="{a}-port" direction="UP"/><link_ctn id="{b}-port" '
                    'direction="DOWN"/></route>' for i, a in enumerate(names) for b in names[i + 1:])
    path.write_text("<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\"><platform "
                    f'version="4.1"><zone id="all" routing="Full">{text}</zone></platform>')
    return path


# Whose transfers start by the rounds' rule alone; the others send as soon as their data are there, and begin earlier.
EXACT = {("all-reduce", "ring"), ("all-reduce", "recursive-doubling"), ("all-reduce", "halving-doubling"),
         ("reduce-scatter", "ring"), ("reduce-scatter", "halving-doubling"), ("all-gather", "ring"),
         ("all-gather", "halving-doubling"), ("all-gather", "recursive-doubling"), ("all-gather", "bruck"),
         ("all-to-all", "pairwise"), ("all-to-all", "bruck"), ("broadcast", "binomial"), ("reduce", "binomial")}


def round_trip(folder, platform, kind, algorithm, engine, exact=True):
    path = folder / "program.xml"
    what = f"{kind} {algorithm} on {platform}, {engine}"
    run("collective", kind, "--platform", platform, "--algorithm", algorithm, "--sizes", "16MiB:16MiB:2", "--engine",
        engine, "--format", "msccl", "-o", path)
    if engine == "analytic":
        check_numbers(path, what)
    own = times(kind, platform, path, "16MiB", "--engine", engine)
    stepwise = times(kind, platform, algorithm, "16MiB", "--engine", engine, "--stepwise")
    if exact:
        check(abs(own / stepwise - 1) < 1e-6, f"{what}: {own} us as a program, {stepwise} us")


def written(folder):
    eight, five = star(folder / "eight.xml", 8), star(folder / "five.xml", 5)
    for kind, algorithm in sorted(EXACT):
        round_trip(folder, eight, kind, algorithm, "analytic")
    for kind, algorithm in (("all-reduce", "double-tree"), ("broadcast", "chain"), ("reduce", "chain"),
                            ("all-to-all", "direct")):
        round_trip(folder, eight, kind, algorithm, "analytic", False)
    for kind, algorithm in (("all-reduce", "recursive-doubling"), ("all-reduce", "halving-doubling"),
                            ("all-gather", "bruck"), ("all-to-all", "bruck"), ("reduce", "binomial")):
        round_trip(folder, five, kind, algorithm, "analytic", False)
    for kind, algorithm in (("all-reduce", "ring"), ("all-reduce", "hierarchical"), ("all-gather", "bruck")):
        round_trip(folder, "dgx-a100:2", kind, algorithm, "simgrid")
    round_trip(folder, "dgx-a100:2", "all-reduce", "hierarchical", "analytic")
    round_trip(folder, "dgx-1v:1", "all-reduce", "ring", "simgrid")
    refused = run("collective", "all-reduce", "--platform", "dgx-h100:1", "--algorithm", "in-network", "--format",
                  "msccl", expect=1)
    check("in-network has a switch reduce, which MSCCL's XML cannot say" in refused.stderr, refused.stderr)


# ---- programs of others ----


def samples(folder):
    for path in sorted(HERE.glob("*.xml")):
        check_numbers(path, path.name)
    four = star(folder / "four.xml", 4)
    for engine in ("simgrid", "analytic"):
        own = times("all-reduce", four, HERE / "allreduce_ring_4.xml", "256KiB", "--engine", engine)
        ring = times("all-reduce", four, "ring", "256KiB", "--engine", engine)
        check(abs(own / ring - 1) < 0.01, f"{engine}: ring {ring} us, the same as a program {own} us")
        # Two rounds in which each port sends three quarters.
        pairs = times("all-reduce", four, HERE / "allreduce_allpairs_4.xml", "1MiB", "--engine", engine) * 1e-6
        formula = 2 * (2e-6 + 0.75 * 2**20 / 1e10)
        check(abs(pairs / formula - 1) < 0.02, f"{engine}: all pairs take {pairs}, by their formula {formula}")
    rows = json.loads(run("collective", "all-reduce", "--platform", four, "--algorithm", "all", "--algorithm",
                          HERE / "allreduce_ring_4.xml", "--sizes", "1KiB:1KiB:2", "--format", "json").stdout)["rows"]
    check("allreduce_ring_4" in [row["algorithm"] for row in rows] and len(rows) > 4, "all has the program")
    text = run("collective", "all-reduce", "--platform", four, "--algorithm", HERE / "allreduce_ring_4.xml", "--sizes",
               "256KiB:512KiB:2").stdout
    check("auto: ring" in text and "allreduce_ring_4 is for 0 B to 256 KiB" in text, text)
    endless = folder / "endless.xml"  # maxBytes 0 is no limit
    endless.write_text(re.sub('maxBytes="[0-9]+"', 'maxBytes="0"', (HERE / "allreduce_ring_4.xml").read_text()))
    text = run("collective", "all-reduce", "--platform", four, "--algorithm", endless, "--sizes",
               "256KiB:16GiB:256").stdout
    check("auto" not in text and text.count("endless") >= 3, text)
    named = folder / "named.xml"
    named.write_text(endless.read_text().replace("<algo ", '<algo nthreads="512" redop="sum" ', 1))
    done = [run("collective", "all-reduce", "--platform", four, "--algorithm", path, "--sizes", "256KiB:256KiB:2",
                "--format", "csv") for path in (endless, named)]
    notes = [line for line in done[1].stderr.splitlines() if "note:" in line]
    check(done[0].stdout == done[1].stdout and not done[0].stderr and notes == [
        f"{named}:1:1: note: {what} is not modelled" for what in ('nthreads="512"', 'redop="sum"')], done)
    other = run("collective", "all-reduce", "--platform", star(folder / "five.xml", 5), "--algorithm",
                HERE / "allreduce_ring_4.xml", expect=1)
    check("allreduce_ring_4 is a program for 4 ranks" in other.stderr, other.stderr)


def in_scenarios(folder):
    star(folder / "four.xml", 4)
    for name in ("ring", str(HERE / "allreduce_ring_4.xml")):
        (folder / "job.yaml").write_text(
            "platform: four.xml\nworkload: stages\nparallel: {data: 4, pipeline: 1}\nbatch: {micro_batches: 2}\n"
            "schedule: {name: gpipe}\nstages: {forward: 1ms, backward: 2ms, gradient: 200KiB, activation: 1MB}\n"
            f"communication: {{all_reduce: {name}, collectives: stepwise}}\n")
        out = folder / ("ring" if name == "ring" else "own")
        run("run", folder / "job.yaml", "-o", out)
    ring, own = (json.loads((folder / name / "summary.json").read_text()) for name in ("ring", "own"))
    check(own["collectives"][0]["algorithm"] == "allreduce_ring_4", own["collectives"])
    check(abs(own["time"]["iteration_s"] / ring["time"]["iteration_s"] - 1) < 1e-9, (own["time"], ring["time"]))
    scenario = (folder / "own" / "scenario.yaml").read_text()
    check("allreduce_ring_4.xml" in scenario, scenario)
    run("check", folder / "own" / "scenario.yaml")
    (folder / "job.yaml").write_text((folder / "job.yaml").read_text().replace("all_reduce", "all_gather"))
    wrong = run("check", folder / "job.yaml", expect=1).stderr
    check("job.yaml:7:" in wrong and "is no program for all-gather" in wrong, wrong)


# ---- broken ones ----

RING, PAIRS, GATHER = "allreduce_ring_4", "allreduce_allpairs_4", "allgather_ring_4"
# Program, line (counted from 1), what stands there, what stands there instead, the line that is named, what is said.
BROKEN = [
    (RING, 3, 'send="1"', 'send="2"', 3, "sends to GPU 2 on channel 0, which has no thread block"),
    (RING, 3, 'send="1"', 'send="0"', 3, "has itself as a peer"),
    (RING, 3, 'send="1"', 'send="4"', 3, "send is '4'; expected a number from -1 to 3"),
    (RING, 3, 'send="1"', 'send="-1"', 4, "'s' sends, but its thread block has send"),
    (RING, 1, 'ngpus="4"', 'ngpus="5"', 1, "has 4 GPUs; expected ngpus, 5"),
    (RING, 1, 'coll="allreduce"', 'coll="allreduc"', 1, "did you mean 'allreduce'?"),
    (RING, 1, 'proto="LL"', 'protocol="LL"', 1, "has no attribute 'protocol'"),
    (RING, 1, 'inplace="1"', 'inplace="0"', 1, "both 0"),
    (RING, 5, 'srcoff="3"', 'srcoff="2"', None, "chunk 2"),  # the wrong chunk is added: noticed where it is used
    (RING, 5, 'srcoff="3"', 'srcoff="4"', 5, "chunks 4 to 4 of buffer i; expected chunks below 4"),
    (RING, 5, 'type="rrs"', 'type="rcs"', None, "added up without"),  # a part is lost
    (RING, 5, 'type="rrs"', 'type="rsr"', 5, "did you mean 'rrs'?"),
    (RING, 5, 's="1"', 's="2"', 5, "s is 2; expected 1"),
    (RING, 10, 'type="r"', 'type="rcs"', None, "never receives 1 of the messages"),
    (RING, 7, 'cnt="1"', 'cnt="2"', 7, "receives 2 chunks, but GPU 3 sends 1"),
    (GATHER, 5, 'srcoff="0"', 'srcoff="1"', 5, "reads chunk 1 of output, which holds nothing yet"),
    (GATHER, 4, 'dstoff="0"', 'dstoff="1"', 5, "reads chunk 0 of output, which holds nothing yet"),
    (GATHER, 6, 'dstoff="3"', 'dstoff="2"', 2, "of GPU 0's output is in the end"),
    (PAIRS, 4, 'deps="1"', 'deps="-1"', 4, "one of depid and deps is -1"),
    (PAIRS, 4, 'depid="2"', 'depid="9"', 4, "waits for step 1 of thread block 9, which GPU 0 does not have"),
    (PAIRS, 12, 'hasdep="1"', 'hasdep="0"', 6, "does not tell anybody"),
    (PAIRS, 5, 'depid="3" deps="1"', 'depid="-1" deps="-1"', 8, "without waiting for step 1 of thread block 3"),
    (PAIRS, 13, 'depid="0" deps="4"', 'depid="-1" deps="-1"', None, ""),  # sends before the sum is there
    (PAIRS, 7, 'srcoff="1"', 'srcoff="0"', 7, "adds GPU 1's part of chunk 0 a second time"),
    (PAIRS, 11, 'depid="-1" deps="-1"', 'depid="0" deps="4"', 6, "dead-lock: GPU 0, thread block"),
]


def broken(folder):
    for name, line, old, new, place, words in BROKEN:
        lines = (HERE / f"{name}.xml").read_text().splitlines()
        check(old in lines[line - 1], f"{name}:{line} has no {old}")
        lines[line - 1] = lines[line - 1].replace(old, new, 1)
        path = folder / f"{name}.xml"
        path.write_text("\n".join(lines) + "\n")
        kind = WORDS[name.split("_", 1)[0]]
        error = run("collective", kind, "--platform", folder / "four.xml", "--algorithm", path, expect=1).stderr
        where = rf"{re.escape(str(path))}:{place if place else '[0-9]+'}:[0-9]+: error: "
        check(re.match(where, error) and words in error, f"{name}:{line} {new}: {error}")
    # Both send nine messages before they take any; a connection holds eight.
    step = ('<step s="{}" type="{}" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" '
            'hasdep="0"/>')
    steps = "\n".join([step.format(s, "s") for s in range(9)] + [step.format(s, "r") for s in range(9, 18)])
    gpu = '<gpu id="{0}" i_chunks="1" o_chunks="0" s_chunks="0">\n<tb id="0" send="{1}" recv="{1}" chan="0">\n'
    path = folder / "ahead.xml"
    path.write_text('<algo name="ahead" proto="LL" nchannels="1" nchunksperloop="1" ngpus="2" coll="allreduce" '
                    'inplace="1">\n' + "".join(gpu.format(g, 1 - g) + steps + "\n</tb>\n</gpu>\n" for g in range(2)) +
                    "</algo>\n")
    error = run("collective", "all-reduce", "--platform", "dgx-a100:1", "--ranks", "2", "--algorithm", path,
                expect=1).stderr
    check(re.match(rf"{re.escape(str(path))}:12:1: error: dead-lock: GPU 0", error) and
          "to take one of 8 messages" in error and f"{path}:34:1: note: GPU 1" in error, error)


with tempfile.TemporaryDirectory() as name:
    random.seed(1)
    samples(pathlib.Path(name))
    in_scenarios(pathlib.Path(name))
    broken(pathlib.Path(name))
    written(pathlib.Path(name))
sys.exit(checker.done())
