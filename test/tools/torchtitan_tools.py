#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torchtitan_tools.py STAGESIM: tools/check-torchtitan-export gives an export to a checkout's own classes, and
tools/print-config prints what a registry makes, which import reads as it reads the registry. The checkout here is a
small one of ours, with the checks that exports once failed: no CUDA graphs beside pipelines, no unknown key."""
import pathlib
import subprocess
import sys
import tempfile

STAGESIM, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parents[2]
failures = checks = 0
FILES = {
    "trainer.py": '''
import dataclasses
import torch
from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig
from torchtitan.distributed.activation_checkpoint import SelectiveAC


class Trainer(torch.nn.Module):
    @dataclasses.dataclass(kw_only=True)
    class Config:
        model_spec: object = None
        training: TrainingConfig = dataclasses.field(default_factory=TrainingConfig)
        parallelism: ParallelismConfig = dataclasses.field(default_factory=ParallelismConfig)
        activation_checkpoint: object = dataclasses.field(default_factory=SelectiveAC.Config)
        compile: CompileConfig = dataclasses.field(default_factory=CompileConfig)

        def __post_init__(self):
            if self.parallelism.pipeline_parallel_degree > 1 and not self.training.disable_cuda_graphs:
                raise ValueError("CUDA graphs beside a pipeline")
''',
    "config/__init__.py": '''
import dataclasses


@dataclasses.dataclass(kw_only=True)
class TrainingConfig:
    num_tokens_per_microbatch_per_dp_rank: int = 16384
    num_tokens_per_train_step: int = -1
    max_context_length: int = 2048
    steps: int = 10000
    mixed_precision_param: str = "bfloat16"
    disable_cuda_graphs: bool = False


@dataclasses.dataclass(kw_only=True)
class ParallelismConfig:
    data_parallel_replicate_degree: int = 1
    data_parallel_shard_degree: int = -1
    fsdp_reshard_after_forward: str = "default"
    tensor_parallel_degree: int = 1
    enable_sequence_parallel: bool = True
    pipeline_parallel_degree: int = 1
    num_pp_microbatches: int = 1
    pipeline_parallel_schedule: str = "1F1B"
    pipeline_parallel_first_stage_less_layers: int = 1
    pipeline_parallel_last_stage_less_layers: int = 1


@dataclasses.dataclass(kw_only=True)
class CompileConfig:
    enable: bool = False
    enable_async_tensor_parallel: bool = False
    components: list = dataclasses.field(default_factory=lambda: ["model", "loss"])
''',
    "distributed/activation_checkpoint.py": '''
import dataclasses


class SelectiveAC:
    @dataclasses.dataclass
    class Config:
        per_op: list = dataclasses.field(default_factory=list)


class FullAC:
    @dataclasses.dataclass
    class Config:
        preserve_rng_state: bool = False
''',
    "models/llama3/__init__.py": '''
import dataclasses
import enum


class Kind(enum.Enum):
    PLAIN = "plain"


@dataclasses.dataclass
class Shape:
    kind: Kind = Kind.PLAIN


@dataclasses.dataclass
class ModelSpec:
    name: str
    flavor: str
    model: Shape


def model_registry(flavor, converters=()):
    if flavor != "8B":
        raise KeyError(flavor)
    return ModelSpec("llama3", flavor, Shape())
''',
    "models/llama3/config_registry.py": '''
from torchtitan.config import ParallelismConfig, TrainingConfig
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.trainer import Trainer

from . import model_registry


def eight():
    return Trainer.Config(
        model_spec=model_registry("8B"),
        training=TrainingConfig(num_tokens_per_microbatch_per_dp_rank=2 * 4096, max_context_length=4096),
        parallelism=ParallelismConfig(tensor_parallel_degree=2),
        activation_checkpoint=FullAC.Config(),
    )
''',
    "../torch/__init__.py": '''
class nn:
    Module = object
''',
}
JOB = """platform: dgx-h100:2
workload: transformer
model: {base: llama3-8b, sequence: 8192}
parallel: {tensor: 2, pipeline: 2, data: 4}
batch: {micro: 1, micro_batches: 8}
transformer: {zero: 3, sequence_parallel: true}
schedule: {name: 1f1b, recompute: full}
compute: {precision: bf16}
"""


def expect(good, what):
    global failures, checks
    checks += 1
    if not good:
        failures += 1
        print("FAILED", what)


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)


def keys(text):
    """A written scenario without where its values come from."""
    return [line.split("  #")[0].rstrip() for line in text.split("\nimported:")[0].splitlines()
            if not line.startswith("#")]


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    for name, text in FILES.items():
        (folder / "torchtitan" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "torchtitan" / name).write_text(text)
    job = JOB.replace("{base: llama3-8b, sequence: 8192}", "llama3-8b")
    (folder / "job.yaml").write_text(job)
    made = run(STAGESIM, "export", "job.yaml", "--to", "torchtitan", "-o", "job.py", cwd=folder)
    expect(made.returncode == 0, made.stderr)
    text = (folder / "job.py").read_text()
    for name, old, new, wanted in (
            ("job", "", "", None),
            ("graphs", "            disable_cuda_graphs=True,\n", "", "CUDA graphs beside a pipeline"),
            ("unknown", "tensor_parallel_degree", "tensor_degree", "tensor_degree"),
            ("flavor", '"8B"', '"9B"', "9B"),
            ("empty", text, "", "no function")):
        (folder / f"{name}.py").write_text(text.replace(old, new) if old else text)
        done = run(ROOT / "tools" / "check-torchtitan-export", folder, folder / f"{name}.py")
        taken = done.returncode == 0 and ": taken" in done.stdout
        refused = done.returncode == 1 and wanted and f": refused: " in done.stdout and wanted in done.stdout
        expect(taken if wanted is None else refused, f"{name}: {done.stdout}{done.stderr}")
    more = ["parallelism.data_parallel_replicate_degree=2", "training.mixed_precision_param=float32"]
    done = run(ROOT / "tools" / "print-config", "torchtitan.models.llama3.config_registry:eight", *more, cwd=folder,
               env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"})
    expect(done.returncode == 0, done.stderr)
    (folder / "printed.json").write_text(done.stdout)
    registry = folder / "torchtitan/models/llama3/config_registry.py"
    registry.write_text(registry.read_text().replace(
        "tensor_parallel_degree=2", "tensor_parallel_degree=2, data_parallel_replicate_degree=2").replace(
        "max_context_length=4096", 'max_context_length=4096, mixed_precision_param="float32"'))
    both = [run(STAGESIM, "import", file, "--platform", "dgx-h100:2", cwd=folder)
            for file in ("printed.json", registry)]
    expect(all(each.returncode == 0 for each in both), both[0].stderr + both[1].stderr)
    expect(keys(both[0].stdout) == keys(both[1].stdout), both[0].stdout + both[1].stdout)
    eight = "torchtitan.models.llama3.config_registry:eight"
    for words, wanted in (([eight, "training.step=3"], "there is no training"), ([eight, "steps"], "is no KEY=VALUE"),
                          ([], "print-config MODULE:FUNCTION")):
        done = run(ROOT / "tools" / "print-config", *words, cwd=folder,
                   env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"})
        expect(done.returncode == 1 and wanted in done.stderr and not done.stdout, f"{words}: {done.stderr}")
print(f"{checks} checks, {failures} failures")
sys.exit(1 if failures else 0)
