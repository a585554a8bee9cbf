#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memory.py STAGESIM [--update]: how far predicted memory was from what published jobs measured.

Prints analysis/band/memory.csv, from which every prediction of memory has its band: a row for each job, with the
measured bytes of the fullest GPU over the predicted ones, both without what lies beside PyTorch's allocator. Without
--update it says which rows the file has otherwise by more than 0.5 %, and fails where there are any."""
import csv
import io
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import imported
import jobs
import tool

FILE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "analysis", "band", "memory.csv")
COLUMNS = "set", "kind", "framework", "gpu", "nodes", "precision", "counted", "ratio"
GIB = 2 ** 30
found = []


def note(name, kind, framework, gpu, gpus, precision, counted, ratio):
    """counted: "allocated" to tensors, "reserved" by PyTorch's allocator, or "shown" by nvidia-smi."""
    found.append({"set": name, "kind": kind, "framework": framework, "gpu": gpu.split("-")[0],
                  "nodes": "one" if int(gpus) <= 8 else "several", "precision": precision.lower(),
                  "counted": counted, "ratio": f"{ratio:.4f}"})


def of_jobs(folder, file, settings, framework, counted):
    for row in jobs.table(file):
        model = jobs.shape(row["model"])
        with_what = settings(row, model, folder)
        if not row["memory_gib"] or not with_what:
            continue
        keywords = with_what[1]
        if row["gpu"] not in jobs.PRESETS:
            keywords["platform"] = f"{{preset: dgx-h200, nodes: {int(row['gpus']) // 8}}}"
            jobs.PRESETS[row["gpu"]] = "dgx-h200"
        summary, fault = jobs.predict(folder, jobs.scenario(row, model, **keywords))
        if not summary:
            sys.exit(fault)
        note(file.split("-")[0], jobs.kind(model), framework, row["gpu"], row["gpus"], row["precision"], counted,
             float(row["memory_gib"]) * GIB / summary["memory"]["peak_bytes"])


def of_simumax(folder):
    of_jobs(folder, "simumax-b200.csv", jobs.simumax, "megatron", "allocated")


def of_torchtitan(folder):
    of_jobs(folder, "torchtitan-memory.csv", jobs.torchtitan, "torchtitan", "reserved")


def of_bigscience(folder):
    """nvidia-smi also shows what lies beside the allocator, which the profile says."""
    for row, _, summary in imported.bigscience(folder):
        if not row["memory_gb"]:
            continue
        beside = summary["memory"]["beside_bytes"]
        note("bigscience", "dense", "deepspeed", "A100", 384, row["precision"], "shown",
             (float(row["memory_gb"]) * 1e9 - beside) / (summary["memory"]["peak_bytes"] - beside))


def of_lumi(folder):
    for row, _, summary in imported.lumi(folder):
        note("lumi", "dense", "deepspeed", "MI250X", int(row["nodes"]) * 8, "bf16", "allocated",
             float(row["memory_gb"]) * 1e9 / summary["memory"]["peak_bytes"])


def text_of(rows):
    out = io.StringIO()
    out.write("# Published jobs: measured over predicted memory of the fullest GPU, without what lies beside PyTorch's "
              "allocator.\n# Made by test/validation/memory.py --update, which names the sources. counted: allocated "
              "to tensors, reserved by the\n# allocator, or shown by nvidia-smi.\n")
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def main():
    parts = of_simumax, of_torchtitan, of_bigscience, of_lumi
    with tempfile.TemporaryDirectory() as folder:
        for part in parts if "--update" in sys.argv else parts[:len(tool.sampled(parts))]:
            part(folder)
    if "--update" in sys.argv:
        with open(FILE, "w", encoding="utf-8") as file:
            file.write(text_of(found))
        return 0
    with open(FILE, encoding="utf-8") as file:
        known = list(csv.DictReader(line for line in file if not line.startswith("#")))
    moved = [(a, b) for a, b in zip(known, found)
             if any(a[key] != b[key] for key in COLUMNS[:-1]) or abs(float(a["ratio"]) / float(b["ratio"]) - 1) > 0.005]
    for before, now in moved[:8]:
        print(f"{before} is now {now}")
    print(f"{len(found)} rows, {len(moved)} moved, {len(known)} in the file")
    whole = len(tool.sampled(parts)) == len(parts)
    return bool(moved) or (len(found) != len(known) if whole else not 0 < len(found) <= len(known))


if __name__ == "__main__":
    sys.exit(main())
