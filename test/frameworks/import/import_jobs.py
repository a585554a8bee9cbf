#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""import_jobs STAGESIM [--update]: `stagesim import` of jobs as users have them. jobs/CASE holds the files and `args`;
the scenario must be scenario.golden, what is told must be told.golden, and `check` must accept what is whole. Counts
that are known are compared, too, and mistakes must have their place and reason."""
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

STAGESIM = str(pathlib.Path(sys.argv[1]).resolve())
UPDATE = "--update" in sys.argv
HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.Path(tempfile.mkdtemp())
failures = 0


def expect(good, what, detail=""):
    global failures
    if not good:
        failures += 1
        print(f"FAILED {what}\n{detail}")


def run(*arguments, folder=FOLDER):
    return subprocess.run([STAGESIM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=60)


def values(text):
    """The keys of a written scenario with their values, and where each says that it comes from."""
    section, found = "", {}
    for line in text.partition("\nimported:\n")[0].splitlines():
        if line.startswith("#") or not line.strip() or line.strip().startswith("#"):
            continue
        key, _, rest = line.partition(":")
        if not line.startswith(" "):
            section = ""
        value, _, origin = rest.partition("  # " if "  # " in rest else " # ")
        if not value.strip():
            section = key + "."
            continue
        expect(origin.strip(), f"{line}: without an origin")
        found[section + key.strip()] = value.strip()
    return found


def golden(case):
    arguments = shlex.split((case / "args").read_text())
    result = run("import", *arguments, folder=case)
    expect(result.returncode == 0, case.name, result.stderr)
    for name, text in (("scenario.golden", result.stdout), ("told.golden", result.stderr)):
        if UPDATE:
            (case / name).write_text(text)
        before = (case / name).read_text() if (case / name).exists() else ""
        expect(text == before, f"{case.name}/{name}", text)
    values(result.stdout)
    if "missing" in result.stderr:
        return
    (FOLDER / "job.yaml").write_text(result.stdout)
    checked = run("check", "job.yaml")
    expect(checked.returncode == 0, f"{case.name}: check", checked.stderr)
    said(case, result.stdout)


def said(case, scenario):
    """What is left open stands on the first screen of `run`, with counts, also without notes; and in its files."""
    out = FOLDER / "out"
    done = run("run", "job.yaml", "--quiet", "--engine", "analytic", "--report", "--set", "output.nearest=off", "-o",
               out)
    if "\nrl:\n" in scenario:
        done = run("run", "job.yaml", "--quiet", "-o", out)
    left = caveats(scenario)
    counts = [f"{len(left[key])} {key.replace('_', ' ')}" for key in ("not_modelled", "not_known", "assumed")
              if left.get(key)]
    line = next((line for line in done.stdout.splitlines() if line.startswith("imported ")), "")
    expect(all(count in line for count in counts) and line, f"{case.name}: first screen", done.stdout + done.stderr)
    for name in ["summary.json", "about.json", *(["report.html"] if "\nrl:\n" not in scenario else [])]:
        text = (out / name).read_text() if (out / name).exists() else ""
        good = all(word in text for word in counts) if name != "about.json" else not counts or "imported, " in text
        expect(text and good, f"{case.name}: {name}", text[:500])
    for kind in ("not_modelled", "not_known", "assumed"):
        for each in left.get(kind, []):
            about = json.dumps(json.loads((out / "about.json").read_text()), ensure_ascii=False)
            expect(json.dumps(each, ensure_ascii=False)[1:-1] in about, f"{case.name}: about.json has {each}")


def imported(*arguments, files=()):
    for name, text in files:
        (FOLDER / name).write_text(text)
    result = run("import", *arguments)
    expect(result.returncode == 0, str(arguments), result.stderr)
    return values(result.stdout), result


def caveats(text):
    """What the section `imported` has, by kind."""
    kind, found = "", {}
    for line in text.partition("\nimported:\n")[2].splitlines():
        if line.startswith("    - '"):
            found[kind].append(line[7:-1].replace("''", "'"))
        else:
            kind, _, value = line.strip().partition(":")
            found[kind] = [value.strip()] if value else []
    return found


def refused(words, *arguments, files=()):
    for name, text in files:
        (FOLDER / name).write_text(text)
    result = run("import", *arguments)
    good = result.returncode == 1 and not result.stdout and all(word in result.stderr for word in words)
    expect(good, f"{arguments}: expected {words}", f"exit {result.returncode}: {result.stderr}{result.stdout[:200]}")


for case in sorted((HERE / "jobs").iterdir()):
    golden(case)

# Megatron-LM's own examples: the 175 B model on 128 nodes, Mixtral on 4; options typed here.
GPT3 = """torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py --num-layers 96 --hidden-size 12288 \\
 --num-attention-heads 96 --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 \\
 --global-batch-size 1536 --fp16 --tensor-model-parallel-size 8 --pipeline-model-parallel-size 16"""
found, result = imported("gpt3.sh", "--platform", "dgx-a100:128", "--set", "model.vocabulary=50257",
                         files=[("gpt3.sh", GPT3)])
parameters = float(result.stderr.split("parameters")[1].split()[0])
expect(found["parallel.data"] == "8" and found["model.vocabulary"] == "51200" and abs(parameters / 175e9 - 1) < 0.005,
       "GPT-3", result.stdout)
expect(int(found["batch.global"]) / int(found["batch.micro"]) / int(found["parallel.data"]) == 192, "GPT-3's batch")
MIXTRAL = """NNODES=${SLURM_NNODES:-"1"}
torchrun --nproc_per_node 8 --nnodes $NNODES x.py --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \\
 --num-attention-heads 32 --group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm \\
 --disable-bias-linear --untie-embeddings-and-output-weights --position-embedding-type rope --seq-length 4096 \\
 --num-experts 8 --moe-router-topk 2 --micro-batch-size 1 --global-batch-size 256 --bf16 --attention-dropout 0.0 \\
 --hidden-dropout 0.0 --pipeline-model-parallel-size 4 --expert-model-parallel-size 8 --use-distributed-optimizer \\
 --sequence-parallel"""
found, result = imported("mixtral.sh", "--define", "SLURM_NNODES=4", "--set", "model.vocabulary=32000",
                         files=[("mixtral.sh", MIXTRAL)])
expect(found["parallel.data"] == "8" and found["parallel.expert"] == "8" and found["transformer.zero"] == "1" and
       found["transformer.sequence_parallel"] == "false" and "46702792704" in result.stderr and
       int(found["batch.global"]) == 32 * 8, "Mixtral", result.stdout)

# Vocabularies are padded to a multiple of 128 x tensor.
for tensor, padded in ((1, 50304), (4, 50688), (8, 51200)):
    found, _ = imported("--", "--num-layers", 2, "--hidden-size", 512, "--num-attention-heads", 8, "--seq-length", 64,
                        "--max-position-embeddings", 64, "--vocab-size", 50257, "--micro-batch-size", 1,
                        "--tensor-model-parallel-size", tensor)
    expect(found["model.vocabulary"] == str(padded), f"vocabulary of tensor {tensor}", found)
# Without --ffn-hidden-size a gated block is 8 h / 3 wide, a multiple of 64.
for gated, ffn in (((), 4096 * 4), (("--swiglu",), 10880)):
    found, _ = imported("--", "--num-layers", 2, "--hidden-size", 4096, "--num-attention-heads", 8, *gated)
    expect(found["model.ffn"] == str(ffn), f"ffn {gated}", found)
# A config.json and a script: the shape is said twice and agrees, or is refused at both places.
LLAMA = {"model_type": "llama", "num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8,
         "intermediate_size": 2048, "vocab_size": 1000}
files = [("config.json", json.dumps(LLAMA, indent=1)), ("run.sh", "python x.py --num-layers 5 --micro-batch-size 1")]
refused(["run.sh:1:13", "model.layers: --num-layers says 5, but num_hidden_layers said 4", "config.json:3:",
         "--set model.layers=VALUE"], "config.json", "run.sh", files=files)
found, _ = imported("config.json", "run.sh", "--set", "model.layers=6", files=files)
expect(found["model.layers"] == "6" and found["model.vocabulary"] == "1024", "--set counts most", found)

# torchtitan's Llama 3 405B on 128 GPUs, typed here.
TITAN = """[model]\nname = "llama3"\nflavor = "405B"\nconverters = "float8"
[training]\nbatch_size = 2\nseq_len = 8192
[parallelism]\ndata_parallel_shard_degree = -1\ntensor_parallel_degree = 8
[activation_checkpoint]\nmode = 'full'\n"""
found, result = imported("t.toml", "--platform", "dgx-h100:16", files=[("t.toml", TITAN)])
expect((found["parallel.data"], found["parallel.tensor"], found["schedule.recompute"], found["compute.precision"],
        found["transformer.zero"]) == ("16", "8", "full", "fp8", "3") and
       int(found["batch.micro"]) * int(found["batch.micro_batches"]) * 16 == 32 and "405853388800" in result.stderr,
       "torchtitan", found)

# DeepSpeed's batch: two of the three give the third; one of the first two stands for accumulation 1.
for given, outcome in (({"train_batch_size": 64}, (64, 8, None)), ({"train_micro_batch_size_per_gpu": 4}, (None, 4, 1)),
                       ({"train_batch_size": 64, "gradient_accumulation_steps": 2}, (64, 4, None)),
                       ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2}, (64, 2, None)),
                       ({"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4}, (None, 2, 4)),
                       ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2,
                         "gradient_accumulation_steps": 4}, (64, 2, None))):
    found, _ = imported("ds.json", "--gpus", 8, files=[("ds.json", json.dumps({**given, "zero_optimization": {}}))])
    expect(tuple(int(found[key]) if key in found else None
                 for key in ("batch.global", "batch.micro", "batch.micro_batches")) == outcome, given, found)
refused(["ds.json:1:1", "neither train_batch_size nor"], "ds.json", files=[("ds.json", '{"zero_optimization": {}}')])
refused(["ds.json:1:2", "64 is not micro 2 x accumulation 2 x data 8"], "ds.json", "--gpus", 8, files=[(
    "ds.json", '{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 2}')])
refused(["ds.json:1:2", "no multiple"], "ds.json", "--gpus", 7, files=[("ds.json", '{"train_batch_size": 64}')])
for stage, overlap in ((0, "false"), (2, "false"), (3, "true")):
    found, _ = imported("ds.json", files=[("ds.json", json.dumps(
        {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": stage}, "bf16": {"enabled": True}}))])
    expect(found["communication.overlap"] == overlap and found["transformer.bucket"] == "1000000000B", stage, found)

# accelerate's sharding strategies, by name and number.
for word, outcome in (("FULL_SHARD", ("3", None)), ("1", ("3", None)), ("SHARD_GRAD_OP", ("3", "false")),
                      ("NO_SHARD", ("0", None)), ("5", ("3", "false"))):
    found, _ = imported("a.yaml", files=[("a.yaml", "distributed_type: FSDP\nnum_processes: 16\nnum_machines: 2\n"
                                          f"fsdp_config:\n  fsdp_sharding_strategy: {word}\n")])
    expect((found["transformer.zero"], found.get("transformer.reshard")) == outcome, word, found)

# Layouts that no run could have are named as missing, with the option's place.
SMALL = ["--num-layers", 6, "--hidden-size", 512, "--num-attention-heads", 8, "--vocab-size", 512, "--seq-length", 64,
         "--micro-batch-size", 1]
_, result = imported("--gpus", 4, "--", *SMALL, "--pipeline-model-parallel-size", 4)
expect("transformer.layers_per_stage: 6 layers do not divide over 4 stages" in result.stderr, "stages", result.stderr)
_, result = imported("--gpus", 4, "--", *SMALL, "--num-experts", 8, "--expert-model-parallel-size", 8)
expect("--expert-model-parallel-size 8 does not divide the 4" in result.stderr, "experts", result.stderr)

# What is refused, and where.
refused(["job.sh:2:13", "--num-layers is $LAYERS", "--define LAYERS=VALUE"], "job.sh",
        files=[("job.sh", "# x\npython x.py --num-layers $LAYERS\n")])
refused(["job.sh:1:1", "no command with options of Megatron-LM"], "job.sh", files=[("job.sh", "echo hello\n")])
# A value that a scenario would refuse is refused here, whichever key it is for: nothing is counted with it.
WHOLE = {"--num-layers": "24", "--hidden-size": "2048", "--num-attention-heads": "16", "--vocab-size": "50304",
         "--ffn-hidden-size": "8192", "--num-query-groups": "4", "--num-experts": "8", "--moe-router-topk": "2",
         "--moe-ffn-hidden-size": "1024", "--seq-length": "2048", "--kv-channels": "128"}
for option in WHOLE:
    for value in ("0", "65537", "1000000000", "99999999999999999999", "-1", "x"):
        options = [word for pair in {**WHOLE, option: value}.items() for word in pair]
        result = run("import", "--", "--group-query-attention", *options)
        expect(result.returncode in (0, 1), f"{option} {value}", f"exit {result.returncode}: {result.stderr}")
        if result.returncode:
            expect(option in result.stderr and not result.stdout, f"{option} {value}", result.stderr)
        else:
            expect(float(values(result.stdout).get("model.layers", 0)) <= 10000, f"{option} {value}", result.stdout)
refused(["--num-attention-heads: error: heads is 65537; expected at most 65536"], "--", "--num-layers", "24",
        "--hidden-size", "2048", "--num-attention-heads", "65537", "--vocab-size", "50304")
refused(["--num-layers: error: layers is 1000000"], "--", "--num-layers", "1000000", "--hidden-size", "2048",
        "--num-attention-heads", "16", "--vocab-size", "50304")
# Sizes are multiplied: no product of them wraps round to 0, which nothing can be divided by, or to a smaller one.
SIZES = ["--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--context-parallel-size", "--nnodes",
         "--micro-batch-size", "--global-batch-size", "--make-vocab-size-divisible-by", "--expert-model-parallel-size",
         "--num-layers-per-virtual-pipeline-stage", "--decoder-first-pipeline-num-layers"]
for first in SIZES:
    for second in SIZES:
        for one, other in ((1 << 31, 1 << 31), (1 << 32, 1 << 32), ((1 << 32) - 1, 1 << 33)):
            given = {"--num-layers": 24, "--vocab-size": 50304, "--nproc_per_node": 8, first: one}
            given.setdefault(second, other)
            result = run("import", "--", *[str(word) for pair in given.items() for word in pair])
            large = [option for option, size in given.items() if option in SIZES and size >> 32]
            expect(result.returncode == 1 if large else result.returncode in (0, 1), f"{given}",
                   f"exit {result.returncode}: {result.stderr}")
            expect(any(option in result.stderr for option in large or [""]), f"{given}: at its place", result.stderr)
refused(["--tensor-model-parallel-size: error: parallel.tensor is 4294967296; expected a whole number of at most"],
        "--", "--num-layers", 24, "--tensor-model-parallel-size", 1 << 32, "--pipeline-model-parallel-size", 1 << 32)
refused(["t.toml:4:", "at most 4294967295"], "t.toml", files=[("t.toml", """[training]\nbatch_size = 1\n[parallelism]
data_parallel_replicate_degree = 4294967295\ndata_parallel_shard_degree = 4294967295\n""")])
refused(["batch.sh:2:", "18446744073709551615; expected a whole number of at most"], "batch.sh", files=[
    ("batch.sh", "#!/bin/bash\n#SBATCH --nodes=8589934592\n#SBATCH --gpus-per-node=8589934592\n"
     "srun python x.py --num-layers 24 --micro-batch-size 1\n")])
refused(["m.json:1:1", "none of the files that stagesim knows"], "m.json", files=[("m.json", '{"a": 1}')])
refused(["t.toml:2:5", "not TOML", "a value already"], "t.toml", files=[("t.toml", "a = 1\n    a = 2\n")])
refused(["topology.conf:1:1", "a topology of Slurm, no job"], "topology.conf",
        files=[("topology.conf", "SwitchName=s0 Nodes=n[0-3]\n")])
refused(["10 GPUs are no multiple of tensor 8"], "--gpus", 10, "--", "--tensor-model-parallel-size", 8)
refused(["'X', which is no kind of layer"], "--", "--hybrid-layer-pattern", "M*X-")
refused(["is '**'", "expected one letter"], "--", "--hybrid-layer-pattern", "M*/**")
refused(["'rwkv', which is no kind of layer"], "--", "--experimental-attention-variant", "rwkv")
refused(["--pipeline-model-parallel-layout: "], "--", "--pipeline-model-parallel-layout", "tE|L")
# Bytes that are no UTF-8 are shown in comments, refused in TOML; lists of layers break off anywhere.
(FOLDER / "latin.sh").write_bytes(b"python x.py --num-layers 2 --gr\xfc\xdfe 3 --micro-batch-size 1\n")
found, result = imported("latin.sh")
expect("--gr\\xfc\\xdfe" in result.stdout, "latin", result.stdout)
(FOLDER / "latin.toml").write_bytes(b"[parallelism]\na = '\xfc'\n")
refused(["latin.toml:2:6", "UTF-8"], "latin.toml")
for text in ("[", "([0]*", "[0]*1+", "[]", "[0]*1+[1]*99999999999", "0+[1]"):
    result = run("import", "--", "--num-experts", 4, "--moe-layer-freq", text)
    expect(result.returncode == 1 and "--moe-layer-freq is" in result.stderr, text, result.stderr)
# Whose file is it? Several keys that only one format has decide; programs are refused by name.
for tool, text in (("OLMo-core", "from olmo_core.config import Config\n"), ("torchtitan",
"from torchtitan.config import X\n"),
                   ("Megatron-Bridge", "from megatron.bridge import X\ncfg = X()\n")):
    refused([f"a Python program of {tool}, which is not run"], "job.py", files=[("job.py", text)])
# What is computed in a Python file is refused where it is needed, with what computes it.
EVO = ("import os\n{}\nparallel = dict(zero1=8, tensor=1, pipeline=1)\n"
       "data = dict(micro_num=4, micro_bsz=1, seq_len={})\n")
for before, length, reasons in (
        ("", "int(os.environ['L'])", ["job.py:4:47", "seq_len is what int(...) gives, which stagesim does not run"]),
        ("n = 1\nfor i in range(2): n = n + i", "n", ["seq_len is something that depends on what is not followed"]),
        ("def f(*x):\n    return 8", "f()", ["seq_len is what a function gives that is not followed"]),
        ("", "1024 if os.name else 2048", ["seq_len is a choice whose condition is not known"]),
        ("n = 8\nif os.name:\n    from elsewhere import *", "n", ["seq_len is something that depends on what is not"]),
        ("n = 8\nexec('n = 9')", "n", ["seq_len is what a program in the program may have changed"]),
        ("n = 8\nglobals()['n'] = 9", "n", ["seq_len is what a program in the program may have changed"]),
        ("n = dict(l=8)\nassert n.pop('l')", "n['l']", ["seq_len is what a method changed that is not followed"]),
        ("", "'long'", ["data.seq_len is the text 'long'; expected a count"])):
    refused(reasons, "job.py", files=[("job.py", EVO.format(before, length))])
refused(["parallel is what was given to a function that is not followed"], "job.py", files=[
    ("job.py", EVO.format("", 8) + "hybrid_zero_optimizer = dict()\nadapt(parallel)\n")])
REGISTRY = """from torchtitan.trainer import Trainer
def small():
    return Trainer.Config(model_spec=model_registry("8B"), training=TrainingConfig(max_context_length={}))
