#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sets every key of doc/scenario.md in every shipped scenario: it changes the results, is refused, or is told of. A
hash chooses a tenth of the cases; all of them with --all, or where ./check --long asks for more samples than usual.

Usage: keys.py BINARY [--all] [SCENARIO...]
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

# What has no result by its meaning, and says so on its page: names, how results are computed, and where they are shown.
WITHOUT_RESULT = {
    "name": "what outputs call the scenario",
    "fold": "results are the same (doc/engines.md)",
    "steady": "results are the same (doc/engines.md)",
    "loader": "results are the same (doc/platforms.md)",
    "output.font_size": "of pictures alone", "output.picture_width": "of pictures alone",
    "output.picture_iterations": "of pictures alone", "output.picture": "of pictures alone",
    "output.report": "of a page", "output.trace": "of files", "output.replicas": "of files",
    "output.nearest": "of a page (test/studies/search/nearest.py)",
    "platform": "the values are files", "workload": "another job", "framework": "a set of keys",
    "platform.file": "the values are files", "platform.preset": "another platform",
    "schedule.file": "the values are files",
    **{f"plan.{key}": "of plans (test/commands/plan.py)" for key in ("platforms", "nics", "tapers", "by", "below",
                                                                      "carbon", "what_if", "law", "jobs",
                                                                      "weight")},
    **{f"prices.{key}": "of plans (test/commands/plan.py)" for key in ("currency", "offers")},
    "imported.from": "what an import left open", "imported.not_modelled": "what an import left open",
    "imported.not_known": "what an import left open", "imported.assumed": "what an import left open",
}

# A search of few layouts; a value of `search` comes behind, and replaces these.
SEARCH = ["engine=analytic", "search.micro=1", "search.schedules=[1f1b, interleaved]", "search.recompute=none",
          "search.zero=0", "search.sequence_parallel=false"]
SEARCHED = ("transformer", "layers")

# What has a meaning in a job and may leave it as it is: an algorithm that auto takes as well, host time that is hidden
# behind the device, buckets that are larger than a layer, a shape with as much work. Each has to change some scenario.
BY_CHANCE = {
    "communication.all_reduce", "communication.reduce_scatter", "communication.all_gather", "communication.all_to_all",
    "communication.broadcast", "communication.reduce", "communication.collectives", "communication.messages",
    "model.tied", "transformer.bucket", "dlrm.bucket", "model.heads", "model.kv_heads", "compute.dispatch",
    "compute.expert_dispatch",
}

ALL = "--all" in sys.argv or int(os.environ.get("STAGESIM_SAMPLES", "100")) > 100
SHARE = int(os.environ.get("STAGESIM_SAMPLES", "100"))  # of a thousand

# What a key of a section is set beside, so that its own effect is seen and not that of having the section.
BESIDE = {"tails": ["tails.like=usual", "tails.steps=100"]}

# Values that are what the key stands for where it is not given.
SAME = {("model.norms", "2"), ("search.objective", "time"), ("search.alike", "once"), ("search.chunks", "2")}
# SimGrid takes minutes for jobs of more ranks, whose results on it other tests have, and so do steps that vary.
SIMGRID_RANKS = 512
# Layouts that are the same job, and all GPUs of a platform, are not in every search.
SEARCHED_BY_CHANCE = ("search.alike", "search.gpus")

VALUES = {
    "count": ["2", "3", "16"], "ratio": ["0.5", "1.5", "3"], "time": ["3ms", "20us"], "size": ["7MB", "3GB"],
    "rate": ["3GBps"], "speed": ["3Tf"], "flag": ["true", "false"], "power": ["300W", "500W"],
    "text or list": ["2"], "text": ["2"], "file": ["missing.csv"], "count or list": ["2", "[2, 2]"],
    "size or list": ["7MB"], "time or list": ["3ms"], "elements or size": ["3MB"], "number or list": ["2"],
    "list of maps, or csv file": ["missing.csv"], "word or list": [],
    "time or distribution": ["3ms", "{exponential: 4h}"], "factor or distribution": ["1.5", "{uniform: [1, 2]}"],
}


def read_keys():
    """[(workload or None, key, candidate values)] of the page's tables, without columns of tables."""
    keys, section = [], None
    workloads = ("stages", "transformer", "layers", "dlrm")
    for line in (tool.ROOT / "doc/scenario.md").read_text().splitlines():
        if match := re.match(r"<!-- keys: (.*) -->", line):
            section = match.group(1)
        elif match := re.match(r"\| `([^`]*)` \| (.*?) \| ", line):
            key, kind = match.groups()
            words = re.findall(r"`([^`]*)`", kind)
            if section and "[]" not in key:
                key = f"simgrid.{key}" if section == "simgrid" else key
                keys.append((section if section in workloads else None, key, words or VALUES[kind]))
    return keys


def stripped(text):
    """What a run found, without what it cost and what it was called."""
    found = json.loads(text)
    for key in ("run", "simulation", "inputs", "wall", "command"):
        found.pop(key, None)
    return found


