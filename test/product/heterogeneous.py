#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""heterogeneous.py STAGESIM: clusters of several GPUs and network interfaces: replicas on slower hosts, placement by
interface, layers by speed."""
import collections
import csv
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

STAGES = """platform: {platform}
workload: stages
engine: {engine}
placement: {placement}
stages: {{forward: 1s, backward: 2s, message: 1MB, gradient: 1MB}}
parallel: {{pipeline: {pipeline}, data: {data}}}
order: {order}
batch: {{micro_batches: 2}}
schedule: 1f1b
output: {{trace: csv, replicas: all}}
"""

GPT = """platform: {platform}
workload: transformer
model: {{layers: 12, hidden: 4096, heads: 32, sequence: 2048, vocabulary: 51200, positions: 2048}}
transformer: {{{layers}}}
parallel: {{pipeline: 2, data: 2}}
placement: nic-aware
engine: analytic
batch: {{micro_batches: 8, micro: 2}}
schedule: {schedule}
output: {{trace: csv}}
"""


def write_hosts(path, hosts):
    """hosts: (speed, nic) of each; links of 1 PB/s between all."""
    lines = [tool.HEAD, '<zone id="mesh" routing="Full">']
    lines += [f'<host id="gpu-{i}" speed="{speed}"><prop id="nic" value="{nic}"/></host>' for i,
              (speed, nic) in enumerate(hosts)]
    lines += ['<link id="l" bandwidth="1PBps" latency="0s" sharing_policy="FATPIPE"/>']
    lines += [f'<route src="gpu-{i}" dst="gpu-{j}"><link_ctn id="l"/></route>' for i in range(len(hosts))
              for j in range(i)]
    path.write_text("\n".join(lines + ["</zone></platform>\n"]))


def run_stages(binary, folder, platform, engine="simgrid", placement="order", pipeline=1, data=2,
               order="[pipeline, data]"):
    (folder /
     "s.yaml").write_text(
        STAGES.format(platform=platform, engine=engine, placement=placement, pipeline=pipeline, data=data, order=order))
    summary = tool.summary(binary, "s.yaml", "out", cwd=folder)
    with open(folder / "out" / "operations.csv") as file:
        return summary, list(csv.DictReader(file))


def check_slower_replicas(check, binary, folder):
    """Two micro-batches of 3 s on the fastest of hosts without a model; the slower one takes longer, whichever it
    is."""
    for engine in ("simgrid", "analytic"):
        for speeds, times in ((("1Tf", "2Tf"), (12, 6)), (("2Tf", "1Tf"), (6, 12)), (("2Tf", "2Tf"), (6, 6))):
            write_hosts(folder / "speeds.xml", [(speed, "x") for speed in speeds])
            _, rows = run_stages(binary, folder, "speeds.xml", engine)
            for rank, expected in enumerate(times):
                busy = sum(float(row["end_s"]) - float(row["start_s"]) for row in rows
                           if row["stream"] == "compute" and row["rank"] == str(rank))
                check.near(busy, expected, f"{engine}, {speeds}: rank {rank} computes", 1e-9)


DEGRADED = """platform: slow.xml
workload: transformer
model: {{layers: 4, hidden: 2048, heads: 16, sequence: 1024, vocabulary: 32000, positions: 1024}}
parallel: {{tensor: 2, data: 4}}
batch: {{micro_batches: 4, micro: 2}}
schedule: gpipe
engine: {engine}
"""


def check_slow_gpu(check, binary, folder):
    """Which GPU of alike ones is slow is of no account, nor whether its speed or its state says so: all take as long,
    longer than
    without a slow one, and with all in that state. A job of a single product of twice the time needs twice the time."""
    tool.run(binary, "platform", "generate", "dgx-h100", "--nodes", 1, "-o", "healthy.xml", cwd=folder)
    healthy = (folder / "healthy.xml").read_text()

    def time(engine, text):
        (folder / "slow.xml").write_text(text)
        (folder / "slow.yaml").write_text(DEGRADED.format(engine=engine))
        return tool.summary(binary, "slow.yaml", "out", cwd=folder)

    for engine in ("simgrid", "analytic"):
        base, times = time(engine, healthy)["time"]["iteration_s"], {}
        for gpu in range(8):
            host = f'<host id="gpu-0-{gpu}" speed="989Tf"'
            check.that(healthy.count(host) == 1, f"{host} in the platform")
            for how in (' speed="494.5Tf"', ' speed="989Tf,494.5Tf" pstate="1"'):
                text = healthy.replace(host, host.replace(' speed="989Tf"', how)).replace('"70:700"', '"70:700,70:350"')
                times[gpu, how] = time(engine, text)["time"]["iteration_s"]
        check.that(max(times.values()) - min(times.values()) <= 1e-9 * base, f"{engine}: a slow GPU: {times}")
        check.that(min(times.values()) > 1.5 * base, f"{engine}: {base} s, and with a slow GPU {min(times.values())} s")
        everything = healthy.replace(' speed="989Tf"', ' speed="494.5Tf"')
        check.near(time(engine, everything)["time"]["iteration_s"], min(times.values()), f"{engine}: all GPUs are slow",
                   1e-6)


def check_power(check, binary, folder):
    """In a state of 60 to 250 W 16 GPUs take at most 4 kW, and 250 W each where they compute all the time."""
    hosts = "".join(f'<host id="gpu-{i}" speed="2Tf,1Tf" pstate="1"><prop id="wattage_per_state" '
                    f'value="60:400,60:250"/></host>' for i in range(16))
    (folder / "states.xml").write_text(tool.HEAD + '<zone id="z" routing="Full">' + hosts +
                                       '<link id="l" bandwidth="1PBps" latency="0s"/>' +
                                       "".join(f'<route src="gpu-{i}" dst="gpu-{j}"><link_ctn id="l"/></route>'
                                               for i in range(16) for j in range(i)) + "</zone></platform>\n")
    for engine in ("simgrid", "analytic"):
        (folder /
         "s.yaml").write_text(
            STAGES.format(platform="states.xml", engine=engine, placement="order", pipeline=1, data=16,
                          order="[pipeline, data]").replace("1MB", "0B"))
        summary = tool.summary(binary, "s.yaml", "out", cwd=folder)
        check.near(summary["time"]["iteration_s"], 12, f"{engine}: half the speed takes twice as long")
        check.near(summary["energy"]["total_j"], 12 * 16 * 250, f"{engine}: 250 W each")
    (folder / "states.xml").write_text((folder / "states.xml").read_text().replace(",60:250", ""))
    refused = tool.run(binary, "check", "s.yaml", cwd=folder, expect=1)
    check.that("has no watts of state 1" in refused.stderr, refused.stderr)


def check_placement(check, binary, folder):
    """Interfaces alternate along the hosts. Every host is used once, a worker's hosts are of one kind, the kinds one
    after the other."""
    kinds = ["ib", "roce", "roce", "ib", "ib", "roce", "roce", "ib"]
    write_hosts(folder / "kinds.xml", [("1Tf", kind) for kind in kinds])
    for order in ("[pipeline, data]", "[data, pipeline]"):
        for pipeline, data in ((2, 4), (4, 2), (8, 1), (2, 2)):
            _, rows = run_stages(binary, folder, "kinds.xml", "analytic", "nic-aware", pipeline, data, order)
            hosts = {int(row["rank"]): (int(row["position"]), int(row["host"].removeprefix("gpu-"))) for row in rows}
            check.that(len({host for _, host in hosts.values()}) == len(hosts) == pipeline * data,
                       f"{order} {pipeline} x {data}: hosts {hosts}")
            by_worker = [{kinds[host] for position, host in hosts.values() if position == worker}
                         for worker in range(pipeline)]
            fits = 4 // data  # workers on the hosts of a kind
            expected = [{"ib"} if worker < fits else {"roce"} for worker in range(pipeline)]
            check.that(by_worker == expected, f"{order} {pipeline} x {data}: {by_worker}")
    _, rows = run_stages(binary, folder, "kinds.xml", "analytic", "order", 2, 4, "[data, pipeline]")
    check.that(all(row["host"] == "gpu-" + row["rank"] for row in rows), "placement: order takes hosts in order")


def check_networks(check, binary, folder):
    """Half of the nodes on another interface: placement by interface beats rank order, and loses little against one
    network."""
    scenario = tool.ROOT / "scenarios" / "heterogeneous.yaml"
    tool.run(binary, "platform", "generate", "dgx-a100", "--nodes", 4, "-o", "one.xml", cwd=folder)
    times = {}
    for name, changes in (("order", ["--set", "placement=order"]), ("aware", []),
                          ("one", ["--set", "platform=one.xml"])):
        times[name] = tool.summary(binary, scenario, "out", *changes, cwd=folder)["time"]["iteration_s"]
    print(f"placement by interface is {times['order'] / times['aware']:.2f} times as fast, and "
          f"{times['aware'] / times['one'] - 1:.1%} slower " "than one network")
    check.that(times["order"] > 1.8 * times["aware"], f"placement gains: {times}")
    check.that(times["aware"] < 1.1 * times["one"], f"crossing the Ethernet costs little: {times}")


def busiest(binary, folder, layers, schedule="1f1b"):
    (folder / "g.yaml").write_text(GPT.format(platform="gpus.xml", layers=layers, schedule=schedule))
    tool.summary(binary, "g.yaml", "out", cwd=folder)
    loads = collections.Counter()
    with open(folder / "out" / "operations.csv") as file:
        for row in csv.DictReader(file):
            if row["kind"] in "FB":
                loads[row["position"]] += float(row["end_s"]) - float(row["start_s"])
    return max(loads.values())


def check_balance(check, binary, folder):
    """The busiest worker's forwards and backwards under balance: auto take no longer than under any split by hand; slow
    GPUs get fewer layers."""
    for parts in (["dgx-a100:1", "dgx-h100:1"], ["dgx-h100:1", "dgx-a100:1"]):
        tool.run(binary, "platform", "generate", *parts, "--gpus-per-node", 2, "--join", "ethernet-25", "-o",
                 "gpus.xml", cwd=folder)
        by_hand = {first: busiest(binary, folder, f"layers_per_stage: [{first}, {12 - first}]")
                   for first in range(1, 12)}
        best = min(by_hand, key=by_hand.get)
        check.near(busiest(binary, folder, "balance: auto"), by_hand[best],
                   f"{parts}: auto is as good as {best} layers first")
        check.that((best < 6) == (parts[0] == "dgx-a100:1"), f"{parts}: {best} layers first")
    (folder / "g.yaml").write_text(GPT.format(platform="gpus.xml", layers="", schedule="chimera"))
    refused = tool.run(binary, "check", "g.yaml", cwd=folder, expect=1)
    check.that("holds stage 0 on worker 0, of H100-SXM5-80GB, and on worker 1, of A100-SXM4-80GB" in refused.stderr,
               refused.stderr)


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        for part in (check_slower_replicas, check_slow_gpu, check_power, check_placement, check_networks,
                     check_balance):
            part(check, binary, pathlib.Path(temporary))
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
