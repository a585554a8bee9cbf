"""Two configurations, the second made of the first."""
from torchtitan.components.optimizer import default_adamw
from torchtitan.components.quantization import Float8LinearConverter
from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig
from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC
from torchtitan.trainer import Trainer

from . import model_registry

LENGTH = 8192


def eight() -> Trainer.Config:
    spec = model_registry("8B")
    return Trainer.Config(
        model_spec=spec,
        optimizer=default_adamw(lr=3e-4),
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=2 * LENGTH,
            max_context_length=LENGTH,
            steps=1000,
        ),
        activation_checkpoint=SelectiveAC.Config(),
    )


def eight_long() -> Trainer.Config:
    config = eight()
    compiled = CompileConfig(enable=True, components=["model", "loss"])
    config.compile = compiled
    config.model_spec = model_registry(
        "8B",
        converters=[
            Float8LinearConverter.Config(
                model_compile_enabled=compiled.enable and "model" in compiled.components,
            ),
        ],
    )
    config.training.max_context_length = 4 * LENGTH
    config.training.num_tokens_per_microbatch_per_dp_rank = 4 * LENGTH
    config.training.num_tokens_per_train_step = 64 * 4 * LENGTH
    config.parallelism = ParallelismConfig(
        data_parallel_shard_degree=8,
        data_parallel_replicate_degree=1,
        pipeline_parallel_degree=2,
        num_pp_microbatches=8,
        pipeline_parallel_schedule="Interleaved1F1B",
        tensor_parallel_degree=4,
        enable_sequence_parallel=True,
    )
    config.activation_checkpoint = FullAC.Config()
    return config
