#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""finite STAGESIM [SEED]: keys, tables and platforms with extreme values, through all commands that print or write
figures. Nothing that comes out is infinite or no number: what cannot be computed ends with exit code 3 and a figure's
name, or is refused, and leaves no file. A seed chooses the cases; there are more of them with STAGESIM_SAMPLES."""
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

STAGESIM = tool.binary_argument()
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
CASES = 30 * max(1, int(os.environ.get("STAGESIM_SAMPLES", "100")) // 100)
NUMBERS = ["1e-300", "1e-30", "1e-9", "0.001", "0.999999", "1", "1e9", "1e15", "1e27"]
# What is mostly taken, so that most cases get as far as figures.
TAKEN = {"time": ["1e-9", "1e-6", "1", "1e9", "1e12"], "size": ["1e-9", "1", "1e9", "1e15", "1e24"],
         "rate": ["1e-9", "1", "1e15", "1e18"], "speed": ["1", "1e15", "1e24"], "power": ["0.001", "1", "1e9"],
         "ratio": ["1e-300", "1e-30", "1e-9", "0.001", "0.999", "1", "1e6"]}
UNITS = {"time": "s", "size": "B", "rate": "Bps", "speed": "f", "power": "W", "elements or size": "B",
         "size or list": "B", "time or list": "s"}
KINDS = {"ratio", "number or list", *UNITS}
# Names that hold such letters stand between quotes or letters; numbers stand alone.
WRONG = re.compile(r"(?<![\w\"'./#-])-?(inf|nan|infinity)(?![\w\"'./:-])", re.I)
check = tool.Checker()


def page_keys():
    """{workload or None: [(key, kind)]} of the keys that have numbers."""
    found, section = {}, None
    for line in (tool.ROOT / "doc/scenario.md").read_text().splitlines():
        if match := re.match(r"<!-- keys: (.*) -->", line):
            section = match.group(1)
        elif match := re.match(r"\| `([^`]*)` \| (.*?) \| ", line):
            key, kind = match.groups()
            if section and kind in KINDS and "[]" not in key and section != "simgrid":
                workload = section if section in ("stages", "transformer", "layers", "dlrm") else None
                found.setdefault(workload, []).append((key, kind))
    return found


def extreme(kind, chance):
    number = chance.choice(TAKEN.get(kind, NUMBERS))
    text = f"{number}{UNITS.get(kind, '')}"
    return f"[{text}]" if "list" in kind and chance.random() < 0.3 else text


def broken_tables(folder, chance):
    """The installed tables of GPUs with the value of one line in each replaced."""
    for path in (tool.ROOT / "workloads/efficiency").glob("*.csv"):
        lines = path.read_text().splitlines()
        values = [at for at, line in enumerate(lines) if re.search(r",[\d.e+-]+$", line) and not line.startswith("#")]
        if values:
            at = chance.choice(values)
            measured = ".kernels" in path.name
            lines[at] = lines[at].rsplit(",", 1)[0] + "," + chance.choice(("0.001", "1e9") if measured else NUMBERS[:6])
        (folder / path.name).write_text("\n".join(lines) + "\n")


def platform(path, chance):
    speed, rate, latency = (chance.choice(values) for values in (("1", "1e12", "1e27"), ("1", "1e9", "1e24"),
                                                                  ("0", "1e-9", "1", "1e6")))
    path.write_text(tool.HEAD + f'<cluster id="c" prefix="g-" radical="0-63" suffix="" speed="{speed}f" bw="{rate}Bps" '
                    f'lat="{latency}s"/></platform>\n')


def look(result, out, what):
    code = result.returncode
    check.that(code in (0, 1, 2, 3), f"{what}: exit code {code}\n{result.stderr[-400:]}")
    check.that(code == 0 or result.stderr.strip(), f"{what}: exit code {code} without a word")
    texts = {"standard output": result.stdout}
    files = [path for path in out.rglob("*") if path.is_file()] if out.exists() else []
    check.that(code == 0 or not files, f"{what}: files are left with exit code {code}")
    texts |= {path.name: path.read_text(errors="replace") for path in files
              if path.suffix in (".csv", ".json", ".yaml", ".html", ".svg", ".md", ".tex", ".paje")}
    for name, text in texts.items() if code == 0 else ():
        if path_is_page := name.endswith((".html", ".svg")):
            text = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.S)
        if found := WRONG.search(re.sub(r"<[^>]*>", " ", text) if path_is_page else text):
            start = max(found.start() - 60, 0)
            check.that(False, f"{what}: {name} has ...{text[start:found.end() + 30]!r}")
    out.unlink() if out.is_file() else shutil.rmtree(out, ignore_errors=True)


def jobs(folder, chance):
    """A job with an extreme value, and what is asked of it."""
    known = page_keys()
    scenarios = [path for path in sorted((tool.ROOT / "scenarios").glob("*.yaml")) if tool.is_job(path)]
    orders = [["run", "--report", "--picture", "svg", "--trace", "csv,chrome,paje"], ["run", "--format", "json"],
              ["compare", "--schedules", "gpipe,1f1b"], ["sweep", "--set", "batch.micro_batches=1,2"], ["check"],
              ["search", "--top", "3"], ["run"]]
    for _ in range(CASES):
        path, order = chance.choice(scenarios), chance.choice(orders)
        workload = re.search(r"^workload: *(\w+)", path.read_text(), re.M).group(1)
        possible = known[None] + known.get(workload, [])
        sets = []
        for key, kind in chance.sample(possible, 1):
            sets += ["--set", f"{key}={extreme(kind, chance)}"] if chance.random() < 0.6 else []
        tables = folder / "tables"
        tables.mkdir(exist_ok=True)
        broken_tables(tables, chance)
        environment = dict(os.environ, STAGESIM_EFFICIENCY=str(tables)) if chance.random() < 0.4 else os.environ
        if chance.random() < 0.3:
            platform(folder / "p.xml", chance)
            sets += ["--set", f"platform={folder / 'p.xml'}"]
        if chance.random() < 0.7:
            sets += ["--set", "engine=analytic"]
        output = [] if order[0] == "check" or "--format" in order else ["-o", folder / "out"]
        look(tool.run(STAGESIM, order[0], path, *order[1:], *sets, *output, expect=None, env=environment),
             folder / "out", f"{' '.join(order)} {path.name} {' '.join(map(str, sets))}")


def tables(folder):
    """Every value of a job's tables as small and as large as a table takes it."""
    for scenario, names in (("dlrm.yaml", ("A100-SXM4-80GB.lookups", "A100-SXM4-80GB")),
                            ("gpt-7.5b.yaml", ("A100-SXM4-80GB", ))):
        for name in names:
            lines = (tool.ROOT / f"workloads/efficiency/{name}.csv").read_text().splitlines()
            values = [at for at, line in enumerate(lines) if re.search(r",[\d.e+-]+$", line) and line[0] != "#"]
            for at, value in tool.sampled([(at, value) for at in values for value in ("1e-300", "1e18")]):
                changed = lines[:at] + [f"{lines[at].rsplit(',', 1)[0]},{value}"] + lines[at + 1:]
                (folder / "table.csv").write_text("\n".join(changed) + "\n")
                key = "compute.lookups" if "lookups" in name else "compute.table"
                look(tool.run(STAGESIM, "run", tool.ROOT / "scenarios" / scenario, "--set", "engine=analytic", "--set",
                              f"{key}={folder / 'table.csv'}", "-o", folder / "out", expect=None), folder / "out",
                     f"run {scenario} with {name}: {changed[at]}")


