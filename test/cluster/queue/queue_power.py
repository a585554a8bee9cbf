#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queue_power.py STAGESIM: a month's energy, carbon, price and budget of power. Closed forms of one job and of two; a
type on all nodes against `run` with the same budget; types between the clocks at which they are evaluated; gangs
and elastic jobs; what alternatives bring, against the changed scenarios. Random months with budgets are
queue_failures.py's."""
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from queue_tables import MODEL, nodes_of, rows_of
from tool import Checker, binary_argument, run, summary

check = Checker()
IDLE, FULL, GPUS, NODES = 100.0, 700.0, 8, 2
POWER = f"power: {{idle: {IDLE}W, full: {FULL}W}}\n"
TYPE = """workload: stages
stages: {forward: 1s, backward: 2s}
batch: {micro_batches: 3, micro: 1}
parallel: {data: 8}
schedule: gpipe
platform: dgx-h100:1
"""


class Run:
    def __init__(self, stagesim, folder, *sets):
        out = folder / "out"
        self.printed = run(stagesim, "run", "queue.yaml", "-o", out, "--quiet", "--trace", "csv",
                           *[word for text in sets for word in ("--set", text)], cwd=folder).stdout
        self.jobs, self.spans = rows_of(out / "jobs.csv"), rows_of(out / "spans.csv")
        self.summary = json.loads((out / "summary.json").read_text())
        self.end = [float(row["end_s"]) for row in self.jobs]
        self.joules = [float(row["energy_j"]) for row in self.jobs]


def write(folder, log, more="", nodes=NODES, power=POWER):
    (folder / "jobs.csv").write_text("submit,nodes,run,type\n" + log)
    (folder / "queue.yaml").write_text(f"platform: dgx-h100:{nodes}\nqueue:\n  log: jobs.csv\n{more}{power}")


def stretch(cap, alpha=3, bound=1.0):
    clock = min(1, ((cap - IDLE) / (FULL - IDLE)) ** (1 / alpha))
    return bound / clock + 1 - bound


def one_job(stagesim, folder):
    """On one node of two, for 100 s at full clock."""
    write(folder, "0,1,100,\n")
    idle, full = GPUS * IDLE, GPUS * FULL
    free = Run(stagesim, folder)
    check.near(free.end[0], 100, "no budget: end")
    check.near(free.joules[0], 100 * full, "no budget: energy")
    check.near(free.summary["energy"]["energy_j"], 100 * (full + idle), "no budget: all energy")
    wide = Run(stagesim, folder, f"power.budget={full + idle}W")
    check.that(wide.jobs == free.jobs, "a budget that does not bind changes nothing")
    for budget, alpha, bound in ((5600, 3, 1), (4000, 2, 1), (4000, 3, 0.25), (1700, 3, 1), (4000, 3, 0)):
        tight = Run(stagesim, folder, f"power.budget={budget}W", f"power.alpha={alpha}", f"power.compute_bound={bound}")
        cap = (budget - idle) / GPUS
        check.near(tight.end[0], 100 * stretch(cap, alpha, bound), f"{budget} W: end", 1e-12)
        check.near(tight.joules[0], tight.end[0] * GPUS * cap, f"{budget} W: energy", 1e-12)
        check.near(tight.summary["energy"]["mean_watts"], budget, f"{budget} W: all of it is drawn", 1e-12)
    capped = Run(stagesim, folder, "power.cap=400W")
    check.near(capped.end[0], 100 * stretch(400), "cap: end", 1e-12)
    both = Run(stagesim, folder, "power.cap=400W", "power.budget=5600W")
    check.that(both.jobs == capped.jobs, "the smaller of cap and share")


def two_jobs(stagesim, folder):
    """The first has the budget alone until the second comes, and again when that has ended: it ends last."""
    write(folder, "0,1,100,\n40,1,20,\n")
    budget = 5000.0
    alone, together = stretch((budget - GPUS * IDLE) / GPUS), stretch(budget / (2 * GPUS))
    result = Run(stagesim, folder, f"power.budget={budget}W")
    second = 40 + 20 * together
    left = 100 - 40 / alone - 20
    check.near(result.end[1], second, "two jobs: the second ends", 1e-12)
    check.near(result.end[0], second + left * alone, "two jobs: the first ends", 1e-12)
    check.near(result.summary["energy"]["energy_j"], budget * result.end[0], "two jobs: the budget is drawn", 1e-12)
    check.near(result.joules[1], 20 * together * budget / 2, "two jobs: half of it is the second's", 1e-12)
    loose = Run(stagesim, folder, f"power.budget={NODES * GPUS * FULL}W")
    check.near(loose.end[0], 100, "two jobs: a budget that does not bind")


