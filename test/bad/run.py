#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden errors: runs `COMMAND check CASE.yaml` for every case of this folder and compares standard error.

A case is CASE.yaml, or CASE.sh that prints it, optionally with CASE.args, further arguments; or CASE.command with all
arguments; and CASE.stderr with what must come out. The exit code must be 1, 2 where the usage is printed, standard
output empty, and no file may appear or change. `--update` writes the .stderr files. """
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def snapshot(folder):
    return {path.relative_to(folder): path.stat().st_size for path in folder.rglob("*")}


def generate(folder):
    for script in folder.glob("*.sh"):
        with open(script.with_suffix(".yaml"), "wb") as out:
            subprocess.run(["sh", script], stdout=out, check=True)


def arguments(folder, name):
    whole, extra = folder / f"{name}.command", folder / f"{name}.args"
    if whole.exists():
        return shlex.split(whole.read_text())
    return ["check", f"{name}.yaml", *(shlex.split(extra.read_text()) if extra.exists() else [])]


def run_case(command, name, folder):
    environment = dict(os.environ, STAGESIM_PLUGINS="PLUGINS", LC_ALL="C")
    result = subprocess.run([command, *arguments(folder, name)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            capture_output=True, timeout=180)  # a sanitizer takes long
    errors = result.stderr.decode("utf-8", "backslashreplace")
    errors = re.sub(r"^stagesim: .* s so far.*\n", "", errors, flags=re.MULTILINE)  # a slow machine
    faults = []
    expected = 2 if "\nusage: " in errors else 1
    if result.returncode != expected:
        faults.append(f"exit code {result.returncode}, not {expected}")
    if result.stdout:
        faults.append(f"standard output: {result.stdout[:200]}")
    return errors, faults


def compare(name, errors, update):
    golden = HERE / f"{name}.stderr"
    if update:
        golden.write_text(errors)
    if golden.exists() and golden.read_text() == errors:
        return []
    return [f"standard error differs from {golden.name}; it is:\n{errors}"]


def report(number, name, faults):
    print("ok" if not faults else "not ok", number, "-", name)
    for fault in faults:
        print("\n".join("# " + line for line in fault.splitlines()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("plugins", help="folder with the test plug-ins")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    command, plugins = os.path.abspath(options.command), os.path.abspath(options.plugins)
    names = sorted({path.stem for pattern in ("*.yaml", "*.sh", "*.command") for path in HERE.glob(pattern)})
    names = [name for name in names if not options.cases or name in options.cases]
    print(f"1..{len(names) + 1}")
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(temporary) / "bad"
        shutil.copytree(HERE, folder)
        generate(folder)
        # Seen by the same short path on every machine: where a message is broken must not depend on it.
        (folder / "PLUGINS").symlink_to(plugins)
        before = snapshot(folder)
        results = list(pool.map(lambda name: run_case(command, name, folder), names))
        for number, (name, (errors, faults)) in enumerate(zip(names, results), 1):
            report(number, name, faults + compare(name, errors, options.update))
        report(len(names) + 1, "no file appeared or changed",
               [] if snapshot(folder) == before else ["files appeared or changed"])


if __name__ == "__main__":
    sys.exit(main())
