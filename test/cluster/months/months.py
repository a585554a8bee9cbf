#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""months.py STAGESIM: months of jobs by a description. A fit to what was drawn gives the description back, within
standard errors that are themselves right; drawn months of four published clusters have the published figures; queues
take descriptions as logs."""
import json
import math
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool import Checker, binary_argument, run

check = Checker()
SCENARIOS = pathlib.Path(__file__).resolve().parents[3] / "scenarios"
SEEDS = int(os.environ.get("STAGESIM_SEEDS", 2))
HOURS = [0.5 + (hour % 12) / 11 for hour in range(24)]
SIZES = [(1, 0.5, "log-normal", 3000.0, 1.2), (8, 0.3, "weibull", 9000.0, 0.7), (64, 0.2, "log-normal", 20000.0, 0.6)]


def describe(together):
    lines = [f"jobs_per_day: 400\ndays: 60\ntogether: {together}\nfailed: 0.3\ncancelled: 0.1\nusers: 12\n"
             f"hours: {[round(hour, 6) for hour in HOURS]}\nsizes:"]
    for gpus, share, kind, first, second in SIZES:
        run_ = (f"{{log-normal: {{median: {first}s, mean: {first * math.exp(second**2 / 2)!r}s}}}}"
                if kind == "log-normal" else
                f"{{weibull: {{mean: {first * math.gamma(1 + 1 / second)!r}s, shape: {second}}}}}")
        lines.append(f"  - {{gpus: {gpus}, share: {share}, run: {run_}}}")
    return "\n".join(lines) + "\n"


def fitted(text):
    """Values of a fitted file and their standard errors."""
    found = {key: (float(value), float(error)) for key, value, error in
             re.findall(r"^(\w+): ([\d.e+-]+) # ([\d.e+-]+)$", text, re.M)}
    hours = re.search(r"^hours: \[(.*)\]\n# of hours: (.*)$", text, re.M)
    found.update({f"hour {i}": (float(value), float(error)) for i, (value, error) in
                  enumerate(zip(hours[1].split(", "), hours[2].split(", ")))})
    for line in re.findall(r"^  - .*$", text, re.M):
        gpus, share, kind, first, second, share_error, a, b = re.match(
            r"  - \{gpus: (\d+), share: (\S+), run: \{(\S+): \{\w+: (\S+?)s, \w+: (\S+?)s?\}\}\} "
            r"# share (\S+); run (\S+) and (\S+);", line).groups()
        found[f"share {gpus}"] = (float(share), float(share_error))
        if kind == "log-normal":
            found[f"{kind} {gpus} a"] = (math.log(float(first)), float(a))
            found[f"{kind} {gpus} b"] = (math.sqrt(2 * math.log(float(second) / float(first))), float(b))
        else:
            found[f"{kind} {gpus} a"] = (float(first) / math.gamma(1 + 1 / float(second)), float(a))
            found[f"{kind} {gpus} b"] = (float(second), float(b))
    return found


def truth(together):
    scale = sum(HOURS) / 24
    wanted = {"jobs_per_day": 400, "failed": 0.3, "cancelled": 0.1, "together": together}
    wanted.update({f"hour {i}": hour / scale for i, hour in enumerate(HOURS)})
    for gpus, share, kind, first, second in SIZES:
        wanted[f"share {gpus}"] = share
        wanted[f"{kind} {gpus} a"] = math.log(first) if kind == "log-normal" else first
        wanted[f"{kind} {gpus} b"] = second
    return wanted


def normal_spread(count):
    """Between what the root of the mean square of so many normal numbers lies, but once in 100,000: chi-squared by
    Wilson and Hilferty."""
    part = 2 / (9 * count)
    return [math.sqrt(max(0, 1 - part + z * math.sqrt(part)) ** 3) for z in (-4.4, 4.4)]


def given_back(stagesim, folder):
    """Deviations over standard errors are those of a normal number, in the mean over seeds and numbers."""
    for together in (1, 4):
        (folder / "month.yaml").write_text(describe(together))
        deviations = {}
        for seed in range(SEEDS):
            run(stagesim, "month", "generate", "month.yaml", "--set", f"seed={seed}", "-o", "jobs.swf", cwd=folder)
            printed = run(stagesim, "month", "fit", "jobs.swf", "-o", "fitted.yaml", cwd=folder).stdout
            found = fitted((folder / "fitted.yaml").read_text())
            for key, wanted in truth(together).items():
                if not check.that(key in found, f"{key} is not fitted: {sorted(found)}"):
                    return
                deviations.setdefault(key, []).append((found[key][0] - wanted) / found[key][1])
            for file in ("jobs.swf", "fitted.yaml"):
                (folder / file).unlink()
        if together == 1:
            del deviations["together"]  # cannot be below 1
        for key, values in deviations.items():
            check.that(max(map(abs, values)) < 4.5, f"together {together}: {key} is off by {values} standard errors")
            own = math.sqrt(sum(value * value for value in values) / len(values))
            least, most = normal_spread(len(values))
            check.that(least < own < most, f"together {together}: {key} deviates by {own} standard errors")
        every = [value for values in deviations.values() for value in values]
        spread = math.sqrt(sum(value * value for value in every) / len(every))
        check.that(0.85 < spread < 1.2, f"together {together}: deviations are {spread} standard errors")
        mean = sum(every) / len(every)
        check.that(abs(mean) < 0.2, f"together {together}: deviations are {mean} standard errors on average")
        check.that("second half" in printed and "log-normal" in printed and "Weibull" in printed, f"printed: {printed}")


# Of helios_cluster_summary.csv (S-Lab-System-Group/HeliosArtifact @ main, MIT): GPUs, jobs, seconds of run times (mean
# and median), mean GPUs, GPU seconds, shares that failed and were cancelled, seconds of waiting (mean and median).
HELIOS = {"venus": (1022, 125303, 13040.598, 204, 6.736, 12345612730, 0.202, 0.272, 1253.288, 0),
          "earth": (997, 427148, 5130.609, 234, 2.101, 11439202758, 0.129, 0.136, 319.483, 0),
          "saturn": (2080, 698896, 5252.927, 124, 4.01, 27652360746, 0.145, 0.272, 611.561, 0),
          "uranus": (2119, 329117, 9163.725, 280, 4.038, 26560563553, 0.192, 0.201, 1949.182, 0)}
DAYS = 183


def published(stagesim, folder):
    """Drawn months have what their numbers were derived from, in the mean over seeds."""
    for name, (_, jobs, mean, median, gpus, work, failed, cancelled, _, _) in HELIOS.items():
        drawn = []
        for seed in range(max(1, SEEDS // 4)):
            run(stagesim, "month", "generate", SCENARIOS / f"month-helios-{name}.yml", "--set", f"seed={seed}", "-o",
                "jobs.swf", cwd=folder)
            drawn += [line.split() for line in (folder / "jobs.swf").read_text().splitlines() if line[0] != ";"]
            (folder / "jobs.swf").unlink()
        runs = sorted(int(job[3]) for job in drawn)
        sizes = [int(job[4]) for job in drawn]
        many = len(drawn)
        for what, got, wanted, bound in (
                ("jobs on a day", many / 30 / max(1, SEEDS // 4), jobs / DAYS, 0.02),
                ("mean run time", sum(runs) / many, mean, 0.2),
                ("median run time", runs[many // 2], median, 0.05), ("mean GPUs", sum(sizes) / many, gpus, 0.05),
                ("GPU time of a job", sum(int(job[3]) * int(job[4]) for job in drawn) / many, work / jobs, 0.45),
                ("share that fails", sum(job[10] == "0" for job in drawn) / many, failed, 0.05),
                ("share that is cancelled", sum(job[10] == "5" for job in drawn) / many, cancelled, 0.05)):
            check.that(abs(got / wanted - 1) < bound, f"{name}: {what} is {got}, published {wanted}")


def waiting(stagesim, folder):
    """Half a year of Venus: its waiting lies within the spread of seeds. STAGESIM_SEEDS has more of them."""
    gpus, _, _, _, _, work, failed, _, mean, median = HELIOS["venus"]
    text = (SCENARIOS / "month-helios-venus.yml").read_text()
    (folder / "venus.yaml").write_text(f"days: {DAYS}\n{text}")
    (folder / "queue.yaml").write_text(f"platform: {{preset: dgx-a100, nodes: {gpus}, gpus_per_node: 1}}\n"
                                       "queue: {log: venus.yaml, policy: fcfs}\n")
    waits, loads = [], []
    for seed in range(max(2, SEEDS // 2)):
        run(stagesim, "run", "queue.yaml", "-o", "out", "--quiet", "--set", f"queue.seed={seed}", cwd=folder)
        summary = json.loads((folder / "out" / "summary.json").read_text())
        waits.append(summary["wait_s"]["mean"])
        loads.append(summary["node_hours"] * 3600 / gpus / DAYS / 86400)
        check.that(summary["wait_s"]["median"] == median, f"median waiting {summary['wait_s']['median']}")
        check.that(abs(summary["ended"]["failed"] - failed) < 0.01, f"failed {summary['ended']}")
    check.that(min(waits) < mean < max(waits), f"published mean waiting {mean} s, drawn {waits}")
    offered = work / gpus / DAYS / 86400
    check.that(min(loads) < offered < max(loads), f"published load {offered}, drawn {loads}")


def as_log(stagesim, folder):
    """A queue takes a description as its log; more days leave the jobs before as they are."""
    (folder / "month.yaml").write_text(describe(1))
    (folder / "queue.yaml").write_text("platform: dgx-h100:64\nqueue: {log: month.yaml, jobs: 300, seed: 2}\n")
    run(stagesim, "run", "queue.yaml", "-o", "out", "--quiet", "--trace", "csv", cwd=folder)
    rows = [line.split(",") for line in (folder / "out" / "jobs.csv").read_text().splitlines()[1:]]
    drawn = []
    for days in (30, 60):
        text = run(stagesim, "month", "generate", "month.yaml", "--set", "seed=2", "--set", f"days={days}",
                   cwd=folder).stdout
        drawn.append([line.split() for line in text.splitlines() if line[0] != ";"])
    check.that(drawn[0] == drawn[1][:len(drawn[0])], "more days change earlier jobs")
    text = run(stagesim, "month", "generate", "month.yaml", "-o", "-", cwd=folder).stdout
    check.that(text == run(stagesim, "month", "generate", "month.yaml", cwd=folder).stdout and
               not (folder / "-").exists(), "-o - is standard output")
    check.that(len(rows) == 300 and all(int(job[1]) == math.floor(float(row[3])) and
                                        -(-int(job[4]) // 8) == int(row[2]) for row, job in zip(rows, drawn[0])),
               "the queue has the jobs that are drawn")
    swept = run(stagesim, "sweep", "queue.yaml", "--set", "queue.seed=1:4:1", "--y", "wait_s", "--quiet",
                cwd=folder).stdout
    check.that("median" in swept and "95" in swept, f"seeds of a sweep: {swept}")


def many_months(stagesim, folder):
    """`runs` are the months of the seeds behind."""
    (folder / "month.yaml").write_text(describe(1).replace("days: 60", "days: 2"))
    (folder / "queue.yaml").write_text("platform: dgx-h100:64\nqueue: {log: month.yaml, seed: 3}\n")
    waits = []
    for seed in range(3, 8):
        run(stagesim, "run", "queue.yaml", "-o", "out", "--quiet", "--set", f"queue.seed={seed}", cwd=folder)
        waits.append(json.loads((folder / "out" / "summary.json").read_text())["completion_s"]["mean"])
    run(stagesim, "run", "queue.yaml", "-o", "out", "--quiet", "--set", "queue.runs=5", cwd=folder)
    months = json.loads((folder / "out" / "summary.json").read_text())["months"]
    got = [months["completion_s"][key] for key in ("p10", "p50", "p90")]
    check.that(got == [sorted(waits)[i] for i in (0, 2, 4)], f"five months: {got}, seeds alone {sorted(waits)}")


def edges(stagesim, folder):
    """Jobs that all run alike are at no distance from their fit; a first half within an hour has none; a mean that no
    description has leaves no errors behind."""
    def fitted(starts, runs):
        rows = [f"{start},1,{seconds}" for start, seconds in zip(starts, runs)]
        (folder / "log.csv").write_text("\n".join(["submit,nodes,run", *rows]) + "\n")
        said = run(stagesim, "month", "fit", "log.csv", "-o", "out.yaml", cwd=folder).stdout
        return said, (folder / "out.yaml").read_text()

    said, _ = fitted([0] * 12 + [86400 * k for k in range(1, 13)], [100] * 24)
    check.that("fixed      100.0 s  100.0 s     0.000" in said, f"all alike: {said}")
    check.that("No fit to the first half of the jobs: all jobs came within an hour" in said, f"half: {said}")
    _, text = fitted([3600 * k for k in range(40)], [1, 5e9] * 20)
    check.that("run 0 and 0" in text or "run: 7" in text and "run 1.4" not in text, f"a mean of nobody: {text}")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for test in (given_back, published, as_log, many_months, waiting, edges):
            (folder / test.__name__).mkdir()
            test(stagesim, folder / test.__name__)
    sys.exit(check.done())


main()
