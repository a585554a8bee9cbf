#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schema.py [--npm] STAGESIM: what `stagesim schema` prints is what files are checked with. By Ajv, an independent
validator: every shipped scenario, data file of hardware, profile and model is valid, and so is whatever `stagesim
check` takes, with all that a run and calibrate write out. Every golden file with a mistake is not, but those that
beyond.txt names, each with the reason why no schema can tell: that list is exact. Where python3-jsonschema is there,
it has to say the same of all files.

Ajv and js-yaml are Debian's (node-ajv, node-js-yaml); where they are not, or with --npm, they come from npm, of the
versions that package.json says. Skipped where there is neither."""
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

HERE = pathlib.Path(__file__).resolve().parent
BAD = ROOT / "test/bad"
KINDS = ("scenario", "hardware", "framework", "model", "month", "plan", "prices")
SHIPPED = {"scenario": "scenarios/**/*.yaml", "hardware": "platforms/hardware/*/*.yaml",
           "framework": "frameworks/profiles/*.yaml", "model": "workloads/models/*.yaml"}
# Golden files that no name tells to be of a kind.
OF_KIND = {"broken-model.yaml.part": "model", "framework-profile.part": "framework", "queue-job.yaml.part": "scenario"}
HARDWARE = ("product", "device", "wire", "card", "library", "network", "links")
check = Checker()


def works(program, environment):
    return program and subprocess.run([program, "-e", "require('ajv'); require('js-yaml')"], env=environment,
                                      capture_output=True, check=False).returncode == 0


def node(work, npm):
    """A Node.js with both modules: Debian's, which lie in /usr/share/nodejs, else npm's."""
    program = shutil.which("node") or shutil.which("nodejs")
    debian = {**os.environ, "NODE_PATH": "/usr/share/nodejs:" + os.environ.get("NODE_PATH", "")}
    if not npm and works(program, debian):
        return program, debian
    if not program or not shutil.which("npm"):
        return None
    shutil.copy(HERE / "package.json", work / "package.json")
    try:
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=work, capture_output=True,
                       timeout=100, check=False)
    except subprocess.TimeoutExpired:
        return None
    environment = {**os.environ, "NODE_PATH": str(work / "node_modules")}
    return (program, environment) if works(program, environment) else None


def verdicts(validator, schema, files):
    """By file: valid, invalid or unreadable, and why not."""
    program, environment = validator
    done = subprocess.run([program, HERE / "validate.js", schema, *files], env=environment, capture_output=True,
                          text=True, check=False)
    check.that(done.returncode == 0, done.stderr)
    found = {pathlib.Path(name): (verdict, reason) for name, verdict, reason in
             (line.split("\t") for line in done.stdout.splitlines())}
    also_python(schema, {file: verdict for file, (verdict, _) in found.items()})
    return found


def also_python(schema, found):
    """The same verdicts by another validator, where it is installed."""
    try:
        import jsonschema
        import yaml
    except ImportError:
        return
    validator = jsonschema.Draft7Validator(json.loads(schema.read_text()))
    loader = type("Loader", (yaml.SafeLoader,), {})  # as YAML 1.2, whose dates and "yes" are texts
    loader.yaml_implicit_resolvers = {}
    for tag, pattern, first in (("bool", r"^(?:true|false)$", "tf"), ("null", r"^(?:~|null|)$", ["~", "n", ""]),
                                ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
                                ("float", r"^[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?$", "-+0123456789")):
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))
    for file, verdict in found.items():
        try:
            value = yaml.load(file.read_text(encoding="utf-8"), loader)
        except (yaml.YAMLError, UnicodeDecodeError):
            continue  # what one of the readers cannot read is no matter of the schema
        if verdict == "unreadable":
            continue
        check.that(validator.is_valid(value) == (verdict == "valid"), f"{file} is {verdict} by Ajv alone")


def is_taken(stagesim, path):
    return run(stagesim, "check", path.name, cwd=path.parent, expect=None).returncode == 0


def written(stagesim, work):
    """Scenarios as runs write them, with every key that counts."""
    for path in sorted((ROOT / "scenarios").glob("*.yaml")):
        if is_job(path):
            out = work / path.stem
            if run(stagesim, "run", path, "--engine", "analytic", "-o", out, "--quiet", expect=None).returncode == 0:
                yield out / "scenario.yaml"


def calibrated(stagesim, work):
    """A profile as calibrate writes it."""
    scenario = work / "job.yaml"
    scenario.write_text("platform: dgx-h100:2\nworkload: transformer\nmodel: llama3-8b\nframework: megatron\n"
                        "parallel: {tensor: 2, data: 4, pipeline: 2}\nbatch: {global: 64, micro: 1}\n"
                        "transformer: {sequence_parallel: true}\nschedule: 1f1b\n")
    run(stagesim, "calibrate", scenario, "--measured", "5s", "-o", work / "mine.yaml")
    return [work / "mine.yaml"]


def kind_of(name):
    """What kind of file a golden one is; None: none that has a schema."""
    if name in OF_KIND:
        return OF_KIND[name]
    path = pathlib.Path(name)
    if path.suffix == ".yml":
        return "month"
    if path.suffix != ".yaml":
        return None
    if path.parent.name == "data" and not path.name.startswith("of-"):
        first = path.name.split("-")[0]
        return "hardware" if first in HARDWARE else first
    return "scenario"


def golden():
    """Files with a mistake, by kind: where the first message of a golden case names one, it is in there."""
    found = {kind: set() for kind in KINDS}
    for told in sorted(BAD.glob("*.stderr")):
        named = re.match(r"(?:\./)?([\w./-]+):\d+(?::\d+)?: error: ", told.read_text(encoding="utf-8"))
        if not named or not (BAD / named.group(1)).is_file():
            continue
        changed = told.with_suffix(".args").exists() and named.group(1) == told.stem + ".yaml"
        kind = kind_of(named.group(1))
        if kind and not changed:  # with --set the file by itself may be good
            found[kind].add(BAD / named.group(1))
    return found


def beyond():
    """Names that beyond.txt has, each below a reason."""
    names, reasons = [], 0
    for line in (HERE / "beyond.txt").read_text().splitlines():
        if line.startswith("  "):
            names += line.split()
        elif line and not line.startswith("#"):
            reasons += 1
    check.that(len(names) == len(set(names)) and reasons > 3, "beyond.txt names a file twice, or has no reasons")
    return set(names)


def every_key(schema):
    """Each key that a workload's scenario may have is described."""
    for rule in schema["allOf"]:
        names = rule["then"].get("propertyNames", {}).get("enum", [])
        missing = set(names) - set(schema["properties"]) - set(rule["then"].get("properties", {}))
        check.that(not missing, f"keys {sorted(missing)} may be there, and nothing is said of them")


