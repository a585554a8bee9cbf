#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""imported.py STAGESIM [SET...]: jobs whose script and measured iterations are both public, as `stagesim import` reads
the script (test/validation/imported has both, typed, with their sources), beside what was measured.

Prints each row: measured and predicted seconds, the error of the time (+: predicted too slow), memory where it is
given. Then by group means, bias and worst of rows that a hash gives and of the others, and how well the order of the
layouts of one job is predicted (Spearman). Fails where a figure leaves the band around MEASURED, or a bar is missed."""
import collections
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "imported")
STAGESIM = os.path.abspath(sys.argv[1])
MARGINS = 0.005, 0.01  # of the mean upwards, of the bias both ways


def table(name):
    with open(os.path.join(FOLDER, name)) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def given(row):
    """Half of the rows, by a hash; of LUMI's the first."""
    if row.get("group") == "175B":
        return row["nodes"] == "16"
    return hashlib.sha256(repr(sorted(row.items())).encode()).digest()[0] % 2 == 0


def stagesim(*arguments):
    done = subprocess.run([STAGESIM, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{arguments}: {done.stderr}")
    return done


def predict(folder, script, platform, defines, sets=()):
    path = os.path.join(folder, "job.yaml")
    words = [word for name, value in defines.items() for word in ("--define", f"{name}={value}")]
    words += [word for each in sets for word in ("--set", each)]
    stagesim("import", os.path.join(FOLDER, script), "--platform", platform, *words, "-o", path)
    stagesim("run", path, "--engine", "analytic", "-o", os.path.join(folder, "out"), "--quiet")
    with open(os.path.join(folder, "out", "summary.json")) as file:
        return json.load(file)


# ---- the sets: rows with their group, and what is predicted ----


def bigscience(folder):
    for row in table("bigscience.csv"):
        final, pipeline, layers = row["group"] == "final", int(row["pipeline"]), int(row["layers"])
        defines = {"TP_SIZE": row["tensor"], "PP_SIZE": pipeline, "MICRO_BATCH_SIZE": row["micro_batch"],
                   "GLOBAL_BATCH_SIZE": row["global_batch"], "NLAYERS": layers, "NHIDDEN": row["hidden"],
                   "NHEADS": row["heads"], "PRECISION": row["precision"], "ZERO_STAGE": 0 if final else 1,
                   "SLURM_NNODES": 48}
        if not final:
            defines["PARTITION"] = "type:transformer"
        # 78 layers on 12 stages: the last one has one, as the page says.
        sets = [f"transformer.layers_per_stage={[7] * 11 + [1]}"] if layers % pipeline and not final else []
        summary = predict(folder, "bigscience.sh", os.path.join(FOLDER, "jean-zay.yaml") + ":48", defines, sets)
        label = (f"{layers} x {row['hidden']}, {row['heads']} heads, t{row['tensor']} p{pipeline} "
                 f"b{row['micro_batch']} {row['global_batch']} {row['precision']}")
        yield row, label, summary


def volta(folder):
    """Two jobs on nodes of 4 V100. The vocabulary is GPT-2's."""
    for row in table("v100.csv"):
        tensor, again = row["tensor"], row["again"] == "yes"
        more = ["--checkpoint-activations"] * again + ["--embed-layernorm"] * (row["group"] == "1.3B")
        defines = {"NNODES": row["nodes"], "TP_SIZE": tensor, "PP_SIZE": row["pipeline"], "NLAYERS": row["layers"],
                   "MICRO_BATCH_SIZE": row["micro_batch"], "GLOBAL_BATCH_SIZE": row["global_batch"],
                   "NHIDDEN": row["hidden"], "NHEADS": row["heads"], "MORE": " ".join(more), "SLURM_JOBID": 1}
        label = (f"{row['nodes']} nodes, t{tensor} p{row['pipeline']} b{row['micro_batch']} {row['global_batch']}"
                 f"{', recomputed' if again else ''}")
        yield row, label, predict(folder, "v100.sh", f"{os.path.join(FOLDER, 'jean-zay-v100.yaml')}:{row['nodes']}",
                                  defines, ["model.vocabulary=50257"])


def lumi(folder):
    """MI250X's table is fitted to the row of 16 nodes, by one number, the ceiling of products. DeepSpeed gives the
    first stages a layer more; the vocabulary is GPT-2's."""
    for row in table("lumi.csv"):
        sets = [f"transformer.layers_per_stage={[9] * 6 + [8] * 2}", "model.vocabulary=50257",
                "transformer.extra_memory=0B"]
        yield row, f"{row['nodes']} nodes", predict(folder, "lumi.sh", f"frontier:{row['nodes']}", {"SLURM_JOB_ID": 1},
                                                    sets)


SEVEN = """SEQ_LEN = 2048
data = dict(seq_len=SEQ_LEN, micro_num=4, micro_bsz={micro}, pack_sample_into_one=False)
model = dict(num_layers=32, hidden_size=4096, num_attention_heads=32, mlp_ratio=8 / 3, vocab_size=103168,
             dtype="torch.bfloat16", norm_type="rmsnorm", checkpoint=False, use_flash_attn=True)
hybrid_zero_optimizer = dict(overlap_sync_grad=True, overlap_sync_param=False, reduce_bucket_size=512 * 1024 * 1024)
parallel = dict(zero1=dict(size={zero1}), tensor=dict(size={tensor}, mode="{mode}"), pipeline=dict(size=1))
"""


def internevo(folder):
    """InternEvo has no profile: its configuration is imported, and nothing is fitted."""
    script, path, platform = (os.path.join(folder, name) for name in ("job.py", "job.yaml", "roce-4.yaml"))
    shutil.copy(os.path.join(FOLDER, "roce-4.yaml"), platform)
    for line in table("internevo.csv"):
        tensor, zero1 = int(line["tensor"]), int(line["zero1"])
        for gpus in (8, 16, 32, 64, 128, 256, 512, 1024):
            micro, alone = 2 * tensor, zero1 * tensor >= gpus  # shared by all replicas either way
            with open(script, "w") as file:
                file.write(SEVEN.format(tensor=tensor, micro=micro, zero1=-1 if alone else zero1,
                                        mode="msp" if tensor > 1 else "mtp"))
            stagesim("import", script, "--platform", f"{platform}:{gpus // 8}", "--set", "engine=analytic", "-o", path)
            stagesim("run", path, "-o", os.path.join(folder, "out"), "--quiet")
            with open(os.path.join(folder, "out", "summary.json")) as file:
                summary = json.load(file)
            tokens = 4 * micro * 2048 / tensor
            row = {"group": "all" if zero1 < 0 else "node", "step_s": tokens / float(line[str(gpus)]),
                   "layout": f"t{tensor} zero1 {zero1}, {gpus} GPUs"}
            yield row, row["layout"], summary


SETS = {"bigscience": bigscience, "volta": volta, "lumi": lumi, "internevo": internevo}
# Mean and bias when they were last looked at. A change that moves one beyond its margin has to say why.
MEASURED = {
    ("bigscience", "final", "given", "time"): (0.049, 0.030), ("bigscience", "final", "others", "time"): (0.042, 0.029),
    ("bigscience", "layouts", "given", "time"): (0.054, -0.007),
    ("bigscience", "layouts", "others", "time"): (0.029, -0.018),
    ("bigscience", "ramp", "given", "time"): (0.021, -0.005), ("bigscience", "ramp", "others", "time"): (0.044, 0.044),
    ("bigscience", "final", "given", "memory"): (0.136, -0.136),
    ("bigscience", "final", "others", "memory"): (0.139, -0.139),
    ("bigscience", "layouts", "given", "memory"): (0.126, -0.126),
    ("bigscience", "layouts", "others", "memory"): (0.117, -0.117),
    ("internevo", "all", "given", "time"): (0.219, -0.219), ("internevo", "all", "others", "time"): (0.201, -0.201),
    ("internevo", "node", "given", "time"): (0.175, -0.175), ("internevo", "node", "others", "time"): (0.179, -0.179),
    ("volta", "13B", "given", "time"): (0.258, -0.258), ("volta", "13B", "others", "time"): (0.131, -0.131),
    ("volta", "1.3B", "given", "time"): (0.148, -0.135), ("volta", "1.3B", "others", "time"): (0.034, -0.029),
    ("volta", "1.3B", "given", "memory"): (0.217, -0.198), ("volta", "1.3B", "others", "memory"): (0.168, -0.163),
    ("lumi", "175B", "given", "time"): (0.002, 0.002), ("lumi", "175B", "others", "time"): (0.064, -0.064),
    ("lumi", "175B", "given", "memory"): (0.004, 0.004), ("lumi", "175B", "others", "memory"): (0.005, 0.005),
}
# Rank correlation of measured and predicted times of one job's layouts.
BARS = {("bigscience", "layouts", "given"): 0.7, ("bigscience", "layouts", "all"): 0.7,
        ("volta", "1.3B", "given"): 0.7, ("volta", "1.3B", "all"): 0.7, ("internevo", "node", "given"): 0.7,
        ("internevo", "all", "given"): 0.7, ("internevo", "all", "all"): 0.7}


# ---- figures ----


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    for place, index in enumerate(order):
        found[index] = place
    return found


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    both = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    return both / sum((x - mean) ** 2 for x in a)


def run_set(name, folder):
    errors, memory, orders = (collections.defaultdict(list) for _ in range(3))
    print(f"{name}: seconds of an iteration measured, predicted, error of the time")
    for row, label, summary in SETS[name](folder):
        side, seconds = "given" if given(row) else "others", summary["time"]["iteration_s"]
        error = seconds / float(row["step_s"]) - 1
        errors[row["group"], side].append(error)
        orders[row["group"], side].append((float(row["step_s"]), seconds))
        orders[row["group"], "all"].append((float(row["step_s"]), seconds))
        held = ""
        if row.get("memory_gb"):
            memory[row["group"], side].append(summary["memory"]["peak_bytes"] / 1e9 / float(row["memory_gb"]) - 1)
            held = f"  {float(row['memory_gb']):5.0f} GB {memory[row['group'], side][-1]:+7.1%}"
            held += "" if summary["memory"]["fits"] else " does not fit"
        print(f"  {row['group']:8} {side:6} {label:52}{float(row['step_s']):9.2f}{seconds:9.2f}{error:+8.1%}{held}")
    return errors, memory, orders


def main():
    wrong = False
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or SETS:
            errors, memory, orders = run_set(name, folder)
            for what, found in (("time", errors), ("memory", memory)):
                for (group, side), values in sorted(found.items()):
                    mean, bias = sum(map(abs, values)) / len(values), sum(values) / len(values)
                    before = MEASURED.get((name, group, side, what))
                    outside = not before or mean > before[0] + MARGINS[0] or abs(bias - before[1]) > MARGINS[1]
                    print(f"{name}, {group}, {side}, {what}: {len(values)} rows, mean {mean:.1%}, bias {bias:+.1%}, "
                          f"worst {max(map(abs, values)):.1%}{', outside of ' + str(before) if outside else ''}")
                    wrong |= outside
            for (group, side), pairs in sorted(orders.items()):
                if len(pairs) > 4:
                    order = spearman(*zip(*pairs))
                    bar = BARS.get((name, group, side))
                    missed = bar is not None and order < bar
                    print(f"{name}, {group}, {side}, order: {order:.2f}{f', aim {bar}: MISSED' if missed else ''}")
                    wrong |= missed
    return wrong


if __name__ == "__main__":
    sys.exit(main())
