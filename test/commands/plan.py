#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plan.py STAGESIM [QUESTIONS [SEED]]: `stagesim plan`. Random small questions (platforms, sizes, networks, offers of
all kinds) are answered by enumeration as well: every cluster is searched with --exhaustive, days and money are computed
here, and so is the front; it is the same to the last digit. Richer ones are asked with and without --exhaustive. The
same bytes from parts, after --resume, from one process
and from two. What is cut, what an impossible deadline and a job that fits nowhere say. CI takes a few questions of a
seed."""
import csv
import io
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, binary_argument, run, sampled

QUESTIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 2
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 39
JOB = """platform: dgx-h100:1
workload: transformer
model: {{layers: 4, hidden: {hidden}, heads: 16, sequence: 1024, vocabulary: 32000}}
transformer: {{tokens: {tokens}}}
parallel: {{data: 8}}
batch: {{global: 64, micro: 1}}
schedule: 1f1b
engine: {engine}
search: {{gpus: {gpus}, schedules: 1f1b, micro: [1, 2], zero: [0, 1], recompute: none, sequence_parallel: false}}
plan: {plan}
prices: prices.yaml
"""
PLATFORMS = ("dgx-h100", "dgx-a100", "dgx-2", "pcie-a100", "dgx-b200")
YEAR = 365.25 * 24 * 3600
SAID = 'date: 2026-11-01, source: "a draw: none"'
check = Checker()


def offer_of(draw, platform, name):
    """A row of prices as text, and as numbers."""
    offer = {"platform": platform, "name": name}
    kind = draw.choice(("gpu", "node", "minimum", "commitment", "owned"))
    if kind == "owned":
        offer |= {"purchase": draw.randint(50, 900) * 1000, "years": draw.choice((2, 3.5, 5)),
                  "electricity": draw.choice((0.05, 0.2)), "cooling": draw.choice((1, 1.3))}
    elif kind == "node":
        offer |= {"node_hour": draw.randint(5, 60)}
    else:
        offer |= {"gpu_hour": draw.randint(5, 60) / 10}
    if kind in ("minimum", "commitment"):
        offer[kind] = draw.choice((3600, 36000, 864000))
    if draw.random() < 0.2:
        offer["most"] = draw.choice((8, 16))
    text = ", ".join(f"{key}: {value}s" if key in ("minimum", "commitment") else f"{key}: {value}"
                     for key, value in offer.items())
    return f"  - {{{text}, {SAID}}}\n", offer


def money_of(offer, seconds, gpus, nodes, joules):
    if "purchase" in offer:
        return (offer["purchase"] * nodes * (seconds / (offer["years"] * YEAR)) +
                joules / 3.6e6 * offer["cooling"] * offer["electricity"])
    paid = max(seconds, offer.get("minimum", 0))
    if "commitment" in offer:
        paid = math.ceil(paid / offer["commitment"]) * offer["commitment"]
    return paid / 3600 * (offer["gpu_hour"] * gpus if "gpu_hour" in offer else offer["node_hour"] * nodes)


def question(draw, folder, engine="analytic"):
    """Writes one; what was drawn comes back."""
    platforms = draw.sample(PLATFORMS, draw.randint(2, 3))
    gpus = sorted(draw.sample((8, 16, 32, 48), draw.randint(1, 2)))
    tapers = draw.choice((None, None, [1, 4]))
    rows = [offer_of(draw, platform, f"{platform}-{i}") for platform in platforms for i in range(draw.randint(1, 2))]
    plan = f"{{platforms: [{', '.join(platforms)}]" + (f", tapers: {tapers}" if tapers else "") + "}"
    tokens = draw.choice((1e9, 3e10, 2.5e11))
    folder.joinpath("job.yaml").write_text(JOB.format(hidden=draw.choice((1024, 2048)), tokens=tokens, gpus=gpus,
                                                      plan=plan, engine=engine))
    folder.joinpath("prices.yaml").write_text("currency: USD\noffers:\n" + "".join(text for text, _ in rows))
    return platforms, gpus, tapers, [offer for _, offer in rows], tokens


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def least_iteration(stagesim, folder, platform, gpus, taper):
    nodes = gpus // (16 if platform == "dgx-2" else 8)
    value = f"{{preset: {platform}, nodes: {nodes}" + (f", oversubscription: {taper}" if taper else "") + "}"
    found = run(stagesim, "search", "job.yaml", "--exhaustive", "--top", "1", "--quiet", "--format", "json", "--set",
                f"platform={value}", "--set", f"search.gpus={gpus}", cwd=folder)
    return json.loads(found.stdout)["best"][0]["iteration_s"], nodes


def is_front(ways):
    """[(seconds, money, ...)]: those that no other is below in one and in none above."""
    return {way for way in ways
            if not any(o[0] <= way[0] and o[1] <= way[1] and (o[0] < way[0] or o[1] < way[1]) for o in ways)}


def enumerate_all(stagesim, draw, folder):
    platforms, sizes, tapers, offers, tokens = question(draw, folder)
    printed = rows_of(run(stagesim, "plan", "job.yaml", "--quiet", "--format", "csv", cwd=folder).stdout)
    joules = {(row["cluster"], row["offer"]): float(row["energy_j"] or 0) for row in printed}
    ways = set()
    for platform in platforms:
        for gpus in sizes:
            for taper in tapers or [None]:
                mine = [o for o in offers if o["platform"] == platform and o.get("most", gpus) >= gpus]
                if gpus % (16 if platform == "dgx-2" else 8) or not mine:
                    continue
                iteration, nodes = least_iteration(stagesim, folder, platform, gpus, taper)
                seconds = math.ceil(tokens / (64 * 1024)) * iteration
                name = f"{platform}:{nodes}" + (f", taper {taper}" if taper else "")
                ways |= {(seconds, money_of(o, seconds, gpus, nodes, joules.get((name, o["name"]), 0)), name, o["name"])
                         for o in mine}
    front = is_front(ways)
    found = {(float(row["days"]), float(row["money"]), row["cluster"], row["offer"])
             for row in printed if row["front"] == "true"}
    points = {(way[0] / 86400, way[1]) for way in front}
    check.that({way[:2] for way in found} == points, f"front {sorted(found)}, by enumeration {sorted(front)}")
    for row in printed:
        cut = row["status"] == "cut"
        check.that(not cut or row["cluster"] not in {way[2] for way in front}, f"{row['cluster']} is cut")
    return sum(row["status"] == "cut" for row in printed)


def long_way(stagesim, draw, folder):
    """What is passed over unseen changes nothing: with --exhaustive, which looks at all and cuts nothing, the clusters
    that were searched to their end have the same layouts and times, and none of those cut is as fast as its bound."""
    heads, layers = draw.choice((8, 12, 16)), draw.choice((4, 6, 8))
    tensor = draw.choice(("[1, 2]", "[1, 2, 4, 8]", "[2, 3, 4]"))
    folder.joinpath("job.yaml").write_text(f"""platform: dgx-h100:1
