#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""commands.py STAGESIM SOURCE_ROOT kinds|presets|rest: `stagesim platform` and `stagesim list presets` as a user meets
them: what they write, what they refuse with which code, that results are the same twice, and that every platform
runs."""
import json
import os
import subprocess
import sys
import tempfile

stagesim, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
data = os.path.join(root, "test", "platforms", "data")
failures = []


def run(*arguments, **keywords):
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")  # hwloc's plug-ins lose memory
    return subprocess.run([stagesim, *arguments], capture_output=True, text=True, timeout=120, env=environment,
                          **keywords)


def check(condition, *what):
    if not condition:
        failures.append(what)
        print("FAILED:", *what)


def close(value, expected, what):
    check(abs(value - expected) <= 1e-9 * abs(expected), what, value, expected)


def good(*arguments):
    result = run(*arguments)
    check(result.returncode == 0, arguments, result.returncode, result.stderr)
    return result.stdout


def refused(code, text, *arguments):
    result = run(*arguments)
    check(result.returncode == code, arguments, "exit code", result.returncode, result.stderr)
    check(text in result.stderr, arguments, "said", result.stderr)
    check(result.stdout == "", arguments, "wrote to standard output", result.stdout[:200])


def between(platform, one, other):
    return json.loads(good("platform", "show", platform, "--between", one, other, "--format", "json"))


HEAD = "<?xml version='1.0'?>\n" \
       "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">"


# ---- platforms of every kind that SimGrid reads: hosts, and one route (from, to, GB/s, us, links), computed by hand
# ----
KINDS = {
    "full.xml": (4, ("gpu-0", "gpu-3", 50, 2, 1)),
    "floyd.xml": (4, ("gpu-3", "gpu-0", 25, 3, 3)),
    "dijkstra.xml": (4, ("gpu-0", "gpu-3", 25, 3, 3)),
    "dijkstra-cache.xml": (4, ("gpu-1", "gpu-3", 25, 2, 2)),
    "star.xml": (8, ("gpu-0", "gpu-7", 10, 11, 3)),  # up, backbone of 40 GB/s, down
    "torus.xml": (8, ("gpu-0", "gpu-7", 10, 2, 2)),  # 4 x 2: one step back in x, one in y
    "fat-tree.xml": (16, ("gpu-0", "gpu-15", 10, 4, 4)),  # up two levels and down
    "dragonfly.xml": (16, ("gpu-0", "gpu-1", 10, 2, 2)),  # both on one router
    "nested.xml": (6, ("gpu-0", "gpu-4", 5, 25, 4)),  # out 2 us, two cables of 10 us, 3 us
    "properties.xml": (2, ("gpu-0", "gpu-1", 16, 1, 1)),  # a host of kind cpu is no GPU
    "energy.xml": (2, ("gpu-0", "gpu-1", 16, 1, 1)),
    "vivaldi.xml": (2, ("gpu-0", "gpu-1", 5, 5000, 2)),  # distance of (3, 4) in ms
    "version-4.xml": (2, ("gpu-1", "gpu-0", 8, 1, 1)),
}

STAGES = """platform: {platform}
workload: stages
stages: {{forward: 1s, backward: 2s, message: 0B}}
parallel: {{pipeline: {workers}}}
batch: {{micro_batches: {workers}}}
schedule: 1f1b
"""


def check_kind(directory, name, gpus, route):
    path = os.path.join(data, name)
    shown = json.loads(good("platform", "show", path, "--format", "json"))
    check(shown["gpus"] == gpus, name, "has", shown["gpus"])
    check(sum(node["count"] * node["hosts"] for node in shown["nodes"]) == gpus, name, "nodes")
    found = between(path, *route[:2])
    close(found["bandwidth_bytes_per_s"], route[2] * 1e9, (name, "bandwidth"))
    close(found["latency_s"], route[3] * 1e-6, (name, "latency"))
    check(len(found["links"]) == route[4], name, "links", found["links"])
    # the pipeline's own time, and no more latency than each message has, two for each micro-batch
    scenario, output = os.path.join(directory, "stages.yaml"), os.path.join(directory, "out")
    with open(scenario, "w") as file:
        file.write(STAGES.format(platform=path, workers=gpus))
    good("run", scenario, "-o", output)
    with open(os.path.join(output, "summary.json")) as file:
        time = json.load(file)["time"]["iteration_s"]
    latest = max(pairs["latency_s"] for node in shown["nodes"] for pairs in node["pairs"])
    latest = max(latest, found["latency_s"])
    # two of the GPUs in nested.xml are half as fast as the others: what `schedule` says with these times
    ideal = 46 if name == "nested.xml" else (2 * gpus - 1) * 3
    check(ideal < time <= ideal + 4 * gpus * latest, name, "takes", time, "instead of", ideal)


def check_kinds(directory):
    listed = {name for name in os.listdir(data) if not name.startswith(("nccl", "hwloc"))}
    check(listed == set(KINDS), "files and table differ", listed ^ set(KINDS))
    for name, (gpus, route) in KINDS.items():
        check_kind(directory, name, gpus, route)


# ---- presets ----
def nodes_for(preset, ranks):
    nodes = -(-ranks // preset["gpus_per_node"])
    if preset["name"] == "tpu-v4":
        return max(nodes, 2)
    return max(nodes, 3) if preset["name"] == "ring" else nodes


def check_presets(directory):
    presets = json.loads(good("list", "presets", "--format", "json"))
    table = good("list", "presets")
    for preset in presets:
        name, path, again = preset["name"], os.path.join(directory, "p.xml"), os.path.join(directory, "again.xml")
        nodes = str(nodes_for(preset, 32))
        check(name in table, name, "is not in the table")
        good("platform", "generate", name, "--nodes", nodes, "-o", path)
        with open(path) as file:
            text = file.read()
        check(text == good("platform", "generate", name, "--nodes", nodes), name, "differs the second time")
        result = run("run", os.path.join(root, "scenarios", "demo.yaml"), "--set", "platform=" + path)
        check(result.returncode == 0 and "iteration" in result.stdout, name, "does not run the demo", result.stderr)
        for form in ("text", "json", "svg") if name in ("dgx-1v", "piz-daint") else ():
            shown = good("platform", "show", path, "--format", form)
            good("platform", "show", path, "--format", form, "-o", again)
            if form != "text":
                named = os.path.join(directory, "named." + form)
                good("platform", "show", path, "-o", named)
                with open(named) as file:
                    check(file.read() == shown, name, "the ending says", form)
            with open(again) as file:
                check(file.read() == shown and len(shown) > 100, name, "shown twice as", form)


def check_folding(directory):
    path = os.path.join(directory, "large.xml")
    good("platform", "generate", "dgx-a100", "--nodes", "500", "--pod", "32", "-o", path)
    text = good("platform", "show", path)
    check("15 x pod-0 to pod-14" in text and "32 x node-0 to node-31" in text and "500 x node of 8 hosts" in text, text)
    check("`-- pod-15 (Floyd)" in text and "20 x node-480 to node-499" in text, "the last pod is smaller", text)
    check(len(text.splitlines()) < 40, "a large cluster is folded", len(text.splitlines()))


def check_options(directory):
    path = os.path.join(directory, "o.xml")
    good("platform", "generate", "dgx-h100", "--nodes", "4", "--gpus-per-node", "4", "--pod", "2", "--oversubscription",
         "4", "-o", path)
    shown = json.loads(good("platform", "show", path, "--format", "json"))
    check(shown["gpus"] == 16 and shown["nodes_total"] == 4, "shape", shown["gpus"])
    rates = {links["name"]: links["bandwidth_bytes_per_s"] for links in shown["links"]}
    close(rates["uplink"], 4 * 45e9, "uplink of 4 interfaces")
    close(rates["spine"], 2 * 4 * 45e9 / 4, "2 nodes over 4")
    # node 0 and 1 to 2 and 3: 8 transfers over one pod's way up
    close(shown["bisection_bytes_per_s"], 90e9, "bisection is the pod's way up")


def check_shipped_joined(directory):
    """Those that come of one preset are compared in generate.c."""
    for name, parts, join in (("mixed-nic-4.xml", ("dgx-a100:2:ib-hdr", "dgx-a100:2:roce-200"), "ethernet-25"),
                              ("v100-a100-2.xml", ("dgx-1v:1", "dgx-a100:1"), "ib-edr")):
        with open(os.path.join(root, "platforms", name)) as file:
            made = good("platform", "generate", *parts, "--join", join)
            check(file.read() == made, f"{name} is not what the generator gives")


# ---- refusals ----
def check_refusals(directory):
    empty, text, large = (os.path.join(directory, name) for name in ("empty.xml", "text.xml", "large-nothing.xml"))
    open(empty, "w").close()
    with open(text, "w") as file:
        file.write("nothing of the kind")
    with open(large, "wb") as file:
        file.truncate(100 * 1000 * 1000)
    mesh = os.path.join(root, "platforms", "mesh-8.xml")
    refused(2, "generate, import, show or fit?", "platform")
    refused(2, "'paint' is neither generate, import, show nor fit", "platform", "paint")
    refused(2, "which preset?", "platform", "generate")
    refused(2, "'dgx-a10' is no preset; did you mean 'dgx-a100'?", "platform", "generate", "dgx-a10", "--nodes", "2")
    refused(2, "--nodes is missing", "platform", "generate", "dgx-a100")
    refused(2, "'0' is no count", "platform", "generate", "dgx-a100", "--nodes", "0")
    refused(2, "'08' is no count", "platform", "generate", "dgx-a100", "--nodes", "08")
    refused(2, "'99999999999999999999' is no count", "platform", "generate", "dgx-a100", "--nodes",
            "99999999999999999999")
    refused(2, "'a lot' is no oversubscription", "platform", "generate", "dgx-a100", "--nodes", "2",
            "--oversubscription", "a lot")
    refused(1, "a node of dgx-a100 has 1 to 8 devices, not 9", "platform", "generate", "dgx-a100", "--nodes", "2",
            "--gpus-per-node", "9")
    refused(1, "ideal has at most 256 nodes", "platform", "generate", "ideal", "--nodes", "4000000000")
    refused(2, "not in 'attic'", "platform", "generate", "dgx-a100", "--nodes", "2", "--rails", "attic")
    refused(1, "one node has no rails", "platform", "generate", "dgx-a100", "--nodes", "1", "--rails", "spine")
    refused(1, "tpu-v4 has no rails", "platform", "generate", "tpu-v4", "--nodes", "16", "--rails", "spine")
    refused(1, "all hang on one switch", "platform", "generate", "dgx-1v", "--nodes", "2", "--rails", "spine")
    refused(1, "try a smaller --pod", "platform", "generate", "gb200-nvl72", "--nodes", "2000", "--pod", "500",
            "--rails", "spine")
    refused(1, "did you mean 'roce-200'?", "platform", "generate", "dgx-a100", "--nodes", "2", "--nic", "roce-20")
    refused(1, "did you mean 'ethernet-25'?", "platform", "generate", "dgx-a100:2", "dgx-a100:2", "--join",
            "ethernet25")
    refused(1, "piz-daint keeps its interfaces", "platform", "generate", "piz-daint", "--nodes", "4", "--nic",
            "roce-200")
    refused(1, "part 2: only clusters of nodes around switches", "platform", "generate", "dgx-a100:2", "tpu-v3:8",
            "--join", "ethernet-25")
    refused(1, "clusters with rails cannot be joined", "platform", "generate", "dgx-a100:2", "dgx-a100:2", "--rails",
            "spine", "--join", "ib-hdr")
    refused(1, "at most 65536", "platform", "generate", "dgx-a100:40000", "dgx-a100:40000", "--join", "ib-hdr", "--pod",
            "200")
    refused(2, "2 clusters: --join says what joins them", "platform", "generate", "dgx-a100:2", "dgx-h100:2")
    refused(2, "--join wants several clusters", "platform", "generate", "dgx-a100:2", "--join", "ib-hdr")
    refused(2, "'x' is no count of nodes", "platform", "generate", "dgx-a100:x", "dgx-h100:2", "--join", "ib-hdr")
    refused(2, "'dgx-z100' is no preset", "platform", "generate", "dgx-a100:2", "dgx-z100:2", "--join", "ib-hdr")
    refused(2, "'gen9x16' is no PCI Express slot", "platform", "import", text, "--pcie", "gen9x16")
    refused(2, "'toaster' is no device", "platform", "import", text, "--gpu", "toaster")
    refused(2, "the fabric of piz-daint joins single devices", "platform", "import", text, "--fabric", "piz-daint")
    refused(1, "empty.xml: the file is empty", "platform", "import", empty)
    refused(1, "text.xml:1:1: error: not well-formed XML", "platform", "import", text)
    refused(1, "a node's topology has at most", "platform", "import", large)
    refused(1, "No such file or directory", "platform", "import", os.path.join(directory, "none.xml"))
    refused(1, "not a regular file", "platform", "import", directory)
    refused(1, "this is a SimGrid platform already", "platform", "import", mesh)
    refused(1, "has no GPU that hwloc can see", "platform", "import")
    refused(1, "text.xml:1:1: error: not well-formed XML", "platform", "show", text)
    refused(1, "cannot read", "platform", "show", os.path.join(directory, "none.xml"))
    refused(2, "which platform?", "platform", "show")
    refused(2, "'gif' is no format", "platform", "show", mesh, "--format", "gif")
    refused(2, "no format has the ending .gif", "platform", "show", mesh, "-o", os.path.join(directory, "shown.gif"))
    refused(2, "--between wants two hosts", "platform", "show", mesh, "--between", "gpu-0")
    refused(1, "no GPU is called 'gpu-9'; did you mean 'gpu-", "platform", "show", mesh, "--between", "gpu-0", "gpu-9")
    refused(1, "a directory of that name is in the way", "platform", "generate", "dgx-a100", "--nodes", "2", "-o",
            directory)
    help_text = good("platform", "--help")
    check("examples:" in help_text and "--oversubscription" in help_text, "help", help_text)


def check_broken_platforms(directory):
    """SimGrid ends the process on some mistakes; a user sees a message and exit code 1."""
    broken = {
        "too few hosts": ("Insufficient number of radicals",
                          '<cluster id="c" prefix="g" suffix="" radical="0-6" ' 'speed="1Tf" bw="1GBps" lat="1us" '
                          'topology="TORUS" topo_parameters="8"/></platform>'),
        "shape": ("Dragonfly are defined by",
                  '<cluster id="c" prefix="g" ' 'suffix="" radical="0-7" ' 'speed="1Tf" bw="1GBps" ' 'lat="1us" '
                  'topology="DRAGONFLY" topo_parameters="8"/></platform>'),
        "unknown host": ("'b' does name a node",
                         '<zone id="z" ' 'routing="Full"><host ' 'id="a" ' 'speed="1Tf"/><link ' 'id="l" '
                         'bandwidth="1GBps" ' 'latency="1us"/>'
                         '<route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>'),
        "no host": ("no host in it can hold a rank", '<zone id="z" routing="Full"><router id="a"/></zone></platform>'),
        "old tag": ("removed", '<zone id="z" routing="Full"><storage id="s" typeId="t" attach="a"/></zone></platform>'),
        "cut off": ("not well-formed XML", '<zone id="z" routing="Full"><host id="a"'),
        "unit": ("unit", '<zone id="z" routing="Full"><host id="a" speed="3Tq"/></zone></platform>'),
        "property": ("is no amount",
                     '<zone id="z" routing="Full"><host id="a" speed="1Tf"><prop id="memory" '
                     'value="much"/></host></zone></platform>'),}
    for what, (message, text) in broken.items():
        path = os.path.join(directory, "broken.xml")
        with open(path, "w") as file:
            file.write(HEAD + text)
        result = run("platform", "show", path)
        check(result.returncode == 1 and message in result.stderr and "Backtrace" not in result.stderr, what,
              result.returncode, result.stderr)


def check_islands(directory):
    """Hosts without a route between them: shown as such."""
    path = os.path.join(directory, "islands.xml")
    with open(path, "w") as file:
        file.write(HEAD + "<zone id='z' routing='Full'><host id='a' speed='1Tf'/><host id='b' speed='1Tf'/>"
                   "<host id='c' speed='1Tf'/><link id='l' bandwidth='1GBps' latency='1us'/><route src='a' "
                   "dst='b'><link_ctn id='l'/></route>" "</zone></platform>")
    text = good("platform", "show", path)
    check("2 pairs  1 GB/s, 1 us" in text and "4 pairs without a route" in text, "islands", text)
    good("platform", "show", path, "--format", "svg")
    refused(1, "there is no route from 'a' to 'c'", "platform", "show", path, "--between", "a", "c")


# ---- collectives ----
# NCCL's hops over a network, us (NVIDIA/nccl, src/graph/tuning.cc)
HOPS = {"low": 2.7, "middle": 4.0, "bulk": 14.0}
# Start-ups, and shares of the links' rate, fitted to 2 x 8 H100 over InfiniBand (NVIDIA/nccl-tests, issue 309)
INFINIBAND = {"low": (0, 0.4), "middle": (57e-6, 0.89), "bulk": (125e-6, 0.95)}
# Hops through the kernel, us, estimated
TCP_HOPS = {"low": 25, "middle": 25, "bulk": 50}


def protocols(shown, scope):
    return {protocol["name"]: protocol for protocol in shown["collectives"][scope]["protocols"]}


def check_collectives(directory):
    path = os.path.join(directory, "c.xml")

    def show(*arguments):
        good("platform", "generate", *arguments, "-o", path)
        return json.loads(good("platform", "show", path, "--format", "json"))

    # A hop over InfiniBand takes what NCCL says, whatever the product's links; so do its start-ups.
    for arguments in (("dgx-a100", "--nodes", "2"), ("dgx-h100", "--nodes", "2", "--rails", "nvlink"),
                      ("gb200-nvl72", "--nodes", "2"), ("dgx-2", "--nodes", "2"), ("dgx-1v", "--nodes", "2"),
                      ("aws-p4d", "--nodes", "2", "--nic", "ib-ndr")):
        shown = show(*arguments)
        latency = between(path, "gpu-0-0", "gpu-1-0")["latency_s"]
        network = protocols(shown, "network")
        check(set(network) == set(INFINIBAND), arguments, "has protocols", network)
        for name, protocol in network.items():
            check(abs(protocol["latency"] * latency - HOPS[name] * 1e-6) <= 2e-3 * latency, arguments, name, protocol,
                  latency)
            check((protocol["start_s"], protocol["efficiency"]) == INFINIBAND[name], arguments, name, protocol)
        # Racks of one NVLink domain say themselves what a launch over racks takes.
        both = [shown["collectives"][scope]["launch_s"] for scope in ("node", "network")]
        check((both[0] == both[1]) != (arguments[0] == "gb200-nvl72"), arguments, "launches", both)
    # Sockets have hops of their own; the rest is as within a node.
    shown = show("aws-p4d", "--nodes", "2", "--nic", "ethernet-25")
    latency = between(path, "gpu-0-0", "gpu-1-0")["latency_s"]
    node, network = protocols(shown, "node"), protocols(shown, "network")
    check(set(node) == set(network) and len(node) >= 2, "TCP has protocols", network)
    for name, protocol in network.items():
        check(abs(protocol["latency"] * latency - TCP_HOPS[name] * 1e-6) <= 2e-3 * latency, "TCP", name, protocol)
        check(protocol["start_s"] == node[name]["start_s"] and protocol["efficiency"] == node[name]["efficiency"],
              "TCP", name)
    # EFA starts late, earlier in the newer machine, and other transports half as late; within a node it costs nothing.
    first, newer, half = (show(*words, "--nodes", "2") for words in (("aws-p4d",), ("aws-p5",),
                                                                     ("aws-p5", "--nic", "tcpxo-200")))
    check(protocols(first, "node") == protocols(show("dgx-a100", "--nodes", "2"), "node"),
          "A100 within nodes, whatever joins them")
    for name, protocol in protocols(first, "network").items():
        check(protocol["latency"] == 1 and protocol["start_s"] > 1e-4, "EFA", protocol)
        check(protocols(newer, "network")[name]["start_s"] < protocol["start_s"] / 2, "EFA of the p5", name)
        close(protocols(half, "network")[name]["start_s"], protocol["start_s"] / 2, "TCPXO")
    # Where nothing is known of a network, and with networks of several kinds, it is as within nodes.
    for arguments in (("dgx-a100", "--nodes", "1"), ("dgx-a100:2", "dgx-h100:2", "--join", "ethernet-25")):
        shown = show(*arguments)
        node, network = shown["collectives"]["node"], shown["collectives"]["network"]
        check({key: node[key] for key in network} == network, arguments, shown["collectives"])
        with open(path) as file:
            # What SHARP reaches is the library's, whatever the network.
            text = file.read().replace("collective_in_network_efficiency_network", "")
            check("_network" not in text, arguments, "writes no property of the network")
    # As text.
    good("platform", "generate", "alps", "--nodes", "2", "-o", path)
    text = good("platform", "show", path)
    check("collectives within a node: launch 14 us\n  low     start 0 s, latency x 0.23" in text
          and "collectives over nodes: launch 11.3 us\n  low     start 0 s, latency x 0.24" in text, text)
    good("platform", "generate", "dgx-h100", "--nodes", "1", "-o", path)
    text = good("platform", "show", path)
    check("within a node: launch 4.22 us\n" in text and "over nodes" not in text
          and "\n  messages low     start 1.67 us, latency x 0.26, bandwidth x 1, a message no more than 5.71 GB/s\n"
          in text
          and "\n  reductions in switches start 83.3 us\n" in text and "switches reduce within a node" in text, text)
    node = json.loads(good("platform", "show", path, "--format", "json"))["collectives"]["node"]
    check([protocol["name"] for protocol in node["messages"]] == ["low", "middle", "bulk"]
          and node["messages"][0]["rate_bytes_per_s"] == 5.71e9 and node["in_network_start_s"] == 83.3e-6, node)
    good("platform", "generate", "dgx-b200", "--nodes", "1", "-o", path)
    check("bandwidth x 0.419, up to 1024 KiB of each rank\n" in good("platform", "show", path), "limits are shown")
    good("platform", "generate", "mesh", "--nodes", "4", "-o", path)
    check("collectives" not in good("platform", "show", path), "nothing is said where nothing is known")


# ---- import ----
def check_import(directory):
    path = os.path.join(directory, "imported.xml")
    source = os.path.join(data, "nccl-a100x8.xml")
    good("platform", "import", source, "--nodes", "3", "--fabric", "dgx-a100", "-o", path)
    shown = json.loads(good("platform", "show", path, "--format", "json"))
    check(shown["gpus"] == 24 and shown["nodes"][0]["count"] == 3, "three copies")
    close(shown["nodes"][0]["ring_bytes_per_s"], 240e9, "ring over NVSwitch")
    close(between(path, "gpu-0-0", "gpu-2-5")["bandwidth_bytes_per_s"], 22.5e9, "HDR between nodes")
    result = run("platform", "import", source)
    check(result.stdout == good("platform", "import", source), "import differs the second time")
    check("measured" in result.stderr and "table" in result.stderr
          and "measured: 8 GPUs on one NVSwitch" in result.stdout, "origins are told")
    alone = os.path.join(directory, "alone.xml")
    with open(alone, "w") as file:
        file.write('<system><cpu numaid="0"><pci busid="0000:01:00.0" class="0x030200"><gpu '
                   'sm="75"/></pci></cpu></system>')
    refused(1, "no usable network interface, so several nodes cannot be joined", "platform", "import", alone, "--nodes",
            "2")
    text = good("platform", "import", alone, "--nodes", "2", "--fabric", "dgx-1v")
    check("assumed: no usable network interface; one of 11.25 GB/s" in text, "the fabric's interface is assumed")


PARTS = {
    "kinds": [check_kinds, check_folding, check_options, check_shipped_joined],
    "presets": [check_presets],
    "rest": [check_refusals, check_collectives, check_broken_platforms, check_islands, check_import],
}
with tempfile.TemporaryDirectory() as scratch:
    for part in PARTS[sys.argv[3]]:
        part(scratch)
print(len(failures), "failures")
sys.exit(1 if failures else 0)
