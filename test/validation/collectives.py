#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured tables of nccl-tests beside stagesim's predictions.

usage: collectives.py STAGESIM [PICTURES]

The tables are in nccl/, each with its source; rows that their files name irregular are left out. Each machine's
platform is what `stagesim platform generate` writes for the product; `stagesim platform fit` fits it to the machine's
tables, and the errors are computed here with `stagesim collective` on SimGrid. Tables are given (values of the presets
come from them, see doc/collectives.md) or blind (no value does). Then machines are fitted to one table, and their other
collectives are predicted. Fails where the errors are larger than the limits below. With PICTURES the charts of
doc/accuracy.md are drawn there."""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

STAGESIM, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).parent / "nccl"
PICTURES = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None


class Machine(NamedTuple):
    """A machine with its tables."""
    network: str  # the class: what joins the GPUs
    name: str
    generate: str  # arguments of `platform generate`
    tables: tuple
    given: bool  # values of the presets come from these tables
    picture: str = None


MACHINES = (
    Machine("NVSwitch", "8 A100, one process", "dgx-a100 --nodes 1 --one-process --library a100-2021",
            ("a100x8_nvlink_allreduce", "a100x8_nvlink_reducescatter", "a100x8_nvlink_alltoall"), True, "a100"),
    Machine("NVSwitch", "12 V100 of a DGX-2, one process", "dgx-2 --nodes 1 --gpus-per-node 12 --one-process",
            ("v100x12_dgx2_allreduce",), True),
    Machine("NVLS", "8 H100", "dgx-h100 --nodes 1", ("h100x8_nvlink_allreduce",), True, "h100"),
    Machine("NVLS", "8 H200, torch", "dgx-h200 --nodes 1 --launch torch", ("h200x8_nvlink_allreduce",), False),
    Machine("NVLS", "8 B200, torch", "dgx-b200 --nodes 1 --launch torch", ("b200x8_nvlink_allreduce",), True),
    Machine("NVLS", "72 GB200", "gb200-nvl72 --nodes 1", ("gb200x72_nvl72_allreduce",), True),
    Machine("NVLS", "4 GB300", "gb300-nvl72 --nodes 1 --gpus-per-node 4", ("gb300x4_oci_allreduce",), False),
    Machine("NVLS", "8 GB300", "gb300-nvl72 --nodes 1 --gpus-per-node 8", ("gb300x8_oci_allreduce",), False),
    Machine("NVLS", "64 GB300", "gb300-nvl72 --nodes 1 --gpus-per-node 64", ("gb300x64_oci_alltoall",), False),
    Machine("direct links", "8 V100, cube mesh, one process", "dgx-1v --nodes 1 --one-process",
            ("v100x8_sxm2_nvlink_allreduce",), False),
    Machine("direct links", "8 MI300X", "mi300x --nodes 1", ("mi300x8_allreduce",), True),
    Machine("direct links", "8 MI355X, one process", "mi355x --nodes 1 --one-process", ("mi355x8_alltoall",), True),
    Machine("PCI Express", "4 V100, Gen3, one process", "pcie-v100 --nodes 1 --one-process",
            ("v100pcie_x4_allreduce",), False),
    Machine("EFA", "2 x 8 A100", "aws-p4d --nodes 2", ("a100x16_2node_p4de_efa_allreduce",), True, "efa"),
    Machine("Slingshot", "2 x 4 GH200", "alps --nodes 2", ("gh200x8_2node_slingshot_allreduce",), True, "slingshot"),
    Machine("InfiniBand", "2 x 8 H100", "dgx-h100 --nodes 2", ("h100x16_2node_ib2_allreduce",), True),
    Machine("InfiniBand", "8 x 8 H100", "dgx-h100 --nodes 8", ("h100x64_8node_ib_allreduce",), False),
    Machine("InfiniBand", "16 DGX-2", "dgx-2 --nodes 16", ("v100x256_16node_dgx2_allreduce",), False),
    Machine("RoCE", "2 x 8 A100", "dgx-a100 --nodes 2 --nic roce-200", ("a100x16_2node_oci_allreduce",), True),
    Machine("RoCE", "2 x 8 MI300X", "mi300x --nodes 2", ("mi300x16_2node_allreduce",), True),
    Machine("RoCE", "2 x 8 MI355X", "mi355x --nodes 2", ("mi355x16_2node_ainic_allreduce",), True),
    Machine("RoCE", "2 x 64 GB200", "gb200-nvl72 --nodes 2 --gpus-per-node 64 --nic roce-400",
            ("gb200x128_2racks_oci_allreduce",), True),
    Machine("RoCE", "2 x 64 GB300", "gb300-nvl72 --nodes 2 --gpus-per-node 64 --nic roce-400",
            ("gb300x128_2racks_oci_alltoall",), True),
)
KINDS = {"allreduce": "all-reduce", "reducescatter": "reduce-scatter", "alltoall": "all-to-all"}
LARGE = 2**26


class Limits(NamedTuple):
    """What was found when these were last looked at: of all tables the mean of their errors and the worst table."""
    mean: float
    worst: float


# Each may be MARGIN larger, and the signed mean of the fitted tables move by it both ways.
GENERATED, GENERATED_LARGE, FITTED = Limits(0.069, 0.204), Limits(0.043, 0.182), Limits(0.024, 0.059)
MARGIN, FITTED_BIAS, OTHERS, OTHERS_BIAS = 0.005, -0.003, 0.268, -0.0491
# The mean of all tables' signed means, as generated: over all rows, and from 64 MiB on.
GENERATED_BIAS, GENERATED_LARGE_BIAS = -0.0219, -0.0172
# The largest error that a class may have as generated, where its tables are given.
CLASSES = {"EFA": 0.03, "Slingshot": 0.07, "InfiniBand": 0.05, "direct links": 0.07, "RoCE": 0.15}


def call(*arguments):
    result = subprocess.run([STAGESIM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if result.returncode:
        sys.exit(f"{arguments}: {result.stderr}")
    return result.stdout


def read(name):
    """Kind, ranks and {size: seconds} of a table."""
    head, rows = {}, {}
    for line in (FOLDER / f"{name}.csv").read_text().splitlines():
        if line.startswith("#"):
            key, _, value = line[1:].partition(":")
            head[key.strip()] = value.strip()
        elif line[0].isdigit():
            size, time = map(float, line.split(",")[:2])
            rows[size] = time * 1e-6
    return KINDS[head["collective"]], int(head["ranks"]), rows


def predict(platform, kind, ranks, sizes):
    """Seconds of each size on SimGrid: sizes that double from one to the next in one run."""
    times, left = {}, sorted(sizes)
    while left:
        run = [left[0]]
        while 2 * run[-1] in left:
            run.append(2 * run[-1])
        text = call("collective", kind, "--platform", platform, "--ranks", ranks, "--sizes",
                    f"{run[0]:.0f}:{run[-1]:.0f}:2", "--format", "csv")
        times |= {float(line.split(",")[0]): float(line.split(",")[1]) * 1e-6 for line in text.splitlines()
                  if line[0].isdigit()}
        left = [size for size in left if size not in run]
    return times


def errors(platform, name):
    """{size: predicted over measured - 1}"""
    kind, ranks, measured = read(name)
    predicted = predict(platform, kind, ranks, measured)
    return {size: predicted[size] / measured[size] - 1 for size in measured}


def from_size(found, least):
    return [error for size, error in found.items() if size >= least]


def mean(values):
    """Of the amounts."""
    values = list(map(abs, values))
    return sum(values) / len(values)


def bias(values):
    values = list(values)
    return sum(values) / len(values)


def fitted(folder, machine, names, picture=None):
    """The platform as generated and as fitted to tables."""
    platform, output = folder / f"{machine.tables[0]}.xml", folder / f"{names[0]}-{len(names)}-fitted.xml"
    call("platform", "generate", *machine.generate.split(), "-o", platform)
    call("platform", "fit", *[FOLDER / f"{name}.csv" for name in names], "--platform", platform, "-o", output,
         *(["--picture", picture] if picture else []))
    return platform, output


def measure(folder, machine):
    """Errors of each table, as generated and fitted."""
    picture = PICTURES / f"collectives-{machine.picture}.svg" if PICTURES and machine.picture else None
    before, after = fitted(folder, machine, machine.tables, picture)
    return [(machine, name, errors(before, name), errors(after, name)) for name in machine.tables]


def print_table(machine, name, before, after):
    kind, ranks, rows = read(name)
    large = from_size(before, LARGE)
    print(f"{machine.network:12} {machine.name:31} {kind:14} {ranks:5} {len(rows):4} "
          f"{'given' if machine.given else 'blind':5} {mean(before.values()):9.1%} {bias(before.values()):+7.1%} "
          f"{mean(large):8.1%} {bias(large):+7.1%} {mean(after.values()):7.1%} {bias(after.values()):+7.1%} "
          f"{max(after.values(), key=abs):+9.1%}")


def over(what, means, limits):
    """Prints the mean and the worst of tables' errors, and whether they are above the limits."""
    print(f"{what}: mean {mean(means):.1%} (at most {limits.mean:.1%} + {MARGIN:.1%}), worst table {max(means):.1%} "
          f"(at most {limits.worst:.1%} + {MARGIN:.1%})")
    return mean(means) > limits.mean + MARGIN or max(means) > limits.worst + MARGIN