workload: transformer
model: {{layers: {layers}, hidden: {heads * 128}, heads: {heads}, sequence: {draw.choice((2048, 8192))},
  vocabulary: 32000}}
transformer: {{tokens: 1e9, attention: {draw.choice(("flash", "standard"))}}}
parallel: {{data: 8}}
batch: {{global: {draw.choice((32, 48))}, micro: 1}}
schedule: 1f1b
engine: analytic
memory: {{reserve: {draw.choice(("6%", "90%", "96%"))}}}
search: {{gpus: {draw.choice(("[8, 16]", "16", "24"))}, tensor: {tensor}, micro: [1, 2, 3], recompute: [none, full],
  schedules: [gpipe, 1f1b, interleaved, zb-h1, chimera]}}
plan: {{platforms: [dgx-h100, pcie-a100]}}
prices: prices.yaml
""")
    folder.joinpath("prices.yaml").write_text("offers:\n" + "".join(
        offer_of(draw, platform, platform)[0] for platform in ("dgx-h100", "pcie-a100")))
    jobs = str(draw.choice((1, 2, 3)))
    quick, full = (run(stagesim, "plan", "job.yaml", "--quiet", "--format", "json", "--jobs", jobs, *more, cwd=folder,
                       expect=None) for more in ((), ("--exhaustive",)))
    check.that(quick.returncode == full.returncode, f"{quick.stderr} {full.stderr}")
    if quick.returncode:
        check.that(quick.stderr == full.stderr, f"{quick.stderr} {full.stderr}")
        return 0
    quick, full = json.loads(quick.stdout), json.loads(full.stdout)
    ways = {(way["cluster"], way["offer"]): way for way in full["ways"]}
    same = ("iteration_s", "days", "money", "layout", "schedule", "peak_bytes", "mfu")
    for way in quick["ways"]:
        other = ways[way["cluster"], way["offer"]]
        check.that([way[key] for key in same] == [other[key] for key in same], f"{way} {other}")
    for other in quick["others"]:
        if other["status"] == "cut":
            times = [way["iteration_s"] for way in full["ways"] if way["cluster"] == other["cluster"]]
            check.that(times and min(times) > other["bound_s"], f"{other} {times}")
        else:
            check.that(other in full["others"], f"{other}: {full['others']}")
    check.that([way for way in quick["ways"] if way["front"]] ==
               [way for way in full["ways"] if way["front"]], "the front")
    return len(quick["ways"])


def family(stagesim, draw, folder):
    """Two jobs on one cluster: sums of what each takes alone on every cluster, and what the best for each would be."""
    platforms, _, _, offers, _ = question(draw, folder)
    prices = folder.joinpath("prices.yaml").read_text()
    folder.joinpath("prices.yaml").write_text(re.sub(r", most: \d+", "", prices))
    weights, names = (draw.choice((1, 2.5)), draw.choice((1, 3))), ("job", "other")
    text = folder.joinpath("job.yaml").read_text()
    other = text.replace("layers: 4", "layers: 6").replace("global: 64", "global: 48")
    folder.joinpath("other.yaml").write_text("".join(
        line for line in other.splitlines(True) if not line.startswith(("plan:", "prices:"))))
    plan = f"platforms: [{', '.join(platforms)}], tapers: 1"
    folder.joinpath("family.yaml").write_text("".join(
        f"plan: {{{plan}, weight: {weights[0]}, jobs: [{{job: other.yaml, weight: {weights[1]}}}]}}\n"
        if line.startswith("plan:") else line for line in text.splitlines(True)))
    alone = []
    for name in names:
        single = "".join(line for line in (text if name == "job" else other).splitlines(True)
                         if not line.startswith("plan:"))
        folder.joinpath(f"single-{name}.yaml").write_text(single + f"plan: {{{plan}}}\n")
        found = run(stagesim, "plan", f"single-{name}.yaml", "--exhaustive", "--quiet", "--format", "json", cwd=folder)
        alone.append({(way["cluster"], way["offer"]): way for way in json.loads(found.stdout)["ways"]})
    found = json.loads(run(stagesim, "plan", "family.yaml", "--quiet", "--format", "json", "-o", "family",
                           cwd=folder).stdout)
    of = {offer["name"]: offer for offer in offers}

    def way_of(key, parts):
        way = parts[0][1]
        joules = [part.get("energy_j", 0) * weight for weight, part in parts]
        seconds = sum(weight * part["days"] * 86400 for weight, part in parts)
        return seconds, money_of(of[key[1]], seconds, way["gpus"], way["nodes"], sum(joules) if all(joules) else 0)

    sums = {key: way_of(key, list(zip(weights, (ways[key] for ways in alone)))) for key in alone[0] if key in alone[1]}
    check.that(len(sums) == len(found["ways"]), f"{len(sums)} {len(found['ways'])}")
    for way in found["ways"]:
        seconds, money = sums[way["cluster"], way["offer"]]
        check.near(way["days"] * 86400, seconds, "days of both", 1e-12)
        check.near(way["money"], money, "money of both", 1e-12)
        beaten = any(s <= seconds * (1 - 1e-9) and m <= money * (1 - 1e-9) for s, m in sums.values())
        check.that(not (way["front"] and beaten), f"{way} is beaten")
    best, least = found["best"][0], min(seconds * money for seconds, money in sums.values())
    check.near(best["days"] * 86400 * best["money"], least, "the best compromise", 1e-12)
    for job, weight, name, ways in zip(found["jobs"], weights, names, alone):
        own = {key: way_of(key, [(weight, way)]) for key, way in ways.items()}
        least = min(seconds * money for seconds, money in own.values())
        check.that(job["job"] == ("family" if name == "job" else name), job)
        check.near(job["alone_days"] * 86400 * job["alone_money"], least, "alone", 1e-12)
        shared = own[best["cluster"], best["offer"]]
        check.near(job["days"] * 86400, shared[0], "its days", 1e-12)
        check.near(job["later"] + 1, job["days"] / job["alone_days"], "later", 1e-9)
        check.near(job["dearer"] + 1, job["money"] / job["alone_money"], "dearer", 1e-9)
    check.near(sum(job["money"] for job in found["jobs"]), best["money"], "all of the money", 1e-12)
    by = 1.000001 * min(seconds for seconds, _ in sums.values())
    limited = json.loads(run(stagesim, "plan", "family.yaml", "--quiet", "--format", "json", "--by", f"{by}s",
                             "--carbon", "1000000kg", "--set", "power.carbon=400", cwd=folder).stdout)
    for job, weight, ways in zip(limited["jobs"], weights, alone):
        allowed = [way_of(key, [(weight, way)]) for key, way in ways.items() if "energy_j" in way]
        least = min(money for seconds, money in allowed if seconds <= by)
        check.near(job["alone_money"], least, "alone within the limits", 1e-12)
    page, rows = (folder / "family/plan.html").read_text(), rows_of((folder / "family/jobs.csv").read_text())
    check.that("The jobs on the recommended cluster" in page and [row["job"] for row in rows] == ["family", "other"],
               "page and table")


def parts(stagesim, folder):
    """The same files in one process, from three parts, and after an interruption."""
    question(random.Random(5), folder)
    run(stagesim, "plan", "job.yaml", "-o", "whole", "--quiet", "--jobs", "1", cwd=folder)
    for part in (1, 2):
        run(stagesim, "plan", "job.yaml", "-o", "parts", "--quiet", "--shard", f"{part}/2", cwd=folder)
    run(stagesim, "plan", "job.yaml", "-o", "merged", "--quiet", "--merge", "parts", cwd=folder)
    for name in ("plan.csv", "plan.json", "plan.html", "plan.svg", "best.yaml"):
        whole = (folder / "whole" / name).read_bytes()
        check.that(whole and whole == (folder / "merged" / name).read_bytes(), f"{name} from parts")
    check.that(not (folder / "whole.journal").exists(), "the journal is gone")
    (folder / "again.journal").write_bytes((folder / "parts/part-1-of-2.journal").read_bytes())
    process = run(stagesim, "plan", "job.yaml", "-o", "again", "--quiet", "--resume", cwd=folder, expect=None)
    check.that(process.returncode == 1 and "again.journal" in process.stderr, "a part is no whole")
    best = json.loads((folder / "whole/plan.json").read_text())["best"][0]
    timed = json.loads(run(stagesim, "run", "whole/best.yaml", "--format", "json", "--quiet", cwd=folder).stdout)
    check.that(str(best["iteration_s"]) in json.dumps(timed), "best.yaml takes what the plan says")


def resumed(stagesim, folder):
    """Killed after some clusters, continued: the same files."""
    question(random.Random(7), folder)
    plan = ("plan", "job.yaml", "--quiet", "--jobs", "1", "--clusters", ",".join(PLATFORMS), "--gpus", "[16, 32, 48]")
    folder.joinpath("prices.yaml").write_text("offers:\n" + "".join(
        f"  - {{platform: {platform}, gpu_hour: {i + 1}, {SAID}}}\n" for i, platform in enumerate(PLATFORMS)))
    run(stagesim, *plan, "-o", "straight", cwd=folder)
    journal = folder / "cut.journal"
    process = subprocess.Popen([stagesim, *plan, "-o", "cut"], cwd=folder, stdout=subprocess.PIPE)
    while process.poll() is None and (not journal.exists() or journal.stat().st_size < 10000):
        time.sleep(0.002)
    process.kill()
    process.communicate()
    check.that(process.returncode and journal.exists(), f"it was killed in time: {process.returncode}")
    kept = journal.stat().st_size
    run(stagesim, *plan, "-o", "cut", "--resume", cwd=folder)
    check.that(kept > 0 and not journal.exists(), "the journal was there and is gone")
    for name in ("plan.csv", "plan.json", "plan.html", "plan.svg", "best.yaml"):
        check.that((folder / "straight" / name).read_bytes() == (folder / "cut" / name).read_bytes(), f"{name} again")


def worth(stagesim, folder):
    """A change is worth what a search says of such a product, and its slope is that of two runs of the layout."""
    question(random.Random(5), folder)
    folder.joinpath("prices.yaml").write_text(f"offers:\n  - {{platform: dgx-h100, gpu_hour: 2, {SAID}}}\n")
    few = ("--set", "plan={platforms: [dgx-h100], what_if: [memory=0.05, products=1.5, nic=0.5]}", "--gpus", "16",
           "--set", "search.micro=[4, 8]", "--set", "model.sequence=4096")
    run(stagesim, "plan", "job.yaml", "--quiet", "-o", "worth", *few, cwd=folder)
    found = json.loads(folder.joinpath("worth/plan.json").read_text())
    own, changes = found["best"][0], {change["change"]: change for change in found["what_if"]}
    same = "device: {name: H100-SXM5-80GB, from: H100-SXM5-80GB, source: a draw"
    for name, more in (("memory=0.05", "memory: 4GiB"), ("products=1.5", "peak: {bf16: 1483.5Tf, fp16: 1483.5Tf, "
                                                         "fp32: 100.5Tf, tf32: 741.75Tf, fp8: 2968.5Tf}")):
        folder.joinpath("own.yaml").write_text(f"from: dgx-h100\nsummary: another\n{same}, {more}}}\n")
        best = run(stagesim, "search", "job.yaml", "--quiet", "--top", "1", "--format", "json", *few, "--set",
                   "platform=own.yaml:2", "--exhaustive", cwd=folder)
        steps = round(own["days"] * 86400 / own["iteration_s"])
        check.near(changes[name]["days"] * 86400 / steps, json.loads(best.stdout)["best"][0]["iteration_s"], name)
    check.that(changes["memory=0.05"]["layout"] != own["layout"], f"less memory, another layout: {changes}")
    slow = [json.loads(run(stagesim, "run", "worth/best.yaml", "--format", "json", "--quiet", "--scale",
                           f"nic={factor}", cwd=folder).stdout) for factor in (1, 1 / 1.01)]
    times = [row[0]["iteration_s"] if isinstance(row, list) else row["iteration_s"] for row in slow]
    check.near(changes["nic=0.5"]["slope"], math.log(times[1] / times[0]) / math.log(1 / 1.01), "slope", 1e-6)
    both = run(stagesim, "plan", "job.yaml", "--quiet", *few, "--set", "what_if=[gpu-0-0=0.5]", "--set",
               "plan.what_if=[nic=2, foo=2]", "--format", "json", cwd=folder)
    slowed = json.loads(both.stdout)
    check.that(slowed["what_if"][0]["days"] > 1.5 * own["days"], f"the slow GPU is gone: {slowed['what_if'][0]}")
    check.that("'foo' is no kind of links" in slowed["what_if"][1]["reason"], slowed["what_if"][1])
    bad = run(stagesim, "plan", "job.yaml", *few, "--set", "plan.what_if=[memory]", "--set", "plan.law=kaplan",
              cwd=folder, expect=1)
    check.that("is no change; expected products, memory" in bad.stderr and bad.stderr.count("error: ") == 2
               and "1 of 1" not in bad.stderr, f"both mistakes, before anything is asked: {bad.stderr}")
    folder.joinpath("prices.yaml").write_text("offers:\n" + "".join(
        f"  - {{platform: dgx-h100, name: o{i}, gpu_hour: {i + 1}, {SAID}}}\n" for i in range(10)))
    many = run(stagesim, "plan", "job.yaml", *few, cwd=folder, expect=1)
    check.that("prices.yaml:10:" in many.stderr and many.stderr.count("error: ") == 1, f"ten offers: {many.stderr}")


def law(stagesim, folder):
    """What a sum is best spent on is the least loss of a fine grid; Hoffmann et al. give 40 billion for Gopher's flop
    (table A3, approach 3), and Besiroglu et al. about 20 tokens for a parameter at Chinchilla's."""
    question(random.Random(5), folder)
    folder.joinpath("prices.yaml").write_text(f"offers:\n  - {{platform: dgx-h100, gpu_hour: 2, {SAID}}}\n")
    few = ("--set", "plan.platforms=[dgx-h100]", "--set", "plan.tapers=1", "--gpus", "16", "--quiet", "--format",
           "json")

    def asked(name, below):
        out = run(stagesim, "plan", "job.yaml", *few, "--set", f"plan.law={name}", "--below", f"{below:.17g}",
                  cwd=folder).stdout
        return json.loads(out)["law"]

    first = asked("hoffmann", 1e3)
    check.near(first["training_flop"], 6 * first["training_parameters"] * first["training_tokens"], "6 N D")
    gopher = asked("hoffmann", 5.76e23 / first["flop"] * 1e3)
    check.near(gopher["flop"], 5.76e23, "flop for the money", 1e-6)
    check.that(38e9 < gopher["parameters"] < 42e9, f"Gopher's flop: {gopher}")
    other = asked("besiroglu", 5.76e23 / first["flop"] * 1e3)
    check.that(15 < other["tokens"] / other["parameters"] < 30, f"tokens for a parameter: {other}")
    own = asked("[1.6934, 406.4, 0.3392, 410.7, 0.2849]", 1e3)
    check.near(own["parameters"], first["parameters"], "the same numbers as one's own")
    grid = [first["parameters"] * 1.001**step for step in range(-2000, 2001)]
    losses = [1.6934 + 406.4 / n**0.3392 + 410.7 / (first["flop"] / 6 / n)**0.2849 for n in grid]
    check.near(min(losses), first["loss"], "the least loss", 1e-7)
    check.near(grid[losses.index(min(losses))], first["parameters"], "where it is least", 2e-3)
    bad = run(stagesim, "plan", "job.yaml", *few, "--set", "plan.law=kaplan", cwd=folder, expect=1)
    check.that("expected hoffmann, besiroglu" in bad.stderr, bad.stderr)


