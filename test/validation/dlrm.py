#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dlrm.py STAGESIM: published iteration times of DLRM and DLRM-DCNv2 (dlrm-throughput.csv) beside predictions.

Each framework has one number that is fitted to one row: what an operator takes beside its work (compute.launch of its
profile), for HugeCTR, whose CUDA graphs have no such overhead, the share of the peak that its kernels reach. All other
rows are predicted."""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = dict(os.environ, STAGESIM_MODELS=str(ROOT / "workloads/models"),
                   STAGESIM_EFFICIENCY=str(ROOT / "workloads/efficiency"),
                   STAGESIM_FRAMEWORKS=str(ROOT / "frameworks/profiles"))
# Framework, model, precision, GPUs, batch, platform of the row that its number is fitted to.
FITTED = {("distributed-embeddings", "dlrm-mlperf", "tf32", 8, 65536, "dgx-a100"),
          ("dle-tensorflow", "dlrm-terabyte-t3", "tf32", 8, 65536, "dgx-a100"),
          ("dle-pytorch", "dlrm-terabyte-t3", "tf32", 8, 65536, "dgx-a100"),
          ("torchrec", "dlrm-terabyte-t3", "tf32", 8, 65536, "aws-p4d"),
          ("hugectr", "dlrm-mlperf", "fp16", 8, 55296, "dgx-a100")}
HUGECTR_SHARE = 0.295
SMALL = 2000  # rows up to which HugeCTR's tables are copied to all ranks
# MLPerf's submissions use transports of HugeCTR's own over NVLink and InfiniBand, without the start-ups of NCCL that
# platforms have.
OWN_TRANSPORT = [(r'(id="collective_(?:direct_)?(?:low|middle|bulk)_start(?:_network)?" value=)"[^"]*"', r'\1"0us"'),
                 (r'(id="collective_in_network_start(?:_network)?" value=)"[^"]*"', r'\1"0us"'),
                 (r' *<prop id="collective_direct_low_(?:most|rate)(?:_network)?"[^>]*/>\n', ''),
                 (r'(id="collective_bulk_latency_network" value=)"[^"]*"', r'\1"1.111"'),
                 (r'(id="collective_launch" value=)"[^"]*"', r'\1"0us"')]
GROUPS = ["fitted", "relayed", "predicted"]
faults = []


def relayed(row):
    """All 8 GPUs of a DGX-1, not all of which have links to each other: NCCL relays their messages over GPUs between
    them, the platform's routes go over PCI Express."""
    return row["platform"] == "dgx-1v" and int(row["gpus"]) == 8


def tables_of(model):
    text = (ROOT / f"workloads/models/{model}.yaml").read_text()
    return [(name, int(rows)) for name, rows in re.findall(r"name: (\w+), rows: (\d+)", text)]


def model_text(row):
    """DCN v2 of DeepLearningExamples: the tables of DLRM, one lookup each, behind cross layers."""
    if not row["model"].startswith("dcn-"):
        return row["model"], tables_of(row["model"])
    name = "dlrm-terabyte-" + row["model"][4:]
    lines = (ROOT / f"workloads/models/{name}.yaml").read_text().splitlines()
    lines = [line for line in lines if not re.match("(parameters|multiply_adds|interaction):", line)]
    head = ["interaction: cross", "cross_layers: 3", "cross_rank: 512", "parameters: 16044545"]
    return "\n".join(["", *("  " + line for line in head + lines)]), tables_of(name)


