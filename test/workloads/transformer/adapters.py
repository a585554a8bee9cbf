#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""adapters STAGESIM: low-rank adapters beside frozen weights: their parameters, gradients, state and traffic by hand,
times between those of a forward and of whole training; 4-bit weights; Muon's state and products."""
import json
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
failures = 0

# One algorithm for exchanges of all sizes: in-network reduction, which auto takes for large ones, sends less.
JOB = {"platform": "dgx-h100:1", "workload": "transformer", "model": "llama3-8b", "parallel": {"data": 8},
       "batch": {"global": 16, "micro": 1}, "schedule": {"name": "1f1b", "recompute": "none"},
       "compute": {"precision": "bf16"}, "communication": {"all_reduce": "ring"}}


def expect(good, *what):
    global failures
    if not good:
        failures += 1
        print(*what)


def run(*sets):
    (FOLDER / "job.yaml").write_text(json.dumps(JOB))
    out = FOLDER / "out"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    result = subprocess.run([STAGESIM, "run", str(FOLDER / "job.yaml"), "--engine", "analytic", "-o", str(out),
                             "--quiet", *[f"--set={each}" for each in sets]], capture_output=True, text=True)
    if result.returncode:
        return None, result.stderr
    summary = json.loads((out / "summary.json").read_text())
    return {**summary["time"], **summary["memory"]["parts"], **summary["communication"]}, ""


whole, why = run()
expect(whole, why)
# Of each layer r (k + n) for queries, keys and values in one, projection, both gated matrices in one, and the last.
rank, layers = 16, 32
adapters = rank * layers * ((4096 + 6144) + (4096 + 4096) + (4096 + 28672) + (14336 + 4096))
tuned, why = run(f"transformer.adapter_rank={rank}")
expect(tuned, why)
expect(tuned["gradients_bytes"] == 4 * adapters, "gradients", tuned["gradients_bytes"], 4 * adapters)
expect(tuned["optimizer_bytes"] == 12 * adapters, "state", tuned["optimizer_bytes"])
expect(tuned["parameters_bytes"] == whole["parameters_bytes"] + 2 * adapters, "weights", tuned["parameters_bytes"])
share = adapters / 8030261248
expect(abs(tuned["sent_bytes"] / whole["sent_bytes"] / share - 1) < 1e-9, "sent", tuned["sent_bytes"], share)
expect(0.55 * whole["iteration_s"] < tuned["iteration_s"] < 0.9 * whole["iteration_s"], "time", whole, tuned)
narrow, why = run(f"transformer.adapter_rank={rank}", "transformer.frozen_bytes=0.5")
expect(narrow["parameters_bytes"] == whole["parameters_bytes"] / 4 + 2 * adapters, "4 bits", narrow)
expect(narrow["iteration_s"] == tuned["iteration_s"], "4 bits change no product", narrow)
# Adapters of a part of the ranks' columns, of experts, with all that is shared, in a pipeline.
for sets in (("parallel={tensor: 2, pipeline: 2, data: 2}", "transformer.sequence_parallel=true"),
             ("transformer.zero=3",), ("model=mixtral-8x7b", "parallel={data: 8, expert: 8}"),
             ("model=qwen3.5-35b-a3b", "parallel={data: 8, expert: 8}"), ("model=nemotron-3-nano",),
             ("schedule.name=zb-h1", "parallel={pipeline: 4, data: 2}"), ("schedule.recompute=full",)):
    base, why = run(*sets)
    expect(base, sets, why)
    part, why = run("transformer.adapter_rank=8", *sets)
    expect(base and part and 0 < part["gradients_bytes"] < 0.02 * base["gradients_bytes"], sets, why, part)
    expect(base and part and part["iteration_s"] < base["iteration_s"], sets, "time")