def main():
    npm = "--npm" in sys.argv
    sys.argv = [each for each in sys.argv if each != "--npm"]
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        validator = node(work, npm)
        if not validator:
            print("skipped: there is no Node.js with the modules ajv and js-yaml, nor an npm that brings them")
            return 77
        bad, listed, told = golden(), beyond(), set()
        good = {kind: sorted(ROOT.glob(SHIPPED[kind])) if kind in SHIPPED else [] for kind in KINDS}
        shipped = {kind: len(files) for kind, files in good.items()}
        good["scenario"] += [path for path in sorted(BAD.glob("*.yaml")) if is_taken(stagesim, path)]
        good["scenario"] += written(stagesim, work)
        good["framework"] += calibrated(stagesim, work)
        refused = {}
        for kind in KINDS:
            schema = work / f"{kind}.schema.json"
            schema.write_text(run(stagesim, "schema", kind).stdout)
            if kind == "scenario":
                every_key(json.loads(schema.read_text()))
            for file, (verdict, reason) in verdicts(validator, schema, good[kind]).items():
                check.that(verdict == "valid", f"{file} is {verdict}: {reason}")
            found = verdicts(validator, schema, sorted(bad[kind]))
            valid = {str(file.relative_to(BAD)) for file, (verdict, _) in found.items() if verdict == "valid"}
            told |= valid
            refused[kind] = len(found) - len(valid)
            print(f"{kind}: {len(good[kind])} good files are valid, {shipped[kind]} of them shipped; of {len(found)} "
                  f"with a mistake {refused[kind]} are refused")
        check.that(told == listed, f"valid beside beyond.txt: {sorted(told - listed)}; "
                                   f"refused or gone: {sorted(listed - told)}")
        check.that(sum(shipped.values()) > 320 and min(refused.values()) >= 1 and refused["scenario"] > 80,
                   f"too few files: {shipped}, {refused}")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
