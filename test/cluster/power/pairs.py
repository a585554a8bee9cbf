#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pairs.py STAGESIM: pairs of jobs and caps against brute force over closed forms, for each objective; two jobs on
partitions of one GPU do together what each does alone; what is refused."""
import itertools
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

IDLE, FULL, BUDGET = 30, 200, 210
CAPS = [50, 75, 100, 125, 150, 175]
SHARES = {"arithmetic": 1, "mixed": 0.5, "memory": 0.1}
JOB = """platform: half.xml
workload: stages
stages: {{forward: 1s, backward: 2s}}
batch: {{micro_batches: 4, micro: 1}}
schedule: gpipe
power: {{compute_bound: {share}}}
"""
PAIRS = """platform: half.xml
pairs:
  jobs: [arithmetic.yaml, mixed.yaml, memory.yaml]
  caps: [{caps}]
  budget: {budget}W
  objective: {objective}
"""


def write(folder):
    hosts = "".join(f'<host id="gpu-0-part-{i}" speed="156Tf"><prop id="wattage_per_state" value="{IDLE}:{FULL}"/>'
                    "</host>" for i in range(2))
    (folder / "half.xml").write_text(tool.HEAD + '<zone id="z" routing="Full">' + hosts + '<link id="l" '
                                     'bandwidth="1GBps" latency="0s"/><route src="gpu-0-part-0" dst="gpu-0-part-1">'
                                     '<link_ctn id="l"/></route></zone></platform>\n')
    for name, share in SHARES.items():
        (folder / f"{name}.yaml").write_text(JOB.format(share=share))


def speed(job, cap):
    clock = ((cap - IDLE) / (FULL - IDLE)) ** (1 / 3)
    return 1 / (SHARES[job] / clock + 1 - SHARES[job])


def expected(objective):
    """Best first: (jobs and caps, throughput, watts). A job computes all the time, and draws its cap."""
    rows = []
    for pair in itertools.combinations(SHARES, 2):
        for caps in itertools.product(CAPS, CAPS):
            throughput, watts = sum(map(speed, pair, caps)), sum(caps)
            value = {"throughput": throughput, "energy": throughput / watts,
                     "energy-delay": throughput ** 2 / watts}[objective]
            if watts <= BUDGET:
                rows.append((value, (pair[0], f"{caps[0]}W", pair[1], f"{caps[1]}W"), throughput, watts))
    return sorted(rows, key=lambda row: -row[0])


def check_ranking(check, binary, folder):
    for objective in ("throughput", "energy", "energy-delay"):
        text = PAIRS.format(caps=", ".join(f"{cap}W" for cap in CAPS), budget=BUDGET, objective=objective)
        (folder / "pairs.yaml").write_text(text)
        tool.run(binary, "check", "pairs.yaml", cwd=folder)
        lines = tool.run(binary, "run", "pairs.yaml", cwd=folder).stdout.splitlines()
        rows = expected(objective)
        check.that(len(lines) == 13 and lines[-1].startswith(f"{len(rows)} choices"), f"{objective}: {lines}")
        for line, (_, names, throughput, _) in zip(lines[2:12], rows):
            cells = line.split()
            check.that(cells[5] == f"{throughput:.4f}", f"{objective}: {line}, expected {throughput:.4f}")
            same = [row[1] for row in rows if abs(row[2] - throughput) < 1e-9]
            check.that(tuple(cells[1:5]) in same, f"{objective}: {line}, expected {names}")


def check_platforms(check, binary, folder):
    """The platform as a word and as a map, for jobs in another folder."""
    (folder / "jobs").mkdir()
    for share in SHARES:
        (folder / "jobs" / f"{share}.yaml").write_text((folder / f"{share}.yaml").read_text())
    text = PAIRS.format(caps="75W, 125W", budget=200, objective="throughput").replace("arithmetic.yaml, ", "")
    (folder / "pairs.yaml").write_text(text)
    printed = tool.run(binary, "run", "pairs.yaml", cwd=folder).stdout
    far = text.replace("mixed.yaml", "jobs/mixed.yaml").replace("memory.yaml", "jobs/memory.yaml")
    for platform in ("half.xml", "{file: half.xml}"):
        (folder / "pairs.yaml").write_text(far.replace("platform: half.xml", f"platform: {platform}"))
        check.that(tool.run(binary, "run", "pairs.yaml", cwd=folder).stdout == printed, f"platform {platform}")


def check_by_hand(check, binary, folder):
    """The example of doc/definitions.md."""
    (folder / "pairs.yaml").write_text(PAIRS.format(caps="75W, 125W", budget=200, objective="throughput")
                                       .replace("arithmetic.yaml, ", ""))
    line = tool.run(binary, "run", "pairs.yaml", cwd=folder).stdout.splitlines()[2]
    check.that(line.split() == "1 mixed 125W memory 75W 1.8505 200.0 W 108.1 J".split(), line)


def check_together(check, binary, folder):
    (folder / "jobs.yaml").write_text("""platform: half.xml
jobs:
  a: {scenario: arithmetic.yaml, placement: gpu-0-part-0}
  b: {scenario: memory.yaml, placement: gpu-0-part-1}
""")
    lines = tool.run(binary, "run", "jobs.yaml", "--set", "jobs.a.scenario.power.cap=125W", "--set",
                     "jobs.b.scenario.power.cap=75W", cwd=folder).stdout.splitlines()
    for name, job, cap in (("a", "arithmetic", 125), ("b", "memory", 75)):
        row = next(line for line in lines if line.startswith(f"{name} "))
        check.that(f"{12 / speed(job, cap):.4g}" in row.replace("0 s", " s") or f"{12 / speed(job, cap):.3f}" in row,
                   f"{row}: expected {12 / speed(job, cap)} s")


def check_refused(check, binary, folder):
    good = PAIRS.format(caps="50W, 75W", budget=BUDGET, objective="energy")
    for old, new, place in (("50W, 75W", "50, 75W", ":4:"), ("50W, 75W", "75W, 50W", ":4:"), ("energy", "money", ":6:"),
                            ("budget", "budgets", ":5:"), ("mixed.yaml", "none.yaml", ":3:"), ("210W", "2s", ":5:"),
                            ("platform: half.xml\n", "", ":1:"), (", mixed.yaml, memory.yaml", "", ":3:")):
        (folder / "bad.yaml").write_text(good.replace(old, new))
        result = tool.run(binary, "check", "bad.yaml", cwd=folder, expect=1)
        said = "expected" in result.stderr or "did you mean" in result.stderr
        check.that(result.stderr.startswith(f"bad.yaml{place}") and said, f"{new}: {result.stderr}")
    (folder / "bad.yaml").write_text(good.replace(f"{BUDGET}W", "60W"))
    check.that("no two jobs stay" in tool.run(binary, "run", "bad.yaml", cwd=folder, expect=1).stderr, "a low budget")


def main():
    binary, check = tool.binary_argument(), tool.Checker()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder)
        check_ranking(check, binary, folder)
        check_platforms(check, binary, folder)
        check_by_hand(check, binary, folder)
        check_together(check, binary, folder)
        check_refused(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
