# A 7B as its authors lay it out: constants first, sections that use them, one value taken from another section.
JOB_NAME = "seven"
SEQ_LEN = 2048
HIDDEN = 4096
RATIO = 8 / 3
STEPS_BETWEEN = 50

data = dict(
    seq_len=SEQ_LEN,
    micro_num=8,
    micro_bsz=2,
    total_steps=1_000,
    pack_sample_into_one=False,
    rampup_batch_size="",
    train_folder=None,
)
ckpt = dict(enable_save_ckpt=True, checkpoint_every=STEPS_BETWEEN, oss_snapshot_freq=int(STEPS_BETWEEN / 2),
            save_ckpt_folder=f"local:{JOB_NAME}")
hybrid_zero_optimizer = dict(overlap_sync_grad=True, overlap_sync_param=False, reduce_bucket_size=512 * 1024 * 1024)
lr_scheduler = dict(total_steps=data["total_steps"], warmup_ratio=0.01)
beta2_scheduler = dict(init_beta2=0.95)
model = dict(
    checkpoint=True,
    num_attention_heads=32,
    vocab_size=103168,
    hidden_size=HIDDEN,
    num_layers=32,
    mlp_ratio=RATIO,
    dtype="torch.bfloat16",
    norm_type="rmsnorm",
    use_flash_attn=True,
    num_chunks=2,
)
model.update(embed_grad_scale=1)
parallel = dict(
    zero1=dict(size=4),
    tensor=dict(size=2, mode="msp"),
    pipeline=dict(size=4, interleaved_overlap=True),
    weight=dict(size=1, overlap=True),
)
