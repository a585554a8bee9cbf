#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""power.py STAGESIM: energy and times under caps, by both engines, against the closed form of states and times, and by
SimGrid's own plug-in; links; budgets; tables; what goes with the clock; carbon."""
import csv
import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

STAGES = """platform: p.xml
workload: stages
engine: {engine}
stages: {{forward: {forward:.17g}s, backward: {backward:.17g}s, optimizer: {optimizer:.17g}s, message: {message}kB,
  gradient: {gradient}kB}}
parallel: {{pipeline: {pipeline}, data: {data}}}
batch: {{micro_batches: {micro_batches}, micro: 1}}
schedule: {schedule}
output: {{trace: csv, replicas: all}}
{power}
"""
GPT = """platform: {platform}
workload: transformer
model: {{layers: 4, hidden: 4096, heads: 32, sequence: 2048, vocabulary: 51200, positions: 2048}}
parallel: {{tensor: 1, data: 1}}
batch: {{micro_batches: 2, micro: 2}}
schedule: 1f1b
engine: {engine}
{more}
"""


def write_platform(folder, hosts, links):
    """Hosts with (idle, full) watts; every pair has a link of its own with (idle, busy) watts."""
    lines = [tool.HEAD, '<zone id="z" routing="Full">']
    lines += [f'<host id="g-{i}" speed="1Tf"><prop id="wattage_per_state" value="{idle}:{full}"/></host>'
              for i, (idle, full) in enumerate(hosts)]
    pairs = [(i, j) for i in range(len(hosts)) for j in range(i)]
    for i, j in pairs:
        watts = f'><prop id="wattage_range" value="{links[0]}:{links[1]}"/></link>' if links else "/>"
        lines.append(f'<link id="l-{i}-{j}" bandwidth="10GBps" latency="1us"{watts}')
    lines += [f'<route src="g-{i}" dst="g-{j}"><link_ctn id="l-{i}-{j}"/></route>' for i, j in pairs]
    (folder / "p.xml").write_text("\n".join(lines + ["</zone></platform>\n"]))


def run(binary, folder, text, *arguments):
    (folder / "s.yaml").write_text(text)
    return tool.summary(binary, "s.yaml", "out", *arguments, cwd=folder)


def check_random_jobs(check, binary, folder):
    """The sum over ranks of busy watts while an operation of its compute stream runs, and of idle watts otherwise."""
    drawn = random.Random(5)
    for case in range(10):
        pipeline, data = drawn.choice([(1, 2), (2, 2), (4, 1), (3, 2)])
        idle, full, alpha = drawn.randint(20, 90), drawn.randint(300, 900), drawn.choice([2, 2.5, 3])
        write_platform(folder, [(idle, full)] * (pipeline * data), None)
        cap = drawn.choice([None, drawn.randint(idle + 20, full - 10)])
        job = dict(forward=drawn.uniform(0.1, 2), backward=drawn.uniform(0.1, 2), optimizer=drawn.uniform(0, 1),
                   message=drawn.randint(1, 10 ** 6), gradient=drawn.randint(1, 10 ** 6), pipeline=pipeline,
                   data=data, micro_batches=drawn.randint(1, 5), schedule=drawn.choice(["gpipe", "1f1b"]),
                   power=f"power: {{alpha: {alpha}{f', cap: {cap}W' if cap else ''}}}")
        clock = ((cap - idle) / (full - idle)) ** (1 / alpha) if cap else 1
        seen = {}
        for engine in ("analytic", "simgrid"):
            summary = run(binary, folder, STAGES.format(engine=engine, **job))
            check.near(summary["power"]["clock"], clock, f"{case}, {engine}: clock", 1e-12)
            busy, end = 0, 0
            with open(folder / "out" / "operations.csv") as file:
                for row in csv.DictReader(file):
                    end = max(end, float(row["end_s"]))
                    if row["kind"] in ("F", "B", "W", "FB", "optimizer"):
                        busy += float(row["end_s"]) - float(row["start_s"])
            expected = (cap or full) * busy + idle * (pipeline * data * end - busy)
            check.near(summary["energy"]["total_j"], expected, f"{case}, {engine}: energy")
            computing = job["micro_batches"] * (job["forward"] + job["backward"]) / clock + job["optimizer"]
            check.near(busy, pipeline * data * computing, f"{case}, {engine}: computing at the clock")
            seen[engine] = summary
        check.near(seen["simgrid"]["energy"]["simgrid_j"], seen["simgrid"]["energy"]["total_j"], f"{case}: SimGrid")
        check.near(seen["simgrid"]["energy"]["total_j"], seen["analytic"]["energy"]["total_j"], f"{case}: engines")


