#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""winners.py STAGESIM [FAMILY...]: which of several ways is faster, as published and as predicted.

Each line is a group of jobs that a source compares: its fastest job and how much that gained over the next one, and
the same of the predictions. Where a source draws bars and prints no numbers, the order is what its text says. A
prediction is right if its fastest is one of those that lie within 1 % of the published best.
Fails where the share of right winners sinks, or the wrong ones are not those of WRONG, which doc/accuracy.md explains.

Families: megatron (Narayanan et al. 2021, arXiv 2104.04473, figures 11 to 18 and Table 2; layouts are those of
examples/sc21 of NVIDIA/Megatron-LM), korthikanti (2022, arXiv 2205.05198, Table 5), zero_bubble (arXiv 2401.10241,
Tables 4, 5 and 9), chimera (arXiv 2107.06925, figures 1 and 14), tensor (AxoNN, Colossal-AI, Holmes), papers
(MegaScale, arXiv 2402.15627), amd (Primus), mlperf, and the rows of jobs.py: simumax, torchtitan, bridge, nemo."""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
import jobs  # noqa: E402
import tool  # noqa: E402

STAGESIM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
TIED = 0.01  # published values this close are both right

Group = collections.namedtuple("Group", "label jobs gain")  # jobs: (name, published or None, value or text)


def call(command, folder="."):
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def platform(folder, preset, nodes, *options):
    name = f"{preset}-{nodes}{'-'.join(options)}.xml"
    if not os.path.exists(os.path.join(folder, name)):
        call([STAGESIM, "platform", "generate", preset, "--nodes", str(nodes), *options, "-o", name], folder)
    return name


def run(folder, text):
    """The summary of a scenario given as text."""
    with open(os.path.join(folder, "row.yaml"), "w") as file:
        file.write(text)
    call([STAGESIM, "run", "row.yaml", "-o", "out", "--quiet"], folder)
    with open(os.path.join(folder, "out", "summary.json")) as file:
        return json.load(file)


def paper_text(name):
    """A scenario of doc/papers.md without its head, on the analytic engine."""
    with open(os.path.join(SOURCE, "scenarios", "papers", name + ".yaml")) as file:
        lines = [line for line in file if not line.startswith(("#", "engine:"))]
    return "".join(lines) + "engine: analytic\n"


# ---- Narayanan et al. 2021: DGX A100, sequences of 2,048, fp16. Attention is the standard one, gradients are reduced
# in fp16 after the last backward (--DDP-impl local), and messages were waited for under both schedules: overlapping
# those of the interleaved one came later (overlap_p2p_comm).


def gpt(folder, layers, hidden, heads, t, p, batch, micro=1, d=1, chunks=1, recompute="full", scatter="true", zero=0):
    framework = "deepspeed" if zero == 3 else "megatron"
    schedule = f"interleaved, chunks: {chunks}" if chunks > 1 else "1f1b"
    p2p = "communication: {messages: blocking}\n" if p > 1 else ""
    return f"""platform: {platform(folder, "dgx-a100", max(t * p * d // 8, 1))}
workload: transformer
framework: {framework}
model: {{layers: {layers}, hidden: {hidden}, heads: {heads}, sequence: 2048, vocabulary: 51200, positions: 2048}}
parallel: {{tensor: {t}, data: {d}, pipeline: {p}}}
order: [tensor, data, pipeline]
batch: {{global: {batch}, micro: {micro}}}
transformer: {{attention: standard, gradients: same, scatter_gather: {scatter}, zero: {zero}}}
{p2p}schedule: {{name: {schedule}, recompute: {recompute}}}
compute: {{precision: fp16}}
engine: analytic
"""


def rate(folder, text, of="hfu", must_fit=False):
    """A figure of throughput; 0 for what does not fit in memory and must."""
    summary = run(folder, text)
    return summary["throughput"][of] if summary["memory"]["fits"] or not must_fit else 0.0


def megatron(folder):
    def value(*shape, of="hfu", must_fit=False, **more):
        return rate(folder, gpt(folder, *shape, **more), of, must_fit)

    def ordered(label, names, values, gain=""):
        """Published: the first one is the fastest."""
        return Group(label, [(name, None, v) for name, v in zip(names, values)], gain)

    gpt3, small = (96, 12288, 96), (32, 3840, 32)
    for p in (2, 4, 8):
        rates = [value(3 * p, 20480, 128, 8, p, batch) for batch in (128, 8)]
        yield ordered(f"Fig. 11, 8 x {p} GPUs: batch", ("128", "8"), rates)
    gaps = {}
    for batch in (12, 24, 36, 48, 60):
        both = [value(*gpt3, 8, 12, batch, chunks=v) for v in (4, 1)]
        bare = value(*gpt3, 8, 12, batch, chunks=4, scatter="false")
        gaps[batch] = both[0] / both[1]
        yield ordered(f"Fig. 12, 175B, batch {batch}: schedule", ("interleaved", "1f1b"), both)
        yield ordered(f"Fig. 18, 175B, batch {batch}: messages", ("scattered", "whole"), (both[0], bare),
                      "up to 1.11" if batch == 60 else "")
    yield ordered("Fig. 12: gap between schedules", ("at batch 12", "at batch 60"), (gaps[12], gaps[60]))
    rates = [value(*gpt3, 8, 12, 60, chunks=v, scatter="false") for v in (1, 4)]
    yield ordered("Fig. 12, messages whole, batch 60: schedule", ("1f1b", "interleaved"), rates)
    for batch in (32, 128):
        layouts = ((8, 8), (4, 16), (16, 4), (2, 32), (32, 2))
        yield ordered(f"Fig. 13, 162B, batch {batch}: (t, p)", [str(x) for x in layouts],
                      [value(32, 20480, 128, *x, batch) for x in layouts])
    for batch in (32, 128, 512):
        layouts = ((2, 32), (4, 16), (8, 8), (16, 4), (32, 2))
        yield ordered(f"Fig. 14, 5.9B, batch {batch}: (p, d)", [str(x) for x in layouts],
                      [value(*small, 1, p, batch, d=d) for p, d in layouts])
        if batch > 32:
            yield ordered(f"Fig. 15, 5.9B, batch {batch}: (t, d)", [str(x) for x in layouts],
                          [value(*small, t, 1, batch, d=d) for t, d in layouts])
    for batch in (128, 512):
        yield ordered(f"Fig. 16, 91B, batch {batch}: micro-batch", "2148",
                      [value(32, 15360, 128, 8, 8, batch, int(b)) for b in "2148"])
    kept = {b: [value(80, 12288, 96, 8, 16, b, recompute=r, of="samples_per_s") for r in ("none", "full")]
            for b in (1, 4, 256)}
    for batch in (1, 4):
        yield ordered(f"Fig. 17, 145B, batch {batch}: recompute", ("none", "full"), kept[batch],
                      "up to 1.49")
    best = max(value(80, 12288, 96, 8, 16, b, recompute="none", of="samples_per_s", must_fit=True)
               for b in (1, 2, 4, 8, 16))
    yield ordered("Fig. 17, any batch: recompute", ("full, 256", "none, what fits"), (kept[256][1], best), "up to 2")
    for model, stages, chunks, rows in (
            (gpt3, 12, 1, ((1536, 384, 1536, 384, 4, 153, 144), (1536, 768, 1536, 768, 2, 149, 88),
                           (1536, 1536, 1536, 1536, 1, 141, 44))),
            ((105, 20480, 128), 35, 1, ((2240, 560, 2560, 640, 4, 171, 138), (2240, 1120, 2240, 1120, 2, 167, 98),
                                        (2240, 2240, 2240, 2240, 1, 159, 48)))):
        for batch, gpus, zero_batch, zero_gpus, micro, published, zero_published in rows:
            yield Group(f"Table 2, {model[0]} layers, {gpus} GPUs", [
                ("PTD-P", published, value(*model, 8, stages, batch, d=gpus // 8 // stages, chunks=chunks)),
                ("ZeRO-3", zero_published, value(*model, 1, 1, zero_batch, micro, d=zero_gpus, zero=3))], "")



# ---- Korthikanti et al. 2022: iteration seconds with full recomputation, and with sequence parallelism and selective
# recomputation. Stages hold as many layers under interleaved 1F1B.
KORTHIKANTI = (("22B", 48, 6144, 64, 1, 1, 4, 4, 1.42, 1.10), ("175B", 96, 12288, 96, 8, 3, 64, 1, 18.13, 13.75),
               ("530B", 105, 20480, 128, 35, 3, 280, 1, 49.05, 37.83),
               ("1T", 128, 25600, 160, 64, 1, 512, 1, 94.42, 71.49))


def korthikanti(folder):
    for name, layers, hidden, heads, p, v, batch, micro, full, selective in KORTHIKANTI:
        texts = [gpt(folder, layers, hidden, heads, 8, p, batch, micro, chunks=v, recompute=r)
                 for r in ("full", "selective")]
        texts[1] = texts[1].replace("transformer: {", "transformer: {sequence_parallel: true, ")
        rates = [rate(folder, text, "samples_per_s") for text in texts]
        yield Group(f"{name}: recompute", [("full", batch / full, rates[0]), ("selective", batch / selective,
                                                                             rates[1])], "")


# ---- Qi et al. 2024: bubbles with measured times of passes (Tables 5 and 9: the smallest wins), samples per second
# and GPU of ZB-1p and 1F1B (Table 4).
def zero_bubble(folder):
    import zero_bubble as bubbles
    import transformer as papers
    for row in bubbles.ROWS:
        found = [bubbles.plan_rate(STAGESIM, name, row) for name in bubbles.SCHEDULES]
        yield Group(f"Tables 5, 9: bubble, {row[0]}, {row[1]} micro-batches",
                    [(name, 1 - float(row[6][which]), 1 - other)
                     for (name, which), other in zip(bubbles.SCHEDULES.items(), found)],
                    "")
    for layers, heads, hidden, micro, *rows in papers.ZERO_BUBBLE:
        sizes = layers, heads, hidden, micro
        for count, published, published_zb in rows:
            rates = [rate(folder, papers.zero_bubble_job(folder, sizes, count, schedule), "samples_per_s")
                     for schedule in ("1f1b", "zb-h1")]
            yield Group(f"Table 4: hidden {hidden}, {count} micro-batches",
                        [("1f1b", published, rates[0]), ("zb-1p", published_zb, rates[1])], "")


# ---- Li and Hoefler 2021: bubbles of 2,048 nodes as read off figure 1, sequences per second as read off figure 14, and
# the abstract's GPT-2 on 2,048 nodes, whose other layouts are those of figure 1.
def chimera(folder):
    import chimera as paper
    bubbles = []
    for name, workers, count, share in (("gpipe", 8, 8, .45), ("gems", 8, 4, .83), ("1f1b", 16, 16, .49),
                                        ("chimera", 32, 32, .32)):
        out = call([STAGESIM, "schedule", name, "--workers", str(workers), "--micro-batches", str(count), "--forward",
                    "1", "--backward", "2", "--format", "json"])
        bubbles.append((name, 1 - share, 1 - json.loads(out)["bubble"]["ratio"]))
    yield Group("Fig. 1: bubble on 2,048 nodes", bubbles, "")
    call([STAGESIM, "platform", "generate", "piz-daint", "--nodes", "64", "-o", "piz-daint.xml"], folder)
    yield Group("Fig. 14: Bert-48 on 64 nodes", [(row[0], row[3], paper.predict(STAGESIM, folder, *row[:3]))
                                                for row in paper.MEASURED], "")
    text = paper_text("chimera-2048")
    rates = []
    for name, stages, micro in (("chimera", 32, 1), ("1f1b", 16, 1), ("gpipe", 8, 1), ("gems", 8, 2)):
        other = text.replace("schedule: chimera", f"schedule: {name}").replace("micro: 1", f"micro: {micro}")
        other = other.replace("data: 64, pipeline: 32", f"data: {2048 // stages}, pipeline: {stages}")
        rates.append((name, None, rate(folder, other, "samples_per_s")))
    yield Group("GPT-2 on 2,048 nodes", rates, "1.16 to 2.34")


# ---- AxoNN (arXiv 2305.13525): 80B on 1,024 A100 of Perlmutter is 26 % faster than Megatron-LM. AxoNN's layout is what
# its model puts first, Megatron-LM's the best of some that fit. Colossal-AI (arXiv 2105.14450): 64 V100, 3D 2.32 times
# as fast as 1D and 1.57 times as 2D; sizes are not given: 24 layers, 512 tokens, 16,384 wide, the largest micro-batch
# that fits. Holmes (arXiv 2312.03549): GPT of 3.6 billion parameters on four nodes; doc/accuracy.md has what is
# assumed.
CUBES = (("3d", 2.32, "cube-3d", "x: 4, y: 4, z: 4"), ("2d", 2.32 / 1.57, "summa-2d", "x: 8, y: 8"),
         ("1d", 1.0, "megatron-1d", "tensor: 64"))


def tensor(folder):
    ours, theirs = paper_text("axonn-80b"), paper_text("axonn-80b-megatron")
    other = max(rate(folder, theirs.replace("tensor: 4, pipeline: 16, data: 16", f"tensor: {t}, pipeline: {p}, data: "
                                            f"{1024 // t // p}"), must_fit=True)
                for t, p in ((4, 8), (4, 16), (8, 4), (8, 8)))
    yield Group("AxoNN, 80B on 1,024 A100", [("axonn", 1.26, rate(folder, ours)), ("megatron-lm", 1.0, other)], "")
    found = []
    for name, published, algorithm, parallel in CUBES:
        text = paper_text("colossal-3d").replace("x: 4, y: 4, z: 4", parallel).replace("cube-3d}", algorithm + "}")
        text, first = text.replace("micro: 64", "micro: MICRO"), 1 if name == "1d" else 16  # what can be divided
        found.append((name, published, max(rate(folder, text.replace("MICRO", str(first << i)), "samples_per_s",
                                                True) for i in range(5))))
    yield Group("Colossal-AI, 64 V100", found, "")
    rates = []
    for name, nic, published in (("infiniband", "ib-hdr", 197), ("roce", "roce-200", 160),
                                 ("ethernet", "ethernet-25", 122)):
        rates.append((name, published, rate(folder, paper_text("holmes").replace("nic: ib-hdr", f"nic: {nic}"))))
    yield Group("Holmes, 3.6B on 32 A100", rates, "")


# ---- MegaScale and Megatron-LM on the same GPUs (from memory, see the head of papers.csv). What is predicted of
# MegaScale is its overlap; its parallel blocks and sliding windows are left out.
def papers(folder):
    rows = [row for row in jobs.table("papers.csv") if "2402.15627" in row["source"]]
    model = dict(jobs.MODELS["GPT-175B"], vocabulary="64000")
    for gpus in ("256", "12288"):
        found = []
        for row in rows:
            name = row["options"]
            if row["gpus"] != gpus:
                continue
            overlap = ", tensor_overlap: true, overlap: true" if name == "MegaScale" else ""
            text = jobs.scenario(dict(row, sequence="2048", gpu="A100-80GB"), model, "megatron",
                                 transformer=overlap.replace(", overlap: true", ""))
            if overlap:
                text += "communication: {overlap: true}\n"
            found.append((name, float(row["tokens_per_s_gpu"]), tokens(folder, text, gpus)))
        yield Group(f"MegaScale, 175B on {gpus} A100", found, "")


def tokens(folder, text, gpus):
    return rate(folder, text, "tokens_per_s") / int(gpus)


# ---- Primus: schedules on MI300X and MI355X. Neither batch nor sequence is printed: 32 micro-batches of one sequence
# of 4,096 are assumed, and two fifths of the peak: nothing is measured of these GPUs.
AMD = {"1f1b": "1f1b", "zbv": "zb-v", "v-half": "v-half", "v-min": "v-min", "zero-bubble": "zb-h1",
       "interleaved": "interleaved"}


def amd(folder):
    groups = collections.defaultdict(list)
    for row in jobs.table("amd-and-others.csv"):
        if row["source"] != "primus-pipeline":
            continue
        gpus, p, chunks = int(row["gpus"]), int(row["pipeline"]), int(row["chunks"])
        d, name = gpus // p, row["options"]
        schedule = AMD[name] + (f", chunks: {chunks}" if name == "interleaved" else "")
        e = int(row["expert"] or 1)
        text = f"""platform: {platform(folder, row["gpu"].lower(), gpus // 8)}
workload: transformer
model: {jobs.model_text(jobs.shape(row["model"]), 4096)}
parallel: {{data: {d}, pipeline: {p}{f", expert: {e}" if e > 1 else ""}}}
order: [data, pipeline]
batch: {{micro: 1, micro_batches: 32}}
transformer: {{zero: 1, balance: auto}}
schedule: {{name: {schedule}}}
compute: {{precision: bf16, efficiency: 0.4}}
engine: analytic
"""
        groups[f"Primus, {row['model']} on {gpus} {row['gpu']}"].append(
            (name, float(row["tokens_per_s_gpu"]), tokens(folder, text, gpus)))
    for label, found in groups.items():
        yield Group(label, found, "")


# ---- MLPerf 5.0: Llama 3.1 405B by GPUs and their number. Rows of LoRA are left out.
def mlperf(folder):
    found = {}
    for row in jobs.table("mlperf-v5.0.csv"):
        if row["model"] != "Llama3.1-405B":
            continue
        row = dict(row, gpu=row["gpu"].split("-")[0], chunks="8" if row["gpu"][0] == "H" else "4")
        text = jobs.scenario(row, jobs.shape(row["model"]), "nemo")
        found[row["gpu"], int(row["gpus"])] = (float(row["tokens_per_s_gpu"]), tokens(folder, text, row["gpus"]))
    for gpus in (512, 2048):
        yield Group(f"MLPerf, 405B on {gpus} GPUs", [(gpu, *found[gpu, gpus]) for gpu in ("GB200", "H100")], "")
    for gpu in ("GB200", "H100"):
        yield Group(f"MLPerf, 405B on {gpu}: GPUs", [(str(n), *v) for (name, n), v in found.items() if name == gpu],
                    "")


# ---- rows of jobs.py that differ in one thing
def compared(folder, name, group_of, name_of):
    """Groups of the rows of a set of jobs.py; group_of says what rows have in common, or None."""
    file, settings = jobs.SETS[name]
    groups = collections.defaultdict(dict)
    for row in jobs.table(file):
        model = jobs.shape(row["model"])
        with_what = settings(row, model, folder) if model else None
        if with_what:
            for group in group_of(row):
                groups[group][name_of(row)] = (row, model, with_what[1])
    seen = {}
    for group, members in groups.items():
        if len(members) < 2:
            continue
        found = []
        for label, (row, model, keywords) in members.items():
            key = repr(row)
            if key not in seen:
                seen[key] = tokens(folder, jobs.scenario(row, model, **keywords), row["gpus"])
            found.append((label, float(row["tokens_per_s_gpu"]), seen[key]))
        yield Group(f"{name}: {group}", found, "")


def layout(row):
    return " ".join(f"{letter}{row[key]}" for letter, key in
                    (("t", "tensor"), ("p", "pipeline"), ("v", "chunks"), ("c", "context"), ("e", "expert"))
                    if jobs.number(row, key) > 1) or "data"


def simumax(folder):
    def counted(row):
        return int(row["global_batch"]) * int(row["tensor"]) * int(row["pipeline"]) // int(row["gpus"])

    yield from compared(folder, "simumax", lambda row: [f"{row['model']}, {row['sequence']}, {counted(row)} a rank"],
                        layout)
    yield from compared(folder, "simumax", lambda row: [f"{row['model']}, {layout(row)}: batch"],
                        lambda row: row["global_batch"])


def torchtitan(folder):
    yield from compared(folder, "torchtitan",
                        lambda row: [f"{row['model']} on {row['gpus']}, {row['source']}"],
                        lambda row: f"{row['precision']} {row['options']}")


def bridge(folder):
    yield from compared(folder, "bridge",
                        lambda row: [f"{row['model']}, {row['source']}"],
                        lambda row: f"{row['gpus']} {row['gpu']} {row['precision']} {layout(row)} b{row['micro_batch']}"
                        + f" B{row['global_batch']}")


def nemo(folder):
    yield from compared(folder, "nemo", lambda row: [f"{row['model']}, {row['task']}, {row['source']}"],
                        lambda row: f"{row['gpus']} GPUs b{row['micro_batch']}")


FAMILIES = (megatron, korthikanti, zero_bubble, chimera, tensor, papers, amd, mlperf, simumax, torchtitan, bridge, nemo)


def best_of(values):
    """The fastest, and how much faster than the next."""
    first, second = sorted(values.values(), reverse=True)[:2]
    name = max(values, key=values.get)
    return name, first / second if second else float("inf")


def judge(group):
    """Prints a group; says whether its winner is right, and how many of its pairs are, of how many."""
    predicted = {name: value for name, _, value in group.jobs}
    known = {name: value for name, value, _ in group.jobs if value is not None}
    names = [name for name, *_ in group.jobs]
    found, gain = best_of(predicted)
    winner, published = best_of(known) if known else (names[0], None)
    right = [name for name in names if known[name] >= known[winner] * (1 - TIED)] if known else [winner]
    ahead = max(value for name, value in predicted.items() if name != winner)
    said = group.gain or (f"{published:.2f}" if published else "")
    verdict = "" if found in right else f" WRONG: {found} by {gain:.3f}"
    ours = predicted[winner] / ahead if ahead else float("inf")
    print(f"{group.label[:70]:70} {winner[:38]:38} {said:>12} {ours:7.2f}{verdict}")
    pairs = [(a, b) for a in known for b in known if known[a] > known[b] * (1 + TIED)]
    return found in right, sum(predicted[a] > predicted[b] for a, b in pairs), len(pairs)


# The wrong ones when they were last looked at: doc/accuracy.md says why.
WRONG = {
    "megatron": ("Fig. 12, messages whole, batch 60: schedule",
                 "Fig. 16, 91B, batch 128: micro-batch", "Table 2, 96 layers, 384 GPUs",
                 "Table 2, 96 layers, 768 GPUs", "Table 2, 96 layers, 1536 GPUs", "Table 2, 105 layers, 560 GPUs",
                 "Table 2, 105 layers, 1120 GPUs", "Table 2, 105 layers, 2240 GPUs"),
    "torchtitan": ("torchtitan: Llama3.1-8B on 64, titan-2506",),
    "bridge": ("bridge: Qwen3_30B_a3B, bridge-25.09", "bridge: LLAMA3.1_405B, bridge-26.02",
               "bridge: LLAMA3.1_405B, bridge-26.04", "bridge: LLAMA3.1_405B, bridge-26.04.01",
               "bridge: LLAMA3.1_405B, bridge-26.06"),
}
SHARE = 0.87  # of all winners, at least
ORDERED = 0.84  # of pairs whose printed values differ by more than 1 %, at least


def main():
    named = sys.argv[2:]
    asked = [family for family in FAMILIES if family.__name__ in named] if named else tool.sampled(FAMILIES)
    wrong, total, pairs, ordered, new = 0, 0, 0, 0, []
    print(f"{'':70} {'published winner':38} {'its gain':>12} predicted")
    with tempfile.TemporaryDirectory() as folder:
        for family in asked:
            for group in family(folder):
                right, in_order, of = judge(group)
                total, pairs, ordered, wrong = total + 1, pairs + of, ordered + in_order, wrong + (not right)
                if right == (group.label in WRONG.get(family.__name__, ())):
                    new.append(f"{group.label} is {'right, so take it off WRONG' if right else 'wrong'}")
    print(f"winners: {total - wrong} of {total} right; of pairs whose printed values differ by more than 1 %, "
          f"{ordered} of {pairs} are in the published order")
    for line in new:
        print(f"changed: {line}")
    return bool(new) or (len(asked) == len(FAMILIES) and (wrong > (1 - SHARE) * total or ordered < ORDERED * pairs))


if __name__ == "__main__":
    sys.exit(main())
