#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export_jobs.py STAGESIM: `stagesim export`. Import, export and import again keep the scenario, for the jobs of the
importers' tests and for random ones of Megatron-LM and torchtitan. Of scenarios written here the options are those that
are known for them; what a framework has nothing for is named in the file and on standard error. Orders as schedule
files take the time of the schedules that they are of."""
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool  # noqa: E402

JOBS = pathlib.Path(__file__).resolve().parents[2] / "frameworks/import/jobs"
ROUNDS = 30


class Product:
    def __init__(self, folder):
        self.binary, self.folder = tool.binary_argument(), pathlib.Path(folder)

    def run(self, *arguments, cwd=None):
        return subprocess.run([self.binary, *map(str, arguments)], cwd=cwd or self.folder, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=120)


def values(text):
    """The keys of a scenario with their values, comments and what its import left open apart."""
    section, found = "", {}
    for line in text.partition("\nimported:\n")[0].splitlines():
        key, _, rest = line.partition(":")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        section = section if line.startswith(" ") else ""
        value = re.split(r"\s+#", rest, maxsplit=1)[0].strip()
        if value:
            found[section + key.strip()] = value
        else:
            section = key.strip() + "."
    return found


def layers_of(text):
    """Layers of each stage, from a list or a text of Megatron-LM."""
    if text.startswith("["):
        return [int(word) for word in text.strip("[]").split(",")]
    text = text.strip("'").replace(",", "")
    for pattern in (r"\(([^)]+)\)\*([0-9]+)", r"(.)\*([0-9]+)"):
        text = re.sub(pattern, lambda found: found[1] * int(found[2]), text)
    return [stage.count("t") for stage in text.split("|")]


def same(found):
    """What two scenarios of one meaning have in common: layers of stages may be a list or a text, sizes
    have units."""
    found = dict(found)
    for key in ("transformer.layers_per_stage", "transformer.pipeline_layout"):
        if key in found:
            found["layers of stages"] = layers_of(found.pop(key))
    if found.get("transformer.tensor_overlap") == "false":
        del found["transformer.tensor_overlap"]  # as where the key is not given
    if found.get("framework") == "nemo":
        found["framework"] = "megatron"  # whose options are written
    bucket = re.match(r"([0-9]+)(B|MiB)$", found.get("transformer.bucket", ""))
    if bucket:
        found["transformer.bucket"] = int(bucket[1]) * {"B": 1, "MiB": 1 << 20}[bucket[2]]
    return found


def round_trip(check, product, label, first, framework, platform):
    """Scenario -> framework -> scenario."""
    (product.folder / "first.yaml").write_text(first)
    file = {"megatron": "job.sh", "torchtitan": "job.py", "torchtitan-toml": "job.toml"}[framework]
    out = product.run("export", "first.yaml", "--to", framework, "-o", file)
    if not check.that(out.returncode == 0, f"{label}: export {out.stderr}\n{first}"):
        return None
    again = product.run("import", file, *platform)
    if not check.that(again.returncode == 0, f"{label}: import again {again.stderr}"):
        return None
    old, new = same(values(first)), same(values(again.stdout))
    differ = {key: (old.get(key), new.get(key)) for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    check.that(not differ, f"{label}: {differ}\n{(product.folder / file).read_text()}")
    return (product.folder / file).read_text()


def check_jobs(check, product):
    """The importers' own jobs."""
    done = 0
    for case in sorted(JOBS.iterdir()):
        arguments = shlex.split((case / "args").read_text())
        made = product.run("import", *arguments, cwd=case)
        framework = "torchtitan" if "torchtitan" in made.stdout.split("\n")[0] else "megatron"
        whole = made.returncode == 0 and "missing" not in made.stderr and tool.describes_job(made.stdout)
        whole = whole and "layer_ffn" not in made.stdout  # widths of layers are in no option: export says so
        if not whole or not re.search(r"Megatron-LM|NeMo|torchtitan", made.stdout.split("\n")[0]):
            continue
        at = arguments.index("--platform")
        for each in [framework] + ["torchtitan-toml"] * (framework == "torchtitan"):
            round_trip(check, product, case.name, made.stdout, each, arguments[at:at + 2])
        done += 1
    check.that(done >= 4, f"only {done} jobs went there and back")


# ---- random jobs ----