def simulate(binary, scenario, folder, sets):
    out = pathlib.Path(folder) / "out"
    shutil.rmtree(out, ignore_errors=True)
    options = [option for each in sets for option in ("--set", each)]
    result = tool.run(binary, "run", scenario, *options, "-o", out, expect=None)
    if result.returncode:
        return result, None, None
    return result, stripped((out / "summary.json").read_text()), (out / "scenario.yaml").read_text()


def notes(result):
    return {line for line in result.stderr.splitlines() if "note:" in line}


def search(binary, scenario, sets):
    """What a search prints, which times its layouts and simulates none."""
    options = [option for each in sets for option in ("--set", each)]
    result = tool.run(binary, "search", scenario, *options, "--top", "0", "--format", "csv", expect=None)
    return result, result.stdout if result.returncode == 0 else None


def check_searches(binary, scenario, keys):
    """The same of the keys of `search`: words that mean nothing are refused, numbers have an effect or a note."""
    silent, cases, text = [], 0, scenario.read_text()
    chosen = [(key, value) for _, key, values in keys for value in ("nonsense", "2", *[v for v in values if v != "2"])
              if (key, value) not in SAME and is_chosen(scenario, key, value) and not is_own(text, key, value)]
    base, rows = search(binary, scenario, SEARCH) if chosen else (None, None)
    for key, value in chosen if rows else ():
        cases += 1
        sets = [each for each in SEARCH if not each.startswith(f"{key}=")]
        result, found = search(binary, scenario, [*sets, f"{key}={value}"])
        if not (result.returncode or found != rows or notes(result) - notes(base) or key in SEARCHED_BY_CHANCE):
            silent.append(f"{scenario.relative_to(tool.ROOT)}: {key}={value}")
        if value == "nonsense" and not result.returncode and not notes(result) - notes(base):
            silent.append(f"{scenario.relative_to(tool.ROOT)}: {key}={value} is taken")
    return silent, cases


def is_own(text, key, value):
    """Whether a search has this size of an axis anyway: the default of context, x, y and z is the scenario's."""
    axis = re.fullmatch(r"search\.(context|x|y|z)", key)
    return bool(axis and re.search(rf"^parallel: *\{{.*\b{axis.group(1)}: *{value}\b", text, re.M))


def is_chosen(scenario, key, value):
    number = hashlib.sha256(f"{scenario.name} {key} {value}".encode()).digest()
    return ALL or int.from_bytes(number[:2], "big") % 1000 < SHARE


def check_scenario(binary, scenario, keys, searched):
    """Cases in which nothing is said; keys that changed something; how many cases there were."""
    workload = re.search(r"^workload: *(\w+)", scenario.read_text(), re.M).group(1)
    silent, changed, cases = [], set(), 0
    if workload in SEARCHED:
        silent, cases = check_searches(binary, scenario, searched)
    with tempfile.TemporaryDirectory() as folder:
        bases = {}

        def base_of(beside):
            if tuple(beside) not in bases:
                bases[tuple(beside)] = simulate(binary, scenario, folder, ["engine=analytic", *beside])
            return bases[tuple(beside)]

        base = base_of([])[0]
        assert not base.returncode, base.stderr
        ranks = int(re.search(r" on (\d+) ranks of ", base.stdout).group(1))
        for section, key, values in keys:
            if section not in (None, workload):
                continue
            for value in values:
                long = key.startswith("tails.") or (key == "engine" and value != "analytic")
                slow = long and ranks > SIMGRID_RANKS
                if (key, value) in SAME or slow or not is_chosen(scenario, key, value):
                    continue
                cases += 1
                beside = BESIDE.get(key.split(".")[0], [])
                if base_of(beside)[0].returncode or notes(base_of(beside)[0]) - notes(base):
                    beside = []  # the scenario has no use for the section
                other = base_of(beside)
                sets = [each for each in beside if not each.startswith(f"{key}=")]
                result, others, same = simulate(binary, scenario, folder, ["engine=analytic", *sets, f"{key}={value}"])
                if not result.returncode and others != other[1]:
                    changed.add(key)
                elif not (result.returncode or notes(result) - notes(other[0]) or same == other[2]
                          or key in BY_CHANCE):
                    silent.append(f"{scenario.relative_to(tool.ROOT)}: {key}={value}")
    return silent, changed, cases


def main():
    binary = tool.binary_argument()
    checker = tool.Checker()
    known = [entry for entry in read_keys() if entry[1] not in WITHOUT_RESULT]
    keys = [entry for entry in known if not entry[1].startswith("search.")]
    searched = [entry for entry in known if entry[1].startswith("search.")]
    folder = tool.ROOT / "scenarios"
    scenarios = [pathlib.Path(name).resolve() for name in sys.argv[2:] if name != "--all"] or [
        path for path in sorted(folder.glob("**/*.yaml")) if tool.is_job(path)]
    changed = set()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for silent, effective, cases in pool.map(lambda path: check_scenario(binary, path, keys, searched), scenarios):
            checker.checks += cases
            changed |= effective
            for text in silent:
                checker.that(False, f"{text} changes nothing, and nothing is said")
    for key in sorted(BY_CHANCE - changed if ALL and len(scenarios) > 10 else ()):
        checker.that(key in ("communication.reduce", ), f"{key} changes no shipped scenario")
    return checker.done()


if __name__ == "__main__":
    sys.exit(main())
