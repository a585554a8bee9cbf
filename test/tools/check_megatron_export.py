#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_megatron_export.py STAGESIM: tools/check-megatron-export gives a checkout's own parser the words of an export,
and says what that refuses. The checkout here is a small one of ours, whose checks are those that exports once failed: a
bias for experts needs sigmoid scores, FSDP more connections than one, latent attention its normalisation."""
import pathlib
import subprocess
import sys
import tempfile

STAGESIM, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "check-megatron-export"
ARGUMENTS = '''
import argparse
import dataclasses
import os
import torch
from typing import Protocol


class Named(Protocol):
    name: str


class Layer(torch.nn.Module, Named):
    """What only has to be defined."""

    @torch.no_grad()
    def forward(self, hidden: torch.Tensor | None = None) -> torch.Tensor:
        return torch.nn.functional.gelu(hidden)


@dataclasses.dataclass
class Config:
    dtype: torch.dtype = torch.float32


def parse_args():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("moe-router-enable-expert-bias", "use-megatron-fsdp", "multi-latent-attention", "qk-layernorm",
                 "moe-grouped-gemm", "mock-data"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--moe-router-score-function", default="softmax")
    parser.add_argument("--pipeline-model-parallel-layout")
    parser.add_argument("--num-layers", type=int)
    return parser.parse_known_args()[0]


def validate_args(args):
    assert os.environ["WORLD_SIZE"] == "16", os.environ["WORLD_SIZE"]
    assert not args.moe_router_enable_expert_bias or args.moe_router_score_function == "sigmoid", "needs sigmoid"
    assert not args.use_megatron_fsdp or os.getenv("CUDA_DEVICE_MAX_CONNECTIONS") != "1", "needs connections"
    assert not args.multi_latent_attention or args.qk_layernorm, "needs qk-layernorm"
    assert args.num_layers != 5, "five layers are too odd"


def core_transformer_config_from_args(args):
    return Config()
'''
JOB = """platform: dgx-h100:2
workload: transformer
model: {layers: 4, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024, positions: 0MODEL}
parallel: {data: 16PARALLEL}
batch: {global: 64, micro: 1}
transformer: {zero: ZERO}
schedule: 1f1b
compute: {precision: bf16}
"""
EXPERTS = (", experts: 16, top_k: 2, expert_ffn: 512, router_bias: true, kv_rank: 256, query_rank: 512, rope_size: 32, "
           "biases: false")


def main():
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "megatron" / "training").mkdir(parents=True)
        for package in ("megatron", "megatron/training"):
            (folder / package / "__init__.py").write_text("")
        (folder / "megatron" / "training" / "arguments.py").write_text(ARGUMENTS)
        wanted = {"experts": (EXPERTS, ", expert: 8", 1, "taken"), "fsdp": ("", "", 3, "taken"),
                  "odd": (", layers: 5", "", 1, "refused: AssertionError: five layers are too odd")}
        for label, (model, parallel, zero, _) in wanted.items():
            text = JOB.replace("MODEL", model).replace("PARALLEL", parallel).replace("ZERO", str(zero))
            text = text.replace("layers: 4, ", "") if label == "odd" else text
            (folder / f"{label}.yaml").write_text(text)
            subprocess.run([STAGESIM, "export", f"{label}.yaml", "--to", "megatron", "-o", f"{label}.sh"], cwd=folder,
                           check=True, stderr=subprocess.DEVNULL)
        done = subprocess.run([TOOL, folder, *(f"{label}.sh" for label in wanted)], cwd=folder, capture_output=True,
                              text=True)
        expected = [f"{label}.sh: {says}" for label, (*_, says) in wanted.items()]
        if done.stdout.splitlines() != expected or done.returncode != 1:
            faults.append(f"{done.stdout}{done.stderr}, not {expected}")
        words = (folder / "experts.sh").read_text()
        for word in ("--qk-layernorm", "--moe-grouped-gemm", "--moe-token-dispatcher-type alltoall",
                     "--moe-router-score-function sigmoid"):
            if word not in words:
                faults.append(f"{word} is not in the export: {words}")
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
