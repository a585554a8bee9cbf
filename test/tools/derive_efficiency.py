#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""derive_efficiency.py: the installed tables that are derived are what tools/derive-efficiency makes of the fitted
ones, and it scales as it says."""
import csv
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLES = ROOT / "workloads" / "efficiency"
KERNELS = "-transformer-engine"
FASTER = 2.03 / 1.44  # NVFP4 with its casts against MXFP8 with them
# Peaks in bf16, best measured products in 16 and 8 bits, and bandwidths of both GPUs; what is
# reached in 4 bits of what is in 16: doc/transformer.md.
DERIVED = {"A100-SXM4-40GB": ("A100-SXM4-80GB", 1, 1, 1, 1555 / 2039),
           "A100-PCIE-80GB": ("A100-SXM4-80GB", 1, 253 / 271, 1, 1935 / 2039),
           "H200-SXM5-141GB": ("H100-SXM5-80GB", 1, 1, 1, 4800 / 3350),
           "GH200-96GB": ("H100-SXM5-80GB", 1, 828.6 / 794.5, 1, 4000 / 3350),
           "B200-180GB": ("H100-SXM5-80GB", 2250 / 989, 0.776 / 0.803, 1, 8000 / 3350, FASTER / 2),
           "GB200-186GB": ("H100-SXM5-80GB", 2500 / 989, 0.729 / 0.803, 1, 8000 / 3350, FASTER / 2),
           "GB300-279GB": ("H100-SXM5-80GB", 2500 / 989, 0.786 / 0.803, 1, 8000 / 3350, FASTER / 3, 0.55),
           "MI250X-GCD": ("A100-SXM4-80GB", 191.5 / 312, 0.545, 1, 1600 / 2039),
           "MI300X": ("H100-SXM5-80GB", 1.322, 0.511 / 0.803, 1, 5300 / 3350),
           "MI325X": ("H100-SXM5-80GB", 1.322, 0.601 / 0.803, 1, 6000 / 3350),
           "H200-SXM5-141GB" + KERNELS: ("H100-SXM5-80GB" + KERNELS, 1, 1, 1, 4800 / 3350),
           "GH200-96GB" + KERNELS: ("H100-SXM5-80GB" + KERNELS, 1, 828.6 / 794.5, 1535 / 1402.6, 4000 / 3350)}
# Constants of published trainings, which test/validation/accelerators.py holds, and two published products.
STATED = {"V100-SXM2-16GB", "V100-SXM2-32GB", "V100-SXM3-32GB", "TPU-v3", "TPU-v4", "IPU-Bow", "IPU-GC200", "Gaudi2",
          "Ascend-910", "P100-SXM2-16GB"}
faults = []


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(line for line in file if line[0] != "#"))


def check(name, folder, source, peak, ceiling, ceiling_fp8, bandwidth, fp4=None, flash=None):
    made = folder / f"{name}.csv"
    subprocess.run([ROOT / "tools" / "derive-efficiency", TABLES / f"{source}.csv", "-o", made, "--peak", str(peak),
                    "--ceiling", str(ceiling), "--ceiling-fp8", str(ceiling_fp8), "--bandwidth", str(bandwidth),
                    *(["--fp4", str(fp4)] if fp4 else []), *(["--flash", str(flash)] if flash else [])], check=True)
    if rows(made) != rows(TABLES / f"{name}.csv"):
        faults.append(f"{name}: the installed table is another; run tools/derive-efficiency again")
    sixteen = [float(row["value"]) for row in rows(made) if row["what"] == "matrix"]
    four = [float(row["value"]) for row in rows(made) if row["what"] == "matrix_fp4"]
    if len(four) != (len(sixteen) if fp4 else 0) or any(abs(b / (a * fp4) - 1) > 2e-4 for a, b in zip(sixteen, four)):
        faults.append(f"{name}: rows of 4 bits {four}")
    for old, new in zip(rows(TABLES / f"{source}.csv"), rows(made)):
        if old["what"] == "flash" and flash:
            old = {**old, "value": str(flash)}
        scale = {"matrix": (peak, ceiling), "matrix_fp8": (peak, ceiling_fp8),
                 "memory": (bandwidth, 1)}.get(old["what"], (1, 1))
        for key, factor in (("size", scale[0]), ("value", scale[1])):
            if old[key] and abs(float(new[key]) -
                                min(factor * float(old[key]), 1 if key == "value" else 1e30)) > 2e-4 * factor * float(
                old[key]):
                faults.append(f"{name}: {old} became {new}")


with tempfile.TemporaryDirectory() as scratch:
    for gpu, arguments in DERIVED.items():
        check(gpu, pathlib.Path(scratch), *arguments)
OTHERS = (".kernels", ".kernel-models", ".lookups")
known = {path.stem for path in TABLES.glob("*.csv") if not path.stem.endswith(OTHERS)}
if known != set(DERIVED) | {source for source, *_ in DERIVED.values()} | STATED:
    faults.append(f"tables {sorted(known)} are not those that are fitted, derived and stated")
print("\n".join(faults) or "all hold")
sys.exit(bool(faults))
