#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accelerators.py STAGESIM [--fit | --update]: published training throughputs of accelerators beside predictions.

Every row of accelerators.csv is a job. A device without a table of measured kernels has one of two numbers, each from
one row, the one that the column `fits` names: the share of the peak that convolutions reach (`convolution`, ResNet-50)
and that matrix products reach (`matrix`, BERT-large). Nothing else is fitted; all other rows are predictions, and so is
every row of A100 and H100, whose tables come from GPT and Llama (doc/transformer.md). --fit writes the tables of
workloads/efficiency. --update writes the tables of doc/accelerators.md, which the test compares.

Rows whose sequences were packed or freed of padding are computed as full ones: `fill` is the share of real tokens, so
that as many tokens are computed as the text has. That of 512 is about a half (Krell et al., arXiv 2107.02027), that of
128 three quarters, from Graphcore's packed and unpacked rows.

Fails where errors leave the bands of FOUND, or a ratio of two rows one of RATIOS: what was found before."""
import collections
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES, PAGE = ROOT / "workloads" / "efficiency", ROOT / "doc" / "accelerators.md"
STAGESIM = os.path.abspath(sys.argv[1])

# The platform of so many devices, and the MLPerf submissions' way of training where it is not the default.
PLATFORMS = {
    "V100-SXM2-16GB": "{preset: dgx-1v, nodes: 1, gpus_per_node: %d}",
    "A100-SXM4-40GB": "{preset: aws-p4d, nodes: 1, gpus_per_node: %d}",
    "A100-SXM4-80GB": "{preset: dgx-a100, nodes: 1, gpus_per_node: %d}",
    "H100-SXM5-80GB": "{preset: dgx-h100, nodes: 1, gpus_per_node: %d}",
    "Gaudi2": "{preset: gaudi2, nodes: 1, gpus_per_node: %d}",
}
SHARES = {"memory": 0.89}  # of the bandwidth: the ceiling of the other tables
# Compilers that make normalisation part of the convolution: the TPUs' rows would need more than their memory's
# bandwidth otherwise, and IPUs have no memory beside the chip.
FUSED = ("TPU-v3", "TPU-v4", "IPU-Bow")
# Chips of one design, of which a share of the peak says the same; a Bow is a GC200 at a higher clock.
ALIKE = {"V100-SXM2-16GB": ("V100-SXM2-32GB", "V100-SXM3-32GB"), "IPU-Bow": ("IPU-GC200",)}
# The mean error, the mean with its sign, and the worst, of ResNet-50 and BERT-large, when they were last looked at.
FOUND = {
    ("resnet-50", "fitted"): (0.0, 0.0, 0.0), ("resnet-50", "predicted"): (0.097, 0.055, 0.269),
    ("resnet-50", "PyTorch"): (0.605, 0.605, 1.041), ("bert-large", "fitted"): (0.0, 0.0, 0.0),
    ("bert-large", "predicted"): (0.113, 0.043, -0.286), ("bert-large", "PyTorch"): (0.232, -0.167, -0.403)}
# Predicted over measured ratios, less one. The bar of 10 % is missed by 256 IPUs, see doc/accelerators.md.
RATIOS = {
    ("IPU-Bow", 16, 64, "MLPerf"): 0.070, ("IPU-Bow", 16, 256, "MLPerf"): 0.269,
    ("IPU-Bow", 16, 64, "vendor"): -0.030, ("IPU-Bow", 16, 256, "vendor"): 0.279,
    ("TPU-v4", 8, 64, "MLPerf"): 0.054, ("Ascend-910", 1, 8, "vendor"): 0.011,
    ("Ascend-910", 1, 16, "vendor"): 0.026, ("A100-SXM4-80GB", 1, 8, "PyTorch"): 0.185,
    ("V100-SXM2-16GB", 1, 8, "PyTorch"): 0.151}
MARGIN = 0.01


def platform(device, count):
    if device == "IPU-Bow":
        return f"{{preset: bow-pod, nodes: {max(count // 64, 1)}, gpus_per_node: {min(count, 64)}}}"
    if device.startswith("TPU"):
        return f"{{preset: {device.lower()}, nodes: {count // 4}}}"
    if device == "Ascend-910":
        return f"{{preset: ascend-910, nodes: {max(count // 8, 1)}, gpus_per_node: {min(count, 8)}}}"
    if device.startswith("V100") and count == 1:
        return "{preset: dgx-2, nodes: 1, gpus_per_node: 1}"  # the same chip; a DGX-1 comes whole
    return PLATFORMS[device] % count


def resnet(row):
    """IPUs work in lockstep: they compute or exchange, never both, and their library's collectives are rings."""
    ipu = row["device"] == "IPU-Bow"
    return f"""workload: layers
model: resnet-50
parallel: {{data: {row['count']}}}
batch: {{global: {row['batch']}, micro: {row['micro']}}}
layers: {{checkpoints: {row['cuts'] or 0}}}
communication: {{overlap: {str(not ipu).lower()}{", all_reduce: ring" if ipu else ""}}}
"""


