#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""settings.py STAGESIM: every key of SimGrid that doc/scenario.md has, at other values than its default, on the engine
simgrid: the job runs, and takes the same time folded and unfolded, on the platform as stagesim and as SimGrid reads it.
A latency factor is compared with a platform whose latencies are multiplied, for messages. What SimGrid cannot do since
3.34 is refused: the model IB everywhere, the solver bmf where it finds no shares."""
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool import HEAD, ROOT, Checker, run, sampled

DEMO = ROOT / "scenarios/demo.yaml"
PLATFORM = ROOT / "platforms/piz-daint-32.xml"
# Of keys that take words all of them are tried.
NUMBERS = {"network/TCP-gamma": ["1", "65536", "4194304"], "network/bandwidth-factor": ["0.5", "2"],
           "network/latency-factor": ["0", "1", "2", "1e3"], "network/weight-S": ["20537", "0"],
           "network/loopback-lat": ["1e-6"], "network/loopback-bw": ["1e9"], "surf/precision": ["1e-9", "1e-15"],
           "maxmin/precision": ["1e-9", "1e-3"], "maxmin/concurrency-limit": ["1", "2", "100"],
           "contexts/stack-size": ["16", "128"]}
# Messages alone: of a collective SimGrid has the first step, whose latency it multiplies; the others wait theirs.
MESSAGES = ["--set", "stages.gradient=0B"]
check = Checker()


def documented():
    """The keys of the page, and the words that each takes: none for a number."""
    page = (ROOT / "doc/scenario.md").read_text()
    table = re.search(r"<!-- keys: simgrid -->\n(.*?)<!-- end -->", page, re.S).group(1)
    rows = re.findall(r"^\| `(\S+)` \| (.*?) \| ", table, re.M)
    check.that(len(rows) >= 16, f"only {len(rows)} keys on the page")
    return {key: re.findall(r"`([^`]+)`", values) for key, values in rows}


def seconds(folder, scenario, *arguments):
    """Of an iteration; and how many ranks were simulated."""
    done = run(STAGESIM, "run", scenario, "--engine", "simgrid", "--quiet", "-o", folder, *arguments, expect=None)
    if not check.that(done.returncode == 0, f"{scenario} {arguments}: exit code {done.returncode}\n{done.stderr}"):
        return 0, 0
    summary = json.loads((folder / "summary.json").read_text())
    return summary["time"]["iteration_s"], summary["folding"]["simulated_ranks"]


def folded_and_not(work, scenario, *arguments):
    """The time, which is the same; the share of the ranks that was simulated."""
    folded, few = seconds(work / "out", scenario, *arguments)
    whole, ranks = seconds(work / "out", scenario, *arguments, "--set", "fold=off")
    check.near(folded, whole, f"{pathlib.Path(scenario).name} {arguments}: folded and not", 1e-6)
    return whole, few / max(ranks, 1)


def write_shared(work):
    """Eight hosts on one link, which is full, without any latency. Groups of data-parallel ranks have turns, for which
    their flows are given latencies that take no time."""
    hosts = "".join(f'<host id="h-{i}" speed="100Tf"/><link id="l-{i}" bandwidth="10GBps" latency="0s"/>' for i in
                    range(8))
    routes = "".join(f'<route src="h-{a}" dst="h-{b}" symmetrical="NO"><link_ctn id="l-{a}"/><link_ctn id="all"/>'
                     f'<link_ctn id="l-{b}"/></route>' for a in range(8) for b in range(8) if a != b)
    (work / "shared.xml").write_text(f'{HEAD}<zone id="z" routing="Full">{hosts}<link id="all" bandwidth="5GBps" '
                                     f'latency="0s"/>{routes}</zone></platform>\n')
    path = work / "shared.yaml"
    path.write_text("platform: shared.xml\nworkload: transformer\n"
                    "model: {hidden: 1024, heads: 8, layers: 4, sequence: 1024, vocabulary: 32000}\n"
                    "parallel: {tensor: 2, data: 4}\nbatch: {micro: 1, micro_batches: 1}\n"
                    "transformer: {zero: 1}\nschedule: 1f1b\ncompute: {efficiency: 0.5}\n")
    return path


def by_platform_file(work, told):
    """A platform file that asks for IB is named, where the release lacks it."""
    text = (work / "shared.xml").read_text()
    (work / "infiniband.xml").write_text(
        text.replace("<zone", '<config><prop id="network/model" value="IB"/></config><zone', 1))
    done = run(STAGESIM, "run", work / "shared.yaml", "--quiet", "-o", work / "refused", "--set",
               "platform=infiniband.xml", expect=1)
    said = " ".join(done.stderr.split())
    check.that("infiniband.xml: error: <config>: network/model: IB" in said and told in said, f"IB in a file: {said}")


def cannot(work, setting):
    """Whether SimGrid's release has no such thing, which is said then: IB of every job, bmf of some."""
    release = json.loads((work / "out/summary.json").read_text())["simulation"]["simgrid"]
    if tuple(map(int, release.split(".")[:2])) < (3, 34) or \
            setting not in ("simgrid.network/model=IB", "simgrid.network/solver=bmf"):
        return False
    done = run(STAGESIM, "run", DEMO, "--quiet", "-o", work / "refused", "--set", setting, "--set", "fold=off",
               expect=None)
    told = "SimGrid cannot run" if setting.endswith("IB") else "finds no shares"
    code = 1 if setting.endswith("IB") else 3
    if setting.endswith("IB"):
        by_platform_file(work, told)
    check.that(done.returncode == code and told in " ".join(done.stderr.split()) and not (work / "refused").exists() or
               done.returncode == 0 and setting.endswith("bmf"),
               f"{setting}: exit code {done.returncode}\n{done.stderr}")
    return True


