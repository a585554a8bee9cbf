#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random spaces of `stagesim search` over every kind of dimension: networks of layers, four axes of tensor parallelism,
experts, context, overlaps, options of schedules; half of them of jobs of several iterations. In each, layouts are taken
at random and checked and run on their own: search calls illegal what `check` refuses, and comes to the time and the
memory that `run` comes to. With bounds the best and the Pareto front are those of timing everything, and where layouts
that are the same job are timed once nothing differs from timing each. And a published job whose best layout has uneven
stages.

usage: search_spaces.py STAGESIM [SPACES OF EACH KIND]
"""
import concurrent.futures
import csv
import json
import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

SPACES = int(sys.argv[2]) if len(sys.argv) > 2 else 2
SAMPLES = 8
OPTIONS = {"chunks": "chunks", "group": "group", "pairs": "pairs", "concatenation": "concatenation", "waves": "waves",
           "sync": "sync", "step": "optimizer", "backwards": "backwards", "backward": "backward", "slices": "slices",
           "lengths": "lengths", "exchange": "exchange", "offload": "offload", "stashes": "memory", "units": "units",
           "redundant": "redundant", "ahead": "ahead", "rounds": "order", "hand_on": "gradient"}
PATHS = {"recompute": "schedule.recompute", "zero": "transformer.zero", "expert": "parallel.expert",
         "sequence_parallel": "transformer.sequence_parallel", "balance": "transformer.balance",
         "tensor_algorithm": "tensor_parallel.algorithm", "tensor_overlap": "transformer.tensor_overlap",
         "overlap": "communication.overlap", "expert_overlap": "transformer.expert_overlap",
         "expert_tensor": "parallel.expert_tensor", "prefetch": "transformer.prefetch",
         "layers_per_stage": "transformer.layers_per_stage", "tensor_exchanges": "tensor_parallel.overlap",
         "order": "order", "context_method": "transformer.context_method", "expert_node": "transformer.expert_node",
         "scatter_gather": "transformer.scatter_gather", "reshard": "transformer.reshard",
         "shard_ranks": "transformer.shard_ranks", "bucket": "transformer.bucket", "dense": "layers.dense"}
AXES = ("data", "tensor", "pipeline", "context", "x", "y", "z")


def some(draw, values, most=2):
    """The first and perhaps others, in order."""
    chosen = draw.sample(values[1:], draw.randint(0, min(most, len(values)) - 1))
    return [value for value in values if value == values[0] or value in chosen]


def layers(draw):
    name = draw.choice(("alexnet", "vgg-16", "resnet-50"))
    lists = {"tensor": [1, 2, 4], "micro": [4, 16], "schedules": some(draw, ["gpipe", "1f1b", "interleaved", "zb-h1"]),
             "dense": ["replicated", "divided"]}
    return f"workload: layers\nmodel: {name}\nparallel: {{data: 2}}\nbatch: {{global: 128, micro: 8}}\n", lists


def transformer(draw, model="", more=""):
    return (f"workload: transformer\nmodel: {{layers: {draw.choice((6, 8, 10))}, hidden: 2048, heads: 16, "
            f"sequence: 1024, vocabulary: 32000{model}}}\nparallel: {{pipeline: 2, data: 2}}\n"
            f"batch: {{global: 32, micro: 1}}\nschedule: 1f1b\ntransformer: {{granularity: stage{more}}}\n")


def four_axes(draw):
    return transformer(draw), {"data": [1, 2, 4], "tensor": 1, "x": [1, 2], "y": [1, 2], "z": [1, 2, 4],
                               "pipeline": [1, 2], "micro": [2, 4], "schedules": "1f1b", "zero": some(draw, [0, 1]),
                               "tensor_algorithm": some(draw, ["axonn-3d", "cube-3d", "tesseract-2.5d", "summa-2d"]),
                               "tensor_exchanges": [[], ["gather", "scatter"], "input"],
                               "recompute": some(draw, ["none", "full"]), "sequence_parallel": "false"}


def experts(draw):
    nodes = {"expert_node": [2, 4]} if draw.random() < 0.5 else {}
    return (transformer(draw, ", experts: 4, top_k: 2, shared_experts: 1"),
            {**nodes, "tensor": [1, 2], "expert": [1, 2, 4, 8], "expert_overlap": ["false", "true"], "micro": [1, 2],
             "schedules": some(draw, ["1f1b", "interleaved", "gpipe"]), "zero": some(draw, [0, 1, 2, 3]),
             "expert_tensor": [1, 2], "recompute": some(draw, ["none", "full"])})


def context(draw):
    return transformer(draw), {"context": [1, 2, 4], "context_method": ["all-gather", "ring", "all-to-all"],
                               "micro": [1, 2], "schedules": "1f1b", "zero": some(draw, [0, 1, 3]), "recompute": "none"}


def overlaps(draw):
    return transformer(draw), {"overlap": ["false", "true"], "tensor_overlap": ["false", "true"], "micro": 1,
                               "prefetch": [1, 3], "bucket": ["1MB", "100MB"],
                               "reshard": ["false", "true"], "shard_ranks": [2, 4],
                               "zero": [0, 3], "schedules": "1f1b", "recompute": some(draw, ["none", "selective"]),
                               "sequence_parallel": "true"}


def options(draw):
    return transformer(draw), {"pipeline": [2, 4], "chunks": [1, 2, 4], "group": [2, 4], "pairs": [1, 2],
                               "concatenation": ["direct", "doubling", "halving"], "waves": [1, 2, 3],
                               "micro": [1, 2], "zero": 1, "recompute": some(draw, ["none", "full"]),
                               "balance": ["even", "auto"],
                               "schedules": ["interleaved", "chimera", "hanayo"] + some(draw, ["gpipe", "zb-v"])}


def more_options(draw):
    return transformer(draw), {"pipeline": [2, 4], "micro": [1, 2], "zero": 1, "scatter_gather": ["false", "true"],
                               "step": ["post-validation", "blocking"], "backwards": ["fifo", "lifo"],
                               "backward": ["whole", "separate"], "sync": ["eager", "eager-opt", "after"],
                               "recompute": "none", "schedules": ["gpipe", "chimera", "dualpipe-v", "zb-h2", "zb-v"]}


def last_options(draw):
    """Schedules that few have options of; an order of axes that leaves the pipeline out, which lies before `data`."""
    text = transformer(draw).replace("{pipeline: 2, data: 2}", "{data: 4}") + "order: [tensor, data]\n"
    return text, {"gpus": 16, "pipeline": [2, 4], "micro": [1, 2], "zero": 1, "recompute": "none", "slices": [2, 4],
                  "order": "[tensor, pipeline, data]", "lengths": ["average", "balanced"], "exchange": ["on", "off"],
                  "offload": [0, 1, 2], "stashes": [2, "1p", "2p"], "units": [4, 8], "redundant": ["drop", "keep"],
                  "ahead": [0, 1], "rounds": ["timed", "rounds"], "hand_on": ["turn", "backward"],
                  "schedules": ["pipe-offload"] + some(draw, ["seq1f1b", "slimpipe", "zb-auto", "adapipe", "mario",
                                                              "hanayo", "weipipe"], 4)}


def uneven(draw):
    """Lists as values: layers of each stage, what each stage computes again."""
    stages = [1, 2, 2, 1] if draw.random() < 0.5 else [2, 1, 2, 1]
    return (transformer(draw).replace("layers: 8", "layers: 6").replace("layers: 10", "layers: 6"),
            {"tensor": [1, 2], "pipeline": [2, 4], "micro": 1, "zero": [0, 1], "schedules": ["1f1b", "gpipe"],
             "layers_per_stage": [[3, 3], [2, 4], stages],
             "recompute": ["none", ["full", "none"], ["none", "selective", "none", "full"]]})


def documents(draw):
    """Packed sequences: micro-batches and replicas are unlike each other."""
    return (transformer(draw, ", document_lengths: {uniform: [64, 1500]}"),
            {"tensor": [1, 2], "context": [1, 2], "pipeline": [1, 2], "micro": [1, 2], "zero": some(draw, [0, 1, 3]),
             "schedules": ["1f1b"] + some(draw, ["zb-h1", "gpipe", "interleaved", "chimera", "seq1f1b"], 3),
             "recompute": some(draw, ["none", "full"])})


KINDS = (documents, last_options, uneven, layers, four_axes, experts, context, overlaps, options, more_options)


def scenario(text, lists):
    word = lambda value: f"[{', '.join(map(word, value))}]" if isinstance(value, list) else str(value)
    search = ", ".join(f"{key}: {word(value)}" for key, value in lists.items() if key != "order")
    return f"platform: dgx-a100-2\n{text}search: {{{search}}}\n"


def settings(row, lists, batch):
    """The layout of a row as --set takes it, made from the columns."""
    only = {key: values[0] if isinstance(values, list) else values for key, values in lists.items()}
    value = lambda key: row.get(key, str(only[key]) if key in only else None)  # one value has no column
    sets = [f"parallel.{axis}={row[axis]}" for axis in AXES if row.get(axis)]
    sets.append(f"batch={{global: {batch}, micro: {row['micro']}}}")
    if row["schedule"]:
        parts = [f"{key}: {row[name]}" for name, key in OPTIONS.items() if row.get(name)]
        parts += [f"recompute: {value('recompute')}"] if value("recompute") else []
        sets.append("schedule={" + ", ".join([f"name: {row['schedule']}"] + parts) + "}")
    sets += [f"{path}={value(key)}" for key, path in PATHS.items() if key != "recompute" and value(key)]
    if "transformer" in lists["text"] and not {"balance", "layers_per_stage"} & set(lists):
        sets.append("transformer.balance=auto")
    return [part for one in sets for part in ("--set", one)]


def compare_row(check, binary, folder, name, row, lists):
    batch = 128 if "layers\n" in lists["text"] else 32
    arguments = settings(row, lists, batch)
    refused = tool.run(binary, "check", name, *arguments, cwd=folder, expect=None).returncode != 0
    what = f"{name}: {' '.join(arguments[1::2])}"
    if not check.that((row["status"] == "illegal") == refused, f"{what}: {row['status']}, check refuses: {refused}"):
        return
    if refused:
        return
    out = f"{name}-{row['number']}"
    summary = tool.summary(binary, name, out, "--engine", "analytic", *arguments, cwd=folder)
    memory = summary.get("memory", {})
    if row["peak_bytes"]:
        check.near(float(row["peak_bytes"]), memory["peak_bytes"], f"{what}: memory", 1e-9)
    check.that((row["status"] == "fits") == memory.get("fits", True), f"{what}: {row['status']}, {memory}")
    if row["status"] == "fits":
        check.near(float(row["iteration_s"]), summary["time"]["iteration_s"], f"{what}: time", 1e-9)
        exposed = summary["communication"]["exposed_s"] / summary["time"]["iteration_s"]
        if row["exposed_ratio"]:
            check.near(float(row["exposed_ratio"]), exposed, f"{what}: exposed", 1e-9)


def search(binary, folder, name, *arguments):
    done = tool.run(binary, "search", name, "--engine", "analytic", "--quiet", "--jobs", 1, *arguments, cwd=folder,
                    expect=None)
    return done.stdout if done.returncode == 0 else None


def random_space(check, binary, folder, kind, seed):
    draw, name = random.Random(f"{kind.__name__} {seed}"), f"{kind.__name__}-{seed}.yaml"
    text, lists = kind(draw)
    lists.setdefault("gpus", draw.choice((4, 8, 16)))
    repeated = seed % 2
    text += f"iterations: {draw.randint(2, 4)}\n" if repeated else ""
    (folder / name).write_text(scenario(text, lists))
    table = search(binary, folder, name, "--exhaustive", "--format", "csv")
    if not check.that(table is not None, f"{name}: nothing legal fits"):
        return repeated, 0, 0
    each = search(binary, folder, name, "--exhaustive", "--set", "search.alike=each", "--format", "csv")
    check.that(each == table, f"{name}: layouts that are the same job are not, when each is timed")
    rows = list(csv.DictReader(table.splitlines()))
    lists["text"] = text
    by_status = {}
    for number, row in enumerate(rows):
        row["number"] = number
        by_status.setdefault(row["status"], []).append(row)
    for found in by_status.values():
        for row in draw.sample(found, min(SAMPLES // 2, len(found))):
            compare_row(check, binary, folder, name, row, lists)
    top = draw.randint(1, 12)
    whole, quick = (json.loads(search(binary, folder, name, "--top", top, "--format", "json", *more))
                    for more in (("--exhaustive",), ()))
    strip = lambda found: [{key: value for key, value in row.items() if key != "rank"} for row in found["pareto"]]
    check.that(whole["best"] == quick["best"] and strip(whole) == strip(quick), f"{name}: bounds change the outcome")
    check.that(whole["fit"] == quick["fit"], f"{name}: {whole['fit']} fit, with bounds {quick['fit']}")
    return repeated, quick["discarded_by_work"] + quick["discarded_by_order"], whole["same_job"]


def published(check, binary, folder):
    """AxoNN's 80B job on 1,024 A100 of Perlmutter: 42 layers do not divide into 16 stages, and the fastest layout whose
    replicas share nothing has them uneven: tensor 4, pipeline 16."""
    (folder / "axonn.yaml").write_text("""platform: perlmutter:256
