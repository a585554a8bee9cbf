#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""order.py STAGESIM: the playground's orders, by the native program: for every schedule the slots that the page reads
out of a table of operations are those of the schedule file which the program writes for the same job, with their
letters, and each has its times. Of mario, which has no such file, they are those of `stagesim schedule`. Needs node,
which reads both as the page does. Skipped without it."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool import ROOT, Checker, binary_argument, run, sampled  # noqa: E402

READ = """const {Order, slotsThatRan, takesTime} = await import(process.argv[1]);
const letters = workers => workers.map(slots => slots.filter(slot => takesTime(slot.kind)).map(
    slot => `${slot.kind}.${slot.stage}`).join(' '));
for await (const line of (await import('node:readline')).createInterface({input: process.stdin})) {
    const {file, operations} = JSON.parse(line), order = new Order(file), ran = slotsThatRan(operations);
    const timed = order.timed(ran), all = timed ? timed.flat().filter(slot => takesTime(slot.kind)) : [];
    console.log(JSON.stringify({file: letters(order.workers), ran: letters(ran),
                                timed: !!timed && all.every(slot => slot.end >= slot.start)}));
}"""
check = Checker()


def job(name, folder):
    """What the program writes for a schedule of four workers; None where it asks for more than this job has."""
    scenario = folder / "job.yaml"
    scenario.write_text("platform: dgx-h100:1\nworkload: stages\nstages: {forward: 10ms, backward: 20ms}\n"
                        f"parallel: {{pipeline: 4}}\nbatch: {{micro_batches: 8}}\nschedule: {name}\n")
    file = run(binary_argument(), "export", scenario, "--to", "schedule", "--engine", "analytic", expect=None)
    ran = run(binary_argument(), "run", scenario, "--engine", "analytic", "--trace", "csv", "-o", folder / "out",
              expect=None)
    if ran.returncode or (file.returncode and name != "mario"):
        return None
    return {"file": file.stdout or planned(name), "operations": (folder / "out/operations.csv").read_text()}


def planned(name):
    """The letters of `stagesim schedule`, by worker, as a schedule file."""
    plan = json.loads(run(binary_argument(), "schedule", name, "--workers", "4", "--micro-batches", "8", "--format",
                          "json").stdout)
    slots = sorted(plan["slots"], key=lambda slot: (slot["worker"], slot["start"]))
    return "worker,kind,stage,micro_batch,part\n" + "".join(
        f"{slot['worker']},{slot['kind']},{slot['stage']},{slot['micro_batch']},\n" for slot in slots)


def main():
    if not shutil.which("node"):
        print("skipped: there is no node")
        return 77
    listed = json.loads(run(binary_argument(), "list", "schedules", "--format", "json").stdout)
    names = sampled(sorted({each["name"] for each in listed} - {"vocab-1f1b", "mario"})) + ["vocab-1f1b", "mario"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        jobs = {name: made for name in names if (made := job(name, folder))}
        shutil.copy(ROOT / "tools/browser/page/order.js", folder / "order.mjs")
        done = subprocess.run(["node", "--input-type=module", "-e", READ, (folder / "order.mjs").as_uri()], text=True,
                              input="".join(json.dumps(each) + "\n" for each in jobs.values()), capture_output=True)
    check.that(not done.stderr, done.stderr)
    seen = set()
    for name, line in zip(jobs, done.stdout.splitlines()):
        found = json.loads(line)
        pairs = [(a, b) for a, b in zip(found["file"], found["ran"]) if a != b]
        check.that(not pairs and len(found["file"]) == len(found["ran"]) == 4, f"{name}: {pairs[:1]}")
        check.that(found["timed"], f"{name}: slots have no times")
        seen |= set("".join(found["ran"]))
    check.that({"R", "S", "T"} <= seen, f"only {sorted(seen)}")
    check.that(len(jobs) > 0.6 * len(names), f"only {len(jobs)} of {len(names)} schedules run")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