def draw_shape(draw, options):
    heads = draw.choice([8, 16, 32])
    options += ["--num-attention-heads", heads, "--hidden-size", 128 * heads, "--seq-length", draw.choice([1024, 4096])]
    if draw.random() < 0.5:
        options += ["--swiglu"]
    if draw.random() < 0.5:
        options += ["--ffn-hidden-size", 512 * heads]
    options += ["--position-embedding-type", "rope"] if draw.random() < 0.5 else ["--max-position-embeddings", 4096]
    for option, chance in (("--untie-embeddings-and-output-weights", 0.5), ("--disable-bias-linear", 0.5),
                           ("--qk-layernorm", 0.2)):
        options += [option] if draw.random() < chance else []
    if draw.random() < 0.5:
        options += ["--normalization", "RMSNorm"]
    if draw.random() < 0.5:
        options += ["--attention-dropout", "0.0", "--hidden-dropout", 0]
    if draw.random() < 0.4:
        options += ["--group-query-attention", "--num-query-groups", 8]
    options += ["--vocab-size", draw.choice([50257, 32000, 128256, 30522])]


def draw_experts(draw, options, layers):
    options += ["--num-experts", 16, "--moe-router-topk", draw.choice([1, 2, 4]), "--moe-ffn-hidden-size", 1024]
    if draw.random() < 0.5:
        options += ["--moe-shared-expert-intermediate-size", 2048]
    if draw.random() < 0.5:
        lists = [f"[0]*2+[1]*{layers - 2}", f"[0]*1+[1,0]*{layers // 2 - 1}+[1]"]
        options += ["--moe-layer-freq", draw.choice([2, *lists])]
    if draw.random() < 0.5:
        options += ["--moe-router-num-groups", 4, "--moe-router-group-topk", 2, "--moe-router-enable-expert-bias"]
    if draw.random() < 0.3:
        options += ["--moe-shared-expert-overlap"] if "--moe-shared-expert-intermediate-size" in options else []