def others(folder, chance):
    """Commands without a job, and what is no job."""
    def sizes(*names):
        return [part for name in names for part in (name, chance.choice(("1", "7", "4096", "1000000", "1" + 12 * "0")))]

    for _ in range(CASES // 6):
        times = [chance.choice(NUMBERS[:5]) for _ in range(2)]
        look(tool.run(STAGESIM, "schedule", "1f1b", "--workers", 4, "--micro-batches", 4, "--forward", times[0],
                      "--backward", times[1], "--format", chance.choice(("json", "csv", "text")), expect=None),
             folder / "out", f"schedule {times}")
        platform(folder / "p.xml", chance)
        look(tool.run(STAGESIM, "collective", "all-reduce", "--platform", folder / "p.xml", "--ranks", 8, "--sizes",
                      f"1:{chance.choice(('8', '1MB', '1TB'))}:16", expect=None), folder / "out", "collective")
        tables = folder / "tables"
        broken_tables(tables, chance)
        kernel = chance.choice((["matmul", *sizes("-m", "-n", "-k")], ["memory", *sizes("--bytes")],
                                ["attention", *sizes("--heads", "--sequence", "--head-size")]))
        look(tool.run(STAGESIM, "kernel", *kernel, "--gpu", "B200", expect=None,
                      env=dict(os.environ, STAGESIM_EFFICIENCY=str(tables))), folder / "out", f"kernel {kernel}")
    for name, key, values in (("queue.yaml", "queue.slice", ("0.001s", "1e12s")),
                              ("queue.yaml", "queue.estimates", ("1e-9", "1e9")),
                              ("shared-fabric.yaml", "platform.oversubscription", ("1", "1e12")),
                              ("idle-nodes.yaml", "idle_nodes.duration", ("1e-6s", "1e12s"))):
        for value in values:
            look(tool.run(STAGESIM, "run", tool.ROOT / "scenarios" / name, "--set", f"{key}={value}", "-o",
                          folder / "out", expect=None), folder / "out", f"run {name} {key}={value}")


with tempfile.TemporaryDirectory() as scratch:
    root, chance = pathlib.Path(scratch), random.Random(SEED)
    (root / "tables").mkdir()
    tables(root)
    others(root, chance)
    jobs(root, chance)
sys.exit(check.done())
