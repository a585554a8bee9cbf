#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mcmc.py STAGESIM: `stagesim layouts --method mcmc`. Its task graphs against the analytic engine, its strategies as
scenarios that run, FlexFlow's case of translation on 16 P100, equal outputs for equal seeds, interruption."""
import csv
import io
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import ROOT, Checker, wait_until_computed

NMT = ROOT / "scenarios/nmt.yaml"
MIXED = """platform: cluster.xml
workload: layers
model: {model}
parallel: {{data: 4}}
batch: {{global: 64, micro: 16}}
communication: {{all_reduce: ring}}
compute: {{precision: fp32, efficiency: 0.5}}
"""
CLUSTER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    {hosts}
    {links}
    {routes}
  </zone>
</platform>
"""
OTHERS = ("owt", "hypar", "accpar")
check = Checker()


def stagesim(*arguments, code=0):
    done = subprocess.run([STAGESIM, *map(str, arguments)], capture_output=True, text=True, timeout=600)
    check.that(done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def search(scenario, *arguments):
    return json.loads(stagesim("layouts", scenario, "--method", "mcmc", "--format", "json", *arguments))


def write_cluster(folder):
    """Four hosts, two of them half as fast, a link for each pair and direction."""
    pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
    hosts = "".join(f'<host id="h-{i}" speed="{4 if i % 2 else 8}Tf"><prop id="memory" value="16GiB"/>'
                    f'<prop id="memory_bandwidth" value="500GBps"/></host>' for i in range(4))
    links = "".join(f'<link id="l-{a}-{b}" bandwidth="{5 + a}GBps" latency="{2 + b}us"/>' for a, b in pairs)
    routes = "".join(f'<route src="h-{a}" dst="h-{b}" symmetrical="NO"><link_ctn id="l-{a}-{b}"/></route>' for a, b in
                     pairs)
    (folder / "cluster.xml").write_text(CLUSTER.format(hosts=hosts, links=links, routes=routes))


def graphs_agree(rows, what):
    """Every strategy of the search has a task graph, with the analytic engine's time; other methods have none."""
    for row in rows:
        other = row["strategy"] in OTHERS or row.get("from") in OTHERS
        check.that(("task_graph_s" in row) != other, f"{what}: {row['strategy']} has a task graph, or none: {row}")
        if not other:
            check.near(row["task_graph_s"], row["analytic_s"], f"{what}: {row['strategy']}", 1e-6)


def check_engine(folder):
    """Without shared links the task graph has the analytic engine's rules: data parallelism, the experts' strategy and
    one that was found, on unequal devices, with and without overlap, with small and large buckets. Rings end for all
    members at once."""
    write_cluster(folder)
    cases = [(model, ["--set", f"communication.overlap={overlap}", "--set", f"layers.bucket={bucket}"]) for model in
             ("alexnet", "rnntc", "nmt", "resnet-18") for overlap in ("true", "false") for bucket in ("0B", "25MB")]
    for number, (model, sets) in enumerate(cases):
        path = folder / "mixed.yaml"
        path.write_text(MIXED.format(model=model))
        found = search(path, "--links", "apart", "--budget", "600", "--seed", number, *sets)
        graphs_agree(found["strategies"], f"{model} {sets}")
        for row in found["strategies"]:
            check.that(row["simgrid_s"] > row["analytic_s"] * (1 - 1e-6), f"{model} {sets}: SimGrid is faster")
    graphs_agree(search(NMT, "--links", "apart", "--budget", "600")["strategies"], "nmt on nodes")


def parts(scenario, layer):
    row = re.search(r'\{layer: "?' + layer + r'"?,[^}]*devices: \[([^\]]*)\]', scenario)
    check.that(row, f"{layer} has no row")
    return len(row.group(1).split(",")) if row else 0


