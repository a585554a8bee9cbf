#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""residuals.py STAGESIM [--update]: how far predictions were from published jobs that nothing was fitted to.

Prints analysis/band/residuals.csv, from which every prediction's band is made: a row for each job, with the measured
time over the predicted one. Without --update it says which rows the file has otherwise by more than 0.5 %, and fails
where there are any. Rows that a table or a profile was fitted to are left out."""
import csv
import io
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import calibration
import jobs
import tool
import transformer

FILE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "analysis", "band", "residuals.csv")
COLUMNS = "set", "kind", "framework", "gpu", "nodes", "precision", "calibrated", "ratio"
found = []


def note(name, kind, framework, gpu, gpus, precision, ratio, calibrated="no", each=8):
    found.append({"set": name, "kind": kind, "framework": framework, "gpu": gpu.split("-")[0],
                  "nodes": "one" if int(gpus) <= each else "several", "precision": precision.lower()[:4],
                  "calibrated": calibrated, "ratio": f"{ratio:.4f}"})


# ---- published jobs by framework ----


def precision_of(row):
    return "bf16" if row["precision"] == "BF16" else "fp8"


def of_jobs(folder):
    frameworks = {"simumax": "megatron", "torchtitan": "torchtitan", "bridge": "nemo", "nemo": "nemo"}
    for name, (file, settings) in jobs.SETS.items():
        for row in jobs.table(file):
            model = jobs.shape(row["model"])
            with_what = settings(row, model, folder) if model else None
            if not with_what or with_what[0].endswith(", fitted"):
                continue
            summary, fault = jobs.predict(folder, jobs.scenario(row, model, **with_what[1]))
            if not summary:
                sys.exit(fault)
            measured = float(row["tokens_per_s_gpu"]) * int(row["gpus"])
            note(name, jobs.kind(model), frameworks[name], row["gpu"], row["gpus"], precision_of(row),
                 summary["throughput"]["tokens_per_s"] / measured, each=72 if row["gpu"] == "GB200" else 8)


def of_calibrated(folder):
    """What one calibrating run leaves of the others."""
    for name in jobs.SETS:
        for (gpu, kind), rows in sorted(calibration.classes(name, folder).items()):
            if len(rows) > 1:
                for error in calibration.predict(rows, folder)[1]:
                    note(name, kind.split(",")[0], "", gpu, 1, "", 1 + error, calibrated="yes")


# ---- papers ----


class Recorded(transformer.Table):
    """transformer.py's tables; `features`: (framework, gpu, precision, kind) of the one that is made."""
    features = None

    def row(self, label, published, predicted, counts=True, gpus=None, seconds=False):
        super().row(label, published, predicted, counts, gpus, seconds)
        if counts and gpus and Recorded.features:
            framework, gpu, precision, kind, name = Recorded.features
            note(name, kind, framework, gpu, gpus, precision, published / predicted if seconds else
                 predicted / published)


def of_papers(folder):
    transformer.Table = Recorded
    for paper, features in {"korthikanti": ("megatron", "A100", "fp16", "dense"),
                            "megatron": ("megatron", "A100", "fp16", "dense"),
                            "zero_bubble": ("megatron", "A100", "bf16", "dense"),
                            "llama": ("", "H100", "bf16", "dense"), "llama_long": ("", "H100", "bf16", "dense"),
                            "deepseek": ("", "H100", "fp8", "MoE")}.items():
        Recorded.features = features + (paper,)
        getattr(transformer, paper)(folder)
    Recorded.features = None


def of_tables(folder):
    """What tools/fit-efficiency has rows of: each error is the logarithm of predicted over measured seconds."""
    fit = transformer.fitting()
    sets = [("mpt", ["mpt.csv"], "mosaicml", gpu, gpu, share) for gpu, share in transformer.TRITON.items()]
    sets += [("dgxc", ["dgxc.csv"], "nemo", None, "H100-SXM5-80GB-transformer-engine", None),
             ("vtrain", ["vtrain/multi_node.csv", "vtrain/single_node.csv"], "deepspeed", None, "A100-SXM4-80GB", None)]
    for name, files, framework, gpu, table, share in sets:
        rows = fit.read_rows([os.path.join(HERE, file) for file in files], gpu)
        model = fit.Model(jobs.STAGESIM, rows, folder, 2)
        transformer.use_table(model, table, share)
        fitted = set(fit.fitted_rows(rows, fit.EVERY)) if not (gpu or "").startswith("A100") else set()
        _, errors = fit.report(model, fitted)
        for index, (row, error) in enumerate(zip(rows, errors)):
            if index not in fitted:
                note(name, "dense", framework, table, row["gpus"], row.get("precision") or "fp16", 1 / (1 + error))


def text_of(rows):
    out = io.StringIO()
    out.write("# Published jobs that nothing was fitted to: measured over predicted time. Made by "
              "test/validation/residuals.py --update,\n# which names the sources; calibrated: with a profile that one "
              "other job of the same framework and GPU gave.\n")
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def main():
    quiet, sys.stdout = sys.stdout, io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        parts = of_jobs, of_papers, of_tables, of_calibrated
        asked = parts if "--update" in sys.argv else parts[:len(tool.sampled(parts))]
        for part in asked:
            part(folder)
    sys.stdout = quiet
    text = text_of(found)
    if "--update" in sys.argv:
        os.makedirs(os.path.dirname(FILE), exist_ok=True)
        with open(FILE, "w") as file:
            file.write(text)
        return 0
    with open(FILE) as file:
        known = list(csv.DictReader(line for line in file if not line.startswith("#")))
    moved = [(a, b) for a, b in zip(known, found)
             if any(a[key] != b[key] for key in COLUMNS[:-1]) or abs(float(a["ratio"]) / float(b["ratio"]) - 1) > 0.005]
    for before, now in moved[:8]:
        print(f"{before} is now {now}")
    if asked != parts:
        known = known[:len(found)]
    print(f"{len(found)} rows, {len(moved)} moved{'' if len(known) == len(found) else f', {len(known)} in the file'}")
    return bool(moved) or len(known) != len(found)


if __name__ == "__main__":
    sys.exit(main())