def print_classes(found):
    """Errors as generated by class, tables that are given and blind ones apart."""
    wrong = False
    for network in dict.fromkeys(machine.network for machine in MACHINES):
        for given in (True, False):
            tables = [before for machine, _, before, _ in found
                      if machine.network == network and machine.given == given]
            if not tables:
                continue
            means = [mean(before.values()) for before in tables]
            limit = CLASSES.get(network) if given else None
            wrong |= limit is not None and max(means) > limit
            print(f"  {network:12} {'given' if given else 'blind'}: {len(tables)} tables, mean {mean(means):.1%}, bias "
                  f"{bias(bias(before.values()) for before in tables):+.1%}, from 64 MiB on "
                  f"{mean([mean(from_size(before, LARGE)) for before in tables]):.1%}"
                  + (f" (no table above {limit:.0%})" if limit else ""))
    return wrong


def all_tables(found):
    print(f"{'class':12} {'machine':31} {'collective':14} {'ranks':>5} {'rows':>4} {'':5} {'generated':>9} {'bias':>7} "
          f"{'>=64 MiB':>8} {'bias':>7} {'fitted':>7} {'bias':>7} {'worst row':>9}")
    for table in found:
        print_table(*table)
    wrong = over("\nas generated", [mean(before.values()) for _, _, before, _ in found], GENERATED)
    wrong |= over("from 64 MiB on", [mean(from_size(before, LARGE)) for _, _, before, _ in found], GENERATED_LARGE)
    for what, value, known in (("all rows", bias(bias(before.values()) for _, _, before, _ in found), GENERATED_BIAS),
                               ("from 64 MiB on", bias(bias(from_size(before, LARGE)) for _, _, before, _ in found),
                                GENERATED_LARGE_BIAS)):
        print(f"as generated, {what}: bias {value:+.2%} ({known:+.2%} +- {MARGIN:.1%})")
        wrong |= abs(value - known) > MARGIN
    wrong |= print_classes(found)
    wrong |= over("fitted", [mean(after.values()) for _, _, _, after in found], FITTED)
    signed = bias(bias(after.values()) for _, _, _, after in found)
    print(f"fitted: bias {signed:+.2%} ({FITTED_BIAS:+.2%} +- {MARGIN:.1%})\n")
    return wrong or abs(signed - FITTED_BIAS) > MARGIN