def words(stagesim, folder):
    """A deadline that nobody meets, a job that fits nowhere, spot that is taken away."""
    question(random.Random(5), folder)
    platforms = "dgx-h100"
    folder.joinpath("prices.yaml").write_text(
        f"currency: USD\noffers:\n  - {{platform: dgx-h100, gpu_hour: 2, {SAID}}}\n"
        f"  - {{platform: dgx-h100, gpu_hour: 1, interrupted_every: 5h, {SAID}}}\n")
    few = ("--clusters", platforms, "--gpus", "16", "--set", "plan.tapers=1")
    late = run(stagesim, "plan", "job.yaml", "--by", "1s", "--quiet", *few, cwd=folder).stdout
    check.that("Nothing is done within" in late and "times the soonest one's speed" in late, late)
    found = json.loads(run(stagesim, "plan", "job.yaml", "--quiet", "--format", "json", *few, cwd=folder).stdout)
    ways = {way["offer"]: way for way in found["ways"]}
    check.that(ways["spot"]["days"] > ways["on demand"]["days"] and 0 < ways["spot"]["goodput"] < 1, f"{ways}")
    good = folder.joinpath("prices.yaml").read_text()
    folder.joinpath("prices.yaml").write_text(good.replace("gpu_hour: 2", "gpu_hour: two"))
    wrong = run(stagesim, "plan", "job.yaml", "-o", "wrong", *few, cwd=folder, expect=1)
    check.that("prices.yaml:3:" in wrong.stderr and not (folder / "wrong").exists(), wrong.stderr)
    folder.joinpath("prices.yaml").write_text(good)
    large = run(stagesim, "plan", "job.yaml", "--quiet", *few, "--set",
                "model={layers: 2, hidden: 65536, heads: 64, sequence: 65536, vocabulary: 32000}", "--set",
                "search.tensor=1", "--set", "search.pipeline=1", cwd=folder, expect=1)
    check.that("the one that needs least takes" in large.stderr and not large.stdout, large.stderr)


def main():
    stagesim = binary_argument()
    draw = random.Random(SEED)
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        cut = sum(enumerate_all(stagesim, draw, folder) for _ in range(QUESTIONS))
        found = sum(long_way(stagesim, draw, folder) for _ in sampled(range(QUESTIONS)))
        for _ in sampled(range(QUESTIONS)):
            family(stagesim, draw, folder)
        check.that(cut > 0 or QUESTIONS < 10, "something is cut")
        check.that(found > 0, "something is found")
        if QUESTIONS < 10:
            parts(stagesim, folder)
            resumed(stagesim, folder)
            worth(stagesim, folder)
            law(stagesim, folder)
            words(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