def carbon_and_price(stagesim, folder):
    """Carbon that changes in the middle, and the price of GPUs and of electricity."""
    write(folder, "100,1,100,\n", "  gpu_hour: 3.6\n  electricity: 0.5\n  currency: EUR\n",
          power=POWER.replace("}", ", pue: 1.5, carbon: [{time: 0s, intensity: 100}, {time: 150s, intensity: 400}]}"))
    result = Run(stagesim, folder)
    kilowatt_hours = GPUS * FULL / 3.6e6 * 1.5
    check.near(float(result.jobs[0]["carbon_g"]), kilowatt_hours * (50 * 100 + 50 * 400), "carbon by the hour", 1e-12)
    check.near(result.summary["energy"]["free_carbon_kg"], GPUS * IDLE / 3.6e6 * 1.5 * 25, "carbon of free nodes",
               1e-12)
    check.near(float(result.jobs[0]["price"]), 3.6 * GPUS / 36 + 0.5 * kilowatt_hours * 100, "price", 1e-12)
    check.near(result.summary["energy"]["price"],
               3.6 * GPUS * NODES / 36 + 0.5 * 1.5 * (FULL + IDLE) * GPUS * 100 / 3.6e6, "price of all nodes", 1e-12)
    check.that("EUR" in result.printed and "kg of CO2" in result.printed, f"printed: {result.printed}")
    later = Run(stagesim, folder, "power.carbon_start=50s")
    check.near(float(later.jobs[0]["carbon_g"]), kilowatt_hours * 100 * 400, "the log's clock begins later", 1e-12)


def as_run(stagesim, folder):
    """A type that has all nodes trains and draws as `run` says of it under the same budget; a model whose operators are
    bound by arithmetic or by memory lies between two clocks at which it is evaluated, within 0.2 %."""
    for name, text, budgets, bound in (("stages", TYPE, (9000, 6000, 3000), 1e-12),
                                       ("model", MODEL, (9000, 5000), 0.002)):
        (folder / "type.yaml").write_text(text)
        for budget in budgets:
            (folder / "single.yaml").write_text(text.replace("dgx-h100:1", "dgx-h100:2") + POWER)
            single = summary(stagesim, "single.yaml", folder / "single", "--engine", "analytic", "--set",
                             f"power.budget={budget}W", "--set", f"parallel.data={2 if name == 'model' else 16}",
                             cwd=folder)
            write(folder, "0,2,,job\n", "  types: {job: {scenario: type.yaml, iterations: 10}}\n")
            result = Run(stagesim, folder, f"power.budget={budget}W")
            check.near(result.end[0], 10 * single["time"]["iteration_s"], f"{name}, {budget} W: time", bound)
            check.near(result.joules[0], 10 * single["energy"]["total_j"], f"{name}, {budget} W: energy", bound)
        halves = Run(stagesim, folder, f"power.budget={budgets[-1]}W", "power.alpha=2")
        check.that(halves.end[0] != result.end[0], f"{name}: alpha counts")


def between_clocks(stagesim, folder):
    """One node of two has more than its share of all: a clock that is not evaluated."""
    for name, text, bound in (("stages", TYPE, 1e-9), ("model", MODEL, 0.002)):
        (folder / "type.yaml").write_text(text)
        write(folder, "0,1,,job\n", "  types: {job: {scenario: type.yaml, iterations: 10}}\n")
        result = Run(stagesim, folder, "power.budget=4200W")
        (folder / "single.yaml").write_text(text + POWER)
        single = summary(stagesim, "single.yaml", folder / "single", "--engine", "analytic", "--set",
                         f"power.cap={(4200 - GPUS * IDLE) / GPUS!r}W", cwd=folder)
        check.near(result.end[0], 10 * single["time"]["iteration_s"], f"{name} between clocks: time", bound)
        check.near(result.joules[0], 10 * single["energy"]["total_j"], f"{name} between clocks: energy", bound)