for sets, words in ((("transformer.frozen_bytes=0.5",), "frozen_bytes changes nothing here; it needs"),
                    (("transformer.adapter_rank=8", "tensor_parallel.algorithm=axonn-3d"),
                     "adapters are for megatron")):
    result, why = run(*sets)
    expect(result is None and words in why, sets, why)

# Muon keeps one moment of matrices, of all else two; five steps of three products for each matrix, of which queries,
# keys and values are one, and both gated ones. Tensor-parallel ranks have parts of each, and do so with these.
def steps(*matrices):
    return sum(count * 5 * (4 * min(k, n) ** 2 * max(k, n) + 2 * min(k, n) ** 3) for count, k, n in matrices)


def matrices_of(t):
    return ((32, 4096, 6144 // t), (32, 4096 // t, 4096), (32, 4096, 28672 // t), (32, 14336 // t, 4096))


SHARE = 0.5
EVEN = (f"compute.efficiency={SHARE}", "communication.overlap=false")
for ranks in (1, 2, 8):
    layout = (f"parallel={{tensor: {ranks}, data: {8 // ranks}}}", *EVEN)
    (adam, why), (muon, more) = run(*layout), run("transformer.optimizer=muon", *layout)
    expect(adam and muon, why, more)
    elements = sum(count * k * n for count, k, n in matrices_of(ranks))
    parameters = adam["optimizer_bytes"] / 12
    expect(abs(muon["optimizer_bytes"] - 12 * parameters + 4 * elements) < 1, "state of Muon", ranks, muon)
    seconds = steps(*matrices_of(ranks)) / (989e12 * SHARE)
    expect(abs(muon["iteration_s"] - adam["iteration_s"] - seconds) < 1e-9 * adam["iteration_s"], "products of Muon",
           ranks, muon["iteration_s"] - adam["iteration_s"], seconds)
# Replicas that share the optimizer have a part of the matrices each; whole ones are taken to be theirs.
(adam, why), (muon, more) = (run("transformer.zero=1", *EVEN, *sets) for sets in ((), ("transformer.optimizer=muon",)))
expect(abs(muon["iteration_s"] - adam["iteration_s"] - steps(*matrices_of(1)) / 8 / (989e12 * SHARE))
       < 1e-9 * adam["iteration_s"], "shared Muon", muon["iteration_s"] - adam["iteration_s"])
# Experts are matrices of their own, the router is one, too.
EXPERTS = ("model=mixtral-8x7b", "parallel={data: 8, expert: 4}", *EVEN)
(adam, why), (muon, more) = run(*EXPERTS), run("transformer.optimizer=muon", *EXPERTS)
moe = ((32, 4096, 6144), (32, 4096, 4096), (32, 4096, 8), (64, 4096, 28672), (64, 14336, 4096))
expect(abs(muon["iteration_s"] - adam["iteration_s"] - steps(*moe) / (989e12 * SHARE)) < 1e-9 * adam["iteration_s"],
       "Muon of experts", muon["iteration_s"] - adam["iteration_s"], steps(*moe) / (989e12 * SHARE))
# Both adapters of a matrix are matrices.
(adam, why), (muon, more) = (run("transformer.adapter_rank=16", *EVEN, *sets)
                             for sets in ((), ("transformer.optimizer=muon",)))
narrow = [shape for count, k, n in matrices_of(1) for shape in ((count, k, 16), (count, 16, n))]
expect(abs(muon["optimizer_bytes"] - 8 * adapters) < 1 and
       abs(muon["iteration_s"] - adam["iteration_s"] - steps(*narrow) / (989e12 * SHARE)) < 1e-9 * adam["iteration_s"],
       "Muon of adapters", muon, adam["iteration_s"])

# Moments of 8 bits with a scale for 256 of them; a master weight of 16 bits.
parameters = whole["optimizer_bytes"] / 12
state, why = run("transformer.moment_bytes=1.015625")
expect(abs(state["optimizer_bytes"] - parameters * (4 + 2.03125)) < 1, "moments", state, why)
expect(state["iteration_s"] < whole["iteration_s"], "fewer bytes take less time")
state, why = run("transformer.moment_bytes=2", "transformer.master_bytes=2")
expect(state["optimizer_bytes"] == parameters * 6, "all of 16 bits", state, why)
state, why = run("transformer.moment_bytes=2", "transformer.optimizer=muon")
elements = sum(count * k * n for count, k, n in matrices_of(1))
expect(abs(state["optimizer_bytes"] - 8 * parameters + 2 * elements) < 1, "narrow moments of Muon", state)
result, why = run("transformer.moment_bytes=0.1")
expect(result is None and "moment_bytes" in why, why)
# An optimizer on the host, whole or a half of it: gradients there, weights back, the state in the host's memory.
(plain, why), (host, more) = run("transformer.zero=1", *EVEN), run(
    "transformer.zero=1", "transformer.optimizer_offload=1", "transformer.host_bandwidth=50GBps", *EVEN)
expect(plain and host, why, more)
own = 8030261248 / 8
seconds = own * (4 + 2) / 25e9 + own * (4 + 2 * 12 + 2) / 50e9
expect(host["optimizer_bytes"] == 0 and abs(host["iteration_s"] - plain["iteration_s"] - seconds) < 1e-9,
       "on the host", host, seconds)
half, why = run("transformer.zero=1", "transformer.optimizer_offload=0.5", "transformer.host_bandwidth=50GBps",
                "transformer.offload_rate=50GBps", *EVEN)
seconds = own / 2 * (4 + 2) / 50e9 + own / 2 * (4 + 2 * 12 + 2) / 50e9
expect(abs(half["optimizer_bytes"] * 2 - plain["optimizer_bytes"]) < 1 and
       abs(half["iteration_s"] - plain["iteration_s"] - seconds) < 1e-9, "a half on the host", half, seconds)
for sets, words in ((("transformer.optimizer_offload=1",), "expected transformer.host_bandwidth as well"),
                    (("transformer.host_bandwidth=50GBps",), "needs transformer.optimizer_offload"),
                    (("transformer.optimizer_offload=1", "transformer.host_bandwidth=50GBps",
                      "transformer.optimizer=muon"), "products of Muon on a host are not known")):
    result, why = run(*sets)
    expect(result is None and words in why, sets, why)

# Megatron-LM's options of them.
LAUNCH = ("torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 "
          "--seq-length 1024 --max-position-embeddings 1024 --vocab-size 32000 --micro-batch-size 1 --bf16 "
          "--global-batch-size 64 ")
for options, lines in (("--optimizer dist_muon", ("optimizer: muon ",)), ("--optimizer muon", ("optimizer: muon ",)),
                       ("--exp-avg-dtype bf16 --exp-avg-sq-dtype fp8", ("moment_bytes: 1.5 ",)),
                       ("--main-params-dtype fp16 --exp-avg-dtype fp16", ("master_bytes: 2 ", "moment_bytes: 3 ")),
                       ("--use-bnb-optimizer", ("moment_bytes: 1.015625 ",))):
    (FOLDER / "train.sh").write_text(LAUNCH + options + "\n")
    result = subprocess.run([STAGESIM, "import", str(FOLDER / "train.sh"), "--platform", "dgx-h100:1"],
                            capture_output=True, text=True)
    expect(all(line in result.stdout for line in lines), options, result.stdout, result.stderr)
    (FOLDER / "train.yaml").write_text(result.stdout)
    result = subprocess.run([STAGESIM, "export", str(FOLDER / "train.yaml"), "--to", "megatron"], capture_output=True,
                            text=True)
    expect(("muon" not in options or "--optimizer muon" in result.stdout) and
           ("bnb" not in options or "--use-bnb-optimizer" in result.stdout) and
           ("--main" not in options or "--main-params-dtype fp16" in result.stdout), options, result.stdout,
           result.stderr)
sys.exit(failures > 0)
