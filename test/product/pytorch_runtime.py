#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pytorch_runtime.py STAGESIM: the schedules that stagesim writes for PyTorch, run by PyTorch itself on CPU processes.

Its runtime class loads each file, adds communication, and trains a small model for one step, one process a worker,
messages by gloo. Gradients are those of one process; the communication that it adds is that of --format pytorch-comms,
which it loads and runs, too. Left out (exit code 77) where there is no PyTorch."""
import csv
import datetime
import inspect
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
try:
    import torch
    from torch import distributed
    from torch.distributed.pipelining import PipelineStage
    from torch.distributed.pipelining.schedules import PipelineScheduleMulti, _ComputationType, _PipelineScheduleRuntime
except ImportError as missing:
    print(f"skipped: there is no PyTorch ({missing}); Debian 13: python3-torch")
    sys.exit(77)

OPTIONS = {"interleaved": ["chunks=4"], "hanayo": ["waves=2"], "breadth-first": ["chunks=3"]}
SIZES = ((3, 6), (4, 8), (6, 12))
WIDTH, SAMPLES = 6, 3  # of a micro-batch
PATIENCE = 60  # seconds, for a message and for a run
BLOCK = re.compile(r"\(([^;]*);([^)]*)\)OVERLAP_F_B")


# ---- the model: the same numbers in every process ----

def build_stages(count):
    torch.manual_seed(1)
    return [torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh(),
                                torch.nn.Linear(WIDTH, WIDTH)).double() for _ in range(count)]


def draw_batch(micro_batches):
    torch.manual_seed(2)
    return [torch.randn(micro_batches * SAMPLES, WIDTH, dtype=torch.double) for _ in range(2)]


def loss_of(output, target):
    return ((output - target) ** 2).sum()


def gradients_of_one_process(stages, micro_batches):
    models, (value, target) = build_stages(stages), draw_batch(micro_batches)
    for model in models:
        value = model(value)
    loss_of(value, target).backward()
    return [[parameter.grad for parameter in model.parameters()] for model in models]


def largest_error(models, expected):
    """Of all gradients of the stages of one process, each relative to the largest of its tensor."""
    worst = 0.0
    for stage, model in models.items():
        for parameter, right in zip(model.parameters(), expected[stage], strict=True):
            if parameter.grad is None:
                return float("inf")
            worst = max(worst, ((parameter.grad - right).abs().max() / right.abs().max()).item())
    return worst


# ---- one process of a run ----

def make_runtime(rank, home, micro_batches):
    models, plain = build_stages(len(home)), torch.empty(SAMPLES, WIDTH, dtype=torch.double)
    passed = plain.clone().requires_grad_()  # later releases send a gradient where the shape that is given wants one
    mine = {stage: models[stage] for stage in range(len(home)) if home[stage] == rank}
    # With the shapes given. To find them PyTorch 2.6 sends them to the next rank, which in a V is not the next stage's.
    stages = [PipelineStage(model, stage, len(home), torch.device("cpu"),
                            input_args=(passed if stage else plain,), output_args=(passed,))
              for stage, model in mine.items()]
    keywords = {"loss_fn": loss_of}
    if "stage_index_to_group_rank" in inspect.signature(PipelineScheduleMulti.__init__).parameters:
        keywords["stage_index_to_group_rank"] = dict(enumerate(home))
    else:  # later releases take it from the file, and divide gradients by the number of micro-batches
        keywords["scale_grads"] = False
    return mine, _PipelineScheduleRuntime(stages, micro_batches, **keywords)


def train(folder, rank, home, micro_batches, files):
    """One step with each (file, form), a fresh model each time; gives the errors of the gradients."""
    ranks, errors = max(home) + 1, []
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks,
                                   timeout=datetime.timedelta(seconds=PATIENCE))
    expected = gradients_of_one_process(len(home), micro_batches)
    inputs, target = draw_batch(micro_batches)
    for name, form in files:
        mine, runtime = make_runtime(rank, home, micro_batches)
        runtime._load_csv(str(folder / name), format=form)
        if rank == 0 and form == "compute_only":
            runtime._dump_csv(str(folder / "lowered.csv"))
        runtime.step(*([inputs] if home[0] == rank else []),
                     **({"target": target, "losses": []} if home[-1] == rank else {}))
        errors.append(largest_error(mine, expected))
    distributed.barrier()
    distributed.destroy_process_group()
    return errors


def process(folder, rank, *arguments):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = {"errors": train(folder, rank, *arguments)}
    except Exception as trouble:
        told = {"trouble": f"{type(trouble).__name__}: {trouble}"}
    (folder / f"rank-{rank}.json").write_text(json.dumps(told))
    os._exit("trouble" in told)  # what still waits for a message stays behind


def run_processes(folder, home, *arguments):
    """What each process found; those that did not end in time are ended, and say so."""
    for path in [*folder.glob("rank-*.json"), *folder.glob("meeting*"), *folder.glob("lowered.csv")]:
        path.unlink()
    context, ranks, end = multiprocessing.get_context("fork"), range(max(home) + 1), time.monotonic() + 2 * PATIENCE
    running = [context.Process(target=process, args=(folder, rank, home, *arguments)) for rank in ranks]
    for one in running:
        one.start()
    for one in running:
        one.join(max(0, end - time.monotonic()))
        if one.is_alive():
            one.kill()
            one.join()
    paths = [folder / f"rank-{rank}.json" for rank in ranks]
    return [json.loads(path.read_text()) if path.exists() else {"trouble": "it did not end"} for path in paths]


# ---- files ----

def rows_of(text):
    return list(csv.reader(text.splitlines()))


def without_blocks(text):
    """A forward and a backward one after the other instead of as one block, as doc/schedule-file.md says."""
    return BLOCK.sub(r"\1,\2", text)


def homes(text):
    """The rank of each stage."""
    found = {int(stage): rank for rank, row in enumerate(rows_of(without_blocks(text))) for cell in row
             for stage in re.findall(r"^([0-9]+)[FBIW][0-9]", cell)}
    return [found[stage] for stage in range(len(found))]


def steps(text):
    """For each rank what it computes and sends, in order, and what it receives from each other rank, in order. Where
    receives stand between computing depends on when weights are gathered and gradients reduced, of which PyTorch's
    releases know more or less."""
    home, found = homes(text), []
    for row in rows_of(text):
        received = {}
        for stage, kind, micro_batch in re.findall(r"([0-9]+)RECV_([FB])([0-9]+)", ",".join(row)):
            peer = home[int(stage) + (1 if kind == "B" else -1)]
            received.setdefault(peer, []).append((stage, kind, micro_batch))
        found.append(([cell for cell in row if not re.search("SHARD|REDUCE_GRAD|RECV", cell)], received))
    return found


def known_to_this_release(text, known):
    """Without the actions that the installed PyTorch has no name for."""
    return "".join(",".join(cell for cell in row if known or "REDUCE_GRAD" not in cell) + "\n" for row in rows_of(text))


class Trial:
    def __init__(self, check, folder):
        self.check, self.folder, self.binary = check, folder, tool.binary_argument()
        self.blocks, self.reduces = (hasattr(_ComputationType, name) for name in ("OVERLAP_F_B", "REDUCE_GRAD"))
        self.ran, self.worst = set(), 0.0

    def run(self, label, home, micro_batches, *files):
        told = run_processes(self.folder, home, micro_batches, files)
        trouble = [f"rank {rank}: {one['trouble']}" for rank, one in enumerate(told) if "trouble" in one]
        if not self.check.that(not trouble, f"{label}: {'; '.join(trouble)}"):
            return False
        worst = max(error for one in told for error in one["errors"])
        self.worst = max(self.worst, worst)
        return self.check.that(worst < 1e-12, f"{label}: gradients differ by {worst} from those of one process")

    def write(self, *arguments):
        return subprocess.run([self.binary, "schedule", *map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=300)

    def schedule(self, name, workers, micro_batches, option):
        arguments = [name, "--workers", workers, "--micro-batches", micro_batches]
        arguments += ["--option", option] if option else []
        written = self.write(*arguments, "--format", "pytorch")
        if written.returncode:  # test/schedules/plan/plan_pytorch.py holds the reasons
            return
        label, text = " ".join(map(str, arguments)), written.stdout
        if not self.blocks and text != without_blocks(text):
            (self.folder / "plain.csv").write_text(text)
            told = run_processes(self.folder, homes(text), micro_batches, [("plain.csv", "compute_only")])
            self.check.that("Invalid action string: (" in str(told), f"{label}: blocks in PyTorch without them: {told}")
            text = without_blocks(text)
        (self.folder / "plain.csv").write_text(text)
        comms = self.write("plain.csv", "--format", "pytorch-comms").stdout
        (self.folder / "comms.csv").write_text(known_to_this_release(comms, self.reduces))
        files = (("plain.csv", "compute_only"), ("comms.csv", "compute_comms"))
        if self.run(label, homes(text), micro_batches, *files):
            self.ran.add(name)
            lowered = (self.folder / "lowered.csv").read_text()
            same = lowered == comms if self.reduces else steps(lowered) == steps(comms)
            self.check.that(same, f"{label}: communication differs:\n{lowered}\n{comms}")

    def page(self):
        """The command of doc/schedule-file.md that takes blocks apart."""
        text = self.write("dualpipe-v", "--workers", 4, "--micro-batches", 8, "--format", "pytorch").stdout
        command = re.search("`(sed -E [^`]*)`", (tool.ROOT / "doc" / "schedule-file.md").read_text())[1]
        apart = subprocess.run(command, shell=True, input=text, capture_output=True, text=True, check=True).stdout
        self.check.that(apart == without_blocks(text) != text, f"{command}: {apart}")

    def refusals(self):
        """What this test would notice: a file that lacks a backward, and gradients of another number of samples."""
        home, text = [0, 1], self.write("1f1b", "--workers", 2, "--micro-batches", 4, "--format", "pytorch").stdout
        (self.folder / "plain.csv").write_text(text.replace(",1B3", ""))
        told = run_processes(self.folder, home, 4, [("plain.csv", "compute_only")])
        self.check.that(all("Invalid backward microbatches" in one.get("trouble", "") for one in told), f"{told}")
        one, other = (gradients_of_one_process(2, micro_batches) for micro_batches in (4, 3))
        models = dict(enumerate(build_stages(2)))
        for stage, model in models.items():
            for parameter, gradient in zip(model.parameters(), one[stage]):
                parameter.grad = gradient
        self.check.that(largest_error(models, one) == 0 and largest_error(models, other) > 0.01, "errors of gradients")


def main():
    torch.set_num_threads(1)
    check = tool.Checker()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(check, pathlib.Path(folder))
        names = [entry["name"] for entry in json.loads(
            tool.run(trial.binary, "list", "schedules", "--format", "json").stdout)]
        for name in names:
            for workers, micro_batches in SIZES[:2] if name == "best" else SIZES:
                for option in [None] + OPTIONS.get(name, []):
                    trial.schedule(name, workers, micro_batches, option)
        trial.page()
        trial.refusals()
        check.that(len(trial.ran) >= 18, f"only {sorted(trial.ran)} ran")
        print(f"PyTorch {torch.__version__} ran {', '.join(sorted(trial.ran))}: largest error {trial.worst:.1e}")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