def bert(row):
    """Four IPUs hold a replica, as in Graphcore's submissions; others hold the whole model."""
    ipu, count = row["device"] == "IPU-Bow", int(row["count"])
    stages = 4 if ipu else 1
    fused = row["device"] in FUSED or (row["software"] == "MLPerf" and row["device"][:2] in ("A1", "H1", "Ga"))
    return f"""workload: transformer
model: bert-large
parallel: {{data: {count // stages}, pipeline: {stages}}}
order: [pipeline, data]
batch: {{global: {round(int(row['batch']) * float(row['fill']))}, micro: {row['micro']}}}
transformer: {{attention: {"flash" if fused else "standard"}, gradients: same, balance: auto}}
schedule: {{name: 1f1b, recompute: {"full" if ipu else "none"}}}
communication: {{overlap: {str(not ipu).lower()}{", all_reduce: ring" if ipu else ""}}}
"""


def scenario(row, table):
    text = resnet(row) if row["model"] == "resnet-50" else bert(row)
    tables = f", table: {table}" if table else ""
    if row["device"].startswith("H100") and row["precision"] == "fp8":
        tables = ", kernels: transformer-engine"
    return (f"platform: {platform(row['device'], int(row['count']))}\n{text}"
            f"compute: {{precision: {row['precision']}{tables}}}\nengine: analytic\n")


class Model:
    """Throughputs of rows; with the installed tables, or those of a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def summary(self, row, table):
        (self.folder / "row.yaml").write_text(scenario(row, table))
        command = [STAGESIM, "run", "row.yaml", "-o", "out", "--quiet"]
        if row["model"] != "resnet-50":
            command += ["--set", f"model.sequence={row['sequence']}"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
        if done.returncode:
            raise SystemExit(f"{row}\n{done.stderr}")
        return json.loads((self.folder / "out" / "summary.json").read_text())

    def throughput(self, row):
        name = "V100-SXM2-16GB" if row["device"].startswith("V100") else None
        summary = self.summary(row, TABLES / f"{name}.csv" if name else None)
        return summary["throughput"]["samples_per_s"] / float(row["fill"]), summary["memory"]

    def fit(self, row, shares):
        """The share of the row's class at which the throughput is the measured one."""
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            path = self.folder / "table.csv"
            path.write_text(table_text(row["device"], {**shares, row["fits"]: middle}, []))
            found = self.summary(row, path)["throughput"]["samples_per_s"] / float(row["fill"])
            low, high = (middle, high) if found < float(row["throughput"]) else (low, middle)
        if high > 0.999:
            raise SystemExit(f"{row['device']}, {row['model']}: no share of the peak gives {row['throughput']}")
        return (low + high) / 2


def table_text(device, shares, comments):
    lines = [f"# {comment}" for comment in comments] + ["what,size,value"]
    for what in ("matrix", "convolution", "memory"):
        lines.append(f"{what},1e9,{shares.get(what, shares.get('convolution', 0.5)):.4f}")
    lines += [f"flash,,{shares.get('matrix', shares.get('convolution', 0.5)):.4f}"]
    return "\n".join(lines + (["normalisation,,0"] if device in FUSED else [])) + "\n"


def read_rows():
    lines = (ROOT / "test" / "validation" / "accelerators.csv").read_text().splitlines()
    return list(csv.DictReader(io.StringIO("\n".join(line for line in lines if not line.startswith("#")))))


def write_tables(model, rows):
    for device in dict.fromkeys(row["device"] for row in rows if row["fits"]):
        shares, comments = dict(SHARES), []
        for row in (row for row in rows if row["device"] == device and row["fits"]):
            shares[row["fits"]] = model.fit(row, shares)
            comments.append(f"{row['fits']}: derived from one row, {row['model']} on {row['count']}: "
                            f"{row['throughput']} {row['unit']} ({row['source']})")
        if "matrix" not in shares:
            comments.append("matrix, flash: nothing published was found; as convolution")
        comments.append("memory: the ceiling of the other tables, not measured")
        if device in FUSED:
            comments.append("normalisation: part of the convolutions, see doc/accelerators.md")
        for name in [device, *ALIKE.get(device, ())]:
            head = "Written by test/validation/accelerators.py --fit" + ("" if name == device else f", as {device}")
            (TABLES / f"{name}.csv").write_text(table_text(device, shares, [head, *comments]))


def error(row):
    return row["predicted"] / float(row["throughput"]) - 1


def percent(value):
    return f"{round(100 * value, 1) + 0:+.1f} %"  # no -0.0


def figures(rows):
    errors = [error(row) for row in rows]
    return sum(map(abs, errors)) / len(errors), sum(errors) / len(errors), max(errors, key=abs)


def ratio(rows, device, small, large, software):
    """How many times as fast as `small` devices `large` ones are: measured, predicted."""
    chosen = [next(row for row in rows if (row["model"], row["device"], int(row["count"]), row["software"]) ==
                   ("resnet-50", device, count, software)) for count in (small, large)]
    return [float(chosen[1]["throughput"]) / float(chosen[0]["throughput"]),
            chosen[1]["predicted"] / chosen[0]["predicted"]]


