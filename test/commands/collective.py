#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collective_command.py STAGESIM: `stagesim collective` on SimGrid against closed forms on stars of private ports, of
nodes and on tori, both engines and all formats, fitting a platform to a table made from known values, and what it says
of bad input."""
import functools
import json
import math
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

STAGESIM = pathlib.Path(sys.argv[1]).resolve()
BETA, ALPHA = 1e-10, 2e-6  # 10 GB/s, 1 us a link
INNER_BETA, INNER_ALPHA = 2e-11, 1e-6
ALGORITHMS = {"all-reduce": ("ring", "double-tree", "recursive-doubling", "halving-doubling"),
              "all-gather": ("ring", "bruck"), "reduce-scatter": ("ring",), "broadcast": ("chain", "binomial"),
              "all-to-all": ("direct", "pairwise", "bruck"), "send-receive": ("direct",)}
FORMS = {"all-reduce": ("ring", "double-tree", "in-network", "halving-doubling", "recursive-doubling"),
         "all-gather": ("ring", "bruck", "recursive-doubling"), "reduce-scatter": ("ring", "halving-doubling"),
         "broadcast": ("chain", "binomial"), "reduce": ("chain", "binomial"),
         "all-to-all": ("direct", "pairwise", "bruck"), "send-receive": ("direct",)}
OTHERS = {"hierarchical", "torus", "switch-tree"}  # below, and in test/simulator/collectives/stars.c
checker = tool.Checker()
check = checker.that
run = functools.partial(tool.run, STAGESIM)


def star(path, nodes, per_node, properties=""):
    """Each host has a port of 10 GB/s to a switch; hosts of one node reach each other over ports of 50 GB/s."""
    hosts, routes, links = [], [], []
    for n in range(nodes):
        inside = "".join(f'<host id="gpu-{n}-{g}" speed="1Gf"/>' for g in range(per_node))
        inside += f'<router id="port-{n}"/>'
        for a in range(per_node):
            links += [f'<link id="inner-{n}-{a}" bandwidth="50GBps" latency="0.5us" sharing_policy="SPLITDUPLEX"/>',
                      f'<link id="outer-{n}-{a}" bandwidth="10GBps" latency="1us" sharing_policy="SPLITDUPLEX"/>']
            for b in range(a + 1, per_node):
                inside += (f'<route src="gpu-{n}-{a}" dst="gpu-{n}-{b}"><link_ctn id="inner-{n}-{a}" direction="UP"/>'
                           f'<link_ctn id="inner-{n}-{b}" direction="DOWN"/></route>')
            inside += f'<route src="gpu-{n}-{a}" dst="port-{n}"><link_ctn id="outer-{n}-{a}" direction="UP"/></route>'
        hosts.append(f'<zone id="node-{n}" routing="Full">{inside}</zone>')
        routes.append(f'<zoneRoute src="node-{n}" dst="hub" gw_src="port-{n}" gw_dst="switch"><link_ctn '
                      f'id="wire-{n}"/></zoneRoute>')
        links.append(f'<link id="wire-{n}" bandwidth="1PBps" latency="0us" sharing_policy="FATPIPE"/>')
    path.write_text("<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\"><platform "
                    "version=\"4.1\">" f'<zone id="all" routing="Floyd">{properties}<zone id="hub" '
                    f'routing="Full"><router id="switch"/></zone>' + "".join(links) + "".join(hosts) + "".join(routes) +
                    "</zone></platform>")
    return path


def torus(path, sizes):
    """Chips of 10 GB/s and 2 us to each of their neighbours, in SimGrid's own torus, whose first dimension varies
    fastest."""
    chips = math.prod(sizes)
    path.write_text("<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\"><platform "
                    "version=\"4.1\">" f'<cluster id="t" prefix="chip-" suffix="" radical="0-{chips - 1}" speed="1Gf" '
                    f'bw="10GBps" lat="2us" sharing_policy="SPLITDUPLEX" '
                    f'topology="TORUS" topo_parameters="{",".join(map(str, reversed(sizes)))}">'
                    f'<prop id="collective_torus" value="{"x".join(map(str, sizes))}"/></cluster></platform>')
    return path


def times(platform, kind, algorithm, sizes="1KiB:64MiB:256", engine="simgrid", more=()):
    text = run("collective", kind, "--platform", platform, "--algorithm", algorithm, "--sizes", sizes, "--engine",
               engine, "--format", "csv", *more).stdout
    rows = [line.split(",") for line in text.splitlines() if line[0].isdigit()]
    return {float(row[0]): float(row[1]) * 1e-6 for row in rows}


def closed_form(kind, algorithm, p, size):
    """For powers of two."""
    log, part = math.ceil(math.log2(p)), (p - 1) / p * size * BETA
    return {
        "all-reduce": {"ring": 2 * (p - 1) * ALPHA + 2 * part, "double-tree": 2 * log * ALPHA + 2 * size * BETA,
                       "in-network": ALPHA + size * BETA, "halving-doubling": 2 * log * ALPHA + 2 * part,
                       "recursive-doubling": log * (ALPHA + size * BETA)},
        "all-gather": {"ring": (p - 1) * ALPHA + part, "bruck": log * ALPHA + part,
                       "recursive-doubling": log * ALPHA + part},
        "reduce-scatter": {"ring": (p - 1) * ALPHA + part, "halving-doubling": log * ALPHA + part},
        "broadcast": {"chain": (p - 1) * ALPHA + size * BETA, "binomial": log * (ALPHA + size * BETA)},
        "reduce": {"chain": (p - 1) * ALPHA + size * BETA, "binomial": log * (ALPHA + size * BETA)},
        "all-to-all": {"direct": (p - 1) * ALPHA + part, "pairwise": (p - 1) * ALPHA + part,
                       "bruck": log * (ALPHA + size / 2 * BETA)},
        "send-receive": {"direct": ALPHA + size * BETA}}[kind][algorithm]


def against_closed_forms(folder):
    listed = {line.split()[0] for line in run("list", "algorithms").stdout.splitlines()}
    formed = {algorithm for algorithms in FORMS.values() for algorithm in algorithms}
    check(listed == formed | OTHERS, f"algorithms without a closed form here: {listed - formed - OTHERS}")
    cases = [(p, kind, algorithm) for p in (4, 8, 16) for kind in FORMS for algorithm in FORMS[kind]]
    for p, kind, algorithm in tool.sampled(cases):
        platform = star(folder / f"star-{p}.xml", p, 1, '<prop id="collective_in_network" value="cluster"/>')
        simgrid, analytic = times(platform, kind, algorithm), times(platform, kind, algorithm, engine="analytic")
        for size, seconds in simgrid.items():
            expected = closed_form(kind, algorithm, p, size)
            check(abs(seconds / expected - 1) <= 0.01,
                  f"{kind} {algorithm}, {p} ranks, {size} B: {seconds}, closed form {expected}")
            # Flows of a port have equal latencies: their own sharing is the same on either engine.
            check(abs(analytic[size] / expected - 1) <= 1e-6,
                  f"{kind} {algorithm}, {p} ranks, {size} B: " f"analytic {analytic[size]}, form {expected}")
            check(abs(analytic[size] / seconds - 1) <= 1e-6,
                  f"{kind} {algorithm}, {p} ranks, {size} B: " f"analytic {analytic[size]}, SimGrid {seconds}")
    g, k = 4, 4
    platform = star(folder / "nodes.xml", k, g)
    for engine, tolerance in (("simgrid", 0.01), ("analytic", 1e-6)):
        for size, seconds in times(platform, "all-reduce", "hierarchical", engine=engine).items():
            expected = 2 * (g - 1) * (INNER_ALPHA + size / g * INNER_BETA) + 2 * (k - 1) * (ALPHA + size / g / k * BETA)
            check(abs(seconds / expected - 1) <= tolerance,
                  f"hierarchical, {engine}, {size} B: {seconds}, closed form {expected}")
        # Trees over nodes, a chain within: each outer port carries its part of the data twice each way.
        for size, seconds in times(platform, "all-reduce", "double-tree", engine=engine).items():
            expected = 2 * (g - 1) * INNER_ALPHA + 2 * math.log2(k) * ALPHA + 2 * size / g * BETA
            check(abs(seconds / expected - 1) <= tolerance,
                  f"double-tree over nodes, {engine}, {size} B: {seconds}, closed form {expected}")
    # A ring over nodes leaves each node through all its ports: 2 (p-1)/p S/g bytes each.
    big = 2.0**40
    seconds = times(platform, "all-reduce", "ring", sizes=f"{int(big)}:{int(big)}:2")[big]
    check(abs(seconds / (2 * 15 / 16 * big / 4 * BETA) - 1) <= 0.01, f"rings over nodes: {seconds}")
    # So does a broadcast or a reduction: a part of the data along each ring, over all its edges but one.
    for kind in ("broadcast", "reduce"):
        for engine, tolerance in (("simgrid", 0.01), ("analytic", 1e-6)):
            for size, seconds in times(platform, kind, "ring", engine=engine).items():
                expected = k * (g - 1) * INNER_ALPHA + (k - 1) * ALPHA + size / g * BETA
                check(abs(seconds / expected - 1) <= tolerance, f"{kind} over nodes, {engine}: {seconds}, {expected}")


def torus_rounds(sizes, size):
    """Seconds of an all-reduce in rounds: a part of the data for each dimension and direction, each of which goes round
    its own dimension first, then round
    the next ones with what is left of it, and back; those along a shorter dimension wait for the longest."""
    sum_of, count = 0.0, len(sizes)
    for stage in range(count):
        for step in range(max(sizes) - 1):
            busy = [size / (2 * count) / math.prod(sizes[(start + i) % count] for i in range(stage + 1))
                    for start in range(count) if step < sizes[(start + stage) % count] - 1]
            sum_of += 2 * (ALPHA + max(busy) * BETA)
    return sum_of


def on_tori(folder):
    """On a uniform torus, d dimensions of X: sum over i of 2 [(X-1) alpha + (X-1)/X S/(2 d X^i) beta], i = 0 .. d-1."""
    for sizes in tool.sampled(((3, 3), (4, 4), (8, 8), (3, 3, 3), (4, 4, 4))):
        platform, d, x = torus(folder / "torus.xml", sizes), len(sizes), sizes[0]
        for engine, tolerance in (("simgrid", 0.01), ("analytic", 1e-6)):
            for size, seconds in times(platform, "all-reduce", "torus", engine=engine).items():
                expected = sum(2 * (x - 1) * (ALPHA + size / (2 * d * x ** (i + 1)) * BETA) for i in range(d))
                check(abs(seconds / expected - 1) <= tolerance,
                      f"torus {sizes}, {engine}, {size} B: {seconds}, closed form {expected}")
                check(abs(torus_rounds(sizes, size) / expected - 1) <= 1e-9,
                      f"torus {sizes}, {size} B: the rounds are not the closed form")
    # Unequal dimensions: parts wait for each other in every round. With less than three chips in a dimension both ways
    # are one.
    for sizes in tool.sampled(((4, 3), (3, 6), (5, 4, 3), (3, 4, 6))):
        platform = torus(folder / "torus.xml", sizes)
        for size, seconds in times(platform, "all-reduce", "torus", more=["--stepwise"]).items():
            expected = torus_rounds(sizes, size)
            check(abs(seconds / expected - 1) <= 0.01,
                  f"torus {sizes}, {size} B in rounds: {seconds}, expected {expected}")
        steady, rounds = (times(platform, "all-reduce", "torus", "1GiB:1GiB:2", more=more)[2.0**30]
                          for more in ([], ["--stepwise"]))
        check(steady <= rounds * (1 + 1e-9), f"torus {sizes}: {steady} in steady state, {rounds} in rounds")


def stepwise(folder):
    """Every round of transfers apart takes as long as flows in steady state where nothing else moves and start-ups are
    equal."""
    cases = [(star(folder / f"steps-{p}.xml", p, 1), kind, algorithm) for p in (4, 7) for kind,
             algorithms in ALGORITHMS.items() for algorithm in algorithms]
    cases += [(star(folder / "steps-nodes.xml", 4, 4), kind, "hierarchical")
              for kind in ("all-reduce", "reduce-scatter", "all-gather")]
    for platform, kind, algorithm in tool.sampled(cases):
        steady, steps = times(platform, kind, algorithm), times(platform, kind, algorithm, more=["--stepwise"])
        for size in steady:
            check(abs(steps[size] / steady[size] - 1) <= 1e-6,
                  f"{kind} {algorithm} {size} B: stepwise {steps[size]}, steady {steady[size]}")
    # Rings over nodes wait in every round for the slowest edge; where bytes decide they agree as well.
    nodes = folder / "steps-nodes.xml"
    steady, steps = times(nodes, "all-reduce", "ring", "1GiB:1GiB:2"), times(nodes, "all-reduce", "ring", "1GiB:1GiB:2",
                                                                             more=["--stepwise"])
    check(abs(steps[2.0**30] / steady[2.0**30] - 1) <= 0.01, f"rings over nodes: stepwise {steps}, steady {steady}")


def formats(folder):
    platform = star(folder / "formats.xml", 2, 4)
    both = [times(platform, "all-reduce", "ring", engine=engine) for engine in ("simgrid", "analytic")]
    for size in both[0]:
        check(abs(both[0][size] / both[1][size] - 1) <= 1e-6,
              f"engines differ at {size}: {both[0][size]}, {both[1][size]}")
    table = json.loads(
        run("collective", "all-gather", "--platform", platform, "--algorithm", "all", "--format", "json").stdout)
    check({row["algorithm"] for row in table["rows"]} >=
          {"ring", "recursive-doubling", "halving-doubling", "hierarchical", "bruck"}, "algorithms of an all-gather")
    check({row["algorithm"] for row in table["left_out"]} == {"in-network"}, "what is left out is named")
    text = run("collective", "all-reduce", "--platform", platform, "--algorithm", "all", "--sizes", "8:8:2").stdout
    check("left out: torus needs ranks that fill a torus (platform property collective_torus)" in text,
          f"left out: {text}")
    best = {row["size_bytes"]: row for row in table["rows"] if row["auto"]}
    for row in table["rows"]:
        if row["algorithm"] == "ring" and not row["auto"]:
            check(best[row["size_bytes"]]["time_us"] <= row["time_us"] * (1 + 1e-9), "auto takes the fastest")
            check(abs(row["busbw_GBps"] - row["algbw_GBps"] * 7 / 8) <= 1e-9 * row["busbw_GBps"],
                  "busbw of an all-gather")
    for name in ("a.svg", "a.png"):
        run("collective", "all-reduce", "--platform", platform, "-o", folder / name)
        check((folder / name).stat().st_size > 1000, name)


def settled(folder, text):
    """The rows that settle a property are those that it moves: counted again on platforms with 10 % more of it."""
    fitted = (folder / "fitted.xml").read_text()
    before = times(folder / "fitted.xml", "all-reduce", "auto", "8:1GiB:2", engine="analytic")
    names = [line.split()[0] for line in text.splitlines()[2:]]
    check({"collective_launch_network", "collective_bulk_efficiency_network"} <= set(names), f"fitted: {text}")
    for line in text.splitlines()[2:]:
        name, rows = line.split()[0], int(re.search(r" (\d+)  ", line)[1])
        changed = re.sub(rf'(id="{name}" value=")([0-9.e+-]+)', lambda found: f"{found[1]}{1.1 * float(found[2]):.9g}",
                         fitted)
        check(changed != fitted, f"{name} is not in the fitted platform")
        (folder / "moved.xml").write_text(changed)
        after = times(folder / "moved.xml", "all-reduce", "auto", "8:1GiB:2", engine="analytic")
        moved = sum(abs(after[size] / before[size] - 1) >= 0.01 for size in before)
        check(moved == rows, f"{name} moves {moved} rows, reported are {rows}")


def fitting(folder):
    """A table made by a platform with known properties is met again from a platform without."""
    known = ('<prop id="collective_launch" value="20us"/><prop id="collective_low_efficiency" value="0.1"/>'
             '<prop id="collective_bulk_start" value="40us"/><prop id="collective_bulk_efficiency" value="0.8"/>')
    source = star(folder / "known.xml", 8, 1, known)
    table = run("collective", "all-reduce", "--platform", source, "--sizes", "8:1GiB:2", "--format", "csv").stdout
    (folder / "measured.csv").write_text(table)
    plain = star(folder / "plain.xml", 8, 1)
    report = run("platform", "fit", folder / "measured.csv", "--platform", plain, "-o", folder / "fitted.xml").stdout
    last = report.split("\n\n")[0].splitlines()[-1]
    after = float(last.split()[-4])
    check(after <= 2, f"error after the fit: {report}")
    again = times(folder / "fitted.xml", "all-reduce", "auto", "8:1GiB:2")
    wanted = {float(line.split(",")[0]): float(line.split(",")[1]) * 1e-6 for line in table.splitlines()
              if line[0].isdigit()}
    worst = max(abs(again[size] / wanted[size] - 1) for size in wanted)
    check(worst <= 0.1, f"a fitted platform is off by {worst}")
    # What nccl-tests prints is the same table.
    lines = ["# nThread 1 nGpus 8", *[f"#  Rank {i:2} Group 0 Pid 1 on host device {i}" for i in range(8)],
             "# Collective test starting: all_reduce_perf"]
    lines += [f"{size:.0f} 2 float sum -1 {seconds * 1e6:.6f} 1 1 0 {seconds * 1e6:.6f} 1 1 N/A" for size,
              seconds in wanted.items()]
    (folder / "raw.txt").write_text("\n".join(lines) + "\n# Avg bus bandwidth : 1\n")
    raw = run("platform", "fit", folder / "raw.txt", "--platform", plain, "-o", folder / "raw.xml").stdout
    check(raw.split("\n\n")[0].splitlines()[-1].split()[1:] == last.split()[1:], f"raw output: {raw}")
    settled(folder, report.split("\n\n")[1])
    # An irregular row bends the fit of the others by little; each table is predicted by a fit to the other one.
    (folder / "outlier.csv").write_text(re.sub(r"^(1048576),([^,]*)", lambda row: f"{row[1]},{20 * float(row[2])}",
                                               table, flags=re.M))
    shown = run("platform", "fit", folder / "outlier.csv", folder / "measured.csv", "--platform", plain, "-o",
                folder / "robust.xml").stdout.split("\n\n")[0].splitlines()
    check(shown[0].split()[-2:] == ["left", "out"], f"no column of tables left out: {shown}")
    check(all(float(line.split()[-2]) <= 8 for line in shown[2:]), f"tables left out are far off: {shown}")
    robust = times(folder / "robust.xml", "all-reduce", "auto", "8:1GiB:2")
    worst = max(abs(robust[size] / wanted[size] - 1) for size in wanted)
    check(worst <= 0.15, f"a platform fitted to a table with an outlier is off by {worst}")
    # Fitting again replaces the properties.
    run("platform", "fit", folder / "measured.csv", "--platform", folder / "fitted.xml", "-o", folder / "twice.xml")
    check((folder / "twice.xml").read_text().count("collective_launch") == 1, "properties are replaced")


def properties_of(platform, network):
    """The library's properties of groups within nodes, or over nodes, as written."""
    found = re.findall(r'<prop id="(collective_[a-z_]*)" value="([^"]*)"/>', platform.read_text())
    return {key: value for key, value in found if key.endswith("_network") == network}