def check_one_host(check, binary, folder):
    """3 s busy and 2 s idle at 60 and 400 W: 1,320 J. An all-reduce of 1 GB between two moves 1 GB each way over a link
    of 1 GB/s."""
    write_platform(folder, [(60, 400)] * 2, (10, 25))
    text = (folder / "p.xml").read_text().replace('latency="1us"', 'latency="0s"')
    (folder / "p.xml").write_text(text.replace("10GBps", "1GBps"))
    job = dict(forward=1, backward=1, optimizer=0, message=0, gradient=1000000, pipeline=1, data=2, micro_batches=1,
               schedule="gpipe", power="power: {compute_bound: 1}")
    for engine in ("analytic", "simgrid"):
        summary = run(binary, folder, STAGES.format(engine=engine, **job).replace("backward: 1s", "backward: 2s"))
        check.near(summary["time"]["iteration_s"], 5, f"{engine}: 3 s and an all-reduce of 1 GB between two")
        check.near(summary["energy"]["links_j"], 10 * 5 + 15 * 2, f"{engine}: the link carries 1 GB each way")
        hosts = summary["energy"]["total_j"] - summary["energy"]["links_j"]
        check.near(hosts, 2 * 1320, f"{engine}: 1,320 J each")
        check.near(summary["energy"]["total_j"], 2720, f"{engine}: as definitions.md says")
        capped = run(binary, folder, STAGES.format(engine=engine, **{**job, "power": "power: {cap: 250W}"})
                     .replace("backward: 1s", "backward: 2s"))
        check.near(capped["time"]["iteration_s"], 5.642, f"{engine}: the time that definitions.md has", 1e-4)
        hosts = capped["energy"]["total_j"] - capped["energy"]["links_j"]
        check.near(hosts / 2, 1030.5, f"{engine}: and energy", 1e-4)
        if engine == "simgrid":
            check.near(summary["energy"]["simgrid_j"], 2 * 1320, "SimGrid: 1,320 J each")


def check_budget_and_table(check, binary, folder):
    """Five GPUs of which four work: 1,500 W less 10 links of 5 W and 60 W of the fifth are 347.5 W each."""
    write_platform(folder, [(60, 400)] * 5, (1, 5))
    job = dict(engine="analytic", forward=1, backward=1, optimizer=1, message=0, gradient=0, pipeline=1, data=4,
               micro_batches=1, schedule="gpipe")
    summary = run(binary, folder, STAGES.format(power="power: {budget: 1.5kW}", **job))
    check.near(summary["power"]["cap_w"], 347.5, "its share of the budget")
    check.near(summary["time"]["iteration_s"], 1 + 2 / ((347.5 - 60) / 340) ** (1 / 3), "time at its clock")
    (folder / "table.csv").write_text("cap,speed\n200W,0.5\n400W,1\n")
    summary = run(binary, folder, STAGES.format(power="power: {cap: 300W, table: table.csv}", **job))
    check.near(summary["time"]["iteration_s"], 3 / 0.75, "all goes with the table's speed")
    check.that(summary["power"]["table"] is True, "the summary says that there is a table")
    summary = run(binary, folder, STAGES.format(power="power: {cap: 200W, alpha: 2, compute_bound: 0.25}", **job))
    clock = (140 / 340) ** 0.5
    check.near(summary["time"]["iteration_s"], 3 * (0.25 / clock + 0.75), "a quarter of all goes with the clock")
    (folder / "s.yaml").write_text(STAGES.format(power="", **job))
    tool.run(binary, "sweep", "s.yaml", "--set", "power.cap=150W,250W,400W", "-o", "swept", cwd=folder)
    with open(next((folder / "swept").glob("*.csv"))) as file:
        rows = list(csv.DictReader(file))
    for row, cap in zip(rows, (150, 250, 400)):
        check.near(float(row["iteration_s"]), 1 + 2 / ((cap - 60) / 340) ** (1 / 3), f"sweep at {cap} W")


def check_operators(check, binary, folder):
    """Operators of a model: products go with the clock, what moves bytes does not, and both are all there is."""
    (folder / "gpu.xml").write_text(tool.HEAD + """<zone id="z" routing="Full">
<host id="g-0" speed="312Tf"><prop id="model" value="A100-SXM4-80GB"/><prop id="peak_bf16" value="312Tf"/>
<prop id="memory_bandwidth" value="2039GBps"/><prop id="memory" value="80GiB"/>
<prop id="wattage_per_state" value="60:400"/></host></zone></platform>\n""")
    times = {}
    for name, more in (("full", "power: {}"), ("none", ""), ("cap", "power: {cap: 200W}"),
                       ("all", "power: {cap: 200W, compute_bound: 1}")):
        for engine in ("analytic", "simgrid"):
            summary = run(binary, folder, GPT.format(platform="gpu.xml", engine=engine, more=more))
            times.setdefault(name, summary["time"]["iteration_s"])
            check.near(summary["time"]["iteration_s"], times[name], f"{engine}: {name}")
    clock = (140 / 340) ** (1 / 3)
    check.near(times["full"], times["none"], "a full clock changes nothing", 0)
    check.near(times["all"], times["full"] / clock, "all goes with the clock")
    check.that(times["full"] * 1.05 < times["cap"] < times["all"] * 0.99, f"operators of both kinds: {times}")