workload: transformer
model: axonn-80b
parallel: {tensor: 4, pipeline: 16, data: 16}
batch: {global: 1024, micro: 1}
schedule: {name: 1f1b, recompute: full}
compute: {precision: bf16}
search: {tensor: [4, 8], micro: [1, 2], schedules: 1f1b, recompute: full, zero: [0, 1], balance: [even, auto]}
""")
    rows = list(csv.DictReader(search(binary, folder, "axonn.yaml", "--exhaustive", "--format", "csv").splitlines()))
    plain = [row for row in rows if row["status"] == "fits" and row["zero"] == "0"]
    best = {key: plain[0][key] for key in ("data", "tensor", "pipeline", "balance")}
    check.that(best == {"data": "16", "tensor": "4", "pipeline": "16", "balance": "auto"}, f"AxoNN's job: {best}")
    refused = [row["reason"] for row in rows if row["pipeline"] == "16" and row["balance"] == "even"]
    check.that(refused and all("cannot be divided" in reason for reason in refused), f"even stages: {refused}")


def values_for_others(check, binary, folder):
    """A value that is for other schedules' options of the same name is not tried."""
    lists = {"gpus": 4, "pipeline": 4, "micro": 1, "zero": 0, "recompute": "none", "stashes": [2, "1p", "2p"],
             "schedules": ["1f1b", "zb-auto", "adapipe"]}
    (folder / "others.yaml").write_text(scenario(transformer(random.Random(0)), lists))
    rows = list(csv.DictReader(search(binary, folder, "others.yaml", "--exhaustive", "--format", "csv").splitlines()))
    tried = sorted({(row["schedule"], row["stashes"]) for row in rows})
    expected = [("1f1b", ""), ("adapipe", "2"), ("zb-auto", "1p"), ("zb-auto", "2"), ("zb-auto", "2p")]
    check.that(tried == expected, f"stashes: {tried}")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    os.environ["STAGESIM_PLATFORMS"] = str(tool.ROOT / "platforms")
    os.environ["STAGESIM_EFFICIENCY"] = str(tool.ROOT / "workloads/efficiency")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            spaces = tool.sampled([(kind, seed) for seed in range(SPACES) for kind in KINDS])
            jobs = [pool.submit(random_space, check, binary, folder, *space) for space in spaces]
            done = [job.result() for job in jobs]
        for several in 0, 1:
            check.that(any(discarded for repeated, discarded, _ in done if repeated == several),
                       f"no space in which a bound discards a layout of {('one iteration', 'several')[several]}")
        check.that(any(same for _, _, same in done), "no space in which two layouts are the same job")
        published(check, binary, folder)
        values_for_others(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