def fitting_nodes(folder):
    """Tables of one node and of two, made by a platform with known properties, are met again by a fit to both at once,
    and by a fit to either,
    which leaves alone what the other one says."""
    inside = ('<prop id="collective_launch" value="20us"/><prop id="collective_low_efficiency" value="0.1"/>'
              '<prop id="collective_bulk_start" value="40us"/><prop id="collective_bulk_efficiency" value="0.8"/>')
    over = ('<prop id="collective_low_start_network" value="150us"/><prop id="collective_low_efficiency_network" '
            'value="0.05"/>' '<prop id="collective_bulk_start_network" value="400us"/><prop '
            'id="collective_bulk_efficiency_network" value="0.7"/>')
    source, plain = star(folder / "source.xml", 2, 4, inside + over), star(folder / "without.xml", 2, 4)
    tables, wanted = {}, {}
    for ranks in (4, 8):
        text = run("collective", "all-reduce", "--platform", source, "--ranks", ranks, "--sizes", "8:1GiB:2",
                   "--format", "csv").stdout
        (folder / f"ranks-{ranks}.csv").write_text(text)
        tables[ranks] = folder / f"ranks-{ranks}.csv"
        wanted[ranks] = {float(line.split(",")[0]): float(line.split(",")[1]) * 1e-6 for line in text.splitlines()
                         if line[0].isdigit()}
    check(wanted[8][8] > wanted[4][8] + 149e-6,
          f"the network's start-up counts over nodes: {wanted[8][8]}, {wanted[4][8]}")

    def meets(platform, ranks):
        found = times(platform, "all-reduce", "auto", "8:1GiB:2", more=["--ranks", ranks])
        return max(abs(found[size] / wanted[ranks][size] - 1) for size in found)

    both = folder / "both.xml"
    run("platform", "fit", tables[8], tables[4], "--platform", plain, "-o", both)
    for ranks in tables:
        check(meets(both, ranks) <= 0.1,
              f"{ranks} ranks of a platform fitted to both tables are off by " f"{meets(both, ranks)}")
    run("platform", "fit", tables[4], tables[8], "--platform", plain, "-o", folder / "again.xml")
    check([properties_of(folder / "again.xml", network) for network in (False, True)] ==
          [properties_of(both, network) for network in (False, True)],
          "the order of tables does not matter")
    # Earlier properties stay where the rows settle nothing, and only there.
    run("platform", "fit", tables[8], tables[4], "--platform", source, "-o", folder / "again.xml")
    for ranks in tables:
        check(meets(folder / "again.xml", ranks) <= 0.1, f"{ranks} ranks, from the platform that was measured")
    for ranks, name in ((4, "node.xml"), (8, "network.xml")):
        one, network = folder / name, ranks == 8
        run("platform", "fit", tables[ranks], "--platform", plain, "-o", one)
        check(meets(one, ranks) <= 0.1, f"a platform fitted to {ranks} ranks is off by {meets(one, ranks)}")
        check(properties_of(one, network) and not properties_of(one, not network),
              f"{name} has other properties: {one.read_text()}")
        run("platform", "fit", tables[ranks], "--platform", both, "-o", folder / "part.xml")
        check(properties_of(folder / "part.xml", not network) == properties_of(both, not network),
              f"a fit to {ranks} ranks leaves the others alone")
        check((folder / "part.xml").read_text().count("fitted to") == 2, "each scope has its remark once")
    # Fitted to groups over nodes alone, a group within a node is what it was.
    untouched = [times(platform, "all-reduce", "auto", more=["--ranks", 4])
                 for platform in (plain, folder / "network.xml")]
    check(untouched[0] == untouched[1], f"groups within a node changed: {untouched}")