# All-reduces over nodes, the mean error of a table: from 64 MiB on fitted, and as generated; below 1 MiB either way.
BARS, OVER_NODES, SMALL = (0.10, 0.20, 0.25), ("EFA", "Slingshot", "InfiniBand", "RoCE"), 2**20
# Two racks of GB200 at 8 GiB: how far the prediction as generated may be off.
RACKS, RACKS_OFF = "gb200x128_2racks_oci_allreduce", 0.10


def below(found, most):
    return [error for size, error in found.items() if size < most]


def over_nodes(found):
    """Prints the errors that there are bars for; whether one is missed."""
    wrong = False
    print(f"\n{'all-reduce over nodes':31} {'fitted, from 64 MiB on':>22} {'generated':>9} {'below 1 MiB, fitted':>19} "
          f"{'generated':>9}   (at most {BARS[0]:.0%}, {BARS[1]:.0%}, {BARS[2]:.0%})")
    for machine, name, before, after in found:
        if machine.network not in OVER_NODES or read(name)[0] != "all-reduce":
            continue
        parts = (from_size(after, LARGE), from_size(before, LARGE), below(after, SMALL), below(before, SMALL))
        means = [mean(part) if part else None for part in parts]
        wrong |= any(value is not None and value > most for value, most in zip(means, (*BARS, BARS[2])))
        text = [f"{value:.1%}" if value is not None else "-" for value in means]
        print(f"{machine.name:31} {text[0]:>22} {text[1]:>9} {text[2]:>19} {text[3]:>9}")
        if name == RACKS:
            wrong |= abs(before[2**33]) > RACKS_OFF
            print(f"{machine.name:31} at 8 GiB as generated {before[2**33]:+.1%} (at most {RACKS_OFF:.0%})")
    return wrong


