#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden errors: runs `COMMAND check CASE.yaml` for every case of this folder and compares standard error.

A case is CASE.yaml, or CASE.sh that prints it; optionally CASE.args with further arguments; and CASE.stderr with what must
come out. The exit code must be 1, standard output empty, and no file may appear. `--update` writes the .stderr files.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def snapshot(folder):
    return {path.name: path.stat().st_size for path in folder.iterdir()}


def run_case(command, name, folder, plugins):
    script = folder / f"{name}.sh"
    if script.exists():
        with open(folder / f"{name}.yaml", "wb") as out:
            subprocess.run(["sh", script], stdout=out, check=True)
    arguments = folder / f"{name}.args"
    extra = shlex.split(arguments.read_text()) if arguments.exists() else []
    before = snapshot(folder)
    environment = dict(os.environ, STAGESIM_PLUGINS=plugins, LC_ALL="C")
    result = subprocess.run([command, "check", f"{name}.yaml", *extra], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            capture_output=True, timeout=60)
    errors = result.stderr.decode("utf-8", "backslashreplace").replace(plugins, "PLUGINS")
    faults = []
    if result.returncode != 1:
        faults.append(f"exit code {result.returncode}, not 1")
    if result.stdout:
        faults.append(f"standard output: {result.stdout[:200]}")
    if snapshot(folder) != before:
        faults.append("files appeared or changed")
    return errors, faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("plugins", help="folder with the test plug-ins")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    names = sorted({path.stem for pattern in ("*.yaml", "*.sh") for path in HERE.glob(pattern)})
    names = [name for name in names if not options.cases or name in options.cases]
    print(f"1..{len(names)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "bad"
        shutil.copytree(HERE, folder)
        for number, name in enumerate(names, 1):
            errors, faults = run_case(os.path.abspath(options.command), name, folder, os.path.abspath(options.plugins))
            golden = HERE / f"{name}.stderr"
            if options.update:
                golden.write_text(errors)
            if not golden.exists() or golden.read_text() != errors:
                faults.append(f"standard error differs from {golden.name}; it is:\n{errors}")
            print("ok" if not faults else "not ok", number, "-", name)
            for fault in faults:
                print("\n".join("# " + line for line in fault.splitlines()))


if __name__ == "__main__":
    sys.exit(main())