def platform(folder, row, own):
    count = {"dgx-1v": 8, "dgx-2": 16}.get(row["platform"], 8)
    nodes = -(-int(row["gpus"]) // count)
    if not own:
        return f"{row['platform']}:{nodes}", min(count, int(row["gpus"]))
    file = folder / f"{row['platform']}-{nodes}.xml"
    file.unlink(missing_ok=True)  # it was changed since stagesim wrote it
    subprocess.run([STAGESIM, "platform", "generate", row["platform"], "--nodes", str(nodes), "-o", file], check=True,
                   capture_output=True, env=ENVIRONMENT)
    text = file.read_text()
    for pattern, replacement in OWN_TRANSPORT:
        text = re.sub(pattern, replacement, text)
    file.write_text(text)
    return file.name, min(count, int(row["gpus"]))


def sharding(row, tables, node):
    """Rules, and keys beside them: HugeCTR spreads rows over all ranks, distributed-embeddings slices tables of more
    than 10 billion numbers by columns (column_slice_threshold)."""
    if row["framework"] == "hugectr":
        small = [f"{{table: {name}, split: replicated}}" for name, rows in tables if rows < SMALL]
        return ["{table: '*', split: row}"] + small, f"  node: {node}\n"
    if int(row["gpus"]) > 1:
        return [f"{{table: {name}, split: column}}" for name, rows in tables if rows * 128 > 10e9], ""
    return [], ""


def predict(folder, row, own=True):
    """Milliseconds."""
    own = own and row["framework"] == "hugectr"
    model, tables = model_text(row)
    where, node = platform(folder, row, own)
    rules, keys = sharding(row, tables, node)
    optimizer = "adam" if row["model"].startswith("dcn-") else "adagrad" if "dcnv2" in row["model"] else "sgd"
    compute = f"precision: {row['precision']}"
    if row["framework"] == "hugectr":
        compute += f", efficiency: {HUGECTR_SHARE}"
    elif row["platform"].startswith("dgx-1v") or row["platform"] == "dgx-2":
        compute += f", table: {ROOT}/workloads/efficiency/A100-SXM4-80GB.csv"  # by size; the V100's is one number
    (folder / "job.yaml").write_text(
        f"platform: {where}\nworkload: dlrm\nmodel: {model}\nframework: {row['framework']}\n"
        f"parallel: {{data: {row['gpus']}}}\nbatch: {{global: {row['batch']}, micro_batches: 1}}\n"
        f"compute: {{{compute}}}\ndlrm:\n  optimizer: {optimizer}\n{keys}" +
        ("  sharding:\n" + "".join(f"  - {rule}\n" for rule in rules) if rules else ""))
    done = subprocess.run([STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet"], capture_output=True,
                          text=True, timeout=100, env=ENVIRONMENT)
    if done.returncode:
        sys.exit(f"{row}\n{done.stderr}")
    return 1e3 * json.loads((folder / "out" / "summary.json").read_text())["time"]["iteration_s"]


def key(row):
    return row["framework"], row["model"], row["precision"], int(row["gpus"]), int(row["batch"]), row["platform"]


def check(good, what):
    print(("holds: " if good else "FAILS: ") + what)
    if not good:
        faults.append(what)


def statistics(errors):
    mean = sum(abs(error) for error in errors) / len(errors)
    return f"mean {100 * mean:.1f} %, bias {100 * sum(errors) / len(errors):+.1f} %, " \
        f"worst {100 * max(errors, key=abs):+.1f} %, {len(errors)} rows", mean, sum(errors) / len(errors)


def ratio(table, one, many):
    """How many times the throughput: published and predicted."""
    (before, fast), (after, slow) = table[one], table[many]
    batch = many[4] / one[4]
    return batch * before / after, batch * fast / slow


def main():
    lines = [line for line in (pathlib.Path(__file__).parent / "dlrm-throughput.csv").read_text().splitlines()
             if not line.startswith("#")]
    table, errors, seen = {}, {group: [] for group in GROUPS}, set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print("   measured  predicted   error  group      framework, model, precision, GPUs, batch, platform")
        for row in csv.DictReader(lines):
            measured, predicted = float(row["ms"]), predict(folder, row)
            fitted = key(row) in FITTED
            seen |= {key(row)} & FITTED
            table[key(row)] = measured, predicted
            error = predicted / measured - 1
            group = "fitted" if fitted else "relayed" if relayed(row) else "predicted"
            errors[group].append(error)
            print(f"{measured:8.3f} ms {predicted:7.3f} ms {100 * error:+6.1f} %  {group:9}  " +
                  ", ".join(map(str, key(row))))
        big = next(row for row in csv.DictReader(lines) if row["gpus"] == "64")
        nccl = predict(folder, big, own=False)
    for group in GROUPS:
        text, mean, bias = statistics(errors[group])
        print(f"{group}: {text}")
    check(seen == FITTED, "all fitted rows are in the table")
    check(max(map(abs, errors["fitted"])) < 0.01, "fitted rows are met")
    check(abs(mean - MEAN) < 0.01 and abs(bias - BIAS) < 0.01,
          f"predicted rows as before: mean {100 * MEAN:.1f} %, bias {100 * BIAS:+.1f} %")
    checks(table)
    print(f"64 GPUs with NCCL's start-ups: {nccl:.3f} ms")
    return 1 if faults else 0


def checks(table):
    amp = table["distributed-embeddings", "dlrm-mlperf", "fp16", 8, 65536, "dgx-a100"]
    check(abs(amp[1] / amp[0] - 1) < 0.15, f"8 A100, AMP: {amp[1]:.2f} of {amp[0]} ms, within 15 %")
    for precision in ("tf32", "fp16"):
        keys = [("dle-tensorflow", f"dlrm-terabyte-{tables}", precision, count, 65536, "dgx-a100")
                for tables, count in (("t15", 1), ("t3", 8))]
        published, predicted = ratio(table, *keys)
        check(abs(predicted / published - 1) < 0.15,
              f"1 to 8 A100, {precision}: {predicted:.2f} times, published {published:.2f}, within 15 %")
    first = "hugectr", "dlrm-mlperf", "fp16", 8, 55296, "dgx-a100"
    for count in (64, 112):
        published, predicted = ratio(table, first, ("hugectr", "dlrm-mlperf", "fp16", count, 71680, "dgx-a100"))
        check(abs(predicted / published - 1) < 0.25,
              f"8 to {count} A100, HugeCTR: {predicted:.2f} times, published {published:.2f}, within 25 %")


MEAN, BIAS = 0.123, -0.031  # of rows that nothing was fitted to

if __name__ == "__main__":
    sys.exit(main())