# ---- from few nodes to more ----

# What a machine of its own differs by from the preset: start-ups, hops and rates over nodes; and noise of its rows.
OTHER = {"start": 2.0, "latency": 1.6, "efficiency": 0.85}
# Of the measured machine, whose table of 4 nodes is not published, 2 nodes alone do not settle it: the error found.
NOISE, MORE_NODES, MORE_NODES_MEASURED = 0.04, 0.10, 0.221 + MARGIN


def changed(text):
    def change(match):
        key, value, unit = match.groups()
        words = key.split("_")
        ours = words[-1] == "network" and words[1] in ("low", "middle", "bulk")
        factor = OTHER.get(words[2], 1) if ours else 1
        return f'<prop id="{key}" value="{float(value) * factor:g}{unit}"'
    return re.sub(r'<prop id="(collective_\w+)" value="([0-9.e+-]+)([a-zA-Z]*)"', change, text)


def simulated_table(folder, nodes):
    """All-reduces of a machine that is like no preset, every transfer simulated, as nccl-tests would have measured them
    with some noise. The rows."""
    preset, machine, table = (folder / f"{name}-{nodes}" for name in ("preset.xml", "machine.xml", "table.csv"))
    call("platform", "generate", "dgx-h100", "--nodes", nodes, "-o", preset)
    machine.write_text(changed(preset.read_text()))
    lines, rows = [], {}
    for line in call("collective", "all-reduce", "--platform", machine, "--sizes", "1KiB:4GiB:4", "--stepwise",
                     "--format", "csv").splitlines():
        if line[0].isdigit():
            size, time, *rest = line.split(",")
            rows[float(size)] = float(time) * 1e-6
            line = ",".join([size, f"{float(time) * (1 + NOISE * (1 - 2 * (len(rows) % 2))):.6g}", *rest])
        lines.append(line)
    table.write_text("\n".join(lines) + "\n")
    return preset, table, rows


def more_nodes(folder):
    """A fit to 2 and 4 nodes beside what 8 take: of a simulated machine, as no machine's three tables are published;
    then a fit to the measured 2 x 8 H100 beside 8 x 8 of the same site."""
    (_, two, _), (_, four, _), (preset, _, rows) = (simulated_table(folder, nodes) for nodes in (2, 4, 8))
    call("platform", "fit", two, four, "--platform", preset, "-o", folder / "more.xml")
    predicted = predict(folder / "more.xml", "all-reduce", 64, [size for size in rows if size <= 2**32])
    simulated = mean(predicted[size] / rows[size] - 1 for size in rows)
    call("platform", "fit", FOLDER / "h100x16_2node_ib2_allreduce.csv", "--platform", preset, "-o",
         folder / "measured.xml")
    measured = errors(folder / "measured.xml", "h100x64_8node_ib_allreduce")
    print(f"\nfitted to 2 and 4 simulated nodes, 8 are predicted with an error of {simulated:.1%} (at most "
          f"{MORE_NODES:.0%}); fitted to 2 measured nodes of H100, 8 with {mean(measured.values()):.1%}, bias "
          f"{bias(measured.values()):+.1%} (at most {MORE_NODES_MEASURED:.0%})")
    return simulated > MORE_NODES or mean(measured.values()) > MORE_NODES_MEASURED