def large():
    config = small()
    tune(config)
    return config
"""
for arguments, length, reasons in (
        ([], 2048, ["several configurations; expected --config with one of small, large"]),
        (["--config", "smallx"], 2048, ["--config: error: no function 'smallx' in job.py; did you mean 'small'?"]),
        (["--config", "large"], 2048, ["job.py:6:5", "returns what was given to a function that is not followed"]),
        (["--config", "small"], 3000, ["training.num_tokens_per_microbatch_per_dp_rank 16384 is no multiple of "
                                       "training.max_context_length 3000"])):
    refused(reasons, "job.py", *arguments, files=[("job.py", REGISTRY.format(length))])
for text, reason in (("a = (1\n", "the bracket that opens here is not closed"), ("a = 'x\n", "does not end"),
                     ("if a:\n    b = 1\n  c = 2\n", "indented as no block"), ("a = 1)\n", "closes none")):
    refused(["this is not Python", reason], "job.py", files=[("job.py", text)])
refused(["finetuning_type is 'lora'; expected one of full\n"], "lora.yaml", files=[
    ("lora.yaml", "model_name_or_path: x\nstage: sft\ndo_train: true\nfinetuning_type: lora\ntemplate: "
    "y\ncutoff_len: 64\n")])
# nanotron, GPT-NeoX and LLM-Foundry have keys of torchtitan, DeepSpeed and accelerate, and are none of them.
for case, tool in (("nanotron", "nanotron"), ("neox", "GPT-NeoX"), ("foundry", "LLM-Foundry"), ("axolotl", "axolotl"),
                   ("factory", "LLaMA-Factory"), ("maxtext", "MaxText"), ("internevo", "InternEvo"), ("olmo", "OLMo"),
                   ("olmo-core", "OLMo-core"), ("titan-registry", "torchtitan")):
    expect(f"({tool})" in (HERE / "jobs" / case / "told.golden").read_text(), f"{case} is {tool}")

# One key that several formats have decides nothing.
for text in ("parallelism:\n  workers: 3\n", "gradient_accumulation_steps: 4\nlearning_rate: 1\n",
"fsdp_config:\n  shards: 3\n"):
    refused(["none of the files that stagesim knows"], "vague.yaml", files=[("vague.yaml", text)])

# Relatives of Megatron-LM, and options that are not known but could set what would be a default.
BASE = ["--num-layers", 4, "--hidden-size", 512, "--num-attention-heads", 8, "--micro-batch-size", 1]
found, _ = imported("--", *BASE, "--checkpoint-activations", "--zero-stage", 2)
expect(found["schedule.recompute"] == "full" and found["transformer.zero"] == "2", "Megatron-DeepSpeed", found)
found, result = imported("--", *BASE, "--recompute-granularity", "selective", "--recompute-modules", "mlp")
expect(found["schedule.recompute"] == "none" and "mlp is not computed again" in result.stderr, "modules", found)
refused(["--my-recompute-mode is no option that stagesim knows, and may set schedule.recompute"], "--", *BASE,
        "--my-recompute-mode", "all")
for option, key in (("--model-parallel-size", "parallel.tensor"), ("--pipe-parallel-size", "parallel.pipeline")):
    refused([f"{option} is no option that stagesim knows, and may set {key}"], "--", *BASE, option, 2)
found, _ = imported("--", *BASE, "--glu-activation", "geglu", "--ffn-hidden-size", 1024, "--embed-layernorm")
expect((found["model.gated"], found["model.embedding_norm"]) == ("true", "true"), "BigScience's blocks", found)
# A script of a cluster: what it reads in is not there, and clears the screen before it launches.
found, _ = imported("cluster.sh", files=[("cluster.sh", f"""source $WORK/start
MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
LAUNCHER="python -u -m torch.distributed.run --nproc_per_node 8 --nnodes 2 --rdzv_endpoint $MASTER_ADDR:6000"
clear; srun bash -c "$LAUNCHER --node_rank \\$SLURM_PROCID x.py {' '.join(map(str, BASE))}" 2>&1 | tee log.txt
""")])
expect((found["model.layers"], found["parallel.data"]) == ("4", "16"), "a script of a cluster", found)
found, _ = imported("--set", "schedule.recompute=full", "--", *BASE, "--my-recompute-mode", "all")
expect(found["schedule.recompute"] == "full", "--set answers", found)
for name in ("onebitadam", "zerooneadam", "OneBitAdam", "ZeroOneAdam", "0/1Adam"):
    _, result = imported("--", *BASE, "--optimizer", name)
    expect(f"the optimizer {name} is taken as adam" in result.stderr, "compressed Adam is named", result.stderr)
EXPERTS = [*BASE, "--num-experts", 8, "--expert-model-parallel-size", 2, "--moe-layer-recompute"]
(beside, _), (_, result) = (imported("--gpus", 4, "--", *EXPERTS, "--overlap-moe-expert-parallel-comm",
                                     "--pipeline-model-parallel-size", stages) for stages in (1, 2))
for word in ("moe-layer-recompute", "without --moe-grouped", "dispatcher-type: absent, it is allgather", "into chunks"):
    expect(word in result.stderr, f"{word} is named", result.stderr)
found, _ = imported("--gpus", 2, "--", *EXPERTS, "--moe-grouped-gemm", "--moe-token-dispatcher-type", "flex")
expect((beside["schedule.name"], found["transformer.expert_exchange"]) == ("combined-1f1b", "deepep"), "tokens", found)
_, result = imported("--gpus", 2, "--", *EXPERTS, "--moe-grouped-gemm", "--moe-token-dispatcher-type", "alltoall")
expect("grouped" not in result.stderr and "dispatcher" not in result.stderr, "as stagesim has them", result.stderr)
for dtype, gradients in (("bf16", "same"), ("fp32", "fp32")):
    found, _ = imported("--", *BASE, "--bf16", "--use-megatron-fsdp", "--megatron-fsdp-grad-comm-dtype", dtype)
    expect(found["transformer.gradients"] == gradients, f"gradients in {dtype}", found)
# Layers of unequal shape, in a file that is not there or with blocks that no layer has.
UNEQUAL = "torchrun --nproc_per_node 8 pretrain_gpt.py " + " ".join(map(str, BASE)) + " --seq-length 512"
CONFIG = "--heterogeneous-layers-config-path"
LAYER = {"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 3}}
BLOCKS = {"block_configs": [LAYER, LAYER, {"attention": {"no_op": True}, "mlp": {"ffn_hidden_size": 640}},
                            {"attention": {"num_query_groups": 8}, "ffn": {"no_op": True}}]}
refused(["train.sh:1:", "is not there", f"the file that {CONFIG} names"], "train.sh",
        files=[("train.sh", f"{UNEQUAL} {CONFIG} ./none.json")])
refused([f"the file that {CONFIG} names is not read;"], "--", *BASE, CONFIG, "a.json")
found, _ = imported("--set", "model.layer_ffn=[1, 2, 3, 4]", "--", *BASE, CONFIG, "a.json")
for change, reason in (({"block_configs": [LAYER]}, "no block_configs with an entry for each layer"),
                       ({"layers": []}, "has no block_configs"),
                       ({"block_configs": [{"attention": {"replace_with_linear": True}, "ffn": {"ffn_mult": 1}}] * 4},
                        "the attention is a linear map"),
                       ({"block_configs": [{"attention": {"n_heads_in_group": 3}, "ffn": {"ffn_mult": 1}}] * 4},
                        "n_heads_in_group is the text '3'; expected a divisor of 8 heads"),
                       ({"block_configs": [LAYER, {}, "x", LAYER]}, "has no map of its attention"),
                       ({"block_configs": [LAYER, LAYER, {"attention": LAYER}, LAYER]}, "of its feed-forward block"),
                       ({"block_configs": [{"attention": {"no_op": "maybe"}, "ffn": {"no_op": True}}] * 4},
                        "no_op is the text 'maybe'; expected true or false"),
                       ({"block_configs": [{"attention": {"no_op": True}, "ffn": {"ffn_mult": -1}}] * 4},
                        "ffn_mult is the text '-1'; expected a positive number")):
    refused([reason], "train.sh", files=[("train.sh", f"{UNEQUAL} {CONFIG} ./b.json"), ("b.json", json.dumps(change))])
found, _ = imported("--", *BASE, "--heterogeneous-layers-config-encoded-json", json.dumps(BLOCKS))
expect((found["model.layer_kv_heads"], found["model.layer_ffn"]) == ("[4, 4, 0, 8]", "[1024, 1024, 640, 0]"),
       "unequal layers as text", found)

def changed_core(path, value):
    """What import says of the saved configuration of OLMo-core with one value changed."""
    changed = node = json.loads((HERE / "jobs/olmo-core/config.json").read_text())
    *folders, last = path.split(".")
    for each in folders:
        node = node[each]
    node[last] = value
    return imported("config.json", "--platform", "dgx-h100:4", files=[("config.json", json.dumps(changed))])


# OLMo-core: what else its saved configuration says.
for path, value, wanted in (
        ("train_module.float8_config.enabled", True, {"compute.precision": "fp8"}),
        ("train_module.tp_config", {"degree": 2}, {"parallel.tensor": "2", "transformer.sequence_parallel": "true"}),
        ("train_module.dp_config.shard_degree", 4, {"transformer.shard_ranks": "4"}),
        ("train_module.pp_config", {"degree": 2, "schedule": "1F1B"}, {"parallel.pipeline": "2",
                                                                       "schedule.name": "1f1b"}),
        ("train_module.ac_config", {"mode": "full"}, {"schedule.recompute": "full"}),
        ("model.block.sequence_mixer.use_head_qk_norm", True, {"model.qk_norm_whole": "false"}),
        ("model.block.name", "peri_norm", {"model.norms": "4"})):
    found, _ = changed_core(path, value)
    expect({key: found.get(key) for key in wanted} == wanted, f"OLMo-core: {path}", found)
for path, value in (("model.freeze_params", ["blocks.*"]), ("model.block_pattern", ["a", "b"]),
                    ("model.block.sequence_mixer.sliding_window", {"pattern": [4096]}),
                    ("model.block.feed_forward_moe", {"shared_mlp": {"hidden_size": 512}}),
                    ("train_module.float8_config", {"enabled": True, "ao_recipe": "rowwise"}),
                    ("train_module.dp_config.prefetch_factor", 2)):
    expect(f"not modelled {path}" in changed_core(path, value)[1].stderr, f"OLMo-core: {path} is not said")

# Megatron-DeepSpeed: the configuration that the script writes, or that lies beside it, is read, too.
DEEPSPEED = """CONFIG=./ds.json
cat <<END > $CONFIG
{"train_micro_batch_size_per_gpu": 1, "train_batch_size": 64, "zero_optimization": {"stage": 1},
 "bf16": {"enabled": true}, "communication_data_type": "fp32", "optimizer": {"type": "ZeroOneAdam"}}