def check_carbon(check, binary, folder):
    write_platform(folder, [(60, 400)] * 2, None)
    job = dict(engine="analytic", forward=1, backward=1, optimizer=0, message=0, gradient=0, pipeline=1, data=2,
               micro_batches=1800, schedule="gpipe")
    summary = run(binary, folder, STAGES.format(power="power: {carbon: 500, pue: 1.2}", **job))
    check.near(summary["carbon"]["kg"], 0.8 * 1.2 * 0.5, "0.8 kW for an hour")
    (folder / "day.csv").write_text("time,intensity\n0s,100\n30min,300\n")
    summary = run(binary, folder, STAGES.format(power="power: {carbon: day.csv}", **job))
    check.near(summary["carbon"]["intensity_g_per_kwh"], 200, "half an hour each")
    summary = run(binary, folder, STAGES.format(power="power: {carbon: day.csv, carbon_start: 45min}", **job))
    check.near(summary["carbon"]["intensity_g_per_kwh"], (15 * 300 + 30 * 100 + 15 * 300) / 60, "from a later time")
    resolved = json.loads((folder / "out" / "summary.json").read_text())
    check.that(any("day.csv" in line for line in resolved["simulation"]["inputs"]), "the series is an input")
    tool.run(binary, "run", "out/scenario.yaml", cwd=folder)


def check_search(check, binary, folder):
    """Each layout and cap of a search against a run of its own, and the least of them first. Without watts of links,
    and with many micro-batches, layouts are evaluated by fewer of them."""
    for name, links in (("gpu", (1, 5)), ("plain", None)):
        write_platform(folder, [(60, 400)] * 4, links)
        (folder / f"{name}.xml").write_text((folder / "p.xml").read_text().replace(
            '<prop id="wattage_per', '<prop id="model" value="A100-SXM4-80GB"/><prop id="peak_bf16" value="312Tf"/>'
            '<prop id="memory_bandwidth" value="2039GBps"/><prop id="memory" value="80GiB"/><prop id="wattage_per'))
    for objective, engine, platform, samples in (("energy", "analytic", "gpu", 32), ("energy", "simgrid", "gpu", 32),
                                                 ("energy-delay", "analytic", "gpu", 32),
                                                 ("energy-delay", "simgrid", "gpu", 32),
                                                 ("energy-delay", "analytic", "plain", 512)):
        text = GPT.format(platform=f"{platform}.xml", engine="analytic",
                          more="power: {carbon: 400}\nsearch: {data: [1, 2, 4], tensor: 1, pipeline: [1, 2, 4], "
                          "schedules: 1f1b, recompute: none, zero: 0, cap: [120W, 250W, 400W], micro: 2, "
                          f"objective: {objective}}}").replace("micro_batches: 2", f"global: {samples}")
        check_found(check, binary, folder, text, objective, engine)


def check_found(check, binary, folder, text, objective, engine):
    (folder / "s.yaml").write_text(text)
    tool.run(binary, "search", "s.yaml", "-o", "found", "--engine", engine, "--quiet", "--top", "9", cwd=folder)
    with open(folder / "found" / "search.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["status"] == "fits"]
    check.that(len(rows) == 9, f"{objective}, {engine}: {len(rows)} layouts")
    values = []
    for row in rows:
        summary = tool.summary(binary, "s.yaml", "one", "--set", f"parallel.data={row['data']}", "--set",
                               f"parallel.pipeline={row['pipeline']}", "--set", f"power.cap={row['cap']}",
                               "--set", "transformer.balance=auto", "--engine", engine, cwd=folder)
        joules, seconds = summary["energy"]["total_j"], summary["time"]["iteration_s"]
        check.near(float(row["energy_j"]), joules, f"{objective}, {engine}: {row}", 1e-6)
        values.append(joules * (seconds if objective == "energy-delay" else 1))
    check.that(all(a <= b * (1 + 1e-9) for a, b in zip(values, values[1:])), f"{objective}, {engine}: {values}")


def main():
    binary, check = tool.binary_argument(), tool.Checker()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_random_jobs(check, binary, folder)
        check_one_host(check, binary, folder)
        check_budget_and_table(check, binary, folder)
        check_operators(check, binary, folder)
        check_carbon(check, binary, folder)
        check_search(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
