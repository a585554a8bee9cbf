#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""killed.py STAGESIM: a command that is killed (SIGKILL) at a random moment leaves the old set of output files or the
new one, never a mixture, the user's files untouched, and at most one marked folder, which is gone after the next
run."""
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

MINE = {"notes.txt": "notes", "mine/deep/kept": "kept", "s-1f1b/mine": "beside the outputs"}


# At how many moments it is killed, and what it is called with to write one set of files or the other.
COMMANDS = {
    "run": (70, ["run", "s.yaml", "--trace", "csv,paje,chrome", "--report", "--set", "stages.forward=TIME"]),
    "compare": (70, ["compare", "s.yaml", "--schedules", "1f1b,gpipe", "--trace", "csv", "--picture", "svg", "--set",
                     "stages.forward=TIME"]),
    "search": (40, ["search", "t.yaml", "--jobs", "1", "--top", "0", "--set", "batch.global=TIME2"]),
}
REPORTS = 20


def content(out):
    """The set of files in the directory, without the user's."""
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*"))
            if path.is_file() and str(path.relative_to(out)) not in MINE}


def without_clock(files):
    """summary.json and the reports say how long the simulation took."""
    return {
        name: b"\n".join(line for line in text.split(b"\n") if b"wall" not in line and b"per_second" not in line
                         and b"rss" not in line) for name, text in files.items()}


def put_mine(out):
    for name, text in MINE.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)


def check_mine(check, out, inodes, what):
    for name, text in MINE.items():
        path = out / name
        check.that(path.is_file() and path.read_text() == text and path.stat().st_ino == inodes[name],
                   f"{what}: {name} is not as it was")


def with_time(binary, arguments, value):
    return [binary, *(argument.replace("TIME2", value[0] + "2").replace("TIME", value) for argument in arguments),
            "--quiet", "-o", "out"]


def kill(command, folder, seconds):
    """At a moment of its whole length, or soon after it."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(random.uniform(0, 1.3 * seconds))
        process.send_signal(signal.SIGKILL)
        process.wait()


def left_in(folder, inputs):
    """What a killed command left: a search's journal is kept, to go on from."""
    return [path.name for path in folder.iterdir() if path.name not in ("out", "out.journal", *inputs)]


def sweep(check, binary, folder, name, arguments, moments):
    """Kills at random moments of a run's whole length."""
    out = folder / "out"
    expected, seconds = {}, 0
    for value in ("2s", "1s"):
        started = time.monotonic()
        tool.run(*with_time(binary, arguments, value), cwd=folder)
        seconds = time.monotonic() - started
        expected[value] = without_clock(content(out))
    check.that(expected["1s"].keys() == expected["2s"].keys() and expected["1s"] != expected["2s"],
               f"{name}: the two sets do not differ")
    put_mine(out)
    inputs = [path.name for path in folder.iterdir() if path.name != "out"]
    inodes = {path: (out / path).stat().st_ino for path in MINE}
    old, news, left = "1s", 0, 0
    for moment in range(moments):
        new = "2s" if old == "1s" else "1s"
        what = f"{name}, moment {moment}"
        kill(with_time(binary, arguments, new), folder, seconds)
        found = without_clock(content(out))
        is_new = found == expected[new]
        check.that(is_new or found == expected[old], f"{what}: neither the old files nor the new ones, a mixture")
        check_mine(check, out, inodes, what)
        siblings = left_in(folder, inputs)
        check.that(siblings in ([], [".out.stagesim"]), f"{what}: left {siblings}")
        news += is_new
        left += bool(siblings)
        old = new if is_new else old
    tool.run(*with_time(binary, arguments, old), cwd=folder)
    check.that(without_clock(content(out)) == expected[old], f"{name}: the next run")
    check_mine(check, out, inodes, f"{name}: the next run")
    check.that(sorted(path.name for path in folder.iterdir()) == sorted(["out", *inputs]),
               f"{name}: what was left is still there")
    print(f"{name}: killed at {moments} moments, {news} times the new files were there, {left} times a marked folder "
          f"was left")
    return news, left


def sweep_report(check, binary, folder):
    """Its files stand among those that it reads: they are all older ones, or all its own."""
    out, drawn = folder / "out", ("report.html", "timeline.svg")
    tool.run(binary, "run", "s.yaml", "-o", "out", "--trace", "csv", "--quiet", cwd=folder)
    read = content(out)
    put_mine(out)
    inputs = [path.name for path in folder.iterdir() if path.name != "out"]
    inodes = {path: (out / path).stat().st_ino for path in MINE}
    started = time.monotonic()
    tool.run(binary, "report", "out", "--quiet", cwd=folder)
    seconds, new = time.monotonic() - started, content(out)
    old = {**read, **{name: b"older" for name in drawn}}
    check.that(new.keys() == old.keys(), f"report: {sorted(new)}")
    for moment in range(REPORTS):
        for name in drawn:
            (out / name).write_bytes(b"older")
            tool.as_own(out / name)
        kill([binary, "report", "out", "--quiet"], folder, seconds)
        check.that(content(out) in (old, new), f"report, moment {moment}: a mixture")
        check_mine(check, out, inodes, f"report, moment {moment}")
        check.that(left_in(folder, inputs) in ([], [".out.stagesim"]), f"report: left {left_in(folder, inputs)}")
    tool.run(binary, "report", "out", "--quiet", cwd=folder)
    check.that(content(out) == new and not left_in(folder, inputs), "report: the next run")


def main():
    random.seed(1)
    check, binary = tool.Checker(), tool.binary_argument()
    news = left = 0
    for name, (moments, arguments) in {**COMMANDS, "report": (REPORTS, None)}.items():
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            tool.write_inputs(folder)
            tool.write_scenario(folder / "s.yaml", "platform.xml", "1f1b", 4, 16, more="engine: analytic\n")
            some = sweep(check, binary, folder, name, arguments, moments) if arguments else (0, 0)
            news, left = news + some[0], left + some[1]
            if not arguments:
                sweep_report(check, binary, folder)
    check.that(news > 0, "no run was killed after its files had appeared")
    check.that(left > 0, "no run was killed while it wrote")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
