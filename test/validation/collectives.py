#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured tables of nccl-tests beside stagesim's predictions.

usage: collectives.py STAGESIM FOLDER [PICTURES]

FOLDER holds the tables (doc/accuracy.md names their sources). Each machine's platform is what `stagesim platform
generate` writes for the product; `stagesim platform fit` fits it to the machine's tables and prints the errors, and the
errors are computed here once more with `stagesim collective`. Then it is fitted to the all-reduce alone, and the other
collectives of the machine are predicted. Fails where the errors are larger than the limits below; exit code 77 without
the tables. With PICTURES the charts of doc/accuracy.md are drawn there."""
import math
import pathlib
import subprocess
import sys
import tempfile

STAGESIM, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
PICTURES = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
# name, arguments of `platform generate`, tables, name of a picture
MACHINES = (("8 A100, NVSwitch", "dgx-a100 --nodes 1",
             ("a100x8_nvlink_allreduce", "a100x8_nvlink_reducescatter", "a100x8_nvlink_alltoall"), "a100"),
            ("8 H100, NVSwitch with NVLS", "dgx-h100 --nodes 1", ("h100x8_nvlink_allreduce",), "h100"),
            ("8 H200, NVSwitch with NVLS", "dgx-h200 --nodes 1", ("h200x8_nvlink_allreduce",), None),
            ("8 B200, NVSwitch with NVLS", "dgx-b200 --nodes 1", ("b200x8_nvlink_allreduce",), None),
            ("8 V100, hybrid cube mesh", "dgx-1v --nodes 1", ("v100x8_sxm2_nvlink_allreduce",), None),
            ("12 V100 of a DGX-2", "dgx-2 --nodes 1 --gpus-per-node 12", ("v100x12_dgx2_allreduce",), None),
            ("4 V100, PCI Express", "pcie-a100 --nodes 1 --gpus-per-node 4", ("v100pcie_x4_allreduce",), None),
            ("2 x 8 A100, EFA", "aws-p4d --nodes 2", ("a100x16_2node_p4de_efa_allreduce",), "efa"),
            ("2 x 4 GH200, Slingshot-11", "alps --nodes 2", ("gh200x8_2node_slingshot_allreduce",), "slingshot"),
            ("72 GB200, NVL72", "gb200-nvl72 --nodes 1", ("gb200x72_nvl72_allreduce",), None),)
KINDS = {"allreduce": "all-reduce", "reducescatter": "reduce-scatter", "alltoall": "all-to-all"}
# Of what presets say of networks, as generated: regimes of these machines, with rounded values, and hops that are not
# fitted.
NETWORKS = {"2 x 8 A100, EFA": 0.03, "2 x 4 GH200, Slingshot-11": 0.07}
# What was found when these were last looked at: of the fitted tables the mean of all errors, their mean with sign, and
# the worst table's mean;
# of collectives that were not fitted the worst row and the mean with sign. Each may move by MARGIN, the signed ones
# both ways.
MEAN, BIAS, WORST, OTHERS, OTHERS_BIAS, MARGIN, LARGE = 0.035, -0.0037, 0.067, 0.242, -0.0715, 0.005, 2**20


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
            if size >= 1:
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
    kind, ranks, measured = read(name)
    predicted = predict(platform, kind, ranks, measured)
    return {size: predicted[size] / measured[size] - 1 for size in measured}


def large(found):
    """Of those rows whose time is decided by more than the launch."""
    return [error for size, error in found.items() if size >= LARGE]


def mean(values):
    values = list(map(abs, values))
    return sum(values) / len(values)


def fitted(folder, machine, names, picture=None):
    platform, output = folder / "platform.xml", folder / "fitted.xml"
    call("platform", "generate", *machine[1].split(), "-o", platform)
    call("platform", "fit", *[FOLDER / f"{name}.csv" for name in names], "--platform", platform, "-o", output,
         *(["--picture", picture] if picture else []))
    return platform, output


def all_tables(folder):
    print(f"{'machine':28} {'collective':15} {'ranks':>5} {'rows':>5} {'as generated':>13} {'from 1 MiB':>11} "
          f"{'fitted':>7} {'bias':>7} {'worst row':>10}")
    means, signed, wrong = [], [], False
    for machine in MACHINES:
        picture = PICTURES / f"collectives-{machine[3]}.svg" if PICTURES and machine[3] else None
        before, after = fitted(folder, machine, machine[2], picture)
        for name in machine[2]:
            kind, ranks, rows = read(name)
            found, old = errors(after, name), errors(before, name)
            means.append(mean(found.values()))
            signed.append(sum(found.values()) / len(found))
            worst = max(found.values(), key=abs)
            wrong |= mean(old.values()) > NETWORKS.get(machine[0], math.inf)
            print(f"{machine[0]:28} {kind:15} {ranks:5} {len(rows):5} {mean(old.values()):13.1%} "
                  f"{mean(large(old)):11.1%} {means[-1]:7.1%} " f"{signed[-1]:+7.1%} {worst:+10.1%}")
    bias = sum(signed) / len(signed)
    print(f"mean {mean(means):.1%} (at most {MEAN:.1%} + {MARGIN:.1%}), bias {bias:+.2%} ({BIAS:+.2%} +- "
          f"{MARGIN:.1%}), worst table {max(means):.1%} " f"(at most {WORST:.1%} + {MARGIN:.1%})")
    print("limits as generated: " + ", ".join(f"{name} {limit:.0%}" for name, limit in NETWORKS.items()) + "\n")
    return wrong or mean(means) > MEAN + MARGIN or abs(bias - BIAS) > MARGIN or max(means) > WORST + MARGIN


def other_collectives(folder):
    """Fitted to the all-reduce only."""
    wrong, every = False, []
    print(f"fitted to the all-reduce alone, from 1 MiB on\n{'machine':28} {'collective':15} {'rows':>5} {'error':>7} "
          f"{'worst row':>10}")
    for machine in MACHINES:
        if len(machine[2]) > 1:
            _, platform = fitted(folder, machine, machine[2][:1])
            for name in machine[2][1:]:
                found = large(errors(platform, name))
                worst = max(found, key=abs)
                wrong |= abs(worst) > OTHERS + MARGIN
                every += found
                print(f"{machine[0]:28} {read(name)[0]:15} {len(found):5} {mean(found):7.1%} {worst:+10.1%} (at most "
                      f"{OTHERS:.1%} + {MARGIN:.1%})")
    bias = sum(every) / len(every)
    print(f"bias {bias:+.2%} ({OTHERS_BIAS:+.2%} +- {MARGIN:.1%})")
    return wrong or abs(bias - OTHERS_BIAS) > MARGIN


if not FOLDER.is_dir():
    print("the measured tables are not there")
    sys.exit(77)
with tempfile.TemporaryDirectory() as directory:
    sys.exit(all_tables(pathlib.Path(directory)) | other_collectives(pathlib.Path(directory)))
