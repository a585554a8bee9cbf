#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""heterogeneous.py STAGESIM: clusters of several GPUs and network interfaces: replicas on slower hosts, placement by interface, layers by
speed."""
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
    lines += [f'<host id="gpu-{i}" speed="{speed}"><prop id="nic" value="{nic}"/></host>' for i, (speed, nic) in enumerate(hosts)]
    lines += ['<link id="l" bandwidth="1PBps" latency="0s" sharing_policy="FATPIPE"/>']
    lines += [f'<route src="gpu-{i}" dst="gpu-{j}"><link_ctn id="l"/></route>' for i in range(len(hosts)) for j in range(i)]
    path.write_text("\n".join(lines + ["</zone></platform>\n"]))


def run_stages(binary, folder, platform, engine="simgrid", placement="order", pipeline=1, data=2, order="[pipeline, data]"):
    (folder / "s.yaml").write_text(STAGES.format(platform=platform, engine=engine, placement=placement, pipeline=pipeline, data=data, order=order))
    summary = tool.summary(binary, "s.yaml", "out", cwd=folder)
    with open(folder / "out" / "operations.csv") as file:
        return summary, list(csv.DictReader(file))


def check_slower_replicas(check, binary, folder):
    """Two micro-batches of 3 s on the first replica's host; the other one takes longer as it is slower, or less as it is faster."""
    for engine in ("simgrid", "analytic"):
        for speeds, times in ((("1Tf", "2Tf"), (6, 3)), (("2Tf", "1Tf"), (6, 12)), (("2Tf", "2Tf"), (6, 6))):
            write_hosts(folder / "speeds.xml", [(speed, "x") for speed in speeds])
            _, rows = run_stages(binary, folder, "speeds.xml", engine)
            for rank, expected in enumerate(times):
                busy = sum(float(row["end_s"]) - float(row["start_s"]) for row in rows
                           if row["stream"] == "compute" and row["rank"] == str(rank))
                check.near(busy, expected, f"{engine}, {speeds}: rank {rank} computes", 1e-9)


def check_placement(check, binary, folder):
    """Interfaces alternate along the hosts. Every host is used once, a worker's hosts are of one kind, the kinds one after the other."""
    kinds = ["ib", "roce", "roce", "ib", "ib", "roce", "roce", "ib"]
    write_hosts(folder / "kinds.xml", [("1Tf", kind) for kind in kinds])
    for order in ("[pipeline, data]", "[data, pipeline]"):
        for pipeline, data in ((2, 4), (4, 2), (8, 1), (2, 2)):
            _, rows = run_stages(binary, folder, "kinds.xml", "analytic", "nic-aware", pipeline, data, order)
            hosts = {int(row["rank"]): (int(row["position"]), int(row["host"].removeprefix("gpu-"))) for row in rows}
            check.that(len({host for _, host in hosts.values()}) == len(hosts) == pipeline * data, f"{order} {pipeline} x {data}: hosts {hosts}")
            by_worker = [{kinds[host] for position, host in hosts.values() if position == worker} for worker in range(pipeline)]
            fits = 4 // data  # workers on the hosts of a kind
            expected = [{"ib"} if worker < fits else {"roce"} for worker in range(pipeline)]
            check.that(by_worker == expected, f"{order} {pipeline} x {data}: {by_worker}")
    _, rows = run_stages(binary, folder, "kinds.xml", "analytic", "order", 2, 4, "[data, pipeline]")
    check.that(all(row["host"] == "gpu-" + row["rank"] for row in rows), "placement: order takes hosts in order")


def check_networks(check, binary, folder):
    """Half of the nodes on another interface: placement by interface beats rank order, and loses little against one network."""
    scenario = tool.ROOT / "scenarios" / "heterogeneous.yaml"
    tool.run(binary, "platform", "generate", "dgx-a100", "--nodes", 4, "-o", "one.xml", cwd=folder)
    times = {}
    for name, changes in (("order", ["--set", "placement=order"]), ("aware", []), ("one", ["--set", "platform=one.xml"])):
        times[name] = tool.summary(binary, scenario, "out", *changes, cwd=folder)["time"]["iteration_s"]
    print(f"placement by interface is {times['order'] / times['aware']:.2f} times as fast, and {times['aware'] / times['one'] - 1:.1%} slower "
          "than one network")
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
    """The busiest worker's forwards and backwards under balance: auto take no longer than under any split by hand; slow GPUs get fewer layers."""
    for parts in (["dgx-a100:1", "dgx-h100:1"], ["dgx-h100:1", "dgx-a100:1"]):
        tool.run(binary, "platform", "generate", *parts, "--gpus-per-node", 2, "--join", "ethernet-25", "-o", "gpus.xml", cwd=folder)
        by_hand = {first: busiest(binary, folder, f"layers_per_stage: [{first}, {12 - first}]") for first in range(1, 12)}
        best = min(by_hand, key=by_hand.get)
        check.near(busiest(binary, folder, "balance: auto"), by_hand[best], f"{parts}: auto is as good as {best} layers first")
        check.that((best < 6) == (parts[0] == "dgx-a100:1"), f"{parts}: {best} layers first")
    (folder / "g.yaml").write_text(GPT.format(platform="gpus.xml", layers="", schedule="chimera"))
    refused = tool.run(binary, "check", "g.yaml", cwd=folder, expect=1)
    check.that("holds stage 0 on worker 0, of H100-SXM5-80GB, and on worker 1, of A100-SXM4-80GB" in refused.stderr, refused.stderr)


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        for part in (check_slower_replicas, check_placement, check_networks, check_balance):
            part(check, binary, pathlib.Path(temporary))
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
