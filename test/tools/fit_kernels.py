#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit_kernels.py STAGESIM: tools/fit-kernels finds the constants that kernels were made with, keeps half of them aside,
writes the same tables again, and the program reads these and gives the tool's times."""
import csv
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

sys.dont_write_bytecode = True
PATH = tool.ROOT / "tools" / "fit-kernels"
spec = importlib.util.spec_from_loader("fit", importlib.machinery.SourceFileLoader("fit", str(PATH)))
fit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fit)
STAGESIM = tool.binary_argument()
check = tool.Checker()
KEY = "B200-180GB", "matmul", "bf16", "forward", "made"
MADE = (2.0, 0.6, 0.5, 0)  # launch, compute, memory


def make(folder):
    """Products of a model with those constants, each measured twice, once too slow and once too fast."""
    lines = ["# Made for a test.", "# source made: nobody measured these", "gpu,dtype,m,n,k,time_us,source"]
    for m in (512, 1024, 2048, 4096, 8192):
        for n in (512, 1536, 4096, 8192):
            for k in (64, 1024, 4096):
                time = 1e6 * fit.model(MADE, KEY, (1, m, n, k))
                lines += [f"B200-180GB,bf16,{m},{n},{k},{time * factor},made" for factor in (1.25, 0.8)]
    (folder / "gemm-made.csv").write_text("\n".join(lines) + "\n")


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def run(folder, name):
    tables, rest = folder / name, folder / f"{name}-rest"
    subprocess.run([PATH, folder, "-o", tables, "--rest", rest], check=True)
    return tables, rest


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    make(folder)
    tables, rest = run(folder, "one")
    given, aside = rows(tables / "B200-180GB.kernels.csv"), rows(rest / "B200-180GB.csv")
    shapes = [{(row["m"], row["n"], row["k"]) for row in part} for part in (given, aside)]
    check.that(not shapes[0] & shapes[1] and len(shapes[0] | shapes[1]) == 60 and min(map(len, shapes)) > 15,
               f"{len(shapes[0])} given, {len(shapes[1])} aside")
    model = rows(tables / "B200-180GB.kernel-models.csv")[0]
    for column, value in zip(("launch_us", "compute_share", "memory_share"), MADE):
        check.near(float(model[column]), value, column, 0.03)
    check.that("nobody measured these" in (tables / "B200-180GB.kernels.csv").read_text(), "the source is not named")
    os.environ["STAGESIM_EFFICIENCY"] = str(tables)
    for row in aside[:5]:
        said = json.loads(tool.run(STAGESIM, "kernel", "matmul", "--gpu", "B200-180GB", "--format", "json",
                                   *(word for name in "mnk" for word in (f"-{name}", row[name]))).stdout)
        check.near(said["seconds"] / (1e-6 * float(row["time_us"])), 1, f"{row}", 0.03)
        constants = [float(model[c]) for c in ("launch_us", "compute_share", "memory_share", "extra")]
        check.near(said["model_seconds"] / fit.model(constants, KEY, [1] + [int(row[name]) for name in "mnk"]), 1,
                   "the tool's model is another", 1e-9)
    again = run(folder, "two")
    for one, two in zip((tables, rest), again):
        for path in one.iterdir():
            check.that(path.read_bytes() == (two / path.name).read_bytes(), f"{path.name} differs")
sys.exit(check.done())