def bad_input(folder):
    platform = star(folder / "small.xml", 4, 1)
    for code, text, *arguments in [(2, "'1' is no number of ranks", "all-reduce", "--platform", platform, "--ranks",
                                    "1"),
                                   (1, "9 ranks are more than the 4 GPUs", "all-reduce", "--platform", platform,
                                    "--ranks", "9"),
                                   (2, "did you mean 'all-reduce'?", "all-reduc", "--platform", platform),
                                   (2, "did you mean 'double-tree'?", "all-reduce", "--platform", platform,
                                    "--algorithm", "double-tre"),
                                   (1, "ring is not an algorithm for this collective", "all-to-all", "--platform",
                                    platform, "--algorithm", "ring"),
                                   (1, "hierarchical needs several nodes", "all-reduce", "--platform", platform,
                                    "--algorithm", "hierarchical"),
                                   (1, "in-network needs a switch", "all-reduce", "--platform", platform, "--algorithm",
                                    "in-network"),
                                   (2, "'0' is no size", "all-reduce", "--platform", platform, "--sizes", "0:8:2"),
                                   (2, "the first is larger than the last", "all-reduce", "--platform", platform,
                                    "--sizes", "8:4:2"),
                                   (2, "'1' is no factor", "all-reduce", "--platform", platform, "--sizes", "8:16:1"),
                                   (2, "are more than 1000 sizes", "all-reduce", "--platform", platform, "--sizes",
                                    "8:1TiB:1.001"),
                                   (2, "expected MIN:MAX:FACTOR", "all-reduce", "--platform", platform, "--sizes", "8"),
                                   (2, "no format has the ending .xyz", "all-reduce", "--platform", platform, "-o",
                                    folder / "never.xyz"), (2, "--platform is missing", "all-reduce"),
                                   (1, "no-such.xml", "all-reduce", "--platform", folder / "no-such.xml")]:
        result = run("collective", *arguments, expect=code)
        check(text in result.stderr and result.stdout == "", f"{arguments}: {result.stderr}")
    for name, value, text in [("collective_launch", "3", "has no unit"),
                              ("collective_lunch", "3us",
                               "there is no property collective_lunch; did you mean collective_launch?"),
                              ("collective_low_start_netwok", "3us", "did you mean collective_low_start_network?"),
                              ("collective_bulk_efficiency", "0", "out of range"),
                              ("collective_torus", "4x", "is no torus"),
                              ("collective_in_network", "yes", "expected none, node or cluster")]:
        bad = star(folder / "bad.xml", 2, 1, f'<prop id="{name}" value="{value}"/>')
        check(text in run("collective", "all-reduce", "--platform", bad, expect=1).stderr, f"{name}={value}")
    for content, text in [("# collective: all-reduce\n# ranks: 4\nsize_bytes,time_us\n8,12\n16,fast\n",
                           "broken.csv:5:4: error: time_us is a number such as 1.5e-3, not 'fast'"),
                          ("# ranks: 4\nsize_bytes,time_us\n8,12\n", "does not say which collective"),
                          ("# collective: all-reduce\nsize_bytes,time_us\n8,12\n", "how many ranks"),
                          ("# collective: all-reduce\n# ranks: 4\n", "has no measured row"),
                          ("# collective: all-reduce\n# ranks: 4\n8,12\n", "the first line names the columns"),
                          ("# collective: all-reduce\n# ranks: one\nsize_bytes,time_us\n8,12\n",
                           "broken.csv:2:1: error: expected a number of ranks"),
                          ("# collective: all-reduce\n# ranks: 400\nsize_bytes,time_us\n8,12\n",
                           "more than the 4 GPUs")]:
        (folder / "broken.csv").write_text(content)
        result = run("platform", "fit", folder / "broken.csv", "--platform", platform, "-o", folder / "never.xml",
                     expect=1)
        check(text in result.stderr, f"{content!r}: {result.stderr}")
        check(not (folder / "never.xml").exists(), "a failed fit writes nothing")


with tempfile.TemporaryDirectory() as directory:
    for case in (against_closed_forms, on_tori, stepwise, formats, fitting, fitting_nodes, bad_input):
        case(pathlib.Path(directory))
sys.exit(checker.done())
