#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""products.py STAGESIM: products of the user's own. What a file changes is what the platform has, mistakes have their
place, nothing is written then, and a run names every file that it was made of."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

SCENARIO = """platform: {platform}
parallel: {{data: 2, pipeline: 4}}
batch: {{micro_batches: 8}}
schedule: 1f1b
workload: stages
stages: {{forward: 1ms, backward: 2ms, activation: 10MB}}
"""

STEPS = """kind: product
summary: two pairs
device: H100-SXM5-80GB
devices: 4
cables: {link: {wire: nvlink4, links: 6}, slot: pcie5, card: {wire: ndr, links: 2}}
node:
%s
fabric: {name: InfiniBand, kind: switched, hop: 0.1us, pod: 4, source: a test, confidence: L}
"""
PORT = "  - add: port\n  - {join: [device, port], cable: card, exit: true}\n"

# What is wrong, and where: LINE:COLUMN and words of the message. The first line of each file is line 1.
BAD = {
    "no base": ("from: dgx-h10\n", "1:7", ["no product 'dgx-h10'", "did you mean 'dgx-h100'?"]),
    "itself": ("from: bad\n", "1:7", ["from itself"]),
    "kind": ("kind: device\nfrom: dgx-h100\n", "1:7", ["this is a device; expected a product"]),
    "no device": ("from: dgx-h100\ndevice: H101\n", "2:9", ["no device 'H101'"]),
    "device key": ("from: dgx-h100\ndevice: {name: X, from: T4, memry: 3GiB}\n", "2:29",
                   ["'memry' is not a key of device; did you mean 'memory'?"]),
    "device unit": ("from: dgx-h100\ndevice: {name: X, from: T4, memory: 3}\n", "2:37", ["no unit"]),
    "no peak": ("from: dgx-h100\ndevice: {name: X, from: T4, precision: bf16}\n", "2:40", ["no peak is given"]),
    "power": ("from: dgx-h100\ndevice: {name: X, from: T4, power: {idle: 99W}}\n", "2:36", ["more than full load"]),
    "no library": ("from: dgx-h100\nlibrary: nccl5\n", "2:10", ["no library 'nccl5'"]),
    "no network": ("from: dgx-h100\nnetwork: sneakers\n", "2:10", ["no network 'sneakers'"]),
    "no wire": ("from: dgx-h100\ncables: {card: xdr2}\n", "2:16", ["no wire 'xdr2'", "did you mean"]),
    "wire key": ("from: dgx-h100\ncables: {card: {wire: {name: a, from: ndr, rwa: 1GBps}}}\n",
                 "2:44", ["'rwa'", "'raw'"]),
    "wire name": ("from: dgx-h100\ncables: {card: {wire: {name: a, from: ndr, link: 'a b'}}}\n", "2:50",
                  ["letters, digits and dashes"]),
    "links": ("from: dgx-h100\ncables: {card: {links: none}}\n", "2:24", ["links"]),
    "devices": ("from: dgx-h100\ndevices: 0\n", "2:10", ["at least 1"]),
    "many": ("from: dgx-h100\ndevices: 100000\n", "2:10", ["at most 1024"]),
    "prefix": ("from: dgx-h100\nhost_prefix: <x>\n", "2:14", ["letters, digits and dashes"]),
    "taper": ("from: dgx-h100\nfabric: {oversubscription: 0.5}\n", "2:28", ["at least 1"]),
    "fabric": ("from: dgx-h100\nfabric: {kind: torus}\n", "2:9", ["no 'cable'"]),
    "shape": ("from: tpu-v4\ndevices: 8\nfabric: {nodes_max: 9}\n", "3:9",
              ["shape cubes is of a torus with 4 devices"]),
    "labels": ("from: dgx-h100\nlabels: [a, b]\n", "2:9", ["fewer than devices"]),
    "steps": ("from: dgx-h100\nnode: star\n", "2:7", ["a list of steps"]),
    "key": ("from: dgx-h100\ngpu: 3\n", "2:1", ["'gpu' is not a key of product"]),
}
BAD_STEPS = {
    "unknown": ("  - {adds: port}\n", "7:5", ["expected a step"]),
    "no part": ("  - {join: [device, hub], cable: link}\n", "7:21", ["'hub' names no part"]),
    "no number": ("  - {add: switch, count: 2}\n  - {join: [device, switch 2], cable: link}\n", "8:21",
                  ["there are 2, counted from 0"]),
    "no cable": (PORT + "  - {mesh: all}\n", "9:5", ["no 'cable'"]),
    "wrong cable": (PORT + "  - {mesh: all, cable: rope}\n", "9:24", ["'rope' is not among 'cables'"]),
    "two ports": (PORT + PORT, "9:10", ["one port"]),
    "pair": (PORT + "  - {pairs: [[0, 4]], cable: link}\n", "9:14", ["two devices"]),
    "self pair": (PORT + "  - {pairs: [[1, 1]], cable: link}\n", "9:14", ["two devices"]),
    "exit": ("  - add: switch\n  - {join: [device, switch], cable: link, exit: true}\n", "8:49", ["way out"]),
    "backwards": (PORT + "  - {join: [port, device], cable: link}\n", "9:19", ["devices come first"]),
    "places": (PORT + "  - {add: socket, count: 2}\n  - {join: [device, socket], cable: slot, at: [0, 1]}\n", "10:47",
               ["expected one for each of 4"]),
    "place": (PORT + "  - {add: socket, count: 2}\n  - {join: [device, socket], cable: slot, at: [0, 1, 2, 0]}\n",
              "10:47", ["too large"]),
    "order": (PORT + "  - {each: 2, order: [0, 1, 1, 2], steps: [{add: switch}]}\n", "9:22", ["twice"]),
    "each": (PORT + "  - {each: 2}\n", "9:5", ["'steps'"]),
    "times": (PORT + "  - add: switch\n  - {join: [device, switch], cable: link, times: 65}\n", "10:5",
              ["'times' is for"]),
    "chain": (PORT + "  - {chain: hub, cable: link}\n", "9:13", ["name of parts"]),
    "step key": (PORT + "  - {mesh: all, cabel: link}\n", "9:17", ["did you mean 'cable'?"]),
}


