# SPDX-License-Identifier: Apache-2.0
"""A small job on two GPUs, each a site of its own, whose replicas are islands (doc/sites.md)."""
PRODUCT = """kind: product
summary: one GPU
device: H100-SXM5-80GB
devices: 1
cables: {card: ndr}
node:
  - add: port
  - {join: [device, port], cable: card, exit: true}
fabric: {name: test, kind: switched, hop: 0.1us, pod: 1, source: test, confidence: L}
"""


def write(folder, rate, latency, more="", gpus=2):
    """one.yaml and job.yaml; `more`: further lines of the job; half of the GPUs on each site."""
    (folder / "one.yaml").write_text(PRODUCT)
    (folder / "job.yaml").write_text(
        f"platform: {{preset: one.yaml, nodes: {gpus}, sites: 2, site_rate: {rate}, site_latency: {latency}}}\n"
        "workload: transformer\n"
        "model: {layers: 4, hidden: 1024, heads: 8, vocabulary: 1000, sequence: 1024}\n"
        f"parallel: {{data: {gpus}}}\n"
        "batch: {micro: 8, micro_batches: 2}\n"
        "schedule: 1f1b\n"
        "transformer: {islands: 2}\n"
        f"compute: {{efficiency: 0.1}}\n{more}")
