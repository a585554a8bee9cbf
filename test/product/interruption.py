#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interruption.py STAGESIM: a run that is interrupted leaves no file, no directory and no process behind; files that
were there before stay as they were. A command that has found something by then (compare, layouts, search) shows it,
writes it, and says what is missing."""
import csv
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

PATIENCE = 60  # seconds


def until(condition):
    """Waits until condition() is true; false when it never was."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid):
    """A process that is dead but not waited for counts as dead."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def interrupt(check, binary, folder, number, arguments):
    name = f"{signal.Signals(number).name} to {arguments[0]}"
    before = sorted(folder.rglob("*"))
    with subprocess.Popen([binary, *arguments, "-o", "new/deep/out", "--trace", "csv,paje"], cwd=folder,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        begun = until(lambda: any(folder.rglob(".*.stagesim")) and children(process.pid))
        check.that(begun, f"{name}: never began to write")
        born = children(process.pid)
        process.send_signal(number)
        check.that(process.wait(PATIENCE) == -number, f"{name}: ended with {process.returncode}")
    check.that(sorted(folder.rglob("*")) == before, f"{name}: left {sorted(set(folder.rglob('*')) - set(before))}")
    check.that(until(lambda: not any(is_alive(child) for child in born)), f"{name}: a process goes on")


def children_seen(process, wanted):
    """Waits for so many different children, one after the other; false where it ended before."""
    seen = set()

    def enough():
        seen.update(children(process.pid) if process.poll() is None else [])
        return len(seen) >= wanted or process.poll() is not None
    return until(enough) and len(seen) >= wanted


def stop(check, binary, folder, number, arguments, wanted, group=False):
    """Interrupts a command when its `wanted`-th child has begun; gives back what it said."""
    name = f"{signal.Signals(number).name} to {arguments[0]}"
    with subprocess.Popen([binary, *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, start_new_session=True) as process:
        check.that(children_seen(process, wanted), f"{name}: has no {wanted} children")
        born = children(process.pid)
        if group:  # as timeout does: the process first, then all
            process.send_signal(number)
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        out, error = process.communicate(timeout=PATIENCE)
    check.that("stopped early" in out + error, f"{name}: {error!r} {out!r}")
    check.that(until(lambda: not any(is_alive(child) for child in born)), f"{name}: a process goes on")
    check.that(not any(folder.rglob(".*.stagesim")), f"{name}: left {sorted(folder.rglob('.*.stagesim'))}")
    return process.returncode, out, error


def compare_stops(check, binary, folder, number, group):
    """One run is done, the second goes on for minutes."""
    command = ["compare", "short.yaml", "long.yaml", "--format", "csv"]
    code, out, error = stop(check, binary, folder, number, command, 2, group)
    whole = tool.run(binary, "compare", "short.yaml", "--format", "csv", cwd=folder).stdout
    check.that(code == -number and out == whole and "1 of 2 runs" in error, f"compare: {code} {out!r} {error!r}")
    code, out, error = stop(check, binary, folder, number, [*command, "-o", "found", "--trace", "csv"], 2, group)
    check.that(code == -number and out == whole, f"compare -o: {code} {out!r} {error!r}")
    found = sorted(str(path.relative_to(folder / "found")) for path in (folder / "found").rglob("*"))
    check.that("short-1f1b/summary.json" in found and not any("long" in name for name in found), f"compare: {found}")
    tool.run(binary, "report", "found", "--quiet", cwd=folder)
    shutil.rmtree(folder / "found")
    tool.run(binary, "compare", "short.yaml", "--schedules", "gpipe,1f1b", "-o", "found", "--quiet", cwd=folder)
    (folder / "found/short-gpipe/mine.txt").write_text("mine")
    (folder / "found/other").mkdir()
    (folder / "found/other/summary.json").write_text("of nobody's comparison")
    code, out, error = stop(check, binary, folder, number, [*command, "-o", "found"], 2, group)
    found = sorted(str(path.relative_to(folder / "found")) for path in (folder / "found").rglob("*") if path.is_file())
    check.that(found == ["about.json", "comparison.csv", "comparison.json", "other/summary.json",
                         "short-1f1b/scenario.yaml", "short-1f1b/summary.json", "short-gpipe/mine.txt"] and
               "found/short-gpipe is of an older comparison" in error, f"compare into an older one: {found}, {error!r}")
    shutil.rmtree(folder / "found")


def layouts_stop(check, binary, folder, number, group):
    """Children: one evaluates all, then each simulates a layout. The order is that of the whole."""
    command = ["layouts", tool.ROOT / "scenarios/axonn.yaml", "--format", "csv"]
    code, out, error = stop(check, binary, folder, number, command, 3, group)
    rows = list(csv.DictReader(out.splitlines()))
    simulated = [bool(float(row["simgrid_s"] or 0)) for row in rows]
    check.that(code == -number and sum(simulated) >= 1, f"layouts: {code} {error!r}")
    check.that(f"{len(rows)} layouts were evaluated, {sum(simulated)} of them" in error, f"layouts: {error!r}")
    check.that(simulated == sorted(simulated, reverse=True), "layouts: not the first were simulated")


def search_stops(check, binary, folder, number, group):
    """Children: one counts GPUs, one evaluates all, then each simulates one of the best."""
    command = ["search", tool.ROOT / "scenarios/gpt-7.5b.yaml", "--set", "search.schedules=1f1b", "--set",
               "search.zero=1", "--set", "search.recompute=none", "--jobs", "1", "--quiet", "-o", "best"]
    code, out, error = stop(check, binary, folder, number, command, 4, group)
    check.that(code == 0 and "of the best, " in out, f"search: {code} {out!r} {error!r}")
    with open(folder / "best/search.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    verified = [float(row["verified_iteration_s"] or 0) for row in rows if row["rank"]]
    done = [value for value in verified if value]
    check.that(done and done == sorted(done) == verified[:len(done)], f"search: verified {verified[:12]}")
    check.that((folder / "best.journal").exists(), "search: the journal is gone")
    again = tool.run(binary, *command, "--resume", cwd=folder)
    whole = tool.run(binary, *command[:-1], "whole", cwd=folder)
    check.that(again.stdout == whole.stdout and "stopped" not in again.stdout, "search: not resumed")
    check.that((folder / "best/search.csv").read_bytes() == (folder / "whole/search.csv").read_bytes(),
               "search: resumed to another outcome")
    shutil.rmtree(folder / "best")
    shutil.rmtree(folder / "whole")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tool.write_mesh(folder / "platform.xml", 8)
        tool.write_scenario(folder / "long.yaml", "platform.xml", "1f1b", 8, 200000, more="steady: off\n")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            interrupt(check, binary, folder, number, ["run", "long.yaml"])
        interrupt(check, binary, folder, signal.SIGTERM, ["compare", "long.yaml", "--schedules", "1f1b,gpipe"])
        tool.write_scenario(folder / "short.yaml", "platform.xml", "1f1b", 8, 2000, more="steady: off\n")
        for number, group in ((signal.SIGTERM, False), (signal.SIGINT, True)):
            compare_stops(check, binary, folder, number, group)
            layouts_stop(check, binary, folder, number, group)
            search_stops(check, binary, folder, number, group)
        (folder / "new/deep/out").mkdir(parents=True)
        (folder / "new/deep/out/summary.json").write_text("as it was")
        tool.as_own(folder / "new/deep/out/summary.json")
        interrupt(check, binary, folder, signal.SIGINT, ["run", "long.yaml"])
        check.that((folder / "new/deep/out/summary.json").read_text() == "as it was", "an older file changed")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