def check_translation(folder):
    """At least 1.2 times as fast as data parallelism, with less to send, embeddings on fewer GPUs. What was written
    runs. The fastest start by task graphs need not be the fastest on SimGrid, so that what is found is the best of its
    own start."""
    path = folder / "found.yaml"
    found = search(NMT, "--budget", "60000", "-o", path)
    rows = {row["strategy"]: row for row in found["strategies"]}
    gain = rows["data parallel"]["simgrid_s"] / rows["found"]["simgrid_s"]
    print(f"nmt on 4 x 4 P100: {gain:.3f} times as fast as data parallelism")
    check.that(gain >= 1.2, f"nmt: {gain}")
    check.that(rows["found"]["sent_bytes"] < rows["data parallel"]["sent_bytes"], "nmt: more bytes are sent")
    text = path.read_text()
    check.that(parts(text, "source_1") < 16 and parts(text, "target_1") < 16, "nmt: embeddings are on all GPUs")
    best = {f"the start '{start['start']}'": start["best_s"] for start in found["starts"]}
    check.near(rows["found"]["task_graph_s"], best[rows["found"]["from"]], "the strategy is the best of its start")
    for engine in "analytic", "simgrid":
        stagesim("run", NMT, "--set", f"split={path}", "--engine", engine, "--quiet", "-o", folder / engine)
        summary = json.loads((folder / engine / "summary.json").read_text())
        check.near(summary["time"]["iteration_s"], rows["found"][f"{engine}_s"], f"the scenario on {engine}", 1e-9)
    check.that(all(start["best_s"] <= start["first_s"] for start in found["starts"]), "a start became worse")


def check_others(folder):
    """What is found is the fastest on SimGrid of all that was run: never above another method, whatever the budget."""
    for model in ("alexnet", "vgg-16", "nmt"):
        divided = json.loads(stagesim("layouts", NMT, "--method", "accpar", "--set", f"model={model}", "--format",
                                      "json"))
        others = {division["method"]: division["simgrid_s"] for division in divided["divisions"]}
        for budget in ("600", "3000"):
            path = folder / f"{model}.yaml"
            found = search(NMT, "--set", f"model={model}", "--budget", budget, "-o", path)
            rows = {row["strategy"]: row for row in found["strategies"]}
            for name in OTHERS:
                check.near(rows[name]["simgrid_s"], others[name], f"{model}: {name}, as it runs by itself", 1e-6)
            least = min([row["simgrid_s"] for row in rows.values()] + list(others.values()))
            check.near(rows["found"]["simgrid_s"], least, f"{model}, budget {budget}: found is not the fastest", 1e-9)
            check.that(set(OTHERS) <= {start["start"] for start in found["starts"]}, f"{model}: starts")
            check.that(f"from {rows['found']['from']}." in path.read_text(), f"{model}: where it comes from")
            time = run_seconds(folder, f"model={model}", f"split={path}")
            check.near(time, rows["found"]["simgrid_s"], f"{model}: the file runs as said", 1e-9)


def run_seconds(folder, *sets):
    arguments = [text for one in sets for text in ("--set", one)]
    stagesim("run", NMT, *arguments, "--engine", "simgrid", "--quiet", "-o", folder / "run")
    return json.loads((folder / "run" / "summary.json").read_text())["time"]["iteration_s"]


def check_seeds():
    arguments = ["layouts", NMT, "--method", "mcmc", "--budget", "500", "--format", "csv"]
    first, again = (stagesim(*arguments, "--seed", seed) for seed in (3, 3))
    check.that(first == again, "equal seeds, unequal outputs")
    ways = [search(NMT, "--budget", "500", "--seed", seed)["starts"] for seed in (3, 4)]
    check.that(ways[0] != ways[1], "another seed takes the same way")
    rows = list(csv.DictReader(io.StringIO(first)))
    check.that([row["strategy"] for row in rows] == ["data parallel", "expert", "owt", "hypar", "accpar", "found"],
               f"{rows}")
    check.that(len(search(NMT, "--budget", "400", "--restarts", "3")["starts"]) == 8, "three random starts and five")