# Published figures without a table, GB/s at 8 GiB (of 2 H100: at 512 MiB, nccl/node.csv, the largest size there):
# platform, ranks, collective, algbw or busbw, figure, how far off it may be, the algorithm that NCCL takes where that
# is published (nccl issues 1455, 1374, 713; OCI's guides).
FIGURES = (("dgx-1v:1", 8, "all-reduce", "busbw", 130.3, 0.05, "ring"),
           ("mi300x:1", 8, "all-reduce", "busbw", 315.7, 0.05, "ring"),
           ("mi355x:1", 8, "all-reduce", "busbw", 406.8, 0.05, "ring"),
           *(("dgx-h100:1", ranks, "all-reduce", "busbw", figure, 0.05, "in-network")
             for ranks, figure in ((5, 420), (6, 440), (7, 460), (8, 480))),
           ("dgx-h100:1", 2, "all-reduce", "busbw", 318.4, 0.05, "ring"),
           ("hgx-h800:1", 8, "all-reduce", "busbw", 215, 0.05, "in-network"),
           ("dgx-b200:1", 8, "all-reduce", "busbw", 838, 0.05, "in-network"),
           ("dgx-a100:1", 8, "all-reduce", "busbw", 235, 0.06, "ring"),
           ("dgx-h100:2", 16, "all-reduce", "busbw", 467, 0.05, "switch-tree"),
           ("mi355x:2", 16, "all-to-all", "algbw", 97.2, 0.05, "direct"),
           ("mi355x:1", 8, "all-to-all", "busbw", 361, 0.05, "direct"))


def published_figures():
    """Prints each beside the prediction; whether one is too far off."""
    wrong = False
    print(f"\n{'platform':12} {'ranks':>5} {'collective':11} {'published':>9} {'predicted':>9}  algorithm")
    for platform, ranks, kind, what, figure, most, algorithm in FIGURES:
        text = call("collective", kind, "--platform", platform, "--ranks", ranks, "--sizes", "8GiB:8GiB:2", "--format",
                    "json")
        row = json.loads(text)["rows"][0]
        found, taken = row[what + "_GBps"], row["algorithm"]
        wrong |= abs(found / figure - 1) > most or taken != algorithm
        print(f"{platform:12} {ranks:5} {kind:11} {figure:9.1f} {found:9.1f}  {taken} (at most {most:.0%} off, "
              f"{algorithm})")
    return wrong


def other_collectives(folder):
    """Fitted to the all-reduce only."""
    wrong, every = False, []
    print(f"fitted to the all-reduce alone, from 1 MiB on\n{'machine':31} {'collective':15} {'rows':>5} {'error':>7} "
          f"{'worst row':>10}")
    for machine in MACHINES:
        if len(machine.tables) > 1:
            _, platform = fitted(folder, machine, machine.tables[:1])
            for name in machine.tables[1:]:
                found = from_size(errors(platform, name), 2**20)
                worst = max(found, key=abs)
                wrong |= abs(worst) > OTHERS + MARGIN
                every += found
                print(f"{machine.name:31} {read(name)[0]:15} {len(found):5} {mean(found):7.1%} {worst:+10.1%} (at most "
                      f"{OTHERS:.1%} + {MARGIN:.1%})")
    print(f"bias {bias(every):+.2%} ({OTHERS_BIAS:+.2%} +- {MARGIN:.1%})")
    return wrong or abs(bias(every) - OTHERS_BIAS) > MARGIN


with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(2) as pool:
    tables = [table for tables in pool.map(lambda machine: measure(pathlib.Path(directory), machine), MACHINES)
              for table in tables]
    sys.exit(all_tables(tables) | other_collectives(pathlib.Path(directory)) | published_figures() |
             over_nodes(tables) | more_nodes(pathlib.Path(directory)))