def every_key(work):
    shared = write_shared(work)
    usual, share = folded_and_not(work, DEMO)
    check.that(share < 1, "the demo does not fold")
    # Windows and counts of flows would be of the weights that turns give, and of classes: there are none then.
    unbounded = folded_and_not(work, shared)[0]
    for setting in ("network/TCP-gamma=65536", "network/latency-factor=1000", "maxmin/concurrency-limit=100"):
        check.near(folded_and_not(work, shared, "--set", f"simgrid.{setting}")[0], unbounded,
                   f"without latencies, {setting}", 1e-3)
    cases = []
    for key, words in documented().items():
        if not check.that(words or key in NUMBERS, f"no value for the key {key}"):
            continue
        cases += [f"simgrid.{key}={value}" for value in words or NUMBERS[key]]
    for case in sampled(cases):
        if cannot(work, case):
            continue
        for job in (DEMO, shared):
            folded_and_not(work, job, "--set", case)
        seconds(work / "out", DEMO, "--set", case, "--set", "loader=simgrid")
    return usual


def with_latencies(work, name, factor, setting=""):
    """A copy of the demo whose platform's latencies are multiplied."""
    text = PLATFORM.read_text()
    text = re.sub(r'lat="([\d.e-]+)(\w+)"', lambda found: f'lat="{float(found[1]) * factor!r}{found[2]}"', text)
    text = re.sub(r"(<platform[^>]*>)", rf"\1\n{setting}", text)
    (work / f"{name}.xml").write_text(text)
    (work / f"{name}.yaml").write_text(re.sub(r"(?m)^platform:.*", f"platform: {name}.xml", DEMO.read_text()))
    return work / f"{name}.yaml"


def latency_factor(work, usual):
    """CM02 weighs by the latencies that it is given, the factor apart; where all are multiplied, weights stay."""
    factor = "simgrid.network/latency-factor"
    check.near(folded_and_not(work, DEMO, "--set", f"{factor}=1")[0], usual, "a factor of 1", 1e-12)
    once = folded_and_not(work, with_latencies(work, "once", 1), *MESSAGES)[0]
    for times in (2, 1000):
        there, share = folded_and_not(work, with_latencies(work, "more", times), *MESSAGES)
        here, as_much = folded_and_not(work, work / "once.yaml", *MESSAGES, "--set", f"{factor}={times}")
        check.that(share == as_much < 1, f"factor {times}: {as_much} of the ranks, not {share}")
        check.that(there > once * (1 + 1e-8), f"latencies times {times} change nothing")
        check.near(here, there, f"factor {times} and latencies times {times}", 1e-9)
    # In the platform file, which SimGrid then reads; the scenario's goes before it.
    inside = with_latencies(work, "inside", 1, '<config><prop id="network/latency-factor" value="1000"/></config>')
    check.near(folded_and_not(work, inside, *MESSAGES)[0], there, "a factor in the platform file", 1e-9)
    above = folded_and_not(work, inside, *MESSAGES, "--set", f"{factor}=1")[0]
    check.near(above, once, "the scenario's above it", 1e-9)
    # Another model has its own, of which the setting takes the place.
    model = ["--set", "simgrid.network/model=LV08"]
    own = folded_and_not(work, work / "once.yaml", *MESSAGES, *model)[0]
    given = folded_and_not(work, work / "once.yaml", *MESSAGES, *model, "--set", f"{factor}=13.01")[0]
    check.near(given, own, "LV08's own factor", 1e-12)
    less = folded_and_not(work, work / "once.yaml", *MESSAGES, *model, "--set", f"{factor}=1")[0]
    check.that(less < own, f"LV08 with a factor of 1 takes {less}, with its own {own}")


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        latency_factor(work, every_key(work))
    return check.done()


if __name__ == "__main__":
    STAGESIM = sys.argv[1]
    sys.exit(main())
