#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whose.py STAGESIM: whose file is it? Two files of each format, and of formats that are none of ours: each is read as
what it is, with the values that it gives, or is refused with the reason. None is read as another one."""
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = pathlib.Path(sys.argv[1]).resolve()
failures = 0
TORCHRUN = "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py"
SHAPE = "--num-layers 12 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 --micro-batch-size 2"
TITAN = "from torchtitan.trainer import Trainer\n"
CORE = """{"model": {"_CLASS_": "TransformerConfig", "d_model": 512, "vocab_size": 1024, "n_layers": 4, "block": {
"attention": {"n_heads": 8, "bias": false}, "layer_norm": {"name": "rms"}, "feed_forward": {"hidden_size": 2048}}},
"data_loader": {"global_batch_size": 65536}, "train_module": {"_CLASS_": "TransformerTrainModuleConfig",
"rank_microbatch_size": 2048, "max_sequence_length": 1024, "dp_config": {"name": "NAME"}}}"""
VERL = "data.train_batch_size=64 actor_rollout_ref.rollout.n=8"
# Name of the file, its text, whose it is or why it is refused, and values of the scenario.
FILES = [
    # Hugging Face
    ("llama.json", '{"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, '
     '"intermediate_size": 8192, "vocab_size": 32000}', "Hugging Face", {"layers": 16, "hidden": 2048}),
    ("moe.json", '{"model_type": "mixtral", "hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16, '
     '"num_key_value_heads": 8, "intermediate_size": 3584, "vocab_size": 32000, "num_local_experts": 8, '
     '"num_experts_per_tok": 2}', "Hugging Face", {"experts": 8, "top_k": 2}),
    ("nested.json", '{"model_type": "internvl_chat", "text_config": {"model_type": "phi7"}}', "refused",
     ["model_type"]),
    ("tokenizer.json", '{"version": "1.0", "added_tokens": []}', "refused", ["none of the files"]),
    # Megatron-LM and Megatron-DeepSpeed
    ("plain.sh", f"{TORCHRUN} {SHAPE} --tensor-model-parallel-size 2", "Megatron-LM", {"tensor": 2, "layers": 12}),
    ("batch.sbatch", f"#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\nARGS='{SHAPE}'\nsrun python x.py "
     "$ARGS --pipeline-model-parallel-size 2", "Megatron-LM", {"pipeline": 2, "micro": 2}),
    ("deepspeed.sh", f"deepspeed --num_gpus 8 x.py {SHAPE} --deepspeed --zero-stage 1", "Megatron-DeepSpeed",
     {"zero": 1}),
    ("checkpoint.sh", f"deepspeed --num_gpus 8 x.py {SHAPE} --deepspeed --checkpoint-activations",
     "Megatron-DeepSpeed", {"recompute": "full"}),
    ("other.sh", "torchrun --nproc_per_node 8 train.py --lr 1e-4 --epochs 3", "refused", ["no command with options"]),
    ("computed.sh", f"{TORCHRUN} {SHAPE} --tensor-model-parallel-size $(nvidia-smi -L | wc -l)", "refused",
     ["--tensor-model-parallel-size"]),
    # NeMo 1, Megatron-Bridge
    ("nemo.yaml", "trainer: {num_nodes: 2, devices: 8}\nmodel: {num_layers: 12, hidden_size: 1024, "
     "num_attention_heads: 16, encoder_seq_length: 2048, micro_batch_size: 1, global_batch_size: 64, "
     "tensor_model_parallel_size: 2}", "NeMo", {"tensor": 2, "layers": 12}),
    ("launcher.yaml", "run: {name: x}\ntrainer: {num_nodes: 1, devices: 8, precision: bf16}\nmodel: {num_layers: 4, "
     "hidden_size: 512, num_attention_heads: 8, encoder_seq_length: 512, micro_batch_size: 4, global_batch_size: 64, "
     "pipeline_model_parallel_size: 2}", "NeMo", {"pipeline": 2, "micro": 4}),
    ("bridge.yaml", "model: {tensor_model_parallel_size: 4, seq_length: 4096}\ntrain: {global_batch_size: 128, "
     "micro_batch_size: 1}", "Megatron-Bridge", {"tensor": 4, "global": 128}),
    ("override.yaml", "model: {context_parallel_size: 2, sequence_parallel: true, tensor_model_parallel_size: 2}\n"
     "train: {micro_batch_size: 2}\nddp: {overlap_grad_reduce: true}", "Megatron-Bridge", {"context": 2}),
    # torchtitan
    ("train.toml", '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nseq_len = 4096\nlocal_batch_size = 2\n'
     "[parallelism]\ntensor_parallel_degree = 4\n", "torchtitan", {"tensor": 4, "sequence": 4096}),
    ("old.toml", '[model]\nname = "llama3"\nflavor = "70B"\n[training]\nbatch_size = 1\nseq_len = 8192\n'
     "data_parallel_shard_degree = 2\n[parallelism]\ntensor_parallel_degree = 8\n", "torchtitan", {"layers": 80}),
    ("qwen3/config_registry.py", TITAN + 'def one():\n    return Trainer.Config(model_spec=model_registry("8B"), '
     "training=TrainingConfig(max_context_length=4096))\n", "torchtitan", {"layers": 36, "sequence": 4096}),
    ("llama3/registry.py", TITAN + "def one(length=2048):\n    config = Trainer.Config(model_spec="
     "model_registry('8B'))\n    config.parallelism = ParallelismConfig(tensor_parallel_degree=2)\n    return config\n",
     "torchtitan",
     {"tensor": 2, "micro": 8}),
    ("poetry.toml", '[tool.poetry]\nname = "x"\n[build-system]\nrequires = []\n', "refused", ["none of the files"]),
    ("printed.json", '{"()": "Trainer.Config", "model_spec": {"()": "model_registry", "name": "llama3", "0": "8B"}, '
     '"training": {"()": "TrainingConfig", "max_context_length": 8192}}', "torchtitan", {"layers": 32}),
    ("made.json", '{"()": "ConfigContainer", "model": {"()": "GPTModelProvider", "num_layers": 8, "hidden_size": 512, '
     '"num_attention_heads": 8, "seq_length": 1024}, "train": {"()": "TrainingConfig", "micro_batch_size": 1, '
     '"global_batch_size": 32}}', "Megatron-Bridge", {"layers": 8, "global": 32}),
    # DeepSpeed, accelerate
    ("ds.json", '{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 3}}',
     "DeepSpeed", {"zero": 3, "micro": 2}),
    ("ds_comment.json", '{ // stage\n"zero_optimization": {"stage": 1}, "train_micro_batch_size_per_gpu": 1, '
     '"gradient_accumulation_steps": 4, "bf16": {"enabled": true}}', "DeepSpeed", {"zero": 1, "precision": "bf16"}),
    ("fsdp.yaml", "distributed_type: FSDP\nnum_processes: 16\nnum_machines: 2\nmixed_precision: bf16\nfsdp_config:\n"
     "  fsdp_sharding_strategy: FULL_SHARD\n", "accelerate", {"zero": 3}),
    ("ddp.yaml", "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 8\nnum_machines: 1\n"
     "mixed_precision: fp16\n", "accelerate", {"precision": "fp16"}),
    # nanotron, GPT-NeoX, LLM-Foundry, MaxText
    ("nanotron.yaml", "model: {dtype: bfloat16, model_config: {num_hidden_layers: 8, hidden_size: 512}}\nparallelism: "
     "{dp: 4, tp: 2, pp: 1}\ntokens: {micro_batch_size: 2, sequence_length: 1024}", "nanotron",
     {"tensor": 2, "layers": 8}),
    ("tiny.yaml", "parallelism: {dp: 1, tp: 1, pp: 8, pp_engine: afab}\ntokens: {batch_accumulation_per_replica: 8, "
     "micro_batch_size: 1, sequence_length: 512}\noptimizer: {zero_stage: 0}", "nanotron", {"pipeline": 8}),
    ("neox.yml", '{"pipe-parallel-size": 2, "model-parallel-size": 4, "num-layers": 8, "hidden-size": 512, '
     '"num-attention-heads": 8, "seq-length": 1024, "pos-emb": "rotary"}', "GPT-NeoX", {"tensor": 4, "pipeline": 2}),
    ("pythia.yml", "pipe_parallel_size: 1\nmodel_parallel_size: 1\nnum_layers: 6\nhidden_size: 512\n"
     "num_attention_heads: 8\nseq_length: 2048\nmax_position_embeddings: 2048\nno_weight_tying: true\n"
     "gpt_j_residual: true\ntrain_micro_batch_size_per_gpu: 32\n", "GPT-NeoX", {"micro": 32, "layers": 6}),
    ("mpt.yaml", "max_seq_len: 2048\nmodel: {name: mpt_causal_lm, d_model: 512, n_heads: 8, n_layers: 4, "
     "expansion_ratio: 4}\ntrain_loader: {name: text}\nglobal_train_batch_size: 64\n"
     "device_train_microbatch_size: 4\nprecision: amp_bf16\n", "LLM-Foundry", {"layers": 4, "micro": 4}),
    ("mpt_fsdp.yaml", "max_seq_len: 1024\nmodel: {name: mpt_causal_lm, d_model: 1024, n_heads: 8, n_layers: 6}\n"
     "train_loader: {name: text}\neval_loader: {name: text}\ndevice_train_microbatch_size: 2\nfsdp_config: "
     "{sharding_strategy: FULL_SHARD}\n", "LLM-Foundry", {"zero": 3}),
    ("maxtext.yml", "base_emb_dim: 1024\nbase_num_query_heads: 8\nbase_num_decoder_layers: 8\nbase_mlp_dim: 4096\n"
     "max_target_length: 2048\nper_device_batch_size: 2\nici_fsdp_parallelism: -1\n", "MaxText", {"layers": 8}),
    ("max_remat.yml", "base_emb_dim: 512\nbase_num_decoder_layers: 4\nbase_mlp_dim: 2048\nremat_policy: full\n"
     "ici_tensor_parallelism: 2\nmax_target_length: 1024\n", "MaxText", {"recompute": "full"}),
    # axolotl, LLaMA-Factory
    ("axolotl.yml", "base_model: x/y\nsequence_len: 4096\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n"
     "val_set_size: 0.05\nsample_packing: true\nbf16: true\n", "axolotl", {"sequence": 4096, "micro": 2}),
    ("ax_lora.yml", "base_model: x/y\nsequence_len: 2048\nadapter: lora\nmicro_batch_size: 1\nval_set_size: 0\n"
     "pad_to_sequence_len: true\ndatasets: []\n", "refused", ["adapter"]),
    ("factory.yaml", "model_name_or_path: x/y\nstage: sft\ndo_train: true\nfinetuning_type: full\ntemplate: llama3\n"
     "cutoff_len: 2048\nper_device_train_batch_size: 2\nbf16: true\n", "LLaMA-Factory", {"sequence": 2048}),
    ("fac_lora.yaml", "model_name_or_path: x/y\nstage: sft\ndo_train: true\nfinetuning_type: lora\ntemplate: y\n"
     "cutoff_len: 64\n", "refused", ["finetuning_type is 'lora'"]),
    # InternEvo, OLMo
    ("evo.py", "model = dict(num_layers=8, hidden_size=512, num_attention_heads=8, mlp_ratio=4)\n"
     "parallel = dict(zero1=dict(size=4), tensor=dict(size=2, mode='msp'), pipeline=1)\n"
     "data = dict(seq_len=1024, micro_num=2, micro_bsz=1)\n", "InternEvo", {"tensor": 2, "zero": 1}),
    ("evo_isp.py", "parallel = dict(zero1=8, tensor=dict(size=2, mode='isp'), pipeline=dict(size=1), "
     "weight=dict(size=4))\ndata = dict(micro_num=2, micro_bsz=1)\n", "refused",
     ["mode is 'isp'; expected one of mtp, msp, fsp 1 |"]),
    ("olmo.yaml", "model: {d_model: 512, n_heads: 8, n_layers: 4, mlp_ratio: 8, weight_tying: true, rope: true, "
     "layer_norm_type: rms, max_sequence_length: 1024}\nglobal_train_batch_size: 64\n"
     "device_train_microbatch_size: 2\nfsdp: {wrapping_strategy: by_block}\n", "OLMo", {"layers": 4, "zero": 3}),
    ("olmo_ddp.yaml", "model: {d_model: 256, n_heads: 4, n_layers: 2, mlp_ratio: 4, activation_type: gelu, "
     "max_sequence_length: 512, embedding_size: 1024}\ndistributed_strategy: ddp\nsave_interval_unsharded: 10\n"
     "device_train_microbatch_size: 4\n", "OLMo", {"zero": 0, "ffn": 1024}),
    ("olmo_core.json", CORE.replace("NAME", "ddp"), "OLMo-core", {"layers": 4, "zero": 0, "micro": 2, "global": 64}),
    ("olmo_core_tokens.json", CORE.replace("2048", "2047"), "refused", ["rank_microbatch_size is 2047 tokens"]),
    ("olmo_core.py", "from olmo_core.nn.transformer import TransformerConfig\nconfig = build()\n", "refused",
     ["a Python program of OLMo-core"]),
    ("olmo_core_factory.py", "from olmo_core.nn.transformer import TransformerConfig\n\n\ndef build_model(common)"
     ":\n    return TransformerConfig.olmo2_7B(vocab_size=common.tokenizer.padded_vocab_size())\n", "refused",
     ["olmo_core_factory.py:5:12", "TransformerConfig.olmo2_7B(...) makes", "config.json that a run saves"]),
    # reinforcement learning
    ("nemo_rl.yaml", "grpo: {num_prompts_per_step: 8, num_generations_per_prompt: 4}\npolicy: {train_micro_batch_size: "
     "1, max_total_sequence_length: 1024, megatron_cfg: {enabled: true, tensor_model_parallel_size: 2}, generation: "
     "{backend: vllm, colocated: {enabled: true}, vllm_cfg: {tensor_parallel_size: 2}}}\ncluster: {num_nodes: 1, "
     "gpus_per_node: 8}", "NeMo RL", {}),
    ("verl.yaml", "algorithm: {adv_estimator: grpo}\ndata: {train_batch_size: 64, max_prompt_length: 128, "
     "max_response_length: 256}\nactor_rollout_ref: {rollout: {name: vllm, n: 4}, actor: {strategy: fsdp}}\ntrainer: "
     "{nnodes: 1, n_gpus_per_node: 8}", "veRL", {}),
    ("openrlhf.yaml", "rollout_batch_size: 64\nn_samples_per_prompt: 4\ntrain_batch_size: 64\nvllm_num_engines: 2\n"
     "prompt_max_len: 128\ngenerate_max_len: 256\nadvantage_estimator: gae\n", "OpenRLHF", {}),
    # machines, logs and what else lies beside a job
    ("topology.conf", "SwitchName=s0 Nodes=n[0-7]\nSwitchName=s1 Switches=s0\n", "refused", ["a topology of Slurm"]),
    ("block.conf", "BlockName=b0 Nodes=n[0-17]\nBlockSizes=18\n", "refused", ["a topology of Slurm"]),
    ("matrix.txt", "        GPU0    GPU1    CPU Affinity\nGPU0     X      NV4     0-15\nGPU1    NV4      X      0-15\n",
     "refused", ["a matrix of nvidia-smi"]),
    ("machine.xml", "<?xml version='1.0'?>\n<topology>\n</topology>\n", "refused", ["a description of machines"]),
    ("scenario.yaml", "platform: dgx-h100:1\nworkload: transformer\nmodel: llama3-8b\n", "refused",
     ["none of the files"]),
    ("compose.yaml", "services: {trainer: {image: x, command: [torchrun, train.py]}}\n", "refused",
     ["none of the files"]),
    ("train.log", "iteration 1/ 100 | elapsed time per iteration (ms): 123.4 |\n", "refused", [""]),
    ("notes.md", "# Notes\n\n8 GPUs are enough.\n", "refused", [""]),
    ("empty.yaml", "", "refused", [""]),
    ("list.json", "[1, 2, 3]", "refused", [""]),
    ("setup.py", "from setuptools import setup\nsetup(name='x')\n", "refused", ["a Python program, which is not run"]),
    ("verl.sh", "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=$BATCH\n",
     "refused", ["verl.sh:1:63: error: $BATCH is not known here: nobody sets it", "--define BATCH=VALUE"]),
    ("verl_more.sh", "source env.sh\npython3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.n=2 $MORE\n", "refused",
     ["verl_more.sh:2:1: error: $MORE is not known here: 'env.sh' is read in here"]),
    ("verl_words.sh", "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.n=two\n", "refused",
     ["verl_words.sh:1:34: error: actor_rollout_ref.rollout.n is the text 'two'; expected a count"]),
    ("openrlhf.sh", "deepspeed --module openrlhf.cli.train_ppo_ray --rollout_batch_size 64 --zero_stage x\n", "refused",
     ["openrlhf.sh:1:84: error: zero_stage is the text 'x'; expected a count"]),
    ("recipe.sh", f"python3 -m recipe.dapo.main_dapo {VERL} trainer.project_name=verl", "veRL",
     {"prompts": 64, "samples": 8, "zero": 3}),
    ("engine.sh", f"python3 -m verl.trainer.main_ppo model_engine=megatron {VERL}", "veRL", {"zero": 1}),
    ("name.sh", f"python3 -m verl.trainer.main_ppo --config-name ppo_megatron_trainer {VERL} "
     "actor_rollout_ref.rollout.n=4", "veRL", {"zero": 1, "samples": 4, "prompts": 64}),
    ("short.sh", f"python3 main.py {VERL} -cn=ppo_megatron_trainer", "veRL", {"zero": 1}),
    ("fsdp.sh", f"python3 main.py actor_rollout_ref.actor.strategy=fsdp2 {VERL} -cn=my_megatron", "veRL",
     {"zero": 3}),
    ("again.sh", f"python3 -m verl.trainer.main_ppo model_engine=megatron {VERL} "
     "actor_rollout_ref.model.enable_gradient_checkpointing=True", "veRL", {"zero": 1, "recompute": None}),
    ("full.sh", f"python3 -m verl.trainer.main_ppo model_engine=megatron {VERL} "
     "+actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full "
     "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 "
     "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2", "veRL",
     {"recompute": "full", "pipeline": 2, "context": None, "data": 4}),
    ("both.sh", f"python3 -m verl.trainer.main_ppo {VERL} trainer.nnodes=2 "
     "'actor_rollout_ref.actor.ppo_mini_batch_size=${data.train_batch_size}' "
     "+actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 "
     "actor_rollout_ref.actor.ulysses_sequence_parallel_size=4", "veRL",
     {"pipeline": None, "context": 4, "data": 4, "mini_batch": 512}),
    ("never.sh", f"python3 -m verl.trainer.main_ppo {VERL} actor_rollout_ref.model.lora_rank=0 "
     "actor_rollout_ref.model.enable_gradient_checkpointing=False", "veRL", {"zero": 3, "recompute": "none"}),
    ("lora.sh", f"python3 -m verl.trainer.main_ppo {VERL} actor_rollout_ref.model.lora_rank=32", "refused",
     ["lora_rank is '32'; expected one of 0"]),
    ("lora_openrlhf.sh", "python -m openrlhf.cli.train_ppo_ray --rollout_batch_size 64 --lora_rank 32", "refused",
     ["lora_rank is '32'; expected one of 0"]),
    ("broken.sh", f"python3 -m verl.trainer.main_ppo algorithm.adv_estimator=rloo \\  # a comment\n{VERL}", "veRL",
     {"prompts": 1024, "samples": 1, "critic": "false"}),
    ("generate.sh", f"python3 -m verl.trainer.main_generation_server {VERL}", "refused",
     ["generate.sh:1:12: error: verl.trainer.main_generation_server generates samples without training"]),
    ("saved.sh", "python train.py --rollout_batch_size 64 --n_samples_per_prompt 4 --eps_clip_low_high 0.2 0.3 "
     "--init_kl_coef -1 --ring_attn_size 2 --ds_tensor_parallel_size 4 --save_path /openrlhf/x", "OpenRLHF",
     {"prompts": 64, "samples": 4, "context": 2, "tensor": 4, "data": 1, "reference": "false"}),
    ("inference.sh", "python -m openrlhf.cli.batch_inference --eval_task generate_vllm --rollout_batch_size 64",
     "refused", ["inference.sh:1:52: error: eval_task: samples are generated without training"]),
    *((f"nemo_{kind}.yaml", f"{kind}: {{max_num_steps: 8}}\npolicy: {{model_name: x/y, megatron_cfg: {{enabled: "
       "true}, dtensor_cfg: {enabled: false}}\ncluster: {num_nodes: 1, gpus_per_node: 8}\n", "refused",
       [f"nemo_{kind}.yaml:1:1: error: {kind}: no samples are generated", "expected grpo or ppo"])
      for kind in ("sft", "dpo", "rm")),
    ("recipe.py", "import nemo_run as run\ndef pretrain_recipe(nodes=1):\n    return run.Partial(train)\n", "refused",
     ["a Python program of NeMo"]),
    ("bridge.py", "from megatron.bridge import ConfigContainer\ndef config():\n    return ConfigContainer()\n",
     "refused", ["a Python program of Megatron-Bridge"]),
    ("maxtext.py", "import maxtext\nmaxtext.train()\n", "refused", ["a Python program of MaxText"]),
]


def expect(good, what):
    global failures
    if not good:
        failures += 1
        print("FAILED", what)


def values(text):
    """The last part of each key with its value."""
    found = {}
    for line in text.split("\nimported:")[0].splitlines():
        key, _, rest = line.split("  #")[0].partition(":")
        if rest.strip() and not line.startswith("#"):
            found[key.strip()] = rest.strip()
    return found


def check(folder, name, text, whose, wanted):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    more = ["--platform", "dgx-h100:2"]
    done = subprocess.run([STAGESIM, "import", name, *more], cwd=folder, capture_output=True, text=True, timeout=60)
    said = done.stdout + done.stderr
    if whose == "refused":
        words = " ".join(done.stderr.split())
        expect(done.returncode == 1 and not done.stdout and all(word in words for word in wanted), f"{name}: {said}")
        return
    first = done.stderr.splitlines()[0] if done.stderr else ""
    expect(done.returncode == 0 and first.split() == f"read {name} ({whose})".split(), f"{name} is {whose}: {said}")
    found = values(done.stdout)
    for key, value in wanted.items():
        right = found.get(key) == (value if value is None else str(value))
        expect(right, f"{name}: {key} {found.get(key)} for {value}\n{said}")


with tempfile.TemporaryDirectory() as temporary:
    for row in FILES:
        check(pathlib.Path(temporary), *row)
print(f"{len(FILES)} files, {failures} failures")
sys.exit(1 if failures or len(FILES) < 60 else 0)