def check_many(folder):
    """More than 128 GPUs: all is compared on the analytic engine, what is found is the fastest there, its file runs as
    said, and the task graph has the engine's time where links are not shared."""
    path, sets = folder / "many.yaml", []
    for change in ("platform=dgx-1v:18", "parallel.data=144", "batch={global: 9216, micro: 64}", "model=rnntc",
                   "communication.all_reduce=ring"):
        sets += ["--set", change]
    for more in [], ["--links", "apart"]:
        found = search(NMT, "--budget", "600", "-o", path, *sets, *more)
        rows = {row["strategy"]: row for row in found["strategies"]}
        check.that(not any("simgrid_s" in row for row in rows.values()), f"SimGrid ran: {rows}")
        least = min(row["analytic_s"] for row in rows.values())
        check.near(rows["found"]["analytic_s"], least, "many: found is not the fastest", 1e-9)
        path.rename(folder / "found.yaml")
    graphs_agree(found["strategies"], "144 GPUs")
    stagesim("run", NMT, *sets, "--set", f"split={folder / 'found.yaml'}", "--engine", "analytic", "--quiet", "-o",
             folder / "many")
    summary = json.loads((folder / "many/summary.json").read_text())
    check.near(summary["time"]["iteration_s"], least, "many: the file runs as said", 1e-9)
    shown = stagesim("layouts", NMT, "--method", "mcmc", "--budget", "8", *sets)
    check.that("SimGrid is not run" in shown and "on the analytic engine" in shown, shown)


def check_refusals():
    cases = [(["--set", "platform=dgx-1v:256", "--set", "parallel.data=2048", "--set",
               "batch={global: 131072, micro: 64}"], "2048 ranks; expected at most 1024", 1),
             (["--set", "parallel={data: 8, tensor: 2}"], "on the data axis", 1),
             (["--set", "batch={global: 1024, micro: 32}"], "one micro-batch", 1),
             (["--budget", "many"], "--budget takes a count", 2), (["--links", "far"], "shared or apart", 2),
             (["--temperature", "0s"], "--temperature takes a time", 2), (["--top", "3"], "--top is not for", 2)]
    for arguments, expected, code in cases:
        error = stagesim("layouts", NMT, "--method", "mcmc", *arguments, code=code)
        check.that(expected in error, f"{arguments}: {error}")


def check_undivided():
    """One rank shares nothing: no mistake here, where other methods are a start more."""
    done = subprocess.run([STAGESIM, "layouts", NMT, "--method", "mcmc", "--budget", "300", "--set", "parallel.data=1",
                           "--set", "batch={global: 768, micro: 768}"], capture_output=True, text=True, timeout=600)
    check.that(done.returncode == 0 and "cannot divide this network" in done.stderr and "error" not in done.stderr,
               f"one rank: {done.returncode} {done.stderr}")


def check_stops():
    """An interruption, and the time limit, end the search with what it has found."""
    command = ["layouts", str(NMT), "--method", "mcmc", "--budget", "1000000000", "--format", "csv"]
    process = subprocess.Popen([STAGESIM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until_computed(process, 2)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=120)
    check.that(process.returncode == -signal.SIGINT and "stopped early" in error, f"{process.returncode} {error}")
    check.that("found," in out, f"interrupted: {out!r}")
    done = subprocess.run([STAGESIM, *command, "--time-limit", "1s"], capture_output=True, text=True, timeout=120)
    check.that(done.returncode == 0 and "stopped early" in done.stderr, f"--time-limit: {done}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_engine(folder)
        check_translation(folder)
        check_others(folder)
        check_many(folder)
    check_seeds()
    check_refusals()
    check_undivided()
    check_stops()
    return check.done()


if __name__ == "__main__":
    STAGESIM = sys.argv[1]
    sys.exit(main())