SCALING = (("IPU-Bow", 16, 64, "MLPerf"), ("IPU-Bow", 16, 256, "MLPerf"), ("IPU-Bow", 16, 64, "vendor"),
           ("IPU-Bow", 16, 256, "vendor"), ("TPU-v4", 8, 64, "MLPerf"), ("Ascend-910", 1, 8, "vendor"),
           ("Ascend-910", 1, 16, "vendor"), ("A100-SXM4-80GB", 1, 8, "PyTorch"), ("V100-SXM2-16GB", 1, 8, "PyTorch"))


def groups_of(rows):
    """The kinds of rows whose errors are counted apart."""
    groups = collections.OrderedDict()
    for model in ("resnet-50", "bert-large"):
        for row in rows:
            if row["model"] == model:
                kind = "fitted" if row["fits"] else "PyTorch" if row["software"] == "PyTorch" else "predicted"
                groups.setdefault((model, kind), []).append(row)
    return groups


def page_row(row, kind):
    full = float(row["fill"]) == 1
    name = row["model"] + (f", {row['sequence']} tokens" if row["sequence"] else "")
    devices = f"{row['count']} {row['device']}"
    devices += f", {row['precision']}" if row["precision"] in ("tf32", "fp8") else ""
    published = f"{float(row['throughput']):,.0f} {row['unit']}" + ("" if full else f", {row['fill']} of the tokens")
    note = ("**fitted**" if kind == "fitted" else kind) + (", vendor" if row["software"] == "vendor" else "")
    return (f"| {name} | {devices} | {row['batch']} | {published} | {row['predicted']:,.0f} | {percent(error(row))} | "
            f"{note} |")


def page_tables(rows):
    lines = ["| network | devices | batch | published | predicted | error | |", "|---|---|---|---|---|---|---|"]
    lines += [page_row(row, kind) for (_, kind), members in groups_of(rows).items() for row in members]
    means = ["| rows | number | mean error | bias | worst |", "|---|---|---|---|---|"]
    for (model, kind), members in groups_of(rows).items():
        mean, bias, worst = figures(members)
        means.append(f"| {model}, {kind} | {len(members)} | {100 * mean:.1f} % | {percent(bias)} | {percent(worst)} |")
    ratios = ["| ResNet-50 | devices | published | predicted | error |", "|---|---|---|---|---|"]
    for device, small, large, software in SCALING:
        measured, predicted = ratio(rows, device, small, large, software)
        ratios.append(f"| {device}, {software} | {small} -> {large} | {measured:.2f} | {predicted:.2f} | "
                      f"{percent(predicted / measured - 1)} |")
    return {"rows": "\n".join(lines), "means": "\n".join(means), "scaling": "\n".join(ratios)}


def compare_page(rows, update):
    text, wrong = PAGE.read_text(), False
    for name, table in page_tables(rows).items():
        begin, end = f"<!-- {name} -->", "<!-- end -->"
        before, _, rest = text.partition(begin)
        old, _, behind = rest.partition(end)
        wrong |= old != f"\n{table}\n"
        text = f"{before}{begin}\n{table}\n{end}{behind}"
    if update:
        PAGE.write_text(text)
    elif wrong:
        print("doc/accelerators.md does not have these figures: run accelerators.py STAGESIM --update")
    return wrong and not update


def judge(rows):
    wrong = False
    for key, members in groups_of(rows).items():
        found = figures(members)
        print(f"{' '.join(key):24} {len(members):2} rows: mean {100 * found[0]:5.1f} %, bias {100 * found[1]:+6.1f} %, "
              f"worst {100 * found[2]:+6.1f} %")
        before = FOUND.get(key)
        if before is None or any(abs(a - b) > MARGIN for a, b in zip(found, before)):
            print(f"    before: {before}")
            wrong = True
    for case in SCALING:
        measured, predicted = ratio(rows, *case)
        off = predicted / measured - 1
        print(f"{case[0]:16} {case[1]:3} -> {case[2]:3} {case[3]:8} {measured:6.2f} {predicted:6.2f} {percent(off)}")
        if abs(off - RATIOS.get(case, 9)) > MARGIN:
            print(f"    before: {RATIOS.get(case)}")
            wrong = True
    return wrong


def main():
    rows = read_rows()
    with tempfile.TemporaryDirectory() as folder:
        model = Model(folder)
        if "--fit" in sys.argv:
            write_tables(model, rows)
        for row in rows:
            row["predicted"], memory = model.throughput(row)
            fits = "" if memory["fits"] else f"  {memory['peak_bytes'] / 2**30:.2f} GiB do not fit"
            print(f"{row['model']:10} {row['sequence']:>3} {row['count']:>3} {row['device']:14} {row['precision']} "
                  f"{row['software']:7} {row['fits'] or '-':11} {float(row['throughput']):10.0f} "
                  f"{row['predicted']:10.0f} {percent(error(row))}{fits}")
    wrong = judge(rows)
    wrong |= compare_page(rows, "--update" in sys.argv)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
