#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain_input.py STAGESIM: what is wrong with a trace, or missing in it, is said in one clear line, to the letter:
those of GOLDEN. Files that are cut are refused with their place, everything else is a note."""
import gzip
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

STAGESIM = tool.binary_argument()
check = tool.Checker()

ALONE = "collectives have no other member in the trace: their time holds what the rank waited for others"
PAIR, SINGLE = "job          2 ranks, 2 in the trace", "job          1 ranks, 1 in the trace"
GOLDEN = {
    "cut profile": ["cut-r0.json:1:1337: error: the file ends in the middle of its JSON, it was cut; expected ',' or "
                    "'}' behind a member"],
    "cut gzip": ["cut-r0.json.gz:1:COLUMN: error: the file ends in the middle of its compressed data, it was cut"],
    "cut table": ["cut-ops.csv:5:1: error: this row has 3 fields, the first line names 12"],
    "no operation": ["ops.csv: error: rank 0 has no operation 2: rows are missing; expected a whole table"],
    "no receive": ["ops.csv: error: rank 0 sends 2 messages of kind activation to rank 1, which receives 1: rows are "
                   "missing; expected a whole table"],
    "no collective": ["ops.csv: error: ranks 0 and 1 are in one group, but have 2 and 1 collectives of it: rows are "
                      "missing; expected a whole table"],
    "a shorter replica": ["ops.csv: error: ranks 0 and 1 have one position, but have 2 and 1 operations: rows are "
                          "missing; expected a whole table"],
    "another clock": [PAIR, "note: the clock of rank 1 is 250.0 ms ahead of those of others, as the ends of what they "
                            "do together say; it is put right"],
    "other steps": [PAIR, "note: 2 of 3 steps are not in the traces of all ranks, the first is step 1, with 1 of 2: "
                          "figures are means over those that there are", f"note: 2 {ALONE}"],
    "steps that differ": ["note: steps differ: 1 of 4 have other than 2 micro-batches, the first is step 2 with 3; "
                          "figures are means over all"],
    "missing ranks": ["job          8 ranks, 2 in the trace", f"note: 4 {ALONE}"],
    "by symmetry": ["job          8 ranks, 2 in the trace", "note: 4 collectives lack members in the trace, which are "
                    "taken to come with the last of those that are there (--symmetric)"],
    "kernels without launch": [SINGLE, "note: r0.json: 4 of 4 operations of the device have no launch on the host: "
                                       "what the host did is not known", f"note: 2 {ALONE}"],
    "inference": [SINGLE, "note: r0.json has no backward and no optimizer: it looks like inference, and is taken as it "
                          "is", f"note: 2 {ALONE}"]}


def profile(name, rank, world=2, steps=(1, 2), launches=True, backward=True, clock=0.0, late=0):
    """Steps of 1 ms with a kernel and an all-reduce each, to which the rank may come late."""
    events = []
    for step in steps:
        at = 1000.0 * step + clock
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 5, "tid": 5,
                       "ts": at, "dur": 1000})
        kernels = (("gemm", 100, 300), ("ncclDevKernel_AllReduce", 400 + late, 200 - late))
        for number, (kernel, begin, length) in enumerate(kernels):
            more = {} if number == 0 else {
                "Collective name": "allreduce", "In msg nelems": 10, "Out msg nelems": 10, "Group size": world,
                "dtype": "Float", "Process Group Name": "0", "Process Group Description": "default_pg",
                "Process Group Ranks": str(list(range(world)))}
            correlation = 10 * step + number
            if launches:
                events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5,
                               "ts": at + begin - 50, "dur": 5, "args": {"correlation": correlation}})
            events.append({"ph": "X", "cat": "kernel", "name": kernel + ("Backward" if backward else ""), "pid": 0,
                           "tid": 7, "ts": at + begin, "dur": length,
                           "args": {"stream": 7 + number, "correlation": correlation, **more}})
    text = json.dumps({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world},
                       "traceEvents": events})
    pathlib.Path(name).write_text(text)
    return name


HEAD = "rank,position,stream,id,kind,stage,micro_batch,start_s,data_start_s,end_s,waits_for,iteration\n"


def table(name, steps):
    """A pipeline of one rank; micro-batches of each step."""
    rows, number, time = [], 0, 0
    for step, micro_batches in enumerate(steps):
        for kind in "FB":
            for micro_batch in range(micro_batches):
                rows.append(f"0,0,compute,{number},{kind},0,{micro_batch},{time},{time},{time + 1},,{step}\n")
                number, time = number + 1, time + 1
    pathlib.Path(name).write_text(HEAD + "".join(rows))
    return name


def written(rows):
    """Of each row rank, position, stream, id, kind, group and peer; one after the other."""
    head = "rank,position,stream,id,kind,group,peer,stage,micro_batch,start_s,data_start_s,end_s\n"
    pathlib.Path("ops.csv").write_text(head + "".join(f"{row},0,0,{time},{time},{time + 1}\n"
                                                      for time, row in enumerate(rows)))
    return "ops.csv"


def between_rows(stagesim):
    """Rows are in the order of time: whatever is cut off at the end of a row, an operation of some rank is missing."""
    scenario = pathlib.Path(__file__).resolve().parents[2] / "scenarios/demo.yaml"
    for replicas in ("simulated", "all"):
        tool.run(stagesim, "run", scenario, "-o", replicas, "--trace", "csv", "--quiet", "--engine", "analytic",
                 "--set", f"output.replicas={replicas}")
        whole = pathlib.Path(replicas, "operations.csv").read_text().splitlines(True)
        for left_out in (1, 2, 7, len(whole) // 2):
            pathlib.Path("cut.csv").write_text("".join(whole[:-left_out]))
            said = lines("cut.csv", expect=1)[0]
            check.that("rows are missing" in said or "does not have" in said, f"{replicas}, {left_out}: {said}")


def symmetric():
    """Rank 1 comes 50 us late, which rank 0 waits for: 25 us on average, once the six others are taken to come with
    these two."""
    files = profile("r0.json", 0, world=8), profile("r1.json", 1, world=8, late=50)
    for words, waiting in ((), 0), (("--symmetric",), 25e-6):
        tool.run(STAGESIM, "explain", *files, *words, "-o", "why", "--quiet")
        parts = json.loads(pathlib.Path("why/explain.json").read_text())["parts"]
        check.that(abs(parts["waiting"] - waiting) < 1e-9, f"{words}: waits for {parts['waiting']} s")
        check.that(abs(parts["communication"] - (175e-6 - waiting)) < 1e-9, f"{words}: {parts['communication']} s")
    said = tool.run(STAGESIM, "explain", table("ops.csv", [2]), "--symmetric", expect=1).stderr
    check.that("--symmetric wants a scenario" in said, said)


def lines(*files, expect=0):
    """What is said of them."""
    result = tool.run(STAGESIM, "explain", *files, expect=expect)
    if expect:
        return result.stderr.splitlines()[:1]
    return [line for line in result.stdout.splitlines() if line.startswith(("note: ", "job "))]


def cut(name, size):
    """The beginning of a file."""
    whole = pathlib.Path(name).read_bytes()
    new = f"cut-{name}"
    pathlib.Path(new).write_bytes(whole[:int(len(whole) * size)])
    return new


def cases():
    one = profile("r0.json", 0)
    yield "cut profile", lines(cut(one, 0.7), expect=1)
    pathlib.Path("r0.json.gz").write_bytes(gzip.compress(pathlib.Path(one).read_bytes(), mtime=0))
    said = lines(cut("r0.json.gz", 0.7), expect=1)[0]  # where depends on the library that compresses
    yield "cut gzip", [re.sub(r":1:[0-9]+:", ":1:COLUMN:", said)]
    yield "cut table", lines(cut(table("ops.csv", [2]), 0.9), expect=1)
    yield "no operation", lines(written(["0,0,compute,0,F,,", "0,0,compute,1,F,,", "0,0,compute,3,B,,"]), expect=1)
    sends = [f"0,0,send:1:activation,{i},activation,,1" for i in range(2)]
    yield "no receive", lines(written([*sends, "1,1,receive:0:activation,0,activation,,0"]), expect=1)
    meets = ["0,0,collective:0,0,gradient-sync,0,", "0,0,collective:0,1,gradient-sync,0,"]
    yield "no collective", lines(written([*meets, "1,1,collective:0,0,gradient-sync,0,"]), expect=1)
    yield "a shorter replica", lines(written(["0,0,compute,0,F,,", "0,0,compute,1,B,,", "1,0,compute,0,F,,"]), expect=1)
    yield "another clock", lines(one, profile("r1.json", 1, clock=250000))
    yield "other steps", lines(one, profile("r1.json", 1, steps=(2, 3)))
    yield "steps that differ", lines(table("ops.csv", [2, 2, 3, 2]))
    yield "missing ranks", lines(profile("r0.json", 0, world=8), profile("r1.json", 1, world=8))
    yield "by symmetry", lines("r0.json", "r1.json", "--symmetric")
    yield "kernels without launch", lines(profile("r0.json", 0, world=1, launches=False))
    yield "inference", lines(profile("r0.json", 0, world=1, backward=False))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, said in cases():
            check.that(said == GOLDEN.get(name), f"{name!r}: {said!r},")
        between_rows(STAGESIM)
        symmetric()
        os.chdir("/")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
