#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schema.py STAGESIM: what `stagesim schema` prints is what scenarios are checked with. By Ajv, an independent
validator: whatever `stagesim check` takes is valid, with all that a run writes out, and golden scenarios with a mistake
in a key, a word, a unit or a bound are not. Skipped where Node.js with ajv and js-yaml is not installed."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool import ROOT, Checker, binary_argument, is_job, run

VALIDATE = pathlib.Path(__file__).with_name("validate.js")
# What of messages is about a value by itself. Others are about values that do not go together, or about other files.
ALONE = re.compile(r"is not a key of|is not known; expected|"
                   r"is \S+; expected (at least|at most|more than 0|true or false)|"
                   r"has no unit|is no unit of|does not begin with a digit|is negative|; expected a map such as|"
                   r"has text after the number|is an empty list|there is no schedule '")
# Golden mistakes of this kind that lie where no schema of the file looks.
ELSEWHERE = {
    "framework-profile": "in a profile", "jobs-inner": "in a job's own scenario", "layers-cells": "in a table",
    "section-file-wrong": "in a model's file", "layers-split": "a rank that the job has not",
    "layers-count": "an axis that the workload has not", "zero-gather-pieces": "of a stage's weights",
    "idle-jobs-too-many": "of all jobs together"}
check = Checker()


def node():
    """Debian's, whose modules lie in /usr/share/nodejs."""
    environment = {**os.environ, "NODE_PATH": "/usr/share/nodejs:" + os.environ.get("NODE_PATH", "")}
    program = shutil.which("node") or shutil.which("nodejs")
    there = program and subprocess.run([program, "-e", "require('ajv'); require('js-yaml')"], env=environment,
                                       capture_output=True, check=False).returncode == 0
    return (program, environment) if there else None


def verdicts(validator, schema, files):
    program, environment = validator
    done = subprocess.run([program, VALIDATE, schema, *files], env=environment, capture_output=True, text=True,
                          check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def is_taken(stagesim, path):
    return run(stagesim, "check", path.name, cwd=path.parent, expect=None).returncode == 0


def written(stagesim, work):
    """Scenarios as runs write them, with every key that counts."""
    for path in sorted((ROOT / "scenarios").glob("*.yaml")):
        if is_job(path):
            out = work / path.stem
            if run(stagesim, "run", path, "--engine", "analytic", "-o", out, "--quiet", expect=None).returncode == 0:
                yield out / "scenario.yaml"


def golden(work):
    """Golden mistakes that the schema has to find: those of scenarios in a file of their own."""
    for path in sorted((ROOT / "test/bad").glob("*.yaml")):
        told, first = path.with_suffix(".stderr"), ""
        if told.is_file() and not path.with_suffix(".command").is_file():
            first = told.read_text().split("\n")[0]
        alone = first.startswith(f"{path.name}:") and ALONE.search(first)
        if alone and path.stem not in ELSEWHERE:
            yield path


def every_key(schema):
    """Each key that a workload's scenario may have is described."""
    for rule in schema["allOf"]:
        names = rule["then"].get("propertyNames", {}).get("enum", [])
        missing = set(names) - set(schema["properties"]) - set(rule["then"].get("properties", {}))
        check.that(not missing, f"keys {sorted(missing)} may be there, and nothing is said of them")


def main():
    stagesim, validator = binary_argument(), node()
    if not validator:
        print("skipped: there is no Node.js with the modules ajv and js-yaml")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        schema = work / "scenario.schema.json"
        schema.write_text(run(stagesim, "schema", "scenario").stdout)
        every_key(json.loads(schema.read_text()))
        good = sorted((ROOT / "scenarios").rglob("*.yaml"))
        good += [path for path in sorted((ROOT / "test/bad").glob("*.yaml")) if is_taken(stagesim, path)]
        good += written(stagesim, work)
        for file, verdict, reason in verdicts(validator, schema, good):
            check.that(verdict == "valid", f"{file} is {verdict}: {reason}")
        bad = list(golden(work))
        check.that(len(good) > 80 and len(bad) > 40, f"{len(good)} good files and {len(bad)} bad ones are too few")
        for file, verdict, _ in verdicts(validator, schema, bad):
            check.that(verdict != "valid", f"{file} is valid")
        print(f"{len(good)} files are valid, {len(bad)} are not")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