END
deepspeed --num_gpus 8 x.py --num-layers 4 --hidden-size 512 --num-attention-heads 8 --micro-batch-size 1 \\
 --deepspeed --deepspeed_config $CONFIG --checkpoint-activations --bf16"""
found, result = imported("deepspeed.sh", "--gpus", 8, files=[("deepspeed.sh", DEEPSPEED)])
expect(found["framework"] == "deepspeed" and found["transformer.zero"] == "1" and found["batch.global"] == "64" and
       found["schedule.recompute"] == "full" and found["transformer.gradients"] == "fp32" and
       found["transformer.attention"] == "standard" and "ZeroOneAdam is taken as adam" in result.stderr,
       "Megatron-DeepSpeed", result.stdout + result.stderr)
# In bf16 its optimizer shares the state at any stage and adds gradients up in fp32; a launch that waits for each kernel
# says so; the embedding may count as a layer.
BF16 = DEEPSPEED.replace('"stage": 1', '"stage": 0').replace(
    "--checkpoint-activations", "--checkpoint-activations --pipeline-model-parallel-size 2 --pad-vocab-size-to 999 "
    "--pp-partition-method 'type:transformer|embedding' --use-flash-attn-v2")
BLOCKING = "export CUDA_LAUNCH_BLOCKING=1\n" + BF16
found, result = imported("deepspeed.sh", "--gpus", 8, files=[("deepspeed.sh", BLOCKING)])
expect(found["transformer.zero"] == "1" and found["transformer.gradients"] == "accumulated" and
       found["model.vocabulary"] == "999" and found["transformer.layers_per_stage"] == "[2, 2]" and
       found["transformer.attention"] == "flash" and found["compute.launch"] == "450us", "BF16_Optimizer",
       result.stdout)
for text in ("CUDA_LAUNCH_BLOCKING=1\n" + BF16, "export CUDA_LAUNCH_BLOCKING=0\n" + BF16, BF16):
    found, _ = imported("deepspeed.sh", "--gpus", 8, files=[("deepspeed.sh", text)])
    expect("compute.launch" not in found, "not in the environment, or not 1", text)
AWAY = DEEPSPEED.replace("CONFIG=./ds.json\n", "").replace("$CONFIG", "other.json").replace("> other.json", "> x.txt")
_, result = imported("deepspeed.sh", "--gpus", 8, files=[("deepspeed.sh", AWAY)])
expect("other.json is not read: it is not there; give it as well" in result.stderr, "a file that is away",
       result.stderr)
OTHER = ("other.json", '{"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2}}')
for text in (AWAY, AWAY.replace("--deepspeed_config ", "--deepspeed_config=")):
    _, result = imported("deepspeed.sh", "--gpus", 8, files=[("deepspeed.sh", text), OTHER])
    expect("zero: 2" in result.stdout, "a file that is there", result.stdout)

# Scripts that lost their job: here-documents, expansions of harmless options, eval, files of options alone.
MODEL = "--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 --micro-batch-size 1"
for name, text in {
        "here.sh": "NAME=my_job\nsbatch <<X\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\nsrun torchrun x.py " +
                   MODEL +
                   " --wandb-exp-name ${NAME//_}\nX\n",
        "eval.sh": f"CMD=\"torchrun --nproc_per_node 8 x.py {MODEL} --data-path \\\"$HOME/my data\\\"\"\neval $CMD\n",
        "options.txt": MODEL.replace(" --", "\n--") + "\n# all of it\n",
        "sourced.sh": "source model.sh\ntorchrun x.py $MODEL_ARGS\n"}.items():
    found, result = imported(name, files=[(name, text), ("model.sh", f"MODEL_ARGS='{MODEL}'\n")])
    expect(found["model.layers"] == "24" and found["model.hidden"] == "2048", name, result.stdout)
refused(["lost.sh:3:1", "$ARGS is not known: a condition that is not known (line 2)", "--define"], "lost.sh", files=[
    ("lost.sh", f"ARGS='{MODEL}'\nif program; then ARGS='--num-layers 2'; fi\ntorchrun x.py $ARGS\n")])
refused(["more.sh:2:", "$MORE is not known here: the output of a command (line 1)", "--define MORE=VALUE"], "more.sh",
files=[
    ("more.sh", f"MORE=$(program)\ntorchrun x.py {MODEL} $MORE\n")])
refused(["word.sh:1:", "'--num-layers 24' is one word, as it is quoted, and no option"], "word.sh", files=[
    ("word.sh", 'torchrun x.py "--num-layers 24" --micro-batch-size 1\n')])

# What import knows, every command says.
JOB = ["--num-layers", 4, "--hidden-size", 1024, "--num-attention-heads", 16, "--seq-length", 1024,
       "--micro-batch-size", 1, "--global-batch-size", 16, "--optimizer", "onebitadam", "--twisted-cord", "it's"]
imported("--platform", "dgx-a100:1", "--set", "model.vocabulary=32000", "-o", "left.yaml", "--", *JOB)
left = caveats((FOLDER / "left.yaml").read_text())
expect(len(left["not_modelled"]) == 1 and "onebitadam" in left["not_modelled"][0] and len(left["not_known"]) == 1 and
       left["not_known"][0].startswith("--twisted-cord: "), "imported", left)
COUNTS = "the command line (Megatron-LM): 1 not modelled, 1 not known"
for command in (["check"], ["run", "--engine", "analytic"], ["search", "--jobs", "1", "--engine", "analytic"],
                ["compare"], ["sweep", "--set", "batch.micro=1,2"], ["layouts", "--method", "axonn"]):
    result = run(command[0], "left.yaml", *command[1:])
    expect("imported from " + COUNTS in result.stderr and "not known    --twisted-cord" in result.stderr,
           f"{command} says what was left open", result.stderr)
for command in ("run", "check"):
    result = run(command, "left.yaml")
    expect("imported" in result.stdout and COUNTS in result.stdout, f"{command}: the first screen", result.stdout)
run("run", "left.yaml", "-o", "out", "--report", "--engine", "analytic", "--trace", "csv")
about = json.loads((FOLDER / "out/about.json").read_text())
whole = json.loads((FOLDER / "out/summary.json").read_text())["scenario"]["imported"]
expect(f"imported, not modelled: {left['not_modelled'][0]}" in about["notes"], "about.json", about)
expect(whole == {"summary": COUNTS, "not_modelled": left["not_modelled"], "not_known": left["not_known"]},
       "summary.json", whole)
page = (FOLDER / "out/report.html").read_text()
expect(f"Imported from {COUNTS} " in page and "<dt>not known</dt><dd>--twisted-cord" in page, "report.html")
run("report", "out")
expect("<dt>not known</dt><dd>--twisted-cord" in (FOLDER / "out/report.html").read_text(), "report DIR")
again = run("run", "out/scenario.yaml", "--engine", "analytic")
expect(COUNTS in again.stdout, "scenario.yaml of an output keeps it", again.stdout)
# An assumption counts no more where the command line gives the value.
ASSUMED = "  assumed:\n    - 'batch.micro: 1, why not'\n"
(FOLDER / "assumed.yaml").write_text((FOLDER / "left.yaml").read_text() + ASSUMED)
expect("1 assumed" in run("check", "assumed.yaml").stdout, "assumed")
expect("1 assumed" not in run("check", "assumed.yaml", "--set", "batch.micro=2").stdout, "no more assumed")
sys.exit(failures > 0)
