#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train-pipeline.py -o DIR: trains a small pipeline on processes of this machine and profiles every rank. Stages send
activations and gradients to each other, replicas of a stage all-reduce its gradients, all by PyTorch's gloo on CPUs.
DIR gets rank-R.json.gz, PyTorch's profile of each rank (Kineto's format), and steps.csv, the seconds of each step on
each rank, with and without the profiler. Needs PyTorch (Debian: python3-torch).

    tools/train-pipeline.py -o traces --stages 2 --replicas 2 --micro-batches 4"""
import argparse
import csv
import os
import pathlib
import tempfile
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="directory of the traces")
    parser.add_argument("--stages", type=int, default=2, help="processes that one replica's pipeline has (2)")
    parser.add_argument("--replicas", type=int, default=2, help="data-parallel replicas of the pipeline (2)")
    parser.add_argument("--micro-batches", type=int, default=4, help="of a replica in a step (4)")
    parser.add_argument("--schedule", choices=("1f1b", "gpipe"), default="1f1b")
    parser.add_argument("--rows", type=int, default=128, help="samples of a micro-batch (128)")
    parser.add_argument("--hidden", type=int, default=512, help="width of every layer (512)")
    parser.add_argument("--layers", type=int, default=2, help="of a stage (2)")
    parser.add_argument("--steps", type=int, default=2, help="that are profiled (2)")
    parser.add_argument("--plain-steps", type=int, default=6,
                        help="timed without the profiler, after as many of warming up (6)")
    parser.add_argument("--other", type=int, default=0,
                        help="micro-batches of further steps, without the profiler, which take turns with the others "
                             "(none)")
    parser.add_argument("--slow-rank", type=int, default=-1, help="a rank that computes every layer twice (none)")
    return parser.parse_args()


def order(options, stage):
    """The computations of a stage in a step: ("F", micro-batch) or ("B", micro-batch)."""
    count = options.micro_batches
    ahead = count if options.schedule == "gpipe" else min(options.stages - 1 - stage, count)
    work = [("F", i) for i in range(ahead)]
    for i in range(count - ahead):
        work += [("F", ahead + i), ("B", i)]
    return work + [("B", i) for i in range(count - ahead, count)]


class Worker:
    """A rank: a stage of one replica."""

    def __init__(self, options, rank):
        import torch
        import torch.distributed as dist
        self.torch, self.dist, self.options, self.rank = torch, dist, options, rank
        self.stage, self.replica = rank % options.stages, rank // options.stages
        groups = [dist.new_group([replica * options.stages + stage for replica in range(options.replicas)])
                  for stage in range(options.stages)]
        self.group = groups[self.stage]
        torch.manual_seed(rank)
        layers = []
        for _ in range(options.layers):
            layers += [torch.nn.Linear(options.hidden, options.hidden), torch.nn.GELU()]
        self.model = torch.nn.Sequential(*layers)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.first, self.last = self.stage == 0, self.stage == options.stages - 1
        self.sent, self.kept = [], {}

    def tensor(self):
        return self.torch.empty(self.options.rows, self.options.hidden)

    def send(self, tensor, peer):
        """Does not wait; the tensor is kept until the end of the step."""
        self.sent.append((self.dist.isend(tensor, peer), tensor))

    def forward(self, index):
        torch = self.torch
        if self.first:
            data = torch.randn(self.options.rows, self.options.hidden)
        else:
            data = self.tensor()
            self.dist.recv(data, self.rank - 1)
            data.requires_grad_()
        with torch.profiler.record_function(f"forward {self.stage}.{index}"):
            if self.options.slow_rank == self.rank:
                self.model(data)
            result = self.model(data)
            if self.last:
                result = result.square().mean()
        self.kept[index] = data, result
        if not self.last:
            self.send(result.detach(), self.rank + 1)

    def backward(self, index):
        torch = self.torch
        data, result = self.kept.pop(index)
        gradient = None
        if not self.last:
            gradient = self.tensor()
            self.dist.recv(gradient, self.rank + 1)
        with torch.profiler.record_function(f"backward {self.stage}.{index}"):
            result.backward(gradient)
        if not self.first:
            self.send(data.grad, self.rank - 1)

    def step(self):
        torch = self.torch
        for kind, index in order(self.options, self.stage):
            self.forward(index) if kind == "F" else self.backward(index)
        for work, _ in self.sent:
            work.wait()
        self.sent.clear()
        if self.options.replicas > 1:
            for parameter in self.model.parameters():
                self.dist.all_reduce(parameter.grad, group=self.group)
        with torch.profiler.record_function("optimizer"):
            self.optimizer.step()
            self.optimizer.zero_grad()

    def timed_with(self, micro_batches):
        """One step of another size."""
        usual, self.options.micro_batches = self.options.micro_batches, micro_batches
        seconds = self.timed(1)
        self.options.micro_batches = usual
        return seconds

    def timed(self, count, profiler=None):
        seconds = []
        for _ in range(count):
            self.dist.barrier()
            begun = time.perf_counter()
            self.step()
            seconds.append(time.perf_counter() - begun)
            if profiler:
                profiler.step()
        return seconds


def work(rank, options, store):
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    ranks = options.stages * options.replicas
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    worker = Worker(options, rank)
    worker.timed(options.plain_steps)
    rows = []
    for _ in range(options.plain_steps):
        rows.append((rank, "plain", *worker.timed(1)))
        if options.other:
            rows.append((rank, f"plain with {options.other} micro-batches", *worker.timed_with(options.other)))
    schedule = torch.profiler.schedule(wait=0, warmup=1, active=options.steps, repeat=1)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=schedule,
                                record_shapes=True) as profiler:
        profiled = worker.timed(options.steps + 1, profiler)[1:]
    rows += [(rank, "profiled", seconds) for seconds in profiled]
    profiler.export_chrome_trace(str(options.output / f"rank-{rank}.json.gz"))
    everyone = [None] * ranks
    dist.all_gather_object(everyone, rows)
    if rank == 0:
        with open(options.output / "steps.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("rank", "what", "seconds"))
            writer.writerows(row for rows in everyone for row in rows)
    dist.destroy_process_group()


def main():
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    import torch.multiprocessing as processes
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(work, args=(options, os.path.join(folder, "store")), nprocs=options.stages * options.replicas)
    print(f"written to {options.output}")


if __name__ == "__main__":
    main()
