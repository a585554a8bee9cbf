#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""streams.py STAGESIM: every command with a standard output that is full (exit code 3 and a message), a pipe that
nobody reads (exit code 0, all files there), and with all three standard streams closed (the same files as ever)."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

PLAN = ["--clusters", "dgx-h100:1", "--tokens", "1e9", "--engine", "analytic", "--quiet", "--set",
        "transformer.price=2", "--set", "search.schedules=1f1b"]
# Arguments; the output directory or file that they write, if any.
COMMANDS = {"help": (["--help"], None), "version": (["--version"], None), "command help": (["run", "--help"], None),
            "run": (["run", "s.yaml"], None), "run json": (["run", "s.yaml", "--format", "json"], None),
            "run both": (["run", "s.yaml", "--engine", "both"], None),
            "run into": (["run", "s.yaml", "-o", "out", "--trace", "csv"], "out"),
            "compare": (["compare", "s.yaml", "--schedules", "1f1b,gpipe"], None),
            "compare csv": (["compare", "s.yaml", "--schedules", "1f1b,gpipe", "--format", "csv"], None),
            "compare into": (["compare", "s.yaml", "--schedules", "1f1b,gpipe", "-o", "out"], "out"),
            "train": (["train", "s.yaml", "--set", "failures=llama3", "--set", "training.steps=1000"], None),
            "train into": (["train", "s.yaml", "--set", "failures=llama3", "--set", "training.steps=1000", "-o", "out"],
                           "out"),
            "check": (["check", "s.yaml"], None),
            "schedule": (["schedule", "1f1b", "--workers", "4", "--micro-batches", "8"], None),
            "schedule csv": (["schedule", "1f1b", "--workers", "8", "--micro-batches", "64", "--format", "csv"], None),
            "schedule svg": (["schedule", "1f1b", "--workers", "8", "--micro-batches", "64", "--format", "svg"], None),
            "schedule png": (["schedule", "1f1b", "--workers", "8", "--micro-batches", "512", "--format", "png"], None),
            "collective": (["collective", "all-reduce", "--platform", "platform.xml", "--engine", "analytic"], None),
            "collective svg": (["collective", "all-reduce", "--platform", "platform.xml", "--engine", "analytic",
                                "--format", "svg"], None), "layouts": (["layouts", "l.yaml", "--top", "0"], None),
            "search": (["search", "t.yaml", "--top", "0"], None),
            "search into": (["search", "t.yaml", "--top", "0", "-o", "out"], "out"),
            "plan": (["plan", "t.yaml", *PLAN], None), "plan into": (["plan", "t.yaml", *PLAN, "-o", "out"], "out"),
            "report": (["report", "saved"], None),
            "month fit": (["month", "fit", "jobs.swf"], None),
            "month generate": (["month", "generate", "month.yml"], None),
            "explain": (["explain", "s.yaml", "saved/operations.csv", "-o", "out"], "out"),
            "export": (["export", "t.yaml", "--to", "megatron"], None),
            "platform show": (["platform", "show", "platform.xml"], None),
            "platform show json": (["platform", "show", "platform.xml", "--format", "json"], None),
            "platform generate": (["platform", "generate", "ring", "--nodes", "4"], None),
            "platform import": (["platform", "import", "node.xml"], None),
            "platform fit": (["platform", "fit", "measured.txt", "--platform", "platform.xml", "-o", "out/fitted.xml"],
                             "out"),
            **{f"list {what}": (["list", what], None)
               for what in ("schedules", "workloads", "collectives", "algorithms", "presets", "models", "engines")},
            "list json": (["list", "schedules", "--format", "json"], None),}


def files_of(folder):
    return {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*")
            if path.is_file()} if folder.exists() else {}


def run(binary, folder, arguments, out, redirection=""):
    """Through a shell, which can close streams."""
    if out:
        shutil.rmtree(folder / out, ignore_errors=True)
    result = subprocess.run(["sh", "-c", f'"$0" "$@" {redirection}', binary, *arguments], cwd=folder,
                            capture_output=True, timeout=120)
    return result.returncode, result.stdout, result.stderr.decode(), files_of(folder / out) if out else {}


def into_a_closed_pipe(binary, folder, arguments, out):
    """The reader is gone before the first byte."""
    if out:
        shutil.rmtree(folder / out, ignore_errors=True)
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        result = subprocess.run([binary, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=write_end,
                                stderr=subprocess.PIPE, timeout=120, restore_signals=True)
    finally:
        os.close(write_end)
    return result.returncode, result.stderr.decode(), files_of(folder / out) if out else {}


def check_command(check, binary, folder, name, arguments, out):
    code, printed, errors, files = run(binary, folder, arguments, out)
    check.that(code == 0 and printed, f"{name}: exit code {code}, {len(printed)} bytes\n{errors}")
    check.that(bool(files) == bool(out), f"{name}: files {sorted(files)}")
    code, _, errors, _ = run(binary, folder, arguments, out, ">/dev/full")
    check.that(code == 3 and "standard output: " in errors, f"{name} to a full device: exit code {code}\n{errors}")
    code, errors, some = into_a_closed_pipe(binary, folder, arguments, out)
    check.that(code == 0 and "signal" not in errors and "Broken pipe" not in errors,
               f"{name} to a closed pipe: exit code {code}\n{errors}")
    check.that(some.keys() == files.keys(), f"{name} to a closed pipe: files {sorted(some)}")
    code, _, _, some = run(binary, folder, arguments, out, "<&- >&- 2>&-")
    check.that(code == 0 and some.keys() == files.keys(),
               f"{name} without streams: exit code {code}, files {sorted(some)}")
    for path in some.keys() & files.keys():
        if path not in ("summary.json",) and not path.endswith("/summary.json"):  # these say how long it took
            check.that(some[path] == files[path],
                       f"{name} without streams: {path} has {some[path]} bytes, not {files[path]}")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tool.write_inputs(folder)
        tool.run(binary, "run", "s.yaml", "-o", "saved", "--trace", "csv", cwd=folder)
        for name, (arguments, out) in COMMANDS.items():
            check_command(check, binary, folder, name, arguments, out)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
