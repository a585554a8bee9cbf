#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden errors of schedule files: `STAGESIM schedule CASE.csv` for every CASE.csv in the folder bad/ must print
CASE.stderr, nothing else, and end with 1. Cases that are no file are in the table below. `--update` writes the .stderr
files."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "bad"
NO_FILES = {"absent": "absent.csv", "folder": "folder.csv", "device": "/dev/null"}


def run(command, name, folder):
    file = NO_FILES.get(name, f"{name}.csv")
    result = subprocess.run([command, "schedule", file], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                            timeout=60)
    faults = []
    if result.returncode != 1:
        faults.append(f"exit code {result.returncode}, not 1")
    if result.stdout:
        faults.append("something on standard output")
    return result.stderr.decode("utf-8", "backslashreplace"), faults


def main():
    command, update = str(pathlib.Path(sys.argv[1]).resolve()), "--update" in sys.argv
    names = sorted({path.stem for path in HERE.glob("*.csv")} | set(NO_FILES))
    print(f"1..{len(names)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "bad"
        shutil.copytree(HERE, folder)
        (folder / "folder.csv").mkdir()
        for number, name in enumerate(names, 1):
            errors, faults = run(command, name, folder)
            golden = HERE / f"{name}.stderr"
            if update:
                golden.write_text(errors)
            if not golden.exists() or golden.read_text() != errors:
                faults.append(f"standard error differs from {golden.name}; it is:\n{errors}")
            print("not ok" if faults else "ok", number, "-", name)
            for fault in faults:
                print("\n".join("# " + line for line in fault.splitlines()))


main()
