#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""division.py STAGESIM: stagesim layouts --method accpar, hypar, owt and data. Shares of unequal devices follow from
their speeds. What the model says of communication is worked out again from the paper's tables, and the types are the
best of all. The division that is written runs as the table says."""
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
SAMPLES, BYTES = 96, 2
# name, kind, channels, height and width, kernel, stride, padding
LAYERS = (("conv1", "convolution", 32, 32, 3, 1, 1), ("pool1", "pooling", 32, 16, 2, 2, 0),
          ("conv2", "convolution", 64, 16, 3, 1, 1), ("pool2", "pooling", 64, 4, 4, 4, 0),
          ("conv3", "convolution", 64, 4, 3, 1, 1), ("fc1", "dense", 1024, 1, 1, 1, 0),
          ("fc2", "dense", 512, 1, 1, 1, 0))
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def near(value, expected, what, tolerance=1e-9):
    expect(abs(value - expected) <= tolerance * abs(expected), f"{what}: {value!r}, not {expected!r}")


def describe():
    """Rows of the network, and of each layer its weights, inputs and outputs, of all samples."""
    rows, sizes, channels, side = [], [], 3, 32
    for name, kind, out, edge, kernel, stride, padding in LAYERS:
        inputs = channels * side * side
        weights = {"convolution": channels * out * kernel * kernel, "dense": inputs * out, "pooling": 0}[kind]
        flops = 2 * weights * edge * edge
        window = f", kernel: {kernel}, stride: {stride}, padding: {padding}" if kind != "dense" else ""
        rows.append(f"- {{name: {name}, kind: {kind}, flops: {flops}, parameters: {weights}, outputs: "
                    f"{out * edge * edge}, channels: {out}, height: {edge}, width: {edge}{window}}}")
        sizes.append((weights, SAMPLES * inputs, SAMPLES * out * edge * edge))
        channels, side = out, edge
    return rows, sizes


ROWS, SIZES = describe()


def write_star(path, speeds, rate):
    """Hosts around a switch without limits: each has a link up and one down."""
    hosts = "".join(f'<host id="h-{i}" speed="{speed}f"><prop id="model" value="m-{speed:.0f}"/><prop id="node" '
                    f'value="n-{i}"/></host>' for i, speed in enumerate(speeds))
    links = "".join(f'<link id="{way}-{i}" bandwidth="{rate}Bps" latency="0s"/>' for i in range(len(speeds))
                    for way in ("up", "down"))
    routes = "".join(f'<route src="h-{i}" dst="h-{k}" symmetrical="NO"><link_ctn id="up-{i}"/><link_ctn '
                     f'id="down-{k}"/></route>' for i, k in itertools.permutations(range(len(speeds)), 2))
    path.write_text('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform '
                    f'version="4.1"><zone id="star" routing="Full">{hosts}{links}{routes}</zone></platform>')


def run(*arguments):
    done = subprocess.run([STAGESIM, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"{arguments}\n{done.stderr}")
    return done.stdout


def write_job(folder, speeds, rate):
    write_star(folder / "star.xml", speeds, rate)
    (folder / "net.yaml").write_text("input: [3, 32, 32]\nlayers:\n" + "\n".join(ROWS) + "\n")
    (folder / "job.yaml").write_text(
        f"platform: star.xml\nworkload: layers\nmodel: net.yaml\nparallel: {{data: {len(speeds)}}}\nbatch: {{global: "
        f"{SAMPLES}, micro: {SAMPLES // len(speeds)}}}\ncompute: {{precision: fp16, efficiency: 1}}\nlayers: "
        "{optimizer: sgd}\n")


def divide(folder, speeds, rate, method="accpar", *arguments):
    write_job(folder, speeds, rate)
    study = json.loads(run("layouts", folder / "job.yaml", "--method", method, "--format", "json", *arguments))
    return study, {division["method"]: division for division in study["divisions"]}


# ---- the model, worked out again ----

BETWEEN = {("I", "II"): "both", ("I", "III"): "half", ("II", "I"): "half", ("II", "II"): "half", ("III", "I"): "both",
           ("III", "III"): "half"}
# The pooling has no sums, and leaves its output as it reads its input: it is II for the layer before, III for the next.
IN = {True: {"I": "I", "III": "II"}, False: {"I": "I", "II": "II", "III": "III"}}
OUT = {True: {"I": "I", "III": "III"}, False: {"I": "I", "II": "II", "III": "III"}}


def elements(types, left, share, ways):
    """Elements that the group with this share, of so many, receives; `left`: samples, inputs and outputs that the
    levels above have left of each layer."""
    total = 0
    for i, kind in enumerate(types):
        passive = LAYERS[i][1] == "pooling"
        samples, inputs, outputs = left[i]
        weights, read, written = SIZES[i][0] * inputs * outputs, SIZES[i][1] * samples * inputs, \
            SIZES[i][2] * samples * outputs
        if not passive:
            total += {"I": weights, "II": written, "III": read}[kind] * 2 * (ways - 1) / ways
        if i:
            before = OUT[LAYERS[i - 1][1] == "pooling"][types[i - 1]]
            way = BETWEEN.get((before, IN[passive][kind]))
            total += {None: 0, "both": 2 * share * (1 - share), "half": 1 - share}[way] * read
    return total


def shrink(types, left, share):
    after = []
    for i, kind in enumerate(types):
        samples, inputs, outputs = left[i]
        passive = LAYERS[i][1] == "pooling"
        after.append((samples * (share if kind == "I" else 1),
                      inputs * (share if kind == "II" or passive and kind == "III" else 1),
                      outputs * (share if kind == "III" else 1)))
    return after


def ways_of(speeds):
    """Into how many groups each level divides: kinds in groups of as many devices, then prime by prime."""
    counts = [speeds.count(speed) for speed in dict.fromkeys(speeds)]
    each = math.gcd(*counts)
    ways = [len(speeds) // each] if len(counts) > 1 else []
    for prime in (2, 3, 5):
        while each % prime == 0:
            ways.append(prime)
            each //= prime
    return ways


def check_model(division, speeds, rate, what):
    """Communication of each level, from the types and shares that are printed."""
    kinds, group = len(division["computing_s"]), len(speeds)
    left = [[(1, 1, 1)] * len(LAYERS) for _ in range(kinds)]
    expect(len(division["levels"]) == len(ways_of(speeds)), f"{what}: {len(division['levels'])} levels")
    if kinds > 1:
        near(sum(division["kind_shares"]), 1, f"{what}: shares of all kinds")
    for number, (level, ways) in enumerate(zip(division["levels"], ways_of(speeds))):
        group //= ways
        expect(level["share"] == level["shares"][0], f"{what}: the first share")
        for kind, share in enumerate(level["shares"]):
            # all devices of the group receive at the same time, each over its own link
            seconds = elements(level["types"], left[kind], share, ways) * BYTES / (group * rate)
            near(level["communication_s"][kind], seconds, f"{what}: level {number}, kind {kind}")
            left[kind] = shrink(level["types"], left[kind], share)
    seconds = [division["computing_s"][kind] + sum(level["communication_s"][kind] for level in division["levels"])
               for kind in range(kinds)]
    near(division["predicted_s"], max(seconds), f"{what}: predicted", 1e-4)


def check_best(division, rate):
    """On one level of equal devices: no other types need less communication."""
    kinds = [("I", "III") if layer[1] == "pooling" else ("I", "II", "III") for layer in LAYERS]
    least = min(elements(types, [(1, 1, 1)] * len(LAYERS), 0.5, 2) for types in itertools.product(*kinds))
    near(division["levels"][0]["communication_s"][0], least * BYTES / rate, "least communication")


# ---- the tests ----

def check_equal(folder):
    for devices in (2, 3, 8, 12):
        rate = 1e9
        study, divisions = divide(folder, [1e12] * devices, rate)
        expect(study["devices"] == ["m-1000000000000"], "one kind of devices")
        for name, division in divisions.items():
            speeds = [1e12] * devices
            check_model(division, speeds, rate, f"{name} on {devices}")
            for level, ways in zip(division["levels"], ways_of(speeds)):
                near(level["share"], 1 / ways, f"{name}: equal parts")
        if devices == 2:
            check_best(divisions["accpar"], rate)
        types = {name: {kind for level in division["levels"] for kind in level["types"]}
                 for name, division in divisions.items()}
        of_layers = [{level["types"][i] for level in divisions["accpar"]["levels"]} for i in range(len(LAYERS))]
        expect(devices < 8 or any("I" in kinds and len(kinds) > 1 for kinds in of_layers),
               "a layer is divided by samples, and below by something else")
        expect(types["data"] == {"I"}, "data parallelism divides samples")
        expect("II" in types["hypar"] | types["accpar"], "dense layers are not divided by samples")
        for level in divisions["owt"]["levels"]:
            expect(level["types"] == ["II" if layer[1] == "dense" else "I" for layer in LAYERS], "OWT's types")
        for level in divisions["hypar"]["levels"]:
            expect("III" not in [kind for kind, layer in zip(level["types"], LAYERS) if layer[1] != "pooling"],
                   "HyPar's types")
        first = [divisions[name]["levels"][0]["communication_s"][0] for name in ("accpar", "hypar", "data")]
        expect(devices % 2 or first == sorted(first), "more types need less communication")


def check_unequal(folder):
    """Three times the speed: where communication takes no time the faster devices take three quarters, and all are done
    at the same time, twice as fast as with halves."""
    _, divisions = divide(folder, [1e12, 1e12, 3e12, 3e12], 1e16)
    data, accpar = divisions["data"], divisions["accpar"]
    expect(accpar["balanced"] and not data["balanced"], "only AccPar balances")
    near(accpar["levels"][0]["share"], 0.25, "share of the slower devices", 1e-3)
    near(accpar["computing_s"][0], accpar["computing_s"][1], "busy times of both kinds", 0.01)
    near(data["computing_s"][0], 3 * data["computing_s"][1], "busy times with halves", 1e-6)
    near(data["analytic_s"] / accpar["analytic_s"], 2, "speed-up", 0.01)
    near(data["simgrid_s"] / accpar["simgrid_s"], 2, "speed-up on SimGrid", 0.01)
    for rate in (1e9, 1e11):
        _, divisions = divide(folder, [3e12, 1e12, 3e12, 1e12], rate)
        for name, division in divisions.items():
            check_model(division, [3e12, 1e12, 3e12, 1e12], rate, f"{name}, two kinds, {rate}")
        accpar = divisions["accpar"]
        if accpar["balanced"]:
            first, second = (accpar["computing_s"][kind] + accpar["levels"][0]["communication_s"][kind] for kind in
                             range(2))
            near(first, second, "times of both groups", 0.01)


def check_kinds(folder):
    """Any number of kinds, each with any number of devices: without communication each has a share as its speed, which
    is by how much this is faster than equal parts; with it, all groups take equally long."""
    for speeds in ([3e12, 1e12, 1e12, 1e12], [2e12, 1e12, 1e12, 3e12], [2e12, 2e12, 1e12, 1e12, 3e12, 3e12],
                   [2e12] * 8 + [1e12] * 4):
        study, divisions = divide(folder, speeds, 1e16)
        accpar, data = divisions["accpar"], divisions["data"]
        names = [f"m-{speed:.0f}" for speed in dict.fromkeys(speeds)]
        expect(study["devices"] == names, f"{speeds}: {study['devices']}")
        expect(accpar["balanced"] and not data["balanced"], f"{speeds}: only AccPar balances")
        group = len(speeds) // ways_of(speeds)[0]
        for share, speed in zip(accpar["levels"][0]["shares"], dict.fromkeys(speeds)):
            near(share, group * speed / sum(speeds), f"{speeds}: share of {speed}", 1e-3)
        near(data["analytic_s"] / accpar["analytic_s"], sum(speeds) / len(speeds) / min(speeds), f"{speeds}: speed-up",
             0.01)
        for rate in (1e9, 1e11):
            _, divisions = divide(folder, speeds, rate)
            for name, division in divisions.items():
                check_model(division, speeds, rate, f"{name}, {speeds}, {rate}")
            accpar = divisions["accpar"]
            times = [computing + sent for computing, sent in zip(accpar["computing_s"],
                                                                 accpar["levels"][0]["communication_s"])]
            for time in times if accpar["balanced"] else ():
                near(time, times[0], f"{speeds}, {rate}: times of all groups", 0.01)
            expect(accpar["predicted_s"] <= min(d["predicted_s"] for d in divisions.values()) * 1.02,
                   f"{speeds}, {rate}: {accpar['predicted_s']}")


def check_written(folder):
    """The file runs as the table says, on both engines."""
    for number, method in enumerate(("accpar", "hypar", "owt", "data", "accpar", "accpar")):
        speeds = [[3e12, 1e12, 3e12, 1e12], [2e12, 1e12, 3e12, 1e12], [2e12] * 4 + [1e12] * 2][max(number - 3, 0)]
        _, divisions = divide(folder, speeds, 1e10, method, "-o", folder / "strategy.yaml")
        for engine in ("analytic", "simgrid"):
            run("run", folder / "job.yaml", "--set", "split=strategy.yaml", "--engine", engine, "-o", folder / "out",
                "--quiet")
            summary = json.loads((folder / "out" / "summary.json").read_text())
            near(summary["time"]["iteration_s"], divisions[method][f"{engine}_s"], f"{method} on {engine}", 1e-4)


def check_slower(folder):
    """A method that SimGrid finds slower than another says so, wherever its division goes; no other method does."""
    scenario = pathlib.Path(__file__).resolve().parents[2] / "scenarios" / "accpar.yaml"
    seen = set()
    for network in ("alexnet", "vgg-16"):
        for method in ("accpar", "hypar", "owt", "data"):
            arguments = [STAGESIM, "layouts", scenario, "--method", method, "--set", f"model={network}"]
            done = subprocess.run([*arguments, "--format", "json", "-o", folder / "division.yaml"], capture_output=True,
                                  text=True, timeout=100)
            study = json.loads(done.stdout)
            simulated = {division["method"]: division["simgrid_s"] for division in study["divisions"]}
            fastest = min(simulated, key=simulated.get)
            slower = simulated[method] > simulated[fastest]
            seen.add(slower)
            said = f"{method} is slower on SimGrid than {fastest}: "
            written = (folder / "division.yaml").read_text()
            printed = run("layouts", scenario, "--method", method, "--set", f"model={network}")
            expect(study["fastest_on_simgrid"] == fastest, f"{network}: {study['fastest_on_simgrid']}")
            for text, begin in ((done.stderr, "note: "), (written, "# "), (printed, "\n")):
                expect((begin + said in text) == slower and ("is slower" in text) == slower, f"{network}: {text[:200]}")
    expect(seen == {True, False}, f"slower: {seen}")


def check_refused(folder):
    """Too few devices, too many kinds, too many parts."""
    for speeds, text in (([3e12], "1 rank cannot be divided again and again; expected 2 to 4096"),
                         ([(1 + kind % 9) * 1e12 for kind in range(12)], "on devices of more than 8 kinds")):
        write_job(folder, speeds, 1e9)
        done = subprocess.run([STAGESIM, "layouts", folder / "job.yaml", "--method", "accpar"], capture_output=True,
                              text=True, timeout=60)
        expect(done.returncode == 1 and not done.stdout and text in done.stderr, f"{speeds}: {done.stderr}")
    rows = ", ".join(f"{{name: d{i}, kind: dense, flops: 2, parameters: 1, outputs: 1}}" for i in range(300))
    (folder / "large.yaml").write_text(
        f"platform: dgx-a100:512\nworkload: layers\nmodel: {{layers: [{rows}]}}\nparallel: {{data: 4096}}\nbatch: "
        "{global: 4096, micro: 1}\ncompute: {precision: fp32, efficiency: 1}\n")
    done = subprocess.run([STAGESIM, "layouts", folder / "large.yaml", "--method", "data"], capture_output=True,
                          text=True, timeout=100)
    expect(done.returncode == 1 and "300 layers on 4096 ranks are 1228800 parts" in done.stderr, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_equal(folder)
        check_unequal(folder)
        check_kinds(folder)
        check_written(folder)
        check_slower(folder)
        check_refused(folder)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