def turns_and_sizes(stagesim, folder):
    """Gangs and elastic jobs do all of their work, and nothing is above the budget at any time."""
    (folder / "type.yaml").write_text(TYPE)
    log = "".join(f"{30 * i},{1 + i % 3},,job\n" for i in range(12))
    more = ("  types: {job: {scenario: type.yaml, iterations: 10, nodes_min: 1, nodes_max: 3}}\n  slice: 40s\n"
            "  switch: 3s\n")
    budget = 9000.0
    for policy in ("gang", "elastic", "easy"):
        write(folder, log, more, nodes=4)
        result = Run(stagesim, folder, f"power.budget={budget}W", f"queue.policy={policy}")
        free = Run(stagesim, folder, f"queue.policy={policy}")
        check.that(result.summary["makespan_s"] > free.summary["makespan_s"], f"{policy}: slower")
        energy = result.summary["energy"]
        check.near(energy["energy_j"], sum(result.joules) + energy["free_energy_j"], f"{policy}: energy adds up", 1e-9)
        check.that(energy["energy_j"] <= budget * result.summary["makespan_s"] * (1 + 1e-9), f"{policy}: budget")
        check.near(sum(float(span["energy_j"]) for span in result.spans), sum(result.joules), f"{policy}: spans", 1e-9)
        for span in result.spans:
            seconds = float(span["to_s"]) - float(span["from_s"])
            most = budget - (4 - len(nodes_of(span["nodes"]))) * GPUS * IDLE
            check.that(float(span["energy_j"]) <= most * seconds * (1 + 1e-9), f"{policy}: {span}")


def alternatives(stagesim, folder):
    """Each row is what the scenario with that change comes to."""
    (folder / "type.yaml").write_text(TYPE)
    log = "".join(f"{60 * i},{1 + i % 4},{200 if i % 2 else ''},{'' if i % 2 else 'job'}\n" for i in range(30))
    more = "  types: {job: {scenario: type.yaml, iterations: 40, nodes_min: 1, nodes_max: 4}}\n  alternatives: true\n"
    for platform in ("dgx-h100:6", "{preset: dgx-h100, nodes: 6, pod: 3}"):
        write(folder, log, more)
        text = (folder / "queue.yaml").read_text().replace(f"dgx-h100:{NODES}", platform)
        (folder / "queue.yaml").write_text(text)
        result = Run(stagesim, folder)
        rows = result.summary["alternatives"]
        check.that(len(rows) == 8 and {row["set"].split("=")[0].split(".")[0] for row in rows} ==
                   {"platform", "queue", "power"}, f"rows: {rows}")
        for row in rows:
            if "reason" in row:
                check.that(False, f"{row['what']}: {row['reason']}")
                continue
            single = Run(stagesim, folder, row["set"], "queue.alternatives=false").summary
            wanted = [single["wait_s"]["mean"], single["wait_s"]["median"], single["completion_s"]["mean"],
                      single["allocated"], single["node_time"]["useful"], single["energy"]["energy_j"]]
            got = [row[key] for key in ("wait_s", "wait_median_s", "completion_s", "allocated", "useful", "energy_j")]
            check.that(got == wanted, f"{row['what']}: {got}, alone {wanted}")
        check.that("with 16.7 % more nodes (7) the median waiting falls from" in result.printed, result.printed)
    for nodes in (1, 2, 4, 9):
        write(folder, "0,1,200,\n", "  alternatives: true\n")
        text = (folder / "queue.yaml").read_text().replace(f"dgx-h100:{NODES}", f"dgx-h100:{nodes}")
        (folder / "queue.yaml").write_text(text)
        said = [re.match(r"with ([0-9.]+) % (fewer|more) nodes \((\d+)\)$", row["what"])
                for row in Run(stagesim, folder).summary["alternatives"] if "nodes" in row["what"]]
        check.that(len(said) == (1 if nodes == 1 else 2), f"{nodes} nodes: {said}")
        for share, _, other in (match.groups() for match in said):
            check.near(float(share), 100 * abs(int(other) - nodes) / nodes, f"{nodes} nodes, {other}", 0.005)
    single = Run(stagesim, folder, "queue.alternatives=false")
    check.that("alternatives" not in single.summary and "What if" not in single.printed, "not asked for")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        one_job(stagesim, folder)
        two_jobs(stagesim, folder)
        carbon_and_price(stagesim, folder)
        as_run(stagesim, folder)
        between_clocks(stagesim, folder)
        turns_and_sizes(stagesim, folder)
        alternatives(stagesim, folder)
    sys.exit(check.done())


main()
