#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit_efficiency.py STAGESIM: tools/fit-efficiency with iterations that stagesim itself made from a known table: what
is fitted has to predict them, and those that were left out of the fit as well. Rows that are no good are refused with
their place."""
import csv
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "fit-efficiency"
STAGESIM = os.path.abspath(sys.argv[1])
KNOWN = (2e10, 0.35, 4e7, 60e-6, 5e-3, 0.25)  # in the order of NAMES
COLUMNS = "gpu,model,gpus,micro_batch,accumulation,layers,hidden,heads,sequence,recompute,tokens_per_s_gpu"
SHAPES = [(gpus, micro, layers, hidden, recompute) for layers, hidden in ((6, 512), (12, 1536), (8, 4096))
          for gpus, micro, recompute in ((8, 1, "none"), (8, 4, "none"), (8, 16, "full"), (16, 4, "none"))]
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def load():
    spec = importlib.util.spec_from_loader("fit_efficiency",
                                           importlib.machinery.SourceFileLoader("fit_efficiency", str(TOOL)))
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def write_rows(path, speeds):
    lines = [f"H100-SXM5-80GB,m,{gpus},{micro},2,{layers},{hidden},{hidden // 64},1024,{recompute},{speed!r}"
             for (gpus, micro, layers, hidden, recompute), speed in zip(SHAPES, speeds)]
    path.write_text("\n".join(["# made by stagesim", COLUMNS] + lines) + "\n")


def make_rows(tool, path):
    """Rows whose speeds are those that stagesim predicts with the known table."""
    write_rows(path, [1.0] * len(SHAPES))
    rows = tool.read_rows([path])
    with tempfile.TemporaryDirectory() as folder:
        model = tool.Model(STAGESIM, rows, folder, 1, 0.803)
        tool.write_table(model.table, KNOWN, 0.803)
        seconds = model.predict_some(model.paths)
    write_rows(path, [int(row["micro_batch"]) * 2 * 1024 / s for row, s in zip(rows, seconds)])


def fit(*words):
    return subprocess.run([sys.executable, TOOL, STAGESIM, *words, "--gpu", "H100-SXM5-80GB", "--jobs", "1"],
                          capture_output=True, text=True)


def check_fit(folder):
    done = fit(folder / "rows.csv", "-o", folder / "table.csv")
    if done.returncode:
        sys.exit(done.stderr)
    means = [float(line.split("mean ")[1].split(" %")[0]) for line in done.stdout.splitlines() if "mean " in line]
    expect("fitted rows settle" in done.stdout and "F0" in done.stdout, f"what is settled: {done.stdout}")
    expect(len(means) == 2 and max(means) <= 1, f"fitted and predicted rows: {done.stdout}")
    with open(folder / "table.csv") as file:
        rows = [row for row in csv.reader(line for line in file if line[0] != "#")]
    expect(rows[0] == ["what", "size", "value"]
           and {row[0] for row in rows[1:]} == {"matrix", "memory", "flash", "launch", "dispatch", "step"},
           f"the table: {rows}")


def check_refusals(folder):
    good = (folder / "rows.csv").read_text()
    bad = {"absent.csv": (None, "cannot be read"), "empty.csv": ("", "no rows of H100"),
           "columns.csv": ("a,b\n1,2\n", "there is no column gpus"),
           "number.csv": (good.replace(",512,8,", ",-512,8,", 1), "row 1 of H100-SXM5-80GB: hidden is '-512'"),
           "word.csv": (good.replace(",512,8,", ",wide,8,", 1), "hidden is 'wide'"),
           "other.csv": (good.replace("H100-", "V100-"), "no rows of H100"),
           "one.csv": ("\n".join(good.splitlines()[:3]) + "\n", "1 of 1 rows are fitted, 6 numbers from them"),
           "few.csv": ("\n".join(good.splitlines()[:7]) + "\n", "The 3 fitted rows settle")}
    for name, (text, said) in bad.items():
        if text is not None:
            (folder / name).write_text(text)
        done = fit(folder / name, "-o", folder / "none.csv")
        expect(done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr,
               f"{name}: {done.returncode}, {done.stderr}")
    expect(not (folder / "none.csv").exists(), "something was written")


def check_settled(tool):
    """Slopes that are multiples of others say nothing more, and small ones nothing."""
    for slopes, expected in (([[1, 0], [2, 0], [0, 1]], [1, 2]), ([[1e-4, 0], [0, 0]], []), ([[0.5]], [0]),
                             ([[1, 1], [1, 0.9999], [0, 0.5]], [0, 2]), ([[1, 0, 0], [0, 1, 0], [1, 1, 0]], [0, 2])):
        found = tool.settled(slopes)
        expect(len(found) == len(expected), f"{slopes}: {found}")


def check_shipped(tool):
    """The rows that come with the source are complete, as the tool reads them."""
    rows = pathlib.Path(__file__).resolve().parent.parent / "validation"
    for name, gpu, count in (("dgxc.csv", "H100-SXM5-80GB", 70), ("mpt.csv", "H100-SXM5-80GB", 70),
                             ("mpt.csv", "A100-SXM4-80GB", 61)):
        found = len(tool.rows_to_fit([str(rows / name)], gpu))
        if found != count:
            faults.append(f"{name}: {found} rows of {gpu}, not {count}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_shipped(load())
        check_settled(load())
        make_rows(load(), folder / "rows.csv")
        check_fit(folder)
        check_refusals(folder)
    print("\n".join(faults) or "all hold")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
