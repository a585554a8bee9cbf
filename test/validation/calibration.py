#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calibration.py STAGESIM: of published jobs (jobs.py), one row of a framework, a GPU and a kind of model calibrates a
profile, and the profile predicts the other rows: errors before and after, by set and kind.

The calibrating row was chosen before anything was fitted: that with the smallest hash. Rows of several precisions share
a profile. Fails where a class leaves its band around MEASURED."""
import collections
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "support")]
import jobs
import tool

MARGINS = 0.005, 0.01  # of the mean upwards, of the bias both ways


def order(row):
    return hashlib.sha256(repr(sorted(row.items())).encode()).hexdigest()


def uncalibrated(keywords):
    """As a user would begin: without the clock that was fitted to these rows."""
    changed = dict(keywords)
    changed["compute"] = re.sub(r", clock: [0-9.]+", "", changed.get("compute", ""))
    return changed


def seconds(folder, path, *options):
    out = os.path.join(folder, "out")
    subprocess.run([jobs.STAGESIM, "run", path, *options, "-o", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(out, "summary.json")) as file:
        return json.load(file)["time"]["iteration_s"]


def classes(name, folder):
    """(gpu, kind of model, releases where their profiles differ): the rows' scenarios with measured seconds, the
    calibrating one first."""
    file, settings = jobs.SETS[name]
    found = collections.defaultdict(list)
    for row in sorted(jobs.table(file), key=order):
        model = jobs.shape(row["model"])
        with_what = settings(row, model, folder) if model else None
        if not with_what:
            continue
        path = os.path.join(folder, f"{order(row)[:16]}.yaml")
        with open(path, "w") as out:
            out.write(jobs.scenario(row, model, **uncalibrated(with_what[1])))
        work = int(row["global_batch"]) * int(row["sequence"])
        epoch = [part for part in with_what[0].split(", ") if "26.06" in part]
        kind = ", ".join([jobs.kind(model), *epoch])
        measured = work / float(row["tokens_per_s_gpu"]) / int(row["gpus"])
        found[row["gpu"], kind].append((path, measured))
    return found


def predict(rows, folder):
    """Errors of the rows but the first, before and after calibrating with the first."""
    profile = os.path.join(folder, "mine.yaml")
    (first, measured), others = rows[0], rows[1:]
    subprocess.run([jobs.STAGESIM, "calibrate", first, "--measured", f"{measured!r}s", "-o", profile, "--quiet"],
                   check=True)
    before = [each / seconds(folder, path) - 1 for path, each in others]
    after = [each / seconds(folder, path, "--set", f"framework={profile}") - 1 for path, each in others]
    return before, after


def sums(errors):
    return sum(map(abs, errors)) / len(errors), sum(errors) / len(errors), max(map(abs, errors))


# Mean and bias after calibration when they were last looked at. A change that moves one has to say why.
MEASURED = {
    ("simumax", "B200-180GB", "MoE"): (0.041, 0.027), ("simumax", "B200-180GB", "dense"): (0.031, 0.016),
    ("torchtitan", "H100-96GB-HBM2e-500W", "dense"): (0.088, -0.084),
    ("bridge", "B200", "MoE, before 26.06"): (0.171, -0.171), ("bridge", "B200", "dense"): (0.018, 0.018),
    ("bridge", "GB200", "MoE, before 26.06"): (0.110, -0.074), ("bridge", "GB200", "MoE, 26.06 and later"):
    (0.042, 0.008), ("bridge", "GB200", "dense"): (0.053, 0.038),
    ("bridge", "GB300", "dense"): (0.052, 0.048), ("bridge", "GB300", "MoE, before 26.06"): (0.103, -0.103),
    ("bridge", "GB300", "MoE, 26.06 and later"): (0.004, -0.004),
    ("bridge", "H100", "MoE, before 26.06"): (0.115, 0.057),
    ("bridge", "H100", "dense"): (0.093, 0.093), ("nemo", "H100", "dense"): (0.015, 0.015),
}
BARS = {"dense": 0.08, "MoE": 0.15}  # of the mean that is aimed at; no row beyond WORST
WORST = 0.35
# Where that is missed, and why: bf16 and fp8 share a profile. The row that calibrates the B200 waits for the network,
# the others for the host. One row of the H100 with experts takes twice as long as predicted (Qwen3 30B of 25.11), and
# its dense rows of two and of one context-parallel ranks are not alike.
MISSED = {("torchtitan", "H100-96GB-HBM2e-500W", "dense"), ("bridge", "H100", "MoE, before 26.06"),
          ("bridge", "B200", "MoE, before 26.06"), ("bridge", "H100", "dense")}


def main():
    wrong = False
    with tempfile.TemporaryDirectory() as folder:
        several = [(name, gpu, kind, rows) for name in jobs.SETS
                   for (gpu, kind), rows in sorted(classes(name, folder).items()) if len(rows) > 1]
        for name, gpu, kind, rows in tool.sampled(several):
            before, after = (sums(errors) for errors in predict(rows, folder))
            known = MEASURED.get((name, gpu, kind))
            outside = not known or after[0] > known[0] + MARGINS[0] or abs(after[1] - known[1]) > MARGINS[1]
            missed = after[0] > BARS[kind.split(",")[0]] or after[2] > WORST
            print(f"{name}, {gpu}, {kind}: 1 row calibrates, {len(rows) - 1} others: mean {before[0]:.1%} before, "
                  f"{after[0]:.1%} after, bias {after[1]:+.1%}, worst {after[2]:.1%}"
                  f"{', aim MISSED' if missed else ''}{f', outside of {known}' if outside else ''}")
            wrong |= outside or missed != ((name, gpu, kind) in MISSED)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