def run(binary, folder, *arguments, expect=0, **environment):
    result = subprocess.run([binary, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=60, env=dict(os.environ, **environment))
    if result.returncode != expect:
        raise SystemExit(f"{arguments}: exit code {result.returncode}, not {expect}\n{result.stderr}")
    return result


def check_bad(check, binary, folder, name, text, place, words):
    """By every way that a product is asked for."""
    (folder / "bad.yaml").write_text(text)
    (folder / "job.yaml").write_text(SCENARIO.format(platform="bad.yaml:2"))
    (folder / "map.yaml").write_text(SCENARIO.format(platform="{preset: bad.yaml, nodes: 2}"))
    before = sorted(folder.rglob("*"))
    for arguments in (("check", "job.yaml"), ("run", "map.yaml", "-o", "out"),
                      ("platform", "generate", "bad.yaml", "--nodes", "2"), ("platform", "show", "bad.yaml:2")):
        error = run(binary, folder, *arguments, expect=1).stderr
        said = " ".join(error.split())
        check.that(f"bad.yaml:{place}: error: " in error, f"{name}, {arguments}: {error!r}, expected {place}")
        for word in words:
            check.that(word in said, f"{name}, {arguments}: {error!r}, expected {word!r}")
    check.that(sorted(folder.rglob("*")) == before, f"{name}: a file appeared")


def check_change(check, binary, folder):
    """Each change, and nothing else, is in the generated platform."""
    base = run(binary, folder, "platform", "generate", "dgx-h100", "--nodes", "2").stdout.splitlines()
    (folder / "mine.yaml").write_text("kind: product\nname: mine\nfrom: dgx-h100\n")
    same = run(binary, folder, "platform", "generate", "mine.yaml", "--nodes", "2").stdout.splitlines()
    check.that([line for line in base if "preset" not in line] == [line for line in same if "preset" not in line],
               "a product that changes nothing is another one")
    (folder / "mine.yaml").write_text("from: dgx-h100\ndevice: {name: H100X, from: H100-SXM5-80GB, memory: 96GiB,\n"
                                      "         peak: {bf16: 1200Tf}}\ndevices: 4\n"
                                      "cables: {nvlink: {links: 12}, card: hdr}\nfabric: {oversubscription: 2}\n")
    text = run(binary, folder, "platform", "generate", "mine.yaml", "--nodes", "2").stdout
    check.that(len(re.findall("<host ", text)) == 8, "hosts")
    check.that(text.count('speed="1200Tf"') == 8 and text.count('value="96GiB"') == 8, "device")
    check.that(text.count('bandwidth="247.2GBps"') == 8, "12 NVLinks of 20.6 GB/s")
    check.that(text.count('bandwidth="22.5GBps"') == 8 and "oversubscription 2" in text, "cards and taper")
    check.that("[L: mine.yaml, which takes over from: MLE; idle estimated]" in text, "the source of a mixture")


def check_run(check, binary, folder):
    """A run, its inputs, the same again from its scenario.yaml; a changed product is noticed."""
    (folder / "gpu.yaml").write_text("kind: device\nname: gpu\nfrom: H100-SXM5-80GB\nmemory: 60GiB\nsource: me\n"
                                     "confidence: L\n")
    (folder / "mine.yaml").write_text("from: dgx-h100\ndevice: gpu\n")
    (folder / "job.yaml").write_text(SCENARIO.format(platform="mine.yaml:1"))
    run(binary, folder, "run", "job.yaml", "-o", "out")
    about = json.loads((folder / "out" / "about.json").read_text())
    files = [entry["file"] for entry in about["inputs"] if entry["role"] == "product"]
    check.that(sorted(files) == ["gpu.yaml", "mine.yaml"], f"inputs: {files}")
    first = json.loads((folder / "out" / "summary.json").read_text())
    run(binary, folder, "run", "out/scenario.yaml", "-o", "again")
    again = json.loads((folder / "again" / "summary.json").read_text())
    check.that(first["time"] == again["time"], "the resolved scenario gives the same")
    direct = run(binary, folder, "run", "job.yaml", "--set", "loader=simgrid", "--set", "engine=simgrid").stdout
    check.that("iteration" in direct, "SimGrid's loader reads the generated file")
    (folder / "gpu.yaml").write_text((folder / "gpu.yaml").read_text().replace("60GiB", "61GiB"))
    error = run(binary, folder, "check", "out/scenario.yaml", expect=1).stderr
    check.that("has changed since this scenario was written" in " ".join(error.split()), error)
    listed = run(binary, folder, "list", "presets", STAGESIM_PLATFORMS=str(folder)).stdout
    check.that("mine " not in listed, "a file without kind is not listed")
    (folder / "mine.yaml").write_text("kind: product\nfrom: dgx-h100\ndevice: gpu\n")
    listed = run(binary, folder, "list", "presets", STAGESIM_PLATFORMS=str(folder)).stdout
    check.that("\nmine " in listed and "61GiB" in listed, "a file of $STAGESIM_PLATFORMS is listed")
    (folder / "named.yaml").write_text(SCENARIO.format(platform="mine:1"))
    run(binary, "/", "check", str(folder / "named.yaml"), STAGESIM_PLATFORMS=str(folder))
    (folder / "named.yaml").write_text(SCENARIO.format(platform="mine.yaml"))
    error = run(binary, folder, "check", "named.yaml", expect=1).stderr
    check.that("wants a number of nodes: mine.yaml:4" in " ".join(error.split()), error)


def without_comment(path):
    return re.sub(r"(?s)<!--.*?-->", "", path.read_text())


def check_import(check, binary, folder):
    """A node that is imported as a product gives the platform that it gives directly."""
    data, topologies = tool.ROOT / "test/platforms/data", tool.ROOT / "test/platforms/import/topologies"
    cases = [*sorted(data.glob("nccl-*.xml")), data / "hwloc-v1.xml", *sorted(topologies.glob("[am]*.txt"))]
    for path in cases:
        run(binary, folder, "platform", "import", path, "--fabric", "dgx-h100", "-o", "node.yaml")
        run(binary, folder, "platform", "import", path, "--fabric", "dgx-h100", "--nodes", "3", "-o", "direct.xml")
        run(binary, folder, "platform", "generate", "node.yaml:3", "-o", "product.xml")
        check.that(without_comment(folder / "direct.xml") == without_comment(folder / "product.xml"),
                   f"{path.name}: the product is another node")
    check.that(len(cases) >= 5, f"{len(cases)} topologies")
    error = run(binary, folder, "platform", "import", cases[0], "--nodes", "3", "-o", "n.yaml", expect=2).stderr
    check.that("n.yaml:3" in error, error)
    tree = tool.ROOT / "test/platforms/import/topologies/tree.conf"
    error = run(binary, folder, "platform", "import", tree, "-o", "n.yaml", expect=1).stderr
    check.that("a cluster is no product" in " ".join(error.split()) and not (folder / "n.yaml").exists(), error)


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, (text, place, words) in BAD.items():
            check_bad(check, binary, folder, name, text, place, words)
        for name, (steps, place, words) in BAD_STEPS.items():
            check_bad(check, binary, folder, name, STEPS % steps.rstrip("\n"), place, words)
        check_change(check, binary, folder)
        check_run(check, binary, folder)
        check_import(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