def draw_stages(draw, options, layers, pipeline):
    """Nothing, chunks, or layers of the stages."""
    way = draw.randrange(4) if pipeline > 1 else 0
    if way == 1 and layers % (2 * pipeline) == 0:
        options += ["--num-virtual-stages-per-pipeline-rank", 2]
    elif way == 2 and layers % (2 * pipeline) == 0:
        options += ["--num-layers-per-virtual-pipeline-stage", layers // pipeline // 2]
    elif way == 3:
        each = layers // pipeline
        middle = "t" * each + "|"
        options += ["--pipeline-model-parallel-layout", "E" + "t" * (each - 1) + f"|({middle})*{pipeline - 2}," +
                    "t" * (layers - each * (pipeline - 1) + 1) + "L"] if pipeline > 2 else []


def draw_megatron(draw):
    """Options of a job on 64 GPUs."""
    layers, options = draw.choice([8, 16, 24]), []
    options += ["--num-layers", layers]
    draw_shape(draw, options)
    tensor, pipeline, context = draw.choice(
        [(1, 1, 1), (2, 4, 1), (4, 2, 2), (8, 1, 1), (2, 2, 1), (1, 4, 2), (1, 8, 1)])
    experts = tensor > 1 and context == 1 and draw.random() < 0.4
    if experts:
        draw_experts(draw, options, layers)
        options += ["--expert-model-parallel-size", draw.choice([1, 2, 4])]
        options += ["--expert-tensor-parallel-size", 1] if draw.random() < 0.3 else []
    options += ["--tensor-model-parallel-size", tensor, "--pipeline-model-parallel-size", pipeline]
    options += ["--context-parallel-size", context] if context > 1 else []
    options += ["--cp-comm-type", draw.choice(["p2p", "all_gather", "a2a"])] if context > 1 else []
    if experts or draw.random() < 0.5:
        options += ["--sequence-parallel"]
        options += ["--tp-comm-overlap"] if tensor > 1 and not experts and draw.random() < 0.5 else []
    draw_stages(draw, options, layers, pipeline)
    data = 64 // (tensor * pipeline * context)
    options += ["--micro-batch-size", 2, "--global-batch-size", 2 * data * 8 * draw.choice([1, 4])]
    options += draw.choice([["--bf16"], ["--bf16"], ["--fp16"], ["--bf16", "--fp8-format", "hybrid"], []])
    if "--bf16" in options and draw.random() < 0.3:
        options += ["--grad-reduce-in-bf16"]
    if "--fp16" in options and draw.random() < 0.3:
        options += ["--accumulate-allreduce-grads-in-fp32"]
    options += draw.choice([[], ["--use-distributed-optimizer"],
                            ["--use-distributed-optimizer", "--overlap-grad-reduce"],
                            ["--use-megatron-fsdp", "--data-parallel-sharding-strategy", "optim_grads_params"]])
    if "--use-distributed-optimizer" in options and data % 2 == 0 and not experts and draw.random() < 0.3:
        options += ["--num-distributed-optimizer-instances", 2]
    options += draw.choice([[], ["--recompute-activations"], ["--recompute-granularity", "full", "--recompute-method",
                                                              "uniform", "--recompute-num-layers", 1]])
    options += draw.choice([[], ["--ddp-bucket-size", 12345678], ["--use-tp-pp-dp-mapping"],
                            ["--attention-backend", "unfused"], ["--train-samples", 100000]])
    return list(map(str, options))


def check_megatron(check, product):
    draw, platform = random.Random(17), ("--platform", "dgx-h100:8")
    for number in range(ROUNDS):
        options = draw_megatron(draw)
        made = product.run("import", *platform, "--", *options)
        label = f"job {number}: {' '.join(options)}"
        if check.that(made.returncode == 0 and "missing" not in made.stderr, f"{label}: {made.stderr}"):
            round_trip(check, product, label, made.stdout, "megatron", platform)


def draw_torchtitan(draw):
    """A TOML of a job on 64 GPUs."""
    tensor, pipeline, context = draw.choice([(1, 1, 1), (8, 1, 1), (2, 4, 1), (4, 2, 1), (1, 4, 2), (2, 1, 4)])
    data = 64 // (tensor * pipeline * context)
    name, flavor = draw.choice([("llama3", "8B"), ("llama3", "70B"), ("llama3", "405B")])
    text = f'[model]\nname = "{name}"\nflavor = "{flavor}"\n'
    text += 'converters = ["float8"]\n' if draw.random() < 0.3 else ""
    text += f"[training]\nlocal_batch_size = {draw.choice([8, 16])}\nseq_len = {draw.choice([4096, 8192])}\n"
    text += f"global_batch_size = {data * 32}\n" if draw.random() < 0.5 else ""
    text += "steps = 1000\n" if draw.random() < 0.5 else ""
    text += 'mixed_precision_reduce = "bfloat16"\n' if draw.random() < 0.3 else ""
    text += f"[parallelism]\ntensor_parallel_degree = {tensor}\ncontext_parallel_degree = {context}\n"
    text += 'context_parallel_rotate_method = "alltoall"\n' if draw.random() < 0.5 else ""
    replicas = draw.choice([1, 1, 2]) if data > 2 else 1
    text += f"data_parallel_replicate_degree = {replicas}\n"
    text += f"data_parallel_shard_degree = {draw.choice([-1, data // replicas])}\n"
    text += draw.choice(["", 'fsdp_reshard_after_forward = "never"\n', 'fsdp_reshard_after_forward = "always"\n'])
    text += "enable_async_tensor_parallel = true\n" if draw.random() < 0.3 else ""
    if pipeline > 1:
        schedule = draw.choice(["1F1B", "GPipe", "Interleaved1F1B", "ZBVZeroBubble"])
        text += f'pipeline_parallel_degree = {pipeline}\npipeline_parallel_schedule = "{schedule}"\n'
        text += draw.choice(["", "pipeline_parallel_first_stage_less_layers = 0\n"
                             "pipeline_parallel_last_stage_less_layers = 0\n"])
    return text + f'[activation_checkpoint]\nmode = "{draw.choice(["none", "full"])}"\n'


def registry_has(text):
    """Whether a registry in Python can say what a TOML says."""
    compiled = "enable_async_tensor_parallel" not in text
    return compiled and 'reduce = "bfloat16"' not in text and "alltoall" not in text


def check_torchtitan(check, product):
    draw, platform, done, written = random.Random(18), ("--platform", "dgx-h100:8"), 0, 0
    for number in range(ROUNDS):
        text = draw_torchtitan(draw)
        (product.folder / "titan.toml").write_text(text)
        made = product.run("import", "titan.toml", *platform)
        if not check.that(made.returncode == 0, f"TOML {number}: {made.stderr}\n{text}"):
            continue
        (product.folder / "whole.yaml").write_text(made.stdout)
        if product.run("check", "whole.yaml").returncode:
            continue  # a shape that does not divide so
        round_trip(check, product, f"TOML {number}: {text}", made.stdout, "torchtitan-toml", platform)
        if registry_has(text):
            round_trip(check, product, f"registry {number}: {text}", made.stdout, "torchtitan", platform)
            written += 1
        done += 1
    check.that(done > ROUNDS // 2 and written > ROUNDS // 16, f"only {done}, {written} of {ROUNDS} files are jobs")


# ---- what is known ----

SCENARIO = """platform: dgx-h100:8
workload: transformer
model: {{layers: 30, hidden: 4096, sequence: 4096, vocabulary: 50304, heads: 32{model}}}
parallel: {{tensor: 4, pipeline: 4, data: 4}}
batch: {{micro: 2, micro_batches: 16}}
schedule: {schedule}
compute: {{precision: {precision}}}
transformer: {{{more}}}
"""


def exported(product, framework, *, model="", schedule="1f1b", precision="bf16", more="balance: auto", expect=0,
             rest=""):
    (product.folder / "known.yaml").write_text(SCENARIO.format(model=model, schedule=schedule, precision=precision,
                                                               more=more) + rest)
    out = product.run("export", "known.yaml", "--to", framework)
    return out if out.returncode == expect else None


def check_known(check, product):
    cases = [
        (dict(), ["--num-layers 30", "--ffn-hidden-size 16384", "--vocab-size 50304",
                  "--make-vocab-size-divisible-by 32",
                  "--global-batch-size 128", "--ddp-bucket-size 6250000", "--bf16", "--use-tp-pp-dp-mapping",
                  "--pipeline-model-parallel-layout 'Et", "--overlap-grad-reduce"], ["--swiglu"]),
        (dict(more="layers_per_stage: [8, 8, 7, 7], zero: 2, gradients: same, bucket: 160MB"),
         ["layout 'Et*8|t*8|t*7|t*7L'", "--data-parallel-sharding-strategy optim_grads", "--grad-reduce-in-bf16",
          "--ddp-bucket-size 80000000"], []),
        (dict(model=", kv_heads: 8, gated: true, ffn: 14336, norm: rms, tied: false, biases: false, dropout: false"),
         ["--num-query-groups 8", "--group-query-attention", "--swiglu", "--normalization RMSNorm",
          "--untie-embeddings-and-output-weights", "--disable-bias-linear", "--attention-dropout 0",
          "--position-embedding-type rope"], []),
        (dict(schedule="{name: interleaved, chunks: 2, recompute: full}", precision="fp8",
              more="pipeline_layout: 'Et*3,|(t*4|)*6t*3L', sequence_parallel: true"),
         ["layout 'Et*3,|(t*4|)*6t*3L'", "--recompute-granularity full", "--fp8-format hybrid", "--sequence-parallel"],
         ["--num-virtual-stages"]),
    ]
    for given, wanted, unwanted in cases:
        out = exported(product, "megatron", **given)
        text = out.stdout if out else ""
        for option in wanted:
            check.that(option in text, f"{given}: no {option} in\n{text}")
        for option in unwanted:
            check.that(option not in text, f"{given}: {option} in\n{text}")
        check.that(subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0, f"no script:\n{text}")


def check_remarks(check, product):
    """What cannot be said is told in the file and on standard error."""
    cases = [
        ("megatron", dict(schedule="zb-h1"), ["schedule: zb-h1 is not there"]),
        ("megatron", dict(schedule="zb-v", more="layers_per_stage: [4, 4, 4, 4, 4, 4, 3, 3]"),
         ["transformer.pipeline_layout: E", "schedule: zb-v is not there"]),
        ("megatron", dict(more="balance: auto, zero: 3, reshard: false, bucket: 25000001B"),
         ["transformer.reshard", "transformer.bucket: is cut"]),
        ("megatron", dict(precision="tf32", model=", pooler: true, norms: 1"),
         ["compute.precision", "model.pooler", "model.norms"]),
        ("megatron", dict(rest="order: [pipeline, tensor, data]\nplacement: nic-aware\n"),
         ["order: ranks lie", "placement"]),
        ("torchtitan", dict(schedule="zb-h1"),
         ["model: none of the shapes", "schedule: zb-h1 is not there by name; schedule.csv is what `stagesim schedule "
          "zb-h1 --workers 4 --micro-batches 16"]),
        ("torchtitan", dict(schedule="chimera"), ["a file for PyTorch cannot hold it: each stage is on 2 workers"]),
        ("torchtitan", dict(more="balance: auto, zero: 1"), ["transformer.zero: 1 shares less", "model.dropout"]),
        ("megatron", dict(schedule="{name: 1f1b, recompute: full}", more="balance: auto, recompute_stops_early: true"),
         ["transformer.recompute_stops_early: it computes the whole"]),
        ("torchtitan", dict(schedule="{name: 1f1b, recompute: full}"),
         ["transformer.recompute_stops_early: what it computes again ends"]),
        ("torchtitan", dict(more="layers_per_stage: [1, 20, 1, 8]"), ["transformer.pipeline_layout", "module_fqns"]),
        ("torchtitan", dict(schedule="{name: 1f1b, recompute: selective}", precision="fp16"),
         ["schedule.recompute: selective", "compute.precision: fp16"]),
        ("torchtitan-toml", dict(rest="communication: {overlap: false, all_reduce: ring}\n"),
         ["communication.overlap: FSDP", "communication.all_reduce: how collectives run"]),
    ]
    for framework, given, remarks in cases:
        out = exported(product, framework, **given)
        if not check.that(out, f"{framework} {given}: {product.run('export', 'known.yaml', '--to', framework).stderr}"):
            continue
        for remark in remarks:
            check.that(remark in out.stdout and remark in out.stderr, f"{given}: no '{remark}':\n{out.stdout}")
    for arguments, code, words in ((("known.yaml",), 2, "expected --to megatron"),
                                   (("known.yaml", "--to", "megatorn"), 2, "megatron"),
                                   (("--to", "megatron"), 2, "expected one scenario"),
                                   (("none.yaml", "--to=megatron"), 1, "none.yaml"),
                                   (("known.yaml", "--to", "megatron", "--set", "parallel.tensor=5"), 1, "tensor")):
        out = product.run("export", *arguments, "-o", "none.sh")
        check.that(out.returncode == code and words in out.stderr and not (product.folder / "none.sh").exists(),
                   f"{arguments}: {out.returncode} {out.stderr}")
    for scenario, words in (("resnet-50", "only jobs of the workload transformer"), ("axonn", "megatron-1d")):
        out = product.run("export", tool.ROOT / "scenarios" / f"{scenario}.yaml", "--to", "megatron")
        check.that(out.returncode == 1 and words in out.stderr and not out.stdout, f"{scenario}: {out.stderr}")


STAGES = """platform: dgx-h100:1
workload: stages
stages: {forward: [9ms, 10ms, 12ms, 11ms], backward: 20ms, weight: 9ms, message: 30MB, activation: 1GiB}
parallel: {pipeline: 4}
batch: {micro_batches: 8}
schedule: %s
"""


def check_orders(check, product):
    """A file of the order, in the place of its schedule, gives the same iteration and memory."""
    def figures(schedule):
        (product.folder / "stages.yaml").write_text(STAGES % schedule)
        return {key: value for key, value in tool.summary(product.binary, product.folder / "stages.yaml",
                                                          product.folder / "figures", "--engine", "analytic").items()
                if key in ("time", "memory", "bubble")}

    for schedule in ("gpipe", "1f1b", "interleaved", "chimera", "zb-h1", "v-half", "dualpipe", "seq1f1b", "bpipe"):
        wanted = figures(schedule)
        out = product.run("export", "stages.yaml", "--to", "schedule", "-o", "order.csv")
        if check.that(out.returncode == 0 and not out.stderr, f"{schedule}: {out.stderr}"):
            check.that(figures("{file: order.csv}") == wanted, f"{schedule}: its order takes another time")
        (product.folder / "order.csv").unlink(missing_ok=True)
    out = product.run("export", tool.ROOT / "scenarios/resnet-50.yaml", "--to", "schedule")
    check.that(out.returncode == 1 and "no order of a pipeline" in out.stderr and not out.stdout, out.stderr)


def main():
    check = tool.Checker()
    with tempfile.TemporaryDirectory() as folder:
        product = Product(folder)
        check_known(check, product)
        check_remarks(check, product)
        check_orders(check, product)
        if product.run("import", "--help").returncode == 0 or os.environ.get("IMPORT"):
            check_jobs(check, product)
            check_megatron(check, product)
            check_torchtitan(check, product)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
