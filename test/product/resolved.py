#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""resolved.py STAGESIM PRINT_KEYS: every -o DIR holds scenario.yaml, which gives the same bytes again, and about.json.

Runs every shipped scenario with all outputs, and some of them with options drawn at random, and runs what they wrote
again: all files are the same, names of files, the time that a run took and about.json apart. Every key that the
reader's tables have stands in scenario.yaml, with its value or as a comment. compare, sweep and search are had again
from theirs, too. A file that has changed since is noticed."""
import csv
import hashlib
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, is_job, run, sampled

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUTS = ["--trace", "csv,chrome", "--picture", "svg", "--report"]
# Those that take long have fewer outputs.
SLOW = {"parameter-server": [], "deepseek-v3": [], "mixtral-8x7b": []}
OPTIONS = {
    "demo": ["schedule=chimera", "schedule=zb-h1", "schedule={name: interleaved, chunks: 3}", "order=[data, pipeline]",
             "iterations=2", "what_if=[\"gpu-1=0.8\", \"*.latency=2\"]", "memory.reserve=0", "engine=both", "fold=off",
             "stages.weight=20ms", "communication.messages=pipelined", "communication.all_reduce=ring",
             "simgrid.network/crosstraffic=1", "batch.global=1024", "platform=ring-8.xml", "parallel.data=2",
             "name=a b, c", "output.replicas=all", "stages.attention=0.25", "stages.optimizer=1ms"],
    "llama3-70b": ["platform={preset: dgx-h100, nodes: 4, pod: 2, oversubscription: 2}", "platform=dgx-a100:4:ib-hdr",
                   "model.layers=64", "model.sequence=2048", "transformer.tokens=1e12", "transformer.extra_memory=1GiB",
                   "compute.unfused=1.5", "schedule=gpipe", "compute.efficiency=0.5", "parallel.expert_tensor=1",
                   "transformer.bucket=12.5MB", "communication.overlap=false", "engine=analytic", "steady=off",
                   "transformer.logits_bytes=6", "transformer.zero=1", "placement=nic-aware",
                   "communication.all_reduce=hierarchical", "loader=simgrid"],
    "mixtral-8x7b": ["parallel.expert=4", "transformer.expert_overlap=true", "transformer.dispatch=fp8",
                     "transformer.capacity_factor=1.25", "transformer.context_method=all-gather",
                     "schedule=eager-1f1b"],
    "parameter-server": ["layers.servers=4", "layers.consistency=stale", "layers.optimizer=adam", "iterations=3",
                         "layers.shards=layers", "layers.compression=4", "layers.server_bandwidth=100GBps",
                         "compute.precision=fp16"],
}
check = Checker()


def plain(path):
    """A file without names of files and times."""
    text = path.read_bytes()
    if path.name == "summary.json":
        figures = json.loads(text)
        figures.pop("simulation", None)
        figures.setdefault("scenario", {}).pop("file", None)
        if "platform" in figures["scenario"]:
            figures["scenario"]["platform"] = re.sub(r"^[^ ]*/", "", figures["scenario"]["platform"])
        return json.dumps(figures).encode()
    if path.name == "queue.json":
        return re.sub(rb'stagesim run [^"]*', b"COMMAND", text)
    if path.name in ("report.html", "search.html"):
        text = re.sub(rb"stagesim run [^<]*", b"COMMAND", text)
        text = re.sub(rb"scenario [^ <]* sha256 [0-9a-f]{64}", b"SCENARIO", text)
        lines = text.split(b"\n")
        return b"\n".join(re.sub(rb'(?:[^\s<>"]*/)?[^\s<>"/]*\.(?:yaml|xml)', b"FILE", line)
                          if b".yaml" in line or b".xml" in line else line for line in lines)
    return text


def figures_of(folder):
    return json.loads((folder / "summary.json").read_text())


def files_of(folder):
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in ("about.json", "best.yaml")}


def same(name, first, second):
    one, other = files_of(first), files_of(second)
    check.that(one.keys() == other.keys() and len(one) > 1, f"{name}: files {sorted(one)} and {sorted(other)}")
    for file in one.keys() & other.keys():
        check.that(plain(one[file]) == plain(other[file]), f"{name}: {file} differs")


def again(stagesim, work, name, file, *arguments):
    """Runs, runs what was written, compares; where it wrote, or None for a job that is refused."""
    first, second = work / "first", work / "second"
    for folder in (first, second):
        shutil.rmtree(folder, ignore_errors=True)
    result = subprocess.run([stagesim, "run", str(file), *arguments, "--quiet", "-o", str(first)], cwd=work,
                            capture_output=True, text=True)
    if result.returncode == 1:
        return None
    check.that(result.returncode == 0, f"{name}: {result.stderr}")
    run(stagesim, "run", "first/scenario.yaml", "--quiet", "-o", second, cwd=work)
    same(f"{name} {arguments}", first, second)
    about(name, first, work)
    return first


def about(name, folder, work):
    said = json.loads((folder / "about.json").read_text())
    check.that(said["stagesim"] and said["command"].startswith("stagesim ") and said["directory"] == str(work),
          f"{name}: {said}")
    check.that({"simgrid", "hwloc", "libyaml", "cairo", "expat", "zlib"} <= said["libraries"].keys()
               and said["compiler"],
          f"{name}: libraries")
    for each in said["inputs"]:
        if "file" in each:
            found = hashlib.sha256((work / each["file"]).read_bytes()).hexdigest()
            check.that(found == each["sha256"], f"{name}: hash of {each}")
    check.that(said["inputs"][0]["role"] == "scenario", f"{name}: inputs")


def known_keys(print_keys):
    """The keys of each block of print-keys, with the section that they are in: root keys in ''."""
    blocks = {}
    printed = subprocess.check_output([print_keys], text=True)
    for name, text in re.findall(r"<!-- keys: (\S+) -->\n(.*?)<!-- end -->", printed, re.S):
        blocks[name] = re.findall(r"^\| `([^`]+)`", text, re.M)
    return blocks


def keys_in(text):
    """The keys of a resolved scenario, also those in comments, as paths; and the tables that it has rows of."""
    found, tables, section, table = set(), set(), "", ""
    for line in text.splitlines():
        top = re.match(r"(?:# )?([a-z_]+):", line)
        below = re.match(r"  (?:# )?([\w/\[\].-]+):", line)
        if top:
            section = top.group(1)
            found.add(section)
        elif below:
            table = f"{section}.{below.group(1)}"
            found.add(table)
        for row in re.findall(r"([a-z_]+): ", line) if line.startswith("    {") else []:
            found.add(f"{table}[].{row}")
            tables.add(table)
    return found, tables


def every_key(blocks, workload, folder, name):
    found, tables = keys_in((folder / "scenario.yaml").read_text())
    expected = set(blocks["scenario"]) | set(blocks[workload])
    expected |= {f"simgrid.{key}" for key in blocks["simgrid"]}
    for section in ("platform", "parallel", "batch", "communication", "memory", "output"):
        expected |= set(blocks[section])
    if "schedule" in found:
        expected |= set(blocks["schedule"])
    check.that(workload != "layers" or "model.layers" in tables, f"{name}: scenario.yaml has no rows of layers")
    expected = {key for key in expected if "[]" not in key or key.partition("[]")[0] in tables}
    check.that(len(expected) > 60 and expected <= found, f"{name}: scenario.yaml has no {sorted(expected - found)}")


def schedule_options(stagesim, work):
    """All options of all schedules, by what the reader says it expects."""
    every = [line.split()[0] for line in run(stagesim, "list", "schedules").stdout.splitlines()]
    names = sampled(every)
    seen = 0
    for name in names:
        refused = subprocess.run([stagesim, "check", ROOT / "scenarios/demo.yaml", "--set",
                                  f"schedule={{name: {name}, qqqqqqq: 1}}"], capture_output=True, text=True).stderr
        expected = re.search(r"'qqqqqqq' is not a key of schedule; expected (.*)", refused)
        check.that(expected, f"{name}: {refused}")
        options = set(re.split(r", | or ", expected.group(1)))
        first = again(stagesim, work, name, ROOT / "scenarios/demo.yaml", "--schedule", name, "--engine", "analytic")
        if first:
            seen += len(options) - 3
            found, _ = keys_in((first / "scenario.yaml").read_text())
            check.that({f"schedule.{key}" for key in options} <= found, f"{name}: {options} in {sorted(found)}")
    least = 11 * len(names) // len(every)  # of all more than 10
    check.that(len(every) > 15 and seen >= least, f"only {seen} options of schedules were seen")


def shipped(stagesim, work, blocks):
    for path in sorted((ROOT / "scenarios").glob("*.yaml")):
        job = is_job(path)
        trace = "paje" if "\njobs:" in path.read_text() else "csv"
        outputs = SLOW.get(path.stem, OUTPUTS) if job else ["--trace", trace, "--picture", "svg", "--report"]
        first = again(stagesim, work, path.stem, path, *outputs)
        check.that(first, f"{path.stem} is refused")
        if not job:
            continue
        every_key(blocks, figures_of(first)["scenario"]["workload"], first, path.stem)


def drawn(stagesim, work):
    """Options at random; the same ones each time."""
    draw, ran = random.Random(16), 0
    for name, options in OPTIONS.items():
        shutil.copy(ROOT / "platforms/ring-8.xml", work)
        draw.shuffle(options)
        for i in range(0, len(options), 2):
            chosen = [argument for option in options[i:i + 2] for argument in ("--set", option)]
            ran += again(stagesim, work, name, ROOT / f"scenarios/{name}.yaml", *chosen) is not None
    check.that(ran > 20, f"only {ran} of the drawn jobs ran")


def models_and_files(stagesim, work):
    """A model of a config.json with keys beside it, a schedule file, layers in a csv file; what changed is noticed."""
    (work / "config.json").write_text(json.dumps(
        {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 1024, "num_hidden_layers": 8,
         "num_attention_heads": 8, "intermediate_size": 4096, "vocab_size": 32000, "max_position_embeddings": 4096}))
    run(stagesim, "schedule", "1f1b", "--workers", "2", "--micro-batches", "4", "--format", "csv", "-o", "own.csv",
        cwd=work)
    (work / "own.yaml").write_text("""platform: dgx-a100:1
workload: transformer
model: {file: config.json, sequence: 1024}
parallel: {pipeline: 2}
batch: {micro: 1, micro_batches: 4}
schedule: {file: own.csv}
""")
    first = again(stagesim, work, "own", work / "own.yaml")
    check.that(first and figures_of(first)["scenario"]["model"] == "config", "the model's name")
    (work / "net.csv").write_text("name,kind,flops,parameters,outputs\na,dense,1e9,1000000,1000\nb,dense,1e9,1000,10\n")
    (work / "net.yaml").write_text("""platform: dgx-a100:1
workload: layers
model: {layers: net.csv}
parallel: {data: 8}
batch: {micro: 4, global: 32}
""")
    first = again(stagesim, work, "net", work / "net.yaml")
    check.that("net.csv: " in (first / "scenario.yaml").read_text(), "the table's hash")
    (work / "net.csv").write_text("name,kind,flops,parameters,outputs\na,dense,2e9,1000000,1000\n")
    result = run(stagesim, "run", "first/scenario.yaml", cwd=work, expect=1)
    check.that("../net.csv' has changed since this scenario was written" in result.stderr, result.stderr)
    (work / "net.csv").unlink()
    result = run(stagesim, "run", "first/scenario.yaml", cwd=work, expect=1)
    check.that("net.csv" in result.stderr, result.stderr)


def rows_of(folder):
    """The rows of a comparison by their figures; names and what they are relative to apart."""
    lines = csv.DictReader((folder / "comparison.csv").open())
    return sorted(tuple(value for key, value in line.items() if key not in ("scenario", "relative_time")) for line in
                  lines)


def studies(stagesim, work):
    """compare from all its scenarios; sweep and search from theirs."""
    demo = ROOT / "scenarios/demo.yaml"
    run(stagesim, "compare", demo, "--schedules", "gpipe,interleaved,chimera", "--what-if", "as is", "--what-if",
        "slow: gpu-1=0.5", "--quiet", "--trace", "csv", "-o", "compared", cwd=work)
    about("compare", work / "compared", work)
    folders = sorted(path.parent for path in (work / "compared").glob("*/scenario.yaml"))
    check.that(len(folders) == 6, f"compare: {folders}")
    run(stagesim, "compare", *[folder / "scenario.yaml" for folder in folders], "--quiet", "-o", "compared-again",
        cwd=work)
    check.that(rows_of(work / "compared") == rows_of(work / "compared-again"), "compare again")
    for folder in folders:
        again(stagesim, work, folder.name, folder / "scenario.yaml")
    varied = ["--set", "batch.global=512,1024", "--schedules", "gpipe,1f1b", "--engine", "analytic", "--quiet"]
    run(stagesim, "sweep", demo, "--set", "stages.message=1MiB", *varied, "-o", "swept", cwd=work)
    run(stagesim, "sweep", "swept/scenario.yaml", *varied, "-o", "swept-again", cwd=work)
    same("sweep", work / "swept", work / "swept-again")
    check.that("message: [1MiB]" in (work / "swept/scenario.yaml").read_text(), "what all combinations have")
    about("sweep", work / "swept", work)
    space = ["--set", "search.micro=[1,2]", "--set", "search.tensor=[8]", "--top", "1", "--quiet"]
    run(stagesim, "search", ROOT / "scenarios/gpt-7.5b.yaml", *space, "-o", "found", cwd=work)
    run(stagesim, "search", "found/scenario.yaml", "--top", "1", "--quiet", "-o", "found-again", cwd=work)
    same("search", work / "found", work / "found-again")
    about("search", work / "found", work)


def main():
    stagesim, print_keys = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
    blocks = known_keys(print_keys)
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary).resolve()
        shipped(stagesim, work, blocks)
        schedule_options(stagesim, work)
        drawn(stagesim, work)
        models_and_files(stagesim, work)
        studies(stagesim, work)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
